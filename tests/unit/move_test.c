/* SPDX-License-Identifier: MIT */
/* Moving code instruction by instruction: what it becomes, and that it does the same there. */
#include "tests/unit/unit.h"

#include <string.h>
#include <sys/mman.h>

#include "utils/patch/move.h"
#include "utils/proto/plain.h"

#define ADDR 0x1000u		/* of the function, from its module's base */
#define TO 0x9000u		/* of where it is moved to */
#define JUMP 5
#define CODE_MAX 64
#define MAX_FIELDS 4

/* A field of four bytes, and what it is about. */
struct field {
	uint8_t at;
	uint8_t kind;			/* enum ftr_plain_fix */
	uint8_t behind;			/* bytes of its instruction behind it */
	uint32_t target;
};

struct row {
	const char *what;
	uint8_t code[CODE_MAX];
	unsigned bytes;			/* of the function */
	unsigned want;
	enum ftr_move_state state;
	unsigned from_bytes;
	bool ends, has_call;
	uint8_t moved[CODE_MAX];	/* zeros in fields */
	unsigned moved_bytes;
	struct field fields[MAX_FIELDS];
	unsigned field_nr;
};

#define BYTES(...) { __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ })
#define FIELD 0, 0, 0, 0
#define MOVED(...) .moved = { __VA_ARGS__ }, .moved_bytes = sizeof((uint8_t[]){ __VA_ARGS__ })
#define ON(at_, target_) { at_, FTR_PLAIN_RELATIVE, 0, target_ }

static const struct row rows[] = {
	{ "a prologue", BYTES(0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0xc3), JUMP,
	  .from_bytes = 8, MOVED(0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0xe9, FIELD),
	  .fields = { ON(9, ADDR + 8) }, .field_nr = 1 },
	{ "no more than is wanted", BYTES(0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0xc3), 2,
	  .from_bytes = 4, MOVED(0x55, 0x48, 0x89, 0xe5, 0xe9, FIELD),
	  .fields = { ON(5, ADDR + 4) }, .field_nr = 1 },
	{ "mov 0x20(%rip), %rax", BYTES(0x48, 0x8b, 0x05, 0x20, 0, 0, 0, 0xc3), JUMP,
	  .from_bytes = 7, MOVED(0x48, 0x8b, 0x05, FIELD, 0xe9, FIELD),
	  .fields = { ON(3, ADDR + 0x27), ON(8, ADDR + 7) }, .field_nr = 2 },
	{ "cmpb $1, -0x30(%rip)", BYTES(0x80, 0x3d, 0xd0, 0xff, 0xff, 0xff, 1, 0xc3), JUMP,
	  .from_bytes = 7, MOVED(0x80, 0x3d, FIELD, 1, 0xe9, FIELD),
	  .fields = { { 2, FTR_PLAIN_RELATIVE, 1, ADDR - 0x29 }, ON(8, ADDR + 7) }, .field_nr = 2 },
	{ "movl $, 8(%rip)", BYTES(0xc7, 0x05, 8, 0, 0, 0, 1, 2, 3, 4, 0xc3), JUMP,
	  .from_bytes = 10, MOVED(0xc7, 0x05, FIELD, 1, 2, 3, 4, 0xe9, FIELD),
	  .fields = { { 2, FTR_PLAIN_RELATIVE, 4, ADDR + 18 }, ON(11, ADDR + 10) },
	  .field_nr = 2 },
	{ "vmovdqa 0x10(%rip), %ymm0", BYTES(0xc5, 0xfd, 0x6f, 0x05, 0x10, 0, 0, 0, 0xc3), JUMP,
	  .from_bytes = 8, MOVED(0xc5, 0xfd, 0x6f, 0x05, FIELD, 0xe9, FIELD),
	  .fields = { ON(4, ADDR + 0x18), ON(9, ADDR + 8) }, .field_nr = 2 },
	{ "an operand at an address", BYTES(0x8b, 0x04, 0x25, 4, 3, 2, 1, 0xc3), JUMP,
	  .from_bytes = 7, MOVED(0x8b, 0x04, 0x25, 4, 3, 2, 1, 0xe9, FIELD),
	  .fields = { ON(8, ADDR + 7) }, .field_nr = 1 },
	{ "a short condition", BYTES(0x48, 0x85, 0xff, 0x74, 0x10, 0xc3), JUMP,
	  .from_bytes = 5, MOVED(0x48, 0x85, 0xff, 0x0f, 0x84, FIELD, 0xe9, FIELD),
	  .fields = { ON(5, ADDR + 0x15), ON(10, ADDR + 5) }, .field_nr = 2 },
	{ "a long condition", BYTES(0x85, 0xff, 0x0f, 0x8f, 0, 1, 0, 0, 0xc3), JUMP,
	  .from_bytes = 8, MOVED(0x85, 0xff, 0x0f, 0x8f, FIELD, 0xe9, FIELD),
	  .fields = { ON(4, ADDR + 0x108), ON(9, ADDR + 8) }, .field_nr = 2 },
	{ "a condition with a hint", BYTES(0x85, 0xff, 0x3e, 0x74, 0x10, 0xc3), JUMP,
	  .from_bytes = 5, MOVED(0x85, 0xff, 0x0f, 0x84, FIELD, 0xe9, FIELD),
	  .fields = { ON(4, ADDR + 0x15), ON(9, ADDR + 5) }, .field_nr = 2 },
	{ "jrcxz", BYTES(0x90, 0x90, 0x90, 0xe3, 0x10, 0xc3), JUMP,
	  .from_bytes = 5,
	  MOVED(0x90, 0x90, 0x90, 0xe3, 2, 0xeb, 5, 0xe9, FIELD, 0xe9, FIELD),
	  .fields = { ON(8, ADDR + 0x15), ON(13, ADDR + 5) }, .field_nr = 2 },
	{ "loop, jecxz", BYTES(0x90, 0xe2, 0x70, 0x67, 0xe3, 0x10, 0xc3), JUMP,
	  .from_bytes = 6,
	  MOVED(0x90, 0xe2, 2, 0xeb, 5, 0xe9, FIELD, 0x67, 0xe3, 2, 0xeb, 5, 0xe9, FIELD,
		0xe9, FIELD),
	  .fields = { ON(6, ADDR + 0x73), ON(16, ADDR + 0x16), ON(21, ADDR + 6) },
	  .field_nr = 3 },
	{ "a tail call", BYTES(0x31, 0xc0, 0xe9, 0, 0, 1, 0), JUMP, .from_bytes = 7, .ends = true,
	  MOVED(0x31, 0xc0, 0xe9, FIELD), .fields = { ON(3, ADDR + 0x10007) }, .field_nr = 1 },
	{ "a short jump", BYTES(0x89, 0xf8, 0x90, 0xeb, 0x40, 0xc3), JUMP, .from_bytes = 5,
	  .ends = true, MOVED(0x89, 0xf8, 0x90, 0xe9, FIELD), .fields = { ON(4, ADDR + 0x45) },
	  .field_nr = 1 },
	{ "jmp *0x40(%rip)", BYTES(0xff, 0x25, 0x40, 0, 0, 0), JUMP, .from_bytes = 6,
	  .ends = true, MOVED(0xff, 0x25, FIELD), .fields = { ON(2, ADDR + 0x46) },
	  .field_nr = 1 },
	{ "a function that ends early", BYTES(0x31, 0xc0, 0xc3, 0x90, 0x90), JUMP,
	  .from_bytes = 3, .ends = true, MOVED(0x31, 0xc0, 0xc3) },
	{ "a call", BYTES(0x48, 0x83, 0xec, 8, 0xe8, 0x10, 0, 0, 0, 0xc3), JUMP, .from_bytes = 9,
	  .has_call = true,
	  MOVED(0x48, 0x83, 0xec, 8, 0x68, FIELD, 0xc7, 0x44, 0x24, 4, FIELD, 0xe9, FIELD),
	  .fields = { { 5, FTR_PLAIN_LOW, 0, ADDR + 9 }, { 13, FTR_PLAIN_HIGH, 0, ADDR + 9 },
		      ON(18, ADDR + 0x19) }, .field_nr = 3 },
	{ "call *0x40(%rip)", BYTES(0xff, 0x15, 0x40, 0, 0, 0, 0xc3), JUMP, .from_bytes = 6,
	  .has_call = true, MOVED(0x68, FIELD, 0xc7, 0x44, 0x24, 4, FIELD, 0xff, 0x25, FIELD),
	  .fields = { { 1, FTR_PLAIN_LOW, 0, ADDR + 6 }, { 9, FTR_PLAIN_HIGH, 0, ADDR + 6 },
		      ON(15, ADDR + 0x46) }, .field_nr = 3 },
	{ "call *%r11", BYTES(0x90, 0x90, 0x41, 0xff, 0xd3, 0xc3), JUMP, .from_bytes = 5,
	  .has_call = true,
	  MOVED(0x90, 0x90, 0x68, FIELD, 0xc7, 0x44, 0x24, 4, FIELD, 0x41, 0xff, 0xe3),
	  .fields = { { 3, FTR_PLAIN_LOW, 0, ADDR + 5 }, { 11, FTR_PLAIN_HIGH, 0, ADDR + 5 } },
	  .field_nr = 2 },
	{ "call *8(%rsp)", BYTES(0x90, 0xff, 0x54, 0x24, 8, 0xc3), JUMP,
	  .state = FTR_MOVE_SPECIAL },
	{ "a call that returns into the jump", BYTES(0x90, 0xff, 0xd0, 0x90, 0x90, 0xc3), JUMP,
	  .state = FTR_MOVE_CALL },
	{ "a jump to its start", BYTES(0xff, 0xc8, 0x90, 0x75, 0xfb, 0xc3), JUMP,
	  .state = FTR_MOVE_INTO },
	{ "a jump to what is moved", BYTES(0xff, 0xc8, 0x75, 0xfe, 0x90, 0xc3), JUMP,
	  .state = FTR_MOVE_INTO },
	{ "ud2", BYTES(0x90, 0x0f, 0x0b, 0x90, 0x90, 0xc3), JUMP,
	  .state = FTR_MOVE_SPECIAL },
	{ "int3", BYTES(0xcc, 0x90, 0x90, 0x90, 0x90, 0xc3), JUMP,
	  .state = FTR_MOVE_SPECIAL },
	{ "a system call", BYTES(0x0f, 0x05, 0x90, 0x90, 0x90, 0xc3), JUMP,
	  .state = FTR_MOVE_SPECIAL },
	{ "hlt", BYTES(0xf4, 0x90, 0x90, 0x90, 0x90, 0xc3), JUMP,
	  .state = FTR_MOVE_SPECIAL },
	{ "xbegin", BYTES(0xc7, 0xf8, 0, 0, 0, 0, 0xc3), JUMP,
	  .state = FTR_MOVE_SPECIAL },
	{ "0x10(%eip)", BYTES(0x67, 0x8b, 0x05, 0x10, 0, 0, 0, 0xc3), JUMP,
	  .state = FTR_MOVE_SPECIAL },
	{ "no instruction", BYTES(0x06, 0x90, 0x90, 0x90, 0x90), JUMP,
	  .state = FTR_MOVE_UNDECODED },
	{ "half of an instruction", BYTES(0x90, 0x48, 0x8b, 0x05), JUMP,
	  .state = FTR_MOVE_UNDECODED },
};

static uint32_t field_value(const struct field *field)
{
	if (field->kind == FTR_PLAIN_RELATIVE)
		return field->target - (TO + field->at + 4 + field->behind);
	return field->target;
}

static void check_fields(const struct row *row, const struct ftr_moved *moved)
{
	uint8_t code[FTR_MOVED_BYTES_MAX];

	assert_int_equal(moved->fix_nr, row->field_nr);
	memcpy(code, moved->code, sizeof(code));
	for (unsigned i = 0; i < row->field_nr; i++) {
		uint32_t value;

		assert_int_equal(moved->fixes[i].at, row->fields[i].at);
		assert_int_equal(moved->fixes[i].kind, row->fields[i].kind);
		memcpy(&value, code + row->fields[i].at, sizeof(value));
		assert_int_equal(value, field_value(&row->fields[i]));
		memset(code + row->fields[i].at, 0, sizeof(value));
	}
	assert_memory_equal(code, row->moved, row->moved_bytes);
}

static void test_instructions(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		struct ftr_code code = { .bytes = row->code, .size = row->bytes, .addr = ADDR };
		struct ftr_moved moved;

		if (ftr_move(&code, row->want, TO, &moved) != row->state)
			fail_msg("%s: another state", row->what);
		if (row->state != FTR_MOVE_DONE)
			continue;
		if (moved.from_bytes != row->from_bytes || moved.ends != row->ends ||
		    moved.has_call != row->has_call || moved.code_bytes != row->moved_bytes)
			fail_msg("%s: %u bytes of %u become %u", row->what, moved.from_bytes,
				 row->from_bytes, moved.code_bytes);
		check_fields(row, &moved);
	}
}

static void test_short_branches_are_decoded(void **state)
{
	/* test %edi, %edi; je; mov $0x7400eb00, %eax; rep jmp; ret */
	static const uint8_t bytes[] = { 0x85, 0xff, 0x74, 4, 0xb8, 0, 0xeb, 0, 0x74, 0xf2, 0xeb, 0,
					 0xc3 };
	struct ftr_code code = { .bytes = bytes, .size = sizeof(bytes), .addr = ADDR };

	assert_true(ftr_move_has_short_branch(&code, 2));
	assert_false(ftr_move_has_short_branch(&code, 6));
	assert_false(ftr_move_has_short_branch(&code, 8));
	assert_true(ftr_move_has_short_branch(&code, 10));	/* behind its prefix */
	code.size = 11;
	assert_true(ftr_move_has_short_branch(&code, 10));	/* cut off: who knows */
}

static void test_closed(void **state)
{
	static const struct {
		uint8_t bytes[4];
		unsigned nr;
		bool is_closed;
	} ends[] = {
		{ { 0xc3 }, 1, true }, { { 0x90, 0xf3, 0xc3 }, 3, true },
		{ { 0xeb, 0xfe }, 2, true }, { { 0xff, 0xe0 }, 2, true },
		{ { 0x0f, 0x0b }, 2, true }, { { 0xff, 0xd0 }, 2, true },
		{ { 0xf4 }, 1, true }, { { 0xcc }, 1, true },
		{ { 0x90 }, 1, false }, { { 0x74, 0 }, 2, false },
		{ { 0xb0, 0xc3 }, 2, false }, { { 0x48, 0x8b }, 2, false },
	};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct ftr_code code = { .bytes = ends[i].bytes, .size = ends[i].nr, .addr = ADDR };

		assert_int_equal(ftr_move_is_closed(&code), ends[i].is_closed);
	}
}

/* Two mappings that are near each other: the module, and what is moved out of it. */
#define MAP_BYTES 0x10000
static uint8_t *module;

static void fields_fix(uint8_t *at, const struct ftr_moved *moved)
{
	for (unsigned i = 0; i < moved->fix_nr; i++) {
		uint8_t *field = at + moved->fixes[i].at;
		uint64_t address;
		uint32_t value;

		memcpy(&value, field, sizeof(value));
		address = (uintptr_t)module + value;
		if (moved->fixes[i].kind == FTR_PLAIN_LOW)
			value = (uint32_t)address;
		else if (moved->fixes[i].kind == FTR_PLAIN_HIGH)
			value = (uint32_t)(address >> 32);
		memcpy(field, &value, sizeof(value));
	}
}

/* Functions of one number, which give another. */
static const struct run {
	const char *what;
	uint8_t code[CODE_MAX];
} runs[] = {
	/* lea 1(%rdi), %eax; ret */
	{ "lea", { 0x8d, 0x47, 1, 0x90, 0x90, 0xc3 } },
	/* mov 8(%rip), %eax; add %edi, %eax; ret */
	{ "rip", { 0x8b, 0x05, 8, 0, 0, 0, 0x01, 0xf8, 0xc3, 0x90, 0x90, 0x90, 0x90, 0x90, 1, 2,
		   3 } },
	/* test %edi, %edi; jne +6; mov $7, %eax; ret; mov $9, %eax; ret */
	{ "jne", { 0x85, 0xff, 0x75, 6, 0xb8, 7, 0, 0, 0, 0xc3, 0xb8, 9, 0, 0, 0, 0xc3 } },
	/* mov %rdi, %rcx; jrcxz +6; mov $7, %eax; ret; mov $9, %eax; ret */
	{ "jrcxz", { 0x48, 0x89, 0xf9, 0xe3, 6, 0xb8, 7, 0, 0, 0, 0xc3, 0xb8, 9, 0, 0, 0, 0xc3 } },
	/* mov %edi, %ecx; mov %edi, %eax; loop +2; inc %eax; ret */
	{ "loop", { 0x89, 0xf9, 0xe2, 2, 0xff, 0xc0, 0x89, 0xf8, 0x01, 0xc8, 0xc3 } },
	/* sub $8, %rsp; call +6; add $8, %rsp; inc %eax; ret; lea 3(%rdi), %eax; ret */
	{ "call", { 0x48, 0x83, 0xec, 8, 0xe8, 7, 0, 0, 0, 0x48, 0x83, 0xc4, 8, 0xff, 0xc0, 0xc3,
		    0x8d, 0x47, 3, 0xc3 } },
	/* lea 9(%rip), %rax; call *%rax; inc %eax; ret; ...; lea 3(%rdi), %eax; ret */
	{ "call *", { 0x48, 0x8d, 0x05, 9, 0, 0, 0, 0xff, 0xd0, 0xff, 0xc0, 0xc3, 0x90, 0x90, 0x90,
		      0x90, 0x8d, 0x47, 3, 0xc3 } },
	/* mov %edi, %eax; jmp +2; ...; shl %eax; ret */
	{ "jmp", { 0x89, 0xf8, 0x90, 0xeb, 2, 0x0f, 0x0b, 0xd1, 0xe0, 0xc3 } },
	/* push %rbx; mov %edi, %ebx; mov %ebx, %eax; pop %rbx; ret */
	{ "push", { 0x53, 0x89, 0xfb, 0x89, 0xd8, 0x5b, 0xc3 } },
};

static void check_run(const struct run *run, unsigned want)
{
	uint8_t *from = module + ADDR, *to = module + TO;
	struct ftr_code code = { .bytes = from, .size = CODE_MAX, .addr = ADDR };
	struct ftr_moved moved;
	int n, results[5];

	memcpy(from, run->code, CODE_MAX);
	for (n = 0; n < 5; n++)
		results[n] = ((int (*)(long))(uintptr_t)from)(n);
	assert_int_equal(ftr_move(&code, want, TO, &moved), FTR_MOVE_DONE);
	memcpy(to, moved.code, moved.code_bytes);
	fields_fix(to, &moved);
	memset(from, 0xcc, moved.from_bytes);	/* nothing runs there any more */
	for (n = 0; n < 5; n++) {
		if (((int (*)(long))(uintptr_t)to)(n) != results[n])
			fail_msg("%s: another result for %d, %u bytes moved", run->what, n, want);
	}
}

static void test_the_same_there(void **state)
{
	module = mmap(NULL, MAP_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (module == MAP_FAILED)
		skip();			/* the system forbids such memory */
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		for (unsigned want = 1; want <= JUMP; want++)
			check_run(&runs[i], want);
	}
	munmap(module, MAP_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_short_branches_are_decoded),
		cmocka_unit_test(test_closed),
		cmocka_unit_test(test_the_same_there),
	};

	if (!ftr_move_is_possible())
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
