/* SPDX-License-Identifier: MIT */
/* Moving in a page of the browser: which row is selected, and which ones are on the screen. */
#include "utils/view/tui_page.h"

#include "utils/view/tui.h"

#define SHIFT_STEP 8

static void move_by(struct tui_page *page, size_t nr, bool is_up)
{
	size_t last = page->ops->row_nr(page);

	last -= last > 0;
	if (is_up)
		page->at -= nr < page->at ? nr : page->at;
	else
		page->at += nr < last - page->at ? nr : last - page->at;
}

bool tui_move_key(struct tui_page *page, int key, size_t body)
{
	size_t all = page->ops->row_nr(page);

	switch (key) {
	case FTR_TUI_UP:
	case 'k':
	case FTR_TUI_DOWN:
	case 'j':
		move_by(page, 1, key == FTR_TUI_UP || key == 'k');
		return true;
	case FTR_TUI_PAGE_UP:
	case FTR_TUI_PAGE_DOWN:
		move_by(page, body, key == FTR_TUI_PAGE_UP);
		return true;
	case FTR_TUI_HOME:
	case FTR_TUI_END:
		move_by(page, all, key == FTR_TUI_HOME);
		return true;
	case FTR_TUI_LEFT:
		page->shift -= page->shift < SHIFT_STEP ? page->shift : SHIFT_STEP;
		return true;
	case FTR_TUI_RIGHT:
		page->shift += SHIFT_STEP;
		return true;
	case 'z':
		page->top = page->at > body / 2 ? page->at - body / 2 : 0;
		return true;
	default:
		return false;
	}
}

void tui_scroll_by(struct tui_page *page, size_t nr, bool is_up, size_t body)
{
	size_t all = page->ops->row_nr(page), last = all > body ? all - body : 0;

	if (is_up)
		page->top -= nr < page->top ? nr : page->top;
	else if (page->top < last)
		page->top += nr < last - page->top ? nr : last - page->top;
	if (page->at < page->top)
		page->at = page->top;
	if (page->at - page->top >= body)
		page->at = page->top + body - 1;
}

void tui_scroll_to_selected(struct tui_page *page, size_t body)
{
	if (page->top > page->at)
		page->top = page->at;
	if (page->at - page->top >= body)
		page->top = page->at - body + 1;
}
