/* SPDX-License-Identifier: MIT */
/* A run's rows into the database of a fleet: a sink over those that make the rows. */
#include "utils/fleet/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "utils/base/bits.h"
#include "utils/base/ostream.h"
#include "utils/export/rows.h"
#include "utils/fleet/http.h"
#include "utils/fleet/sender.h"
#include "utils/fleet/tables.h"
#include "utils/trace/summary.h"

#define BLOCK_BYTES FTR_MIB(8)	/* the server sorts a block in memory; many small ones are slow */
#define RANDOM_VALUES 4096

/* The rows of one table, until they are a block. */
struct stream {
	struct ftr_ostream out;		/* first: row_put receives a pointer to it */
	struct ftr_sink *rows;		/* (owned) writes to it */
	struct rows_values values;
	struct sender_block *block;	/* (owned) rows are in out */
	uint64_t row_nr;
	bool failed;			/* out of memory */
};

struct load_sink {
	struct ftr_sink base;		/* first: ops receive a pointer to it */
	struct ftr_load_options options;
	struct ftr_load_result *result;
	const struct ftr_trace *trace;
	struct sender *sender;
	uint64_t load;
	struct stream streams[ROWS_TABLES];
};

static struct load_sink *load_of(struct ftr_sink *sink)
{
	return (struct load_sink *)sink;
}

static int no_memory(struct load_sink *self)
{
	return ftr_err_set(self->base.err, ENOMEM, "load: out of memory");
}

/* A row behind room for its load and block. */
static void row_put(struct ftr_ostream *out, const struct row_column *columns,
		    const struct row_value *values, size_t nr)
{
	static const char room[SENDER_PREFIX_BYTES];
	struct stream *stream = (struct stream *)out;

	stream->failed |= ftr_vec_push(&stream->block->starts, (uint32_t)out->len) < 0;
	stream->row_nr++;
	ftr_ostream_write(out, room, sizeof(room));
	row_put_binary(out, columns, values, nr);
}

static const struct row_encoding encoding = { .row = row_put };

static int block_begin(struct load_sink *self, enum rows_table table)
{
	struct stream *stream = &self->streams[table];

	stream->block = calloc(1, sizeof(*stream->block));
	if (stream->block == NULL || ftr_ostream_to_memory(&stream->out) < 0)
		return no_memory(self);
	stream->block->table = &row_tables[table];
	return 0;
}

static int block_send(struct load_sink *self, enum rows_table table)
{
	struct stream *stream = &self->streams[table];
	struct sender_block *block = stream->block;

	if (stream->out.code != 0 || stream->failed)
		return no_memory(self);
	block->rows = stream->out.buf;
	block->len = stream->out.len;
	self->result->bytes += block->len;
	stream->out.buf = NULL;
	ftr_ostream_close(&stream->out, NULL);
	stream->block = NULL;
	return sender_put(self->sender, block, self->base.err);
}

/* Later loads have higher numbers; two of one microsecond differ by chance. */
static uint64_t load_number(void)
{
	struct timespec now;
	uint64_t us;

	clock_gettime(CLOCK_REALTIME, &now);
	us = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
	return us * RANDOM_VALUES + ((uint64_t)getpid() ^ (uint64_t)now.tv_nsec) % RANDOM_VALUES;
}

static int load_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	struct load_sink *self = load_of(sink);
	struct sender_options to = {
		.server = self->options.server, .fleet = self->options.fleet, .load = self->load,
		.threads = self->options.threads, .is_gzip = self->options.is_gzip,
	};
	int ret = 0;

	self->trace = trace;
	self->sender = sender_new(&to, sink->err);
	if (self->sender == NULL)
		return -sink->err->code;
	for (enum rows_table table = 0; ret == 0 && table < ROWS_TABLES; table++) {
		struct stream *stream = &self->streams[table];

		ret = block_begin(self, table);
		stream->values = (struct rows_values){ (int)table, self->options.run, &encoding };
		stream->rows = ret < 0 ? NULL : ftr_sink_new(&rows_ops, &stream->out, sink->err);
		if (stream->rows == NULL)
			return no_memory(self);
		stream->rows->values = &stream->values;
		ret = rows_ops.begin(stream->rows, trace);
	}
	return ret;
}

/* What one thing of the trace made of rows of @table: sent, when they fill a block. */
static int table_flush(struct load_sink *self, enum rows_table table)
{
	int ret;

	if (self->streams[table].out.len < BLOCK_BYTES)
		return 0;
	ret = block_send(self, table);
	return ret == 0 ? block_begin(self, table) : ret;
}

static int load_sums(struct ftr_sink *sink, const struct ftr_summary_row *row)
{
	struct load_sink *self = load_of(sink);
	int ret = rows_ops.sums(self->streams[ROWS_SUMS].rows, row);

	self->result->calls += row->calls;
	return ret == 0 ? table_flush(self, ROWS_SUMS) : ret;
}

static int load_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	struct load_sink *self = load_of(sink);
	int ret = 0;

	for (enum rows_table table = 0; ret == 0 && table < ROWS_TABLES; table++) {
		struct stream *stream = &self->streams[table];

		ret = rows_ops.event(stream->rows, ev);
		if (ret == 0)
			ret = table_flush(self, table);
	}
	return ret;
}

struct ftr_fleet_run ftr_load_run(const struct ftr_trace *trace, const char *name)
{
	struct rows_origin origin = rows_origin_of(trace);

	return (struct ftr_fleet_run){ origin.host, origin.boot,
				       name != NULL ? name : origin.run };
}

static int seal(struct load_sink *self, const uint32_t *blocks, size_t nr)
{
	struct ftr_fleet_run run = ftr_load_run(self->trace, self->options.run);
	struct ftr_http *http = ftr_http_new(self->options.server, self->base.err);
	int ret;

	if (http == NULL)
		return -self->base.err->code;
	ret = ftr_fleet_seal(self->options.fleet, http, &run, self->load, blocks, nr,
			     self->base.err);
	ftr_http_free(http);
	return ret;
}

static int load_end(struct ftr_sink *sink)
{
	struct load_sink *self = load_of(sink);
	const uint32_t *blocks = NULL;
	size_t nr = 0;
	int ret = 0;

	for (enum rows_table table = 0; ret == 0 && table < ROWS_TABLES; table++) {
		ret = rows_ops.end(self->streams[table].rows);
		if (ret == 0 && self->streams[table].out.len > 0)
			ret = block_send(self, table);
	}
	if (ret == 0)
		ret = sender_finish(self->sender, &blocks, &nr, sink->err);
	if (ret == 0)
		ret = nr > 0 ? seal(self, blocks, nr) :
			       ftr_err_set(sink->err, ENODATA, "no calls and no events to load");
	self->result->calls += self->streams[ROWS_CALLS].row_nr;	/* or were summed up */
	self->result->events = self->streams[ROWS_EVENTS].row_nr;
	return ret;
}

static void load_fini(struct ftr_sink *sink)
{
	struct load_sink *self = load_of(sink);

	sender_free(self->sender);
	for (size_t i = 0; i < ROWS_TABLES; i++) {
		ftr_sink_free(self->streams[i].rows);
		sender_block_free(self->streams[i].block);
		ftr_ostream_close(&self->streams[i].out, NULL);
	}
}

static const struct ftr_sink_ops load_ops = {
	.size	 = sizeof(struct load_sink),
	.accepts = FTR_BIT(FTR_EVENT_ENTRY) | FTR_BIT(FTR_EVENT_EXIT) | FTR_BIT(FTR_EVENT_POINT),
	.begin	 = load_begin,
	.event	 = load_event,
	.sums	 = load_sums,
	.end	 = load_end,
	.fini	 = load_fini,
};

struct ftr_sink *ftr_load_new(const struct ftr_load_options *options,
			      struct ftr_load_result *result, struct ftr_err *err)
{
	struct ftr_sink *sink = ftr_sink_new(&load_ops, NULL, err);
	struct load_sink *self = sink == NULL ? NULL : load_of(sink);

	if (self == NULL) {
		ftr_err_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	*result = (struct ftr_load_result){ 0 };
	self->options = *options;
	self->result = result;
	self->load = load_number();
	return sink;
}
