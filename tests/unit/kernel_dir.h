/* SPDX-License-Identifier: MIT */
/* A uftrace directory in memory, with files of the kernel's, and all that is read of it. */
#ifndef FTR_TESTS_UNIT_KERNEL_DIR_H
#define FTR_TESTS_UNIT_KERNEL_DIR_H

#include <string.h>

#include "tests/unit/kernel_pages.h"
#include "tests/unit/packed.h"
#include "tests/unit/unit.h"
#include "utils/base/strbuf.h"
#include "utils/format/dir.h"
#include "utils/format/uftrace/uftrace.h"
#include "utils/proto/record.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/pipeline.h"
#include "utils/trace/source.h"
#include "utils/trace/trace.h"

#define MAP "1000-2000 r-xp 00000000 00:00 0                          /bin/prog\n"
#define SYM "0000000000000100 00000010 T main\n0000000000000300 00000010 T __sym_end\n"
#define TASK "SESS timestamp=0.000000001 pid=5 sid=00000000000000aa exename=\"/bin/prog\"\n" \
	     "TASK timestamp=0.000000002 tid=5 pid=5\nTASK timestamp=0.000000003 tid=6 pid=5\n"
#define KALLSYMS \
	"00000000c0001000 T vfs_read\n00000000c0002000 t copy_page\t[mod]\n00000000c0003000 D data\n"
#define MAIN 0x1104
#define READ UINT64_C(0xc0001000)
#define COPY UINT64_C(0xc0002000)

#define RECORD(time, type, depth, addr) \
	(time), ((uint64_t)(addr) << 16 | (uint64_t)(depth) << 6 | FTR_RECORD_MAGIC | (type))

static const uint64_t main_data[] = { RECORD(100, 0, 0, MAIN), RECORD(900, 1, 0, MAIN) };
static const uint64_t other_data[] = { RECORD(200, 0, 0, MAIN), RECORD(800, 1, 0, MAIN) };

static struct ftr_strbuf packed;	/* a directory in the making; see format/dir.h */
static struct kernel_pages pages;
static struct ftr_strbuf warnings;
static struct ftr_strbuf shown;

static inline void keep_warning(void *arg, const char *text)
{
	ftr_strbuf_puts(&warnings, text);
	ftr_strbuf_putc(&warnings, '\n');
}

static struct ftr_diag diag = { .warn = keep_warning };

static inline void begin(bool is_big, unsigned long_bytes)
{
	memset(&pages, 0, sizeof(pages));
	pages.is_big = is_big;
	pages.long_bytes = long_bytes;
	ftr_strbuf_clear(&packed);
	ftr_strbuf_clear(&warnings);
	ftr_strbuf_clear(&shown);
	diag.nr = 0;
}

static inline int setup(void **state)
{
	ftr_strbuf_init(&packed);
	ftr_strbuf_init(&warnings);
	ftr_strbuf_init(&shown);
	begin(false, 8);
	return 0;
}

static inline int teardown(void **state)
{
	ftr_strbuf_fini(&packed);
	ftr_strbuf_fini(&warnings);
	ftr_strbuf_fini(&shown);
	return 0;
}

static inline void add(const char *name, const void *bytes, size_t size)
{
	packed_add(&packed, name, bytes, size);
}

static inline void add_text(const char *name, const char *text)
{
	add(name, text, strlen(text));
}

static inline void add_tasks(void)
{
	unsigned char info[60] = { 'F', 't', 'r', 'a', 'c', 'e', '!', 0, 4, 0, 0, 0, 40, 0, 1, 2,
				   FTR_FEATURE_SYM_REL_ADDR | FTR_FEATURE_TASK_SESSION };

	memcpy(info + 40, "taskinfo:tids=5,6\n", 18);
	add("info", info, 58);
	add_text("task.txt", TASK);
	add_text("sid-00000000000000aa.map", MAP);
	add_text("prog.sym", SYM);
	add("5.dat", main_data, sizeof(main_data));
	add("6.dat", other_data, sizeof(other_data));
}

static inline void add_header(void)
{
	char text[8192];

	add("kernel_header", text, kernel_header_text(&pages, text));
}

/* All but the pages. */
static inline void add_rest(void)
{
	add_tasks();
	add_header();
	add_text("kallsyms", KALLSYMS);
}

static inline void show_event(const struct ftr_event *ev)
{
	char lost[FTR_EVENT_LOST_TEXT_MAX];

	ftr_strbuf_printf(&shown, "%s%llu:", shown.len > 0 ? " " : "",
			  (unsigned long long)ev->time_ns);
	if (ev->type == FTR_EVENT_POINT)
		ftr_strbuf_printf(&shown, "%s@%u{%.*s}", ev->point.name, ev->point.cpu_nr,
				  ev->payload == NULL ? 0 : ev->payload->len,
				  ev->payload == NULL ? "" : (const char *)ev->payload->data);
	else if (ev->type == FTR_EVENT_LOST)
		ftr_strbuf_printf(&shown, "[%s]", (ftr_event_lost_text(ev, lost), lost));
	else
		ftr_strbuf_printf(&shown, "%s%c%s", ev->call.func->name,
				  ev->type == FTR_EVENT_ENTRY ? '(' : ')',
				  ev->flags & FTR_EVENT_INFERRED ? "~" : "");
	if (ev->task->tid != 5)
		ftr_strbuf_printf(&shown, "T%d", ev->task->tid);
}

static inline struct ftr_trace *trace_open(void)
{
	struct ftr_trace *trace = ftr_trace_new("test", &diag);
	struct ftr_err err = { 0 };
	struct ftr_dir *dir;

	assert_int_equal(ftr_dir_open_memory(&dir, packed.s, packed.len, &err), 0);
	assert_int_equal(ftr_uftrace_read_dir(trace, dir, &err), 0);
	return trace;
}

static inline void show(const struct ftr_pipeline_options *options)
{
	struct ftr_trace *trace = trace_open();
	struct ftr_source *source = NULL;
	struct ftr_err err = { 0 };
	struct ftr_event *evs;
	ssize_t nr;

	ftr_strbuf_clear(&shown);
	assert_int_equal(ftr_trace_pipeline(trace, options, &source, &err), 0);
	while ((nr = ftr_source_next(source, &evs, &err)) > 0) {
		for (ssize_t i = 0; i < nr; i++)
			show_event(&evs[i]);
	}
	assert_int_equal(nr, 0);
	ftr_source_free(source);
	ftr_trace_free(trace);
}

/* Everything that the directory holds, in order of time. */
static inline void expect(const char *text)
{
	const struct ftr_pipeline_options all = { .event_full = true, .kernel_full = true };

	show(&all);
	assert_string_equal(ftr_strbuf_str(&shown), text);
}

static inline void expect_warnings(const char *text)
{
	assert_string_equal(ftr_strbuf_str(&warnings), text);
}

#endif /* FTR_TESTS_UNIT_KERNEL_DIR_H */
