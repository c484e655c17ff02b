/* SPDX-License-Identifier: MIT */
/*
 * The kernel's files of a uftrace directory, by libtraceevent; for uftrace/read*.c only.
 * doc/adr/0019.
 */
#ifndef FTR_FORMAT_UFTRACE_READ_KERNEL_H
#define FTR_FORMAT_UFTRACE_READ_KERNEL_H

#include "utils/base/strbuf.h"
#include "utils/base/text.h"
#include "utils/format/uftrace/read.h"

#define UFT_KERNEL_IDS 65536		/* of events: 16 bits in the records */
#define UFT_KERNEL_SLOTS 1024		/* of the direct-mapped cache of addresses */
#define UFT_PAGE_LOST                                                                             \
	(UINT32_C(1) << 31) /* of a page's number: this task's stream tells of the loss before it \
			     */

struct kbuffer;
struct tep_event;
struct tep_format_field;
struct tep_handle;
struct uft_kernel_text;

enum uft_kernel_kind {
	UFT_KERNEL_POINT,
	UFT_KERNEL_ENTRY,
	UFT_KERNEL_EXIT,
};

/* One kind of event, as its format describes it. */
struct uft_kernel_event {
	const char *name;		/* "sched:sched_switch" */
	struct tep_event *tep;		/* (borrowed) */
	const struct tep_format_field *pid;	/* common_pid */
	const struct tep_format_field
		*other; /* (nullable) whose event it is if the first has no data */
	const struct tep_format_field *func;	/* of an ENTRY or EXIT: its function */
	uint32_t id;
	uint32_t fixed_bytes;		/* a record has at least so many */
	uint8_t  kind;			/* enum uft_kernel_kind */
	bool     has_dynamic;		/* fields that say where in the record they lie */
	bool is_printable;   /* its print fmt can be followed without leaving the record */
	const char *trouble; /* (nullable) why it cannot, to be told at the first such event */
};

struct uft_kernel_file {
	struct ftr_istream in;
	uint16_t cpu_nr;		/* plus 1, as events have it */
};

struct uft_kernel {
	struct ftr_trace *trace;
	struct tep_handle *tep;		/* (owned) */
	struct kbuffer *kbuffer;	/* (owned) */
	struct uft_kernel_text *text;	/* (owned, nullable) */
	uint32_t page_bytes;
	uint8_t  long_bytes;
	bool     is_big;
	const struct tep_format_field
		*type; /* common_type, the same in all (nullable: no event is known) */
	FTR_VEC(struct uft_kernel_event *) events;	/* (owned) */
	uint16_t by_id[UFT_KERNEL_IDS];		/* index in events, plus 1; 0 = no such event */
	FTR_VEC(struct uft_kernel_file) files;	/* (owned) */
	struct ftr_module *module;
	struct {
		uint64_t addr;
		const struct ftr_func *func;	/* NULL = free */
	} slots[UFT_KERNEL_SLOTS];
};

/*
 * A walk over one page's events.  The commit word's lost flags are kept apart; time_ns, data and
 * bytes are those of the event that uft_page_next found.
 */
struct uft_page {
	const struct uft_kernel *kernel;
	const uint8_t *start;
	const uint8_t *next;
	const uint8_t *end;		/* of what was committed */
	uint64_t time_ns;
	uint64_t lost_nr; /* events before the page that the kernel had no room for; 0 = unknown */
	bool     has_lost;
	const uint8_t *data;
	uint32_t bytes;
	const char *damage;		/* (nullable) what is wrong at next */
};

/*
 * uftrace/read_kernel_header.c: formats.  0 or -ENOMEM; damage is warned about.  The layout holds
 * in any case.
 */
int uft_kernel_header_load(struct uft_kernel *kernel, struct uft_reader *reader);

/*
 * ftrace/format.c: is the format's print fmt whole, of fields that are there?  Before it are
 * *fields_bytes.
 */
bool uft_kernel_print_is_sound(struct ftr_slice format, size_t *fields_bytes);
bool uft_kernel_fields_are_sound(struct ftr_slice fields);

/*
 * ftrace/page_read.c.  The page at @start has up to @left bytes.  False: nothing of it can be read.
 */
bool uft_page_open(struct uft_page *page, const struct uft_kernel *kernel, const uint8_t *start,
		   size_t left);
/* True: there is one more event.  False: the end, or page->damage. */
bool uft_page_next(struct uft_page *page);
/* The event's kind; NULL: nothing known has this id. */
struct uft_kernel_event *uft_page_event(const struct uft_page *page, uint32_t *id);
/* A number of the event at hand; the record must fit the format: uft_kernel_fits. */
uint64_t uft_page_number(const struct uft_page *page, const struct tep_format_field *field);
/* Does the record hold all fields, and the data that they point to? */
bool uft_kernel_fits(const struct uft_page *page, const struct uft_kernel_event *event);
/*
 * A walk over the file goes from offset @from to @to: what lies far behind need not stay in memory.
 */
void uft_kernel_file_pass(const struct uft_kernel_file *file, size_t from, size_t to);

/* ftrace/text.c: the text of the event's print fmt, appended.  0 or -ENOMEM. */
int uft_kernel_text(struct uft_kernel *kernel, const struct uft_page *page,
		    const struct uft_kernel_event *event, struct ftr_strbuf *out);
bool uft_kernel_is_printable(const struct tep_event *event);
void uft_kernel_text_free(struct uft_kernel_text *text);	/* NULL is fine */

/* ftrace/symbol.c: the file kallsyms.  NULL: out of memory. */
const struct ftr_func *uft_kernel_func(struct uft_kernel *kernel, uint64_t addr);
/* "vfs_read", and its address to *addr; NULL: no symbol. */
const char *uft_kernel_symbol(struct uft_kernel *kernel, uint64_t *addr);

/*
 * uftrace/read_kernel.c: the task that the event at hand belongs to; NULL: none that has user data.
 */
struct uft_task *uft_kernel_owner(const struct uft_reader *reader, const struct uft_page *page,
				  const struct uft_kernel_event *event);

/*
 * uftrace/read_kernel_source.c: what the kernel says of one task, in order of time.  NULL: out of
 * memory.
 */
struct ftr_source *uft_kernel_source(struct uft_reader *reader, struct uft_task *task);

#endif /* FTR_FORMAT_UFTRACE_READ_KERNEL_H */
