/* SPDX-License-Identifier: MIT */
/* replay --flat: a numbered line an event. */
#ifndef FTR_VIEW_REPLAY_FLAT_H
#define FTR_VIEW_REPLAY_FLAT_H

#include "utils/trace/sink.h"

struct ftr_sink *replay_flat_new(struct ftr_ostream *out, struct ftr_err *err);

#endif /* FTR_VIEW_REPLAY_FLAT_H */
