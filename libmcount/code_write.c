/* SPDX-License-Identifier: MIT */
/* Writing to code in chunks, when none of it can be running, and saying what was not written. */
#include "libmcount/code_write.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "libmcount/channel.h"
#include "libmcount/state.h"
#include "utils/base/rt/sys.h"
#include "utils/proto/patch.h"

#define CHUNK_BYTES 65536u
#define PAGE 4096u
#define GAP_BYTES 4096u		/* what lies between places that far apart is not written */
#define TEXT_BYTES 256
#define NO_ACCESS "the kernel refuses access to /proc/self/mem; compile with -pg instead"

/* The place behind the last one, from @first on, that is written together with it. */
static uint32_t run_end(const struct ftr_code_places *places, uint32_t first)
{
	uint32_t bytes, n;
	uintptr_t start = places->find(places->table, first, &bytes), end = start;

	for (n = first; n < places->nr; n++) {
		uintptr_t addr = places->find(places->table, n, &bytes);

		if (addr < end || addr - end > GAP_BYTES || addr + bytes - start > CHUNK_BYTES)
			break;
		end = addr + bytes;
	}
	return n > first ? n : first + 1;
}

static bool waits(const struct ftr_code_places *places, uint32_t n)
{
	return places->waits != NULL && places->waits(places->table, n);
}

/* Of a program that runs: what has been edited is written later, by others. */
static void run_plan(struct ftr_code_writer *writer, const struct ftr_code_places *places,
		     uint32_t first, uint32_t end)
{
	uint32_t bytes, n;
	uintptr_t start = places->find(places->table, first, &bytes);

	for (n = first; n < end; n++) {
		uintptr_t addr = places->find(places->table, n, &bytes);
		const uint8_t *old = writer->original + (addr - start);
		const uint8_t *new = writer->chunk + (addr - start);

		if (memcmp(old, new, bytes) != 0 &&
		    !ftr_code_plan_add(&ftr_state.code_plan, &(struct ftr_code_change){
			    .addr = addr, .bytes = bytes, .old = old, .new = new,
			    .needs = places->needs != NULL ? places->needs(places->table, n) :
							     FTR_CODE_NONE,
			    .is_later = waits(places, n), .is_fixed = places->waits == NULL }))
			writer->failed_nr++;
	}
}

/* The helper that puts back does not touch what lies on two pages. */
static bool is_crossing(uintptr_t addr, uint32_t bytes)
{
	return addr / PAGE != (addr + bytes - 1) / PAGE;
}

/* What the helper would not write, or leads to what is not written. */
static bool is_left(const struct ftr_code_places *places, uint32_t n, uintptr_t addr,
		    uint32_t bytes)
{
	const struct ftr_attach_code *plan = ftr_state.code_plan.v;
	uint32_t needs = places->needs != NULL ? places->needs(places->table, n) : FTR_CODE_NONE;

	return ftr_state.attached != 0 &&
	       (is_crossing(addr, bytes) ||
		(needs != FTR_CODE_NONE && is_crossing(plan[needs].addr, plan[needs].bytes)));
}

static void waiting_leave(struct ftr_code_writer *writer, const struct ftr_code_places *places,
			  uint32_t first, uint32_t end)
{
	uint32_t bytes, n;
	uintptr_t start = places->find(places->table, first, &bytes);

	for (n = first; n < end; n++) {
		uintptr_t at = places->find(places->table, n, &bytes) - start;

		if (waits(places, n) || is_left(places, n, start + at, bytes))
			memcpy(writer->chunk + at, writer->original + at, bytes);
	}
}

static void run_write(struct ftr_code_writer *writer, const struct ftr_code_places *places,
		      uint32_t first, uint32_t end)
{
	uint32_t last_bytes, n;
	uintptr_t start = places->find(places->table, first, &last_bytes);
	uint64_t bytes = places->find(places->table, end - 1, &last_bytes) - start + last_bytes;
	long written;

	if (bytes > CHUNK_BYTES ||
	    ftr_sys_read_at(writer->fd, writer->original, bytes, start) != (long)bytes ||
	    (FTR_ARCH_HAS_OTHER_MEMORY &&
	     memcmp(writer->original, (const void *)start, bytes) != 0)) {
		writer->failed_nr += end - first;
		return;
	}
	memcpy(writer->chunk, writer->original, bytes);
	for (n = first; n < end; n++) {
		uintptr_t addr = places->find(places->table, n, &last_bytes);

		writer->changed_nr += !places->edit(places->table, n,
						    writer->chunk + (addr - start));
	}
	if (ftr_state.attached != 0 || places->may_change)
		run_plan(writer, places, first, end);
	if (ftr_state.attached != 0 && !writer->is_unused)
		return;
	waiting_leave(writer, places, first, end);
	if (memcmp(writer->chunk, writer->original, bytes) == 0)
		return;			/* shown again */
	written = ftr_sys_write_at(writer->fd, writer->chunk, bytes, start);
	if (written == (long)bytes) {
		writer->has_written = true;
		return;
	}
	writer->failed_nr += end - first;
	if (written > 0)		/* a call may be cut at a page's end */
		ftr_sys_write_at(writer->fd, writer->original, written, start);
}

void ftr_code_write(struct ftr_code_writer *writer, const struct ftr_code_places *places)
{
	uint32_t first, end;

	for (first = 0; first < places->nr; first = end) {
		end = run_end(places, first);
		run_write(writer, places, first, end);
	}
}

const char *ftr_code_writer_open(struct ftr_code_writer *writer)
{
	long mem = ftr_sys_map(0, 2 * CHUNK_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (ftr_sys_map_failed(mem))
		return "no memory; raise the limit of address space (ulimit -v)";
	writer->chunk = (uint8_t *)mem;
	writer->original = writer->chunk + CHUNK_BYTES;
	writer->fd = (int)ftr_sys6(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR | O_CLOEXEC, 0,
				     0, FTR_OWN_CALL);
	return writer->fd >= 0 ? NULL : NO_ACCESS;
}

void ftr_code_writer_close(struct ftr_code_writer *writer)
{
	if (writer->fd >= 0)
		ftr_sys_close_own(writer->fd);
	if (writer->chunk != NULL)
		ftr_sys2(SYS_munmap, writer->chunk, 2 * CHUNK_BYTES);
}

/* Append @text, or a number. */
static void put_text(char line[TEXT_BYTES], uint32_t *len, const char *text)
{
	while (*text != '\0' && *len < TEXT_BYTES - 1)
		line[(*len)++] = *text++;
	line[*len] = '\0';
}

static void put_number(char line[TEXT_BYTES], uint32_t *len, uint32_t number)
{
	char digits[12], *p = digits + sizeof(digits) - 1;

	for (*p = '\0'; number != 0 || *p == '\0'; number /= 10) {
		*--p = (char)('0' + number % 10);
		if (number < 10)
			break;
	}
	put_text(line, len, p);
}

void ftr_code_report(const struct ftr_loaded *module, uint32_t nr, const char *what,
		     const char *reason)
{
	const char *name = module->name, *p;
	char line[TEXT_BYTES];
	uint32_t len = 0;

	if (nr == 0)
		return;
	for (p = name; *p != '\0'; p++) {
		if (*p == '/')
			name = p + 1;
	}
	put_number(line, &len, nr);
	put_text(line, &len, " ");
	put_text(line, &len, what);
	put_text(line, &len, nr == 1 ? "" : "s");
	if (*name != '\0') {
		put_text(line, &len, " of ");
		put_text(line, &len, name);
	}
	put_text(line, &len, " cannot be patched: ");
	put_text(line, &len, reason);
	ftr_channel_warn(line);
}

void ftr_code_report_left(const struct ftr_loaded *module, const char *what,
			  const struct ftr_code_writer *writer)
{
	ftr_code_report(module, writer->failed_nr, what, NO_ACCESS);
	ftr_code_report(module, writer->changed_nr, what, "their code is not what the file has");
}

/* There are 2 + N links to the directory of N threads. */
static bool has_one_thread(void)
{
	struct stat st;

	return ftr_sys4(FTR_ARCH_SYS_FSTATAT, AT_FDCWD, "/proc/self/task", &st, 0) == 0 &&
	       st.st_nlink == 3;
}

/*
 * A thread must not be in the midst of what is written.  Before the constructors of a module no
 * thread is in it; later, none can be if there is no other thread than this, which is here.  A
 * library that was found in use may be shown again when another one is loaded.
 */
static bool is_unused(const struct ftr_loaded *module, uint32_t flags)
{
	if (module->is_lasting)
		return true;
	if (module->is_before_init && (flags & FTR_PATCH_STARTS_GMON) != 0 &&
	    !*module->was_running)
		return true;
	*module->was_running = !has_one_thread();
	return !*module->was_running;
}

bool ftr_code_is_unused(const struct ftr_loaded *module, uint32_t flags)
{
	return ftr_state.attached != 0 && !module->is_lasting && module->is_before_init &&
	       (flags & FTR_PATCH_STARTS_GMON) != 0 && !*module->was_running;
}

const char *ftr_code_refusal(const struct ftr_loaded *module, uint32_t flags)
{
	if (ftr_state.attached != 0)
		return ftr_state.code_plan.is_open ? NULL :
		       "ftr is about to leave the program";
	if (!module->is_lasting && atomic_load(&ftr_state.is_filtered))
		return "a seccomp filter was installed before they were loaded";
	if (!is_unused(module, flags))
		return "other threads may be running in it, as it was loaded unseen; load it "
		       "before they start";
	return NULL;
}
