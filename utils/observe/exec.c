/* SPDX-License-Identifier: MIT */
/* The chain of #! lines, as the kernel follows it, and the arguments of who did not get so far. */
#include "utils/observe/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define HEAD_BYTES 256u		/* what the kernel looks at */
#define CHAIN_MAX 5		/* as deep as it goes */
#define FAILED_ARGS_MAX 64	/* of an exec that failed */
#define FAILED_BYTES_MAX 8192u

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

/* The pointer at @addr, 0 at the end of the array or where nothing can be read. */
static uint64_t read_pointer(const struct ftr_tracee *tracee, uint64_t addr)
{
	size_t bytes = ftr_abis[tracee->abi].word_bytes;
	uint64_t wide = 0;
	uint32_t narrow = 0;

	if (ftr_tracee_read(tracee, addr, bytes == 4 ? (void *)&narrow : (void *)&wide, bytes) !=
	    (ssize_t)bytes)
		return 0;
	return bytes == 4 ? narrow : wide;
}

void ftr_syscall_read_argv(const struct ftr_tracee *tracee, uint64_t addr, struct ftr_strbuf *args)
{
	struct ftr_strbuf arg;

	ftr_strbuf_clear(args);
	ftr_strbuf_init(&arg);
	for (int i = 0; i < FAILED_ARGS_MAX && args->len < FAILED_BYTES_MAX; i++) {
		uint64_t pointer = read_pointer(tracee, addr);

		if (pointer == 0 ||
		    ftr_tracee_read_string(tracee, pointer, FAILED_BYTES_MAX, &arg) == -EFAULT)
			break;
		ftr_strbuf_put(args, ftr_strbuf_str(&arg), arg.len);
		ftr_strbuf_putc(args, '\0');
		addr += ftr_abis[tracee->abi].word_bytes;
	}
	ftr_strbuf_fini(&arg);
}
