# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	utils/base/arena.c \
	utils/base/arena.h \
	utils/base/bits.h \
	utils/base/bytes.h \
	utils/base/clock.c \
	utils/base/clock.h \
	utils/base/closest.c \
	utils/base/closest.h \
	utils/base/color.h \
	utils/base/duration.c \
	utils/base/duration.h \
	utils/base/err.c \
	utils/base/err.h \
	utils/base/gunzip.c \
	utils/base/gunzip.h \
	utils/base/hashmap.c \
	utils/base/hashmap.h \
	utils/base/istream.c \
	utils/base/istream.h \
	utils/base/option.c \
	utils/base/option.h \
	utils/base/ostream.c \
	utils/base/ostream.h \
	utils/base/ostream_format.c \
	utils/base/scratch.c \
	utils/base/scratch.h \
	utils/base/sorter.c \
	utils/base/sorter.h \
	utils/base/strbuf.c \
	utils/base/strbuf.h \
	utils/base/strpool.c \
	utils/base/strpool.h \
	utils/base/text.c \
	utils/base/text.h \
	utils/base/vec.c \
	utils/base/vec.h
