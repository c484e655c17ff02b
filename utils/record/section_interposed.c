/* SPDX-License-Identifier: MIT */
/*
 * Probes that interpose functions of the program: libraries of ours that are preloaded behind
 * libmcount.so where they are on.  The runtime has nothing to switch.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "utils/base/bits.h"
#include "utils/base/text.h"
#include "utils/record/collector.h"
#include "utils/record/interposers.h"
#include "utils/record/sections.h"

static const char *const names[] = {
#define FTR_INTERPOSER(name) #name,
#include "utils/record/interposers.def"
#undef FTR_INTERPOSER
};

#define NAMES (sizeof(names) / sizeof(names[0]))

struct interposed_values {
	uint32_t on;			/* bit N: names[N] */
};

static const char *next_name(size_t *pos)
{
	return *pos < NAMES ? names[(*pos)++] : NULL;
}

static int name_add(uint32_t *on, struct ftr_slice name, struct ftr_err *err)
{
	struct ftr_strbuf known;
	size_t i;

	for (i = 0; i < NAMES; i++) {
		if (strlen(names[i]) == name.len && memcmp(names[i], name.s, name.len) == 0) {
			*on |= FTR_BIT(i);
			return 0;
		}
	}
	ftr_strbuf_init(&known);
	for (i = 0; i < NAMES; i++)
		ftr_strbuf_printf(&known, "%s%s", i > 0 ? ", " : "", names[i]);
	ftr_err_set(err, EINVAL, "\"%.*s\" is not one of: %s", (int)name.len, name.s,
		    ftr_strbuf_str(&known));
	ftr_strbuf_fini(&known);
	return -EINVAL;
}

static int opt_probes(const struct ftr_option *opt, void *value, const char *arg,
		      struct ftr_err *err)
{
	struct ftr_slice rest = ftr_slice_make(arg, strlen(arg)), name;
	int ret = 0;

	while (ret == 0 && ftr_slice_split(&rest, ',', &name))
		ret = name_add(value, name, err);
	return ret;
}

static const struct ftr_option interposed_options[] = {
	FTR_OPTION("probe", 0, "NAME[,NAME...]",
		   "Also record memory (who allocates and frees it), file (what is opened, read, written ...), "
		   "net (what is sent and received by sockets), "
		   "sync (where threads wait for each other), thread (who makes and ends threads)",
		   opt_probes,
		   struct interposed_values, on, .next_word = next_name),
	{ 0 }
};

static uint32_t on_of(const void *values)
{
	return values != NULL ? ((const struct interposed_values *)values)->on : 0;
}

static bool interposed_take_any(const void *values)
{
	return on_of(values) != 0;
}

static uint32_t interposed_flags(const struct ftr_recording *recording, const void *values)
{
	return on_of(values) != 0 ? FTR_SWITCH_ON : FTR_SWITCH_OFF;
}

static bool interposed_are_wanted(const struct ftr_section_module *module, const void *values)
{
	return module->is_image && on_of(values) != 0;
}

const struct ftr_section_maker ftr_section_maker_interposed = {
	.name	      = "interposed",
	.probe	      = "interposed",
	.options      = interposed_options,
	.values_bytes = sizeof(struct interposed_values),
	.takes_any    = interposed_take_any,
	.names_all    = interposed_take_any,	/* any of them may be the caller */
	.flags	      = interposed_flags,
	.is_wanted    = interposed_are_wanted,
	.has_records  = true,
};

bool ftr_interposers_are_asked(const struct ftr_option_values *given)
{
	return on_of(ftr_section_values(given, &ftr_section_maker_interposed)) != 0;
}

/* @runtime is DIR/libmcount.so, the library DIR/libmcount-NAME.so. */
static int library_add(struct ftr_strbuf *list, const char *runtime, const char *name,
		       struct ftr_err *err)
{
	size_t stem = strlen(runtime) - strlen(".so"), at;

	ftr_strbuf_putc(list, ':');
	at = list->len;
	ftr_strbuf_put(list, runtime, stem);
	ftr_strbuf_printf(list, "-%s.so", name);
	if (list->failed)
		return ftr_err_set(err, ENOMEM, "out of memory");
	if (access(ftr_strbuf_str(list) + at, R_OK) == 0)
		return 0;
	return ftr_err_set(err, errno, "%s: %s; --probe=%s needs it: reinstall ftr",
			   ftr_strbuf_str(list) + at, strerror(errno), name);
}

int ftr_interposers_preload(const struct ftr_option_values *given, const char *runtime,
			    struct ftr_strbuf *list, struct ftr_err *err)
{
	uint32_t on = on_of(ftr_section_values(given, &ftr_section_maker_interposed));
	size_t i;
	int ret = 0;

	ftr_strbuf_puts(list, runtime);
	for (i = 0; ret == 0 && i < NAMES; i++) {
		if ((on & FTR_BIT(i)) != 0)
			ret = library_add(list, runtime, names[i], err);
	}
	return ret;
}
