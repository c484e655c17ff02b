/* SPDX-License-Identifier: MIT */
/* FXT reader: what values of named types mean, from blobs ftr.enums and ftr.shapes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/text.h"
#include "utils/format/fxt/read.h"
#include "utils/trace/shape.h"

/* "NAME VALUE LABEL" */
static int enum_line(struct fxt_reader *r, struct ftr_slice line)
{
	struct ftr_slice name, number, rest = line;
	struct ftr_arg_enumerator entry;
	struct fxt_text *text;
	struct fxt_enum *found;

	if (!ftr_slice_split(&rest, ' ', &name) || !ftr_slice_split(&rest, ' ', &number) ||
	    ftr_parse_i64(number, &entry.value) < 0)
		return 0;
	text = fxt_text_get(r, name.s, name.len);
	entry.name = ftr_arena_strndup(&r->trace->arena, rest.s, rest.len);
	if (text == NULL || entry.name == NULL)
		return -ENOMEM;
	found = ftr_hashmap_find(&r->enums, text->str->id);
	if (found == NULL) {
		found = calloc(1, sizeof(*found));
		if (found == NULL || ftr_hashmap_set(&r->enums, text->str->id, found) < 0) {
			free(found);
			return -ENOMEM;
		}
		found->public.name = text->str->s;
	}
	if (ftr_vec_push(&found->values, entry) < 0)
		return -ENOMEM;
	found->public.values = found->values.v;
	found->public.nr = (uint32_t)found->values.nr;
	return 0;
}

const struct ftr_arg_enum *fxt_enum_find(struct fxt_reader *r, struct ftr_slice name)
{
	struct fxt_text *text = fxt_text_get(r, name.s, name.len);
	struct fxt_enum *found = text == NULL ? NULL : ftr_hashmap_find(&r->enums, text->str->id);

	return found == NULL ? NULL : &found->public;
}

/* What blob ftr.shapes says of a name. */
struct shape {
	struct ftr_slice words;			/* in r->shape_lines */
	const struct ftr_shape *shape;		/* (nullable) not one, or more than one */
};

static const struct ftr_arg_enum *enum_of(const void *arg, struct ftr_slice name)
{
	return fxt_enum_find((struct fxt_reader *)(uintptr_t)arg, name);
}

/*
 * "NAME SHAPE".  Of a name with two shapes, as in files that were put together, it is not known
 * which a value is of.
 */
static int shape_line(struct fxt_reader *r, struct ftr_slice line)
{
	struct ftr_slice name;
	struct fxt_text *text;
	struct shape *found;
	int ret;

	ftr_slice_split(&line, ' ', &name);
	text = fxt_text_get(r, name.s, name.len);
	if (text == NULL)
		return -ENOMEM;
	found = ftr_hashmap_find(&r->shapes, text->str->id);
	if (found != NULL) {
		if (line.len != found->words.len ||
		    memcmp(line.s, found->words.s, line.len) != 0) {
			found->shape = NULL;
			r->damaged_shape_nr++;
		}
		return 0;
	}
	found = ftr_arena_alloc(&r->trace->arena, sizeof(*found));
	if (found == NULL)
		return -ENOMEM;
	*found = (struct shape){ .words = line };
	ret = ftr_shape_parse(&found->shape, line, &r->trace->arena, enum_of, r);
	if (ret == -EINVAL)
		r->damaged_shape_nr++;
	return ret == -ENOMEM ? ret : ftr_hashmap_set(&r->shapes, text->str->id, found);
}

const struct ftr_shape *fxt_shape_find(struct fxt_reader *r, const char *name)
{
	const struct fxt_text *text = fxt_text_get(r, name, strlen(name));
	const struct shape *found = text == NULL ? NULL :
				    ftr_hashmap_find(&r->shapes, text->str->id);

	return found == NULL ? NULL : found->shape;
}

static int lines_load(struct fxt_reader *r, const struct ftr_strbuf *lines,
		      int (*load)(struct fxt_reader *r, struct ftr_slice line))
{
	struct ftr_slice line, rest = ftr_slice_make(ftr_strbuf_str(lines), lines->len);
	int ret = 0;

	while (ret == 0 && ftr_slice_split(&rest, '\n', &line))
		ret = line.len == 0 ? 0 : load(r, line);
	return ret;
}

int fxt_types_load(struct fxt_reader *r)
{
	int ret = lines_load(r, &r->enum_lines, enum_line);

	return ret < 0 ? ret : lines_load(r, &r->shape_lines, shape_line);
}

void fxt_types_fini(struct fxt_reader *r)
{
	const struct ftr_hashmap_slot *slot;
	size_t pos = 0;

	while ((slot = ftr_hashmap_next(&r->enums, &pos)) != NULL) {
		struct fxt_enum *found = slot->value;

		ftr_vec_fini(&found->values);
		free(found);
	}
	ftr_hashmap_fini(&r->enums);
	ftr_hashmap_fini(&r->shapes);
}
