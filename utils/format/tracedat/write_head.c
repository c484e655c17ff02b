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
#include "utils/object/symtab.h"
#include "utils/trace/library.h"
#include "utils/trace/tracepoint.h"

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

/* In the byte order of the kernel that recorded. */
struct head {
	struct ftr_strbuf text;
	bool is_big;
	uint8_t long_bytes;
};

static void put_u16(struct head *out, uint16_t value)
{
	ftr_put_u16(&value, value, out->is_big);
	ftr_strbuf_put(&out->text, &value, sizeof(value));
}

static void put_u32(struct head *out, uint32_t value)
{
	ftr_put_u32(&value, value, out->is_big);
	ftr_strbuf_put(&out->text, &value, sizeof(value));
}

static void put_u64(struct head *out, uint64_t value)
{
	ftr_put_u64(&value, value, out->is_big);
	ftr_strbuf_put(&out->text, &value, sizeof(value));
}

static void put_string(struct head *out, const char *s)
{
	ftr_strbuf_put(&out->text, s, strlen(s) + 1);
}

/* Its length, of 4 or 8 bytes, and the text, which is released. */
static void put_sized(struct head *out, struct ftr_strbuf *text, unsigned length_bytes)
{
	if (length_bytes == 4)
		put_u32(out, (uint32_t)text->len);
	else
		put_u64(out, text->len);
	ftr_strbuf_put(&out->text, ftr_strbuf_str(text), text->len);
	out->text.failed |= text->failed;
	ftr_strbuf_fini(text);
}

/* ---- formats ---- */

static void put_headers(struct head *out)
{
	struct ftr_strbuf text;

	put_string(out, "header_page");
	ftr_strbuf_init(&text);
	ftr_krec_put_header_page(&text, out->long_bytes);
	put_sized(out, &text, 8);
	put_string(out, "header_event");
	put_u64(out, sizeof(header_event) - 1);
	ftr_strbuf_puts(&out->text, header_event);
}

static void put_format(struct head *out, const char *name, uint32_t id)
{
	struct ftr_strbuf text;

	ftr_strbuf_init(&text);
	ftr_krec_put_format(&text, name, id);
	put_sized(out, &text, 8);
}

/* An event's format: of a text, or of records that are kept. */
struct format {
	const char *name;		/* "SYSTEM:NAME" */
	const struct ftr_krec_tracepoint *text;	/* (nullable) */
	const struct ftr_krec_kept *kept;	/* (nullable) */
};

static size_t system_len(const char *name)
{
	return (size_t)(strchr(name, ':') - name);
}

static bool is_of_ftrace(const char *name)
{
	return strncmp(name, TDAT_SYSTEM_FTRACE ":", sizeof(TDAT_SYSTEM_FTRACE)) == 0;
}

static bool is_same_system(const struct format *a, const struct format *b)
{
	return (a->kept != NULL) == (b->kept != NULL) &&
	       strncmp(a->name, b->name, system_len(a->name) + 1) == 0;
}

static int compare_formats(const void *a, const void *b)
{
	const struct format *x = a, *y = b;
	size_t x_len = system_len(x->name), y_len = system_len(y->name);
	int diff = strncmp(x->name, y->name, x_len < y_len ? x_len : y_len);

	if (diff == 0 && x_len != y_len)
		diff = x_len < y_len ? -1 : 1;
	if (diff == 0)
		diff = (x->kept != NULL) - (y->kept != NULL);
	return diff != 0 ? diff : strcmp(x->name, y->name);
}

static void put_kept(struct head *out, const struct ftr_krec_kept *kept)
{
	struct ftr_strbuf text;

	ftr_strbuf_init(&text);
	ftr_krec_put_kept_format(&text, kept);
	put_sized(out, &text, 8);
}

static void put_system(struct head *out, const struct format *at, size_t nr)
{
	ftr_strbuf_put(&out->text, at->name, system_len(at->name));
	put_string(out, at->kept != NULL ? "" : TDAT_TEXT_SUFFIX);
	put_u32(out, (uint32_t)nr);
	for (size_t i = 0; i < nr; i++) {
		if (at[i].kept != NULL)
			put_kept(out, at[i].kept);
		else
			put_format(out, at[i].name, at[i].text->id);
	}
}

/* How many of those from @at on are of its system. */
static size_t system_nr(const struct format *at, size_t left)
{
	size_t nr = 1;

	while (nr < left && is_same_system(at, at + nr))
		nr++;
	return nr;
}

/* Those that are used and, but for texts, not ftrace's own; sorted.  (owned, by free) or NULL. */
static struct format *formats_collect(const struct ftr_krec_names *names, size_t *nr)
{
	struct format *all = calloc(names->tracepoints.nr + names->kept.nr + 1, sizeof(*all));

	*nr = 0;
	for (size_t i = 0; all != NULL && i < names->tracepoints.nr; i++) {
		const struct ftr_krec_tracepoint *text = &names->tracepoints.v[i];

		if (text->id != 0)
			all[(*nr)++] = (struct format){ .name = text->name->s, .text = text };
	}
	for (size_t i = 0; all != NULL && i < names->kept.nr; i++) {
		const struct ftr_krec_kept *kept = &names->kept.v[i];

		if (kept->id != 0 && !is_of_ftrace(kept->tracepoint->name))
			all[(*nr)++] = (struct format){ .name = kept->tracepoint->name,
							.kept = kept };
	}
	if (all != NULL)
		qsort(all, *nr, sizeof(*all), compare_formats);
	return all;
}

static int put_systems(struct head *out, const struct ftr_krec_names *names)
{
	size_t nr, systems = 0;
	struct format *all = formats_collect(names, &nr);

	if (all == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i += system_nr(all + i, nr - i))
		systems++;
	put_u32(out, (uint32_t)systems);
	for (size_t i = 0; i < nr; i += system_nr(all + i, nr - i))
		put_system(out, all + i, system_nr(all + i, nr - i));
	free(all);
	return 0;
}

static int compare_ids(const void *a, const void *b)
{
	const struct ftr_krec_kept *const *x = a, *const *y = b;

	return (int)(*x)->id - (int)(*y)->id;
}

/* Of ftrace's own: calls, and what else is kept. */
static int put_ftrace(struct head *out, const struct ftr_krec_names *names)
{
	const struct ftr_krec_kept **own = calloc(names->kept.nr + 1, sizeof(*own));
	bool makes_calls = !ftr_krec_keeps_calls(names);
	size_t nr = 0;

	if (own == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < names->kept.nr; i++) {
		if (names->kept.v[i].id != 0 && is_of_ftrace(names->kept.v[i].tracepoint->name))
			own[nr++] = &names->kept.v[i];
	}
	qsort(own, nr, sizeof(struct ftr_krec_kept *), compare_ids);
	put_u32(out, (uint32_t)nr + (makes_calls ? 2 : 0));
	if (makes_calls) {
		put_format(out, FTR_KREC_NAME_EXIT, FTR_KREC_ID_EXIT);
		put_format(out, FTR_KREC_NAME_ENTRY, FTR_KREC_ID_ENTRY);
	}
	for (size_t i = 0; i < nr; i++)
		put_kept(out, own[i]);
	free(own);
	return 0;
}

/* The texts that kept records point to; those of several kernels one after the other. */
static void put_printk_formats(struct head *out, const struct ftr_krec_names *names)
{
	const struct ftr_tracepoint_kernel *last = NULL;
	struct ftr_strbuf text;

	ftr_strbuf_init(&text);
	for (size_t i = 0; i < names->kept.nr; i++) {
		const struct ftr_tracepoint_kernel *kernel = names->kept.v[i].tracepoint->kernel;

		if (kernel != last && kernel->printk_formats.len > 0)
			ftr_strbuf_put(&text, kernel->printk_formats.s, kernel->printk_formats.len);
		last = kernel;
	}
	put_sized(out, &text, 4);
}

/* ---- symbols, names of tasks ---- */

struct func_symbol {
	uint64_t addr;
	const char *name;
	bool is_used;			/* by a call: its name comes first */
};

struct func_symbols {
	FTR_VEC(struct func_symbol) all;
};

static int compare_symbols(const void *a, const void *b)
{
	const struct func_symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return (int)y->is_used - (int)x->is_used;
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

/* All that the kernels have whose records are kept: records hold addresses. */
static int kernels_collect(const struct tdat_writer *w, struct func_symbols *symbols)
{
	const struct ftr_module *last = NULL;

	for (size_t i = 0; i < w->names.kept.nr; i++) {
		struct ftr_module *module = w->names.kept.v[i].tracepoint->kernel->module;

		if (module == last)
			continue;
		last = module;
		ftr_trace_module_load((struct ftr_trace *)(uintptr_t)w->trace, module);
		for (size_t k = 0; module->symtab != NULL && k < module->symtab->nr; k++) {
			const struct func_symbol symbol = {
				.addr = module->symtab->symbols[k].addr,
				.name = module->symtab->symbols[k].name,
			};

			if (ftr_vec_push(&symbols->all, symbol) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

static int symbols_collect(const struct tdat_writer *w, struct func_symbols *symbols)
{
	for (size_t i = 0; i < w->addrs.nr; i++) {
		const struct func_symbol symbol = {
			.addr = w->addrs.v[i], .name = w->trace->funcs.v[i]->name, .is_used = true,
		};

		if (symbol.addr != 0 && ftr_vec_push(&symbols->all, symbol) < 0)
			return -ENOMEM;
	}
	return kernels_collect(w, symbols);
}

static int put_symbols(struct head *out, const struct tdat_writer *w)
{
	struct func_symbols symbols = { 0 };
	struct ftr_strbuf text;
	int ret = symbols_collect(w, &symbols);

	if (symbols.all.nr > 0)
		qsort(symbols.all.v, symbols.all.nr, sizeof(symbols.all.v[0]), compare_symbols);
	ftr_strbuf_init(&text);
	for (size_t i = 0; ret == 0 && i < symbols.all.nr; i++) {
		if (i > 0 && symbols.all.v[i].addr == symbols.all.v[i - 1].addr)
			continue;
		ftr_strbuf_printf(&text, "%016llx T ", (unsigned long long)symbols.all.v[i].addr);
		put_symbol_name(&text, symbols.all.v[i].name);
		ftr_strbuf_putc(&text, '\n');
	}
	ftr_vec_fini(&symbols.all);
	put_sized(out, &text, 4);
	return ret;
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

static int put_tasks(struct head *out, const struct tdat_writer *w)
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

static void put_option(struct head *out, uint16_t id, struct ftr_strbuf *text)
{
	put_u16(out, id);
	ftr_strbuf_putc(text, '\0');
	put_sized(out, text, 4);
}

/* "Linux 6.1.0" of "box": "Linux box 6.1.0" */
static void put_uname(struct head *out, const struct ftr_info *info)
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

static void put_version(struct head *out, const struct tdat_writer *w)
{
	struct ftr_strbuf text;

	ftr_strbuf_init(&text);
	ftr_strbuf_printf(&text, TDAT_VERSION_PREFIX FTR_VERSION TDAT_VERSION_TASKS "%zu",
			  w->cpu_nr);
	put_option(out, TDAT_OPTION_VERSION, &text);
}

static void put_place(struct head *out, const struct tdat_out_cpu *cpu, uint64_t *offset)
{
	uint64_t bytes = cpu == NULL ? 0 :
			 (uint64_t)cpu->runs.nr * TDAT_OUT_RUN_BYTES +
			 cpu->page_nr * FTR_KBUF_PAGE_BYTES;

	put_u64(out, *offset);
	put_u64(out, bytes);
	*offset += bytes;
}

/* Of a buffer's CPUs, real ones and those of tasks. */
static void put_buffer(struct head *out, const struct tdat_writer *w, size_t nr,
		       uint64_t *offset)
{
	const struct tdat_out_buffer *buffer = &w->buffers.v[nr];

	put_string(out, TDAT_TAG_FLYRECORD);
	for (size_t i = 0; i < w->cpu_nr; i++)
		put_place(out, i < buffer->cpus.nr ? buffer->cpus.v[i] : NULL, offset);
	for (size_t i = 0; i < w->tasks.nr; i++)
		put_place(out, nr == 0 ? w->tasks.v[i] : NULL, offset);
}

static size_t buffer_bytes(const struct tdat_writer *w)
{
	return sizeof(TDAT_TAG_FLYRECORD) + 2 * sizeof(uint64_t) * (w->cpu_nr + w->tasks.nr);
}

/* Options that lead to instances, whose places stand behind those of the top buffer. */
static void put_instances(struct head *out, const struct tdat_writer *w)
{
	const size_t head_bytes = sizeof(uint16_t) + sizeof(uint32_t);
	uint64_t at = out->text.len + sizeof(uint16_t);	/* the end of options */

	for (size_t i = 1; i < w->buffers.nr; i++)
		at += head_bytes + sizeof(uint64_t) + strlen(w->buffers.v[i].name) + 1;
	for (size_t i = 1; i < w->buffers.nr; i++) {
		uint64_t offset = at + i * buffer_bytes(w);
		struct ftr_strbuf data;

		ftr_put_u64(&offset, offset, out->is_big);
		ftr_strbuf_init(&data);
		ftr_strbuf_put(&data, &offset, sizeof(offset));
		ftr_strbuf_puts(&data, w->buffers.v[i].name);
		put_option(out, TDAT_OPTION_BUFFER, &data);
	}
}

static void put_places(struct head *out, const struct tdat_writer *w)
{
	uint64_t offset = ftr_align_up(out->text.len + w->buffers.nr * buffer_bytes(w),
				       FTR_KBUF_PAGE_BYTES);

	for (size_t i = 0; i < w->buffers.nr; i++)
		put_buffer(out, w, i, &offset);
	while (!out->text.failed && out->text.len % FTR_KBUF_PAGE_BYTES != 0)
		ftr_strbuf_putc(&out->text, '\0');
}

static int put_all(struct head *out, struct tdat_writer *w)
{
	ftr_strbuf_put(&out->text, TDAT_MAGIC, TDAT_MAGIC_BYTES);
	put_string(out, "6");
	ftr_strbuf_putc(&out->text, (char)out->is_big);
	ftr_strbuf_putc(&out->text, (char)out->long_bytes);
	put_u32(out, FTR_KBUF_PAGE_BYTES);
	put_headers(out);
	if (put_ftrace(out, &w->names) < 0 || put_systems(out, &w->names) < 0 ||
	    put_symbols(out, w) < 0)
		return -ENOMEM;
	put_printk_formats(out, &w->names);
	if (put_tasks(out, w) < 0)
		return -ENOMEM;
	put_u32(out, (uint32_t)(w->cpu_nr + w->tasks.nr));
	put_string(out, TDAT_TAG_OPTIONS);
	put_uname(out, &w->trace->info);
	put_version(out, w);
	put_instances(out, w);
	put_u16(out, TDAT_OPTION_DONE);
	put_places(out, w);
	return out->text.failed ? -ENOMEM : 0;
}

int tdat_head_make(struct tdat_writer *w, struct ftr_strbuf *head)
{
	struct head out = { .text = *head, .is_big = w->is_big, .long_bytes = w->long_bytes };
	int ret = put_all(&out, w);

	*head = out.text;
	return ret;
}
