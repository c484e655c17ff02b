/* SPDX-License-Identifier: MIT */
/*
 * The agent: a Unix stream socket for each process that a recording with --agent follows, by which
 * it is changed while the process runs (doc/adr/0077-agent.md).  The protocol is uftrace's.
 *
 * The recorder listens at the path FTR_AGENT_DIR/PID.socket and at the abstract address
 * FTR_AGENT_NAME PID, and answers its own user and root alone (SO_PEERCRED).
 *
 *	client			agent
 *	QUERY		->
 *			<-	OK + u32: FTR_AGENT_OPT_* flags that it knows, and FTR_AGENT_IS_FTR
 *	SET_OPT + u32 option + value
 *		->	<-	OK; or ERR, and nothing has changed
 *	CLOSE	->	<-	OK, and hangs up
 *	of FTR_AGENT_IS_FTR only:
 *	CHANGE + "WORD\0VALUE\0" of each change, all or none of which are made
 *		->	<-	OK; or ERR + text
 *	STATE	->	<-	OK + text: "word: value" lines
 *	anything else
 *		->	<-	ERR
 *
 * uftrace 0.13, which has no messages yet, sends a word of zeros, gets one back, and hangs up.
 */
#ifndef FTR_PROTO_AGENT_H
#define FTR_PROTO_AGENT_H

#include <assert.h>
#include <stdint.h>

#define FTR_AGENT_DIR	"/tmp/uftrace"
#define FTR_AGENT_NAME	"ftr-agent-"	/* behind a NUL, and before the process's number */
#define FTR_AGENT_MAGIC 0xfaceu
#define FTR_AGENT_BYTES_MAX 65536u	/* of what follows a header, either way */

enum ftr_agent_type {
	FTR_AGENT_CLOSE = 200,
	FTR_AGENT_QUERY = 201,
	FTR_AGENT_GET_OPT = 202,	/* uftrace answers OK and nothing else */
	FTR_AGENT_SET_OPT = 203,
	FTR_AGENT_OK = 204,
	FTR_AGENT_ERR = 205,
	FTR_AGENT_CHANGE = 220,
	FTR_AGENT_STATE = 221,
};

/* What SET_OPT sets, with the value that follows. */
enum ftr_agent_opt {
	FTR_AGENT_OPT_TRACE = 1 << 0,	/* i32: 0 = off */
	FTR_AGENT_OPT_DEPTH = 1 << 1,	/* i32 */
	FTR_AGENT_OPT_TIME = 1 << 2,	/* u64: ns */
	FTR_AGENT_OPT_PATTERN = 1 << 3,	/* i32, of the rules that this client sends: 2, 3 = glob */
	FTR_AGENT_OPT_FILTER = 1 << 4,	/* these: text with a NUL */
	FTR_AGENT_OPT_CALLER = 1 << 5,
	FTR_AGENT_OPT_TRIGGER = 1 << 6,
	FTR_AGENT_OPTS = (1 << 7) - 1,
	FTR_AGENT_IS_FTR = 1 << 30,	/* of the answer to QUERY */
};
#define FTR_AGENT_PATTERN_GLOB 3

struct ftr_agent_header {		/* in the byte order of the machine */
	uint16_t magic;
	uint16_t type;			/* enum ftr_agent_type */
	uint32_t bytes;			/* that follow */
};
static_assert(sizeof(struct ftr_agent_header) == 8, "wire layout");

#endif /* FTR_PROTO_AGENT_H */
