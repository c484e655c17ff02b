/* SPDX-License-Identifier: MIT */
/* See watched.h. */
#include "utils/record/watched.h"

#include <errno.h>
#include <string.h>

#include "utils/base/closest.h"
#include "utils/proto/watch.h"

#define CPU "cpu"
#define VAR "var:"

static const char *name_of(const char *word)
{
	return strncmp(word, VAR, strlen(VAR)) == 0 ? word + strlen(VAR) : NULL;
}

int ftr_watched_word_check(const char *arg, struct ftr_err *err)
{
	const char *name = name_of(arg);

	if (strcmp(arg, CPU) == 0 || (name != NULL && name[0] != '\0'))
		return 0;
	return ftr_err_set(err, EINVAL, "\"%s\" is not one of: cpu, var:NAME", arg);
}

bool ftr_watched_has_cpu(const struct ftr_opt_list *watched)
{
	for (size_t i = 0; i < watched->nr; i++) {
		if (strcmp(watched->v[i], CPU) == 0)
			return true;
	}
	return false;
}

static bool is_variable(const struct ftr_symbol *symbol)
{
	return !ftr_symbol_is_function(symbol) && strchr("bBdDvVuU", symbol->type) != NULL;
}

const struct ftr_symbol *ftr_watched_variable(const char *word, const struct ftr_symtab *tab)
{
	const char *name = name_of(word);

	for (size_t i = 0; name != NULL && i < tab->nr; i++) {
		if (is_variable(&tab->symbols[i]) && strcmp(tab->symbols[i].name, name) == 0)
			return &tab->symbols[i];
	}
	return NULL;
}

static bool is_word(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static int refuse_unknown(const char *word, const char *image, const struct ftr_symtab *tab,
			  struct ftr_err *err)
{
	struct ftr_closest closest = { .distance = 0 };

	for (size_t i = 0; i < tab->nr; i++) {
		if (is_variable(&tab->symbols[i]))
			ftr_closest_try(&closest, name_of(word), tab->symbols[i].name);
	}
	return ftr_err_set(err, ENOENT, "--watch=%s: no variable of %s has this name%s", word,
			   image, ftr_closest_ask(&closest, "", "; those of threads, and of "
						  "libraries, are not watched"));
}

int ftr_watched_check(const struct ftr_opt_list *watched, const char *image,
		      const struct ftr_symtab *tab, struct ftr_err *err)
{
	unsigned nr = 0;

	for (size_t i = 0; i < watched->nr; i++) {
		const char *word = watched->v[i];
		const struct ftr_symbol *symbol;

		if (name_of(word) == NULL)
			continue;
		symbol = ftr_watched_variable(word, tab);
		if (symbol == NULL)
			return refuse_unknown(word, image, tab, err);
		if (!is_word(symbol->size))
			return ftr_err_set(err, EINVAL, "--watch=%s: it has %u bytes; variables "
					   "of 1, 2, 4 or 8 can be watched", word, symbol->size);
		if (++nr > FTR_WATCH_VARIABLES_MAX)
			return ftr_err_set(err, EINVAL, "--watch: %u variables at most",
					   FTR_WATCH_VARIABLES_MAX);
	}
	return 0;
}
