/* SPDX-License-Identifier: MIT */
/*
 * The call tree as a profile of pprof's: a protocol-buffer message (profile.proto), compressed by
 * gzip.  Each line of callers is a sample with two values: how many calls, and their own time; or
 * how many of what the tree is drawn by, and what they weigh.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/base/gzip.h"
#include "utils/base/strbuf.h"
#include "utils/base/strpool.h"
#include "utils/base/text.h"
#include "utils/base/vec.h"
#include "utils/export/call_tree.h"
#include "utils/trace/format.h"
#include "utils/trace/func.h"
#include "utils/trace/trace.h"

/* ---- messages of protocol buffers ---- */

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_BYTES = 2,
};
#define WIRE_TYPE_BITS	  3u

static void put_varint(struct ftr_strbuf *message, uint64_t value)
{
	char bytes[FTR_LEB128_MAX];

	ftr_strbuf_put(message, bytes, ftr_put_leb128(bytes, value));
}

static void put_tag(struct ftr_strbuf *message, unsigned field, enum wire_type type)
{
	put_varint(message, (uint64_t)field << WIRE_TYPE_BITS | type);
}

/* Zero is what a field has that is not there. */
static void put_number(struct ftr_strbuf *message, unsigned field, uint64_t value)
{
	if (value == 0)
		return;
	put_tag(message, field, WIRE_VARINT);
	put_varint(message, value);
}

static void put_bytes(struct ftr_strbuf *message, unsigned field, const void *bytes, size_t len)
{
	put_tag(message, field, WIRE_BYTES);
	put_varint(message, len);
	ftr_strbuf_put(message, bytes, len);
}

/* ---- the fields of profile.proto that are used ---- */

enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};
enum value_type_field { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT = 2 };
enum sample_field { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum label_field { LABEL_KEY = 1, LABEL_STR = 2 };
enum mapping_field {
	MAPPING_ID = 1,
	MAPPING_FILENAME = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILENAMES = 8,
	MAPPING_HAS_LINE_NUMBERS = 9,
	MAPPING_HAS_INLINE_FRAMES = 10,
};
enum location_field { LOCATION_ID = 1, LOCATION_MAPPING_ID = 2, LOCATION_ADDRESS = 3,
		      LOCATION_LINE = 4 };
enum line_field { LINE_FUNCTION_ID = 1, LINE_LINE = 2 };
enum function_field { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3,
		      FUNCTION_FILENAME = 4, FUNCTION_START_LINE = 5 };

/* What the two values of a sample are: as Go's profiles name them, which pprof knows. */
static const struct value_types {
	const char *count, *type, *unit;
} value_types[FTR_WEIGHTS] = {
	[FTR_WEIGHT_TIME] = { "calls", "time", "nanoseconds" },
	[FTR_WEIGHT_BYTES] = { "alloc_objects", "alloc_space", "bytes" },
	[FTR_WEIGHT_BLOCKS] = { "alloc_objects", "alloc_objects", "count" },
	[FTR_WEIGHT_LEAK] = { "inuse_objects", "inuse_space", "bytes" },
	[FTR_WEIGHT_WAIT] = { "contentions", "delay", "nanoseconds" },
	[FTR_WEIGHT_SAMPLES] = { "samples", "samples", "count" },
};

/* ---- the profile ---- */

/* A time that a task was not running, or a kind of wait. */
struct thing {
	uint32_t name_id, id;
};

struct pprof {
	const struct ftr_trace *trace;
	struct ftr_gzip *gzip;			/* (owned until finished) */
	struct ftr_strpool strings;		/* ids are those of the string table */
	FTR_VEC(const char *) texts;		/* by id */
	const struct ftr_func **funcs;		/* (owned) by name id, func_nr of them */
	size_t func_nr;
	FTR_VEC(uint32_t) ids;			/* of location and function, by name id; 0: none */
	FTR_VEC(struct thing) things;		/* that are no functions */
	FTR_VEC(bool) mapped;			/* by module id: its mapping is written */
	uint32_t id_nr;
	FTR_VEC(uint64_t) counts;		/* of each node, without those below it */
	struct ftr_strbuf message, inner;
	bool failed;				/* out of memory */
};

static uint64_t string_id(struct pprof *self, const char *s)
{
	const struct ftr_str *str;

	if (s == NULL)
		s = "";
	str = ftr_strpool_get(&self->strings, s, strlen(s));
	if (str == NULL ||
	    (str->id == self->texts.nr && ftr_vec_push(&self->texts, str->s) < 0)) {
		self->failed = true;
		return 0;
	}
	return str->id;
}

static void put_message(struct pprof *self, unsigned field, const struct ftr_strbuf *message)
{
	struct ftr_strbuf head;

	ftr_strbuf_init(&head);
	put_tag(&head, field, WIRE_BYTES);
	put_varint(&head, message->len);
	ftr_gzip_put(self->gzip, ftr_strbuf_str(&head), head.len);
	ftr_gzip_put(self->gzip, ftr_strbuf_str(message), message->len);
	self->failed |= head.failed || message->failed;
	ftr_strbuf_fini(&head);
}

static void put_field(struct pprof *self, unsigned field, uint64_t value)
{
	ftr_strbuf_clear(&self->inner);
	put_number(&self->inner, field, value);
	ftr_gzip_put(self->gzip, ftr_strbuf_str(&self->inner), self->inner.len);
}

static void put_value_type(struct pprof *self, unsigned field, const char *type, const char *unit)
{
	ftr_strbuf_clear(&self->message);
	put_number(&self->message, VALUE_TYPE_TYPE, string_id(self, type));
	put_number(&self->message, VALUE_TYPE_UNIT, string_id(self, unit));
	put_message(self, field, &self->message);
}

/* Strings of protocol buffers are UTF-8: bytes that are not become U+FFFD. */
static void put_utf8(struct ftr_strbuf *message, const char *s)
{
	size_t len = strlen(s);

	ftr_strbuf_clear(message);
	for (size_t bytes; len > 0; s += bytes, len -= bytes) {
		bytes = ftr_utf8_char(s, len);
		if (bytes > 0) {
			ftr_strbuf_put(message, s, bytes);
		} else {
			ftr_strbuf_puts(message, "\xef\xbf\xbd");
			bytes = 1;
		}
	}
}

/* A module has its id plus 1, as 0 means none. */
static uint64_t mapping_id(struct pprof *self, const struct ftr_module *module)
{
	uint64_t id;

	if (module == NULL || *module->path == '\0')
		return 0;
	if (ftr_vec_reach(&self->mapped, module->id) < 0) {
		self->failed = true;
		return 0;
	}
	id = (uint64_t)module->id + 1;
	if (self->mapped.v[module->id])
		return id;
	self->mapped.v[module->id] = true;
	ftr_strbuf_clear(&self->message);
	put_number(&self->message, MAPPING_ID, id);
	put_number(&self->message, MAPPING_FILENAME, string_id(self, module->path));
	put_number(&self->message, MAPPING_BUILD_ID, string_id(self, module->build_id));
	for (unsigned has = MAPPING_HAS_FUNCTIONS; has <= MAPPING_HAS_INLINE_FRAMES; has++)
		put_number(&self->message, has, 1);	/* nothing is left to look up */
	put_message(self, PROFILE_MAPPING, &self->message);
	return id;
}

static void put_function(struct pprof *self, uint64_t id, const char *name,
			 const struct ftr_func *func)
{
	const char *mangled = func != NULL && func->mangled != NULL ? func->mangled : name;

	ftr_strbuf_clear(&self->message);
	put_number(&self->message, FUNCTION_ID, id);
	put_number(&self->message, FUNCTION_NAME, string_id(self, name));
	put_number(&self->message, FUNCTION_SYSTEM_NAME, string_id(self, mangled));
	if (func != NULL && func->src_file != NULL) {
		put_number(&self->message, FUNCTION_FILENAME, string_id(self, func->src_file));
		put_number(&self->message, FUNCTION_START_LINE, func->src_line);
	}
	put_message(self, PROFILE_FUNCTION, &self->message);
}

static void put_location(struct pprof *self, uint64_t id, const struct ftr_func *func)
{
	uint64_t mapping = func == NULL ? 0 : mapping_id(self, func->module);

	ftr_strbuf_clear(&self->inner);
	put_number(&self->inner, LINE_FUNCTION_ID, id);
	put_number(&self->inner, LINE_LINE, func == NULL ? 0 : func->src_line);
	ftr_strbuf_clear(&self->message);
	put_number(&self->message, LOCATION_ID, id);
	put_number(&self->message, LOCATION_MAPPING_ID, mapping);
	put_number(&self->message, LOCATION_ADDRESS, func == NULL ? 0 : func->addr);
	put_bytes(&self->message, LOCATION_LINE, ftr_strbuf_str(&self->inner), self->inner.len);
	put_message(self, PROFILE_LOCATION, &self->message);
}

/* There are few. */
static uint32_t *thing_id(struct pprof *self, uint32_t name_id)
{
	const struct thing thing = { .name_id = name_id };

	for (size_t i = 0; i < self->things.nr; i++)
		if (self->things.v[i].name_id == name_id)
			return &self->things.v[i].id;
	return ftr_vec_push(&self->things, thing) < 0 ? NULL :
							&self->things.v[self->things.nr - 1].id;
}

/* Location and function have the same id. */
static uint64_t location_id(struct pprof *self, const struct ftr_graph_node *node)
{
	bool is_func = node->name_id < self->func_nr;
	const struct ftr_func *func = is_func ? self->funcs[node->name_id] : NULL;
	uint32_t *id = is_func ? &self->ids.v[node->name_id] : thing_id(self, node->name_id);

	self->failed |= id == NULL;
	if (id == NULL)
		return 0;
	if (*id == 0) {
		*id = ++self->id_nr;
		put_function(self, *id, node->name, func);
		put_location(self, *id, func);
	}
	return *id;
}

/* From the innermost call outwards; the process is a label, so that pprof can filter by it. */
static void put_sample(struct pprof *self, const struct ftr_graph *graph, uint32_t at,
		       const struct ftr_graph_node *root)
{
	const struct ftr_graph_node *nodes = graph->nodes.v;
	struct ftr_strbuf sample;

	ftr_strbuf_init(&sample);
	for (uint32_t up = at; nodes[up].parent != FTR_GRAPH_NONE; up = nodes[up].parent) {
		put_tag(&sample, SAMPLE_LOCATION_ID, WIRE_VARINT);
		put_varint(&sample, location_id(self, &nodes[up]));
	}
	put_tag(&sample, SAMPLE_VALUE, WIRE_VARINT);
	put_varint(&sample, self->counts.v[at]);
	put_tag(&sample, SAMPLE_VALUE, WIRE_VARINT);
	put_varint(&sample, nodes[at].self_ns);
	ftr_strbuf_clear(&self->inner);
	put_number(&self->inner, LABEL_KEY, string_id(self, "process"));
	put_number(&self->inner, LABEL_STR, string_id(self, root->name));
	put_bytes(&sample, SAMPLE_LABEL, ftr_strbuf_str(&self->inner), self->inner.len);
	put_message(self, PROFILE_SAMPLE, &sample);
	ftr_strbuf_fini(&sample);
}

static void put_samples(struct pprof *self, const struct ftr_graph *graph, uint32_t root)
{
	unsigned up;

	for (uint32_t at = ftr_call_tree_next(graph, root, &up);
	     at != FTR_GRAPH_NONE && !self->failed; at = ftr_call_tree_next(graph, at, &up))
		if (self->counts.v[at] > 0 || graph->nodes.v[at].self_ns > 0)
			put_sample(self, graph, at, &graph->nodes.v[root]);
}

/* A tree by weights counts what is below a node with it; one of calls does not. */
static void counts_make(struct pprof *self, const struct ftr_graph *graph)
{
	for (size_t i = 0; i < graph->nodes.nr && !self->failed; i++)
		self->failed = ftr_vec_push(&self->counts, graph->nodes.v[i].calls) < 0;
	for (size_t i = 0; i < graph->nodes.nr && graph->weight != NULL && !self->failed; i++) {
		uint32_t parent = graph->nodes.v[i].parent;

		if (parent != FTR_GRAPH_NONE)
			self->counts.v[parent] -= graph->nodes.v[i].calls;
	}
}

static void put_profile(struct pprof *self, const struct ftr_graph *graph)
{
	const struct value_types *types =
		&value_types[graph->weight == NULL ? FTR_WEIGHT_TIME : graph->weight->by];

	counts_make(self, graph);
	string_id(self, "");	/* the table begins with it */
	put_value_type(self, PROFILE_SAMPLE_TYPE, types->count, "count");
	put_value_type(self, PROFILE_SAMPLE_TYPE, types->type, types->unit);
	put_value_type(self, PROFILE_PERIOD_TYPE, types->type, types->unit);
	put_field(self, PROFILE_PERIOD, 1);
	put_field(self, PROFILE_DEFAULT_SAMPLE_TYPE, string_id(self, types->type));
	if (self->trace->info.cmdline != NULL)
		put_field(self, PROFILE_COMMENT, string_id(self, self->trace->info.cmdline));
	for (size_t i = 0; i < graph->roots.nr; i++)
		put_samples(self, graph, graph->roots.v[i].node);
	for (size_t i = 0; i < self->texts.nr; i++) {
		put_utf8(&self->message, self->texts.v[i]);
		put_message(self, PROFILE_STRING_TABLE, &self->message);
	}
}

static int pprof_init(struct pprof *self, const struct ftr_trace *trace, struct ftr_ostream *out)
{
	*self = (struct pprof){ .trace = trace };
	ftr_strpool_init(&self->strings);
	ftr_strbuf_init(&self->message);
	ftr_strbuf_init(&self->inner);
	self->gzip = ftr_gzip_new(out, FTR_GZIP_SMALL);
	self->func_nr = trace->names.nr;
	self->funcs = ftr_trace_funcs_by_name(trace);
	if (self->gzip == NULL || self->funcs == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < trace->names.nr; i++)
		if (ftr_vec_push(&self->ids, 0) < 0)
			return -ENOMEM;
	return 0;
}

static void pprof_fini(struct pprof *self)
{
	ftr_gzip_finish(self->gzip);
	ftr_strpool_fini(&self->strings);
	ftr_strbuf_fini(&self->message);
	ftr_strbuf_fini(&self->inner);
	ftr_vec_fini(&self->texts);
	free(self->funcs);
	ftr_vec_fini(&self->ids);
	ftr_vec_fini(&self->things);
	ftr_vec_fini(&self->mapped);
	ftr_vec_fini(&self->counts);
}

static int pprof_end(struct ftr_sink *sink)
{
	const struct ftr_graph *graph = ftr_call_tree_finish(sink);
	struct pprof profile;
	int ret;

	if (graph == NULL)
		return -ENODATA;
	ret = pprof_init(&profile, ftr_call_tree_trace(sink), sink->out);
	if (ret == 0)
		put_profile(&profile, graph);
	if (profile.failed || profile.message.failed || profile.inner.failed)
		ret = -ENOMEM;
	pprof_fini(&profile);
	return ret == 0 ? 0 : ftr_err_set(sink->err, ENOMEM, "pprof: out of memory");
}

static const struct ftr_sink_ops pprof_ops = FTR_CALL_TREE_OPS(pprof_end);

const struct ftr_format ftr_format_pprof = {
	.name	 = "pprof",
	.summary = "calls and own times of call stacks as a compressed profile for pprof",
	.suffix	 = ".pb.gz",
	.kind	 = FTR_FORMAT_FILE,
	.write	 = &pprof_ops,
	FTR_CALL_TREE_OPTIONS,
};
