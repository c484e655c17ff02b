/* SPDX-License-Identifier: MIT */
/*
 * What a program says of itself while ftr traces it: marks, messages, counters, spans.  They stand
 * among its calls in every view and format.
 *
 *	#include <ftr.h>
 *
 *	ftr_mark("configuration loaded");
 *	ftr_counter("queue", length);
 *	struct ftr_span span = ftr_span_begin("request");
 *	...
 *	ftr_span_end("request", span);
 *
 * In C and C++, in programs and in libraries.  There is nothing to link.  Where the program is not
 * traced each of these is a test of one variable.  They may be called anywhere, signal handlers
 * included; texts must end, and are cut at FTR_USER_TEXT_MAX bytes.
 *
 * The calls of constructors that run before those of this header's user are not recorded, nor those
 * of programs that are linked statically.
 */
#ifndef FTR_H
#define FTR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FTR_USER_TEXT_MAX 200

/* How a counter is to be drawn, and in which color, by those who can. */
enum ftr_chart_type {
	FTR_CHART_AUTO, FTR_CHART_LINE, FTR_CHART_BAR, FTR_CHART_AREA, FTR_CHART_STEP
};
#define FTR_CHART_COLOR_AUTO 0		/* 1..10: colors of the viewer's */

/* A span under way, which may end in another thread. */
struct ftr_span {
	uint64_t id;			/* 0 = it is not recorded */
	uint64_t start_ns;
};

/* What the runtime offers; members are only ever added at the end. */
struct ftr_user_api {
	uint32_t bytes;
	uint32_t version;
	void (*mark)(const char *name);
	void (*message)(const char *text);
	void (*counter)(const char *name, uint64_t double_bits);
	void (*chart)(const char *name, uint32_t type, uint32_t color);
	struct ftr_span (*span_begin)(const char *name);
	void (*span_end)(const char *name, struct ftr_span span);
};

/*
 * Found once, when the program or library is loaded.  Weak, so that nothing needs to be linked; by
 * another name, as <dlfcn.h> declares it otherwise in C++.
 */
extern void *ftr_user_dlsym(void *handle, const char *name) __asm__("dlsym") __attribute__((weak));
extern char *ftr_user_dlerror(void) __asm__("dlerror") __attribute__((weak));

static const struct ftr_user_api *ftr_user_api __attribute__((unused));

static __attribute__((constructor, unused, no_instrument_function)) void ftr_user_start(void)
{
	if (ftr_user_dlsym == NULL)
		return;
	ftr_user_api = (const struct ftr_user_api *)ftr_user_dlsym(NULL, "ftr_user_api_1");
	if (ftr_user_api == NULL && ftr_user_dlerror != NULL)
		(void)ftr_user_dlerror();	/* which the program does not expect */
}

/* None of these is a call of the program's, for who calls or who traces calls. */
#define FTR_USER_INLINE \
	static inline __attribute__((unused, always_inline, no_instrument_function))
#define FTR_USER_IS_ON() __builtin_expect(ftr_user_api != NULL, 0)
/* The call before is no tail call: its return address tells who called. */
#define FTR_USER_STAY() __asm__ volatile("" ::: "memory")

/* Something happened. */
FTR_USER_INLINE void ftr_mark(const char *name)
{
	if (FTR_USER_IS_ON()) {
		ftr_user_api->mark(name);
		FTR_USER_STAY();
	}
}

/* A text for who reads the trace. */
FTR_USER_INLINE void ftr_message(const char *text)
{
	if (FTR_USER_IS_ON()) {
		ftr_user_api->message(text);
		FTR_USER_STAY();
	}
}

/* The series @name has this value from now on. */
FTR_USER_INLINE void ftr_counter(const char *name, double value)
{
	uint64_t bits;

	if (FTR_USER_IS_ON()) {
		__builtin_memcpy(&bits, &value, sizeof(bits));
		ftr_user_api->counter(name, bits);
		FTR_USER_STAY();
	}
}

/* How the series @name is to be drawn: said once, before its values. */
FTR_USER_INLINE void ftr_chart(const char *name, enum ftr_chart_type type, unsigned color)
{
	if (FTR_USER_IS_ON()) {
		ftr_user_api->chart(name, (uint32_t)type, color);
		FTR_USER_STAY();
	}
}

/* Something that takes time begins; others may begin and end meanwhile, in any order. */
FTR_USER_INLINE struct ftr_span ftr_span_begin(const char *name)
{
	struct ftr_span span = { 0, 0 };

	if (FTR_USER_IS_ON()) {
		span = ftr_user_api->span_begin(name);
		FTR_USER_STAY();
	}
	return span;
}

FTR_USER_INLINE void ftr_span_end(const char *name, struct ftr_span span)
{
	if (FTR_USER_IS_ON() && span.id != 0) {
		ftr_user_api->span_end(name, span);
		FTR_USER_STAY();
	}
}

#ifdef __cplusplus
}
#endif

#endif /* FTR_H */
