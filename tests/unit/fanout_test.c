/* SPDX-License-Identifier: MIT */
/* Clients of a stream: each gets whole messages, numbered for it, or is told how many it lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "utils/base/bytes.h"
#include "utils/remote/fanout.h"

#define HEADER 20u
#define ENTRY	8u
#define PROCESS 1u
#define MAP	0x12u
#define END	2u
#define ERROR	3u

struct fixture {
	struct ftr_fanout fanout;
	int peers[8];
	size_t peer_nr;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	ftr_fanout_init(&f->fanout, NULL);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < f->peer_nr; i++)
		close(f->peers[i]);
	ftr_fanout_fini(&f->fanout);
	free(f);
	return 0;
}

static int join(struct fixture *f)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds),
			 0);
	assert_int_equal(ftr_fanout_add(&f->fanout, fds[0]), 0);
	f->peers[f->peer_nr++] = fds[1];
	return fds[1];
}

/* A message of @id, with @pid and @len bytes more. */
static size_t make(uint8_t *to, uint32_t id, uint32_t sequence, uint32_t pid, uint32_t len)
{
	memset(to, 0, HEADER + 4 + len);
	ftr_put_u32(to, id, false);
	ftr_put_u32(to + 4, sequence, false);
	ftr_put_u32(to + 8, sequence, false);
	ftr_put_u32(to + 16, 4 + len, false);
	ftr_put_u32(to + HEADER, pid, false);
	return HEADER + 4 + len;
}

static void feed(struct fixture *f, uint32_t id, uint32_t sequence, uint32_t pid, uint32_t len)
{
	uint8_t *message = malloc(HEADER + 4 + len);

	assert_non_null(message);
	assert_int_equal(ftr_fanout_feed(&f->fanout, message,
					 make(message, id, sequence, pid, len)), 0);
	free(message);
}

/* What waits for the client at @i, as "ID:PID ..."; it is taken, and its numbers are looked at. */
static const char *taken(struct fixture *f, size_t i, uint32_t *sequence)
{
	static char text[4096];
	struct ftr_fanout_client *client = f->fanout.clients.v[i];
	const uint8_t *p = client->buffer + client->start, *end = p + client->len;
	size_t at = 0;

	text[0] = '\0';
	while (p < end) {
		assert_int_equal(ftr_get_u32(p + 4, false), (*sequence)++);
		if (ftr_get_u32(p, false) == ERROR)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s ", p + HEADER);
		else
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%u:%u ",
					       ftr_get_u32(p, false),
					       ftr_get_u32(p + HEADER, false));
		p += HEADER + ftr_get_u32(p + 16, false);
	}
	assert_ptr_equal(p, end);
	client->start = client->len = 0;
	return text;
}

static void test_cut_anywhere(void **state)
{
	struct fixture *f = *state;
	uint8_t bytes[3 * 64];
	uint32_t sequence = 0;
	size_t len = make(bytes, ENTRY, 7, 1, 10);

	len += make(bytes + len, ENTRY, 8, 2, 0);
	len += make(bytes + len, ENTRY, 9, 3, 30);
	join(f);
	for (size_t step = 1; step <= len; step++) {
		for (size_t at = 0; at < len; at += step)
			assert_int_equal(ftr_fanout_feed(&f->fanout, bytes + at,
							 len - at < step ? len - at : step), 0);
		assert_string_equal(taken(f, 0, &sequence), "8:1 8:2 8:3 ");
	}
	assert_int_equal(f->fanout.messages, 3 * len);
}

static void test_late(void **state)
{
	struct fixture *f = *state;
	uint32_t sequence = 0;

	feed(f, PROCESS, 0, 10, 0);
	feed(f, MAP, 1, 10, 5);
	feed(f, PROCESS, 2, 11, 0);
	feed(f, PROCESS, 3, 10, 0);	/* another program: its maps are others */
	feed(f, MAP, 4, 11, 0);
	feed(f, ENTRY, 5, 10, 0);
	feed(f, PROCESS, 6, 12, 0);
	feed(f, END, 7, 12, 0);
	join(f);
	assert_string_equal(taken(f, 0, &sequence), "1:11 1:10 18:11 ");
	feed(f, ENTRY, 8, 10, 0);
	assert_string_equal(taken(f, 0, &sequence), "8:10 ");
}

static void test_loss(void **state)
{
	struct fixture *f = *state;
	uint32_t slow = 0, fast = 0;
	const char *text;

	f->fanout.buffer_bytes = 4096;
	join(f);
	join(f);
	for (uint32_t i = 0; i < 10; i++) {
		feed(f, ENTRY, i, i, 1000);
		assert_true(strlen(taken(f, 1, &fast)) > 0);
	}
	assert_int_equal(f->fanout.clients.v[0]->lost, 6);
	feed(f, PROCESS, 10, 99, 1000);			/* that is not lost */
	assert_string_equal(taken(f, 1, &fast), "1:99 ");
	text = taken(f, 0, &slow);
	assert_string_equal(text, "8:0 8:1 8:2 8:3 1:99 ");
	feed(f, ENTRY, 11, 11, 0);
	assert_string_equal(taken(f, 0, &slow), "LOST 6 records 8:11 ");
	for (uint32_t i = 0; i < 5; i++)
		feed(f, ENTRY, i, i, 1000);
	assert_int_equal(f->fanout.clients.v[0]->lost, 1);
	ftr_fanout_end(&f->fanout);
	assert_string_equal(taken(f, 0, &slow), "8:0 8:1 8:2 8:3 LOST 1 records ");
	assert_int_equal(f->fanout.clients.v[0]->lost_total, 7);
	assert_int_equal(f->fanout.clients.v[0]->len, 0);
}

/* Many have less room each. */
static void test_share(void **state)
{
	struct fixture *f = *state;

	f->fanout.total_bytes = 4 * 4096;
	for (size_t i = 0; i < 4; i++)
		join(f);
	for (uint32_t i = 0; i < 6; i++)
		feed(f, ENTRY, i, i, 1000);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(f->fanout.clients.v[i]->sent, 4);
		assert_int_equal(f->fanout.clients.v[i]->lost, 2);
	}
}

/* What explains others has room of its own, but not without end. */
static void test_given_up(void **state)
{
	struct fixture *f = *state;

	f->fanout.buffer_bytes = 4096;
	join(f);
	for (uint32_t i = 0; i < 10; i++)
		feed(f, MAP, i, 1, 1 << 20);
	assert_true(f->fanout.clients.v[0]->is_lost);
}

static void test_damage(void **state)
{
	struct fixture *f = *state;
	uint8_t bytes[64];
	uint32_t sequence = 0;

	join(f);
	make(bytes, ENTRY, 0, 1, 0);
	ftr_put_u32(bytes + 16, UINT32_MAX, false);
	assert_int_equal(ftr_fanout_feed(&f->fanout, bytes, HEADER), 0);
	assert_true(f->fanout.is_damaged);
	feed(f, ENTRY, 0, 1, 0);
	assert_string_equal(taken(f, 0, &sequence), "");
}

static void hear(struct fixture *f, size_t i, const char *said)
{
	assert_int_equal(write(f->peers[i], said, strlen(said)), strlen(said));
	ftr_fanout_hear(&f->fanout, f->fanout.clients.v[i]);
}

static void test_token(void **state)
{
	struct fixture *f = *state;
	uint32_t sequence = 0;
	char much[300];

	f->fanout.token = "secret";
	feed(f, PROCESS, 0, 10, 0);
	for (size_t i = 0; i < 5; i++)
		join(f);
	hear(f, 0, "sec");
	feed(f, ENTRY, 1, 10, 0);
	assert_int_equal(f->fanout.clients.v[0]->len, 0);
	hear(f, 0, "ret\nand more");
	assert_string_equal(taken(f, 0, &sequence), "1:10 ");
	hear(f, 1, "secre\n");
	hear(f, 2, "secrets\n");
	hear(f, 3, "\nsecret\n");
	memset(much, 'x', sizeof(much) - 1);
	much[sizeof(much) - 1] = '\0';
	hear(f, 4, much);
	for (size_t i = 1; i < 5; i++)
		assert_true(f->fanout.clients.v[i]->is_lost);
	feed(f, ENTRY, 2, 10, 0);
	assert_string_equal(taken(f, 0, &sequence), "8:10 ");
	assert_int_equal(f->fanout.clients.v[1]->len, 0);
}

/* What is said without a token is ignored; the end of it ends the client. */
static void test_hear(void **state)
{
	struct fixture *f = *state;
	uint8_t got[64];

	join(f);
	hear(f, 0, "garbage\n\n");
	assert_false(f->fanout.clients.v[0]->is_lost);
	feed(f, ENTRY, 0, 1, 0);
	assert_true(ftr_fanout_send(f->fanout.clients.v[0]));
	assert_false(ftr_fanout_send(f->fanout.clients.v[0]));
	assert_int_equal(read(f->peers[0], got, sizeof(got)), HEADER + 4);
	close(f->peers[--f->peer_nr]);
	ftr_fanout_hear(&f->fanout, f->fanout.clients.v[0]);
	assert_true(f->fanout.clients.v[0]->is_lost);
	ftr_fanout_remove(&f->fanout, 0);
	feed(f, ENTRY, 1, 1, 0);
}

/* ---- the control channel ---- */

static size_t put_request(uint8_t *to, uint32_t id, uint32_t len)
{
	ftr_put_u32(to, id, false);
	ftr_put_u32(to + 4, len, false);
	memset(to + 8, 'x', len);
	return 8 + len;
}

static void test_requests(void **state)
{
	struct ftr_strbuf whole, cut;
	uint8_t said[256];
	size_t len = put_request(said, FTR_SWAP_CONTROL_VERSION, 0);

	len += put_request(said + len, 4, 70);
	len += put_request(said + len, FTR_SWAP_CONTROL_TARGET_INFO, 0);
	len += put_request(said + len, FTR_SWAP_CONTROL_KEEP_ALIVE, 1);
	len += put_request(said + len, FTR_SWAP_CONTROL_START, 9);
	len += put_request(said + len, FTR_SWAP_CONTROL_STOP, 0);
	for (size_t at = 0; at <= len; at++) {
		struct ftr_swap_control one = { .head_len = 0 }, two = { .head_len = 0 };

		ftr_strbuf_init(&whole);
		ftr_strbuf_init(&cut);
		ftr_swap_control_feed(&one, said, len, &whole);
		ftr_swap_control_feed(&two, said, at, &cut);
		assert_true(at == len || !two.wants_stop);
		ftr_swap_control_feed(&two, said + at, len - at, &cut);
		assert_int_equal(whole.len, cut.len);
		assert_memory_equal(whole.s, cut.s, whole.len);
		assert_true(two.wants_start && two.wants_stop);
		ftr_strbuf_fini(&whole);
		ftr_strbuf_fini(&cut);
	}
}

static void request(struct fixture *f, uint32_t id)
{
	uint8_t said[8];

	assert_int_equal(send(f->peers[0], said, put_request(said, id, 0), 0), sizeof(said));
	ftr_fanout_hear(&f->fanout, f->fanout.clients.v[0]);
}

static void test_control(void **state)
{
	struct fixture *f = *state;
	struct ftr_fanout *fanout = &f->fanout;
	uint8_t heard[64];

	fanout->has_control = true;
	join(f);
	join(f);
	assert_true(fanout->clients.v[0]->is_control && !fanout->clients.v[1]->is_control);
	request(f, FTR_SWAP_CONTROL_START);
	assert_true(fanout->wants_start);
	feed(f, ENTRY, 0, 1, 0);
	assert_true(ftr_fanout_send(fanout->clients.v[0]));
	assert_int_equal(recv(f->peers[0], heard, sizeof(heard), 0), 12);
	assert_int_equal(ftr_get_u32(heard, false), 0x1002);
	request(f, FTR_SWAP_CONTROL_STOP);
	assert_true(fanout->clients.v[1]->is_finishing && !fanout->clients.v[0]->is_finishing);
	assert_int_equal(fanout->clients.v[1]->len, HEADER + 4);
	feed(f, ENTRY, 1, 1, 0);
	assert_int_equal(fanout->clients.v[1]->len, HEADER + 4);
	ftr_fanout_remove(fanout, 0);
	join(f);
	assert_true(fanout->clients.v[1]->is_control);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_cut_anywhere), TEST(test_late),  TEST(test_loss), TEST(test_given_up),
		TEST(test_share),
		TEST(test_damage),	 TEST(test_token), TEST(test_hear),
		TEST(test_requests),	 TEST(test_control),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
