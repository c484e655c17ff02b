/* SPDX-License-Identifier: MIT */
/* The names of shapes, each once in a module: see value_shape.h. */
#include <stdio.h>
#include <string.h>

#include "utils/record/value_shape.h"

#define NAME_BYTES 128
#define SAME_NAME_MAX 1000

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

/*
 * The first of NAME, NAME_2, NAME_3 ... that is free, or that of the same words.  Without words it
 * has no line.
 */
static const char *name_get(struct ftr_value_shapes *shapes, const char *type_name,
			    const char *words)
{
	char name[NAME_BYTES];

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
			if (words[0] != '\0')
				ftr_strbuf_printf(shapes->lines, "#T: %s %s\n", name, words);
		}
		if (there == NULL || strcmp(there, words) == 0)
			return ftr_arena_strdup(&shapes->arena, name);
	}
	return NULL;
}

const char *ftr_value_shape_name(struct ftr_value_shapes *shapes, const char *type_name)
{
	bool has_name = type_name != NULL && type_name[0] != '\0';

	return name_get(shapes, has_name ? type_name : "pointer", ftr_strbuf_str(&shapes->words));
}

const char *ftr_value_plain_name(struct ftr_value_shapes *shapes, const char *type_name)
{
	return name_get(shapes, type_name, "");
}
