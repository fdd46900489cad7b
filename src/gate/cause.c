/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the likely causes of a slowdown in the differences between two groups of runs. */
#include "cause.h"

#include "place_match.h"

#include "trainprof/base/text.h"
#include "trainprof/model/gate_thresholds.h"

#include <math.h>
#include <string.h>

struct lister {
	const char **out;
	size_t n;
	size_t max;
	const struct tp_run_diff *diff;
	struct tp_arena *arena;
};

static void add(struct lister *l, const char *text)
{
	if (l->n < l->max)
		l->out[l->n++] = text;
}

/* The time by which both sides differ, always above 0: parts of a run that is not slower may have
 * grown, too. */
static double growth_of(const struct lister *l)
{
	double change = l->diff->step.is_known ? l->diff->step.difference : 0;
	return change > 0 ? change : TP_GATE_GROWTH_MIN * l->diff->step.base;
}

/* Adds the part that grew by most, if chance does not explain it. */
static void add_part(struct lister *l)
{
	const struct tp_change *most = NULL;
	enum tp_part part = TP_N_PARTS;
	for (int i = 0; i < TP_N_PARTS; i++) {
		const struct tp_change *change = &l->diff->parts[i];
		if (!change->is_known || !change->is_sure ||
		    (most && change->difference <= most->difference))
			continue;
		most = change;
		part = (enum tp_part)i;
	}
	if (most && most->difference > 0 && most->difference >= TP_GATE_CAUSE_MIN * growth_of(l))
		add(l, tp_arena_printf(l->arena, "%s: %+.3g ms%s", tp_part_title(part),
				       most->difference / 1e6, tp_run_diff_per_step(l->diff)));
}

static void add_settings(struct lister *l)
{
	for (size_t i = 0; i < l->diff->n_items; i++) {
		const struct tp_diff_item *item = &l->diff->items[i];
		if (item->kind == TP_ITEM_SETTING && item->base && item->now)
			add(l, tp_arena_printf(l->arena, "%s: %s -> %s", item->name, item->base,
					       item->now));
	}
}

static const char *place_of(const struct lister *l, const char *rule)
{
	const struct tp_run_values *run = l->diff->now[0];
	for (size_t i = 0; i < run->n_findings; i++)
		if (strcmp(run->findings[i].rule, rule) == 0)
			return run->findings[i].because;
	return NULL;
}

/* Adds new advice; that of causes in the code comes first in a report already. */
static void add_advice(struct lister *l)
{
	for (size_t i = 0; i < l->diff->n_items; i++) {
		const struct tp_diff_item *item = &l->diff->items[i];
		if (item->kind != TP_ITEM_FINDING || !item->now)
			continue;
		const char *because = place_of(l, item->name);
		add(l, tp_arena_printf(l->arena, "new: %s: %s", item->name,
				       because ? because : item->now));
	}
}

/* Returns the place whose time grew by most, and by more than *grown, which is set to its growth;
 * NULL if there is none. */
static const struct tp_value_place *largest_growth(const struct lister *l,
						   const struct tp_value_places *base,
						   const struct tp_value_places *now, bool is_own,
						   double *grown)
{
	const struct tp_value_place *place = NULL;
	const size_t *same = tp_place_match(base, now, l->arena);
	for (size_t i = 0; i < now->n; i++) {
		double before = same[i] < base->n ? base->items[same[i]].per_step_ns : 0;
		double grew = now->items[i].per_step_ns - before;
		if (now->items[i].is_own != is_own || grew <= *grown)
			continue;
		*grown = grew;
		place = &now->items[i];
	}
	return place;
}

/* Training that waits longer for batches does so at a line that says nothing about the cause, so
 * the line in which making them takes more CPU time follows. */
static void add_loader_line(struct lister *l, const struct tp_value_place *waits)
{
	double grown = TP_GATE_CAUSE_MIN * growth_of(l);
	if (!l->diff->base[0]->loader_lines.items)
		return;
	const struct tp_value_place *line =
		largest_growth(l, &l->diff->base[0]->loader_lines, &l->diff->now[0]->loader_lines,
			       true, &grown);
	/* Without workers the line that waits is the one that makes them. */
	if (line && strcmp(line->text, waits->text) != 0)
		add(l, tp_arena_printf(l->arena, "in loaders most at %s: %+.3g ms of CPU time%s",
				       line->text, grown / 1e6, tp_run_diff_per_step(l->diff)));
}

/* A line of the loop contains its calls, so a line inside of these says more, if it explains
 * TP_GATE_CAUSE_MIN of what the line of the loop grew by. */
static void add_places(struct lister *l)
{
	const struct tp_value_places *base = &l->diff->base[0]->places;
	const struct tp_value_places *now = &l->diff->now[0]->places;
	double least = TP_GATE_CAUSE_MIN * growth_of(l);
	double grown = least;
	if (!base->n)
		return;
	const struct tp_value_place *place = largest_growth(l, base, now, false, &grown);
	double own = place ? fmax(least, TP_GATE_CAUSE_MIN * grown) : least;
	const struct tp_value_place *inside = largest_growth(l, base, now, true, &own);
	if (inside) {
		place = inside;
		grown = own;
	}
	if (!place)
		return;
	add(l, tp_arena_printf(l->arena, "most at %s: %+.3g ms%s", place->text, grown / 1e6,
			       tp_run_diff_per_step(l->diff)));
	if (place->part && strcmp(place->part, tp_part_name(TP_PART_DATALOADER)) == 0)
		add_loader_line(l, place);
}

/* NULL if they are the same or unknown. */
static const char *commits_of(const struct tp_run_diff *diff, struct tp_arena *arena)
{
	const char *before = diff->base[0]->commit;
	const char *after = diff->now[0]->commit;
	return before && after && strcmp(before, after) != 0
		       ? tp_arena_printf(arena, "commits: %.12s..%.12s", before, after)
		       : NULL;
}

size_t tp_cause_list(const char *out[TP_BUDGET_CAUSES_MAX], const struct tp_run_diff *diff,
		     struct tp_arena *arena)
{
	/* The commits stand last, however many other causes there are. */
	const char *commits = commits_of(diff, arena);
	struct lister l = {.out = out,
			   .max = TP_BUDGET_CAUSES_MAX - (commits ? 1 : 0),
			   .diff = diff,
			   .arena = arena};
	add_part(&l);
	add_places(&l);
	add_settings(&l);
	add_advice(&l);
	if (commits)
		out[l.n++] = commits;
	return l.n;
}

size_t tp_cause_of_run(const char *out[TP_BUDGET_CAUSES_MAX], const struct tp_run_values *run,
		       struct tp_arena *arena)
{
	for (size_t i = 0; i < run->n_findings; i++) {
		const struct tp_value_finding *f = &run->findings[i];
		if (!f->is_advice || !f->because)
			continue;
		out[0] = tp_arena_printf(arena, "%s: %s", f->rule, f->because);
		return 1;
	}
	return 0;
}
