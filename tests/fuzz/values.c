/* SPDX-License-Identifier: MIT */
/*
 * What describes values, and values, bent and cut: the words of specs, payloads that are not as
 * their specs say, the words of shapes, the debug info of ELF files, the operands of events that
 * they declare, and where these stand.  The seeds are in corpus/NAME; FUZZ_TIMES=N makes N times as
 * many changes.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arch/arch.h"
#include "tests/fuzz/fuzz.h"
#include "utils/base/istream.h"
#include "utils/format/uftrace/spec.h"
#include "utils/object/stapsdt.h"
#include "utils/patch/operands.h"
#include "utils/patch/sites.h"
#include "utils/proto/record.h"
#include "utils/record/choice.h"
#include "utils/record/value.h"
#include "utils/record/value_module.h"
#include "utils/trace/shape.h"
#include "utils/trace/value_path.h"

#define VALUE_DEPTH 3
#define CHANGES_MAX 6

static const struct ftr_arg_enum *find_enum(const void *arg, struct ftr_slice name)
{
	return NULL;
}

/* Each program is inside of its ops, and makes no more than a payload has room for. */
static void check_programs(const struct ftr_value_programs *programs)
{
	check(programs->ops.nr == 0 ||
	      programs->ops.v[programs->ops.nr - 1].what == FTR_VALUE_END);
	check(programs->bytes <= FTR_PAYLOAD_MAX);
}

/* What the recorder makes of words that it takes. */
static void check_compiled(const struct uft_layout *layout, bool is_retval)
{
	struct ftr_value_programs programs = { 0 };
	struct ftr_parameter value;
	uint32_t index;
	size_t i;

	check(ftr_value_program_begin(&programs) == 0);
	for (i = 0; i < layout->args.nr; i++) {
		if (ftr_value_of_spec(ftr_arch_host->callconv, &layout->args.v[i], is_retval,
				      &value) == 0 &&
		    ftr_value_program_add(&programs, &value) == -E2BIG)
			break;
	}
	check(ftr_value_program_end(&programs, &index) == 0);
	check_programs(&programs);
	ftr_vec_fini(&programs.ops);
}

/* A payload of the layout: what is measured is there, and has text. */
static void check_payload(const struct ftr_argspec *spec, const uint8_t *data, size_t bytes,
			  bool is_big_endian)
{
	struct ftr_payload payload = { .spec = spec, .is_big_endian = is_big_endian };
	ssize_t need = ftr_payload_measure(spec, data, bytes, is_big_endian);
	struct ftr_strbuf text;

	check(need == -EBADMSG || (need >= 0 && (size_t)need <= bytes));
	ftr_strbuf_init(&text);
	payload.data = data;
	payload.len = (uint32_t)(need >= 0 ? (size_t)need : bytes);
	ftr_payload_format(&payload, NULL, NULL, &text);
	check(!text.failed);
	ftr_strbuf_fini(&text);
}

/* A line of words, and behind it perhaps the bytes of a payload. */
static void one_payload(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, '\n', size);
	struct ftr_slice words = ftr_slice_make((const char *)data,
						end != NULL ? (size_t)(end - data) : size);
	size_t bytes = end != NULL ? size - (size_t)(end + 1 - data) : 0;
	uint8_t *exact = malloc(bytes + 1);
	const struct ftr_argspec *spec;
	struct ftr_arena arena;
	enum uft_spec_kind kind;

	check(exact != NULL);
	if (bytes > 0)
		memcpy(exact, end + 1, bytes);
	exact = realloc(exact, bytes > 0 ? bytes : 1);	/* nothing behind it is looked at */
	ftr_arena_init(&arena);
	for (kind = UFT_SPEC_ARGS; kind <= UFT_SPEC_RETVAL; kind++) {
		const struct uft_spec_reader reader = { .arena = &arena };
		struct uft_layout layout = { 0 };

		uft_layout_add(&layout, words, kind, true, &reader);
		check(layout.wrong_at == NULL || (layout.wrong_at >= words.s &&
						  layout.wrong_at <= words.s + words.len));
		check_compiled(&layout, kind == UFT_SPEC_RETVAL);
		spec = uft_layout_finish(&layout, &arena);
		if (spec != NULL) {
			check_payload(spec, exact, bytes, false);
			check_payload(spec, exact, bytes, true);
		}
	}
	ftr_arena_fini(&arena);
	free(exact);
}

/* What paths lead to has a text, if they lead anywhere. */
static void check_paths(const struct ftr_shape *shape, const uint8_t *bytes, size_t len,
			struct ftr_strbuf *text)
{
	static const char *const paths[] = {
		".x", ".p->x", "[0]", "[1].x", ".size", ".0", ".x[2]", ".Some",
	};
	const struct ftr_arg type = { .format = FTR_ARG_STRUCT, .shape = shape };
	struct ftr_value whole = { .arg = &type }, value;
	struct ftr_value_path path;
	struct ftr_arg found;
	size_t end;

	whole.str.s = (const char *)bytes;
	whole.str.len = (uint16_t)len;
	for (size_t i = 0; len <= UINT16_MAX && i < sizeof(paths) / sizeof(paths[0]); i++) {
		check(ftr_value_path_parse(&path, paths[i], &end) == NULL);
		if (ftr_value_path_find(&path, &whole, &found, &value))
			ftr_value_format(&value, NULL, NULL, text);
	}
}

static const char *enum_name(void *arg, const struct ftr_arg_enum *values)
{
	(void)arg;
	return values->name;
}

static int take_pointer(void *arg, size_t at, uint64_t pointer)
{
	const size_t *bytes = arg;

	(void)pointer;
	check(at + sizeof(uint64_t) <= *bytes);
	return 0;
}

/* What writers of other formats do: the words are read again as the same, the bytes are there. */
static void check_written(const struct ftr_shape *shape, const uint8_t *bytes, size_t len,
			  const struct ftr_strbuf *text)
{
	const struct ftr_shape *again;
	struct ftr_strbuf words, shown;
	struct ftr_arena arena;

	ftr_arena_init(&arena);
	ftr_strbuf_init(&words);
	ftr_strbuf_init(&shown);
	check(ftr_shape_pointers(shape, bytes, len, take_pointer, &len) == 0);
	check(ftr_shape_words(shape, enum_name, NULL, &words) == 0);
	check(ftr_shape_parse(&again, ftr_slice_make(ftr_strbuf_str(&words), words.len), &arena,
			      find_enum, NULL) == 0);
	ftr_shape_format(again, bytes, len, NULL, NULL, &shown);
	check(shown.len == text->len &&
	      memcmp(ftr_strbuf_str(&shown), ftr_strbuf_str(text), text->len) == 0);
	ftr_strbuf_fini(&words);
	ftr_strbuf_fini(&shown);
	ftr_arena_fini(&arena);
}

/* A line of words, and behind it the bytes of a value. */
static void one_shape(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, '\n', size);
	struct ftr_slice words = ftr_slice_make((const char *)data,
						end != NULL ? (size_t)(end - data) : size);
	size_t bytes = end != NULL ? size - (size_t)(end + 1 - data) : 0;
	uint8_t *exact = malloc(bytes > 0 ? bytes : 1);
	const struct ftr_shape *shape;
	struct ftr_arena arena;
	struct ftr_strbuf text;
	int ret;

	check(exact != NULL);
	if (bytes > 0)
		memcpy(exact, end + 1, bytes);
	ftr_arena_init(&arena);
	ftr_strbuf_init(&text);
	ret = ftr_shape_parse(&shape, words, &arena, find_enum, NULL);
	check(ret == 0 || ret == -EINVAL);
	if (ret == 0) {
		ftr_shape_format(shape, exact, bytes, NULL, NULL, &text);
		check_written(shape, exact, bytes, &text);
		check_paths(shape, exact, bytes, &text);
	}
	check(!text.failed);
	ftr_strbuf_fini(&text);
	ftr_arena_fini(&arena);
	free(exact);
}

/* Readers take each shape that was written, and a value of nothing by it. */
static void check_shapes(const char *lines)
{
	const char *line = lines;

	for (; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
		const char *words, *end;
		struct ftr_strbuf one;

		line += *line == '\n';
		if (strncmp(line, "#T: ", 4) != 0)
			continue;
		words = strchr(line + 4, ' ');
		end = strchr(line, '\n');
		check(words != NULL && end != NULL && words < end);
		ftr_strbuf_init(&one);
		ftr_strbuf_printf(&one, "%.*s\n", (int)(end - words - 1), words + 1);
		check(!one.failed);
		one_shape((const uint8_t *)one.s, one.len);
		ftr_strbuf_fini(&one);
	}
}

static int file_of(const uint8_t *data, size_t size, char path[64])
{
	int fd = memfd_create("bent", MFD_CLOEXEC);

	check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

static void one_debuginfo(const uint8_t *data, size_t size)
{
	const struct ftr_rules none = { 0 };
	struct ftr_record_choice choice = { .rules = &none, .auto_args = true };
	struct ftr_value_module module;
	char path[64];
	int fd = file_of(data, size, path);

	for (choice.value_depth = 0; choice.value_depth <= VALUE_DEPTH;
	     choice.value_depth += VALUE_DEPTH) {
		check(ftr_value_module_init(&module, path, &choice) == 0);
		check_programs(&module.programs);
		for (size_t i = 0; i < module.funcs.nr; i++)
			check(module.funcs.v[i].entry < module.programs.ops.nr &&
			      module.funcs.v[i].exit < module.programs.ops.nr);
		check_shapes(ftr_strbuf_str(&module.enums));
		ftr_value_module_fini(&module);
	}
	close(fd);
}

/* Each is understood, or said not to be. */
static void one_operands(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	struct ftr_operands operands;
	struct ftr_symtab none;

	check(text != NULL);
	ftr_symtab_init(&none);
	ftr_operands_read(&operands, text, ftr_arch_find(EM_X86_64, ELFCLASS64)->operand, &none);
	check(operands.nr <= FTR_SDT_ARGS_MAX);
	for (unsigned i = 0; i < operands.nr; i++)
		check(operands.v[i].where <= FTR_SDT_OWN && operands.v[i].type < FTR_SDT_TYPES &&
		      (operands.v[i].where == FTR_SDT_NOWHERE) == (operands.v[i].type == 0) &&
		      !operands.is_address[i]);
	ftr_symtab_fini(&none);
	free(text);
}

/* What is written lies in the code, and what is moved, and its fields, in the body. */
static void check_body(const struct ftr_sites *sites)
{
	const struct ftr_patch_body *body = &sites->body;

	for (size_t i = 0; i < body->writes.nr; i++) {
		const struct ftr_plain_write *write = &body->writes.v[i];

		check(write->offset + write->bytes <= sites->functions.high - body->base &&
		      write->bytes <= sizeof(write->original) &&
		      (write->kind == FTR_PLAIN_STEP || write->target < body->code.nr));
	}
	for (size_t i = 0; i < body->fixes.nr; i++)
		check((body->fixes.v[i] >> FTR_PLAIN_FIX_BITS) + sizeof(uint32_t) <=
		      body->code.nr);
}

static void one_sites(const uint8_t *data, size_t size)
{
	struct ftr_sdt_notes notes = { .v = { .nr = 0 } };
	struct ftr_sites sites = { .has_entries = size % 2 };
	struct ftr_elf_file file;
	struct ftr_symtab symbols;
	char path[64];
	int fd = file_of(data, size, path);

	ftr_symtab_init(&symbols);
	ftr_symtab_load_elf(&symbols, path, NULL);
	sites.symbols = &symbols;
	if (ftr_elf_file_open(&file, path, NULL) == 0) {
		check(ftr_sdt_notes_load(&notes, &file) == 0);
		for (size_t i = 0; i < notes.v.nr; i++) {
			struct ftr_site site = { .note = &notes.v.v[i], .id = 1 };

			check(ftr_vec_push(&sites.v, site) == 0);
		}
		check(ftr_sites_plan(&sites, &file) == 0);
		check_body(&sites);
	}
	ftr_sites_fini(&sites);
	ftr_sdt_notes_fini(&notes);
	ftr_symtab_fini(&symbols);
	ftr_elf_file_close(&file);
	close(fd);
}

static const struct target {
	const char *name;
	void (*one)(const uint8_t *data, size_t size);
	bool has_lines;			/* of a seed, each an input, with \n and \xNN in it */
	unsigned changes;		/* inputs that are made of one */
} targets[] = {
	{ "payloads", one_payload, true, 3000 },
	{ "shapes", one_shape, true, 3000 },
	{ "debuginfo", one_debuginfo, false, 3000 },
	{ "operands", one_operands, true, 3000 },
	{ "sites", one_sites, false, 3000 },
};

/* A run of one target. */
struct run {
	const struct target *target;
	uint64_t random;
	unsigned times;
	unsigned inputs;
};

static void run_one(struct run *run, const uint8_t *data, size_t size)
{
	fuzz_keep(data, size);
	run->target->one(data, size);
	run->inputs++;
}

static size_t random_below(struct run *run, size_t limit)
{
	run->random = run->random * 6364136223846793005u + 1442695040888963407u;
	return (size_t)((run->random >> 33) % limit);
}

static void change(struct run *run, uint8_t *data, size_t size)
{
	static const uint8_t special[] = { 0, 1, 0x7f, 0x80, 0xff, '0', '9', ',', '+', '%' };
	size_t at = random_below(run, size), nr;

	switch (random_below(run, 4)) {
	case 0:
		data[at] ^= (uint8_t)(1u << random_below(run, 8));
		break;
	case 1:
		data[at] = special[random_below(run, sizeof(special))];
		break;
	case 2:
		data[at] = data[random_below(run, size)];
		break;
	default:
		nr = random_below(run, 16);
		nr = nr < size - at ? nr : size - at;
		memmove(data + at, data + random_below(run, size - nr + 1), nr);
	}
}

static void run_seed(struct run *run, const uint8_t *data, size_t size)
{
	unsigned long changes = 1 + run->target->changes * run->times / fuzz_share(), i;
	unsigned nr;
	uint8_t *bent = malloc(size);

	check(bent != NULL && size > 0);
	run_one(run, data, size);
	for (i = 0; i < changes; i++) {
		memcpy(bent, data, size);
		if (i % 8 == 0) {
			run_one(run, bent, random_below(run, size));
			continue;
		}
		for (nr = 1 + (unsigned)random_below(run, CHANGES_MAX); nr > 0; nr--)
			change(run, bent, size);
		run_one(run, bent, size);
	}
	free(bent);
}

static size_t unescape(const char *from, size_t len, uint8_t *to)
{
	size_t nr = 0;
	char hex[3] = "";

	for (size_t i = 0; i < len; i++) {
		if (from[i] == '\\' && i + 1 < len && from[i + 1] == 'n') {
			to[nr++] = '\n';
			i++;
		} else if (from[i] == '\\' && i + 3 < len && from[i + 1] == 'x') {
			memcpy(hex, from + i + 2, 2);
			to[nr++] = (uint8_t)strtoul(hex, NULL, 16);
			i += 3;
		} else {
			to[nr++] = (uint8_t)from[i];
		}
	}
	return nr;
}

static void run_lines(struct run *run, const char *text, size_t size)
{
	uint8_t *line = malloc(size + 1);

	check(line != NULL);
	while (size > 0) {
		const char *end = memchr(text, '\n', size);
		size_t len = end != NULL ? (size_t)(end - text) : size;
		size_t bytes = unescape(text, len, line);

		if (bytes > 0)
			run_seed(run, line, bytes);
		len += end != NULL;
		text += len;
		size -= len;
	}
	free(line);
}

static void run_file(struct run *run, int dir, const char *name)
{
	struct ftr_istream in;
	struct ftr_err err;

	check(ftr_istream_open(&in, dir, name, &err) == 0);
	if (run->target->has_lines)
		run_lines(run, (const char *)in.data, in.size);
	else
		run_seed(run, in.data, in.size);
	ftr_istream_close(&in);
}

static int run_target(const void *arg)
{
	const struct target *target = arg;
	const char *times = getenv("FUZZ_TIMES"), *srcdir = getenv("srcdir");
	struct run run = { target, 1, times != NULL ? (unsigned)atoi(times) : 1, 0 };
	const struct dirent *entry;
	char path[4096];
	DIR *dir;

	fuzz_limit_memory();
	snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/%s", srcdir != NULL ? srcdir : ".",
		 target->name);
	dir = opendir(path);
	check(dir != NULL);
	while ((entry = readdir(dir)) != NULL) {
		const char *suffix = strrchr(entry->d_name, '.');

		/* Sources stand beside the files that they are of. */
		if (target->has_lines ? suffix == NULL :
					suffix != NULL && strcmp(suffix, ".so") == 0)
			run_file(&run, dirfd(dir), entry->d_name);
	}
	closedir(dir);
	printf("%s: %u inputs\n", target->name, run.inputs);
	return run.inputs == 0;
}

static int run_input(const struct target *target, const char *path)
{
	struct ftr_istream in;
	struct ftr_err err;

	check(ftr_istream_open(&in, AT_FDCWD, path, &err) == 0);
	target->one(in.data, in.size);
	ftr_istream_close(&in);
	return 0;
}

int main(int argc, char **argv)
{
	size_t nr = sizeof(targets) / sizeof(targets[0]), i;

	for (i = 0; argc > 2 && i < nr; i++) {
		if (strcmp(argv[1], targets[i].name) == 0)
			return run_input(&targets[i], argv[2]);
	}
	for (i = 0; i < nr; i++)
		fuzz_start(targets[i].name, run_target, &targets[i]);
	return fuzz_wait();
}
