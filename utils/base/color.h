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

#define FTR_SGR_FUNC	FTR_SGR_CYAN

#endif /* FTR_BASE_COLOR_H */
