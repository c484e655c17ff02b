/* SPDX-License-Identifier: MIT */
/* The recorder's end of the channel, against senders of every kind. */
#include "tests/unit/unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "utils/base/clock.h"
#include "utils/record/channel.h"

#define PACKET_MAX (sizeof(struct ftr_channel_message) + FTR_CHANNEL_PATH_MAX + 1)

static struct ftr_channel channel;
static struct ftr_channel_request request;

static int start(void **state)
{
	struct ftr_err err = { 0 };

	return ftr_channel_open(&channel, false, &err);
}

static int stop(void **state)
{
	ftr_channel_close(&channel);
	return 0;
}

static int connected(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path + 1, channel.name, strlen(channel.name));
	assert_true(sock >= 0);
	assert_int_equal(connect(sock, (struct sockaddr *)&address,
				 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
					     strlen(channel.name))), 0);
	return sock;
}

static void send_path(int sock, enum ftr_channel_type type, const char *path)
{
	char packet[PACKET_MAX];
	struct ftr_channel_message message = {
		.magic = FTR_CHANNEL_MAGIC, .type = type, .pid = getpid(), .tid = getpid(),
		.path_bytes = (uint32_t)strlen(path),
	};
	size_t len = sizeof(message) + message.path_bytes;

	memcpy(packet, &message, sizeof(message));
	memcpy(packet + sizeof(message), path, message.path_bytes);
	assert_int_equal(send(sock, packet, len, 0), len);
}

static unsigned open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned nr = 0;

	assert_non_null(dir);
	while (readdir(dir) != NULL)
		nr++;
	closedir(dir);
	return nr;
}

/* The reply as the runtime reads it; descriptors in @fds, their number as the result. */
static int reply_read(int sock, struct ftr_channel_message *reply, char text[256], int fds[2])
{
	union { struct cmsghdr header; char room[CMSG_SPACE(2 * sizeof(int))]; } control;
	struct iovec parts[2] = { { reply, sizeof(*reply) }, { text, 255 } };
	struct msghdr packet = { .msg_iov = parts, .msg_iovlen = 2, .msg_control = &control,
				 .msg_controllen = sizeof(control) };
	ssize_t len = recvmsg(sock, &packet, MSG_CMSG_CLOEXEC);
	size_t bytes;

	assert_true(len >= (ssize_t)sizeof(*reply));
	assert_int_equal(reply->magic, FTR_CHANNEL_MAGIC);
	text[(size_t)len - sizeof(*reply)] = '\0';
	if (packet.msg_controllen == 0)
		return 0;
	bytes = control.header.cmsg_len - CMSG_LEN(0);
	memcpy(fds, CMSG_DATA(&control.header), bytes);
	return (int)(bytes / sizeof(int));
}

static void test_message_and_reply(void **state)
{
	struct ftr_channel_message reply;
	int given[2], fds[2], sock = connected();
	char text[256];

	assert_int_equal(pipe(given), 0);
	send_path(sock, FTR_CHANNEL_MODULE, "/lib/x.so");
	assert_true(ftr_channel_next(&channel, &request));
	assert_int_equal(request.message.type, FTR_CHANNEL_MODULE);
	assert_string_equal(request.path, "/lib/x.so");
	assert_int_equal(request.pid, getpid());
	assert_int_equal(request.uid, geteuid());
	assert_true(ftr_channel_reply(&request, 7, 8, given, 2));
	assert_int_equal(reply_read(sock, &reply, text, fds), 2);
	assert_int_equal(reply.type, FTR_CHANNEL_OK);
	assert_int_equal(reply.base, 7);
	assert_int_equal(reply.time, 8);
	assert_int_equal(write(fds[1], "x", 1), 1);	/* they are the pipe */
	assert_int_equal(read(given[0], text, 1), 1);
	assert_int_equal(recv(sock, text, 1, 0), 0);	/* hung up */
	assert_false(ftr_channel_next(&channel, &request));
	close(fds[0]), close(fds[1]), close(given[0]), close(given[1]), close(sock);
}

static void test_refusal(void **state)
{
	struct ftr_channel_message reply;
	int fds[2], sock = connected();
	char text[256];

	send_path(sock, FTR_CHANNEL_TASK, "");
	assert_true(ftr_channel_next(&channel, &request));
	ftr_channel_refuse(&request, "because");
	assert_int_equal(reply_read(sock, &reply, text, fds), 0);
	assert_int_equal(reply.type, FTR_CHANNEL_REFUSED);
	assert_int_equal(reply.path_bytes, 7);
	assert_string_equal(text, "because");
	close(sock);
}

/* One that connects and sends nothing keeps no other waiting. */
static void test_slow_sender(void **state)
{
	int slow = connected(), quick = connected();
	uint64_t before;

	assert_false(ftr_channel_next(&channel, &request));
	send_path(quick, FTR_CHANNEL_NAME, "quick");
	assert_true(ftr_channel_next(&channel, &request));
	assert_string_equal(request.path, "quick");
	assert_true(ftr_channel_reply(&request, 0, 0, NULL, 0));
	assert_false(ftr_channel_next(&channel, &request));
	send_path(slow, FTR_CHANNEL_NAME, "slow");
	before = ftr_clock_now_ns(CLOCK_MONOTONIC);
	assert_true(ftr_channel_wait(&channel, -1, UINT64_C(30000000000)));
	assert_true(ftr_clock_now_ns(CLOCK_MONOTONIC) - before < UINT64_C(10000000000));
	assert_true(ftr_channel_next(&channel, &request));
	assert_string_equal(request.path, "slow");
	assert_true(ftr_channel_reply(&request, 0, 0, NULL, 0));
	close(slow), close(quick);
}

static void test_hang_ups(void **state)
{
	unsigned before = open_descriptors();
	int sock = connected();

	assert_false(ftr_channel_next(&channel, &request));
	close(sock);					/* without a message */
	assert_false(ftr_channel_next(&channel, &request));
	sock = connected();
	send_path(sock, FTR_CHANNEL_NAME, "gone");
	close(sock);					/* before its reply */
	assert_true(ftr_channel_next(&channel, &request));
	assert_false(ftr_channel_reply(&request, 0, 0, NULL, 0));
	sock = connected();
	send_path(sock, FTR_CHANNEL_NAME, "gone");
	assert_true(ftr_channel_next(&channel, &request));
	close(sock);
	ftr_channel_refuse(&request, "too late");
	assert_false(ftr_channel_next(&channel, &request));
	assert_int_equal(open_descriptors(), before);
}

static void malformed(const void *packet, size_t len)
{
	int sock = connected();
	char c;

	assert_int_equal(send(sock, packet, len, 0), len);
	assert_false(ftr_channel_next(&channel, &request));
	assert_int_equal(recv(sock, &c, 1, 0), 0);	/* hung up */
	close(sock);
}

static void test_malformed(void **state)
{
	struct { struct ftr_channel_message message; char path[FTR_CHANNEL_PATH_MAX + 2]; } packet =
		{ .message.magic = FTR_CHANNEL_MAGIC };
	unsigned before = open_descriptors();

	malformed(&packet, 1);
	malformed(&packet, sizeof(packet.message) - 1);
	malformed(&packet, sizeof(packet.message) + 1);		/* a path that is not announced */
	packet.message.path_bytes = 5;
	malformed(&packet, sizeof(packet.message));		/* ... or that is missing */
	malformed(&packet, sizeof(packet.message) + 4);
	packet.message.path_bytes = UINT32_MAX;
	malformed(&packet, sizeof(packet.message));
	packet.message.path_bytes = FTR_CHANNEL_PATH_MAX + 1;
	malformed(&packet, sizeof(packet.message) + FTR_CHANNEL_PATH_MAX + 1);
	packet.message.path_bytes = FTR_CHANNEL_PATH_MAX;	/* cut off at what is announced */
	malformed(&packet, sizeof(packet.message) + FTR_CHANNEL_PATH_MAX + 1);
	packet.message.path_bytes = 0;
	packet.message.magic++;
	malformed(&packet, sizeof(packet.message));
	assert_int_equal(open_descriptors(), before);
}

static void test_longest_path(void **state)
{
	char path[FTR_CHANNEL_PATH_MAX + 1];
	int sock = connected();

	memset(path, 'p', FTR_CHANNEL_PATH_MAX);
	path[FTR_CHANNEL_PATH_MAX] = '\0';
	send_path(sock, FTR_CHANNEL_EXEC, path);
	assert_true(ftr_channel_next(&channel, &request));
	assert_string_equal(request.path, path);
	ftr_channel_refuse(&request, "");
	close(sock);
}

/* A traced process may send descriptors, too: none of them arrives. */
static void test_descriptors_are_dropped(void **state)
{
	struct ftr_channel_message message = { .magic = FTR_CHANNEL_MAGIC,
					       .type = FTR_CHANNEL_NAME };
	union { struct cmsghdr header; char room[CMSG_SPACE(sizeof(int))]; } control = {
		.header = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS },
	};
	struct iovec part = { &message, sizeof(message) };
	struct msghdr packet = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
				 .msg_controllen = sizeof(control) };
	unsigned before = open_descriptors();
	int sock = connected();

	*(int *)CMSG_DATA(&control.header) = STDIN_FILENO;
	assert_true(sendmsg(sock, &packet, 0) > 0);
	assert_true(ftr_channel_next(&channel, &request));
	ftr_channel_refuse(&request, "");
	close(sock);
	assert_int_equal(open_descriptors(), before);
}

/* More silent connections than places: the oldest are hung up on, and a message comes through. */
static void test_many_connections(void **state)
{
	enum { SILENT = FTR_CHANNEL_WAITING_MAX + 40 };
	struct rlimit limit;
	int socks[SILENT], sock, i;
	bool is_heard = false;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur < 3 * SILENT)
		skip();
	for (i = 0; i < SILENT; i++) {
		socks[i] = connected();
		if (i % 100 == 0)		/* the kernel's queue is not endless */
			assert_false(ftr_channel_next(&channel, &request));
	}
	sock = connected();
	send_path(sock, FTR_CHANNEL_NAME, "last");
	for (i = 0; i < 1000 && !is_heard; i++) {
		is_heard = ftr_channel_next(&channel, &request);
		if (!is_heard)
			usleep(10000);
	}
	assert_true(is_heard);
	assert_string_equal(request.path, "last");
	assert_true(ftr_channel_reply(&request, 0, 0, NULL, 0));
	assert_true(channel.waiting_nr <= FTR_CHANNEL_WAITING_MAX);
	for (i = 0; i < SILENT; i++)
		close(socks[i]);
	close(sock);
}

static void test_by_path(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct ftr_err err = { 0 };
	struct stat st;
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	assert_int_equal(ftr_channel_open_path(&channel, &err), 0);
	snprintf(address.sun_path, sizeof(address.sun_path), FTR_CHANNEL_DIR "%s", channel.name);
	assert_int_equal(stat(address.sun_path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0666);
	assert_int_equal(connect(sock, (struct sockaddr *)&address, sizeof(address)), 0);
	send_path(sock, FTR_CHANNEL_NAME, "elsewhere");
	assert_true(ftr_channel_next(&channel, &request));
	assert_string_equal(request.path, "elsewhere");
	assert_true(ftr_channel_reply(&request, 0, 0, NULL, 0));
	close(sock);
	ftr_channel_close(&channel);
	assert_int_equal(stat(address.sun_path, &st), -1);
	assert_int_equal(ftr_channel_open(&channel, false, &err), 0);	/* for stop */
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_message_and_reply), TEST(test_refusal), TEST(test_slow_sender),
		TEST(test_hang_ups), TEST(test_malformed), TEST(test_longest_path),
		TEST(test_descriptors_are_dropped), TEST(test_many_connections),
		TEST(test_by_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
