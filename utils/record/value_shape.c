/* SPDX-License-Identifier: MIT */
/* See value_shape.h. */
#include "utils/record/value_shape.h"

#include <errno.h>

#include "utils/record/shape_words.h"

#define WORD 8u
#define VALUE_BYTES_MAX 320u		/* of one value, with all that it leads to */
#define TEXT_BYTES 32u			/* room for a text */
#define BLOCK_BYTES_MAX 160u		/* of what one pointer leads to */
#define ELEMENTS_MAX 16u		/* as many as are shown */
#define ELEMENT_TEXTS_MAX 4u
#define STD_STRING_BYTES 32u
#define LIBCXX_STRING_BYTES 24u
#define PLACE_BYTES 32u			/* of a place in pieces */
#define PATH_MAX_NR 8u			/* pointers on the way to a block */

/* A text that elements have. */
struct element_text {
	const struct ftr_type *type;
	uint32_t offset, room;
};

/* A value while it is made: where its pointers lead, and how long it is so far. */
struct maker {
	struct ftr_value_shapes *shapes;
	const struct ftr_parameter *value;
	uint16_t path[PATH_MAX_NR];	/* offsets of the pointers on the way */
	unsigned path_nr;
	uint32_t bytes;			/* of the value */
	uint32_t block_bytes;		/* of the block that is being described */
	bool is_path_lost;		/* ops went on from another block */
	bool is_plain;			/* pointers are not followed from here */
	uint32_t texts_at;		/* by offset */
	struct element_text texts[ELEMENT_TEXTS_MAX];	/* of an element, by offset */
	uint32_t text_nr;
	uint32_t element_bytes;
};

bool ftr_value_has_shape(const struct ftr_parameter *value)
{
	if (value->type.kind == FTR_TYPE_OPAQUE)
		return value->type.members != NULL || value->type.container != NULL ||
		       value->type.wide != FTR_WIDE_NONE;
	return value->type.kind == FTR_TYPE_POINTER && value->type.inner != NULL;
}

/* The word at @offset of where the path leads; without one, of the value itself. */
static int op_at(struct maker *self, enum ftr_value_what what, uint32_t offset, uint32_t bytes)
{
	struct ftr_place place = { FTR_PLACE_AT, (uint16_t)offset, bytes };

	if (self->path_nr == 0)
		place = ftr_value_word_place(self->value, offset);
	return ftr_value_op_add(&self->shapes->programs, what, &place, bytes, false);
}

/* Can the word at @offset of what is being described be had, to follow it? */
static bool is_word_there(const struct maker *self, uint32_t offset)
{
	struct ftr_place place = ftr_value_word_place(self->value, offset);

	if (offset + WORD > self->block_bytes)
		return false;
	return self->path_nr > 0 ||
	       (offset % WORD == 0 &&
		(place.kind == FTR_PLACE_INTEGER || place.kind == FTR_PLACE_STACK ||
		 place.kind == FTR_PLACE_RETURN));
}

/* Follow the pointers to the block that is being described. */
static int path_follow(struct maker *self)
{
	struct ftr_place place = ftr_value_word_place(self->value, self->path[0]);
	int ret = ftr_value_op_add(&self->shapes->programs, FTR_VALUE_FOLLOW, &place, 0, false);

	for (unsigned i = 1; ret == 0 && i < self->path_nr; i++)
		ret = op_at(self, FTR_VALUE_FOLLOW, self->path[i], 0);
	self->is_path_lost = false;
	return ret;
}

static int room_take(struct maker *self, uint32_t bytes)
{
	if (bytes > VALUE_BYTES_MAX - self->bytes)
		return -E2BIG;
	self->bytes += bytes;
	return 0;
}

static int type_put(struct maker *self, const struct ftr_type *type, uint32_t base,
		    uint32_t offset);

/* What a text among elements has room for: as much as its object takes.  0: it is none. */
static uint32_t element_text_room(const struct ftr_type *type)
{
	if (type->text.is_followed)
		return 0;
	if (type->kind == FTR_TYPE_STD_STRING)
		return type->text.is_libcxx ? LIBCXX_STRING_BYTES : STD_STRING_BYTES;
	return type->kind == FTR_TYPE_TEXT && type->bytes >= 2 * WORD ? type->bytes : 0;
}

/* A text of an element, behind those before it: false: it has to be left out. */
static bool element_text_put(struct maker *self, const struct ftr_type *type, uint32_t offset)
{
	uint32_t room = element_text_room(type), end = 0;

	if (self->text_nr > 0)
		end = self->texts[self->text_nr - 1].offset + self->texts[self->text_nr - 1].room;
	if (self->texts_at == 0 || room == 0 || offset < end ||
	    offset + room > self->element_bytes || self->text_nr == ELEMENT_TEXTS_MAX)
		return false;
	self->texts[self->text_nr++] = (struct element_text){ type, offset, room };
	ftr_shape_words_text(&self->shapes->words, type, self->texts_at, room);
	return true;
}

static int text_copy(struct maker *self, const struct ftr_type *type, uint32_t offset,
		     uint32_t room)
{
	int ret = 0;

	if (type->text.is_libcxx)
		ret = op_at(self, FTR_VALUE_LIBCXX, offset, 0);
	else if (type->kind == FTR_TYPE_TEXT)
		ret = op_at(self, FTR_VALUE_COUNT, offset + type->text.length, 0);
	return ret < 0 ? ret : op_at(self, FTR_VALUE_TEXT, offset + type->text.pointer, room);
}

/* Is what says where the characters are? */
static bool is_text_there(const struct maker *self, const struct ftr_type *type, uint32_t offset)
{
	if (type->text.is_libcxx)
		return self->path_nr > 0 && offset + LIBCXX_STRING_BYTES <= self->block_bytes;
	return is_word_there(self, offset + type->text.pointer);
}

/* The characters behind the object at @offset; without room for them only their address. */
static int text_put(struct maker *self, const struct ftr_type *type, uint32_t base, uint32_t offset)
{
	struct ftr_strbuf *words = &self->shapes->words;
	uint32_t to = self->bytes - base;
	int ret = 0;

	if (self->is_plain && element_text_put(self, type, offset))
		return 0;
	if (self->is_plain || type->text.is_followed || !is_text_there(self, type, offset) ||
	    room_take(self, TEXT_BYTES) < 0) {
		ftr_strbuf_puts(words, "x64");
		return 0;
	}
	if (self->is_path_lost && self->path_nr > 0)
		ret = path_follow(self);
	if (ret == 0)
		ret = text_copy(self, type, offset, TEXT_BYTES);
	ftr_shape_words_text(words, type, to, TEXT_BYTES);
	return ret;
}

/* How much of what a pointer leads to is kept. */
static uint32_t block_bytes(const struct maker *self, const struct ftr_type *inner)
{
	uint32_t left = VALUE_BYTES_MAX - self->bytes;
	uint32_t most = left < BLOCK_BYTES_MAX + FTR_VALUE_COUNT_BYTES ?
				left : BLOCK_BYTES_MAX + FTR_VALUE_COUNT_BYTES;

	if (inner == NULL || most < WORD + FTR_VALUE_COUNT_BYTES)
		return 0;
	most -= FTR_VALUE_COUNT_BYTES;
	return inner->bytes < most ? inner->bytes : most;
}

/* A pointer at @base of the value, and @offset of its block; behind it, what it leads to. */
static int pointer_put(struct maker *self, const struct ftr_type *type, uint32_t base,
		       uint32_t offset)
{
	uint32_t bytes = block_bytes(self, type->inner), to = self->bytes - base;
	uint32_t around = self->block_bytes;
	int ret;

	if (self->is_plain || bytes == 0 || self->path_nr == PATH_MAX_NR ||
	    !is_word_there(self, offset)) {
		ftr_strbuf_puts(&self->shapes->words, "p64");
		return 0;
	}
	self->bytes += FTR_VALUE_COUNT_BYTES + bytes;
	self->path[self->path_nr++] = (uint16_t)offset;
	self->block_bytes = bytes;
	ret = path_follow(self);
	if (ret == 0)
		ret = op_at(self, FTR_VALUE_BLOCK, 0, bytes);
	ftr_strbuf_printf(&self->shapes->words, "*%u>%u", bytes, to);
	if (ret == 0)
		ret = type_put(self, type->inner, base + to + FTR_VALUE_COUNT_BYTES, 0);
	self->block_bytes = around;
	self->path_nr--;
	self->is_path_lost = true;
	return ret;
}

static int members_put(struct maker *self, const struct ftr_members *members, uint32_t base,
		       uint32_t offset)
{
	struct ftr_strbuf *words = &self->shapes->words;
	int ret = 0;

	ftr_strbuf_putc(words, '{');
	for (uint32_t i = 0; ret == 0 && i < members->nr; i++) {
		const struct ftr_member *member = &members->v[i];

		ftr_strbuf_printf(words, "%s%s:%u:", i > 0 ? "," : "", member->name,
				  member->offset);
		ret = type_put(self, &member->type, base + member->offset,
			       offset + member->offset);
		if (member->bit_nr > 0)
			ftr_strbuf_printf(words, ".%u+%u", member->bit, member->bit_nr);
	}
	ftr_strbuf_putc(words, '}');
	return ret;
}

static bool has_texts(const struct ftr_type *type)
{
	bool has_any = element_text_room(type) > 0;

	if (type->kind != FTR_TYPE_OPAQUE || type->container != NULL || type->members == NULL)
		return has_any;
	for (uint32_t i = 0; i < type->members->nr && !has_any; i++)
		has_any = has_texts(&type->members->v[i].type);
	return has_any;
}

/* How many bytes of its elements are kept: whole ones, those with texts behind. */
static uint32_t elements_bytes(const struct maker *self, const struct ftr_container *list)
{
	uint32_t each = list->element_bytes, most = BLOCK_BYTES_MAX;
	uint32_t left = VALUE_BYTES_MAX - self->bytes;

	if (list->kind == FTR_CONTAINER_SIZE || list->inner.bytes == 0 || self->is_plain ||
	    self->path_nr == PATH_MAX_NR || left < FTR_VALUE_COUNT_BYTES)
		return 0;
	left -= FTR_VALUE_COUNT_BYTES;
	if (list->kind == FTR_CONTAINER_BITS)
		return left < WORD ? 0 : WORD;
	if (has_texts(&list->inner))
		left /= 2;
	most = most < left ? most : left;
	most = most < ELEMENTS_MAX * each ? most : ELEMENTS_MAX * each;
	return most / each * each;
}

static int zeros_put(struct maker *self, uint32_t bytes)
{
	static const struct ftr_place nowhere = { 0 };

	return bytes == 0 ? 0 : ftr_value_op_add(&self->shapes->programs, FTR_VALUE_BYTES, &nowhere,
						 bytes, false);
}

/* Those of the element at @at, each as far behind as it is in it, and zeros between. */
static int element_texts_put(struct maker *self, uint32_t at, uint32_t each)
{
	uint32_t end = 0;
	int ret = 0;

	for (uint32_t i = 0; ret == 0 && i < self->text_nr; i++) {
		const struct element_text *text = &self->texts[i];
		uint32_t offset = at + text->offset;

		ret = zeros_put(self, text->offset - end);
		if (ret == 0)
			ret = text_copy(self, text->type, offset, text->room);
		end = text->offset + text->room;
	}
	return ret < 0 ? ret : zeros_put(self, each - end);
}

static int plain_put(struct maker *self, const struct ftr_type *type, uint32_t texts_at)
{
	bool was_plain = self->is_plain;
	uint32_t around = self->texts_at;
	int ret;

	self->is_plain = true;
	self->texts_at = texts_at;
	ret = type_put(self, type, 0, 0);
	self->is_plain = was_plain;
	self->texts_at = around;
	return ret;
}

/* What the elements are, the copies of which make @bytes, and their texts. */
static int inner_put(struct maker *self, const struct ftr_container *list, uint32_t bytes)
{
	bool has_any = has_texts(&list->inner);
	int ret;

	self->text_nr = 0;
	self->element_bytes = list->element_bytes;
	ret = plain_put(self, &list->inner, has_any ? bytes : 0);
	if (has_any)
		self->bytes += bytes;
	for (uint32_t at = 0; ret == 0 && has_any && at < bytes; at += list->element_bytes)
		ret = element_texts_put(self, at, list->element_bytes);
	return ret;
}

#define NO_NODES UINT8_MAX

static uint8_t node_kind(const struct ftr_container *list)
{
	switch (list->kind) {
	case FTR_CONTAINER_CHAIN:
		return FTR_VALUE_NODES_CHAIN;
	case FTR_CONTAINER_CHAIN_SECOND:
		return FTR_VALUE_NODES_CHAIN_SECOND;
	case FTR_CONTAINER_TREE:
		return FTR_VALUE_NODES_TREE;
	case FTR_CONTAINER_TREE_LEFT:
		return FTR_VALUE_NODES_TREE_LEFT;
	default:
		return NO_NODES;
	}
}

static bool is_of_nodes(const struct ftr_container *list)
{
	return node_kind(list) != NO_NODES;
}

/* How many there are, then what the first pointer leads to, and how one leads to the next. */
static int nodes_copy(struct maker *self, const struct ftr_container *list, uint32_t offset,
		      uint32_t bytes)
{
	struct ftr_value_op inner = {
		.what = FTR_VALUE_NODE,
		.flags = FTR_VALUE_JOINED | (list->is_open ? FTR_VALUE_TELLS_END : 0),
		.where = node_kind(list),
		.nr = (uint16_t)list->element_at, .bytes = (uint16_t)list->element_bytes,
	};
	int ret = 0;

	if (self->is_path_lost && self->path_nr > 0)
		ret = path_follow(self);
	if (ret == 0 && !list->is_open)
		ret = op_at(self, FTR_VALUE_COUNT, offset + list->length, 0);
	if (ret == 0)
		ret = op_at(self, FTR_VALUE_NODES, offset + list->at, bytes);
	if (ret == 0)
		ret = ftr_vec_push(&self->shapes->programs.ops, inner);
	self->path[self->path_nr++] = 0;	/* texts are asked for of the copies */
	return ret;
}

static int block_copy(struct maker *self, const struct ftr_container *list, uint32_t offset,
		      uint32_t bytes)
{
	int ret;

	self->path[self->path_nr++] = (uint16_t)(offset + list->at);
	ret = path_follow(self);
	return ret < 0 ? ret : op_at(self, FTR_VALUE_BLOCK, 0, bytes);
}

/* As nodes: what is asked for behind them is asked of the copies. */
static int pieces_copy(struct maker *self, const struct ftr_container *list, uint32_t offset,
		       uint32_t bytes)
{
	int ret = self->is_path_lost ? path_follow(self) : 0;

	if (ret == 0)
		ret = op_at(self, FTR_VALUE_PIECES, offset + list->at, bytes);
	self->path[self->path_nr++] = 0;
	return ret;
}

static int elements_copy(struct maker *self, const struct ftr_container *list, uint32_t offset,
			 uint32_t bytes)
{
	if (is_of_nodes(list))
		return nodes_copy(self, list, offset, bytes);
	if (list->kind == FTR_CONTAINER_PIECES)
		return pieces_copy(self, list, offset, bytes);
	return block_copy(self, list, offset, bytes);
}

/* Is all there that leads to the elements? */
static bool is_head_there(const struct maker *self, const struct ftr_container *list,
			  uint32_t offset)
{
	if (!is_word_there(self, offset + list->at))
		return false;
	if (list->kind == FTR_CONTAINER_PIECES)		/* no register holds one */
		return self->path_nr > 0 &&
		       offset + list->at + 2 * PLACE_BYTES <= self->block_bytes;
	return !is_of_nodes(list) || list->is_open || is_word_there(self, offset + list->length);
}

/* A number of elements, and the first of them behind it. */
static int elements_put(struct maker *self, const struct ftr_container *list, uint32_t base,
			uint32_t offset)
{
	struct ftr_strbuf *words = &self->shapes->words;
	uint32_t bytes = elements_bytes(self, list);
	int ret;

	if (!is_head_there(self, list, offset))
		bytes = 0;
	ftr_strbuf_putc(words, 'n');
	ftr_shape_words_number(words, list);
	/* A head that is not there may be behind all that the value has. */
	ftr_strbuf_printf(words, "%ux%u>%u+%u", list->at, list->element_bytes,
			  bytes == 0 ? 0 : self->bytes - base, bytes);
	if (bytes == 0) {
		ftr_strbuf_puts(words, "t0");
		return 0;
	}
	self->bytes += FTR_VALUE_COUNT_BYTES + bytes;
	ret = elements_copy(self, list, offset, bytes);
	if (ret == 0)
		ret = inner_put(self, list, bytes);
	self->path_nr--;
	self->is_path_lost = true;
	return ret;
}

static int variant_put(struct maker *self, const struct ftr_container *variant, uint32_t base,
		       uint32_t offset)
{
	struct ftr_strbuf *words = &self->shapes->words;
	const struct ftr_alternatives *all = variant->alternatives;
	int ret = 0;

	ftr_strbuf_printf(words, "|%u+%u{", variant->at, variant->element_bytes);
	for (uint32_t i = 0; ret == 0 && i < all->nr; i++) {
		const struct ftr_alternative *one = &all->v[i];

		if (i > 0)
			ftr_strbuf_putc(words, ',');
		if (!one->is_default)
			ftr_strbuf_printf(words, "%llu", (unsigned long long)one->value);
		ftr_strbuf_printf(words, "=%s", one->name);
		if (!one->has_type)
			continue;
		ftr_strbuf_printf(words, ":%u:", one->offset);
		ret = type_put(self, &one->type, base + one->offset, offset + one->offset);
	}
	ftr_strbuf_putc(words, '}');
	return ret;
}

/* Of an element's texts only those are followed that are members, and of no other view. */
static int container_put(struct maker *self, const struct ftr_container *container, uint32_t base,
			 uint32_t offset)
{
	uint32_t texts_at = self->texts_at;
	int ret;

	self->texts_at = 0;
	switch (container->kind) {
	case FTR_CONTAINER_PART:
		ftr_strbuf_printf(&self->shapes->words, "@%u", container->at);
		ret = type_put(self, &container->inner, base + container->at,
			       offset + container->at);
		break;
	case FTR_CONTAINER_VARIANT:
		ret = variant_put(self, container, base, offset);
		break;
	default:
		ret = elements_put(self, container, base, offset);
		break;
	}
	self->texts_at = texts_at;
	return ret;
}

/* What elements lead to would have to stand behind each: their pointers are not followed. */
static int array_put(struct maker *self, const struct ftr_type *type)
{
	if (type->inner->kind == FTR_TYPE_CHAR) {
		ftr_strbuf_printf(&self->shapes->words, "a%u", type->nr);
		return 0;
	}
	ftr_strbuf_printf(&self->shapes->words, "[%ux%u]", type->nr, type->inner->bytes);
	return plain_put(self, type->inner, 0);
}

static void enum_put(struct maker *self, const struct ftr_type *type)
{
	struct ftr_strbuf *words = &self->shapes->words;
	const char *name = NULL;

	if (type->values != NULL)
		name = ftr_value_enums_name(self->shapes->enums, type->values, self->shapes->lines);
	if (name != NULL)
		ftr_strbuf_printf(words, "e%u:%s", type->bytes * 8, name);
	else
		ftr_strbuf_printf(words, "i%u", type->bytes * 8);
}

static int type_put(struct maker *self, const struct ftr_type *type, uint32_t base,
		    uint32_t offset)
{
	switch (type->kind) {
	case FTR_TYPE_POINTER:
		return pointer_put(self, type, base, offset);
	case FTR_TYPE_STRING:
	case FTR_TYPE_STD_STRING:
	case FTR_TYPE_TEXT:
		return text_put(self, type, base, offset);
	case FTR_TYPE_ARRAY:
		return array_put(self, type);
	case FTR_TYPE_ENUM:
		enum_put(self, type);
		return 0;
	case FTR_TYPE_OPAQUE:
		if (type->container != NULL)
			return container_put(self, type->container, base, offset);
		if (type->members != NULL)
			return members_put(self, type->members, base, offset);
		/* fall through */
	default:
		ftr_shape_words_scalar(&self->shapes->words, type);
		return 0;
	}
}

/* The value itself, first: a pointer, an object, or one that is passed by its address. */
static int value_put(struct maker *self)
{
	struct ftr_value_programs *programs = &self->shapes->programs;
	const struct ftr_parameter *value = self->value;
	int ret;

	self->bytes = value->type.kind == FTR_TYPE_OPAQUE ? ftr_value_bytes(value) : WORD;
	self->block_bytes = self->bytes;
	self->path_nr = value->is_pointed ? 1 : 0;
	self->is_path_lost = true;
	programs->ops.nr = programs->first = programs->bytes = 0;
	ret = ftr_value_program_add(programs, value);
	if (ret == 0 && programs->ops.nr > 0)
		programs->ops.v[programs->ops.nr - 1].flags |= FTR_VALUE_JOINED;
	return ret;
}

int ftr_value_shape_make(struct ftr_value_shapes *shapes, const struct ftr_parameter *value)
{
	struct maker self = { .shapes = shapes, .value = value };
	int ret;

	ftr_strbuf_clear(&shapes->words);
	ret = value_put(&self);
	if (ret == 0)
		ret = type_put(&self, &value->type, 0, 0);
	shapes->bytes = self.bytes;
	if (ret == 0 && shapes->words.failed)
		ret = -ENOMEM;
	return ret;
}
