/* SPDX-License-Identifier: MIT */
/*
 * kernel_header: how the machine that recorded lays its pages out, and the formats of the events.
 *
 *	PAGE_SIZE: 4096
 *	LONG_SIZE: 8
 *	ENDIAN: LE
 *	TRACEFS: events/sched/sched_switch/format: 1488
 *	... so many bytes: the file of tracefs ...
 */
#include <errno.h>
#include <event-parse.h>
#include <kbuffer.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/text.h"
#include "utils/format/uftrace/read_kernel.h"

#define HEADER_FILE "kernel_header"
#define BLOCK_PREFIX "TRACEFS: "
#define PAGE_PATH "events/header_page"
#define PAGE_BYTES 4096
#define PAGE_BYTES_MIN 256
#define PAGE_BYTES_MAX (UINT32_C(1) << 26)	/* what a commit word can say */
#define RECORD_BYTES_MAX 65536			/* a field beyond is damage */
#define CUT_BYTES 4096				/* uftrace keeps no more of a format */
#define PRINT_NOTHING "print fmt: \"\"\n"

/* @line lies in the file. */
static void warn_line(const struct uft_kernel *kernel, const struct ftr_istream *in,
		      const char *what, struct ftr_slice line)
{
	ftr_diag_warn(kernel->trace->diag, HEADER_FILE "+0x%zx: %s: %.*s",
		      (size_t)((const uint8_t *)line.s - in->data), what,
		      line.len > 80 ? 80 : (int)line.len, line.s);
}

static int page_size_parse(struct uft_kernel *kernel, struct ftr_slice value)
{
	uint64_t bytes;

	if (ftr_parse_u64(value, 10, &bytes) < 0 || bytes < PAGE_BYTES_MIN ||
	    bytes > PAGE_BYTES_MAX || (bytes & (bytes - 1)) != 0)
		return -EINVAL;
	kernel->page_bytes = (uint32_t)bytes;
	return 0;
}

static int long_size_parse(struct uft_kernel *kernel, struct ftr_slice value)
{
	if (!ftr_slice_eq(value, "4") && !ftr_slice_eq(value, "8"))
		return -EINVAL;
	kernel->long_bytes = (uint8_t)(value.s[0] - '0');
	return 0;
}

static int endian_parse(struct uft_kernel *kernel, struct ftr_slice value)
{
	kernel->is_big = value.len == 2 && strncasecmp(value.s, "BE", 2) == 0;
	return kernel->is_big || (value.len == 2 && strncasecmp(value.s, "LE", 2) == 0) ? 0 :
											  -EINVAL;
}

static const struct {
	const char *name;
	int (*parse)(struct uft_kernel *kernel, struct ftr_slice value);
} keys[] = {
	{ "PAGE_SIZE: ", page_size_parse },
	{ "LONG_SIZE: ", long_size_parse },
	{ "ENDIAN: ", endian_parse },
};

/* ---- the library's handle ---- */

static char *function_resolve(void *arg, unsigned long long *addr, char **module)
{
	uint64_t at = *addr;
	const char *name = uft_kernel_symbol(arg, &at);

	*addr = at;
	*module = NULL;
	return (char *)(uintptr_t)name;
}

/* Once the layout is known, before the first format. */
static int handle_make(struct uft_kernel *kernel)
{
	tep_set_loglevel(TEP_LOG_NONE);		/* what is wrong we tell ourselves */
	kernel->tep = tep_alloc();
	kernel->kbuffer = kbuffer_alloc(kernel->long_bytes == 8 ? KBUFFER_LSIZE_8 : KBUFFER_LSIZE_4,
					kernel->is_big ? KBUFFER_ENDIAN_BIG :
							 KBUFFER_ENDIAN_LITTLE);
	if (kernel->tep == NULL || kernel->kbuffer == NULL)
		return -ENOMEM;
	tep_set_file_bigendian(kernel->tep, kernel->is_big ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_long_size(kernel->tep, kernel->long_bytes);
	tep_set_page_size(kernel->tep, (int)kernel->page_bytes);
	return tep_set_function_resolver(kernel->tep, function_resolve, kernel) < 0 ? -ENOMEM : 0;
}

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

static bool fields_measure(struct uft_kernel_event *event, const struct tep_format_field *field)
{
	for (; field != NULL; field = field->next) {
		uint32_t end = (uint32_t)field->offset + (uint32_t)field->size;

		if (!field_is_sane(field))
			return false;
		if (field->size > 0 && end > event->fixed_bytes)	/* [] has none */
			event->fixed_bytes = end;
		event->has_dynamic |= (field->flags & TEP_FIELD_IS_DYNAMIC) != 0;
	}
	return true;
}

static bool event_init(struct uft_kernel_event *event, struct tep_event *tep, const char *name)
{
	event->tep = tep;
	event->name = name;
	event->id = (uint32_t)tep->id;
	event->pid = tep_find_common_field(tep, "common_pid");
	if (event->pid == NULL || event->pid->size == 0 || tep->id < 0 || tep->id >= UFT_KERNEL_IDS)
		return false;
	if (!fields_measure(event, tep->format.common_fields) ||
	    !fields_measure(event, tep->format.fields))
		return false;
	event->is_printable = uft_kernel_is_printable(tep);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (strcmp(others[i].name, name) == 0)
			event->other = tep_find_field(tep, others[i].field);
	}
	if (event->other != NULL && event->other->size == 0)
		event->other = NULL;
	if (strcmp(name, "ftrace:funcgraph_entry") == 0)
		event->kind = UFT_KERNEL_ENTRY;
	else if (strcmp(name, "ftrace:funcgraph_exit") == 0)
		event->kind = UFT_KERNEL_EXIT;
	else
		return true;
	event->func = tep_find_field(tep, "func");
	return event->func != NULL && event->func->size > 0;
}

static int event_add(struct uft_kernel *kernel, struct tep_event *tep, const char *name)
{
	struct uft_kernel_event *event = calloc(1, sizeof(*event));
	const struct tep_format_field *type = tep_find_common_field(tep, "common_type");

	if (event == NULL || kernel->events.nr == UINT16_MAX ||
	    ftr_vec_push(&kernel->events, event) < 0) {
		free(event);
		return -ENOMEM;
	}
	if (type == NULL || !field_is_sane(type) || !event_init(event, tep, name))
		return -EINVAL;
	if (kernel->type == NULL)
		kernel->type = type;
	kernel->by_id[event->id] = (uint16_t)kernel->events.nr;
	return 0;
}

/*
 * "events/SYSTEM/NAME/format": the name as "SYSTEM:NAME", which lives in the trace; NULL: it is
 * another path.
 */
static char *event_name(const struct uft_kernel *kernel, struct ftr_slice path)
{
	struct ftr_slice events, system, name;
	char *text;

	if (!ftr_slice_split(&path, '/', &events) || !ftr_slice_eq(events, "events") ||
	    !ftr_slice_split(&path, '/', &system) || !ftr_slice_split(&path, '/', &name) ||
	    path.s == NULL || !ftr_slice_eq(path, "format") || system.len == 0 || name.len == 0)
		return NULL;
	text = ftr_arena_strndup(&kernel->trace->arena, system.s, system.len + 1 + name.len);
	if (text != NULL)
		text[system.len] = ':';
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

/* @trouble (nullable): it has no print fmt that could be used. */
static int text_parse(struct uft_kernel *kernel, const char *name, struct ftr_slice format,
		      const char *trouble)
{
	struct uft_kernel_event *event;
	const char *colon = strchr(name, ':');
	char *system = strndup(name, (size_t)(colon - name));
	struct tep_event *tep;
	int ret;

	if (system == NULL)
		return -ENOMEM;
	tep_parse_event(kernel->tep, format.s, format.len, system);
	tep = tep_find_event_by_name(kernel->tep, system,
				     colon + 1); /* there also without a print fmt */
	free(system);
	ret = tep == NULL ? -EINVAL : event_add(kernel, tep, name);
	if (ret < 0)
		return ret;
	event = kernel->events.v[kernel->events.nr - 1];
	event->is_printable &= trouble == NULL;
	if (!event->is_printable)
		event->trouble = trouble != NULL ? trouble : "its print fmt could lead out of it";
	return 0;
}

/* One format; @name is "SYSTEM:NAME".  0, -EINVAL: such events cannot be read, or -ENOMEM. */
static int format_parse(struct uft_kernel *kernel, const char *name, struct ftr_slice format)
{
	size_t fields_bytes;
	bool has_print = uft_kernel_print_is_sound(format, &fields_bytes);
	char *text;
	int ret;

	if (!uft_kernel_fields_are_sound(ftr_slice_make(format.s, fields_bytes)))
		return -EINVAL;
	if (has_print)
		return text_parse(kernel, name, format, NULL);
	text = fields_alone(format, fields_bytes);
	if (text == NULL)
		return -ENOMEM;
	ret = text_parse(kernel, name, ftr_slice_make(text, strlen(text)),
			 format.len == CUT_BYTES ? "its format was cut when it was recorded"
						 : "its print fmt is damaged or unusual");
	free(text);
	return ret;
}

static int format_load(struct uft_kernel *kernel, const struct ftr_istream *in,
		       struct ftr_slice path, struct ftr_slice text)
{
	char *name = event_name(kernel, path);
	int ret;

	if (name == NULL) {
		warn_line(kernel, in, "unknown file is ignored", path);
		return 0;
	}
	ret = format_parse(kernel, name, text);
	if (ret == -EINVAL)
		warn_line(kernel, in, "damaged format: such events are skipped", path);
	return ret == -ENOMEM ? ret : 0;
}

static void header_page_load(const struct uft_kernel *kernel, const struct ftr_istream *in,
			     struct ftr_slice text)
{
	char *copy = strndup(text.s, text.len);		/* the library takes no const */

	if (copy != NULL &&
	    tep_parse_header_page(kernel->tep, copy, strlen(copy), kernel->long_bytes) == 0 &&
	    tep_get_header_page_size(kernel->tep) != kernel->long_bytes)
		warn_line(kernel, in, "contradicts LONG_SIZE, which is believed", text);
	free(copy);
}

/* "PATH: BYTES" and so many bytes. */
static int block_load(struct uft_kernel *kernel, struct ftr_istream *in, struct ftr_slice line)
{
	struct ftr_slice path = line, number;
	const char *colon = line.len > 0 ? memrchr(line.s, ':', line.len) : NULL;
	uint64_t bytes = 0;
	size_t left = ftr_istream_left(in);

	if (colon != NULL) {
		path.len = (size_t)(colon - line.s);
		number = ftr_slice_trim(ftr_slice_make(colon + 1, line.len - path.len - 1));
	}
	if (colon == NULL || ftr_parse_u64(number, 10, &bytes) < 0) {
		warn_line(kernel, in, "expected a path and a size", line);
		return 0;
	}
	if (bytes > left)
		warn_line(kernel, in, "the file ends inside this format", line);
	bytes = bytes > left ? left : bytes;
	line = ftr_slice_make((const char *)ftr_istream_take(in, bytes), bytes);
	if (!ftr_slice_eq(path, PAGE_PATH))
		return format_load(kernel, in, path, line);
	header_page_load(kernel, in, line);
	return 0;
}

static int key_load(struct uft_kernel *kernel, struct ftr_slice line)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		size_t len = strlen(keys[i].name);

		if (ftr_slice_starts(line, keys[i].name))
			return keys[i].parse(kernel,
					     ftr_slice_trim(
						     ftr_slice_make(line.s + len, line.len - len)));
	}
	return -EINVAL;
}

static int lines_load(struct uft_kernel *kernel, struct ftr_istream *in)
{
	bool is_lost = false;	/* among lines of no meaning: one warning is enough */
	const char *text;
	size_t len;
	int ret = 0;

	while (ret == 0 && ftr_istream_line(in, &text, &len)) {
		struct ftr_slice line = ftr_slice_make(text, len);

		if (ftr_slice_starts(line, BLOCK_PREFIX)) {
			if (kernel->tep == NULL)
				ret = handle_make(kernel);
			line = ftr_slice_make(text + strlen(BLOCK_PREFIX),
					      len - strlen(BLOCK_PREFIX));
			ret = ret < 0 ? ret : block_load(kernel, in, line);
			is_lost = false;
		} else if (len > 0 && (kernel->tep != NULL || key_load(kernel, line) < 0)) {
			if (!is_lost)
				warn_line(kernel, in, "damaged line is ignored", line);
			is_lost = true;
		}
	}
	return ret;
}

int uft_kernel_header_load(struct uft_kernel *kernel, struct uft_reader *reader)
{
	struct ftr_diag *diag = reader->trace->diag;
	struct ftr_err err = { 0 };
	struct ftr_istream in;
	int ret;

	kernel->page_bytes = PAGE_BYTES;
	kernel->long_bytes = reader->is_32 ? 4 : 8;
	kernel->is_big = reader->is_big;
	ret = ftr_dir_file(reader->dir, HEADER_FILE, &in, &err);
	if (ret < 0) {
		ftr_diag_warn(diag, "%s: nothing in the kernel's files can be read", err.text);
		return ret == -ENOMEM ? ret : 0;
	}
	ret = lines_load(kernel, &in);
	ftr_istream_close(&in);
	if (ret == 0 && kernel->type == NULL)
		ftr_diag_warn(diag, HEADER_FILE
			      ": no format in it: nothing in the kernel's files can be read");
	return ret;
}
