/* SPDX-License-Identifier: MIT */
/*
 * Where reading of a task's TID.dat may begin: marks in it, with what is open there, kept in
 * TID.index beside it (doc/adr/0087).  A mark has places in TID.dat alone: what is there is read
 * from it.  For uftrace/read*.c only.
 */
#ifndef FTR_FORMAT_UFTRACE_READ_INDEX_H
#define FTR_FORMAT_UFTRACE_READ_INDEX_H

#include "utils/format/uftrace/read_data.h"

/* Before the ENTRY at @at, which nothing that is wrong precedes. */
struct uft_mark {
	uint64_t at;
	uint64_t time_ns;	/* of the ENTRY: what is before is not later */
	size_t own_at;		/* in uft_index.places: open_nr - kept_nr ENTRYs, half_nr POINTs */
	uint32_t open_nr;	/* calls that are open, less those that the task was forked in */
	uint32_t kept_nr;	/* ... the outermost, which the mark before has, too */
	uint32_t inherited_nr;	/* of those that the task was forked in */
	uint32_t half_nr;	/* first events of pairs that wait for their second */
};

/* A function that is called. */
struct uft_called {
	uint64_t addr;
	uint64_t time_ns;	/* first */
};

struct uft_index {
	uint64_t seen_ns;	/* no further marks are to be found before */
	uint64_t inherited_nr;	/* the task was forked in so many calls */
	bool is_final;		/* ... nor behind: there is damage */
	FTR_VEC(struct uft_mark) marks;	/* in order */
	FTR_VEC(uint64_t) places;
	FTR_VEC(struct uft_called) called;	/* in order, as far as was looked */
};

void uft_index_fini(struct uft_index *index);

/* The last mark before which everything is before @from_ns, or NULL. */
const struct uft_mark *uft_index_find(const struct uft_index *index, uint64_t from_ns);
/* How many places uft_index_places gives. */
size_t uft_mark_place_nr(const struct uft_mark *mark);
/* Fill @places, in order: what is open at @mark, and the mark itself. */
void uft_index_places(const struct uft_index *index, const struct uft_mark *mark,
		      uint64_t *places);

/* A function of the task; NULL = out of memory. */
const struct ftr_func *uft_called_func(const struct uft_called *called, struct uft_reader *reader,
				       const struct uft_task *task);

/*
 * uftrace/read_index_file.c: TID.index.  Load it into @index, zeroed; 0, or -errno where there is
 * none, or it is not of this TID.dat.
 */
int uft_index_load(struct uft_index *index, const struct uft_reader *reader,
		   const struct uft_task *task);
/* Write it, if that can be done: else it is made again. */
void uft_index_store(const struct uft_index *index, const struct uft_reader *reader,
		     const struct uft_task *task);
bool uft_index_can_store(const struct uft_reader *reader);

/*
 * uftrace/read_index_make.c: add marks, up to @seek->from_ns, by reading on behind the last one.  0
 * or -errno, described.
 */
int uft_index_make(struct uft_index *index, struct uft_reader *reader, struct uft_task *task,
		   const struct ftr_seek *seek, struct ftr_err *err);

#endif /* FTR_FORMAT_UFTRACE_READ_INDEX_H */
