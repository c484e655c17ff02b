/* SPDX-License-Identifier: MIT */
/* Payloads of the observed calls. */
#include "utils/format/etrace/args.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

#define TEXT_MAX 2000u		/* of one value; a payload has at most 64K */
#define VALUE_ALIGN 4u

struct flag_name {
	uint64_t value;
	const char *name;
};

#define FLAG(name) { name, #name }
#define S(text) ftr_slice_make(text, sizeof(text) - 1)

static const struct flag_name open_flags[] = { FLAG(O_WRONLY),
					       FLAG(O_RDWR),
					       FLAG(O_CREAT),
					       FLAG(O_EXCL),
					       FLAG(O_NOCTTY),
					       FLAG(O_TRUNC),
					       FLAG(O_APPEND),
					       FLAG(O_NONBLOCK),
					       FLAG(O_DSYNC),
					       FLAG(O_ASYNC),
					       FLAG(O_DIRECT),
					       { 0x8000, "O_LARGEFILE" },
					       FLAG(O_DIRECTORY),
					       FLAG(O_NOFOLLOW),
					       FLAG(O_NOATIME),
					       FLAG(O_CLOEXEC),
					       FLAG(O_PATH),
					       { __O_TMPFILE & ~O_DIRECTORY, "O_TMPFILE" },
					       { 0 } };

static const struct flag_name clone_flags[] = { FLAG(CLONE_VM),
						FLAG(CLONE_FS),
						FLAG(CLONE_FILES),
						FLAG(CLONE_SIGHAND),
						FLAG(CLONE_PIDFD),
						FLAG(CLONE_PTRACE),
						FLAG(CLONE_VFORK),
						FLAG(CLONE_PARENT),
						FLAG(CLONE_THREAD),
						FLAG(CLONE_NEWNS),
						FLAG(CLONE_SYSVSEM),
						FLAG(CLONE_SETTLS),
						FLAG(CLONE_PARENT_SETTID),
						FLAG(CLONE_CHILD_CLEARTID),
						FLAG(CLONE_DETACHED),
						FLAG(CLONE_UNTRACED),
						FLAG(CLONE_CHILD_SETTID),
						FLAG(CLONE_NEWCGROUP),
						FLAG(CLONE_NEWUTS),
						FLAG(CLONE_NEWIPC),
						FLAG(CLONE_NEWUSER),
						FLAG(CLONE_NEWPID),
						FLAG(CLONE_NEWNET),
						FLAG(CLONE_IO),
						{ 17, "SIGCHLD" },
						{ 0 } };

static const struct flag_name rename_flags[] = {
	{ 1, "RENAME_NOREPLACE" }, { 2, "RENAME_EXCHANGE" }, { 4, "RENAME_WHITEOUT" }, { 0 }
};

static const struct flag_name link_flags[] = {
	FLAG(AT_SYMLINK_FOLLOW), FLAG(AT_EMPTY_PATH), { 0 }
};

static const struct flag_name mount_flags[] = {
	FLAG(MS_RDONLY),  FLAG(MS_NOSUID), FLAG(MS_NODEV),  FLAG(MS_NOEXEC),   FLAG(MS_SYNCHRONOUS),
	FLAG(MS_REMOUNT), FLAG(MS_BIND),   FLAG(MS_MOVE),   FLAG(MS_REC),      FLAG(MS_SILENT),
	FLAG(MS_PRIVATE), FLAG(MS_SLAVE),  FLAG(MS_SHARED), FLAG(MS_RELATIME), { 0 }
};

static const struct flag_name umount_flags[] = {
	FLAG(MNT_FORCE), FLAG(MNT_DETACH), FLAG(MNT_EXPIRE), FLAG(UMOUNT_NOFOLLOW), { 0 }
};

/* Where a value comes from. */
enum value_source {
	TEXT0, TEXT1, TEXT2, FROM, TARGET, ARGV, FD, FD2, STATUS, SIGNAL, MODE, COMMAND,
	OPEN_FLAGS, CLONE_FLAGS, RENAME_FLAGS, LINK_FLAGS, MOUNT_FLAGS, UMOUNT_FLAGS,
};

static const struct flag_name *const flag_tables[] = {
	[OPEN_FLAGS] = open_flags, [CLONE_FLAGS] = clone_flags, [RENAME_FLAGS] = rename_flags,
	[LINK_FLAGS] = link_flags, [MOUNT_FLAGS] = mount_flags, [UMOUNT_FLAGS] = umount_flags,
};

#define STRING(name_) { .format = FTR_ARG_STRING, .name = name_ }
#define WORD(name_)   { .format = FTR_ARG_WORD, .name = name_ }

/* The arguments of a call: their layout, and for each where it comes from. */
static const struct ftr_argspec exec_spec = { 2, { STRING("path"), WORD("argv") } };
static const struct ftr_argspec clone_spec = { 1, { WORD("flags") } };
static const struct ftr_argspec exit_spec = { 1, { WORD("status") } };
static const struct ftr_argspec killed_spec = { 1, { WORD("signal") } };
static const struct ftr_argspec open_spec = { 2, { STRING("path"), WORD("flags") } };
static const struct ftr_argspec creat_spec = { 3, { STRING("path"), WORD("flags"), WORD("mode") } };
static const struct ftr_argspec pipe_spec = { 2, { WORD("fd1"), WORD("fd2") } };
static const struct ftr_argspec pipe2_spec = { 3, { WORD("fd1"), WORD("fd2"), WORD("flags") } };
static const struct ftr_argspec rename_spec = { 2, { STRING("from"), STRING("to") } };
static const struct ftr_argspec rename2_spec = { 3,
						 { STRING("from"), STRING("to"), WORD("flags") } };
static const struct ftr_argspec symlink_spec = { 2, { STRING("target"), STRING("link") } };
static const struct ftr_argspec close_spec = { 1, { WORD("fd") } };
static const struct ftr_argspec dup_spec = { 1, { WORD("oldfd") } };
static const struct ftr_argspec dup2_spec = { 2, { WORD("oldfd"), WORD("newfd") } };
static const struct ftr_argspec dup3_spec = { 3, { WORD("oldfd"), WORD("newfd"), WORD("flags") } };
static const struct ftr_argspec fcntl_spec = { 2, { WORD("fd"), WORD("cmd") } };
static const struct ftr_argspec mount_spec = {
	4, { STRING("source"), STRING("target"), STRING("type"), WORD("flags") } };
static const struct ftr_argspec bind_spec = {
	3, { STRING("source"), STRING("target"), WORD("flags") }
};
static const struct ftr_argspec umount_spec = { 2, { STRING("target"), WORD("flags") } };
static const struct ftr_argspec comm_spec = { 1, { STRING("name") } };
static const struct ftr_argspec result_spec = { 1, { { .format = FTR_ARG_WORD } } };

struct layout {
	const struct ftr_argspec *spec;
	uint8_t sources[4];
};

static const struct layout layouts[FTR_ETRACE_KINDS] = {
	[FTR_ETRACE_EXEC]    = { &exec_spec, { TEXT1, ARGV } },
	[FTR_ETRACE_CLONE]   = { &clone_spec, { CLONE_FLAGS } },
	[FTR_ETRACE_EXIT]    = { &exit_spec, { STATUS } },
	[FTR_ETRACE_OPEN]    = { &open_spec, { TEXT1, OPEN_FLAGS } },
	[FTR_ETRACE_PIPE]    = { &pipe2_spec, { FD, FD2, OPEN_FLAGS } },
	[FTR_ETRACE_RENAME]  = { &rename_spec, { FROM, TEXT1 } },
	[FTR_ETRACE_RENAME2] = { &rename2_spec, { FROM, TEXT1, RENAME_FLAGS } },
	[FTR_ETRACE_LINK]    = { &rename_spec, { FROM, TEXT1 } },
	[FTR_ETRACE_LINKAT]  = { &rename2_spec, { FROM, TEXT1, LINK_FLAGS } },
	[FTR_ETRACE_SYMLINK] = { &symlink_spec, { TEXT0, TEXT2 } },
	[FTR_ETRACE_CLOSE]   = { &close_spec, { FD } },
	[FTR_ETRACE_DUP]     = { &dup3_spec, { FD, FD2, OPEN_FLAGS } },
	[FTR_ETRACE_MOUNT]   = { &mount_spec, { TEXT0, TARGET, TEXT2, MOUNT_FLAGS } },
	[FTR_ETRACE_UMOUNT]  = { &umount_spec, { TARGET, UMOUNT_FLAGS } },
	[FTR_ETRACE_COMM]    = { &comm_spec, { TEXT0 } },
};

/* Where the call's name is known and says more than the kind. */
static const struct call_layout {
	const char *call;
	struct layout layout;
} call_layouts[] = {
	{ "pipe",  { &pipe_spec, { FD, FD2 } } },
	{ "dup",   { &dup_spec, { FD } } },
	{ "dup2",  { &dup2_spec, { FD, FD2 } } },
	{ "fcntl", { &fcntl_spec, { FD, COMMAND } } },
};

static const struct layout creat_layout = { &creat_spec, { TEXT1, OPEN_FLAGS, MODE } };
static const struct layout killed_layout = { &killed_spec, { SIGNAL } };
static const struct layout bind_layout = { &bind_spec, { TEXT0, TARGET, MOUNT_FLAGS } };
static const struct layout remount_layout = { &umount_spec, { TARGET, MOUNT_FLAGS } };

static const struct layout *layout_of(const struct ftr_etrace_record *rec)
{
	bool has_source = rec->text[0].s != NULL, has_type = rec->text[2].s != NULL;

	if (rec->kind == FTR_ETRACE_OPEN && (rec->flags & (O_CREAT | __O_TMPFILE)) != 0)
		return &creat_layout;
	if (rec->kind == FTR_ETRACE_EXIT && rec->signal != 0)
		return &killed_layout;
	if (rec->kind == FTR_ETRACE_MOUNT && !has_type)
		return has_source ? &bind_layout : &remount_layout;
	for (size_t i = 0; rec->call != NULL && i < sizeof(call_layouts) / sizeof(call_layouts[0]);
	     i++) {
		if (strcmp(call_layouts[i].call, rec->call) == 0)
			return &call_layouts[i].layout;
	}
	return &layouts[rec->kind];
}

/* A string value: its length in two bytes, itself, padding. */
static void put_value(struct ftr_strbuf *bytes, const char *s, size_t len)
{
	static const char padding[VALUE_ALIGN];
	uint16_t length = (uint16_t)(len < TEXT_MAX ? len : TEXT_MAX);
	size_t used = sizeof(length) + length;

	ftr_strbuf_put(bytes, &length, sizeof(length));
	ftr_strbuf_put(bytes, s, length);
	ftr_strbuf_put(bytes, padding, (VALUE_ALIGN - used % VALUE_ALIGN) % VALUE_ALIGN);
}

static void put_flags(struct ftr_strbuf *bytes, enum value_source source, enum ftr_etrace_kind kind,
		      uint64_t flags)
{
	char text[TEXT_MAX] = "";
	size_t len = 0;

	if (source != CLONE_FLAGS && source != MOUNT_FLAGS)
		flags &= UINT32_MAX;		/* an int in the call */
	if (kind == FTR_ETRACE_OPEN && (flags & O_ACCMODE) == O_RDONLY)
		len = (size_t)snprintf(text, sizeof(text), "O_RDONLY");
	for (const struct flag_name *flag = flag_tables[source]; flag->name != NULL; flag++) {
		if ((flags & flag->value) != flag->value)
			continue;
		flags &= ~flag->value;
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", len > 0 ? "|" : "",
					flag->name);
	}
	if (flags != 0)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%#llx",
					len > 0 ? "|" : "", (unsigned long long)flags);
	if (len == 0)
		len = (size_t)snprintf(text, sizeof(text), "0");
	put_value(bytes, text, len);
}

/* ["gcc", "-c", "a.c"]: what is too long for a value ends in dots. */
static void put_argv(struct ftr_strbuf *bytes, const struct ftr_etrace_record *rec)
{
	struct ftr_strbuf text;

	ftr_strbuf_init(&text);
	ftr_strbuf_putc(&text, '[');
	for (size_t i = 0; i < rec->argc && text.len < TEXT_MAX; i++) {
		ftr_strbuf_puts(&text, i > 0 ? ", \"" : "\"");
		for (size_t j = 0; j < rec->argv[i].len && text.len < TEXT_MAX; j++)
			ftr_value_put_byte(&text, (unsigned char)rec->argv[i].s[j]);
		ftr_strbuf_putc(&text, '"');
	}
	if (text.len > TEXT_MAX - 4) {
		text.len = TEXT_MAX - 4;
		ftr_strbuf_puts(&text, "...");
	}
	ftr_strbuf_putc(&text, ']');
	put_value(bytes, ftr_strbuf_str(&text), text.len);
	ftr_strbuf_fini(&text);
}

static void put_number(struct ftr_strbuf *bytes, const char *format, int64_t value)
{
	char text[32];
	int len = snprintf(text, sizeof(text), format, (long long)value);

	put_value(bytes, text, (size_t)len);
}

/* "SIGKILL", or its number where it has no name. */
static void put_signal(struct ftr_strbuf *bytes, int signal)
{
	const char *name = sigabbrev_np(signal);
	char text[32];
	int len;

	if (name != NULL)
		len = snprintf(text, sizeof(text), "SIG%s", name);
	else
		len = snprintf(text, sizeof(text), "%d", signal);
	put_value(bytes, text, (size_t)len);
}

static void put_text(struct ftr_strbuf *bytes, struct ftr_slice text, struct ftr_slice otherwise)
{
	if (text.s == NULL)
		text = otherwise;
	put_value(bytes, text.s != NULL ? text.s : "", text.len);
}

static void put_source(struct ftr_strbuf *bytes, enum value_source source,
		       const struct ftr_etrace_record *rec)
{
	static const struct ftr_slice nothing = { NULL, 0 };

	switch (source) {
	case TEXT0:
	case TEXT1:
	case TEXT2:
		put_text(bytes, rec->text[source], nothing);
		break;
	case FROM:
		put_text(bytes, rec->text[0], rec->text[3]);
		break;
	case TARGET:
		put_text(bytes, rec->text[1], rec->text[3]);
		break;
	case ARGV:
		put_argv(bytes, rec);
		break;
	case FD:
		put_number(bytes, "%lld", rec->fd);
		break;
	case FD2:
		put_number(bytes, "%lld", rec->fd2);
		break;
	case STATUS:
		put_number(bytes, "%lld", rec->status);
		break;
	case SIGNAL:
		put_signal(bytes, rec->signal);
		break;
	case MODE:
		put_number(bytes, "%#llo", rec->mode);
		break;
	case COMMAND:
		put_text(bytes, rec->flags != 0 ? S("F_DUPFD_CLOEXEC") : S("F_DUPFD"), nothing);
		break;
	default:
		put_flags(bytes, source, rec->kind, (uint64_t)rec->flags);
		break;
	}
}

const struct ftr_argspec *ftr_etrace_args(const struct ftr_etrace_record *rec,
					  struct ftr_strbuf *bytes)
{
	const struct layout *layout = layout_of(rec);

	for (unsigned i = 0; layout->spec != NULL && i < layout->spec->nr; i++)
		put_source(bytes, layout->sources[i], rec);
	return layout->spec;
}

const struct ftr_argspec *ftr_etrace_result(const struct ftr_etrace_record *rec,
					    struct ftr_strbuf *bytes)
{
	const char *error = strerrorname_np(rec->error);

	/* What a write to a comm file returned is not recorded. */
	if (rec->kind == FTR_ETRACE_EXIT || (rec->call != NULL && strcmp(rec->call, "write") == 0))
		return NULL;
	if (rec->is_failed) {
		error = rec->error != 0 && error != NULL ? error : "failed";
		put_value(bytes, error, strlen(error));
		return &result_spec;
	}
	if (rec->kind == FTR_ETRACE_OPEN)
		put_number(bytes, "%lld", rec->fd);
	else if (rec->kind == FTR_ETRACE_DUP)
		put_number(bytes, "%lld", rec->fd2);
	else if (rec->kind == FTR_ETRACE_FORK || rec->kind == FTR_ETRACE_CLONE)
		put_number(bytes, "%lld", ftr_etrace_tid(rec->peer));
	else
		put_number(bytes, "%lld", 0);
	return &result_spec;
}
