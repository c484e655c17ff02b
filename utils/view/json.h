/* SPDX-License-Identifier: MIT */
/*
 * What --json prints: an object a line, doc/json.md.  Times are whole nanoseconds.
 *
 *	struct ftr_json line;
 *
 *	ftr_json_begin(&line, out, "func");
 *	ftr_json_string(&line, "name", name, len);
 *	ftr_json_end(&line);		{"v":1,"type":"func","name":"main"}
 */
#ifndef FTR_VIEW_JSON_H
#define FTR_VIEW_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/ostream.h"

struct ftr_json {
	struct ftr_ostream *out;
	bool has_members;	/* of the object that is open */
};

void ftr_json_begin(struct ftr_json *line, struct ftr_ostream *out, const char *type);
void ftr_json_end(struct ftr_json *line);

/* Members, of this line or of an object that was opened in it.  @s NULL: null. */
void ftr_json_string(struct ftr_json *line, const char *key, const char *s, size_t len);
void ftr_json_text(struct ftr_json *line, const char *key, const char *s);	/* to its NUL */
void ftr_json_u64(struct ftr_json *line, const char *key, uint64_t value);
void ftr_json_bool(struct ftr_json *line, const char *key, bool value);
/* What is not finite is null; whole numbers have no fraction. */
void ftr_json_double(struct ftr_json *line, const char *key, double value);

void ftr_json_open(struct ftr_json *line, const char *key);	/* an object as a member */
void ftr_json_close(struct ftr_json *line);

#endif /* FTR_VIEW_JSON_H */
