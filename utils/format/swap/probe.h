/* SPDX-License-Identifier: MIT */
/* Events as messages of probes: one row each function, with a number that stays. */
#ifndef FTR_FORMAT_SWAP_PROBE_H
#define FTR_FORMAT_SWAP_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "utils/format/swap/message.h"
#include "utils/trace/args.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/io.h"

struct swap_api {
	uint32_t api;		/* on the wire; the protocol has no numbers of its own */
	uint32_t kind;		/* enum ftr_event_id; of a wait its begin: the end is the next */
	uint32_t message;
	uint32_t api_type;	/* of a wait its begin: the end is the next */
	uint32_t type;		/* sync_type */
	bool is_once;		/* one message at its end, though there are two events */
	const char *name;
};

#define SWAP_MEMORY(api_, kind_, api_type_, name_) \
	{ (api_), FTR_EVENT_ID_##kind_, SWAP_MSG_PROBE_MEMORY, (api_type_), 0, false, (name_) }
#define SWAP_SYNC(api_, kind_, api_type_, type_, name_) \
	{ (api_), FTR_EVENT_ID_SYNC_##kind_, SWAP_MSG_PROBE_SYNC, (api_type_), (type_), false, \
	  (name_) }
#define SWAP_FILE(api_, kind_, api_type_, is_once_, name_) \
	{ (api_), FTR_EVENT_ID_FILE_##kind_, SWAP_MSG_PROBE_FILE, (api_type_), 0, (is_once_), \
	  (name_) }
#define SWAP_NET(api_, kind_, api_type_, is_once_, name_) \
	{ (api_), FTR_EVENT_ID_NET_##kind_, SWAP_MSG_PROBE_NETWORK, (api_type_), 0, (is_once_), \
	  (name_) }

#define SWAP_CUSTOM(api_, kind_, name_) \
	{ (api_), FTR_EVENT_ID_USER_##kind_, SWAP_MSG_PROBE_CUSTOM, 0, 0, false, (name_) }
#define SWAP_THREAD(api_, kind_, api_type_, is_once_, name_) \
	{ (api_), FTR_EVENT_ID_THREAD_##kind_, SWAP_MSG_PROBE_THREAD, (api_type_), 0, (is_once_), \
	  (name_) }
#define SWAP_API_CHART	 55u
#define SWAP_API_COUNTER 56u
#define SWAP_CHART_PREFIX "user:"	/* of series, in the stream of events */

/* By number, from 1 on. */
static const struct swap_api swap_apis[] = {
	SWAP_MEMORY(1, MALLOC, 0, "malloc"),
	SWAP_MEMORY(2, CALLOC, 0, "calloc"),
	SWAP_MEMORY(3, MEMALIGN, 0, "memalign"),
	SWAP_MEMORY(4, NEW, 0, "operator new"),
	SWAP_MEMORY(5, REALLOC, 0, "realloc"),
	SWAP_MEMORY(6, FREE, 1, "free"),
	SWAP_MEMORY(7, DELETE, 1, "operator delete"),
	SWAP_MEMORY(8, MMAP, 0, "mmap"),
	SWAP_MEMORY(9, MUNMAP, 1, "munmap"),
	SWAP_MEMORY(10, MREMAP, 0, "mremap"),
	SWAP_MEMORY(11, BRK, 0, "brk"),
	SWAP_SYNC(12, MUTEX, 1, 3, "pthread_mutex_lock"),
	SWAP_SYNC(13, READ, 1, 5, "pthread_rwlock_rdlock"),
	SWAP_SYNC(14, WRITE, 1, 5, "pthread_rwlock_wrlock"),
	SWAP_SYNC(15, COND, 5, 4, "pthread_cond_wait"),
	SWAP_SYNC(16, BARRIER, 1, 7, "pthread_barrier_wait"),
	SWAP_SYNC(17, SEM, 1, 2, "sem_wait"),
	{ 18, FTR_EVENT_ID_SYNC_JOIN, SWAP_MSG_PROBE_THREAD, 4, 0, false, "pthread_join" },
	SWAP_FILE(19, READ, 2, false, "read"),
	SWAP_FILE(20, WRITE, 4, false, "write"),
	SWAP_FILE(21, LOCK, 14, false, "flock"),
	SWAP_FILE(22, UNLOCK, 16, true, "flock (unlock)"),
	SWAP_FILE(23, CLOSE, 1, true, "close"),
	SWAP_FILE(24, SEEK, 8, true, "lseek"),
	SWAP_FILE(25, FLUSH, 8, true, "fsync"),
	SWAP_FILE(26, SETSIZE, 12, true, "ftruncate"),
	SWAP_FILE(27, SETMODE, 7, true, "fchmod"),
	SWAP_FILE(28, DUP, 12, true, "dup"),
	SWAP_FILE(29, READDIR, 6, true, "readdir"),
	SWAP_FILE(30, SETOWNER, 7, true, "fchown"),
	SWAP_FILE(31, OPEN, 0, true, "open"),
	SWAP_FILE(32, OPENDIR, 6, true, "opendir"),
	SWAP_FILE(33, MKDIR, 6, true, "mkdir"),
	SWAP_FILE(34, CHDIR, 6, true, "chdir"),
	SWAP_FILE(35, UNLINK, 8, true, "unlink"),
	SWAP_FILE(36, CHMOD, 7, true, "chmod"),
	SWAP_FILE(37, CHOWN, 7, true, "chown"),
	SWAP_FILE(38, TRUNCATE, 12, true, "truncate"),
	SWAP_FILE(39, RENAME, 8, true, "rename"),
	SWAP_FILE(40, LINK, 8, true, "link"),
	SWAP_FILE(41, SYMLINK, 8, true, "symlink"),
	SWAP_NET(42, SOCKET, 0, true, "socket"),
	SWAP_NET(43, BIND, 6, true, "bind"),
	SWAP_NET(44, CONNECT, 8, true, "connect"),
	SWAP_NET(45, LISTEN, 7, true, "listen"),
	SWAP_NET(46, ACCEPT, 9, false, "accept"),
	SWAP_NET(47, RECEIVE, 2, false, "recv"),
	SWAP_NET(48, SEND, 4, false, "send"),
	SWAP_NET(49, RECEIVE_FROM, 2, false, "recvfrom"),
	SWAP_NET(50, SEND_TO, 4, false, "sendto"),
	SWAP_NET(51, SHUTDOWN, 13, true, "shutdown"),
	SWAP_NET(52, CLOSE, 1, true, "close (socket)"),
	SWAP_NET(53, DUP, 13, true, "dup (socket)"),
	SWAP_NET(54, WAIT, 11, false, "poll"),
	SWAP_CUSTOM(SWAP_API_CHART, CHART, "ftr_chart"),
	SWAP_CUSTOM(SWAP_API_COUNTER, COUNTER, "ftr_counter"),
	SWAP_THREAD(57, CREATE, 0, true, "pthread_create"),
	SWAP_THREAD(58, DETACH, 8, true, "pthread_detach"),
	SWAP_THREAD(59, CANCEL, 8, true, "pthread_cancel"),
	SWAP_THREAD(60, EXIT, 3, false, "pthread_exit"),
	SWAP_FILE(61, FSTAT, 8, true, "fstat"),
	SWAP_FILE(62, STAT, 8, true, "stat"),
	SWAP_FILE(63, ACCESS, 7, true, "access"),
};
#define SWAP_API_NR (sizeof(swap_apis) / sizeof(swap_apis[0]))

static inline bool swap_api_is_io(const struct swap_api *api)
{
	return api->message == SWAP_MSG_PROBE_FILE || api->message == SWAP_MSG_PROBE_NETWORK;
}

/*
 * Arguments of its messages are what a call's events have and the messages' own fields have not:
 * the first value where it is no descriptor, the second where it is not how many bytes, the texts.
 */
static inline bool swap_io_has_first(const struct ftr_event_kind *begin)
{
	return strcmp(begin->spec->args[0].name, "fd") != 0;
}

static inline bool swap_io_asks_bytes(const struct ftr_event_kind *begin)
{
	return ftr_io_moves(begin) && begin->spec->nr == 3;
}

#endif /* FTR_FORMAT_SWAP_PROBE_H */
