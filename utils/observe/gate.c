/* SPDX-License-Identifier: MIT */
/* Where the program waits for its observer. */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "utils/observe/observer.h"

int ftr_observer_gate_open(struct ftr_observer_gate *gate, struct ftr_err *err)
{
	ftr_syscall_filter_init(&gate->filter);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate->fds) < 0)
		return ftr_err_set(err, errno, "cannot make a socket pair: %s", strerror(errno));
	return 0;
}

void ftr_observer_gate_close(struct ftr_observer_gate *gate)
{
	for (int i = 0; i < 2; i++) {
		if (gate->fds[i] >= 0)
			close(gate->fds[i]);
		gate->fds[i] = -1;
	}
}

int ftr_observer_gate_pass(struct ftr_observer_gate *gate)
{
	bool lost_setuid;
	char go = 0;
	ssize_t got;

	close(gate->fds[0]);
	/* Where only ancestors may trace: whoever holds the other end may, too. */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	do
		got = read(gate->fds[1], &go, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1)
		return -EPIPE;
	prctl(PR_SET_PTRACER, 0, 0, 0, 0);
	close(gate->fds[1]);
	return ftr_syscall_filter_install(&gate->filter, &lost_setuid);
}
