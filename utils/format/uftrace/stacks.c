/* SPDX-License-Identifier: MIT */
/* See stacks.h. */
#include "utils/format/uftrace/stacks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "utils/base/text.h"
#include "utils/object/symtab.h"
#include "utils/trace/func.h"
#include "utils/trace/stacks.h"
#include "utils/trace/trace.h"

int ftr_uftrace_stacks_open(struct ftr_ostream *out, int dir, struct ftr_err *err)
{
	int fd = openat(dir, FTR_STACKS_FILE, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		return ftr_err_set(err, errno, FTR_STACKS_FILE ": %s", strerror(errno));
	if (ftr_ostream_from_fd(out, fd, FTR_STACKS_FILE) < 0) {
		close(fd);
		return ftr_err_set(err, ENOMEM, FTR_STACKS_FILE ": out of memory");
	}
	out->owns_fd = true;
	return 0;
}

/* What would end a field or a line is no part of a name that anyone looks for. */
static void put_field(struct ftr_strbuf *text, const char *field)
{
	ftr_strbuf_putc(text, '\t');
	for (; *field != '\0'; field++)
		ftr_strbuf_putc(text, *field == '\t' || *field == '\n' ? '?' : *field);
}

void ftr_uftrace_stacks_frame(struct ftr_strbuf *text, uint32_t number,
			      const struct ftr_uftrace_frame *frame)
{
	ftr_strbuf_printf(text, "F\t%" PRIx32 "\t%" PRIx64 "\t%" PRIx64, number, frame->offset,
			   frame->name_offset);
	put_field(text, frame->path);
	put_field(text, frame->name != NULL ? frame->name : "");
	ftr_strbuf_putc(text, '\n');
}

void ftr_uftrace_stacks_stack(struct ftr_strbuf *text, uint32_t number, const uint32_t *frames,
			      size_t nr)
{
	ftr_strbuf_printf(text, "S\t%" PRIx32, number);
	for (size_t i = 0; i < nr; i++)
		ftr_strbuf_printf(text, "%c%" PRIx32, i == 0 ? '\t' : ',', frames[i]);
	ftr_strbuf_putc(text, '\n');
}

/* Of a frame nothing but its function is known: its place is where that begins. */
static void put_func(struct ftr_strbuf *text, uint32_t number, const struct ftr_func *func)
{
	bool is_mangled = func->mangled != NULL && func->mangled[0] != '\0';

	ftr_uftrace_stacks_frame(text, number, &(struct ftr_uftrace_frame){
		.path = func->module != NULL ? func->module->path : "",
		.offset = func->addr, .name_offset = func->addr,
		.name = is_mangled ? func->mangled : func->name });
}

struct numbers {
	FTR_VEC(uint32_t) of_funcs;	/* by their ids; 0 = it has none */
	uint32_t last;
	FTR_VEC(uint32_t) stack;	/* of the frames of one */
};

/* The line of @func, if it is the first time, and its number: behind those of the stack. */
static int put_number(struct ftr_strbuf *text, struct numbers *numbers, const struct ftr_func *func)
{
	if (ftr_vec_reach(&numbers->of_funcs, func->id) < 0)
		return -ENOMEM;
	if (numbers->of_funcs.v[func->id] == 0) {
		numbers->of_funcs.v[func->id] = ++numbers->last;
		put_func(text, numbers->last, func);
	}
	return ftr_vec_push(&numbers->stack, numbers->of_funcs.v[func->id]);
}

int ftr_uftrace_stacks_text(const struct ftr_stacks *stacks, struct ftr_strbuf *text)
{
	struct numbers numbers = { .last = 0 };
	int ret = 0;

	for (size_t i = 0; ret == 0 && stacks != NULL && i < stacks->all.nr; i++) {
		const struct ftr_stack_place *stack = &stacks->all.v[i];

		numbers.stack.nr = 0;
		for (size_t k = 0; ret == 0 && k < stack->nr; k++)
			ret = put_number(text, &numbers, stacks->funcs.v[stack->first + k]);
		if (ret == 0)
			ftr_uftrace_stacks_stack(text, (uint32_t)i + 1, numbers.stack.v,
						 numbers.stack.nr);
	}
	ftr_vec_fini(&numbers.of_funcs);
	ftr_vec_fini(&numbers.stack);
	return text->failed ? -ENOMEM : ret;
}

/* ---- reading ---- */

struct loader {
	struct ftr_trace *trace;
	struct ftr_istream *in;
	struct ftr_stacks *stacks;
	FTR_VEC(const struct ftr_func *) frames;	/* by number - 1 */
};

static bool hex_next(struct ftr_slice *rest, char end, uint64_t *number)
{
	struct ftr_slice field;

	return rest->len > 0 && ftr_slice_split(rest, end, &field) &&
	       ftr_parse_u64(field, 16, number) == 0;
}

/* "libc.so.6+0x1234" */
static const struct ftr_func *func_unnamed(struct loader *self, const struct ftr_module *module,
					   struct ftr_slice path, uint64_t offset)
{
	const char *slash = path.len > 0 ? memrchr(path.s, '/', path.len) : NULL;
	size_t at = slash != NULL ? (size_t)(slash + 1 - path.s) : 0;
	char name[128];
	int len = snprintf(name, sizeof(name), "%.*s+0x%" PRIx64,
			   (int)(path.len - at < 80 ? path.len - at : 80), path.s + at, offset);

	return ftr_trace_func_by_name(self->trace, module, name, (size_t)len);
}

static const struct ftr_func *func_named(struct loader *self, const struct ftr_module *module,
					 struct ftr_slice name, uint64_t start)
{
	struct ftr_symbol *symbol = ftr_arena_alloc(&self->trace->arena, sizeof(*symbol));

	if (symbol == NULL)
		return NULL;
	*symbol = (struct ftr_symbol){
		.addr = start, .type = 'T',
		.name = ftr_arena_strndup(&self->trace->arena, name.s, name.len),
	};
	return symbol->name != NULL ?
		       ftr_trace_func_by_symbol(self->trace, module, symbol) : NULL;
}

/* 0, -EBADMSG, -ENOMEM. */
static int frame_read(struct loader *self, struct ftr_slice rest)
{
	const struct ftr_module *module;
	const struct ftr_func *func;
	uint64_t number, offset, start;
	struct ftr_slice path;
	char *copy;

	if (!hex_next(&rest, '\t', &number) || !hex_next(&rest, '\t', &offset) ||
	    !hex_next(&rest, '\t', &start) || !ftr_slice_split(&rest, '\t', &path) ||
	    number != self->frames.nr + 1 || start > offset)
		return -EBADMSG;
	copy = ftr_arena_strndup(&self->trace->arena, path.s, path.len);
	module = copy != NULL ? ftr_trace_module_get(self->trace, copy, NULL) : NULL;
	if (module == NULL)
		return -ENOMEM;
	func = rest.len > 0 ? func_named(self, module, rest, start) :
			      func_unnamed(self, module, path, offset);
	return func != NULL ? ftr_vec_push(&self->frames, func) : -ENOMEM;
}

static int stack_read(struct loader *self, struct ftr_slice rest)
{
	struct ftr_stacks *stacks = self->stacks;
	struct ftr_stack_place stack = { .first = stacks->funcs.nr };
	uint64_t number;

	if (!hex_next(&rest, '\t', &number) || number != stacks->all.nr + 1)
		return -EBADMSG;
	while (rest.len > 0) {
		if (!hex_next(&rest, ',', &number) || number - 1 >= self->frames.nr)
			return -EBADMSG;
		if (ftr_vec_push(&stacks->funcs, self->frames.v[number - 1]) < 0)
			return -ENOMEM;
	}
	stack.nr = stacks->funcs.nr - stack.first;
	return ftr_vec_push(&stacks->all, stack);
}

static int line_read(struct loader *self, struct ftr_slice line)
{
	struct ftr_slice kind;

	if (!ftr_slice_split(&line, '\t', &kind))
		return 0;
	if (ftr_slice_eq(kind, "F"))
		return frame_read(self, line);
	return ftr_slice_eq(kind, "S") ? stack_read(self, line) : 0;
}

int ftr_uftrace_stacks_load(struct ftr_trace *trace, struct ftr_istream *in,
			    struct ftr_stacks **stacks)
{
	struct loader self = { .trace = trace, .in = in };
	const char *line;
	size_t len;
	int ret = 0;

	self.stacks = calloc(1, sizeof(*self.stacks));
	if (self.stacks == NULL)
		return -ENOMEM;
	*stacks = self.stacks;
	while (ret == 0 && ftr_istream_whole_line(in, &line, &len, trace->diag))
		ret = line_read(&self, ftr_slice_make(line, len));
	/* Numbers behind a line that is damaged cannot be told. */
	if (ret == -EBADMSG)
		ftr_diag_warn(trace->diag, "%s:%u: no frame or stack; what follows is not shown",
			      in->name, in->lineno);
	ftr_vec_fini(&self.frames);
	return ret == -EBADMSG ? 0 : ret;
}
