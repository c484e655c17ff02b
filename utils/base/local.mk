# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	utils/base/arena.h \
	utils/base/bytes.h \
	utils/base/clock.h \
	utils/base/err.c \
	utils/base/err.h \
	utils/base/hashmap.h \
	utils/base/istream.h \
	utils/base/ostream.h \
	utils/base/strbuf.h \
	utils/base/strpool.h \
	utils/base/text.h \
	utils/base/vec.h
