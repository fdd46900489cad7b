/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks as an icicle: callers are above their callees, width is time. Frames are buttons, so that
 * a keyboard and a screen reader reach them; the script only narrows the view. */
#include "html.h"

#include "report/export/stack_names.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <stdlib.h>

enum { MAX_FRAMES = 1500, MAX_DEPTH = 60, MAX_NAME = 240, MAX_SHOWN = 90, NO_NODE = 0 };

/* A frame with a smaller share of the total is no wider than a line. */
static const double min_share = 0.001;

struct flame_node {
	uint32_t name;
	uint32_t first; /* child; NO_NODE */
	uint32_t next;  /* sibling */
	uint64_t time_ns;
	uint8_t class; /* part, or the state of a thread without a part */
};

struct flame {
	struct tp_export_names names;
	struct tp_map index;      /* (parent, name) -> node */
	struct flame_node *nodes; /* heap; 0 is the root */
	size_t n;
	size_t capacity;
	size_t n_written;
};

static uint32_t child_of(struct flame *flame, uint32_t parent, uint32_t name, uint8_t class)
{
	uint64_t at;
	uint64_t key = (uint64_t)parent << 32 | name;
	if (tp_map_get(&flame->index, key, &at))
		return (uint32_t)at;
	uint32_t id = (uint32_t)flame->n;
	tp_map_set(&flame->index, key, id);
	TP_ARRAY_PUSH(flame->nodes, flame->n, flame->capacity) =
		(struct flame_node){.name = name,
				    .next = flame->nodes[parent].first,
				    .class = class};
	flame->nodes[parent].first = id;
	return id;
}

static void add_weight(struct flame *flame, const struct tp_export_weight *weight)
{
	uint8_t class = weight->part != TP_N_PARTS ? (uint8_t)weight->part
						   : (uint8_t)(TP_N_PARTS + weight->state);
	uint32_t node = 0;
	tp_export_names_of(&flame->names, weight);
	flame->nodes[0].time_ns += weight->time_ns;
	for (size_t i = 0; i < flame->names.n && i < MAX_DEPTH; i++) {
		bool is_above = i + 1 < flame->names.n_around || weight->part == TP_N_PARTS;
		node = child_of(flame, node, flame->names.ids[i],
				i < 2 && is_above ? UINT8_MAX : class);
		flame->nodes[node].time_ns += weight->time_ns;
	}
}

/* Sorts by time, the largest first: insertion into a list, because there are few children. */
static uint32_t sort_children(const struct flame *flame, uint32_t first)
{
	uint32_t sorted = NO_NODE;
	while (first != NO_NODE) {
		uint32_t next = flame->nodes[first].next;
		uint32_t *at = &sorted;
		while (*at != NO_NODE && flame->nodes[*at].time_ns >= flame->nodes[first].time_ns)
			at = &flame->nodes[*at].next;
		flame->nodes[first].next = *at;
		*at = first;
		first = next;
	}
	return sorted;
}

static void write_frame(struct tp_buf *out, const struct flame *flame,
			const struct flame_node *node, double left, unsigned depth)
{
	double total = (double)flame->nodes[0].time_ns;
	const char *name = tp_export_names_text(&flame->names, node->name);
	char class[16] = "";
	if (node->class != UINT8_MAX)
		snprintf(class, sizeof(class), " p%u", node->class);
	tp_buf_printf(out,
		      "<button type=\"button\" class=\"f%s\" style=\"left:%.3f%%;width:%.3f%%;"
		      "top:%uem\" title=\"",
		      class, left * 100 / total, (double)node->time_ns * 100 / total, depth * 2);
	tp_html_add_short(out, name, MAX_NAME);
	tp_buf_printf(out, ", %s, %s\">", tp_unit_time((double)node->time_ns).text,
		      tp_unit_percent((double)node->time_ns / total).text);
	tp_html_add_short(out, name, MAX_SHOWN);
	tp_buf_puts(out, "</button>\n");
}

static void write_children(struct tp_buf *out, struct flame *flame, uint32_t parent, double left,
			   unsigned depth, unsigned *deepest)
{
	uint32_t id = sort_children(flame, flame->nodes[parent].first);
	*deepest = depth > *deepest ? depth : *deepest;
	for (; id != NO_NODE; id = flame->nodes[id].next) {
		const struct flame_node *node = &flame->nodes[id];
		if ((double)node->time_ns < min_share * (double)flame->nodes[0].time_ns ||
		    flame->n_written >= MAX_FRAMES)
			return;
		write_frame(out, flame, node, left, depth);
		flame->n_written++;
		/* NOLINTNEXTLINE(misc-no-recursion): at most MAX_DEPTH deep */
		write_children(out, flame, id, left, depth + 1, deepest);
		left += (double)node->time_ns;
	}
}

static void add_controls(struct tp_buf *out)
{
	tp_buf_puts(out, "<p class=\"controls\"><label>Search <input id=\"search\" type=\"search\" "
			 "autocomplete=\"off\"></label> <label>Part <select id=\"part\">"
			 "<option value=\"\">all</option>");
	for (int part = 0; part < TP_N_PARTS; part++)
		tp_buf_printf(out, "<option value=\"p%d\">%s</option>", part,
			      tp_part_name((enum tp_part)part));
	tp_buf_puts(out, "</select></label> <button type=\"button\" id=\"reset\">Reset</button> "
			 "<output id=\"found\"></output></p>\n");
}

static void build(struct flame *flame, const struct tp_profile *profile)
{
	struct tp_export_weights weights;
	tp_export_names_init(&flame->names, profile);
	tp_export_weights_build(&weights, profile, false);
	TP_ARRAY_PUSH(flame->nodes, flame->n, flame->capacity) = (struct flame_node){0};
	for (size_t i = 0; i < weights.n; i++)
		add_weight(flame, &weights.items[i]);
	tp_export_weights_release(&weights);
}

void tp_html_add_flame(struct tp_buf *out, const struct tp_report_digest *digest)
{
	struct flame flame = {0};
	struct tp_buf frames = {0};
	unsigned deepest = 0;
	build(&flame, digest->profile);
	if (flame.nodes[0].time_ns) {
		write_children(&frames, &flame, 0, 0, 0, &deepest);
		tp_html_begin_section(out, "stacks", "Stacks");
		tp_buf_puts(out,
			    "<p>Width is time; what calls is above what it calls. The thread that "
			    "trains is coloured by parts. Enter on a frame narrows the view to it, "
			    "Escape widens it, arrow keys move.</p>\n");
		add_controls(out);
		tp_buf_printf(out,
			      "<div id=\"flame\" role=\"group\" aria-label=\"Stacks by time\" "
			      "style=\"height:%uem\">\n%s</div>\n",
			      (deepest + 1) * 2, tp_buf_text(&frames));
		tp_buf_printf(out,
			      "<p>%zu of %zu frames; those below %.1f %% of the time are left "
			      "out.</p></section>\n",
			      flame.n_written, flame.n - 1, min_share * 100);
	}
	tp_buf_release(&frames);
	tp_export_names_release(&flame.names);
	tp_map_release(&flame.index);
	free(flame.nodes);
}
