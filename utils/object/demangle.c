/* SPDX-License-Identifier: MIT */
/* Demangling through libiberty; the simple style walks the tree it makes of a C++ name. */
#include "utils/object/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/strbuf.h"

#define DEPTH_MAX 256

/* Spelled as in uftrace: filters and eyes know them that way. */
static const struct spelling {
	const char *libiberty, *ours;
} spellings[] = {
	{ "std::string",   "std::basic_string" },
	{ "std::istream",  "std::basic_istream" },
	{ "std::ostream",  "std::basic_ostream" },
	{ "std::iostream", "std::basic_iostream" },
};

static void put_spelled(struct ftr_strbuf *out, const char *s, size_t len)
{
	for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
		const struct spelling *spelling = &spellings[i];

		if (strlen(spelling->libiberty) == len &&
		    memcmp(spelling->libiberty, s, len) == 0) {
			ftr_strbuf_puts(out, spelling->ours);
			return;
		}
	}
	ftr_strbuf_put(out, s, len);
}

static bool put_operator(struct ftr_strbuf *out, struct demangle_component *node)
{
	size_t allocated;
	char *text = cplus_demangle_print(DMGL_NO_OPTS, node, 16, &allocated);

	if (text == NULL)
		return false;
	/* Its name for literals has the word already: "operator operator\"\"". */
	ftr_strbuf_puts(out, strncmp(text, "operator operator", 17) == 0 ? text + 9 : text);
	free(text);
	return true;
}

static bool put_name(struct ftr_strbuf *out, struct demangle_component *node, unsigned depth);

/* "left::right", whose right part may print nothing. */
static bool put_qualified(struct ftr_strbuf *out, struct demangle_component *node, unsigned depth)
{
	struct demangle_component *right = node->u.s_binary.right;

	if (!put_name(out, node->u.s_binary.left, depth))
		return false;
	if (right != NULL && right->type == DEMANGLE_COMPONENT_DEFAULT_ARG)
		right = right->u.s_unary_num.sub;
	if (right == NULL || right->type == DEMANGLE_COMPONENT_UNNAMED_TYPE)
		return true;
	ftr_strbuf_puts(out, "::");
	return put_name(out, right, depth);
}

static bool put_prefixed(struct ftr_strbuf *out, const char *prefix,
			 struct demangle_component *node, unsigned depth)
{
	ftr_strbuf_puts(out, prefix);
	return put_name(out, node, depth);
}

/* A name without parameters, template arguments and qualifiers; false: not of a kind we know. */
static bool put_name(struct ftr_strbuf *out, struct demangle_component *node, unsigned depth)
{
	if (node == NULL || depth == DEPTH_MAX)
		return false;
	depth++;
	switch (node->type) {
	case DEMANGLE_COMPONENT_NAME:
		put_spelled(out, node->u.s_name.s, (size_t)node->u.s_name.len);
		return true;
	case DEMANGLE_COMPONENT_SUB_STD: /* before a constructor with its arguments */
		put_spelled(out, node->u.s_string.string, strcspn(node->u.s_string.string, "<"));
		return true;
	case DEMANGLE_COMPONENT_QUAL_NAME:
	case DEMANGLE_COMPONENT_LOCAL_NAME:
	case DEMANGLE_COMPONENT_TAGGED_NAME:
		return put_qualified(out, node, depth);
	case DEMANGLE_COMPONENT_CTOR:
		return put_name(out, node->u.s_ctor.name, depth);
	case DEMANGLE_COMPONENT_DTOR:
		return put_prefixed(out, "~", node->u.s_dtor.name, depth);
	case DEMANGLE_COMPONENT_OPERATOR:
		return put_operator(out, node);
	case DEMANGLE_COMPONENT_EXTENDED_OPERATOR:
		return put_prefixed(out, "operator ", node->u.s_extended_operator.name, depth);
	case DEMANGLE_COMPONENT_CONVERSION:
	case DEMANGLE_COMPONENT_CAST:
		ftr_strbuf_puts(out, "operator(cast)");
		return true;
	case DEMANGLE_COMPONENT_LAMBDA:
		ftr_strbuf_printf(out, "$_%d", node->u.s_unary_num.num);
		return true;
	case DEMANGLE_COMPONENT_TLS_INIT:
		return put_prefixed(out, "TLS_init::", node->u.s_binary.left, depth);
	case DEMANGLE_COMPONENT_TLS_WRAPPER:
		return put_prefixed(out, "TLS_wrap::", node->u.s_binary.left, depth);
	case DEMANGLE_COMPONENT_TYPED_NAME:
	case DEMANGLE_COMPONENT_TEMPLATE:
	case DEMANGLE_COMPONENT_UNARY:			/* operator"" and its suffix */
	case DEMANGLE_COMPONENT_THUNK:
	case DEMANGLE_COMPONENT_VIRTUAL_THUNK:
	case DEMANGLE_COMPONENT_COVARIANT_THUNK:
	case DEMANGLE_COMPONENT_HIDDEN_ALIAS:
	case DEMANGLE_COMPONENT_TRANSACTION_CLONE:
	case DEMANGLE_COMPONENT_NONTRANSACTION_CLONE:
	case DEMANGLE_COMPONENT_CLONE:
	case DEMANGLE_COMPONENT_CONST_THIS:
	case DEMANGLE_COMPONENT_VOLATILE_THIS:
	case DEMANGLE_COMPONENT_RESTRICT_THIS:
	case DEMANGLE_COMPONENT_REFERENCE_THIS:
	case DEMANGLE_COMPONENT_RVALUE_REFERENCE_THIS:
	case DEMANGLE_COMPONENT_TRANSACTION_SAFE:
	case DEMANGLE_COMPONENT_NOEXCEPT:
	case DEMANGLE_COMPONENT_THROW_SPEC:
		return put_name(out, node->u.s_binary.left, depth);
	default:
		return false;
	}
}

static char *cplus_simple(const char *name)
{
	struct ftr_strbuf out;
	void *memory = NULL;
	struct demangle_component *tree;
	bool is_known;

	tree = cplus_demangle_v3_components(name, DMGL_PARAMS | DMGL_ANSI, &memory);
	if (tree == NULL)
		return NULL;
	ftr_strbuf_init(&out);
	is_known = put_name(&out, tree, 0);
	free(memory);
	if (is_known)
		return ftr_strbuf_take(&out);
	ftr_strbuf_fini(&out);
	return cplus_demangle_v3(name, DMGL_NO_OPTS);	/* "vtable for ..." and the like */
}

/* The initialiser of a file, named after a function in it. */
static char *cplus_file_initialiser(const char *name, size_t prefix_len)
{
	char *inner = cplus_simple(name + prefix_len);
	struct ftr_strbuf out;

	if (inner == NULL)
		return NULL;
	ftr_strbuf_init(&out);
	ftr_strbuf_put(&out, name, prefix_len);
	ftr_strbuf_puts(&out, inner);
	free(inner);
	return ftr_strbuf_take(&out);
}

/* Skips what stands in brackets from *p on; false when they do not close. */
static bool skip_brackets(const char **p, char open, char close)
{
	unsigned depth = 0;

	for (const char *at = *p; *at != '\0'; at++) {
		if (*at == open)
			depth++;
		else if (*at == close && at[-1] != '-' && --depth == 0) {	/* "->" is none */
			*p = at + 1;
			return true;
		}
	}
	return false;
}

/* "krate::f::<u32>" -> "krate::f" */
static char *rust_simple(char *full)
{
	const char *from = full;
	char *to = full;

	while (*from != '\0') {
		if (from != full && strncmp(from, "::<", 3) == 0) {
			const char *end = from + 2;

			if (skip_brackets(&end, '<', '>') && (*end == '\0' || *end == ':')) {
				from = end;
				continue;
			}
		}
		*to++ = *from++;
	}
	*to = '\0';
	return full;
}

/* "mod.f!(int).f(long)" -> "mod.f.f" */
static char *dlang_simple(char *full)
{
	const char *from = full;
	char *to = full;

	while (*from != '\0') {
		const char *end = from + (*from == '!');

		if (*end == '(' && skip_brackets(&end, '(', ')')) {
			from = end;
			continue;
		}
		*to++ = *from++;
	}
	*to = '\0';
	return full;
}

static char *demangle_known(const char *name, enum ftr_demangle style)
{
	static const char initialiser[] = "_GLOBAL__sub_I_";
	const size_t prefix_len = sizeof(initialiser) - 1;
	bool is_simple = style == FTR_DEMANGLE_SIMPLE;
	char *text;

	if (name[1] == 'D') {
		text = dlang_demangle(name, DMGL_NO_OPTS);
		return text != NULL && is_simple ? dlang_simple(text) : text;
	}
	if (name[1] == 'Z' || name[1] == 'R') {
		text = rust_demangle(name, DMGL_NO_OPTS);
		if (text != NULL)
			return is_simple ? rust_simple(text) : text;
	}
	if (!is_simple)
		return cplus_demangle_v3(name, DMGL_PARAMS | DMGL_ANSI);
	if (strncmp(name, initialiser, prefix_len) == 0)
		return cplus_file_initialiser(name, prefix_len);
	return name[1] == 'Z' ? cplus_simple(name) : NULL;
}

char *ftr_demangle(const char *name, enum ftr_demangle style)
{
	char *text = NULL;

	if (style != FTR_DEMANGLE_NO && name[0] == '_')
		text = demangle_known(name, style);
	return text == NULL ? strdup(name) : text;
}

/* The next character that counts. */
static const char *skip_uncounted(const char *s)
{
	for (;;) {
		if (isspace((unsigned char)*s))
			s++;
		else if (strncmp(s, "[abi:", 5) == 0 && strchr(s, ']') != NULL)
			s = strchr(s, ']') + 1;
		else
			return s;
	}
}

static bool is_same_name(const char *a, const char *b)
{
	for (;;) {
		a = skip_uncounted(a);
		b = skip_uncounted(b);
		if (*a != *b || *a == '\0')
			return *a == *b;
		a++;
		b++;
	}
}

/* Compares and frees. */
static bool take_same(char *name, const char *text)
{
	bool is_same = name != NULL && is_same_name(name, text);

	free(name);
	return is_same;
}

bool ftr_demangle_is(const char *mangled, const char *text)
{
	static const int ways[] = {
		DMGL_PARAMS | DMGL_ANSI, DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP, DMGL_NO_OPTS
	};
	bool is_same;

	if (mangled[0] != '_' || (mangled[1] != 'Z' && mangled[1] != 'R' && mangled[1] != 'D'))
		return false;
	is_same = take_same(demangle_known(mangled, FTR_DEMANGLE_FULL), text);
	for (size_t i = 0; !is_same && mangled[1] == 'Z' && i < sizeof(ways) / sizeof(ways[0]); i++)
		is_same = take_same(cplus_demangle_v3(mangled, ways[i]), text);
	return is_same;
}
