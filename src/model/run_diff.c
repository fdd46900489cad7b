/* SPDX-License-Identifier: Apache-2.0 */
/* Names used in a comparison of runs. */
#include "trainprof/model/run_diff.h"

#include <string.h>

const char *tp_comparable_name(enum tp_likeness aspect)
{
	static const char *const names[] = {"workload", "machine", "software"};
	return names[aspect];
}

const char *tp_gate_verdict_name(enum tp_gate_answer answer)
{
	static const char *const names[] = {"pass", "fail", "undecided"};
	return names[answer];
}

const char *tp_item_kind_name(enum tp_item_kind kind)
{
	static const char *const names[] = {"finding", "setting", "place"};
	return names[kind];
}

const char *tp_run_diff_per_step(const struct tp_run_diff *diff)
{
	return diff->is_of_steps ? " per step" : "";
}

bool tp_run_has_failed(const struct tp_run_values *run)
{
	return run->end_code || (run->end && strcmp(run->end, "signaled") == 0);
}
