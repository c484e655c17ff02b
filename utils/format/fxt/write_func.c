/* SPDX-License-Identifier: MIT */
/*
 * FXT writer: functions.  A call has the names of its module and function; what else is known of
 * the function stands in blob ftr.symbols before its first call (doc/fxt.md, "Functions").
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "utils/base/bits.h"
#include "utils/format/fxt/write.h"
#include "utils/object/demangle.h"
#include "utils/trace/event.h"
#include "utils/trace/func.h"
#include "utils/trace/trace.h"

static bool is_field(const char *s)
{
	return strpbrk(s, "\t\n") == NULL;
}

static bool fits_line(const struct ftr_func *func)
{
	return is_field(func->mangled) && func->mangled[0] != '\0' && is_field(func->name) &&
	       strnlen(func->name, func->name_len) == func->name_len &&
	       (func->module == NULL || is_field(func->module->path));
}

/* Does the trace know more than two names? */
static bool has_symbol(const struct ftr_func *func)
{
	const struct ftr_module *module = func->module;

	return func->addr != 0 || func->size != 0 || func->symbol_type != '?' ||
	       func->mangled != func->name || (module != NULL && module->name != module->path);
}

/*
 * Number of a module in ftr.symbols; 0 for NULL.  At first its line is appended to @text:
 * "M NUMBER BUILD-ID PATH".  0 or -ENOMEM.
 */
static int module_number(struct fxt_writer *w, const struct ftr_module *module,
		      struct ftr_strbuf *text, uint32_t *number)
{
	uintptr_t known;

	*number = 0;
	if (module == NULL)
		return 0;
	known = (uintptr_t)ftr_hashmap_find(&w->modules, module->id);
	if (known == 0) {
		known = w->modules.nr + 1;
		if (ftr_hashmap_set(&w->modules, module->id, (void *)known) < 0)
			return fxt_no_memory(w);
		ftr_strbuf_printf(text, "M\t%u\t%s\t%s\n", (unsigned)known,
				  module->build_id == NULL ? "" : module->build_id, module->path);
	}
	*number = (uint32_t)known;
	return 0;
}

static const char *text_of(const struct fxt_writer *w, uint32_t id)
{
	return id == FXT_ID_NONE ? "" : w->strings.texts.v[id].str->s;
}

/* "F MODULE ADDRESS CALL-PLACE SIZE TYPE NAME MANGLED LABEL" */
static int put_symbol(struct fxt_writer *w, const struct ftr_func *func, uint64_t addr,
		      const struct fxt_func *added)
{
	struct ftr_strbuf text;
	uint32_t module;
	int ret;

	ftr_strbuf_init(&text);
	ret = module_number(w, func->module, &text, &module);
	ftr_strbuf_printf(&text, "F\t%u\t%" PRIx64 "\t%" PRIx64 "\t%u\t%c\t%s\t%s\t%s\n",
			  module, func->addr, addr, func->size, func->symbol_type,
			  text_of(w, added->name), func->mangled, text_of(w, added->symbol));
	if (ret == 0 && text.failed)
		ret = fxt_no_memory(w);
	if (ret == 0)
		fxt_write_blob(w, FXT_BLOB_SYMBOLS, text.s, text.len);
	ftr_strbuf_fini(&text);
	return ret;
}

/*
 * A label that distinguishes a function from others of its name: "tt(char)", with the address
 * where need be.
 */
static int make_label(struct fxt_writer *w, const struct ftr_func *func, uint32_t *label)
{
	char *full = ftr_demangle(func->mangled, FTR_DEMANGLE_FULL);
	struct ftr_strbuf text;
	int ret;

	if (full == NULL)
		return fxt_no_memory(w);
	ret = fxt_string_id(w, full, strlen(full), label);
	if (ret == 0 && (strcmp(full, func->name) == 0 || !is_field(full) ||
			 ftr_hashmap_find(&w->labels, *label) != NULL)) {
		ftr_strbuf_init(&text);
		ftr_strbuf_printf(&text, "%s@%" PRIx64, is_field(full) ? full : "", func->addr);
		ret = text.failed ? fxt_no_memory(w) : fxt_string_id(w, text.s, text.len, label);
		ftr_strbuf_fini(&text);
	}
	if (ret == 0 && ftr_hashmap_set(&w->labels, *label, w) < 0)
		ret = fxt_no_memory(w);
	free(full);
	return ret;
}

/*
 * The first function of a name needs no more than that; those that follow have a label at each
 * call.
 */
static int func_symbol(struct fxt_writer *w, const struct ftr_func *func, uint64_t addr,
		       struct fxt_func *added)
{
	uint64_t key = ftr_u64_of(added->category, added->name);
	bool is_first = ftr_hashmap_find(&w->func_names, key) == NULL;
	int ret = 0;

	if (is_first && ftr_hashmap_set(&w->func_names, key, w) < 0)
		return fxt_no_memory(w);
	if (!fits_line(func) || (is_first && !has_symbol(func)))
		return 0;
	if (!is_first)
		ret = make_label(w, func, &added->symbol);
	return ret < 0 ? ret : put_symbol(w, func, addr, added);
}

static int func_loc(struct fxt_writer *w, const struct ftr_func *func, uint32_t *loc)
{
	struct ftr_strbuf text;
	int ret;

	if (func->src_file == NULL)
		return 0;
	ftr_strbuf_init(&text);
	ftr_strbuf_printf(&text, "%s:%u", func->src_file, func->src_line);
	ret = fxt_string_id(w, ftr_strbuf_str(&text), text.len, loc);
	ftr_strbuf_fini(&text);
	return ret;
}

/* "ns::cls::cls", "ns::cls::~cls": nothing else is called like its class. */
static bool is_special_method(const char *scope, size_t scope_len, const char *method)
{
	size_t start = scope_len;

	while (start > 0 && scope[start - 1] != ':')
		start--;
	return method[0] == '~' || (strlen(method) == scope_len - start &&
				    memcmp(scope + start, method, scope_len - start) == 0);
}

/*
 * The class of a method that is known to have an object: constructors, destructors, and const
 * methods, whose mangled names differ from those of functions of a namespace and of static ones.
 */
static int func_class(struct fxt_writer *w, const struct ftr_func *func, uint32_t *id)
{
	bool is_const = strncmp(func->mangled, "_ZNK", 4) == 0;
	char *name, *colon = NULL;
	int ret = 0;

	if (strncmp(func->mangled, "_ZN", 3) != 0)
		return 0;
	name = ftr_demangle(func->mangled, FTR_DEMANGLE_SIMPLE);
	if (name == NULL)
		return fxt_no_memory(w);
	if (strstr(name, "operator") == NULL)
		colon = strrchr(name, ':');
	if (colon != NULL && colon > name + 1 &&
	    (is_const || is_special_method(name, (size_t)(colon - 1 - name), colon + 1)))
		ret = fxt_string_id(w, name, (size_t)(colon - 1 - name), id);
	free(name);
	return ret;
}

static int func_make(struct fxt_writer *w, const struct ftr_func *func, uint64_t addr)
{
	struct fxt_func added = { .category = FXT_ID_NONE,
				  .loc = FXT_ID_NONE,
				  .symbol = FXT_ID_NONE,
				  .instance_of = FXT_ID_NONE,
				  .is_made = true };
	int ret;

	if (ftr_vec_reach(&w->funcs, func->id) < 0)
		return fxt_no_memory(w);
	ret = fxt_string_id(w, func->name, func->name_len, &added.name);
	if (ret == 0 && func->module != NULL)
		ret = fxt_string_id(w, func->module->name, strlen(func->module->name),
				    &added.category);
	if (ret == 0)
		ret = func_loc(w, func, &added.loc);
	if (ret == 0)
		ret = func_class(w, func, &added.instance_of);
	if (ret == 0)
		ret = func_symbol(w, func, addr, &added);
	added.makes_thread = fxt_func_makes_thread(func->name);
	added.has_args = added.loc != FXT_ID_NONE || added.symbol != FXT_ID_NONE ||
			 added.makes_thread;
	w->funcs.v[func->id] = added;
	return ret;
}

/*
 * What a pointer named may be made before its first call is read, which is what has its line where
 * that comes from a file of this format.
 */
static int func_loc_late(struct fxt_writer *w, const struct ftr_func *func, struct fxt_func *known)
{
	int ret = known->loc == FXT_ID_NONE ? func_loc(w, func, &known->loc) : 0;

	known->has_args |= known->loc != FXT_ID_NONE;
	return ret;
}

/* The place of a call that was not recorded is unknown; the next call has it. */
int fxt_func_add(struct fxt_writer *w, const struct ftr_event *ev)
{
	const struct ftr_func *func = ev->call.func;
	bool has_addr = !(ev->flags & FTR_EVENT_INFERRED) || !has_symbol(func) || !fits_line(func);
	int ret;

	if (func->id >= w->funcs.nr || !w->funcs.v[func->id].is_made) {
		ret = func_make(w, func, has_addr ? fxt_call_place(w, ev) : 0);
	} else {
		ret = func_loc_late(w, func, &w->funcs.v[func->id]);
		if (ret == 0 && has_addr)
			ret = put_symbol(w, func, fxt_call_place(w, ev), &w->funcs.v[func->id]);
	}
	if (ret == 0)
		w->funcs.v[func->id].is_known = has_addr;
	return ret;
}

int fxt_func_describe(struct fxt_writer *w, const struct ftr_func *func)
{
	return func->id < w->funcs.nr && w->funcs.v[func->id].is_made ? 0 : func_make(w, func, 0);
}

int fxt_func_at(struct fxt_writer *w, const struct ftr_event *ev, uint64_t addr)
{
	struct ftr_session *session = ftr_task_session_at(ev->task, ev->time_ns);
	const struct ftr_func *func;
	uint64_t offset;

	func = ftr_trace_find((struct ftr_trace *)w->trace, session, ev->time_ns, addr, &offset);
	return func == NULL ? 0 : fxt_func_describe(w, func);
}

/* ---- where modules lay in memory, image by image (lines S and B) ---- */

static bool is_file(const struct ftr_mapping *mapping)
{
	const char *path = mapping->module->path;

	return !mapping->is_overlay && path[0] != '\0' && strpbrk(path, "\t\n") == NULL;
}

/* "B MODULE START END SINCE" */
static int put_base(struct fxt_writer *w, const struct ftr_mapping *mapping,
		    struct ftr_strbuf *text)
{
	const struct ftr_module *module = mapping->module;
	uint32_t number;
	int ret;

	ret = module_number(w, module, text, &number);
	if (ret == 0 && ftr_hashmap_set(&w->mapped, module->id, w) < 0)
		ret = fxt_no_memory(w);
	ftr_strbuf_printf(text, "B\t%u\t%" PRIx64 "\t%" PRIx64 "\t%" PRIu64 "\n", number,
			  mapping->start, mapping->is_open ? 0 : mapping->end, mapping->since_ns);
	return ret;
}

/* "S SID" and what is mapped there. */
static int put_session(struct fxt_writer *w, const struct ftr_session *session,
		       struct ftr_strbuf *text)
{
	bool has_files = false;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < session->mappings.nr; i++) {
		if (!is_file(&session->mappings.v[i]))
			continue;
		if (!has_files)
			ftr_strbuf_printf(text, "S\t%.16s\n", session->sid);
		has_files = true;
		ret = put_base(w, &session->mappings.v[i], text);
	}
	return ret;
}

int fxt_write_maps(struct fxt_writer *w)
{
	const struct ftr_trace *trace = w->trace;
	struct ftr_strbuf text;
	int ret = 0;

	ftr_strbuf_init(&text);
	for (size_t i = 0; ret == 0 && i < trace->sessions.nr; i++) {
		if (fxt_session_is_written(trace->sessions.v[i]))
			ret = put_session(w, trace->sessions.v[i], &text);
	}
	if (ret == 0 && text.failed)
		ret = fxt_no_memory(w);
	if (ret == 0)
		fxt_write_blob(w, FXT_BLOB_SYMBOLS, ftr_strbuf_str(&text), text.len);
	ftr_strbuf_fini(&text);
	return ret;
}

uint64_t fxt_call_place(const struct fxt_writer *w, const struct ftr_event *ev)
{
	const struct ftr_session *session = ftr_task_session_at(ev->task, ev->time_ns);
	const struct ftr_module *module = ev->call.func->module;
	const struct ftr_mapping *mapping;
	uint64_t addr = ev->call.addr;

	if (module == NULL || session == NULL || ftr_hashmap_find(&w->mapped, module->id) == NULL)
		return addr;
	mapping = ftr_session_find(session, ev->time_ns, addr);
	if (mapping == NULL || mapping->module != module)
		mapping = ftr_session_find_module(session, module, ev->time_ns);
	if (mapping == NULL)		/* it counts from 0 there */
		return addr;
	return addr < mapping->start ? 0 : addr - mapping->start;
}
