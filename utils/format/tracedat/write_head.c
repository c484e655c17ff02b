/* SPDX-License-Identifier: MIT */
/*
 * What stands before the pages of a trace.dat: formats, symbols, names of tasks, options, and where
 * each CPU's pages are.  In an order that does not depend on that of the events, so that what is
 * read and written again stays the same.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/format/tracedat/write.h"

#define BLANK "\xc2\xa0"		/* U+00A0: a symbol ends at a blank */

static const char header_event[] =
	"# compressed entry header\n"
	"\ttype_len    :    5 bits\n"
	"\ttime_delta  :   27 bits\n"
	"\tarray       :   32 bits\n"
	"\n"
	"\tpadding     : type == 29\n"
	"\ttime_extend : type == 30\n"
	"\ttime_stamp : type == 31\n"
	"\tdata max type_len  == 28\n";

static void put_u16(struct ftr_strbuf *out, uint16_t value)
{
	ftr_strbuf_put(out, &value, sizeof(value));
}

static void put_u32(struct ftr_strbuf *out, uint32_t value)
{
	ftr_strbuf_put(out, &value, sizeof(value));
}

static void put_u64(struct ftr_strbuf *out, uint64_t value)
{
	ftr_strbuf_put(out, &value, sizeof(value));
}

static void put_string(struct ftr_strbuf *out, const char *s)
{
	ftr_strbuf_put(out, s, strlen(s) + 1);
}

/* Its length, of 4 or 8 bytes, and the text, which is released. */
static void put_sized(struct ftr_strbuf *out, struct ftr_strbuf *text, unsigned length_bytes)
{
	if (length_bytes == 4)
		put_u32(out, (uint32_t)text->len);
	else
		put_u64(out, text->len);
	ftr_strbuf_put(out, ftr_strbuf_str(text), text->len);
	out->failed |= text->failed;
	ftr_strbuf_fini(text);
}

/* ---- formats ---- */

static void put_headers(struct ftr_strbuf *out)
{
	struct ftr_strbuf text;

	put_string(out, "header_page");
	ftr_strbuf_init(&text);
	ftr_krec_put_header_page(&text);
	put_sized(out, &text, 8);
	put_string(out, "header_event");
	put_u64(out, sizeof(header_event) - 1);
	ftr_strbuf_puts(out, header_event);
}

static void put_format(struct ftr_strbuf *out, const char *name, uint32_t id)
{
	struct ftr_strbuf text;

	ftr_strbuf_init(&text);
	ftr_krec_put_format(&text, name, id);
	put_sized(out, &text, 8);
}

static int compare_names(const void *a, const void *b)
{
	const struct ftr_krec_tracepoint *x = a, *y = b;

	return strcmp(x->name->s, y->name->s);
}

static size_t system_len(const struct ftr_krec_tracepoint *of)
{
	return (size_t)(strchr(of->name->s, ':') - of->name->s);
}

/* How many of those from @at on are of its system. */
static size_t system_nr(const struct ftr_krec_tracepoint *at, size_t left)
{
	size_t len = system_len(at), nr = 1;

	while (nr < left && strncmp(at->name->s, at[nr].name->s, len + 1) == 0)
		nr++;
	return nr;
}

static void put_system(struct ftr_strbuf *out, const struct ftr_krec_tracepoint *at, size_t nr)
{
	ftr_strbuf_put(out, at->name->s, system_len(at));
	put_string(out, TDAT_TEXT_SUFFIX);
	put_u32(out, (uint32_t)nr);
	for (size_t i = 0; i < nr; i++)
		put_format(out, at[i].name->s, at[i].id);
}

static int put_systems(struct ftr_strbuf *out, const struct ftr_krec_names *names)
{
	struct ftr_krec_tracepoint *all = calloc(names->tracepoints.nr + 1, sizeof(*all));
	size_t nr = 0, systems = 0;

	if (all == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < names->tracepoints.nr; i++) {
		if (names->tracepoints.v[i].id != 0)
			all[nr++] = names->tracepoints.v[i];
	}
	qsort(all, nr, sizeof(*all), compare_names);
	for (size_t i = 0; i < nr; i += system_nr(all + i, nr - i))
		systems++;
	put_u32(out, (uint32_t)systems);
	for (size_t i = 0; i < nr; i += system_nr(all + i, nr - i))
		put_system(out, all + i, system_nr(all + i, nr - i));
	free(all);
	return 0;
}

/* ---- symbols, names of tasks ---- */

struct func_symbol {
	uint64_t addr;
	const char *name;
};

static int compare_symbols(const void *a, const void *b)
{
	const struct func_symbol *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void put_symbol_name(struct ftr_strbuf *out, const char *name)
{
	for (; *name != '\0'; name++) {
		if (*name == ' ')
			ftr_strbuf_puts(out, BLANK);
		else
			ftr_strbuf_putc(out, (unsigned char)*name < ' ' ? '?' : *name);
	}
}

static int put_symbols(struct ftr_strbuf *out, const struct tdat_writer *w)
{
	struct func_symbol *symbols = calloc(w->addrs.nr + 1, sizeof(*symbols));
	struct ftr_strbuf text;
	size_t nr = 0;

	if (symbols == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < w->addrs.nr; i++) {
		if (w->addrs.v[i] != 0)
			symbols[nr++] = (struct func_symbol){ w->addrs.v[i],
							      w->trace->funcs.v[i]->name };
	}
	qsort(symbols, nr, sizeof(*symbols), compare_symbols);
	ftr_strbuf_init(&text);
	for (size_t i = 0; i < nr; i++) {
		ftr_strbuf_printf(&text, "%016llx T ", (unsigned long long)symbols[i].addr);
		put_symbol_name(&text, symbols[i].name);
		ftr_strbuf_putc(&text, '\n');
	}
	free(symbols);
	put_sized(out, &text, 4);
	return 0;
}

static int compare_tasks(const void *a, const void *b)
{
	const struct ftr_task *x = *(const struct ftr_task *const *)a;
	const struct ftr_task *y = *(const struct ftr_task *const *)b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void put_task(struct ftr_strbuf *text, const struct ftr_task *task)
{
	if (task->name[0] == '\0')
		return;
	ftr_strbuf_printf(text, "%d ", task->tid);
	for (const char *s = task->name; *s != '\0'; s++)
		ftr_strbuf_putc(text, (unsigned char)*s < ' ' ? '?' : *s);
	ftr_strbuf_putc(text, '\n');
}

static int put_tasks(struct ftr_strbuf *out, const struct tdat_writer *w)
{
	const struct ftr_trace *trace = w->trace;
	struct ftr_task **tasks = calloc(trace->tasks.nr + 1, sizeof(*tasks));
	struct ftr_strbuf text;
	size_t nr = 0;

	if (tasks == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < trace->tasks.nr && i < w->has_records.nr; i++) {
		if (w->has_records.v[i])
			tasks[nr++] = trace->tasks.v[i];
	}
	qsort(tasks, nr, sizeof(struct ftr_task *), compare_tasks);
	ftr_strbuf_init(&text);
	for (size_t i = 0; i < nr; i++)
		put_task(&text, tasks[i]);
	free(tasks);
	put_sized(out, &text, 8);
	return 0;
}

/* ---- options, places of pages ---- */

static void put_option(struct ftr_strbuf *out, uint16_t id, struct ftr_strbuf *text)
{
	put_u16(out, id);
	ftr_strbuf_putc(text, '\0');
	put_sized(out, text, 4);
}

/* "Linux 6.1.0" of "box": "Linux box 6.1.0" */
static void put_uname(struct ftr_strbuf *out, const struct ftr_info *info)
{
	const char *blank = info->os_kernel == NULL ? NULL : strchr(info->os_kernel, ' ');
	struct ftr_strbuf text;

	if (blank == NULL || info->os_hostname == NULL)
		return;
	ftr_strbuf_init(&text);
	ftr_strbuf_printf(&text, "%.*s %s %s", (int)(blank - info->os_kernel), info->os_kernel,
			  info->os_hostname, blank + 1);
	put_option(out, TDAT_OPTION_UNAME, &text);
}

static void put_version(struct ftr_strbuf *out, const struct tdat_writer *w)
{
	struct ftr_strbuf text;

	ftr_strbuf_init(&text);
	ftr_strbuf_printf(&text, TDAT_VERSION_PREFIX FTR_VERSION TDAT_VERSION_TASKS "%zu",
			  w->cpus.nr);
	put_option(out, TDAT_OPTION_VERSION, &text);
}

static void put_place(struct ftr_strbuf *out, const struct tdat_out_cpu *cpu, uint64_t *offset)
{
	uint64_t bytes = cpu == NULL ? 0 : (uint64_t)cpu->pages.nr * FTR_KBUF_PAGE_BYTES;

	put_u64(out, *offset);
	put_u64(out, bytes);
	*offset += bytes;
}

static void put_places(struct ftr_strbuf *out, const struct tdat_writer *w)
{
	uint64_t offset = ftr_align_up(out->len + 16 * (w->cpus.nr + w->tasks.nr),
				       FTR_KBUF_PAGE_BYTES);

	for (size_t i = 0; i < w->cpus.nr; i++)
		put_place(out, w->cpus.v[i], &offset);
	for (size_t i = 0; i < w->tasks.nr; i++)
		put_place(out, w->tasks.v[i], &offset);
	while (!out->failed && out->len % FTR_KBUF_PAGE_BYTES != 0)
		ftr_strbuf_putc(out, '\0');
}

int tdat_head_make(struct tdat_writer *w, struct ftr_strbuf *head)
{
	ftr_strbuf_put(head, TDAT_MAGIC, TDAT_MAGIC_BYTES);
	put_string(head, "6");
	ftr_strbuf_putc(head, FTR_HOST_IS_BIG);
	ftr_strbuf_putc(head, sizeof(uint64_t));
	put_u32(head, FTR_KBUF_PAGE_BYTES);
	put_headers(head);
	put_u32(head, 2);
	put_format(head, FTR_KREC_NAME_EXIT, FTR_KREC_ID_EXIT);
	put_format(head, FTR_KREC_NAME_ENTRY, FTR_KREC_ID_ENTRY);
	if (put_systems(head, &w->names) < 0 || put_symbols(head, w) < 0)
		return -ENOMEM;
	put_u32(head, 0);			/* printk_formats */
	if (put_tasks(head, w) < 0)
		return -ENOMEM;
	put_u32(head, (uint32_t)(w->cpus.nr + w->tasks.nr));
	put_string(head, TDAT_TAG_OPTIONS);
	put_uname(head, &w->trace->info);
	put_version(head, w);
	put_u16(head, TDAT_OPTION_DONE);
	put_string(head, TDAT_TAG_FLYRECORD);
	put_places(head, w);
	return head->failed ? -ENOMEM : 0;
}
