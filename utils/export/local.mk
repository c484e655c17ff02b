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

libftr_a_SOURCES += \
	utils/export/html.c \
	utils/export/html.h \
	utils/export/html_part.c \
	utils/export/html_lanes.c \
	utils/export/html_lanes.h \
	utils/export/html_lanes_data.h \
	utils/export/html_lanes_put.c \
	utils/export/html_lanes_switch.c \
	utils/export/html_lanes_take.c \
	utils/export/html_put.c \
	utils/export/html_put.h \
	utils/export/html_series.c \
	utils/export/html_series.h \
	utils/export/html_spans.c \
	utils/export/html_spans.h \
	utils/export/html_texts.c \
	utils/export/html_texts.h \
	utils/export/html_tree.c \
	utils/export/html_tree.h
utils/export/html.$(OBJEXT): utils/export/html_page.inc
CLEANFILES += utils/export/html_page.inc

# In the order in which they stand in the page.
html_page_files = \
	utils/export/page/head.html \
	utils/export/page/style.css \
	utils/export/page/body.html \
	utils/export/page/text.js \
	utils/export/page/spans.js \
	utils/export/page/range.js \
	utils/export/page/detail.js \
	utils/export/page/lanes.js \
	utils/export/page/timeline.js \
	utils/export/page/sums.js \
	utils/export/page/weigh.js \
	utils/export/page/compare.js \
	utils/export/page/table.js \
	utils/export/page/flame.js \
	utils/export/page/lower.js \
	utils/export/page/pick.js \
	utils/export/page/input.js \
	utils/export/page/tail.html
EXTRA_DIST += $(html_page_files)

# A string for each line: no compiler has to take longer ones.
utils/export/html_page.inc: $(html_page_files)
	$(AM_V_at)$(MKDIR_P) utils/export
	$(AM_V_GEN)for file in $(html_page_files); do cat $(srcdir)/$$file || exit 1; done | \
		sed -e 's/[\\"]/\\&/g' -e 's/^/"/' -e 's/$$/\\n",/' >$@.new && mv $@.new $@
