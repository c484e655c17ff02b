/* SPDX-License-Identifier: MIT */
/* Looking into a stopped task: its memory, and what /proc shows of it. */
#include "utils/observe/tracee.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE 4096u
#define FIRST_READ 256u		/* most paths are shorter */
#define STAT_CPU_FIELD 39
#define HEAD_BYTES 256u		/* what the kernel looks at */
#define CHAIN_MAX 5		/* as deep as it goes */
#define FAILED_ARGS_MAX 64	/* of an exec that failed */
#define FAILED_BYTES_MAX 8192u

/* Word by word, for processes whose memory only their tracer may read (not dumpable). */
static ssize_t peek(const struct ftr_tracee *tracee, uint64_t addr, char *buf, size_t len)
{
	size_t done = 0;

	while (done < len) {
		uint64_t base = (addr + done) & ~(uint64_t)(sizeof(long) - 1);
		size_t skip = (size_t)(addr + done - base);
		size_t bytes = sizeof(long) - skip;
		long word;

		errno = 0;
		word = ptrace(PTRACE_PEEKDATA, tracee->tid, (void *)(uintptr_t)base, NULL);
		if (errno != 0)
			return done > 0 ? (ssize_t)done : -errno;
		if (bytes > len - done)
			bytes = len - done;
		memcpy(buf + done, (const char *)&word + skip, bytes);
		done += bytes;
	}
	return (ssize_t)done;
}

ssize_t ftr_tracee_read(const struct ftr_tracee *tracee, uint64_t addr, void *buf, size_t len)
{
	struct iovec local = { buf, len };
	struct iovec remote = { (void *)(uintptr_t)addr, len };
	ssize_t got = process_vm_readv(tracee->tid, &local, 1, &remote, 1, 0);

	if (got >= 0)
		return got;
	if (errno != EPERM && errno != ENOSYS)
		return -errno;
	if (tracee->process != NULL && tracee->process->memory_fd >= 0) {
		got = pread(tracee->process->memory_fd, buf, len, (off_t)addr);
		return got > 0 ? got : -EFAULT;
	}
	got = peek(tracee, addr, buf, len);
	return got == -EIO ? -EACCES : got;
}

void ftr_tracee_memory_keep(struct ftr_tracee *tracee)
{
	char path[64];

	if (tracee->process->memory_fd >= 0)
		return;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)tracee->tid);
	tracee->process->memory_fd = open(path, O_RDONLY | O_CLOEXEC);
}

void ftr_tracee_memory_forget(struct ftr_tracee_process *process)
{
	if (process->memory_fd >= 0)
		close(process->memory_fd);
	process->memory_fd = -1;
	process->is_hidden = false;
}

ssize_t ftr_tracee_write(const struct ftr_tracee *tracee, uint64_t addr, const void *buf,
			 size_t len)
{
	struct iovec local = { (void *)(uintptr_t)buf, len };
	struct iovec remote = { (void *)(uintptr_t)addr, len };
	ssize_t done = process_vm_writev(tracee->tid, &local, 1, &remote, 1, 0);

	return done >= 0 ? done : -errno;
}

int ftr_tracee_read_string(const struct ftr_tracee *tracee, uint64_t addr, size_t max,
			   struct ftr_strbuf *text)
{
	char buf[PAGE];
	size_t want = FIRST_READ;

	ftr_strbuf_clear(text);
	while (text->len <= max) {
		size_t in_page = PAGE - (size_t)(addr % PAGE);
		const char *end;
		ssize_t got;

		/* Never across a page: the next one may not be there. */
		got = ftr_tracee_read(tracee, addr, buf, want < in_page ? want : in_page);
		if (got <= 0)
			return got == -EACCES ? -EACCES : -EFAULT;
		end = memchr(buf, '\0', (size_t)got);
		ftr_strbuf_put(text, buf, end != NULL ? (size_t)(end - buf) : (size_t)got);
		if (end != NULL)
			return text->failed ? -ENOMEM : text->len <= max ? 0 : -ENAMETOOLONG;
		addr += (size_t)got;
		want = PAGE;
	}
	return -ENAMETOOLONG;
}

int ftr_tracee_read_file(const struct ftr_tracee *tracee, const char *name, size_t max,
			 struct ftr_strbuf *text)
{
	char path[64], buf[4 * PAGE];
	ssize_t got = 0;
	int fd;

	ftr_strbuf_clear(text);
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)tracee->tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (text->len < max && (got = read(fd, buf, sizeof(buf))) > 0)
		ftr_strbuf_put(text, buf, (size_t)got);
	close(fd);
	return got < 0 ? -EIO : 0;
}

static int link_text(const char *path, struct ftr_strbuf *text)
{
	char buf[PATH_MAX];
	ssize_t len = readlink(path, buf, sizeof(buf));

	if (len < 0)
		return -errno;
	ftr_strbuf_put(text, buf, (size_t)len);
	return 0;
}

int ftr_tracee_link(const struct ftr_tracee *tracee, const char *name, struct ftr_strbuf *text)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)tracee->tid, name);
	return link_text(path, text);
}

int ftr_tracee_fd_path(const struct ftr_tracee *tracee, int64_t fd, struct ftr_strbuf *text)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%lld", (int)tracee->tid, (long long)fd);
	return link_text(path, text);
}

int ftr_tracee_has_fd(const struct ftr_tracee *tracee, int64_t fd)
{
	char path[64], byte;

	snprintf(path, sizeof(path), "/proc/%d/fd/%lld", (int)tracee->tid, (long long)fd);
	if (readlink(path, &byte, 1) == 1)
		return 1;
	return errno == EACCES ? -EACCES : 0;
}

/* Paths that mean the tracee itself would mean us. */
static const struct {
	const char *name;
	const char *own;	/* of /proc/PID */
} self_paths[] = {
	{ "/proc/self", "" },
	{ "/proc/thread-self", "/task/%d" },
	{ "/dev/fd", "/fd" },
	{ "/dev/stdin", "/fd/0" },
	{ "/dev/stdout", "/fd/1" },
	{ "/dev/stderr", "/fd/2" },
};

static const char *skip_self(const struct ftr_tracee *tracee, const char *path,
			     struct ftr_strbuf *name)
{
	pid_t pid = tracee->process != NULL ? tracee->process->pid : tracee->tid;

	for (size_t i = 0; i < sizeof(self_paths) / sizeof(self_paths[0]); i++) {
		size_t len = strlen(self_paths[i].name);

		if (strncmp(path, self_paths[i].name, len) != 0 ||
		    (path[len] != '\0' && path[len] != '/'))
			continue;
		ftr_strbuf_printf(name, "/proc/%d", (int)pid);
		if (i == 1)
			ftr_strbuf_printf(name, "/task/%d", (int)tracee->tid);
		else
			ftr_strbuf_puts(name, self_paths[i].own);
		return path + len;
	}
	return path;
}

/* A name by which we can open what the tracee calls @path. */
static void reach(const struct ftr_tracee *tracee, int64_t dirfd, const char *path,
		  struct ftr_strbuf *name)
{
	ftr_strbuf_clear(name);
	if (path[0] == '/') {
		const char *rest = skip_self(tracee, path, name);

		if (rest == path)
			ftr_strbuf_printf(name, "/proc/%d/root", (int)tracee->tid);
		ftr_strbuf_puts(name, rest);
		return;
	}
	if (dirfd == AT_FDCWD)
		ftr_strbuf_printf(name, "/proc/%d/cwd/", (int)tracee->tid);
	else
		ftr_strbuf_printf(name, "/proc/%d/fd/%lld/", (int)tracee->tid, (long long)dirfd);
	ftr_strbuf_puts(name, path);
}

/* The path of a file that we have a name for. */
static int real_path(const char *name, struct ftr_strbuf *text)
{
	char path[64];
	int fd = open(name, O_PATH | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ret = link_text(path, text);
	close(fd);
	return ret;
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* @name: where we find the file; its directory is resolved, its last component kept. */
static int resolve_directory(struct ftr_strbuf *name, bool must_exist, struct ftr_strbuf *text)
{
	struct stat st;
	char *slash;
	int ret;

	if (must_exist && lstat(name->s, &st) < 0)
		return -errno;
	slash = strrchr(name->s, '/');
	*slash = '\0';
	ret = real_path(name->s, text);
	if (ret < 0)
		return ret;
	if (text->len != 1)		/* all but the root */
		ftr_strbuf_putc(text, '/');
	ftr_strbuf_puts(text, slash + 1);
	return 0;
}

int ftr_tracee_resolve(const struct ftr_tracee *tracee, int64_t dirfd, const char *path,
		       bool follow, bool must_exist, struct ftr_strbuf *text)
{
	struct ftr_strbuf name;
	int ret;

	ftr_strbuf_clear(text);
	if (path[0] == '\0')
		return dirfd == AT_FDCWD ? -ENOENT : ftr_tracee_fd_path(tracee, dirfd, text);
	ftr_strbuf_init(&name);
	reach(tracee, dirfd, path, &name);
	if (name.failed) {
		ftr_strbuf_fini(&name);
		return -ENOMEM;
	}
	while (name.len > 1 && name.s[name.len - 1] == '/')
		name.s[--name.len] = '\0';
	if (follow || is_dots(strrchr(name.s, '/') + 1) || path[strspn(path, "/")] == '\0')
		ret = real_path(name.s, text);
	else
		ret = resolve_directory(&name, must_exist, text);
	ftr_strbuf_fini(&name);
	if (ret < 0)
		ftr_strbuf_clear(text);
	return ret;
}

int ftr_tracee_join(const struct ftr_tracee *tracee, int64_t dirfd, const char *path,
		    struct ftr_strbuf *text)
{
	int ret = 0;

	ftr_strbuf_clear(text);
	if (path[0] != '/') {
		ret = dirfd == AT_FDCWD ? ftr_tracee_link(tracee, "cwd", text) :
					  ftr_tracee_fd_path(tracee, dirfd, text);
		if (ret == 0)
			ftr_strbuf_putc(text, '/');
	}
	ftr_strbuf_puts(text, path);
	return ret;
}

int ftr_tracee_open(const struct ftr_tracee *tracee, const char *path)
{
	struct ftr_strbuf name;
	int fd;

	ftr_strbuf_init(&name);
	reach(tracee, AT_FDCWD, path, &name);
	/* Not for long on a fifo or a device that happens to stand there. */
	fd = open(ftr_strbuf_str(&name), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ftr_strbuf_fini(&name);
	return fd < 0 ? -errno : fd;
}

unsigned ftr_tracee_cpu(struct ftr_tracee *tracee)
{
	char buf[1024], *p;
	unsigned cpu = 0;
	ssize_t len;

	if (tracee->stat_fd < 0) {
		snprintf(buf, sizeof(buf), "/proc/%d/stat", (int)tracee->tid);
		tracee->stat_fd = open(buf, O_RDONLY | O_CLOEXEC);
	}
	len = pread(tracee->stat_fd, buf, sizeof(buf) - 1, 0);
	if (len <= 0)
		return 0;
	buf[len] = '\0';
	p = strrchr(buf, ')');		/* the name may hold anything */
	for (int field = 2; p != NULL && field < STAT_CPU_FIELD; field++)
		p = strchr(p + 1, ' ');
	for (p = p != NULL ? p + 1 : buf + len; *p >= '0' && *p <= '9'; p++)
		cpu = cpu * 10 + (unsigned)(*p - '0');
	return cpu;
}

/* ---- comm files ---- */

pid_t ftr_tracee_comm_tid(const struct ftr_tracee_process *process, int64_t fd)
{
	for (unsigned i = 0; i < process->comm_nr; i++) {
		if (process->comm[i].fd == fd)
			return process->comm[i].tid;
	}
	return 0;
}

void ftr_tracee_comm_set(struct ftr_tracee_process *process, int64_t fd, pid_t tid)
{
	for (unsigned i = 0; i < process->comm_nr; i++) {
		if (process->comm[i].fd == fd)
			process->comm[i--] = process->comm[--process->comm_nr];
	}
	if (tid != 0 && process->comm_nr < FTR_TRACEE_COMM_MAX)
		process->comm[process->comm_nr++] = (struct ftr_tracee_comm){ (int)fd, tid };
}

/* ---- what an exec starts ---- */

/* The interpreter that the first line of @path names, in @head; NULL = it is no script. */
static char *script_interpreter(const struct ftr_tracee *tracee, const char *path,
				char head[HEAD_BYTES + 1])
{
	int fd = ftr_tracee_open(tracee, path);
	ssize_t len;
	char *name;

	if (fd < 0)
		return NULL;
	len = read(fd, head, HEAD_BYTES);
	close(fd);
	if (len < 3 || head[0] != '#' || head[1] != '!')
		return NULL;
	head[len] = '\0';
	name = head + 2 + strspn(head + 2, " \t");
	name[strcspn(name, " \t\n")] = '\0';
	return name[0] != '\0' ? name : NULL;
}

void ftr_tracee_interpreter(const struct ftr_tracee *tracee, const struct ftr_strbuf *program,
			    struct ftr_strbuf *interpreter)
{
	char head[HEAD_BYTES + 1], *name;

	ftr_strbuf_clear(interpreter);
	ftr_strbuf_puts(interpreter, ftr_strbuf_str(program));
	for (int i = 0; i < CHAIN_MAX; i++) {
		name = script_interpreter(tracee, ftr_strbuf_str(interpreter), head);
		if (name == NULL || ftr_tracee_resolve(tracee, AT_FDCWD, name, false, true,
						       interpreter) < 0)
			return;
	}
}

/* The pointer at @addr, 0 at the end of the array or where nothing can be read. */
static uint64_t read_pointer(const struct ftr_tracee *tracee, uint64_t addr)
{
	size_t bytes = ftr_abis[tracee->abi].word_bytes;
	uint64_t wide = 0;
	uint32_t narrow = 0;

	if (ftr_tracee_read(tracee, addr, bytes == 4 ? (void *)&narrow : (void *)&wide, bytes) !=
	    (ssize_t)bytes)
		return 0;
	return bytes == 4 ? narrow : wide;
}

void ftr_tracee_read_argv(const struct ftr_tracee *tracee, uint64_t addr, struct ftr_strbuf *args)
{
	struct ftr_strbuf arg;

	ftr_strbuf_clear(args);
	ftr_strbuf_init(&arg);
	for (int i = 0; i < FAILED_ARGS_MAX && args->len < FAILED_BYTES_MAX; i++) {
		uint64_t pointer = read_pointer(tracee, addr);

		if (pointer == 0 ||
		    ftr_tracee_read_string(tracee, pointer, FAILED_BYTES_MAX, &arg) == -EFAULT)
			break;
		ftr_strbuf_put(args, ftr_strbuf_str(&arg), arg.len);
		ftr_strbuf_putc(args, '\0');
		addr += ftr_abis[tracee->abi].word_bytes;
	}
	ftr_strbuf_fini(&arg);
}
