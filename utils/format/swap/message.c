/* SPDX-License-Identifier: MIT */
/* The table of messages. */
#include "utils/format/swap/message.h"

#include <string.h>

#define FIELD(name_, kind_, ...) { .name = (name_), .kind = SWAP_##kind_, ##__VA_ARGS__ }
#define U8(name_)	   FIELD(name_, U8)
#define U32(name_)	   FIELD(name_, U32)
#define U64(name_)	   FIELD(name_, U64)
#define ADDR(name_)	   FIELD(name_, ADDR)
#define FLOAT(name_)	   FIELD(name_, FLOAT)
#define DOUBLE(name_)	   FIELD(name_, DOUBLE)
#define TIME(name_)	   FIELD(name_, TIME)
#define STR(name_)	   FIELD(name_, STR)
#define ARG(name_)	   FIELD(name_, ARG)
#define ARGS(name_)	   FIELD(name_, ARGS)
#define PER_CPU(name_)	   FIELD(name_, PER_CPU)
#define PER_DEVICE(name_)  FIELD(name_, PER_DEVICE)
#define BYTES(name_)	   FIELD(name_, BYTES)
#define REST(name_)	   FIELD(name_, REST)
#define LIST(name_, rows_) FIELD(name_, LIST, .rows = (rows_))
#define MORE(name_, rows_) FIELD(name_, MORE, .rows = (rows_))
#define ENUM(name_, words_)   FIELD(name_, U32, .words = (words_))
#define SELECT(name_, words_) FIELD(name_, U32, .words = (words_), .is_selector = 1)
/* Only there when the selector has one of these values: bits. */
#define STR_WHEN(name_, mask_)	FIELD(name_, STR, .when = (mask_))
#define U32_WHEN(name_, mask_)	FIELD(name_, U32, .when = (mask_))
#define U64_WHEN(name_, mask_)	FIELD(name_, U64, .when = (mask_))
#define ENUM_WHEN(name_, words_, mask_) FIELD(name_, U32, .words = (words_), .when = (mask_))

#define FILE_EVENTS                                                                         \
	"open close read_start read_end write_start write_end directory permissions other " \
	"send receive option manage - lock_start lock_end lock_release"

/* What all messages of probes begin with. */
#define PROBE_COMMON                                                                       \
	U32("api"), U32("pid"), U32("tid"), ARGS("args"), ARG("return"), U64("errno"),     \
	ENUM("call_type", "external internal"), ADDR("caller"), U32("reserved"),           \
	U32("reserved2")

#define SWAP_MESSAGE(id_, name_, what_, ...) \
	static const struct swap_field fields_##name_[] = { __VA_ARGS__ };
#include "utils/format/swap/messages.def"
#undef SWAP_MESSAGE

#define SWAP_MESSAGE(id_, name_, what_, ...)                                       \
	{ (id_), #name_, "swap:" #name_, (what_), fields_##name_,                  \
	  sizeof(fields_##name_) / sizeof(fields_##name_[0]) },
static const struct swap_message messages[] = {
#include "utils/format/swap/messages.def"
};
#undef SWAP_MESSAGE

#define MESSAGE_NR (sizeof(messages) / sizeof(messages[0]))

static const struct swap_field fields_unknown[] = { U32("id"), REST("data") };

const struct swap_message swap_message_unknown = {
	0, "UNKNOWN", "swap:UNKNOWN", "not in the table", fields_unknown, 2,
};

const struct swap_message *swap_message_find(uint32_t id)
{
	size_t low = 0, high = MESSAGE_NR;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (messages[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low < MESSAGE_NR && messages[low].id == id ? &messages[low] : NULL;
}

const struct swap_message *swap_message_by_name(const char *name, size_t len)
{
	for (size_t i = 0; i < MESSAGE_NR; i++) {
		if (strlen(messages[i].name) == len && memcmp(messages[i].name, name, len) == 0)
			return &messages[i];
	}
	return NULL;
}

const struct swap_message *swap_message_next(size_t *pos)
{
	return *pos < MESSAGE_NR ? &messages[(*pos)++] : NULL;
}

const char *swap_message_next_name(size_t *pos)
{
	const struct swap_message *message = swap_message_next(pos);

	return message != NULL ? message->name : NULL;
}

const char *swap_word_find(const char *words, uint64_t value, size_t *len)
{
	while (words != NULL && value > 0) {
		words = strchr(words, ' ');
		if (words != NULL)
			words++;
		value--;
	}
	if (words == NULL || words[0] == '-')
		return NULL;
	*len = strcspn(words, " ");
	return words;
}
