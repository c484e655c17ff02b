/* SPDX-License-Identifier: MIT */
/* See interpose_call.h. */
#include "libmcount/interpose_call.h"

#include <sys/uio.h>
#include <unwind.h>

static __thread struct ftr_call_open open_call;

__attribute__((cold)) void *ftr_call_real_late(const struct ftr_call_library *library,
					       void *_Atomic *kept, const char *name,
					       const uintptr_t *slot)
{
	return library->is_started ? ftr_interposed_in_scope(name, *slot) :
				     ftr_interposed_real(kept, library, name);
}

#define PIECES_AT_ONCE 8

size_t ftr_call_pieces(const struct iovec *pieces, int nr, const uintptr_t *slot)
{
	struct iovec some[PIECES_AT_ONCE];
	size_t total = 0;

	while (nr > 0) {
		int now = nr < PIECES_AT_ONCE ? nr : PIECES_AT_ONCE;

		if (!ftr_interposed_copy(some, pieces, (uint32_t)now * sizeof(*some), slot))
			return 0;
		for (int i = 0; i < now; i++)
			total += some[i].iov_len;
		pieces += now;
		nr -= now;
	}
	return total;
}

static struct ftr_call_open call_open(uint32_t id, uint64_t object, const uintptr_t *slot)
{
	struct ftr_call_open before = open_call;

	before.slot = ftr_interposed_swap(slot);
	open_call = (struct ftr_call_open){ .id = id, .object = object };
	return before;
}

static void call_close(struct ftr_call_open before)
{
	ftr_interposed_swap(before.slot);
	open_call = before;
}

/* Made by the linker: where a library begins, and where its code ends. */
extern const char __ehdr_start[] FTR_CALL_HIDDEN, etext[] FTR_CALL_HIDDEN;

void ftr_call_library_is_here(void)
{
	static bool is_known;

	if (!is_known)
		ftr_interposed_library(__ehdr_start, etext);
	is_known = true;
}

struct ftr_call_open ftr_call_begin(uint32_t id, uint64_t object, const uintptr_t *slot)
{
	uint64_t values[] = { object, 0 };

	ftr_interposed_put(id, values, 2, 1, slot);
	return call_open(id, object, slot);
}

struct ftr_call_open ftr_call_begin_with(uint32_t id, uint64_t object, uint64_t argument,
					 const uintptr_t *slot)
{
	uint64_t values[] = { object, argument, 0 };

	ftr_interposed_put(id, values, 3, 2, slot);
	return call_open(id, object, slot);
}

struct ftr_call_open ftr_call_begin_texts(uint32_t id, uint64_t object, uint64_t argument,
					  const uintptr_t *slot, const char *const *texts,
					  unsigned text_nr)
{
	const uint64_t values[] = { object, argument, 0 };

	ftr_interposed_put_texts(id, values, 2, slot, texts, text_nr);
	return call_open(id, object, slot);
}

void ftr_call_end_text(int64_t result, uint64_t more, const char *text, const uintptr_t *slot,
		       struct ftr_call_open before)
{
	const uint64_t values[] = { open_call.object, (uint64_t)result, more };

	ftr_interposed_put_texts(FTR_RECORD_EVENT_DONE_OF(open_call.id), values,
				 FTR_INTERPOSED_NO_CALLER, slot, &text, 1);
	call_close(before);
}

void ftr_call_end_with(int64_t result, uint64_t more, struct ftr_call_open before)
{
	uint64_t values[] = { open_call.object, (uint64_t)result, more };

	ftr_interposed_put(FTR_RECORD_EVENT_DONE_OF(open_call.id), values, 3,
			   FTR_INTERPOSED_NO_CALLER, NULL);
	call_close(before);
}

void ftr_call_end(int64_t result, struct ftr_call_open before)
{
	uint64_t values[] = { open_call.object, (uint64_t)result };

	ftr_interposed_put(FTR_RECORD_EVENT_DONE_OF(open_call.id), values, 2,
			   FTR_INTERPOSED_NO_CALLER, NULL);
	call_close(before);
}

__attribute__((used, visibility("hidden")))
_Unwind_Reason_Code ftr_call_left(int version, _Unwind_Action actions,
				  _Unwind_Exception_Class class, struct _Unwind_Exception *thrown,
				  struct _Unwind_Context *context);
_Unwind_Reason_Code ftr_call_left(int version, _Unwind_Action actions,
				  _Unwind_Exception_Class class, struct _Unwind_Exception *thrown,
				  struct _Unwind_Context *context)
{
	const struct ftr_call_open none = { 0 };
	const char text[] = "";		/* where it is believed to be there */
	uint32_t id = open_call.id;

	if ((actions & _UA_CLEANUP_PHASE) == 0 || id == 0)
		return _URC_CONTINUE_UNWIND;
	/* Locks answer with the error itself, all others with what is below 0. */
	if (id == FTR_RECORD_EVENT_NET_ACCEPT || id == FTR_RECORD_EVENT_NET_RECEIVE_FROM)
		ftr_call_end_text(-ECANCELED, 0, text, FTR_CALL_SLOT(), none);
	else
		ftr_call_end(id <= FTR_RECORD_EVENT_SYNC_LAST ? ECANCELED : -ECANCELED, none);
	return _URC_CONTINUE_UNWIND;
}
