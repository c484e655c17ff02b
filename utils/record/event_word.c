/* SPDX-License-Identifier: MIT */
/* The argument of --Event. */
#include "utils/record/event_word.h"

#include <string.h>

#define KERNEL "@kernel"
#define FILTER " if "

bool ftr_event_word_next(const char **at, struct ftr_event_word *word)
{
	const char *s = *at, *kernel;
	size_t len;

	if (s == NULL)
		return false;
	len = strcspn(s, ",;");
	*at = s[len] != '\0' ? s + len + 1 : NULL;
	*word = (struct ftr_event_word){ .name = ftr_slice_trim(ftr_slice_make(s, len)) };
	kernel = memmem(s, len, KERNEL, strlen(KERNEL));
	if (kernel == NULL)
		return true;
	if (strncmp(kernel + strlen(KERNEL), FILTER, strlen(FILTER)) == 0) {
		const char *filter = kernel + strlen(KERNEL FILTER);

		word->filter = ftr_slice_trim(ftr_slice_make(filter, strlen(filter)));
		word->name.len = (size_t)(kernel + strlen(KERNEL) - word->name.s);
		*at = NULL;
	}
	word->is_kernel = word->name.s + word->name.len == kernel + strlen(KERNEL);
	if (word->is_kernel)
		word->name.len -= strlen(KERNEL);
	return true;
}
