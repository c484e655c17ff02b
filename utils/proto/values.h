/* SPDX-License-Identifier: MIT */
/*
 * The body of FTR_SECTION_VALUES: how the arguments and return values of a module's functions are
 * found.  The recorder reads specs, DWARF and prototypes; the runtime copies bytes.
 *
 *	[ struct ftr_values ][ struct ftr_value_op, op_nr ][ struct ftr_values_func, func_nr ]
 *	[ struct ftr_values_range, range_nr ][ struct ftr_value_test, test_nr ][ texts ]
 *
 * Functions are sorted by address and do not overlap.  A program is the ops from an index on, up to
 * one that is FTR_VALUE_END; the op with index 0 is one, and so is the last, so a program that is
 * inside the section ends inside it.  What a program makes is the payload of the record as
 * doc/ftr-data.5 has it: each value is padded to 4 bytes, the whole to 8, with zeros.
 */
#ifndef FTR_PROTO_VALUES_H
#define FTR_PROTO_VALUES_H

#include <assert.h>
#include <stdint.h>

enum ftr_value_what {
	FTR_VALUE_END = 0,
	FTR_VALUE_BYTES = 1,	  /* as they are */
	FTR_VALUE_POINTED = 2,	  /* a pointer: the bytes that it leads to */
	FTR_VALUE_STRING = 3,	  /* a pointer to characters and a NUL: the characters */
	FTR_VALUE_STD_STRING = 4, /* a pointer to libstdc++'s { characters, their number } */
	FTR_VALUE_COUNT = 5,	  /* a number; nothing: the next STRING has so many characters */
	FTR_VALUE_FOLLOW = 6,	  /* a pointer; nothing: FTR_VALUE_AT counts from there */
	FTR_VALUE_BLOCK = 7,	  /* AT: how many bytes there are, in 4 bytes, and these */
	FTR_VALUE_TEXT = 8,	  /* as a STRING, in room of a fixed size, the rest zeros */
	FTR_VALUE_NODES = 9,	  /* a pointer to the first node; as a BLOCK, what is in each */
	FTR_VALUE_NODE = 10,	  /* behind a NODES: nr, bytes of what is in a node; nothing */
	FTR_VALUE_PIECES = 11,	  /* AT: two places in pieces; as a BLOCK, what is between them */
	FTR_VALUE_LIBCXX = 12,	  /* AT: libc++'s std::string; nothing: the next text is its */
	FTR_VALUE_SIGN = 13,	  /* behind BYTES of the same value: their sign, in each bit */
};

/*
 * A place in PIECES is four words, as an iterator of libstdc++'s std::deque has them: the element,
 * the begin and the end of its piece, and where the pointer to its piece is, behind which is the
 * next piece's.
 */

/* How one node leads to the next: where of a NODE.  Up to as many as a COUNT before says. */
enum ftr_value_nodes {
	FTR_VALUE_NODES_CHAIN = 0, /* by its first word */
	FTR_VALUE_NODES_TREE = 1,  /* its second to fourth are parent, left and right */
	FTR_VALUE_NODES_CHAIN_SECOND = 2, /* by its second word */
	FTR_VALUE_NODES_TREE_LEFT = 3,	  /* its first to third are left, right and parent */
};

enum ftr_value_where {
	FTR_VALUE_NOWHERE = 0, /* zeros: of a value that cannot be had, for the sake of the next */
	FTR_VALUE_INTEGER = 1, /* integer register of argument nr, from 0 */
	FTR_VALUE_VECTOR = 2,  /* lower half of vector register nr */
	FTR_VALUE_STACK = 3,   /* nr bytes above the return address */
	FTR_VALUE_RETURN = 4,  /* integer register nr of a return value */
	FTR_VALUE_X87 = 5,     /* floating-point stack, nr below its top; zeros when it is empty */
	FTR_VALUE_AT = 6,      /* nr bytes above where the last FOLLOW led */
	FTR_VALUE_ELAPSED = 7, /* nanoseconds since the call began: of tests alone */
	FTR_VALUE_RESULT = 8,  /* the caller's room for the value, which it told when it called */
};

/* What this op and the next one make is one value: no padding between. */
#define FTR_VALUE_JOINED 1u
/* Of a NODE: when the last leads to none, how many bytes there are has FTR_VALUE_ENDED set. */
#define FTR_VALUE_TELLS_END 2u

struct ftr_value_op {
	uint8_t	 what;	/* enum ftr_value_what */
	uint8_t	 where;	/* enum ftr_value_where */
	uint8_t	 flags;	/* FTR_VALUE_JOINED, FTR_VALUE_TELLS_END */
	uint8_t	 reserved;
	uint16_t nr;
	/*
	 * That it makes; beyond what the register has they are zeros.  Of a STRING: that the ops
	 * behind it make at least, for which it leaves room.  Of a BLOCK, NODES, and PIECES:
	 * without their number, and what is asked for of these is taken from their copy from
	 * here on.  Of a FOLLOW: that ops behind it will ask for one by one, at most
	 * FTR_VALUE_NEAR_MAX.
	 */
	uint16_t bytes;
};
static_assert(sizeof(struct ftr_value_op) == 8, "wire layout");

/* Addresses count from the module's first mapping. */
struct ftr_values_func {
	uint32_t low, high;   /* the addresses recorded for it; high is not */
	uint32_t entry, exit; /* indices of programs for arguments, return value; 0 = none */
	uint32_t test;	      /* index of the first test of its rule's condition; 0 = none */
	uint16_t dump;	      /* the same, of what a dump depends on; 0 = nothing, or not known */
	uint16_t dump_nr;     /* of its tests, at most FTR_TESTS_JUDGED */
};
static_assert(sizeof(struct ftr_values_func) == 24, "wire layout");

/* Memory of the module that is there, and can be read, as long as its code runs. */
struct ftr_values_range {
	uint32_t low, high;
};
static_assert(sizeof(struct ftr_values_range) == 8, "wire layout");

struct ftr_values {
	uint32_t op_nr;
	uint32_t func_nr;
	uint32_t range_nr;
	uint32_t test_nr;
	uint32_t text_bytes;  /* of the literals of tests */
	uint32_t reserved;
};
static_assert(sizeof(struct ftr_values) == 24, "wire layout");

/* How the value of a test is read. */
enum ftr_test_kind {
	FTR_TEST_UNSIGNED = 0,
	FTR_TEST_SIGNED = 1,
	FTR_TEST_AUTO = 2,	/* signed, and below 0 what looks like that in 32 bits */
	FTR_TEST_FLOAT = 3,	/* of 4 or 8 bytes, in the order of ftr_value_float_order */
	FTR_TEST_TEXT = 4,	/* by its bytes */
};

enum ftr_test_op {
	FTR_TEST_EQ = 0,
	FTR_TEST_NE = 1,
	FTR_TEST_LT = 2,
	FTR_TEST_LE = 3,
	FTR_TEST_GT = 4,
	FTR_TEST_GE = 5,
	FTR_TEST_BITS = 6,	/* any of the literal's */
	FTR_TEST_LIKE = 7,	/* a text; of the literal's bytes '*' is any and '?' is one */
};

enum ftr_test_flag {
	FTR_TEST_AT_END = 1 << 0,  /* of what is known when the call ends: of dumps alone */
	FTR_TEST_DENIED = 1 << 1,  /* true speaks against the condition, false for it */
};

/*
 * A comparison of a value with a literal, and which test comes next, a later one, or what the
 * outcome is.  The value is in a register, or what a program of its own makes.
 */
struct ftr_value_test {
	uint8_t op;		/* enum ftr_test_op */
	uint8_t kind;		/* enum ftr_test_kind */
	uint8_t where;		/* INTEGER, VECTOR, RETURN, ELAPSED; else by program */
	uint8_t bytes;		/* of it: 1, 2, 4, 8; of a TEXT 0 */
	uint8_t nr;		/* of the register */
	uint8_t flags;		/* enum ftr_test_flag */
	uint16_t on_true, on_false;
	uint16_t text_bytes;	/* of a TEXT's literal */
	uint32_t program;	/* index of its first op; of at most FTR_TEST_OPS_MAX */
	int64_t literal;	/* of an UNSIGNED not below 0, of a TEXT where its bytes begin */
};
static_assert(sizeof(struct ftr_value_test) == 24, "wire layout");

/* A number that is less than another if the float with these @bits is: any but NaNs. */
static inline int64_t ftr_value_float_order(int64_t bits)
{
	return bits < 0 ? -(bits & INT64_MAX) : bits;
}

#define FTR_TEST_TRUE  0xffffu
#define FTR_TEST_FALSE 0xfffeu
#define FTR_TESTS_MAX  0xfffeu
#define FTR_TESTS_JUDGED 64u		/* of a condition that is asked when the call ends */
#define FTR_TEST_OPS_MAX 4u		/* of a program: words, and a text at the end */
#define FTR_TEST_VALUE_MAX 136u		/* bytes that such a program makes */
#define FTR_TEST_TEXT_MAX 256u		/* of a literal: longer ones are for readers */

/* Longer strings end in three dots, as uftrace writes them. */
#define FTR_VALUE_STRING_MAX 98u
#define FTR_VALUE_ALIGN 4u
#define FTR_VALUE_NEAR_MAX 64u
#define FTR_VALUE_COUNT_BYTES 4u	/* in front of a block */
#define FTR_VALUE_ENDED 0x80000000u	/* in them */

#endif /* FTR_PROTO_VALUES_H */
