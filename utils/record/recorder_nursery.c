/* SPDX-License-Identifier: MIT */
/* Rings made ahead for forked children: when there are some, and whose they have become. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "utils/record/nursery.h"
#include "utils/record/recorder_state.h"

#define NAMESPACE_BYTES 64

static bool namespace_read(const char *of, char text[NAMESPACE_BYTES])
{
	char path[64];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%s/ns/pid", of);
	len = readlink(path, text, NAMESPACE_BYTES - 1);
	text[len > 0 ? len : 0] = '\0';
	return len > 0;
}

/* What number a child has for itself is all that its claim says. */
static bool is_in_our_namespace(const struct ftr_channel_request *request)
{
	char pid[16], theirs[NAMESPACE_BYTES], own[NAMESPACE_BYTES];

	snprintf(pid, sizeof(pid), "%d", request->pid);
	return request->message.pid == request->pid && namespace_read(pid, theirs) &&
	       namespace_read("self", own) && strcmp(own, theirs) == 0;
}

static bool is_memory_limited(int32_t pid)
{
	struct rlimit limit;

	return prlimit(pid, RLIMIT_AS, NULL, &limit) < 0 || limit.rlim_cur != RLIM_INFINITY;
}

/*
 * Who may leave a program that runs on has nothing in it; a flight recorder's and overwritten rings
 * are looked at in other ways than these can bear.
 */
static bool may_have(const struct ftr_recorder *recorder)
{
	const struct ftr_channel_request *request = &recorder->request;

	return recorder->options->attach_pid == 0 && recorder->options->flight.bytes == 0 &&
	       recorder->control.map->on_full != FTR_ON_FULL_OVERWRITE &&
	       ftr_process_find(&recorder->processes, request->pid) != NULL &&
	       is_in_our_namespace(request) && !is_memory_limited(request->pid);
}

void ftr_recorder_answer_nursery(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply)
{
	struct ftr_record_nursery *nursery;

	if (!may_have(recorder)) {
		ftr_recorder_refuse(reply, "rings are made one by one");
		return;
	}
	if (ftr_record_nursery_new(&recorder->nurseries, recorder->request.pid,
				   recorder->control.map->ring_bytes, &nursery,
				   &reply->refusal) < 0)
		return;
	ftr_recorder_reply_fd(reply, nursery->fd);
}

/* As if it had sent a message, which it would have waited for. */
static void claim_take(struct ftr_recorder *recorder, const struct ftr_record_claim *claim)
{
	struct ftr_channel_request *request = &recorder->request;
	struct ftr_channel_message message = request->message;
	struct ftr_task_answer answer;
	struct ftr_task_start start = { .pid = claim->pid, .claim = claim };
	pid_t pid = request->pid;
	struct ftr_ring ring;
	struct ftr_err err = { 0 };

	ftr_record_nursery_ring(claim, &ring, &start.ring_id);
	start.ring = &ring;
	request->pid = claim->pid;
	request->message = (struct ftr_channel_message){
		.magic = FTR_CHANNEL_MAGIC, .type = FTR_CHANNEL_TASK,
		.pid = claim->pid, .tid = claim->pid, .parent_pid = claim->parent_pid,
		.time = claim->time,
	};
	ftr_recorder_task(recorder, &start, &answer, &err);
	request->message = message;
	request->pid = pid;
}

void ftr_recorder_claims_take(struct ftr_recorder *recorder)
{
	struct ftr_record_claims claims = { 0 };
	size_t i;

	if (recorder->nurseries.all.nr == 0 || recorder->store.is_closed)
		return;
	ftr_record_nurseries_claims(&recorder->nurseries, &claims);
	for (i = 0; i < claims.v.nr; i++)
		claim_take(recorder, &claims.v.v[i]);
	ftr_vec_fini(&claims.v);
}
