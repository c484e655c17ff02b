/* SPDX-License-Identifier: MIT */
/*
 * libmcount-memory.so, the probe "memory": who asks for memory, and gives it back.  It is preloaded
 * where the probe is on, so that where it is off no call of malloc is longer by an instruction
 * (doc/adr/0032).
 *
 * Of requests that make others (operator new calls malloc, an allocator calls mmap) the outermost
 * is recorded, once.  What is given back is recorded before it is, and what is given after: another
 * thread may be given the same block at once, and its record must not come first.
 */
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

#include "libmcount/interposed.h"
#include "utils/proto/record.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/*
 * operator new: plain, for arrays, with an alignment and with nothrow (Itanium C++ ABI, 5.1.5); the
 * alignment it takes, and whether it returns NULL.
 */
#define FOR_EACH_NEW(x) \
	x(_Znwm, 0, false) x(_Znam, 0, false) \
	x(_ZnwmRKSt9nothrow_t, 0, true) x(_ZnamRKSt9nothrow_t, 0, true) \
	x(_ZnwmSt11align_val_t, second, false) x(_ZnamSt11align_val_t, second, false) \
	x(_ZnwmSt11align_val_tRKSt9nothrow_t, second, true) \
	x(_ZnamSt11align_val_tRKSt9nothrow_t, second, true)

#define FOR_EACH_DELETE(x) \
	x(_ZdlPv) x(_ZdaPv) x(_ZdlPvm) x(_ZdaPvm) x(_ZdlPvRKSt9nothrow_t) \
	x(_ZdaPvRKSt9nothrow_t) x(_ZdlPvSt11align_val_t) x(_ZdaPvSt11align_val_t) \
	x(_ZdlPvmSt11align_val_t) x(_ZdaPvmSt11align_val_t) \
	x(_ZdlPvSt11align_val_tRKSt9nothrow_t) x(_ZdaPvSt11align_val_tRKSt9nothrow_t)

#define FOR_EACH_OTHER(x) \
	x(malloc) x(calloc) x(realloc) x(reallocarray) x(free) x(memalign) x(aligned_alloc) \
	x(posix_memalign) x(valloc) x(pvalloc) x(mmap) x(munmap) x(mremap) x(brk) x(sbrk)

#define FOR_EACH(x) FOR_EACH_OTHER(x) FOR_EACH_NEW(x) FOR_EACH_DELETE(x)

/* The functions behind ours. */
static struct {
#define MEMBER(name, ...) void *_Atomic name;
	FOR_EACH(MEMBER)
#undef MEMBER
} real;

static bool is_started;			/* what is behind them is known */

/*
 * The stack of the outermost request under way, 0 = none: what is called below it is its own doing.
 * What is called above it has found it left by a longjmp.
 */
static __thread uintptr_t outermost;

#define FRAME() ((uintptr_t)__builtin_frame_address(0))
#define RETURN_SLOT() ((const uintptr_t *)__builtin_frame_address(0) + 1)

#define REAL(name) ((__typeof__(&name))real_of(&real.name, #name))

/* NULL: of C++, whose runtime was not there at the start. */
static inline void *real_of(void *_Atomic *kept, const char *name)
{
	void *known = atomic_load_explicit(kept, memory_order_relaxed);

	return likely(known != NULL || is_started) ? known :
						     ftr_interposed_real(kept, &real, name);
}

struct request {
	uintptr_t before;		/* of a handler's: that which it interrupted */
	bool is_outermost;
};

static inline struct request request_begin(uintptr_t frame)
{
	struct request request = { .before = outermost };

	request.is_outermost = likely(request.before == 0) || frame >= request.before;
	if (request.is_outermost)
		outermost = frame;
	atomic_signal_fence(memory_order_seq_cst);
	return request;
}

static inline void request_end(struct request request, uintptr_t frame)
{
	atomic_signal_fence(memory_order_seq_cst);
	if (request.is_outermost)
		outermost = frame < request.before ? request.before : 0;
}

/* An exception leaves a request: a new_handler, or operator new itself, threw it. */
__attribute__((used, visibility("hidden")))
_Unwind_Reason_Code ftr_memory_left(int version, _Unwind_Action actions,
				    _Unwind_Exception_Class class, struct _Unwind_Exception *thrown,
				    struct _Unwind_Context *context);
_Unwind_Reason_Code ftr_memory_left(int version, _Unwind_Action actions,
				    _Unwind_Exception_Class class, struct _Unwind_Exception *thrown,
				    struct _Unwind_Context *context)
{
	if ((actions & _UA_CLEANUP_PHASE) != 0)
		outermost = 0;
	return _URC_CONTINUE_UNWIND;
}

/* What an unwinder that passes the function calls; relative to where that is noted. */
#define CALL_WHEN_LEFT() __asm__ volatile(".cfi_personality 0x1b, ftr_memory_left")

static inline void put3(uint32_t id, uint64_t address, uint64_t bytes, const uintptr_t *slot)
{
	uint64_t values[] = { address, bytes, 0 };

	ftr_interposed_put(id, values, 3, 2, slot);
}

static inline void put4(uint32_t id, uint64_t address, uint64_t bytes, uint64_t from,
			const uintptr_t *slot)
{
	uint64_t values[] = { address, bytes, 0, from };

	ftr_interposed_put(id, values, 4, 2, slot);
}

static inline void put_free(uint32_t id, const void *block, const uintptr_t *slot)
{
	uint64_t values[] = { (uintptr_t)block, 0 };

	if (block != NULL && outermost == 0)
		ftr_interposed_put(id, values, 2, 1, slot);
}

/* @call, which gives @bytes, is a request. */
#define GIVE(id, bytes, call) \
	struct request request_ = request_begin(FRAME()); \
	void *block_ = call; \
	request_end(request_, FRAME()); \
	if (request_.is_outermost) \
		put3(id, (uintptr_t)block_, bytes, RETURN_SLOT()); \
	return block_

FTR_EXPORT void *malloc(size_t bytes)
{
	GIVE(FTR_RECORD_EVENT_MALLOC, bytes, REAL(malloc)(bytes));
}

FTR_EXPORT void *calloc(size_t nr, size_t bytes)
{
	GIVE(FTR_RECORD_EVENT_CALLOC, nr * bytes, REAL(calloc)(nr, bytes));
}

FTR_EXPORT void *memalign(size_t alignment, size_t bytes)
{
	GIVE(FTR_RECORD_EVENT_MEMALIGN, bytes, REAL(memalign)(alignment, bytes));
}

FTR_EXPORT void *aligned_alloc(size_t alignment, size_t bytes)
{
	GIVE(FTR_RECORD_EVENT_MEMALIGN, bytes, REAL(aligned_alloc)(alignment, bytes));
}

FTR_EXPORT void *valloc(size_t bytes)
{
	GIVE(FTR_RECORD_EVENT_MEMALIGN, bytes, REAL(valloc)(bytes));
}

FTR_EXPORT void *pvalloc(size_t bytes)
{
	GIVE(FTR_RECORD_EVENT_MEMALIGN, bytes, REAL(pvalloc)(bytes));
}

FTR_EXPORT int posix_memalign(void **block, size_t alignment, size_t bytes)
{
	struct request request = request_begin(FRAME());
	int ret = REAL(posix_memalign)(block, alignment, bytes);

	request_end(request, FRAME());
	if (request.is_outermost)
		put3(FTR_RECORD_EVENT_MEMALIGN, ret == 0 ? (uintptr_t)*block : 0, bytes,
		     RETURN_SLOT());
	return ret;
}

FTR_EXPORT void *realloc(void *block, size_t bytes)
{
	struct request request = request_begin(FRAME());
	uintptr_t from = (uintptr_t)block;
	void *to = REAL(realloc)(block, bytes);

	request_end(request, FRAME());
	if (request.is_outermost)
		put4(FTR_RECORD_EVENT_REALLOC, (uintptr_t)to, bytes, from, RETURN_SLOT());
	return to;
}

FTR_EXPORT void *reallocarray(void *block, size_t nr, size_t bytes)
{
	struct request request = request_begin(FRAME());
	uintptr_t from = (uintptr_t)block;
	void *to = REAL(reallocarray)(block, nr, bytes);
	size_t total;

	request_end(request, FRAME());
	if (request.is_outermost && !__builtin_mul_overflow(nr, bytes, &total))
		put4(FTR_RECORD_EVENT_REALLOC, (uintptr_t)to, total, from, RETURN_SLOT());
	return to;
}

FTR_EXPORT void free(void *block)
{
	struct request request;

	put_free(FTR_RECORD_EVENT_FREE, block, RETURN_SLOT());
	request = request_begin(FRAME());
	REAL(free)(block);
	request_end(request, FRAME());
}

/* What else they take, the alignment and nothrow, stays in the registers that it came in. */
typedef void *new_function(size_t bytes, uintptr_t second, uintptr_t third);
typedef void delete_function(void *block, uintptr_t second, uintptr_t third);

/*
 * A runtime of C++ that dlopen brought in: its operator new is malloc, and its delete is free.  It
 * could be looked for by the caller's scope, as the dynamic linker does, but under a lock that the
 * program does not expect here.  So that is done where memory is out, and something must be thrown.
 */
static __attribute__((noinline, cold))
void *late_new(const char *name, size_t bytes, size_t alignment, bool is_nothrow,
	       const uintptr_t *slot)
{
	size_t some = bytes != 0 ? bytes : 1;
	void *block = alignment != 0 ? REAL(memalign)(alignment, some) : REAL(malloc)(some);
	new_function *thrower;

	if (block != NULL || is_nothrow)
		return block;
	thrower = (new_function *)ftr_interposed_in_scope(name, *slot);
	return thrower != NULL ? thrower(bytes, alignment, 0) : NULL;
}

#define NEW(name, alignment, is_nothrow) \
	FTR_EXPORT new_function name; \
	void *name(size_t bytes, uintptr_t second, uintptr_t third) \
	{ \
		CALL_WHEN_LEFT(); \
		GIVE(FTR_RECORD_EVENT_NEW, bytes, \
		     likely(REAL(name) != NULL) ? \
			     REAL(name)(bytes, second, third) : \
			     late_new(#name, bytes, alignment, is_nothrow, RETURN_SLOT())); \
	}
FOR_EACH_NEW(NEW)

#define DELETE(name) \
	FTR_EXPORT delete_function name; \
	void name(void *block, uintptr_t second, uintptr_t third) \
	{ \
		struct request request; \
\
		put_free(FTR_RECORD_EVENT_DELETE, block, RETURN_SLOT()); \
		request = request_begin(FRAME()); \
		if (likely(REAL(name) != NULL)) \
			REAL(name)(block, second, third); \
		else \
			REAL(free)(block); \
		request_end(request, FRAME()); \
	}
FOR_EACH_DELETE(DELETE)

FTR_EXPORT void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	void *pages = REAL(mmap)(address, bytes, protection, flags, fd, offset);

	if (pages != MAP_FAILED && outermost == 0)
		put3(FTR_RECORD_EVENT_MMAP, (uintptr_t)pages, bytes, RETURN_SLOT());
	return pages;
}

FTR_EXPORT void *mmap64(void *address, size_t bytes, int protection, int flags, int fd,
			off64_t offset) __attribute__((alias("mmap")));

FTR_EXPORT int munmap(void *address, size_t bytes)
{
	int ret = REAL(munmap)(address, bytes);

	if (ret == 0 && outermost == 0)
		put3(FTR_RECORD_EVENT_MUNMAP, (uintptr_t)address, bytes, RETURN_SLOT());
	return ret;
}

/* Without MREMAP_FIXED nothing looks at @new_address. */
typedef void *mremap_function(void *, size_t, size_t, int, void *);
FTR_EXPORT mremap_function ftr_memory_mremap __asm__("mremap");
void *ftr_memory_mremap(void *address, size_t old_bytes, size_t bytes, int flags, void *new_address)
{
	void *pages = ((mremap_function *)REAL(mremap))(address, old_bytes, bytes, flags,
							 new_address);
	uint64_t values[] = { (uintptr_t)pages, bytes, 0, (uintptr_t)address, old_bytes };

	if (pages != MAP_FAILED && outermost == 0)
		ftr_interposed_put(FTR_RECORD_EVENT_MREMAP, values, 5, 2, RETURN_SLOT());
	return pages;
}

FTR_EXPORT void *sbrk(intptr_t more)
{
	void *before = REAL(sbrk)(more);

	if (before != (void *)-1 && more != 0 && outermost == 0)
		put3(FTR_RECORD_EVENT_BRK, (uintptr_t)before + (uintptr_t)more, (uint64_t)more,
		     RETURN_SLOT());
	return before;
}

FTR_EXPORT int brk(void *address)
{
	uintptr_t before = (uintptr_t)REAL(sbrk)(0);
	int ret = REAL(brk)(address);

	if (ret == 0 && outermost == 0)
		put3(FTR_RECORD_EVENT_BRK, (uintptr_t)address, (uintptr_t)address - before,
		     RETURN_SLOT());
	return ret;
}

/* While all that is loaded is in the scope of all. */
static __attribute__((constructor)) void real_start(void)
{
#define FIND(name, ...) ftr_interposed_real(&real.name, &real, #name);
	FOR_EACH(FIND)
#undef FIND
	is_started = true;
}
