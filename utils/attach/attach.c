/* SPDX-License-Identifier: MIT */
/* See attach.h. */
#include "utils/attach/attach.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "utils/attach/code.h"
#include "utils/attach/leave.h"
#include "utils/attach/refusal.h"
#include "utils/attach/runtime.h"

bool ftr_attach_is_possible(void)
{
	return true;
}

int ftr_attach_check(int32_t pid, struct ftr_err *err)
{
	return ftr_attach_refusal(pid, err);
}

int ftr_attach_may_stop(int32_t pid, struct ftr_err *err)
{
	return ftr_attach_stop_refusal(pid, err);
}

static int start(struct ftr_runtime *runtime, const char *address, struct ftr_attach *attach,
		 struct ftr_err *err)
{
	*attach = (struct ftr_attach){ .step = FTR_ATTACH_START };
	strncpy(attach->address, address, sizeof(attach->address) - 1);
	return ftr_runtime_step(runtime, attach, err);
}

/* What a recorder has left that died, or could not end. */
static int start_again(struct ftr_runtime *runtime, const char *address, struct ftr_attach *attach,
		       struct ftr_attach_report *report, struct ftr_err *err)
{
	if (ftr_runtime_leave(runtime, report, err) < 0)
		return -err->code;
	if (report->is_partly_left)
		return ftr_err_set(err, EBUSY, "calls of an earlier recording are still open in "
				   "the runtime; try again");
	return start(runtime, address, attach, err);
}

static int started(const struct ftr_attach *attach, struct ftr_err *err)
{
	if (attach->state == FTR_ATTACH_LAUNCHED)
		return ftr_err_set(err, EBUSY, "it was started by ftr, whose runtime it has; start "
				   "it without ftr to attach to it");
	if (attach->state == FTR_ATTACH_RECORDED)
		return ftr_err_set(err, EBUSY, "another ftr records it; end that first, with "
				   "Ctrl-C");
	if (attach->result < 0)
		return ftr_err_set(err, -attach->result, "the runtime in it does not reach this "
				   "recorder: %s", strerror(-attach->result));
	return 0;
}

/* Its dynamic linker opens the path where its root is. */
static int path_check(int32_t pid, const char *path, struct ftr_err *err)
{
	char inside[PATH_MAX + 64];
	struct stat ours, theirs;

	snprintf(inside, sizeof(inside), "/proc/%d/root%s", (int)pid, path);
	if (stat(path, &ours) == 0 && stat(inside, &theirs) == 0 && ours.st_dev == theirs.st_dev &&
	    ours.st_ino == theirs.st_ino)
		return 0;
	return ftr_err_set(err, ENOENT, "process %d does not find %s where it is (a container, a "
			   "chroot): make it the same file there, or run ftr inside", (int)pid, path);
}

int ftr_attach(int32_t pid, const char *path, const char *address,
	       struct ftr_attach_report *report, struct ftr_err *err)
{
	struct ftr_runtime runtime;
	struct ftr_attach attach = { .step = 0 };
	const struct ftr_code_choice now = { .chosen = NULL };
	struct ftr_err ignored = { 0 };
	int ret;

	*report = (struct ftr_attach_report){ .hooked_nr = 0 };
	if (path_check(pid, path, err) < 0)
		return -err->code;
	ret = ftr_runtime_borrow(&runtime, pid, path, err);
	if (ret == 0)
		ret = ftr_runtime_load(&runtime, err);
	if (ret == 0)
		ret = start(&runtime, address, &attach, err);
	if (ret == 0 && (attach.state == FTR_ATTACH_ATTACHED ||
			 attach.state == FTR_ATTACH_UNHOOKED))
		ret = start_again(&runtime, address, &attach, report, err);
	if (ret == 0)
		ret = started(&attach, err);
	if (ret == 0) {
		report->hooked_nr = attach.hooked_nr;
		report->codes = attach.code;
		report->code_nr = attach.code_nr;
		ret = ftr_runtime_code(&runtime, &attach, &now, report, err);
	}
	if (ret == 0)
		report->is_partly_left = false;
	else if (runtime.step_at != 0 && runtime.scratch != 0 &&
		 attach.state == FTR_ATTACH_IDLE)
		ftr_runtime_leave(&runtime, report, &ignored);
	report->borrowed_ns = ftr_runtime_give_back(&runtime);
	return ret;
}

int ftr_attach_code(int32_t pid, const struct ftr_attach_codes *codes,
		    struct ftr_attach_report *report, struct ftr_err *err)
{
	const struct ftr_attach attach = {
		.state = FTR_ATTACH_ATTACHED, .code = codes->addr, .code_nr = codes->nr,
	};
	const struct ftr_code_choice chosen = {
		.chosen = codes->chosen, .chosen_nr = codes->chosen_nr,
	};
	const struct ftr_code_choice others = {
		.is_back = true, .are_others = true, .chosen = codes->chosen,
		.chosen_nr = codes->chosen_nr,
	};
	struct ftr_runtime runtime;
	int ret;

	*report = (struct ftr_attach_report){ .codes = codes->addr, .code_nr = codes->nr };
	ret = ftr_runtime_find(&runtime, pid, codes->runtime, err);
	if (ret == 0 && runtime.step_at != 0 && codes->chosen != NULL)
		ret = ftr_runtime_code(&runtime, &attach, &others, report, err);
	if (ret == 0 && runtime.step_at != 0)
		ret = ftr_runtime_code(&runtime, &attach, &chosen, report, err);
	else if (ret == 0 && ftr_image_has_deleted(&runtime.image, codes->runtime))
		ret = ftr_runtime_replaced(codes->runtime, err);
	ftr_runtime_give_back(&runtime);
	return ret == -ESRCH ? 0 : ret;
}

/* 1, or 0: it has ended, or become another program; or -errno. */
static int is_loaded(int32_t pid, const char *path, struct ftr_err *err)
{
	struct ftr_image image;
	struct ftr_err ignored = { 0 };
	uint64_t start;
	int ret;

	if (ftr_image_load(&image, pid, &ignored) < 0)
		return 0;
	ret = ftr_image_start(&image, path, &start);
	if (ret == 0 && ftr_image_has_deleted(&image, path))
		ret = ftr_runtime_replaced(path, err);
	ftr_image_fini(&image);
	return ret;
}

int ftr_attach_leave(int32_t pid, const char *path, struct ftr_attach_report *report,
		     struct ftr_err *err)
{
	struct ftr_runtime runtime;
	int ret;

	*report = (struct ftr_attach_report){ .hooked_nr = 0 };
	ret = is_loaded(pid, path, err);
	if (ret <= 0)
		return ret;
	ret = ftr_runtime_borrow(&runtime, pid, path, err);
	if (ret == 0 && runtime.step_at != 0)
		ret = ftr_runtime_leave(&runtime, report, err);
	report->borrowed_ns = ftr_runtime_give_back(&runtime);
	return ret == -ESRCH ? 0 : ret;
}
