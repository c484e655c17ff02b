/* SPDX-License-Identifier: MIT */
/* Terminal colours. */
#ifndef FTR_BASE_COLOR_H
#define FTR_BASE_COLOR_H

#define FTR_SGR_RESET	"\033[0m"
#define FTR_SGR_RED	"\033[91m"
#define FTR_SGR_GREEN	"\033[32m"
#define FTR_SGR_YELLOW	"\033[33m"
#define FTR_SGR_MAGENTA	"\033[35m"
#define FTR_SGR_CYAN	"\033[36m"
#define FTR_SGR_BLUE	"\033[94m"
#define FTR_SGR_GRAY	"\033[90m"
#define FTR_SGR_BOLD	"\033[1m"

#define FTR_SGR_FUNC	FTR_SGR_CYAN

/* All of the above have at most so many characters. */
#define FTR_SGR_CHARS	5

/* Of a colour that a rule gives, by its letter (struct ftr_rule); 0: that of functions. */
static inline const char *ftr_sgr_of_rule(char color)
{
	switch (color) {
	case 'r':
		return FTR_SGR_RED;
	case 'g':
		return FTR_SGR_GREEN;
	case 'b':
		return FTR_SGR_BLUE;
	case 'y':
		return FTR_SGR_YELLOW;
	case 'm':
		return FTR_SGR_MAGENTA;
	case 'c':
		return FTR_SGR_CYAN;
	case 'B':
		return FTR_SGR_BOLD;
	case 'w':
		return FTR_SGR_GRAY;
	default:
		return FTR_SGR_FUNC;
	}
}

#endif /* FTR_BASE_COLOR_H */
