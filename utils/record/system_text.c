/* SPDX-License-Identifier: MIT */
/* Texts of /proc to numbers: proc(5). */
#include "utils/record/system_text.h"

#include <string.h>

#define NUMBERS_MAX 24

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The next word of a line; empty at its end. */
static struct ftr_slice word_next(struct ftr_slice *line)
{
	struct ftr_slice word;

	while (line->len > 0 && is_blank(line->s[0])) {
		line->s++;
		line->len--;
	}
	word = ftr_slice_make(line->s, 0);
	while (word.len < line->len && !is_blank(line->s[word.len]))
		word.len++;
	line->s += word.len;
	line->len -= word.len;
	return word;
}

/* The words of a line that are numbers, up to one that is none; how many. */
static unsigned numbers_get(struct ftr_slice line, uint64_t numbers[NUMBERS_MAX])
{
	unsigned nr = 0;

	while (nr < NUMBERS_MAX && ftr_parse_u64(word_next(&line), 10, &numbers[nr]) == 0)
		nr++;
	return nr;
}

static uint64_t less(uint64_t from, uint64_t number)
{
	return number < from ? from - number : 0;
}

bool ftr_system_cpu_next(struct ftr_slice *text, struct ftr_system_cpu *cpu)
{
	enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, TIMES };
	struct ftr_slice line, name;

	while (ftr_slice_split(text, '\n', &line)) {
		uint64_t times[NUMBERS_MAX] = { 0 };

		name = word_next(&line);
		if (!ftr_slice_starts(name, "cpu") ||
		    ftr_parse_u64(ftr_slice_make(name.s + 3, name.len - 3), 10, &cpu->nr) < 0 ||
		    cpu->nr >= UINT16_MAX || numbers_get(line, times) <= IDLE)
			continue;
		cpu->user = times[USER] + times[NICE];
		cpu->system = times[SYSTEM] + times[IRQ] + times[SOFTIRQ] + times[STEAL];
		cpu->idle = times[IDLE] + times[IOWAIT];
		return true;
	}
	return false;
}

bool ftr_system_memory_get(struct ftr_slice text, struct ftr_system_memory *memory)
{
	enum { TOTAL, FREE, AVAILABLE, CACHED, SWAP_TOTAL, SWAP_FREE, ROWS };
	static const char *const names[ROWS] = {
		"MemTotal:", "MemFree:", "MemAvailable:", "Cached:", "SwapTotal:", "SwapFree:",
	};
	uint64_t kb[ROWS] = { 0 }, numbers[NUMBERS_MAX];
	bool is_there[ROWS] = { false };
	struct ftr_slice line, name;

	while (ftr_slice_split(&text, '\n', &line)) {
		name = word_next(&line);
		for (unsigned i = 0; i < ROWS; i++) {
			if (ftr_slice_eq(name, names[i]) && numbers_get(line, numbers) > 0) {
				kb[i] = numbers[0];
				is_there[i] = true;
			}
		}
	}
	if (!is_there[TOTAL])
		return false;
	if (!is_there[AVAILABLE])	/* before Linux 3.14 */
		kb[AVAILABLE] = kb[FREE] + kb[CACHED];
	*memory = (struct ftr_system_memory){
		.total_kb = kb[TOTAL], .used_kb = less(kb[TOTAL], kb[AVAILABLE]),
		.free_kb = kb[FREE], .cached_kb = kb[CACHED],
		.swap_kb = less(kb[SWAP_TOTAL], kb[SWAP_FREE]),
	};
	return true;
}

/* "0.25": the locale has no say in it. */
static bool average_get(struct ftr_slice word, double *average)
{
	uint64_t hundredths, whole;
	struct ftr_slice head;

	if (!ftr_slice_split(&word, '.', &head) || word.len != 2 ||
	    ftr_parse_u64(head, 10, &whole) < 0 || ftr_parse_u64(word, 10, &hundredths) < 0)
		return false;
	*average = (double)whole + (double)hundredths / 100;
	return true;
}

bool ftr_system_load_get(struct ftr_slice text, struct ftr_system_load *load)
{
	struct ftr_slice line, word, running;

	if (!ftr_slice_split(&text, '\n', &line))
		return false;
	for (unsigned i = 0; i < 3; i++) {
		if (!average_get(word_next(&line), &load->average[i]))
			return false;
	}
	word = word_next(&line);
	return ftr_slice_split(&word, '/', &running) &&
	       ftr_parse_u64(running, 10, &load->running) == 0 &&
	       ftr_parse_u64(word, 10, &load->tasks) == 0;
}

static bool is_digits(struct ftr_slice word)
{
	for (size_t i = 0; i < word.len; i++) {
		if (word.s[i] < '0' || word.s[i] > '9')
			return false;
	}
	return word.len > 0;
}

/* "sda1" of "sda", "nvme0n1p1" of "nvme0n1". */
static bool is_part(struct ftr_slice name, struct ftr_slice disk)
{
	size_t at = disk.len;

	if (at == 0 || name.len <= at || memcmp(name.s, disk.s, at) != 0)
		return false;
	if (is_digits(ftr_slice_make(disk.s + at - 1, 1)) && name.s[at++] != 'p')
		return false;
	return is_digits(ftr_slice_make(name.s + at, name.len - at));
}

/* Memory, or what lies on other disks. */
static bool is_no_disk(struct ftr_slice name)
{
	static const char *const prefixes[] = { "loop", "ram", "zram", "dm-", "md" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t len = strlen(prefixes[i]);

		if (ftr_slice_starts(name, prefixes[i]) &&
		    is_digits(ftr_slice_make(name.s + len, name.len - len)))
			return true;
	}
	return false;
}

bool ftr_system_disks_get(struct ftr_slice text, struct ftr_system_disks *disks)
{
	enum { READS, READS_MERGED, SECTORS_READ, READ_MS, WRITES, WRITES_MERGED, SECTORS_WRITTEN };
	struct ftr_slice line, name, disk = ftr_slice_make("", 0);
	uint64_t numbers[NUMBERS_MAX];
	bool is_there = false;

	*disks = (struct ftr_system_disks){ 0 };
	while (ftr_slice_split(&text, '\n', &line)) {
		word_next(&line);		/* major, minor */
		word_next(&line);
		name = word_next(&line);
		if (numbers_get(line, numbers) <= SECTORS_WRITTEN)
			continue;
		is_there = true;
		if (is_no_disk(name) || is_part(name, disk))
			continue;
		disk = name;
		disks->reads += numbers[READS];
		disks->sectors_read += numbers[SECTORS_READ];
		disks->writes += numbers[WRITES];
		disks->sectors_written += numbers[SECTORS_WRITTEN];
	}
	return is_there;
}

bool ftr_system_network_get(struct ftr_slice text, struct ftr_system_network *network)
{
	enum { BYTES_RECEIVED, PACKETS_RECEIVED, BYTES_SENT = 8, PACKETS_SENT };
	uint64_t numbers[NUMBERS_MAX];
	struct ftr_slice line, name;
	bool is_there = false;

	*network = (struct ftr_system_network){ 0 };
	while (ftr_slice_split(&text, '\n', &line)) {
		/* The first number may follow the colon at once. */
		if (!ftr_slice_split(&line, ':', &name) ||
		    numbers_get(line, numbers) <= PACKETS_SENT)
			continue;
		is_there = true;
		if (ftr_slice_eq(ftr_slice_trim(name), "lo"))
			continue;
		network->bytes_received += numbers[BYTES_RECEIVED];
		network->packets_received += numbers[PACKETS_RECEIVED];
		network->bytes_sent += numbers[BYTES_SENT];
		network->packets_sent += numbers[PACKETS_SENT];
	}
	return is_there;
}

/* The name, which is in parentheses, may have any bytes in it: parentheses and new lines, too. */
bool ftr_system_task_get(struct ftr_slice text, struct ftr_system_task *task)
{
	enum { UTIME = 10, STIME, THREADS = 16, VSIZE = 19, RSS, FIELDS };
	struct ftr_slice rest, word;
	const char *end = memrchr(text.s, ')', text.len);
	int64_t fields[FIELDS];

	if (end == NULL)
		return false;
	rest = ftr_slice_make(end + 1, text.len - (size_t)(end + 1 - text.s));
	word = word_next(&rest);
	if (word.len != 1)
		return false;
	task->state = word.s[0];
	for (unsigned i = 0; i < FIELDS; i++) {
		if (ftr_parse_i64(word_next(&rest), &fields[i]) < 0)
			return false;
	}
	task->user = (uint64_t)fields[UTIME];
	task->system = (uint64_t)fields[STIME];
	task->threads = (uint64_t)fields[THREADS];
	task->virtual_bytes = (uint64_t)fields[VSIZE];
	task->resident_pages = (uint64_t)fields[RSS];
	return fields[UTIME] >= 0 && fields[STIME] >= 0 && fields[THREADS] >= 0 &&
	       fields[VSIZE] >= 0 && fields[RSS] >= 0;
}

bool ftr_system_shared_get(struct ftr_slice text, uint64_t *pages)
{
	uint64_t numbers[NUMBERS_MAX];
	struct ftr_slice line;

	if (!ftr_slice_split(&text, '\n', &line) || numbers_get(line, numbers) < 3)
		return false;
	*pages = numbers[2];
	return true;
}
