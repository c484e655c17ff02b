/* SPDX-License-Identifier: MIT */
/* See swap_control.h. */
#include "utils/remote/swap_control.h"

#include <string.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "utils/base/bytes.h"

#define REPLY 0x1000u	/* added to a request's id */

/* ---- replies ---- */

static void put_u32(struct ftr_strbuf *to, uint32_t number)
{
	uint8_t bytes[4];

	ftr_put_u32(bytes, number, false);
	ftr_strbuf_put(to, bytes, sizeof(bytes));
}

static void put_u64(struct ftr_strbuf *to, uint64_t number)
{
	uint8_t bytes[8];

	ftr_put_u64(bytes, number, false);
	ftr_strbuf_put(to, bytes, sizeof(bytes));
}

static void put_text(struct ftr_strbuf *to, const char *text)
{
	ftr_strbuf_put(to, text, strlen(text) + 1);
}

static void put_version(struct ftr_strbuf *to)
{
	put_text(to, "ftr " FTR_VERSION);
}

/* The devices are those of SYSTEM messages. */
static void put_target_info(struct ftr_strbuf *to)
{
	static const char *const devices[] = { "FLASH", "CPU", "LCD" };
	const size_t device_nr = sizeof(devices) / sizeof(devices[0]);
	long cpu_nr = sysconf(_SC_NPROCESSORS_ONLN);
	struct sysinfo memory = { 0 };
	struct statvfs disk = { 0 };

	(void)sysinfo(&memory);		/* what cannot be had is zero */
	(void)statvfs("/", &disk);
	put_u64(to, (uint64_t)memory.totalram * memory.mem_unit);
	put_u64(to, (uint64_t)disk.f_blocks * disk.f_frsize);
	for (unsigned i = 0; i < 4; i++)
		put_u32(to, 0);		/* radios, places and cameras of phones */
	put_text(to, "");		/* of which network */
	put_u32(to, 0);			/* the brightest that the screen can be */
	put_u32(to, cpu_nr < 1 ? 1 : (uint32_t)cpu_nr);
	put_u32(to, (uint32_t)device_nr);
	for (size_t i = 0; i < device_nr; i++)
		put_text(to, devices[i]);
}

struct request {
	uint32_t id;
	bool may_have_payload;			/* nothing in it is needed */
	void (*put)(struct ftr_strbuf *to);	/* (nullable) behind the result */
};

static const struct request requests[] = {
	{ .id = FTR_SWAP_CONTROL_VERSION, .put = put_version },
	{ .id = FTR_SWAP_CONTROL_START, .may_have_payload = true },
	{ .id = FTR_SWAP_CONTROL_STOP },
	{ .id = FTR_SWAP_CONTROL_TARGET_INFO, .put = put_target_info },
	{ .id = FTR_SWAP_CONTROL_KEEP_ALIVE },
};

static const struct request *request_find(uint32_t id)
{
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		if (requests[i].id == id)
			return &requests[i];
	}
	return NULL;
}

static void reply(struct ftr_strbuf *replies, uint32_t id, enum ftr_swap_control_result result,
		  const struct request *request)
{
	struct ftr_strbuf payload;

	ftr_strbuf_init(&payload);
	put_u32(&payload, (uint32_t)result);
	if (result == FTR_SWAP_CONTROL_OK && request->put != NULL)
		request->put(&payload);
	put_u32(replies, id + REPLY);
	put_u32(replies, (uint32_t)payload.len);
	ftr_strbuf_put(replies, ftr_strbuf_str(&payload), payload.len);
	replies->failed |= payload.failed;
	ftr_strbuf_fini(&payload);
}

/* ---- requests ---- */

/* It is there to its last byte. */
static void request_take(struct ftr_swap_control *control, struct ftr_strbuf *replies)
{
	const struct request *request = request_find(control->id);
	enum ftr_swap_control_result result = FTR_SWAP_CONTROL_OK;

	if (request == NULL)
		result = FTR_SWAP_CONTROL_TYPE;
	else if (control->has_payload && !request->may_have_payload)
		result = FTR_SWAP_CONTROL_FORMAT;
	if (result == FTR_SWAP_CONTROL_OK) {
		control->wants_start |= control->id == FTR_SWAP_CONTROL_START;
		control->wants_stop |= control->id == FTR_SWAP_CONTROL_STOP;
	}
	reply(replies, control->id, result, request);
	control->head_len = 0;
}

void ftr_swap_control_feed(struct ftr_swap_control *control, const void *bytes, size_t len,
		      struct ftr_strbuf *replies)
{
	const uint8_t *from = bytes;
	size_t taken;

	while (len > 0) {
		bool is_head = control->head_len < FTR_SWAP_CONTROL_HEADER_BYTES;
		size_t lacks = is_head ? FTR_SWAP_CONTROL_HEADER_BYTES - control->head_len :
					 control->unread;

		taken = lacks < len ? lacks : len;
		if (is_head) {
			memcpy(control->head + control->head_len, from, taken);
			control->head_len += taken;
		} else {
			control->unread -= (uint32_t)taken;
		}
		from += taken;
		len -= taken;
		if (is_head && control->head_len == FTR_SWAP_CONTROL_HEADER_BYTES) {
			control->id = ftr_get_u32(control->head, false);
			control->unread = ftr_get_u32(control->head + 4, false);
			control->has_payload = control->unread > 0;
		}
		if (control->head_len == FTR_SWAP_CONTROL_HEADER_BYTES && control->unread == 0)
			request_take(control, replies);
	}
}
