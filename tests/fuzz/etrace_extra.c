/* SPDX-License-Identifier: MIT */
/* Of the etrace text alone: its system calls, without what makes events of them. */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "utils/format/etrace/etrace.h"

static void log_load(struct ftr_etrace_log *log, const void *data, size_t size)
{
	struct ftr_istream in;

	ftr_istream_from_memory(&in, "fuzz", data, size);
	ftr_etrace_log_init(log);
	check(ftr_etrace_load(log, &in, NULL, NULL) == 0);
	ftr_istream_close(&in);
}

static void log_write(const struct ftr_etrace_log *log, struct ftr_ostream *out)
{
	static const struct ftr_etrace_options options = { .is_extended = true };
	struct ftr_etrace_writer writer;

	check(ftr_ostream_to_memory(out) == 0);
	ftr_etrace_writer_init(&writer, out, &options);
	for (size_t i = 0; i < log->calls.nr; i++)
		check(ftr_etrace_write(&writer, &log->calls.v[i]) == 0);
	ftr_etrace_writer_fini(&writer);
}

/* Damage is mended by the first pass, so the second one changes no record. */
static void check_round_trip(const struct ftr_etrace_log *log)
{
	struct ftr_ostream first;
	struct ftr_etrace_log again;

	log_write(log, &first);
	log_load(&again, first.buf, first.len);
	check(again.calls.nr == log->calls.nr);
	ftr_etrace_log_fini(&again);
	ftr_ostream_close(&first, NULL);
}

void fuzz_extra_etrace(const uint8_t *data, size_t size)
{
	struct ftr_etrace_log log;

	log_load(&log, data, size);
	check_round_trip(&log);
	ftr_etrace_log_fini(&log);
}
