/* SPDX-License-Identifier: MIT */
/*
 * The body of FTR_SECTION_PLAIN: functions of a module that was compiled without any room for a
 * call.  Their first instructions are moved into a block of code that the runtime maps near the
 * module; a jump takes their place.  The recorder has decoded and moved them; the runtime adds
 * addresses.  That of FTR_SECTION_SDT is the same for what stands in the midst of functions
 * (utils/proto/sdt.h).
 *
 *	[ struct ftr_plain_table ]
 *	[ struct ftr_plain_write, write_nr times: jump_nr jumps, then steps; by offset ]
 *	[ uint32_t, fix_nr times: enum ftr_plain_fix, and above it where in code ]
 *	[ code, code_bytes of it ]
 */
#ifndef FTR_PROTO_PLAIN_H
#define FTR_PROTO_PLAIN_H

#include <assert.h>
#include <stdint.h>

enum ftr_plain_kind {
	FTR_PLAIN_JUMP = 1,		/* to code + target */
	FTR_PLAIN_STEP = 2,		/* a short jump of @step bytes, to another write's jump */
};

/*
 * In kind: of a function that is not patched now, but may be later (FTR_PATCH_MAY_CHANGE).  A step
 * and the jump that it leads to have it both, or neither.
 */
#define FTR_PLAIN_LATER 0x80
#define FTR_PLAIN_KIND_MASK 0x7f

#define FTR_PLAIN_BYTES_MAX 5		/* of a jump */
#define FTR_PLAIN_STEP_BYTES 2

/* What is written over the program's code. */
struct ftr_plain_write {
	uint32_t offset;		/* from base */
	uint32_t target;		/* in code; of FTR_PLAIN_JUMP */
	uint8_t	 kind;			/* enum ftr_plain_kind */
	uint8_t	 bytes;
	int8_t	 step;			/* of FTR_PLAIN_STEP, from its end */
	uint8_t	 original[FTR_PLAIN_BYTES_MAX];	/* what the file has there */
};
static_assert(sizeof(struct ftr_plain_write) == 16, "wire layout");

/*
 * Fields of the code, of four bytes.  They hold what they must if the code and base were at 0, but
 * for FTR_PLAIN_HOOK.
 */
enum ftr_plain_fix {
	FTR_PLAIN_RELATIVE = 0,		/* distance to a place in the module */
	FTR_PLAIN_HOOK = 1,		/* distance to the hook */
	FTR_PLAIN_LOW = 2,		/* lower half of an address in the module */
	FTR_PLAIN_HIGH = 3,		/* upper half; the field holds the lower one, too */
	FTR_PLAIN_BRANCH = 4,		/* a branch of 64-bit Arm to a place in the module */
};
#define FTR_PLAIN_FIX_BITS 3
#define FTR_PLAIN_FIX_MASK 7u
#define FTR_PLAIN_CODE_MAX 0x20000000u

struct ftr_plain_table {
	uint64_t base;			/* relative to the module's load address */
	uint32_t reach;			/* all that it has is below base + this */
	uint32_t write_nr;
	uint32_t fix_nr;
	uint32_t code_bytes;
	uint32_t flags;			/* FTR_PATCH_* flags of patch.h */
	uint32_t jump_nr;		/* functions, or sites: each has one */
};
static_assert(sizeof(struct ftr_plain_table) == 32, "writes stay aligned");

#endif /* FTR_PROTO_PLAIN_H */
