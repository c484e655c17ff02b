/* SPDX-License-Identifier: MIT */
/*
 * prctl and seccomp, called by these names or by number, and exec by number.  Strict seccomp and
 * PR_SET_TSC take the processor's tick counter away from the thread that asks for them; reading it
 * would end the program.  A filter may forbid what the runtime needs for new threads, children and
 * images: those then run untraced.
 *
 * (A system call instruction of the program's own goes unnoticed.)
 */
#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "libmcount/channel.h"
#include "libmcount/clock.h"
#include "libmcount/environ.h"
#include "libmcount/exec.h"
#include "libmcount/hook.h"
#include "libmcount/probe_name.h"
#include "libmcount/seccomp.h"

long ftr_syscall_noticed(long nr, unsigned long a, unsigned long b, unsigned long c,
			 unsigned long d, unsigned long e) FTR_HIDDEN;
long ftr_syscall_failed(long ret) FTR_HIDDEN;

long ftr_syscall_failed(long ret)
{
	errno = (int)-ret;
	return -1;
}

/* The filter may stand anywhere, or nowhere: the kernel looks without harm. */
static bool peek(void *to, const void *from, unsigned long bytes)
{
	struct iovec local = { to, bytes }, remote = { (void *)from, bytes };

	return ftr_sys6(SYS_process_vm_readv, ftr_sys0(SYS_getpid), &local, 1, &remote, 1, 0) ==
	       (long)bytes;
}

/* FTR_SECCOMP_BIT() of purposes; what cannot be looked at is taken to forbid everything. */
static uint32_t filter_blocks(const struct sock_fprog *user)
{
	uint32_t blocked = UINT32_MAX;
	struct sock_fprog prog;
	struct sock_filter *copy;
	long mem;

	if (!peek(&prog, user, sizeof(prog)) || prog.len > FTR_SECCOMP_FILTER_MAX)
		return blocked;
	mem = ftr_sys_map(0, FTR_SECCOMP_FILTER_MAX * sizeof(*copy), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ftr_sys_map_failed(mem))
		return blocked;
	copy = (struct sock_filter *)mem;
	if (peek(copy, prog.filter, prog.len * sizeof(*copy)))
		blocked = ftr_seccomp_blocked(copy, prog.len);
	ftr_sys2(SYS_munmap, mem, FTR_SECCOMP_FILTER_MAX * sizeof(*copy));
	return blocked;
}

static void filter_installed(uint32_t blocked)
{
	/* Of a vforked child's parent, too: that names what it need not, and asks. */
	atomic_fetch_or(&ftr_state.blocked, blocked & FTR_SECCOMP_SPARED);
	blocked &= FTR_SECCOMP_TOLD;
	if (blocked == 0)
		return;
	if ((blocked & ~FTR_SECCOMP_SPARED) != 0 && ftr_thread_is_vforked(&ftr_self))
		ftr_self.is_silent = true;	/* not its parent */
	else
		atomic_fetch_or(&ftr_state.blocked, blocked);
	ftr_environ_block(blocked);
	if (ftr_is_silent() && ftr_self.producer == NULL)
		ftr_thread_disarm(&ftr_self);
}

static long strict(long nr, unsigned long a, unsigned long b, unsigned long c)
{
	long ret;

	ftr_clock_stop_ticks();
	if (ftr_self.producer == NULL)
		ftr_thread_disarm(&ftr_self);	/* its first call would have to ask the recorder */
	ftr_self.is_silent = true;
	ret = ftr_sys3(nr, a, b, c);
	if (ret < 0)
		ftr_self.is_silent = false;
	return ret;
}

static long filter(long nr, unsigned long a, unsigned long b, unsigned long c)
{
	uint32_t blocked = 0;
	long ret;

	if (c != 0 && !ftr_is_silent())
		blocked = filter_blocks((const struct sock_fprog *)c);
	if ((blocked & FTR_SECCOMP_BIT(FTR_SECCOMP_TRACING)) != 0)
		ftr_channel_warn("installed a seccomp filter that blocks tracing; its new threads, "
				 "children and images run untraced");
	ret = ftr_sys3(nr, a, b, c);
	if (ret == 0) {
		atomic_store(&ftr_state.is_filtered, true);
		filter_installed(blocked);
	}
	return ret;
}

static long prctl_pass(unsigned long option, const unsigned long args[4])
{
	long ret;

	if (option == PR_SET_SECCOMP && args[0] == SECCOMP_MODE_STRICT)
		return strict(SYS_prctl, option, args[0], args[1]);
	if (option == PR_SET_SECCOMP && args[0] == SECCOMP_MODE_FILTER)
		return filter(SYS_prctl, option, args[0], args[1]);
	if (option == PR_SET_TSC && args[0] == PR_TSC_SIGSEGV)
		ftr_clock_stop_ticks();
	ret = ftr_sys5(SYS_prctl, option, args[0], args[1], args[2], args[3]);
	if (option == PR_SET_NAME && ret == 0)
		ftr_name_report(0);
	return ret;
}

long ftr_syscall_noticed(long nr, unsigned long a, unsigned long b, unsigned long c,
			 unsigned long d, unsigned long e)
{
	long ret;

	if (nr == SYS_execve)
		return ftr_exec((const char *)a, (ftr_strings)b, (ftr_strings)c);
	if (nr == SYS_execveat)
		return ftr_exec_at((int)a, (const char *)b, (ftr_strings)c, (ftr_strings)d, (int)e);
	if (nr == SYS_prctl)
		ret = prctl_pass(a, (const unsigned long[]){ b, c, d, e });
	else if (a == SECCOMP_SET_MODE_STRICT)
		ret = strict(nr, a, b, c);
	else if (a == SECCOMP_SET_MODE_FILTER)
		ret = filter(nr, a, b, c);
	else
		ret = ftr_sys3(nr, a, b, c);
	return ret >= 0 ? ret : ftr_syscall_failed(ret);
}

FTR_EXPORT int prctl(int option, ...)
{
	unsigned long args[4];
	va_list ap;
	long ret;
	int i;

	va_start(ap, option);
	for (i = 0; i < 4; i++)
		args[i] = va_arg(ap, unsigned long);
	va_end(ap);
	ret = prctl_pass((unsigned long)option, args);
	return (int)(ret >= 0 ? ret : ftr_syscall_failed(ret));
}
