# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	utils/script/engines.def \
	utils/script/process.c \
	utils/script/script.c \
	utils/script/script.h \
	utils/script/sink.c \
	utils/script/sink.h \
	utils/script/values.c \
	utils/script/values.h
if HAVE_LIBPYTHON
libftr_a_SOURCES += utils/script/python.c
else
libftr_a_SOURCES += utils/script/python_none.c
endif
if HAVE_LUAJIT
libftr_a_SOURCES += utils/script/lua.c
else
libftr_a_SOURCES += utils/script/lua_none.c
endif
