/* SPDX-License-Identifier: MIT */
/* Arguments and return values as scripts get them. */
#ifndef FTR_SCRIPT_VALUES_H
#define FTR_SCRIPT_VALUES_H

#include "utils/base/strbuf.h"
#include "utils/base/vec.h"
#include "utils/script/script.h"

struct ftr_event;
struct ftr_trace;

struct ftr_script_values {
	FTR_VEC(struct ftr_script_value) list;
	struct ftr_strbuf texts;	/* of those whose texts are not in the payload */
};

void ftr_script_values_init(struct ftr_script_values *values);
void ftr_script_values_fini(struct ftr_script_values *values);

/* Those of an ENTRY's or EXIT's payload (nullable); valid until the next.  0 or -ENOMEM. */
int ftr_script_values_decode(struct ftr_script_values *values, const struct ftr_event *ev,
			     const struct ftr_trace *trace);

/* One value: values->texts, which the caller has filled.  0 or -ENOMEM. */
int ftr_script_values_set_text(struct ftr_script_values *values);

#endif /* FTR_SCRIPT_VALUES_H */
