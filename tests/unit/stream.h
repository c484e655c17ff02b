/* SPDX-License-Identifier: MIT */
/* Streams written as text: "main( leaf( leaf) main)", and read back the same way. */
#ifndef FTR_TESTS_STREAM_H
#define FTR_TESTS_STREAM_H

#include "utils/base/strbuf.h"
#include "utils/trace/trace.h"

/*
 * Events from words: "10:f(" and "12:f)" are ENTRY and EXIT of f at these times, "10:f(@2" recorded
 * at depth 2 (else the depth is not known), "10:!5" LOST of 5, "10:out", "10:in" the scheduling
 * events, "10:=3" the thread goes on on stack 3, "10:=3+" which is a new one's, "10:=3+2" to which
 * the newest two calls belong, "T2" the task of those that follow.
 */
struct ftr_source *stream_new(struct ftr_trace *trace, const char *words, size_t batch);

/*
 * Everything that comes out, as "10:f( 12:f)"; inferred events have a '~', unfinished ones a '?'
 * behind, those of a cut call a '<'.  With details "12:f)d0=2-1": depth, duration, time in callees.
 * The source is freed.
 */
void stream_text(struct ftr_source *source, bool has_details, struct ftr_strbuf *text);

#endif /* FTR_TESTS_STREAM_H */
