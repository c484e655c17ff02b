/* SPDX-License-Identifier: MIT */
/*
 * Write a large uftrace data directory of made-up calls, for measuring how fast it is read:
 *
 *	mkdata DIR RECORDS [TASKS]
 *
 * The tasks' calls (64 functions, some 10 deep) are the same in each run.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "utils/proto/record.h"

#define FUNC_NR 64
#define FUNC_BYTES 0x40
#define FUNC_FIRST 0x1100
#define BASE UINT64_C(0x555555554000)
#define DEPTH_MAX 24
#define FIRST_TID 1000
#define START_NS UINT64_C(1000000000000)
#define BUFFERED 4096

static const char *dir;

static FILE *file_open(const char *name)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	if (file == NULL) {
		fprintf(stderr, "mkdata: %s: %s\n", path, strerror(errno));
		exit(1);
	}
	return file;
}

static void file_close(FILE *file)
{
	if (ferror(file) || fclose(file) != 0) {
		fprintf(stderr, "mkdata: %s: cannot write: %s\n", dir, strerror(errno));
		exit(1);
	}
}

static void write_info(unsigned task_nr)
{
	static const unsigned char header[40] = {
		'F', 't', 'r', 'a', 'c', 'e', '!', 0, 4, 0, 0, 0, 40, 0, 1, 2,
		0x63, 0, 0, 0, 0, 0, 0, 0, 0xc9, 0x10, 0, 0, 0, 0, 0, 0, 0, 4,
	};
	FILE *file = file_open("info");

	fwrite(header, sizeof(header), 1, file);
	fprintf(file, "exename:/bench/prog\ncmdline:record /bench/prog \n"
		"osinfo:lines=1\nosinfo:hostname=machine\n"
		"taskinfo:lines=2\ntaskinfo:nr_tid=%u\ntaskinfo:tids=", task_nr);
	for (unsigned i = 0; i < task_nr; i++)
		fprintf(file, "%s%u", i == 0 ? "" : ",", FIRST_TID + i);
	fprintf(file, "\npattern_type:regex\n");
	file_close(file);
}

static void write_tasks(unsigned task_nr)
{
	FILE *file = file_open("task.txt");

	fprintf(file, "SESS timestamp=999.000000000 pid=%d sid=00000000000000aa "
		"exename=\"/bench/prog\"\n", FIRST_TID);
	for (unsigned i = 0; i < task_nr; i++)
		fprintf(file, "TASK timestamp=999.100000000 tid=%u pid=%d\n", FIRST_TID + i,
			FIRST_TID);
	file_close(file);
}

static void write_symbols(void)
{
	FILE *file = file_open("sid-00000000000000aa.map");

	fprintf(file, "%" PRIx64 "-%" PRIx64 " r-xp 00000000 00:00 0                          "
		"/bench/prog\n7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0"
		"                          [stack]\n", BASE, BASE + 0x10000);
	file_close(file);
	file = file_open("prog.sym");
	fprintf(file, "# symbols: %d\n# path name: /bench/prog\n", FUNC_NR + 1);
	for (int i = 0; i < FUNC_NR; i++)
		fprintf(file, "%016x T function_%02d\n", FUNC_FIRST + i * FUNC_BYTES, i);
	fprintf(file, "%016x T __sym_end\n", FUNC_FIRST + FUNC_NR * FUNC_BYTES);
	file_close(file);
}

static uint32_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*state >> 33);
}

static void write_data(unsigned task, uint64_t record_nr)
{
	struct ftr_record records[BUFFERED];
	uint64_t stack[DEPTH_MAX];
	uint64_t random = task + 1;
	uint64_t time = START_NS + task;
	unsigned depth = 0;
	size_t nr = 0;
	char name[32];
	FILE *file;

	snprintf(name, sizeof(name), "%u.dat", FIRST_TID + task);
	file = file_open(name);
	while (record_nr > 0 || depth > 0) {
		uint32_t r = next_random(&random);
		bool is_entry = depth == 0 || (record_nr > depth && depth < DEPTH_MAX &&
					       r % 23 < 11 + (depth < 9));

		time += 20 + r / 64 % 200;
		if (is_entry)
			stack[depth++] = BASE + FUNC_FIRST + 4 + r / 8192 % FUNC_NR * FUNC_BYTES;
		else
			depth--;
		records[nr++] = (struct ftr_record){
			time, ftr_record_word(is_entry ? FTR_RECORD_ENTRY : FTR_RECORD_EXIT,
					      is_entry ? depth - 1 : depth,
					      stack[is_entry ? depth - 1 : depth]),
		};
		if (record_nr > 0)
			record_nr--;
		if (nr == BUFFERED || (record_nr == 0 && depth == 0)) {
			fwrite(records, sizeof(*records), nr, file);
			nr = 0;
		}
	}
	file_close(file);
}

int main(int argc, char **argv)
{
	unsigned task_nr = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 2;
	uint64_t record_nr = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;

	if (argc < 3 || record_nr == 0 || task_nr == 0) {
		fprintf(stderr, "usage: mkdata DIR RECORDS [TASKS]\n");
		return 2;
	}
	dir = argv[1];
	if (mkdir(dir, 0777) < 0 && errno != EEXIST) {
		fprintf(stderr, "mkdata: %s: %s\n", dir, strerror(errno));
		return 1;
	}
	write_info(task_nr);
	write_tasks(task_nr);
	write_symbols();
	for (unsigned i = 0; i < task_nr; i++)
		write_data(i, record_nr / task_nr);
	return 0;
}
