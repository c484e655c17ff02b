/* SPDX-License-Identifier: MIT */
/*
 * Arguments and return values of calls: what the programs of FTR_SECTION_VALUES
 * (utils/proto/values.h) say is copied.  The gate asks once for each function which programs its
 * calls have, keeps the answer, and has them run at the entry and the exit of calls that are
 * recorded; what they make becomes the payload of the record.
 *
 * All of it runs inside the hook: no libc, no lock, no vector register written.  Pointers are not
 * believed: memory that is not known to be there is read in a transaction (doc/adr/0037), else
 * copied by the kernel, and not at all where that may not be asked (doc/adr/0029).
 */
#ifndef FTR_LIBMCOUNT_VALUES_H
#define FTR_LIBMCOUNT_VALUES_H

#include <stdint.h>

struct ftr_regs;
struct ftr_value_op;
struct ftr_values;

/* Where the values of a call are. */
struct ftr_call {
	const struct ftr_regs *regs;	/* arch/regs.h; NULL: there are none (cygprof) */
	const uintptr_t *slot;		/* of the return address: the stack's arguments lie above */
	uintptr_t func;			/* the address recorded */
	uintptr_t result;		/* at an exit: FTR_VALUE_RESULT */
};

/* What is needed of programs most of the time. */
struct ftr_values_quick {
	uint64_t entry, exit;		/* values_brief.h; 0 = they are not */
	uintptr_t literals, literal_bytes;	/* where most constants of the module are */
};

/* Inside the published sections of its module, which stay mapped.  NULL = nothing is wanted. */
struct ftr_values_programs {
	const struct ftr_value_op *entry, *exit;
	const struct ftr_values *values; /* the table that they are from */
	uintptr_t base;			/* of the module */
	const struct ftr_values *image;	/* (nullable) of the program's image: its constants */
	struct ftr_values_quick quick;
	uint32_t test;			/* index of the condition's first, 0 = none */
	uint16_t dump, dump_nr;		/* ... of what a dump depends on; how many there are */
};

/* Those of the function recorded as @func, by the sections of its module as they are now. */
struct ftr_values_programs ftr_values_find(uintptr_t func) __attribute__((visibility("hidden")));

/*
 * Run @program, one of @programs, for @call.  @to has room for FTR_PAYLOAD_MAX bytes; returns how
 * many there are now, a multiple of 8.  0: the record gets no payload.  At an entry the registers
 * are those of the caller, at an exit those that hold the value; vector registers are live in both.
 */
uint32_t ftr_values_run(const struct ftr_value_op *program,
			const struct ftr_values_programs *programs, const struct ftr_call *call,
			uint8_t *to) __attribute__((visibility("hidden")));

/*
 * The text at @pointer, which is not believed either: up to @room characters of it to @to, where
 * one more fits, and how many there are.  Asked below the call whose return address is in *@slot.
 */
struct ftr_thread;
uint32_t ftr_values_text(const struct ftr_thread *self, uint8_t *to, const uintptr_t *slot,
			 uintptr_t pointer, uint32_t room) __attribute__((visibility("hidden")));
/* As many of the @bytes at @pointer as there are. */
uint32_t ftr_values_copy(const struct ftr_thread *self, uint8_t *to, const uintptr_t *slot,
			 uintptr_t pointer, uint32_t bytes) __attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_VALUES_H */
