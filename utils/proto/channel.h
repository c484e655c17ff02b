/* SPDX-License-Identifier: MIT */
/*
 * The channel: SOCK_SEQPACKET messages from the runtime to the recorder.
 *
 * The recorder listens on an abstract address (it survives chroot and dropped privileges) whose
 * name stands in FTR_CHANNEL.  For each message the runtime connects, sends one packet,
 * reads one reply, closes: no descriptor stays open in the traced process.
 *
 *	runtime			recorder
 *	SESSION		->	reads /proc/PID/maps of the sender, writes the SESS line
 *		<-	OK + control block and, unless there are none, the image's sections
 *			(SCM_RIGHTS: memfds, utils/proto/control.h and sections.h);
 *			base = FTR_CHANNEL_ATTACH_NOW when calls are to be expected, and
 *			FTR_CHANNEL_ASKS_EXEC;
 *			time = what a counter clock starts with
 *	SESSION |	->	where calls are to be expected, as TASK of the first thread, too
 *	WITH_TASK	<-	the same and, behind the others, the ring; its id stands in base,
 *			with FTR_CHANNEL_BARE where there are no sections
 *	TASK		->	makes a ring; writes a TASK or FORK line; drains from now on
 *		<-	OK + ring (memfd, utils/proto/ring.h), base = its id, never 0
 *	TASK, base = id	->	the ring's task is dead and another one goes on in the same
 *				ring: drains what it holds to the dead task first
 *		<-	OK
 *	TASK | GROW,	->	the ring is one of a nursery (utils/proto/nursery.h) and full:
 *	base = id		drains what it holds, makes another for the same task
 *		<-	as to TASK; or OK + no ring, base = id: it stays in that
 *	NURSERY		->	makes rings ahead for children that the process will fork
 *		<-	OK + nursery (memfd)
 *	MODULE		->	writes the DLOP line of a library, unless FTR_CHANNEL_KNOWN
 *		<-	OK + sections of that module, unless there are none
 *	WARN		->	warns on the terminal and in the trace
 *	EXEC		->	warns when the file that is about to run cannot be traced; not sent
 *				of a file that is known to be (utils/proto/tried.h)
 *		<-	OK, base = FTR_CHANNEL_LOADS unless it is known not to load the runtime,
 *			and which machine it is for
 *	LEAVE		->	also listens at FTR_CHANNEL_DIR + the name
 *	NAME		->	looks the thread's name up and stores it
 *	CODE		->	has its helper make the changes of code of a program that runs
 *		<-	OK to each of these
 *	anything else	<-	REFUSED
 *
 * The kernel gives the sender's pid (SO_PEERCRED, right across pid namespaces); the tid is the
 * message's, as in the sender's namespace.  time counts ticks of the control block's clock.
 */
#ifndef FTR_PROTO_CHANNEL_H
#define FTR_PROTO_CHANNEL_H

#include <assert.h>
#include <stdint.h>

#define FTR_CHANNEL_ENV		"FTR_CHANNEL"	/* abstract name, without its leading NUL */
/* The name's end where the recorder ends before what it records: one that attached to it. */
#define FTR_CHANNEL_LEAVES	"-leaves"
#define FTR_CHANNEL_DIR		"/tmp/"		/* where an address of that name is a path */
#define FTR_CHANNEL_MAGIC	0x4d525446u	/* "FTRM" */
#define FTR_CHANNEL_TIMEOUT_MS	5000		/* for one reply; then the program runs untraced */
#define FTR_CHANNEL_TRIES	100		/* when the recorder hangs up without a reply */
#define FTR_CHANNEL_IMPATIENT_MS 100		/* the timeout after a reply that did not come */
#define FTR_CHANNEL_PATH_MAX	4096
#define FTR_CHANNEL_REPLY_FDS	3		/* most that come with a reply */

/*
 * In the reply to SESSION: attach the first task before the program's own code runs, which may
 * limit itself (seccomp, chroot, RLIMIT_NOFILE) before its first call.
 */
#define FTR_CHANNEL_ATTACH_NOW	1u
/*
 * In the reply to SESSION, of a recorder that leaves programs that run on (doc/adr/0085): only an
 * image that loads the runtime, which EXEC tells, is started with its variables.
 */
#define FTR_CHANNEL_ASKS_EXEC	2u
/* In the reply to SESSION: the ring comes where sections would. */
#define FTR_CHANNEL_BARE	4u
/* In the reply to SESSION: from this bit on stands the id of the ring that came; 0 = none did. */
#define FTR_CHANNEL_RING_SHIFT	8u

/* In the reply to EXEC, of what is started, as far as the recorder can tell. */
#define FTR_CHANNEL_LOADS	1u	/* it may load the runtime */
#define FTR_CHANNEL_HOST	2u	/* it is for the recorder's machine, */
#define FTR_CHANNEL_BESIDE	4u	/* or for the one beside that (arch/arch.h) */

/* Flags in type. */
#define FTR_CHANNEL_BY_CHILD	0x10000u /* a child sends it: its parent has no descriptor left */
#define FTR_CHANNEL_KNOWN	0x20000u /* MODULE: reported before, only its sections are wanted */
#define FTR_CHANNEL_GROW	0x40000u /* TASK: from the ring of that id to a larger one */
#define FTR_CHANNEL_WITH_TASK	0x80000u /* SESSION: it attaches its first thread when told to */
#define FTR_CHANNEL_FLAGS	(FTR_CHANNEL_BY_CHILD | FTR_CHANNEL_KNOWN | FTR_CHANNEL_GROW | \
				 FTR_CHANNEL_WITH_TASK)

/*
 * Where the address space of a process is limited (RLIMIT_AS), the ring of a task and its shadow
 * stack each take at most this part of it: what the program needs itself is not known.
 */
#define FTR_CHANNEL_AS_SHARE	1024

enum ftr_channel_type {
	FTR_CHANNEL_SESSION = 1, /* path: /proc/self/exe; base: where the runtime is mapped */
	FTR_CHANNEL_TASK = 2,	 /* parent_pid != 0: first task of a forked child */
	FTR_CHANNEL_MODULE = 3,	 /* base, path: a library; an empty path: the program's image */
	FTR_CHANNEL_WARN = 4,	 /* path: the text of a warning */
	FTR_CHANNEL_EXEC = 5,	 /* path: a file about to be run; without a slash: NUL, as PATH */
	FTR_CHANNEL_LEAVE = 6,	 /* the sender is about to change its network namespace */
	FTR_CHANNEL_NAME = 7,	 /* the sender's thread tid has another name now */
	FTR_CHANNEL_CODE = 8,	 /* base, time: address, number of struct ftr_attach_code */
	FTR_CHANNEL_NURSERY = 9, /* the sender has forked some children */
	FTR_CHANNEL_TYPES,
	FTR_CHANNEL_OK = 100,	   /* reply */
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
