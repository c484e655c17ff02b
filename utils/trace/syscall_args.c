/* SPDX-License-Identifier: MIT */
/* Arguments and results of system calls as payloads of events. */
#include "utils/trace/syscall.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

#include "utils/trace/args.h"

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

/* How a value becomes text. */
enum value_type {
	TEXT, ARGV, NUMBER, OCTAL, SIGNAL, COMMAND,
	OPEN_FLAGS, FD_FLAGS, CLONE_FLAGS, RENAME_FLAGS, LINK_FLAGS, MOUNT_FLAGS, UMOUNT_FLAGS,
};

static const struct flag_name *const flag_tables[] = {
	[OPEN_FLAGS]   = open_flags,
	[FD_FLAGS]     = open_flags,
	[CLONE_FLAGS]  = clone_flags,
	[RENAME_FLAGS] = rename_flags,
	[LINK_FLAGS]   = link_flags,
	[MOUNT_FLAGS]  = mount_flags,
	[UMOUNT_FLAGS] = umount_flags,
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

/* A value: its type, where in struct ftr_syscall it stands, and (texts) where else if not there. */
struct source {
	uint8_t  type;
	uint16_t at, otherwise;
};

struct layout {
	const struct ftr_argspec *spec;
	struct source sources[4];
};

#define AT(type, member)	{ type, offsetof(struct ftr_syscall, member), 0 }
#define EITHER(member, other)	{ TEXT, offsetof(struct ftr_syscall, member), \
				  offsetof(struct ftr_syscall, other) }

static const struct layout layouts[FTR_SYSCALL_KINDS] = {
	[FTR_SYSCALL_EXEC]    = { &exec_spec, { AT(TEXT, exec.program), AT(ARGV, exec) } },
	[FTR_SYSCALL_CLONE]   = { &clone_spec, { AT(CLONE_FLAGS, fork.flags) } },
	[FTR_SYSCALL_EXIT]    = { &exit_spec, { AT(NUMBER, exit.status) } },
	[FTR_SYSCALL_OPEN]    = { &open_spec, { AT(TEXT, open.asked),
						AT(OPEN_FLAGS, open.flags) } },
	[FTR_SYSCALL_PIPE]    = { &pipe2_spec, { AT(NUMBER, pipe.read_fd),
						 AT(NUMBER, pipe.write_fd),
						 AT(FD_FLAGS, pipe.flags) } },
	[FTR_SYSCALL_RENAME]  = { &rename_spec, { EITHER(rename.from, rename.from_asked),
						  AT(TEXT, rename.to) } },
	[FTR_SYSCALL_LINK]    = { &rename_spec, { EITHER(rename.from, rename.from_asked),
						  AT(TEXT, rename.to) } },
	[FTR_SYSCALL_SYMLINK] = { &symlink_spec, { AT(TEXT, symlink.target),
						   AT(TEXT, symlink.link) } },
	[FTR_SYSCALL_CLOSE]   = { &close_spec, { AT(NUMBER, close.fd) } },
	[FTR_SYSCALL_DUP]     = { &dup3_spec, { AT(NUMBER, dup.old_fd), AT(NUMBER, dup.new_fd),
						AT(FD_FLAGS, dup.flags) } },
	[FTR_SYSCALL_MOUNT]   = { &mount_spec, { AT(TEXT, mount.source),
						 EITHER(mount.target, mount.target_asked),
						 AT(TEXT, mount.type),
						 AT(MOUNT_FLAGS, mount.flags) } },
	[FTR_SYSCALL_UMOUNT]  = { &umount_spec, { EITHER(mount.target, mount.target_asked),
						  AT(UMOUNT_FLAGS, mount.flags) } },
	[FTR_SYSCALL_COMM]    = { &comm_spec, { AT(TEXT, comm.name) } },
};

/* Of calls that have other arguments than their kind. */
static const struct layout id_layouts[FTR_SYSIDS] = {
	[FTR_SYSID_PIPE]      = { &pipe_spec, { AT(NUMBER, pipe.read_fd),
						AT(NUMBER, pipe.write_fd) } },
	[FTR_SYSID_RENAMEAT2] = { &rename2_spec, { EITHER(rename.from, rename.from_asked),
						   AT(TEXT, rename.to),
						   AT(RENAME_FLAGS, rename.flags) } },
	[FTR_SYSID_LINKAT]    = { &rename2_spec, { EITHER(rename.from, rename.from_asked),
						   AT(TEXT, rename.to),
						   AT(LINK_FLAGS, rename.flags) } },
	[FTR_SYSID_DUP]	      = { &dup_spec, { AT(NUMBER, dup.old_fd) } },
	[FTR_SYSID_DUP2]      = { &dup2_spec, { AT(NUMBER, dup.old_fd), AT(NUMBER, dup.new_fd) } },
	[FTR_SYSID_FCNTL]     = { &fcntl_spec, { AT(NUMBER, dup.old_fd),
						 AT(COMMAND, dup.flags) } },
};

static const struct layout creat_layout = { &creat_spec, { AT(TEXT, open.asked),
							   AT(OPEN_FLAGS, open.flags),
							   AT(OCTAL, open.mode) } };
static const struct layout killed_layout = { &killed_spec, { AT(SIGNAL, exit.signal) } };
static const struct layout bind_layout = { &bind_spec, { AT(TEXT, mount.source),
							 EITHER(mount.target, mount.target_asked),
							 AT(MOUNT_FLAGS, mount.flags) } };
static const struct layout remount_layout = { &umount_spec,
					      { EITHER(mount.target, mount.target_asked),
						AT(MOUNT_FLAGS, mount.flags) } };

static const struct layout *layout_of(const struct ftr_syscall *call)
{
	switch (call->kind) {
	case FTR_SYSCALL_OPEN:
		if ((call->open.flags & (O_CREAT | __O_TMPFILE)) != 0)
			return &creat_layout;
		break;
	case FTR_SYSCALL_EXIT:
		if (call->exit.signal != 0)
			return &killed_layout;
		break;
	case FTR_SYSCALL_MOUNT:
		if (call->mount.type.s == NULL)
			return call->mount.source.s != NULL ? &bind_layout : &remount_layout;
		break;
	case FTR_SYSCALL_RENAME:
	case FTR_SYSCALL_LINK:
	case FTR_SYSCALL_PIPE:
	case FTR_SYSCALL_DUP:
		if (id_layouts[call->id].spec != NULL)
			return &id_layouts[call->id];
		break;
	}
	return &layouts[call->kind];
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

static void put_flags(struct ftr_strbuf *bytes, enum value_type type, uint64_t flags)
{
	char text[TEXT_MAX] = "";
	size_t len = 0;

	if (type != CLONE_FLAGS && type != MOUNT_FLAGS)
		flags &= UINT32_MAX;		/* an int in the call */
	if (type == OPEN_FLAGS && (flags & O_ACCMODE) == O_RDONLY)
		len = (size_t)snprintf(text, sizeof(text), "O_RDONLY");
	for (const struct flag_name *flag = flag_tables[type]; flag->name != NULL; flag++) {
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
static void put_argv(struct ftr_strbuf *bytes, const struct ftr_syscall *call)
{
	struct ftr_strbuf text;

	ftr_strbuf_init(&text);
	ftr_strbuf_putc(&text, '[');
	for (size_t i = 0; i < call->exec.argc && text.len < TEXT_MAX; i++) {
		struct ftr_slice word = call->exec.argv[i];

		ftr_strbuf_puts(&text, i > 0 ? ", \"" : "\"");
		for (size_t j = 0; j < word.len && text.len < TEXT_MAX; j++)
			ftr_value_put_byte(&text, (unsigned char)word.s[j]);
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

static struct ftr_slice text_at(const struct ftr_syscall *call, const struct source *source)
{
	struct ftr_slice text;

	memcpy(&text, (const char *)call + source->at, sizeof(text));
	if (text.s == NULL && source->otherwise != 0)
		memcpy(&text, (const char *)call + source->otherwise, sizeof(text));
	return text;
}

static int64_t number_at(const struct ftr_syscall *call, const struct source *source)
{
	int64_t number;

	memcpy(&number, (const char *)call + source->at, sizeof(number));
	return number;
}

static void put_text(struct ftr_strbuf *bytes, struct ftr_slice text)
{
	put_value(bytes, text.s != NULL ? text.s : "", text.len);
}

static void put_source(struct ftr_strbuf *bytes, const struct source *source,
		       const struct ftr_syscall *call)
{
	switch (source->type) {
	case TEXT:
		put_text(bytes, text_at(call, source));
		break;
	case ARGV:
		put_argv(bytes, call);
		break;
	case NUMBER:
		put_number(bytes, "%lld", number_at(call, source));
		break;
	case OCTAL:
		put_number(bytes, "%#llo", number_at(call, source));
		break;
	case SIGNAL:
		put_signal(bytes, (int)number_at(call, source));
		break;
	case COMMAND:
		put_text(bytes, number_at(call, source) != 0 ? S("F_DUPFD_CLOEXEC") : S("F_DUPFD"));
		break;
	default:
		put_flags(bytes, source->type, (uint64_t)number_at(call, source));
		break;
	}
}

const struct ftr_argspec *ftr_syscall_args(const struct ftr_syscall *call,
					   struct ftr_strbuf *bytes)
{
	const struct layout *layout = layout_of(call);

	for (unsigned i = 0; layout->spec != NULL && i < layout->spec->nr; i++)
		put_source(bytes, &layout->sources[i], call);
	return layout->spec;
}

static int64_t result_of(const struct ftr_syscall *call)
{
	switch (call->kind) {
	case FTR_SYSCALL_OPEN:	return call->open.fd;
	case FTR_SYSCALL_DUP:	return call->dup.new_fd;
	case FTR_SYSCALL_FORK:
	case FTR_SYSCALL_CLONE: return ftr_upid_tid(call->fork.child);
	default:		return 0;
	}
}

const struct ftr_argspec *ftr_syscall_result(const struct ftr_syscall *call,
					     struct ftr_strbuf *bytes)
{
	const char *error = strerrorname_np(call->error);

	/* What a write to a comm file returned is not recorded. */
	if (call->kind == FTR_SYSCALL_EXIT || call->id == FTR_SYSID_WRITE)
		return NULL;
	if (call->is_failed) {
		error = call->error != 0 && error != NULL ? error : "failed";
		put_value(bytes, error, strlen(error));
	} else {
		put_number(bytes, "%lld", result_of(call));
	}
	return &result_spec;
}
