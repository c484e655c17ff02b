/* SPDX-License-Identifier: MIT */
/*
 * Any trace as a uftrace directory: the kernel's functions and tracepoints, in files like the
 * kernel's own.
 *
 * kernel-cpuN.dat holds pages of records, kernel_header their formats.  Those of functions are the
 * kernel's; tracepoints are known as text alone, so that is their one field.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/format/ftrace/record_write.h"
#include "utils/format/uftrace/export.h"
#include "utils/format/uftrace/write_kernel.h"
#include "utils/object/symtab.h"

#define CPU_MAX	  1024u		/* of events without a CPU */
#define END_NAME  "_etext"	/* as in kernels */
#define MADE_UP_ADDR \
	UINT64_C(0xffffff0000000000) /* for functions without one: no kernel's code is there */

struct ufx_kernel {
	FTR_VEC(struct ftr_kbuf *) cpus;	/* (owned, nullable) */
	struct ftr_krec_names names;
	struct ftr_hashmap addrs;		/* of functions */
	uint64_t addr_next;			/* to be given away */
};

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
	ftr_krec_names_init(&kernel->names);
	ftr_hashmap_init(&kernel->addrs);
	kernel->addr_next = MADE_UP_ADDR;
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
	if (ftr_vec_reach(&kernel->cpus, cpu) < 0)
		goto fail;
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

int ufx_kernel_call(struct ufx *x, const struct ufx_task *task, const struct ftr_event *ev,
		    uint64_t addr)
{
	struct ftr_krec rec;

	x->kernel_cut_nr += ev->payload != NULL;
	ftr_krec_call(&rec, ev, addr, task->kernel_depth);
	return record_put(x, cpu_guess(x, task, ev->time_ns), ev->time_ns, rec.bytes, rec.len);
}

/* ---- tracepoints ---- */

/* The id in the file of an event; 0: the name does not suit one; -ENOMEM. */
static int tracepoint_id(struct ufx *x, const struct ftr_event *ev)
{
	struct ufx_kernel *kernel = kernel_get(x);
	int id;

	if (kernel == NULL)
		return -ENOMEM;
	id = ftr_krec_id(&kernel->names, ev->point.name, ev->point.id);
	return id < 0 ? ufx_no_memory(x) : id;
}

static int text_put(struct ufx *x, const struct ufx_task *task, const struct ftr_event *ev,
		    uint32_t id)
{
	uint32_t cpu = ev->point.cpu_nr != 0 ? ev->point.cpu_nr - 1u :
					       cpu_guess(x, task, ev->time_ns);
	bool has_text = ev->payload != NULL;
	struct ftr_krec rec;

	x->text_cut_nr += !ftr_krec_text(&rec, ev->task->tid, id,
					 has_text ? (const char *)ev->payload->data : NULL,
					 has_text ? ev->payload->len : 0);
	return record_put(x, cpu, ev->time_ns, rec.bytes, rec.len);
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

static void put_format(struct ftr_uftrace_kernel_header *header, const char *name, unsigned id)
{
	const char *colon = strchr(name, ':');
	struct ftr_strbuf path, content;

	ftr_strbuf_init(&path);
	ftr_strbuf_init(&content);
	ftr_strbuf_printf(&path, "events/%.*s/%s/format", (int)(colon - name), name, colon + 1);
	ftr_krec_put_format(&content, name, id);
	ftr_uftrace_kernel_header_add(header, ftr_strbuf_str(&path), ftr_strbuf_str(&content),
				      content.len);
	header->text.failed |= path.failed || content.failed;
	ftr_strbuf_fini(&path);
	ftr_strbuf_fini(&content);
}

static void put_header_page(struct ftr_uftrace_kernel_header *header)
{
	struct ftr_strbuf content;

	ftr_strbuf_init(&content);
	ftr_krec_put_header_page(&content, sizeof(uint64_t));
	ftr_uftrace_kernel_header_add(header, "events/header_page", ftr_strbuf_str(&content),
				      content.len);
	header->text.failed |= content.failed;
	ftr_strbuf_fini(&content);
}

static int header_store(struct ufx *x)
{
	const struct ftr_krec_names *names = &x->kernel->names;
	struct ftr_uftrace_kernel_header header;
	int ret;

	ftr_uftrace_kernel_header_init(&header, FTR_KBUF_PAGE_BYTES, 8);
	put_header_page(&header);
	put_format(&header, FTR_KREC_NAME_ENTRY, FTR_KREC_ID_ENTRY);
	put_format(&header, FTR_KREC_NAME_EXIT, FTR_KREC_ID_EXIT);
	for (size_t i = 0; i < names->tracepoints.nr; i++) {
		if (names->tracepoints.v[i].id != 0)
			put_format(&header, names->tracepoints.v[i].name->s,
				   names->tracepoints.v[i].id);
	}
	ret = header.text.failed ?
		      ufx_no_memory(x) :
		      ufx_file_append(x, FTR_KERNEL_HEADER_FILE, header.text.s, header.text.len);
	ftr_uftrace_kernel_header_fini(&header);
	return ret;
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
	qsort(symbols, nr, sizeof(symbols[0]), ftr_symbol_compare);
	ftr_strbuf_init(&text);
	put_symbols(&text, symbols, nr);
	free(symbols);
	ret = text.failed ? ufx_no_memory(x) :
	      ufx_file_append(x, FTR_KERNEL_SYMBOL_FILE, ftr_strbuf_str(&text), text.len);
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
	ftr_krec_names_fini(&kernel->names);
	ftr_hashmap_fini(&kernel->addrs);
	free(kernel);
}
