/* SPDX-License-Identifier: MIT */
/* A breakpoint of a program's own.  Its handler goes on behind it. */
#define BREAKPOINT "int3"
#define STEP_OVER(context) ((void)(context))
