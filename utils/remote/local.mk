# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	utils/remote/fanout.c \
	utils/remote/fanout.h \
	utils/remote/follow.c \
	utils/remote/follow.h \
	utils/remote/receive.c \
	utils/remote/receive.h \
	utils/remote/swap_control.c \
	utils/remote/swap_control.h \
	utils/remote/tcp.c \
	utils/remote/tcp.h \
	utils/remote/wire.c \
	utils/remote/wire.h
