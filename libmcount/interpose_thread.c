/* SPDX-License-Identifier: MIT */
/*
 * libmcount-thread.so, the probe "thread": who makes, ends, cancels, detaches and awaits threads.
 * It is preloaded where the probe is on (doc/adr/0080).
 */
#include <pthread.h>

#include "libmcount/interpose_call.h"

#define FOR_EACH(x) \
	x(pthread_create) x(pthread_detach) x(pthread_cancel) x(pthread_exit) x(pthread_join) \
	x(pthread_timedjoin_np) x(pthread_clockjoin_np)

FTR_CALL_TABLE(FOR_EACH)

#define REAL(name) FTR_CALL_REAL(name)

/* These answer with an error; events have it below 0, as those of all but locks. */
#define CALL(begin, call) \
	struct ftr_call_open before_ = begin; \
	int ret_ = call; \
	ftr_call_end(-(int64_t)ret_, before_); \
	return ret_

/* The end tells which thread it is. */
FTR_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			      void *(*routine)(void *), void *argument)
{
	int state = PTHREAD_CREATE_JOINABLE;
	struct ftr_call_open before;
	pthread_t made = 0;
	int ret;

	if (attributes != NULL)
		pthread_attr_getdetachstate(attributes, &state);
	before = ftr_call_begin_with(FTR_RECORD_EVENT_THREAD_CREATE, (uintptr_t)routine,
				     state == PTHREAD_CREATE_DETACHED, FTR_CALL_SLOT());
	ret = REAL(pthread_create)(thread, attributes, routine, argument);
	/* It may be gone, and what has its number, too. */
	if (ret == 0)
		(void)ftr_interposed_copy(&made, thread, sizeof(made), FTR_CALL_SLOT());
	ftr_call_end_with(-(int64_t)ret, (uint64_t)made, before);
	return ret;
}

FTR_EXPORT int pthread_detach(pthread_t thread)
{
	CALL(ftr_call_begin(FTR_RECORD_EVENT_THREAD_DETACH, thread, FTR_CALL_SLOT()),
	     REAL(pthread_detach)(thread));
}

FTR_EXPORT int pthread_cancel(pthread_t thread)
{
	CALL(ftr_call_begin(FTR_RECORD_EVENT_THREAD_CANCEL, thread, FTR_CALL_SLOT()),
	     REAL(pthread_cancel)(thread));
}

FTR_EXPORT void pthread_exit(void *answer)
{
	uint64_t values[] = { (uintptr_t)answer, 0 };

	ftr_interposed_put(FTR_RECORD_EVENT_THREAD_EXIT, values, 2, 1, FTR_CALL_SLOT());
	REAL(pthread_exit)(answer);
	__builtin_unreachable();
}

/* A wait, as the probe sync has it, too: it is recorded once. */
#define JOINS(call) \
	FTR_CALL_WHEN_LEFT(); \
	struct ftr_call_open before_; \
	int ret_; \
\
	if (ftr_interposed_is_nested(FTR_CALL_SLOT())) \
		return call; \
	before_ = ftr_call_begin(FTR_RECORD_EVENT_SYNC_JOIN, thread, FTR_CALL_SLOT()); \
	ret_ = call; \
	ftr_call_end(ret_, before_); \
	return ret_

FTR_EXPORT int pthread_join(pthread_t thread, void **answer)
{
	JOINS(REAL(pthread_join)(thread, answer));
}

FTR_EXPORT int pthread_timedjoin_np(pthread_t thread, void **answer, const struct timespec *until)
{
	JOINS(REAL(pthread_timedjoin_np)(thread, answer, until));
}

FTR_EXPORT int pthread_clockjoin_np(pthread_t thread, void **answer, clockid_t clock,
				    const struct timespec *until)
{
	JOINS(REAL(pthread_clockjoin_np)(thread, answer, clock, until));
}
