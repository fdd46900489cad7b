/* SPDX-License-Identifier: Apache-2.0 */
/* Decides when enough pairs of runs were measured. */
#include "trainprof/gate/gate.h"

#include "trainprof/base/memory.h"

#include <math.h>

double tp_pairs_confidence(const struct tp_pairs_plan *plan)
{
	return plan->fixed ? TP_GATE_CONFIDENCE : TP_GATE_LOOKS_CONFIDENCE;
}

enum tp_pairs_state tp_pairs_judge(struct tp_gate_estimate *ratio, const struct tp_run_value *base,
				   const struct tp_run_value *now, const bool *is_now_first,
				   size_t n, const struct tp_pairs_plan *plan)
{
	const struct tp_gate_design design = {.is_paired = true,
					      .confidence = tp_pairs_confidence(plan),
					      .noise = TP_GATE_ASSUMED_NOISE,
					      .spread_min = TP_GATE_SPREAD_MIN,
					      .is_now_first = is_now_first};
	size_t least = plan->fixed ? plan->fixed : TP_PAIRS_LEAST;
	*ratio = (struct tp_gate_estimate){0};
	if (!n)
		return TP_PAIRS_MORE;
	tp_gate_ratio_make(ratio, base, n, now, n, &design);
	if (n < least)
		return TP_PAIRS_MORE;
	if (ratio->low > 1 || ratio->high < 1)
		return TP_PAIRS_DIFFERENT;
	if (ratio->high < 1 + plan->margin_ratio && ratio->low > 1 / (1 + plan->margin_ratio))
		return TP_PAIRS_ALIKE;
	return n < plan->most && !plan->fixed ? TP_PAIRS_MORE : TP_PAIRS_UNDECIDED;
}

bool tp_pairs_hide_special(enum tp_pairs_state state, double ratio, double special_ratio)
{
	if (special_ratio == 1)
		return false;
	return state == TP_PAIRS_ALIKE || (ratio > 1) != (special_ratio > 1);
}

size_t tp_pairs_needed(const struct tp_gate_estimate *ratio, size_t n,
		       const struct tp_pairs_plan *plan)
{
	double value = fabs(log(ratio->value));
	/* Either the difference or its absence will become significant, whichever is nearer to
	 * it. */
	double target = fmax(value, log1p(plan->margin_ratio) - value);
	double spread = ratio->spread * sqrt(2);
	for (size_t more = 1; more < 1000 && target > 0; more++) {
		double t = tp_student_quantile(0.5 + tp_pairs_confidence(plan) / 2,
					       (double)(n + more - 1));
		if (t * spread / sqrt((double)(n + more)) < target)
			return more;
	}
	return 1000;
}
