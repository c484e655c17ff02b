# SPDX-License-Identifier: MIT
bin_PROGRAMS += ftr
ftr_SOURCES = \
	cmds/cmd.h \
	cmds/main.c \
	cmds/say.h
ftr_LDADD = $(FTR_LIBS)
