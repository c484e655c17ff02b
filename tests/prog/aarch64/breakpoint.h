/* SPDX-License-Identifier: MIT */
/* A breakpoint of a program's own.  Its handler goes on at the breakpoint, not behind it. */
#define BREAKPOINT "brk #0"
#define STEP_OVER(context) (((ucontext_t *)(context))->uc_mcontext.pc += 4)
