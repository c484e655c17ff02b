/* SPDX-License-Identifier: MIT */
/*
 * The terminal of the browser, by ncurses, which is loaded when it is needed: the other commands
 * should not wait for it.
 */
#include "cmds/tui_screen.h"

#include "utils/view/tui.h"

#define NCURSES_WIDECHAR 1	/* addnwstr */
#define NCURSES_NOMACROS 1	/* functions alone, which can be looked up */
#include <curses.h>
#include <dlfcn.h>
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <unistd.h>
#include <wchar.h>

#undef tab		/* <term.h> defines names like these */
#undef lines
#undef columns

#define WAIT_MS	200
#define NO_STRING ((const char *)-1)	/* of tigetstr: a number or flag */
#define ESCAPE_DELAY_MS 50	/* a lone Escape is told from the first byte of a key by it */

#define WORD_OF(number) #number
#define NAME_OF(major)	"libncursesw.so." WORD_OF(major)
#define LIBRARY		NAME_OF(NCURSES_VERSION_MAJOR)

#define FUNCTIONS(X) \
	X(addch) X(addnwstr) X(attrset) X(cbreak) X(clearok) X(curs_set) X(del_curterm) \
	X(delscreen) X(endwin) X(erase) X(getch) X(keypad) X(move) X(newterm) X(nodelay) X(noecho) \
	X(nonl) X(refresh) X(set_escdelay) X(setupterm) X(tigetstr)
#define VARIABLES(X) X(COLS) X(LINES) X(cur_term) X(curscr) X(stdscr)

/* What is used of the library: functions, and pointers to its variables. */
static struct {
#define MEMBER(name) __typeof__(&(name)) name##_of;
	FUNCTIONS(MEMBER)
	VARIABLES(MEMBER)
#undef MEMBER
} curses;

static int curses_load(struct ftr_err *err)
{
	static const struct {
		const char *name;
		size_t offset;
	} rows[] = {
#define ROW(name) { #name, offsetof(__typeof__(curses), name##_of) },
		FUNCTIONS(ROW)
		VARIABLES(ROW)
#undef ROW
	};
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_GLOBAL);

	if (library == NULL)
		return ftr_err_set(err, ENOENT, "tui needs " LIBRARY ": %s; install it "
				   "(apt-get install libncursesw6)", dlerror());
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		void *address = dlsym(library, rows[i].name);

		if (address == NULL)
			return ftr_err_set(err, ENOENT, "tui: " LIBRARY " has no %s; install "
					   "another one (apt-get install libncursesw6)",
					   rows[i].name);
		memcpy((char *)&curses + rows[i].offset, &address, sizeof(address));
	}
	return 0;
}

const char *ftr_tui_screen_library(void)
{
	return " ncurses";
}

int ftr_tui_screen_check(struct ftr_err *err)
{
	const char *term = getenv("TERM");
	int status = 1;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return ftr_err_set(err, ENOTTY,
				   "tui needs a terminal for its input and its output; ftr graph and "
				   "ftr report print the same");
	if (curses_load(err) < 0)
		return -ENOENT;
	if (curses.setupterm_of(term, STDOUT_FILENO, &status) == OK) {
		const char *moving = curses.tigetstr_of("cup");
		bool moves = moving != NULL && moving != NO_STRING;

		curses.del_curterm_of(*curses.cur_term_of);
		if (moves)
			return 0;
	}
	return ftr_err_set(err, ENOTTY, "tui cannot move the cursor on this terminal, TERM=%s; ftr "
			   "graph and ftr report print the same", term == NULL ? "" : term);
}

static chtype attribute_of(enum ftr_tui_style style)
{
	return style == FTR_TUI_SELECTED ? A_REVERSE : style == FTR_TUI_HEAD ? A_BOLD : A_NORMAL;
}

/* The next character, '?' for what is none that can be shown; *columns it takes.  Its bytes. */
static size_t char_next(const char *text, wchar_t *wc, int *columns)
{
	mbstate_t state = { 0 };
	size_t len = mbrtowc(wc, text, MB_CUR_MAX, &state);

	if (len == (size_t)-1 || len == (size_t)-2)
		len = 1;
	else if (wcwidth(*wc) >= 0)
		*columns = wcwidth(*wc);
	else
		len = len > 0 ? len : 1;
	if (*columns < 0) {
		*wc = L'?';
		*columns = 1;
	}
	return len;
}

static void put_line(void *arg, const struct ftr_tui_line *line)
{
	const char *text = line->text;
	int column = -(int)line->shift;

	curses.attrset_of(attribute_of(line->style));
	curses.move_of((int)line->row, 0);
	while (*text != '\0') {
		int columns = -1;
		wchar_t wc;

		text += char_next(text, &wc, &columns);
		if (column + columns > *curses.COLS_of)
			break;
		if (column >= 0)
			curses.addnwstr_of(&wc, 1);
		column += columns;
	}
	if (column < 0)
		column = 0;
	while (line->style == FTR_TUI_SELECTED && column++ < *curses.COLS_of)
		curses.addch_of(' ');
	curses.attrset_of(A_NORMAL);
}

static void draw(struct ftr_tui *tui)
{
	curses.erase_of();
	ftr_tui_resize(tui, (unsigned)*curses.LINES_of);
	ftr_tui_draw(tui, put_line, NULL);
	curses.refresh_of();
}

static int key_of(int ch)
{
	static const struct { int of_curses, key; } rows[] = {
		{ KEY_UP, FTR_TUI_UP },
		{ KEY_DOWN, FTR_TUI_DOWN },
		{ KEY_LEFT, FTR_TUI_LEFT },
		{ KEY_RIGHT, FTR_TUI_RIGHT },
		{ KEY_PPAGE, FTR_TUI_PAGE_UP },
		{ KEY_NPAGE, FTR_TUI_PAGE_DOWN },
		{ KEY_HOME, FTR_TUI_HOME },
		{ KEY_END, FTR_TUI_END },
		{ KEY_ENTER, FTR_TUI_ENTER },
		{ '\r', FTR_TUI_ENTER },
		{ KEY_BACKSPACE, FTR_TUI_BACKSPACE },
		{ 0x7f, FTR_TUI_BACKSPACE },
		{ '\b', FTR_TUI_BACKSPACE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].of_curses == ch)
			return rows[i].key;
	return ch;
}

/*
 * The next key; ERR: the terminal is gone.  A change of its size that comes just before ncurses
 * waits for a key would be seen at the next key only, so the waiting is done here, in parts.
 */
static int wait_for_key(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	for (;;) {
		int ch = curses.getch_of();

		if (ch != ERR)
			return ch;
		if (poll(&input, 1, WAIT_MS) > 0)
			return curses.getch_of();
	}
}

/* Until the user leaves, or the terminal is gone. */
static void keys_read(struct ftr_tui *tui)
{
	bool goes_on = true;

	while (goes_on) {
		int ch;

		draw(tui);
		ch = wait_for_key();
		if (ch == KEY_RESIZE)	/* who knows what the terminal made of the lines */
			curses.clearok_of(*curses.curscr_of, TRUE);
		else
			goes_on = ch != ERR && ftr_tui_key(tui, key_of(ch));
	}
}

int ftr_tui_screen_run(struct ftr_tui *tui, struct ftr_err *err)
{
	SCREEN *screen;

	setlocale(LC_CTYPE, "");
	screen = curses.newterm_of(NULL, stdout, stdin);
	if (screen == NULL)
		return ftr_err_set(err, ENOTTY, "tui: the terminal cannot be used");
	curses.set_escdelay_of(ESCAPE_DELAY_MS);
	curses.cbreak_of();
	curses.noecho_of();
	curses.nonl_of();
	curses.keypad_of(*curses.stdscr_of, TRUE);
	curses.curs_set_of(0);
	curses.nodelay_of(*curses.stdscr_of, TRUE);
	keys_read(tui);
	curses.endwin_of();
	curses.delscreen_of(screen);
	return 0;
}

void ftr_tui_screen_leave(void)
{
	curses.endwin_of();
}

void ftr_tui_screen_enter(void)
{
	curses.clearok_of(*curses.stdscr_of, TRUE);
	curses.refresh_of();
}
