/* SPDX-License-Identifier: MIT */
/* SWAP reader: the stream once over, which shows its tasks, programs and the form of its times. */
#include "utils/format/swap/probe.h"
#include "utils/format/swap/read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/object/symtab.h"

#define SWAP_PROCESS_INFO_MAX 1000000u /* bytes, of one that is cut short */

struct swap_header swap_header_get(const uint8_t *p, const struct swap_reader *r)
{
	struct swap_header header = {
		.id = ftr_get_u32(p, false), .sequence = ftr_get_u32(p + 4, false),
		.len = ftr_get_u32(p + 16, false),
	};

	header.time_ns = swap_time_ns(swap_time_get(p + 8, r->layout.time_form)) -
			 (uint64_t)r->side.clock_offset_ns;
	return header;
}

const struct swap_message *swap_message_decode(struct swap_reader *r, const uint8_t *p,
					       const struct swap_header *header)
{
	const struct swap_message *message = swap_message_find(header->id);
	const uint8_t *payload = p + SWAP_HEADER_BYTES;

	if (header->id == SWAP_MSG_SYSTEM && r->layout.cpu_nr == 0)
		r->layout.cpu_nr = swap_cpus_guess(payload, header->len, &r->layout);
	if (message != NULL &&
	    swap_decode(message, payload, header->len, &r->layout, &r->values) == 0)
		return message;
	r->values.all.nr = 0;
	return NULL;
}

uint64_t swap_number(const struct swap_values *values, const char *name)
{
	for (size_t i = 0; i < values->all.nr; i++) {
		if (strcmp(values->all.v[i].field->name, name) == 0)
			return values->all.v[i].u;
	}
	return 0;
}

const char *swap_text(const struct swap_values *values, const char *name)
{
	for (size_t i = 0; i < values->all.nr; i++) {
		if (strcmp(values->all.v[i].field->name, name) == 0)
			return values->all.v[i].s;
	}
	return NULL;
}

/* ---- detection ---- */

static bool time_is_possible(const uint8_t *p)
{
	return ftr_get_u32(p, false) < SWAP_NS_PER_S || ftr_get_u32(p + 4, false) < SWAP_NS_PER_S;
}

/* There is no magic number: a message of the table, whole, and perhaps the next one's header. */
bool ftr_swap_detect(const char *path, const uint8_t *head, size_t len)
{
	struct swap_layout layout = { .device_nr = UINT32_MAX };
	const struct swap_message *message;
	struct swap_values values = { 0 };
	uint32_t bytes;
	bool is_swap;

	if (len < SWAP_HEADER_BYTES)
		return false;
	message = swap_message_find(ftr_get_u32(head, false));
	bytes = ftr_get_u32(head + 16, false);
	if (message == NULL || !time_is_possible(head + 8))
		return false;
	if (len < SWAP_HEADER_BYTES + (uint64_t)bytes)
		return message->id == SWAP_MSG_PROCESS_INFO && bytes < SWAP_PROCESS_INFO_MAX &&
		       len >= 4096;
	if (message->id == SWAP_MSG_SYSTEM)
		layout.cpu_nr = swap_cpus_guess(head + SWAP_HEADER_BYTES, bytes, &layout);
	is_swap = swap_decode(message, head + SWAP_HEADER_BYTES, bytes, &layout, &values) == 0;
	ftr_vec_fini(&values.all);
	head += SWAP_HEADER_BYTES + bytes;
	len -= SWAP_HEADER_BYTES + bytes;
	if (is_swap && len >= SWAP_HEADER_BYTES)
		is_swap = ftr_get_u32(head, false) - 1 < SWAP_ID_MAX && time_is_possible(head + 8);
	return is_swap;
}

/* ---- the walk over the stream ---- */

/* Is a message possible here? */
static bool is_header(const struct swap_reader *r, size_t pos)
{
	const uint8_t *p = r->in.data + pos;

	return r->in.size - pos >= SWAP_HEADER_BYTES && ftr_get_u32(p, false) - 1 < SWAP_ID_MAX &&
	       ftr_get_u32(p + 16, false) <= r->in.size - pos - SWAP_HEADER_BYTES;
}

/* Is it a message as its row says?  Those without fields of their own could be anything. */
static bool is_known(struct swap_reader *r, size_t pos)
{
	const struct swap_header header = swap_header_get(r->in.data + pos, r);
	const struct swap_message *message = swap_message_find(header.id);

	return message != NULL && message->fields[0].kind != SWAP_REST && header.time_ns != 0 &&
	       header.len > 0 && time_is_possible(r->in.data + pos + 8) &&
	       swap_message_decode(r, r->in.data + pos, &header) != NULL;
}

/* Where the stream goes on after damage: at a known message whose number follows. */
static size_t resync(struct swap_reader *r, size_t pos, uint32_t sequence)
{
	while (++pos < r->in.size) {
		if (is_header(r, pos) &&
		    ftr_get_u32(r->in.data + pos + 4, false) - sequence < SWAP_GAP_MAX &&
		    is_known(r, pos))
			return pos;
	}
	return r->in.size;
}

static size_t step(struct swap_reader *r, size_t pos)
{
	const uint8_t *p = r->in.data + pos;

	return pos + SWAP_HEADER_BYTES + ftr_get_u32(p + 16, false);
}

/* The word of times that cannot be nanoseconds, or that varies less, is the seconds'. */
static enum swap_time_form detect_form(struct swap_reader *r)
{
	uint32_t least[2] = { UINT32_MAX, UINT32_MAX }, most[2] = { 0, 0 };
	uint64_t too_large_nr[2] = { 0, 0 };

	for (size_t pos = 0; is_header(r, pos); pos = step(r, pos)) {
		for (unsigned i = 0; i < 2; i++) {
			uint32_t word = ftr_get_u32(r->in.data + pos + 8 + 4 * i, false);

			least[i] = word < least[i] ? word : least[i];
			most[i] = word > most[i] ? word : most[i];
			too_large_nr[i] += word >= SWAP_NS_PER_S;
		}
	}
	if (too_large_nr[0] != too_large_nr[1])
		return too_large_nr[0] > too_large_nr[1] ? SWAP_TIME_LEGACY : SWAP_TIME_DOCUMENT;
	return most[0] - least[0] < most[1] - least[1] ? SWAP_TIME_LEGACY : SWAP_TIME_DOCUMENT;
}

static struct swap_task_places *places_get(struct swap_reader *r, struct ftr_task *task)
{
	struct swap_task_places *places;

	while (r->tasks.nr <= task->id) {
		places = calloc(1, sizeof(*places));
		if (places == NULL || ftr_vec_push(&r->tasks, places) < 0) {
			free(places);
			return NULL;
		}
	}
	r->tasks.v[task->id]->task = task;
	return r->tasks.v[task->id];
}

int swap_place_add(struct swap_reader *r, struct ftr_task *task, const struct swap_place *place)
{
	struct swap_task_places *of = places_get(r, task);

	if (of == NULL)
		return -ENOMEM;
	if (of->places.nr > 0 && of->places.v[of->places.nr - 1].time_ns > place->time_ns)
		of->is_unordered = true;
	return ftr_vec_push(&of->places, *place);
}

struct ftr_task *swap_task_of(struct swap_reader *r, const struct swap_message *message)
{
	uint64_t pid = swap_number(&r->values, "pid"), tid = swap_number(&r->values, "tid");
	struct ftr_task *task;
	int32_t error_pid, error_tid;
	const char *text;

	if (message != NULL && message->id == SWAP_MSG_ERROR) {
		pid = 0;
		if (swap_error_task(r->values.all.v[0].s, &error_pid, &error_tid, &text)) {
			pid = (uint32_t)error_pid;
			tid = (uint32_t)error_tid;
		}
	} else if (message != NULL && message->id == SWAP_MSG_PROCESS_STATUS_INFO) {
		tid = pid;
	} else if (message != NULL && message->id == SWAP_MSG_SYSTEM) {
		pid = tid = 0;
	}
	/* What is about no process is of a task 0. */
	task = ftr_trace_task_get(r->trace, (int32_t)pid, (int32_t)(tid == 0 ? pid : tid));
	if (task != NULL && (uint32_t)task->pid != pid)
		r->stray_nr++;
	return task;
}

/* ---- programs ---- */

static int session_map(struct swap_reader *r, struct ftr_session *session,
		       const struct swap_value *values, uint64_t since_ns)
{
	struct ftr_mapping mapping = { .start = values[0].u, .end = values[1].u,
				       .since_ns = since_ns };

	if (mapping.end <= mapping.start || values[2].len == 0)
		return 0;
	mapping.module = ftr_trace_module_get(r->trace, values[2].s, NULL);
	return mapping.module == NULL ? -ENOMEM : ftr_session_map(session, &mapping);
}

static int session_map_made(struct swap_reader *r, struct ftr_session *session)
{
	struct ftr_mapping mapping = { .start = SWAP_MADE_BASE, .end = SWAP_MADE_END };

	if (!r->side.is_there)
		return 0;
	mapping.module = ftr_trace_module_get(r->trace, SWAP_MADE_PATH, NULL);
	return mapping.module == NULL ? -ENOMEM : ftr_session_map(session, &mapping);
}

/* When the program began to run, if it can be so: not before the one before it. */
static uint64_t start_of(struct swap_reader *r, uint64_t time_ns)
{
	const struct swap_value *v = r->values.all.v;
	uint64_t start_ns = swap_time_ns(v[3].u) - (uint64_t)r->side.clock_offset_ns;

	for (size_t i = 0; i < r->sessions.nr; i++) {
		if ((uint32_t)r->sessions.v[i]->pid == v[0].u &&
		    r->sessions.v[i]->start_ns >= start_ns)
			return time_ns;
	}
	return v[3].u != 0 ? start_ns : time_ns;
}

/* The first command line that is more than the program's path is that of the trace. */
static int command_keep(struct swap_reader *r, const struct ftr_session *session)
{
	struct ftr_info *info = &r->trace->info;

	if (info->cmdline != NULL || session->exename[0] == '\0' ||
	    strcmp(r->values.all.v[1].s, session->exename) == 0)
		return 0;
	info->exename = session->exename;
	info->cmdline = ftr_arena_strdup(&r->trace->arena, r->values.all.v[1].s);
	info->info_mask |= FTR_INFO_EXE_NAME | FTR_INFO_CMDLINE;
	return info->cmdline == NULL ? -ENOMEM : 0;
}

/* The values: pid, command, ppid, start, lowest, highest, path, libraries. */
int swap_process_info(struct swap_reader *r, uint64_t time_ns)
{
	const struct swap_value *v = r->values.all.v;
	struct ftr_session *session;
	char sid[17];
	int ret;

	if (r->sessions.nr < r->side.sids.nr && r->side.sids.v[r->sessions.nr][0] != '\0')
		snprintf(sid, sizeof(sid), "%.16s", r->side.sids.v[r->sessions.nr]);
	else
		snprintf(sid, sizeof(sid), "%016zx", r->sessions.nr + 1);
	session = ftr_trace_session_new(r->trace, sid, (int32_t)v[0].u, start_of(r, time_ns));
	if (session == NULL || ftr_vec_push(&r->sessions, session) < 0)
		return -ENOMEM;
	session->exename = ftr_arena_strdup(&r->trace->arena, v[6].s);
	ret = session->exename == NULL ? -ENOMEM : command_keep(r, session);
	ret = ret < 0 ? ret : session_map(r, session, v + 4, 0);
	for (uint64_t i = 0; ret == 0 && i < v[7].u; i++)
		ret = session_map(r, session, v + 8 + 3 * i, 0);
	return ret < 0 ? ret : session_map_made(r, session);
}

int swap_process_map(struct swap_reader *r, uint64_t time_ns)
{
	for (size_t i = r->sessions.nr; i-- > 0;) {
		if ((uint32_t)r->sessions.v[i]->pid == r->values.all.v[0].u)
			return session_map(r, r->sessions.v[i], r->values.all.v + 1, time_ns);
	}
	return 0;
}

/* A series is named by one message; others have its number alone. */
int swap_series_note(struct swap_reader *r)
{
	const char *name = swap_text(&r->values, "name");
	uint64_t nr = swap_number(&r->values, "handle");
	char *kept;

	if (name == NULL || name[0] == '\0' || ftr_hashmap_find(&r->series, nr) != NULL)
		return 0;
	kept = ftr_arena_alloc(&r->trace->arena, strlen(SWAP_CHART_PREFIX) + strlen(name) + 1);
	if (kept == NULL)
		return -ENOMEM;
	memcpy(kept, SWAP_CHART_PREFIX, strlen(SWAP_CHART_PREFIX));
	memcpy(kept + strlen(SWAP_CHART_PREFIX), name, strlen(name) + 1);
	return ftr_hashmap_set(&r->series, nr, kept);
}

static int message_add(struct swap_reader *r, size_t pos, uint32_t lost_nr)
{
	const uint8_t *p = r->in.data + pos;
	const struct swap_header header = swap_header_get(p, r);
	const struct swap_message *message = swap_message_decode(r, p, &header);
	const struct swap_place place = { .offset = pos, .time_ns = header.time_ns,
					  .lost_nr = lost_nr };
	struct ftr_task *task;
	int ret = 0;

	if (header.id == SWAP_MSG_SYSTEM && message != NULL && lost_nr == 0 &&
	    (swap_is_empty_system(&r->values) || swap_is_sampled(r, header.time_ns)))
		return 0;
	task = swap_task_of(r, message);
	r->damaged_nr += message == NULL && swap_message_find(header.id) != NULL;
	if (header.id == SWAP_MSG_PROCESS_INFO && message != NULL)
		ret = swap_process_info(r, header.time_ns);
	else if (header.id == SWAP_MSG_PROCESS_MAP && message != NULL)
		ret = swap_process_map(r, header.time_ns);
	else if (header.id == SWAP_MSG_PROBE_CUSTOM && message != NULL)
		ret = swap_series_note(r);
	return task == NULL || ret < 0 ? -ENOMEM : swap_place_add(r, task, &place);
}

/* What was no message, from @from to @to. */
static void tell_gap(const struct swap_reader *r, size_t from, size_t to)
{
	size_t left = r->in.size - from;
	bool is_cut = to == r->in.size &&
		      (left < SWAP_HEADER_BYTES ||
		       ftr_get_u32(r->in.data + from, false) - 1 < SWAP_ID_MAX);

	if (is_cut)
		ftr_diag_warn(r->trace->diag, "%s+%#zx: truncated in the last message; %zu bytes "
			      "skipped: " FTR_CUT_WHY, r->in.name, from, left);
	else
		ftr_diag_warn(r->trace->diag, "%s+%#zx: not a message, or truncated; skipped %zu "
			      "bytes", r->in.name, from, to - from);
}

static int walk(struct swap_reader *r)
{
	uint32_t sequence = 0, lost_nr = 0, gap;
	size_t pos = 0;
	int ret = 0;

	while (ret == 0 && pos < r->in.size) {
		if (!is_header(r, pos)) {
			size_t next = resync(r, pos, sequence);

			tell_gap(r, pos, next);
			pos = next;
			continue;
		}
		gap = ftr_get_u32(r->in.data + pos + 4, false) - sequence;
		if (pos > 0 && gap != 0 && gap < SWAP_GAP_MAX)
			lost_nr = gap;
		ret = message_add(r, pos, lost_nr);
		lost_nr = 0;
		sequence = ftr_get_u32(r->in.data + pos + 4, false) + 1;
		pos = step(r, pos);
	}
	return ret;
}

/* ---- what becomes of it ---- */

static int sessions_link(struct swap_reader *r)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < r->trace->tasks.nr; i++) {
		struct ftr_task *task = r->trace->tasks.v[i];

		for (size_t k = 0; ret == 0 && k < r->sessions.nr; k++) {
			if (r->sessions.v[k]->pid == task->pid)
				ret = ftr_trace_task_add_session(r->trace, task, r->sessions.v[k]);
		}
	}
	return ret;
}

static int place_compare(const void *left, const void *right)
{
	const struct swap_place *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int sources_add(struct swap_reader *r)
{
	for (size_t i = 0; i < r->tasks.nr; i++) {
		struct swap_task_places *of = r->tasks.v[i];
		struct ftr_source *source;

		if (of->places.nr == 0)
			continue;
		if (of->is_unordered)
			qsort(of->places.v, of->places.nr, sizeof(*of->places.v), place_compare);
		source = swap_source_new(r, of);
		if (source == NULL || ftr_vec_push(&r->trace->sources, source) < 0) {
			ftr_source_free(source);
			return -ENOMEM;
		}
	}
	return 0;
}

/* The symbols of the side file; else those of the file that lies there today. */
static void module_load(struct ftr_trace *trace, struct ftr_module *module)
{
	struct swap_reader *r = trace->reader;
	struct ftr_symtab *symtab = swap_side_symtab_take(&r->side, module->path);

	if (symtab == NULL && !r->side.is_there && module->path[0] == '/') {
		symtab = malloc(sizeof(*symtab));
		if (symtab == NULL)
			return;
		ftr_symtab_init(symtab);
		if (ftr_symtab_load_elf(symtab, module->path, NULL) < 0) {
			ftr_symtab_fini(symtab);
			free(symtab);
			return;
		}
	}
	module->symtab = symtab;
}

static const struct ftr_trace_loader loader = { .module_load = module_load };

static void reader_free(void *arg)
{
	struct swap_reader *r = arg;

	if (r->damaged_nr > 0)
		ftr_diag_warn(r->trace->diag, "%s: %llu messages do not follow the protocol and "
			      "are shown as bytes", r->in.name,
			      (unsigned long long)r->damaged_nr);
	if (r->stray_nr > 0)
		ftr_diag_warn(r->trace->diag, "%s: %llu messages name a thread of another process "
			      "and count as that process's", r->in.name, (unsigned long long)r->stray_nr);
	for (size_t i = 0; i < r->tasks.nr; i++) {
		ftr_vec_fini(&r->tasks.v[i]->places);
		free(r->tasks.v[i]);
	}
	swap_stream_free(r->stream);
	ftr_vec_fini(&r->tasks);
	ftr_vec_fini(&r->sessions);
	ftr_vec_fini(&r->values.all);
	ftr_hashmap_fini(&r->specs);
	ftr_strbuf_fini(&r->types);
	ftr_hashmap_fini(&r->series);
	swap_side_fini(&r->side);
	ftr_istream_close(&r->in);
	free(r);
}

int ftr_swap_read(struct ftr_trace *trace, struct ftr_istream *in, struct ftr_err *err)
{
	struct swap_reader *r = calloc(1, sizeof(*r));
	int ret;

	if (r == NULL) {
		ftr_istream_close(in);
		return ftr_err_set(err, ENOMEM, "swap: out of memory");
	}
	r->trace = trace;
	r->in = *in;
	*in = (struct ftr_istream){ 0 };
	trace->reader = r;
	trace->reader_free = reader_free;
	trace->loader = &loader;
	if (r->in.window != NULL)
		return swap_stream_open(r, err);
	ret = swap_side_load(&r->side, trace, r->in.size, err);
	if (ret < 0)
		return ret;
	r->layout.cpu_nr = r->side.cpu_nr;
	r->layout.device_nr = UINT32_MAX;
	if (ftr_hashmap_find(&r->side.symtabs,
			     ftr_hash_bytes(FTR_KERNEL_PATH, strlen(FTR_KERNEL_PATH))) != NULL)
		r->kernel = ftr_trace_module_get(trace, FTR_KERNEL_PATH, NULL);
	r->layout.time_form = r->side.is_there ? r->side.time_form : detect_form(r);
	trace->info.cpus_online = r->layout.cpu_nr;	/* for a writer: not in info_mask */
	trace->info.info_mask |= FTR_INFO_UTC_OFFSET;
	trace->info.utc_offset_s = r->side.clock_offset_ns / (int64_t)SWAP_NS_PER_S;
	if (walk(r) < 0 || swap_places_add_samples(r) < 0 || sessions_link(r) < 0 ||
	    sources_add(r) < 0)
		return ftr_err_set(err, ENOMEM, "%s: out of memory", r->in.name);
	return swap_side_tasks(trace, err);
}
