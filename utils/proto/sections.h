/* SPDX-License-Identifier: MIT */
/*
 * What the recorder tells the runtime about one module, the program's image or a library: a sealed
 * memfd of sections, which comes with the reply to SESSION (the image's) or MODULE.
 *
 *	[ struct ftr_sections ][ struct ftr_section, section_nr times ][ bodies, 8-byte aligned ]
 *
 * Names, ELF files and DWARF are read by the recorder; the runtime checks bounds and nothing else.
 * It skips the kinds that it does not know, so a kind is added with its producer and its consumer
 * and needs no new version.  doc/adr/0021-sections.md.
 *
 * A memfd never changes.  When the recorder has something new to say it makes another one and
 * raises ftr_control.generation; the runtime then asks MODULE about its image again.
 */
#ifndef FTR_PROTO_SECTIONS_H
#define FTR_PROTO_SECTIONS_H

#include <assert.h>
#include <stdint.h>

#define FTR_SECTIONS_MAGIC	0x53525446u	/* "FTRS" */
#define FTR_SECTIONS_MAX	64		/* in one memfd */
#define FTR_SECTIONS_ALIGN	8u

enum ftr_section_kind {
	FTR_SECTION_LIBCALLS = 1, /* utils/proto/plt.h */
	FTR_SECTION_SWITCHES = 2, /* struct ftr_switch, as many as fit */
	FTR_SECTION_VALUES = 4, /* utils/proto/values.h */
	FTR_SECTION_RULES = 5,	  /* utils/proto/rules.h */
	FTR_SECTION_PATCH = 6,	  /* utils/proto/patch.h */
	FTR_SECTION_PLAIN = 8,	  /* utils/proto/plain.h */
	FTR_SECTION_WATCH = 9,	  /* utils/proto/watch.h */
	FTR_SECTION_SDT = 10,	  /* utils/proto/sdt.h */
};

struct ftr_section {
	uint32_t kind;			/* enum ftr_section_kind */
	uint32_t offset;		/* of its body, from the start of the memfd */
	uint32_t bytes;
	uint32_t reserved;
};
static_assert(sizeof(struct ftr_section) == 16, "wire layout");

struct ftr_sections {
	uint32_t magic;
	uint32_t section_nr;
	uint32_t total_bytes;
	uint32_t generation;		/* of the control block when they were made */
};
static_assert(sizeof(struct ftr_sections) == 16, "wire layout");

/* Which probes run, by name; a probe that is not named is off. */
#define FTR_SWITCH_NAME_BYTES 12

enum ftr_switch_value {
	FTR_SWITCH_OFF = 0,
	FTR_SWITCH_ON = 1 << 0,
	FTR_SWITCH_LIBRARIES = 1 << 1, /* in libraries, too, those loaded later included */
};

struct ftr_switch {
	char name[FTR_SWITCH_NAME_BYTES]; /* of a probe (libmcount/probes.def), padded with NULs */
	uint32_t value;			  /* FTR_SWITCH_* flags */
};
static_assert(sizeof(struct ftr_switch) == 16, "wire layout");

#endif /* FTR_PROTO_SECTIONS_H */
