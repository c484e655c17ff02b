/* SPDX-License-Identifier: MIT */
/* ftr record --list-event: what --Event may name on this machine. */
#include "cmds/cmd.h"
#include "cmds/message.h"
#include "cmds/output.h"
#include "cmds/record.h"
#include "utils/base/strbuf.h"
#include "utils/record/collector.h"
#include "utils/record/program.h"
#include "utils/record/sdt_events.h"

/* Those that the program @name (nullable: none was named) and its libraries declare. */
static int list_of_program(const char *name, struct ftr_strbuf *text)
{
	struct ftr_program program = { 0 };
	struct ftr_err err = { 0 };
	int ret = name == NULL ? 0 : ftr_program_find_any(&program, name, &err);

	if (ret < 0)
		ftr_error("%s", err.text);
	else if (name != NULL && ftr_sdt_list(program.image, text) < 0)
		ftr_warn("not listing events of %s: out of memory", name);
	ftr_program_fini(&program);
	return ret;
}

int ftr_record_list_events(const struct ftr_common *common, const char *program)
{
	const struct ftr_collector *collector;
	struct ftr_err err = { 0 };
	struct ftr_output output;
	struct ftr_strbuf text;
	size_t pos = 0;
	int status;

	ftr_strbuf_init(&text);
	if (list_of_program(program, &text) < 0) {
		ftr_strbuf_fini(&text);
		return FTR_EXIT_NOT_FOUND;
	}
	while ((collector = ftr_collector_next(&pos)) != NULL) {
		if (collector->list != NULL && collector->list(&text, &err) < 0)
			ftr_warn("not listing events of the %s: %s", collector->name, err.text);
	}
	status = ftr_output_open(&output, common, NULL) < 0 ? FTR_EXIT_FAILED : FTR_EXIT_OK;
	if (status == FTR_EXIT_OK) {
		ftr_ostream_puts(&output.out, ftr_strbuf_str(&text));
		status = ftr_output_close(&output);
	}
	ftr_strbuf_fini(&text);
	return status;
}
