/* SPDX-License-Identifier: MIT */
/*
 * See readable.h.  The kernel is asked to change the signal mask in a way that there is none of:
 * it reads the mask first, and changes nothing.  That is the cheapest system call that reads, and
 * filters of system calls let it pass.
 */
#include "libmcount/readable.h"

#include <errno.h>
#include <stdint.h>

#include "libmcount/channel.h"
#include "libmcount/state.h"
#include "utils/base/rt/sys.h"

#define PAGE_BYTES 4096u	/* the smallest: larger ones are readable as a whole */
#define PAGES_KNOWN 4u

/* Pages that were found to be readable: texts of an environment follow each other. */
struct pages {
	uintptr_t known[PAGES_KNOWN];
	unsigned next;
};

static bool ask(uintptr_t page)
{
	return ftr_sys4(SYS_rt_sigprocmask, FTR_READABLE_HOW, page, NULL, sizeof(uint64_t)) !=
	       -EFAULT;
}

static bool is_page_readable(struct pages *pages, uintptr_t at)
{
	uintptr_t page = at - at % PAGE_BYTES;
	unsigned i;

	for (i = 0; i < PAGES_KNOWN; i++) {
		if (pages->known[i] == page)
			return page != 0;
	}
	if (!ask(page))
		return false;
	pages->known[pages->next++ % PAGES_KNOWN] = page;
	return true;
}

static bool is_text(struct pages *pages, const char *text)
{
	do {
		if (!is_page_readable(pages, (uintptr_t)text))
			return false;
		do {
			if (*text++ == '\0')
				return true;
		} while ((uintptr_t)text % PAGE_BYTES != 0);
	} while (true);
}

bool ftr_is_readable(const char *text)
{
	struct pages pages = { .next = 0 };

	return text != NULL && !ftr_is_silent() && is_text(&pages, text);
}

bool ftr_are_readable(char *const *texts)
{
	struct pages pages = { .next = 0 };

	for (; !ftr_is_silent(); texts++) {
		if (!is_page_readable(&pages, (uintptr_t)texts) ||
		    !is_page_readable(&pages, (uintptr_t)(texts + 1) - 1))
			return false;
		if (*texts == NULL)
			return true;
		if (!is_text(&pages, *texts))
			return false;
	}
	return false;
}
