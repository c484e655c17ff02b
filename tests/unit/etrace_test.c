/* SPDX-License-Identifier: MIT */
/* The etrace text: every kind of record as it must be written, read back, and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "utils/format/etrace/etrace.h"

#define UPID 4194305	/* 1 << 22 | 1 */
#define CHILD 8388610	/* 2 << 22 | 2 */
#define S(text) { text, sizeof(text) - 1 }
#define A50 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define A100 A50 A50
#define A900 A100 A100 A100 A100 A100 A100 A100 A100 A100
#define B899 "b" A100 A100 A100 A100 A100 A100 A100 A100 \
	"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb" \
	"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static const struct ftr_slice sh_args[] = { S("sh"), S("-c"), S("echo one\necho two\n"), S("") };
static const struct ftr_slice long_args[] = { S("x"), S(A900 "y"), S(A900), S("") };

/* One record of each form, and its text from the "!" on, line by line. */
static const struct golden {
	struct ftr_syscall rec;
	const char *text;
} goldens[] = {
	{ { .kind = FTR_SYSCALL_EXEC,
	    .exec.interpreter = S("/usr/bin/sh"), .exec.program = S("/tmp/script"),
	    .exec.cwd = S("/tmp"),
	    .exec.argv = sh_args,
	    .exec.argc = 4 },
	  "New_proc|argsize=26,prognameisize=11,prognamepsize=11,cwdsize=4\n"
	  "PI|/usr/bin/sh\nPP|/tmp/script\nCW|/tmp\n"
	  "A[0]sh\nA[1]-c\nA[2]echo one\nCont|echo two\nCont|\nCont_end|\nA[3]\nEnd_of_args|\n" },
	{ { .kind = FTR_SYSCALL_EXEC,
	    .exec.interpreter = S("/x"), .exec.program = S("/x"), .exec.cwd = S("/"),
	    .exec.argv = long_args,
	    .exec.argc = 4 },
	  "New_proc|argsize=1806,prognameisize=2,prognamepsize=2,cwdsize=1\n"
	  "PI|/x\nPP|/x\nCW|/\nA[0]x\nA[1]" A900 "\nA[1]y\nA[2]" A900 "\nA[3]\nEnd_of_args|\n" },
	{ { .kind = FTR_SYSCALL_FORK, .fork.child = CHILD }, "SchedFork|pid=8388610\n" },
	{ { .kind = FTR_SYSCALL_CLONE, .fork.flags = 18874385, .fork.child = CHILD },
	  "SysClone|flags=18874385\nSchedFork|pid=8388610\n" },
	{ { .kind = FTR_SYSCALL_CLONE, .fork.flags = -1, .is_failed = true },
	  "SysClone|flags=-1\nSysCloneFailed|\n" },
	{ { .kind = FTR_SYSCALL_OPEN,
	    .open.path = S("/lib/libc-2.so"), .open.asked = S("/lib/libc.so"),
	    .open.flags = 524288,
	    .open.mode = 0,
	    .open.fd = 3 },
	  "Open|fnamesize=14,forigsize=12,flags=524288,mode=0,fd=3\nFN|/lib/libc-2.so\nFO|/lib/libc.so\n" },
	{ { .kind = FTR_SYSCALL_OPEN,
	    .open.path = S(B899), .open.asked = S(A900),
	    .open.flags = 577,
	    .open.mode = 438,
	    .open.fd = 4 },
	  "Open|fnamesize=899,forigsize=900,flags=577,mode=438,fd=4\nFN|" B899 "\n"
	  "FO[0]" A900 "\nFO_end|\n" },
	{ { .kind = FTR_SYSCALL_OPEN,
	    .open.path = S("this is\na name\n\nof lines"), .open.asked = S(A900 "x\n" A900 "y\nz"),
	    .open.fd = 5 },
	  "Open|fnamesize=24,forigsize=1805,flags=0,mode=0,fd=5\n"
	  "FN|this is\nCont|a name\nCont|\nCont|of lines\nCont_end|\n"
	  "FO[0]" A900 "\nFO[1]x\nCont|" A900 "\nCont_end|\nFO[2]y\nCont|z\nCont_end|\nFO_end|\n" },
	{ { .kind = FTR_SYSCALL_PIPE, .pipe.read_fd = 3, .pipe.write_fd = 4, .pipe.flags = 524288 },
	  "Pipe|fd1=3,fd2=4,flags=524288\n" },
	{ { .kind = FTR_SYSCALL_RENAME, .rename.from = S("/tmp/a"), .rename.to = S("/tmp/b2") },
	  "RenameFrom|fnamesize=6\nRF|/tmp/a\nRenameTo|fnamesize=7\nRT|/tmp/b2\n" },
	{ { .kind = FTR_SYSCALL_RENAME, .rename.from = S("/tmp/a"), .is_failed = true },
	  "RenameFrom|fnamesize=6\nRF|/tmp/a\nRenameFailed|\n" },
	{ { .kind = FTR_SYSCALL_RENAME, .is_failed = true }, "RenameFailed|\n" },
	{ { .kind = FTR_SYSCALL_RENAME,
	    .id = FTR_SYSID_RENAMEAT2, .rename.from = S("/tmp/a"),
	    .rename.to = S("/tmp/b2"), .rename.flags = 1 },
	  "Rename2From|fnamesize=6,flags=1\nRF|/tmp/a\nRenameTo|fnamesize=7\nRT|/tmp/b2\n" },
	{ { .kind = FTR_SYSCALL_RENAME,
	    .id = FTR_SYSID_RENAMEAT2, .rename.from = S("/tmp/a"), .is_failed = true },
	  "Rename2From|fnamesize=6,flags=0\nRF|/tmp/a\nRenameFailed|\n" },
	{ { .kind = FTR_SYSCALL_LINK, .rename.from = S("/tmp/a"), .rename.to = S("/tmp/b2") },
	  "LinkFrom|fnamesize=6\nLF|/tmp/a\nLinkTo|fnamesize=7\nLT|/tmp/b2\n" },
	{ { .kind = FTR_SYSCALL_LINK,
	    .id = FTR_SYSID_LINKAT, .rename.from = S("/tmp/a"),
	    .rename.to = S("/tmp/b2"), .rename.flags = 1024 },
	  "LinkatFrom|fnamesize=6,flags=1024\nLF|/tmp/a\nLinkTo|fnamesize=7\nLT|/tmp/b2\n" },
	{ { .kind = FTR_SYSCALL_LINK,
	    .id = FTR_SYSID_LINKAT, .rename.from = S("/tmp/a"), .is_failed = true },
	  "LinkatFrom|fnamesize=6,flags=0\nLF|/tmp/a\nLinkFailed|\n" },
	{ { .kind = FTR_SYSCALL_LINK, .is_failed = true }, "LinkFailed|\n" },
	{ { .kind = FTR_SYSCALL_SYMLINK, .symlink.target = S("../x"), .symlink.link = S("/tmp/l") },
	  "Symlink|targetnamesize=4,linknamesize=6\nST|../x\nSL|/tmp/l\n" },
	{ { .kind = FTR_SYSCALL_SYMLINK, .symlink.target = S("../"),
	    .symlink.resolved = S("/"), .symlink.link = S("/tmp/l") },
	  "Symlink|targetnamesize=3,resolvednamesize=1,linknamesize=6\nST|../\nSR|/\nSL|/tmp/l\n" },
	{ { .kind = FTR_SYSCALL_CLOSE, .close.fd = 3 }, "Close|fd=3\n" },
	{ { .kind = FTR_SYSCALL_DUP, .dup.old_fd = 2, .dup.new_fd = 5, .dup.flags = 0 },
	  "Dup|oldfd=2,newfd=5,flags=0\n" },
	{ { .kind = FTR_SYSCALL_MOUNT, .mount.source = S("proc"),
	    .mount.target = S("/proc"), .mount.type = S("proc"), .mount.flags = 14 },
	  "Mount|sourcenamesize=4,targetnamesize=5,typenamesize=4,flags=14\nMS|proc\nMT|/proc\nMX|proc\n" },
	{ { .kind = FTR_SYSCALL_MOUNT,
	    .mount.source = S("/a"), .mount.target = S("/b"),
	    .mount.flags = 4096,
	    .is_failed = true },
	  "Mount|sourcenamesize=2,targetnamesize=2,flags=4096\nMS|/a\nMT|/b\nMountFailed|\n" },
	{ { .kind = FTR_SYSCALL_MOUNT, .mount.target = S("/b"), .mount.flags = 32 },
	  "Mount|targetnamesize=2,flags=32\nMT|/b\n" },
	{ { .kind = FTR_SYSCALL_UMOUNT,
	    .mount.target = S("/mnt"),
	    .mount.flags = 2 },
	  "Umount|targetnamesize=4,flags=2\nMT|/mnt\n" },
	{ { .kind = FTR_SYSCALL_UMOUNT,
	    .mount.target = S("/mnt"),
	    .is_failed = true },
	  "Umount|targetnamesize=4,flags=0\nMT|/mnt\nUmountFailed|\n" },
	{ { .kind = FTR_SYSCALL_UMOUNT, .is_failed = true }, "UmountFailed|\n" },
	{ { .kind = FTR_SYSCALL_COMM, .comm.name = S("new_name") }, "Comm|size=8\nCN|new_name\n" },
	{ { .kind = FTR_SYSCALL_EXIT, .exit.status = 3 }, "Exit|status=3\n" },
};

#define GOLDENS (sizeof(goldens) / sizeof(goldens[0]))

static const struct ftr_etrace_options everything = { .thread_names = true, .mounts = true };

/* The text with "UPID,CPU,SEC,NSEC!" before each line, counted from @ns. */
static void expect_lines(const char *text, uint64_t ns, char **expected, size_t *len)
{
	FILE *out = open_memstream(expected, len);

	while (*text != '\0') {
		size_t bytes = strcspn(text, "\n");

		fprintf(out, "%d,1,%llu,%llu!%.*s\n", UPID, (unsigned long long)(ns / 1000000000),
			(unsigned long long)(ns % 1000000000), (int)bytes, text);
		text += bytes + 1;
		ns++;
	}
	fclose(out);
}

static struct ftr_syscall golden_record(size_t i)
{
	struct ftr_syscall rec = goldens[i].rec;

	rec.upid = UPID;
	rec.cpu = 1;
	rec.start_ns = rec.end_ns = 999999998 + i * 1000;
	return rec;
}

static void write_records(const struct ftr_syscall *recs, size_t nr,
			  const struct ftr_etrace_options *options, struct ftr_ostream *out)
{
	struct ftr_etrace_writer writer;

	assert_int_equal(ftr_ostream_to_memory(out), 0);
	ftr_etrace_writer_init(&writer, out, options);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(ftr_etrace_write(&writer, &recs[i]), 0);
	ftr_etrace_writer_fini(&writer);
}

static void each_kind_is_written(void **state)
{
	for (size_t i = 0; i < GOLDENS; i++) {
		struct ftr_syscall rec = golden_record(i);
		struct ftr_ostream out;
		char *expected;
		size_t len;

		write_records(&rec, 1, &everything, &out);
		expect_lines(goldens[i].text, rec.end_ns, &expected, &len);
		assert_int_equal(out.len, len);
		assert_memory_equal(out.buf, expected, len);
		free(expected);
		ftr_ostream_close(&out, NULL);
	}
}

static void print(void *arg, const char *text)
{
	print_message("%s\n", text);
}

static void load(struct ftr_etrace_log *log, const void *text, size_t len,
		 ftr_violation_fn *fn, void *arg)
{
	struct ftr_istream in;

	ftr_istream_from_memory(&in, "t.etrace", text, len);
	ftr_etrace_log_init(log);
	log->is_whole = true;
	assert_int_equal(ftr_etrace_load(log, &in, fn, arg), 0);
	ftr_istream_close(&in);
}

static void check_round_trip(const struct ftr_etrace_options *options)
{
	struct ftr_syscall recs[GOLDENS];
	struct ftr_ostream first, second;
	struct ftr_etrace_log log;

	for (size_t i = 0; i < GOLDENS; i++)
		recs[i] = golden_record(i);
	write_records(recs, GOLDENS, options, &first);
	load(&log, first.buf, first.len, print, NULL);
	assert_int_equal(log.violations, 0);
	assert_int_equal(log.calls.nr, GOLDENS);
	write_records(log.calls.v, log.calls.nr, options, &second);
	assert_int_equal(first.len, second.len);
	assert_memory_equal(first.buf, second.buf, first.len);
	ftr_etrace_log_fini(&log);
	ftr_ostream_close(&first, NULL);
	ftr_ostream_close(&second, NULL);
}

static void what_is_written_is_read(void **state)
{
	struct ftr_etrace_options options = everything;

	check_round_trip(&options);
	options.has_prefix = true;
	check_round_trip(&options);
}

/*
 * Data directories also keep durations, names of calls, and failures that the format has no words
 * for.
 */
static void extension_round_trips(void **state)
{
	static const struct ftr_etrace_options extended = { .is_extended = true };
	struct ftr_syscall recs[2] = {
		{ .kind = FTR_SYSCALL_OPEN,
		  .upid = UPID,
		  .start_ns = 100,
		  .end_ns = 350,
		  .id = FTR_SYSID_OPENAT2,
		  .is_failed = true,
		  .error = 2,
		  .open.asked = S("gone"),
		  .open.fd = -1 },
		{ .kind = FTR_SYSCALL_EXIT,
		  .upid = UPID,
		  .start_ns = 400,
		  .end_ns = 400,
		  .exit.signal = 9 },
	};
	struct ftr_etrace_log log;
	struct ftr_ostream out;

	write_records(recs, 2, &extended, &out);
	load(&log, out.buf, out.len, print, NULL);
	assert_int_equal(log.violations, 0);
	assert_int_equal(log.calls.nr, 2);
	assert_int_equal(log.calls.v[0].id, FTR_SYSID_OPENAT2);
	assert_string_equal(ftr_syscall_name(&log.calls.v[0]), "openat2");
	assert_true(log.calls.v[0].is_failed);
	assert_int_equal(log.calls.v[0].error, 2);
	assert_int_equal(log.calls.v[0].start_ns, 100);
	assert_int_equal(log.calls.v[0].end_ns, 350);
	assert_null(log.calls.v[0].open.path.s);
	assert_int_equal(log.calls.v[0].open.asked.len, 4);
	assert_int_equal(log.calls.v[1].exit.signal, 9);
	ftr_etrace_log_fini(&log);
	ftr_ostream_close(&out, NULL);
}

/* What failed calls asked for, where the format has only their Failed line. */
static const struct ftr_syscall failures[] = {
	{ .kind = FTR_SYSCALL_RENAME, .id = FTR_SYSID_RENAMEAT2, .error = 2, .rename.flags = 1,
	  .rename.to = S("/b"), .rename.from_asked = S("/a") },
	{ .kind = FTR_SYSCALL_LINK, .id = FTR_SYSID_LINK, .error = 17, .rename.from = S("/a"),
	  .rename.to = S("/b") },
	{ .kind = FTR_SYSCALL_MOUNT, .id = FTR_SYSID_MOUNT, .error = 2, .mount.flags = 6,
	  .mount.source = S("none"), .mount.type = S("tmpfs"), .mount.target_asked = S("/no") },
	{ .kind = FTR_SYSCALL_MOUNT, .id = FTR_SYSID_MOUNT, .error = 19, .mount.flags = 6,
	  .mount.source = S("none"), .mount.target = S("/mnt"), .mount.type = S("tmpfs") },
	{ .kind = FTR_SYSCALL_UMOUNT, .id = FTR_SYSID_UMOUNT2, .error = 2, .mount.flags = 2,
	  .mount.target_asked = S("/no") },
	{ .kind = FTR_SYSCALL_SYMLINK, .id = FTR_SYSID_SYMLINK, .error = 17,
	  .symlink.target = S("x"), .symlink.link = S("/l") },
};

#define FAILURES (sizeof(failures) / sizeof(failures[0]))

static void assert_string_equal_slice(struct ftr_slice got, const char *expected)
{
	assert_int_equal(got.len, strlen(expected));
	assert_memory_equal(got.s, expected, got.len);
}

static void failures_keep_what_was_asked_for(void **state)
{
	static const struct ftr_etrace_options extended = { .is_extended = true };
	struct ftr_syscall recs[FAILURES];
	struct ftr_etrace_log log;
	struct ftr_ostream out, again;

	for (size_t i = 0; i < FAILURES; i++) {
		recs[i] = failures[i];
		recs[i].upid = UPID;
		recs[i].is_failed = true;
		recs[i].start_ns = 1000 * (i + 1);
		recs[i].end_ns = recs[i].start_ns + 500;
	}
	write_records(recs, FAILURES, &extended, &out);
	load(&log, out.buf, out.len, print, NULL);
	assert_int_equal(log.violations, 0);
	assert_int_equal(log.calls.nr, FAILURES);
	for (size_t i = 0; i < FAILURES; i++) {
		assert_true(log.calls.v[i].is_failed);
		assert_int_equal(log.calls.v[i].kind, recs[i].kind);
		assert_int_equal(log.calls.v[i].id, recs[i].id);
		assert_int_equal(log.calls.v[i].error, recs[i].error);
	}
	assert_string_equal_slice(log.calls.v[0].rename.from_asked, "/a");
	assert_string_equal_slice(log.calls.v[0].rename.to, "/b");
	assert_int_equal(log.calls.v[0].rename.flags, 1);
	assert_string_equal_slice(log.calls.v[2].mount.source, "none");
	assert_string_equal_slice(log.calls.v[2].mount.type, "tmpfs");
	assert_string_equal_slice(log.calls.v[2].mount.target_asked, "/no");
	assert_int_equal(log.calls.v[4].mount.flags, 2);
	write_records(log.calls.v, log.calls.nr, &extended, &again);
	assert_int_equal(out.len, again.len);
	assert_memory_equal(out.buf, again.buf, out.len);
	ftr_etrace_log_fini(&log);
	ftr_ostream_close(&out, NULL);
	ftr_ostream_close(&again, NULL);
}

/* A name that fits another kind of call is ignored: the members of the union are not its own. */
static void names_of_other_kinds_are_ignored(void **state)
{
	static const char text[] = "5,0,1,1!Ftr|call=renameat2,took=0\n"
				   "5,0,1,2!Pipe|fd1=3,fd2=4,flags=0\n"
				   "5,0,1,3!Ftr|call=frobnicate,took=1\n5,0,1,4!Close|fd=3\n";
	struct ftr_etrace_log log;

	load(&log, text, sizeof(text) - 1, print, NULL);
	assert_int_equal(log.violations, 0);
	assert_int_equal(log.calls.nr, 2);
	assert_string_equal(ftr_syscall_name(&log.calls.v[0]), "pipe2");
	assert_string_equal(ftr_syscall_name(&log.calls.v[1]), "close");
	assert_int_equal(log.calls.v[1].end_ns - log.calls.v[1].start_ns, 1);
	ftr_etrace_log_fini(&log);
}

/*
 * Arguments that were left out cost memory, so there cannot be more of them than the text has
 * bytes.
 */
static void few_bytes_ask_for_little_memory(void **state)
{
	struct ftr_etrace_log log;
	size_t len, argc = 0;
	char *text;
	FILE *out = open_memstream(&text, &len);

	for (int i = 0; i < 1000; i++)
		fprintf(out,
			"5,0,1,%d!New_proc|argsize=4096,prognameisize=0,prognamepsize=0,cwdsize=0\n"
			"5,0,1,%d!A[4000]x\n5,0,1,%d!End_of_args|\n",
			i * 3 + 1, i * 3 + 2, i * 3 + 3);
	fclose(out);
	load(&log, text, len, NULL, NULL);
	assert_int_equal(log.calls.nr, 1000);
	for (size_t i = 0; i < log.calls.nr; i++)
		argc += log.calls.v[i].exec.argc;
	assert_true(argc > 4000);
	assert_true(argc <= len + 1000);
	ftr_etrace_log_fini(&log);
	free(text);
}

static void options_leave_out(void **state)
{
	static const struct ftr_etrace_options none, repeated = { .skip_repeated_opens = true };
	struct ftr_syscall open = { .kind = FTR_SYSCALL_OPEN,
				    .upid = UPID,
				    .end_ns = 1,
				    .open = { .fd = 3, .path = S("/a"), .asked = S("/a") } };
	struct ftr_syscall close3 = {
		.kind = FTR_SYSCALL_CLOSE, .upid = UPID, .end_ns = 2, .close.fd = 3
	};
	struct ftr_syscall recs[] = { open, close3, open, close3, close3,
		{ .kind = FTR_SYSCALL_COMM, .upid = UPID, .comm.name = S("x") },
		{ .kind = FTR_SYSCALL_OPEN, .upid = UPID, .is_failed = true },
		{ .kind = FTR_SYSCALL_UMOUNT, .upid = UPID, .is_failed = true } };
	struct ftr_etrace_log log;
	struct ftr_ostream out;

	write_records(recs, 8, &none, &out);
	load(&log, out.buf, out.len, print, NULL);
	assert_int_equal(log.calls.nr, 5);
	ftr_etrace_log_fini(&log);
	ftr_ostream_close(&out, NULL);

	write_records(recs, 8, &repeated, &out);
	load(&log, out.buf, out.len, print, NULL);
	assert_int_equal(log.calls.nr, 3);
	assert_int_equal(log.calls.v[2].kind, FTR_SYSCALL_CLOSE);
	ftr_etrace_log_fini(&log);
	ftr_ostream_close(&out, NULL);
}

/*
 * What other writers do: markers without a bar, empty arguments left out, interleaved tasks, "0: ".
 */
static void other_spellings_are_read(void **state)
{
	static const char text[] =
		"INITCWD=/w\n"
		"0: 5,0,1,0!SchedFork|pid=6\n"
		"0: 5,0,1,1!New_proc|argsize=7,prognameisize=2,prognamepsize=2,cwdsize=2\n"
		"1: 6,1,1,1!Pipe|fd1=3,fd2=4,flags=0\n"
		"0: 5,0,1,2!PI|/a\n0: 5,0,1,3!PP|/a\n0: 5,0,1,4!CW|/w\n"
		"0: 5,0,1,5!A[0]a\n0: 5,0,1,6!A[2]x\n0: 5,0,1,7!Cont|y\n0: 5,0,1,8!Cont_end\n"
		"0: 5,0,1,9!End_of_args\n"
		"0: 5,0,1,10!Open|fnamesize=901,forigsize=1,flags=0,mode=0,fd=3\n"
		"0: 5,0,1,11!FN[0]" A900
		"\n0: 5,0,1,12!FN[1]z\n0: 5,0,1,13!FN_end\n0: 5,0,1,14!FO|/\n";
	struct ftr_etrace_log log;
	const struct ftr_syscall *exec;

	load(&log, text, sizeof(text) - 1, print, NULL);
	assert_int_equal(log.violations, 0);
	assert_string_equal(log.init_cwd, "/w");
	assert_int_equal(log.calls.nr, 4);
	exec = log.calls.v[1].kind == FTR_SYSCALL_EXEC ? &log.calls.v[1] : &log.calls.v[2];
	assert_int_equal(exec->exec.argc, 3);
	assert_int_equal(exec->exec.argv[1].len, 0);
	assert_int_equal(exec->exec.argv[2].len, 3);
	assert_memory_equal(exec->exec.argv[2].s, "x\ny", 3);
	assert_int_equal(log.calls.v[3].open.path.len, 901);
	ftr_etrace_log_fini(&log);
}

struct reported {
	unsigned nr;
	char first[400];
};

static void remember(void *arg, const char *text)
{
	struct reported *reported = arg;

	if (reported->nr++ == 0)
		snprintf(reported->first, sizeof(reported->first), "%s", text);
}

/* Each breaks one rule, which must be reported with its line. */
static const struct damage {
	const char *text;
	const char *expected;
} damages[] = {
	{ "garbage\n", "t.etrace:1: does not begin with" },
	{ "5,0,1!Close|fd=3\n", "t.etrace:1: does not begin with" },
	{ "5,0,1,1000000000!Close|fd=3\n", "t.etrace:1: does not begin with" },
	{ "5,0,1,1!Nonsense|x=1\n", "t.etrace:1: Nonsense is not part of a record" },
	{ "5,0,1,1!Close|fd=3,x=1\n", "t.etrace:1: Close: \"x\" is not a field of it" },
	{ "5,0,1,1!Close|\n", "t.etrace:1: Close has no fd" },
	{ "5,0,1,1!Close|fd=3\n5,0,1,1!Close|fd=4\n", "t.etrace:2: not later" },
	{ "5,0,1,1!Exit|status=0\n5,0,1,2!Close|fd=4\n",
	  "t.etrace:2: a line after the task's Exit" },
	{ "5,0,1,1!SysClone|flags=0\n5,0,1,2!Close|fd=4\n",
	  "t.etrace:1: SysClone without its end" },
	{ "5,0,1,1!SysCloneFailed|\n", "t.etrace:1: SysCloneFailed without its beginning" },
	{ "5,0,1,1!MountFailed|\n5,0,1,2!MountFailed|\n5,0,1,3!Close|x=1\n",
	  "t.etrace:3: Close: \"x\"" },
	{ "5,0,1,1!RenameTo|fnamesize=1\n5,0,1,2!RT|/\n",
	  "t.etrace:1: RenameTo without its beginning" },
	{ "5,0,1,1!Comm|size=2\n5,0,1,2!CN|abc\n",
	  "t.etrace:1: a text has 3 bytes, not the announced 2" },
	{ "5,0,1,1!Comm|size=2\n", "t.etrace:1: a text of 2 bytes is missing" },
	{ "5,0,1,1!CN|abc\n", "t.etrace:1: CN is not part of a record" },
	{ "5,0,1,1!Cont|abc\n", "t.etrace:1: Cont without a text to continue" },
	{ "5,0,1,1!Comm|size=1\n5,0,1,2!CN|a\n5,0,1,3!Cont_end|\n",
	  "t.etrace:3: Cont_end without a Cont" },
	{ "5,0,1,1!Comm|size=1\n5,0,1,2!CN[1]a\n",
	  "t.etrace:2: part 1 of a text that has no part 0" },
	{ "5,0,1,1!Comm|size=2\n5,0,1,2!CN[0]a\n5,0,1,3!CN[2]a\n",
	  "t.etrace:3: part 2, expected part 1" },
	{ "5,0,1,1!End_of_args|\n", "t.etrace:1: End_of_args without New_proc" },
	{ "6,0,1,1!Close|fd=1\n5,0,1,1!SchedFork|pid=6\n",
	  "t.etrace:2: lines of the child 6 come before" },
	{ "5,0,1,1!SchedFork|pid=6\n6,0,1,2!Exit|status=0\n7,0,1,3!Close|fd=1\n"
	  "7,0,1,4!Close|fd=2\n",
	  "t.etrace:3: no SchedFork announces the task of this line" },
	{ "5,0,1,1!New_proc|argsize=1,prognameisize=0,prognamepsize=0,cwdsize=0\n"
	  "5,0,1,2!PI|\n5,0,1,3!PP|\n5,0,1,4!CW|\n5,0,1,5!A[99999999]x\n",
	  "t.etrace:5: A[99999999] cannot follow 0 arguments" },
};

static void damage_is_reported(void **state)
{
	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		struct reported reported = { 0 };
		struct ftr_etrace_log log;

		load(&log, damages[i].text, strlen(damages[i].text), remember, &reported);
		assert_true(log.violations > 0);
		assert_int_equal(reported.nr, log.violations);
		if (strncmp(reported.first, damages[i].expected, strlen(damages[i].expected)) != 0)
			fail_msg("%s, expected: %s", reported.first, damages[i].expected);
		ftr_etrace_log_fini(&log);
	}
}

/* Cut anywhere, a text is read without harm, and all whole records of it. */
static void cut_text_is_read(void **state)
{
	struct ftr_syscall recs[GOLDENS];
	struct ftr_etrace_log log;
	struct ftr_ostream out;

	for (size_t i = 0; i < GOLDENS; i++)
		recs[i] = golden_record(i);
	write_records(recs, GOLDENS, &everything, &out);
	for (size_t len = 0; len < out.len; len += 7) {
		load(&log, out.buf, len, NULL, NULL);
		assert_true(log.calls.nr <= GOLDENS);
		ftr_etrace_log_fini(&log);
	}
	ftr_ostream_close(&out, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_is_written),
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(extension_round_trips),
		cmocka_unit_test(failures_keep_what_was_asked_for),
		cmocka_unit_test(names_of_other_kinds_are_ignored),
		cmocka_unit_test(few_bytes_ask_for_little_memory),
		cmocka_unit_test(options_leave_out),
		cmocka_unit_test(other_spellings_are_read),
		cmocka_unit_test(damage_is_reported),
		cmocka_unit_test(cut_text_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
