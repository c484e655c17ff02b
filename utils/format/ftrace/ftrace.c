/* SPDX-License-Identifier: MIT */
/* The formats of the kernel's events, and its functions. */
#include "utils/format/ftrace/ftrace.h"

#include <assert.h>
#include <errno.h>
#include <event-parse.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/format/ftrace/print.h"
#include "utils/object/symtab.h"
#include "utils/trace/library.h"

#define RECORD_BYTES_MAX 65536			/* a field beyond is damage */
#define ID_PREFIX     "ID: "
#define PRINT_NOTHING "print fmt: \"\"\n"

/* ---- formats ---- */

static const struct {
	const char *name;
	const char *field;
} others[] = {
	{ "sched:sched_switch", "next_pid" },
	{ "sched:sched_waking", "pid" },
	{ "sched:sched_wakeup", "pid" },
	{ "sched:sched_wakeup_new", "pid" },
};

static bool field_is_sane(const struct tep_format_field *field)
{
	return field->offset >= 0 && field->size >= 0 && field->offset <= RECORD_BYTES_MAX &&
	       field->size <= RECORD_BYTES_MAX &&
	       (!(field->flags & TEP_FIELD_IS_DYNAMIC) || field->size == 4);
}

struct ftr_ftrace_field ftr_ftrace_field_of(const struct tep_format_field *field)
{
	if (field == NULL)
		return (struct ftr_ftrace_field){ .bytes = 0 };
	return (struct ftr_ftrace_field){ (uint32_t)field->offset, (uint32_t)field->size };
}

static bool fields_measure(struct ftr_ftrace_event *event, const struct tep_format_field *field)
{
	for (; field != NULL; field = field->next) {
		uint32_t end = (uint32_t)field->offset + (uint32_t)field->size;

		if (!field_is_sane(field))
			return false;
		if (field->size > 0 && end > event->fixed_bytes)	/* [] has none */
			event->fixed_bytes = end;
		if (field->size == 0 && end > event->rest_offset)
			event->rest_offset = end;
		event->has_dynamic |= (field->flags & TEP_FIELD_IS_DYNAMIC) != 0;
	}
	return true;
}

static bool event_init(struct ftr_ftrace_event *event, struct tep_event *tep, const char *name)
{
	event->tep = tep;
	event->name = name;
	event->id = (uint32_t)tep->id;
	if (tep->id < 0 || tep->id >= FTR_FTRACE_IDS ||
	    !fields_measure(event, tep->format.common_fields) ||
	    !fields_measure(event, tep->format.fields))
		return false;
	event->pid = ftr_ftrace_field_of(tep_find_common_field(tep, "common_pid"));
	if (event->pid.bytes == 0)
		return false;
	event->is_printable = ftr_ftrace_is_printable(tep);
	if (tep->flags & TEP_EVENT_FL_ISBPRINT)
		event->printk = ftr_ftrace_field_of(tep_find_field(tep, "fmt"));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (strcmp(others[i].name, name) == 0)
			event->other = ftr_ftrace_field_of(tep_find_field(tep, others[i].field));
	}
	if (strcmp(name, "ftrace:funcgraph_entry") == 0)
		event->kind = FTR_FTRACE_ENTRY;
	else if (strcmp(name, "ftrace:funcgraph_exit") == 0)
		event->kind = FTR_FTRACE_EXIT;
	else
		return true;
	event->func = ftr_ftrace_field_of(tep_find_field(tep, "func"));
	return event->func.bytes != 0;
}

static int event_add(struct ftr_ftrace *ftrace, struct tep_event *tep, const char *name)
{
	struct ftr_ftrace_event *event = calloc(1, sizeof(*event));
	const struct tep_format_field *type = tep_find_common_field(tep, "common_type");

	if (event == NULL || ftrace->events.nr == UINT16_MAX ||
	    ftr_vec_push(&ftrace->events, event) < 0) {
		free(event);
		return -ENOMEM;
	}
	if (type == NULL || !field_is_sane(type) || !event_init(event, tep, name))
		return -EINVAL;
	if (ftrace->type.bytes == 0)
		ftrace->type = ftr_ftrace_field_of(type);
	ftrace->by_id[event->id] = (uint16_t)ftrace->events.nr;
	return 0;
}

/* "SYSTEM:NAME", which lives in the trace. */
static char *event_name(const struct ftr_ftrace *ftrace, struct ftr_slice system,
			struct ftr_slice name)
{
	char *text = ftr_arena_alloc(&ftrace->trace->arena, system.len + name.len + 2);

	if (text == NULL)
		return NULL;
	memcpy(text, system.s, system.len);
	text[system.len] = ':';
	memcpy(text + system.len + 1, name.s, name.len);
	text[system.len + 1 + name.len] = '\0';
	return text;
}

/* A format without its print fmt, which cannot be used; NUL-terminated. */
static char *fields_alone(struct ftr_slice format, size_t fields_bytes)
{
	char *text = malloc(fields_bytes + sizeof(PRINT_NOTHING));

	if (text == NULL)
		return NULL;
	memcpy(text, format.s, fields_bytes);
	memcpy(text + fields_bytes, PRINT_NOTHING, sizeof(PRINT_NOTHING));
	return text;
}

/*
 * What a writer needs that keeps the records: beside others of its own they have its byte order and
 * size of longs; and it may have to give them another id.
 */
static int tracepoint_init(struct ftr_ftrace *ftrace, struct ftr_ftrace_event *event,
			   struct ftr_slice format)
{
	const struct ftr_ftrace_layout *layout = &ftrace->layout;
	const char *text;

	if ((ftrace->trace->record_long_bytes == 0 &&
	     (layout->is_big != FTR_HOST_IS_BIG || layout->long_bytes != sizeof(uint64_t))) ||
	    ftrace->type.offset != 0 || ftrace->type.bytes != sizeof(event->tracepoint.id))
		return 0;
	text = ftr_arena_strndup(&ftrace->trace->arena, format.s, format.len);
	if (text == NULL)
		return -ENOMEM;
	event->tracepoint = (struct ftr_tracepoint){
		.name = event->name, .id = (uint16_t)event->id, .kernel = &ftrace->kernel,
		.format = ftr_slice_make(text, format.len),
	};
	event->is_portable = true;
	return 0;
}

/* The event that was parsed last.  Names need not be unique: texts may stand beside records. */
static struct tep_event *event_find(const struct ftr_ftrace *ftrace, struct ftr_slice format,
				    const char *system, const char *name)
{
	struct tep_event *tep = NULL;
	struct ftr_slice line;
	uint64_t id;

	ftr_slice_split(&format, '\n', &line);
	if (ftr_slice_split(&format, '\n', &line) && ftr_slice_starts(line, ID_PREFIX) &&
	    ftr_parse_u64(ftr_slice_trim(ftr_slice_make(line.s + strlen(ID_PREFIX),
							line.len - strlen(ID_PREFIX))),
			  10, &id) == 0 && id < FTR_FTRACE_IDS)
		tep = tep_find_event(ftrace->tep, (int)id);
	if (tep != NULL && strcmp(tep->name, name) == 0 && strcmp(tep->system, system) == 0)
		return tep;
	return tep_find_event_by_name(ftrace->tep, system, name);
}

/* @trouble (nullable): it has no print fmt that could be used. */
static int text_parse(struct ftr_ftrace *ftrace, const char *name, struct ftr_slice format,
		      const char *trouble)
{
	struct ftr_ftrace_event *event;
	const char *colon = strchr(name, ':');
	char *system = strndup(name, (size_t)(colon - name));
	struct tep_event *tep;
	int ret;

	if (system == NULL)
		return -ENOMEM;
	tep_parse_event(ftrace->tep, format.s, format.len, system);
	tep = event_find(ftrace, format, system, colon + 1); /* also without a print fmt */
	free(system);
	ret = tep == NULL ? -EINVAL : event_add(ftrace, tep, name);
	if (ret < 0)
		return ret;
	event = ftrace->events.v[ftrace->events.nr - 1];
	event->is_printable &= trouble == NULL;
	if (!event->is_printable && event->printk.bytes == 0)
		event->trouble = trouble != NULL ? trouble :
						   "its print fmt could read beyond the record";
	if (event->is_printable && event->printk.bytes == 0)
		event->print = ftr_ftrace_print_new(tep);
	return trouble == NULL ? tracepoint_init(ftrace, event, format) : 0;
}

int ftr_ftrace_format_add(struct ftr_ftrace *ftrace, struct ftr_slice system,
			  struct ftr_slice name, struct ftr_slice text, const char *why_cut)
{
	size_t fields_bytes;
	bool has_print = ftr_ftrace_print_is_sound(text, &fields_bytes);
	char *fields, *full_name;
	int ret;

	assert(system.len > 0 && memchr(system.s, ':', system.len) == NULL);
	assert(name.len > 0);
	if (!ftr_ftrace_fields_are_sound(ftr_slice_make(text.s, fields_bytes)))
		return -EINVAL;
	full_name = event_name(ftrace, system, name);
	if (full_name == NULL)
		return -ENOMEM;
	if (has_print)
		return text_parse(ftrace, full_name, text, NULL);
	fields = fields_alone(text, fields_bytes);
	if (fields == NULL)
		return -ENOMEM;
	ret = text_parse(ftrace, full_name, ftr_slice_make(fields, strlen(fields)),
			 why_cut != NULL ? why_cut : "its print fmt is damaged or unusual");
	free(fields);
	return ret;
}

bool ftr_ftrace_header_page(struct ftr_ftrace *ftrace, struct ftr_slice text)
{
	char *copy = strndup(text.s, text.len);		/* the library takes no const */
	bool is_sound = copy == NULL ||
			tep_parse_header_page(ftrace->tep, copy, strlen(copy),
					      ftrace->layout.long_bytes) != 0 ||
			tep_get_header_page_size(ftrace->tep) == ftrace->layout.long_bytes;

	free(copy);
	return is_sound;
}

/* ---- functions ---- */

static size_t slot_of(uint64_t addr)
{
	return ftr_high_bits(addr * FTR_HASH_FACTOR, FTR_FTRACE_SLOT_BITS);
}

/* NULL: none covers the address. */
static const struct ftr_symbol *symbol_find(struct ftr_ftrace *ftrace, uint64_t addr)
{
	const struct ftr_symbol *symbol = NULL;
	size_t at = slot_of(addr);

	if (ftrace->symbol_slots[at].symbol != NULL && ftrace->symbol_slots[at].addr == addr)
		return ftrace->symbol_slots[at].symbol;
	ftr_trace_module_load(ftrace->trace, ftrace->kernel.module);
	if (ftrace->kernel.module->symtab != NULL)
		symbol = ftr_symtab_find(ftrace->kernel.module->symtab, addr);
	ftrace->symbol_slots[at].addr = addr;
	ftrace->symbol_slots[at].symbol = symbol;
	return symbol;
}

const char *ftr_ftrace_symbol(struct ftr_ftrace *ftrace, uint64_t addr, uint64_t *offset)
{
	const struct ftr_symbol *symbol = symbol_find(ftrace, addr);

	if (symbol == NULL)
		return NULL;
	*offset = addr - symbol->addr;
	return symbol->name;
}

/* Calls of programs are none of the kernel's, which views leave out. */
static const struct ftr_func *func_find(struct ftr_ftrace *ftrace, uint64_t addr)
{
	const char *name = NULL;
	uint64_t offset;

	if (ftrace->has_programs && addr >= FTR_FTRACE_PROGRAM_FIRST &&
	    addr <= FTR_FTRACE_PROGRAM_LAST)
		name = ftr_ftrace_symbol(ftrace, addr, &offset);
	if (name != NULL)
		return ftr_trace_func_by_name(ftrace->trace, NULL, name, strlen(name));
	return ftr_trace_resolve_module(ftrace->trace, ftrace->kernel.module, addr, 'K');
}

const struct ftr_func *ftr_ftrace_func(struct ftr_ftrace *ftrace, uint64_t addr)
{
	const struct ftr_func *func;
	size_t at = slot_of(addr);

	if (ftrace->slots[at].func != NULL && ftrace->slots[at].addr == addr)
		return ftrace->slots[at].func;
	func = func_find(ftrace, addr);
	ftrace->slots[at].addr = addr;
	ftrace->slots[at].func = func;
	return func;
}

/* As libtraceevent asks for it: the name at *addr, which becomes the symbol's own address. */
static char *symbol_name(void *arg, unsigned long long *addr, char **module)
{
	uint64_t offset = 0;
	const char *name = ftr_ftrace_symbol(arg, *addr, &offset);

	*module = NULL;
	*addr -= offset;
	return (char *)(uintptr_t)name;
}

/* ---- all ---- */

int ftr_ftrace_init(struct ftr_ftrace *ftrace, struct ftr_trace *trace,
		    const struct ftr_ftrace_layout *layout)
{
	bool is_big = layout->is_big;

	assert(ftrace->tep == NULL);
	assert(layout->long_bytes == 4 || layout->long_bytes == 8);
	assert(layout->page_bytes >= FTR_FTRACE_PAGE_MIN);
	assert(layout->page_bytes <= FTR_FTRACE_PAGE_MAX);
	assert((layout->page_bytes & (layout->page_bytes - 1)) == 0);
	ftr_hashmap_init(&ftrace->printks);
	ftrace->trace = trace;
	ftrace->layout = *layout;
	ftrace->kernel.module = ftr_trace_module_get(trace, FTR_KERNEL_PATH, NULL);
	if (ftrace->kernel.module == NULL)
		return -ENOMEM;
	ftrace->kernel.module->is_absolute = true;
	tep_set_loglevel(TEP_LOG_NONE);		/* what is wrong is warned about by us */
	ftrace->tep = tep_alloc();
	if (ftrace->tep == NULL)
		return -ENOMEM;
	tep_set_file_bigendian(ftrace->tep, is_big ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_long_size(ftrace->tep, layout->long_bytes);
	tep_set_page_size(ftrace->tep, (int)layout->page_bytes);
	return tep_set_function_resolver(ftrace->tep, symbol_name, ftrace) < 0 ? -ENOMEM : 0;
}

void ftr_ftrace_fini(struct ftr_ftrace *ftrace)
{
	for (size_t i = 0; i < ftrace->events.nr; i++) {
		ftr_ftrace_print_free(ftrace->events.v[i]->print);
		free(ftrace->events.v[i]);
	}
	ftr_vec_fini(&ftrace->events);
	ftr_hashmap_fini(&ftrace->printks);
	ftr_ftrace_text_free(ftrace->text);
	tep_free(ftrace->tep);
}
