/* SPDX-License-Identifier: MIT */
/* What libFuzzer, or tests/fuzz/replay, calls. */
#ifndef FTR_TESTS_FUZZ_H
#define FTR_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Address sanitizers reserve terabytes; without one, input that asks for much memory must not get
 * it.
 */
#if defined(__SANITIZE_ADDRESS__)
#define FUZZ_MEMORY_BYTES RLIM_INFINITY
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FUZZ_MEMORY_BYTES RLIM_INFINITY
#endif
#endif
#ifndef FUZZ_MEMORY_BYTES
#define FUZZ_MEMORY_BYTES ((rlim_t)1 << 30)
#endif

static inline void fuzz_limit_memory(void)
{
	struct rlimit limit = { FUZZ_MEMORY_BYTES, FUZZ_MEMORY_BYTES };

	setrlimit(RLIMIT_AS, &limit);
}

#endif /* FTR_TESTS_FUZZ_H */
