/* SPDX-License-Identifier: MIT */
/*
 * Scripts that are called at each event of a trace, by uftrace's contract (doc/scripts.md):
 * uftrace_begin, uftrace_entry, uftrace_exit, uftrace_event, uftrace_end.  In which language is an
 * engine's matter: a file, and a row of engines.def.
 */
#ifndef FTR_SCRIPT_SCRIPT_H
#define FTR_SCRIPT_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/bits.h"
#include "utils/base/err.h"
#include "utils/base/vec.h"

struct ftr_strbuf;

enum ftr_script_callback {
	FTR_SCRIPT_BEGIN,
	FTR_SCRIPT_ENTRY,
	FTR_SCRIPT_EXIT,
	FTR_SCRIPT_EVENT,
	FTR_SCRIPT_END,
	FTR_SCRIPT_CALLBACKS
};

/* "uftrace_begin" ..., by enum ftr_script_callback. */
extern const char *const ftr_script_callback_names[FTR_SCRIPT_CALLBACKS];

/* What uftrace_begin gets to know. */
struct ftr_script_start {
	bool is_record;		/* the data were recorded for this script */
	const char *version;
	char *const *args;	/* (borrowed) the user's words for the script */
	int arg_nr;
};

enum ftr_script_value_kind {
	FTR_SCRIPT_SIGNED,
	FTR_SCRIPT_UNSIGNED,
	FTR_SCRIPT_FLOAT,
	FTR_SCRIPT_TEXT,
	FTR_SCRIPT_NOTHING,
};

/* An argument or a return value. */
struct ftr_script_value {
	enum ftr_script_value_kind kind;
	union {
		int64_t  i;
		uint64_t u;
		double   f;
		struct { const char *s; size_t len; } text;	/* any bytes */
	};
};

/* What uftrace_entry, _exit and _event get to know.  All of it is borrowed for the call. */
struct ftr_script_context {
	int32_t  tid;
	uint32_t depth;
	uint64_t time_ns;
	uint64_t duration_ns;	/* EXIT */
	uint64_t addr;		/* EVENT: the id of its kind */
	const char *name;
	size_t   name_len;
	/* ENTRY: the arguments; EXIT: at most the return value; EVENT: its text. */
	const struct ftr_script_value *values;
	size_t   value_nr;
};

struct ftr_script_engine;

struct ftr_script {
	const struct ftr_script_engine *engine;
	const char *path;		/* (borrowed) */
	char *const *args;		/* (borrowed) */
	int arg_nr;
	unsigned callbacks;		/* FTR_BIT() of those that it has */
	FTR_VEC(char *) funcs;		/* (owned) patterns of UFTRACE_FUNCS; none: all functions */
};

/*
 * A failure inside of the script is described with its file and line.  -ECANCELED: the script wants
 * no more, which is no failure.
 */
struct ftr_script_engine {
	const char *name;	/* "python" */
	const char *suffix;	/* ".py"; NULL: any other file, if it can be run */
	const char *needs;	/* (nullable) package without which ftr was built; open says so */
	bool   is_embedded;	/* the script prints from within this process */
	size_t size;		/* bytes of the engine's script, struct ftr_script first */
	/* Load script->path; set callbacks and funcs. */
	int  (*open)(struct ftr_script *script, struct ftr_err *err);
	/* These are called for callbacks that the script has; end in any case, once. */
	int  (*begin)(struct ftr_script *script, const struct ftr_script_start *start,
		      struct ftr_err *err);
	int  (*call)(struct ftr_script *script, enum ftr_script_callback callback,
		     const struct ftr_script_context *context, struct ftr_err *err);
	int  (*end)(struct ftr_script *script, struct ftr_err *err);
	void (*close)(struct ftr_script *script);	/* after a failed open, too */
};

/* Iterate over engines.def: *pos starts at 0; NULL at the end. */
const struct ftr_script_engine *ftr_script_engine_next(size_t *pos);

/* The engine for the file at @path, which must be there.  NULL: described. */
const struct ftr_script_engine *ftr_script_engine_find(const char *path, struct ftr_err *err);

/* Load it.  @path and @args live as long as the script.  0 or -errno, described. */
int  ftr_script_open(struct ftr_script **script, const char *path, char *const *args, int arg_nr,
		     struct ftr_err *err);
void ftr_script_close(struct ftr_script *script);	/* NULL is fine */

static inline bool ftr_script_has(const struct ftr_script *script,
				  enum ftr_script_callback callback)
{
	return (script->callbacks & FTR_BIT(callback)) != 0;
}

/* Of engines: keep one pattern of UFTRACE_FUNCS.  0 or -ENOMEM. */
int ftr_script_add_func(struct ftr_script *script, const char *text, size_t len);

/*
 * What stands in comment lines of a script's first 64 KiB behind @key and a colon, joined by
 * blanks: "# uftrace-option: -A malloc@arg1".  Only marks may stand before the key.  0 or -errno.
 */
int ftr_script_comments(const char *path, const char *key, struct ftr_strbuf *text,
			struct ftr_err *err);

#endif /* FTR_SCRIPT_SCRIPT_H */
