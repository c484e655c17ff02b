/* SPDX-License-Identifier: MIT */
/* Warnings about what a recording does not hold: on the terminal, and in the trace. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/strbuf.h"
#include "utils/record/recorder_state.h"

static bool is_repeated(const struct ftr_recorder *recorder, const char *text)
{
	size_t i;

	for (i = 0; i < recorder->warned.nr; i++) {
		if (strcmp(recorder->warned.v[i], text) == 0)
			return true;
	}
	return false;
}

void ftr_recorder_warn(struct ftr_recorder *recorder, int32_t pid, const char *text)
{
	char line[1024];
	char *copy;
	int ret;

	snprintf(line, sizeof(line), "process %d: %s", pid, text);
	line[strcspn(line, "\n")] = '\0';
	ret = ftr_uftrace_dir_message(recorder->store.dir, ftr_recorder_now(recorder), line);
	if (ret < 0)
		ftr_store_dir_failed(&recorder->store, "extern.dat", -ret);
	if (is_repeated(recorder, text))		/* once is enough on the terminal */
		return;
	copy = strdup(text);
	if (copy == NULL || ftr_vec_push(&recorder->warned, copy) < 0)
		free(copy);
	ftr_diag_warn(recorder->options->diag, "%s", line);
}

/* Causes, each with its remedy. */
static void untraced_causes(struct ftr_strbuf *text, uint32_t causes)
{
	static const char *const names[FTR_UNTRACED_CAUSES] = {
		[FTR_UNTRACED_MEMORY] = "no memory for their rings (raise ulimit -v or lower -b)",
		[FTR_UNTRACED_MAPPINGS] = "too many threads at a time (raise vm.max_map_count)",
		[FTR_UNTRACED_DESCRIPTORS] = "no descriptor was left (raise ulimit -n)",
		[FTR_UNTRACED_FILTER] = "a seccomp filter of the program's blocks tracing",
		[FTR_UNTRACED_NO_REPLY] = "the recorder was too busy (try --rt-prio)",
		[FTR_UNTRACED_SHARED] = ("thread-local storage was shared with a child (clone "
					 "without CLONE_SETTLS)"),
	};
	const char *separator = ": ";
	unsigned i;

	for (i = 0; i < FTR_UNTRACED_CAUSES; i++) {
		if ((causes & FTR_UNTRACED_BIT(i)) == 0)
			continue;
		ftr_strbuf_printf(text, "%s%s", separator, names[i]);
		separator = ", ";
	}
}

void ftr_recorder_untraced_report(struct ftr_recorder *recorder)
{
	const struct ftr_ring_untraced *untraced = &recorder->store.untraced;
	struct ftr_strbuf text = { 0 };

	if (untraced->tasks == 0)
		return;
	ftr_strbuf_printf(&text, "%" PRIu32 " thread%s ran untraced, and at least %" PRIu64
			  " calls were not recorded",
			  untraced->tasks, untraced->tasks == 1 ? "" : "s", untraced->calls);
	untraced_causes(&text, untraced->causes);
	ftr_uftrace_dir_message(recorder->store.dir, ftr_recorder_now(recorder),
				ftr_strbuf_str(&text));
	ftr_diag_warn(recorder->options->diag, "%s", ftr_strbuf_str(&text));
	ftr_strbuf_fini(&text);
}

void ftr_recorder_warn_fini(struct ftr_recorder *recorder)
{
	size_t i;

	for (i = 0; i < recorder->warned.nr; i++)
		free(recorder->warned.v[i]);
	ftr_vec_fini(&recorder->warned);
}

/* A traced process may send anything: control characters do not reach the terminal. */
void ftr_recorder_answer_warn(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply)
{
	struct ftr_channel_request *request = &recorder->request;
	char *p;

	for (p = request->path; *p != '\0'; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	}
	ftr_recorder_warn(recorder, request->pid, request->path);
}
