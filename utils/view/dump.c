/* SPDX-License-Identifier: MIT */
/* A trace as it was recorded, record by record and task by task, as uftrace dump lists it. */
#include "utils/view/dump.h"

#include "utils/base/bits.h"
#include "utils/base/bytes.h"
#include "utils/base/strbuf.h"
#include "utils/base/text.h"
#include "utils/base/vec.h"
#include "utils/proto/record.h"
#include "utils/trace/args.h"
#include "utils/trace/args_text.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/event_text.h"
#include "utils/trace/pipeline.h"
#include "utils/trace/select.h"
#include "utils/trace/text_ahead.h"
#include "utils/trace/trace.h"
#include "utils/trace/watch.h"
#include "utils/view/dump_line.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_BYTES sizeof(struct ftr_record)
#define TYPE_BYTES 16	/* "retval", "] " */
#define STRUCT_LINE 16	/* bytes of a struct in a line */

/* An event that is not of a task's own file. */
struct perf_event {
	uint64_t time_ns;
	const char *name;
	uint64_t id;
	int32_t tid;
	uint16_t cpu_nr;		/* as in events */
	size_t order;			/* as found: keeps the sort stable */
};

struct dump {
	struct ftr_trace *trace;
	const struct ftr_dump_opts *opts;
	struct ftr_ostream *out;
	struct ftr_strbuf text;
	struct ftr_select_records select;
	bool is_selecting;		/* else all is listed */
	struct ftr_seek seek;		/* what has to be read */
	FTR_VEC(struct perf_event) perf;
	uint64_t offset;		/* in the task's file */
	struct dump_line line;
	struct ftr_text_ahead *ahead;	/* (owned, nullable) */
};

static void put_head(struct dump *self, uint64_t time_ns, int32_t tid, const char *type)
{
	char *p = ftr_ostream_reserve(self->out, DUMP_HEAD_BYTES + TYPE_BYTES);
	char *end = stpcpy(dump_line_head(&self->line, p, time_ns, tid), type);

	end = stpcpy(end, "] ");
	ftr_ostream_commit(self->out, (size_t)(end - p));
}

static void put_line(struct dump *self, const struct ftr_event *ev, const char *type,
		     struct ftr_slice name, uint64_t addr)
{
	char *p, *end;

	put_head(self, ev->time_ns, ev->task->tid, type);
	ftr_ostream_write(self->out, name.s, name.len);
	p = ftr_ostream_reserve(self->out, DUMP_TAIL_BYTES);
	end = dump_line_tail(p, addr, ev->depth);
	ftr_ostream_commit(self->out, (size_t)(end - p));
}

static void put_hex(struct dump *self, const uint8_t *bytes, size_t len)
{
	for (size_t at = 0; at < len; at += RECORD_BYTES) {
		ftr_ostream_printf(self->out, " <%016llx>:", (unsigned long long)self->offset);
		for (size_t i = at; i < len && i < at + RECORD_BYTES; i++)
			ftr_ostream_printf(self->out, "%s%02x", i == at + 8 ? "  " : " ", bytes[i]);
		ftr_ostream_putc(self->out, '\n');
		self->offset += len - at < RECORD_BYTES ? len - at : RECORD_BYTES;
	}
}

/* The 16 bytes a record of this event has. */
static void put_record_hex(struct dump *self, const struct ftr_event *ev,
			   enum ftr_record_type type, uint64_t addr)
{
	bool is_big = self->trace->info.elf_data == 2;
	uint8_t bytes[RECORD_BYTES];

	ftr_put_u64(bytes, ev->time_ns, is_big);
	ftr_put_u64(bytes + 8, ftr_record_word(type,
					       ev->depth & FTR_RECORD_DEPTH_MAX, addr) |
			       (ev->payload != NULL ? FTR_RECORD_MORE : 0), is_big);
	put_hex(self, bytes, sizeof(bytes));
}

/* Padding is shown as zeros: it holds no data. */
static void put_payload_hex(struct dump *self, const struct ftr_payload *payload, size_t before)
{
	uint8_t bytes[2048] = { 0 };
	size_t len = payload->len;

	if (!self->opts->has_hex || len + before > sizeof(bytes) - 8)
		return;
	if (before > 0)
		ftr_put_u16(bytes, (uint16_t)len, payload->is_big_endian);
	memcpy(bytes + before, payload->data, len);
	put_hex(self, bytes, (len + before + 7) / 8 * 8);
}

static char format_letter(enum ftr_arg_format format)
{
	static const char letters[] = {
		[FTR_ARG_AUTO] = 'd', [FTR_ARG_SIGNED] = 'i', [FTR_ARG_UNSIGNED] = 'u',
		[FTR_ARG_HEX] = 'x', [FTR_ARG_OCTAL] = 'o', [FTR_ARG_CHAR] = 'c',
		[FTR_ARG_FLOAT] = 'f',
	};

	assert(format < sizeof(letters) && letters[format] != '\0');
	return letters[format];
}

static uint64_t float_bits(const struct ftr_value *value)
{
	uint64_t bits = 0;
	double d = (double)value->f;
	float f = (float)value->f;

	if (value->arg->size == sizeof(f))
		memcpy(&bits, &f, sizeof(f));
	else
		memcpy(&bits, &d, sizeof(d));
	return bits;
}

/* "0x7fff3b", or of a function "5633a1d8d2d9 (&worker)". */
static void put_pointer(struct dump *self, const struct ftr_event *ev,
			const struct ftr_value *value)
{
	ftr_strbuf_clear(&self->text);
	ftr_event_value_text(ev, value, self->trace, &self->text);
	if (*ftr_strbuf_str(&self->text) == '&')
		ftr_ostream_printf(self->out, " p: %llx (%s)\n", (unsigned long long)value->u,
				   ftr_strbuf_str(&self->text));
	else if (value->u == 0 && ev->type == FTR_EVENT_EXIT)
		ftr_ostream_puts(self->out, " p: (nil)\n");
	else
		ftr_ostream_printf(self->out, " p: %#llx\n", (unsigned long long)value->u);
}

/* " enum color: GREEN (2)" */
static void put_enum(struct dump *self, const struct ftr_event *ev, const struct ftr_value *value)
{
	const char *type = value->arg->type_name;

	ftr_strbuf_clear(&self->text);
	ftr_event_value_text(ev, value, self->trace, &self->text);
	ftr_ostream_printf(self->out, " enum %s: %s (%lld)\n", type == NULL ? "" : type,
			   ftr_strbuf_str(&self->text), (long long)(int32_t)value->u);
}

/* " struct point:" and its bytes below. */
static void put_struct(struct dump *self, const struct ftr_value *value)
{
	const char *type = value->arg->type_name;

	ftr_ostream_printf(self->out, " struct %s:\n", type == NULL ? "" : type);
	for (unsigned i = 0; i < value->str.len; i++)
		ftr_ostream_printf(self->out, "%s%02x%s", i % STRUCT_LINE == 0 ? "\t" : "",
				   (uint8_t)value->str.s[i],
				   i % STRUCT_LINE == STRUCT_LINE - 1 ? "  \n" :
				   i % 8 == 7 ? "  " : " ");
	if (value->str.len % STRUCT_LINE != 0)
		ftr_ostream_putc(self->out, '\n');
}

static void put_value(struct dump *self, const struct ftr_event *ev, const struct ftr_value *value)
{
	struct ftr_ostream *out = self->out;
	const struct ftr_arg *arg = value->arg;
	uint64_t bits;

	switch (arg->format) {
	case FTR_ARG_STRING:
	case FTR_ARG_WORD:
		ftr_ostream_printf(out, " str: %.*s\n", (int)value->str.len, value->str.s);
		return;
	case FTR_ARG_STRUCT:
		put_struct(self, value);
		return;
	case FTR_ARG_ENUM:
		put_enum(self, ev, value);
		return;
	case FTR_ARG_POINTER:
		put_pointer(self, ev, value);
		return;
	case FTR_ARG_BOOL:
		ftr_ostream_printf(out, " bool: %s\n", value->u != 0 ? "true" : "false");
		return;
	case FTR_ARG_KOID:
		ftr_ostream_printf(out, " koid: %llu\n", (unsigned long long)value->u);
		return;
	case FTR_ARG_NULL:
		ftr_ostream_puts(out, " null\n");
		return;
	case FTR_ARG_FLOAT:
		if (arg->size > 8) {
			ftr_ostream_printf(out, " f%d: %Lf\n", arg->size * 8, value->f);
			return;
		}
		/* fall through */
	default:
		bits = arg->format == FTR_ARG_FLOAT ? float_bits(value) : value->u;
		if (arg->size < 8)
			bits &= FTR_BIT64(arg->size * 8) - 1;
		ftr_ostream_printf(out, " %c%d: 0x%0*llx\n", format_letter(arg->format),
				   arg->size * 8, arg->size < 8 ? arg->size * 2 : 16,
				   (unsigned long long)bits);
	}
}

static void put_args(struct dump *self, const struct ftr_event *ev)
{
	bool is_entry = ev->type == FTR_EVENT_ENTRY;
	struct ftr_value value;
	unsigned nr = 0, pos = 0;

	put_head(self, ev->time_ns, ev->task->tid, is_entry ? "args " : "retval");
	while (ftr_payload_next(ev->payload, &nr, &pos, &value))
		;
	ftr_ostream_printf(self->out, "length = %u\n", pos);
	nr = pos = 0;
	for (unsigned i = 0; ftr_payload_next(ev->payload, &nr, &pos, &value); i++) {
		if (is_entry)
			ftr_ostream_printf(self->out, "  args[%u]", i);
		else
			ftr_ostream_puts(self->out, "  retval");
		put_value(self, ev, &value);
	}
	put_payload_hex(self, ev->payload, 0);
}

static void put_call(struct dump *self, const struct ftr_event *ev)
{
	char *p = ftr_ostream_reserve(self->out, DUMP_CALL_BYTES);
	char *end = dump_line_call(&self->line, p, ev);

	if (end != NULL)
		ftr_ostream_commit(self->out, (size_t)(end - p));
	else
		put_line(self, ev, ev->type == FTR_EVENT_ENTRY ? "entry" : "exit ",
			 ftr_slice_make(ev->call.func->name, ev->call.func->name_len),
			 ev->call.addr);
	if (self->opts->has_hex)
		put_record_hex(self, ev, ev->type == FTR_EVENT_ENTRY ? FTR_RECORD_ENTRY :
								       FTR_RECORD_EXIT,
			       ev->call.addr);
	if (ev->payload != NULL)
		put_args(self, ev);
}

static void put_point(struct dump *self, const struct ftr_event *ev)
{
	ftr_event_title(ev, &self->text);
	put_line(self, ev, "event", ftr_slice_make(ftr_strbuf_str(&self->text), self->text.len),
		 ev->point.id);
	if (self->opts->has_hex)
		put_record_hex(self, ev, FTR_RECORD_EVENT, ev->point.id);
	if (ev->payload == NULL)
		return;
	put_head(self, ev->time_ns, ev->task->tid, "data ");
	ftr_ostream_printf(self->out, "length = %u\n", ev->payload->len);
	ftr_strbuf_clear(&self->text);
	ftr_event_data_text(ev, self->trace, false, &self->text);
	ftr_ostream_printf(self->out, "  %s: %s\n", ev->point.name, ftr_strbuf_str(&self->text));
	put_payload_hex(self, ev->payload, 2);
}

static void put_lost(struct dump *self, const struct ftr_event *ev)
{
	put_head(self, ev->time_ns, ev->task->tid, "lost ");
	ftr_ostream_printf(self->out, "%llu records\n", (unsigned long long)ev->lost.nr);
	if (self->opts->has_hex)
		put_record_hex(self, ev, FTR_RECORD_LOST, ev->lost.nr);
}

static bool is_perf_event(const struct ftr_event *ev)
{
	return ev->type == FTR_EVENT_POINT && ftr_event_kind_id(ev) >= FTR_EVENT_ID_PERF_BEGIN &&
	       ev->point.id < FTR_EVENT_ID_PERF_END;
}

static bool is_record(const struct ftr_event *ev)
{
	if (ev->type == FTR_EVENT_LOST && ev->lost.source != FTR_LOST_OF_TASK)
		return false;
	return !is_perf_event(ev) && ev->type != FTR_EVENT_FORK && ev->type != FTR_EVENT_MESSAGE &&
	       !(ev->flags & (FTR_EVENT_INFERRED | FTR_EVENT_NO_ENTRY));
}

/* How much of its file a record takes. */
static size_t record_bytes(const struct ftr_event *ev)
{
	size_t before = ev->type == FTR_EVENT_POINT ? 2 : 0;

	return RECORD_BYTES + (ev->payload == NULL ? 0 : (ev->payload->len + before + 7) / 8 * 8);
}

static int put_event(struct dump *self, const struct ftr_event *ev)
{
	int is_wanted = self->is_selecting ? ftr_select_record(&self->select, ev) : 1;

	if (is_wanted <= 0) {
		self->offset += is_record(ev) ? record_bytes(ev) : 0;
		return is_wanted;
	}
	if (is_perf_event(ev)) {
		struct perf_event perf = { ev->time_ns, ev->point.name, ev->point.id,
					   ev->task->tid, ev->point.cpu_nr, self->perf.nr };

		return ftr_vec_push(&self->perf, perf);
	}
	if (!is_record(ev))
		return 0;
	if (ev->type <= FTR_EVENT_EXIT)
		put_call(self, ev);
	else if (ev->type == FTR_EVENT_POINT)
		put_point(self, ev);
	else if (ev->type == FTR_EVENT_LOST)
		put_lost(self, ev);
	return 0;
}

/* Is there nothing to list of the source but its name, which was? */
static bool source_is_done(const struct dump *self, const struct ftr_source *source, bool is_named)
{
	const struct ftr_pipeline_options *selection = self->opts->selection;

	return is_named && self->is_selecting && source->task != NULL && !selection->no_index &&
	       !ftr_select_task_is_wanted(selection, source->task);
}

/* ---- text of calls that is made ahead ---- */

/*
 * Is each record listed, by itself?  The one place that knows which options need those before:
 * where one lies in its file is counted, and so are calls that are open.
 */
static bool lines_are_apart(const struct dump *self)
{
	return !self->is_selecting && !self->opts->has_hex;
}

/* A maker lists no more than calls. */
static void *maker_new(const void *owner, struct ftr_ostream *out, struct ftr_err *err)
{
	const struct dump *of = owner;
	struct dump *self = malloc(sizeof(*self));

	if (self == NULL) {
		ftr_err_set(err, ENOMEM, "dump: out of memory");
		return NULL;
	}
	*self = (struct dump){ .trace = of->trace, .opts = of->opts, .out = out,
			       .line = DUMP_LINE_INIT };
	return self;
}

static int maker_make(void *maker, const struct ftr_event *before, const struct ftr_event *evs,
		      size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		put_call(maker, &evs[i]);
	return 0;
}

static const struct ftr_text_ops text_ops = {
	.maker_new = maker_new,
	.maker_free = free,
	.make = maker_make,
};

/* Under which name the records of a source stand: that of the first one, before it. */
static int put_source_head(struct dump *self, const struct ftr_event *evs, size_t nr,
			   struct ftr_err *err)
{
	size_t i = 0;
	int ret;

	while (i < nr && !is_record(&evs[i]))
		i++;
	if (i == nr)
		return 0;
	ret = ftr_text_ahead_drain(self->ahead, err);
	if (ret < 0)
		return ret;
	if (self->trace->is_ordered)
		ftr_ostream_printf(self->out, "reading %s\n", self->trace->path);
	else
		ftr_ostream_printf(self->out, "reading %d.dat\n", evs[i].task->tid);
	return 1;
}

static int put_events(struct dump *self, const struct ftr_event *evs, size_t nr,
		      struct ftr_err *err)
{
	int ret = ftr_text_ahead_take(self->ahead, NULL, evs, nr, err);

	if (ret != 0)
		return ret < 0 ? ret : 0;
	for (size_t i = 0; i < nr; i++) {
		if (put_event(self, &evs[i]) < 0)
			return ftr_err_set(err, ENOMEM, "dump: out of memory");
	}
	return 0;
}

static int dump_source(struct dump *self, struct ftr_source **at, struct ftr_err *err)
{
	const struct ftr_pipeline_options *selection = self->opts->selection;
	struct ftr_source *source = *at;
	int is_named = 0, ret = 0;
	struct ftr_event *evs;
	ssize_t nr = 0;

	self->offset = 0;
	ftr_source_seek(source, &self->seek);
	if (selection != NULL && selection->watch != NULL) {
		source = *at = ftr_watch_new(source, selection->watch);
		if (source == NULL)
			return ftr_err_set(err, ENOMEM, "dump: out of memory");
	}
	while (!source_is_done(self, source, is_named) &&
	       (nr = ftr_source_next(source, &evs, err)) > 0) {
		if (!is_named)
			is_named = ret = put_source_head(self, evs, (size_t)nr, err);
		if (ret >= 0)
			ret = put_events(self, evs, (size_t)nr, err);
		if (ret < 0)
			return ret;
		if (self->out->code != 0)
			return ftr_err_set(err, self->out->code, "%s: %s", self->out->name,
					   strerror(self->out->code));
	}
	return nr < 0 ? (int)nr : 0;
}

static int compare_perf(const void *a, const void *b)
{
	const struct perf_event *x = a, *y = b;

	if (x->cpu_nr != y->cpu_nr)
		return x->cpu_nr < y->cpu_nr ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* Of each CPU under the name of its file. */
static void put_perf_head(struct dump *self, uint16_t cpu_nr)
{
	if (cpu_nr == 0)
		ftr_ostream_puts(self->out, "reading perf events\n");
	else
		ftr_ostream_printf(self->out, "reading perf-cpu%u.dat\n", cpu_nr - 1u);
}

static void put_perf(struct dump *self)
{
	if (self->perf.nr == 0)
		return;
	qsort(self->perf.v, self->perf.nr, sizeof(*self->perf.v), compare_perf);
	ftr_ostream_putc(self->out, '\n');
	for (size_t i = 0; i < self->perf.nr; i++) {
		const struct perf_event *perf = &self->perf.v[i];

		if (i == 0 || perf->cpu_nr != perf[-1].cpu_nr)
			put_perf_head(self, perf->cpu_nr);
		put_head(self, perf->time_ns, perf->tid, "event");
		ftr_ostream_printf(self->out, "%s(%llu)\n", perf->name,
				   (unsigned long long)perf->id);
	}
}

/* ---- the header of the info file ---- */

static const char *const features[] = {
	"PLTHOOK", "TASK_SESSION", "KERNEL", "ARGUMENT", "RETVAL", "SYM_REL_ADDR", "MAX_STACK",
	"EVENT", "PERF_EVENT", "AUTO_ARGS", "DEBUG_INFO", "ESTIMATE_RETURN", "SYM_SIZE",
	"CALLSITE",
};

static const char *const infos[] = {
	"EXE_NAME", "EXE_BUILD_ID", "EXIT_STATUS", "CMDLINE", "CPUINFO", "MEMINFO", "OSINFO",
	"TASKINFO", "USAGEINFO", "LOADINFO", "ARG_SPEC", "RECORD_DATE", "PATTERN_TYPE", "VERSION",
	"UTC_OFFSET", "SYSCTL",
	[48] = "FTR_EVENTS",
};

static void put_header_name(struct ftr_ostream *out, const char *name)
{
	ftr_ostream_printf(out, "uftrace file header: %-13s = ", name);
}

static void put_mask(struct ftr_ostream *out, uint64_t mask, const char *const *names, size_t nr)
{
	const char *separator = " (";

	ftr_ostream_printf(out, "%#llx", (unsigned long long)mask);
	for (size_t i = 0; i < nr; i++) {
		if (!(mask & FTR_BIT64(i)) || names[i] == NULL)
			continue;
		ftr_ostream_printf(out, "%s%s", separator, names[i]);
		separator = " | ";
	}
	ftr_ostream_puts(out, mask != 0 ? ")\n" : "\n");
}

static void put_header(const struct ftr_info *info, struct ftr_ostream *out)
{
	static const char magic[8] = "Ftrace!";

	put_header_name(out, "magic");
	for (size_t i = 0; i < sizeof(magic); i++)
		ftr_ostream_printf(out, "%02x", (unsigned)magic[i]);
	ftr_ostream_putc(out, '\n');
	put_header_name(out, "version");
	ftr_ostream_printf(out, "%u\n", info->version);
	put_header_name(out, "header size");
	ftr_ostream_printf(out, "%u\n", info->header_bytes);
	put_header_name(out, "endian");
	ftr_ostream_printf(out, "%u (%s)\n", info->elf_data,
			   info->elf_data == 2 ? "big" : "little");
	put_header_name(out, "class");
	ftr_ostream_printf(out, "%u (%d bit)\n", info->elf_class, info->elf_class == 1 ? 32 : 64);
	put_header_name(out, "features");
	put_mask(out, info->feature_mask, features, sizeof(features) / sizeof(features[0]));
	put_header_name(out, "info");
	put_mask(out, info->info_mask, infos, sizeof(infos) / sizeof(infos[0]));
	ftr_ostream_putc(out, '\n');
}

/* Where a record lies in its file is counted, which needs all before it. */
static struct ftr_seek seek_of(const struct dump *self)
{
	const struct ftr_pipeline_options *selection = self->opts->selection;
	struct ftr_seek seek = { .from_ns = 0 };

	if (!self->is_selecting || selection->no_index || self->trace->first_ns == 0)
		return seek;
	if (!ftr_pipeline_seek(self->trace, selection, &seek) || self->opts->has_hex)
		seek.from_ns = 0;
	seek.to_ns = ftr_range_ends(selection, self->trace->first_ns).to_ns;
	return seek;
}

int ftr_dump_print(struct ftr_trace *trace, const struct ftr_dump_opts *opts,
		   struct ftr_ostream *out, struct ftr_err *err)
{
	const struct ftr_pipeline_options *selection = opts->selection;
	struct dump self = { .trace = trace, .opts = opts, .out = out,
			     .line = DUMP_LINE_INIT };
	int ret = 0;

	self.select = (struct ftr_select_records){ .options = selection,
						   .first_ns = trace->first_ns };
	self.select.open.bytes = sizeof(struct ftr_select_open);
	self.is_selecting = selection != NULL &&
			    (ftr_select_is_needed(selection) || ftr_range_is_needed(selection));
	self.seek = seek_of(&self);
	if (lines_are_apart(&self))
		self.ahead = ftr_text_ahead_new(trace, &text_ops, &self, out);
	ftr_strbuf_init(&self.text);
	if (trace->info.header_bytes != 0)
		put_header(&trace->info, out);
	for (size_t i = 0; ret == 0 && i < trace->sources.nr; i++)
		ret = dump_source(&self, &trace->sources.v[i], err);
	if (ret == 0)
		ret = ftr_text_ahead_drain(self.ahead, err);
	else	/* what was read before the failure */
		ftr_text_ahead_drain(self.ahead, NULL);
	if (ret == 0)
		put_perf(&self);
	ftr_text_ahead_free(self.ahead);
	ftr_vec_fini(&self.perf);
	ftr_select_records_fini(&self.select);
	ftr_strbuf_fini(&self.text);
	return ret;
}
