/* SPDX-License-Identifier: MIT */
/* See environ.h.  Nothing here allocates: exec is allowed in signal handlers and after vfork. */
#include "libmcount/environ.h"

#include <string.h>

#include "libmcount/channel.h"
#include "libmcount/scratch.h"

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

/* What was found in an environment. */
struct look {
	size_t nr;
	size_t preload;			/* index of LD_PRELOAD, or nr */
	size_t channel;			/* index of FTR_CHANNEL, or nr */
};

static struct look look_at(ftr_strings envp)
{
	struct look look = { 0 };
	size_t i;

	while (envp != NULL && envp[look.nr] != NULL)
		look.nr++;
	look.preload = look.channel = look.nr;
	for (i = 0; i < look.nr; i++) {
		if (starts_with(envp[i], PRELOAD_NAME))
			look.preload = i;
		else if (starts_with(envp[i], CHANNEL_NAME))
			look.channel = i;
	}
	return look;
}

static bool has_ours(const char *preload)
{
	return strstr(preload, ftr_state.preload_env + strlen(PRELOAD_NAME)) != NULL;
}

/* Ours first: it must come before what it interposes. */
static char *preload_merge(char *theirs, char *buf)
{
	const char *value = theirs + strlen(PRELOAD_NAME);
	size_t ours = strlen(ftr_state.preload_env);

	if (has_ours(value))
		return theirs;
	memcpy(buf, ftr_state.preload_env, ours);
	buf[ours] = ':';
	memcpy(buf + ours + 1, value, strlen(value) + 1);
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

/* @buf has room for a merged LD_PRELOAD. */
static void merge(ftr_strings envp, const struct look *look, char **out, char *buf)
{
	size_t nr = look->nr;

	if (nr > 0)
		memcpy(out, envp, nr * sizeof(*out));
	out[look->preload] = look->preload < nr ? preload_merge(envp[look->preload], buf) :
						  ftr_state.preload_env;
	if (look->preload == nr)
		nr++;
	if (look->channel < look->nr)
		out[look->channel] = channel_choose(envp[look->channel]);
	else
		out[nr++] = channel_choose(NULL);
	out[nr] = NULL;
}

static bool is_whole(ftr_strings envp, const struct look *look)
{
	return !is_alone() && look->preload < look->nr && has_ours(envp[look->preload]) &&
	       look->channel < look->nr;
}

#define ADDED_MAX 3	/* strings, with the NULL at the end */

ftr_strings ftr_environ_new(ftr_strings envp)
{
	struct look look = look_at(envp);
	size_t strings = (look.nr + ADDED_MAX) * sizeof(char *), bytes = strings;
	char **merged;

	if (ftr_state.preload_env == NULL || is_whole(envp, &look))
		return envp;
	if (look.preload < look.nr)
		bytes += strlen(ftr_state.preload_env) + 1 + strlen(envp[look.preload]) + 1;
	merged = ftr_scratch_take(bytes);
	if (merged == NULL) {
		ftr_channel_warn("has no memory for the environment of a program that it starts, "
				 "which runs untraced: raise the limit (ulimit -v, -d)");
		return envp;
	}
	merge(envp, &look, merged, (char *)merged + strings);
	return merged;
}

void ftr_environ_free(ftr_strings merged, ftr_strings envp)
{
	if (merged != envp)
		ftr_scratch_put((void *)merged);
}
