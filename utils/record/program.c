/* SPDX-License-Identifier: MIT */
/* Can this program be traced? */
#include "arch/arch.h"
#include "arch/rt.h"
#include "utils/record/program.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define RUNTIME "libmcount.so"
#define RUNTIME_NOP "libmcount-nop.so"

static bool is_executable_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* The first executable file of this name along PATH; NULL = none. */
static char *path_search(const char *name)
{
	const char *dirs = getenv("PATH");
	char *path = NULL;

	if (dirs == NULL)
		dirs = "/bin:/usr/bin";
	for (;;) {
		size_t len = strcspn(dirs, ":");

		if (asprintf(&path, "%.*s%s%s", (int)len, dirs, len > 0 ? "/" : "./", name) < 0)
			return NULL;
		if (is_executable_file(path))
			return path;
		free(path);
		if (dirs[len] == '\0')
			return NULL;
		dirs += len + 1;
	}
}

/* What PATH does not have is taken from the working directory, as uftrace does; NULL = none. */
static char *here_search(const char *name)
{
	char *path;

	if (access(name, F_OK) < 0 || asprintf(&path, "./%s", name) < 0)
		return NULL;
	return path;
}

static int check_executable(const char *name, const char *path, struct ftr_err *err)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return ftr_err_set(err, errno, "%s: %s", name, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return ftr_err_set(err, EACCES, "%s: is a directory; name a program in it", name);
	if (!S_ISREG(st.st_mode))
		return ftr_err_set(err, EACCES, "%s: not a regular file", name);
	if (access(path, X_OK) < 0)
		return ftr_err_set(err, EACCES, "%s: not executable; run chmod +x %s", name, path);
	return 0;
}

/* The loader ignores LD_PRELOAD where the program gets rights that we do not have. */
static int check_rights(struct ftr_program *program, const char *name, uid_t uid,
			struct ftr_err *err)
{
	bool is_raised, has_capabilities;
	struct stat st;

	if (stat(program->image, &st) < 0)
		return ftr_err_set(err, errno, "%s: %s", name, strerror(errno));
	has_capabilities = getxattr(program->image, "security.capability", NULL, 0) > 0;
	is_raised = ((st.st_mode & S_ISUID) != 0 && st.st_uid != uid) ||
		    ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
		     st.st_gid != getgid()) ||
		    (uid != 0 && has_capabilities);
	program->gives_rights = (st.st_mode & (S_ISUID | S_ISGID)) != 0 || has_capabilities;
	if (!is_raised)
		return 0;
	return ftr_err_set(err, ENOTSUP,
			   "%s: set-uid, set-gid or has capabilities, so LD_PRELOAD is ignored; "
			   "trace a copy made with cp",
			   name);
}

/* "#!INTERPRETER [ARG]": the interpreter into @image; 0 when this is no script. */
static int script_interpreter(const char *path, char *image, size_t bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char line[256], *start;
	ssize_t len;

	if (fd < 0)
		return 0;
	len = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (len < 3 || line[0] != '#' || line[1] != '!')
		return 0;
	line[len] = '\0';
	line[strcspn(line, "\n")] = '\0';
	start = line + 2 + strspn(line + 2, " \t");
	start[strcspn(start, " \t")] = '\0';
	snprintf(image, bytes, "%s", start);
	return 1;
}

static int refuse_machine(const struct ftr_elf_info *elf, const char *name, struct ftr_err *err)
{
	const struct ftr_arch *arch = ftr_arch_find(elf->machine, elf->elf_class);

	if (arch != NULL)
		return ftr_err_set(err, ENOTSUP,
				   "%s: built for another machine (%s); build it for %s", name,
				   arch->title, ftr_arch_host->title);
	return ftr_err_set(err, ENOTSUP,
			   "%s: built for another machine (%d-bit, ELF machine %d); build it for %s",
			   name, elf->elf_class == ELFCLASS32 ? 32 : 64, elf->machine,
			   ftr_arch_host->title);
}

bool ftr_program_is_beside(const struct ftr_program *program)
{
	const struct ftr_arch *arch = ftr_arch_find(program->elf.machine, program->elf.elf_class);

	return arch != NULL && arch == ftr_arch_host->beside;
}

/* Programs of this machine, and of the one that it runs beside (32-bit x86). */
static bool is_recorded(const struct ftr_arch *arch)
{
	return arch != NULL && (arch == ftr_arch_host || arch == ftr_arch_host->beside);
}

static int check_image(const struct ftr_program *program, const char *name, bool force,
		       struct ftr_err *err)
{
	const struct ftr_elf_info *elf = &program->elf;

	if (!is_recorded(ftr_arch_find(elf->machine, elf->elf_class)))
		return refuse_machine(elf, name, err);
	if (elf->type != ET_EXEC && elf->type != ET_DYN)
		return ftr_err_set(err, ENOEXEC, "%s: not an executable (ELF type %d); link it "
				   "first", name, elf->type);
	if (!elf->has_interp)
		return ftr_err_set(
			err, ENOTSUP,
			"%s: is statically linked, and has no dynamic linker that could load "
			"libmcount.so: link it without -static, or record what is seen from "
			"outside: its system calls and their callers with --syscalls --stack, "
			"events of the kernel with --syscalls -E EVENT",
			name);
	if (elf->hooks == 0 && !force && ftr_arch_host->plain == NULL)
		return ftr_err_set(err, ENOTSUP, "%s: not instrumented, and on %s nothing is "
				   "patched that is not prepared for it; compile it with -pg, "
				   "-finstrument-functions or -fpatchable-function-entry=2, or "
				   "use --force to record its library calls", name,
				   ftr_arch_host->title);
	if (elf->hooks == 0 && !force && program->is_script)
		return ftr_err_set(err, ENOTSUP, "%s: script whose interpreter %s is not "
				   "instrumented, and ftr was built without a decoder to patch it; "
				   "install libzydis-dev and build it again, or use "
				   "--force to record its library calls", name, program->image);
	if (elf->hooks == 0 && !force)
		return ftr_err_set(err, ENOTSUP, "%s: not instrumented, and ftr was built without "
				   "a decoder to patch it; compile it with -pg, "
				   "-finstrument-functions or -fpatchable-function-entry=5, or "
				   "use --force to record its library calls", name);
	return 0;
}

static int image_find(struct ftr_program *program, const char *name, struct ftr_err *err)
{
	char image[PATH_MAX];

	snprintf(image, sizeof(image), "%s", program->path);
	program->is_script = script_interpreter(program->path, image, sizeof(image)) != 0;
	if (program->is_script && access(image, X_OK) < 0)
		return ftr_err_set(err, EACCES, "%s: is a script whose interpreter %s cannot be "
				   "run: %s", name, image, strerror(errno));
	program->image = realpath(image, NULL);
	if (program->image == NULL)
		return ftr_err_set(err, errno, "%s: %s", image, strerror(errno));
	return 0;
}

static int path_find(struct ftr_program *program, const char *name, struct ftr_err *err)
{
	memset(program, 0, sizeof(*program));
	if (!ftr_arch_host->has_runtime)
		return ftr_err_set(err, ENOTSUP,
				   "%s: ftr does not record on %s yet; record it on 64-bit x86: the "
				   "data can be read here", name, ftr_arch_host->title);
	if (sysconf(_SC_PAGESIZE) != FTR_ARCH_PAGE_BYTES)
		return ftr_err_set(err, ENOTSUP, "%s: this kernel has pages of %ld bytes, and ftr "
				   "records with pages of %u; boot one that has", name,
				   sysconf(_SC_PAGESIZE), FTR_ARCH_PAGE_BYTES);
	program->path = strchr(name, '/') != NULL ? strdup(name) : path_search(name);
	if (program->path == NULL)
		program->path = here_search(name);
	if (program->path == NULL)
		return ftr_err_set(err, ENOENT,
				   "%s: no such program along PATH or in this directory", name);
	return check_executable(name, program->path, err);
}

int ftr_program_find_any(struct ftr_program *program, const char *name, struct ftr_err *err)
{
	int ret = path_find(program, name, err);

	if (ret < 0) {
		ftr_program_fini(program);
		return ret;
	}
	if (image_find(program, name, NULL) == 0)
		ftr_elf_info_load(&program->elf, program->image, NULL);
	/* Whatever it is, records are this machine's. */
	program->elf.elf_class = ftr_arch_host->elf_class;
	program->elf.elf_data = ftr_arch_host->elf_data;
	return 0;
}

/* All that is asked once program->path is known. */
static int check_all(struct ftr_program *program, const char *name, uid_t uid, bool force,
		     struct ftr_err *err)
{
	int ret = image_find(program, name, err);

	if (ret == 0)
		ret = check_rights(program, name, uid, err);
	if (ret == 0 && ftr_elf_info_load(&program->elf, program->image, err) < 0)
		ret = ftr_err_set(err, ENOEXEC, "%s: is not a program that Linux can run (%s)",
				  name, err->text);
	if (ret == 0)
		ret = check_image(program, name, force, err);
	return ret;
}

int ftr_program_find(struct ftr_program *program, const char *name, bool force,
		     struct ftr_err *err)
{
	int ret = path_find(program, name, err);

	if (ret == 0)
		ret = check_all(program, name, getuid(), force, err);
	if (ret < 0)
		ftr_program_fini(program);
	return ret;
}

int ftr_program_check(struct ftr_program *program, const char *path, const char *name, uid_t uid,
		      struct ftr_err *err)
{
	int ret;

	memset(program, 0, sizeof(*program));
	program->path = strdup(path);
	ret = program->path == NULL ? ftr_err_set(err, ENOMEM, "%s: out of memory", name) :
				      check_executable(name, path, err);
	if (ret == 0)
		ret = check_all(program, name, uid, true, err);
	if (ret < 0)
		ftr_program_fini(program);
	return ret;
}

void ftr_program_fini(struct ftr_program *program)
{
	free(program->path);
	free(program->image);
	program->path = program->image = NULL;
}

/* "@dir/@subdir@name" if it is there. */
static char *runtime_in(const char *dir, const char *subdir, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s%s", dir, subdir, name) < 0)
		return NULL;
	if (access(path, F_OK) == 0)
		return path;
	free(path);
	return NULL;
}

/* Built and not installed, the runtime lies beside the executable. */
static char *runtime_beside(const char *name)
{
	char exe[PATH_MAX], *slash;
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (len <= 0)
		return NULL;
	exe[len] = '\0';
	slash = strrchr(exe, '/');
	if (slash == NULL)
		return NULL;
	*slash = '\0';
	return runtime_in(exe, "", name);
}

/* Where it should be, or is. */
static char *runtime_path(const char *dir, const char *name)
{
	char *path = dir != NULL ? runtime_in(dir, "libmcount/", name) : runtime_beside(name);

	if (path == NULL && asprintf(&path, "%s/%s", dir != NULL ? dir : FTR_PKGLIBDIR, name) < 0)
		return NULL;
	return path;
}

/*
 * The section table ends an ELF file: a file that was cut short would end the program with SIGBUS.
 */
static bool is_cut(const char *path, unsigned elf_class)
{
	union { Elf64_Ehdr wide; Elf32_Ehdr narrow; } header;
	uint64_t at, bytes;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool is_whole;

	if (fd < 0)
		return true;
	is_whole = read(fd, &header, sizeof(header)) == sizeof(header) && fstat(fd, &st) == 0;
	close(fd);
	if (!is_whole)
		return true;
	at = elf_class == ELFCLASS32 ? header.narrow.e_shoff : header.wide.e_shoff;
	bytes = elf_class == ELFCLASS32 ?
			(uint64_t)header.narrow.e_shnum * header.narrow.e_shentsize :
			(uint64_t)header.wide.e_shnum * header.wide.e_shentsize;
	return at > (uint64_t)st.st_size || bytes > (uint64_t)st.st_size - at;
}

static int runtime_check(const struct ftr_program *program, const struct ftr_arch *arch,
			 const char *path, struct ftr_err *err)
{
	struct ftr_elf_info elf;

	if (access(path, R_OK) < 0)
		return ftr_err_set(err, errno, "%s: %s: install ftr, or name its directory with "
				   "--libmcount-path", path, strerror(errno));
	if (ftr_elf_info_load(&elf, path, err) < 0)
		return ftr_err_set(err, ENOEXEC,
				   "%s: cannot be loaded into a program (%s); reinstall "
				   "ftr",
				   path, err->text);
	if (ftr_arch_find(elf.machine, elf.elf_class) != arch || elf.type != ET_DYN)
		return ftr_err_set(err, ENOEXEC, "%s: not a library for %s; install the ftr of its "
				   "architecture", path, program->image);
	if (is_cut(path, elf.elf_class))
		return ftr_err_set(err, ENOEXEC, "%s: truncated; reinstall ftr", path);
	if (strpbrk(path, ": \t") != NULL)
		return ftr_err_set(err, EINVAL, "%s: LD_PRELOAD cannot hold a path with blanks or "
				   "colons; install ftr elsewhere", path);
	return 0;
}

/* "DIR/@sub/NAME" of @runtime, "DIR/NAME"; NULL = no memory. */
static char *runtime_below(const char *runtime, const char *sub)
{
	const char *name = strrchr(runtime, '/');
	char *path;

	if (asprintf(&path, "%.*s/%s%s", (int)(name - runtime), runtime, sub, name) < 0)
		return NULL;
	return path;
}

static bool has_beside(const char *runtime)
{
	const struct ftr_arch *beside = ftr_arch_host->beside;
	char *path = beside != NULL ? runtime_below(runtime, beside->runtime_dir) : NULL;
	bool is_there = path != NULL && access(path, R_OK) == 0;

	free(path);
	return is_there;
}

static int refuse_beside(const struct ftr_program *program, const char *name, struct ftr_err *err)
{
	return ftr_err_set(err, ENOTSUP, "%s: built for %s, and this ftr has no runtime for that; "
			   "install gcc-multilib and build ftr again with --enable-multilib, or "
			   "build the program for %s", name, ftr_arch_host->beside->title,
			   ftr_arch_host->title);
}

/* A program of the machine beside needs the runtime of that. */
static int beside_check(const struct ftr_program *program, const char *runtime, struct ftr_err *err)
{
	char *path;
	int ret;

	if (!ftr_program_is_beside(program))
		return 0;
	if (!has_beside(runtime))
		return refuse_beside(program, program->image, err);
	path = runtime_below(runtime, ftr_arch_host->beside->runtime_dir);
	if (path == NULL)
		return ftr_err_set(err, ENOMEM, "out of memory");
	ret = runtime_check(program, ftr_arch_host->beside, path, err);
	free(path);
	return ret;
}

/* What dynamic linkers put their machine in the place of. */
#define PLATFORM "$PLATFORM"

/* Does our own dynamic linker, which is most programs', find the library there? */
static bool is_found_by_platform(const char *runtime)
{
	char *nop = NULL;
	void *handle = NULL;

	if (asprintf(&nop, "%.*s/" PLATFORM "/" RUNTIME_NOP,
		     (int)(strrchr(runtime, '/') - runtime), runtime) >= 0)
		handle = dlopen(nop, RTLD_LAZY | RTLD_LOCAL);
	if (handle != NULL)
		dlclose(handle);
	free(nop);
	return handle != NULL;
}

int ftr_program_preload(const char *runtime, const char *preload, struct ftr_strbuf *list)
{
	size_t dir_bytes = (size_t)(strrchr(runtime, '/') - runtime);
	bool by_platform = has_beside(runtime) && is_found_by_platform(runtime);

	while (*preload != '\0') {
		size_t len = strcspn(preload, ":");

		if (by_platform && len > dir_bytes && strncmp(preload, runtime, dir_bytes) == 0)
			ftr_strbuf_printf(list, "%.*s/" PLATFORM "%.*s", (int)dir_bytes, preload,
					  (int)(len - dir_bytes), preload + dir_bytes);
		else
			ftr_strbuf_put(list, preload, len);
		preload += len;
		if (*preload == ':')
			ftr_strbuf_putc(list, *preload++);
	}
	return list->failed ? -ENOMEM : 0;
}

int ftr_program_check_patch(const struct ftr_program *program, const char *name,
			    struct ftr_err *err)
{
	if (!ftr_program_is_beside(program))
		return 0;
	return ftr_err_set(err, ENOTSUP, "%s: calls no hook, and programs for %s are not "
			   "patched; compile it with -pg or -finstrument-functions, or use --force "
			   "to record its library calls", name, ftr_arch_host->beside->title);
}

int ftr_program_check_preload(const struct ftr_program *program, const char *name,
			      const char *preload, struct ftr_err *err)
{
	if (!ftr_program_is_beside(program))
		return 0;
	if (preload != NULL && strstr(preload, PLATFORM) != NULL)
		return 0;
	return refuse_beside(program, name, err);
}

int ftr_program_runtime(const struct ftr_program *program, const char *dir, bool is_nop, char **out,
			struct ftr_err *err)
{
	char *path = runtime_path(dir, is_nop ? RUNTIME_NOP : RUNTIME);
	char *absolute;
	int ret;

	if (path == NULL)
		return ftr_err_set(err, ENOMEM, "out of memory");
	absolute = realpath(path, NULL);	/* the program may change its directory and exec */
	if (absolute != NULL) {
		free(path);
		path = absolute;
	}
	ret = runtime_check(program, ftr_arch_host, path, err);
	if (ret == 0)
		ret = beside_check(program, path, err);
	if (ret < 0)
		free(path);
	else
		*out = path;
	return ret;
}
