/* SPDX-License-Identifier: MIT */
/*
 * A look at a format before libtraceevent gets it, whose parser falls over print fmts that end in
 * the middle or name fields that are not there:
 *
 *		field:pid_t next_pid;	offset:56;	size:4;	signed:1;
 *
 *	print fmt: "next_pid=%d", REC->next_pid
 */
#include <ctype.h>
#include <string.h>

#include "utils/base/text.h"
#include "utils/format/ftrace/ftrace.h"

#define FIELD_PREFIX "field:"
#define PRINT_PREFIX "print fmt: "
#define RECORD_PREFIX "REC->"
#define BRACKETS_MAX 64

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static struct ftr_slice word_at(const char *s, const char *end)
{
	const char *start = s;

	while (s < end && is_word(*s))
		s++;
	return ftr_slice_make(start, (size_t)(s - start));
}

/* "field:char prev_comm[16];": prev_comm */
static struct ftr_slice field_name(struct ftr_slice line)
{
	const char *end = line.len > 0 ? memchr(line.s, ';', line.len) : NULL;
	const char *bracket, *start;

	if (end == NULL)
		return ftr_slice_make(line.s, 0);
	bracket = memrchr(line.s, '[', (size_t)(end - line.s));
	if (bracket != NULL && end[-1] == ']' && bracket > line.s && is_word(bracket[-1]))
		end = bracket;
	for (start = end; start > line.s && is_word(start[-1]);)
		start--;
	return ftr_slice_make(start, (size_t)(end - start));
}

/* "offset:12;": a number, and what is behind it. */
static bool number_take(struct ftr_slice *line, const char *what)
{
	size_t len = strlen(what);
	struct ftr_slice number;
	uint64_t value;

	*line = ftr_slice_trim(*line);
	if (!ftr_slice_starts(*line, what))
		return false;
	*line = ftr_slice_make(line->s + len, line->len - len);
	return ftr_slice_split(line, ';', &number) && line->s != NULL &&
	       ftr_parse_u64(ftr_slice_trim(number), 10, &value) == 0;
}

static bool field_is_sound(struct ftr_slice line)
{
	struct ftr_slice name = field_name(line), type;

	if (!ftr_slice_starts(line, FIELD_PREFIX) || name.len == 0 ||
	    !ftr_slice_split(&line, ';', &type) || line.s == NULL)
		return false;
	return number_take(&line, "offset:") && number_take(&line, "size:") &&
	       number_take(&line, "signed:") && ftr_slice_trim(line).len == 0;
}

/* Only what declarations are made of. */
static bool line_is_text(struct ftr_slice line)
{
	for (size_t i = 0; i < line.len; i++) {
		if (!is_word(line.s[i]) &&
		    (line.s[i] == '\0' || strchr("\t *[]():;,+-", line.s[i]) == NULL))
			return false;
	}
	return true;
}

bool ftr_ftrace_fields_are_sound(struct ftr_slice fields)
{
	static const char *const heads[] = { "name: ", "ID: ", "format:" };
	struct ftr_slice line;

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		if (!ftr_slice_split(&fields, '\n', &line) || !ftr_slice_starts(line, heads[i]) ||
		    !line_is_text(line))
			return false;
	}
	while (ftr_slice_split(&fields, '\n', &line)) {
		bool is_text = line_is_text(line);

		line = ftr_slice_trim(line);
		if (!is_text || (line.len > 0 && !field_is_sound(line)))
			return false;
	}
	return true;
}

static bool field_is_there(struct ftr_slice fields, struct ftr_slice name)
{
	struct ftr_slice line;

	while (ftr_slice_split(&fields, '\n', &line)) {
		struct ftr_slice at = ftr_slice_trim(line), found;

		if (!ftr_slice_starts(at, FIELD_PREFIX))
			continue;
		found = field_name(at);
		if (found.len == name.len && memcmp(found.s, name.s, name.len) == 0)
			return name.len > 0;
	}
	return false;
}

/* Behind a string that begins at @s; NULL: it has no end. */
static const char *string_skip(const char *s, const char *end)
{
	for (s++; s < end && *s != '"'; s++)
		s += *s == '\\';
	return s < end ? s + 1 : NULL;
}

/* Brackets closed in the order they were opened in. */
struct brackets {
	char open[BRACKETS_MAX];
	int nr;
};

static bool bracket_is_sound(struct brackets *brackets, char c)
{
	static const char opening[] = "([{", closing[] = ")]}";
	const char *at;

	if (c == '\0')
		return false;
	if (strchr(opening, c) != NULL) {
		if (brackets->nr == BRACKETS_MAX)
			return false;
		brackets->open[brackets->nr++] = c;
		return true;
	}
	at = strchr(closing, c);
	return at == NULL ||
	       (brackets->nr > 0 && brackets->open[--brackets->nr] == opening[at - closing]);
}

/* What divides is a field, which is looked at later, or a number but 0. */
static bool divisor_is_sound(const char *s, const char *end)
{
	while (s < end && (*s == ' ' || *s == '('))
		s++;
	return s < end && ((*s >= '1' && *s <= '9') ||
			   ftr_slice_starts(ftr_slice_make(s, (size_t)(end - s)), RECORD_PREFIX));
}

/* At one of == != <= >=; nothing is assigned in a print fmt. */
static bool is_comparison(const char *s, const char *end)
{
	return strchr("=!<>", s[-1]) != NULL || (s + 1 < end && s[1] == '=');
}

/* Behind a value, which ends at @s, no other begins. */
static const char *value_end(const char *s, const char *end)
{
	const char *next = s;

	while (next < end && *next == ' ')
		next++;
	return next < end && (is_word(*next) || *next == '"') ? NULL : s;
}

/* Behind a number, a field, or another word; a function's is followed by what it is called with. */
static const char *word_skip(struct ftr_slice fields, const char *s, const char *end)
{
	struct ftr_slice word = word_at(s, end);
	const char *next = s + word.len;

	if (isdigit((unsigned char)*s)) {
		for (size_t i = 0; i < word.len; i++) {
			if (!isxdigit((unsigned char)s[i]) && strchr("xXuUlL", s[i]) == NULL)
				return NULL;
		}
		return value_end(next, end);
	}
	if (ftr_slice_starts(ftr_slice_make(s, (size_t)(end - s)), RECORD_PREFIX)) {
		next = s + strlen(RECORD_PREFIX);
		word = word_at(next, end);
		return field_is_there(fields, word) ? value_end(next + word.len, end) : NULL;
	}
	return ftr_slice_starts(word, "__") && (next == end || *next != '(') ? NULL : next;
}

/* Behind one piece of a print fmt; NULL: it is none. */
static const char *term_skip(struct ftr_slice fields, const char *s, const char *end)
{
	if (is_word(*s))
		return word_skip(fields, s, end);
	if (*s == '"')
		return string_skip(s, end);
	if (*s == '\'')
		return end - s > 2 && s[2] == '\'' ? s + 3 : NULL;
	if ((*s == '/' && !divisor_is_sound(s + 1, end)) || (*s == '=' && !is_comparison(s, end)))
		return NULL;
	return *s != '\0' && strchr(" ,()[]{}?:|&+-*/<>=!~^", *s) != NULL ? s + 1 : NULL;
}

static bool terms_are_sound(struct ftr_slice fields, const char *s, const char *end)
{
	struct brackets brackets = { .nr = 0 };

	while (s != NULL && s < end) {
		if (!bracket_is_sound(&brackets, *s))
			return false;
		s = term_skip(fields, s, end);
	}
	return s != NULL && brackets.nr == 0;
}

bool ftr_ftrace_print_is_sound(struct ftr_slice format, size_t *fields_bytes)
{
	const char *at = memmem(format.s, format.len, "\n" PRINT_PREFIX, strlen("\n" PRINT_PREFIX));
	const char *end = format.s + format.len;
	const char *line_end;

	*fields_bytes = at == NULL ? format.len : (size_t)(at + 1 - format.s);
	if (at == NULL)
		return false;
	at += strlen("\n" PRINT_PREFIX);
	line_end = memchr(at, '\n', (size_t)(end - at));
	return line_end != NULL && *at == '"' &&
	       terms_are_sound(ftr_slice_make(format.s, *fields_bytes), at, line_end);
}
