/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that the program marks itself. */
#include "marked_steps.h"

#include "analyze/numeric/stats.h"
#include "step_list.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>

static uint64_t task_end_ns(const struct tp_analysis *analysis, uint32_t task)
{
	uint64_t end_ns = analysis->trace->end_ns;
	uint64_t task_ns = task == TP_NO_TASK ? 0 : analysis->trace->tasks[task].end_ns;
	return task_ns && task_ns < end_ns ? task_ns : end_ns;
}

static bool is_ours(const struct tp_analysis *analysis, uint32_t task)
{
	if (analysis->main_task == TP_NO_TASK)
		return true;
	return analysis->threads[task].leader == analysis->threads[analysis->main_task].leader;
}

/* Finds the thread of the trainer that marks steps: the main one if it does, else the thread with
 * most marks. TP_NO_TASK means marks of an unknown thread, used if there are no others. */
static bool find_marking_task(const struct tp_analysis *analysis, uint32_t *task)
{
	const struct tp_trace *trace = analysis->trace;
	size_t *counts = tp_alloc((trace->n_tasks + 1) * sizeof(*counts));
	size_t nobody = 0;
	for (size_t i = 0; i < trace->n_marks; i++) {
		const struct tp_mark *mark = &trace->marks[i];
		if (mark->kind != TP_MARK_STEP)
			continue;
		if (mark->task == TP_NO_TASK)
			nobody++;
		else if (is_ours(analysis, mark->task))
			counts[mark->task]++;
	}
	uint32_t best = analysis->main_task != TP_NO_TASK ? analysis->main_task : 0;
	bool is_main = counts[best] > 0;
	for (uint32_t i = 0; i < trace->n_tasks && !is_main; i++)
		if (counts[i] > counts[best])
			best = i;
	bool is_known = counts[best] > 0;
	free(counts);
	*task = is_known ? best : TP_NO_TASK;
	return is_known || nobody > 0;
}

/* A program that ends each step before it fetches the next batch has gaps after most steps. They
 * belong to the step, otherwise the loader's time would not be in any step. Rare gaps are not
 * training. */
static void close_regular_gaps(struct tp_step_list *list)
{
	size_t n_gaps = 0;
	for (size_t i = 1; i < list->n; i++)
		n_gaps += list->items[i].start_ns > list->items[i - 1].end_ns;
	if (list->n < 2 || n_gaps * 2 < list->n)
		return;
	double *gaps = tp_alloc(list->n * sizeof(*gaps));
	for (size_t i = 1; i < list->n; i++)
		gaps[i - 1] = (double)(list->items[i].start_ns - list->items[i - 1].end_ns);
	double usual = 3 * tp_stats_median(gaps, list->n - 1);
	for (size_t i = 1; i < list->n; i++)
		if (gaps[i - 1] <= usual)
			list->items[i - 1].end_ns = list->items[i].start_ns;
	free(gaps);
}

/* Without a mark at its end the last step would include everything after the loop. */
static void add_open_step(struct tp_step_list *list, uint64_t start_ns, uint64_t until_ns)
{
	uint64_t usual = (uint64_t)tp_step_list_median_ns(list);
	uint64_t end_ns = usual && usual < until_ns - start_ns ? start_ns + usual : until_ns;
	size_t before = list->n;
	tp_step_list_add(list, start_ns, end_ns);
	if (list->n > before && before > 0)
		list->items[before].kind = TP_STEP_CUT;
}

static void collect_marked(const struct tp_analysis *analysis, uint32_t task,
			   struct tp_step_list *list)
{
	const struct tp_trace *trace = analysis->trace;
	bool is_open = false;
	uint64_t start_ns = 0;
	for (size_t i = 0; i < trace->n_marks; i++) {
		const struct tp_mark *mark = &trace->marks[i];
		if (mark->task != task ||
		    (mark->kind != TP_MARK_STEP && mark->kind != TP_MARK_STEP_END))
			continue;
		if (is_open)
			tp_step_list_add(list, start_ns, mark->time_ns);
		is_open = mark->kind == TP_MARK_STEP;
		start_ns = mark->time_ns;
	}
	close_regular_gaps(list);
	uint64_t until_ns = task_end_ns(analysis, task);
	if (is_open && until_ns > start_ns)
		add_open_step(list, start_ns, until_ns);
}

bool tp_marked_steps_set(struct tp_analysis *analysis)
{
	uint32_t task;
	struct tp_step_list list = {0};
	if (find_marking_task(analysis, &task))
		collect_marked(analysis, task, &list);
	struct tp_profile *profile = analysis->profile;
	if (list.n) {
		tp_step_list_store(analysis, &list);
		profile->steps_found_by = TP_STEPS_MARKER;
		profile->steps_confidence = 1;
		profile->steps_reason = "marked by the program";
		analysis->loop_start_ns = list.items[0].start_ns;
		analysis->loop_end_ns = list.items[list.n - 1].end_ns;
	}
	free(list.items);
	return profile->n_steps > 0;
}
