# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	utils/fleet/answer.c \
	utils/fleet/answer.h \
	utils/fleet/ask.c \
	utils/fleet/ask.h \
	utils/fleet/ask_graph.c \
	utils/fleet/ask_graph.h \
	utils/fleet/http.c \
	utils/fleet/http.h \
	utils/fleet/load.c \
	utils/fleet/load.h \
	utils/fleet/question.c \
	utils/fleet/question.h \
	utils/fleet/sender.c \
	utils/fleet/sender.h \
	utils/fleet/tables.c \
	utils/fleet/tables.h
if HAVE_LIBCURL
libftr_a_SOURCES += utils/fleet/http_curl.c
else
libftr_a_SOURCES += utils/fleet/http_none.c
endif
