# SPDX-License-Identifier: MIT
# import ftr: libftr.a as a module of Python's stable interface, for any version from 3.8 on.
EXTRA_DIST += python/ftr.map
if HAVE_PYTHON_MODULE
pythonext_PROGRAMS = python/ftr.abi3.so
python_ftr_abi3_so_SOURCES = \
	python/calls.c \
	python/calls.h \
	python/events.c \
	python/events.h \
	python/limited.h \
	python/module.c \
	python/reading.c \
	python/reading.h
python_ftr_abi3_so_CFLAGS = -std=gnu11 $(WARN_CFLAGS) -fPIC -fvisibility=hidden
python_ftr_abi3_so_LDFLAGS = -shared -Wl,-z,now -Wl,--version-script=$(srcdir)/python/ftr.map
python_ftr_abi3_so_LDADD = $(FTR_LIBS)
EXTRA_python_ftr_abi3_so_DEPENDENCIES = $(srcdir)/python/ftr.map
endif
