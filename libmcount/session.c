/* SPDX-License-Identifier: MIT */
/*
 * The start of a program image: ask the recorder how to trace, before the program's own code runs.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "arch/transaction.h"
#include "libmcount/channel.h"
#include "libmcount/environ.h"
#include "libmcount/fork.h"
#include "libmcount/gated.h"
#include "libmcount/helper.h"
#include "libmcount/hook.h"
#include "libmcount/module.h"
#include "libmcount/probe.h"
#include "libmcount/sections.h"
#include "libmcount/session.h"
#include "utils/base/rt/sys.h"
#include "utils/proto/environ.h"

struct ftr_state ftr_state;

static void warn(const char *text)
{
	ftr_sys3(SYS_write, 2, text, strlen(text));
}

/* libc's getenv does not work yet: we are called before libc's own constructor. */
static const char *env_find(char *const *envp, const char *name)
{
	size_t len = strlen(name);

	for (; envp != NULL && *envp != NULL; envp++) {
		if (strncmp(*envp, name, len) == 0 && (*envp)[len] == '=')
			return *envp + len + 1;
	}
	return NULL;
}

static bool address_find(char *const *envp)
{
	const char *name = env_find(envp, FTR_CHANNEL_ENV);
	size_t len = name != NULL ? strlen(name) : 0;
	uint32_t blocked;

	len = ftr_environ_told(name, len, &blocked);
	atomic_fetch_or(&ftr_state.blocked, blocked);
	if (len == 0 || len > FTR_ADDRESS_MAX - 2)
		return false;
	memcpy(ftr_state.address, name, len);
	ftr_state.address_bytes = (uint32_t)len;
	return true;
}

struct start {
	int32_t pid, tid;
	uint32_t type_flags;		/* FTR_CHANNEL_BY_CHILD, in a helper; or _WITH_TASK */
	uint64_t flags;			/* of the reply */
	int ret;
};

extern const char __ehdr_start[] FTR_HIDDEN;	/* the linker's: where we are mapped */

static int session_ask(struct start *start, int fds[FTR_CHANNEL_REPLY_FDS])
{
	char path[FTR_CHANNEL_PATH_MAX];
	long len = ftr_sys4(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path,
			    sizeof(path));
	struct ftr_channel_message message = {
		.magic = FTR_CHANNEL_MAGIC,
		.type = FTR_CHANNEL_SESSION | start->type_flags,
		.pid = start->pid,
		.tid = start->tid,
		.path_bytes = len > 0 ? (uint32_t)len : 0,
		.base = (uintptr_t)__ehdr_start,
	};

	int ret = ftr_channel_ask(&message, path, fds);

	start->flags = message.base;
	atomic_store(&ftr_state.counter_ns, message.time);
	return ret;
}

static const struct ftr_control *control_map(int fd)
{
	long mem = ftr_sys_map(0, sizeof(struct ftr_control), PROT_READ, MAP_SHARED, fd, 0);
	const struct ftr_control *control = (const struct ftr_control *)mem;

	if (ftr_sys_map_failed(mem))
		return NULL;
	if (control->magic != FTR_CONTROL_MAGIC || control->version != FTR_CONTROL_VERSION)
		return NULL;
	return control;
}

/* All that needs descriptors. */
static void session_open(void *arg)
{
	/* The control block, the image's sections, the first thread's ring. */
	int fds[FTR_CHANNEL_REPLY_FDS] = { -1, -1, -1 };
	const struct ftr_sections *sections = NULL;
	struct start *start = arg;

	start->ret = session_ask(start, fds);
	if (start->ret < 0)
		return;
	ftr_state.first_ring.id = start->flags >> FTR_CHANNEL_RING_SHIFT;
	if ((start->flags & FTR_CHANNEL_BARE) != 0) {
		fds[2] = fds[1];
		fds[1] = -1;
	}
	ftr_state.first_ring.fd = fds[2];
	ftr_state.control = control_map(fds[0]);
	ftr_sys_close_own(fds[0]);
	if (fds[1] >= 0)
		sections = ftr_sections_map(fds[1]);
	if (ftr_state.control == NULL || sections == NULL)
		return;
	ftr_state.asks_exec = (start->flags & FTR_CHANNEL_ASKS_EXEC) != 0;
	ftr_sections_publish(sections);
	atomic_store(&ftr_state.generation, sections->generation);
	ftr_probes_start(sections);
	if (ftr_gate_may_have_values())
		ftr_state.has_transactions = ftr_arch_has_transactions();
	ftr_state.errno_offset = (uintptr_t)&errno - ftr_arch_thread_pointer();
}

/* Ask with the descriptors of the process, or of a child that has its memory. */
static void session_ask_somehow(struct start *start)
{
	session_open(start);
	if (start->ret == -EMFILE) {
		start->type_flags = FTR_CHANNEL_BY_CHILD;
		ftr_helper_run(session_open, start);
	}
}

static void session_arm(void)
{
	atomic_compare_exchange_strong(&ftr_state.arming, &(uint32_t){ FTR_UNARMED }, FTR_ARMED);
}

int ftr_session_begin(void)
{
	struct start start = {
		.pid = (int32_t)ftr_sys0(SYS_getpid),
		.tid = (int32_t)ftr_sys0(SYS_gettid),
	};

	session_ask_somehow(&start);
	if (start.ret == 0 && ftr_state.control == NULL)
		return -EPROTO;
	if (start.ret == 0 && ftr_state.asks_exec)
		ftr_environ_start_late();
	if (start.ret == 0)
		session_arm();
	return start.ret;
}

/*
 * One that attached to programs that run ends before them: between an exec and the start of what
 * that runs, too.
 */
static bool has_left(int code)
{
	size_t len = strlen(FTR_CHANNEL_LEAVES);

	return (code == -ECONNREFUSED || code == -ENOENT || code == -ECONNRESET ||
		code == -EPIPE) && ftr_state.address_bytes > len &&
	       memcmp(ftr_state.address + ftr_state.address_bytes - len, FTR_CHANNEL_LEAVES,
		      len) == 0;
}

/* No descriptor stays in the program: of a ring that was not used, without memory, say. */
static void first_ring_drop(void)
{
	if (ftr_state.first_ring.id != 0)
		ftr_sys_close_own(ftr_state.first_ring.fd);
	ftr_state.first_ring.id = 0;
}

static void session_launch(char **argv, char **envp)
{
	struct start start = {
		.pid = (int32_t)ftr_sys0(SYS_getpid),
		.tid = (int32_t)ftr_sys0(SYS_gettid),
		.type_flags = FTR_CHANNEL_WITH_TASK,
	};

	ftr_real_start();
	ftr_state.main_stack = (uintptr_t)argv;
	if (!address_find(envp))
		return;		/* not run by ftr: stay out of the way */
	ftr_environ_start(envp);
	ftr_fork_start();
	ftr_module_start();
	session_ask_somehow(&start);
	if (start.ret < 0) {
		if (start.ret != -EACCES && !has_left(start.ret))
			warn("ftr: no reply from the recorder; the program runs untraced (was ftr "
			     "killed?)\n");
		return;
	}
	if (ftr_state.control == NULL) {
		warn("ftr: libmcount.so and ftr are of different versions; the program runs "
		     "untraced; reinstall ftr\n");
		first_ring_drop();
		return;
	}
	if (ftr_state.code_plan.nr != 0)
		ftr_code_plan_send(&ftr_state.code_plan);
	session_arm();
	if ((start.flags & FTR_CHANNEL_ATTACH_NOW) != 0)
		ftr_thread_attach(&ftr_self);
	first_ring_drop();
}

/* Before the constructors of the program and of all libraries: linked with -z initfirst. */
static __attribute__((constructor(101))) void session_start(int argc, char **argv, char **envp)
{
	int before = errno;

	(void)argc;
	session_launch(argv, envp);
	errno = before;			/* 0, as programs may expect */
}

static __attribute__((destructor)) void session_end(void)
{
	ftr_frames_end();
	ftr_gated_flush(&ftr_self);
}
