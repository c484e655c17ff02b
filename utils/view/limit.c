/* SPDX-License-Identifier: MIT */
/* Limits as text and as lines of JSON. */
#include "utils/view/limit.h"

#include <string.h>

#include "utils/analysis/limit.h"
#include "utils/base/text.h"
#include "utils/view/json.h"

static void put_value(struct ftr_ostream *out, const struct ftr_limit_kind *kind, uint64_t value)
{
	char text[FTR_DURATION_CHARS + 1];

	if (kind->unit != FTR_LIMIT_TIME) {
		ftr_ostream_u64(out, value);
		ftr_ostream_puts(out, kind->unit == FTR_LIMIT_SIZE ? " bytes" : "");
		return;
	}
	*ftr_fmt_duration(text, value) = '\0';
	ftr_ostream_puts(out, value == 0 ? "0 us" : text + strspn(text, " "));
}

void ftr_limit_print(const struct ftr_limit_result *result, struct ftr_ostream *out)
{
	const struct ftr_limit *limit = result->limit;

	if (result->func == NULL) {
		ftr_ostream_printf(out, "%s: not called%s\n", ftr_pattern_text(limit->funcs),
				   result->is_kept ? "" :
						     ", so that its limit says nothing: NOT CHECKED");
		return;
	}
	ftr_ostream_puts(out, result->func);
	ftr_ostream_printf(out, ": %s ", limit->kind->what);
	put_value(out, limit->kind, result->value);
	ftr_ostream_puts(out, ", limit ");
	put_value(out, limit->kind, limit->most);
	ftr_ostream_puts(out, result->is_kept ? "\n" : ": EXCEEDED\n");
}

void ftr_limit_print_json(const struct ftr_limit_result *result, struct ftr_ostream *out)
{
	const struct ftr_limit *limit = result->limit;
	struct ftr_json line;

	ftr_json_begin(&line, out, "limit");
	ftr_json_text(&line, "limit", limit->kind->name);
	ftr_json_text(&line, "pattern", ftr_pattern_text(limit->funcs));
	ftr_json_u64(&line, "most", limit->most);
	ftr_json_text(&line, "func", result->func);
	if (result->func != NULL)
		ftr_json_u64(&line, "value", result->value);
	ftr_json_bool(&line, "kept", result->is_kept);
	ftr_json_end(&line);
}

void ftr_limits_print_end(size_t limit_nr, int broken_nr, struct ftr_ostream *out)
{
	ftr_ostream_printf(out, "%zu limit%s, %d not kept\n", limit_nr, limit_nr == 1 ? "" : "s",
			   broken_nr);
}

void ftr_limits_print_end_json(size_t limit_nr, int broken_nr, struct ftr_ostream *out)
{
	struct ftr_json line;

	ftr_json_begin(&line, out, "check");
	ftr_json_u64(&line, "limits", limit_nr);
	ftr_json_u64(&line, "not_kept", (uint64_t)broken_nr);
	ftr_json_end(&line);
}
