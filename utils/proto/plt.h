/* SPDX-License-Identifier: MIT */
/*
 * The library-call table of a module: which slots of its global offset table (GOT) lead to other
 * modules.  The recorder reads them from the ELF file and hands them over in a memfd with the reply
 * to SESSION or LIBCALLS.
 *
 *	[ struct ftr_plt_table ][ struct ftr_plt_slot, slot_nr times ][ strings, NUL-terminated ]
 *
 * Names are only needed to ask the dynamic linker for what it has not bound yet.
 */
#ifndef FTR_PROTO_PLT_H
#define FTR_PROTO_PLT_H

#include <assert.h>
#include <stdint.h>

#define FTR_PLT_MAGIC 0x51525446u	/* "FTRQ" */

enum ftr_plt_flag {
	/*
	 * setjmp, vfork, dlsym ...: its return address is looked at; record it as a point in time
	 */
	FTR_PLT_RETURN_UNTOUCHED = 1 << 0,
	/* dlsym: what was loaded since the last look is about to be called */
	FTR_PLT_LOOK_FIRST = 1 << 1,
	/* __cxa_atexit: what gprof's startup code calls after __monstartup is not the program's
	   doing */
	FTR_PLT_AFTER_MONSTARTUP = 1 << 2,
};

struct ftr_plt_slot {
	uint64_t got;		/* of the GOT entry, relative to the module's load address */
	uint64_t plt;		/* of the PLT entry, likewise: the address recorded */
	uint64_t unbound; /* what the entry holds before it is bound, likewise; 0 = always bound */
	uint32_t name;		/* offset in strings */
	uint32_t version;	/* "" = none */
	uint32_t flags;		/* FTR_PLT_* flags */
	uint32_t reserved;
};
static_assert(sizeof(struct ftr_plt_slot) == 40, "wire layout");

struct ftr_plt_table {
	uint32_t magic;
	uint32_t slot_nr;
	uint32_t strings_offset;	/* from the start of the table */
	uint32_t total_bytes;
};

#endif /* FTR_PROTO_PLT_H */
