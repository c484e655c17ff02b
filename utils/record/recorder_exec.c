/* SPDX-License-Identifier: MIT */
/* What a traced program is about to run: can it be traced, and by which machine's runtime? */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "utils/record/emulated.h"
#include "utils/record/recorder_state.h"

#define SHELL "/bin/sh"		/* what execvp has run what is no program */
#define SELF "/proc/self/"
#define KNOWN_MAX 256		/* files, of which nothing is asked again */
#define SETTLED_S 2		/* the coarsest clock of a file system, of FAT */

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

/* Of one that had been changed just before it was tried, that is only true just after. */
static bool is_known(const struct ftr_exec_known *known, const struct ftr_exec_known *now)
{
	return ftr_tried_is_same(&known->file, &now->file) && known->uid == now->uid &&
	       (known->is_settled || !now->is_settled);
}

static const struct ftr_exec_known *known_find(const struct ftr_recorder *recorder,
					       const struct ftr_exec_known *now)
{
	for (size_t i = recorder->execs.nr; i-- > 0;) {
		if (is_known(&recorder->execs.v[i], now))
			return &recorder->execs.v[i];
	}
	return NULL;
}

static void known_add(struct ftr_recorder *recorder, const struct ftr_exec_known *known)
{
	if (recorder->execs.nr == KNOWN_MAX)
		recorder->execs.nr = 0;
	(void)ftr_vec_push(&recorder->execs, *known);
}

/*
 * From now on processes run this file without asking.  Not with -p: they want to know, too, whether
 * we are still there.  What is run a second time may be run again; what is run once (a configure
 * script's programs) does not take the room.
 */
static void known_publish(struct ftr_recorder *recorder, const struct ftr_exec_known *known)
{
	struct ftr_control *control = recorder->control.map;
	uint32_t nr = atomic_load_explicit(&control->tried_nr, memory_order_relaxed), i;

	if (!known->is_anyones || !known->is_settled || recorder->options->attach_pid != 0 ||
	    nr == FTR_TRIED_MAX)
		return;
	for (i = 0; i < nr; i++) {
		if (ftr_tried_is_same(&control->tried[i], &known->file))
			return;
	}
	control->tried[nr] = known->file;
	atomic_store_explicit(&control->tried_nr, nr + 1, memory_order_release);
}

/* What is at @path now, to run for user @uid; false: nothing is. */
static bool known_of(struct ftr_exec_known *known, const char *path, uid_t uid)
{
	time_t now = time(NULL);
	struct stat st;

	if (stat(path, &st) < 0)
		return false;
	*known = (struct ftr_exec_known){
		.file = {
			.device = st.st_dev, .inode = st.st_ino,
			.size_bytes = (uint64_t)st.st_size,
			.changed_s = (uint64_t)st.st_ctim.tv_sec,
			.changed_ns = (uint32_t)st.st_ctim.tv_nsec,
		},
		.uid = uid,
		.is_settled = now - st.st_ctim.tv_sec > SETTLED_S,
	};
	return true;
}

/* Can @path, called @name, be traced?  Then the reply says for which machine it is. */
static int check(struct ftr_recorder *recorder, const char *path, const char *name,
		 struct ftr_recorder_reply *reply, struct ftr_err *err)
{
	const struct ftr_exec_known *known;
	struct ftr_exec_known now;
	struct ftr_program program;
	bool is_file = known_of(&now, path, recorder->request.uid);
	int ret;

	known = is_file ? known_find(recorder, &now) : NULL;
	if (known != NULL) {
		reply->base |= known->file.machine;
		known_publish(recorder, known);
		return 0;
	}
	ret = ftr_program_check(&program, path, name, recorder->request.uid, err);
	if (ret == 0)
		ret = ftr_program_check_preload(&program, name, recorder->options->preload, err);
	if (ret == 0) {
		now.file.machine = ftr_program_is_beside(&program) ? FTR_CHANNEL_BESIDE :
								     FTR_CHANNEL_HOST;
		now.is_anyones = !program.gives_rights;
		reply->base |= now.file.machine;
		if (is_file && !program.is_script) /* what runs a script may change by itself */
			known_add(recorder, &now);
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
	const char *dirs = len < request->message.path_bytes ? name + len + 1 : "";
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
