/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the bounds of speed-ups. */
#include "gain.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <math.h>
#include <stdlib.h>

static double clamp(double value, double low, double high)
{
	return fmin(fmax(value, low), high);
}

/* Divides the wait for a CPU among the parts that use one, by their time. */
static void add_queued(struct tp_gain_input *basis, const struct tp_quantity *facts)
{
	static const enum tp_part working[] = {TP_PART_COMPUTE, TP_PART_HOST, TP_PART_MEMORY};
	const struct tp_quantity *runnable = &facts[TP_FACT_STEP_RUNNABLE];
	double all_ns = 0;
	for (size_t i = 0; i < TP_ARRAY_LEN(working); i++)
		all_ns += basis->parts[working[i]].exposed_ns;
	if (!runnable->is_known || !(all_ns > 0))
		return;
	double queued_ns = clamp(runnable->value, 0, 1) * basis->whole_ns;
	for (size_t i = 0; i < TP_ARRAY_LEN(working); i++) {
		struct tp_gain_part *part = &basis->parts[working[i]];
		part->queued_ns = queued_ns * part->exposed_ns / all_ns;
	}
}

struct tp_gain_input tp_gain_input_of_profile(const struct tp_profile *profile)
{
	struct tp_gain_input basis = {0};
	double total = (double)profile->total_ns;
	basis.whole_ns = profile->bracket_ns > 0                        ? profile->bracket_ns
			 : profile->is_of_steps && profile->step_time.n ? profile->step_time.mean
									: total;
	if (!(basis.whole_ns > 0) || !isfinite(basis.whole_ns))
		return (struct tp_gain_input){0};
	double n = total / basis.whole_ns; /* number of steps in the total; 1 for a window */
	for (int i = 0; i < TP_N_PARTS; i++) {
		const struct tp_part_result *from = &profile->parts[i];
		struct tp_gain_part *part = &basis.parts[i];
		part->exposed_ns = (double)from->time_ns / n;
		/* A bracket that was never computed is all zero, which is correct only if the part
		 * is everything. */
		part->is_known = isfinite(from->without_low_ns) &&
				 isfinite(from->without_high_ns) &&
				 (from->without_high_ns > 0 || from->time_ns == profile->total_ns);
		part->without_high_ns = clamp(from->without_high_ns, 0, basis.whole_ns);
		part->without_low_ns = clamp(from->without_low_ns, 0, part->without_high_ns);
		part->work_ns = clamp(from->work_ns, 0, basis.whole_ns);
	}
	add_queued(&basis, profile->facts);
	const struct tp_quantity *outside = &profile->facts[TP_FACT_RUN_OUTSIDE_RATIO];
	basis.outside_ratio = outside->is_known ? clamp(outside->value, 0, 1) : 0;
	return basis;
}

struct tp_gain_input tp_gain_input_of_facts(const struct tp_quantity *facts)
{
	struct tp_gain_input basis = {.whole_ns = 1e9};
	for (int i = 0; i < TP_N_PARTS; i++) {
		const struct tp_quantity *share = &facts[tp_part_facts[i]];
		double ns = share->is_known ? clamp(share->value, 0, 1) * basis.whole_ns : 0;
		basis.parts[i] = (struct tp_gain_part){.is_known = share->is_known,
						       .exposed_ns = ns,
						       .without_low_ns = basis.whole_ns - ns,
						       .without_high_ns = basis.whole_ns - ns};
	}
	add_queued(&basis, facts);
	const struct tp_quantity *outside = &facts[TP_FACT_RUN_OUTSIDE_RATIO];
	basis.outside_ratio = outside->is_known ? clamp(outside->value, 0, 1) : 0;
	return basis;
}

/* Computes speed-ups from the shortest and the longest time that may be left of `whole`. */
static void gain_bound(struct tp_gain *gain, double whole, double shortest, double longest,
		       double largest)
{
	shortest = clamp(shortest, whole / largest, whole);
	longest = clamp(longest, shortest, whole);
	gain->low = whole / longest;
	gain->high = whole / shortest;
	gain->value = sqrt(gain->low * gain->high);
	gain->is_known = true;
}

/* Extends the upper end by what the part's wait for a CPU may save. */
static void extend_by_queue(struct tp_gain *gain, double whole, double queued_ns, double largest)
{
	double shortest = whole / gain->high - gain->most * queued_ns;
	gain->high = whole / clamp(shortest, whole / largest, whole);
}

/* Keeps the value within the bounds. */
static void show_likely(struct tp_gain *gain, double whole, double likely)
{
	gain->value = clamp(whole / fmax(likely, whole / gain->high), gain->low, gain->high);
}

static double min_time_without(const struct tp_gain_part *part, double whole, double most)
{
	return fmax(part->without_low_ns, whole - most * part->exposed_ns);
}

struct tp_gain tp_gain_estimate(const struct tp_gain_input *basis, const struct tp_rule_gain *rule,
				const struct tp_quantity *facts, double largest)
{
	struct tp_gain gain = {.kind = rule->kind,
			       .part = rule->part,
			       .label = rule->label,
			       .is_floor = rule->is_floor};
	if (rule->kind == TP_GAIN_NONE || !(basis->whole_ns > 0))
		return gain;
	struct tp_number most = tp_expr_number(rule->fraction, facts);
	struct tp_number least = rule->at_least ? tp_expr_number(rule->at_least, facts) : most;
	/* Time that may be that of other calls of the line is not sure to disappear. */
	const struct tp_quantity *shared = &facts[TP_FACT_IDIOM_SHARED];
	if (shared->is_known)
		least.value *= 1 - shared->value;
	if (!most.is_known || !least.is_known)
		return gain;
	gain.most = clamp(most.value, 0, 1);
	gain.least = clamp(least.value, 0, gain.most);
	double whole = basis->whole_ns;
	if (rule->kind == TP_GAIN_LOOP) {
		gain_bound(&gain, 1, 1 - gain.most, 1 - gain.least, largest);
		return gain;
	}
	const struct tp_gain_part *part = &basis->parts[rule->part];
	if (!part->is_known)
		return gain;
	gain_bound(&gain, whole, min_time_without(part, whole, gain.most),
		   whole - gain.least * (whole - part->without_high_ns), largest);
	extend_by_queue(&gain, whole, part->queued_ns, largest);
	return gain;
}

struct tp_gain tp_gain_of_loop(const struct tp_gain_input *basis, const struct tp_gain *gain)
{
	struct tp_gain out = *gain;
	double outside = basis->outside_ratio;
	if (!gain->is_known || gain->kind == TP_GAIN_LOOP)
		return out;
	out.low = 1 / (outside + (1 - outside) / gain->low);
	out.value = 1 / (outside + (1 - outside) / gain->value);
	out.high = 1 / (outside + (1 - outside) / gain->high);
	return out;
}

/* Fractions that gains remove of one part, or of the loop. */
struct removed_ratio {
	double least;
	double likely;
	double most;
};

/* Time removed from every part, and from the loop outside the steps; `likely` is computed from the
 * values that are shown for single gains. */
struct removal {
	double least[TP_N_PARTS];
	double likely[TP_N_PARTS];
	double most[TP_N_PARTS];
	struct removed_ratio loop;   /* outside of the steps */
	struct removed_ratio inside; /* of the loop, at unknown places in the steps */
	double shortest;             /* shortest step of a single gain: all together are no worse */
	bool has_part;
	bool has_loop;
	bool has_inside;
};

/* Fractions of the steps that are left. */
struct left_ratio {
	double shortest;
	double likely;
	double longest;
};

static bool is_of_part(const struct tp_gain *gain, enum tp_part part)
{
	return gain->is_known && gain->kind != TP_GAIN_LOOP && gain->part == part;
}

/* The fraction of the part whose removal makes the step as much shorter as the value of the
 * gain. */
static double likely_of(const struct tp_gain_input *basis, const struct tp_gain *gain)
{
	double exposed_ns = basis->parts[gain->part].exposed_ns;
	double saved_ns = basis->whole_ns * (1 - 1 / gain->value);
	return exposed_ns > 0 ? fmin(saved_ns / exposed_ns, gain->most) : 0;
}

/* Labels are pieces of a part that share no instant, so they add up. Advice without a label, such
 * as faster kernels, may affect the same instants: at least, and likely, all of it together does
 * what the largest one does; at most, it shrinks what the labels leave. */
static struct removed_ratio removed_ratio_of(const struct tp_gain_input *basis, enum tp_part part,
					     const struct tp_gain *gains, size_t n_gains)
{
	struct removed_ratio by_label[TP_N_LABELS] = {{0}};
	struct removed_ratio labelled = {0};
	struct removed_ratio other = {.most = 0};
	for (size_t i = 0; i < n_gains; i++) {
		const struct tp_gain *gain = &gains[i];
		if (!is_of_part(gain, part))
			continue;
		double likely = likely_of(basis, gain);
		if (gain->label == TP_N_LABELS) {
			other.least = fmax(other.least, gain->least);
			other.likely = fmax(other.likely, likely);
			other.most = 1 - (1 - other.most) * (1 - gain->most);
			continue;
		}
		struct removed_ratio *label = &by_label[gain->label];
		labelled.least += fmax(0, gain->least - label->least);
		labelled.likely += fmax(0, likely - label->likely);
		labelled.most += fmax(0, gain->most - label->most);
		label->least = fmax(gain->least, label->least);
		label->likely = fmax(likely, label->likely);
		label->most = fmax(gain->most, label->most);
	}
	return (struct removed_ratio){.least = fmax(other.least, fmin(1, labelled.least)),
				      .likely = 1 -
						(1 - other.likely) * (1 - fmin(1, labelled.likely)),
				      .most = 1 - (1 - other.most) * (1 - fmin(1, labelled.most))};
}

/* Two pieces of advice may overlap: together they do at least what the larger one does. */
static void add_of_loop(struct removed_ratio *removed, const struct tp_gain *gain)
{
	removed->least = fmax(removed->least, gain->least);
	removed->likely = fmin(1, removed->likely + 1 - 1 / gain->value);
	removed->most = fmin(1, removed->most + gain->most);
}

static struct removal removal_of(const struct tp_gain_input *basis, const struct tp_gain *gains,
				 size_t n_gains)
{
	struct removal removal = {.shortest = basis->whole_ns};
	for (int i = 0; i < TP_N_PARTS; i++) {
		struct removed_ratio removed_ratio =
			removed_ratio_of(basis, (enum tp_part)i, gains, n_gains);
		removal.least[i] = removed_ratio.least;
		removal.likely[i] = removed_ratio.likely;
		removal.most[i] = removed_ratio.most;
	}
	for (size_t i = 0; i < n_gains; i++) {
		const struct tp_gain *gain = &gains[i];
		if (!gain->is_known)
			continue;
		if (gain->kind == TP_GAIN_LOOP) {
			removal.has_loop |= !gain->is_inside;
			removal.has_inside |= gain->is_inside;
			add_of_loop(gain->is_inside ? &removal.inside : &removal.loop, gain);
			continue;
		}
		removal.has_part = true;
		removal.shortest = fmin(removal.shortest, basis->whole_ns / gain->high);
	}
	return removal;
}

static bool is_work_known(const struct tp_gain_input *basis)
{
	for (int i = 0; i < TP_N_PARTS; i++)
		if (basis->parts[i].work_ns > 0)
			return true;
	return false;
}

/* If several parts are removed, the time above T - E is the loader's supply, which stays unless the
 * loader is changed as well. 0 = no limit by supply. */
static double batches_of(const struct tp_gain_input *basis, const struct removal *removal)
{
	double supply_ns = 0;
	if (removal->most[TP_PART_DATALOADER] > 0 || is_work_known(basis))
		return 0;
	for (int i = 0; i < TP_N_PARTS; i++) {
		const struct tp_gain_part *part = &basis->parts[i];
		double alone = basis->whole_ns - part->exposed_ns;
		if (removal->most[i] > 0 && part->without_low_ns > alone + 1e-9 * basis->whole_ns)
			supply_ns = fmax(supply_ns, part->without_low_ns);
	}
	return supply_ns;
}

/* The longest remaining part: no step can be shorter. Hidden work becomes visible when the part
 * that hid it is removed. */
static struct tp_next_limit next_limit_of(const struct tp_gain_input *basis,
					  const struct removal *removal)
{
	struct tp_next_limit then = {.part = TP_N_PARTS};
	for (int i = 0; i < TP_N_PARTS; i++) {
		const struct tp_gain_part *part = &basis->parts[i];
		double rest = (1 - removal->most[i]) * fmax(part->exposed_ns, part->work_ns);
		if (rest > then.left_ns)
			then = (struct tp_next_limit){.part = (enum tp_part)i, .left_ns = rest};
	}
	double supply_ns = batches_of(basis, removal);
	if (supply_ns > then.left_ns)
		then = (struct tp_next_limit){.part = TP_PART_DATALOADER, .left_ns = supply_ns};
	return then;
}

/* A single part is also limited by its bracket. */
static double floor_of(const struct tp_gain_input *basis, const struct removal *removal,
		       const struct tp_next_limit *then)
{
	double floor_ns = 0;
	int n_parts = 0;
	for (int i = 0; i < TP_N_PARTS; i++) {
		n_parts += removal->most[i] > 0;
		if (removal->most[i] > 0)
			floor_ns = fmax(floor_ns, basis->parts[i].without_low_ns);
	}
	return n_parts == 1 ? fmax(floor_ns, then->left_ns) : then->left_ns;
}

static double min_time_of(const struct tp_gain_input *basis, const struct removal *removal,
			  const struct tp_next_limit *then)
{
	double shortest = basis->whole_ns;
	for (int i = 0; i < TP_N_PARTS; i++)
		shortest -= removal->most[i] * basis->parts[i].exposed_ns;
	return fmin(fmax(shortest, floor_of(basis, removal, then)), removal->shortest);
}

/* The share that is left of the steps. Idioms may remove the same time as other advice. */
static struct left_ratio left_of_steps(const struct removal *removal, double shortest,
				       double likely, double longest, double outside)
{
	const struct removed_ratio *inside = &removal->inside;
	double steps = 1 - outside;
	if (!(steps > 0))
		return (struct left_ratio){shortest, likely, longest};
	return (struct left_ratio){
		.shortest = fmax(0, shortest - inside->most / steps),
		.likely = likely * fmax(0, 1 - inside->likely / steps),
		.longest = fmin(longest, fmax(0, 1 - inside->least / steps)),
	};
}

static struct tp_gain combine(const struct tp_gain_input *basis, const struct tp_gain *gains,
			      size_t n_gains, double largest, struct tp_next_limit *then)
{
	struct tp_gain all = {.kind = TP_GAIN_PART};
	struct removal removal = removal_of(basis, gains, n_gains);
	double whole = basis->whole_ns;
	double longest = whole;
	double likely = whole;
	*then = (struct tp_next_limit){.part = TP_N_PARTS};
	if (!(whole > 0) || (!removal.has_part && !removal.has_loop && !removal.has_inside))
		return all;
	for (int i = 0; i < TP_N_PARTS; i++) {
		longest -= removal.least[i] * (whole - basis->parts[i].without_high_ns);
		likely -= removal.likely[i] * basis->parts[i].exposed_ns;
	}
	*then = next_limit_of(basis, &removal);
	/* Idioms remove time at unknown places: of the longest rest as well, perhaps all of it. */
	if (removal.inside.most * whole >= then->left_ns)
		then->part = TP_N_PARTS;
	double shortest = min_time_of(basis, &removal, then);
	bool is_of_loop = removal.has_loop || basis->is_of_loop;
	if (!is_of_loop && !removal.has_inside) {
		gain_bound(&all, whole, shortest, longest, largest);
		show_likely(&all, whole, likely);
		return all;
	}
	/* Here the loop is the whole: the steps and the time outside them. */
	double outside = is_of_loop ? fmax(basis->outside_ratio, removal.loop.most) : 0;
	struct left_ratio left =
		left_of_steps(&removal, shortest / whole, likely / whole, longest / whole, outside);
	gain_bound(&all, 1, (1 - outside) * left.shortest + outside - removal.loop.most,
		   (1 - outside) * left.longest + outside - removal.loop.least, largest);
	show_likely(&all, 1, (1 - outside) * left.likely + outside - removal.loop.likely);
	return all;
}

/* Beside a floor the value is what is likely at least: of a gain of which only one end is known,
 * the middle says nothing. Returns true if there is a floor. */
static bool use_known_ends(struct tp_gain *out, const struct tp_gain *gains, size_t n_gains)
{
	bool has_floor = false;
	for (size_t i = 0; i < n_gains; i++)
		has_floor |= gains[i].is_known && gains[i].is_floor;
	for (size_t i = 0; i < n_gains; i++) {
		out[i] = gains[i];
		if (has_floor && (out[i].is_floor || !tp_gain_is_estimate(out[i].low)))
			out[i].value = out[i].low;
	}
	return has_floor;
}

static bool is_any_of_loop(const struct tp_gain *gains, size_t n_gains)
{
	for (size_t i = 0; i < n_gains; i++)
		if (gains[i].is_known && gains[i].kind == TP_GAIN_LOOP && !gains[i].is_inside)
			return true;
	return false;
}

/* Following one piece of advice more cannot lose what the others gain. */
static void raise_to_single_gains(struct tp_gain *all, const struct tp_gain_input *basis,
				  const struct tp_gain *gains, size_t n_gains)
{
	bool is_of_loop = basis->is_of_loop || is_any_of_loop(gains, n_gains);
	for (size_t i = 0; i < n_gains; i++) {
		struct tp_gain one = is_of_loop ? tp_gain_of_loop(basis, &gains[i]) : gains[i];
		if (!one.is_known)
			continue;
		all->low = fmax(all->low, one.low);
		all->value = fmax(all->value, one.value);
		all->high = fmax(all->high, one.high);
	}
}

struct tp_gain tp_gain_combine(const struct tp_gain_input *basis, const struct tp_gain *gains,
			       size_t n_gains, double largest, struct tp_next_limit *then)
{
	struct tp_gain *used = tp_alloc((n_gains + 1) * sizeof(*used));
	bool has_floor = use_known_ends(used, gains, n_gains);
	struct tp_gain all = combine(basis, used, n_gains, largest, then);
	if (all.is_known)
		raise_to_single_gains(&all, basis, used, n_gains);
	free(used);
	all.is_floor = has_floor;
	if (all.is_known && all.is_floor)
		all.high = largest;
	return all;
}
