/* SPDX-License-Identifier: MIT */
/* See value_enums.h. */
#include "utils/record/value_enums.h"

#include <stdio.h>
#include <string.h>

#define NAME_BYTES 128
#define ENUMERATORS_MAX 1000
#define SAME_NAME_MAX 1000

void ftr_value_enums_init(struct ftr_value_enums *enums)
{
	*enums = (struct ftr_value_enums){ 0 };
	ftr_hashmap_init(&enums->names);
	ftr_hashmap_init(&enums->types);
	ftr_hashmap_init(&enums->missed);
	ftr_arena_init(&enums->arena);
}

void ftr_value_enums_fini(struct ftr_value_enums *enums)
{
	ftr_hashmap_fini(&enums->names);
	ftr_hashmap_fini(&enums->types);
	ftr_hashmap_fini(&enums->missed);
	ftr_arena_fini(&enums->arena);
}

/* A header's type stands in each unit that includes it. */
static bool is_same(const struct ftr_enum_type *a, const struct ftr_enum_type *b)
{
	uint32_t i;

	if (a->nr != b->nr)
		return false;
	for (i = 0; i < a->nr; i++) {
		if (a->values[i].value != b->values[i].value ||
		    strcmp(a->values[i].name, b->values[i].name) != 0)
			return false;
	}
	return true;
}

static void put_line(const struct ftr_enum_type *type, const char *name, struct ftr_strbuf *lines)
{
	uint32_t i;

	ftr_strbuf_printf(lines, "E: enum %s {", name);
	for (i = 0; i < type->nr; i++)
		ftr_strbuf_printf(lines, "%s%s=%lld", i == 0 ? "" : ",", type->values[i].name,
				  (long long)type->values[i].value);
	ftr_strbuf_puts(lines, "}\n");
}

/* The first of NAME, NAME_2, NAME_3 ... that is free, or that of one with the same enumerators. */
static const char *name_find(struct ftr_value_enums *enums, const struct ftr_enum_type *type,
			     bool *is_new)
{
	const struct ftr_enum_type *there = NULL;
	char name[NAME_BYTES];
	unsigned nr;

	for (nr = 1; nr < SAME_NAME_MAX; nr++) {
		uint64_t hash;

		if (type->name[0] == '\0')
			snprintf(name, sizeof(name), "_enum_%u", nr);
		else if (nr == 1)
			snprintf(name, sizeof(name), "%s", type->name);
		else
			snprintf(name, sizeof(name), "%.100s_%u", type->name, nr);
		hash = ftr_hash_bytes(name, strlen(name));
		there = ftr_hashmap_find(&enums->types, hash);
		if (there == NULL && ftr_hashmap_set(&enums->types, hash, (void *)type) < 0)
			return NULL;
		*is_new = there == NULL;
		if (there == NULL || is_same(there, type))
			return ftr_arena_strdup(&enums->arena, name);
	}
	return NULL;
}

const char *ftr_value_enums_name(struct ftr_value_enums *enums, const struct ftr_enum_type *type,
				 struct ftr_strbuf *lines)
{
	const char *name = ftr_hashmap_find(&enums->names, type->id);
	bool is_new = false;

	if (name != NULL || type->nr == 0 || type->nr > ENUMERATORS_MAX)
		return name;
	name = name_find(enums, type, &is_new);
	if (name == NULL || ftr_hashmap_set(&enums->names, type->id, (void *)name) < 0)
		return NULL;
	if (is_new)
		put_line(type, name, lines);
	return name;
}

bool ftr_value_enums_has(const struct ftr_value_enums *enums, const char *name)
{
	return ftr_hashmap_find(&enums->types, ftr_hash_bytes(name, strlen(name))) != NULL;
}

bool ftr_value_enums_miss(struct ftr_value_enums *enums, const char *name)
{
	uint64_t hash = ftr_hash_bytes(name, strlen(name));

	return ftr_hashmap_find(&enums->missed, hash) == NULL &&
	       ftr_hashmap_set(&enums->missed, hash, enums) == 0;
}
