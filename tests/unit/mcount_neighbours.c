/* SPDX-License-Identifier: MIT */
/* What libmcount/ring.c needs of its neighbours, where there is no traced program. */
#include "libmcount/nursery.h"
#include "libmcount/state.h"

struct ftr_state ftr_state;
__thread struct ftr_thread ftr_self;

bool ftr_thread_attach(struct ftr_thread *self)
{
	return false;
}

void ftr_thread_disarm(struct ftr_thread *self)
{
	self->is_refused = true;
}

bool ftr_nursery_leave(struct ftr_thread *self, uint64_t pos)
{
	return false;
}

bool ftr_nursery_keep_name(void)
{
	return !ftr_self.is_refused;
}

void *ftr_real_find(const char *name)
{
	return NULL;
}
