/* SPDX-License-Identifier: MIT */
/*
 * libmcount-sync.so, the probe "sync": where threads wait for each other.  It is preloaded where
 * the probe is on (doc/adr/0059).
 *
 * What can be had at once is taken by the function that never waits, which has the same outcome
 * then, and is no event.  Semaphores, conditions, barriers and threads are waited for by the
 * program's own call alone: it may be cancelled there, although it need not wait.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <unwind.h>

#include "libmcount/interposed.h"
#include "utils/proto/record.h"

#define likely(x) __builtin_expect(!!(x), 1)

#define FOR_EACH(x) \
	x(pthread_mutex_lock) x(pthread_mutex_trylock) x(pthread_mutex_timedlock) \
	x(pthread_mutex_clocklock) x(pthread_rwlock_rdlock) x(pthread_rwlock_tryrdlock) \
	x(pthread_rwlock_timedrdlock) x(pthread_rwlock_clockrdlock) x(pthread_rwlock_wrlock) \
	x(pthread_rwlock_trywrlock) x(pthread_rwlock_timedwrlock) x(pthread_rwlock_clockwrlock) \
	x(pthread_cond_wait) x(pthread_cond_timedwait) x(pthread_cond_clockwait) \
	x(pthread_barrier_wait) x(sem_wait) x(sem_timedwait) x(sem_clockwait) x(pthread_join) \
	x(pthread_timedjoin_np) x(pthread_clockjoin_np)

/* The functions behind ours. */
static struct {
#define MEMBER(name) void *_Atomic name;
	FOR_EACH(MEMBER)
#undef MEMBER
} real;

static bool is_started;			/* what is behind them is known */

/* What this thread waits for: id 0 = nothing. */
struct wait {
	uint32_t id;
	uintptr_t object;
};

static __thread struct wait waiting;

#define RETURN_SLOT() ((const uintptr_t *)__builtin_frame_address(0) + 1)
#define REAL(name) ((__typeof__(&name))real_of(&real.name, #name, RETURN_SLOT()))

/* A library of threads that dlopen brought in: found in the scope of who calls. */
static __attribute__((noinline, cold)) void *real_late(void *_Atomic *kept, const char *name,
						       const uintptr_t *slot)
{
	return is_started ? ftr_interposed_in_scope(name, *slot) :
			    ftr_interposed_real(kept, &real, name);
}

static inline void *real_of(void *_Atomic *kept, const char *name, const uintptr_t *slot)
{
	void *known = atomic_load_explicit(kept, memory_order_relaxed);

	return likely(known != NULL) ? known : real_late(kept, name, slot);
}

/* @id is that of the event at the begin; what was waited for around it is the answer. */
static struct wait wait_begin(uint32_t id, const void *object, const uintptr_t *slot)
{
	uint64_t values[] = { (uintptr_t)object, 0 };
	struct wait before = waiting;

	ftr_interposed_put(id, values, 2, 1, slot);
	waiting = (struct wait){ id, (uintptr_t)object };
	return before;
}

static void wait_end(int result, struct wait before)
{
	uint64_t values[] = { waiting.object, (uint64_t)(int64_t)result };

	ftr_interposed_put(FTR_RECORD_EVENT_SYNC_DONE_OF(waiting.id), values, 2,
			   FTR_INTERPOSED_NO_CALLER, NULL);
	waiting = before;
}

/* The thread is cancelled while it waits. */
__attribute__((used, visibility("hidden")))
_Unwind_Reason_Code ftr_sync_left(int version, _Unwind_Action actions,
				  _Unwind_Exception_Class class, struct _Unwind_Exception *thrown,
				  struct _Unwind_Context *context);
_Unwind_Reason_Code ftr_sync_left(int version, _Unwind_Action actions,
				  _Unwind_Exception_Class class, struct _Unwind_Exception *thrown,
				  struct _Unwind_Context *context)
{
	if ((actions & _UA_CLEANUP_PHASE) != 0 && waiting.id != 0)
		wait_end(ECANCELED, (struct wait){ 0 });
	return _URC_CONTINUE_UNWIND;
}

/* What an unwinder that passes the function calls; relative to where that is noted. */
#define CALL_WHEN_LEFT() __asm__ volatile(".cfi_personality 0x1b, ftr_sync_left")

/* @call, which answers with an error, waits for @object. */
#define WAIT(what, object, call) \
	CALL_WHEN_LEFT(); \
	struct wait before_ = wait_begin(FTR_RECORD_EVENT_SYNC_##what, object, RETURN_SLOT()); \
	int ret_ = call; \
	wait_end(ret_, before_); \
	return ret_

/* ... unless @attempt, which does not wait, has it. */
#define TAKE(what, object, attempt, call) \
	int attempt_ = attempt; \
	if (likely(attempt_ != EBUSY)) \
		return attempt_; \
	WAIT(what, object, call)

/* ... which answers with -1, and errno. */
#define WAIT_ERRNO(what, object, call) \
	CALL_WHEN_LEFT(); \
	struct wait before_ = wait_begin(FTR_RECORD_EVENT_SYNC_##what, object, RETURN_SLOT()); \
	int ret_ = call, errno_ = errno; \
	wait_end(ret_ == 0 ? 0 : errno_, before_); \
	errno = errno_; \
	return ret_

FTR_EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	TAKE(MUTEX, mutex, REAL(pthread_mutex_trylock)(mutex), REAL(pthread_mutex_lock)(mutex));
}

FTR_EXPORT int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
	TAKE(MUTEX, mutex, REAL(pthread_mutex_trylock)(mutex),
	     REAL(pthread_mutex_timedlock)(mutex, until));
}

FTR_EXPORT int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
				       const struct timespec *until)
{
	TAKE(MUTEX, mutex, REAL(pthread_mutex_trylock)(mutex),
	     REAL(pthread_mutex_clocklock)(mutex, clock, until));
}

FTR_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	TAKE(READ, lock, REAL(pthread_rwlock_tryrdlock)(lock), REAL(pthread_rwlock_rdlock)(lock));
}

FTR_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until)
{
	TAKE(READ, lock, REAL(pthread_rwlock_tryrdlock)(lock),
	     REAL(pthread_rwlock_timedrdlock)(lock, until));
}

FTR_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock,
					  const struct timespec *until)
{
	TAKE(READ, lock, REAL(pthread_rwlock_tryrdlock)(lock),
	     REAL(pthread_rwlock_clockrdlock)(lock, clock, until));
}

FTR_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	TAKE(WRITE, lock, REAL(pthread_rwlock_trywrlock)(lock), REAL(pthread_rwlock_wrlock)(lock));
}

FTR_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until)
{
	TAKE(WRITE, lock, REAL(pthread_rwlock_trywrlock)(lock),
	     REAL(pthread_rwlock_timedwrlock)(lock, until));
}

FTR_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock,
					  const struct timespec *until)
{
	TAKE(WRITE, lock, REAL(pthread_rwlock_trywrlock)(lock),
	     REAL(pthread_rwlock_clockwrlock)(lock, clock, until));
}

FTR_EXPORT int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	WAIT(COND, cond, REAL(pthread_cond_wait)(cond, mutex));
}

FTR_EXPORT int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
				      const struct timespec *until)
{
	WAIT(COND, cond, REAL(pthread_cond_timedwait)(cond, mutex, until));
}

FTR_EXPORT int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
				      const struct timespec *until)
{
	WAIT(COND, cond, REAL(pthread_cond_clockwait)(cond, mutex, clock, until));
}

FTR_EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	WAIT(BARRIER, barrier, REAL(pthread_barrier_wait)(barrier));
}

FTR_EXPORT int sem_wait(sem_t *sem)
{
	WAIT_ERRNO(SEM, sem, REAL(sem_wait)(sem));
}

FTR_EXPORT int sem_timedwait(sem_t *sem, const struct timespec *until)
{
	WAIT_ERRNO(SEM, sem, REAL(sem_timedwait)(sem, until));
}

FTR_EXPORT int sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *until)
{
	WAIT_ERRNO(SEM, sem, REAL(sem_clockwait)(sem, clock, until));
}

FTR_EXPORT int pthread_join(pthread_t thread, void **answer)
{
	WAIT(JOIN, (void *)thread, REAL(pthread_join)(thread, answer));
}

FTR_EXPORT int pthread_timedjoin_np(pthread_t thread, void **answer, const struct timespec *until)
{
	WAIT(JOIN, (void *)thread, REAL(pthread_timedjoin_np)(thread, answer, until));
}

FTR_EXPORT int pthread_clockjoin_np(pthread_t thread, void **answer, clockid_t clock,
				    const struct timespec *until)
{
	WAIT(JOIN, (void *)thread, REAL(pthread_clockjoin_np)(thread, answer, clock, until));
}

/* While all that is loaded is in the scope of all. */
static __attribute__((constructor)) void real_start(void)
{
#define FIND(name) ftr_interposed_real(&real.name, &real, #name);
	FOR_EACH(FIND)
#undef FIND
	is_started = true;
}
