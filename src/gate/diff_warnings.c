/* SPDX-License-Identifier: Apache-2.0 */
/* Writes sentences about what weakens a comparison of runs. */
#include "diff_warnings.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"
#include "trainprof/model/gate_thresholds.h"

#include <math.h>
#include <string.h>

void tp_diff_warn(struct tp_run_diff *out, const char *text)
{
	if (out->n_warnings < TP_ARRAY_LEN(out->warnings))
		out->warnings[out->n_warnings++] = text;
}

static void warn_of_end(struct tp_run_diff *out, const struct tp_run_values *run,
			struct tp_arena *arena)
{
	if (run->end && strcmp(run->end, "signaled") == 0)
		tp_diff_warn(out,
			     tp_arena_printf(arena, "%s: the program was killed by %s", run->name,
					     run->end_signal ? run->end_signal : "a signal"));
	else if (run->end_code)
		tp_diff_warn(out,
			     tp_arena_printf(arena, "%s: the program failed with exit status %lu",
					     run->name, (unsigned long)run->end_code));
	else if (run->is_partial)
		tp_diff_warn(out,
			     tp_arena_printf(arena, "%s: %s", run->name,
					     run->is_job ? "ranks are missing, or were not closed"
							 : "the recording was not closed"));
}

/* The mean share of the loop in special steps; NAN if it is unknown of a run. */
static double mean_outside(const struct tp_run_values *const *runs, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++) {
		const struct tp_quantity *outside = &runs[i]->facts[TP_FACT_RUN_OUTSIDE_RATIO];
		sum += runs[i]->has_steps && outside->is_known ? outside->value : NAN;
	}
	return n ? sum / (double)n : NAN;
}

double tp_gate_special_ratio(const struct tp_diff_request *request)
{
	double base = 1 - mean_outside(request->base, request->n_base);
	double now = 1 - mean_outside(request->now, request->n_now);
	if (!(base > 0 && now > 0))
		return 1;
	return fabs(log(base / now)) > log1p(TP_GATE_OUTSIDE_MAX) ? base / now : 1;
}

/* The step that is compared is a usual one: a program that saves checkpoints more often is slower
 * though its usual steps are not. */
static void warn_of_special_steps(struct tp_run_diff *out, const struct tp_diff_request *request,
				  struct tp_arena *arena)
{
	out->special_ratio = tp_gate_special_ratio(request);
	if (out->special_ratio != 1)
		tp_diff_warn(out,
			     tp_arena_printf(arena,
					     "checkpoints, evaluations and slow steps are not in "
					     "the step; they take %.0f %% of the loop in the base "
					     "and %.0f %% in the new run",
					     100 * mean_outside(request->base, request->n_base),
					     100 * mean_outside(request->now, request->n_now)));
}

void tp_diff_warn_of_runs(struct tp_run_diff *out, const struct tp_diff_request *request,
			  struct tp_arena *arena)
{
	for (size_t i = 0; i < request->n_base; i++)
		warn_of_end(out, request->base[i], arena);
	for (size_t i = 0; i < request->n_now; i++)
		warn_of_end(out, request->now[i], arena);
	for (size_t i = 0; i < request->n_warnings; i++)
		tp_diff_warn(out, request->warnings[i]);
	warn_of_special_steps(out, request, arena);
}
