/* SPDX-License-Identifier: MIT */
/* Numbers and words in texts that people or files supply. */
#include "utils/base/text.h"

#include <errno.h>
#include <string.h>

#include "utils/base/ostream.h"

bool ftr_slice_eq(struct ftr_slice slice, const char *s)
{
	size_t len = strlen(s);

	return slice.len == len && memcmp(slice.s, s, len) == 0;
}

bool ftr_slice_same(struct ftr_slice a, struct ftr_slice b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.s, b.s, a.len) == 0);
}

bool ftr_slice_starts(struct ftr_slice slice, const char *prefix)
{
	size_t len = strlen(prefix);

	return slice.len >= len && memcmp(slice.s, prefix, len) == 0;
}

bool ftr_slice_split(struct ftr_slice *rest, char sep, struct ftr_slice *head)
{
	const char *at;

	if (rest->s == NULL)
		return false;
	at = memchr(rest->s, sep, rest->len);
	if (at == NULL) {
		*head = *rest;
		*rest = (struct ftr_slice){ NULL, 0 };
		return true;
	}
	*head = ftr_slice_make(rest->s, (size_t)(at - rest->s));
	*rest = ftr_slice_make(at + 1, rest->len - head->len - 1);
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

struct ftr_slice ftr_slice_trim(struct ftr_slice slice)
{
	while (slice.len > 0 && is_blank(slice.s[0])) {
		slice.s++;
		slice.len--;
	}
	while (slice.len > 0 && is_blank(slice.s[slice.len - 1]))
		slice.len--;
	return slice;
}

/* Characters that are looked at together. */
typedef uint8_t chars __attribute__((vector_size(16)));

/* Of those from @s on that are control characters all bits are set. */
static inline chars controls_of(const char *s)
{
	const chars blank = { 0 };
	chars c;

	memcpy(&c, s, sizeof(c));
	return (chars)(c < blank + ' ') | (chars)(c == blank + 0x7f);
}

static bool is_control(char c)
{
	return (uint8_t)c < ' ' || c == 0x7f;
}

bool ftr_text_is_printable(const char *s, size_t len)
{
	chars controls = { 0 };
	uint64_t halves[2];
	size_t at = 0;

	for (; at + sizeof(chars) <= len; at += sizeof(chars))
		controls |= controls_of(s + at);
	if (at > 0)
		controls |= controls_of(s + len - sizeof(chars));
	memcpy(halves, &controls, sizeof(halves));
	for (; len < sizeof(chars) && at < len; at++)
		halves[0] |= is_control(s[at]);
	return (halves[0] | halves[1]) == 0;
}

static unsigned digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'z')
		return (unsigned)(c - 'a') + 10;
	if (c >= 'A' && c <= 'Z')
		return (unsigned)(c - 'A') + 10;
	return 255;
}

/* Reads the leading digits and steps over them; -EINVAL when there is none. */
static int take_digits(struct ftr_slice *text, unsigned base, uint64_t *value)
{
	bool is_too_large = false;
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < text->len && digit_value(text->s[i]) < base; i++) {
		is_too_large |= __builtin_mul_overflow(sum, (uint64_t)base, &sum);
		is_too_large |= __builtin_add_overflow(sum, (uint64_t)digit_value(text->s[i]),
						       &sum);
	}
	if (i == 0)
		return -EINVAL;
	*text = ftr_slice_make(text->s + i, text->len - i);
	*value = sum;
	return is_too_large ? -ERANGE : 0;
}

int ftr_parse_u64(struct ftr_slice text, unsigned base, uint64_t *value)
{
	uint64_t number = 0;
	int ret;

	if (base == 0) {
		bool is_hex = ftr_slice_starts(text, "0x") || ftr_slice_starts(text, "0X");

		base = is_hex ? 16 : 10;
		if (is_hex)
			text = ftr_slice_make(text.s + 2, text.len - 2);
	}
	ret = take_digits(&text, base, &number);
	if (text.len > 0)
		return -EINVAL;
	if (ret == 0)
		*value = number;
	return ret;
}

int ftr_parse_i64(struct ftr_slice text, int64_t *value)
{
	bool is_negative = text.len > 0 && text.s[0] == '-';
	uint64_t magnitude = 0;
	int ret;

	if (text.len > 0 && (text.s[0] == '-' || text.s[0] == '+'))
		text = ftr_slice_make(text.s + 1, text.len - 1);
	ret = ftr_parse_u64(text, 10, &magnitude);
	if (ret < 0)
		return ret;
	if (magnitude > (uint64_t)INT64_MAX + is_negative)
		return -ERANGE;
	*value = (int64_t)(is_negative ? -magnitude : magnitude);
	return 0;
}

int ftr_parse_size(struct ftr_slice text, uint64_t *bytes)
{
	static const char units[] = "kmgt";
	uint64_t number = 0;
	unsigned shift = 0;
	int ret = take_digits(&text, 10, &number);

	if (ret == -EINVAL)
		return ret;
	if (text.len > 0) {
		const char *unit = memchr(units, text.s[0] | 0x20, sizeof(units) - 1);

		if (unit != NULL)
			shift = 10 * (unsigned)(unit - units + 1);
		text = ftr_slice_make(text.s + (unit != NULL), text.len - (unit != NULL));
		if (text.len == 1 && (text.s[0] == 'B' || text.s[0] == 'b'))	/* "4MB", "100B" */
			text.len = 0;
	}
	if (text.len > 0)
		return -EINVAL;
	if (ret < 0 || number > UINT64_MAX >> shift)
		return -ERANGE;
	*bytes = number << shift;
	return 0;
}

/* The digits after a point as @unit_ns / 10, / 100 ...; digits too small to count are dropped. */
static int take_fraction(struct ftr_slice *text, uint64_t unit_ns, uint64_t *ns)
{
	size_t i;

	*ns = 0;
	for (i = 0; i < text->len && digit_value(text->s[i]) < 10; i++) {
		unit_ns /= 10;
		*ns += digit_value(text->s[i]) * unit_ns;
	}
	*text = ftr_slice_make(text->s + i, text->len - i);
	return i == 0 ? -EINVAL : 0;
}

static const struct time_unit {
	const char *name;
	uint64_t ns;
} time_units[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "ms", 1000000 },
	{ "s", 1000000000 },
	{ "m", UINT64_C(60000000000) },
	{ "h", UINT64_C(3600000000000) },
};

static uint64_t time_unit_ns(struct ftr_slice name)
{
	for (size_t i = 0; i < sizeof(time_units) / sizeof(time_units[0]); i++) {
		if (ftr_slice_eq(name, time_units[i].name))
			return time_units[i].ns;
	}
	return 0;
}

/* @whole * @unit_ns + @part */
static int scale_time(uint64_t whole, uint64_t unit_ns, uint64_t part, uint64_t *ns)
{
	uint64_t sum;

	if (__builtin_mul_overflow(whole, unit_ns, &sum) || __builtin_add_overflow(sum, part, &sum))
		return -ERANGE;
	*ns = sum;
	return 0;
}

int ftr_parse_time(struct ftr_slice text, uint64_t *ns, bool *has_unit)
{
	struct ftr_slice fraction = { NULL, 0 };
	uint64_t ignored;
	uint64_t part = 0;
	uint64_t unit_ns;
	uint64_t whole;
	int ret = take_digits(&text, 10, &whole);

	if (ret == -EINVAL)
		return ret;
	if (text.len > 0 && text.s[0] == '.') {
		fraction = text = ftr_slice_make(text.s + 1, text.len - 1);
		if (take_fraction(&text, 0, &ignored) < 0)
			return -EINVAL;
	}
	if (has_unit != NULL)
		*has_unit = text.len > 0;
	unit_ns = text.len > 0 ? time_unit_ns(text) : 1;
	if (unit_ns == 0 || (fraction.s != NULL && text.len == 0))
		return -EINVAL;
	if (fraction.s != NULL)
		take_fraction(&fraction, unit_ns, &part);
	return ret < 0 ? ret : scale_time(whole, unit_ns, part, ns);
}

int ftr_parse_timestamp(struct ftr_slice text, uint64_t *ns)
{
	uint64_t part = 0;
	uint64_t sec;
	int ret = take_digits(&text, 10, &sec);

	if (ret == -EINVAL)
		return ret;
	if (text.len > 0) {
		if (text.s[0] != '.' || text.len > 1 + 9)
			return -EINVAL;
		text = ftr_slice_make(text.s + 1, text.len - 1);
		if (take_fraction(&text, 1000000000, &part) < 0 || text.len > 0)
			return -EINVAL;
	}
	return ret < 0 ? ret : scale_time(sec, 1000000000, part, ns);
}

/* Lengths, and the bounds of the second byte, by lead byte: the table of well-formed UTF-8. */
static const struct utf8_lead {
	unsigned char first, last, bytes, second_min, second_max;
} utf8_leads[] = {
	{ 0x00, 0x7f, 1, 0x00, 0x00 },
	{ 0xc2, 0xdf, 2, 0x80, 0xbf },
	{ 0xe0, 0xe0, 3, 0xa0, 0xbf },		/* no overlong form */
	{ 0xe1, 0xec, 3, 0x80, 0xbf },
	{ 0xed, 0xed, 3, 0x80, 0x9f },		/* no surrogate */
	{ 0xee, 0xef, 3, 0x80, 0xbf },
	{ 0xf0, 0xf0, 4, 0x90, 0xbf },
	{ 0xf1, 0xf3, 4, 0x80, 0xbf },
	{ 0xf4, 0xf4, 4, 0x80, 0x8f },		/* not beyond U+10FFFF */
};

static const struct utf8_lead *utf8_lead_find(unsigned char c)
{
	for (size_t i = 0; i < sizeof(utf8_leads) / sizeof(utf8_leads[0]); i++) {
		if (c >= utf8_leads[i].first && c <= utf8_leads[i].last)
			return &utf8_leads[i];
	}
	return NULL;
}

size_t ftr_utf8_char(const char *s, size_t len)
{
	const unsigned char *p = (const unsigned char *)s;
	const struct utf8_lead *lead = len == 0 ? NULL : utf8_lead_find(p[0]);

	if (lead == NULL || len < lead->bytes)
		return 0;
	if (lead->bytes > 1 && (p[1] < lead->second_min || p[1] > lead->second_max))
		return 0;
	for (size_t i = 2; i < lead->bytes; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	return lead->bytes;
}

static const struct duration_unit {
	uint64_t below_ns;	/* the first unit whose limit is above the duration is shown */
	uint64_t unit_ns;
	uint64_t small_ns;	/* what the three digits behind the point count */
	char name[4];
} duration_units[] = {
	{ 1000000,                    1000,                    1,                    " us" },
	{ 1000000000,                 1000000,                 1000,                 " ms" },
	{ UINT64_C(60000000000),      1000000000,              1000000,              "  s" },
	{ UINT64_C(3600000000000),    UINT64_C(60000000000),   1000000000,           "  m" },
	{ UINT64_C(3600000000000000), UINT64_C(3600000000000), UINT64_C(60000000000), "  h" },
};

static char *fmt_duration_in(char *p, uint64_t ns, const struct duration_unit *unit)
{
	p = ftr_fmt_fixed(p, ns / unit->unit_ns, 3, ' ');
	*p++ = '.';
	p = ftr_fmt_fixed(p, ns % unit->unit_ns / unit->small_ns, 3, '0');
	memcpy(p, unit->name, 3);
	return p + 3;
}

/* @value < 1000 in three columns; @pad, a blank or '0', is what zeros in front look like. */
static void put_three(char *p, uint32_t value, char pad)
{
	p[0] = value >= 100 ? (char)('0' + value / 100) : pad;
	p[1] = value >= 10 ? (char)('0' + value / 10 % 10) : pad;
	p[2] = (char)('0' + value % 10);
}

char *ftr_fmt_duration(char *p, uint64_t ns)
{
	if (ns == 0) {
		memset(p, ' ', FTR_DURATION_CHARS);
		return p + FTR_DURATION_CHARS;
	}
	/* The usual ones, spelled out: constant divisors are multiplications. */
	if (ns < 1000000) {
		put_three(p, (uint32_t)ns / 1000, ' ');
		p[3] = '.';
		put_three(p + 4, (uint32_t)ns % 1000, '0');
		memcpy(p + 7, " us", 3);
		return p + FTR_DURATION_CHARS;
	}
	for (size_t i = 1; i < sizeof(duration_units) / sizeof(duration_units[0]); i++) {
		if (ns < duration_units[i].below_ns)
			return fmt_duration_in(p, ns, &duration_units[i]);
	}
	memcpy(p, "999.999  h", FTR_DURATION_CHARS);
	return p + FTR_DURATION_CHARS;
}
