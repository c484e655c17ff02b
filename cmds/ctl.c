/* SPDX-License-Identifier: MIT */
/* ftr ctl: show, and change, what a recording with --agent records (utils/proto/agent.h). */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/message.h"
#include "cmds/output.h"
#include "utils/base/strbuf.h"
#include "utils/base/text.h"
#include "utils/cli/common.h"
#include "utils/proto/agent.h"

#define PATIENCE_S 10			/* it reads symbols of large programs meanwhile */

struct ctl_values {
	struct ftr_common common;
	struct ftr_opt_list changes;	/* pairs: long option, argument */
};

static int parse_flag(const struct ftr_option *opt, void *value, const char *arg,
		      struct ftr_err *err)
{
	return ftr_opt_list_named(opt, value, "", err);
}

static const char *const trace_words[] = { "on", "off", NULL };

#define ROW(name_, letter_, arg_, help_, parse_, ...) \
	FTR_OPTION(name_, letter_, arg_, help_, parse_, struct ctl_values, changes, ##__VA_ARGS__)

static const struct ftr_option ctl_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct ctl_values, common),
	ROW("argument", 'A', "FUNC[@SPEC,...]",
	    "From now on with arguments of FUNC: those of SPEC, or as debug info says",
	    ftr_opt_list_named),
	ROW("auto-args", 'a', NULL,
	    "With arguments and return values of all functions that are known to have any",
	    parse_flag),
	ROW("caller-filter", 'C', "FUNC", "From now on only calls that lead to FUNC",
	    ftr_opt_list_named),
	ROW("depth", 'D', "DEPTH", "At most DEPTH levels of calls; 0: all", ftr_opt_list_named),
	ROW("dump", 0, NULL, "Write what --overwrite kept", parse_flag),
	ROW("filter", 'F', "FUNC", "Only FUNC and what it calls", ftr_opt_list_named),
	ROW("finish", 0, NULL, "End the recording; the program runs on untraced", parse_flag),
	ROW("hide", 'H', "FUNC", "Not FUNC, but what it calls", ftr_opt_list_named),
	ROW("match", 0, "KIND", "What the patterns of the following options are: regex or glob",
	    ftr_opt_list_named, .words = ftr_match_words),
	ROW("notrace", 'N', "FUNC", "Neither FUNC nor what it calls", ftr_opt_list_named),
	ROW("patch", 'P', "FUNC", "Patch FUNC, too", ftr_opt_list_named),
	ROW("reset", 0, NULL, "Undo all changes", parse_flag),
	ROW("retval", 'R', "FUNC[@SPEC]", "With the return value of FUNC", ftr_opt_list_named),
	ROW("size-filter", 'Z', "SIZE", "Only functions of at least SIZE bytes; 0: all",
	    ftr_opt_list_named),
	ROW("time-filter", 't', "TIME", "Only calls that take at least TIME; 0: all",
	    ftr_opt_list_named),
	ROW("trace", 0, "on|off", "Record calls, or do not", ftr_opt_list_named,
	    .words = trace_words),
	ROW("trigger", 'T', "FUNC@ACTION", "Do ACTION at calls of FUNC", ftr_opt_list_named),
	ROW("unpatch", 'U', "FUNC", "Put FUNC back as it was", ftr_opt_list_named),
	{ 0 }
};

/* The words that agents of uftrace know. */
static const struct {
	const char *word;
	enum ftr_agent_opt opt;
} opts[] = {
	{ "trace", FTR_AGENT_OPT_TRACE }, { "depth", FTR_AGENT_OPT_DEPTH },
	{ "time-filter", FTR_AGENT_OPT_TIME }, { "filter", FTR_AGENT_OPT_FILTER },
	{ "caller-filter", FTR_AGENT_OPT_CALLER }, { "trigger", FTR_AGENT_OPT_TRIGGER },
};

struct agent {
	int32_t pid;
	int fd;				/* (owned) */
	uint32_t known;			/* FTR_AGENT_* flags of its answer to QUERY */
	char *text;			/* (owned) of its last answer, with a NUL */
	uint32_t bytes;
};

static int refuse_user(int32_t pid)
{
	ftr_error("ctl: process %d is recorded by another user; only that user, or root, may "
		  "change it", pid);
	return -EACCES;
}

/* Whoever was first to listen there may be anyone. */
static bool is_trusted(int fd)
{
	struct ucred cred = { 0 };
	socklen_t bytes = sizeof(cred);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &bytes) == 0 &&
	       (cred.uid == geteuid() || cred.uid == 0 || geteuid() == 0);
}

static int connect_to(const struct sockaddr_un *address, size_t path_bytes)
{
	struct timeval patience = { .tv_sec = PATIENCE_S };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), code;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (const struct sockaddr *)address,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + path_bytes)) == 0 &&
	    (is_trusted(fd) || (errno = EACCES, false)))
		return fd;
	code = errno;
	close(fd);
	return -code;
}

/* By the abstract address of ftr's agents, else by the path, which uftrace's have, too. */
static int agent_connect(struct agent *agent)
{
	struct sockaddr_un abstract = { .sun_family = AF_UNIX }, path = { .sun_family = AF_UNIX };
	int len = snprintf(abstract.sun_path + 1, sizeof(abstract.sun_path) - 1,
			   FTR_AGENT_NAME "%" PRId32, agent->pid);

	snprintf(path.sun_path, sizeof(path.sun_path), FTR_AGENT_DIR "/%" PRId32 ".socket",
		 agent->pid);
	agent->fd = connect_to(&abstract, 1 + (size_t)len);
	if (agent->fd == -ECONNREFUSED)
		agent->fd = connect_to(&path, strlen(path.sun_path) + 1);
	if (agent->fd >= 0)
		return 0;
	if (agent->fd == -EACCES)
		return refuse_user(agent->pid);
	if (agent->fd == -EAGAIN)
		ftr_error("ctl: the agent of process %d does not answer within %d s", agent->pid,
			  PATIENCE_S);
	else if (kill(agent->pid, 0) < 0 && errno == ESRCH)
		ftr_error("ctl: there is no process %d", agent->pid);
	else
		ftr_error("ctl: process %d has no agent: it is not being recorded with "
			  "\"ftr record --agent\"", agent->pid);
	return agent->fd;
}

static int agent_gone(const struct agent *agent, int code)
{
	if (code == EAGAIN)
		ftr_error("ctl: the agent of process %d does not answer within %d s", agent->pid,
			  PATIENCE_S);
	else
		ftr_error("ctl: the agent of process %d is gone: the program or the recording has "
			  "ended", agent->pid);
	return -code;
}

static int receive(const struct agent *agent, void *bytes, size_t len)
{
	ssize_t got = len == 0 ? 0 : recv(agent->fd, bytes, len, MSG_WAITALL);

	if (got == (ssize_t)len)
		return 0;
	return got < 0 ? -errno : -ECONNRESET;
}

/* The type of the answer, or -errno.  Its text is agent->text then. */
static int agent_ask(struct agent *agent, enum ftr_agent_type type, const void *bytes, size_t len)
{
	struct ftr_agent_header header = {
		.magic = FTR_AGENT_MAGIC, .type = (uint16_t)type, .bytes = (uint32_t)len,
	};
	struct iovec parts[2] = { { &header, sizeof(header) }, { (void *)bytes, len } };
	struct msghdr packet = { .msg_iov = parts, .msg_iovlen = 2 };
	int ret;

	/* One that refuses us at once hangs up behind its answer. */
	if (sendmsg(agent->fd, &packet, MSG_NOSIGNAL) < 0 && errno != EPIPE && errno != ECONNRESET)
		return -errno;
	ret = receive(agent, &header, sizeof(header));
	if (ret < 0)
		return ret;
	if (header.magic != FTR_AGENT_MAGIC || header.bytes > FTR_AGENT_BYTES_MAX)
		return -EBADMSG;
	free(agent->text);
	agent->text = calloc(1, header.bytes + 1);
	if (agent->text == NULL)
		return -ENOMEM;
	agent->bytes = header.bytes;
	ret = receive(agent, agent->text, header.bytes);
	return ret < 0 ? ret : header.type;
}

/* uftrace 0.13 hangs up on messages. */
static int old_agent_ask(struct agent *agent, bool has_changes)
{
	uint32_t word = 0;
	int ret;

	close(agent->fd);
	ret = agent_connect(agent);
	if (ret < 0)
		return ret;
	if (send(agent->fd, &word, sizeof(word), MSG_NOSIGNAL) != sizeof(word) ||
	    receive(agent, &word, sizeof(word)) < 0 || word != 0)
		return agent_gone(agent, ECONNRESET);
	ftr_error(has_changes ? "ctl: the agent of process %d is that of uftrace 0.13, which "
				"takes no changes" :
				"ctl: the agent of process %d is that of uftrace 0.13, which "
				"tells nothing", agent->pid);
	return -ENOTSUP;
}

static int agent_open(struct agent *agent, bool has_changes)
{
	int ret = agent_connect(agent);

	if (ret < 0)
		return ret;
	ret = agent_ask(agent, FTR_AGENT_QUERY, NULL, 0);
	if (ret == -ECONNRESET || ret == -EPIPE)
		return old_agent_ask(agent, has_changes);
	if (ret == FTR_AGENT_ERR)
		return refuse_user(agent->pid);
	if (ret < 0)
		return agent_gone(agent, -ret);
	if (agent->bytes >= sizeof(agent->known))
		memcpy(&agent->known, agent->text, sizeof(agent->known));
	return 0;
}

/* SET_OPT's value of the change; negative: there is no such option. */
static int opt_put(const char *word, const char *value, struct ftr_strbuf *bytes)
{
	struct ftr_slice text = ftr_slice_make(value, strlen(value));
	uint64_t number = 0;
	int32_t small;
	uint32_t opt;
	size_t i = 0;

	while (i < sizeof(opts) / sizeof(opts[0]) && strcmp(opts[i].word, word) != 0)
		i++;
	if (i == sizeof(opts) / sizeof(opts[0]))
		return -ENOTSUP;
	opt = opts[i].opt;
	ftr_strbuf_put(bytes, &opt, sizeof(opt));
	switch (opt) {
	case FTR_AGENT_OPT_TRACE:
		small = strcmp(value, "on") == 0;
		ftr_strbuf_put(bytes, &small, sizeof(small));
		break;
	case FTR_AGENT_OPT_DEPTH:
		if (ftr_parse_u64(text, 10, &number) < 0 || number > INT32_MAX)
			return -EINVAL;
		small = (int32_t)number;
		ftr_strbuf_put(bytes, &small, sizeof(small));
		break;
	case FTR_AGENT_OPT_TIME:
		if (ftr_parse_time(text, &number, NULL) < 0)
			return -EINVAL;
		ftr_strbuf_put(bytes, &number, sizeof(number));
		break;
	default:
		ftr_strbuf_put(bytes, value, text.len + 1);
	}
	return opt;
}

/* One by one: uftrace has no other way. */
static int uftrace_change(struct agent *agent, const struct ftr_opt_list *changes)
{
	for (size_t i = 0; i < changes->nr; i += 2) {
		const char *word = changes->v[i], *value = changes->v[i + 1];
		struct ftr_strbuf bytes;
		int ret;

		ftr_strbuf_init(&bytes);
		ret = opt_put(word, value, &bytes);
		if (ret == -EINVAL)
			ftr_error("ctl: --%s: \"%s\" is no number", word, value);
		else if (ret < 0 || (agent->known & (uint32_t)ret) == 0)
			ftr_error("ctl: --%s: the agent of process %d, which is uftrace's, does "
				  "not know it", word, agent->pid);
		else
			ret = agent_ask(agent, FTR_AGENT_SET_OPT, bytes.s, bytes.len);
		ftr_strbuf_fini(&bytes);
		if (ret == FTR_AGENT_OK)
			continue;
		if (ret == FTR_AGENT_ERR)
			ftr_error("ctl: --%s=%s: uftrace's agent refuses it", word, value);
		return FTR_EXIT_FAILED;
	}
	return FTR_EXIT_OK;
}

static int ftr_change(struct agent *agent, const struct ftr_opt_list *changes)
{
	struct ftr_strbuf bytes;
	int ret;

	ftr_strbuf_init(&bytes);
	for (size_t i = 0; i < changes->nr; i++)
		ftr_strbuf_put(&bytes, changes->v[i], strlen(changes->v[i]) + 1);
	ret = bytes.len > FTR_AGENT_BYTES_MAX ? -E2BIG :
		agent_ask(agent, FTR_AGENT_CHANGE, bytes.s, bytes.len);
	ftr_strbuf_fini(&bytes);
	if (ret == FTR_AGENT_OK)
		return FTR_EXIT_OK;
	if (ret == FTR_AGENT_ERR)
		ftr_error("ctl: %s", agent->text);
	else if (ret == -E2BIG)
		ftr_error("ctl: these are more than %u bytes of changes; make fewer at a time",
			  FTR_AGENT_BYTES_MAX);
	else
		agent_gone(agent, ret < 0 ? -ret : EBADMSG);
	return FTR_EXIT_FAILED;
}

static void line_print(struct ftr_ostream *out, struct ftr_slice line)
{
	struct ftr_slice word;

	if (!ftr_slice_split(&line, ':', &word))
		return;
	line = ftr_slice_trim(line);
	ftr_ostream_printf(out, "%-16.*s: %.*s\n", (int)word.len, word.s, (int)line.len, line.s);
}

static int state_show(struct agent *agent, const struct ftr_common *common)
{
	struct ftr_slice rest, line;
	struct ftr_output output;
	int ret;

	if ((agent->known & FTR_AGENT_IS_FTR) == 0) {
		ftr_error("ctl: the agent of process %d is uftrace's, which tells nothing; it "
			  "takes changes", agent->pid);
		return FTR_EXIT_FAILED;
	}
	ret = agent_ask(agent, FTR_AGENT_STATE, NULL, 0);
	if (ret != FTR_AGENT_OK) {
		agent_gone(agent, ret < 0 ? -ret : EBADMSG);
		return FTR_EXIT_FAILED;
	}
	if (ftr_output_open(&output, common, NULL) < 0)
		return FTR_EXIT_FAILED;
	rest = ftr_slice_make(agent->text, agent->bytes);
	while (ftr_slice_split(&rest, '\n', &line) && line.len > 0)
		line_print(&output.out, line);
	return ftr_output_close(&output);
}

static int ctl_run(void *arg, int argc, char **argv)
{
	const struct ctl_values *values = arg;
	struct agent agent = { .fd = -1 };
	int status = FTR_EXIT_FAILED;
	uint64_t pid = 0;

	if (argc != 1 || ftr_parse_u64(ftr_slice_make(argv[0], strlen(argv[0])), 10, &pid) < 0 ||
	    pid == 0 || pid > INT32_MAX) {
		ftr_error("ctl: name the process by its number: ftr ctl [OPTION...] PID");
		return FTR_EXIT_USAGE;
	}
	agent.pid = (int32_t)pid;
	if (agent_open(&agent, values->changes.nr > 0) == 0) {
		if (values->changes.nr == 0)
			status = state_show(&agent, &values->common);
		else if ((agent.known & FTR_AGENT_IS_FTR) != 0)
			status = ftr_change(&agent, &values->changes);
		else
			status = uftrace_change(&agent, &values->changes);
	}
	if (status == FTR_EXIT_OK)
		agent_ask(&agent, FTR_AGENT_CLOSE, NULL, 0);
	if (agent.fd >= 0)
		close(agent.fd);
	free(agent.text);
	return status;
}

const struct ftr_cmd ftr_cmd_ctl = {
	.name	      = "ctl",
	.usage	      = "[OPTION...] PID",
	.summary      = "Change what is recorded while the program runs",
	.options      = ctl_options,
	.values_bytes = sizeof(struct ctl_values),
	.run	      = ctl_run,
};
