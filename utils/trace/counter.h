/* SPDX-License-Identifier: MIT */
/* Counters: events that hold values of time series. */
#ifndef FTR_TRACE_COUNTER_H
#define FTR_TRACE_COUNTER_H

#include <stdbool.h>

#include "utils/trace/event.h"

struct ftr_event_kind;

/* One value of the series that an event's name and @name are. */
struct ftr_counter_value {
	const char *name;
	double value;
};

/* Begins as { 0 }. */
struct ftr_counter_pos {
	unsigned nr, pos;
};

/* The next value of a POINT that is a counter; false: there are no more, or it is none. */
bool ftr_counter_next(const struct ftr_event *ev, struct ftr_counter_pos *at,
		      struct ftr_counter_value *value);

/*
 * Has a POINT of @kind (nullable) all the values that its kind names?  A payload that is cut is no
 * counter's.
 */
bool ftr_counter_has_values(const struct ftr_event *ev, const struct ftr_event_kind *kind);

#endif /* FTR_TRACE_COUNTER_H */
