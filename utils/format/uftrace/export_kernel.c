/* SPDX-License-Identifier: MIT */
/*
 * Any trace as a uftrace directory: the kernel's functions and tracepoints, in files like the
 * kernel's own.
 *
 * kernel-cpuN.dat holds pages of records, kernel_header their formats.  Those of functions are the
 * kernel's; tracepoints are known as text alone, so that is their one field.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bits.h"
#include "utils/base/bytes.h"
#include "utils/base/strpool.h"
#include "utils/base/text.h"
#include "utils/format/ftrace/page_layout.h"
#include "utils/format/ftrace/page_write.h"
#include "utils/format/uftrace/export.h"

#define ID_EXIT	  10u		/* as kernels number them */
#define ID_ENTRY  11u
#define ID_MAX	  UINT16_MAX
#define CPU_MAX	  1024u		/* of events without a CPU */
#define END_NAME  "_etext"	/* as in kernels */
#define MADE_UP_ADDR \
	UINT64_C(0xffffff0000000000) /* for functions without one: no kernel's code is there */

/* What all records begin with. */
struct common {
	uint16_t type;
	uint8_t  flags;
	uint8_t  preempt_count;
	int32_t  pid;
};

struct entry_record {
	struct common common;
	uint64_t func;
	int32_t  depth;
	uint32_t padding;
};

struct exit_record {
	struct common common;
	uint64_t func;
	int32_t  depth;
	uint32_t overrun;
	uint64_t start_ns, end_ns;
};

struct text_record {
	struct common common;
	uint32_t text_at;	/* ftr_kpage_dynamic */
	char	 text[FTR_KBUF_RECORD_MAX - sizeof(struct common) - sizeof(uint32_t)];
};

#define TEXT_MAX (sizeof(((struct text_record *)0)->text) - 1)

/* A tracepoint by the number of its name; id 0: no name for a file. */
struct tracepoint {
	const struct ftr_str *name;	/* (borrowed) in the pool */
	uint16_t id;
};

struct ufx_kernel {
	FTR_VEC(struct ftr_kbuf *) cpus;	/* (owned, nullable) */
	struct ftr_strpool names;
	FTR_VEC(struct tracepoint) tracepoints;	/* by id of the name */
	uint8_t ids[(ID_MAX + 1) / 8];		/* those that are taken */
	uint16_t id_next;			/* to be given away, downwards */
	struct ftr_hashmap addrs;		/* of functions */
	uint64_t addr_next;			/* to be given away */
};

static bool id_is_taken(const struct ufx_kernel *kernel, uint64_t id)
{
	return kernel->ids[id / 8] & FTR_BIT(id % 8);
}

static void id_take(struct ufx_kernel *kernel, uint64_t id)
{
	kernel->ids[id / 8] |= (uint8_t)FTR_BIT(id % 8);
}

/* NULL: out of memory. */
static struct ufx_kernel *kernel_get(struct ufx *x)
{
	struct ufx_kernel *kernel = x->kernel;

	if (kernel != NULL)
		return kernel;
	kernel = calloc(1, sizeof(*kernel));
	if (kernel == NULL) {
		ufx_no_memory(x);
		return NULL;
	}
	ftr_strpool_init(&kernel->names);
	ftr_hashmap_init(&kernel->addrs);
	kernel->addr_next = MADE_UP_ADDR;
	kernel->id_next = ID_MAX;
	id_take(kernel, 0);
	id_take(kernel, ID_EXIT);
	id_take(kernel, ID_ENTRY);
	x->kernel = kernel;
	x->has_kernel = true;
	return kernel;
}

int ufx_kernel_addr(struct ufx *x, const struct ftr_func *func, uint64_t *addr)
{
	struct ufx_kernel *kernel = kernel_get(x);
	uint64_t at = func->addr;

	if (kernel == NULL)
		return -ENOMEM;
	if (at == 0 || ftr_hashmap_find(&kernel->addrs, at) != NULL) {
		do
			at = kernel->addr_next += UFX_STEP;
		while (ftr_hashmap_find(&kernel->addrs, at) != NULL);
	}
	*addr = at;
	return ftr_hashmap_set(&kernel->addrs, at, kernel) < 0 ? -ENOMEM : 0;
}

/* ---- pages ---- */

static struct ftr_kbuf *cpu_get(struct ufx *x, uint32_t cpu)
{
	struct ufx_kernel *kernel = kernel_get(x);

	if (kernel == NULL)
		return NULL;
	while (kernel->cpus.nr <= cpu) {
		if (ftr_vec_push(&kernel->cpus, NULL) < 0)
			goto fail;
	}
	if (kernel->cpus.v[cpu] == NULL)
		kernel->cpus.v[cpu] = calloc(1, sizeof(struct ftr_kbuf));
	if (kernel->cpus.v[cpu] != NULL)
		return kernel->cpus.v[cpu];
fail:
	ufx_no_memory(x);
	return NULL;
}

static int page_store(struct ufx *x, uint32_t cpu)
{
	char name[40];

	snprintf(name, sizeof(name), "kernel-cpu%u.dat", cpu);
	return ufx_file_append(x, name, ftr_kbuf_take(x->kernel->cpus.v[cpu]), FTR_KBUF_PAGE_BYTES);
}

/* Times of a CPU do not go back. */
static uint64_t cpu_time(struct ufx *x, const struct ftr_kbuf *kbuf, uint64_t time_ns)
{
	if (time_ns >= kbuf->last_ns)
		return time_ns;
	x->late_nr++;
	return kbuf->last_ns;
}

static int record_put(struct ufx *x, uint32_t cpu, uint64_t time_ns, const void *record, size_t len)
{
	struct ftr_kbuf *kbuf = cpu_get(x, cpu);
	int ret = 0;

	if (kbuf == NULL)
		return -ENOMEM;
	time_ns = cpu_time(x, kbuf, time_ns);
	while (ret == 0 && !ftr_kbuf_put(kbuf, time_ns, record, (uint32_t)len))
		ret = page_store(x, cpu);
	return ret;
}

int ufx_kernel_lost(struct ufx *x, uint64_t time_ns, uint32_t cpu, uint64_t nr)
{
	struct ftr_kbuf *kbuf = cpu_get(x, cpu);
	int ret = 0;

	if (kbuf == NULL)
		return -ENOMEM;
	time_ns = cpu_time(x, kbuf, time_ns);
	while (ret == 0 && !ftr_kbuf_lose(kbuf, time_ns, nr))
		ret = page_store(x, cpu);
	return ret;
}

/*
 * Where something may have been: on the task's CPU, or else on any whose last record is not later.
 */
static uint32_t cpu_guess(const struct ufx *x, const struct ufx_task *task, uint64_t time_ns)
{
	const struct ufx_kernel *kernel = x->kernel;
	uint32_t cpu = task->cpu_nr == 0 ? 0 : task->cpu_nr - 1u;

	for (uint32_t next = 0; next < CPU_MAX; cpu = next++) {
		if (cpu >= kernel->cpus.nr || kernel->cpus.v[cpu] == NULL ||
		    kernel->cpus.v[cpu]->last_ns <= time_ns)
			return cpu;
	}
	return 0;
}

static struct common common_of(const struct ftr_event *ev, uint32_t id)
{
	return (struct common){ .type = (uint16_t)id, .pid = ev->task->tid };
}

int ufx_kernel_call(struct ufx *x, const struct ufx_task *task, const struct ftr_event *ev,
		    uint64_t addr)
{
	const struct entry_record entry = { .common = common_of(ev, ID_ENTRY), .func = addr,
					    .depth = (int32_t)task->kernel_depth };
	const struct exit_record exit = { .common = common_of(ev, ID_EXIT), .func = addr,
					  .depth = (int32_t)task->kernel_depth,
					  .start_ns = ev->call.start_ns, .end_ns = ev->time_ns };
	uint32_t cpu = cpu_guess(x, task, ev->time_ns);

	x->kernel_cut_nr += ev->payload != NULL;
	if (ev->type == FTR_EVENT_ENTRY)
		return record_put(x, cpu, ev->time_ns, &entry, sizeof(entry));
	return record_put(x, cpu, ev->time_ns, &exit, sizeof(exit));
}

/* ---- tracepoints ---- */

static bool is_word(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if ((s[i] < 'a' || s[i] > 'z') && (s[i] < 'A' || s[i] > 'Z') &&
		    (s[i] < '0' || s[i] > '9') && s[i] != '_')
			return false;
	}
	return len > 0;
}

/* "SYSTEM:NAME" of which a path and a format can be made. */
static bool name_is_fit(const struct ftr_str *name)
{
	const char *colon = strchr(name->s, ':');

	return colon != NULL && is_word(name->s, (size_t)(colon - name->s)) &&
	       is_word(colon + 1, strlen(colon + 1));
}

/* The tracepoint's own id, unless it is another's; 0 when none is left. */
static uint16_t id_choose(struct ufx_kernel *kernel, uint64_t id)
{
	if (id > ID_MAX || id_is_taken(kernel, id)) {
		while (kernel->id_next > 0 && id_is_taken(kernel, kernel->id_next))
			kernel->id_next--;
		id = kernel->id_next;
	}
	id_take(kernel, id);
	return (uint16_t)id;
}

/* The id in the file of an event; 0: the name does not suit one; -ENOMEM. */
static int tracepoint_id(struct ufx *x, const struct ftr_event *ev)
{
	struct ufx_kernel *kernel = kernel_get(x);
	const struct ftr_str *name;
	struct tracepoint added;

	if (kernel == NULL)
		return -ENOMEM;
	name = ftr_strpool_get(&kernel->names, ev->point.name, strlen(ev->point.name));
	if (name == NULL)
		return ufx_no_memory(x);
	if (name->id < kernel->tracepoints.nr)
		return kernel->tracepoints.v[name->id].id;
	added = (struct tracepoint){ name,
				     name_is_fit(name) ? id_choose(kernel, ev->point.id) : 0 };
	return ftr_vec_push(&kernel->tracepoints, added) < 0 ? ufx_no_memory(x) : added.id;
}

/* How much of the text fits, up to a character's end. */
static size_t text_fit(const char *text, size_t len)
{
	size_t fit = strnlen(text, len < TEXT_MAX ? len : TEXT_MAX);

	if (fit < TEXT_MAX || fit == len)
		return fit;
	for (size_t i = 1; i < 4; i++) {
		if (ftr_utf8_char(text + fit - i, len - fit + i) > i)
			return fit - i;
	}
	return fit;
}

static int text_put(struct ufx *x, const struct ufx_task *task, const struct ftr_event *ev,
		    uint32_t id)
{
	uint32_t cpu = ev->point.cpu_nr != 0 ? ev->point.cpu_nr - 1u :
					       cpu_guess(x, task, ev->time_ns);
	const size_t head = offsetof(struct text_record, text);
	struct text_record record;
	size_t len = 0;

	if (ev->payload != NULL) {
		len = text_fit((const char *)ev->payload->data, ev->payload->len);
		memcpy(record.text, ev->payload->data, len);
		x->text_cut_nr += len < ev->payload->len;
	}
	record.text[len] = '\0';
	record.common = common_of(ev, id);
	record.text_at = ftr_kpage_dynamic((uint32_t)head, (uint32_t)len + 1);
	return record_put(x, cpu, ev->time_ns, &record, head + len + 1);
}

int ufx_kernel_point(struct ufx *x, const struct ufx_task *task, const struct ftr_event *ev)
{
	int id = 0, ret;

	if (ftr_event_is_tracepoint(ev) && (ev->payload == NULL || ev->payload->spec == NULL))
		id = tracepoint_id(x, ev);
	if (id <= 0)
		return id;
	ret = text_put(x, task, ev, (uint32_t)id);
	return ret < 0 ? ret : 1;
}

/* ---- what explains the pages ---- */

static const char page_format[] =
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
	"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";

static const char common_format[] =
	"format:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
	"\n";

static const char entry_format[] =
	"\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\n"
	"print fmt: \"--> %ps (%d)\", (void *)REC->func, REC->depth\n";

static const char exit_format[] =
	"\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\tfield:unsigned int overrun;\toffset:20;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned long long calltime;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long long rettime;\toffset:32;\tsize:8;\tsigned:0;\n"
	"\n"
	"print fmt: \"<-- %ps (%d) (start: %llx  end: %llx) over: %u\", (void *)REC->func, REC->depth, "
	"REC->calltime, REC->rettime, REC->overrun\n";

static const char text_format[] =
	"\tfield:__data_loc char[] text;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\n"
	"print fmt: \"%s\", __get_str(text)\n";

/* A file of tracefs: its path, its length, its bytes. */
static void put_file(struct ftr_strbuf *text, const char *path, const char *content, size_t len)
{
	ftr_strbuf_printf(text, "TRACEFS: %s: %zu\n", path, len);
	ftr_strbuf_put(text, content, len);
}

static void put_format(struct ftr_strbuf *text, const char *name, unsigned id, const char *fields)
{
	const char *colon = strchr(name, ':');
	struct ftr_strbuf path, content;

	ftr_strbuf_init(&path);
	ftr_strbuf_init(&content);
	ftr_strbuf_printf(&path, "events/%.*s/%s/format", (int)(colon - name), name, colon + 1);
	ftr_strbuf_printf(&content, "name: %s\nID: %u\n%s%s", colon + 1, id, common_format, fields);
	put_file(text, ftr_strbuf_str(&path), ftr_strbuf_str(&content), content.len);
	text->failed |= path.failed || content.failed;
	ftr_strbuf_fini(&path);
	ftr_strbuf_fini(&content);
}

static int header_store(struct ufx *x)
{
	const struct ufx_kernel *kernel = x->kernel;
	struct ftr_strbuf text;
	int ret;

	ftr_strbuf_init(&text);
	ftr_strbuf_printf(&text, "PAGE_SIZE: %u\nLONG_SIZE: 8\nENDIAN: %s\n", FTR_KBUF_PAGE_BYTES,
			  FTR_HOST_IS_BIG ? "BE" : "LE");
	put_file(&text, "events/header_page", page_format, sizeof(page_format) - 1);
	put_format(&text, "ftrace:funcgraph_entry", ID_ENTRY, entry_format);
	put_format(&text, "ftrace:funcgraph_exit", ID_EXIT, exit_format);
	for (size_t i = 0; i < kernel->tracepoints.nr; i++) {
		if (kernel->tracepoints.v[i].id != 0)
			put_format(&text, kernel->tracepoints.v[i].name->s,
				   kernel->tracepoints.v[i].id, text_format);
	}
	ret = text.failed ? ufx_no_memory(x) :
			    ufx_file_append(x, "kernel_header", text.s, text.len);
	ftr_strbuf_fini(&text);
	return ret;
}

static int compare_symbols(const void *a, const void *b)
{
	const struct ftr_symbol *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void put_symbol(struct ftr_strbuf *text, uint64_t addr, const char *name)
{
	ftr_strbuf_printf(text, "%016llx T %s\n", (unsigned long long)addr, name);
}

/*
 * Lines as the kernel's own, behind them in comments the sizes, which it leaves out.  To uftrace a
 * symbol reaches to the next one, so the last needs one, too.
 */
static void put_symbols(struct ftr_strbuf *text, const struct ftr_symbol *symbols, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		put_symbol(text, symbols[i].addr, symbols[i].name);
	if (nr > 0)
		put_symbol(text,
			   symbols[nr - 1].addr +
				   (symbols[nr - 1].size == 0 ? UFX_STEP : symbols[nr - 1].size),
			   END_NAME);
	for (size_t i = 0; i < nr; i++) {
		if (symbols[i].size != 0)
			ftr_strbuf_printf(text, "# size: %llx %x\n",
					  (unsigned long long)symbols[i].addr, symbols[i].size);
	}
}

static int symbols_store(struct ufx *x)
{
	struct ftr_symbol *symbols = calloc(x->funcs.nr + 1, sizeof(*symbols));
	struct ftr_strbuf text;
	size_t nr = 0;
	int ret;

	if (symbols == NULL)
		return ufx_no_memory(x);
	for (size_t i = 0; i < x->funcs.nr; i++) {
		const struct ufx_func *func = &x->funcs.v[i];

		if (func->module == UFX_KERNEL)
			symbols[nr++] = (struct ftr_symbol){ .addr = func->addr,
							     .size = func->func->size,
							     .name = ufx_symbol_name(x,
										     func->func) };
	}
	qsort(symbols, nr, sizeof(symbols[0]), compare_symbols);
	ftr_strbuf_init(&text);
	put_symbols(&text, symbols, nr);
	free(symbols);
	ret = text.failed ? ufx_no_memory(x) :
	      ufx_file_append(x, "kallsyms", ftr_strbuf_str(&text), text.len);
	ftr_strbuf_fini(&text);
	return ret;
}

int ufx_kernel_end(struct ufx *x)
{
	int ret = x->kernel == NULL ? 0 : header_store(x);

	if (ret == 0 && x->kernel != NULL)
		ret = symbols_store(x);
	for (uint32_t cpu = 0; ret == 0 && x->kernel != NULL && cpu < x->kernel->cpus.nr; cpu++) {
		while (ret == 0 && x->kernel->cpus.v[cpu] != NULL &&
		       !ftr_kbuf_is_empty(x->kernel->cpus.v[cpu]))
			ret = page_store(x, cpu);
	}
	return ret;
}

void ufx_kernel_free(struct ufx_kernel *kernel)
{
	if (kernel == NULL)
		return;
	for (size_t i = 0; i < kernel->cpus.nr; i++)
		free(kernel->cpus.v[i]);
	ftr_vec_fini(&kernel->cpus);
	ftr_vec_fini(&kernel->tracepoints);
	ftr_strpool_fini(&kernel->names);
	ftr_hashmap_fini(&kernel->addrs);
	free(kernel);
}
