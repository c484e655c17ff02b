/* SPDX-License-Identifier: MIT */
/*
 * Reading TID.dat from a mark of its index on: first those records before it that say what is open
 * there, and of the side events before it the last of each kind, which says what is half, then on
 * from the mark.
 */
#include <errno.h>
#include <stdlib.h>

#include "utils/format/uftrace/read_index.h"

#define STEP_BYTES FTR_KIB(256)

struct uft_prefix {
	struct uft_sides_kept sides;
	size_t pos, nr;
	uint64_t places[];	/* of records in TID.dat */
};

size_t uft_index_step(const struct uft_reader *reader)
{
	return reader->trace->index_bytes != 0 ? reader->trace->index_bytes : STEP_BYTES;
}

/* Is there, at each place, what the index says?  0, -EBADMSG or -ENOMEM. */
static int prefix_check(const struct uft_data *self, const struct uft_prefix *prefix,
			const struct uft_mark *mark)
{
	struct uft_pins pins = { .packed = self->pins.packed };
	uint32_t depth = mark->inherited_nr;
	uint64_t last_ns = 0, next = 0;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < prefix->nr; i++) {
		uint64_t place = prefix->places[i], word, time_ns;
		const uint8_t *p = self->in->data + place;

		if (place % 8 != 0 || place < next || place > self->in->size - UFT_RECORD_BYTES) {
			ret = -EBADMSG;
			break;
		}
		next = place + UFT_RECORD_BYTES;
		ret = uft_pins_need(&pins, place, next);
		if (ret < 0)
			break;
		uft_pins_pass(&pins, place);
		word = uft_record_word(self, p);
		time_ns = uft_record_time(self, p);
		if (!uft_word_is_record(word) || time_ns < last_ns ||
		    (ftr_record_type(word) != FTR_RECORD_ENTRY &&
		     (ftr_record_type(word) != FTR_RECORD_EVENT || i == prefix->nr - 1)))
			ret = -EBADMSG;
		else if (ftr_record_type(word) == FTR_RECORD_ENTRY &&
			 ftr_record_depth(word) != FTR_RECORD_DEPTH_MAX &&
			 ftr_record_depth(word) != depth)
			ret = -EBADMSG;
		depth += ftr_record_type(word) == FTR_RECORD_ENTRY;
		last_ns = time_ns;
	}
	uft_pins_release(&pins);
	return ret == 0 && last_ns != mark->time_ns ? -EBADMSG : ret;
}

int uft_prefix_set(struct uft_data *self, const struct uft_index *index,
		   const struct uft_mark *mark)
{
	size_t nr = uft_mark_place_nr(mark);
	struct uft_prefix *prefix = malloc(sizeof(*prefix) + nr * sizeof(*prefix->places));
	int ret;

	if (prefix == NULL)
		return -ENOMEM;
	*prefix = (struct uft_prefix){ .nr = nr };
	uft_index_places(index, mark, prefix->places);
	ret = prefix_check(self, prefix, mark);
	if (ret < 0) {
		free(prefix);
		return ret;
	}
	self->prefix = prefix;
	self->inherit_nr = mark->inherited_nr;
	self->p = self->in->data + prefix->places[0];
	if (uft_sides_pass(self->data, mark->time_ns, &prefix->sides) < 0)
		return -ENOMEM;
	uft_data_side_at(self, uft_sides_next(&prefix->sides, SIZE_MAX));
	return 0;
}

size_t uft_prefix_side(struct uft_data *self)
{
	return uft_sides_next(&self->prefix->sides, self->side_pos);
}

bool uft_prefix_step(struct uft_data *self)
{
	struct uft_prefix *prefix = self->prefix;

	if (self->p == self->in->data + prefix->places[prefix->pos])
		return false;	/* a side event came first */
	if (++prefix->pos < prefix->nr)
		self->p = self->in->data + prefix->places[prefix->pos];
	else
		uft_prefix_drop(self);
	return true;
}

void uft_prefix_drop(struct uft_data *self)
{
	if (self->prefix != NULL)
		ftr_vec_fini(&self->prefix->sides);
	free(self->prefix);
	self->prefix = NULL;
}

/* Is it worth it, and can it be done? */
static bool is_worth_it(const struct uft_data *self)
{
	return self->seek.from_ns > self->data->first_ns && self->data->may_seek &&
	       !self->estimate.is_on && self->in->size >= 2 * uft_index_step(self->reader);
}

static int index_get(struct uft_index *index, struct uft_data *self, struct ftr_err *err)
{
	struct uft_reader *reader = self->reader;
	uint64_t seen_ns;
	int ret;

	if (uft_index_load(index, reader, self->data) < 0 ||
	    index->inherited_nr != self->inherit_nr) {
		uft_index_fini(index);
		index->inherited_nr = self->inherit_nr;
	}
	seen_ns = index->seen_ns;
	if (index->is_final || seen_ns >= self->seek.from_ns || !uft_index_can_store(reader))
		return 0;
	ret = uft_index_make(index, reader, self->data, &self->seek, err);
	if (ret == 0 && index->seen_ns > seen_ns)
		uft_index_store(index, reader, self->data);
	return ret;
}

/* The functions of calls that are passed over. */
static int funcs_load(const struct uft_data *self, const struct uft_index *index,
		      const struct uft_mark *mark)
{
	for (size_t i = 0; i < index->called.nr && index->called.v[i].time_ns <= mark->time_ns;
	     i++) {
		if (uft_called_func(&index->called.v[i], self->reader, self->data) == NULL)
			return -ENOMEM;
	}
	return 0;
}

int uft_data_seek(struct uft_data *self, struct ftr_err *err)
{
	struct uft_index index = { 0 };
	const struct uft_mark *mark;
	int ret;

	if (!is_worth_it(self))
		return 0;
	ret = index_get(&index, self, err);
	mark = ret == 0 ? uft_index_find(&index, self->seek.from_ns) : NULL;
	if (mark != NULL &&
	    ((self->seek.wants_funcs && funcs_load(self, &index, mark) < 0) ||
	     uft_prefix_set(self, &index, mark) == -ENOMEM))
		ret = ftr_err_set(err, ENOMEM, "%s: out of memory", self->in->name);
	uft_index_fini(&index);
	return ret;
}
