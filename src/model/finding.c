/* SPDX-License-Identifier: Apache-2.0 */
/* Names of a finding's fields. */
#include "trainprof/model/finding.h"

const char *tp_finding_state_name(enum tp_finding_state state)
{
	static const char *const names[] = {"fired", "quiet", "not_judged"};
	return names[state];
}

const char *tp_finding_level_name(enum tp_finding_level level)
{
	static const char *const names[] = {"high", "medium", "low", "note"};
	return names[level];
}

const char *tp_confidence_name(enum tp_confidence confidence)
{
	static const char *const names[] = {"high", "medium", "low"};
	return names[confidence];
}

const char *tp_advice_kind_name(enum tp_advice_kind kind)
{
	return kind == TP_ADVICE_FREE ? "free" : "semantic";
}

const char *tp_sureness_name(enum tp_sureness sureness)
{
	static const char *const names[] = {"sure", "likely", "worth a try"};
	return names[sureness];
}

bool tp_gain_is_estimate(double gain_low)
{
	/* A gain that is printed as "1.00" is no gain. */
	static const double SMALLEST_PRINTED = 1.005;
	return gain_low >= SMALLEST_PRINTED;
}

bool tp_gain_has_high(double low, double high)
{
	/* Speed-ups are capped (rules/thresholds.json, gain.largest). */
	static const double LARGEST_ESTIMATE = 50;
	/* A limit above ten times today's rate is not printed either (gain.residual). */
	static const double LARGEST_BOUND = 10;
	return high < (tp_gain_is_estimate(low) ? LARGEST_ESTIMATE : LARGEST_BOUND);
}

double tp_gain_printed(double low, double value, double high)
{
	if (!tp_gain_has_high(low, high))
		return tp_gain_is_estimate(low) ? low : 0;
	return tp_gain_is_estimate(low) ? value : high;
}

void tp_findings_release(struct tp_findings *findings)
{
	tp_arena_release(&findings->arena);
	*findings = (struct tp_findings){0};
}
