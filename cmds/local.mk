# SPDX-License-Identifier: MIT
bin_PROGRAMS += ftr
ftr_SOURCES = \
	cmds/build.c \
	cmds/check.c \
	cmds/cmd.h \
	cmds/commands.def \
	cmds/completion.c \
	cmds/convert.c \
	cmds/dump.c \
	cmds/export.c \
	cmds/export.h \
	cmds/graph.c \
	cmds/help.c \
	cmds/help.h \
	cmds/info.c \
	cmds/live.c \
	cmds/main.c \
	cmds/open.c \
	cmds/open.h \
	cmds/opt_file.c \
	cmds/opt_file.h \
	cmds/output.c \
	cmds/output.h \
	cmds/record.c \
	cmds/record.h \
	cmds/record_observed.c \
	cmds/record_observed.h \
	cmds/registry.c \
	cmds/replay.c \
	cmds/replay.h \
	cmds/report.c \
	cmds/message.c \
	cmds/message.h \
	cmds/show.c \
	cmds/show.h \
	cmds/slowest.c \
	cmds/words.c \
	cmds/words.h
ftr_LDADD = $(FTR_LIBS)
