/* SPDX-License-Identifier: MIT */
/* SWAP writer: processes and their libraries, where functions begin, and the side file. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/ostream.h"
#include "utils/format/swap/probe.h"
#include "utils/format/swap/write.h"
#include "utils/object/symtab.h"

/* ---- processes ---- */

static struct swap_process *process_get(struct swap_writer *w, int32_t pid, bool *is_new)
{
	struct swap_process *process = ftr_hashmap_find(&w->processes, (uint32_t)pid);

	*is_new = process == NULL;
	if (process != NULL)
		return process;
	process = calloc(1, sizeof(*process));
	if (process == NULL || ftr_vec_push(&w->order, process) < 0) {
		free(process);
		return NULL;
	}
	process->pid = pid;
	return ftr_hashmap_set(&w->processes, (uint32_t)pid, process) < 0 ? NULL : process;
}

static bool is_library(const struct ftr_mapping *mapping, const struct ftr_mapping *program)
{
	return mapping != program && !mapping->is_overlay && !mapping->module->is_kernel &&
	       mapping->since_ns == 0 && strcmp(mapping->module->path, SWAP_MADE_PATH) != 0;
}

static const struct ftr_mapping *program_of(const struct ftr_session *session)
{
	for (size_t i = 0; session->exename != NULL && i < session->mappings.nr; i++) {
		const struct ftr_mapping *mapping = &session->mappings.v[i];

		if (strcmp(mapping->module->path, session->exename) == 0)
			return mapping;
	}
	return NULL;
}

static int put_mapping(struct swap_writer *w, const struct ftr_mapping *mapping, const char *path)
{
	if (swap_put_number(w, mapping == NULL ? 0 : mapping->start) < 0 ||
	    swap_put_number(w, mapping == NULL ? 0 : mapping->end) < 0)
		return -ENOMEM;
	return swap_put_text(w, path);
}

static int put_libraries(struct swap_writer *w, const struct ftr_session *session,
			 const struct ftr_mapping *program)
{
	size_t at = w->values.all.nr;
	uint64_t nr = 0;
	int ret = swap_put_number(w, 0);

	for (size_t i = 0; session != NULL && ret == 0 && i < session->mappings.nr; i++) {
		const struct ftr_mapping *mapping = &session->mappings.v[i];

		if (!is_library(mapping, program))
			continue;
		ret = put_mapping(w, mapping, mapping->module->path);
		nr++;
	}
	if (ret == 0)
		w->values.all.v[at].u = nr;
	return ret;
}

/* The command line, where it is that of this program. */
static const char *command_of(struct swap_writer *w, const struct ftr_session *session,
			      const struct ftr_task *task)
{
	const struct ftr_info *info = &w->trace->info;
	size_t len;

	if (session == NULL || session->exename == NULL)
		return task->name;
	if (info->cmdline == NULL || info->exename == NULL ||
	    strcmp(info->exename, session->exename) != 0)
		return session->exename;
	len = strlen(info->cmdline);
	while (len > 0 && info->cmdline[len - 1] == ' ')
		len--;
	ftr_strbuf_clear(&w->text);
	ftr_strbuf_put(&w->text, info->cmdline, len);
	return ftr_strbuf_str(&w->text);
}

static int write_process(struct swap_writer *w, const struct ftr_event *ev,
			 const struct ftr_session *session)
{
	const struct ftr_mapping *program = session == NULL ? NULL : program_of(session);
	const struct ftr_task *main = ftr_trace_task_find(w->trace, ev->task->pid);
	const struct ftr_task *task = main == NULL ? ev->task : main;
	uint64_t start_ns = session == NULL || session->start_ns == 0 ? ev->time_ns :
									session->start_ns;
	uint64_t ppid = task->parent == NULL ? 0 : (uint32_t)task->parent->pid;

	swap_values_begin(w);
	if (swap_put_number(w, (uint32_t)ev->task->pid) < 0 ||
	    swap_put_text(w, command_of(w, session, task)) < 0 || swap_put_number(w, ppid) < 0 ||
	    swap_put_number(w, swap_time_of(start_ns + (uint64_t)w->offset_ns)) < 0 ||
	    put_mapping(w, program, session == NULL || session->exename == NULL ?
					    "" : session->exename) < 0 ||
	    put_libraries(w, session, program) < 0)
		return swap_no_memory(w);
	if (ftr_vec_push(&w->programs, session) < 0)
		return swap_no_memory(w);
	return swap_write(w, SWAP_MSG_PROCESS_INFO, ev->time_ns);
}

/* What dlopen brought in since. */
static int write_maps(struct swap_writer *w, const struct ftr_event *ev,
		      const struct ftr_session *session, uint64_t since_ns)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < session->mappings.nr; i++) {
		const struct ftr_mapping *mapping = &session->mappings.v[i];

		if (mapping->since_ns != since_ns || mapping->is_overlay)
			continue;
		swap_values_begin(w);
		if (swap_put_number(w, (uint32_t)ev->task->pid) < 0 ||
		    put_mapping(w, mapping, mapping->module->path) < 0)
			return swap_no_memory(w);
		ret = swap_write(w, SWAP_MSG_PROCESS_MAP, ev->time_ns);
	}
	return ret;
}

int swap_write_program(struct swap_writer *w, const struct ftr_event *ev)
{
	const struct ftr_session *session = ftr_task_session_at(ev->task, ev->time_ns);
	bool is_new;
	struct swap_process *process = process_get(w, ev->task->pid, &is_new);
	int ret = 0;

	if (process == NULL)
		return swap_no_memory(w);
	if (process->pid == 0)
		return 0;	/* of what is about no process */
	if (is_new || process->session != session) {
		process->session = session;
		process->change_nr = 0;
		ret = write_process(w, ev, session);
	}
	while (ret == 0 && session != NULL && process->change_nr < session->changes_ns.nr &&
	       session->changes_ns.v[process->change_nr] <= ev->time_ns)
		ret = write_maps(w, ev, session, session->changes_ns.v[process->change_nr++]);
	return ret;
}

int swap_write_ends(struct swap_writer *w)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < w->order.nr; i++) {
		if (w->order.v[i]->pid == 0)
			continue;
		ret = swap_write_leaks(w, w->order.v[i]);
		swap_values_begin(w);
		if (ret == 0)
			ret = swap_put_number(w, (uint32_t)w->order.v[i]->pid);
		if (ret == 0)
			ret = swap_write(w, SWAP_MSG_TERMINATE, w->last_ns);
	}
	return ret;
}

/* ---- functions ---- */

/* Where the program has it; false = it has no address there. */
static bool func_place(const struct ftr_session *session, const struct ftr_event *ev,
		       uint64_t *addr)
{
	const struct ftr_func *func = ev->call.func;
	const struct ftr_mapping *mapping;

	if (ftr_func_is_kernel(func)) {
		*addr = func->addr;
		return true;
	}
	if (func->symbol_type == '?' && func->name[0] == '<' && ev->call.addr != 0) {
		*addr = ev->call.addr;	/* nothing is known of it but that */
		return true;
	}
	if (session == NULL || func->module == NULL || func->symbol_type == '?')
		return false;
	mapping = ftr_session_find_module(session, func->module, ev->time_ns);
	if (mapping == NULL || mapping->is_overlay)
		return false;
	*addr = func->module->is_absolute ? func->addr : mapping->start + func->addr;
	return ftr_session_find(session, ev->time_ns, *addr) == mapping;
}

int swap_func_addr(struct swap_writer *w, const struct ftr_event *ev, uint64_t *addr)
{
	const struct ftr_session *session = ftr_task_session_at(ev->task, ev->time_ns);
	struct swap_func *func;

	if (ftr_vec_reach(&w->funcs, ev->call.func->id) < 0)
		return swap_no_memory(w);
	func = &w->funcs.v[ev->call.func->id];
	if (!func->is_placed || func->session != session) {
		func->is_placed = ev->call.func->symbol_type != '?' || ev->call.addr == 0;
		func->session = session;
		func->is_made = !func_place(session, ev, &func->addr);
		func->is_placed |= func->is_made;
		if (func->is_made)
			func->addr = SWAP_MADE_BASE +
				     (uint64_t)ev->call.func->id * SWAP_MADE_STEP;
	}
	*addr = func->addr;
	return 0;
}

/* ---- the side file ---- */

static void side_func(struct ftr_strbuf *text, const struct ftr_func *func, uint64_t addr)
{
	ftr_strbuf_printf(text, "func\t%" PRIx64 "\t%x\t%c\t", addr, func->size,
			  func->symbol_type == '?' ? 'T' : func->symbol_type);
	swap_side_put_name(text, func->mangled);
	ftr_strbuf_putc(text, '\n');
}

void swap_load_symbols(struct swap_writer *w, const struct ftr_event *ev, uint64_t addr)
{
	uint64_t offset;

	ftr_trace_find((struct ftr_trace *)w->trace, ftr_task_session_at(ev->task, ev->time_ns),
		       ev->time_ns, addr, &offset);
}

/* All of a module's, where they are known. */
static void side_symtab(struct ftr_strbuf *text, const struct ftr_module *module)
{
	ftr_strbuf_puts(text, "module\t");
	swap_side_put_name(text, module->path);
	ftr_strbuf_putc(text, '\n');
	for (size_t i = 0; i < module->symtab->nr; i++) {
		const struct ftr_symbol *symbol = &module->symtab->symbols[i];

		ftr_strbuf_printf(text, "func\t%" PRIx64 "\t%x\t%c\t", symbol->addr, symbol->size,
				  symbol->type);
		swap_side_put_name(text, symbol->name);
		ftr_strbuf_putc(text, '\n');
	}
}

/* The functions of @module, NULL: those at made addresses. */
static void side_module(struct swap_writer *w, struct ftr_strbuf *text,
			const struct ftr_module *module)
{
	bool is_named = false;

	for (size_t i = 0; i < w->funcs.nr; i++) {
		const struct swap_func *func = &w->funcs.v[i];
		const struct ftr_func *of = w->trace->funcs.v[i];

		if (!func->is_placed || (module == NULL ? !func->is_made :
					 func->is_made || of->module != module))
			continue;
		if (!is_named) {
			ftr_strbuf_puts(text, "module\t");
			swap_side_put_name(text, module == NULL ? SWAP_MADE_PATH : module->path);
			ftr_strbuf_putc(text, '\n');
			is_named = true;
		}
		side_func(text, of, module == NULL ? i * SWAP_MADE_STEP : of->addr);
	}
}

static void side_task(struct ftr_strbuf *text, const struct ftr_task *task)
{
	ftr_strbuf_printf(text, "task\t%d\t%d\t%d\t%d\t%" PRIu64 "\t", task->pid, task->tid,
			  task->parent == NULL ? 0 : task->parent->tid, task->is_forked,
			  task->start_ns);
	swap_side_put_name(text, task->name);
	ftr_strbuf_putc(text, '\n');
}

static void side_format(struct swap_writer *w, struct ftr_strbuf *text)
{
	ftr_strbuf_printf(text, "# What the stream does not say of itself: doc/swap.md\n"
			  "stream\t%" PRIu64 "\ntime\t%s\nclock-offset\t%" PRId64
			  "\ncpus\t%u\ndevices\t%u\n", w->written_bytes,
			  w->layout.time_form == SWAP_TIME_LEGACY ? "legacy" : "document",
			  w->offset_ns, w->layout.cpu_nr, w->layout.device_nr);
	for (size_t i = 0; i < SWAP_API_NR; i++)
		ftr_strbuf_printf(text, "api\t%u\t%s\n", swap_apis[i].api,
				  swap_apis[i].name);
	for (size_t i = 0; i < w->programs.nr; i++)
		ftr_strbuf_printf(text, "session\t%s\n",
				  w->programs.v[i] == NULL ? "" : w->programs.v[i]->sid);
	for (size_t i = 0; i < w->order.nr; i++) {
		if (w->order.v[i]->leaks == SWAP_LEAKS_OURS)
			ftr_strbuf_printf(text, "leaks\t%d\n", w->order.v[i]->pid);
	}
	ftr_strbuf_put(text, ftr_strbuf_str(&w->system.side), w->system.side.len);
	text->failed |= w->system.side.failed;
	for (size_t i = 0; i < w->tasks.nr; i++) {
		if (w->tasks.v[i].is_seen)
			side_task(text, w->trace->tasks.v[i]);
	}
	for (size_t i = 0; i < w->trace->modules.nr; i++) {
		const struct ftr_module *module = w->trace->modules.v[i];

		if (module->symtab != NULL && strcmp(module->path, SWAP_MADE_PATH) != 0)
			side_symtab(text, module);
		else
			side_module(w, text, module);
	}
	side_module(w, text, NULL);
}

int swap_write_side(struct swap_writer *w)
{
	struct ftr_strbuf path, text;
	struct ftr_ostream out;
	int ret;

	ftr_strbuf_init(&path);
	ftr_strbuf_init(&text);
	ftr_strbuf_printf(&path, "%s" SWAP_SIDE_SUFFIX, w->base.out->name);
	side_format(w, &text);
	ret = path.failed || text.failed ? swap_no_memory(w) :
	      ftr_ostream_open(&out, ftr_strbuf_str(&path), w->base.err);
	if (ret == 0) {
		ftr_ostream_write(&out, ftr_strbuf_str(&text), text.len);
		ret = ftr_ostream_close(&out, w->base.err);
	}
	ftr_strbuf_fini(&path);
	ftr_strbuf_fini(&text);
	return ret;
}
