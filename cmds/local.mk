# SPDX-License-Identifier: MIT
bin_PROGRAMS += ftr
ftr_SOURCES = \
	cmds/apart.c \
	cmds/apart.h \
	cmds/build.c \
	cmds/check.c \
	cmds/cmd.h \
	cmds/commands.def \
	cmds/completion.c \
	cmds/convert.c \
	cmds/ctl.c \
	cmds/diff.c \
	cmds/doctor.c \
	cmds/doctor.h \
	cmds/doctor_cost.c \
	cmds/dump.c \
	cmds/export.c \
	cmds/export.h \
	cmds/from.c \
	cmds/from.h \
	cmds/graph.c \
	cmds/graph.h \
	cmds/help.c \
	cmds/help.h \
	cmds/info.c \
	cmds/live.c \
	cmds/load.c \
	cmds/main.c \
	cmds/open.c \
	cmds/open.h \
	cmds/opt_file.c \
	cmds/opt_file.h \
	cmds/output.c \
	cmds/output.h \
	cmds/pack.c \
	cmds/pack.h \
	cmds/progress.c \
	cmds/progress.h \
	cmds/record.c \
	cmds/record.h \
	cmds/record_check.c \
	cmds/record_check.h \
	cmds/record_end.c \
	cmds/record_end.h \
	cmds/record_summary.c \
	cmds/record_summary.h \
	cmds/record_events.c \
	cmds/record_observed.c \
	cmds/record_observed.h \
	cmds/record_attach.c \
	cmds/record_attach.h \
	cmds/record_merge.c \
	cmds/record_merge.h \
	cmds/record_program.c \
	cmds/record_remote.c \
	cmds/record_remote.h \
	cmds/recv.c \
	cmds/recv_stream.c \
	cmds/recv_stream.h \
	cmds/registry.c \
	cmds/replay.c \
	cmds/replay.h \
	cmds/report.c \
	cmds/report_from.c \
	cmds/report_from.h \
	cmds/message.c \
	cmds/message.h \
	cmds/rules.c \
	cmds/rules.h \
	cmds/script.c \
	cmds/script.h \
	cmds/serve.c \
	cmds/serve_clients.c \
	cmds/serve_clients.h \
	cmds/show.c \
	cmds/show.h \
	cmds/slowest.c \
	cmds/temporary.c \
	cmds/temporary.h \
	cmds/top.c \
	cmds/top_show.c \
	cmds/top_show.h \
	cmds/tui.c \
	cmds/tui_screen.h \
	cmds/unpack.c \
	cmds/view.c \
	cmds/view_serve.h \
	cmds/words.c \
	cmds/words.h
ftr_LDADD = $(FTR_LIBS)
if HAVE_NCURSES
ftr_SOURCES += cmds/tui_curses.c
else
ftr_SOURCES += cmds/tui_none.c
endif
if HAVE_LIBMICROHTTPD
ftr_SOURCES += cmds/view_serve_mhd.c cmds/view_worker.c cmds/view_worker.h
else
ftr_SOURCES += cmds/view_serve_none.c
endif

# What --help shows of the manual's examples.
cmds/help.$(OBJEXT): cmds/help_examples.inc
CLEANFILES += cmds/help_examples.inc
help_pages = $(filter %.1,$(dist_man_MANS))
cmds/help_examples.inc: $(help_pages) doc/examples.awk
	$(AM_V_at)$(MKDIR_P) cmds
	$(AM_V_GEN)$(AWK) -v LIMIT=3 -f $(srcdir)/doc/examples.awk $(help_pages:%=$(srcdir)/%) >$@.new && mv $@.new $@

# Where the shells look for them.  ftr writes them: by an emulator for another machine, or not at all.
bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
fishcompletiondir = $(datadir)/fish/vendor_completions.d
completions = cmds/completions/ftr cmds/completions/_ftr cmds/completions/ftr.fish
if RUNS_HERE
nodist_bashcompletion_DATA = cmds/completions/ftr
nodist_zshcompletion_DATA = cmds/completions/_ftr
nodist_fishcompletion_DATA = cmds/completions/ftr.fish
endif
CLEANFILES += $(completions)

cmds/completions/ftr: SHELL_NAME = bash
cmds/completions/_ftr: SHELL_NAME = zsh
cmds/completions/ftr.fish: SHELL_NAME = fish
$(completions): ftr$(EXEEXT)
	$(AM_V_at)$(MKDIR_P) cmds/completions
	$(AM_V_GEN)$(HOST_RUN) ./ftr completion $(SHELL_NAME) > $@.tmp && mv $@.tmp $@
