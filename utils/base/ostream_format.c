/* SPDX-License-Identifier: MIT */
/* Numbers and JSON strings into an output stream, formatted by hand. */
#include "utils/base/ostream.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/base/text.h"

static const char digit_pairs[200] =
	"0001020304050607080910111213141516171819"
	"2021222324252627282930313233343536373839"
	"4041424344454647484950515253545556575859"
	"6061626364656667686970717273747576777879"
	"8081828384858687888990919293949596979899";

static const char hex_digits[16] = "0123456789abcdef";

/* Without a branch, since nobody predicts how long the next number is. */
static inline unsigned decimal_digits(uint64_t value)
{
	/* What has one digit more; that of 0 is one of its own. */
	static const uint64_t powers[] = {
		0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000,
		10000000000, 100000000000, 1000000000000, 10000000000000, 100000000000000,
		1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000,
		UINT64_C(10000000000000000000),
	};
	unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);
	unsigned digits = bits * 1233 >> 12;	/* 1233 / 4096 is the logarithm of 2, and a bit */

	return digits + (value >= powers[digits]);
}

/* The digits of @value, right-aligned before @end; returns where they start. */
static char *put_backwards(char *end, uint64_t value)
{
	while (value >= 100) {
		end -= 2;
		memcpy(end, &digit_pairs[value % 100 * 2], 2);
		value /= 100;
	}
	if (value < 10) {
		*--end = (char)('0' + value);
		return end;
	}
	end -= 2;
	memcpy(end, &digit_pairs[value * 2], 2);
	return end;
}

char *ftr_fmt_u64(char *p, uint64_t value)
{
	char *end = p + decimal_digits(value);

	put_backwards(end, value);
	return end;
}

char *ftr_fmt_fixed(char *p, uint64_t value, unsigned digits, char pad)
{
	char text[20];
	char *start = put_backwards(text + sizeof(text), value);
	unsigned len = (unsigned)(text + sizeof(text) - start);

	if (len > digits) {
		start += len - digits;
		len = digits;
	}
	memset(p, pad, digits - len);
	memcpy(p + digits - len, start, len);
	return p + digits;
}

/* The eight nibbles of @value as eight digits, the first in the lowest byte. */
static inline __attribute__((always_inline)) uint64_t hex_of_u32(uint32_t value)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t v = __builtin_bswap32(value);
	uint64_t is_letter;

	v = (v | v << 16) & UINT64_C(0x0000ffff0000ffff);
	v = (v | v << 8) & UINT64_C(0x00ff00ff00ff00ff);
	v = (v >> 4 & UINT64_C(0x000f000f000f000f)) | (v & UINT64_C(0x000f000f000f000f)) << 8;
	is_letter = (v + 6 * ones) >> 4 & ones;
	return v + '0' * ones + is_letter * ('a' - '0' - 10);
}

static void put_u64_le(char *p, uint64_t value)
{
	if (FTR_HOST_IS_BIG)
		value = __builtin_bswap64(value);
	memcpy(p, &value, sizeof(value));
}

char *ftr_fmt_hex_wide(char *p, uint64_t value, unsigned digits)
{
	unsigned needed = (67 - (unsigned)__builtin_clzll(value | 1)) / 4;

	digits = digits > needed ? digits : needed;
	value <<= 64 - 4 * digits;
	put_u64_le(p, hex_of_u32((uint32_t)(value >> 32)));
	if (digits > 8)
		put_u64_le(p + 8, hex_of_u32((uint32_t)value));
	return p + digits;
}

char *ftr_fmt_hex(char *p, uint64_t value)
{
	return ftr_fmt_hex_wide(p, value, 1);
}

void ftr_ostream_u64(struct ftr_ostream *out, uint64_t value)
{
	char *p = ftr_ostream_reserve(out, 20);

	ftr_ostream_commit(out, (size_t)(ftr_fmt_u64(p, value) - p));
}

void ftr_ostream_u64_width(struct ftr_ostream *out, uint64_t value, unsigned width, char pad)
{
	unsigned digits = decimal_digits(value);

	if (width > digits)
		ftr_ostream_pad(out, pad, width - digits);
	ftr_ostream_u64(out, value);
}

void ftr_ostream_hex(struct ftr_ostream *out, uint64_t value)
{
	char *p = ftr_ostream_reserve(out, 16);

	ftr_ostream_commit(out, (size_t)(ftr_fmt_hex(p, value) - p));
}

void ftr_ostream_printf(struct ftr_ostream *out, const char *fmt, ...)
{
	char *p = ftr_ostream_reserve(out, 512);
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(p, 512, fmt, ap);
	va_end(ap);
	if (len >= 512) {
		p = ftr_ostream_reserve(out, (size_t)len + 1);
		if (p == NULL)
			return;
		va_start(ap, fmt);
		vsnprintf(p, (size_t)len + 1, fmt, ap);
		va_end(ap);
	}
	if (len > 0)
		ftr_ostream_commit(out, (size_t)len);
}

/* Bytes from @s on that stand in a JSON string as they are: ASCII but control, '"' and '\\'. */
static size_t json_plain_run(const char *s, size_t len)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	const uint64_t highs = ones << 7;
	size_t i = 0;

	while (i + 8 <= len) {
		uint64_t v;
		uint64_t quote;
		uint64_t backslash;

		memcpy(&v, s + i, 8);
		quote = v ^ ones * '"';
		backslash = v ^ ones * '\\';
		/* x - 1 borrows into the top bit where a byte x is 0; v - 0x20 where v < 0x20. */
		if ((((quote - ones) | (backslash - ones) | (v - ones * 0x20)) | v) & highs)
			break;
		i += 8;
	}
	while (i < len && (unsigned char)s[i] >= 0x20 && (unsigned char)s[i] < 0x80 &&
	       s[i] != '"' && s[i] != '\\')
		i++;
	return i;
}

static char *json_escape(char *p, unsigned char c)
{
	static const char letters[0x20] = { ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n',
					    ['\r'] = 'r', ['\t'] = 't' };

	*p++ = '\\';
	if (c >= 0x20) {		/* '"' and '\\' */
		*p++ = (char)c;
	} else if (letters[c] != 0) {
		*p++ = letters[c];
	} else {
		memcpy(p, "u00", 3);
		p[3] = hex_digits[c >> 4];
		p[4] = hex_digits[c & 15];
		p += 5;
	}
	return p;
}

/* One character that needs care, 6 bytes at most; returns how many input bytes it was. */
static size_t json_special(char **p, const char *s, size_t len)
{
	unsigned char c = (unsigned char)s[0];
	size_t bytes;

	if (c < 0x80) {
		*p = json_escape(*p, c);
		return 1;
	}
	bytes = ftr_utf8_char(s, len);
	if (bytes == 0) {
		memcpy(*p, "\xef\xbf\xbd", 3);
		*p += 3;
		return 1;
	}
	memcpy(*p, s, bytes);
	*p += bytes;
	return bytes;
}

static void json_plain(struct ftr_ostream *out, const char *s, size_t len)
{
	char *p = ftr_ostream_reserve(out, len + 2);

	p[0] = '"';
	memcpy(p + 1, s, len);
	p[len + 1] = '"';
	ftr_ostream_commit(out, len + 2);
}

void ftr_ostream_json_string(struct ftr_ostream *out, const char *s, size_t len)
{
	if (len > 0 && len < 1024 && json_plain_run(s, len) == len) {
		json_plain(out, s, len);
		return;
	}
	ftr_ostream_putc(out, '"');
	while (len > 0) {
		size_t run = json_plain_run(s, len);
		char *p;
		char *start;

		ftr_ostream_write(out, s, run);
		s += run;
		len -= run;
		if (len == 0)
			break;
		p = start = ftr_ostream_reserve(out, 8);
		run = json_special(&p, s, len);
		ftr_ostream_commit(out, (size_t)(p - start));
		s += run;
		len -= run;
	}
	ftr_ostream_putc(out, '"');
}
