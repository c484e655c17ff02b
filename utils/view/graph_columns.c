/* SPDX-License-Identifier: MIT */
/* The columns of a call tree: their values, and how -f and -s name them. */
#include "utils/view/graph_columns.h"

#include "utils/analysis/graph.h"
#include "utils/analysis/weight.h"
#include "utils/base/bits.h"
#include "utils/base/ostream.h"
#include "utils/base/text.h"
#include "utils/view/fields.h"
#include "utils/view/graph.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define ADDR_WIDTH 12

enum {
	COLUMN_TOTAL, COLUMN_SELF, COLUMN_ADDR,
	COLUMN_TOTAL_AVG, COLUMN_TOTAL_MAX, COLUMN_TOTAL_MIN,
	COLUMN_SELF_AVG, COLUMN_SELF_MAX, COLUMN_SELF_MIN,
	COLUMNS,
	KEY_CALLS = COLUMNS, KEY_FUNC	/* what one can sort by besides the times */
};

static const struct ftr_field_name names[COLUMNS + 1] = {
	[COLUMN_TOTAL]	   = { "total" },
	[COLUMN_SELF]	   = { "self" },
	[COLUMN_ADDR]	   = { "addr" },
	[COLUMN_TOTAL_AVG] = { "total-avg" },
	[COLUMN_TOTAL_MAX] = { "total-max" },
	[COLUMN_TOTAL_MIN] = { "total-min" },
	[COLUMN_SELF_AVG]  = { "self-avg" },
	[COLUMN_SELF_MAX]  = { "self-max" },
	[COLUMN_SELF_MIN]  = { "self-min" },
};

static const char *const heads[COLUMNS] = {
	[COLUMN_TOTAL]	   = "TOTAL TIME",
	[COLUMN_SELF]	   = " SELF TIME",
	[COLUMN_ADDR]	   = "   ADDRESS  ",
	[COLUMN_TOTAL_AVG] = " TOTAL AVG",
	[COLUMN_TOTAL_MAX] = " TOTAL MAX",
	[COLUMN_TOTAL_MIN] = " TOTAL MIN",
	[COLUMN_SELF_AVG]  = "  SELF AVG",
	[COLUMN_SELF_MAX]  = "  SELF MAX",
	[COLUMN_SELF_MIN]  = "  SELF MIN",
};

#define DETAILS (~(FTR_BIT64(COLUMN_TOTAL) | FTR_BIT64(COLUMN_SELF) | FTR_BIT64(COLUMN_ADDR) | \
		   FTR_BIT64(COLUMN_TOTAL_AVG) | FTR_BIT64(COLUMN_SELF_AVG)))

/* What a tree by weight has, too. */
#define OF_WEIGHT (FTR_BIT64(COLUMN_TOTAL) | FTR_BIT64(COLUMN_SELF) | FTR_BIT64(COLUMN_ADDR))

static_assert(KEY_FUNC + 1 == GRAPH_SORT_KEYS_MAX, "each key may stand in a struct graph_sort");

static uint64_t average(uint64_t sum_ns, uint64_t calls)
{
	return calls == 0 ? 0 : sum_ns / calls;
}

static uint64_t least(const struct ftr_graph_span *span)
{
	return span->min_ns > span->max_ns ? 0 : span->min_ns;
}

static uint64_t time_of(const struct ftr_graph_node *node, int column)
{
	switch (column) {
	case COLUMN_TOTAL:
		return node->total_ns;
	case COLUMN_SELF:
		return node->self_ns;
	case COLUMN_TOTAL_AVG:
		return average(node->total_ns, node->calls);
	case COLUMN_TOTAL_MAX:
		return node->total_span.max_ns;
	case COLUMN_TOTAL_MIN:
		return least(&node->total_span);
	case COLUMN_SELF_AVG:
		return average(node->self_ns, node->calls);
	case COLUMN_SELF_MAX:
		return node->self_span.max_ns;
	default:
		return least(&node->self_span);
	}
}

static int compare_by(int key, const struct ftr_graph_node *x, const struct ftr_graph_node *y)
{
	uint64_t of_x, of_y;

	if (key == KEY_FUNC)
		return strcmp(x->name, y->name);
	of_x = key == KEY_CALLS ? x->calls : time_of(x, key);
	of_y = key == KEY_CALLS ? y->calls : time_of(y, key);
	return of_x > of_y ? -1 : of_x < of_y;
}

static int compare_nodes(const struct ftr_graph_node *x, const struct ftr_graph_node *y,
			 const void *arg)
{
	const struct graph_sort *sort = arg;
	int order = 0;

	for (unsigned i = 0; order == 0 && i < sort->nr; i++)
		order = compare_by(sort->keys[i], x, y);
	return order;
}

int graph_columns_sort(struct ftr_graph *graph, const struct graph_sort *sort)
{
	struct ftr_graph_order order = { compare_nodes, sort };

	return sort->nr == 0 ? 0 : ftr_graph_sort(graph, &order);
}

static void put_addr(struct ftr_ostream *out, uint64_t addr)
{
	if (addr == 0)
		ftr_ostream_pad(out, ' ', ADDR_WIDTH);
	else
		ftr_ostream_printf(out, "%*llx", ADDR_WIDTH, (unsigned long long)addr);
}

void graph_columns_put(struct ftr_ostream *out, uint64_t mask, const struct ftr_weight *weight,
		       const struct ftr_graph_node *node, bool use_color)
{
	for (int i = 0; i < COLUMNS; i++) {
		if (!(mask & FTR_BIT64(i)))
			continue;
		ftr_ostream_puts(out, "  ");
		if (i == COLUMN_ADDR)
			put_addr(out, node == NULL ? 0 : node->addr);
		else
			ftr_weight_write(out, weight, node == NULL ? 0 : time_of(node, i),
					 use_color);
	}
	if (mask != 0)
		ftr_ostream_puts(out, " : ");
}

static const char *head_of(int column, const struct ftr_weight *weight)
{
	if (weight == NULL || weight->unit == NULL || column > COLUMN_SELF)
		return heads[column];
	return column == COLUMN_TOTAL ? "     TOTAL" : "      SELF";
}

void graph_columns_put_heads(struct ftr_ostream *out, uint64_t mask,
			     const struct ftr_weight *weight)
{
	const char *separator = "";

	for (int i = 0; i < COLUMNS; i++) {
		if (!(mask & FTR_BIT64(i)))
			continue;
		ftr_ostream_puts(out, separator);
		ftr_ostream_puts(out, head_of(i, weight));
		separator = "  ";
	}
}

int graph_columns_parse(const char *fields, uint64_t *mask, struct ftr_err *err)
{
	*mask = FTR_BIT64(COLUMN_TOTAL);
	return ftr_fields_parse(names, fields, mask, err);
}

uint64_t graph_columns_of_weight(uint64_t mask)
{
	return mask & OF_WEIGHT;
}

static int find_key(struct ftr_slice word)
{
	if (ftr_slice_eq(word, "call"))
		return KEY_CALLS;
	if (ftr_slice_eq(word, "func"))
		return KEY_FUNC;
	for (int i = 0; i < COLUMNS; i++)
		if (i != COLUMN_ADDR && ftr_slice_eq(word, names[i].name))
			return i;
	return -1;
}

int graph_columns_parse_sort(const char *text, struct graph_sort *sort, struct ftr_err *err)
{
	struct ftr_slice rest, word;

	sort->nr = 0;
	if (text == NULL)
		return 0;
	rest = ftr_slice_make(text, strlen(text));
	while (ftr_slice_split(&rest, ',', &word)) {
		int key = find_key(word);

		if (key < 0)
			return ftr_err_set(err, EINVAL,
					   "unknown sort key \"%.*s\"; the keys are: func call total "
					   "self total-avg total-max total-min self-avg self-max "
					   "self-min", (int)word.len, word.s);
		if (sort->nr < GRAPH_SORT_KEYS_MAX)
			sort->keys[sort->nr++] = key;
	}
	return 0;
}

int ftr_graph_check_fields(const struct ftr_graph_opts *opts, bool *has_details,
			   struct ftr_err *err)
{
	bool is_all = opts->fields != NULL && strstr(opts->fields, "all") != NULL;
	struct graph_sort sort;
	uint64_t mask;
	int ret = graph_columns_parse(opts->fields, &mask, err);

	if (ret == 0)
		ret = graph_columns_parse_sort(opts->sort, &sort, err);
	for (unsigned i = 0; ret == 0 && i < sort.nr; i++)
		if (sort.keys[i] < COLUMNS)
			mask |= FTR_BIT64(sort.keys[i]);
	*has_details = (mask & DETAILS) != 0;
	if (ret == 0 && opts->weight != NULL && (mask & ~OF_WEIGHT) != 0 && !is_all)
		return ftr_err_set(err, EINVAL, "--by=%s has the fields total, self and addr alone",
				   ftr_weight_words[opts->weight->by]);
	return ret;
}
