/* SPDX-License-Identifier: MIT */
/*
 * The runtime's mark on its own system calls in the traced program, by which the observer of system
 * calls skips them.  It is the sixth argument of the few observed calls that the runtime makes
 * (utils/observe/filter.c): they have fewer, and the kernel reads no more.
 */
#ifndef FTR_PROTO_OWN_CALL_H
#define FTR_PROTO_OWN_CALL_H

#define FTR_OWN_CALL_ARG 5
#define FTR_OWN_CALL \
	0x6c6c616372746600ul /* "\0ftrcall" in memory: in no program's registers by chance */

#endif /* FTR_PROTO_OWN_CALL_H */
