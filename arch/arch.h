/* SPDX-License-Identifier: MIT */
/*
 * An architecture, for the recorder and for analysis: one const struct each, listed in arches.def.
 * All of them are built on every host, so that traces and programs of another machine can be read.
 * What the runtime needs of the host (system calls, trampolines) is in arch/ISA/rt.h and beside it;
 * configure links those headers to arch/rt.h and likewise.
 */
#ifndef FTR_ARCH_ARCH_H
#define FTR_ARCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ftr_abi;
struct ftr_callconv;

/* An instruction with the address of a GOT entry in it. */
struct ftr_got_use {
	size_t   at;		/* of the instruction in the code, without its prefixes */
	size_t   bytes;		/* up to its end, without a constant behind the operand */
	uint64_t entry;		/* address of the entry */
	bool     is_jump;	/* jumps to where the entry leads */
	bool     is_call;
	bool     is_slot;	/* all of a PLT slot: at is its start */
};

/* Machine code as it lies in a section. */
struct ftr_code {
	const uint8_t *bytes;
	size_t size;
	uint64_t addr;		/* of bytes[0] */
	uint64_t got;		/* what a register holds that entries are found by; 0: not known */
	bool is_plt;		/* nothing but slots is in it */
};

typedef void ftr_got_use_fn(void *arg, const struct ftr_code *code, const struct ftr_got_use *use);

/*
 * Room for a call at a function's entry, as compilers leave it (arch/ISA/patch.h has the code).
 * @code is @size bytes of a section, from the place in question on.
 */
struct ftr_arch_patch {
	uint32_t reloc_relative;	/* of a word that the load address is added to */
	/* Bytes of one instruction: a no-operation, what an indirect jump may land on; 0 = none. */
	unsigned (*nop_bytes)(const uint8_t *code, uint32_t size);
	unsigned (*landing_bytes)(const uint8_t *code, uint32_t size);
	/* Bytes of the no-operations that a call takes the place of; 0 = it has no room. */
	unsigned (*room)(const uint8_t *code, uint32_t size);
	/* Is this what may come before the room at a function's start, not a prologue? */
	bool (*is_entry)(const uint8_t *code, uint32_t size);
};

/* Bytes of code that may lead to @to: a branch, or an address that is taken. */
enum ftr_lead_kind { FTR_LEAD_CALL, FTR_LEAD_JUMP, FTR_LEAD_BRANCH, FTR_LEAD_ADDRESS };

struct ftr_lead {
	size_t at;		/* of its operation in the code, behind prefixes */
	uint64_t to;
	uint8_t kind;		/* enum ftr_lead_kind; BRANCH is conditional */
	bool is_short;		/* of one byte's distance: many bytes look like that by chance */
};

typedef void ftr_lead_fn(void *arg, const struct ftr_code *code, const struct ftr_lead *lead);

/*
 * How functions without any room for a call are entered (arch/ISA/plain.h has the code): their
 * first instructions run elsewhere, behind a head that calls the hook.
 */
struct ftr_arch_plain {
	unsigned insn_align;		/* no instruction begins elsewhere */
	unsigned jump_bytes;		/* what takes the place of instructions */
	unsigned step_bytes;		/* the same, to a jump that is near; 0 = not needed */
	unsigned step_back, step_ahead;	/* how far such a jump may be, from its end */
	unsigned head_bytes, head_align;
	unsigned head_start;		/* where it is jumped to; before: where the function is */
	unsigned head_hook;		/* the field with the distance to the hook */
	uint8_t head[20];
	uint8_t trap;			/* each byte of what ends whoever runs it */
	/*
	 * The instruction that undoes what a landing does to the return address, which takes the
	 * place at head_undo of the head; the landing is then done again behind the head.  0: it
	 * does nothing (nullable: none does).
	 */
	uint32_t (*landing_undo)(const uint8_t *landing, uint32_t size);
	unsigned head_undo;
	/*
	 * Tell each place that may lead to low..high, by bytes: none is missed, and what looks like
	 * one by chance is told, too.
	 */
	void (*leads)(const struct ftr_code *code, uint64_t low, uint64_t high, ftr_lead_fn *each,
		      void *arg);
};

/*
 * Read an operand as the assembler writes it.  Where it names a symbol, *symbol becomes its name,
 * whose address is to be added to the value.  False: it is none that is understood.
 */
struct ftr_sdt_arg;
struct ftr_slice;
typedef bool ftr_arch_operand_fn(struct ftr_slice text, struct ftr_sdt_arg *arg,
				 struct ftr_slice *symbol);

/* How a call leaves the stack, by the numbers that registers have in DWARF. */
struct ftr_arch_entry {
	uint8_t cfa_register, cfa_offset;
	uint8_t return_register;	/* column of the return address; 0 = not known */
	bool return_is_saved;		/* right below the CFA; else it is in that register */
};

struct ftr_arch {
	const char *name;	/* of its folder: "x86_64" */
	const char *title;	/* in messages: "64-bit x86" */
	bool has_runtime;	/* programs of it can be recorded; else its traces are read */
	bool can_attach;	/* ... also those that run already */
	/*
	 * Programs of that one run on this one, too (nullable), and find a runtime of their own, if
	 * it was built, in its runtime_dir beside this one's.
	 */
	const struct ftr_arch *beside;
	const char *runtime_dir;
	uint16_t elf_machine;	/* EM_* */
	uint8_t  elf_class, elf_data;

	/* Calls to the kernel (nullable: not observed), up to the one without a name. */
	const struct ftr_abi *abis;

	struct ftr_arch_entry entry;

	/*
	 * Is the counter of ftr_arch_ticks the same on all processors at each moment, as far as the
	 * kernel tells of the machine that this runs on?  (nullable: there is no recorder)
	 */
	bool (*ticks_agree)(void);

	/* Relocations of a GOT entry with a function in it; 0: library calls are not found. */
	uint32_t reloc_lazy, reloc_bound;
	/*
	 * Find the next instruction from *pos on that uses an address in low..high, and move *pos
	 * past its start.  By bytes, not by decoding: what looks like one by chance hardly ever
	 * has the address of an entry in it.  False at the end.
	 */
	bool (*next_got_use)(const struct ftr_code *code, uint64_t low, uint64_t high, size_t *pos,
			     struct ftr_got_use *use);
	/*
	 * Tell what code outside of a PLT does with entries in low..high, where that takes several
	 * instructions (nullable: next_got_use finds all).  Calls, jumps, and whatever else may
	 * read an entry or its address, more than once perhaps.  0 or -ENOMEM.
	 */
	int (*got_uses)(const struct ftr_code *code, uint64_t low, uint64_t high,
			ftr_got_use_fn *each, void *arg);

	/* Where arguments and return values are (nullable: not known). */
	const struct ftr_callconv *callconv;

	bool keeps_pg_arguments;	/* are they where they were when -pg's hook is called? */

	const struct ftr_arch_patch *patch;	/* (nullable: entries are not patched) */
	const struct ftr_arch_plain *plain;	/* (nullable: nor are those without room) */
	ftr_arch_operand_fn *operand;		/* of utils/proto/sdt.h (nullable: no events) */
};

/* The machine that ftr was built for. */
extern const struct ftr_arch *const ftr_arch_host;

/* Iterate over arches.def: *pos starts at 0; NULL at the end. */
const struct ftr_arch *ftr_arch_next(size_t *pos);
/* By EM_* and ELFCLASS*; NULL: none is listed. */
const struct ftr_arch *ftr_arch_find(unsigned elf_machine, unsigned elf_class);

#endif /* FTR_ARCH_ARCH_H */
