/* SPDX-License-Identifier: Apache-2.0 */
/* Says which steps are left out of the judged window. */
#include "step_window.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/memory.h"

#include <stdio.h>

void tp_step_window_count(const struct tp_profile *profile, size_t counts[TP_N_STEP_KINDS])
{
	for (size_t i = 0; i < profile->n_steps; i++)
		counts[profile->steps[i].kind]++;
}

static const char *word_suffix(size_t n)
{
	return n == 1 ? "" : "s";
}

const char *tp_step_window_describe(struct tp_arena *arena, const size_t counts[TP_N_STEP_KINDS])
{
	static const struct {
		enum tp_step_kind kind;
		const char *name;
	} names[] = {{TP_STEP_EVALUATION, "evaluation"},
		     {TP_STEP_CHECKPOINT, "checkpoint"},
		     {TP_STEP_SLOW, "slow"},
		     {TP_STEP_OTHER, "other"},
		     {TP_STEP_CUT, "cut"},
		     {TP_STEP_COUNTED, "counted"}};
	struct tp_buf text = {0};
	size_t warmup = counts[TP_STEP_WARMUP];
	if (warmup)
		tp_buf_printf(&text, "warm-up of %zu step%s", warmup, word_suffix(warmup));
	size_t last = 0;
	const char *between = warmup ? " and " : "";
	for (size_t i = 0; i < TP_ARRAY_LEN(names); i++) {
		if (!counts[names[i].kind])
			continue;
		last = counts[names[i].kind];
		tp_buf_printf(&text, "%s%zu %s", between, last, names[i].name);
		between = ", ";
	}
	if (last)
		tp_buf_printf(&text, " step%s", word_suffix(last));
	const char *reason = "all steps";
	if (text.len)
		reason = tp_arena_printf(arena, "%s excluded", tp_buf_text(&text));
	tp_buf_release(&text);
	return reason;
}

void tp_step_window_warn(struct tp_profile *profile, const struct tp_step_levels *levels)
{
	char text[240];
	if (levels->is_unsteady) {
		snprintf(text, sizeof(text),
			 "no steady state: the step time settled on %zu different levels, none of "
			 "which holds half of the steps",
			 levels->n);
		tp_profile_warn(profile, "no-steady-state", text,
				"numbers are means over all of them", NULL);
	} else if (levels->is_shifted) {
		snprintf(text, sizeof(text),
			 "the step time shifted %zu time%s during the run; the longest stretch is "
			 "judged",
			 levels->n - 1, word_suffix(levels->n - 1));
		tp_profile_warn(profile, "level-shift", text,
				"numbers do not speak for the other steps", NULL);
	}
}
