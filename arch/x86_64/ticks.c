/* SPDX-License-Identifier: MIT */
/*
 * Whether the time stamp counter is the same on all processors: where the kernel counts time by it,
 * itself or as the hypervisor tells it to.  Layouts: the kernel's
 * Documentation/virt/kvm/x86/msr.rst (MSR_KVM_SYSTEM_TIME_NEW; Xen has the same), and the
 * Hypervisor Top-Level Functional Specification ("Partition Reference Time Enlightenment").
 */
#include "arch/x86_64/ticks.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define PAGE_BYTES 4096u
#define IS_STABLE 1u	/* of struct pvclock: time goes on from one processor to the other */

struct pvclock {
	uint32_t version;
	uint32_t unused;
	uint64_t tick, time;	/* of the same moment */
	uint32_t mult;
	int8_t   shift;
	uint8_t  flags;
	uint8_t  unused_too[2];
};

struct hvclock {
	uint32_t sequence;	/* 0: not to be used */
	uint32_t unused;
	uint64_t scale;
	int64_t  offset;
};

/*
 * The pages with clocks of hypervisors, pvclock's first, which the kernel shows to each process
 * beside its vDSO: in a mapping of their own since Linux 6.13, before behind a page of the other.
 */
static const uint8_t *clocks_find(FILE *maps)
{
	unsigned long start, shared = 0;
	char line[256], name[32];

	while (fgets(line, sizeof(line), maps) != NULL) {
		if (sscanf(line, "%lx-%*x %*s %*s %*s %*s %31s", &start, name) != 2)
			continue;
		if (strcmp(name, "[vvar_vclock]") == 0)
			return (const uint8_t *)start;
		if (strcmp(name, "[vvar]") == 0)
			shared = start;
	}
	return shared == 0 ? NULL : (const uint8_t *)(shared + PAGE_BYTES);
}

/* By the kernel, which says so where a page is not there; a load would end the process. */
static bool copy(void *to, const void *from, size_t size)
{
	bool is_copied;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	is_copied = write(ends[1], from, size) == (ssize_t)size &&
		    read(ends[0], to, size) == (ssize_t)size;
	close(ends[0]);
	close(ends[1]);
	return is_copied;
}

static bool pvclock_is_alike(const uint8_t *clocks)
{
	struct pvclock clock;

	return copy(&clock, clocks, sizeof(clock)) && clock.version != 0 && clock.mult != 0 &&
	       (clock.flags & IS_STABLE) != 0;
}

static bool hvclock_is_alike(const uint8_t *clocks)
{
	struct hvclock clock;

	return copy(&clock, clocks + PAGE_BYTES, sizeof(clock)) && clock.sequence != 0 &&
	       clock.scale != 0;
}

bool ftr_arch_ticks_are_alike(const char *source, const uint8_t *clocks)
{
	if (strcmp(source, "tsc\n") == 0)
		return true;
	if (clocks == NULL)
		return false;
	if (strcmp(source, "kvm-clock\n") == 0 || strcmp(source, "xen\n") == 0)
		return pvclock_is_alike(clocks);
	return strcmp(source, "hyperv_clocksource_tsc_page\n") == 0 && hvclock_is_alike(clocks);
}

bool ftr_arch_ticks_agree_x86_64(void)
{
	FILE *file = fopen(SOURCE, "re");
	const uint8_t *clocks = NULL;
	char source[32] = "";

	if (file == NULL)
		return false;
	if (fgets(source, sizeof(source), file) == NULL)
		*source = '\0';
	fclose(file);
	file = fopen("/proc/self/maps", "re");
	if (file != NULL) {
		clocks = clocks_find(file);
		fclose(file);
	}
	return ftr_arch_ticks_are_alike(source, clocks);
}
