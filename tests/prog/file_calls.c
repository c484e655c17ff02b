/* SPDX-License-Identifier: MIT */
/*
 * What --probe=file records, each function once, in the directory that it is started in.  What a
 * call gives is compared with what it must be, traced or not; with "storm" threads, handlers and
 * children do the same at once, and it prints how much was read and written.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static int failures;

static void expect(long got, long wanted, const char *what)
{
	if (got != wanted) {
		fprintf(stderr, "%s: %ld, not %ld (%s)\n", what, got, wanted, strerror(errno));
		failures++;
	}
}

/* Before any constructor of an older library, and before main. */
static __attribute__((constructor)) void early(void)
{
	expect(close(open("/dev/null", O_RDONLY)), 0, "early");
}

NOINLINE void descriptors(void)
{
	char bytes[64];
	struct stat st;
	struct flock lock = { .l_type = F_WRLCK };
	struct iovec pieces[2] = { { "abc", 3 }, { "defg", 4 } };
	int fd, other;

	umask(0);
	errno = EDOM;
	fd = open("made", O_RDWR | O_CREAT | O_EXCL, 0640);
	expect(errno, EDOM, "errno of a success");
	expect(fd >= 0 && fstat(fd, &st) == 0 ? st.st_mode & 0777 : -1, 0640, "the mode of open");
	expect(write(fd, "0123456789", 10), 10, "write");
	expect(writev(fd, pieces, 2), 7, "writev");
	expect(pwrite(fd, "xy", 2, 1), 2, "pwrite");
	expect(lseek(fd, -3, SEEK_END), 14, "lseek");
	expect(read(fd, bytes, sizeof(bytes)), 3, "read");
	expect(pread(fd, bytes, 4, 0), 4, "pread");
	expect(memcmp(bytes, "0xy3", 4), 0, "what pread has read");
	pieces[0] = (struct iovec){ bytes, 5 };
	expect(preadv(fd, pieces, 1, 2), 5, "preadv");
	expect(flock(fd, LOCK_EX), 0, "flock");
	expect(flock(fd, LOCK_UN), 0, "flock");
	expect(fcntl(fd, F_SETLK, &lock), 0, "fcntl");
	expect(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDWR, "F_GETFL");
	expect(ftruncate(fd, 5), 0, "ftruncate");
	expect(fsync(fd), 0, "fsync");
	expect(fchmod(fd, 0600), 0, "fchmod");
	other = fcntl(fd, F_DUPFD, 50);
	expect(other, 50, "F_DUPFD");
	expect(dup2(fd, 60), 60, "dup2");
	expect(write(60, "dup", 3), 3, "write");
	expect(close(60) + close(other) + close(fd), 0, "close");
}

NOINLINE void paths(void)
{
	struct dirent *entry;
	int dir, fd, nr = 0;
	DIR *stream;

	expect(mkdir("dir", 0700), 0, "mkdir");
	dir = open("dir", O_DIRECTORY | O_RDONLY);
	fd = openat(dir, "below", O_WRONLY | O_CREAT, 0604);
	expect(write(fd, "12", 2), 2, "write");
	close(fd);
	close(dir);
	expect(rename("made", "dir/moved"), 0, "rename");
	expect(link("dir/moved", "linked"), 0, "link");
	expect(symlink("linked", "points"), 0, "symlink");
	expect(chmod("linked", 0644), 0, "chmod");
	expect(truncate("linked", 1), 0, "truncate");
	stream = opendir("dir");
	errno = EDOM;
	while ((entry = readdir(stream)) != NULL)
		nr++;
	expect(errno, EDOM, "errno at the end of a directory");
	expect(nr, 4, "entries");
	expect(closedir(stream), 0, "closedir");
	expect(unlink("points") + unlink("linked") + unlink("dir/moved") + unlink("dir/below"), 0,
	       "unlink");
	expect(rmdir("dir"), 0, "rmdir");
}

/* The answers are the program's own, with and without errors. */
NOINLINE void looks(void)
{
	struct statx more;
	struct stat st = { .st_mode = 0 };
	int dir;

	expect(stat("/dev/null", &st), 0, "stat");
	expect(S_ISCHR(st.st_mode), 1, "what stat says");
	expect(lstat("/dev/null", &st), 0, "lstat");
	dir = open("/dev", O_DIRECTORY | O_RDONLY);
	expect(fstatat(dir, "null", &st, AT_SYMLINK_NOFOLLOW), 0, "fstatat");
	expect(fstatat(dir, "", &st, AT_EMPTY_PATH), 0, "fstatat");
	expect(S_ISDIR(st.st_mode), 1, "what fstatat says");
	expect(statx(dir, "null", 0, STATX_TYPE, &more), 0, "statx");
	expect(S_ISCHR(more.stx_mode), 1, "what statx says");
	expect(fstat(dir, &st), 0, "fstat");
	expect(access("/dev/null", F_OK), 0, "access");
	expect(faccessat(dir, "null", R_OK | W_OK, 0), 0, "faccessat");
	expect(eaccess("/dev/null", R_OK), 0, "eaccess");
	expect(euidaccess("/dev/null", W_OK), 0, "euidaccess");
	close(dir);
	expect(stat("missing/other", &st), -1, "stat");
	expect(errno, ENOENT, "stat");
	expect(lstat((const char *)8, &st), -1, "lstat");
	expect(errno, EFAULT, "lstat");
	expect(fstat(77, &st), -1, "fstat");
	expect(errno, EBADF, "fstat");
	expect(access("/dev/null", X_OK), -1, "access");
	expect(errno, EACCES, "access");
}

static DIR *volatile no_directory;
static const struct iovec *volatile nowhere = (const struct iovec *)16;

/* Each of these is an error, and the same one as ever. */
NOINLINE void errors(void)
{
	char long_path[5000];

	expect(open("missing/file", O_RDONLY), -1, "open");
	expect(errno, ENOENT, "open");
	expect(open((const char *)8, O_RDONLY), -1, "open");
	expect(errno, EFAULT, "open");
	expect(rename(NULL, (const char *)-1), -1, "rename");
	expect(errno, EFAULT, "rename");
	expect(writev(77, nowhere, 2), -1, "writev");
	expect(errno, EBADF, "writev");
	expect(fcntl(0, F_SETLK, (void *)16), -1, "fcntl");
	expect(errno, EFAULT, "fcntl");
	expect(read(77, long_path, 1), -1, "read");
	expect(errno, EBADF, "read");
	expect(closedir(no_directory), -1, "closedir");
	memset(long_path, 'a', sizeof(long_path));
	long_path[sizeof(long_path) - 1] = '\0';
	expect(open(long_path, O_RDONLY), -1, "open");
	expect(errno, ENAMETOOLONG, "open");
	expect(fopen("missing/file", "r") == NULL, 1, "fopen");
	expect(errno, ENOENT, "fopen");
}

NOINLINE void streams(void)
{
	char bytes[64], *line = NULL;
	size_t room = 0;
	FILE *file = fopen("stream", "w+");

	expect(fprintf(file, "%d %.3f %s\n", 7, 2.5, "text"), 13, "fprintf");
	expect(fputs("line\n", file) >= 0, 1, "fputs");
	expect((long)fwrite("abcd", 2, 3, file), 3, "fwrite");
	expect(fputc('x', file), 'x', "fputc");
	expect(fseek(file, 0, SEEK_SET), 0, "fseek");
	expect(fgets(bytes, sizeof(bytes), file) != NULL, 1, "fgets");
	expect(strcmp(bytes, "7 2.500 text\n"), 0, "what was printed");
	expect(getline(&line, &room, file), 5, "getline");
	expect(fgetc(file), 'a', "fgetc");
	expect((long)fread(bytes, 1, sizeof(bytes), file), 6, "fread");
	expect(fgetc(file), EOF, "fgetc");
	expect(fflush(file), 0, "fflush");
	expect(fclose(file), 0, "fclose");
	free(line);
	file = fmemopen(bytes, sizeof(bytes), "w");
	errno = EDOM;
	expect(fputs("memory", file) >= 0, 1, "fputs");
	expect(errno, EDOM, "errno of a stream in memory");
	expect(fclose(file), 0, "fclose");
	expect(remove("stream"), 0, "remove");
}

static int pipe_fds[2];
static atomic_bool is_cleaned;

static void clean(void *arg)
{
	atomic_store(&is_cleaned, true);
}

NOINLINE void *cancelled_read(void *arg)
{
	char byte;

	pthread_cleanup_push(clean, NULL);
	expect(read(pipe_fds[0], &byte, 1), -2, "a cancelled read");
	pthread_cleanup_pop(0);
	return NULL;
}

/* A read that waits is a point of cancellation. */
NOINLINE void cancelling(void)
{
	pthread_t thread;
	void *answer;

	expect(pipe(pipe_fds), 0, "pipe");
	pthread_create(&thread, NULL, cancelled_read, NULL);
	usleep(20000);
	pthread_cancel(thread);
	pthread_join(thread, &answer);
	expect(answer == PTHREAD_CANCELED && atomic_load(&is_cleaned), 1, "cancelled");
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

/* Between vfork and exec. */
NOINLINE void children(void)
{
	int status, fd = open("/dev/null", O_WRONLY);
	pid_t child = vfork();

	if (child == 0) {
		dup2(fd, 1);
		close(fd);
		execl("/bin/echo", "echo", "unseen", NULL);
		_exit(9);
	}
	expect(waitpid(child, &status, 0) == child ? status : -1, 0, "child");
	expect(write(fd, "parent", 6), 6, "write");
	close(fd);
}

/* ---- storm ---- */

#define ROUNDS 200
#define THREADS 4

static int null_fd;
static atomic_long handled, written, read_bytes;

static void handler(int signal)
{
	int errno_before = errno;

	atomic_fetch_add(&handled, write(null_fd, "h", 1));
	errno = errno_before;
}

static void *storm(void *arg)
{
	char path[32], bytes[256];

	snprintf(path, sizeof(path), "storm%ld", (long)arg);
	for (int i = 0; i < ROUNDS; i++) {
		int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
		ssize_t done;

		while ((done = write(fd, path, 7)) < 0)
			;
		atomic_fetch_add(&written, done);
		lseek(fd, 0, SEEK_SET);
		while ((done = read(fd, bytes, sizeof(bytes))) < 0)
			;
		atomic_fetch_add(&read_bytes, done);
		close(fd);
	}
	unlink(path);
	return NULL;
}

static int run_storm(void)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct itimerval often = { { 0, 500 }, { 0, 500 } }, never = { { 0, 0 }, { 0, 0 } };
	pthread_t threads[THREADS];

	null_fd = open("/dev/null", O_WRONLY);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, storm, (void *)i);
	for (int i = 0; i < 20; i++) {
		pid_t child = fork();

		if (child == 0) {
			storm((void *)100L);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	fprintf(stderr, "%ld %ld %ld\n", (long)handled, (long)written, (long)read_bytes);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return run_storm();
	descriptors();
	paths();
	looks();
	errors();
	streams();
	cancelling();
	children();
	return failures != 0;
}
