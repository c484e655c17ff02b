/* SPDX-License-Identifier: MIT */
/* See refusal.h.  In the order in which a user can do something about them. */
#include "utils/attach/refusal.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/attach/image.h"
#include "utils/object/elf.h"

#define PASSING_TRIES 100u
#define PASSING_US 20000u

/* Of a status file: the line "KEY:", a number. */
static bool status_number(const char *path, const char *key, unsigned base, uint64_t *number)
{
	size_t len = strlen(key);
	bool is_found = false;
	char line[256];
	FILE *file = fopen(path, "re");

	while (file != NULL && !is_found && fgets(line, sizeof(line), file) != NULL) {
		is_found = strncmp(line, key, len) == 0 && line[len] == ':';
		if (is_found)
			*number = strtoull(line + len + 1, NULL, (int)base);
	}
	if (file != NULL)
		fclose(file);
	return is_found;
}

/* Returning to where nothing called from is a fault then. */
static bool has_shadow_stack(const char *path)
{
	bool ret = false;
	char line[256];
	FILE *file = fopen(path, "re");

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		ret |= strncmp(line, "x86_Thread_features:", 20) == 0 &&
		       strstr(line, "shstk") != NULL;
	if (file != NULL)
		fclose(file);
	return ret;
}

/* Is the process an ftr that attaches or leaves, or one that was killed while it did? */
static bool is_passing(uint64_t pid)
{
	char path[64], exe[PATH_MAX] = "", own[PATH_MAX] = "";

	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/exe", pid);
	if (readlink(path, exe, sizeof(exe) - 1) < 0)
		return errno == ENOENT;
	return readlink("/proc/self/exe", own, sizeof(own) - 1) > 0 && strcmp(exe, own) == 0;
}

/* Who traces the thread of that status, and is not gone in a moment; 0 = nobody. */
static uint64_t tracer_of(const char *status)
{
	uint64_t tracer;
	unsigned i;

	for (i = 0; status_number(status, "TracerPid", 10, &tracer) && tracer != 0; i++) {
		if (i == PASSING_TRIES || !is_passing(tracer))
			return tracer;
		usleep(PASSING_US);
	}
	return 0;
}

/* The filters of seccomp are each thread's own. */
static int thread_refusal(int32_t pid, int32_t tid, struct ftr_err *err)
{
	char path[64];
	uint64_t number;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	number = tracer_of(path);
	if (number != 0)
		return ftr_err_set(err, EPERM, "process %d is traced by process %d already; end "
				   "that first (gdb, strace)", pid, (int)number);
	if (status_number(path, "Seccomp", 10, &number) && number != 0)
		return ftr_err_set(err, ENOTSUP, "process %d has a seccomp filter, which may end "
				   "it for the system calls of loading libmcount.so; start it "
				   "with ftr record, or without the filter", pid);
	if (has_shadow_stack(path))
		return ftr_err_set(err, ENOTSUP, "process %d runs with a shadow stack (CET), which "
				   "forbids what attaching does; start it with "
				   "GLIBC_TUNABLES=glibc.cpu.hwcaps=-SHSTK", pid);
	return 0;
}

static int threads_refusal(int32_t pid, struct ftr_err *err)
{
	const struct dirent *entry;
	char path[64];
	int ret = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir != NULL && ret == 0 && (entry = readdir(dir)) != NULL) {
		if (atoi(entry->d_name) > 0)
			ret = thread_refusal(pid, atoi(entry->d_name), err);
	}
	if (dir != NULL)
		closedir(dir);
	return ret;
}

static int may_not_refusal(int32_t pid, int code, struct ftr_err *err)
{
	char text[16] = "0";
	FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");

	if (file != NULL) {
		if (fgets(text, sizeof(text), file) == NULL)
			text[0] = '0';
		fclose(file);
	}
	if (text[0] == '3')
		return ftr_err_set(err, EPERM, "process %d may not be traced: this system forbids "
				   "ptrace until it is started again (kernel.yama.ptrace_scope=3)",
				   pid);
	if (text[0] == '2' || (text[0] == '1' && geteuid() != 0))
		return ftr_err_set(err, EPERM, "process %d may not be traced "
				   "(kernel.yama.ptrace_scope=%c); run ftr as root, or allow it "
				   "with \"sysctl kernel.yama.ptrace_scope=0\"", pid, text[0]);
	return ftr_err_set(err, EPERM, "process %d may not be traced: %s; it belongs to another "
			   "user, has more rights, or a container forbids it: run ftr as that user "
			   "or as root", pid, strerror(code));
}

/* Asked of the kernel, which knows all of its rules: reading memory takes what tracing takes. */
static int trace_refusal(const struct ftr_image *image, struct ftr_err *err)
{
	uint8_t byte;

	if (image->vmas.nr == 0)
		return ftr_err_set(err, ESRCH, "process %d has ended", image->pid);
	errno = 0;
	if (!ftr_memory_read(image->pid, image->vmas.v[0].low, &byte, 1) &&
	    (errno == EPERM || errno == ESRCH))
		return may_not_refusal(image->pid, errno, err);
	return 0;
}

/* What it runs: for this machine, with a dynamic linker. */
static int image_refusal(int32_t pid, struct ftr_err *err)
{
	static const char *const linkers[] = { "ld-linux", "ld-2.", "ld.so", NULL };
	static const char *const libcs[] = { "libc.so.6", "libc-2.", NULL };
	struct ftr_image image;
	struct ftr_elf_info elf, own;
	char path[64];
	int ret = 0;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (ftr_elf_info_load(&elf, path, err) < 0)
		return err->code == EACCES ? may_not_refusal(pid, EACCES, err) : -err->code;
	if (ftr_elf_info_load(&own, "/proc/self/exe", err) < 0)
		return -err->code;
	if (elf.machine != own.machine || elf.elf_class != own.elf_class)
		return ftr_err_set(err, ENOTSUP, "process %d runs a program for another machine "
				   "than ftr's; use a ftr that was built for it", pid);
	if (ftr_image_load(&image, pid, err) < 0)
		return err->code == EACCES ? may_not_refusal(pid, EACCES, err) : -err->code;
	ret = trace_refusal(&image, err);
	if (ret < 0)
		;
	else if (ftr_image_find(&image, linkers) == NULL)
		ret = ftr_err_set(err, ENOTSUP, "process %d is linked statically, without a "
				  "dynamic linker that could load libmcount.so; link it dynamically, "
				  "or start it with ftr record --syscalls --stack, which looks at it "
				  "from outside", pid);
	else if (ftr_image_find(&image, libcs) == NULL)
		ret = ftr_err_set(err, ENOTSUP, "process %d does not use glibc, or has not started "
				  "yet", pid);
	ftr_image_fini(&image);
	return ret;
}

int ftr_attach_refusal(int32_t pid, struct ftr_err *err)
{
	char path[64], target[PATH_MAX];
	uint64_t tgid = 0;
	int ret;

	if (pid == getpid())
		return ftr_err_set(err, EINVAL, "process %d is ftr itself", pid);
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (pid <= 0 || !status_number(path, "Tgid", 10, &tgid))
		return ftr_err_set(err, ESRCH, "there is no process %d", pid);
	if ((int32_t)tgid != pid)
		return ftr_err_set(err, EINVAL, "%d is a thread; attach to its process, %d", pid,
				   (int)tgid);
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (readlink(path, target, sizeof(target)) < 0 && errno == ENOENT)
		return ftr_err_set(err, EINVAL, "process %d is a thread of the kernel, or has "
				   "ended; use --kernel to see what the kernel does", pid);
	ret = threads_refusal(pid, err);
	return ret == 0 ? image_refusal(pid, err) : ret;
}

int ftr_attach_stop_refusal(int32_t pid, struct ftr_err *err)
{
	struct ftr_image image;
	uint64_t tracer;
	char path[64];
	int ret;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	tracer = tracer_of(path);
	if (tracer != 0)
		return ftr_err_set(err, EPERM, "process %d is traced by process %d already, which "
				   "may be for --syscalls, gdb or strace; end that first", pid,
				   (int)tracer);
	if (ftr_image_load(&image, pid, err) < 0)
		return err->code == EACCES ? may_not_refusal(pid, EACCES, err) : -err->code;
	ret = trace_refusal(&image, err);
	ftr_image_fini(&image);
	return ret;
}
