/* Pages of the guide about what may limit a run. */
#include "guide.h"

#include <stdio.h>
#include <string.h>

/* The order of diagnosis, in words; limits say their number. TensorFlow's guide to GPU performance
 * gives the same order for the first steps (read 2026-11-20). */
static const char *const diagnosis[] = {
	"outside the steps: start-up, evaluation, checkpoints",
	"input, on each rank: while one rank waits for data, the others' waits for it are not the "
	"network's",
	"the host of one device: waits for it, launches, gaps; before any kernel is looked at",
	"kernels of one device: mathematics, memory bandwidth, too little work, precision",
	"memory capacity: what does not fit; it only opens the way to other changes",
	"communication: ranks that come late, then latency, then bandwidth, then overlap",
	"the number of iterations: only when the hardware is busy with useful work",
};

static const char *step_of(unsigned order)
{
	size_t n = sizeof(diagnosis) / sizeof(diagnosis[0]);
	return order >= 1 && order <= n ? diagnosis[order - 1] : "";
}

static void add_rules(struct tp_sheet *sheet, const struct tp_rulebook *book,
		      const struct tp_limit *limit)
{
	size_t n = 0;
	for (size_t i = 0; i < tp_rulebook_count(book); i++) {
		struct tp_rule_digest rule = tp_rulebook_digest(book, i);
		for (size_t k = 0; k < rule.n_limits; k++) {
			if (strcmp(rule.limits[k], limit->id) != 0)
				continue;
			char link[128];
			snprintf(link, sizeof(link), "../../rules/bottlenecks/%s.json", rule.id);
			tp_sheet_item(sheet, "found by", rule.id, link, rule.title);
			n++;
		}
	}
	if (!n)
		tp_sheet_field(sheet, "found by", "no rule; the proof tells it");
}

static void add_techniques(struct tp_sheet *sheet, const struct tp_rulebook *book,
			   const struct tp_limit *limit)
{
	const struct tp_catalogue *catalogue = tp_rulebook_catalogue(book);
	for (size_t i = 0; i < catalogue->n_techniques; i++) {
		const struct tp_technique *technique = &catalogue->techniques[i];
		if (tp_technique_relieves(technique, limit))
			tp_sheet_item(sheet, "relief", technique->id, NULL, technique->title);
	}
}

void tp_guide_fill_limit(struct tp_sheet *sheet, const struct tp_rulebook *book,
			 const struct tp_limit *limit)
{
	tp_sheet_fieldf(sheet, "order", "%u, %s", limit->order, step_of(limit->order));
	if (limit->parent)
		tp_sheet_item(sheet, "part of", limit->parent->id, NULL, limit->parent->title);
	tp_sheet_field(sheet, "signals", limit->signals);
	tp_sheet_field(sheet, "proof", limit->proof);
	for (size_t i = 0; i < limit->n_look_alikes; i++)
		tp_sheet_field(sheet, "resembles", limit->look_alikes[i]);
	add_rules(sheet, book, limit);
	add_techniques(sheet, book, limit);
}

static void add_order(struct tp_sheet *sheet)
{
	tp_sheet_paragraphs(sheet,
			    "The first of these that is large comes first. Relieving one shows "
			    "the next, so measure again after each change.");
	for (unsigned i = 0; i < sizeof(diagnosis) / sizeof(diagnosis[0]); i++)
		tp_sheet_fieldf(sheet, i ? "then" : "first", "%u, %s", i + 1, diagnosis[i]);
}

void tp_guide_fill_bottlenecks(struct tp_sheet *sheet, const struct tp_rulebook *book)
{
	const struct tp_catalogue *catalogue = tp_rulebook_catalogue(book);
	add_order(sheet);
	if (!catalogue->n_limits)
		tp_sheet_paragraphs(sheet, "No folder of rules holds a limits.json.");
	for (size_t i = 0; i < catalogue->n_limits; i++) {
		const struct tp_limit *limit = &catalogue->limits[i];
		char *heading = tp_arena_printf(&sheet->arena, "%s  %s", limit->id, limit->title);
		tp_sheet_heading(sheet, heading);
		tp_guide_fill_limit(sheet, book, limit);
	}
}
