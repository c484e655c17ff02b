/* SPDX-License-Identifier: MIT */
/* replay --json: an object an event. */
#ifndef FTR_VIEW_REPLAY_JSON_H
#define FTR_VIEW_REPLAY_JSON_H

#include "utils/trace/sink.h"

struct ftr_sink *replay_json_new(struct ftr_ostream *out, struct ftr_err *err);

#endif /* FTR_VIEW_REPLAY_JSON_H */
