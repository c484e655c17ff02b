/* SPDX-License-Identifier: MIT */
/*
 * A flame graph as a picture (SVG 1.1): callers below, callees on them, as wide as their time, or
 * what they weigh.  It has no script, so that whatever shows pictures shows it; a tooltip of each
 * call stack has its numbers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/ostream.h"
#include "utils/base/text.h"
#include "utils/export/call_tree.h"
#include "utils/trace/format.h"

#define ROW_PX	     18u
#define MARGIN_PX    10u
#define HEAD_PX	     44u	/* title and note */
#define CHAR_PX	     7.3	/* of a monospaced font of 12 px; the text is clipped by it */
#define TEXT_CHARS   3u		/* narrower ones would say nothing */
#define NARROWEST_PX 0.1
#define LEVELS_MAX   250u	/* drawn: browsers refuse pictures that are much higher */

struct svg_values {
	uint64_t width_px;
	int by;			/* enum ftr_weight_by */
};

static const struct svg_values svg_defaults = { .width_px = 1200 };

static const struct ftr_option svg_options[] = {
	FTR_OPTION("svg-width", 0, "PIXELS", "Width of the picture (default: 1200)", ftr_opt_u64,
		   struct svg_values, width_px, .min = 100, .max = 100000),
	FTR_CALL_TREE_BY(struct svg_values, by),
	{ 0 }
};

/* A node's place.  Its width is its own time and its callees' widths, so that they always fit. */
struct place {
	uint64_t ns;		/* width */
	uint64_t left_ns;
	uint64_t used_ns;	/* of the width, by callees that have their places */
	uint32_t level;
};

struct picture {
	struct ftr_ostream *out;
	const struct ftr_graph *graph;
	struct place *places;	/* (owned) by node */
	uint64_t total_ns;
	double px_per_ns;
	double width_px;
	unsigned levels;	/* drawn */
	size_t left_out;	/* nodes that are too narrow or too high */
};

static void place_all(struct picture *picture)
{
	const struct ftr_graph *graph = picture->graph;
	struct place *places = picture->places;

	for (size_t i = graph->nodes.nr; i-- > 0;) {
		const struct ftr_graph_node *node = &graph->nodes.v[i];

		places[i].ns += node->self_ns;
		if (node->parent != FTR_GRAPH_NONE)
			places[node->parent].ns += places[i].ns;
	}
	for (size_t i = 0; i < graph->roots.nr; i++) {
		places[graph->roots.v[i].node].left_ns = picture->total_ns;
		picture->total_ns += places[graph->roots.v[i].node].ns;
	}
	for (size_t i = 0; i < graph->nodes.nr; i++) {
		const struct ftr_graph_node *node = &graph->nodes.v[i];

		/* Siblings in their order, which is not that of their indices. */
		for (uint32_t child = node->first_child; child != FTR_GRAPH_NONE;
		     child = graph->nodes.v[child].next) {
			places[child].left_ns = places[i].left_ns + places[i].used_ns;
			places[child].level = places[i].level + 1;
			places[i].used_ns += places[child].ns;
		}
	}
}

static bool is_drawn(const struct picture *picture, const struct place *place)
{
	return place->level < LEVELS_MAX && (double)place->ns * picture->px_per_ns >= NARROWEST_PX;
}

static void measure(struct picture *picture)
{
	picture->px_per_ns = picture->total_ns == 0 ? 0 :
			     picture->width_px / (double)picture->total_ns;
	for (size_t i = 0; i < picture->graph->nodes.nr; i++) {
		const struct place *place = &picture->places[i];

		if (!is_drawn(picture, place))
			picture->left_out++;
		else if (place->level >= picture->levels)
			picture->levels = place->level + 1;
	}
}

/* At most @chars characters of a name; what XML cannot hold is a question mark. */
static void put_text(struct ftr_ostream *out, const char *name, size_t chars)
{
	size_t len = strlen(name);

	for (; len > 0 && chars > 0; chars--) {
		size_t bytes = ftr_utf8_char(name, len);

		if (bytes == 0 || (unsigned char)*name < ' ')
			ftr_ostream_putc(out, '?');
		else if (*name == '<')
			ftr_ostream_puts(out, "&lt;");
		else if (*name == '>')
			ftr_ostream_puts(out, "&gt;");
		else if (*name == '&')
			ftr_ostream_puts(out, "&amp;");
		else
			ftr_ostream_write(out, name, bytes);
		bytes = bytes == 0 ? 1 : bytes;
		name += bytes;
		len -= bytes;
	}
}

static size_t count_chars(const char *name)
{
	size_t len = strlen(name), nr = 0;

	for (size_t bytes; len > 0; nr++, name += bytes, len -= bytes) {
		bytes = ftr_utf8_char(name, len);
		bytes = bytes == 0 ? 1 : bytes;
	}
	return nr;
}

static void put_value(const struct picture *picture, uint64_t value)
{
	char text[FTR_WEIGHT_TEXT_MAX];

	ftr_weight_text(text, picture->graph->weight, value);
	ftr_ostream_puts(picture->out, text);
}

/* Warm colours by name, so that a function has its own in every picture; not running is blue. */
static void put_fill(struct ftr_ostream *out, const struct ftr_graph_node *node)
{
	unsigned hash = 0;

	if (node->name_id >= FTR_GRAPH_WAITS && node->parent != FTR_GRAPH_NONE) {
		ftr_ostream_puts(out, "#9fb8d8");
		return;
	}
	for (const char *p = node->name; *p != '\0'; p++)
		hash = hash * 31u + (unsigned char)*p;
	ftr_ostream_printf(out, "hsl(%u,%u%%,%u%%)", 12 + hash % 43, 70 + hash / 43 % 20,
			   62 + hash / 860 % 12);
}

static void put_tooltip(struct picture *picture, const struct ftr_graph_node *node,
			const struct place *place)
{
	struct ftr_ostream *out = picture->out;

	ftr_ostream_puts(out, "<title>");
	put_text(out, node->name, SIZE_MAX);
	ftr_ostream_puts(out, ": ");
	put_value(picture, place->ns);
	ftr_ostream_printf(out, " (%.2f%%), self ",
			   100 * (double)place->ns / (double)picture->total_ns);
	put_value(picture, node->self_ns);
	if (node->parent != FTR_GRAPH_NONE)
		ftr_ostream_printf(out, ", %llu %s%s", (unsigned long long)node->calls,
				   picture->graph->weight != NULL ? picture->graph->weight->each :
								    "call",
				   node->calls == 1 ? "" : "s");
	ftr_ostream_puts(out, "</title>");
}

static void put_node(struct picture *picture, size_t i)
{
	const struct ftr_graph_node *node = &picture->graph->nodes.v[i];
	const struct place *place = &picture->places[i];
	double x = MARGIN_PX + (double)place->left_ns * picture->px_per_ns;
	double width = (double)place->ns * picture->px_per_ns;
	unsigned y = HEAD_PX + (picture->levels - 1 - place->level) * ROW_PX;
	size_t room = width / CHAR_PX < 1 ? 0 : (size_t)((width - 6) / CHAR_PX);
	size_t chars = count_chars(node->name);
	struct ftr_ostream *out = picture->out;

	ftr_ostream_puts(out, "<g>");
	put_tooltip(picture, node, place);
	ftr_ostream_printf(out, "<rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%u\" fill=\"", x,
			   y, width < 0.5 ? width : width - 0.3, ROW_PX - 1);
	put_fill(out, node);
	ftr_ostream_puts(out, "\"/>");
	if (room >= TEXT_CHARS) {
		ftr_ostream_printf(out, "<text x=\"%.1f\" y=\"%u\">", x + 3, y + ROW_PX - 5);
		put_text(out, node->name, chars <= room ? chars : room - 1);
		ftr_ostream_puts(out, chars <= room ? "</text>" : "\u2026</text>");
	}
	ftr_ostream_puts(out, "</g>\n");
}

static void put_head(struct picture *picture, const struct ftr_trace *trace)
{
	unsigned width = (unsigned)picture->width_px + 2 * MARGIN_PX;
	unsigned height = HEAD_PX + picture->levels * ROW_PX + MARGIN_PX;
	const char *title = trace->info.cmdline != NULL ? trace->info.cmdline : trace->path;
	struct ftr_ostream *out = picture->out;

	ftr_ostream_printf(out,
			   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
			   "viewBox=\"0 0 %u %u\" font-family=\"ui-monospace, Menlo, Consolas, "
			   "monospace\" font-size=\"12\">\n",
			   width, height, width, height);
	ftr_ostream_puts(out, "<style>"
			      "text{fill:#111}.back{fill:#fff}.head{fill:#111}.note{fill:#667}"
			      "g:hover rect{stroke:#000}"
			      "@media (prefers-color-scheme: dark){"
			      ".back{fill:#15171a}.head{fill:#e6e6e6}.note{fill:#9aa}"
			      "g:hover rect{stroke:#fff}}"
			      "</style>\n");
	ftr_ostream_printf(out, "<rect class=\"back\" width=\"%u\" height=\"%u\"/>\n", width,
			   height);
	ftr_ostream_printf(out, "<text class=\"head\" x=\"%u\" y=\"18\">", MARGIN_PX);
	put_text(out, title, (size_t)(picture->width_px / CHAR_PX));
	ftr_ostream_printf(out, "</text>\n<text class=\"note\" x=\"%u\" y=\"35\">", MARGIN_PX);
	put_value(picture, picture->total_ns);
	if (picture->graph->weight != NULL)
		ftr_ostream_printf(out, ": %s", picture->graph->weight->title);
	ftr_ostream_puts(out, " in all tasks");
	if (picture->left_out > 0)
		ftr_ostream_printf(out, "; %zu call stacks narrower than 0.1 px or deeper than %u "
					"calls are not drawn", picture->left_out, LEVELS_MAX);
	ftr_ostream_puts(out, "</text>\n");
}

static const struct svg_values *values_of(const struct ftr_sink *sink)
{
	return sink->values != NULL ? sink->values : &svg_defaults;
}

static int svg_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	return ftr_call_tree_begin_by(sink, trace, (enum ftr_weight_by)values_of(sink)->by);
}

static int svg_end(struct ftr_sink *sink)
{
	struct picture picture = {
		.out = sink->out,
		.graph = ftr_call_tree_finish(sink),
		.width_px = (double)values_of(sink)->width_px,
	};

	if (picture.graph == NULL)
		return -ENODATA;
	picture.places = calloc(picture.graph->nodes.nr + 1, sizeof(*picture.places));
	if (picture.places == NULL)
		return ftr_err_set(sink->err, ENOMEM, "svg: out of memory");
	place_all(&picture);
	measure(&picture);
	put_head(&picture, ftr_call_tree_trace(sink));
	for (size_t i = 0; i < picture.graph->nodes.nr; i++)
		if (is_drawn(&picture, &picture.places[i]))
			put_node(&picture, i);
	ftr_ostream_puts(sink->out, "</svg>\n");
	free(picture.places);
	return 0;
}

static const struct ftr_sink_ops svg_ops = FTR_CALL_TREE_OPS_BY(svg_begin, svg_end);

const struct ftr_format ftr_format_svg = {
	.name	      = "svg",
	.summary      = "a flame graph as a picture",
	.suffix	      = ".svg",
	.kind	      = FTR_FORMAT_FILE,
	.write	      = &svg_ops,
	.options      = svg_options,
	.values_bytes = sizeof(struct svg_values),
	.defaults     = &svg_defaults,
};
