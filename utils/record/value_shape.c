/* SPDX-License-Identifier: MIT */
/* See value_shape.h. */
#include "utils/record/value_shape.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WORD 8u
#define VALUE_BYTES_MAX 320u		/* of one value, with all that it leads to */
#define TEXT_BYTES 32u			/* room for a text */
#define BLOCK_BYTES_MAX 160u		/* of what one pointer leads to */
#define PATH_MAX_NR 8u			/* pointers on the way to a block */
#define NAME_BYTES 128
#define SAME_NAME_MAX 1000

/* A value while it is made: where its pointers lead, and how long it is so far. */
struct maker {
	struct ftr_value_shapes *shapes;
	const struct ftr_parameter *value;
	uint16_t path[PATH_MAX_NR];	/* offsets of the pointers on the way; that of [0] is 0 */
	unsigned path_nr;
	uint32_t bytes;			/* of the value */
	uint32_t block_bytes;		/* of the block that is being described */
	bool is_path_lost;		/* ops went on from another block */
	bool is_plain;			/* pointers are not followed from here */
};

void ftr_value_shapes_init(struct ftr_value_shapes *shapes, struct ftr_value_enums *enums,
			   struct ftr_strbuf *lines)
{
	*shapes = (struct ftr_value_shapes){ .enums = enums, .lines = lines };
	ftr_strbuf_init(&shapes->words);
	ftr_hashmap_init(&shapes->names);
	ftr_arena_init(&shapes->arena);
}

void ftr_value_shapes_fini(struct ftr_value_shapes *shapes)
{
	ftr_vec_fini(&shapes->programs.ops);
	ftr_strbuf_fini(&shapes->words);
	ftr_hashmap_fini(&shapes->names);
	ftr_arena_fini(&shapes->arena);
}

bool ftr_value_has_shape(const struct ftr_parameter *value)
{
	if (value->type.kind == FTR_TYPE_OPAQUE)
		return value->type.members != NULL;
	return value->type.kind == FTR_TYPE_POINTER && value->type.inner != NULL;
}

static int op_at(struct maker *self, enum ftr_value_what what, uint32_t offset, uint32_t bytes)
{
	const struct ftr_place place = { FTR_PLACE_AT, (uint16_t)offset, bytes };

	return ftr_value_op_add(&self->shapes->programs, what, &place, bytes, false);
}

/* Follow the pointers to the block that is being described. */
static int path_follow(struct maker *self)
{
	int ret = ftr_value_op_add(&self->shapes->programs, FTR_VALUE_FOLLOW,
				   &self->value->places[0], 0, false);

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

/* The characters behind the object at @offset; without room for them only their address. */
static int text_put(struct maker *self, const struct ftr_type *type, uint32_t base, uint32_t offset)
{
	struct ftr_strbuf *words = &self->shapes->words;
	uint32_t to = self->bytes - base;
	int ret = 0;

	if (self->is_plain || type->text.is_followed ||
	    offset + type->text.pointer + WORD > self->block_bytes ||
	    room_take(self, TEXT_BYTES) < 0) {
		ftr_strbuf_puts(words, "x64");
		return 0;
	}
	if (self->is_path_lost)
		ret = path_follow(self);
	if (ret == 0 && type->kind == FTR_TYPE_TEXT)
		ret = op_at(self, FTR_VALUE_COUNT, offset + type->text.length, 0);
	if (ret == 0)
		ret = op_at(self, FTR_VALUE_TEXT, offset + type->text.pointer, TEXT_BYTES);
	ftr_strbuf_printf(words, "s%u>%u+%u", type->text.pointer, to, TEXT_BYTES);
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
	    (self->path_nr > 0 && offset + WORD > around)) {
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

/* What elements lead to would have to stand behind each: their pointers are not followed. */
static int array_put(struct maker *self, const struct ftr_type *type)
{
	bool was_plain = self->is_plain;
	int ret;

	if (type->inner->kind == FTR_TYPE_CHAR) {
		ftr_strbuf_printf(&self->shapes->words, "a%u", type->nr);
		return 0;
	}
	ftr_strbuf_printf(&self->shapes->words, "[%ux%u]", type->nr, type->inner->bytes);
	self->is_plain = true;
	ret = type_put(self, type->inner, 0, 0);
	self->is_plain = was_plain;
	return ret;
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

static void scalar_put(struct maker *self, const struct ftr_type *type)
{
	static const char letters[] = {
		[FTR_TYPE_SIGNED] = 'i', [FTR_TYPE_UNSIGNED] = 'u', [FTR_TYPE_CHAR] = 'c',
		[FTR_TYPE_FLOAT] = 'f',	 [FTR_TYPE_BOOL] = 'b',
	};
	uint32_t bytes = type->kind == FTR_TYPE_FLOAT && type->bytes > 8 ? 10 : type->bytes;

	if ((size_t)type->kind < sizeof(letters) && letters[type->kind] != '\0' && bytes > 0 &&
	    (type->kind != FTR_TYPE_FLOAT || bytes >= 4))
		ftr_strbuf_printf(&self->shapes->words, "%c%u", letters[type->kind], bytes * 8);
	else
		ftr_strbuf_printf(&self->shapes->words, "t%u", type->bytes);
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
		if (type->members != NULL)
			return members_put(self, type->members, base, offset);
		/* fall through */
	default:
		scalar_put(self, type);
		return 0;
	}
}

int ftr_value_shape_make(struct ftr_value_shapes *shapes, const struct ftr_parameter *value)
{
	struct maker self = { .shapes = shapes, .value = value };
	int ret;

	ftr_strbuf_clear(&shapes->words);
	shapes->programs.ops.nr = 0;
	self.is_plain = value->type.kind == FTR_TYPE_OPAQUE;
	self.bytes = self.is_plain ? ftr_value_bytes(value) : WORD;
	ret = self.is_plain ? 0 : ftr_value_op_add(&shapes->programs, FTR_VALUE_BYTES,
						   &value->places[0], WORD, false);
	if (ret == 0)
		ret = type_put(&self, &value->type, 0, 0);
	shapes->bytes = self.bytes;
	return ret < 0 || shapes->words.failed ? -ENOMEM : 0;
}

/* The first of NAME, NAME_2, NAME_3 ... that is free, or that of the same words. */
const char *ftr_value_shape_name(struct ftr_value_shapes *shapes, const char *type_name)
{
	const char *words = ftr_strbuf_str(&shapes->words);
	char name[NAME_BYTES];

	if (type_name == NULL || type_name[0] == '\0')
		type_name = "pointer";
	for (unsigned nr = 1; nr < SAME_NAME_MAX; nr++) {
		const char *there;
		uint64_t hash;

		snprintf(name, sizeof(name), nr == 1 ? "%.100s" : "%.100s_%u", type_name, nr);
		hash = ftr_hash_bytes(name, strlen(name));
		there = ftr_hashmap_find(&shapes->names, hash);
		if (there == NULL) {
			char *copy = ftr_arena_strdup(&shapes->arena, words);

			if (copy == NULL || ftr_hashmap_set(&shapes->names, hash, copy) < 0)
				return NULL;
			ftr_strbuf_printf(shapes->lines, "#T: %s %s\n", name, words);
		}
		if (there == NULL || strcmp(there, words) == 0)
			return ftr_arena_strdup(&shapes->arena, name);
	}
	return NULL;
}
