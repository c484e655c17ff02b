/* SPDX-License-Identifier: MIT */
/* ftr info: the machine, program and recording of a trace. */
#include "cmds/cmd.h"
#include "cmds/open.h"
#include "cmds/output.h"
#include "cmds/message.h"
#include "utils/cli/common.h"
#include "utils/object/symtab.h"
#include "utils/record/sysinfo.h"
#include "utils/view/info.h"

#include <stdlib.h>
#include <string.h>

struct info_values {
	struct ftr_common common;
	bool by_task;
	bool symbols;
	bool json;
	bool system;
	int demangle;			/* enum ftr_demangle */
};

static const struct ftr_option info_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct info_values, common),
	FTR_OPTION("task", 0, NULL, "List the tasks", ftr_opt_flag, struct info_values, by_task),
	FTR_OPTION("symbols", 0, NULL, "List the symbols of the program", ftr_opt_flag,
		   struct info_values, symbols),
	FTR_OPTION("demangle", 0, "TYPE",
		   "With --symbols, demangle names: full, simple, no (default: simple)",
		   ftr_opt_choice, struct info_values, demangle, .words = ftr_demangle_words),
	FTR_OPTION("system", 0, NULL, "Show this machine instead of a trace", ftr_opt_flag,
		   struct info_values, system),
	FTR_OPTION("json", 0, NULL, "Print a JSON object of the trace, and one a task", ftr_opt_flag,
		   struct info_values, json),
	{ 0 }
};

/* Files of older recorders have no sizes: then a symbol reaches up to the next. */
static uint64_t size_of(const struct ftr_symtab *tab, size_t i)
{
	if (tab->symbols[i].size != 0 || i + 1 == tab->nr)
		return tab->symbols[i].size;
	return tab->symbols[i + 1].addr - tab->symbols[i].addr;
}

/* One kind of symbols: those of the program, or its library calls. */
static void print_symbols(const struct ftr_symtab *tab, enum ftr_demangle style,
			  bool wants_libcalls, struct ftr_ostream *out)
{
	const char *heading = wants_libcalls ? "Dynamic symbols" : "Normal symbols";

	ftr_ostream_puts(out, heading);
	ftr_ostream_putc(out, '\n');
	ftr_ostream_pad(out, '=', strlen(heading));
	ftr_ostream_putc(out, '\n');
	for (size_t i = 0; i < tab->nr; i++) {
		const struct ftr_symbol *symbol = &tab->symbols[i];
		char *name;

		if ((symbol->type == 'P') != wants_libcalls)
			continue;
		name = ftr_demangle(symbol->name, style);
		ftr_ostream_printf(out, "[%2zu] %#llx: %s (size: %llu)\n", i,
				   (unsigned long long)symbol->addr,
				   name != NULL ? name : symbol->name,
				   (unsigned long long)size_of(tab, i));
		free(name);
	}
}

static struct ftr_module *module_of_program(struct ftr_trace *trace)
{
	for (size_t i = 0; trace->info.exename != NULL && i < trace->modules.nr; i++)
		if (strcmp(trace->modules.v[i]->path, trace->info.exename) == 0)
			return trace->modules.v[i];
	return NULL;
}

static int print_program_symbols(struct ftr_trace *trace, enum ftr_demangle style,
				 struct ftr_ostream *out)
{
	struct ftr_module *module = module_of_program(trace);

	if (module != NULL && module->symtab == NULL && trace->loader != NULL)
		trace->loader->module_load(trace, module);
	if (module == NULL || module->symtab == NULL) {
		ftr_error("%s: has no symbols of the program", trace->path);
		return FTR_EXIT_FAILED;
	}
	print_symbols(module->symtab, style, false, out);
	ftr_ostream_puts(out, "\n\n");
	print_symbols(module->symtab, style, true, out);
	return FTR_EXIT_OK;
}

static int info_opened(struct ftr_trace *trace, const struct info_values *values)
{
	struct ftr_output output;
	int status = FTR_EXIT_OK, closed;

	if (ftr_output_open(&output, &values->common, NULL) < 0)
		return FTR_EXIT_FAILED;
	if (values->symbols)
		status = print_program_symbols(trace, (enum ftr_demangle)values->demangle,
					       &output.out);
	else if (values->json)
		ftr_info_print_json(trace, &output.out);
	else if (values->by_task)
		ftr_info_print_tasks(trace, &output.out);
	else
		ftr_info_print(trace, &output.out);
	closed = ftr_output_close(&output);
	return status != FTR_EXIT_OK ? status : closed;
}

static int show_machine(const struct info_values *values)
{
	struct ftr_info info = { .info_mask = 0 };
	struct ftr_output output;
	struct ftr_arena arena;

	if (ftr_output_open(&output, &values->common, NULL) < 0)
		return FTR_EXIT_FAILED;
	ftr_arena_init(&arena);
	ftr_sysinfo_machine(&info, &arena);
	ftr_info_print_machine(&info, &output.out);
	ftr_arena_fini(&arena);
	return ftr_output_close(&output);
}

static int info_run(void *values, int argc, char **argv)
{
	const struct info_values *self = values;
	struct ftr_opened opened;
	int status;

	if (self->json && (self->symbols || self->by_task)) {
		ftr_error("info: --json shows the trace and its tasks; remove --symbols and --task");
		return FTR_EXIT_USAGE;
	}
	if (self->system && (self->json || self->symbols || self->by_task || self->common.data)) {
		ftr_error("info: --system shows this machine; remove the trace, --json, --symbols "
			  "and --task");
		return FTR_EXIT_USAGE;
	}
	if (self->system)
		return show_machine(self);
	if (self->demangle != FTR_DEMANGLE_SIMPLE && !self->symbols)
		ftr_warn("info: --demangle has no effect without --symbols");
	status = ftr_opened_open(&opened, &self->common, NULL, FTR_ORDER_TIME);
	if (status != FTR_EXIT_OK)
		return status;
	status = info_opened(opened.trace, self);
	ftr_opened_close(&opened);
	return status;
}

const struct ftr_cmd ftr_cmd_info = {
	.name	      = "info",
	.usage	      = "[OPTION...] [TRACE]",
	.summary      = "Show the machine, program and recording of a trace",
	.options      = info_options,
	.trace	      = FTR_CMD_TRACE_OPERAND,
	.values_bytes = sizeof(struct info_values),
	.run	      = info_run,
};
