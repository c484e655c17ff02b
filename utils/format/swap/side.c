/* SPDX-License-Identifier: MIT */
/* Reading the side file of a stream. */
#include "utils/format/swap/side.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/text.h"
#include "utils/object/symtab_build.h"

#define WORDS_MAX 8

struct words {
	struct ftr_slice v[WORDS_MAX];
	unsigned nr;
};

struct side_reader {
	struct swap_side *side;
	struct ftr_trace *trace;
	struct ftr_symtab_build build;	/* of the module whose functions follow */
	uint64_t stream_bytes;
	bool is_other;			/* it is about another stream */
};

void swap_side_put_name(struct ftr_strbuf *text, const char *name)
{
	for (; *name != '\0'; name++) {
		const char *at = strchr("\\\\\tt\nn\rr", *name);

		if (at != NULL && (*name == '\\' || (unsigned char)*name < ' '))
			ftr_strbuf_printf(text, "\\%c", at[1]);
		else
			ftr_strbuf_putc(text, *name);
	}
}

/* A name back, in the arena; NULL = out of memory. */
static char *name_of(struct ftr_arena *arena, struct ftr_slice word)
{
	char *name = ftr_arena_strndup(arena, word.s, word.len), *to = name;

	for (const char *from = name; from != NULL && *from != '\0'; from++) {
		if (from[0] == '\\' && from[1] != '\0') {
			from++;
			*to++ = *from == 't' ? '\t' : *from == 'n' ? '\n' :
				*from == 'r' ? '\r' : *from;
		} else {
			*to++ = *from;
		}
	}
	if (name != NULL)
		*to = '\0';
	return name;
}

static int module_end(struct side_reader *r)
{
	int ret = r->build.tab == NULL ? 0 : ftr_symtab_build_finish(&r->build);

	ftr_symtab_build_fini(&r->build);
	r->build.tab = NULL;
	return ret;
}

static int module_line(struct side_reader *r, const struct words *words)
{
	struct ftr_symtab *symtab;
	char *path;
	uint64_t key;

	if (words->nr != 2 || module_end(r) < 0)
		return words->nr != 2 ? -EINVAL : -ENOMEM;
	path = name_of(&r->trace->arena, words->v[1]);
	symtab = malloc(sizeof(*symtab));
	if (path == NULL || symtab == NULL) {
		free(symtab);
		return -ENOMEM;
	}
	ftr_symtab_init(symtab);
	key = ftr_hash_bytes(path, strlen(path));
	if (ftr_hashmap_find(&r->side->symtabs, key) != NULL ||
	    ftr_hashmap_set(&r->side->symtabs, key, symtab) < 0) {
		ftr_symtab_fini(symtab);
		free(symtab);
		return ftr_hashmap_find(&r->side->symtabs, key) != NULL ? -EINVAL : -ENOMEM;
	}
	r->build.tab = symtab;
	return 0;
}

/* "func ADDR SIZE TYPE NAME" */
static int func_line(struct side_reader *r, const struct words *words)
{
	struct ftr_symbol symbol = { 0 };
	uint64_t size;
	char *name;

	if (words->nr != 5 || r->build.tab == NULL || words->v[3].len != 1 ||
	    ftr_parse_u64(words->v[1], 16, &symbol.addr) < 0 ||
	    ftr_parse_u64(words->v[2], 16, &size) < 0 || size > UINT32_MAX)
		return -EINVAL;
	name = name_of(&r->trace->arena, words->v[4]);
	if (name == NULL)
		return -ENOMEM;
	symbol.size = (uint32_t)size;
	symbol.type = words->v[3].s[0];
	symbol.name = name;
	return ftr_symtab_build_add(&r->build, symbol, strlen(name));
}

/* "task PID TID PARENT FORKED START NAME" */
static int task_line(struct ftr_trace *trace, const struct words *words)
{
	uint64_t tid, parent, is_forked, start_ns;
	struct ftr_task *task;

	if (words->nr != 7 || ftr_parse_u64(words->v[2], 10, &tid) < 0 ||
	    ftr_parse_u64(words->v[3], 10, &parent) < 0 ||
	    ftr_parse_u64(words->v[4], 10, &is_forked) < 0 ||
	    ftr_parse_u64(words->v[5], 10, &start_ns) < 0)
		return -EINVAL;
	task = ftr_trace_task_find(trace, (int32_t)tid);
	if (task == NULL)
		return 0;
	task->name = name_of(&trace->arena, words->v[6]);
	task->start_ns = start_ns;
	task->parent = ftr_trace_task_find(trace, (int32_t)parent);
	if (task->parent == task)
		task->parent = NULL;
	task->is_forked = is_forked != 0 && task->parent != NULL;
	if (task->name == NULL)
		task->name = "";
	return 0;
}

/* Tasks come in the order in which the trace had them. */
static int task_make(struct ftr_trace *trace, const struct words *words)
{
	uint64_t pid, tid;

	if (words->nr != 7 || ftr_parse_u64(words->v[1], 10, &pid) < 0 ||
	    ftr_parse_u64(words->v[2], 10, &tid) < 0)
		return -EINVAL;
	return ftr_trace_task_get(trace, (int32_t)pid, (int32_t)tid) == NULL ? -ENOMEM : 0;
}

static int session_line(struct side_reader *r, const struct words *words)
{
	char *sid;

	if (words->nr != 2)
		return -EINVAL;
	sid = name_of(&r->trace->arena, words->v[1]);
	return sid == NULL ? -ENOMEM : ftr_vec_push(&r->side->sids, sid);
}

static int leaks_line(struct side_reader *r, const struct words *words)
{
	uint64_t pid;

	if (words->nr != 2 || ftr_parse_u64(words->v[1], 10, &pid) < 0)
		return -EINVAL;
	return ftr_hashmap_set(&r->side->leaks, pid, r->side);
}

static int number_line(struct side_reader *r, const struct words *words)
{
	struct swap_side *side = r->side;
	uint64_t number = 0;

	if (words->nr != 2)
		return -EINVAL;
	if (ftr_slice_eq(words->v[0], "clock-offset"))
		return ftr_parse_i64(words->v[1], &side->clock_offset_ns) < 0 ? -EINVAL : 0;
	if (ftr_slice_eq(words->v[0], "time")) {
		side->time_form = ftr_slice_eq(words->v[1], "legacy") ? SWAP_TIME_LEGACY :
									 SWAP_TIME_DOCUMENT;
		return 0;
	}
	if (ftr_parse_u64(words->v[1], 10, &number) < 0)
		return -EINVAL;
	if (ftr_slice_eq(words->v[0], "cpus"))
		side->cpu_nr = number > 65536 ? 0 : (uint32_t)number;
	if (ftr_slice_eq(words->v[0], "stream"))
		r->is_other = number != r->stream_bytes;
	return 0;
}

static int side_line(struct side_reader *r, const struct words *words)
{
	if (ftr_slice_eq(words->v[0], "func"))
		return func_line(r, words);
	if (ftr_slice_eq(words->v[0], "module"))
		return module_line(r, words);
	if (ftr_slice_eq(words->v[0], "task"))
		return task_make(r->trace, words);	/* the rest when all are known */
	if (ftr_slice_eq(words->v[0], "session"))
		return session_line(r, words);
	if (ftr_slice_eq(words->v[0], "leaks"))
		return leaks_line(r, words);
	if (ftr_slice_eq(words->v[0], "system"))
		return words->nr != SWAP_SAMPLE_WORDS ? -EINVAL :
			swap_side_sample_parse(r->side, &r->trace->arena, words->v);
	if (ftr_slice_eq(words->v[0], "api"))
		return 0;	/* for people */
	return number_line(r, words);
}

static struct words words_of(const char *line, size_t len)
{
	struct ftr_slice rest = ftr_slice_make(line, len), word;
	struct words words = { .nr = 0 };

	while (words.nr < WORDS_MAX && ftr_slice_split(&rest, '\t', &word))
		words.v[words.nr++] = word;
	return words;
}

/* 0: there is one; -ENOENT: there is none. */
static int side_open(struct ftr_istream *in, const struct ftr_trace *trace, struct ftr_err *err)
{
	struct ftr_strbuf path;
	int ret;

	if (trace->path == NULL || strcmp(trace->path, "-") == 0)
		return -ENOENT;
	ftr_strbuf_init(&path);
	ftr_strbuf_printf(&path, "%s" SWAP_SIDE_SUFFIX, trace->path);
	ret = path.failed ? -ENOMEM :
			    ftr_istream_open_file(in, AT_FDCWD, ftr_strbuf_str(&path), err);
	ftr_strbuf_fini(&path);
	return ret == 0 || ret == -ENOMEM ? ret : -ENOENT;
}

int swap_side_load(struct swap_side *side, struct ftr_trace *trace, uint64_t stream_bytes,
		   struct ftr_err *err)
{
	struct side_reader r = { .side = side, .trace = trace, .stream_bytes = stream_bytes };
	struct ftr_istream in;
	const char *line;
	size_t len;
	int ret = side_open(&in, trace, err);

	if (ret < 0)
		return ret == -ENOENT ? 0 : ret;
	while (ret != -ENOMEM && !r.is_other &&
	       ftr_istream_whole_line(&in, &line, &len, trace->diag)) {
		struct words words = words_of(line, len);

		ret = len == 0 || line[0] == '#' || words.nr == 0 ? 0 : side_line(&r, &words);
		if (ret == -EINVAL)
			ftr_diag_warn(trace->diag, "%s:%u: damaged line is ignored", in.name,
				      in.lineno);
	}
	if (r.is_other)
		ftr_diag_warn(trace->diag, "%s: belongs to another stream, or that was cut, and is "
			      "ignored; write both again to get function names", in.name);
	side->is_there = !r.is_other;
	if (module_end(&r) < 0 || ret == -ENOMEM)
		ret = ftr_err_set(err, ENOMEM, "%s: out of memory", in.name);
	ftr_istream_close(&in);
	return ret == -ENOMEM ? ret : 0;
}

int swap_side_tasks(struct ftr_trace *trace, struct ftr_err *err)
{
	struct ftr_istream in;
	const char *line;
	size_t len;
	int ret = side_open(&in, trace, err);

	if (ret < 0)
		return ret == -ENOENT ? 0 : ret;
	while (ftr_istream_line(&in, &line, &len) && !in.is_line_cut) {
		struct words words = words_of(line, len);

		if (words.nr > 0 && ftr_slice_eq(words.v[0], "task") &&
		    task_line(trace, &words) < 0)
			ftr_diag_warn(trace->diag, "%s:%u: damaged line is ignored", in.name,
				      in.lineno);
	}
	ftr_istream_close(&in);
	return 0;
}

struct ftr_symtab *swap_side_symtab_take(struct swap_side *side, const char *path)
{
	return ftr_hashmap_take(&side->symtabs, ftr_hash_bytes(path, strlen(path)));
}

void swap_side_fini(struct swap_side *side)
{
	const struct ftr_hashmap_slot *slot;
	size_t pos = 0;

	while ((slot = ftr_hashmap_next(&side->symtabs, &pos)) != NULL) {
		ftr_symtab_fini(slot->value);
		free(slot->value);
	}
	ftr_hashmap_fini(&side->symtabs);
	ftr_hashmap_fini(&side->leaks);
	ftr_hashmap_fini(&side->sampled);
	ftr_vec_fini(&side->samples);
	ftr_vec_fini(&side->sids);
}
