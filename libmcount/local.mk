# SPDX-License-Identifier: MIT
# The runtime.  Compiled without vector registers: what it does not use it need not save.  Without a
# PLT: an auditor (LD_AUDIT) gets between those calls, and RTLD_NEXT then asks for its callers.
if HAVE_RUNTIME
mcountexec_PROGRAMS += libmcount.so
libmcount_sources = \
	libmcount/actions.c \
	libmcount/actions.h \
	libmcount/attach.c \
	libmcount/backtrace.c \
	libmcount/backtrace.h \
	libmcount/channel.c \
	libmcount/channel.h \
	libmcount/clock.c \
	libmcount/clock.h \
	libmcount/code_plan.c \
	libmcount/code_plan.h \
	libmcount/code_send.c \
	libmcount/code_write.c \
	libmcount/code_write.h \
	libmcount/environ.c \
	libmcount/environ.h \
	libmcount/exec.h \
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
	libmcount/lean.h \
	libmcount/late.c \
	libmcount/late.def \
	libmcount/late.h \
	libmcount/looking.h \
	libmcount/leave.c \
	libmcount/leave.h \
	libmcount/left.c \
	libmcount/left.h \
	libmcount/libraries.c \
	libmcount/libraries.h \
	libmcount/maps.c \
	libmcount/maps.h \
	libmcount/module.c \
	libmcount/module.h \
	libmcount/nursery.c \
	libmcount/nursery.h \
	libmcount/own_text.c \
	libmcount/own_text.h \
	libmcount/patch_near.c \
	libmcount/patch_near.h \
	libmcount/plain_code.h \
	libmcount/plt_bind.c \
	libmcount/plt_bind.h \
	libmcount/plt_stubs.c \
	libmcount/plt_stubs.h \
	libmcount/plt_symbols.c \
	libmcount/plt_symbols.h \
	libmcount/pmu.c \
	libmcount/pmu.h \
	libmcount/probe.c \
	libmcount/probe.h \
	libmcount/probe_cygprof.c \
	libmcount/probe_mcount.c \
	libmcount/probe_name.c \
	libmcount/probe_name.h \
	libmcount/probe_patch.c \
	libmcount/probe_plt.c \
	libmcount/probe_plt.h \
	libmcount/probe_rules.c \
	libmcount/probes.def \
	libmcount/readable.c \
	libmcount/readable.h \
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
	libmcount/semaphores.c \
	libmcount/sections.h \
	libmcount/semaphores.h \
	libmcount/session.c \
	libmcount/session.h \
	libmcount/stacks.c \
	libmcount/stacks.h \
	libmcount/state.h \
	libmcount/task_ring.c \
	libmcount/task_ring.h \
	libmcount/thread.c \
	libmcount/thread.h \
	libmcount/tried.c \
	libmcount/tried.h \
	libmcount/user.c \
	libmcount/values.c \
	libmcount/values_brief.c \
	libmcount/untraced.c \
	libmcount/untraced.h \
	libmcount/unwinding.c \
	libmcount/unwinding.h \
	libmcount/values.h \
	libmcount/values_brief.h \
	libmcount/values_decide.c \
	libmcount/values_decide.h \
	libmcount/values_find.c \
	libmcount/values_known.h \
	libmcount/values_walk.c \
	libmcount/values_walk.h \
	libmcount/vfork.c \
	libmcount/vfork.h \
	libmcount/watch.c \
	libmcount/watch.h \
	libmcount/x87.h \
	libmcount/wrap_exec.c \
	libmcount/wrap_longjmp.c \
	libmcount/wrap_mlockall.c \
	libmcount/wrap_prctl.c \
	libmcount/wrap_sigaltstack.c \
	libmcount/wrap_shell.c \
	libmcount/wrap_unshare.c \
	libmcount/wrap_vfork.c \
	utils/base/rt/sys.h
libmcount_so_SOURCES = $(libmcount_sources)
EXTRA_libmcount_so_DEPENDENCIES = $(srcdir)/libmcount/libmcount.map
libmcount_common_CFLAGS = -std=gnu11 $(WARN_CFLAGS) -fPIC -O2 \
	-fvisibility=hidden -ftls-model=initial-exec \
	-fno-stack-protector -fno-exceptions -fno-builtin -fomit-frame-pointer -fno-plt \
	-fno-sanitize=all $(NO_INSTRUMENT_CFLAGS)
libmcount_any_CFLAGS = $(libmcount_common_CFLAGS) $(MCOUNT_ANY_CFLAGS)
libmcount_so_CFLAGS = $(libmcount_any_CFLAGS) $(MCOUNT_ARCH_CFLAGS)
mcount_link_flags = -shared -nostartfiles -Wl,-z,now -Wl,-z,relro -Wl,-z,defs -Wl,-soname,$(@F)
libmcount_so_LDFLAGS = $(mcount_link_flags) -Wl,-z,initfirst \
	-Wl,--version-script=$(srcdir)/libmcount/libmcount.map
# It links libc alone.
libmcount_so_LDADD =
libmcount_nop_so_LDADD =
EXTRA_DIST += libmcount/libmcount.map

# For programs: what they say of themselves.
include_HEADERS = libmcount/ftr.h

# Probes that interpose functions: preloaded beside libmcount.so where they are on (utils/record/interposers.def).
mcountexec_PROGRAMS += libmcount-memory.so
libmcount_memory_so_SOURCES = libmcount/interpose_memory.c
libmcount_memory_so_CFLAGS = $(libmcount_so_CFLAGS)
libmcount_memory_so_LDFLAGS = $(mcount_link_flags)
libmcount_memory_so_LDADD = libmcount.so

mcountexec_PROGRAMS += libmcount-sync.so
libmcount_sync_so_SOURCES = \
	libmcount/interpose_call.c \
	libmcount/interpose_call.h \
	libmcount/interpose_sync.c
libmcount_sync_so_CFLAGS = $(libmcount_so_CFLAGS)
libmcount_sync_so_LDFLAGS = $(mcount_link_flags)
libmcount_sync_so_LDADD = libmcount.so
if ARCH_X86_64
# The conditions of before glibc 2.3.2 are others, and are left alone.
libmcount_sync_so_LDFLAGS += -Wl,--version-script=$(srcdir)/libmcount/sync.map
EXTRA_DIST += libmcount/sync.map
endif

mcountexec_PROGRAMS += libmcount-net.so
libmcount_net_so_SOURCES = \
	libmcount/interpose_call.c \
	libmcount/interpose_call.h \
	libmcount/interpose_net.c \
	libmcount/interpose_ours.h \
	libmcount/net_address.c \
	libmcount/net_address.h
libmcount_net_so_CFLAGS = $(libmcount_so_CFLAGS)
libmcount_net_so_LDFLAGS = $(mcount_link_flags)
libmcount_net_so_LDADD = libmcount.so

mcountexec_PROGRAMS += libmcount-thread.so
libmcount_thread_so_SOURCES = \
	libmcount/interpose_call.c \
	libmcount/interpose_call.h \
	libmcount/interpose_thread.c
libmcount_thread_so_CFLAGS = $(libmcount_so_CFLAGS)
libmcount_thread_so_LDFLAGS = $(mcount_link_flags)
libmcount_thread_so_LDADD = libmcount.so

# Of functions that take variable arguments, of which some are in vector registers; they may be changed by any call.
mcountexec_PROGRAMS += libmcount-file.so
libmcount_file_so_SOURCES = \
	libmcount/interpose_call.c \
	libmcount/interpose_call.h \
	libmcount/interpose_file.c \
	libmcount/interpose_ours.h \
	libmcount/interpose_stdio.c
libmcount_file_so_CFLAGS = $(libmcount_any_CFLAGS)
libmcount_file_so_LDFLAGS = $(mcount_link_flags)
libmcount_file_so_LDADD = libmcount.so

# What libraries that are loaded after attaching call before their constructors.
mcountexec_PROGRAMS += libmcount-late.so
libmcount_late_so_SOURCES = libmcount/late_init.c
libmcount_late_so_CFLAGS = $(libmcount_so_CFLAGS)
libmcount_late_so_LDFLAGS = $(mcount_link_flags)
libmcount_late_so_LDADD =

# What instrumented code calls, and nothing else: to measure what instrumentation costs by itself.
mcountexec_PROGRAMS += libmcount-nop.so
libmcount_nop_so_SOURCES = libmcount/nop.c
libmcount_nop_so_CFLAGS = $(libmcount_so_CFLAGS)
libmcount_nop_so_LDFLAGS = $(mcount_link_flags)
if ARCH_X86_64
libmcount_nop_so_SOURCES += \
	arch/x86_64/nop.S \
	arch/x86_64/saved.h
libmcount_so_SOURCES += \
	libmcount/plain_code.c \
	libmcount/plain_patch.c \
	libmcount/plain_patch.h \
	libmcount/probe_plain.c \
	libmcount/probe_sdt.c \
	arch/x86/jmpbuf.h \
	arch/x86/patch.h \
	arch/x86/rt.h \
	arch/x86_64/called.h \
	arch/x86_64/dlopen.S \
	arch/x86_64/jmpbuf.h \
	arch/x86_64/late.h \
	arch/x86_64/mcount.S \
	arch/x86_64/patch.S \
	arch/x86_64/patch.h \
	arch/x86_64/plain.S \
	arch/x86_64/plain.h \
	arch/x86_64/plt.S \
	arch/x86_64/probes.def \
	arch/x86_64/prologue.h \
	arch/x86_64/regs.h \
	arch/x86_64/rt.h \
	arch/x86_64/saved.h \
	arch/x86_64/site.S \
	arch/x86_64/site.h \
	arch/x86_64/syscall.S \
	arch/x86_64/stack_regs.h \
	arch/x86_64/transaction.h \
	arch/x86_64/unwind.S \
	arch/x86_64/values.h \
	arch/x86_64/vfork.S
endif
if ARCH_AARCH64
libmcount_nop_so_SOURCES += \
	arch/aarch64/nop.S \
	arch/aarch64/saved.h
libmcount_so_SOURCES += \
	libmcount/behind_prologue.c \
	libmcount/plain_code.c \
	libmcount/plain_patch.c \
	libmcount/plain_patch.h \
	libmcount/probe_plain.c \
	libmcount/probe_sdt.c \
	arch/aarch64/called.h \
	arch/aarch64/dlopen.S \
	arch/aarch64/jmpbuf.h \
	arch/aarch64/late.h \
	arch/aarch64/mcount.S \
	arch/aarch64/memory.c \
	arch/aarch64/patch.S \
	arch/aarch64/patch.h \
	arch/aarch64/plain.S \
	arch/aarch64/plain.h \
	arch/aarch64/plt.S \
	arch/aarch64/probes.def \
	arch/aarch64/prologue.h \
	arch/aarch64/prologues.h \
	arch/aarch64/regs.h \
	arch/aarch64/rt.h \
	arch/aarch64/saved.h \
	arch/aarch64/site.S \
	arch/aarch64/site.h \
	arch/aarch64/syscall.S \
	arch/aarch64/stack_regs.h \
	arch/aarch64/transaction.h \
	arch/aarch64/unwind.S \
	arch/aarch64/values.h \
	arch/aarch64/vfork.S
endif

# The same for 32-bit programs, whose dynamic linker looks for it in the directory of its platform (i686).
if HAVE_MULTILIB
multilibdir = $(mcountexecdir)/i686
multilib_flags = $(MULTILIB_CFLAGS) $(libmcount_common_CFLAGS) -fcf-protection=none
multilib_CPPFLAGS = -iquote $(top_builddir)/multilib $(AM_CPPFLAGS)
multilib_CFLAGS = $(multilib_flags) -mgeneral-regs-only -march=i686 -mtune=generic
multilib_PROGRAMS = i686/libmcount.so
i686_libmcount_so_SOURCES = \
	$(libmcount_sources) \
	libmcount/popped.c \
	arch/x86/jmpbuf.h \
	arch/x86/patch.h \
	arch/x86/rt.h \
	arch/i386/atomic.S \
	arch/i386/dlopen.S \
	arch/i386/jmpbuf.h \
	arch/i386/kernel.S \
	arch/i386/late.h \
	arch/i386/mcount.S \
	arch/i386/patch.S \
	arch/i386/patch.h \
	arch/i386/plt.S \
	arch/i386/probes.def \
	arch/i386/prologue.h \
	arch/i386/regs.h \
	arch/i386/rt.h \
	arch/i386/saved.h \
	arch/i386/stack_regs.h \
	arch/i386/syscall.S \
	arch/i386/transaction.h \
	arch/i386/unwind.S \
	arch/i386/values.h \
	arch/i386/vfork.S
EXTRA_i686_libmcount_so_DEPENDENCIES = $(srcdir)/libmcount/libmcount.map
i686_libmcount_so_CPPFLAGS = $(multilib_CPPFLAGS) -D_FILE_OFFSET_BITS=64
i686_libmcount_so_CCASFLAGS = $(MULTILIB_CFLAGS)
i686_libmcount_so_CFLAGS = $(multilib_CFLAGS)
i686_libmcount_so_LDFLAGS = $(libmcount_so_LDFLAGS)
i686_libmcount_so_LDADD =

multilib_PROGRAMS += i686/libmcount-nop.so
i686_libmcount_nop_so_SOURCES = libmcount/nop.c arch/i386/nop.S arch/i386/saved.h
i686_libmcount_nop_so_CPPFLAGS = $(multilib_CPPFLAGS)
i686_libmcount_nop_so_CCASFLAGS = $(MULTILIB_CFLAGS)
i686_libmcount_nop_so_CFLAGS = $(multilib_CFLAGS)
i686_libmcount_nop_so_LDFLAGS = $(mcount_link_flags)
i686_libmcount_nop_so_LDADD =

multilib_PROGRAMS += i686/libmcount-memory.so
i686_libmcount_memory_so_SOURCES = \
	arch/i386/atomic.S \
	arch/i386/kernel.S \
	libmcount/interpose_memory.c
i686_libmcount_memory_so_CPPFLAGS = $(multilib_CPPFLAGS)
i686_libmcount_memory_so_CCASFLAGS = $(MULTILIB_CFLAGS)
i686_libmcount_memory_so_CFLAGS = $(multilib_CFLAGS)
i686_libmcount_memory_so_LDFLAGS = $(mcount_link_flags)
i686_libmcount_memory_so_LDADD = i686/libmcount.so

multilib_PROGRAMS += i686/libmcount-sync.so
i686_libmcount_sync_so_SOURCES = \
	arch/i386/atomic.S \
	arch/i386/kernel.S \
	libmcount/interpose_call.c \
	libmcount/interpose_call.h \
	libmcount/interpose_sync.c
i686_libmcount_sync_so_CPPFLAGS = $(multilib_CPPFLAGS)
i686_libmcount_sync_so_CCASFLAGS = $(MULTILIB_CFLAGS)
i686_libmcount_sync_so_CFLAGS = $(multilib_CFLAGS)
i686_libmcount_sync_so_LDFLAGS = $(mcount_link_flags)
i686_libmcount_sync_so_LDADD = i686/libmcount.so

multilib_PROGRAMS += i686/libmcount-net.so
i686_libmcount_net_so_SOURCES = \
	arch/i386/atomic.S \
	arch/i386/kernel.S \
	libmcount/interpose_call.c \
	libmcount/interpose_call.h \
	libmcount/interpose_net.c \
	libmcount/interpose_ours.h \
	libmcount/net_address.c \
	libmcount/net_address.h
i686_libmcount_net_so_CPPFLAGS = $(multilib_CPPFLAGS)
i686_libmcount_net_so_CCASFLAGS = $(MULTILIB_CFLAGS)
i686_libmcount_net_so_CFLAGS = $(multilib_CFLAGS)
i686_libmcount_net_so_LDFLAGS = $(mcount_link_flags)
i686_libmcount_net_so_LDADD = i686/libmcount.so

multilib_PROGRAMS += i686/libmcount-thread.so
i686_libmcount_thread_so_SOURCES = \
	arch/i386/atomic.S \
	arch/i386/kernel.S \
	libmcount/interpose_call.c \
	libmcount/interpose_call.h \
	libmcount/interpose_thread.c
i686_libmcount_thread_so_CPPFLAGS = $(multilib_CPPFLAGS)
i686_libmcount_thread_so_CCASFLAGS = $(MULTILIB_CFLAGS)
i686_libmcount_thread_so_CFLAGS = $(multilib_CFLAGS)
i686_libmcount_thread_so_LDFLAGS = $(mcount_link_flags)
i686_libmcount_thread_so_LDADD = i686/libmcount.so

multilib_PROGRAMS += i686/libmcount-file.so
i686_libmcount_file_so_SOURCES = \
	arch/i386/atomic.S \
	arch/i386/kernel.S \
	libmcount/interpose_call.c \
	libmcount/interpose_call.h \
	libmcount/interpose_file.c \
	libmcount/interpose_ours.h \
	libmcount/interpose_stdio.c
i686_libmcount_file_so_CPPFLAGS = $(multilib_CPPFLAGS)
i686_libmcount_file_so_CCASFLAGS = $(MULTILIB_CFLAGS)
i686_libmcount_file_so_CFLAGS = $(multilib_flags)
i686_libmcount_file_so_LDFLAGS = $(mcount_link_flags)
i686_libmcount_file_so_LDADD = i686/libmcount.so

# What dynamic linkers call the platform (doc/adr/0098): each finds its directory.
multilib_links = x86_64 haswell xeon_phi i386 i486 i586
multilib_links_make = \
	for link in x86_64 haswell xeon_phi; do rm -f $$link && ln -s . $$link || exit 1; done; \
	for link in i386 i486 i586; do rm -f $$link && ln -s i686 $$link || exit 1; done
i686/links: i686/libmcount.so
	$(AM_V_GEN)$(multilib_links_make); touch $@
all-local: i686/links
CLEANFILES += $(multilib_links) i686/links
install-exec-hook:
	cd $(DESTDIR)$(mcountexecdir) && $(multilib_links_make)
uninstall-hook:
	cd $(DESTDIR)$(mcountexecdir) && rm -f $(multilib_links)
endif
endif
