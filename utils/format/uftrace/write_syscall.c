/* SPDX-License-Identifier: MIT */
/* Writing the system calls of a data directory. */
#include "utils/format/uftrace/write_syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int ftr_uftrace_syscalls_open(struct ftr_uftrace_syscalls *file, int dir, struct ftr_err *err)
{
	static const struct ftr_etrace_options options = { .is_extended = true };
	int fd = openat(dir, FTR_SYSCALL_FILE, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		return ftr_err_set(err, errno, FTR_SYSCALL_FILE ": %s", strerror(errno));
	if (ftr_ostream_from_fd(&file->out, fd, FTR_SYSCALL_FILE) < 0) {
		close(fd);
		return ftr_err_set(err, ENOMEM, FTR_SYSCALL_FILE ": out of memory");
	}
	file->out.owns_fd = true;
	ftr_etrace_writer_init(&file->text, &file->out, &options);
	return 0;
}

int ftr_uftrace_syscalls_write(struct ftr_uftrace_syscalls *file, const struct ftr_syscall *call)
{
	return ftr_etrace_write(&file->text, call);
}

int ftr_uftrace_syscalls_close(struct ftr_uftrace_syscalls *file, struct ftr_err *err)
{
	ftr_etrace_writer_fini(&file->text);
	return ftr_ostream_close(&file->out, err);
}
