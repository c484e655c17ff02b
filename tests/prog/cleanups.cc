/* SPDX-License-Identifier: MIT */
/*
 * What an exception has destructors do on its way stands beside the library calls that it left, not
 * inside; big and small destructors, one that throws and catches itself.  Not with clang, which does not
 * tell that a function was left by an exception.
 *
 * record: --no-event
 * only: cyg-O0 cyg-O2
 * expect-replay:
 * main() {
 *   outer() {
 *     middle() {
 *       inner() {
 *         __cxa_allocate_exception();
 *         __cxa_throw();
 *         small::~small();
 *       }
 *       _Unwind_Resume();
 *       throwing::~throwing() {
 *         __cxa_allocate_exception();
 *         __cxa_throw();
 *         small::~small();
 *         __cxa_begin_catch();
 *         __cxa_end_catch();
 *         after();
 *       }
 *       big::~big() {
 *         after();
 *       }
 *     }
 *     _Unwind_Resume();
 *     small::~small();
 *   }
 *   _Unwind_Resume();
 *   __cxa_begin_catch();
 *   after();
 *   __cxa_end_catch();
 *   after();
 * }
 */
#define NOINLINE __attribute__((noinline))

static volatile int sink;

NOINLINE void after(void)
{
	sink = sink + 1;
}

struct small {
	NOINLINE ~small() { sink = sink + 1; }
};

struct big {
	NOINLINE ~big()
	{
		volatile char room[2000];

		room[0] = 1;
		sink = sink + room[0];
		after();
	}
};

struct throwing {
	NOINLINE ~throwing()
	{
		try {
			small s;

			throw 2;
		} catch (int) {
			sink = sink + 1;
		}
		after();
	}
};

NOINLINE void inner(int n)
{
	small s;

	if (n > 0)
		throw n;
	sink = sink + 1;
}

NOINLINE void middle(int n)
{
	big b;
	throwing t;

	inner(n);
	sink = sink + 1;
}

NOINLINE void outer(int n)
{
	small s;

	middle(n);
	sink = sink + 1;
}

int main(void)
{
	try {
		outer(1);
	} catch (int) {
		after();
	}
	after();
	return 0;
}
