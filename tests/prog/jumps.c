/* SPDX-License-Identifier: MIT */
/*
 * longjmp and siglongjmp as recorded library calls: from deeper calls, from where setjmp was
 * called, out of nested ones, out of handlers on the program's and on an alternate stack.
 *
 * record: --no-event
 * again: --no-libcall
 * again: --nest-libcall
 * expect-calls: after 6
 * expect-replay:
 * main() {
 *   up() {
 *     _setjmp();
 *     deep() {
 *       deeper() {
 *         longjmp();
 *       }
 *     }
 *     deep() {
 *       deeper() {
 *         longjmp();
 *       }
 *     }
 *     after() {
 *       getppid();
 *     }
 *   }
 *   across() {
 *     _setjmp();
 *     longjmp();
 *     longjmp();
 *     after() {
 *       getppid();
 *     }
 *   }
 *   nested() {
 *     _setjmp();
 *     inner() {
 *       _setjmp();
 *       deep() {
 *         deeper() {
 *           longjmp();
 *         }
 *       }
 *       longjmp();
 *     }
 *     after() {
 *       getppid();
 *     }
 *   }
 *   sigaction();
 *   out_of_handler() {
 *     __sigsetjmp();
 *     getpid();
 *     kill() {
 *       on_signal() {
 *         siglongjmp();
 *       }
 *     }
 *     after() {
 *       getppid();
 *     }
 *   }
 *   sigaltstack();
 *   sigaction();
 *   out_of_handler() {
 *     __sigsetjmp();
 *     getpid();
 *     kill() {
 *       on_signal() {
 *         siglongjmp();
 *       }
 *     }
 *     after() {
 *       getppid();
 *     }
 *   }
 *   after() {
 *     getppid();
 *   }
 * }
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static jmp_buf target, outer_target;
static sigjmp_buf signal_target;

NOINLINE void after(void)
{
	getppid();
	__asm__ volatile("");
}

NOINLINE void deeper(void)
{
	longjmp(target, 1);
}

NOINLINE void deep(void)
{
	deeper();
	__asm__ volatile("");
}

NOINLINE void up(void)
{
	volatile int jumps = 0;

	if (setjmp(target) == 0 || ++jumps < 2)
		deep();
	after();
}

NOINLINE void across(void)
{
	volatile int jumps = 0;

	if (setjmp(target) == 0 || ++jumps < 2)
		longjmp(target, 1);
	after();
}

NOINLINE void inner(void)
{
	if (setjmp(target) == 0)
		deep();
	longjmp(outer_target, 1);
}

NOINLINE void nested(void)
{
	if (setjmp(outer_target) == 0)
		inner();
	after();
	__asm__ volatile("");
}

NOINLINE void on_signal(int sig)
{
	siglongjmp(signal_target, sig);
}

NOINLINE void out_of_handler(void)
{
	if (sigsetjmp(signal_target, 1) == 0)
		kill(getpid(), SIGUSR1);
	after();
	__asm__ volatile("");
}

int main(void)
{
	static char stack[1 << 16];
	static const stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	static struct sigaction action = { .sa_handler = on_signal };

	up();
	across();
	nested();
	sigaction(SIGUSR1, &action, NULL);
	out_of_handler();
	sigaltstack(&alternate, NULL);
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, NULL);
	out_of_handler();
	after();
	return 0;
}
