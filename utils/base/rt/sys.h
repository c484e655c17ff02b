/* SPDX-License-Identifier: MIT */
/*
 * Linux system calls for code that must not touch libc: results as the kernel gives them (-errno),
 * no errno, no cancellation point, callable from any context.
 */
#ifndef FTR_BASE_RT_SYS_H
#define FTR_BASE_RT_SYS_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "arch/rt.h"
#include "utils/proto/own_call.h"

#define ftr_sys0(nr)		 ftr_arch_syscall(nr, 0, 0, 0, 0, 0, 0)
#define ftr_sys2(nr, a, b)	 ftr_arch_syscall(nr, (long)(a), (long)(b), 0, 0, 0, 0)
#define ftr_sys3(nr, a, b, c)	 ftr_arch_syscall(nr, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define ftr_sys4(nr, a, b, c, d) \
	ftr_arch_syscall(nr, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define ftr_sys5(nr, a, b, c, d, e) \
	ftr_arch_syscall(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)
#define ftr_sys6(nr, a, b, c, d, e, f) \
	ftr_arch_syscall(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* mmap of a multiple of pages of a file. */
#define ftr_sys_map(address, bytes, prot, flags, fd, offset) \
	ftr_sys6(FTR_ARCH_SYS_MMAP, address, bytes, prot, flags, fd, \
		 (offset) >> FTR_ARCH_MMAP_SHIFT)

/* pread64 and pwrite64, whose offset has 64 bits everywhere. */
#define ftr_sys_read_at(fd, to, bytes, offset) \
	ftr_arch_syscall(SYS_pread64, (long)(fd), (long)(to), (long)(bytes), \
			 FTR_ARCH_ARG64(offset))
#define ftr_sys_write_at(fd, from, bytes, offset) \
	ftr_arch_syscall(SYS_pwrite64, (long)(fd), (long)(from), (long)(bytes), \
			 FTR_ARCH_ARG64(offset))

/* Marked as the runtime's own (utils/proto/own_call.h): opening @path to read, closing. */
static inline long ftr_sys_open_own(const char *path)
{
	return ftr_sys6(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0, 0, FTR_OWN_CALL);
}

static inline void ftr_sys_close_own(long fd)
{
	ftr_sys6(SYS_close, fd, 0, 0, 0, 0, FTR_OWN_CALL);
}

/* mmap's result: an address, or -errno in the last page. */
static inline int ftr_sys_map_failed(long result)
{
	return (unsigned long)result > (unsigned long)-4096L;
}

#endif /* FTR_BASE_RT_SYS_H */
