/* SPDX-License-Identifier: MIT */
/* The terminal of the browser: its keys, and its lines. */
#ifndef FTR_CMDS_TUI_SCREEN_H
#define FTR_CMDS_TUI_SCREEN_H

#include <stdbool.h>

#include "utils/base/err.h"

struct ftr_tui;

/* " ncurses" for --version, "" without. */
const char *ftr_tui_screen_library(void);
/* -ENOTSUP: this ftr has no terminal library; -ENOTTY: there is no terminal, or not such a one. */
int ftr_tui_screen_check(struct ftr_err *err);
/* Show @tui until the user leaves it; @has_mouse: if the terminal has one, too.  As above. */
int ftr_tui_screen_run(struct ftr_tui *tui, bool has_mouse, struct ftr_err *err);

/* Around what uses the terminal in another way meanwhile. */
void ftr_tui_screen_leave(void);
void ftr_tui_screen_enter(void);

#endif /* FTR_CMDS_TUI_SCREEN_H */
