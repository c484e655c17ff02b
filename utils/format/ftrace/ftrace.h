/* SPDX-License-Identifier: MIT */
/*
 * What the kernel traced, as ftrace hands it out, whoever keeps it: formats of events, pages of the
 * ring buffer, events as text, the kernel's functions.  By libtraceevent; doc/adr/0019.
 *
 *	ftr_ftrace_init(&ftrace, trace, &layout);
 *	ftr_ftrace_format_add(&ftrace, system, name, text, NULL);	(for each kind of event)
 *	ftr_ftrace_page_open(&page, &ftrace, page_bytes, bytes, left);
 *	while (ftr_ftrace_page_next(&page)) {
 *		event = ftr_ftrace_page_event(&page, &id);
 *		if (event != NULL && ftr_ftrace_fits(&page, event))
 *			use(ftr_ftrace_number(&page, event->pid), ...);
 *	}
 */
#ifndef FTR_FORMAT_FTRACE_FTRACE_H
#define FTR_FORMAT_FTRACE_FTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/bytes.h"
#include "utils/base/strbuf.h"
#include "utils/base/text.h"
#include "utils/base/vec.h"
#include "utils/trace/source.h"
#include "utils/trace/trace.h"
#include "utils/trace/tracepoint.h"

#define FTR_FTRACE_IDS 65536		/* of events: 16 bits in the records */
#define FTR_FTRACE_SLOT_BITS 10	/* of direct-mapped caches of addresses */
#define FTR_FTRACE_SLOTS     FTR_BIT(FTR_FTRACE_SLOT_BITS)
#define FTR_FTRACE_PAGE_MIN 256u
/* Where functions of programs are in files that ftr writes: nowhere. */
#define FTR_FTRACE_PROGRAM_FIRST UINT64_C(0x10000000000)
#define FTR_FTRACE_PROGRAM_LAST	 (2 * FTR_FTRACE_PROGRAM_FIRST - 1)
#define FTR_FTRACE_PAGE_MAX (UINT32_C(1) << 26)	/* what a commit word can count */

struct ftr_ftrace_print;
struct ftr_ftrace_text;
struct ftr_istream;
struct ftr_symbol;
struct ftr_symtab;
struct tep_event;
struct tep_format_field;
struct tep_handle;

enum ftr_ftrace_kind {
	FTR_FTRACE_POINT,
	FTR_FTRACE_ENTRY,
	FTR_FTRACE_EXIT,
};

/* Does the trace's consumer want texts of a kind of event? */
enum ftr_ftrace_wanted {
	FTR_FTRACE_WANTED_UNKNOWN,	/* not asked yet */
	FTR_FTRACE_WANTED,
	FTR_FTRACE_UNWANTED,
};

/* Where in a record a number is. */
struct ftr_ftrace_field {
	uint32_t offset;
	uint32_t bytes;			/* 0 = there is no such field */
};

/* One kind of event, as its format describes it. */
struct ftr_ftrace_event {
	const char *name;		/* "sched:sched_switch" */
	struct tep_event *tep;		/* (borrowed) */
	struct ftr_ftrace_field pid;	/* common_pid */
	struct ftr_ftrace_field other;	/* another task that it is about, perhaps */
	struct ftr_ftrace_field func;	/* of an ENTRY or EXIT: its function */
	struct ftr_ftrace_field printk;	/* points to the format of its text, perhaps */
	uint32_t id;
	uint32_t fixed_bytes;		/* a record has at least so many */
	uint32_t rest_offset;		/* of a field that takes what is left, perhaps nothing */
	uint8_t  kind;			/* enum ftr_ftrace_kind */
	uint8_t  text_wanted;		/* enum ftr_ftrace_wanted */
	bool     has_dynamic;		/* fields that hold where in the record their data lie */
	bool     is_printable;	/* its print fmt can be followed without leaving the record */
	struct ftr_ftrace_print *print;	/* (owned, nullable) the steps of its print fmt */
	struct ftr_tracepoint tracepoint;
	bool     is_portable;	/* who keeps records and format has all that a text needs */
	const char *trouble;	/* (nullable) why it cannot: to be warned about, once */
};

/* Of the machine that recorded. */
struct ftr_ftrace_layout {
	uint32_t page_bytes;		/* a power of two, FTR_FTRACE_PAGE_MIN..MAX */
	uint8_t  long_bytes;		/* 4 or 8 */
	bool     is_big;
};

struct ftr_ftrace {
	struct ftr_trace *trace;	/* (borrowed) */
	struct ftr_tracepoint_kernel kernel;
	struct ftr_ftrace_layout layout;
	struct tep_handle *tep;		/* (owned) */
	struct ftr_ftrace_text *text;	/* (owned, nullable) */
	bool has_programs;		/* functions from FTR_FTRACE_PROGRAM_FIRST on are theirs */
	struct ftr_ftrace_field type;	/* common_type, the same in all; none: no event is known */
	FTR_VEC(struct ftr_ftrace_event *) events;	/* (owned) */
	struct ftr_hashmap printks;	/* texts that can be followed, by address */
	uint16_t by_id[FTR_FTRACE_IDS];		/* index in events, plus 1; 0 = no such event */
	struct {
		uint64_t addr;
		const struct ftr_func *func;	/* NULL = free */
	} slots[FTR_FTRACE_SLOTS];
	struct {
		uint64_t addr;
		const struct ftr_symbol *symbol;	/* NULL = free */
	} symbol_slots[FTR_FTRACE_SLOTS];
};

/* ---- ftrace.c: formats and functions ---- */

/*
 * @ftrace is zeroed.  The kernel becomes a module of @trace, whose symbols the trace's loader
 * finds.  0 or -ENOMEM; ftr_ftrace_fini in any case.
 */
int  ftr_ftrace_init(struct ftr_ftrace *ftrace, struct ftr_trace *trace,
		     const struct ftr_ftrace_layout *layout);
void ftr_ftrace_fini(struct ftr_ftrace *ftrace);	/* zeroed is fine */

/* @field is sane, or NULL: there is none. */
struct ftr_ftrace_field ftr_ftrace_field_of(const struct tep_format_field *field);

/* The file header_page.  False: it contradicts the layout, which is used. */
bool ftr_ftrace_header_page(struct ftr_ftrace *ftrace, struct ftr_slice text);

/*
 * The file format of the event @system:@name.  @why_cut (nullable): why the text may end early.
 * 0, -EINVAL: such events cannot be read, or -ENOMEM.
 */
int ftr_ftrace_format_add(struct ftr_ftrace *ftrace, struct ftr_slice system,
			  struct ftr_slice name, struct ftr_slice text, const char *why_cut);

/* ---- machine.c ---- */

/* Bytes of a long in the kernel, by the file header_page: 4, 8, or 0: it does not say. */
unsigned ftr_ftrace_commit_bytes(struct ftr_slice text);
/* The file header_event.  False: it contradicts page_layout.h, which is used. */
bool ftr_ftrace_header_event(struct ftr_slice text);
/* The name that stands in a format.  False: there is none. */
bool ftr_ftrace_format_name(struct ftr_slice text, struct ftr_slice *name);
/*
 * The file printk_formats: texts that records point to.  Those that could lead astray are left out.
 * 0 or -ENOMEM.
 */
int ftr_ftrace_printk_formats(struct ftr_ftrace *ftrace, struct ftr_slice text,
			      uint64_t *damaged_nr);
/*
 * The symbols of the kernel, from @in, into an uninitialised table; where there are none that can
 * be used, a warning says so.  0, or -errno: there is nothing to finish.
 */
int ftr_ftrace_kallsyms(struct ftr_symtab *symtab, struct ftr_istream *in, struct ftr_diag *diag);

/* ---- ftrace.c: functions ---- */

/* The function at an address, a made-up one where no symbol is known.  NULL: no memory. */
const struct ftr_func *ftr_ftrace_func(struct ftr_ftrace *ftrace, uint64_t addr);
/* The name of the symbol that covers @addr, and how far in it is.  NULL: none is known. */
const char *ftr_ftrace_symbol(struct ftr_ftrace *ftrace, uint64_t addr, uint64_t *offset);

/* ---- page_read.c ---- */

/*
 * A walk over one page's events.  The commit word's lost flags are kept apart; time_ns, data and
 * bytes are those of the event that ftr_ftrace_page_next found.
 */
struct ftr_ftrace_page {
	const struct ftr_ftrace *ftrace;
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
 * A page of @page_bytes at @start, where @left bytes are left.  False: nothing of it can be read.
 */
bool ftr_ftrace_page_open(struct ftr_ftrace_page *page, const struct ftr_ftrace *ftrace,
			  uint32_t page_bytes, const uint8_t *start, size_t left);
/* True: there is one more event.  False: the end, or page->damage. */
bool ftr_ftrace_page_next(struct ftr_ftrace_page *page);
/* A number of the event at hand, whose record fits its format. */
static inline uint64_t ftr_ftrace_number(const struct ftr_ftrace_page *page,
					 struct ftr_ftrace_field field)
{
	return ftr_get_word(page->data + field.offset, field.bytes, page->ftrace->layout.is_big);
}

/* The event's kind; NULL: nothing known has this id. */
static inline struct ftr_ftrace_event *ftr_ftrace_page_event(const struct ftr_ftrace_page *page,
							     uint32_t *id)
{
	const struct ftr_ftrace *ftrace = page->ftrace;

	if (ftrace->type.bytes == 0 || ftrace->type.offset + ftrace->type.bytes > page->bytes)
		return NULL;
	*id = (uint32_t)ftr_ftrace_number(page, ftrace->type);
	if (*id >= FTR_FTRACE_IDS || ftrace->by_id[*id] == 0)
		return NULL;
	return ftrace->events.v[ftrace->by_id[*id] - 1];
}

/* Does the record hold the data that its fields point to? */
bool ftr_ftrace_fits_dynamic(const struct ftr_ftrace_page *page,
			     const struct ftr_ftrace_event *event);

/* Does the record hold all fields, and the data that they point to? */
static inline bool ftr_ftrace_fits(const struct ftr_ftrace_page *page,
				   const struct ftr_ftrace_event *event)
{
	return page->bytes >= event->fixed_bytes &&
	       (!event->has_dynamic || ftr_ftrace_fits_dynamic(page, event));
}

/* ---- text.c ---- */

/*
 * Append the text of the event, whose record fits its format, as its print fmt has it: by its
 * steps, where it has some, else by libtraceevent.  0 or -ENOMEM.
 */
int  ftr_ftrace_text(struct ftr_ftrace *ftrace, const struct ftr_ftrace_page *page,
		     const struct ftr_ftrace_event *event, struct ftr_strbuf *out);
/* The same text by libtraceevent, slowly. */
int  ftr_ftrace_text_by_library(struct ftr_ftrace *ftrace, const struct ftr_ftrace_page *page,
				const struct ftr_ftrace_event *event, struct ftr_strbuf *out);
bool ftr_ftrace_is_printable(const struct tep_event *event);
void ftr_ftrace_text_free(struct ftr_ftrace_text *text);	/* NULL is fine */

/* ---- format_check.c: formats are looked at before libtraceevent gets them ---- */

/* Is the format's print fmt whole, of fields that are there?  Before it are *fields_bytes. */
bool ftr_ftrace_print_is_sound(struct ftr_slice format, size_t *fields_bytes);
bool ftr_ftrace_fields_are_sound(struct ftr_slice fields);

/* ---- join.c ---- */

/* A task's own events and those of the kernel, by time.  Takes both over; NULL: out of memory. */
struct ftr_source *ftr_ftrace_join(struct ftr_source *user, struct ftr_source *kernel);

#endif /* FTR_FORMAT_FTRACE_FTRACE_H */
