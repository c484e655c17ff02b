/* SPDX-License-Identifier: MIT */
/*
 * The channel: SOCK_SEQPACKET messages from the runtime to the recorder.
 *
 * The recorder listens on an abstract address (it survives chroot and dropped privileges) whose
 * name stands in FTR_CHANNEL.  For each message the runtime connects, sends one packet,
 * reads one reply, closes: no descriptor stays open in the traced process.
 *
 *	runtime				recorder
 *	SESSION			->	reads /proc/PID/maps of the peer, writes SESS
 *			<-	OK + control block and, unless there is none, the
 *				library-call table of proto/plt.h (SCM_RIGHTS: memfds); base =
 *				FTR_CHANNEL_ATTACH_NOW when calls are to be expected; time =
 *				what a counter clock starts with
 *	TASK			->	makes a ring; TASK or FORK line; drains from now on
 *			<-	OK + ring (memfd), base = an id for it, never 0
 *	TASK, base = ring id	->	the ring's task is dead and a new one goes on in the same
 *					ring: what it holds is drained to the old task
 *			<-	OK	first, then it is the new one's
 *	DLOPEN			->	DLOP line
 *			<-	OK
 *	SAY			->	a warning, and a message in the trace
 *			<-	OK
 *	EXEC			->	looks whether the file can be traced, and says if it cannot
 *			<-	OK
 *	LIBCALLS		->
 *			<-	OK + library-call table of that library, unless there is none
 *
 *	LEAVE			->	listens at FTR_CHANNEL_DIR + the name, too
 *			<-	OK
 *
 *	NAME			->	with FTR_CONTROL_TELL_NAMES: looks it up
 *			<-	OK
 *
 * pid of the sender comes from SO_PEERCRED (so that it is right across pid namespaces); tid from
 * the message, valid in the sender's namespace.  FTR_CHANNEL_BY_CHILD in type: a child of the
 * process speaks for it. time is CLOCK_MONOTONIC-like ticks of the ring's clock.
 */
#ifndef FTR_PROTO_CHANNEL_H
#define FTR_PROTO_CHANNEL_H

#include <assert.h>
#include <stdint.h>

#define FTR_CHANNEL_ENV		"FTR_CHANNEL"	/* abstract name, without its leading NUL */
#define FTR_CHANNEL_DIR		"/tmp/"		/* where an address of that name is a path */
#define FTR_CHANNEL_MAGIC	0x4d525446u	/* "FTRM" */
#define FTR_CHANNEL_TIMEOUT_MS	5000		/* for one reply; then the program runs untraced */
#define FTR_CHANNEL_TRIES	100		/* when the recorder hangs up without a word */
#define FTR_CHANNEL_IMPATIENT_MS 100		/* ... once it did not come in that time */
#define FTR_CHANNEL_PATH_MAX	4096
#define FTR_CHANNEL_REPLY_FDS	2		/* most that come with a reply */

/*
 * In the reply to SESSION: attach the first task before the program's own code runs, which may
 * limit itself (seccomp, chroot, RLIMIT_NOFILE) before its first call.
 */
#define FTR_CHANNEL_ATTACH_NOW	1u

#define FTR_CHANNEL_BY_CHILD \
	0x10000u /* flag in type: for its parent, which has no descriptor left */

/*
 * Where the address space of a process is limited (RLIMIT_AS), the ring of a task and its shadow
 * stack each take at most this part of it: what the program needs itself is not known.
 */
#define FTR_CHANNEL_AS_SHARE	32

enum ftr_channel_type {
	FTR_CHANNEL_SESSION = 1, /* path: the program's /proc/self/exe */
	FTR_CHANNEL_TASK = 2,    /* parent_pid != 0: first task of a forked child */
	FTR_CHANNEL_DLOPEN = 3,  /* base, path: a library was loaded */
	FTR_CHANNEL_SAY = 4,     /* path: what people should know of the sender */
	FTR_CHANNEL_EXEC = 5,    /* path: a file about to be run; without a slash: NUL, then PATH */
	FTR_CHANNEL_LEAVE = 6,   /* the sender is about to change its network namespace */
	FTR_CHANNEL_LIBCALLS = 7,  /* path: which calls of this library are to be hooked? */
	FTR_CHANNEL_NAME = 8,      /* the thread tid of the sender has another name now */
	FTR_CHANNEL_OK = 100,      /* reply */
	FTR_CHANNEL_REFUSED = 101, /* reply: path holds the reason; run on untraced */
};

struct ftr_channel_message {
	uint32_t magic;
	uint32_t type;			/* enum ftr_channel_type */
	int32_t  pid;			/* sender's, in its own namespace */
	int32_t  tid;
	int32_t  parent_pid;
	uint32_t path_bytes; /* of the path that follows, no NUL; <= FTR_CHANNEL_PATH_MAX */
	uint64_t time;			/* ticks of the control block's clock; SESSION: 0 */
	uint64_t base;
};
static_assert(sizeof(struct ftr_channel_message) == 40, "wire layout");

#endif /* FTR_PROTO_CHANNEL_H */
