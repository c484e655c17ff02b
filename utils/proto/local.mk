# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	utils/proto/agent.h \
	utils/proto/attach.h \
	utils/proto/channel.h \
	utils/proto/control.h \
	utils/proto/environ.h \
	utils/proto/nursery.h \
	utils/proto/own_call.h \
	utils/proto/patch.h \
	utils/proto/plain.h \
	utils/proto/plt.h \
	utils/proto/pmu.h \
	utils/proto/record.h \
	utils/proto/ring.h \
	utils/proto/rules.h \
	utils/proto/sdt.h \
	utils/proto/sections.h \
	utils/proto/shadow.h \
	utils/proto/stack_part.h \
	utils/proto/tried.h \
	utils/proto/values.h \
	utils/proto/watch.h
