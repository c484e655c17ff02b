/* SPDX-License-Identifier: MIT */
/* See space.h. */
#include "utils/observe/space.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "utils/object/code_range.h"
#include "utils/object/elf_file.h"
#include "utils/observe/unwind.h"

#define MAPS_BYTES_MAX FTR_MIB(16)
#define PHDRS_MAX 64
/* What linkers write into .eh_frame_hdr: DW_EH_PE_udata4, and datarel|sdata4 for the table. */
#define HDR_BYTES 12u
#define ENCODING_COUNT 0x03
#define ENCODING_TABLE 0x3b

static void module_free(struct ftr_space_module *module)
{
	const struct ftr_hashmap_slot *slot;
	size_t pos = 0;

	while ((slot = ftr_hashmap_next(&module->pages, &pos)) != NULL)
		free(slot->value);
	ftr_hashmap_fini(&module->pages);
	ftr_symtab_fini(&module->tab);
	if (module->file != NULL)
		ftr_elf_file_close(module->file);
	free(module->file);
	free(module->table.made);
	free(module->path);
	free(module);
}

void ftr_space_modules_fini(struct ftr_space_modules *modules)
{
	for (size_t i = 0; i < modules->all.nr; i++)
		module_free(modules->all.v[i]);
	ftr_vec_fini(&modules->all);
}

/* A line of maps. */
struct line {
	struct ftr_space_range range;
	uint64_t offset, inode;
	unsigned major, minor;		/* of the device */
	const char *path;
	bool is_of_file;
};

static struct ftr_space_module *module_new(const struct line *line)
{
	struct ftr_space_module *module = calloc(1, sizeof(*module));

	if (module == NULL)
		return NULL;
	module->device_major = line->major;
	module->device_minor = line->minor;
	module->inode = line->inode;
	module->is_of_file = line->is_of_file;
	ftr_hashmap_init(&module->pages);
	ftr_symtab_init(&module->tab);
	module->path = strdup(line->path);
	if (module->path != NULL)
		return module;
	module_free(module);
	return NULL;
}

static struct ftr_space_module *module_get(struct ftr_space_modules *modules,
					   const struct line *line)
{
	struct ftr_space_module *module;

	for (size_t i = modules->all.nr; i-- > 0;) {
		module = modules->all.v[i];
		if (module->inode == line->inode && module->device_major == line->major &&
		    module->device_minor == line->minor && strcmp(module->path, line->path) == 0)
			return module;
	}
	module = module_new(line);
	if (module != NULL && ftr_vec_push(&modules->all, module) < 0) {
		module_free(module);
		return NULL;
	}
	return module;
}

struct ftr_space *ftr_space_new(void)
{
	struct ftr_space *space = calloc(1, sizeof(*space));

	if (space == NULL)
		return NULL;
	space->users = 1;
	space->is_stale = true;
	ftr_strbuf_init(&space->maps);
	ftr_hashmap_init(&space->frames);
	return space;
}

void ftr_space_drop(struct ftr_space *space)
{
	if (space == NULL || --space->users > 0)
		return;
	ftr_unwinder_free(space->unwinder);
	ftr_hashmap_fini(&space->frames);
	ftr_vec_fini(&space->ranges);
	ftr_strbuf_fini(&space->maps);
	free(space);
}

/* "7f12-7f34 r-xp 00001000 fe:01 1234   /usr/lib/x.so"; false: it has no name. */
static bool line_parse(char *text, struct line *line)
{
	char prot[5];
	int path_at = 0;

	if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &line->range.start, &line->range.end, prot, &line->offset, &line->major,
		   &line->minor, &line->inode, &path_at) != 7)
		return false;
	if (path_at == 0 || text[path_at] == '\0')
		return false;
	line->path = text + path_at;
	line->range.is_code = prot[2] == 'x';
	line->range.is_constant = prot[0] == 'r' && prot[1] != 'w';
	return line->path[0] == '/' || strcmp(line->path, "[vdso]") == 0;
}

/* Mappings of a file begin with that of its first bytes. */
static int range_add(struct ftr_space *space, struct ftr_space_modules *modules,
		     struct line *line)
{
	const struct ftr_space_range *last =
		space->ranges.nr > 0 ? &space->ranges.v[space->ranges.nr - 1] : NULL;

	line->range.module = module_get(modules, line);
	if (line->range.module == NULL)
		return -ENOMEM;
	line->range.base = line->range.start - line->offset;
	if (line->offset != 0 && last != NULL && last->module == line->range.module)
		line->range.base = last->base;
	return ftr_vec_push(&space->ranges, line->range);
}

static void maps_parse(struct ftr_space *space, struct ftr_space_modules *modules, char *text)
{
	char *end;

	space->ranges.nr = 0;
	for (; *text != '\0'; text = end + 1) {
		struct line line = { .path = NULL };

		end = text + strcspn(text, "\n");
		if (*end == '\0')
			break;
		*end = '\0';
		if (line_parse(text, &line) && range_add(space, modules, &line) < 0)
			return;
	}
}

/* What was concluded of the mappings as they were. */
static void conclusions_drop(struct ftr_space *space)
{
	ftr_hashmap_fini(&space->frames);
	ftr_hashmap_init(&space->frames);
	ftr_unwinder_free(space->unwinder);
	space->unwinder = NULL;
}

bool ftr_space_load(struct ftr_space *space, struct ftr_space_modules *modules,
		    const struct ftr_tracee *tracee)
{
	struct ftr_strbuf text;
	char *copy;
	bool is_new;

	space->is_stale = false;
	ftr_strbuf_init(&text);
	if (ftr_tracee_read_file(tracee, "maps", MAPS_BYTES_MAX, &text) < 0)
		ftr_strbuf_clear(&text);
	is_new = strcmp(ftr_strbuf_str(&text), ftr_strbuf_str(&space->maps)) != 0;
	copy = is_new ? strdup(ftr_strbuf_str(&text)) : NULL;
	if (copy != NULL) {
		maps_parse(space, modules, copy);
		free(copy);
		conclusions_drop(space);
		ftr_strbuf_clear(&space->maps);
		ftr_strbuf_puts(&space->maps, ftr_strbuf_str(&text));
	}
	ftr_strbuf_fini(&text);
	return copy != NULL;
}

/* Its file is opened unless it is; false: it cannot be. */
static bool file_open(struct ftr_space_module *module)
{
	struct ftr_elf_file *file = module->file;

	if (file == NULL) {
		file = calloc(1, sizeof(*file));
		if (file != NULL && ftr_elf_file_open(file, module->path, NULL) < 0) {
			ftr_elf_file_close(file);
			file->elf = NULL;	/* and is not tried again */
			file->fd = -1;
		}
		module->file = file;
	}
	return file != NULL && file->elf != NULL;
}

/* Where its last segment ends. */
static uint64_t file_end(struct ftr_space_module *module, uint64_t start)
{
	uint64_t end = 0;
	GElf_Phdr phdr;
	size_t nr, i;

	if (!file_open(module) || elf_getphdrnum(module->file->elf, &nr) < 0)
		return start;
	for (i = 0; i < nr && gelf_getphdr(module->file->elf, (int)i, &phdr) != NULL; i++) {
		uint64_t high = phdr.p_vaddr + phdr.p_memsz - module->file->base;

		if (phdr.p_type == PT_LOAD && high > end)
			end = high;
	}
	return start + end;
}

/* @range takes its place among the others; those that it covers are gone. */
static int range_insert(struct ftr_space *space, struct ftr_space_range range)
{
	size_t kept = 0, at = 0;

	for (size_t i = 0; i < space->ranges.nr; i++) {
		const struct ftr_space_range *other = &space->ranges.v[i];

		if (other->start < range.end && range.start < other->end)
			continue;
		at += other->start < range.start;
		space->ranges.v[kept++] = *other;
	}
	space->ranges.nr = kept;
	if (ftr_vec_push(&space->ranges, range) < 0)
		return -ENOMEM;
	memmove(&space->ranges.v[at + 1], &space->ranges.v[at], (kept - at) * sizeof(range));
	space->ranges.v[at] = range;
	return 0;
}

int ftr_space_map(struct ftr_space *space, struct ftr_space_modules *modules, uint64_t start,
		  uint64_t end, const char *path)
{
	struct line line = { .path = path, .is_of_file = true };
	struct ftr_space_range range = { .start = start, .end = end, .base = start,
					 .is_code = true, .is_constant = true };
	struct stat status;

	if (stat(path, &status) < 0)
		return -errno;
	line.inode = status.st_ino;
	line.major = major(status.st_dev);
	line.minor = minor(status.st_dev);
	range.module = module_get(modules, &line);
	if (range.module == NULL)
		return -ENOMEM;
	if (end == 0)
		range.end = file_end(range.module, start);
	if (range.end <= start)
		return -ENOEXEC;
	conclusions_drop(space);
	return range_insert(space, range);
}

const struct ftr_space_range *ftr_space_find(const struct ftr_space *space, uint64_t addr)
{
	size_t low = 0, high = space->ranges.nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (space->ranges.v[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < space->ranges.nr && space->ranges.v[low].start <= addr ?
		       &space->ranges.v[low] : NULL;
}

/* A page as its segments fill it. */
static bool page_of_file(struct ftr_space_module *module, uint64_t nr, uint8_t *page)
{
	GElf_Phdr phdr;
	size_t phdr_nr, i;

	if (!file_open(module) || elf_getphdrnum(module->file->elf, &phdr_nr) < 0)
		return false;
	memset(page, 0, FTR_SPACE_PAGE);
	for (i = 0; i < phdr_nr; i++) {
		uint64_t from, low = nr * FTR_SPACE_PAGE, high = low + FTR_SPACE_PAGE;

		if (gelf_getphdr(module->file->elf, (int)i, &phdr) == NULL)
			return false;
		from = phdr.p_vaddr - module->file->base;
		if (phdr.p_type != PT_LOAD || from >= high || from + phdr.p_filesz <= low)
			continue;
		low = low < from ? from : low;
		high = high < from + phdr.p_filesz ? high : from + phdr.p_filesz;
		if (pread(module->file->fd, page + low % FTR_SPACE_PAGE, high - low,
			  (off_t)(phdr.p_offset + (low - from))) != (ssize_t)(high - low))
			return false;
	}
	return true;
}

static bool page_fill(const struct ftr_space_range *range, const struct ftr_tracee *tracee,
		      uint64_t nr, uint8_t *page)
{
	if (range->module->is_of_file)
		return page_of_file(range->module, nr, page);
	return tracee != NULL &&
	       ftr_tracee_read(tracee, range->base + nr * FTR_SPACE_PAGE, page, FTR_SPACE_PAGE) ==
		       FTR_SPACE_PAGE;
}

static const uint8_t *page_get(const struct ftr_space_range *range,
			       const struct ftr_tracee *tracee, uint64_t nr)
{
	uint8_t *page = ftr_hashmap_find(&range->module->pages, nr);

	if (page != NULL)
		return page;
	page = malloc(FTR_SPACE_PAGE);
	if (page != NULL &&
	    (!page_fill(range, tracee, nr, page) ||
	     ftr_hashmap_set(&range->module->pages, nr, page) < 0)) {
		free(page);
		page = NULL;
	}
	return page;
}

static bool bytes_read(const struct ftr_space_range *range, const struct ftr_tracee *tracee,
		       uint64_t addr, void *bytes, size_t len)
{
	uint64_t at = addr - range->base;
	uint8_t *to = bytes;

	while (len > 0) {
		const uint8_t *page = page_get(range, tracee, at / FTR_SPACE_PAGE);
		size_t in = at % FTR_SPACE_PAGE, part = FTR_SPACE_PAGE - in;

		if (page == NULL)
			return false;
		part = part < len ? part : len;
		memcpy(to, page + in, part);
		to += part;
		at += part;
		len -= part;
	}
	return true;
}

bool ftr_space_read(const struct ftr_space_range *range, const struct ftr_tracee *tracee,
		    uint64_t addr, uint64_t *word)
{
	return bytes_read(range, tracee, addr, word, sizeof(*word));
}

/* .eh_frame_hdr at @hdr from the base. */
static void table_read(const struct ftr_space_range *range, const struct ftr_tracee *tracee,
		       uint64_t hdr)
{
	struct ftr_space_table *table = &range->module->table;
	uint8_t bytes[HDR_BYTES];
	uint32_t nr;

	if (!bytes_read(range, tracee, range->base + hdr, bytes, sizeof(bytes)) || bytes[0] != 1 ||
	    bytes[2] != ENCODING_COUNT || bytes[3] != ENCODING_TABLE)
		return;
	memcpy(&nr, bytes + 8, sizeof(nr));
	*table = (struct ftr_space_table){ .from = hdr, .entries = hdr + HDR_BYTES, .nr = nr };
}

/* The program headers, as they are mapped: the file may be gone. */
static void module_look(const struct ftr_space_range *range, const struct ftr_tracee *tracee)
{
	Elf64_Phdr phdrs[PHDRS_MAX];
	uint64_t first = UINT64_MAX, hdr = 0;
	Elf64_Ehdr elf;
	size_t i, nr;

	if (!bytes_read(range, tracee, range->base, &elf, sizeof(elf)) ||
	    memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_ident[EI_CLASS] != ELFCLASS64)
		return;
	nr = elf.e_phnum < PHDRS_MAX ? elf.e_phnum : PHDRS_MAX;
	if (!bytes_read(range, tracee, range->base + elf.e_phoff, phdrs, nr * sizeof(phdrs[0])))
		return;
	for (i = 0; i < nr; i++) {
		if (phdrs[i].p_type == PT_LOAD && phdrs[i].p_vaddr < first)
			first = phdrs[i].p_vaddr;
		if (phdrs[i].p_type == PT_GNU_EH_FRAME)
			hdr = phdrs[i].p_vaddr;
	}
	if (hdr != 0)
		table_read(range, tracee, hdr - (first & ~(uint64_t)(FTR_SPACE_PAGE - 1)));
}

static void root_path(const struct ftr_space_module *module, const struct ftr_tracee *tracee,
		      struct ftr_strbuf *path)
{
	ftr_strbuf_init(path);
	if (!module->is_of_file && tracee != NULL)
		ftr_strbuf_printf(path, "/proc/%d/root", (int)tracee->tid);
	ftr_strbuf_puts(path, module->path);
}

/* Of .eh_frame in the file. */
static void table_make(struct ftr_space_module *module, const struct ftr_tracee *tracee)
{
	struct ftr_space_table *table = &module->table;
	struct ftr_code_ranges ranges = { .ranges = { 0 } };
	struct ftr_elf_file file;
	struct ftr_strbuf path;
	size_t i;

	root_path(module, tracee, &path);
	if (ftr_elf_file_open(&file, ftr_strbuf_str(&path), NULL) == 0 &&
	    ftr_code_ranges_load(&ranges, &file) == 0)
		table->made = calloc(ranges.ranges.nr + 1, sizeof(*table->made));
	for (i = 0; table->made != NULL && i < ranges.ranges.nr; i++) {
		const struct ftr_code_range *range = &ranges.ranges.v[i];

		table->made[i] = (struct ftr_space_entry){
			.start = (int32_t)(range->addr - file.base),
			.frame = (int32_t)(range->frame - file.base),
		};
	}
	table->nr = i;
	ftr_code_ranges_fini(&ranges);
	ftr_elf_file_close(&file);
	ftr_strbuf_fini(&path);
}

const struct ftr_space_table *ftr_space_table(const struct ftr_space_range *range,
					      const struct ftr_tracee *tracee)
{
	struct ftr_space_module *module = range->module;

	if (!module->is_looked_at) {
		module->is_looked_at = true;
		module_look(range, tracee);
		if (module->table.nr == 0 && module->path[0] == '/')
			table_make(module, tracee);
	}
	return &module->table;
}

const struct ftr_symbol *ftr_space_symbol(struct ftr_space_module *module,
					  const struct ftr_tracee *tracee, uint64_t offset)
{
	struct ftr_strbuf path;

	if (!module->has_symbols && module->path[0] == '/') {
		module->has_symbols = true;
		root_path(module, tracee, &path);
		(void)ftr_symtab_load_elf(&module->tab, ftr_strbuf_str(&path), NULL);
		ftr_strbuf_fini(&path);
	}
	return ftr_symtab_find(&module->tab, offset);
}
