/* SPDX-License-Identifier: MIT */
/* The terminal of the browser, where ftr was built without ncurses. */
#include "cmds/tui_screen.h"

#include <errno.h>

const char *ftr_tui_screen_library(void)
{
	return "";
}

int ftr_tui_screen_check(struct ftr_err *err)
{
	return ftr_err_set(err, ENOTSUP, "this ftr was built without ncurses: install "
			   "libncurses-dev and build it again; ftr graph and ftr report show the "
			   "same");
}

int ftr_tui_screen_run(struct ftr_tui *tui, bool has_mouse, struct ftr_err *err)
{
	return ftr_tui_screen_check(err);
}

void ftr_tui_screen_leave(void)
{
}

void ftr_tui_screen_enter(void)
{
}
