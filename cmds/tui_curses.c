/* SPDX-License-Identifier: MIT */
/*
 * The terminal of the browser, by ncurses, which is loaded when it is needed: the other commands
 * should not wait for it.
 */
#include "cmds/tui_screen.h"

#include "utils/base/optional_library.h"
#include "utils/view/tui.h"

#define NCURSES_WIDECHAR 1	/* addnwstr */
#define NCURSES_NOMACROS 1	/* functions alone, which can be looked up */
#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#undef tab		/* <term.h> defines names like these */
#undef lines
#undef columns

#define WAIT_MS	200
#define MOUSE_EVENTS 8		/* that ncurses keeps */
#define DOUBLE_MS 400		/* between two presses at one place that are one double click */
#define NO_STRING ((const char *)-1)	/* of tigetstr: a number or flag */
#define ESCAPE_DELAY_MS 50	/* a lone Escape is told from the first byte of a key by it */

#define WORD_OF(number) #number
#define NAME_OF(major)	"libncursesw.so." WORD_OF(major)
#define LIBRARY		NAME_OF(NCURSES_VERSION_MAJOR)

#define FUNCTIONS(X) \
	X(addch) X(addnwstr) X(attrset) X(cbreak) X(clearok) X(curs_set) X(del_curterm) \
	X(delscreen) X(endwin) X(erase) X(getch) X(getmouse) X(keypad) X(mouseinterval) \
	X(mousemask) X(move) X(newterm) X(nodelay) X(noecho) X(nonl) X(refresh) X(set_escdelay) \
	X(setupterm) X(tigetstr)
#define VARIABLES(X) X(COLS) X(LINES) X(cur_term) X(curscr) X(stdscr)

/* What is used of the library: functions, and pointers to its variables. */
static struct {
	FUNCTIONS(FTR_OPTIONAL_MEMBER)
	VARIABLES(FTR_OPTIONAL_MEMBER)
} curses;

#define ROW(name) FTR_OPTIONAL_ROW(curses, name)
static const struct ftr_optional_row library_rows[] = { FUNCTIONS(ROW) VARIABLES(ROW) };

static const struct ftr_optional_library library = {
	.user	   = "tui",
	.name	   = LIBRARY,
	.package   = "libncursesw6",
	.is_global = true,
	.rows	   = library_rows,
	.row_nr	   = sizeof(library_rows) / sizeof(library_rows[0]),
};

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
	if (ftr_optional_library_load(&library, &curses, err) < 0)
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
	ftr_tui_resize(tui, (unsigned)*curses.LINES_of, (unsigned)*curses.COLS_of);
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

/* ---- when it dies ---- */

#define RESTORE_BYTES 256
#define MOUSE_OFF "\033[?1006l\033[?1000l"

/* What a terminal is sent, and set to, at signals that ncurses leaves to their default. */
static struct {
	struct termios termios;
	char text[RESTORE_BYTES];
	size_t len;
} restore;

static void on_fatal(int nr)
{
	ssize_t ret = write(STDOUT_FILENO, restore.text, restore.len);

	(void)ret;		/* nobody is left to be told */
	tcsetattr(STDIN_FILENO, TCSANOW, &restore.termios);
	raise(nr);		/* its default, when this returns */
}

/* Without "$<5>", the milliseconds that old terminals need for it. */
static void restore_add(const char *text)
{
	while (text != NULL && text != NO_STRING && *text != '\0' &&
	       restore.len < sizeof(restore.text)) {
		if (strncmp(text, "$<", 2) == 0 && strchr(text, '>') != NULL)
			text = strchr(text, '>') + 1;
		else
			restore.text[restore.len++] = *text++;
	}
}

/* After newterm; the terminal's settings were saved before it. */
static void restore_at_signals(bool has_mouse)
{
	static const int nrs[] = { SIGHUP, SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV };
	struct sigaction action = { .sa_handler = on_fatal, .sa_flags = (int)SA_RESETHAND };
	struct sigaction before;

	if (has_mouse)
		restore_add(MOUSE_OFF);
	restore_add(curses.tigetstr_of("sgr0"));
	restore_add(curses.tigetstr_of("cnorm"));
	restore_add(curses.tigetstr_of("rmcup"));
	for (size_t i = 0; i < sizeof(nrs) / sizeof(nrs[0]); i++)
		if (sigaction(nrs[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
			sigaction(nrs[i], &action, NULL);
}

/* ---- the mouse ---- */

/* The last press of the left button: where, and when by the monotonic clock; zeros: none yet. */
struct press {
	int row, column;
	uint64_t time_ms;
};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* A third press begins anew. */
static bool is_again(struct press *last, int row, int column)
{
	uint64_t now = now_ms();
	bool is = last->time_ms != 0 && now - last->time_ms <= DOUBLE_MS && last->row == row &&
		  last->column == column;

	*last = (struct press){ .row = row, .column = column, .time_ms = is ? 0 : now };
	return is;
}

/*
 * Presses alone are asked for, at once: ncurses would wait for more to tell clicks.  False: the
 * terminal has no mouse.
 */
static bool mouse_begin(void)
{
	curses.mouseinterval_of(0);
	return curses.mousemask_of(BUTTON1_PRESSED | BUTTON3_PRESSED | BUTTON4_PRESSED |
				   BUTTON5_PRESSED, NULL) != 0;
}

static bool event_do(struct ftr_tui *tui, const MEVENT *event, struct press *last)
{
	int row = event->y, column = event->x;
	enum ftr_tui_button button;

	if (row < 0 || column < 0)
		return true;
	if (event->bstate & BUTTON1_PRESSED)
		button = is_again(last, row, column) ? FTR_TUI_SELECT_AGAIN : FTR_TUI_SELECT;
	else if (event->bstate & BUTTON3_PRESSED)
		button = FTR_TUI_BACK;
	else if (event->bstate & (BUTTON4_PRESSED | BUTTON5_PRESSED))
		button = event->bstate & BUTTON4_PRESSED ? FTR_TUI_WHEEL_UP : FTR_TUI_WHEEL_DOWN;
	else
		return true;
	return ftr_tui_mouse(tui, button, (unsigned)row, (unsigned)column);
}

/* One KEY_MOUSE stands for all that was there to be read, of which ncurses gives the last first. */
static bool mouse_read(struct ftr_tui *tui, struct press *last)
{
	MEVENT events[MOUSE_EVENTS];
	size_t nr = 0;
	bool goes_on = true;

	while (nr < MOUSE_EVENTS && curses.getmouse_of(&events[nr]) == OK)
		nr++;
	while (goes_on && nr > 0)
		goes_on = event_do(tui, &events[--nr], last);
	return goes_on;
}

/* Until the user leaves, or the terminal is gone. */
static void keys_read(struct ftr_tui *tui)
{
	struct press last = { .time_ms = 0 };
	bool goes_on = true;

	while (goes_on) {
		int ch;

		draw(tui);
		ch = wait_for_key();
		if (ch == KEY_RESIZE)	/* who knows what the terminal made of the lines */
			curses.clearok_of(*curses.curscr_of, TRUE);
		else if (ch == KEY_MOUSE)
			goes_on = mouse_read(tui, &last);
		else
			goes_on = ch != ERR && ftr_tui_key(tui, key_of(ch));
	}
}

int ftr_tui_screen_run(struct ftr_tui *tui, bool has_mouse, struct ftr_err *err)
{
	SCREEN *screen;

	setlocale(LC_CTYPE, "");
	tcgetattr(STDIN_FILENO, &restore.termios);
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
	restore_at_signals(has_mouse && mouse_begin());
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
