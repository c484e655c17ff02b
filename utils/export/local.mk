# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	utils/export/call_tree.c \
	utils/export/call_tree.h \
	utils/export/compile_commands.c \
	utils/export/compile_commands.h \
	utils/export/flame_graph.c \
	utils/export/graphviz.c \
	utils/export/mermaid.c
