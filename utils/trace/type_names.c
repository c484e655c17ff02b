/* SPDX-License-Identifier: MIT */
/* Names of types in a file: see type_names.h. */
#include "utils/trace/type_names.h"

#include <errno.h>
#include <string.h>

#include "utils/base/strbuf.h"
#include "utils/trace/shape.h"

void ftr_type_names_init(struct ftr_type_names *names)
{
	*names = (struct ftr_type_names){ .all = { 0 } };
	ftr_arena_init(&names->arena);
}

void ftr_type_names_fini(struct ftr_type_names *names)
{
	ftr_hashmap_fini(&names->by_type);
	ftr_hashmap_fini(&names->by_name[0]);
	ftr_hashmap_fini(&names->by_name[1]);
	ftr_vec_fini(&names->all);
	ftr_arena_fini(&names->arena);
}

static struct ftr_type_name *type_new(struct ftr_type_names *names, const struct ftr_arg *arg,
				      const char *name, const char *words)
{
	struct ftr_type_name *type = ftr_arena_alloc(&names->arena, sizeof(*type));

	if (type == NULL)
		return NULL;
	type->name = ftr_arena_strdup(&names->arena, name);
	type->words = ftr_arena_strdup(&names->arena, words);
	type->values = arg->values;
	if (type->name == NULL || type->words == NULL || ftr_vec_push(&names->all, type) < 0)
		return NULL;
	return type;
}

/* The first of NAME, NAME_2, NAME_3 ... that is free, or that of the same words. */
static struct ftr_type_name *type_get(struct ftr_type_names *names, const struct ftr_arg *arg,
				      const char *words)
{
	struct ftr_hashmap *by_name = &names->by_name[arg->format == FTR_ARG_STRUCT];
	struct ftr_type_name *type = NULL;
	struct ftr_strbuf name;
	bool is_found = false;

	ftr_strbuf_init(&name);
	for (unsigned nr = 1; !is_found && !name.failed; nr++) {
		uint64_t hash;

		ftr_strbuf_clear(&name);
		ftr_strbuf_puts(&name, arg->type_name);
		if (nr > 1)
			ftr_strbuf_printf(&name, "_%u", nr);
		hash = ftr_hash_bytes(ftr_strbuf_str(&name), name.len);
		type = name.failed ? NULL : ftr_hashmap_find(by_name, hash);
		if (type == NULL) {
			type = name.failed ? NULL : type_new(names, arg, name.s, words);
			if (type != NULL && ftr_hashmap_set(by_name, hash, type) < 0)
				type = NULL;
			break;
		}
		is_found = strcmp(type->name, name.s) == 0 && strcmp(type->words, words) == 0;
	}
	ftr_strbuf_fini(&name);
	return type;
}

static const char *enum_name(void *arg, const struct ftr_arg_enum *values)
{
	const struct ftr_arg type = { .format = FTR_ARG_ENUM, .values = values,
				      .type_name = values->name };
	const char *name;

	return ftr_type_names_get(arg, &type, &name) < 0 ? NULL : name;
}

static void put_values(const struct ftr_arg_enum *values, struct ftr_strbuf *words)
{
	for (uint32_t i = 0; i < values->nr; i++)
		ftr_strbuf_printf(words, "%s%s=%lld", i == 0 ? "" : ",", values->values[i].name,
				  (long long)values->values[i].value);
}

int ftr_type_names_get(struct ftr_type_names *names, const struct ftr_arg *arg, const char **name)
{
	const void *known = arg->format == FTR_ARG_STRUCT ? (const void *)arg->shape :
							    (const void *)arg->values;
	const struct ftr_type_name *type;
	struct ftr_strbuf words;
	int ret = 0;

	*name = NULL;
	if (arg->type_name == NULL ||
	    (arg->format != FTR_ARG_ENUM && arg->format != FTR_ARG_STRUCT))
		return 0;
	type = known == NULL ? NULL : ftr_hashmap_find(&names->by_type, (uintptr_t)known);
	if (type != NULL) {
		*name = type->name;
		return 0;
	}
	ftr_strbuf_init(&words);
	if (arg->format == FTR_ARG_STRUCT && arg->shape != NULL)
		ret = ftr_shape_words(arg->shape, enum_name, names, &words);
	else if (arg->values != NULL)
		put_values(arg->values, &words);
	type = ret < 0 || words.failed ? NULL : type_get(names, arg, ftr_strbuf_str(&words));
	ftr_strbuf_fini(&words);
	if (type == NULL || (known != NULL && ftr_hashmap_set(&names->by_type, (uintptr_t)known,
							      (void *)(uintptr_t)type) < 0))
		return -ENOMEM;
	*name = type->name;
	return 0;
}
