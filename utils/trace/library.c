/* SPDX-License-Identifier: MIT */
/* Where library calls lead to: an index of what the modules of a session define. */
#include "utils/trace/library.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/object/symtab.h"
#include "utils/trace/symbol_dir.h"

void ftr_trace_module_load(struct ftr_trace *trace, struct ftr_module *module)
{
	if (module->is_loaded)
		return;
	module->is_loaded = true;
	if (trace->symbol_dir != NULL)
		module->symtab = ftr_symbol_dir_load(trace->symbol_dir, module, trace->diag);
	if (module->symtab == NULL && trace->loader != NULL && trace->loader->module_load != NULL)
		trace->loader->module_load(trace, module);
}

static bool starts_with(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* The tracer's own library comes before what it interposes; it is not what the program meant. */
static bool is_tracer(const struct ftr_module *module)
{
	return starts_with(module->name, "libmcount");
}

/* Lower comes first. */
static int rank(const struct ftr_session *session, const struct ftr_mapping *mapping)
{
	if (session->exename != NULL && strcmp(mapping->module->path, session->exename) == 0)
		return 0;
	if (starts_with(mapping->module->name, "ld-linux") ||
	    starts_with(mapping->module->name, "ld-2."))
		return 3;
	return mapping->since_ns == 0 ? 1 : 2;
}

static int mapping_compare(const void *a, const void *b, void *arg)
{
	const struct ftr_mapping *x = *(const struct ftr_mapping *const *)a;
	const struct ftr_mapping *y = *(const struct ftr_mapping *const *)b;
	int by_rank = rank(arg, x) - rank(arg, y);

	if (by_rank != 0)
		return by_rank;
	return x->start < y->start ? 1 : x->start > y->start ? -1 : 0;
}

static bool is_export(const struct ftr_symbol *symbol)
{
	return symbol->type == 'T' || symbol->type == 'w' || symbol->type == 'W' ||
	       symbol->type == 'u';
}

/* Names go into the index with the first module that defines them. */
static int module_index(struct ftr_trace *trace, struct ftr_session *session,
			struct ftr_module *module)
{
	ftr_trace_module_load(trace, module);
	for (size_t i = 0; module->symtab != NULL && i < module->symtab->nr; i++) {
		const struct ftr_symbol *symbol = &module->symtab->symbols[i];
		const struct ftr_str *name;

		if (!is_export(symbol))
			continue;
		name = ftr_strpool_get(&trace->names, symbol->name, strlen(symbol->name));
		if (name == NULL)
			return -ENOMEM;
		if (ftr_hashmap_find(&session->libraries, name->id + 1) == NULL &&
		    ftr_hashmap_set(&session->libraries, name->id + 1, module) < 0)
			return -ENOMEM;
	}
	return 0;
}

static void session_index(struct ftr_trace *trace, struct ftr_session *session)
{
	size_t nr = session->mappings.nr;
	const struct ftr_mapping **order = calloc(nr + 1, sizeof(*order));

	session->has_libraries = true;
	if (order == NULL)
		return;
	for (size_t i = 0; i < nr; i++)
		order[i] = &session->mappings.v[i];
	qsort_r(order, nr, sizeof(*order), mapping_compare, session);
	for (size_t i = 0; i < nr; i++) {
		if (!is_tracer(order[i]->module) &&
		    module_index(trace, session, order[i]->module) < 0)
			break;
	}
	free(order);
}

const struct ftr_module *ftr_library_find(struct ftr_trace *trace, struct ftr_session *session,
					  const char *name)
{
	const struct ftr_str *str;

	if (!session->has_libraries)
		session_index(trace, session);
	str = ftr_strpool_get(&trace->names, name, strlen(name));
	return str != NULL ? ftr_hashmap_find(&session->libraries, str->id + 1) : NULL;
}
