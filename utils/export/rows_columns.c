/* SPDX-License-Identifier: MIT */
/* The columns of the tables, in the order of doc/rows.md. */
#include "utils/export/rows_columns.h"

#include "utils/export/rows.h"

static const struct row_column call_columns[CALL_COLUMNS] = {
	[CALL_HOST]	= { "host", ROW_STRING },
	[CALL_BOOT]	= { "boot", ROW_U32 },
	[CALL_RUN]	= { "run", ROW_STRING },
	[CALL_PID]	= { "pid", ROW_I32 },
	[CALL_TID]	= { "tid", ROW_I32 },
	[CALL_COMM]	= { "comm", ROW_STRING },
	[CALL_CALL]	= { "call", ROW_U64 },
	[CALL_PARENT]	= { "parent", ROW_U64 },
	[CALL_DEPTH]	= { "depth", ROW_U32 },
	[CALL_START]	= { "start", ROW_I64 },
	[CALL_DURATION] = { "duration", ROW_U64 },
	[CALL_SELF]	= { "self", ROW_U64 },
	[CALL_FUNCTION] = { "function", ROW_STRING },
	[CALL_MODULE]	= { "module", ROW_STRING },
	[CALL_BUILD_ID] = { "build_id", ROW_STRING },
	[CALL_ARGS]	= { "args", ROW_STRING },
	[CALL_RETVAL]	= { "retval", ROW_STRING },
	[CALL_FLAGS]	= { "flags", ROW_U8 },
};

static const struct row_column event_columns[EVENT_COLUMNS] = {
	[EVENT_HOST] = { "host", ROW_STRING },
	[EVENT_BOOT] = { "boot", ROW_U32 },
	[EVENT_RUN]  = { "run", ROW_STRING },
	[EVENT_PID]  = { "pid", ROW_I32 },
	[EVENT_TID]  = { "tid", ROW_I32 },
	[EVENT_COMM] = { "comm", ROW_STRING },
	[EVENT_CALL] = { "call", ROW_U64 },
	[EVENT_TIME] = { "time", ROW_I64 },
	[EVENT_CPU]  = { "cpu", ROW_I16 },
	[EVENT_NAME] = { "name", ROW_STRING },
	[EVENT_DATA] = { "data", ROW_STRING },
};

static const struct row_column sum_columns[SUM_COLUMNS] = {
	[SUM_HOST]     = { "host", ROW_STRING },
	[SUM_BOOT]     = { "boot", ROW_U32 },
	[SUM_RUN]      = { "run", ROW_STRING },
	[SUM_MINUTE]   = { "minute", ROW_I64 },
	[SUM_FUNCTION] = { "function", ROW_STRING },
	[SUM_MODULE]   = { "module", ROW_STRING },
	[SUM_BUILD_ID] = { "build_id", ROW_STRING },
	[SUM_BUCKET]   = { "bucket", ROW_U8 },
	[SUM_CALLS]    = { "calls", ROW_U64 },
	[SUM_TOTAL]    = { "total", ROW_U64 },
	[SUM_SELF]     = { "self", ROW_U64 },
	[SUM_NESTED]   = { "nested", ROW_U64 },
	[SUM_OUTERMOST] = { "outermost", ROW_U64 },
};

static const struct row_column path_columns[PATH_COLUMNS] = {
	[PATH_HOST]	= { "host", ROW_STRING },
	[PATH_BOOT]	= { "boot", ROW_U32 },
	[PATH_RUN]	= { "run", ROW_STRING },
	[PATH_MINUTE]	= { "minute", ROW_I64 },
	[PATH_PROGRAM]	= { "program", ROW_STRING },
	[PATH_PROGRAM_BUILD_ID] = { "program_build_id", ROW_STRING },
	[PATH_PATH]	= { "path", ROW_U64 },
	[PATH_PARENT]	= { "parent", ROW_U64 },
	[PATH_DEPTH]	= { "depth", ROW_U32 },
	[PATH_FUNCTION]	= { "function", ROW_STRING },
	[PATH_MODULE]	= { "module", ROW_STRING },
	[PATH_BUILD_ID]	= { "build_id", ROW_STRING },
	[PATH_CALLS]	= { "calls", ROW_U64 },
	[PATH_TOTAL]	= { "total", ROW_U64 },
	[PATH_SELF]	= { "self", ROW_U64 },
	[PATH_FIRST]	= { "first", ROW_I64 },
	[PATH_TOTAL_MIN] = { "total_min", ROW_U64 },
	[PATH_TOTAL_MAX] = { "total_max", ROW_U64 },
	[PATH_SELF_MIN]	= { "self_min", ROW_U64 },
	[PATH_SELF_MAX]	= { "self_max", ROW_U64 },
};

const struct row_table row_tables[] = {
	[ROWS_CALLS]  = { "calls", call_columns, CALL_COLUMNS },
	[ROWS_EVENTS] = { "events", event_columns, EVENT_COLUMNS },
	[ROWS_SUMS]   = { "sums", sum_columns, SUM_COLUMNS },
	[ROWS_PATHS]  = { "paths", path_columns, PATH_COLUMNS },
};
