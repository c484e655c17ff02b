/* SPDX-License-Identifier: MIT */
/* Opening scripts: the table of engines, and what comments of a script say. */
#include "utils/script/script.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/base/istream.h"
#include "utils/base/strbuf.h"
#include "utils/base/text.h"

#define COMMENTS_BYTES ((size_t)65536)
#define MARKS "#-/;*%\"' \t"

#define FTR_SCRIPT_ENGINE(name) extern const struct ftr_script_engine ftr_script_engine_##name;
#include "utils/script/engines.def"
#undef FTR_SCRIPT_ENGINE

#define FTR_SCRIPT_ENGINE(name) &ftr_script_engine_##name,
static const struct ftr_script_engine *const engines[] = {
#include "utils/script/engines.def"
};
#undef FTR_SCRIPT_ENGINE

const char *const ftr_script_callback_names[FTR_SCRIPT_CALLBACKS] = {
	[FTR_SCRIPT_BEGIN] = "uftrace_begin", [FTR_SCRIPT_ENTRY] = "uftrace_entry",
	[FTR_SCRIPT_EXIT] = "uftrace_exit",   [FTR_SCRIPT_EVENT] = "uftrace_event",
	[FTR_SCRIPT_END] = "uftrace_end",
};

const struct ftr_script_engine *ftr_script_engine_next(size_t *pos)
{
	return *pos < sizeof(engines) / sizeof(engines[0]) ? engines[(*pos)++] : NULL;
}

static bool has_suffix(const char *path, const char *suffix)
{
	size_t len = strlen(path), end = strlen(suffix);

	return len > end && strcmp(path + len - end, suffix) == 0;
}

const struct ftr_script_engine *ftr_script_engine_find(const char *path, struct ftr_err *err)
{
	const struct ftr_script_engine *engine;
	struct stat st;
	size_t pos = 0;

	if (stat(path, &st) < 0) {
		ftr_err_set(err, errno, "%s: %s", path, strerror(errno));
		return NULL;
	}
	if (!S_ISREG(st.st_mode)) {
		ftr_err_set(err, EINVAL, "%s: not a file", path);
		return NULL;
	}
	while ((engine = ftr_script_engine_next(&pos)) != NULL)
		if (engine->suffix != NULL && has_suffix(path, engine->suffix))
			break;
	if (engine == NULL && access(path, X_OK) == 0)
		engine = engines[sizeof(engines) / sizeof(engines[0]) - 1];
	if (engine == NULL)
		ftr_err_set(err, ENOEXEC, "%s: neither .py nor .lua, and not executable; "
			    "\"chmod +x\" it if it reads JSON lines", path);
	else if (engine->needs != NULL)
		ftr_err_set(err, ENOTSUP, "%s: ftr was built without %s; install it with \"apt-get "
			    "install %s\", and configure and build ftr again", path, engine->name,
			    engine->needs);
	return engine == NULL || engine->needs != NULL ? NULL : engine;
}

int ftr_script_open(struct ftr_script **out, const char *path, char *const *args, int arg_nr,
		    struct ftr_err *err)
{
	const struct ftr_script_engine *engine = ftr_script_engine_find(path, err);
	struct ftr_script *script;
	int ret;

	if (engine == NULL)
		return -err->code;
	script = calloc(1, engine->size);
	if (script == NULL)
		return ftr_err_set(err, ENOMEM, "out of memory");
	script->engine = engine;
	script->path = path;
	script->args = args;
	script->arg_nr = arg_nr;
	ret = engine->open(script, err);
	if (ret < 0) {
		ftr_script_close(script);
		return ret;
	}
	*out = script;
	return 0;
}

void ftr_script_close(struct ftr_script *script)
{
	if (script == NULL)
		return;
	script->engine->close(script);
	for (size_t i = 0; i < script->funcs.nr; i++)
		free(script->funcs.v[i]);
	ftr_vec_fini(&script->funcs);
	free(script);
}

int ftr_script_add_func(struct ftr_script *script, const char *text, size_t len)
{
	char *copy = strndup(text, len);

	if (copy != NULL && ftr_vec_push(&script->funcs, copy) == 0)
		return 0;
	free(copy);
	return -ENOMEM;
}

/* What follows "KEY:" in the line, if it is a comment that begins so. */
static bool comment_of(struct ftr_slice line, const char *key, struct ftr_slice *value)
{
	size_t len = strlen(key);

	while (line.len > 0 && strchr(MARKS, *line.s) != NULL) {
		line.s++;
		line.len--;
	}
	if (!ftr_slice_starts(line, key) || line.len == len || line.s[len] != ':')
		return false;
	*value = ftr_slice_trim(ftr_slice_make(line.s + len + 1, line.len - len - 1));
	return true;
}

int ftr_script_comments(const char *path, const char *key, struct ftr_strbuf *text,
			struct ftr_err *err)
{
	struct ftr_slice rest, line, value;
	struct ftr_istream in;
	int ret = ftr_istream_open(&in, AT_FDCWD, path, err);

	if (ret < 0)
		return ret;
	rest = ftr_slice_make((const char *)in.data,
			      in.size < COMMENTS_BYTES ? in.size : COMMENTS_BYTES);
	while (ftr_slice_split(&rest, '\n', &line)) {
		if (!comment_of(line, key, &value))
			continue;
		if (text->len > 0)
			ftr_strbuf_putc(text, ' ');
		ftr_strbuf_put(text, value.s, value.len);
	}
	ftr_istream_close(&in);
	return text->failed ? ftr_err_set(err, ENOMEM, "%s: out of memory", path) : 0;
}
