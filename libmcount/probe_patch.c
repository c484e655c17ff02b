/* SPDX-License-Identifier: MIT */
/*
 * Patched entries: where the compiler left room at a function's entry, a call of the hook is put,
 * before the function can run.  Compiled-in calls and these come to the same.
 *
 * The code is changed through /proc/self/mem, as a debugger does: its pages stay as they are
 * protected, none is ever writable and executable, and what the kernel forbids leaves them as they
 * were.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "arch/patch.h"
#include "libmcount/channel.h"
#include "libmcount/hook.h"
#include "libmcount/patch_near.h"
#include "libmcount/probe.h"
#include "libmcount/sections.h"
#include "libmcount/state.h"
#include "utils/base/rt/sys.h"
#include "utils/proto/patch.h"

extern const struct ftr_probe ftr_probe_patch FTR_HIDDEN;

#define CHUNK_BYTES 65536u
#define GAP_BYTES 4096u		/* what lies between functions that far apart is not written */
#define TEXT_BYTES 256
#define NO_ACCESS "the kernel refuses access to /proc/self/mem; compile with -pg instead"

/* The sites of a module, inside its section. */
struct table {
	const struct ftr_patch_site *sites;
	uint32_t site_nr;
	uint32_t flags;
	uintptr_t base;
};

static bool table_find(struct table *table, const struct ftr_loaded *module,
		       const struct ftr_sections *sections)
{
	uint32_t bytes;
	const struct ftr_patch_table *head = ftr_sections_find(sections, FTR_SECTION_PATCH,
							       &bytes);

	if (head == NULL || bytes < sizeof(*head) || head->site_nr == 0 ||
	    head->site_nr > (bytes - sizeof(*head)) / sizeof(*table->sites))
		return false;
	table->sites = (const struct ftr_patch_site *)(head + 1);
	table->site_nr = head->site_nr;
	table->flags = head->flags;
	table->base = module->base + head->base;
	return true;
}

static uintptr_t site_addr(const struct table *table, uint32_t n)
{
	return table->base + table->sites[n].offset;
}

/* Else it is not the file that the recorder read. */
static bool is_inside(const struct table *table, const struct ftr_loaded *module)
{
	uintptr_t low = site_addr(table, 0), high = site_addr(table, table->site_nr - 1);

	return low <= high && low >= module->text && high < module->text_end;
}

/* Work on one module. */
struct patching {
	const struct table *table;
	struct ftr_patch_targets targets;
	int fd;				/* /proc/self/mem */
	uint8_t *chunk, *original;	/* CHUNK_BYTES each */
	uint32_t changed_nr;		/* sites that hold something else than in the file */
	uint32_t failed_nr;		/* that the kernel did not let us write */
};

/* The site behind the last one, from @first on, that is patched together with it. */
static uint32_t run_end(const struct table *table, uint32_t first)
{
	uintptr_t start = site_addr(table, first), end = start;
	uint32_t n;

	for (n = first; n < table->site_nr; n++) {
		uintptr_t addr = site_addr(table, n);

		if (addr < end || addr - end > GAP_BYTES ||
		    addr + table->sites[n].bytes - start > CHUNK_BYTES)
			break;
		end = addr + table->sites[n].bytes;
	}
	return n > first ? n : first + 1;
}

/* False: @code is not what the recorder saw there; a call of ours is. */
static bool site_patch(struct patching *patching, const struct ftr_patch_site *site, uint8_t *code,
		       uintptr_t addr)
{
	uintptr_t target = site->kind == FTR_PATCH_PROLOGUE ? patching->targets.prologue :
							      patching->targets.entry;
	uint8_t call[FTR_ARCH_PATCH_MAX];

	if (site->bytes > sizeof(call))
		return false;
	if (ftr_arch_patch_room(code, site->bytes) == site->bytes) {
		ftr_arch_patch_write(code, site->bytes, addr, target);
		return true;
	}
	ftr_arch_patch_write(call, site->bytes, addr, target);
	return memcmp(call, code, site->bytes) == 0;	/* seen before */
}

static void run_patch(struct patching *patching, uint32_t first, uint32_t end)
{
	const struct table *table = patching->table;
	uintptr_t start = site_addr(table, first);
	uint64_t bytes = site_addr(table, end - 1) + table->sites[end - 1].bytes - start;
	long written;
	uint32_t n;

	if (bytes > CHUNK_BYTES ||
	    ftr_sys4(SYS_pread64, patching->fd, patching->original, bytes, start) != (long)bytes) {
		patching->failed_nr += end - first;
		return;
	}
	memcpy(patching->chunk, patching->original, bytes);
	for (n = first; n < end; n++) {
		uintptr_t addr = site_addr(table, n);

		patching->changed_nr += !site_patch(patching, &table->sites[n],
						    patching->chunk + (addr - start), addr);
	}
	if (memcmp(patching->chunk, patching->original, bytes) == 0)
		return;			/* shown again */
	written = ftr_sys4(SYS_pwrite64, patching->fd, patching->chunk, bytes, start);
	if (written == (long)bytes)
		return;
	patching->failed_nr += end - first;
	if (written > 0)		/* a call may be cut at a page's end */
		ftr_sys4(SYS_pwrite64, patching->fd, patching->original, written, start);
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

/* Nothing is left out silently. */
static void report(const struct ftr_loaded *module, uint32_t nr, const char *reason)
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
	put_text(line, &len, nr == 1 ? " function" : " functions");
	if (*name != '\0') {
		put_text(line, &len, " of ");
		put_text(line, &len, name);
	}
	put_text(line, &len, " cannot be patched: ");
	put_text(line, &len, reason);
	ftr_channel_warn(line);
}

/* There are 2 + N links to the directory of N threads. */
static bool has_one_thread(void)
{
	struct stat st;

	return ftr_sys4(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &st, 0) == 0 &&
	       st.st_nlink == 3;
}

/*
 * A thread must not be in the midst of what is written.  Before the constructors of a module no
 * thread is in it; later, none can be if there is no other thread than this, which is here.  A
 * library that was found in use may be shown again when another one is loaded.
 */
static bool is_unused(const struct ftr_loaded *module, const struct table *table)
{
	if (module->is_lasting)
		return true;
	if (module->is_before_init && (table->flags & FTR_PATCH_STARTS_GMON) != 0 &&
	    !*module->was_running)
		return true;
	*module->was_running = !has_one_thread();
	return !*module->was_running;
}

static void sites_patch(struct patching *patching)
{
	uint32_t first, end;

	for (first = 0; first < patching->table->site_nr; first = end) {
		end = run_end(patching->table, first);
		run_patch(patching, first, end);
	}
}

/* Returns why it cannot be done; NULL = it can. */
static const char *patching_open(struct patching *patching)
{
	long mem = ftr_sys6(SYS_mmap, 0, 2 * CHUNK_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (ftr_sys_map_failed(mem))
		return "no memory; raise the limit of address space (ulimit -v)";
	patching->chunk = (uint8_t *)mem;
	patching->original = patching->chunk + CHUNK_BYTES;
	patching->fd = (int)ftr_sys6(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR | O_CLOEXEC, 0,
				     0, FTR_OWN_CALL);
	return patching->fd >= 0 ? NULL : NO_ACCESS;
}

static void patching_close(struct patching *patching)
{
	if (patching->fd >= 0)
		ftr_sys_close_own(patching->fd);
	if (patching->chunk != NULL)
		ftr_sys2(SYS_munmap, patching->chunk, 2 * CHUNK_BYTES);
}

/* Returns why the module is left as it is; NULL = it is patched. */
static const char *module_patch(const struct ftr_loaded *module, struct patching *patching)
{
	const struct table *table = patching->table;
	const char *refusal;

	if (!module->is_lasting && atomic_load(&ftr_state.is_filtered))
		return "a seccomp filter was installed before they were loaded";
	if (!is_unused(module, table))
		return "other threads may be running in it, as it was loaded unseen; load it "
		       "before they start";
	if (!ftr_patch_near(&ftr_state.patch_near, site_addr(table, 0),
			    site_addr(table, table->site_nr - 1), &patching->targets))
		return "no free memory within 2 GB of them, or libmcount.so cannot be opened to "
		       "map a part of it there";
	refusal = patching_open(patching);
	if (refusal == NULL)
		sites_patch(patching);
	patching_close(patching);
	return refusal;
}

static void patch_module(const struct ftr_loaded *module, const struct ftr_sections *sections)
{
	struct patching patching = { .fd = -1 };
	const char *refusal;
	struct table table;

	if (!table_find(&table, module, sections) || !is_inside(&table, module))
		return;
	patching.table = &table;
	refusal = module_patch(module, &patching);
	if (refusal != NULL)
		report(module, table.site_nr, refusal);
	report(module, patching.failed_nr, NO_ACCESS);
	report(module, patching.changed_nr, "their code is not what the file has");
}

const struct ftr_probe ftr_probe_patch = {
	.name = "patch",
	.module = patch_module,
};
