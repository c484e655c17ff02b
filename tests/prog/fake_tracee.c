/* SPDX-License-Identifier: MIT */
/*
 * A traced process that speaks the channel and writes its ring itself, as well or as badly as it is
 * told to.  Usage: fake_tracee MODE; run by ftr record --force.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "utils/proto/channel.h"
#include "utils/proto/control.h"
#include "utils/proto/record.h"
#include "utils/proto/ring.h"

#define FUNC UINT64_C(0x401000)
#define READ_PAGE_FAULT 100002	/* events of uftrace: utils/trace/event_kind.h */
#define WATCH_CPU 100011

static struct ftr_ring_header *ring;
static struct ftr_record *data;
static size_t slots;
static int ring_fd;

static void fail(const char *what)
{
	perror(what);
	exit(9);
}

/* The runtime has taken it out of our environment; the kernel still has it. */
static const char *channel_name(void)
{
	static char environment[65536];
	FILE *file = fopen("/proc/self/environ", "r");
	char *at = environment;
	size_t bytes;

	if (file == NULL)
		fail("/proc/self/environ");
	bytes = fread(environment, 1, sizeof(environment) - 1, file);
	fclose(file);
	for (; at < environment + bytes; at += strlen(at) + 1) {
		if (strncmp(at, FTR_CHANNEL_ENV "=", sizeof(FTR_CHANNEL_ENV)) == 0)
			return at + sizeof(FTR_CHANNEL_ENV);
	}
	return NULL;
}

static int channel_connect(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *name = channel_name();
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (name == NULL || fd < 0)
		fail("no channel");
	strncpy(address.sun_path + 1, name, sizeof(address.sun_path) - 2);
	if (connect(fd, (struct sockaddr *)&address,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))) < 0)
		fail("connect");
	return fd;
}

/* The type of the reply, 0 when there is none; the descriptor that came with it in *fd. */
static uint32_t reply_read(int sock, struct ftr_channel_message *reply, int *fd)
{
	union { struct cmsghdr header; char room[CMSG_SPACE(2 * sizeof(int))]; } control;
	char text[256];
	struct iovec parts[2] = { { reply, sizeof(*reply) }, { text, sizeof(text) } };
	struct msghdr packet = { .msg_iov = parts, .msg_iovlen = 2, .msg_control = &control,
				 .msg_controllen = sizeof(control) };

	if (recvmsg(sock, &packet, 0) < (ssize_t)sizeof(*reply))
		return 0;
	if (fd != NULL && packet.msg_controllen > 0)
		memcpy(fd, CMSG_DATA(&control.header), sizeof(*fd));
	return reply->type;
}

static uint32_t ask(struct ftr_channel_message *message, int *fd)
{
	struct ftr_channel_message reply = { 0 };
	int sock = channel_connect();
	uint32_t type;

	message->magic = FTR_CHANNEL_MAGIC;
	message->pid = getpid();
	message->tid = gettid();
	if (send(sock, message, sizeof(*message), 0) < 0)
		fail("send");
	type = reply_read(sock, &reply, fd);
	message->base = reply.base;
	close(sock);
	return type;
}

static void task_start(void)
{
	struct ftr_channel_message message = { .type = FTR_CHANNEL_TASK };
	size_t bytes;

	if (ask(&message, &ring_fd) != FTR_CHANNEL_OK)
		fail("task refused");
	ring = mmap(NULL, FTR_RING_DATA_OFFSET, PROT_READ | PROT_WRITE, MAP_SHARED, ring_fd, 0);
	if (ring == MAP_FAILED)
		fail("mmap");
	bytes = ring->size_bytes;
	data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring_fd, FTR_RING_DATA_OFFSET);
	slots = bytes / sizeof(*data);
}

static void put(size_t slot, uint64_t time, enum ftr_record_type type, unsigned depth)
{
	data[slot % slots].time = time;
	__atomic_store_n(&data[slot % slots].word, ftr_record_word(type, depth, FUNC),
			 __ATOMIC_RELEASE);
}

/* Killed between reserving and committing: everything else counts. */
static void mode_hole(void)
{
	task_start();
	put(0, 1000, FTR_RECORD_ENTRY, 0);
	put(3, 2000, FTR_RECORD_ENTRY, 2);
	put(4, 3000, FTR_RECORD_EXIT, 2);
	raise(SIGKILL);
}

/*
 * A process of the program says that it is there, and is gone before the recorder, which is held,
 * reads it.
 */
static void mode_gone(void)
{
	struct ftr_channel_message message = { .magic = FTR_CHANNEL_MAGIC,
					       .type = FTR_CHANNEL_SESSION };
	pid_t pid;

	task_start();
	put(0, 1000, FTR_RECORD_ENTRY, 0);
	kill(getppid(), SIGSTOP);
	pid = fork();
	if (pid == 0) {
		message.pid = message.tid = getpid();
		_exit(send(channel_connect(), &message, sizeof(message), 0) < 0);
	}
	waitpid(pid, NULL, 0);
	kill(getppid(), SIGCONT);
}

static void mode_garbage(void)
{
	size_t i;

	task_start();
	srandom(1);
	for (i = 0; i < slots * sizeof(*data) / sizeof(int); i++)
		((int *)data)[i] = (int)random();
	memset(ring, 0xff, sizeof(*ring));
}

static void mode_backwards(void)
{
	task_start();
	put(0, 5000, FTR_RECORD_ENTRY, 0);
	put(1, 3000, FTR_RECORD_ENTRY, 1);
	put(2, 6000, FTR_RECORD_EXIT, 1);
	put(3, 6500, FTR_RECORD_EXIT, 0);
}

static void mode_deep(void)
{
	unsigned i;

	task_start();
	for (i = 0; i < 1500; i++)
		put(i, i, FTR_RECORD_ENTRY, i < 1023 ? i : 1023);
	for (i = 1500; i-- > 0;)
		put(2999 - i, 4000, FTR_RECORD_EXIT, i < 1023 ? i : 1023);
}

/* Records with a payload: tests/e2e/record_hostile.py knows what it is. */

static size_t next_slot;

static size_t payload_bytes(size_t i)
{
	return i * 37 % FTR_PAYLOAD_MAX + 1;
}

static void unit_put(size_t slot, struct ftr_record unit)
{
	data[slot % slots].time = unit.time;
	__atomic_store_n(&data[slot % slots].word, unit.word, __ATOMIC_RELEASE);
}

static void put_next(uint64_t time, uint64_t word)
{
	unit_put(next_slot++, (struct ftr_record){ time, word });
}

static void put_payload(uint64_t time, uint64_t word, const void *payload, size_t bytes)
{
	size_t slot = next_slot, at;

	for (at = 0; at < bytes; at += FTR_PAYLOAD_UNIT_BYTES)
		unit_put(++next_slot, ftr_payload_pack((const uint8_t *)payload + at,
						       (uint32_t)(bytes - at)));
	next_slot++;
	unit_put(slot, (struct ftr_record){ time, word | FTR_RECORD_MORE });
}

/*
 * Record @i of a series of calls, every second of which has a payload.  Neither payloads nor times
 * look like a record's word, so a reader who does not know the arguments finds its way.
 */
#define CALL_TIME(i) (UINT64_C(64) * (i))

static void put_call(size_t i)
{
	uint64_t word = ftr_record_word(i % 2 ? FTR_RECORD_EXIT : FTR_RECORD_ENTRY, 0, FUNC);
	uint8_t payload[FTR_PAYLOAD_MAX];
	size_t j;

	for (j = 0; j < payload_bytes(i); j++)
		payload[j] = (uint8_t)((i + j) | 0x80);
	if (i / 2 % 2)
		put_payload(CALL_TIME(i), word, payload, payload_bytes(i));
	else
		put_next(CALL_TIME(i), word);
}

/* Until @nr more units fit in; a hole may be in the recorder's way. */
static void room_wait(size_t nr)
{
	uint64_t end = (next_slot + nr) * sizeof(*data);

	while (end > atomic_load(&ring->tail) + slots * sizeof(*data))
		atomic_store(&ring->head, end - sizeof(*data));
}

static void mode_payload(void)
{
	size_t i;

	task_start();
	for (i = 0; i < 100; i++)
		put_call(i);
}

static void mode_payload_event(void)
{
	uint64_t faults[2] = { 7, 1234 };
	int32_t cpu = 3;

	task_start();
	put_next(1000, ftr_record_word(FTR_RECORD_ENTRY, 0, FUNC));
	put_payload(2000, ftr_record_word(FTR_RECORD_EVENT, 0, WATCH_CPU), &cpu,
		    sizeof(cpu));
	put_payload(3000, ftr_record_word(FTR_RECORD_EVENT, 0, READ_PAGE_FAULT),
		    faults, sizeof(faults));
	put_next(4000, ftr_record_word(FTR_RECORD_EXIT, 0, FUNC));
}

static void kill_me(int nr)
{
	(void)nr;
	kill(getpid(), SIGKILL);
}

/* Killed while it writes payloads: what is committed is there, and whole. */
static void mode_payload_killed(void)
{
	const struct itimerval soon = { .it_value = { 0, 20000 + getpid() % 100 * 100 } };
	size_t i;

	task_start();
	signal(SIGALRM, kill_me);
	setitimer(ITIMER_REAL, &soon, NULL);
	for (i = 0;; i++) {
		room_wait(1 + ftr_payload_units(FTR_PAYLOAD_MAX));
		put_call(i);
	}
}

#define LIE (ftr_record_word(FTR_RECORD_EVENT, 0, WATCH_CPU) | FTR_RECORD_MORE)

/* Payloads that are none, too long, of the wrong length, of no record, or go all round the ring. */
static void mode_payload_lies(void)
{
	static const unsigned long lengths[] = { 0, 1, 3, 5, 15, 16, 1020, 1021, 4096, 30000 };
	size_t i, j;

	task_start();
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		put_call(4 * i);
		put_next(CALL_TIME(4 * i), LIE);
		for (j = 0; j < lengths[i] / FTR_PAYLOAD_UNIT_BYTES; j++)
			put_next(UINT64_MAX,
				 UINT64_MAX << FTR_PAYLOAD_BYTES_SHIFT | FTR_PAYLOAD_TAG);
		if (lengths[i] % 2)
			put_next(UINT64_MAX,
				 FTR_PAYLOAD_TAG | lengths[i] % FTR_PAYLOAD_UNIT_BYTES);
		put_call(4 * i + 1);
	}
	put_next(CALL_TIME(4 * i), LIE);
	while (next_slot < slots)
		put_next(UINT64_MAX, FTR_PAYLOAD_TAG);
}

#define WINDOW 64u	/* slots: the first half of them has calls, the second half is flipped */

static void *flip(void *arg)
{
	const uint64_t words[] = { FTR_PAYLOAD_TAG, FTR_PAYLOAD_TAG | 4, FTR_PAYLOAD_TAG | 15, LIE,
				   UINT64_MAX, 1, LIE, LIE };
	unsigned seed = 1;

	for (;; arg = NULL) {
		unsigned random = (unsigned)rand_r(&seed);
		size_t slot = random % slots | WINDOW / 2;
		bool is_hole = random >> 24 == 0;

		__atomic_store_n(&data[slot].word, is_hole ? 0 : words[(random >> 16) % 8],
				 __ATOMIC_RELAXED);
	}
	return arg;
}

/* Payloads that change while they are read: the calls between them are all there. */
static void mode_payload_flips(void)
{
	pthread_t thread;
	size_t calls = 0;

	task_start();
	if (pthread_create(&thread, NULL, flip, NULL) != 0)
		fail("pthread_create");
	while (next_slot < 3 * slots) {
		room_wait(1);
		if (next_slot % WINDOW < WINDOW / 2) {
			put_next(CALL_TIME(calls),
				 ftr_record_word(calls % 2 ? FTR_RECORD_EXIT : FTR_RECORD_ENTRY, 0,
						 FUNC));
			calls++;
		} else {
			put_next(CALL_TIME(calls),
				 next_slot % 8 == 0 ? LIE : FTR_PAYLOAD_TAG | next_slot % 5);
		}
	}
	_exit(0);
}

static void mode_overwrite(void)
{
	size_t i;

	task_start();
	for (i = 0; i < 3 * slots + 5; i++)
		put(i, i, i % 2 ? FTR_RECORD_EXIT : FTR_RECORD_ENTRY, 0);
}

static void mode_future(void)
{
	task_start();
	put(0, UINT64_MAX, FTR_RECORD_ENTRY, 0);
	put(1, UINT64_MAX - 1, FTR_RECORD_EXIT, 0);
	put(2, 0, FTR_RECORD_ENTRY, 0);
}

static void mode_shrink(void)
{
	task_start();
	if (ftruncate(ring_fd, 0) == 0)
		exit(9);
	put(0, 1, FTR_RECORD_ENTRY, 0);
}

/* The control block can only be read, whatever one tries. */
static void mode_control(void)
{
	struct ftr_channel_message message = { .type = FTR_CHANNEL_SESSION };
	int fd = -1;

	if (ask(&message, &fd) != FTR_CHANNEL_OK || fd < 0)
		fail("session refused");
	if (mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED ||
	    ftruncate(fd, 0) == 0 || pwrite(fd, "x", 1, 0) == 1)
		exit(9);
	mode_backwards();
}

static void mode_requests(void)
{
	struct ftr_channel_message message = { .type = FTR_CHANNEL_TASK, .base = 4711 };
	char junk[8192] = "junk";
	int sock, i;

	for (i = 0; i < 100; i++)	/* connects, and keeps silent */
		channel_connect();
	if (ask(&message, NULL) != FTR_CHANNEL_REFUSED)
		exit(9);
	message = (struct ftr_channel_message){ .type = 77 };
	if (ask(&message, NULL) != FTR_CHANNEL_REFUSED)
		exit(9);
	message = (struct ftr_channel_message){ .type = FTR_CHANNEL_TASK, .path_bytes = 1u << 31 };
	if (ask(&message, NULL) != 0)
		exit(9);
	for (i = 0; i < 3; i++) {
		sock = channel_connect();
		send(sock, junk, i == 0 ? 1 : i == 1 ? sizeof(message) : sizeof(junk), 0);
		close(sock);
	}
	mode_backwards();
}

static const struct { const char *name; void (*run)(void); } modes[] = {
	{ "backwards", mode_backwards },
	{ "control", mode_control },
	{ "deep", mode_deep },
	{ "future", mode_future },
	{ "gone", mode_gone },
	{ "garbage", mode_garbage },
	{ "hole", mode_hole },
	{ "overwrite", mode_overwrite },
	{ "payload", mode_payload },
	{ "payload-event", mode_payload_event },
	{ "payload-flips", mode_payload_flips },
	{ "payload-killed", mode_payload_killed },
	{ "payload-lies", mode_payload_lies },
	{ "requests", mode_requests },
	{ "shrink", mode_shrink },
};

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (argc == 2 && strcmp(modes[i].name, argv[1]) == 0) {
			modes[i].run();
			return 0;
		}
	}
	return 8;
}
