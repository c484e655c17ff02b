# SPDX-License-Identifier: MIT
# The runtime.  Compiled without vector registers: what it does not use it need not save.  Without a
# PLT: an auditor (LD_AUDIT) gets between those calls, and RTLD_NEXT then asks for its callers.
mcountexec_PROGRAMS += libmcount.so
libmcount_so_SOURCES = \
	libmcount/actions.c \
	libmcount/actions.h \
	libmcount/channel.c \
	libmcount/channel.h \
	libmcount/clock.c \
	libmcount/clock.h \
	libmcount/code_write.c \
	libmcount/code_write.h \
	libmcount/environ.c \
	libmcount/environ.h \
	libmcount/fork.c \
	libmcount/fork.h \
	libmcount/frame.h \
	libmcount/frames.c \
	libmcount/frames.h \
	libmcount/gate.c \
	libmcount/gate.h \
	libmcount/gated.c \
	libmcount/gated.h \
	libmcount/helper.c \
	libmcount/helper.h \
	libmcount/hook.c \
	libmcount/hook.h \
	libmcount/interposed.c \
	libmcount/interposed.h \
	libmcount/invariant.c \
	libmcount/invariant.h \
	libmcount/jump_sites.c \
	libmcount/jump_sites.h \
	libmcount/leave.c \
	libmcount/leave.h \
	libmcount/libraries.c \
	libmcount/libraries.h \
	libmcount/maps.c \
	libmcount/maps.h \
	libmcount/module.c \
	libmcount/module.h \
	libmcount/own_text.c \
	libmcount/own_text.h \
	libmcount/patch_near.c \
	libmcount/patch_near.h \
	libmcount/plain_code.c \
	libmcount/plain_code.h \
	libmcount/plt_bind.c \
	libmcount/plt_bind.h \
	libmcount/plt_stubs.c \
	libmcount/plt_stubs.h \
	libmcount/plt_symbols.c \
	libmcount/plt_symbols.h \
	libmcount/probe.c \
	libmcount/probe.h \
	libmcount/probe_cygprof.c \
	libmcount/probe_mcount.c \
	libmcount/probe_name.c \
	libmcount/probe_name.h \
	libmcount/probe_patch.c \
	libmcount/probe_plain.c \
	libmcount/probe_plt.c \
	libmcount/probe_plt.h \
	libmcount/probe_rules.c \
	libmcount/probes.def \
	libmcount/real.c \
	libmcount/real.h \
	libmcount/reals.def \
	libmcount/refresh.c \
	libmcount/returns.c \
	libmcount/returns.h \
	libmcount/ring.c \
	libmcount/rules.c \
	libmcount/rules.h \
	libmcount/scratch.c \
	libmcount/scratch.h \
	libmcount/seccomp.c \
	libmcount/seccomp.h \
	libmcount/sections.c \
	libmcount/sections.h \
	libmcount/session.c \
	libmcount/stacks.c \
	libmcount/stacks.h \
	libmcount/state.h \
	libmcount/thread.c \
	libmcount/thread.h \
	libmcount/values.c \
	libmcount/untraced.c \
	libmcount/untraced.h \
	libmcount/unwinding.c \
	libmcount/unwinding.h \
	libmcount/values.h \
	libmcount/vfork.c \
	libmcount/vfork.h \
	libmcount/watch.c \
	libmcount/watch.h \
	libmcount/wrap_exec.c \
	libmcount/wrap_longjmp.c \
	libmcount/wrap_mlockall.c \
	libmcount/wrap_prctl.c \
	libmcount/wrap_sigaltstack.c \
	libmcount/wrap_shell.c \
	libmcount/wrap_unshare.c \
	libmcount/wrap_vfork.c \
	utils/base/rt/sys.h
EXTRA_libmcount_so_DEPENDENCIES = $(srcdir)/libmcount/libmcount.map
libmcount_so_CFLAGS = -std=gnu11 $(WARN_CFLAGS) $(MCOUNT_ARCH_CFLAGS) -fPIC -O2 \
	-fvisibility=hidden -ftls-model=initial-exec -fcf-protection=branch \
	-fno-stack-protector -fno-exceptions -fno-builtin -fomit-frame-pointer -fno-plt \
	-fno-sanitize=all
libmcount_so_LDFLAGS = -shared -nostartfiles -Wl,-z,now -Wl,-z,relro -Wl,-z,defs -Wl,-z,initfirst \
	-Wl,-soname,libmcount.so -Wl,--version-script=$(srcdir)/libmcount/libmcount.map
# It links libc alone.
libmcount_so_LDADD =
libmcount_nop_so_LDADD =
EXTRA_DIST += libmcount/libmcount.map

# Probes that interpose functions: preloaded beside libmcount.so where they are on (utils/record/interposers.def).
mcountexec_PROGRAMS += libmcount-memory.so
libmcount_memory_so_SOURCES = libmcount/interpose_memory.c
libmcount_memory_so_CFLAGS = $(libmcount_so_CFLAGS)
libmcount_memory_so_LDFLAGS = -shared -nostartfiles -Wl,-z,now -Wl,-z,relro -Wl,-z,defs \
	-Wl,-soname,libmcount-memory.so
libmcount_memory_so_LDADD = libmcount.so

mcountexec_PROGRAMS += libmcount-sync.so
libmcount_sync_so_SOURCES = libmcount/interpose_sync.c
libmcount_sync_so_CFLAGS = $(libmcount_so_CFLAGS)
libmcount_sync_so_LDFLAGS = -shared -nostartfiles -Wl,-z,now -Wl,-z,relro -Wl,-z,defs \
	-Wl,-soname,libmcount-sync.so
libmcount_sync_so_LDADD = libmcount.so
if ARCH_X86_64
# The conditions of before glibc 2.3.2 are others, and are left alone.
libmcount_sync_so_LDFLAGS += -Wl,--version-script=$(srcdir)/libmcount/sync.map
EXTRA_DIST += libmcount/sync.map
endif

# What instrumented code calls, and nothing else: to measure what instrumentation costs by itself.
mcountexec_PROGRAMS += libmcount-nop.so
libmcount_nop_so_SOURCES = libmcount/nop.c
libmcount_nop_so_CFLAGS = $(libmcount_so_CFLAGS)
libmcount_nop_so_LDFLAGS = -shared -nostartfiles -Wl,-z,now -Wl,-z,relro -Wl,-z,defs -Wl,-soname,libmcount-nop.so
if ARCH_X86_64
libmcount_nop_so_SOURCES += \
	arch/x86_64/nop.S \
	arch/x86_64/saved.h
libmcount_so_SOURCES += \
	arch/x86_64/dlopen.S \
	arch/x86_64/jmpbuf.h \
	arch/x86_64/mcount.S \
	arch/x86_64/patch.S \
	arch/x86_64/patch.h \
	arch/x86_64/plain.S \
	arch/x86_64/plain.h \
	arch/x86_64/plt.S \
	arch/x86_64/prologue.h \
	arch/x86_64/regs.h \
	arch/x86_64/rt.h \
	arch/x86_64/saved.h \
	arch/x86_64/syscall.S \
	arch/x86_64/transaction.h \
	arch/x86_64/unwind.S \
	arch/x86_64/values.h \
	arch/x86_64/vfork.S
endif
