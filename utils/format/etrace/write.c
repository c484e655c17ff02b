/* SPDX-License-Identifier: MIT */
/* System calls to etrace text (doc/ftr-etrace.5). */
#include "utils/format/etrace/etrace.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/format/etrace/heads.h"

#define NS_PER_S 1000000000u

/* What the writer knows of a upid. */
struct etrace_task {
	uint64_t last_ns;		/* of its last line */
	struct ftr_slice last_open;	/* in the arena; .s == NULL: none */
	int64_t  last_flags, last_mode;
	int64_t  skipped_fds[16];	/* opened again, not written: their Close is not, either */
	unsigned skipped_nr;
};

void ftr_etrace_writer_init(struct ftr_etrace_writer *writer, struct ftr_ostream *out,
			    const struct ftr_etrace_options *options)
{
	*writer = (struct ftr_etrace_writer){ .out = out, .options = *options };
	ftr_hashmap_init(&writer->tasks);
	ftr_arena_init(&writer->arena);
}

void ftr_etrace_writer_fini(struct ftr_etrace_writer *writer)
{
	ftr_hashmap_fini(&writer->tasks);
	ftr_arena_fini(&writer->arena);
}

static struct etrace_task *task_get(struct ftr_etrace_writer *writer, uint64_t upid)
{
	struct etrace_task *task = ftr_hashmap_find(&writer->tasks, upid);

	if (task != NULL)
		return task;
	task = ftr_arena_alloc(&writer->arena, sizeof(*task));
	if (task == NULL || ftr_hashmap_set(&writer->tasks, upid, task) < 0)
		return NULL;
	return task;
}

/* "<upid>,<cpu>,<time>,<timen>!": each line of a task is later than the one before. */
static void put_prefix(struct ftr_etrace_writer *writer, const struct ftr_syscall *call)
{
	char *start = ftr_ostream_reserve(writer->out, 96);
	char *p = start;

	if (writer->options.has_prefix) {
		memcpy(p, "0: ", 3);
		p += 3;
	}
	p = ftr_fmt_u64(p, call->upid);
	*p++ = ',';
	p = ftr_fmt_u64(p, call->cpu);
	*p++ = ',';
	p = ftr_fmt_u64(p, writer->next_ns / NS_PER_S);
	*p++ = ',';
	p = ftr_fmt_u64(p, writer->next_ns % NS_PER_S);
	*p++ = '!';
	ftr_ostream_commit(writer->out, (size_t)(p - start));
	writer->next_ns++;
}

static void put_i64(struct ftr_ostream *out, int64_t value)
{
	if (value < 0)
		ftr_ostream_putc(out, '-');
	ftr_ostream_u64(out, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

/* How much of a text fits one line: up to its end, a newline, or the limit. */
static size_t chunk_bytes(const char *s, size_t len)
{
	size_t most = len < FTR_ETRACE_CHUNK ? len : FTR_ETRACE_CHUNK;
	const char *newline = most > 0 ? memchr(s, '\n', most) : NULL;

	return newline != NULL ? (size_t)(newline - s) : most;
}

/* The lines that follow newlines: Cont each, then one Cont_end.  Returns how much was written. */
static size_t put_continuation(struct ftr_etrace_writer *writer,
			       const struct ftr_syscall *call, const char *s, size_t len)
{
	size_t pos = 0;

	while (pos < len && s[pos] == '\n') {
		size_t bytes = chunk_bytes(s + pos + 1, len - pos - 1);

		put_prefix(writer, call);
		ftr_ostream_puts(writer->out, "Cont|");
		ftr_ostream_write(writer->out, s + pos + 1, bytes);
		ftr_ostream_putc(writer->out, '\n');
		pos += 1 + bytes;
	}
	if (pos > 0) {
		put_prefix(writer, call);
		ftr_ostream_puts(writer->out, "Cont_end|\n");
	}
	return pos;
}

/* One line "TAG[index]chunk" and its continuation.  Returns how much of the text was written. */
static size_t put_part(struct ftr_etrace_writer *writer, const struct ftr_syscall *call,
		       const char *tag, size_t index, struct ftr_slice text)
{
	size_t bytes = chunk_bytes(text.s, text.len);

	put_prefix(writer, call);
	ftr_ostream_puts(writer->out, tag);
	ftr_ostream_putc(writer->out, '[');
	ftr_ostream_u64(writer->out, index);
	ftr_ostream_putc(writer->out, ']');
	ftr_ostream_write(writer->out, text.s, bytes);
	ftr_ostream_putc(writer->out, '\n');
	return bytes + put_continuation(writer, call, text.s + bytes, text.len - bytes);
}

static void put_text(struct ftr_etrace_writer *writer, const struct ftr_syscall *call,
		     const char *tag, struct ftr_slice text)
{
	size_t index = 0, bytes;

	if (text.len < FTR_ETRACE_CHUNK) {
		bytes = chunk_bytes(text.s, text.len);
		put_prefix(writer, call);
		ftr_ostream_puts(writer->out, tag);
		ftr_ostream_putc(writer->out, '|');
		ftr_ostream_write(writer->out, text.s, bytes);
		ftr_ostream_putc(writer->out, '\n');
		put_continuation(writer, call, text.s + bytes, text.len - bytes);
		return;
	}
	while (text.len > 0) {
		bytes = put_part(writer, call, tag, index++, text);
		text = ftr_slice_make(text.s + bytes, text.len - bytes);
	}
	put_prefix(writer, call);
	ftr_ostream_puts(writer->out, tag);
	ftr_ostream_puts(writer->out, "_end|\n");
}

static void put_arguments(struct ftr_etrace_writer *writer, const struct ftr_syscall *call)
{
	for (size_t i = 0; i < call->exec.argc; i++) {
		struct ftr_slice rest = call->exec.argv[i];

		do {
			size_t bytes = put_part(writer, call, "A", i, rest);

			rest = ftr_slice_make(rest.s + bytes, rest.len - bytes);
		} while (rest.len > 0);
	}
	put_prefix(writer, call);
	ftr_ostream_puts(writer->out, "End_of_args|\n");
}

static int64_t argument_bytes(const struct ftr_syscall *call)
{
	int64_t bytes = 0;

	for (size_t i = 0; i < call->exec.argc; i++)
		bytes += (int64_t)call->exec.argv[i].len + 1;
	return bytes;
}

static struct ftr_slice text_of(const struct ftr_syscall *call, unsigned slot)
{
	return *ftr_etrace_text((struct ftr_syscall *)(uintptr_t)call, slot);
}

static int64_t field_value(const struct ftr_syscall *call, const struct ftr_etrace_field *field)
{
	if (field->value == FTR_ETRACE_ARGSIZE)
		return argument_bytes(call);
	if (field->value == FTR_ETRACE_SIZE)
		return (int64_t)text_of(call, field->slot).len;
	return *ftr_etrace_number((struct ftr_syscall *)(uintptr_t)call, field->at);
}

static bool field_is_absent(const struct ftr_syscall *call, const struct ftr_etrace_field *field)
{
	return field->is_optional && text_of(call, field->slot).s == NULL;
}

static bool is_mount(const struct ftr_syscall *call)
{
	return call->kind == FTR_SYSCALL_MOUNT || call->kind == FTR_SYSCALL_UMOUNT;
}

static bool is_rename(const struct ftr_syscall *call)
{
	return call->kind == FTR_SYSCALL_RENAME || call->kind == FTR_SYSCALL_LINK;
}

/* Does a Failed line have texts of what was asked for?  Not of a mount whose lines came before. */
static bool has_asked_texts(const struct ftr_etrace_writer *writer,
			    const struct ftr_syscall *call)
{
	return writer->options.is_extended && (!is_mount(call) || call->mount.target.s == NULL);
}

/* The head of this role; of those of one kind the one that is the call's own. */
static const struct ftr_etrace_head *head_find(enum ftr_syscall_kind kind,
					       enum ftr_etrace_role role, enum ftr_sysid id)
{
	const struct ftr_etrace_head *head = ftr_etrace_heads;

	while (head->kind != kind || head->role != role || head->id != id) {
		head++;
		assert(head->tag != NULL);
	}
	return head;
}

/* A line of the record, and its texts. */
static void put_head(struct ftr_etrace_writer *writer, const struct ftr_syscall *call,
		     const struct ftr_etrace_head *head, const char *tag_prefix)
{
	struct ftr_ostream *out = writer->out;
	char separator = '|';

	put_prefix(writer, call);
	ftr_ostream_puts(out, tag_prefix);
	ftr_ostream_puts(out, head->tag);
	for (const struct ftr_etrace_field *field = head->fields; field->name != NULL; field++) {
		if (field_is_absent(call, field))
			continue;
		ftr_ostream_putc(out, separator);
		ftr_ostream_puts(out, field->name);
		ftr_ostream_putc(out, '=');
		put_i64(out, field_value(call, field));
		separator = ',';
	}
	ftr_ostream_puts(out, separator == '|' ? "|\n" : "\n");
	if (head->role == FTR_ETRACE_FAILED && !has_asked_texts(writer, call))
		return;
	for (const struct ftr_etrace_tag *tag = head->texts; tag->tag[0] != '\0'; tag++) {
		struct ftr_slice text = text_of(call, tag->slot);

		if (text.s != NULL)
			put_text(writer, call, tag->tag, text);
	}
	if (head->kind == FTR_SYSCALL_EXEC)
		put_arguments(writer, call);
}

/* Of a call that is its Failed line alone, which has no place for them; else 0. */
static int64_t flags_beside(const struct ftr_syscall *call)
{
	if (!call->is_failed)
		return 0;
	if (is_mount(call))
		return call->mount.target.s == NULL ? call->mount.flags : 0;
	if (is_rename(call))
		return call->rename.from.s == NULL ? call->rename.flags : 0;
	return 0;
}

static int64_t signal_of(const struct ftr_syscall *call)
{
	return call->kind == FTR_SYSCALL_EXIT ? call->exit.signal : 0;
}

/* Is there more than the lines of the plain text say?  A rename's lines have its start, too. */
static bool has_details(const struct ftr_syscall *call)
{
	return call->id != FTR_SYSID_NONE || call->stack != 0 || call->is_failed ||
	       call->error != 0 ||
	       signal_of(call) != 0 ||
	       (call->start_ns != call->end_ns && !is_rename(call));
}

/* Data directories: the call's name, how long it took, why it failed. */
static void put_extension(struct ftr_etrace_writer *writer, const struct ftr_syscall *call)
{
	int64_t flags = flags_beside(call), signal = signal_of(call);

	if (!writer->options.is_extended || !has_details(call))
		return;
	put_prefix(writer, call);
	ftr_ostream_puts(writer->out, "Ftr|call=");
	ftr_ostream_puts(writer->out, ftr_syscall_name(call));
	ftr_ostream_puts(writer->out, ",took=");
	ftr_ostream_u64(writer->out, call->end_ns - call->start_ns);
	if (call->error != 0) {
		ftr_ostream_puts(writer->out, ",error=");
		put_i64(writer->out, call->error);
	}
	if (flags != 0)
		ftr_ostream_printf(writer->out, ",flags=%lld", (long long)flags);
	if (signal != 0)
		ftr_ostream_printf(writer->out, ",signal=%lld", (long long)signal);
	if (call->stack != 0)
		ftr_ostream_printf(writer->out, ",stack=%u", call->stack);
	ftr_ostream_putc(writer->out, '\n');
}

static void put_rename(struct ftr_etrace_writer *writer, const struct ftr_syscall *call,
		       uint64_t last_ns)
{
	enum ftr_sysid id = ftr_syscall_has_flags(call) ? call->id : FTR_SYSID_NONE;
	enum ftr_etrace_role end = call->is_failed ? FTR_ETRACE_FAILED : FTR_ETRACE_TO;

	if (call->half != FTR_SYSCALL_END && call->rename.from.s != NULL) {
		writer->next_ns = call->start_ns > last_ns ? call->start_ns : last_ns + 1;
		put_head(writer, call, head_find(call->kind, FTR_ETRACE_FROM, id), "");
	}
	if (call->half == FTR_SYSCALL_BEGIN)
		return;
	if (writer->next_ns < call->end_ns)
		writer->next_ns = call->end_ns;
	writer->was_moved = writer->next_ns > call->end_ns;
	put_extension(writer, call);
	put_head(writer, call, head_find(call->kind, end, FTR_SYSID_NONE), "");
}

static void put_kind(struct ftr_etrace_writer *writer, const struct ftr_syscall *call,
		     enum ftr_syscall_kind kind, enum ftr_etrace_role role)
{
	put_head(writer, call, head_find(kind, role, FTR_SYSID_NONE), "");
}

static void put_clone(struct ftr_etrace_writer *writer, const struct ftr_syscall *call)
{
	put_kind(writer, call, FTR_SYSCALL_CLONE, FTR_ETRACE_FROM);
	if (call->is_failed)
		put_kind(writer, call, FTR_SYSCALL_CLONE, FTR_ETRACE_FAILED);
	else
		put_kind(writer, call, FTR_SYSCALL_FORK, FTR_ETRACE_WHOLE);
}

static void put_mount(struct ftr_etrace_writer *writer, const struct ftr_syscall *call)
{
	if (!call->is_failed || call->mount.target.s != NULL)
		put_kind(writer, call, call->kind, FTR_ETRACE_WHOLE);
	if (call->is_failed)
		put_kind(writer, call, call->kind, FTR_ETRACE_FAILED);
}

static bool is_left_out(const struct ftr_etrace_options *options,
			const struct ftr_syscall *call)
{
	if (options->is_extended)
		return false;
	if (call->is_failed && (FTR_ETRACE_FAILURES & FTR_BIT(call->kind)) == 0)
		return true;
	if (call->kind == FTR_SYSCALL_COMM)
		return !options->thread_names;
	return is_mount(call) && !options->mounts;
}

/* Is this the same open as the task's last one?  Remembers it. */
static bool open_is_repeated(struct ftr_etrace_writer *writer, struct etrace_task *task,
			     const struct ftr_syscall *call)
{
	struct ftr_slice path = call->open.path;
	bool is_same = task->last_open.s != NULL && task->last_open.len == path.len &&
		       memcmp(task->last_open.s, path.s, path.len) == 0 &&
		       task->last_flags == call->open.flags && task->last_mode == call->open.mode;

	if (is_same &&
	    task->skipped_nr < sizeof(task->skipped_fds) / sizeof(task->skipped_fds[0])) {
		task->skipped_fds[task->skipped_nr++] = call->open.fd;
		return true;
	}
	if (!is_same) {
		char *copy = ftr_arena_strndup(&writer->arena, path.s, path.len);

		task->last_open = ftr_slice_make(copy, path.len);
	}
	task->last_flags = call->open.flags;
	task->last_mode = call->open.mode;
	return false;
}

static bool close_is_skipped(struct etrace_task *task, int64_t fd)
{
	for (unsigned i = 0; i < task->skipped_nr; i++) {
		if (task->skipped_fds[i] != fd)
			continue;
		task->skipped_fds[i] = task->skipped_fds[--task->skipped_nr];
		return true;
	}
	return false;
}

static bool is_repetition(struct ftr_etrace_writer *writer, struct etrace_task *task,
			  const struct ftr_syscall *call)
{
	if (!writer->options.skip_repeated_opens)
		return false;
	if (call->kind == FTR_SYSCALL_OPEN)
		return open_is_repeated(writer, task, call);
	return call->kind == FTR_SYSCALL_CLOSE && close_is_skipped(task, call->close.fd);
}

/* The original tool's first line: where it was started. */
static void begin_file(struct ftr_etrace_writer *writer, const struct ftr_syscall *call)
{
	writer->has_begun = true;
	if (!writer->options.has_prefix)
		return;
	ftr_ostream_puts(writer->out, "INITCWD=");
	if (call->kind == FTR_SYSCALL_EXEC && call->exec.cwd.s != NULL)
		ftr_ostream_write(writer->out, call->exec.cwd.s, call->exec.cwd.len);
	ftr_ostream_putc(writer->out, '\n');
}

int ftr_etrace_write(struct ftr_etrace_writer *writer, const struct ftr_syscall *call)
{
	struct etrace_task *task;

	assert(call->kind < FTR_SYSCALL_KINDS && call->half <= FTR_SYSCALL_END);
	assert(call->half == FTR_SYSCALL_WHOLE || is_rename(call));
	if (is_left_out(&writer->options, call))
		return 0;
	task = task_get(writer, call->upid);
	if (task == NULL)
		return -ENOMEM;
	if (is_repetition(writer, task, call))
		return 0;
	if (!writer->has_begun)
		begin_file(writer, call);
	writer->next_ns = call->end_ns > task->last_ns ? call->end_ns : task->last_ns + 1;
	writer->was_moved = writer->next_ns > call->end_ns;
	if (is_rename(call)) {
		put_rename(writer, call, task->last_ns);
		task->last_ns = writer->next_ns - 1;
		return 0;
	}
	put_extension(writer, call);
	if (call->kind == FTR_SYSCALL_CLONE)
		put_clone(writer, call);
	else if (is_mount(call))
		put_mount(writer, call);
	else
		put_head(writer, call, head_find(call->kind, FTR_ETRACE_WHOLE, FTR_SYSID_NONE),
			 call->is_failed ? "Ftr_" : "");
	task->last_ns = writer->next_ns - 1;
	return 0;
}
