/* SPDX-License-Identifier: MIT */
/* Records to etrace text (doc/ftr-etrace.5). */
#include "utils/format/etrace/etrace.h"

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
static void put_prefix(struct ftr_etrace_writer *writer, const struct ftr_etrace_record *rec)
{
	char *start = ftr_ostream_reserve(writer->out, 96);
	char *p = start;

	if (writer->options.has_prefix) {
		memcpy(p, "0: ", 3);
		p += 3;
	}
	p = ftr_fmt_u64(p, rec->upid);
	*p++ = ',';
	p = ftr_fmt_u64(p, rec->cpu);
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
			       const struct ftr_etrace_record *rec, const char *s, size_t len)
{
	size_t pos = 0;

	while (pos < len && s[pos] == '\n') {
		size_t bytes = chunk_bytes(s + pos + 1, len - pos - 1);

		put_prefix(writer, rec);
		ftr_ostream_puts(writer->out, "Cont|");
		ftr_ostream_write(writer->out, s + pos + 1, bytes);
		ftr_ostream_putc(writer->out, '\n');
		pos += 1 + bytes;
	}
	if (pos > 0) {
		put_prefix(writer, rec);
		ftr_ostream_puts(writer->out, "Cont_end|\n");
	}
	return pos;
}

/* One line "TAG[index]chunk" and its continuation.  Returns how much of the text was written. */
static size_t put_part(struct ftr_etrace_writer *writer, const struct ftr_etrace_record *rec,
		       const char *tag, size_t index, struct ftr_slice text)
{
	size_t bytes = chunk_bytes(text.s, text.len);

	put_prefix(writer, rec);
	ftr_ostream_puts(writer->out, tag);
	ftr_ostream_putc(writer->out, '[');
	ftr_ostream_u64(writer->out, index);
	ftr_ostream_putc(writer->out, ']');
	ftr_ostream_write(writer->out, text.s, bytes);
	ftr_ostream_putc(writer->out, '\n');
	return bytes + put_continuation(writer, rec, text.s + bytes, text.len - bytes);
}

static void put_text(struct ftr_etrace_writer *writer, const struct ftr_etrace_record *rec,
		     const char *tag, struct ftr_slice text)
{
	size_t index = 0, bytes;

	if (text.len < FTR_ETRACE_CHUNK) {
		bytes = chunk_bytes(text.s, text.len);
		put_prefix(writer, rec);
		ftr_ostream_puts(writer->out, tag);
		ftr_ostream_putc(writer->out, '|');
		ftr_ostream_write(writer->out, text.s, bytes);
		ftr_ostream_putc(writer->out, '\n');
		put_continuation(writer, rec, text.s + bytes, text.len - bytes);
		return;
	}
	while (text.len > 0) {
		bytes = put_part(writer, rec, tag, index++, text);
		text = ftr_slice_make(text.s + bytes, text.len - bytes);
	}
	put_prefix(writer, rec);
	ftr_ostream_puts(writer->out, tag);
	ftr_ostream_puts(writer->out, "_end|\n");
}

static void put_arguments(struct ftr_etrace_writer *writer, const struct ftr_etrace_record *rec)
{
	for (size_t i = 0; i < rec->argc; i++) {
		struct ftr_slice rest = rec->argv[i];

		do {
			size_t bytes = put_part(writer, rec, "A", i, rest);

			rest = ftr_slice_make(rest.s + bytes, rest.len - bytes);
		} while (rest.len > 0);
	}
	put_prefix(writer, rec);
	ftr_ostream_puts(writer->out, "End_of_args|\n");
}

static int64_t argument_bytes(const struct ftr_etrace_record *rec)
{
	int64_t bytes = 0;

	for (size_t i = 0; i < rec->argc; i++)
		bytes += (int64_t)rec->argv[i].len + 1;
	return bytes;
}

static int64_t field_value(const struct ftr_etrace_record *rec, enum ftr_etrace_value value)
{
	switch (value) {
	case FTR_ETRACE_SIZE0:	 return (int64_t)rec->text[0].len;
	case FTR_ETRACE_SIZE1:	 return (int64_t)rec->text[1].len;
	case FTR_ETRACE_SIZE2:	 return (int64_t)rec->text[2].len;
	case FTR_ETRACE_ARGSIZE: return argument_bytes(rec);
	case FTR_ETRACE_PEER:	 return (int64_t)rec->peer;
	case FTR_ETRACE_FLAGS:	 return rec->flags;
	case FTR_ETRACE_MODE:	 return rec->mode;
	case FTR_ETRACE_FD:	 return rec->fd;
	case FTR_ETRACE_FD2:	 return rec->fd2;
	case FTR_ETRACE_STATUS:	 return rec->status;
	case FTR_ETRACE_VALUES:	 break;
	}
	return 0;
}

static bool field_is_absent(const struct ftr_etrace_record *rec,
			    const struct ftr_etrace_field *field)
{
	return field->is_optional && field->value <= FTR_ETRACE_SIZE2 &&
	       rec->text[field->value].s == NULL;
}

/*
 * Has a failed call anything to say that its lines have no place for?  Of a mount, only if nothing
 * was said.
 */
static bool is_asked_for(const struct ftr_etrace_writer *writer,
			 const struct ftr_etrace_record *rec)
{
	bool is_mount = rec->kind == FTR_ETRACE_MOUNT || rec->kind == FTR_ETRACE_UMOUNT;

	return writer->options.is_extended && (!is_mount || rec->text[1].s == NULL);
}

/* The record's line of this role, and its texts. */
static void put_head(struct ftr_etrace_writer *writer, const struct ftr_etrace_record *rec,
		     enum ftr_etrace_kind kind, enum ftr_etrace_role role, const char *tag_prefix)
{
	const struct ftr_etrace_head *head = ftr_etrace_heads;
	struct ftr_ostream *out = writer->out;
	char separator = '|';

	while (head->kind != kind || head->role != role)
		head++;
	put_prefix(writer, rec);
	ftr_ostream_puts(out, tag_prefix);
	ftr_ostream_puts(out, head->tag);
	for (const struct ftr_etrace_field *field = head->fields; field->name != NULL; field++) {
		if (field_is_absent(rec, field))
			continue;
		ftr_ostream_putc(out, separator);
		ftr_ostream_puts(out, field->name);
		ftr_ostream_putc(out, '=');
		put_i64(out, field_value(rec, field->value));
		separator = ',';
	}
	ftr_ostream_puts(out, separator == '|' ? "|\n" : "\n");
	if (role == FTR_ETRACE_FAILED && !is_asked_for(writer, rec))
		return;
	for (const struct ftr_etrace_tag *tag = head->texts; tag->tag[0] != '\0'; tag++) {
		if (rec->text[tag->text].s != NULL)
			put_text(writer, rec, tag->tag, rec->text[tag->text]);
	}
	if (kind == FTR_ETRACE_EXEC)
		put_arguments(writer, rec);
}

/* Is the record its Failed line alone, which has no place for flags? */
static bool has_only_failure(const struct ftr_etrace_record *rec)
{
	return rec->kind == FTR_ETRACE_MOUNT || rec->kind == FTR_ETRACE_UMOUNT ?
		       rec->text[1].s == NULL :
		       rec->kind >= FTR_ETRACE_RENAME && rec->kind <= FTR_ETRACE_LINKAT &&
			       rec->text[0].s == NULL;
}

/* Plain texts say nothing of that, and are to be the same when they are read again. */
static bool has_details(const struct ftr_etrace_record *rec)
{
	bool has_start = rec->kind >= FTR_ETRACE_RENAME &&
			 rec->kind <= FTR_ETRACE_LINKAT; /* in its lines */

	return rec->call != NULL || rec->is_failed || rec->error != 0 || rec->signal != 0 ||
	       (rec->start_ns != rec->time_ns && !has_start);
}

/* Data directories: the call's name, how long it took, why it failed. */
static void put_extension(struct ftr_etrace_writer *writer, const struct ftr_etrace_record *rec)
{
	if (!writer->options.is_extended || !has_details(rec))
		return;
	put_prefix(writer, rec);
	ftr_ostream_puts(writer->out, "Ftr|call=");
	ftr_ostream_puts(writer->out, ftr_etrace_call(rec));
	ftr_ostream_puts(writer->out, ",took=");
	ftr_ostream_u64(writer->out, rec->time_ns - rec->start_ns);
	if (rec->error != 0) {
		ftr_ostream_puts(writer->out, ",error=");
		put_i64(writer->out, rec->error);
	}
	if (rec->is_failed && rec->flags != 0 && has_only_failure(rec))
		ftr_ostream_printf(writer->out, ",flags=%lld", (long long)rec->flags);
	if (rec->signal != 0)
		ftr_ostream_printf(writer->out, ",signal=%d", rec->signal);
	ftr_ostream_putc(writer->out, '\n');
}

static void put_rename(struct ftr_etrace_writer *writer, const struct ftr_etrace_record *rec,
		       uint64_t last_ns)
{
	enum ftr_etrace_kind base = rec->kind == FTR_ETRACE_RENAME2 ? FTR_ETRACE_RENAME :
				    rec->kind == FTR_ETRACE_LINKAT ? FTR_ETRACE_LINK : rec->kind;

	if (!rec->is_end && rec->text[0].s != NULL) {
		writer->next_ns = rec->start_ns > last_ns ? rec->start_ns : last_ns + 1;
		put_head(writer, rec, rec->kind, FTR_ETRACE_FROM, "");
	}
	if (rec->is_begin)
		return;
	if (writer->next_ns < rec->time_ns)
		writer->next_ns = rec->time_ns;
	writer->was_moved = writer->next_ns > rec->time_ns;
	put_extension(writer, rec);
	put_head(writer, rec, base, rec->is_failed ? FTR_ETRACE_FAILED : FTR_ETRACE_TO, "");
}

static void put_clone(struct ftr_etrace_writer *writer, const struct ftr_etrace_record *rec)
{
	put_head(writer, rec, FTR_ETRACE_CLONE, FTR_ETRACE_FROM, "");
	if (rec->is_failed)
		put_head(writer, rec, FTR_ETRACE_CLONE, FTR_ETRACE_FAILED, "");
	else
		put_head(writer, rec, FTR_ETRACE_FORK, FTR_ETRACE_WHOLE, "");
}

static void put_mount(struct ftr_etrace_writer *writer, const struct ftr_etrace_record *rec)
{
	if (!rec->is_failed || rec->text[1].s != NULL)
		put_head(writer, rec, rec->kind, FTR_ETRACE_WHOLE, "");
	if (rec->is_failed)
		put_head(writer, rec, rec->kind, FTR_ETRACE_FAILED, "");
}

bool ftr_etrace_has_failure(enum ftr_etrace_kind kind)
{
	return kind == FTR_ETRACE_CLONE || kind == FTR_ETRACE_MOUNT || kind == FTR_ETRACE_UMOUNT ||
	       (kind >= FTR_ETRACE_RENAME && kind <= FTR_ETRACE_LINKAT);
}

static bool is_left_out(const struct ftr_etrace_options *options,
			const struct ftr_etrace_record *rec)
{
	if (options->is_extended)
		return false;
	if (rec->is_failed && !ftr_etrace_has_failure(rec->kind))
		return true;
	if (rec->kind == FTR_ETRACE_COMM)
		return !options->thread_names;
	return (rec->kind == FTR_ETRACE_MOUNT || rec->kind == FTR_ETRACE_UMOUNT) &&
	       !options->mounts;
}

/* Is this the same open as the task's last one?  Remembers it. */
static bool open_is_repeated(struct ftr_etrace_writer *writer, struct etrace_task *task,
			     const struct ftr_etrace_record *rec)
{
	struct ftr_slice path = rec->text[0];
	bool is_same = task->last_open.s != NULL && task->last_open.len == path.len &&
		       memcmp(task->last_open.s, path.s, path.len) == 0 &&
		       task->last_flags == rec->flags && task->last_mode == rec->mode;

	if (is_same &&
	    task->skipped_nr < sizeof(task->skipped_fds) / sizeof(task->skipped_fds[0])) {
		task->skipped_fds[task->skipped_nr++] = rec->fd;
		return true;
	}
	if (!is_same) {
		char *copy = ftr_arena_strndup(&writer->arena, path.s, path.len);

		task->last_open = ftr_slice_make(copy, path.len);
	}
	task->last_flags = rec->flags;
	task->last_mode = rec->mode;
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
			  const struct ftr_etrace_record *rec)
{
	if (!writer->options.skip_repeated_opens)
		return false;
	if (rec->kind == FTR_ETRACE_OPEN)
		return open_is_repeated(writer, task, rec);
	return rec->kind == FTR_ETRACE_CLOSE && close_is_skipped(task, rec->fd);
}

/* The original tool's first line: where it was started. */
static void begin_file(struct ftr_etrace_writer *writer, const struct ftr_etrace_record *rec)
{
	writer->has_begun = true;
	if (!writer->options.has_prefix)
		return;
	ftr_ostream_puts(writer->out, "INITCWD=");
	if (rec->kind == FTR_ETRACE_EXEC && rec->text[2].s != NULL)
		ftr_ostream_write(writer->out, rec->text[2].s, rec->text[2].len);
	ftr_ostream_putc(writer->out, '\n');
}

int ftr_etrace_write(struct ftr_etrace_writer *writer, const struct ftr_etrace_record *rec)
{
	struct etrace_task *task;

	if (is_left_out(&writer->options, rec))
		return 0;
	task = task_get(writer, rec->upid);
	if (task == NULL)
		return -ENOMEM;
	if (is_repetition(writer, task, rec))
		return 0;
	if (!writer->has_begun)
		begin_file(writer, rec);
	writer->next_ns = rec->time_ns > task->last_ns ? rec->time_ns : task->last_ns + 1;
	writer->was_moved = writer->next_ns > rec->time_ns;
	if (rec->kind >= FTR_ETRACE_RENAME && rec->kind <= FTR_ETRACE_LINKAT) {
		put_rename(writer, rec, task->last_ns);
		task->last_ns = writer->next_ns - 1;
		return 0;
	}
	put_extension(writer, rec);
	if (rec->kind == FTR_ETRACE_CLONE)
		put_clone(writer, rec);
	else if (rec->kind == FTR_ETRACE_MOUNT || rec->kind == FTR_ETRACE_UMOUNT)
		put_mount(writer, rec);
	else
		put_head(writer, rec, rec->kind, FTR_ETRACE_WHOLE, rec->is_failed ? "Ftr_" : "");
	task->last_ns = writer->next_ns - 1;
	return 0;
}
