# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	utils/view/color.h \
	utils/view/duration.c \
	utils/view/duration.h \
	utils/view/event_text.c \
	utils/view/event_text.h \
	utils/view/fields.c \
	utils/view/fields.h \
	utils/view/replay.c \
	utils/view/replay.h \
	utils/view/replay_flat.c \
	utils/view/replay_flat.h \
	utils/view/replay_line.c \
	utils/view/replay_line.h \
	utils/view/unfinished.c \
	utils/view/unfinished.h
