/* SPDX-License-Identifier: MIT */
/* What signals to the recorder do to the recording: "SIGUSR1@dump". */
#ifndef FTR_RECORD_SIGNALS_H
#define FTR_RECORD_SIGNALS_H

#include <stdbool.h>

#include "utils/base/err.h"
#include "utils/base/option.h"
#include "utils/base/vec.h"

enum ftr_signal_action {
	FTR_SIGNAL_NONE,	/* it is handed on to the program */
	FTR_SIGNAL_DUMP,	/* what a flight recorder holds is written */
	FTR_SIGNAL_TRACE_ON,	/* tracing goes on, or is switched off, in all processes */
	FTR_SIGNAL_TRACE_OFF,
	FTR_SIGNAL_FINISH,	/* the recording ends, the program does not */
};

struct ftr_signal_rule {
	int signo;
	enum ftr_signal_action action;
};

/* Of one signal the last one counts. */
struct ftr_signal_actions {
	FTR_VEC(struct ftr_signal_rule) rules;
};

/* 0, -EINVAL with the reason, or -ENOMEM. */
int ftr_signal_actions_parse(struct ftr_signal_actions *actions, const struct ftr_opt_list *given,
			     struct ftr_err *err);
void ftr_signal_actions_fini(struct ftr_signal_actions *actions);

/* Is @action done at any signal? */
bool ftr_signal_actions_have(const struct ftr_signal_actions *actions,
			     enum ftr_signal_action action);

/* @actions is nullable. */
enum ftr_signal_action ftr_signal_actions_find(const struct ftr_signal_actions *actions,
					       int signo);

#endif /* FTR_RECORD_SIGNALS_H */
