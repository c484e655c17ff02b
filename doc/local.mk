# SPDX-License-Identifier: MIT
dist_man_MANS += \
	doc/ftr.1 \
	doc/ftr-build.1 \
	doc/ftr-check.1 \
	doc/ftr-convert.1 \
	doc/ftr-data.5 \
	doc/ftr-dump.1 \
	doc/ftr-etrace.5 \
	doc/ftr-graph.1 \
	doc/ftr-info.1 \
	doc/ftr-live.1 \
	doc/ftr-record.1 \
	doc/ftr-replay.1 \
	doc/ftr-report.1 \
	doc/ftr-slowest.1
EXTRA_DIST += \
	doc/ARCHITECTURE.md \
	doc/BENCH.md \
	doc/GLOSSARY.md \
	doc/HACKING.md \
	doc/HOWTO-ADD-a-collector.md \
	doc/HOWTO-ADD-a-command.md \
	doc/HOWTO-ADD-a-format.md \
	doc/HOWTO-ADD-a-probe.md \
	doc/HOWTO-ADD-an-architecture.md \
	doc/adr/0001-two-waists.md \
	doc/adr/0002-names-in-the-recorder.md \
	doc/adr/0003-uftrace-data-directory.md \
	doc/adr/0004-ring-memory-order.md \
	doc/adr/0005-pull-sources-push-sinks.md \
	doc/adr/0006-accepts-and-stated-loss.md \
	doc/adr/0007-no-plug-ins.md \
	doc/adr/0008-unwinding-through-return-stubs.md \
	doc/adr/0009-ticks-to-nanoseconds.md \
	doc/adr/0010-when-a-recording-ends.md \
	doc/adr/0011-library-calls-at-the-got.md \
	doc/adr/0012-modules-are-noticed-at-their-first-call.md \
	doc/adr/0013-the-observer.md \
	doc/adr/0014-calls-complete-in-a-window.md \
	doc/adr/0015-perf-events-are-inherited.md \
	doc/adr/0016-one-tree-of-calls.md \
	doc/adr/0017-obeying-the-programs-limits.md \
	doc/adr/0018-estimated-returns.md \
	doc/adr/0019-kernel-pages-by-libtraceevent.md \
	doc/adr/0020-events-out-of-order.md \
	doc/adr/0021-sections.md \
	doc/adr/0022-pipes.md \
	doc/adr/0023-options-of-formats-and-collectors.md \
	doc/adr/0024-tests-under-a-guard.md \
	doc/adr/0025-payload-units.md \
	doc/adr/0026-frames-of-coroutines.md \
	doc/adr/0029-values-without-faults.md \
	doc/adr/0031-pages-and-their-owner.md \
	doc/adr/0034-growing-traces.md \
	doc/adr/0035-exceptions-get-addresses-back.md \
	doc/fxt.md \
	doc/layers.txt
