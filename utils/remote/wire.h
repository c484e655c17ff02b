/* SPDX-License-Identifier: MIT */
/*
 * Data directories over TCP, as uftrace's record --host sends and its recv stores them: messages of
 * a head of 8 bytes and a body, numbers in network byte order.
 *
 *	head	u16 0xface, u16 type, u32 bytes of the body
 *
 * Records, pages and texts in bodies stay as they are in the files.  doc/ftr-recv.1, doc/adr/0070.
 */
#ifndef FTR_REMOTE_WIRE_H
#define FTR_REMOTE_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#define FTR_WIRE_PORT "8090"
#define FTR_WIRE_MAGIC 0xface
#define FTR_WIRE_HEAD_BYTES 8
#define FTR_WIRE_NUMBER_BYTES 4		/* begins the bodies of parts of files */
#define FTR_WIRE_NAME_MAX 255
#define FTR_WIRE_INFO_BYTES 40		/* of the info file's header */

enum ftr_wire_type {
	FTR_WIRE_DIR = 101,	/* the directory's name, once, first */
	FTR_WIRE_DATA = 102,	/* i32 tid, more of TID.dat */
	FTR_WIRE_KERNEL = 103,	/* i32 processor, more of kernel-cpuN.dat */
	FTR_WIRE_PERF = 104,	/* i32 processor, more of perf-cpuN.dat */
	FTR_WIRE_INFO = 105,	/* the info file, its header's numbers in network byte order */
	FTR_WIRE_META = 106,	/* i32 bytes of a name, the name, more of that file */
	FTR_WIRE_END = 107,	/* nothing: all was sent */
};

struct ftr_wire_head {
	uint16_t type;		/* enum ftr_wire_type */
	uint32_t bytes;
};

void ftr_wire_head_put(uint8_t to[FTR_WIRE_HEAD_BYTES], struct ftr_wire_head head);
/* False: it is no head of a message. */
bool ftr_wire_head_get(const uint8_t from[FTR_WIRE_HEAD_BYTES], struct ftr_wire_head *head);

/* The info file's header between the byte order that it states and that of the network. */
void ftr_wire_info_to_network(uint8_t header[FTR_WIRE_INFO_BYTES]);
void ftr_wire_info_from_network(uint8_t header[FTR_WIRE_INFO_BYTES]);

/*
 * The file that parts of @type with @number are of, to @name; NULL: the type has no number.  That
 * of a file's name is FTR_WIRE_META where it is none of those.
 */
const char *ftr_wire_file_name(uint16_t type, int32_t number, char name[FTR_WIRE_NAME_MAX + 1]);
enum ftr_wire_type ftr_wire_file_type(const char *name, int32_t *number);

#endif /* FTR_REMOTE_WIRE_H */
