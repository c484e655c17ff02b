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
#include <stdint.h>

#include "libmcount/interpose_call.h"

#define likely(x) __builtin_expect(!!(x), 1)

#define FOR_EACH(x) \
	x(pthread_mutex_lock) x(pthread_mutex_trylock) x(pthread_mutex_timedlock) \
	x(pthread_mutex_clocklock) x(pthread_rwlock_rdlock) x(pthread_rwlock_tryrdlock) \
	x(pthread_rwlock_timedrdlock) x(pthread_rwlock_clockrdlock) x(pthread_rwlock_wrlock) \
	x(pthread_rwlock_trywrlock) x(pthread_rwlock_timedwrlock) x(pthread_rwlock_clockwrlock) \
	x(pthread_cond_wait) x(pthread_cond_timedwait) x(pthread_cond_clockwait) \
	x(pthread_barrier_wait) x(sem_wait) x(sem_timedwait) x(sem_clockwait) x(pthread_join) \
	x(pthread_timedjoin_np) x(pthread_clockjoin_np)

FTR_CALL_TABLE(FOR_EACH)

#define REAL(name) FTR_CALL_REAL(name)

/* @call, which answers with an error, waits for @object. */
#define WAIT(what, object, call) \
	FTR_CALL_WHEN_LEFT(); \
	struct ftr_call_open before_ = ftr_call_begin(FTR_RECORD_EVENT_SYNC_##what, \
						      (uintptr_t)(object), FTR_CALL_SLOT()); \
	int ret_ = call; \
	ftr_call_end(ret_, before_); \
	return ret_

/* ... unless @attempt, which does not wait, has it. */
#define TAKE(what, object, attempt, call) \
	int attempt_ = attempt; \
	if (likely(attempt_ != EBUSY)) \
		return attempt_; \
	WAIT(what, object, call)

/* ... which answers with -1, and errno. */
#define WAIT_ERRNO(what, object, call) \
	FTR_CALL_WHEN_LEFT(); \
	struct ftr_call_open before_ = ftr_call_begin(FTR_RECORD_EVENT_SYNC_##what, \
						      (uintptr_t)(object), FTR_CALL_SLOT()); \
	int ret_ = call, errno_ = errno; \
	ftr_call_end(ret_ == 0 ? 0 : errno_, before_); \
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
