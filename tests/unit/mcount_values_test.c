/* SPDX-License-Identifier: MIT */
/* Programs for values: where they take them from, and what they do not believe. */
#include "tests/unit/value_run.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libmcount/values_decide.h"

static void test_integers(void **state)
{
	struct run r = { .regs = { .rdi = UINT64_C(0x1122334455667788), .rsi = 0xa1a2a3a4,
				   .rdx = 0xb1, .rcx = 0xc1c2, .r8 = 5, .r9 = 6, .rax = 77 } };

	RUN(&r, OP(BYTES, INTEGER, 0, 8), OP(BYTES, INTEGER, 1, 4), OP(BYTES, INTEGER, 2, 1),
	    OP(BYTES, INTEGER, 3, 2), OP(BYTES, INTEGER, 4, 4), OP(BYTES, INTEGER, 5, 4),
	    OP(BYTES, INTEGER, 6, 4), OP(BYTES, RETURN, 0, 8));
	expect_bytes(&r, "\x88\x77\x66\x55\x44\x33\x22\x11\xa4\xa3\xa2\xa1\xb1\0\0\0\xc2\xc1\0\0"
			 "\5\0\0\0\6\0\0\0\0\0\0\0\x4d\0\0\0\0\0\0\0\0\0\0", 40);
}

/* Halves of a struct lie side by side; what is nowhere is zeros. */
static void test_pieces(void **state)
{
	struct run r = { .regs = { .rdi = 1, .rsi = 2, .rdx = 3 } };

	RUN(&r, JOINED_OP(BYTES, INTEGER, 0, 3), OP(BYTES, INTEGER, 1, 2),
	    OP(BYTES, NOWHERE, 0, 4), JOINED_OP(BYTES, INTEGER, 2, 4), OP(BYTES, NOWHERE, 0, 4));
	expect_bytes(&r, "\1\0\0\2\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0", 24);
}

static void test_stack(void **state)
{
	struct run r = { .stack = { 0, 0x1111, 0x2222, 0x3333 } };

	RUN(&r, OP(BYTES, STACK, 8, 8), OP(BYTES, STACK, 24, 4), OP(BYTES, STACK, 16, 2));
	expect_bytes(&r, "\x11\x11\0\0\0\0\0\0\x33\x33\0\0\x22\x22\0\0", 16);
}

static void test_vectors(void **state)
{
	struct ftr_value_op ops[] = { OP(BYTES, VECTOR, 3, 8), OP(BYTES, VECTOR, 7, 4) };
	struct ftr_values_programs programs;
	struct ftr_regs regs = { 0 };
	uint64_t slot = 0;
	struct ftr_call call = { .regs = &regs, .slot = (uintptr_t *)&slot,
				 .func = BASE + FUNC };
	uint8_t payload[FTR_PAYLOAD_MAX];
	struct table table = { 0 };
	double a = 2.5;
	float b = -1.25f;
	uint32_t bytes;

	table_fill(&table, ops, 2);
	publish(&table, sizeof(table));
	programs = ftr_values_find(BASE + FUNC);
	__asm__ volatile("movsd %0, %%xmm3\n\tmovss %1, %%xmm7"
			 : : "m"(a), "m"(b) : "xmm3", "xmm7");
	bytes = ftr_values_run(programs.entry, &programs, &call, payload);
	assert_int_equal(bytes, 16);
	assert_memory_equal(payload, &a, sizeof(a));
	assert_memory_equal(payload + 8, &b, sizeof(b));
}

/* It stays on the floating-point stack; an empty stack stays empty, and raises no flag. */
static void test_x87(void **state)
{
	long double value = 1.5L, left = 0;
	uint8_t bytes[FTR_ARCH_X87_BYTES];
	uint16_t status;
	bool is_there;

	__asm__ volatile("fninit" : : : "memory");
	assert_false(ftr_arch_x87(bytes, 0));
	__asm__ volatile("fnstsw %0" : "=a"(status));
	assert_int_equal(status & 0x7f, 0);
	__asm__ volatile("fldt %0" : : "m"(value));
	is_there = ftr_arch_x87(bytes, 0);
	__asm__ volatile("fstpt %0" : "=m"(left));
	assert_true(is_there);
	assert_memory_equal(bytes, &value, sizeof(bytes));
	assert_true(left == 1.5L);
}

/* The imaginary part of a long double complex is below its real one. */
static void test_x87_of_two(void **state)
{
	const long double real = 1.5L, imaginary = -2.5L;
	long double left[2] = { 0 };
	uint8_t bytes[2][FTR_ARCH_X87_BYTES];
	uint16_t status, control[2];
	bool are_there[3];

	__asm__ volatile("fninit\n\tfldt %0" : : "m"(imaginary) : "memory");
	are_there[0] = ftr_arch_x87(bytes[1], 1);	/* one alone */
	__asm__ volatile("fnstsw %0" : "=a"(status));
	assert_int_equal(status & 0x7f, 0);
	__asm__ volatile("fldt %1\n\tfnstcw %0" : "=m"(control[0]) : "m"(real));
	are_there[1] = ftr_arch_x87(bytes[0], 0);
	are_there[2] = ftr_arch_x87(bytes[1], 1);
	__asm__ volatile("fnstcw %2\n\tfstpt %0\n\tfstpt %1"
			 : "=m"(left[0]), "=m"(left[1]), "=m"(control[1]));
	assert_false(are_there[0]);
	assert_true(are_there[1] && are_there[2]);
	assert_memory_equal(bytes[0], &real, FTR_ARCH_X87_BYTES);
	assert_memory_equal(bytes[1], &imaginary, FTR_ARCH_X87_BYTES);
	assert_true(left[0] == real && left[1] == imaginary);
	assert_int_equal(control[0], control[1]);
}

static void test_strings(void **state)
{
	struct run r = { 0 };
	char *heap = strdup("a string on the heap");
	char text[200];

	r.regs.rdi = (uintptr_t)heap;
	RUN(&r, OP(STRING, INTEGER, 0, 0));
	expect_text(&r, heap);
	r.regs.rdi = 0;
	run_program(&r);
	expect_text(&r, "NULL");
	r.regs.rdi = WILD;
	run_program(&r);
	expect_text(&r, "<0x10>");
	r.regs.rdi = UINT64_MAX;
	run_program(&r);
	expect_text(&r, "<0xffffffffffffffff>");
	r.regs.rdi = (uintptr_t)"";
	run_program(&r);
	expect_text(&r, "");
	memset(text, 'x', sizeof(text));
	r.regs.rdi = (uintptr_t)text;
	text[98] = '\0';
	run_program(&r);
	expect_text(&r, text);
	text[98] = 'x';
	text[99] = '\0';
	run_program(&r);
	text[95] = text[96] = text[97] = '.';
	text[98] = '\0';
	expect_text(&r, text);
	free(heap);
}

/* Where a call leaves what no register has was told when it began. */
static void test_result(void **state)
{
	char *name = strdup("of the result");
	struct { uint64_t word; char *name; } room = { 0x1122334455667788, name };
	struct run r = { .result = (uintptr_t)&room };

	RUN(&r, OP(POINTED, RESULT, 0, 8));
	assert_int_equal(r.bytes, 8);
	assert_memory_equal(r.payload, &room.word, 8);
	RUN(&r, OP(FOLLOW, RESULT, 0, 16), OP(STRING, AT, 8, 0));
	expect_text(&r, name);
	r.result = 0;
	run_program(&r);
	expect_text(&r, "NULL");
	free(name);
}

/* A mapping that ends in a text's middle, and one that goes on in pages of another kind. */
static void test_string_at_an_edge(void **state)
{
	struct run r = { 0 };
	char *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			   0);

	assert_ptr_not_equal(pages, MAP_FAILED);
	memset(pages, 'y', 3 * PAGE);
	memcpy(pages + PAGE - 3, "abcdef", 7);
	r.regs.rdi = (uintptr_t)pages + PAGE - 3;
	RUN(&r, OP(STRING, INTEGER, 0, 0));
	expect_text(&r, "abcdef");
	r.table.range = (struct ftr_values_range){ (uint32_t)((uintptr_t)pages - BASE),
						   (uint32_t)((uintptr_t)pages + PAGE - BASE) };
	assert_int_equal(mprotect(pages + PAGE, PAGE, PROT_NONE), 0);
	run_program(&r);
	expect_text(&r, "abc");
	r.regs.rdi = (uintptr_t)pages + PAGE;
	run_program(&r);
	assert_memory_equal(r.payload + 2, "<0x", 3);
	munmap(pages, 3 * PAGE);
	run_program(&r);
	assert_memory_equal(r.payload + 2, "<0x", 3);
}

/* Where the kernel may not be asked, only what is known to be there is read. */
static void test_silent(void **state)
{
	struct run r = { .stack = { 0, UINT64_C(0x006b636174) } };
	char *heap = strdup("heap");

	ftr_self.is_silent = true;
	ftr_self.home_low = (uintptr_t)r.stack;
	ftr_self.home_high = (uintptr_t)(r.stack + 8);
	r.regs.rdi = (uintptr_t)heap;
	RUN(&r, OP(STRING, INTEGER, 0, 0));
	assert_memory_equal(r.payload + 2, "<0x", 3);
	r.regs.rdi = (uintptr_t)&r.stack[1];
	run_program(&r);
	expect_text(&r, "tack");
	free(heap);
}

/* Anything may end a transaction, such as a switch to another process: until one does not. */
#define TRIES 10000

static bool is_text(const struct run *run, const char *text)
{
	return run->payload[0] == strlen(text) &&
	       memcmp(run->payload + 2, text, strlen(text)) == 0;
}

/* What the kernel may not be asked for is read without it. */
static void test_silent_transactions(void **state)
{
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			   0);
	char *text = pages + PAGE - 5;
	struct run r = { .regs = { .rdi = (uintptr_t)text } };
	unsigned tries;

	if (!ftr_state.has_transactions)
		skip();
	assert_ptr_not_equal(pages, MAP_FAILED);
	ftr_self.is_silent = true;
	memcpy(text, "text", 5);
	RUN(&r, OP(STRING, INTEGER, 0, 0));
	for (tries = 0; tries < TRIES && !is_text(&r, "text"); tries++)
		run_program(&r);
	expect_text(&r, "text");
	memset(text, 'n', 5);			/* goes on in the next page, which is not there */
	assert_int_equal(munmap(pages + PAGE, PAGE), 0);
	for (tries = 0; tries < TRIES; tries++) {
		run_program(&r);
		assert_memory_equal(r.payload + 2, "<0x", 3);
	}
	assert_int_equal(munmap(pages, PAGE), 0);
	for (tries = 0; tries < TRIES; tries++) {
		run_program(&r);
		assert_memory_equal(r.payload + 2, "<0x", 3);
	}
}

struct vanishing {
	char *page;
	atomic_bool is_done;
};

static void *come_and_go(void *arg)
{
	struct vanishing *vanishing = arg;
	char *page = vanishing->page;

	while (!atomic_load(&vanishing->is_done)) {
		if (mmap(page, PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != page)
			break;
		memcpy(page, "here", 5);
		munmap(page, PAGE);
	}
	return NULL;
}

/*
 * Another thread takes the page away at any moment, and nothing happens to us.  (It lies where no
 * mapping of ours is put while it is away.)
 */
static void test_vanishing_page(void **state)
{
	struct vanishing vanishing = { .page = mmap((void *)(uintptr_t)(BASE + 0x20000000), PAGE,
						    PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS |
						    MAP_FIXED_NOREPLACE, -1, 0) };
	struct run r = { .regs = { .rdi = (uintptr_t)vanishing.page }, .is_racing = true };
	pthread_t thread;
	unsigned i;

	assert_ptr_not_equal(vanishing.page, MAP_FAILED);
	assert_int_equal(pthread_create(&thread, NULL, come_and_go, &vanishing), 0);
	RUN(&r, OP(STRING, INTEGER, 0, 0));
	for (i = 0; i < 20 * TRIES; i++) {
		run_program(&r);
		assert_true(is_text(&r, "here") || is_text(&r, "") ||
			    memcmp(r.payload + 2, "<0x", 3) == 0);
	}
	atomic_store(&vanishing.is_done, true);
	pthread_join(thread, NULL);
}

/* Programs of what registers have, and of what is known to be there, at random. */
static struct ftr_value_op random_op(void)
{
	static const uint16_t sizes[] = { 1, 2, 4, 8 };
	uint16_t bytes = sizes[rand() % 4], nr = (uint16_t)(rand() % 6);

	switch (rand() % 4) {
	case 0:
		return (struct ftr_value_op)OP(STRING, INTEGER, 5, 0);
	case 1:
		return (struct ftr_value_op)OP(STD_STRING, INTEGER, 4, 0);
	case 2:
		return (struct ftr_value_op)OP(BYTES, RETURN, 0, bytes);
	default:
		return (struct ftr_value_op)OP(BYTES, INTEGER, nr, bytes);
	}
}

/* A text, of any length and with anything behind it, on the stack: to be cut, too. */
static void random_text(char *text, size_t room)
{
	size_t i;

	for (i = 0; i < room; i++)
		text[i] = (char)(1 + rand() % 255);
	text[rand() % room] = '\0';
	text[room - 1] = '\0';
}

static void test_brief(void **state)
{
	unsigned i, brief_nr = 0;
	struct run r = { 0 };

	srand(1);
	ftr_self.home_low = (uintptr_t)&r;
	ftr_self.home_high = (uintptr_t)(&r + 1);
	for (i = 0; i < 4000; i++) {
		char *text = (char *)r.stack + 8 + rand() % 8;
		uint64_t object[2] = { (uintptr_t)text, (uint64_t)(rand() % 60) };
		struct ftr_value_op ops[8];
		unsigned nr = 1 + (unsigned)rand() % 8, j;

		random_text(text, 1 + (size_t)rand() % 40);
		memcpy(&r.stack[6], object, sizeof(object));
		r.regs = (struct ftr_regs){ (uint64_t)rand() << 33, 1, UINT64_MAX, 3,
					    (uint64_t)rand(), (uintptr_t)&r.stack[6],
					    (uintptr_t)text };
		r.regs.r9 = rand() % 8 != 0 ? r.regs.r9 : 0;
		r.regs.r8 = rand() % 8 != 0 ? r.regs.r8 : 0;
		for (j = 0; j < nr; j++)
			ops[j] = random_op();
		if (nr > 2 && rand() % 2 == 0) {	/* an enumeration, or bool */
			uint16_t bytes = rand() % 2 == 0 ? 1 : 4;

			ops[1] = (struct ftr_value_op)JOINED_OP(BYTES, INTEGER, 1, bytes);
			ops[2] = (struct ftr_value_op)OP(BYTES, NOWHERE, 0, 8 - bytes);
		}
		run(&r, ops, nr);
		brief_nr += r.is_brief;
		ftr_sections_unmap(published);
	}
	assert_true(brief_nr > 3000);
}

#define NODES_OF(bytes_, kind_, at_, each_) \
	OP(COUNT, INTEGER, 1, 0), OP(NODES, INTEGER, 0, bytes_), \
	{ .what = FTR_VALUE_NODE, .where = kind_, .nr = at_, .bytes = each_ }

/* The number of their bytes, the elements, and nothing behind them. */
static void expect_elements(const struct run *r, const uint32_t *elements, uint32_t nr)
{
	uint32_t bytes;

	memcpy(&bytes, r->payload, sizeof(bytes));
	assert_int_equal(bytes, nr * sizeof(*elements));
	assert_memory_equal(r->payload + sizeof(bytes), elements, bytes);
	for (uint32_t i = sizeof(bytes) + bytes; i < r->bytes; i++)
		assert_int_equal(r->payload[i], 0);
}

struct chained {
	struct chained *next;
	uint32_t value;
};

static void test_chains(void **state)
{
	static const uint32_t elements[] = { 1, 2, 3, 3, 3, 3, 3, 3 };
	struct chained nodes[3] = { { &nodes[1], 1 }, { &nodes[2], 2 }, { NULL, 3 } };
	struct run r = { .regs = { .rdi = (uintptr_t)&nodes[0], .rsi = 3 } };

	RUN(&r, NODES_OF(32, FTR_VALUE_NODES_CHAIN, 8, 4));
	expect_elements(&r, elements, 3);
	r.regs.rsi = 2;					/* so many there are */
	RUN(&r, NODES_OF(32, FTR_VALUE_NODES_CHAIN, 8, 4));
	expect_elements(&r, elements, 2);
	r.regs.rsi = UINT64_MAX;			/* a lie: it ends before */
	RUN(&r, NODES_OF(32, FTR_VALUE_NODES_CHAIN, 8, 4));
	expect_elements(&r, elements, 3);
	nodes[2].next = &nodes[2];			/* ... and does not end */
	RUN(&r, NODES_OF(32, FTR_VALUE_NODES_CHAIN, 8, 4));
	expect_elements(&r, elements, 8);
	RUN(&r, NODES_OF(7, FTR_VALUE_NODES_CHAIN, 8, 4));	/* no part of one */
	expect_elements(&r, elements, 1);
	nodes[1].next = (struct chained *)WILD;
	RUN(&r, NODES_OF(32, FTR_VALUE_NODES_CHAIN, 8, 4));
	expect_elements(&r, elements, 2);
	r.regs.rdi = WILD;
	RUN(&r, NODES_OF(32, FTR_VALUE_NODES_CHAIN, 8, 4));
	expect_elements(&r, elements, 0);
	r.regs.rdi = UINTPTR_MAX;
	RUN(&r, NODES_OF(32, FTR_VALUE_NODES_CHAIN, 8, 4));
	expect_elements(&r, elements, 0);
	r.regs.rdi = (uintptr_t)&nodes[0];
	RUN(&r, OP(NODES, INTEGER, 0, 32));		/* of what, it does not say */
	expect_elements(&r, elements, 0);
	RUN(&r, NODES_OF(32, FTR_VALUE_NODES_CHAIN, 8, 0));
	expect_elements(&r, elements, 0);
}

/* Does the last one lead to none? */
static void test_ends_of_chains(void **state)
{
	struct chained nodes[3] = { { &nodes[1], 1 }, { &nodes[2], 2 }, { NULL, 3 } };
	struct run r = { .regs = { .rdi = (uintptr_t)&nodes[0] } };
	const struct {
		uint16_t bytes;
		struct chained *next;		/* of the last */
		uint32_t head;
	} cases[] = {
		{ 32, NULL, 12 | FTR_VALUE_ENDED }, { 12, NULL, 12 | FTR_VALUE_ENDED },
		{ 8, NULL, 8 },			    { 7, NULL, 4 },
		{ 32, (struct chained *)WILD, 12 }, { 32, &nodes[2], 32 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t head;

		nodes[2].next = cases[i].next;
		RUN(&r, OP(NODES, INTEGER, 0, cases[i].bytes),
		    { .what = FTR_VALUE_NODE, .where = FTR_VALUE_NODES_CHAIN, .nr = 8, .bytes = 4,
		      .flags = FTR_VALUE_TELLS_END });
		memcpy(&head, r.payload, sizeof(head));
		assert_int_equal(head, cases[i].head);
	}
	r.regs.rdi = 0;
	RUN(&r, OP(NODES, INTEGER, 0, 8),
	    { .what = FTR_VALUE_NODE, .nr = 8, .bytes = 4, .flags = FTR_VALUE_TELLS_END });
	expect_bytes(&r, "\0\0\0\x80\0\0\0\0\0\0\0\0\0\0\0\0", 16);
}

struct place {
	uint32_t *at, *low, *high;
	uint32_t **piece;
};

#define PIECES_OF(bytes_) OP(FOLLOW, INTEGER, 0, 0), OP(PIECES, AT, 8, bytes_)

static void test_places(void **state)
{
	static const uint32_t elements[] = { 4, 5, 6, 7, 8, 9, 10 };
	uint32_t values[12] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
	uint32_t *pieces[3] = { values, values + 4, values + 8 };
	struct {
		uint64_t before;
		struct place ends[2];
	} object = { 0, { { values + 3, values, values + 4, pieces },
			  { values + 10, values + 8, values + 12, pieces + 2 } } };
	struct run r = { .regs = { .rdi = (uintptr_t)&object } };

	RUN(&r, PIECES_OF(40));
	expect_elements(&r, elements, 7);
	RUN(&r, PIECES_OF(12));
	expect_elements(&r, elements, 3);
	pieces[2] = (uint32_t *)WILD;
	RUN(&r, PIECES_OF(40));
	expect_elements(&r, elements, 5);
	object.ends[1] = (struct place){ values + 3, values, values + 4, pieces };
	RUN(&r, PIECES_OF(40));				/* none */
	expect_elements(&r, elements, 0);
	object.ends[1].at = values + 1;			/* less than none */
	RUN(&r, PIECES_OF(40));
	expect_elements(&r, elements, 0);
	object.ends[1] = (struct place){ NULL, NULL, NULL, (uint32_t **)WILD };
	object.ends[0].low = object.ends[0].high;	/* pieces of nothing, without an end */
	RUN(&r, PIECES_OF(40));
	expect_elements(&r, elements, 1);
	object.ends[0].at = (uint32_t *)WILD;
	object.ends[0].high = (uint32_t *)UINTPTR_MAX;
	RUN(&r, PIECES_OF(40));
	expect_elements(&r, elements, 0);
	r.regs.rdi = WILD;
	RUN(&r, PIECES_OF(40));
	expect_elements(&r, elements, 0);
}

struct branch {
	uint64_t color;
	struct branch *parent, *left, *right;
	uint32_t value;
};

/* The header is above the root, which is above the header, as in libstdc++. */
static void tree_make(struct branch nodes[8])
{
	static const unsigned parents[8] = { 4, 2, 4, 2, 0, 6, 4, 6 };

	for (uint32_t i = 0; i < 8; i++) {
		nodes[i] = (struct branch){ .parent = &nodes[parents[i]], .value = i };
		if (i % 2 == 0 && i > 0) {
			nodes[i].left = &nodes[i == 4 ? 2 : i - 1];
			nodes[i].right = &nodes[i == 4 ? 6 : i + 1];
		}
	}
	nodes[0].left = &nodes[1];
	nodes[0].right = &nodes[7];
}

static void test_trees(void **state)
{
	static const uint32_t elements[] = { 1, 2, 3, 4, 5, 6, 7 };
	struct branch nodes[8];
	struct run r = { .regs = { .rdi = (uintptr_t)&nodes[1], .rsi = 7 } };
	uint32_t bytes;

	tree_make(nodes);
	RUN(&r, NODES_OF(64, FTR_VALUE_NODES_TREE, 32, 4));
	expect_elements(&r, elements, 7);
	RUN(&r, NODES_OF(20, FTR_VALUE_NODES_TREE, 32, 4));
	expect_elements(&r, elements, 5);
	nodes[4].right = (struct branch *)WILD;
	RUN(&r, NODES_OF(64, FTR_VALUE_NODES_TREE, 32, 4));
	expect_elements(&r, elements, 4);
	for (unsigned i = 0; i < 8; i++)		/* all lead to the same, for ever */
		nodes[i].parent = nodes[i].left = nodes[i].right = &nodes[1];
	r.regs.rsi = UINT64_MAX;
	RUN(&r, NODES_OF(800, FTR_VALUE_NODES_TREE, 32, 4));
	memcpy(&bytes, r.payload, sizeof(bytes));
	assert_true(bytes >= 4 && bytes <= 65 * 4);
}

/* As in libc++: left, right, parent; the root's parent is the header, whose left is the root. */
static void test_trees_of_libcxx(void **state)
{
	static const uint32_t elements[] = { 1, 2, 3, 4, 5, 6, 7 };
	struct {
		uintptr_t left, right, parent;
		uint32_t value;
	} nodes[8];
	struct branch others[8];
	struct run r = { .regs = { .rdi = (uintptr_t)&nodes[1], .rsi = 7 } };

	tree_make(others);
	for (uint32_t i = 0; i < 8; i++) {
		nodes[i].value = i;
#define OTHER(link) (others[i].link == NULL ? 0 : (uintptr_t)&nodes[others[i].link - others])
		nodes[i].left = OTHER(left);
		nodes[i].right = OTHER(right);
		nodes[i].parent = OTHER(parent);
	}
	RUN(&r, NODES_OF(64, FTR_VALUE_NODES_TREE_LEFT, 24, 4));
	expect_elements(&r, elements, 7);
	nodes[6].right = WILD;
	RUN(&r, NODES_OF(64, FTR_VALUE_NODES_TREE_LEFT, 24, 4));
	expect_elements(&r, elements, 6);
}

static void test_chains_of_libcxx(void **state)
{
	static const uint32_t elements[] = { 1, 2 };
	struct {
		uintptr_t previous, next;
		uint32_t value;
	} nodes[2] = { { WILD, (uintptr_t)&nodes[1], 1 }, { WILD, 0, 2 } };
	struct run r = { .regs = { .rdi = (uintptr_t)&nodes[0], .rsi = 7 } };

	RUN(&r, NODES_OF(64, FTR_VALUE_NODES_CHAIN_SECOND, 16, 4));
	expect_elements(&r, elements, 2);
}

#define LIBCXX_STRING OP(FOLLOW, INTEGER, 0, 24), OP(LIBCXX, AT, 0, 0), OP(STRING, AT, 0, 0)

/* Of libc++: twice the number in a byte, and the characters; or room and 1, number, pointer. */
static void test_strings_of_libcxx(void **state)
{
	char small[24] = "\xa" "short", most[24] = "\x2c" "of as many as there are";
	uint64_t large[3] = { 49, 26, (uintptr_t)"a text that is longer, for sure" };
	struct run r = { .regs = { .rdi = (uintptr_t)small } };

	RUN(&r, LIBCXX_STRING);
	expect_text(&r, "short");
	r.regs.rdi = (uintptr_t)most;
	RUN(&r, LIBCXX_STRING);
	expect_text(&r, "of as many as there ar");
	small[0] = 0;
	r.regs.rdi = (uintptr_t)small;
	RUN(&r, LIBCXX_STRING);
	expect_text(&r, "");
	small[0] = (char)0xfe;				/* more than it has room for */
	RUN(&r, LIBCXX_STRING);
	expect_text(&r, "short");
	r.regs.rdi = (uintptr_t)large;
	RUN(&r, LIBCXX_STRING);
	expect_text(&r, "a text that is longer, for");
	RUN(&r, OP(FOLLOW, INTEGER, 0, 0), OP(LIBCXX, AT, 0, 0), OP(TEXT, AT, 0, 8));
	expect_bytes(&r, "a te...\0", 8);
	large[2] = WILD;
	RUN(&r, LIBCXX_STRING);
	expect_text(&r, "<0x10>");
	r.regs.rdi = WILD;
	RUN(&r, LIBCXX_STRING);
	expect_text(&r, "<0x10>");
	r.regs.rdi = 0;
	RUN(&r, LIBCXX_STRING);
	expect_text(&r, "NULL");
}

/* Conditions: tests that lead to a later one or to an outcome, and ones that lie about that. */
static enum ftr_decision decide(const struct ftr_value_test *tests, uint32_t nr, uint64_t rdi)
{
	struct {
		struct ftr_values head;
		struct ftr_value_test tests[4];
	} table = { .head = { .test_nr = nr } };
	const struct ftr_values_programs programs = { .values = &table.head, .test = 1 };
	const struct ftr_regs regs = { .rdi = rdi };

	memcpy(table.tests, tests, nr * sizeof(*tests));
	return ftr_values_decide(&programs, &(struct ftr_call){ .regs = &regs });
}

#define TEST(op_, kind_, bytes_, on_true_, on_false_, literal_) { \
	.op = op_, .kind = kind_, .where = FTR_VALUE_INTEGER, .bytes = bytes_, \
	.on_true = on_true_, .on_false = on_false_, .literal = literal_ }

static void test_conditions(void **state)
{
	struct ftr_value_test tests[] = {
		{ 0 },
		TEST(FTR_TEST_GT, FTR_TEST_SIGNED, 4, 2, FTR_TEST_FALSE, -3),
		TEST(FTR_TEST_LT, FTR_TEST_UNSIGNED, 2, FTR_TEST_TRUE, 3, 7),
		TEST(FTR_TEST_EQ, FTR_TEST_AUTO, 8, FTR_TEST_TRUE, FTR_TEST_FALSE, -1),
	};

	assert_int_equal(decide(tests, 4, (uint32_t)-3), FTR_DECIDED_FALSE);
	assert_int_equal(decide(tests, 4, 5), FTR_DECIDED_TRUE);
	assert_int_equal(decide(tests, 4, 0x10005), FTR_DECIDED_TRUE);
	assert_int_equal(decide(tests, 4, 7), FTR_DECIDED_FALSE);
	assert_int_equal(decide(tests, 4, UINT32_MAX), FTR_DECIDED_TRUE);
	assert_int_equal(decide(tests, 4, UINT64_MAX), FTR_DECIDED_TRUE);
	assert_int_equal(decide(tests, 3, 7), FTR_UNDECIDED);
	assert_int_equal(decide(tests, 1, 7), FTR_UNDECIDED);
	tests[2].on_false = 1;			/* back, for ever */
	assert_int_equal(decide(tests, 4, 7), FTR_UNDECIDED);
	tests[1].bytes = 9;
	assert_int_equal(decide(tests, 4, 5), FTR_UNDECIDED);
	tests[1].bytes = 0;
	assert_int_equal(decide(tests, 4, 5), FTR_UNDECIDED);
	assert_int_equal(ftr_values_decide(&(struct ftr_values_programs){ 0 },
					   &(struct ftr_call){ 0 }), FTR_UNDECIDED);
}

/* Does a call with @rdi that returns @rax and takes @ns ask for a dump? */
static bool asks_dump(const struct ftr_value_test *tests, uint16_t dump_nr, uint64_t rdi,
		      uint64_t rax, uint64_t ns)
{
	struct {
		struct ftr_values head;
		struct ftr_value_test tests[5];
	} table = { .head = { .test_nr = 5 } };
	const struct ftr_values_programs programs = {
		.values = &table.head, .dump = 2, .dump_nr = dump_nr,
	};
	const struct ftr_regs begins = { .rdi = rdi }, ends = { .rdi = ~rdi, .rax = rax };
	const struct ftr_call begun = { .regs = &begins }, ended = { .regs = &ends };
	struct ftr_values_judged judged;

	memcpy(table.tests, tests, sizeof(table.tests));
	judged = ftr_values_judge(&programs, &begun);
	return ftr_values_asks_dump(&programs, &ended, &judged, ns);
}

/* arg1 > 3 && retval < 0 || duration > 10 */
static void test_conditions_of_dumps(void **state)
{
	struct ftr_value_test tests[5] = {
		[2] = TEST(FTR_TEST_GT, FTR_TEST_SIGNED, 4, 3, 4, 3),
		[3] = TEST(FTR_TEST_LT, FTR_TEST_SIGNED, 4, FTR_TEST_TRUE, 4, 0),
		[4] = TEST(FTR_TEST_GT, FTR_TEST_UNSIGNED, 8, FTR_TEST_TRUE, FTR_TEST_FALSE, 10),
	};

	tests[3].flags = tests[4].flags = FTR_TEST_AT_END;
	tests[3].where = FTR_VALUE_RETURN;
	tests[4].where = FTR_VALUE_ELAPSED;
	assert_true(asks_dump(tests, 3, 4, (uint32_t)-1, 0));
	assert_false(asks_dump(tests, 3, 3, (uint32_t)-1, 10));
	assert_false(asks_dump(tests, 3, 4, 0, 10));
	assert_true(asks_dump(tests, 3, 3, 0, 11));
	assert_false(asks_dump(tests, 4, 4, (uint32_t)-1, 11));	/* more than there are */
	assert_false(asks_dump(tests, 2, 4, 0, 11));		/* leads behind them */
	tests[2].bytes = 9;			/* not known: is not true, nor is its opposite */
	assert_false(asks_dump(tests, 3, 4, (uint32_t)-1, 0));
	assert_true(asks_dump(tests, 3, 4, (uint32_t)-1, 11));
	tests[2].flags = FTR_TEST_DENIED;
	tests[2].on_true = 4;
	tests[2].on_false = 3;
	assert_false(asks_dump(tests, 3, 4, (uint32_t)-1, 0));
	tests[4].on_false = 2;			/* back, for ever */
	assert_false(asks_dump(tests, 3, 4, 0, 0));
}

/* A text and a float in memory, by a program of one op and one test. */
struct made_table {
	struct ftr_values head;
	struct ftr_value_op ops[8];
	struct ftr_value_test tests[2];
	char texts[16];
};

static enum ftr_decision decide_made(const struct made_table *table, const void *value)
{
	const struct ftr_values_programs programs = { .values = &table->head, .test = 1 };
	const struct ftr_regs regs = { .rdi = (uintptr_t)value };
	uintptr_t slot = 0;

	return ftr_values_decide(&programs, &(struct ftr_call){ .regs = &regs, .slot = &slot });
}

static struct made_table made_table(uint8_t op, const char *literal)
{
	struct made_table table = {
		.head = { .op_nr = 8, .test_nr = 2, .text_bytes = sizeof(table.texts) },
		.ops[1] = { .what = FTR_VALUE_STRING, .where = FTR_VALUE_INTEGER },
		.tests[1] = { .op = op, .kind = FTR_TEST_TEXT, .program = 1,
			      .text_bytes = (uint16_t)strlen(literal), .on_true = FTR_TEST_TRUE,
			      .on_false = FTR_TEST_FALSE },
	};

	memcpy(table.texts, literal, strlen(literal));
	return table;
}

static void test_texts_of_conditions(void **state)
{
	static const struct {
		uint8_t op;
		const char *literal, *text;
		bool is_true;
	} cases[] = {
		{ FTR_TEST_EQ, "GET", "GET", true },	{ FTR_TEST_EQ, "GET", "GE", false },
		{ FTR_TEST_EQ, "GE", "GET", false },	{ FTR_TEST_EQ, "", "", true },
		{ FTR_TEST_NE, "", "x", true },		{ FTR_TEST_LT, "b", "a", true },
		{ FTR_TEST_LT, "a", "aa", false },	{ FTR_TEST_GT, "a", "\xff", true },
		{ FTR_TEST_LIKE, "GET *", "GET /", true }, { FTR_TEST_LIKE, "GET *", "GET", false },
		{ FTR_TEST_LIKE, "*", "", true },	{ FTR_TEST_LIKE, "", "x", false },
		{ FTR_TEST_LIKE, "*ab*ab", "ababab", true }, { FTR_TEST_LIKE, "*ab", "aba", false },
		{ FTR_TEST_LIKE, "?*?", "x", false },	{ FTR_TEST_LIKE, "?*?", "xy", true },
		{ FTR_TEST_LIKE, "a*b*c**", "a-bb-c", true }, { FTR_TEST_LIKE, "**a", "b", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made_table table = made_table(cases[i].op, cases[i].literal);

		if (decide_made(&table, cases[i].text) !=
		    (cases[i].is_true ? FTR_DECIDED_TRUE : FTR_DECIDED_FALSE))
			fail_msg("%s, %s", cases[i].literal, cases[i].text);
	}
}

/* Of a section that is damaged nothing is decided, and nothing behind it is read. */
static void test_damaged_conditions(void **state)
{
	struct made_table table = made_table(FTR_TEST_EQ, "GET");

	assert_int_equal(decide_made(&table, "GET"), FTR_DECIDED_TRUE);
	table.tests[1].program = 8;
	assert_int_equal(decide_made(&table, "GET"), FTR_UNDECIDED);
	table.tests[1].program = 0;
	assert_int_equal(decide_made(&table, "GET"), FTR_UNDECIDED);
	table.tests[1].program = 2;				/* makes nothing */
	assert_int_equal(decide_made(&table, "GET"), FTR_UNDECIDED);
	table.tests[1].program = 1;
	for (int64_t at = 14; at != 0; at = at == 14 ? -1 : 0) {	/* its text ends outside */
		table.tests[1].literal = at;
		assert_int_equal(decide_made(&table, "GET"), FTR_UNDECIDED);
	}
	table.tests[1].literal = 0;
	table.ops[2] = table.ops[1];				/* more than there is room for */
	assert_int_equal(decide_made(&table, "GET"), FTR_UNDECIDED);
	table.ops[1] = (struct ftr_value_op){ .what = FTR_VALUE_POINTED,
					      .where = FTR_VALUE_INTEGER, .bytes = 500 };
	assert_int_equal(decide_made(&table, "GET"), FTR_UNDECIDED);
	table.ops[1].what = FTR_VALUE_BLOCK;
	table.ops[1].bytes = 8;
	assert_int_equal(decide_made(&table, "GET"), FTR_UNDECIDED);
}

static enum ftr_decision decide_double(uint8_t op, double value, double literal)
{
	struct made_table table = made_table(op, "");
	int64_t bits;

	memcpy(&bits, &literal, sizeof(bits));
	table.ops[1] = (struct ftr_value_op){ .what = FTR_VALUE_POINTED,
					      .where = FTR_VALUE_INTEGER, .bytes = sizeof(value) };
	table.tests[1].kind = FTR_TEST_FLOAT;
	table.tests[1].bytes = sizeof(value);
	table.tests[1].literal = ftr_value_float_order(bits);
	return decide_made(&table, &value);
}

static void test_floats_of_conditions(void **state)
{
	static const double values[] = { 0.0, -0.0, 1, -1, 1e-310, -1e-310, 1e300, INFINITY,
					 -INFINITY, NAN };
	size_t nr = sizeof(values) / sizeof(values[0]);

	for (size_t i = 0; i < nr * (nr - 1); i++) {
		double value = values[i / (nr - 1)], literal = values[i % (nr - 1)];

		assert_int_equal(decide_double(FTR_TEST_LT, value, literal), value < literal);
		assert_int_equal(decide_double(FTR_TEST_LE, value, literal), value <= literal);
		assert_int_equal(decide_double(FTR_TEST_EQ, value, literal), value == literal);
		assert_int_equal(decide_double(FTR_TEST_NE, value, literal), value != literal);
		assert_int_equal(decide_double(FTR_TEST_GT, value, literal), value > literal);
		assert_int_equal(decide_double(FTR_TEST_GE, value, literal), value >= literal);
	}
}

/* The module's constants are read in place. */
static void test_constants(void **state)
{
	char *pages = mmap((void *)(uintptr_t)(BASE + 0x10000000), PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	struct run r = { .table.range = { 0x10000000, 0x10000000 + PAGE } };

	assert_ptr_not_equal(pages, MAP_FAILED);
	ftr_self.is_silent = true;
	memset(pages, 'z', PAGE);
	memcpy(pages + 100, "constant", 9);
	r.regs.rdi = (uintptr_t)pages + 100;
	RUN(&r, OP(STRING, INTEGER, 0, 0));
	expect_text(&r, "constant");
	r.regs.rdi = (uintptr_t)pages + PAGE - 2;	/* and what lies behind them is not */
	run_program(&r);
	expect_text(&r, "zz");
	munmap(pages, PAGE);
}

static void test_std_string(void **state)
{
	struct run r = { 0 };
	struct { const char *text; uint64_t nr; char room[16]; } object = { "seven characters", 5,
									    "" };
	char *big = malloc(300);

	r.regs.rdi = (uintptr_t)&object;
	RUN(&r, OP(STD_STRING, INTEGER, 0, 0));
	expect_text(&r, "seven");
	object.text = object.room;
	object.nr = 0;
	run_program(&r);
	expect_text(&r, "");
	object.text = (char *)(uintptr_t)WILD;
	object.nr = 4;
	run_program(&r);
	expect_text(&r, "<0x10>");
	memset(big, 'b', 300);
	object.text = big;
	object.nr = 300;
	run_program(&r);
	assert_int_equal(r.payload[0], FTR_VALUE_STRING_MAX);
	assert_memory_equal(r.payload + 2 + 93, "bb...", 5);
	r.regs.rdi = WILD;
	run_program(&r);
	expect_text(&r, "<0x10>");
	r.regs.rdi = 0;
	run_program(&r);
	expect_text(&r, "NULL");
	free(big);
}

static void test_pointed(void **state)
{
	struct run r = { 0 };
	uint64_t *object = malloc(24);

	object[0] = 1;
	object[1] = 2;
	object[2] = 3;
	r.regs.rdi = (uintptr_t)object;
	RUN(&r, OP(POINTED, INTEGER, 0, 24));
	expect_bytes(&r, object, 24);
	memset(object, 0, 24);
	r.regs.rdi = WILD;
	run_program(&r);
	expect_bytes(&r, object, 24);
	free(object);
}

/* { 7, "name", 9 } on the heap, and what leads to it. */
struct thing {
	uint32_t number;
	const char *name;
	uint64_t length;
};

static void test_followed(void **state)
{
	struct thing *thing = malloc(sizeof(*thing));
	struct thing **to = malloc(sizeof(struct thing *));
	struct run r = { .regs = { .rdi = (uintptr_t)to, .rsi = (uintptr_t)thing } };

	assert_true(thing != NULL && to != NULL);
	*thing = (struct thing){ 7, strdup("a name that is rather long"), 6 };
	*to = thing;
	for (uint16_t near_bytes = 0; near_bytes <= 24; near_bytes += 8) {
		RUN(&r, OP(FOLLOW, INTEGER, 1, near_bytes), OP(BYTES, AT, 0, 4),
		    OP(COUNT, AT, 16, 0), OP(STRING, AT, 8, 0));
		expect_bytes(&r, "\7\0\0\0\6\0a name\0\0\0\0", 16);
	}
	RUN(&r, OP(FOLLOW, INTEGER, 0, 8), OP(FOLLOW, AT, 0, 0), OP(BYTES, AT, 0, 4),
	    JOINED_OP(TEXT, AT, 8, 8), OP(TEXT, AT, 8, 32));
	expect_bytes(&r, "\7\0\0\0a na...\0a name that is rather long\0\0\0\0\0\0\0\0\0\0", 48);
	RUN(&r, OP(FOLLOW, INTEGER, 1, 0), OP(COUNT, AT, 16, 0), OP(TEXT, AT, 8, 12),
	    OP(TEXT, AT, 8, 4));
	expect_bytes(&r, "a name\0\0\0\0\0\0...", 16);
	/* The count is of the next string alone. */
	RUN(&r, OP(FOLLOW, INTEGER, 1, 24), OP(COUNT, AT, 16, 4), OP(STRING, AT, 8, 4),
	    OP(STRING, AT, 8, 0));
	assert_memory_equal(r.payload, "\6\0a name\x1a\0a name", 16);
	free((char *)thing->name);
	free(thing);
	free(to);
}

static void test_blocks(void **state)
{
	uint8_t *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			      -1, 0);
	struct run r = { 0 };

	assert_true(pages != MAP_FAILED);
	memcpy(pages + PAGE - 8, "abcdefgh", 8);
	assert_int_equal(mprotect(pages + PAGE, PAGE, PROT_NONE), 0);
	r.regs.rdi = (uintptr_t)pages + PAGE - 8;
	RUN(&r, OP(FOLLOW, INTEGER, 0, 0), JOINED_OP(BYTES, INTEGER, 0, 0), OP(BLOCK, AT, 0, 8),
	    OP(BLOCK, AT, 4, 8), OP(BYTES, AT, 2, 2), OP(BYTES, AT, 20, 2));
	expect_bytes(&r, "\10\0\0\0abcdefgh\4\0\0\0efgh\0\0\0\0cd\0\0\0\0\0\0", 32);
	for (uintptr_t wild = 0; wild < 0x20; wild += WILD) {
		r.regs.rdi = wild;
		RUN(&r, OP(FOLLOW, INTEGER, 0, 64), OP(BLOCK, AT, 0, 8), OP(BYTES, AT, 0, 4),
		    OP(FOLLOW, AT, 0, 64), OP(TEXT, AT, 0, 8));
		expect_bytes(&r, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24);
	}
	r.regs.rdi = UINTPTR_MAX;
	RUN(&r, OP(FOLLOW, INTEGER, 0, 64), OP(BLOCK, AT, UINT16_MAX, 4));
	expect_bytes(&r, "\0\0\0\0\0\0\0", 8);
	munmap(pages, 2 * PAGE);
}

/* As string views and slices have them. */
static void test_counted(void **state)
{
	struct run r = { .regs = { .rdi = 3, .rsi = (uintptr_t)"some text" } };

	RUN(&r, OP(COUNT, INTEGER, 0, 0), OP(STRING, INTEGER, 1, 0));
	expect_text(&r, "som");
	r.regs.rdi = 100;
	run_program(&r);
	expect_text(&r, "some text");
	r.regs.rdi = 0;
	r.regs.rsi = WILD;
	run_program(&r);
	expect_text(&r, "");
	r.regs.rdi = UINT64_MAX;
	run_program(&r);
	expect_text(&r, "<0x10>");
}

/* Strings leave room for what comes after them. */
static void test_room(void **state)
{
	struct ftr_value_op ops[21], *op = ops;
	struct run r = { 0 };
	char text[200];
	uint32_t at = 0;

	memset(text, 'r', 199);
	text[199] = '\0';
	r.regs.rdi = (uintptr_t)text;
	r.regs.rsi = UINT64_C(0x0102030405060708);
	for (unsigned i = 0; i < 20; i++)
		*op++ = (struct ftr_value_op)OP(STRING, INTEGER, 0, (uint16_t)(8 + 4 * (19 - i)));
	*op = (struct ftr_value_op)OP(BYTES, INTEGER, 1, 8);
	run(&r, ops, 21);
	assert_int_equal(r.bytes, 1016);
	for (unsigned i = 0; i < 20; i++)
		at += (2u + r.payload[at] + 3u) / 4u * 4u;
	assert_memory_equal(r.payload + at, &r.regs.rsi, 8);
	assert_int_equal(at, 1008);
	/* A program that lies ends there. */
	RUN(&r, OP(BYTES, STACK, 8, 1000), OP(BYTES, STACK, 8, 20), OP(BYTES, INTEGER, 0, 1));
	assert_int_equal(r.bytes, 1000);
}

/* A table that says what is not so is none. */
static void test_unsound(void **state)
{
	struct ftr_value_op op = OP(BYTES, INTEGER, 0, 8);
	struct table table = { 0 };

	table_fill(&table, &op, 1);
	publish(&table, sizeof(table));
	assert_non_null(ftr_values_find(BASE + FUNC + 15).entry);
	assert_null(ftr_values_find(BASE + FUNC).exit);
	assert_null(ftr_values_find(BASE + FUNC - 1).entry);
	assert_null(ftr_values_find(BASE + FUNC + 16).entry);
	table.func.entry = 32;
	publish(&table, sizeof(table));
	assert_null(ftr_values_find(BASE + FUNC).entry);
	table.func.entry = 1;
	table.ops[31].what = FTR_VALUE_BYTES;
	publish(&table, sizeof(table));
	assert_null(ftr_values_find(BASE + FUNC).entry);
	table.ops[31].what = FTR_VALUE_END;
	publish(&table, sizeof(table) - 1);
	assert_null(ftr_values_find(BASE + FUNC).entry);
	publish(&table, 4);
	assert_null(ftr_values_find(BASE + FUNC).entry);
	table.head.op_nr = UINT32_MAX;
	publish(&table, sizeof(table));
	assert_null(ftr_values_find(BASE + FUNC).entry);
	published = NULL;
	assert_null(ftr_values_find(BASE + FUNC).entry);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_brief, start),
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_ends_of_chains),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_trees),
		cmocka_unit_test(test_trees_of_libcxx),
		cmocka_unit_test(test_chains_of_libcxx),
		cmocka_unit_test(test_strings_of_libcxx),
		cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_conditions_of_dumps),
		cmocka_unit_test(test_texts_of_conditions),
		cmocka_unit_test(test_floats_of_conditions),
		cmocka_unit_test(test_damaged_conditions),
		cmocka_unit_test_setup(test_integers, start),
		cmocka_unit_test_setup(test_pieces, start),
		cmocka_unit_test_setup(test_stack, start),
		cmocka_unit_test_setup(test_vectors, start),
		cmocka_unit_test_setup(test_x87, start),
		cmocka_unit_test_setup(test_x87_of_two, start),
		cmocka_unit_test_setup(test_strings, start),
		cmocka_unit_test_setup(test_strings, start_transactions),
		cmocka_unit_test_setup(test_result, start),
		cmocka_unit_test_setup(test_string_at_an_edge, start),
		cmocka_unit_test_setup(test_string_at_an_edge, start_transactions),
		cmocka_unit_test_setup(test_silent, start),
		cmocka_unit_test_setup(test_silent_transactions, start_transactions),
		cmocka_unit_test_setup(test_vanishing_page, start),
		cmocka_unit_test_setup(test_vanishing_page, start_transactions),
		cmocka_unit_test_setup(test_constants, start),
		cmocka_unit_test_setup(test_std_string, start),
		cmocka_unit_test_setup(test_std_string, start_transactions),
		cmocka_unit_test_setup(test_pointed, start),
		cmocka_unit_test_setup(test_pointed, start_transactions),
		cmocka_unit_test_setup(test_followed, start),
		cmocka_unit_test_setup(test_followed, start_transactions),
		cmocka_unit_test_setup(test_blocks, start),
		cmocka_unit_test_setup(test_blocks, start_transactions),
		cmocka_unit_test_setup(test_counted, start),
		cmocka_unit_test_setup(test_counted, start_transactions),
		cmocka_unit_test_setup(test_room, start),
		cmocka_unit_test_setup(test_unsound, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
