/* SPDX-License-Identifier: MIT */
/* See signals.h. */
#include "utils/record/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "utils/base/text.h"
#include "utils/record/job.h"

static const struct {
	const char *name;
	enum ftr_signal_action action;
} names[] = {
	{ "dump", FTR_SIGNAL_DUMP },
	{ "trace_on", FTR_SIGNAL_TRACE_ON },
	{ "traceon", FTR_SIGNAL_TRACE_ON },
	{ "trace-on", FTR_SIGNAL_TRACE_ON },
	{ "trace_off", FTR_SIGNAL_TRACE_OFF },
	{ "traceoff", FTR_SIGNAL_TRACE_OFF },
	{ "trace-off", FTR_SIGNAL_TRACE_OFF },
	{ "finish", FTR_SIGNAL_FINISH },
};

/* "SIGUSR1", "usr1", "SIGRTMIN+3" or "10"; 0 = none. */
static int signal_number(struct ftr_slice name)
{
	uint64_t number;
	int signo;

	if (ftr_parse_u64(name, 10, &number) == 0)
		return number < (uint64_t)SIGRTMAX + 1 ? (int)number : 0;
	if (name.len > 3 && strncasecmp(name.s, "SIG", 3) == 0)
		name = ftr_slice_make(name.s + 3, name.len - 3);
	if (name.len > 6 && strncasecmp(name.s, "RTMIN+", 6) == 0 &&
	    ftr_parse_u64(ftr_slice_make(name.s + 6, name.len - 6), 10, &number) == 0)
		return number <= (uint64_t)(SIGRTMAX - SIGRTMIN) ? SIGRTMIN + (int)number : 0;
	for (signo = 1; signo < SIGRTMIN; signo++) {
		const char *known = sigabbrev_np(signo);

		if (known != NULL && strlen(known) == name.len &&
		    strncasecmp(known, name.s, name.len) == 0)
			return signo;
	}
	return 0;
}

/* Those that the recorder takes, but for what job control is made of. */
static bool is_possible(int signo)
{
	static const int job[] = { SIGCHLD, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU };
	sigset_t taken;
	size_t i;

	for (i = 0; i < sizeof(job) / sizeof(job[0]); i++) {
		if (signo == job[i])
			return false;
	}
	ftr_job_signals(&taken);
	return signo != 0 && sigismember(&taken, signo) == 1;
}

static enum ftr_signal_action action_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i].name, name) == 0)
			return names[i].action;
	}
	return FTR_SIGNAL_NONE;
}

static int rule_parse(struct ftr_signal_rule *rule, const char *text, struct ftr_err *err)
{
	const char *at = strchr(text, '@');

	if (at == NULL)
		return ftr_err_set(err, EINVAL, "--signal: \"%s\" is not SIGNAL@ACTION", text);
	rule->signo = signal_number(ftr_slice_make(text, (size_t)(at - text)));
	rule->action = action_find(at + 1);
	if (!is_possible(rule->signo))
		return ftr_err_set(err, EINVAL, "--signal: \"%.*s\" cannot be used; SIGUSR1, "
				   "SIGUSR2, SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM and "
				   "SIGRTMIN+N can", (int)(at - text), text);
	if (rule->action == FTR_SIGNAL_NONE)
		return ftr_err_set(err, EINVAL, "--signal: no action \"%s\"; there are dump, "
				   "trace_on, trace_off and finish", at + 1);
	return 0;
}

int ftr_signal_actions_parse(struct ftr_signal_actions *actions, const struct ftr_opt_list *given,
			     struct ftr_err *err)
{
	struct ftr_signal_rule rule;
	int ret = 0;
	size_t i;

	for (i = 0; ret == 0 && i < given->nr; i++) {
		ret = rule_parse(&rule, given->v[i], err);
		if (ret == 0 && ftr_vec_push(&actions->rules, rule) < 0)
			ret = ftr_err_set(err, ENOMEM, "out of memory");
	}
	return ret;
}

void ftr_signal_actions_fini(struct ftr_signal_actions *actions)
{
	ftr_vec_fini(&actions->rules);
}

bool ftr_signal_actions_have(const struct ftr_signal_actions *actions,
			     enum ftr_signal_action action)
{
	size_t i;

	for (i = 0; i < actions->rules.nr; i++) {
		if (actions->rules.v[i].action == action)
			return true;
	}
	return false;
}

enum ftr_signal_action ftr_signal_actions_find(const struct ftr_signal_actions *actions, int signo)
{
	size_t i;

	for (i = actions != NULL ? actions->rules.nr : 0; i-- > 0;) {
		if (actions->rules.v[i].signo == signo)
			return actions->rules.v[i].action;
	}
	return FTR_SIGNAL_NONE;
}
