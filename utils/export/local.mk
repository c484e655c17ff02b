# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	utils/export/call_tree.c \
	utils/export/call_tree.h \
	utils/export/compile_commands.c \
	utils/export/compile_commands.h \
	utils/export/flame_graph.c \
	utils/export/graphviz.c \
	utils/export/mermaid.c \
	utils/export/pprof.c \
	utils/export/rows.c \
	utils/export/rows.h \
	utils/export/rows_columns.c \
	utils/export/rows_columns.h \
	utils/export/rows_encode.c \
	utils/export/rows_paths.c \
	utils/export/rows_paths.h \
	utils/export/rows_sums.c \
	utils/export/rows_sums.h \
	utils/export/speedscope.c \
	utils/export/svg.c

libftr_a_SOURCES += utils/export/html.c
EXTRA_DIST += utils/export/html_page.html
utils/export/html.$(OBJEXT): utils/export/html_page.inc
CLEANFILES += utils/export/html_page.inc

# A string for each line: no compiler has to take longer ones.
utils/export/html_page.inc: utils/export/html_page.html
	$(AM_V_at)$(MKDIR_P) utils/export
	$(AM_V_GEN)sed -e 's/[\\"]/\\&/g' -e 's/^/"/' -e 's/$$/\\n",/' $(srcdir)/utils/export/html_page.html >$@.new && mv $@.new $@
