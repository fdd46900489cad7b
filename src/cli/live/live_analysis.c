/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts an interval out of the window and analyses it, rank by rank if a launcher runs. */
#include "live_analysis.h"

#include "cli/session/inner_ranks.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>

/* Ranks wait about as little if their shares differ by no more. */
static const double WAITS_ALIKE = 0.1;

void tp_live_analysis_free(struct tp_live_analysis *analysis)
{
	if (!analysis)
		return;
	for (size_t i = 0; i < analysis->n_profiles; i++)
		tp_profile_release(&analysis->profiles[i]);
	free(analysis->profiles);
	free(analysis->ranks);
	tp_trace_release(&analysis->trace);
	free(analysis);
}

const struct tp_profile *tp_live_analysis_profile(const struct tp_live_analysis *analysis)
{
	return &analysis->profiles[analysis->shown];
}

pid_t tp_live_analysis_pid(const struct tp_live_analysis *analysis)
{
	return analysis->ranks ? analysis->ranks[analysis->shown].pid : 0;
}

static bool add_profile(struct tp_live_analysis *analysis, const struct tp_patterns *patterns,
			const struct tp_rank_scope *scope)
{
	const struct tp_analyze_options how = {.steps = TP_STEPS_AUTO, .rank = scope};
	struct tp_profile *profile = &analysis->profiles[analysis->n_profiles];
	if (tp_analyze(profile, &analysis->trace, patterns, &how, NULL) != TP_OK)
		return false;
	analysis->n_profiles++;
	return true;
}

/* Ranks that cannot be analysed are left out. */
static void add_ranks(struct tp_live_analysis *analysis, const struct tp_patterns *patterns,
		      const struct tp_inner_rank *ranks, size_t n)
{
	uint32_t *roots = tp_alloc((n + 1) * sizeof(*roots));
	analysis->ranks = tp_alloc((n + 1) * sizeof(*analysis->ranks));
	for (size_t i = 0; i < n; i++)
		roots[i] = ranks[i].root;
	for (size_t i = 0; i < n; i++) {
		const struct tp_rank_scope scope = {.root = roots[i], .all = roots, .n_all = n};
		size_t at = analysis->n_profiles;
		if (add_profile(analysis, patterns, &scope))
			analysis->ranks[at] =
				(struct tp_live_rank){.number = ranks[i].number,
						      .pid = ranks[i].pid,
						      .profile = &analysis->profiles[at]};
	}
	free(roots);
}

static size_t choose_rank(const struct tp_live_analysis *analysis, pid_t before)
{
	size_t best = 0;
	double least = 2;
	for (size_t i = 0; i < analysis->n_profiles; i++) {
		double waits = tp_live_rank_waits(&analysis->ranks[i]);
		if (waits >= least)
			continue;
		best = i;
		least = waits;
	}
	for (size_t i = 0; i < analysis->n_profiles; i++)
		if (analysis->ranks[i].pid == before &&
		    tp_live_rank_waits(&analysis->ranks[i]) <= least + WAITS_ALIKE)
			return i;
	return best;
}

struct tp_live_analysis *tp_live_analysis_new(struct tp_window *window,
					      const struct tp_run_info *run, uint64_t from_ns,
					      uint64_t until_ns, const struct tp_patterns *patterns,
					      pid_t before)
{
	static const struct tp_analyze_options automatic = {.steps = TP_STEPS_AUTO};
	struct tp_live_analysis *analysis = tp_alloc(sizeof(*analysis));
	struct tp_arena arena = {0};
	struct tp_inner_rank *ranks;
	tp_window_cut(window, &analysis->trace, run, from_ns, until_ns);
	size_t n = tp_inner_ranks_find(&ranks, &analysis->trace, patterns, &automatic, &arena);
	analysis->profiles = tp_alloc((n + 1) * sizeof(*analysis->profiles));
	if (n)
		add_ranks(analysis, patterns, ranks, n);
	else
		(void)add_profile(analysis, patterns, NULL);
	tp_arena_release(&arena);
	if (!analysis->n_profiles) {
		tp_live_analysis_free(analysis);
		return NULL;
	}
	if (analysis->ranks)
		analysis->shown = choose_rank(analysis, before);
	analysis->report = (struct tp_report){
		.profile = tp_live_analysis_profile(analysis),
		.no_findings_because = "a few seconds are too short for advice",
	};
	return analysis;
}
