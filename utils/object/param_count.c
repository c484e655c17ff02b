/* SPDX-License-Identifier: MIT */
/* See param_count.h.  A name that may be read in two ways says nothing. */
#include "utils/object/param_count.h"

#include <stdlib.h>
#include <string.h>

#include "utils/object/demangle.h"

/* Behind the bracket that @text begins with, and what is in it; NULL: it does not end. */
static const char *brackets_end(const char *text)
{
	unsigned depth = 0;

	for (; *text != '\0'; text++) {
		if (strchr("(<[{", *text) != NULL)
			depth++;
		else if (strchr(")>]}", *text) != NULL && --depth == 0)
			return text + 1;
	}
	return NULL;
}

/* Where the parameters of the demangled @name are. */
static const char *params_begin(const char *name)
{
	while (name != NULL && *name != '\0' && *name != '(')
		name = *name == '<' ? brackets_end(name) : name + 1;
	return name != NULL && *name == '(' ? name : NULL;
}

static int params_count(const char *params)
{
	const char *end = brackets_end(params), *here;
	unsigned depth = 0;
	int nr = 1;

	if (end == NULL || (*end != '\0' && strcmp(end, " const") != 0))
		return -1;
	if (params[1] == ')' || strncmp(params, "(...)", 5) == 0)
		return 0;
	for (here = params; here < end; here++) {
		if (strchr("(<[{", *here) != NULL)
			depth++;
		else if (strchr(")>]}", *here) != NULL)
			depth--;
		else if (*here == ',' && depth == 1 && strncmp(here, ", ...)", 6) != 0)
			nr++;
	}
	return nr;
}

int ftr_param_count(const char *mangled)
{
	static const char *const doubtful[] = { "operator", "{", "->", "(anonymous", "decltype (",
						")>(" };
	const char *params = NULL;
	char *name;
	int nr = -1;

	if (strncmp(mangled, "_Z", 2) != 0)
		return -1;
	name = ftr_demangle(mangled, FTR_DEMANGLE_FULL);
	if (name != NULL && strcmp(name, mangled) != 0)
		params = params_begin(name);
	for (size_t i = 0; params != NULL && i < sizeof(doubtful) / sizeof(doubtful[0]); i++) {
		if (strstr(name, doubtful[i]) != NULL)
			params = NULL;
	}
	if (params != NULL)
		nr = params_count(params);
	free(name);
	return nr;
}
