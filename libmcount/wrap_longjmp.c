/* SPDX-License-Identifier: MIT */
/*
 * longjmp: the calls that it leaves end here.  (Other ways of leaving calls are noticed when the
 * next call begins or ends, see ftr_frames_abandon in hook.c.)
 */
#undef _FORTIFY_SOURCE		/* would rename what is defined here */
#include <dlfcn.h>
#include <setjmp.h>

#include "arch/jmpbuf.h"
#include "libmcount/hook.h"
#include "libmcount/state.h"

#define NORETURN __attribute__((noreturn))

FTR_EXPORT NORETURN void __longjmp_chk(struct __jmp_buf_tag buf[1], int value);

static NORETURN void jump(void *real, const char *name, struct __jmp_buf_tag *buf, int value)
{
	void (*function)(struct __jmp_buf_tag *, int) = real != NULL ? real :
								       dlsym(RTLD_NEXT, name);

	ftr_frames_jumped((const uintptr_t *)ftr_arch_jmpbuf_sp(buf));
	function(buf, value);
	__builtin_unreachable();
}

FTR_EXPORT NORETURN void longjmp(struct __jmp_buf_tag buf[1], int value)
{
	jump(ftr_state.real.longjmp, "longjmp", buf, value);
}

FTR_EXPORT NORETURN void _longjmp(struct __jmp_buf_tag buf[1], int value)
{
	jump(ftr_state.real.longjmp, "_longjmp", buf, value);
}

FTR_EXPORT NORETURN void siglongjmp(struct __jmp_buf_tag buf[1], int value)
{
	jump(ftr_state.real.longjmp, "siglongjmp", buf, value);
}

/* With _FORTIFY_SOURCE; refuses to jump down the stack, so it is not the same function. */
void __longjmp_chk(struct __jmp_buf_tag buf[1], int value)
{
	jump(ftr_state.real.longjmp_chk, "__longjmp_chk", buf, value);
}
