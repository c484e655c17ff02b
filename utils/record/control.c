/* SPDX-License-Identifier: MIT */
/* The recorder's end of the control block. */
#include "utils/record/control.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BLOCK_BYTES 4096u

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

/* In the page, behind what is shared: the kernel walks it when the recorder dies. */
struct holder {
	struct robust_list_head head;
	struct robust_list node;
};
#define HOLDER_OFFSET 4032u
static_assert(sizeof(struct ftr_control) <= HOLDER_OFFSET, "the block leaves room");
static_assert(HOLDER_OFFSET + sizeof(struct holder) <= BLOCK_BYTES, "in the page");

int ftr_control_open(struct ftr_control_block *block, const struct ftr_control *init,
		     struct ftr_err *err)
{
	int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
	void *mem;

	*block = (struct ftr_control_block){ .fd = -1 };
	block->fd = memfd_create("ftr-control", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (block->fd < 0 || ftruncate(block->fd, BLOCK_BYTES) < 0)
		goto failed;
	mem = mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, block->fd, 0);
	if (mem == MAP_FAILED)
		goto failed;
	block->map = mem;
	memcpy(block->map, init, sizeof(*init));
	block->map->magic = FTR_CONTROL_MAGIC;
	block->map->version = FTR_CONTROL_VERSION;
	if (fcntl(block->fd, F_ADD_SEALS, seals) < 0)
		goto failed;
	return 0;
failed:
	ftr_err_set(err, errno, "control block: %s%s", strerror(errno), ftr_err_remedy(errno));
	ftr_control_close(block);
	return -err->code;
}

void ftr_control_close(struct ftr_control_block *block)
{
	if (block->map != NULL) {
		atomic_store(&block->map->stopped, 1);
		syscall(SYS_set_robust_list, NULL, sizeof(struct robust_list_head));
		munmap(block->map, BLOCK_BYTES);
	}
	if (block->fd >= 0)
		close(block->fd);
	*block = (struct ftr_control_block){ .fd = -1 };
}

int ftr_control_hold(struct ftr_control_block *block, struct ftr_err *err)
{
	struct holder *holder = (struct holder *)((char *)block->map + HOLDER_OFFSET);
	char *futex = (char *)&block->map->recorder_futex;

	assert(block->map != NULL);
	holder->head.list.next = &holder->node;
	holder->node.next = &holder->head.list;
	holder->head.futex_offset = futex - (char *)&holder->node;
	holder->head.list_op_pending = NULL;
	atomic_store(&block->map->recorder_futex, (uint32_t)gettid());
	/* An emulator has none: a program whose recorder was killed then waits for its time. */
	if (syscall(SYS_set_robust_list, &holder->head, sizeof(holder->head)) < 0 &&
	    errno != ENOSYS)
		return ftr_err_set(err, errno, "control block: set_robust_list: %s",
				   strerror(errno));
	return 0;
}

void ftr_control_stop(struct ftr_control_block *block)
{
	atomic_store(&block->map->stopped, 1);
}
