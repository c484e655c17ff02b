/* SPDX-License-Identifier: MIT */
/* What a traced program is about to run: can it be traced, and by which machine's runtime? */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "utils/record/emulated.h"
#include "utils/record/recorder_state.h"

#define SHELL "/bin/sh"		/* what execvp has run what is no program */
#define SELF "/proc/self/"
#define PATH_DEFAULT "/bin:/usr/bin"
#define KNOWN_MAX 256		/* files, of which nothing is asked again */

/* @name as process @pid would find it, seen from here. */
static void path_inside(char path[PATH_MAX], int32_t pid, const char *name, size_t len,
			const char *rest)
{
	const char *base = name[0] == '/' ? "root" : "cwd";

	if (strncmp(name, SELF, strlen(SELF)) == 0)
		snprintf(path, PATH_MAX, "/proc/%d/%.*s%s", pid, (int)(len - strlen(SELF)),
			 name + strlen(SELF), rest);
	else
		snprintf(path, PATH_MAX, "/proc/%d/%s/%.*s%s%s", pid, base, (int)len, name,
			 rest[0] != '\0' ? "/" : "", rest);
}

/* Whatever is done to a file, to its rights, too, is seen by when it was changed. */
static bool is_same(const struct ftr_exec_known *a, const struct ftr_exec_known *b)
{
	return a->device == b->device && a->inode == b->inode && a->size_bytes == b->size_bytes &&
	       a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec &&
	       a->uid == b->uid;
}

static const struct ftr_exec_known *known_find(const struct ftr_recorder *recorder,
					       const struct ftr_exec_known *file)
{
	for (size_t i = recorder->execs.nr; i-- > 0;) {
		if (is_same(&recorder->execs.v[i], file))
			return &recorder->execs.v[i];
	}
	return NULL;
}

static void known_add(struct ftr_recorder *recorder, const struct ftr_exec_known *file)
{
	if (recorder->execs.nr == KNOWN_MAX)
		recorder->execs.nr = 0;
	(void)ftr_vec_push(&recorder->execs, *file);
}

/* What is at @path now, to run for user @uid; false: nothing is. */
static bool known_of(struct ftr_exec_known *file, const char *path, uid_t uid)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return false;
	*file = (struct ftr_exec_known){
		.device = st.st_dev, .inode = st.st_ino,
		.size_bytes = (uint64_t)st.st_size, .changed = st.st_ctim, .uid = uid,
	};
	return true;
}

/* Can @path, called @name, be traced?  Then the reply says for which machine it is. */
static int check(struct ftr_recorder *recorder, const char *path, const char *name,
		 struct ftr_recorder_reply *reply, struct ftr_err *err)
{
	const struct ftr_exec_known *known;
	struct ftr_exec_known file;
	struct ftr_program program;
	bool is_file = known_of(&file, path, recorder->request.uid);
	int ret;

	known = is_file ? known_find(recorder, &file) : NULL;
	if (known != NULL) {
		reply->base |= known->machine;
		return 0;
	}
	ret = ftr_program_check(&program, path, name, recorder->request.uid, err);
	if (ret == 0)
		ret = ftr_program_check_preload(&program, name, recorder->options->preload, err);
	if (ret == 0) {
		file.machine = ftr_program_is_beside(&program) ? FTR_CHANNEL_BESIDE :
								 FTR_CHANNEL_HOST;
		reply->base |= file.machine;
		if (is_file && !program.is_script) /* what runs a script may change by itself */
			known_add(recorder, &file);
	}
	ftr_program_fini(&program);
	return ret;
}

/* Checks the first file of that name along @dirs; 0 when it can be traced, or there is none. */
static int check_search(struct ftr_recorder *recorder, const char *name, const char *dirs,
			struct ftr_recorder_reply *reply, struct ftr_err *err)
{
	char path[PATH_MAX];

	for (;;) {
		size_t len = strcspn(dirs, ":");
		int ret;

		path_inside(path, recorder->request.pid, len > 0 ? dirs : ".", len > 0 ? len : 1,
			    name);
		ret = check(recorder, path, name, reply, err);
		if (ret != -ENOENT && ret != -EACCES)
			return ret;
		if (dirs[len] == '\0')
			return 0;
		dirs += len + 1;
	}
}

void ftr_recorder_answer_exec(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply)
{
	struct ftr_channel_request *request = &recorder->request;
	const char *name = request->path;
	size_t len = strlen(name);
	const char *dirs = len < request->message.path_bytes ? name + len + 1 : PATH_DEFAULT;
	struct ftr_err err = { 0 };
	char path[PATH_MAX];
	int ret;

	reply->base = FTR_CHANNEL_LOADS;
	if (strcmp(name, SELF "exe") == 0 && ftr_process_is_emulated(request->pid))
		return;			/* itself again, which the emulator sees to */
	if (strchr(name, '/') == NULL) {
		ret = check_search(recorder, name, dirs, reply, &err);
	} else {
		path_inside(path, request->pid, name, len, "");
		ret = check(recorder, path, name, reply, &err);
	}
	if (ret == -ENOEXEC) {		/* if anything runs it, a shell does, as a script */
		path_inside(path, request->pid, SHELL, strlen(SHELL), "");
		ret = check(recorder, path, SHELL, reply, &err);
	}
	if (ret != 0)
		reply->base &= ~(uint64_t)FTR_CHANNEL_LOADS;
	if (ret == -ENOTSUP) { /* else exec fails */
		char text[sizeof(err.text) + 32];

		snprintf(text, sizeof(text), "runs untraced: %s", err.text);
		ftr_recorder_warn(recorder, request->pid, text);
	}
}
