/* SPDX-License-Identifier: MIT */
/* See net_address.h. */
#include "libmcount/net_address.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/un.h>

#define GROUPS 8			/* of an IPv6 address */

static char *put_number(char *to, unsigned number, unsigned base)
{
	char digits[12];
	unsigned nr = 0;

	do
		digits[nr++] = "0123456789abcdef"[number % base];
	while ((number /= base) != 0);
	while (nr > 0)
		*to++ = digits[--nr];
	return to;
}

static char *put_text(char *to, const char *text)
{
	while (*text != '\0')
		*to++ = *text++;
	return to;
}

static char *put_port(char *to, in_port_t port)
{
	const uint8_t *bytes = (const uint8_t *)&port;

	*to++ = ':';
	return put_number(to, (unsigned)bytes[0] << 8 | bytes[1], 10);
}

static char *put_v4(char *to, const uint8_t *bytes)
{
	for (unsigned i = 0; i < 4; i++) {
		if (i > 0)
			*to++ = '.';
		to = put_number(to, bytes[i], 10);
	}
	return to;
}

/* The first of the longest run of two zeros and more, and how many; GROUPS = none. */
static unsigned zeros_find(const uint16_t groups[GROUPS], unsigned *nr)
{
	unsigned best = GROUPS;

	*nr = 1;
	for (unsigned i = 0; i < GROUPS; i++) {
		unsigned end = i;

		while (end < GROUPS && groups[end] == 0)
			end++;
		if (end - i > *nr) {
			best = i;
			*nr = end - i;
		}
	}
	return best;
}

/* RFC 5952. */
static char *put_v6(char *to, const uint8_t *bytes)
{
	uint16_t groups[GROUPS];
	unsigned zeros, zero_nr, i;

	for (i = 0; i < GROUPS; i++)
		groups[i] = (uint16_t)(bytes[2 * i] << 8 | bytes[2 * i + 1]);
	zeros = zeros_find(groups, &zero_nr);
	for (i = 0; i < GROUPS; i++) {
		if (i == zeros) {
			to = put_text(to, "::");
			i += zero_nr - 1;
			continue;
		}
		if (i > 0 && i != zeros + zero_nr)
			*to++ = ':';
		to = put_number(to, groups[i], 16);
	}
	return to;
}

static char *put_unix(char *to, const char *path, socklen_t bytes)
{
	bool is_abstract = bytes > 0 && path[0] == '\0';

	to = put_text(to, "unix:");
	for (socklen_t i = 0; i < bytes && (path[i] != '\0' || is_abstract); i++)
		*to++ = path[i] != '\0' ? path[i] : '@';
	return to;
}

uint64_t ftr_net_address(char text[FTR_NET_ADDRESS_MAX], const struct sockaddr_storage *address,
			 socklen_t bytes)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
	const struct sockaddr_un *local = (const struct sockaddr_un *)address;
	socklen_t head = offsetof(struct sockaddr_un, sun_path);
	uint64_t family = bytes >= sizeof(sa_family_t) ? address->ss_family : 0;
	char *end = text;

	if (family == AF_INET && bytes >= sizeof(*v4)) {
		end = put_port(put_v4(text, (const uint8_t *)&v4->sin_addr), v4->sin_port);
	} else if (family == AF_INET6 && bytes >= offsetof(struct sockaddr_in6, sin6_scope_id)) {
		*end++ = '[';
		end = put_v6(end, (const uint8_t *)&v6->sin6_addr);
		*end++ = ']';
		end = put_port(end, v6->sin6_port);
	} else if (family == AF_UNIX) {
		bytes = bytes < sizeof(*local) ? bytes : sizeof(*local);
		end = put_unix(text, local->sun_path, bytes - head);
	} else if (family != 0) {
		end = put_number(put_text(text, "family "), (unsigned)family, 10);
	}
	*end = '\0';
	return family;
}
