/* SPDX-License-Identifier: MIT */
/*
 * Run a test so that nothing of it outlives it or fills the disk.
 *
 *	guard [-v] [-t SECONDS] [-c SECONDS] [-f MEGABYTES] [-d MEGABYTES] COMMAND [ARGUMENT...]
 *
 *	-t	wall-clock limit of the test, also FTR_TEST_SECONDS		(1200)
 *	-c	processor time limit of each process, times FTR_TEST_SLOWNESS	(600)
 *	-f	size limit of each file						(1024)
 *	-d	size limit of all files below $TMPDIR				(2048)
 *	-v	report the time, the processor time and the space that it took
 *
 * The command runs as a job in a session without a terminal, with default signal dispositions, an
 * empty signal mask, and a TMPDIR of its own that is removed afterwards.  When it ends, exceeds a
 * limit, or the guard itself receives SIGTERM, SIGINT, SIGHUP or SIGQUIT, every descendant is
 * killed, whatever session or parent it has by then.
 *
 * There are two guards, parent and child, so that SIGKILL of either leaves the other to clean up.
 * Both are subreapers: a process whose parent died becomes a child of the inner guard, or of the
 * outer one if the inner guard is gone.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MEGABYTE (UINT64_C(1) << 20)
#define FREE_MIN_BYTES (256 * MEGABYTE)	/* what a test must leave free on the disk */
#define KILL_MAX_S 60			/* a process in the kernel for longer is given up */
#define POLL_NS 200000000		/* how often the space is measured */

enum { STATUS_LIMIT = 124, STATUS_GUARD = 99 };	/* 99: a hard error for automake */

struct options {
	uint64_t wall_s, cpu_s;
	uint64_t file_bytes, dir_bytes;
	bool is_verbose;
	char **command;
};

struct process {
	pid_t pid, parent;
	bool is_ours;
	char name[16];
};

struct processes {
	struct process *v;
	size_t nr, room;
};

static const int end_signals[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "guard: %s: %s\n", what, strerror(errno));
	exit(STATUS_GUARD);
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The processes of the machine. */

/* "PID (NAME) STATE PPID ...": NAME may hold parentheses and spaces. */
static bool process_read(pid_t pid, struct process *process)
{
	char path[64], text[512], *name, *end;
	ssize_t nr;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	nr = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (nr <= 0)
		return false;
	text[nr] = '\0';
	name = strchr(text, '(');
	end = strrchr(text, ')');
	if (name == NULL || end == NULL || end[1] == '\0')
		return false;
	*end = '\0';
	*process = (struct process){ .pid = pid, .parent = atoi(end + 4) };
	snprintf(process->name, sizeof(process->name), "%s", name + 1);
	return true;
}

static void processes_add(struct processes *all, pid_t pid)
{
	if (all->nr == all->room) {
		all->room = 2 * all->room + 64;
		all->v = realloc(all->v, all->room * sizeof(*all->v));
		if (all->v == NULL)
			die("realloc");
	}
	if (process_read(pid, &all->v[all->nr]))
		all->nr++;
}

static bool has_our_parent(const struct processes *all, const struct process *process)
{
	if (process->parent == getpid())
		return true;
	for (size_t i = 0; i < all->nr; i++)
		if (all->v[i].pid == process->parent)
			return all->v[i].is_ours;
	return false;
}

/* Pids are not ordered by age, so parents may stand behind their children. */
static void processes_mark_ours(struct processes *all)
{
	bool has_changed;

	do {
		has_changed = false;
		for (size_t i = 0; i < all->nr; i++) {
			struct process *process = &all->v[i];

			if (process->is_ours || !has_our_parent(all, process))
				continue;
			process->is_ours = true;
			has_changed = true;
		}
	} while (has_changed);
}

static void processes_load(struct processes *all)
{
	struct dirent *entry;
	DIR *dir = opendir("/proc");

	if (dir == NULL)
		die("/proc");
	all->nr = 0;
	while ((entry = readdir(dir)) != NULL)
		if (isdigit((unsigned char)entry->d_name[0]))
			processes_add(all, atoi(entry->d_name));
	closedir(dir);
	processes_mark_ours(all);
}

static void kill_ours(const struct processes *all, bool is_reported)
{
	for (size_t i = 0; i < all->nr; i++) {
		if (!all->v[i].is_ours)
			continue;
		if (is_reported)
			fprintf(stderr, "guard: kills %s (%d), left behind by the test\n",
				all->v[i].name, all->v[i].pid);
		kill(all->v[i].pid, SIGKILL);
	}
}

/* True when no child is left. */
static bool reap(void)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		;
	return pid < 0 && errno == ECHILD;
}

/* What forks meanwhile is found by the next round: whoever loses its parent becomes our child. */
static void kill_descendants(bool is_reported)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	struct processes all = { 0 };
	double end_s = now_s() + KILL_MAX_S;

	while (!reap() && now_s() < end_s) {
		processes_load(&all);
		kill_ours(&all, is_reported);
		is_reported = false;
		nanosleep(&pause, NULL);
	}
	free(all.v);
}

/* The directory of the test. */

static uint64_t dir_bytes(const char *dir)
{
	char *paths[] = { (char *)dir, NULL };
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL);
	uint64_t bytes = 0;
	FTSENT *entry;

	if (fts == NULL)
		return 0;
	while ((entry = fts_read(fts)) != NULL)
		if (entry->fts_info == FTS_F)
			bytes += (uint64_t)entry->fts_statp->st_blocks * 512;
	fts_close(fts);
	return bytes;
}

static void dir_remove(const char *dir)
{
	char *paths[] = { (char *)dir, NULL };
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	if (fts == NULL)
		return;
	while ((entry = fts_read(fts)) != NULL) {
		if (entry->fts_info == FTS_D)
			chmod(entry->fts_accpath, 0700);
		else if (entry->fts_info == FTS_DP)
			rmdir(entry->fts_accpath);
		else
			unlink(entry->fts_accpath);
	}
	fts_close(fts);
}

/* Other users may pass through it: some tests give up their rights. */
static void dir_make(char *dir, size_t size)
{
	const char *top = getenv("TMPDIR");

	snprintf(dir, size, "%s/ftr-test.XXXXXX", top != NULL && *top != '\0' ? top : "/tmp");
	if (mkdtemp(dir) == NULL || chmod(dir, 0711) < 0)
		die(dir);
	setenv("TMPDIR", dir, 1);
}

static bool is_disk_full(const char *dir)
{
	struct statvfs fs;

	return statvfs(dir, &fs) == 0 && fs.f_bavail * fs.f_frsize < FREE_MIN_BYTES;
}

/* The command. */

static void limit(int resource, uint64_t soft, uint64_t hard)
{
	struct rlimit old, new = { soft, hard };

	if (getrlimit(resource, &old) == 0 && old.rlim_max < hard)
		new.rlim_max = old.rlim_max;
	if (new.rlim_cur > new.rlim_max)
		new.rlim_cur = new.rlim_max;
	setrlimit(resource, &new);
}

static void signals_reset(void)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* After a fork: ends with its parent, even if that ended before this call. */
static void end_with(pid_t parent, int number)
{
	prctl(PR_SET_PDEATHSIG, number);
	if (getppid() != parent)
		raise(number);
}

static _Noreturn void command_exec(const struct options *options, pid_t parent)
{
	int null = open("/dev/null", O_RDONLY);

	signals_reset();
	end_with(parent, SIGKILL);
	setpgid(0, 0);			/* not orphaned: it can be stopped as a shell's job */
	limit(RLIMIT_CORE, 0, 0);
	limit(RLIMIT_CPU, options->cpu_s, options->cpu_s + 5);
	limit(RLIMIT_FSIZE, options->file_bytes, options->file_bytes);
	setenv("FTR_GUARDED", "1", 1);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0)
		die("/dev/null");
	if (null > STDIN_FILENO)
		close(null);
	execvp(options->command[0], options->command);
	die(options->command[0]);
}

/* The two guards. */

static void signals_block(sigset_t *set)
{
	struct sigaction old;

	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	signal(SIGCHLD, SIG_DFL);	/* ignored, children could not be waited for */
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < sizeof(end_signals) / sizeof(end_signals[0]); i++) {
		bool is_ignored = sigaction(end_signals[i], NULL, &old) == 0 &&
			old.sa_handler == SIG_IGN;

		if (!is_ignored || end_signals[i] == SIGTERM) {
			signal(end_signals[i], SIG_DFL);
			sigaddset(set, end_signals[i]);
		}
	}
	sigprocmask(SIG_SETMASK, set, NULL);
}

static int exit_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Reap what ended; the exit code of @child if it is among them, else -1. */
static int child_ended(pid_t child)
{
	int code = -1, status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == child)
			code = exit_code(status);
	return code;
}

/* Why the test has to end, or NULL. */
static const char *limit_exceeded(const struct options *options, const char *dir, double start_s,
				  uint64_t *most_bytes)
{
	uint64_t bytes = dir_bytes(dir);

	if (bytes > *most_bytes)
		*most_bytes = bytes;
	if (now_s() - start_s > (double)options->wall_s)
		return "took too long (see FTR_TEST_SECONDS)";
	if (bytes > options->dir_bytes)
		return "wrote too much";
	return is_disk_full(dir) ? "left too little free space on the disk" : NULL;
}

/* The processor time of all descendants that have been waited for. */
static double cpu_s(void)
{
	struct rusage used;

	getrusage(RUSAGE_CHILDREN, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

/* Wait for the command's end or for a reason to end it; the exit code of the guard. */
static int watch(const struct options *options, const sigset_t *set, pid_t command,
		 const char *dir)
{
	struct timespec poll = { .tv_nsec = POLL_NS };
	double start_s = now_s(), before_s, next_s = start_s;
	const char *reason = NULL;
	uint64_t most_bytes = 0;
	int code = -1, number;

	while (code < 0 && reason == NULL) {
		number = sigtimedwait(set, NULL, &poll);
		code = child_ended(command);
		if (code < 0 && number > 0 && number != SIGCHLD)
			code = 128 + number;
		before_s = now_s();
		if (code >= 0 || before_s < next_s)
			continue;
		reason = limit_exceeded(options, dir, start_s, &most_bytes);
		next_s = before_s + 0.1 + 10 * (now_s() - before_s);	/* large trees: rarely */
	}
	if (reason != NULL)
		fprintf(stderr, "guard: %s %s\n", options->command[0], reason);
	kill_descendants(reason == NULL);
	if (options->is_verbose)
		fprintf(stderr, "guard: %.1f s, %.1f s of a processor, %llu MB\n",
			now_s() - start_s, cpu_s(), (unsigned long long)(most_bytes / MEGABYTE));
	return reason != NULL ? STATUS_LIMIT : code;
}

static _Noreturn void inner_guard(const struct options *options, pid_t parent, const char *dir)
{
	pid_t command, self = getpid();
	sigset_t set;
	int code;

	setsid();			/* a signal to the outer guard's group spares this one */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signals_block(&set);
	end_with(parent, SIGTERM);
	command = fork();
	if (command < 0)
		die("fork");
	if (command == 0)
		command_exec(options, self);
	code = watch(options, &set, command, dir);
	dir_remove(dir);
	exit(code);
}

static int outer_guard(pid_t inner, const sigset_t *set)
{
	int code = -1, number;

	while (code < 0) {
		number = sigwaitinfo(set, NULL);
		if (number > 0 && number != SIGCHLD)
			kill(inner, SIGTERM);
		code = child_ended(inner);
	}
	return code;
}

static uint64_t number_of(const char *text)
{
	char *end;
	unsigned long long number = strtoull(text, &end, 10);

	if (*end != '\0' || number == 0) {
		fprintf(stderr, "guard: not a positive number: %s\n", text);
		exit(STATUS_GUARD);
	}
	return number;
}

static void parse(struct options *options, int argc, char **argv)
{
	const char *seconds = getenv("FTR_TEST_SECONDS"), *slowness = getenv("FTR_TEST_SLOWNESS");
	int option;

	if (seconds != NULL)
		options->wall_s = number_of(seconds);
	while ((option = getopt(argc, argv, "+vt:c:f:d:")) != -1) {
		switch (option) {
		case 'v': options->is_verbose = true; break;
		case 't': options->wall_s = number_of(optarg); break;
		case 'c': options->cpu_s = number_of(optarg); break;
		case 'f': options->file_bytes = number_of(optarg) * MEGABYTE; break;
		case 'd': options->dir_bytes = number_of(optarg) * MEGABYTE; break;
		default: exit(STATUS_GUARD);
		}
	}
	if (slowness != NULL)
		options->cpu_s *= number_of(slowness);
	options->command = argv + optind;
	if (options->command[0] == NULL) {
		fprintf(stderr, "guard: no command\n");
		exit(STATUS_GUARD);
	}
}

int main(int argc, char **argv)
{
	struct options options = {
		.wall_s = 1200,
		.cpu_s = 600,
		.file_bytes = 1024 * MEGABYTE,
		.dir_bytes = 2048 * MEGABYTE,
	};
	pid_t inner, self = getpid();
	char dir[4096];
	sigset_t set;
	int code;

	parse(&options, argc, argv);
	dir_make(dir, sizeof(dir));
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signals_block(&set);
	inner = fork();
	if (inner < 0)
		die("fork");
	if (inner == 0)
		inner_guard(&options, self, dir);
	code = outer_guard(inner, &set);
	kill_descendants(true);
	dir_remove(dir);		/* still there only if the inner guard was killed */
	return code;
}
