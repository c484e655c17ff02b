/* SPDX-License-Identifier: MIT */
/*
 * The runtime's mark on system calls of its own.  They are made in the traced program's name but
 * are none of its doing, so the observer of system calls passes them over: it looks for the mark in
 * the sixth argument of the few calls of which the runtime makes its own (utils/observe/filter.c):
 * they have fewer, and the kernel reads no more.
 */
#ifndef FTR_PROTO_OWN_CALL_H
#define FTR_PROTO_OWN_CALL_H

#define FTR_OWN_CALL_ARG 5
#define FTR_OWN_CALL \
	0x6c6c616372746600ul /* "\0ftrcall" in memory: in no program's registers by chance */

#endif /* FTR_PROTO_OWN_CALL_H */
