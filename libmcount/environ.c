/* SPDX-License-Identifier: MIT */
/* See environ.h.  Nothing here allocates: exec is allowed in signal handlers and after vfork. */
#include "libmcount/environ.h"

#include <string.h>

#include "libmcount/channel.h"

#define PRELOAD_NAME "LD_PRELOAD="
#define CHANNEL_NAME FTR_CHANNEL_ENV "="

static char no_channel[] = CHANNEL_NAME;

/* New images must not, or cannot, connect to the recorder: they would warn, or be killed. */
static bool is_alone(void)
{
	return ftr_is_silent() || (ftr_state.control != NULL && ftr_recorder_is_gone());
}

static bool starts_with(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

struct ftr_environ ftr_environ_look(ftr_strings envp)
{
	struct ftr_environ env = { 0 };
	size_t i;

	while (envp != NULL && envp[env.nr] != NULL)
		env.nr++;
	env.preload = env.channel = env.nr;
	for (i = 0; i < env.nr; i++) {
		if (starts_with(envp[i], PRELOAD_NAME))
			env.preload = i;
		else if (starts_with(envp[i], CHANNEL_NAME))
			env.channel = i;
	}
	return env;
}

static bool has_ours(const char *preload)
{
	return strstr(preload, ftr_state.preload_env + strlen(PRELOAD_NAME)) != NULL;
}

/* Ours first: it must come before what it interposes. */
static char *preload_merge(char *theirs, char *buf)
{
	const char *value = theirs + strlen(PRELOAD_NAME);
	size_t ours = strlen(ftr_state.preload_env), len = strlen(value);

	if (has_ours(value) || ours + 1 + len + 1 > FTR_PRELOAD_MAX)
		return theirs;
	memcpy(buf, ftr_state.preload_env, ours);
	buf[ours] = ':';
	memcpy(buf + ours + 1, value, len + 1);
	return buf;
}

/* That of another recorder is for what it starts itself: ftr within ftr. */
static char *channel_choose(char *theirs)
{
	if (theirs != NULL && theirs[strlen(CHANNEL_NAME)] != '\0' &&
	    strcmp(theirs, ftr_state.channel_env) != 0)
		return theirs;
	return is_alone() ? no_channel : ftr_state.channel_env;
}

void ftr_environ_merge(ftr_strings envp, const struct ftr_environ *env, char **out, char *buf)
{
	size_t nr = env->nr;

	if (nr > 0)
		memcpy(out, envp, nr * sizeof(*out));
	if (ftr_state.preload_env != NULL) {
		out[env->preload] = env->preload < nr ? preload_merge(envp[env->preload], buf) :
							ftr_state.preload_env;
		if (env->preload == nr)
			nr++;
		if (env->channel < env->nr)
			out[env->channel] = channel_choose(envp[env->channel]);
		else
			out[nr++] = channel_choose(NULL);
	}
	out[nr] = NULL;
}

bool ftr_environ_is_whole(ftr_strings envp)
{
	struct ftr_environ env = ftr_environ_look(envp);

	return ftr_state.preload_env == NULL ||
	       (!is_alone() && env.preload < env.nr && has_ours(envp[env.preload]) &&
		env.channel < env.nr);
}
