/* SPDX-License-Identifier: MIT */
/*
 * Attaching to a program that runs, and leaving it (doc/adr/0085): what the recorder's helper has
 * the runtime do.  The helper loads libmcount.so, and calls its FTR_ATTACH_FUNCTION in a thread of
 * the program with the address of a struct ftr_attach that it has written.
 */
#ifndef FTR_PROTO_ATTACH_H
#define FTR_PROTO_ATTACH_H

#include <assert.h>
#include <stdint.h>

#define FTR_ATTACH_FUNCTION "ftr_attach_step"
#define FTR_ATTACH_ADDRESS_MAX 108	/* of the channel, with a NUL */

enum ftr_attach_step {
	/* Ask the recorder at @address how to trace; hook what can be hooked while threads run. */
	/* ... and plan what is to be written over code, which only reads. */
	FTR_ATTACH_START = 1,
	/*
	 * Nothing leads to the runtime any more; calls that are open return through it.  -EBUSY: a
	 * thread is at a library that it has loaded, and hooks it, or prepares an exec.
	 */
	FTR_ATTACH_UNHOOK,
	/*
	 * All other threads are stopped, none of them in the runtime: list what is to be written
	 * for them to forget it.  Only reads.
	 */
	FTR_ATTACH_LIST,
	/* What was listed has been written: release what the recording had mapped. */
	FTR_ATTACH_FREE,
};

/* How much of it there is, whether a recorder is alive or not. */
enum ftr_attach_state {
	FTR_ATTACH_IDLE = 0,
	FTR_ATTACH_LAUNCHED,		/* preloaded by ftr: there to stay */
	FTR_ATTACH_ATTACHED,
	FTR_ATTACH_UNHOOKED,
	FTR_ATTACH_RECORDED,		/* what START finds of a recorder that is alive */
};

/*
 * @bytes are copied to @addr: @value if there are 8, else what is at @addr of ftr_attach.image.
 * Several may be listed for one place: that of the lowest age counts, of those the last one.
 */
struct ftr_attach_write {
	uint64_t addr;
	uint64_t value;
	uint32_t bytes;
	uint32_t order;			/* in which they were listed */
	uint64_t age;			/* of the call that returns there, in units of its own */
};

/*
 * A write over code that threads may be running in: the helper makes it while all are stopped, none
 * of them in the midst of it, and takes it back when it leaves.
 */
#define FTR_ATTACH_CODE_MAX 20u		/* bytes: of rooms that a call fits into */

struct ftr_attach_code {
	uint64_t addr;
	uint32_t needs;			/* another write that this leads to; UINT32_MAX = none */
	uint8_t	 bytes;
	uint8_t	 is_gone;		/* its library was unloaded: there is nothing to write */
	uint8_t	 is_later;		/* not to be written yet */
	uint8_t	 is_fixed;		/* of no function: it is not for anybody to choose */
	uint8_t	 old[FTR_ATTACH_CODE_MAX], new[FTR_ATTACH_CODE_MAX];
};
static_assert(sizeof(struct ftr_attach_code) == 56, "wire layout");

struct ftr_attach {
	uint32_t step;			/* enum ftr_attach_step */
	int32_t  result;		/* 0 or -errno; -EALREADY: a thread is in a step */
	uint32_t state;			/* out: enum ftr_attach_state when it was called */
	uint32_t hooked_nr;		/* out: slots of global offset tables */
	uint64_t code, code_nr;		/* out: of struct ftr_attach_code */
	uint64_t writes, write_nr;	/* out, of LIST: of struct ftr_attach_write */
	uint64_t image;			/* out, of LIST: what others than words are made of */
	char	 address[FTR_ATTACH_ADDRESS_MAX];
};

#endif /* FTR_PROTO_ATTACH_H */
