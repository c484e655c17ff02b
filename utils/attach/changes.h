/* SPDX-License-Identifier: MIT */
/*
 * Changes of code that a program's runtime has listed, as they are here: which are still to be
 * made, and what became of the others.
 */
#ifndef FTR_ATTACH_CHANGES_H
#define FTR_ATTACH_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/attach/attach.h"
#include "utils/attach/code.h"
#include "utils/attach/runtime.h"
#include "utils/base/bits.h"
#include "utils/base/vec.h"

#define FTR_CHANGES_CHUNK_BYTES 65536u
#define FTR_CHANGES_MAX FTR_MIB(16)
#define FTR_CHANGES_PAGE 4096u
#define FTR_CHANGE_NONE UINT32_MAX

enum ftr_change_state {
	FTR_CHANGE_PENDING,
	FTR_CHANGE_MADE,
	FTR_CHANGE_GONE,		/* with its library, since they were listed */
	FTR_CHANGE_CROSSING,		/* lies on two pages: we might be killed between them */
	FTR_CHANGE_CHANGED,
	FTR_CHANGE_FAILED,
	FTR_CHANGE_UNCHOSEN,
};

struct ftr_change {
	const struct ftr_attach_code *code;
	enum ftr_change_state state;
	bool is_in_use;		/* in this round */
	bool is_target;		/* of another one's jump: it is no function's beginning */
	bool is_needed;		/* by one that is still there */
	uint32_t needs;		/* as an index of ours; FTR_CHANGE_NONE */
};

struct ftr_changes {
	struct ftr_attach_code *codes;
	uint64_t codes_at;	/* in the program */
	uint32_t code_nr;
	struct ftr_change *v;	/* by address: those whose library is there */
	uint32_t nr;
	uint32_t *due;		/* indices, of one pass */
	uint32_t due_nr;
	bool *near;		/* HASHES: a change may be near addresses of that hash */
	int memory_fd;
	bool is_back;
	FTR_VEC(pid_t) doubted;	/* threads with words that kept changes from being made */
	bool is_unwound;	/* what one of them has not shown counted */
	uint8_t chunk[FTR_CHANGES_CHUNK_BYTES];
};

/*
 * Read them.  All that takes time or memory is done here, before threads are stopped.  NULL: there
 * is no memory.
 */
struct ftr_changes *ftr_changes_load(const struct ftr_runtime *runtime,
				     const struct ftr_attach *attach,
				     const struct ftr_code_choice *choice);
void ftr_changes_free(struct ftr_changes *changes);

/* Another library may have come to lie there meanwhile.  False: they cannot be read. */
bool ftr_changes_find_gone(const struct ftr_runtime *runtime, struct ftr_changes *changes);

/* The bytes that shall be there. */
const uint8_t *ftr_change_wanted(const struct ftr_changes *changes,
				 const struct ftr_change *change);

/* The change in the midst of which who goes on at @addr would be; NULL = there is none. */
struct ftr_change *ftr_changes_in_midst(struct ftr_changes *changes, uint64_t addr);

bool ftr_changes_are_pending(const struct ftr_changes *changes);

/* ... or have failed. */
bool ftr_changes_are_left(const struct ftr_changes *changes);

/* Functions whose changes are pending. */
unsigned ftr_changes_left_nr(const struct ftr_changes *changes);

/* What has become of each. */
void ftr_changes_count(const struct ftr_changes *changes, struct ftr_attach_code_report *report);

#endif /* FTR_ATTACH_CHANGES_H */
