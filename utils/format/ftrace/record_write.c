/* SPDX-License-Identifier: MIT */
/* Records of the kernel's ring buffer, and their formats, for writers (record_write.h). */
#include "utils/format/ftrace/record_write.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "utils/base/bits.h"
#include "utils/base/bytes.h"
#include "utils/base/text.h"
#include "utils/format/ftrace/page_layout.h"
#include "utils/trace/event.h"
#include "utils/trace/task.h"
#include "utils/trace/tracepoint.h"

/* What all records begin with. */
struct common {
	uint16_t type;
	uint8_t  flags;
	uint8_t  preempt_count;
	int32_t  pid;
};

struct entry_record {
	struct common common;
	uint64_t func;
	int32_t  depth;
	uint32_t padding;
};

struct exit_record {
	struct common common;
	uint64_t func;
	int32_t  depth;
	uint32_t overrun;
	uint64_t start_ns, end_ns;
};

struct text_record {
	struct common common;
	uint32_t text_at;	/* ftr_kpage_dynamic */
	char	 text[FTR_KBUF_RECORD_MAX - sizeof(struct common) - sizeof(uint32_t)];
};

#define TEXT_MAX (sizeof(((struct text_record *)0)->text) - 1)

/* ---- tracepoints ---- */

static bool id_is_taken(const struct ftr_krec_names *names, uint64_t id)
{
	return names->ids[id / 8] & FTR_BIT(id % 8);
}

static void id_take(struct ftr_krec_names *names, uint64_t id)
{
	names->ids[id / 8] |= (uint8_t)FTR_BIT(id % 8);
}

static bool is_word(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if ((s[i] < 'a' || s[i] > 'z') && (s[i] < 'A' || s[i] > 'Z') &&
		    (s[i] < '0' || s[i] > '9') && s[i] != '_')
			return false;
	}
	return len > 0;
}

/* "SYSTEM:NAME" of which a path and a format can be made. */
static bool name_is_fit(const struct ftr_str *name)
{
	const char *colon = strchr(name->s, ':');

	return colon != NULL && is_word(name->s, (size_t)(colon - name->s)) &&
	       is_word(colon + 1, strlen(colon + 1));
}

/* The tracepoint's own id, unless it is another's; 0 when none is left. */
static uint16_t id_choose(struct ftr_krec_names *names, uint64_t id)
{
	if (id > FTR_KREC_ID_MAX || id_is_taken(names, id)) {
		while (names->id_next > 0 && id_is_taken(names, names->id_next))
			names->id_next--;
		id = names->id_next;
	}
	id_take(names, id);
	return (uint16_t)id;
}

void ftr_krec_names_init(struct ftr_krec_names *names)
{
	*names = (struct ftr_krec_names){ .id_next = FTR_KREC_ID_OWN_MAX };
	ftr_strpool_init(&names->names);
	ftr_hashmap_init(&names->kept_by_key);
	id_take(names, 0);
	id_take(names, FTR_KREC_ID_EXIT);
	id_take(names, FTR_KREC_ID_ENTRY);
}

void ftr_krec_names_fini(struct ftr_krec_names *names)
{
	ftr_vec_fini(&names->tracepoints);
	ftr_vec_fini(&names->kept);
	ftr_hashmap_fini(&names->kept_by_key);
	ftr_strpool_fini(&names->names);
}

int ftr_krec_id(struct ftr_krec_names *names, const char *text, uint64_t id)
{
	const struct ftr_str *name = ftr_strpool_get(&names->names, text, strlen(text));
	struct ftr_krec_tracepoint added;

	if (name == NULL)
		return -ENOMEM;
	if (name->id < names->tracepoints.nr)
		return names->tracepoints.v[name->id].id;
	added = (struct ftr_krec_tracepoint){ name, name_is_fit(name) ? id_choose(names, id) : 0 };
	return ftr_vec_push(&names->tracepoints, added) < 0 ? -ENOMEM : added.id;
}

static bool is_of_call(const struct ftr_tracepoint *tracepoint)
{
	return strcmp(tracepoint->name, FTR_KREC_NAME_ENTRY) == 0 ||
	       strcmp(tracepoint->name, FTR_KREC_NAME_EXIT) == 0;
}

/* The same kind of event in another trace; its number.  SIZE_MAX: there is none. */
static size_t kept_find(const struct ftr_krec_names *names, const struct ftr_tracepoint *tracepoint)
{
	for (size_t i = 0; i < names->kept.nr; i++) {
		const struct ftr_tracepoint *other = names->kept.v[i].tracepoint;

		if (strcmp(other->name, tracepoint->name) == 0 &&
		    ftr_slice_same(other->format, tracepoint->format))
			return i;
	}
	return SIZE_MAX;
}

/* Calls that are kept and calls that we make are not in one file: they may have one id. */
static uint16_t kept_id_choose(struct ftr_krec_names *names,
			       const struct ftr_tracepoint *tracepoint)
{
	if ((tracepoint->id == FTR_KREC_ID_ENTRY || tracepoint->id == FTR_KREC_ID_EXIT) &&
	    is_of_call(tracepoint))
		return tracepoint->id;
	return id_choose(names, tracepoint->id);
}

bool ftr_krec_keeps_calls(const struct ftr_krec_names *names)
{
	for (size_t i = 0; i < names->kept.nr; i++) {
		if (is_of_call(names->kept.v[i].tracepoint))
			return true;
	}
	return false;
}

int ftr_krec_kept_id(struct ftr_krec_names *names, const struct ftr_tracepoint *tracepoint)
{
	const uint64_t key = (uintptr_t)tracepoint;
	struct ftr_krec_kept *recent = &names->recent[tracepoint->id % FTR_KREC_RECENT_NR];
	size_t at;

	if (recent->tracepoint == tracepoint)
		return recent->id;
	at = (uintptr_t)ftr_hashmap_find(&names->kept_by_key, key);
	if (at > 0) {
		*recent = (struct ftr_krec_kept){ tracepoint, names->kept.v[at - 1].id };
		return recent->id;
	}
	at = kept_find(names, tracepoint);
	if (at == SIZE_MAX) {
		const struct ftr_krec_kept kept = { tracepoint, kept_id_choose(names, tracepoint) };

		at = names->kept.nr;
		if (ftr_vec_push(&names->kept, kept) < 0)
			return -ENOMEM;
	}
	if (ftr_hashmap_set(&names->kept_by_key, key, (void *)(uintptr_t)(at + 1)) < 0)
		return -ENOMEM;
	return names->kept.v[at].id;
}

/* ---- records ---- */

static struct common common_of(int32_t tid, uint32_t id)
{
	return (struct common){ .type = (uint16_t)id, .pid = tid };
}

void ftr_krec_call(struct ftr_krec *rec, const struct ftr_event *ev, uint64_t addr, uint32_t depth)
{
	const struct entry_record entry = {
		.common = common_of(ev->task->tid, FTR_KREC_ID_ENTRY),
		.func = addr, .depth = (int32_t)depth,
	};
	const struct exit_record exit = {
		.common = common_of(ev->task->tid, FTR_KREC_ID_EXIT),
		.func = addr, .depth = (int32_t)depth,
		.start_ns = ev->call.start_ns, .end_ns = ev->time_ns,
	};

	if (ev->type == FTR_EVENT_ENTRY) {
		memcpy(rec->bytes, &entry, sizeof(entry));
		rec->len = sizeof(entry);
	} else {
		memcpy(rec->bytes, &exit, sizeof(exit));
		rec->len = sizeof(exit);
	}
}

/* How much of the text fits, up to a character's end. */
static size_t text_fit(const char *text, size_t len)
{
	size_t fit = strnlen(text, len < TEXT_MAX ? len : TEXT_MAX);

	if (fit < TEXT_MAX || fit == len)
		return fit;
	for (size_t i = 1; i < 4; i++) {
		if (ftr_utf8_char(text + fit - i, len - fit + i) > i)
			return fit - i;
	}
	return fit;
}

bool ftr_krec_text(struct ftr_krec *rec, int32_t tid, uint32_t id, const char *text, size_t len)
{
	const size_t head = offsetof(struct text_record, text);
	struct text_record *record = (struct text_record *)rec->bytes;
	size_t fit = len == 0 ? 0 : text_fit(text, len);

	if (fit > 0)
		memcpy(record->text, text, fit);
	record->text[fit] = '\0';
	record->common = common_of(tid, id);
	record->text_at = ftr_kpage_dynamic((uint32_t)head, (uint32_t)fit + 1);
	rec->len = (uint32_t)(head + fit + 1);
	return fit == len;
}

void ftr_krec_keep(struct ftr_krec *rec, const uint8_t *data, uint32_t len, uint32_t id,
		   bool is_big)
{
	memcpy(rec->bytes, data, len);
	ftr_put_u16(rec->bytes + offsetof(struct common, type), (uint16_t)id, is_big);
	rec->len = len;
}

void ftr_krec_swap_text(struct ftr_krec *rec)
{
	struct text_record *record = (struct text_record *)rec->bytes;

	ftr_put_u16(&record->common.type, record->common.type, !FTR_HOST_IS_BIG);
	ftr_put_u32(&record->common.pid, (uint32_t)record->common.pid, !FTR_HOST_IS_BIG);
	ftr_put_u32(&record->text_at, record->text_at, !FTR_HOST_IS_BIG);
}

/* ---- formats ---- */

static const char common_format[] =
	"format:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
	"\n";

static const char entry_format[] =
	"\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\n"
	"print fmt: \"--> %ps (%d)\", (void *)REC->func, REC->depth\n";

static const char exit_format[] =
	"\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\tfield:unsigned int overrun;\toffset:20;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned long long calltime;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long long rettime;\toffset:32;\tsize:8;\tsigned:0;\n"
	"\n"
	"print fmt: \"<-- %ps (%d) (start: %llx  end: %llx) over: %u\", (void *)REC->func, REC->depth, "
	"REC->calltime, REC->rettime, REC->overrun\n";

static const char text_format[] =
	"\tfield:__data_loc char[] text;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\n"
	"print fmt: \"%s\", __get_str(text)\n";

static const char *fields_of(uint32_t id)
{
	switch (id) {
	case FTR_KREC_ID_ENTRY:
		return entry_format;
	case FTR_KREC_ID_EXIT:
		return exit_format;
	default:
		return text_format;
	}
}

/*
 * libtraceevent looks for the fields of the kernel's own bprint wherever one is called so, and ends
 * the program that has none.  With a text it is the kernel's print.
 */
static const char *name_of(const char *name, uint32_t id)
{
	if (fields_of(id) == text_format && strcmp(name, "ftrace:bprint") == 0)
		return "print";
	return strchr(name, ':') + 1;
}

void ftr_krec_put_format(struct ftr_strbuf *text, const char *name, uint32_t id)
{
	ftr_strbuf_printf(text, "name: %s\nID: %u\n%s%s", name_of(name, id), id, common_format,
			  fields_of(id));
}

void ftr_krec_put_kept_format(struct ftr_strbuf *text, const struct ftr_krec_kept *kept)
{
	struct ftr_slice rest = kept->tracepoint->format, name, id;

	if (kept->id == kept->tracepoint->id) {
		ftr_strbuf_put(text, rest.s, rest.len);
		return;
	}
	ftr_slice_split(&rest, '\n', &name);
	ftr_slice_split(&rest, '\n', &id);
	ftr_strbuf_printf(text, "%.*s\nID: %u\n", (int)name.len, name.s, kept->id);
	ftr_strbuf_put(text, rest.s, rest.len);
}

void ftr_krec_put_header_page(struct ftr_strbuf *text, unsigned long_bytes)
{
	const unsigned data_at = FTR_KPAGE_COMMIT_OFFSET + long_bytes;

	ftr_strbuf_printf(text,
			  "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
			  "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
			  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
			  "\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:1;\n",
			  long_bytes, data_at, FTR_KBUF_PAGE_BYTES - data_at);
}
