/* SPDX-License-Identifier: MIT */
/* Names of system calls, and the functions that stand for them. */
#include "utils/trace/syscall.h"

#include <assert.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "utils/trace/trace.h"

#define FUNC_PREFIX "sys_"

static const struct {
	const char *name;
	uint8_t kind;		/* enum ftr_syscall_kind */
} calls[FTR_SYSIDS] = {
	[FTR_SYSID_EXECVE]	= { "execve", FTR_SYSCALL_EXEC },
	[FTR_SYSID_EXECVEAT]	= { "execveat", FTR_SYSCALL_EXEC },
	[FTR_SYSID_CLONE]	= { "clone", FTR_SYSCALL_CLONE },
	[FTR_SYSID_CLONE3]	= { "clone3", FTR_SYSCALL_CLONE },
	[FTR_SYSID_OPEN]	= { "open", FTR_SYSCALL_OPEN },
	[FTR_SYSID_OPENAT]	= { "openat", FTR_SYSCALL_OPEN },
	[FTR_SYSID_OPENAT2]	= { "openat2", FTR_SYSCALL_OPEN },
	[FTR_SYSID_CREAT]	= { "creat", FTR_SYSCALL_OPEN },
	[FTR_SYSID_PIPE]	= { "pipe", FTR_SYSCALL_PIPE },
	[FTR_SYSID_PIPE2]	= { "pipe2", FTR_SYSCALL_PIPE },
	[FTR_SYSID_RENAME]	= { "rename", FTR_SYSCALL_RENAME },
	[FTR_SYSID_RENAMEAT]	= { "renameat", FTR_SYSCALL_RENAME },
	[FTR_SYSID_RENAMEAT2]	= { "renameat2", FTR_SYSCALL_RENAME },
	[FTR_SYSID_LINK]	= { "link", FTR_SYSCALL_LINK },
	[FTR_SYSID_LINKAT]	= { "linkat", FTR_SYSCALL_LINK },
	[FTR_SYSID_SYMLINK]	= { "symlink", FTR_SYSCALL_SYMLINK },
	[FTR_SYSID_SYMLINKAT]	= { "symlinkat", FTR_SYSCALL_SYMLINK },
	[FTR_SYSID_CLOSE]	= { "close", FTR_SYSCALL_CLOSE },
	[FTR_SYSID_CLOSE_RANGE]	= { "close_range", FTR_SYSCALL_CLOSE },
	[FTR_SYSID_DUP]		= { "dup", FTR_SYSCALL_DUP },
	[FTR_SYSID_DUP2]	= { "dup2", FTR_SYSCALL_DUP },
	[FTR_SYSID_DUP3]	= { "dup3", FTR_SYSCALL_DUP },
	[FTR_SYSID_FCNTL]	= { "fcntl", FTR_SYSCALL_DUP },
	[FTR_SYSID_MOUNT]	= { "mount", FTR_SYSCALL_MOUNT },
	[FTR_SYSID_UMOUNT]	= { "umount", FTR_SYSCALL_UMOUNT },
	[FTR_SYSID_UMOUNT2]	= { "umount2", FTR_SYSCALL_UMOUNT },
	[FTR_SYSID_PRCTL]	= { "prctl", FTR_SYSCALL_COMM },
	[FTR_SYSID_WRITE]	= { "write", FTR_SYSCALL_COMM },
	[FTR_SYSID_FORK]	= { "fork", FTR_SYSCALL_FORK },
	[FTR_SYSID_VFORK]	= { "vfork", FTR_SYSCALL_FORK },
	[FTR_SYSID_EXIT]	= { "exit", FTR_SYSCALL_EXIT },
};

static const uint8_t usual_ids[FTR_SYSCALL_KINDS] = {
	[FTR_SYSCALL_EXEC]    = FTR_SYSID_EXECVE,
	[FTR_SYSCALL_FORK]    = FTR_SYSID_FORK,
	[FTR_SYSCALL_CLONE]   = FTR_SYSID_CLONE,
	[FTR_SYSCALL_EXIT]    = FTR_SYSID_EXIT,
	[FTR_SYSCALL_OPEN]    = FTR_SYSID_OPENAT,
	[FTR_SYSCALL_PIPE]    = FTR_SYSID_PIPE2,
	[FTR_SYSCALL_RENAME]  = FTR_SYSID_RENAME,
	[FTR_SYSCALL_LINK]    = FTR_SYSID_LINK,
	[FTR_SYSCALL_SYMLINK] = FTR_SYSID_SYMLINK,
	[FTR_SYSCALL_CLOSE]   = FTR_SYSID_CLOSE,
	[FTR_SYSCALL_DUP]     = FTR_SYSID_DUP,
	[FTR_SYSCALL_MOUNT]   = FTR_SYSID_MOUNT,
	[FTR_SYSCALL_UMOUNT]  = FTR_SYSID_UMOUNT2,
	[FTR_SYSCALL_COMM]    = FTR_SYSID_PRCTL,
};

enum ftr_sysid ftr_syscall_id(const struct ftr_syscall *call)
{
	assert(call->kind < FTR_SYSCALL_KINDS);
	return call->id != FTR_SYSID_NONE ? call->id : usual_ids[call->kind];
}

const char *ftr_sysid_name(enum ftr_sysid id)
{
	assert(id > FTR_SYSID_NONE && id < FTR_SYSIDS);
	return calls[id].name;
}

const char *ftr_syscall_name(const struct ftr_syscall *call)
{
	return ftr_sysid_name(ftr_syscall_id(call));
}

enum ftr_sysid ftr_sysid_find(struct ftr_slice name)
{
	for (unsigned id = FTR_SYSID_NONE + 1; id < FTR_SYSIDS; id++) {
		if (ftr_slice_eq(name, calls[id].name))
			return (enum ftr_sysid)id;
	}
	return FTR_SYSID_NONE;
}

enum ftr_syscall_kind ftr_sysid_kind(enum ftr_sysid id)
{
	assert(id > FTR_SYSID_NONE && id < FTR_SYSIDS);
	return (enum ftr_syscall_kind)calls[id].kind;
}

bool ftr_sysid_is_of_kind(enum ftr_sysid id, enum ftr_syscall_kind kind)
{
	bool is_exec = id == FTR_SYSID_EXECVE || id == FTR_SYSID_EXECVEAT;

	assert(id < FTR_SYSIDS && kind < FTR_SYSCALL_KINDS);
	return id == FTR_SYSID_NONE || calls[id].kind == kind ||
	       (is_exec && kind == FTR_SYSCALL_COMM);
}

bool ftr_syscall_is_fork(const struct ftr_syscall *call)
{
	return call->kind == FTR_SYSCALL_FORK || call->kind == FTR_SYSCALL_CLONE;
}

bool ftr_syscall_makes_thread(const struct ftr_syscall *call)
{
	return call->kind == FTR_SYSCALL_CLONE && (call->fork.flags & CLONE_THREAD) != 0;
}

int32_t ftr_syscall_exit_status(const struct ftr_syscall *call)
{
	assert(call->kind == FTR_SYSCALL_EXIT);
	return (int32_t)(call->exit.signal != 0 ? 128 + call->exit.signal : call->exit.status);
}

bool ftr_syscall_has_flags(const struct ftr_syscall *call)
{
	return call->id == FTR_SYSID_RENAMEAT2 || call->id == FTR_SYSID_LINKAT;
}

struct ftr_func *ftr_syscall_func(struct ftr_trace *trace, const struct ftr_module *module,
				  enum ftr_sysid id)
{
	char name[64];
	int len = snprintf(name, sizeof(name), FUNC_PREFIX "%s", ftr_sysid_name(id));
	struct ftr_func *func = ftr_trace_func_by_name(trace, module, name, (size_t)len);

	if (func != NULL)
		func->sysid = (uint8_t)id;
	return func;
}

enum ftr_sysid ftr_syscall_of_func(const char *module_path, struct ftr_slice name)
{
	size_t prefix = strlen(FUNC_PREFIX);

	if (strcmp(module_path, FTR_SYSCALL_MODULE) != 0 || !ftr_slice_starts(name, FUNC_PREFIX))
		return FTR_SYSID_NONE;
	return ftr_sysid_find(ftr_slice_make(name.s + prefix, name.len - prefix));
}
