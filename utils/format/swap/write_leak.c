/* SPDX-License-Identifier: MIT */
/*
 * SWAP writer: what each process never gave back of the memory that it asked for, as LSAN messages
 * (doc/adr/0091).  The first request is answered by "looked for"; the report comes before the
 * process's TERMINATE.
 */
#include "utils/format/swap/write_leak.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/ostream.h"
#include "utils/format/swap/write.h"
#include "utils/trace/func.h"

enum lsan_status { LSAN_STATUS = 1, LSAN_REPORT = 2, LSAN_DONE = 4 };

/* A place that asked for memory. */
struct swap_leak_site {
	const struct swap_process *process;
	struct ftr_session *session;	/* (nullable) the image that asked */
	uint64_t caller;
	uint64_t time_ns;		/* of the first request: what is mapped there */
	uint64_t bytes, blocks;		/* not given back */
	uint32_t nr;			/* of the site, by its first request */
};

static void block_gone(void *arg, const struct ftr_memory_block *block)
{
	struct swap_leaks *leaks = arg;
	struct swap_leak_site *site = &leaks->sites.v[block->owner];

	site->bytes -= block->bytes;
	site->blocks--;
}

void swap_leaks_init(struct swap_leaks *leaks)
{
	ftr_memory_blocks_init(&leaks->blocks, block_gone, leaks);
	ftr_hashmap_init(&leaks->by_place);
}

void swap_leaks_fini(struct swap_leaks *leaks)
{
	ftr_memory_blocks_fini(&leaks->blocks);
	ftr_vec_fini(&leaks->sites);
	ftr_hashmap_fini(&leaks->by_place);
}

/* ---- what is asked for ---- */

/* NULL = out of memory. */
static struct swap_leak_site *site_get(struct swap_leaks *leaks, const struct swap_leak_site *like)
{
	uint64_t key = ftr_hash_u64(ftr_hash_u64((uintptr_t)like->process) ^
				    (uintptr_t)like->session) ^ like->caller;
	uintptr_t nr;

	while ((nr = (uintptr_t)ftr_hashmap_find(&leaks->by_place, key)) != 0) {
		struct swap_leak_site *site = &leaks->sites.v[nr - 1];

		if (site->process == like->process && site->session == like->session &&
		    site->caller == like->caller)
			return site;
		key++;
	}
	if (leaks->sites.nr >= UINT32_MAX || ftr_vec_push(&leaks->sites, *like) < 0 ||
	    ftr_hashmap_set(&leaks->by_place, key, (void *)(uintptr_t)leaks->sites.nr) < 0)
		return NULL;
	leaks->sites.v[leaks->sites.nr - 1].nr = (uint32_t)leaks->sites.nr - 1;
	return &leaks->sites.v[leaks->sites.nr - 1];
}

static int write_lsan(struct swap_writer *w, const struct swap_process *process,
		      enum lsan_status status, const char *text, uint64_t time_ns)
{
	swap_values_begin(w);
	if (swap_put_number(w, status) < 0 || swap_put_number(w, (uint32_t)process->pid) < 0 ||
	    swap_put_text(w, text) < 0 || swap_put_number(w, 0) < 0 || swap_put_number(w, 0) < 0)
		return swap_no_memory(w);
	return swap_write(w, SWAP_MSG_LSAN, time_ns);
}

int swap_take_request(struct swap_writer *w, const struct ftr_event *ev)
{
	struct swap_process *process = ftr_hashmap_find(&w->processes, (uint32_t)ev->task->pid);
	struct swap_leak_site *site = NULL;
	struct ftr_memory_request request;
	uint32_t owner = 0;
	int ret = 0;

	if (w->trace->is_narrowed || process == NULL || process->pid == 0 ||
	    process->leaks == SWAP_LEAKS_OF_OTHERS || !ftr_memory_request_read(&request, ev))
		return 0;
	if (process->leaks == SWAP_LEAKS_NONE)
		ret = write_lsan(w, process, LSAN_DONE, "leaks are looked for", ev->time_ns);
	process->leaks = SWAP_LEAKS_OURS;
	if (ret == 0 && request.asks && request.address != 0) {
		const struct swap_leak_site like = {
			.process = process, .caller = request.caller, .time_ns = ev->time_ns,
			.session = ftr_task_session_at(ev->task, ev->time_ns),
		};

		site = site_get(&w->leaks, &like);
		if (site == NULL)
			return swap_no_memory(w);
		site->bytes += request.bytes;
		site->blocks++;
		owner = site->nr;
	}
	if (ret == 0 && ftr_memory_blocks_take(&w->leaks.blocks, ev, &request, owner) < 0)
		return swap_no_memory(w);
	return ret;
}

void swap_leaks_shown(struct swap_writer *w, const struct ftr_event *ev)
{
	struct swap_process *process = ftr_hashmap_find(&w->processes, (uint32_t)ev->task->pid);

	if (process != NULL)
		process->leaks = SWAP_LEAKS_OF_OTHERS;
}

void swap_leaks_lost(struct swap_writer *w, const struct ftr_event *ev)
{
	struct swap_process *process = ftr_hashmap_find(&w->processes, (uint32_t)ev->task->pid);

	if (process != NULL)
		process->has_lost = true;
}

/* ---- the report ---- */

/* The most bytes first. */
static int site_compare(const void *left, const void *right)
{
	const struct swap_leak_site *a = left, *b = right;

	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return a->nr < b->nr ? -1 : a->nr > b->nr;
}

struct report {
	FTR_VEC(struct swap_leak_site) sites;
	uint64_t bytes, blocks;
	struct ftr_strbuf text;		/* lines, each with its newline */
};

static int report_collect(struct report *report, const struct swap_leaks *leaks,
			  const struct swap_process *process)
{
	for (size_t i = 0; i < leaks->sites.nr; i++) {
		const struct swap_leak_site *site = &leaks->sites.v[i];

		if (site->process != process || site->blocks == 0)
			continue;
		if (ftr_vec_push(&report->sites, *site) < 0)
			return -ENOMEM;
		report->bytes += site->bytes;
		report->blocks += site->blocks;
	}
	if (report->sites.nr > 0)
		qsort(report->sites.v, report->sites.nr, sizeof(*report->sites.v), site_compare);
	return 0;
}

static void put_amount(struct ftr_strbuf *text, uint64_t bytes, uint64_t blocks)
{
	ftr_strbuf_printf(text, "%" PRIu64 " byte%s in %" PRIu64 " block%s", bytes,
			  bytes == 1 ? "" : "s", blocks, blocks == 1 ? "" : "s");
}

/* Where it was asked for; of an image that the process was before, which. */
static void put_place(struct swap_writer *w, struct ftr_strbuf *text,
		      const struct swap_leak_site *site)
{
	const struct ftr_func *func = NULL;
	const struct ftr_mapping *mapping = NULL;
	uint64_t offset = 0;

	/* The call is before the place that it returns to. */
	if (site->caller != 0)
		func = ftr_trace_find((struct ftr_trace *)w->trace, site->session, site->time_ns,
				      site->caller - 1, &offset);
	if (site->session != NULL)
		mapping = ftr_session_find(site->session, site->time_ns, site->caller);
	ftr_strbuf_puts(text, ", asked for ");
	if (func != NULL)
		ftr_strbuf_printf(text, "by %s+0x%" PRIx64 " (0x%" PRIx64 ")", func->name,
				  offset + 1, site->caller);
	else
		ftr_strbuf_printf(text, "at 0x%" PRIx64, site->caller);
	if (func == NULL && mapping != NULL)
		ftr_strbuf_printf(text, " of %s", mapping->module->path);
	if (site->session != site->process->session && site->session != NULL)
		ftr_strbuf_printf(text, ", when it was %s", site->session->exename);
}

static void report_format(struct report *report, struct swap_writer *w,
			  const struct swap_process *process)
{
	put_amount(&report->text, report->bytes, report->blocks);
	ftr_strbuf_puts(&report->text, " not given back");
	if (process->has_lost)
		ftr_strbuf_puts(&report->text, "; records are lost, so some may have been");
	ftr_strbuf_putc(&report->text, '\n');
	for (size_t i = 0; i < report->sites.nr; i++) {
		const struct swap_leak_site *site = &report->sites.v[i];

		put_amount(&report->text, site->bytes, site->blocks);
		put_place(w, &report->text, site);
		ftr_strbuf_putc(&report->text, '\n');
	}
}

/* Beside the stream, as the side file is; the message has its name. */
static int write_file(struct swap_writer *w, const struct report *report,
		      const struct swap_process *process)
{
	struct ftr_ostream out;
	int ret;

	ftr_strbuf_clear(&w->text);
	ftr_strbuf_printf(&w->text, "%s.%d.leaks", w->base.out->name, process->pid);
	ret = w->text.failed ? swap_no_memory(w) :
			       ftr_ostream_open(&out, ftr_strbuf_str(&w->text), w->base.err);
	if (ret < 0)
		return ret;
	ftr_ostream_write(&out, ftr_strbuf_str(&report->text), report->text.len);
	ret = ftr_ostream_close(&out, w->base.err);
	return ret < 0 ? ret : write_lsan(w, process, LSAN_REPORT, ftr_strbuf_str(&w->text),
					  w->last_ns);
}

/* A message for each line: there is no file that who gets the stream could read. */
static int write_lines(struct swap_writer *w, struct report *report,
		       const struct swap_process *process)
{
	char *line = report->text.s, *end;
	int ret = 0;

	while (ret == 0 && *line != '\0') {
		end = strchr(line, '\n');
		*end = '\0';
		ret = write_lsan(w, process, LSAN_STATUS, line, w->last_ns);
		line = end + 1;
	}
	return ret;
}

int swap_write_leaks(struct swap_writer *w, const struct swap_process *process)
{
	struct report report = { .bytes = 0 };
	int ret;

	if (process->leaks != SWAP_LEAKS_OURS)
		return 0;
	ftr_strbuf_init(&report.text);
	ret = report_collect(&report, &w->leaks, process);
	if (ret == 0 && report.blocks > 0) {
		report_format(&report, w, process);
		ret = report.text.failed ? -ENOMEM : 0;
		if (ret == 0)
			ret = w->base.out->owns_fd ? write_file(w, &report, process) :
						     write_lines(w, &report, process);
	}
	ftr_vec_fini(&report.sites);
	ftr_strbuf_fini(&report.text);
	return ret == -ENOMEM ? swap_no_memory(w) : ret;
}
