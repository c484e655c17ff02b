/* SPDX-License-Identifier: MIT */
/*
 * The body of FTR_SECTION_LIBCALLS: which slots of a module's global offset table (GOT) lead to
 * other modules.  The recorder reads them from the ELF file.
 *
 *	[ struct ftr_plt_table ][ struct ftr_plt_slot, slot_nr times ][ strings, NUL-terminated ]
 *
 * Names are only needed to ask the dynamic linker for what it has not bound yet.
 */
#ifndef FTR_PROTO_PLT_H
#define FTR_PROTO_PLT_H

#include <assert.h>
#include <stdint.h>

enum ftr_plt_flag {
	/* setjmp, dlsym ...: its return address must stay; record it as a point in time */
	FTR_PLT_RETURN_UNTOUCHED = 1 << 0,
	/* dlsym: what was loaded since the last look is about to be called */
	FTR_PLT_LOOK_FIRST = 1 << 1,
	/* __cxa_atexit: gprof's startup code calls it after __monstartup, not the program */
	FTR_PLT_AFTER_MONSTARTUP = 1 << 2,
	/* vfork ...: its return address must stay, and the runtime's wrapper sees it return */
	FTR_PLT_WRAPPED = 1 << 3,
	/* with RETURN_UNTOUCHED: a longjmp may return there again */
	FTR_PLT_SETJMP = 1 << 4,
	/* a call like others, but its wrapper wants to know whether it is recorded */
	FTR_PLT_LONGJMP = 1 << 5,
	/* swapcontext ...: behind it the thread may be on another stack */
	FTR_PLT_SWITCH = 1 << 6,
	/* __cxa_begin_catch ...: called where an exception has landed (32-bit x86) */
	FTR_PLT_LANDED = 1 << 7,
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
	uint32_t slot_nr;
	uint32_t strings_offset;	/* from the start of the section, whose last byte is NUL */
};
static_assert(sizeof(struct ftr_plt_table) == 8, "slots stay aligned");

#endif /* FTR_PROTO_PLT_H */
