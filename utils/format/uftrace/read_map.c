/* SPDX-License-Identifier: MIT */
/* sid-*.map and NAME.sym of a uftrace directory: where modules lie, and what is in them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/text.h"
#include "utils/format/uftrace/read.h"
#include "utils/object/symtab.h"

#define BUILD_ID_CHARS 40

/* "START-END PERM OFFSET DEV INODE PATH [build-id:HEX]". */
struct map_line {
	uint64_t start;
	uint64_t end;
	struct ftr_slice path;
	struct ftr_slice build_id;
};

static bool map_line_parse(struct ftr_slice rest, struct map_line *line)
{
	struct ftr_slice range, start, skipped;
	const char *id;

	if (!ftr_slice_split(&rest, ' ', &range) || !ftr_slice_split(&range, '-', &start) ||
	    ftr_parse_u64(start, 16, &line->start) < 0 ||
	    ftr_parse_u64(range, 16, &line->end) < 0 || line->end <= line->start)
		return false;
	for (int i = 0; i < 4; i++) {
		if (!ftr_slice_split(&rest, ' ', &skipped))
			return false;
	}
	rest = ftr_slice_trim(rest);
	line->build_id = ftr_slice_make("", 0);
	id = rest.len == 0 ? NULL : memmem(rest.s, rest.len, " build-id:", 10);
	if (id != NULL) {
		line->build_id = ftr_slice_make(id + 10, rest.len - (size_t)(id - rest.s) - 10);
		rest.len = (size_t)(id - rest.s);
	}
	line->path = ftr_slice_trim(rest);
	return true;
}

static int map_add(struct uft_reader *reader, struct ftr_session *session,
		   const struct map_line *line)
{
	struct ftr_trace *trace = reader->trace;
	struct ftr_mapping mapping = { .start = line->start, .end = line->end };
	char build_id[BUILD_ID_CHARS + 1];
	char *path;

	if (ftr_slice_eq(line->path, "[stack]"))
		session->stack_end = line->end;
	if (line->path.len == 0 || line->path.s[0] == '[')
		return 0;
	/* Plain /proc/PID/maps lines (old recorders): segments of one file are one mapping. */
	path = ftr_arena_strndup(&trace->arena, line->path.s, line->path.len);
	if (path == NULL)
		return -ENOMEM;
	snprintf(build_id, sizeof(build_id), "%.*s", (int)(line->build_id.len > BUILD_ID_CHARS ?
		 BUILD_ID_CHARS : line->build_id.len), line->build_id.s);
	mapping.module = ftr_trace_module_get(trace, path, build_id[0] == '\0' ? NULL : build_id);
	if (mapping.module == NULL)
		return -ENOMEM;
	mapping.module->is_absolute = !(trace->info.feature_mask & FTR_FEATURE_SYM_REL_ADDR);
	if (session->mappings.nr > 0) {
		struct ftr_mapping *last = &session->mappings.v[session->mappings.nr - 1];

		if (last->module == mapping.module && last->end <= mapping.start) {
			last->end = mapping.end;
			return 0;
		}
	}
	return ftr_session_map(session, &mapping);
}

int uft_map_load(struct uft_reader *reader, struct ftr_session *session)
{
	struct ftr_diag *diag = reader->trace->diag;
	struct ftr_err reason;
	struct ftr_istream in;
	struct map_line parsed;
	const char *line;
	char name[40];
	size_t len;
	int ret = 0;

	snprintf(name, sizeof(name), "sid-%s.map", session->sid);
	if (ftr_dir_file(reader->dir, name, &in, &reason) < 0) {
		if (reader->unmapped_nr++ == 0)
			ftr_diag_warn(diag, "%s: functions of this session are shown as addresses",
				      reason.text);
		return 0;
	}
	while (ret == 0 && ftr_istream_whole_line(&in, &line, &len, diag)) {
		if (len == 0)
			continue;
		if (map_line_parse(ftr_slice_make(line, len), &parsed))
			ret = map_add(reader, session, &parsed);
		else
			ftr_diag_warn(diag, "%s:%u: damaged line is ignored: %.*s", name, in.lineno,
				      len > 80 ? 80 : (int)len, line);
	}
	ftr_istream_close(&in);
	return ret;
}

/* "# path name: PATH" and "# build-id: HEX" of the first lines: is the file about this module? */
static bool header_fits(const struct ftr_istream *in, const struct ftr_module *module)
{
	struct ftr_istream head = { .data = in->data, .size = in->size };
	const char *line;
	size_t len;

	while (ftr_istream_line(&head, &line, &len) && !head.is_line_cut && len > 0 &&
	       line[0] == '#') {
		struct ftr_slice text = ftr_slice_make(line, len);
		struct ftr_slice key;

		if (!ftr_slice_split(&text, ':', &key))
			continue;
		text = ftr_slice_trim(text);
		if (ftr_slice_eq(key, "# path name") && !ftr_slice_eq(text, module->path))
			return false;
		if (ftr_slice_eq(key, "# build-id") && module->build_id != NULL &&
		    !ftr_slice_eq(text, module->build_id))
			return false;
	}
	return true;
}

/* The second name of a module whose first one is taken: four characters distinguish them. */
static void clash_name(const struct ftr_module *module, const char *suffix, char *name, size_t size)
{
	unsigned sum = 0;

	if (module->build_id != NULL) {
		snprintf(name, size, "%s-%.4s%s", module->name, module->build_id, suffix);
		return;
	}
	for (const char *p = module->path; *p != '\0'; p++)
		sum += (unsigned char)*p;
	snprintf(name, size, "%s-%04x%s", module->name, sum & 0xffff, suffix);
}

static int file_try(struct uft_reader *reader, const struct ftr_module *module, const char *name,
		    struct ftr_istream *in)
{
	struct ftr_err err;
	int ret;

	if (!ftr_dir_has(reader->dir, name))
		return -ENOENT;
	ret = ftr_dir_file(reader->dir, name, in, &err);
	if (ret < 0) {
		ftr_diag_warn(reader->trace->diag, "%s", err.text);
		return ret;
	}
	if (header_fits(in, module))
		return 0;
	ftr_istream_close(in);
	return -ENOENT;
}

int uft_module_file(struct uft_reader *reader, const struct ftr_module *module, const char *suffix,
		    struct ftr_istream *in)
{
	size_t size = strlen(module->name) + strlen(suffix) + 8;
	char *name = malloc(size);
	int ret;

	if (name == NULL)
		return -ENOMEM;
	snprintf(name, size, "%s%s", module->name, suffix);
	ret = file_try(reader, module, name, in);
	if (ret < 0) {
		clash_name(module, suffix, name, size);
		ret = file_try(reader, module, name, in);
	}
	free(name);
	return ret;
}

static int symbols_from_text(struct uft_reader *reader, const struct ftr_module *module,
			     struct ftr_symtab *symtab)
{
	struct ftr_err err = { 0 };
	struct ftr_istream in;
	int ret = uft_module_file(reader, module, ".sym", &in);

	if (ret < 0)
		return ret;
	ftr_symtab_init(symtab);
	ret = ftr_symtab_load_text(symtab, &in, reader->trace->diag, &err);
	ftr_istream_close(&in);
	if (ret < 0) {
		ftr_diag_warn(reader->trace->diag, "%s", err.text);
		ftr_symtab_fini(symtab);
	}
	return ret;
}

/* The file itself, if it is still what was recorded. */
static int symbols_from_elf(struct uft_reader *reader, const struct ftr_module *module,
			    struct ftr_symtab *symtab)
{
	struct ftr_err err = { 0 };
	int ret;

	ftr_symtab_init(symtab);
	ret = ftr_symtab_load_elf(symtab, module->path, &err);
	if (ret == 0 && symtab->build_id != NULL && module->build_id != NULL &&
	    strcmp(symtab->build_id, module->build_id) != 0) {
		ftr_diag_warn(reader->trace->diag,
			      "%s: changed since it was recorded: its functions "
			      "are shown as addresses",
			      module->path);
		ret = -EXDEV;
	}
	if (ret < 0)
		ftr_symtab_fini(symtab);
	return ret;
}

static int symbols_load(struct uft_reader *reader, struct ftr_module *module,
			struct ftr_symtab *symtab)
{
	int ret;

	if (module->is_kernel)
		return uft_kallsyms_load(reader, symtab);
	ret = symbols_from_text(reader, module, symtab);
	if (ret < 0 && reader->dir->is_real && module->path[0] == '/') {
		ret = symbols_from_elf(reader, module, symtab);
		module->is_absolute = false;
	}
	return ret;
}

void uft_module_load(struct ftr_trace *trace, struct ftr_module *module)
{
	struct ftr_symtab *symtab = calloc(1, sizeof(*symtab));

	if (symtab == NULL)
		return;
	if (symbols_load(trace->reader, module, symtab) == 0)
		module->symtab = symtab;
	else
		free(symtab);
}
