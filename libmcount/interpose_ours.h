/* SPDX-License-Identifier: MIT */
/*
 * How interposed functions are written down whose headers declare them otherwise (variadic, with
 * attributes), or not at all (__read_chk).  KIND(what) is the includer's: the event of a call.
 */
#ifndef FTR_LIBMCOUNT_INTERPOSE_OURS_H
#define FTR_LIBMCOUNT_INTERPOSE_OURS_H

#include "libmcount/interpose_call.h"

/* In C it has a name of its own. */
#define OURS(type, name, params) \
	FTR_EXPORT type ftr_ours_##name params __asm__(#name); \
	type ftr_ours_##name params

/* What is behind it. */
#define REAL_AS(type, name) \
	((type)ftr_call_real(&library, &real.name, #name, FTR_CALL_SLOT()))
#define REAL(name) REAL_AS(__typeof__(&ftr_ours_##name), name)

#define NUMBER(value) ((uint64_t)(int64_t)(value))

/* After the event at the begin: the call, and the one at the end. */
#define CALL(type, begin, ...) \
	FTR_CALL_WHEN_LEFT(); \
	struct ftr_call_open before_ = begin; \
	type ret_ = __VA_ARGS__; \
	ftr_call_end(ftr_call_result(ret_), before_); \
	return ret_

/* A function with a descriptor, and an argument. */
#define ON_FD(kind, type, name, params, fd, argument, ...) \
	OURS(type, name, params) \
	{ \
		CALL(type, ftr_call_begin_with(KIND(kind), NUMBER(fd), NUMBER(argument), \
					       FTR_CALL_SLOT()), REAL(name)(__VA_ARGS__)); \
	}

#endif /* FTR_LIBMCOUNT_INTERPOSE_OURS_H */
