/* SPDX-License-Identifier: MIT */
/* The chain of #! lines, as the kernel follows it. */
#include "utils/record/syscall_exec.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define HEAD_BYTES 256u		/* what the kernel looks at */
#define CHAIN_MAX 5		/* as deep as it goes */

/* The interpreter that the first line of @path names, in @head; NULL = it is no script. */
static char *script_interpreter(const struct ftr_tracee *tracee, const char *path,
				char head[HEAD_BYTES + 1])
{
	int fd = ftr_tracee_open(tracee, path);
	ssize_t len;
	char *name;

	if (fd < 0)
		return NULL;
	len = read(fd, head, HEAD_BYTES);
	close(fd);
	if (len < 3 || head[0] != '#' || head[1] != '!')
		return NULL;
	head[len] = '\0';
	name = head + 2 + strspn(head + 2, " \t");
	name[strcspn(name, " \t\n")] = '\0';
	return name[0] != '\0' ? name : NULL;
}

void ftr_syscall_interpreter(const struct ftr_tracee *tracee, const struct ftr_strbuf *program,
			     struct ftr_strbuf *interpreter)
{
	char head[HEAD_BYTES + 1], *name;

	ftr_strbuf_clear(interpreter);
	ftr_strbuf_puts(interpreter, ftr_strbuf_str(program));
	for (int i = 0; i < CHAIN_MAX; i++) {
		name = script_interpreter(tracee, ftr_strbuf_str(interpreter), head);
		if (name == NULL || ftr_tracee_resolve(tracee, AT_FDCWD, name, false, true,
						       interpreter) < 0)
			return;
	}
}
