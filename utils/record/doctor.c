/* SPDX-License-Identifier: MIT */
/* The modules of a program or process, and how ftr would trace each. */
#include "utils/record/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "utils/object/debugfile.h"
#include "utils/object/patchable.h"
#include "utils/object/plt.h"
#include "utils/object/symtab.h"
#include "utils/patch/entries.h"
#include "utils/patch/move.h"
#include "utils/record/maps.h"
#include "utils/record/sections.h"

extern char **environ;

const char *ftr_doctor_way_text(enum ftr_doctor_way way)
{
	static const char *const texts[FTR_DOCTOR_WAYS] = {
		[FTR_DOCTOR_HOOKS] = "its calls of a hook",
		[FTR_DOCTOR_PREPARED] = "patches its prepared entries",
		[FTR_DOCTOR_PLAIN] = "patches it as it is",
		[FTR_DOCTOR_PLAIN_ASKED] = "patches it with -P .@",
		[FTR_DOCTOR_OUTSIDE] = "library calls to it alone",
		[FTR_DOCTOR_NONE] = "nothing",
	};

	return texts[way];
}

/* ---- one module ---- */

static bool has_section(const struct ftr_elf_file *file, const char *name)
{
	GElf_Shdr shdr;

	return ftr_elf_section_find(file, SHT_NULL, name, &shdr) != NULL;
}

static void debug_look(struct ftr_doctor_module *module, const struct ftr_elf_file *file)
{
	struct ftr_elf_file debug;
	bool is_there = ftr_debugfile_open(&debug, file, module->path) == 0;

	module->has_symbols = has_section(file, ".symtab") || has_section(file, ".gnu_debugdata") ||
			      (is_there && has_section(&debug, ".symtab"));
	module->has_debug_info = has_section(file, ".debug_info") ||
				 (is_there && has_section(&debug, ".debug_info"));
	if (is_there)
		ftr_elf_file_close(&debug);
}

static bool takes_all(void *arg, const struct ftr_function *function)
{
	return true;
}

static int plain_count(struct ftr_doctor_module *module, const struct ftr_elf_file *file,
		       const struct ftr_symtab *symbols)
{
	struct ftr_entries entries;
	int ret = ftr_entries_plan(&entries, file, symbols, takes_all, NULL);

	for (unsigned state = 0; ret == 0 && state < FTR_ENTRY_STATES; state++) {
		if (state != FTR_ENTRY_PART && state != FTR_ENTRY_START)
			module->functions += entries.counts[state];
	}
	module->functions += entries.functions.without_frames;
	module->seen = entries.counts[FTR_ENTRY_PATCHED];
	ftr_entries_fini(&entries);
	return ret;
}

static int prepared_count(struct ftr_doctor_module *module, const struct ftr_elf_file *file,
			  const struct ftr_symtab *symbols)
{
	struct ftr_patchables found = { .sites = { 0 } };
	int ret = ftr_patchables_load(&found, file, symbols);

	module->functions = (unsigned)found.sites.nr;
	for (size_t i = 0; i < found.sites.nr; i++) {
		module->seen += found.sites.v[i].state == FTR_PATCHABLE_ENTRY ||
				found.sites.v[i].state == FTR_PATCHABLE_PROLOGUE;
	}
	ftr_patchables_fini(&found);
	return ret;
}

/* Which of them call the hook is not recorded anywhere: the linker's own do not. */
static void hooked_count(struct ftr_doctor_module *module, const struct ftr_symtab *symbols)
{
	for (size_t i = 0; i < symbols->nr; i++)
		module->functions += strchr("tTwWi", symbols->symbols[i].type) != NULL;
	module->seen = module->functions;
}

static enum ftr_doctor_way way_of(const struct ftr_doctor_module *module,
				  const struct ftr_elf_info *elf)
{
	if (module->is_program && !elf->has_interp)	/* linked statically */
		return FTR_DOCTOR_NONE;
	if ((module->hooks & FTR_ELF_HOOK_CALLS) != 0)
		return FTR_DOCTOR_HOOKS;
	if (!module->is_program && ftr_section_is_base_library(module->path))
		return FTR_DOCTOR_OUTSIDE;
	if ((module->hooks & FTR_ELF_HOOK_SITES) != 0)
		return FTR_DOCTOR_PREPARED;
	if (!ftr_move_is_possible() || elf->machine != ftr_arch_host->elf_machine)
		return module->is_program ? FTR_DOCTOR_NONE : FTR_DOCTOR_OUTSIDE;
	return module->is_program ? FTR_DOCTOR_PLAIN : FTR_DOCTOR_PLAIN_ASKED;
}

static int functions_count(struct ftr_doctor_module *module, const struct ftr_elf_file *file)
{
	struct ftr_symtab symbols;
	int ret = 0;

	ftr_symtab_init(&symbols);
	ftr_symtab_load_elf(&symbols, module->path, NULL);
	if (module->way == FTR_DOCTOR_HOOKS)
		hooked_count(module, &symbols);
	else if (module->way == FTR_DOCTOR_PREPARED)
		ret = prepared_count(module, file, &symbols);
	else if (module->way == FTR_DOCTOR_PLAIN || module->way == FTR_DOCTOR_PLAIN_ASKED)
		ret = plain_count(module, file, &symbols);
	ftr_symtab_fini(&symbols);
	return ret;
}

static int libcalls_count(struct ftr_doctor_module *module, const struct ftr_elf_file *file)
{
	struct ftr_plt plt = { .entries = { 0 } };
	int ret = ftr_plt_load(&plt, file);

	module->libcalls = (unsigned)plt.entries.nr;
	ftr_plt_fini(&plt);
	return ret;
}

/* What cannot be read, such as the vDSO, is no module. */
static int module_add(struct ftr_doctor *doctor, const char *path)
{
	struct ftr_doctor_module module = { .is_program = doctor->modules.nr == 0 };
	struct ftr_elf_info elf;
	struct ftr_elf_file file;
	int ret = 0;

	if (ftr_elf_info_load(&elf, path, NULL) < 0)
		return 0;
	if (ftr_elf_file_open(&file, path, NULL) < 0)
		return 0;
	module.path = strdup(path);
	if (module.path == NULL)
		ret = -ENOMEM;
	if (ret == 0) {
		module.hooks = elf.hooks;
		module.way = way_of(&module, &elf);
		debug_look(&module, &file);
		ret = functions_count(&module, &file);
	}
	if (ret == 0 && module.is_program)
		ret = libcalls_count(&module, &file);
	ftr_elf_file_close(&file);
	if (ret == 0)
		ret = ftr_vec_push(&doctor->modules, module);
	if (ret < 0)
		free(module.path);
	return ret;
}

/* ---- which there are ---- */

static int interpreter_of(const char *path, char text[PATH_MAX])
{
	struct ftr_elf_file file;
	GElf_Shdr shdr;
	Elf_Data *data = NULL;

	if (ftr_elf_file_open(&file, path, NULL) < 0)
		return -ENOENT;
	data = ftr_elf_section_data(ftr_elf_section_find(&file, SHT_NULL, ".interp", &shdr),
				    &shdr);
	text[0] = '\0';
	if (data != NULL)
		snprintf(text, PATH_MAX, "%.*s", (int)data->d_size, (const char *)data->d_buf);
	ftr_elf_file_close(&file);
	return text[0] != '\0' ? 0 : -ENOENT;
}

/* Start "INTERPRETER --list PROGRAM", which loads and does not run it; all that it prints. */
static FILE *list_start(const char *path, pid_t *pid)
{
	char interpreter[PATH_MAX], list[] = "--list";
	char *argv[] = { interpreter, list, NULL, NULL };
	posix_spawn_file_actions_t actions;
	FILE *file = NULL;
	int fds[2];

	argv[2] = (char *)path;		/* which is not changed */
	if (interpreter_of(path, interpreter) < 0 || pipe2(fds, O_CLOEXEC) < 0)
		return NULL;
	if (posix_spawn_file_actions_init(&actions) == 0) {
		posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
		posix_spawn_file_actions_adddup2(&actions, fds[1], STDERR_FILENO);
		if (posix_spawn(pid, interpreter, &actions, NULL, argv, environ) == 0) {
			file = fdopen(fds[0], "re");
			if (file == NULL)
				waitpid(*pid, NULL, 0);
		}
		posix_spawn_file_actions_destroy(&actions);
	}
	close(fds[1]);
	if (file == NULL)
		close(fds[0]);
	return file;
}

/* "	libz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x00007f...)", or without the arrow */
static char *path_in_line(char *line)
{
	char *arrow = strstr(line, " => ");
	char *path = arrow != NULL ? arrow + 4 : line + strspn(line, " \t");
	char *end = strstr(path, " (0x");

	if (path[0] != '/' || end == NULL)
		return NULL;
	*end = '\0';
	return path;
}

/* Of what the program needs and cannot have, the dynamic linker names the first. */
static int line_take(struct ftr_doctor *doctor, char *line)
{
	static const char failure[] = "error while loading shared libraries: ";
	const char *failed = strstr(line, failure), *library;

	if (failed != NULL) {
		failed += sizeof(failure) - 1;
		return ftr_doctor_add(doctor, FTR_DOCTOR_OF_ALL, "%.*s; install it, or name its "
				      "directory in LD_LIBRARY_PATH", (int)strcspn(failed, "\n"),
				      failed);
	}
	library = path_in_line(line);
	return library != NULL ? module_add(doctor, library) : 0;
}

static int libraries_add(struct ftr_doctor *doctor, const char *path)
{
	size_t cap = 0;
	char *line = NULL;
	int ret = 0;
	pid_t pid;
	FILE *file = list_start(path, &pid);

	if (file == NULL)
		return 0;
	while (ret == 0 && getline(&line, &cap, file) > 0)
		ret = line_take(doctor, line);
	free(line);
	fclose(file);
	waitpid(pid, NULL, 0);
	return ret;
}

static int maps_add(struct ftr_doctor *doctor, const struct ftr_maps *maps)
{
	char path[PATH_MAX];
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < maps->ranges.nr; i++) {
		const char *own = maps->ranges.v[i].path;

		if (own[0] != '/' || strcmp(own, doctor->program.path) == 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/root%s", doctor->pid, own);
		ret = module_add(doctor, access(own, R_OK) == 0 ? own : path);
	}
	return ret;
}

/* ---- what of them stands in the way ---- */

static int names_check(struct ftr_doctor *doctor)
{
	const struct ftr_doctor_module *program = &doctor->modules.v[0];
	int ret = 0;

	if (program->way == FTR_DOCTOR_NONE)
		ret = ftr_doctor_add(doctor, FTR_DOCTOR_OF_CALLS, "%s is not instrumented, and ftr "
				     "cannot patch it: compile it with -pg, or build ftr with "
				     "libzydis-dev (x86-64); --force records its library calls",
				     program->path);
	else if (program->seen == 0)
		ret = ftr_doctor_add(doctor, FTR_DOCTOR_OF_CALLS, "no function of %s can be "
				     "recorded: compile it with -pg; --force records its library "
				     "calls", program->path);
	if (ret == 0 && !program->has_symbols)
		ret = ftr_doctor_add(doctor, FTR_DOCTOR_OF_NAMES, "%s is stripped: functions have "
				     "addresses for names; install its debug symbols (Debian: "
				     "find-dbgsym-packages %s), or link it without -s",
				     program->path, program->path);
	if (ret == 0 && !program->has_debug_info)
		ret = ftr_doctor_add(doctor, FTR_DOCTOR_OF_VALUES, "%s has no debug info: -A and "
				     "-R need specs, and --srcline finds no lines; compile it "
				     "with -g, or install its debug symbols", program->path);
	return ret;
}

int ftr_doctor_program(struct ftr_doctor *doctor, const char *name, struct ftr_err *err)
{
	struct ftr_program checked = { 0 };
	char *runtime = NULL;
	int ret;

	*doctor = (struct ftr_doctor){ 0 };
	ret = ftr_program_find_any(&doctor->program, name, err);
	if (ret < 0 && ret != -EACCES)
		return ret;			/* else what follows says it with its remedy */
	if (ftr_program_find(&checked, name, true, err) < 0)
		ret = ftr_doctor_add(doctor, FTR_DOCTOR_OF_ALL, "%s", err->text);
	else if (ftr_program_runtime(&checked, NULL, false, &runtime, err) < 0)
		ret = ftr_doctor_add(doctor, FTR_DOCTOR_OF_ALL, "%s", err->text);
	ftr_program_fini(&checked);
	free(runtime);
	if (ret == 0 && doctor->program.image != NULL)
		ret = module_add(doctor, doctor->program.image);
	if (ret == 0 && doctor->modules.nr > 0 && !ftr_doctor_is_blocked(doctor)) {
		ret = libraries_add(doctor, doctor->program.image);
		if (ret == 0)
			ret = names_check(doctor);
	}
	return ret == 0 ? ftr_doctor_machine(doctor) : ret;
}

int ftr_doctor_process(struct ftr_doctor *doctor, int32_t pid, struct ftr_err *err)
{
	struct ftr_maps maps = { .ranges = { 0 } };
	char link[64], path[PATH_MAX];
	ssize_t len;
	int ret;

	*doctor = (struct ftr_doctor){ .pid = pid };
	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	len = readlink(link, path, sizeof(path) - 1);
	if (len < 0 && errno != EACCES && errno != EPERM)
		return ftr_err_set(err, ENOENT, "%d: no such process, or a kernel thread", pid);
	if (len >= 0) {
		path[len] = '\0';
		doctor->program.path = strdup(path);
		if (doctor->program.path == NULL)
			return -ENOMEM;
		ret = module_add(doctor, access(path, R_OK) == 0 ? path : link);
		if (ret == 0 && ftr_maps_load(&maps, pid, err) == 0)
			ret = maps_add(doctor, &maps);
		ftr_maps_fini(&maps);
		if (ret == 0 && doctor->modules.nr > 0)
			ret = names_check(doctor);
		if (ret < 0)
			return ret;
	}
	ret = ftr_doctor_attach(doctor);
	return ret == 0 ? ftr_doctor_machine(doctor) : ret;
}

void ftr_doctor_fini(struct ftr_doctor *doctor)
{
	for (size_t i = 0; i < doctor->modules.nr; i++)
		free(doctor->modules.v[i].path);
	for (size_t i = 0; i < doctor->obstacles.nr; i++)
		free(doctor->obstacles.v[i].text);
	ftr_vec_fini(&doctor->modules);
	ftr_vec_fini(&doctor->obstacles);
	ftr_program_fini(&doctor->program);
}
