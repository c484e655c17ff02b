/* SPDX-License-Identifier: MIT */
/*
 * An architecture, for the recorder and for analysis: one const struct each, listed in arches.def.
 * All of them are built on every host, so that traces and programs of another machine can be read.
 * What the runtime needs of the host (system calls, trampolines) is in arch/ISA/rt.h and beside it;
 * configure links those headers to arch/rt.h, arch/prologue.h, arch/regs.h, arch/values.h and
 * arch/jmpbuf.h.
 */
#ifndef FTR_ARCH_ARCH_H
#define FTR_ARCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ftr_abi;

/* An instruction with the address of a GOT entry in it. */
struct ftr_got_use {
	size_t   at;		/* of the instruction in the code, without its prefixes */
	size_t   bytes;		/* up to its end, without a constant behind the operand */
	uint64_t entry;		/* address of the entry */
	bool     is_jump;	/* jumps to where the entry leads */
	bool     is_call;
};

/* Machine code as it lies in a section. */
struct ftr_code {
	const uint8_t *bytes;
	size_t size;
	uint64_t addr;		/* of bytes[0] */
};

struct ftr_arch {
	const char *name;	/* of its folder: "x86_64" */
	const char *title;	/* in messages: "64-bit x86" */
	uint16_t elf_machine;	/* EM_* */
	uint8_t  elf_class, elf_data;

	/* Calls to the kernel (nullable: not observed), up to the one without a name. */
	const struct ftr_abi *abis;

	/* Relocations of a GOT entry with a function in it; 0: library calls are not found. */
	uint32_t reloc_lazy, reloc_bound;
	/*
	 * Find the next instruction from *pos on that uses an address in low..high, and move *pos
	 * past its start.  By bytes, not by decoding: what looks like one by chance hardly ever
	 * has the address of an entry in it.  False at the end.
	 */
	bool (*next_got_use)(const struct ftr_code *code, uint64_t low, uint64_t high, size_t *pos,
			     struct ftr_got_use *use);
};

/* The machine that ftr was built for. */
extern const struct ftr_arch *const ftr_arch_host;

/* Iterate over arches.def: *pos starts at 0; NULL at the end. */
const struct ftr_arch *ftr_arch_next(size_t *pos);
/* By EM_* and ELFCLASS*; NULL: none is listed. */
const struct ftr_arch *ftr_arch_find(unsigned elf_machine, unsigned elf_class);

#endif /* FTR_ARCH_ARCH_H */
