/* SPDX-License-Identifier: MIT */
/* See backtraces.h. */
#include "utils/record/backtraces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "utils/base/hashmap.h"
#include "utils/format/uftrace/stacks.h"
#include "utils/observe/stack.h"
#include "utils/observe/unwind.h"
#include "utils/proto/stack_part.h"

#define PENDING_MAX 4u		/* of a task: handlers that interrupt each other */
#define FITTING_MAX 64u		/* that are looked at for one stack */
#define READS_MAX FTR_BIT64(20)	/* that are kept of a session; then all are forgotten */

/* A stack that is not complete yet. */
struct pending {
	struct pending *next;
	uint32_t number, len;
	uint32_t outer_at;		/* in bytes; 0 = there is no other stack */
	uint64_t outer;			/* where that begins */
	struct ftr_stack_head head;
	uint8_t bytes[2 * FTR_STACK_BYTES_MAX];
};

/* A stack that was unwound; see struct ftr_unwind_read. */
struct known {
	size_t first, nr;		/* in reads */
	uint64_t depth;			/* of the call's caller, from the stack pointer */
	uint32_t stack;
	uint32_t next;			/* of the same hash, index + 1; 0 = none */
};

struct session {
	char sid[17];
	struct ftr_space *space;	/* (owned) */
	FTR_VEC(struct known) known;
	FTR_VEC(struct ftr_unwind_read) reads;
	struct ftr_hashmap by_hash;	/* index + 1 in known of the newest */
};

struct ftr_backtraces {
	pthread_mutex_t lock;
	struct ftr_store *store;	/* (borrowed) */
	struct ftr_observer_sink sink;
	struct ftr_observer_stacks stacks;
	struct ftr_unwind_reads reads;	/* of the stack at hand */
	struct ftr_hashmap sessions;	/* by the hash of sid (owned) */
	struct ftr_hashmap pending;	/* by tid (owned), the newest first */
	struct pending *spare;		/* (owned, nullable) */
};

/* ---- what is stored ---- */

static void line_put(struct ftr_backtraces *self, const struct ftr_strbuf *line)
{
	struct iovec part = { (void *)(uintptr_t)ftr_strbuf_str(line), line->len };

	(void)self->store->ops->extra(self->store, FTR_CALL_STACKS_FILE, &part, 1);
}

static void put_frame(void *arg, uint32_t number, const struct ftr_observer_frame *frame)
{
	struct ftr_strbuf line;

	ftr_strbuf_init(&line);
	ftr_uftrace_stacks_frame(&line, number, &(struct ftr_uftrace_frame){
		.path = frame->path, .offset = frame->offset,
		.name = frame->name, .name_offset = frame->name_offset });
	line_put(arg, &line);
	ftr_strbuf_fini(&line);
}

static void put_stack(void *arg, uint32_t number, const uint32_t *frames, size_t nr)
{
	struct ftr_strbuf line;

	ftr_strbuf_init(&line);
	ftr_uftrace_stacks_stack(&line, number, frames, nr);
	line_put(arg, &line);
	ftr_strbuf_fini(&line);
}

struct ftr_backtraces *ftr_backtraces_new(struct ftr_store *store)
{
	struct ftr_backtraces *self = calloc(1, sizeof(*self));

	if (self == NULL)
		return NULL;
	pthread_mutex_init(&self->lock, NULL);
	self->store = store;
	self->sink = (struct ftr_observer_sink){ .frame = put_frame, .stack = put_stack,
						 .arg = self };
	ftr_observer_stacks_init(&self->stacks, &self->sink);
	ftr_hashmap_init(&self->sessions);
	ftr_hashmap_init(&self->pending);
	return self;
}

/* ---- what is mapped ---- */

static void known_forget(struct session *session)
{
	ftr_vec_fini(&session->known);
	ftr_vec_fini(&session->reads);
	ftr_hashmap_fini(&session->by_hash);
	ftr_hashmap_init(&session->by_hash);
}

static uint64_t sid_hash(const char *sid)
{
	return ftr_hash_bytes(sid, strlen(sid));
}

static struct session *session_find(const struct ftr_backtraces *self, const char *sid)
{
	struct session *session = ftr_hashmap_find(&self->sessions, sid_hash(sid));

	return session != NULL && strcmp(session->sid, sid) == 0 ? session : NULL;
}

static void session_free(struct session *session)
{
	known_forget(session);
	ftr_hashmap_fini(&session->by_hash);
	ftr_space_drop(session->space);
	free(session);
}

static struct session *session_new(struct ftr_backtraces *self, const char *sid)
{
	struct session *session = calloc(1, sizeof(*session));

	if (session == NULL)
		return NULL;
	snprintf(session->sid, sizeof(session->sid), "%s", sid);
	ftr_hashmap_init(&session->by_hash);
	session->space = ftr_space_new();
	if (session->space != NULL &&
	    ftr_hashmap_find(&self->sessions, sid_hash(sid)) == NULL &&
	    ftr_hashmap_set(&self->sessions, sid_hash(sid), session) == 0)
		return session;
	session_free(session);
	return NULL;
}

/* What cannot be read has no frames: stacks end there. */
void ftr_backtraces_session(struct ftr_backtraces *self, const char *sid,
			    const struct ftr_maps *maps)
{
	struct session *session;

	pthread_mutex_lock(&self->lock);
	session = session_new(self, sid);
	for (size_t i = 0; session != NULL && i < maps->ranges.nr; i++) {
		const struct ftr_maps_range *range = &maps->ranges.v[i];

		if (range->path[0] == '/')
			(void)ftr_space_map(session->space, &self->stacks.modules, range->start,
					    range->end, range->path);
	}
	pthread_mutex_unlock(&self->lock);
}

void ftr_backtraces_library(struct ftr_backtraces *self, const char *sid, uint64_t base,
			    const char *path)
{
	struct session *session;

	pthread_mutex_lock(&self->lock);
	session = session_find(self, sid);
	if (session != NULL) {
		known_forget(session);
		(void)ftr_space_map(session->space, &self->stacks.modules, base, 0, path);
	}
	pthread_mutex_unlock(&self->lock);
}

/* ---- unwinding ---- */

static uint64_t depth_of(const struct ftr_stack_copy *copy)
{
	return copy->head->outside - copy->head->regs[FTR_STACK_SP];
}

static uint64_t copy_hash(const struct ftr_stack_copy *copy)
{
	uint64_t place = copy->head->regs[FTR_STACK_IP] ^ ftr_hash_u64(depth_of(copy));

	return ftr_hash_u64(copy->head->site ^ ftr_hash_u64(place));
}

/* The number of a stack that was unwound in the same way; 0 = there is none. */
static uint32_t known_find(const struct session *session, const struct ftr_stack_copy *copy,
			   uint64_t hash)
{
	size_t index = (size_t)(uintptr_t)ftr_hashmap_find(&session->by_hash, hash);

	for (unsigned i = 0; index != 0 && i < FITTING_MAX; i++) {
		const struct known *known = &session->known.v[index - 1];

		if (known->depth == depth_of(copy) &&
		    ftr_unwind_reads_fit(&session->reads.v[known->first], known->nr, copy))
			return known->stack;
		index = known->next;
	}
	return 0;
}

static void known_add(struct session *session, const struct ftr_stack_copy *copy, uint64_t hash,
		      const struct ftr_unwind_reads *reads, uint32_t stack)
{
	size_t nr = reads->all.nr;
	struct known known = { .nr = nr, .depth = depth_of(copy), .stack = stack };

	if (reads->has_failed)
		return;
	if (session->reads.nr + nr > READS_MAX)
		known_forget(session);
	known.first = session->reads.nr;
	known.next = (uint32_t)(uintptr_t)ftr_hashmap_find(&session->by_hash, hash);
	if (ftr_vec_reserve(&session->reads, session->reads.nr + nr) < 0 ||
	    ftr_vec_push(&session->known, known) < 0)
		return;
	memcpy(&session->reads.v[session->reads.nr], reads->all.v,
	       nr * sizeof(session->reads.v[0]));
	session->reads.nr += nr;
	(void)ftr_hashmap_set(&session->by_hash, hash, (void *)(uintptr_t)session->known.nr);
}

static bool is_own(const struct ftr_space *space, uint64_t ip)
{
	const struct ftr_space_range *range = ftr_space_find(space, ip);
	const char *slash = range != NULL ? strrchr(range->module->path, '/') : NULL;

	return slash != NULL && strcmp(slash, "/libmcount.so") == 0;
}

static uint32_t stack_number(struct ftr_backtraces *self, struct session *session,
			     const struct ftr_stack_copy *copy)
{
	uint64_t hash = copy_hash(copy), ips[FTR_STACK_COPY_FRAMES_MAX];
	uint32_t number = known_find(session, copy, hash);
	size_t nr, kept = 0;

	if (number != 0)
		return number;
	self->reads.all.nr = 0;
	self->reads.has_failed = false;
	nr = ftr_unwind_copy(session->space, copy, &self->reads, ips, FTR_STACK_COPY_FRAMES_MAX);
	for (size_t i = 0; i < nr; i++) {
		if (!is_own(session->space, ips[i]))
			ips[kept++] = ips[i];
	}
	if (kept > 0)
		number = ftr_observer_stack_intern(&self->stacks, session->space, NULL, ips, kept);
	if (number != 0)
		known_add(session, copy, hash, &self->reads, number);
	return number;
}

/* ---- parts ---- */

static void pending_release(struct ftr_backtraces *self, struct pending *pending)
{
	free(self->spare);
	self->spare = pending;
}

/* Take what begins at *@link off the list. */
static void pending_drop(struct ftr_backtraces *self, struct pending **link)
{
	while (*link != NULL) {
		struct pending *pending = *link;

		*link = pending->next;
		pending_release(self, pending);
	}
}

static void head_take(struct ftr_backtraces *self, struct pending **list,
		      const struct ftr_stack_part *part, const uint8_t *bytes, size_t len)
{
	struct pending **link = list, *pending = self->spare;

	for (unsigned i = 1; *link != NULL && i < PENDING_MAX; i++)
		link = &(*link)->next;
	pending_drop(self, link);	/* of handlers that left by a jump */
	self->spare = NULL;
	if (pending == NULL)
		pending = malloc(sizeof(*pending));
	if (pending == NULL || len < sizeof(pending->head)) {
		free(pending);
		return;
	}
	pending->number = part->number;
	pending->len = pending->outer_at = 0;
	memcpy(&pending->head, bytes, sizeof(pending->head));
	pending->next = *list;
	*list = pending;
}

static void pending_take_off(struct ftr_backtraces *self, struct pending **link)
{
	struct pending *pending = *link;

	*link = pending->next;
	pending_release(self, pending);
}

/* False: it does not belong there, since parts were lost. */
static bool part_add(struct pending *pending, const struct ftr_stack_part *part,
		     const uint8_t *bytes, size_t len)
{
	if (part->offset != pending->len || len > sizeof(pending->bytes) - pending->len)
		return false;
	if ((part->flags & FTR_STACK_PART_OUTER) != 0) {
		if (len != sizeof(pending->outer) || pending->outer_at != 0)
			return false;
		memcpy(&pending->outer, bytes, len);
		pending->outer_at = pending->len;
		return true;
	}
	memcpy(pending->bytes + pending->len, bytes, len);
	pending->len += (uint32_t)len;
	return true;
}

static struct ftr_stack_copy copy_of(const struct pending *pending)
{
	struct ftr_stack_copy copy = { .head = &pending->head, .bytes = pending->bytes,
				       .len = pending->len };

	if (pending->outer_at == 0)
		return copy;
	copy.len = pending->outer_at;
	copy.outer = pending->outer;
	copy.outer_bytes = pending->bytes + pending->outer_at;
	copy.outer_len = pending->len - pending->outer_at;
	return copy;
}

/* The number of the stack that is complete now; 0 = none, or it cannot be said. */
static uint32_t part_take(struct ftr_backtraces *self, const struct ftr_store_task *task,
			  struct pending **list, const uint8_t *payload, size_t len)
{
	struct session *session = session_find(self, task->sid);
	struct pending **link = list;
	struct ftr_stack_part part;
	struct ftr_stack_copy copy;
	uint32_t number = 0;

	if (len < sizeof(part))
		return 0;
	memcpy(&part, payload, sizeof(part));
	payload += sizeof(part);
	len -= sizeof(part);
	if ((part.flags & FTR_STACK_PART_HEAD) != 0) {
		head_take(self, list, &part, payload, len);
		return 0;
	}
	while (*link != NULL && (*link)->number != part.number)
		link = &(*link)->next;
	if (*link == NULL)
		return 0;
	if (part_add(*link, &part, payload, len)) {
		if ((part.flags & FTR_STACK_PART_LAST) == 0)
			return 0;
		copy = copy_of(*link);
		if (session != NULL)
			number = stack_number(self, session, &copy);
	}
	pending_take_off(self, link);
	return number;
}

/* ---- records ---- */

static size_t record_bytes(const uint8_t *record, uint16_t *payload_bytes)
{
	size_t bytes = sizeof(struct ftr_record) + sizeof(*payload_bytes);

	memcpy(payload_bytes, record + sizeof(struct ftr_record), sizeof(*payload_bytes));
	bytes += *payload_bytes;
	return (bytes + FTR_RECORD_FILE_ALIGN - 1) / FTR_RECORD_FILE_ALIGN * FTR_RECORD_FILE_ALIGN;
}

/* At @to, of the time and depth of @part; returns its bytes, which are no more than a part's. */
static size_t event_put(uint8_t *to, struct ftr_record part, uint64_t number)
{
	struct ftr_record record = {
		part.time, ftr_record_word(FTR_RECORD_EVENT, ftr_record_depth(part.word),
					   FTR_RECORD_EVENT_BACKTRACE) | FTR_RECORD_MORE,
	};
	uint16_t bytes = sizeof(number);

	memset(to, 0, sizeof(record) + 2 * sizeof(number));
	memcpy(to, &record, sizeof(record));
	memcpy(to + sizeof(record), &bytes, sizeof(bytes));
	memcpy(to + sizeof(record) + sizeof(bytes), &number, sizeof(number));
	return sizeof(record) + 2 * sizeof(number);
}

static struct pending **pending_list(struct ftr_backtraces *self, int32_t tid)
{
	struct pending **list = ftr_hashmap_find(&self->pending, (uint32_t)tid);

	if (list != NULL)
		return list;
	list = calloc(1, sizeof(*list));
	if (list != NULL && ftr_hashmap_set(&self->pending, (uint32_t)tid, list) < 0) {
		free(list);
		list = NULL;
	}
	return list;
}

void ftr_backtraces_take(struct ftr_backtraces *self, const struct ftr_store_task *task,
			 uint8_t *records, size_t *len, uint64_t *record_nr)
{
	const uint8_t *end = records + *len;
	uint8_t *from = records, *to = records;
	struct pending **list;
	uint16_t payload_bytes;

	pthread_mutex_lock(&self->lock);
	list = pending_list(self, task->tid);
	for (size_t bytes; from < end; from += bytes) {
		uint8_t *payload = from + sizeof(struct ftr_record) + sizeof(payload_bytes);
		struct ftr_record record;
		uint32_t number = 0;

		bytes = record_bytes(from, &payload_bytes);
		memcpy(&record, from, sizeof(record));
		if (ftr_record_addr(record.word) != FTR_RECORD_EVENT_STACK_PART) {
			memmove(to, from, bytes);
			to += bytes;
			continue;
		}
		if (list != NULL)
			number = part_take(self, task, list, payload, payload_bytes);
		if (number != 0)
			to += event_put(to, record, number);
		*record_nr -= number == 0;
	}
	*len = (size_t)(to - records);
	pthread_mutex_unlock(&self->lock);
}

void ftr_backtraces_free(struct ftr_backtraces *self)
{
	const struct ftr_hashmap_slot *slot;
	size_t pos = 0;

	if (self == NULL)
		return;
	while ((slot = ftr_hashmap_next(&self->pending, &pos)) != NULL) {
		pending_drop(self, slot->value);
		free(slot->value);
	}
	for (pos = 0; (slot = ftr_hashmap_next(&self->sessions, &pos)) != NULL;)
		session_free(slot->value);
	ftr_hashmap_fini(&self->pending);
	ftr_hashmap_fini(&self->sessions);
	ftr_observer_stacks_fini(&self->stacks);
	ftr_vec_fini(&self->reads.all);
	free(self->spare);
	pthread_mutex_destroy(&self->lock);
	free(self);
}
