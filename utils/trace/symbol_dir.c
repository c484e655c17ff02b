/* SPDX-License-Identifier: MIT */
/* See symbol_dir.h. */
#include "utils/trace/symbol_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/base/istream.h"
#include "utils/base/strbuf.h"
#include "utils/object/symtab.h"
#include "utils/trace/func.h"

static int text_load(struct ftr_symtab *symtab, const char *path, struct ftr_diag *diag,
		     struct ftr_err *err)
{
	struct ftr_istream in;
	int ret = ftr_istream_open(&in, AT_FDCWD, path, err);

	if (ret < 0)
		return ret;
	ret = ftr_symtab_load_text(symtab, &in, diag, err);
	ftr_istream_close(&in);
	return ret;
}

static bool is_of_build(const struct ftr_symtab *symtab, const struct ftr_module *module,
			const char *path, struct ftr_diag *diag)
{
	if (symtab->build_id == NULL || module->build_id == NULL ||
	    strcmp(symtab->build_id, module->build_id) == 0)
		return true;
	ftr_diag_warn(diag, "%s: symbols of another build of %s are not used: build-id %s, "
		      "recorded was %s", path, module->name, symtab->build_id, module->build_id);
	return false;
}

/* What is at @path; false where it is of no use. */
static bool load(struct ftr_symtab *symtab, const struct ftr_module *module, const char *path,
		 bool is_text, struct ftr_diag *diag)
{
	struct ftr_err err = { 0 };
	int ret;

	if (access(path, F_OK) < 0)
		return false;
	ret = is_text ? text_load(symtab, path, diag, &err) :
			ftr_symtab_load_elf(symtab, path, &err);
	if (ret < 0)
		ftr_diag_warn(diag, "%s", err.text);
	return ret == 0 && is_of_build(symtab, module, path, diag);
}

/* As above, with a table that is ready for it, or finished. */
static bool try(struct ftr_symtab *symtab, const struct ftr_module *module, const char *dir,
		bool is_text, struct ftr_diag *diag)
{
	struct ftr_strbuf path;
	bool is_there;

	ftr_strbuf_init(&path);
	ftr_strbuf_printf(&path, "%s/%s%s", dir, module->name, is_text ? ".sym" : "");
	ftr_symtab_init(symtab);
	is_there = !path.failed && load(symtab, module, ftr_strbuf_str(&path), is_text, diag);
	if (!is_there)
		ftr_symtab_fini(symtab);
	ftr_strbuf_fini(&path);
	return is_there;
}

struct ftr_symtab *ftr_symbol_dir_load(const char *dir, struct ftr_module *module,
				       struct ftr_diag *diag)
{
	struct ftr_symtab *symtab;

	if (module->is_kernel || *module->name == '\0')
		return NULL;
	symtab = calloc(1, sizeof(*symtab));
	if (symtab == NULL)
		return NULL;
	if (try(symtab, module, dir, true, diag))
		return symtab;
	if (try(symtab, module, dir, false, diag)) {
		module->is_absolute = false;
		return symtab;
	}
	free(symtab);
	return NULL;
}
