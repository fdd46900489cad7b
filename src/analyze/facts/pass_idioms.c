/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Content of the code: idioms that delay the training, and the work of the main thread and of the
 * threads that make batches.
 *
 * Needs: timelines, labels, parts, loop, workers, loader.supply_per_s. Gives: profile->idioms,
 * works.
 *
 * Time of the main thread in an idiom is time of the loop; if workers make the batches the loop
 * cannot become faster than they are. Time of workers in an idiom delays their batches: it costs
 * the training at most that share of its wait for data.
 */
#include "analyze/analysis.h"
#include "analyze/classify/pattern_tables.h"
#include "analyze/roles/task_pool.h"
#include "loader_work.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/model/fact.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORKS = 200 };

struct line_time {
	uint16_t idiom;
	uint32_t own;
	uint64_t ns;
};

struct idiom_sums {
	struct tp_analysis *analysis;
	const struct tp_stack_reading *readings; /* by stack */
	struct tp_idiom_result *idioms;          /* heap, by idiom of the patterns */
	struct line_time *lines;                 /* heap */
	size_t n_lines;
	size_t lines_capacity;
	struct tp_map line_index;
	struct tp_work_result *works; /* heap */
	size_t n_works;
	size_t works_capacity;
	struct tp_map work_index;
	uint64_t work_ns[TP_N_WORK_OF];
	uint64_t augment_ns;            /* part of loading */
	uint64_t busy_ns[TP_N_WORK_OF]; /* of workers, without waits for room and work */
	uint64_t blocked_ns;            /* of the main thread in the window, not for data */
};

/* Frames of one source line get the same key. */
static uint64_t line_key(const struct tp_trace *trace, uint32_t own)
{
	const struct tp_frame *frame = &trace->frames[own];
	return tp_hash_mix((uint64_t)frame->file << 32 | frame->line, frame->symbol);
}

static void add_line(struct idiom_sums *sums, const struct tp_stack_reading *reading, uint64_t ns)
{
	uint64_t key = tp_hash_mix(line_key(sums->analysis->trace, reading->place), reading->idiom);
	uint64_t at;
	if (!reading->place)
		return;
	if (!tp_map_get(&sums->line_index, key, &at)) {
		at = sums->n_lines;
		tp_map_set(&sums->line_index, key, at);
		TP_ARRAY_PUSH(sums->lines, sums->n_lines, sums->lines_capacity) =
			(struct line_time){.idiom = reading->idiom, .own = reading->place};
	}
	assert(sums->lines && at < sums->n_lines);
	sums->lines[at].ns += ns;
}

/* Returns "collate()" for "Batches.<locals>.collate" and for the lambdas, comprehensions and
 * generator expressions in it: since Python 3.11 names are qualified. */
static const char *function_name(struct tp_arena *arena, const char *symbol)
{
	static const char inside[] = ".<locals>.";
	const char *end = symbol + tp_text_function_length(symbol);
	const char *begin = symbol;
	for (const char *p = strstr(symbol, inside); p && p < end; p = strstr(p + 1, inside))
		begin = p + sizeof(inside) - 1;
	return tp_arena_printf(arena, "%.*s()", (int)(end - begin), begin);
}

static const char *name_of_work(const struct idiom_sums *sums,
				const struct tp_stack_reading *reading)
{
	const struct tp_analysis *analysis = sums->analysis;
	if (reading->work != TP_NO_IDIOM)
		return analysis->patterns->idioms.works[reading->work].name;
	if (!reading->own)
		return "other";
	const struct tp_frame *frame = &analysis->trace->frames[reading->own];
	return function_name(analysis->arena, tp_trace_string(analysis->trace, frame->symbol));
}

static bool is_augment(const struct idiom_sums *sums, const struct tp_stack_reading *reading)
{
	return reading->work != TP_NO_IDIOM &&
	       sums->analysis->patterns->idioms.works[reading->work].kind == TP_WORK_AUGMENT;
}

static void add_work(struct idiom_sums *sums, const struct tp_stack_reading *reading,
		     enum tp_work_of of, uint64_t ns)
{
	const struct tp_trace *trace = sums->analysis->trace;
	uint64_t key = tp_hash_mix(line_key(trace, reading->own),
				   (uint64_t)reading->work * TP_N_WORK_OF + of);
	uint64_t at;
	sums->work_ns[of] += ns;
	sums->augment_ns += of == TP_WORK_OF_LOADING && is_augment(sums, reading) ? ns : 0;
	if (!tp_map_get(&sums->work_index, key, &at)) {
		const struct tp_frame *frame = &trace->frames[reading->own];
		at = sums->n_works;
		tp_map_set(&sums->work_index, key, at);
		TP_ARRAY_PUSH(sums->works, sums->n_works, sums->works_capacity) =
			(struct tp_work_result){.of = of,
						.name = name_of_work(sums, reading),
						.file = reading->own ? frame->file : 0,
						.symbol = reading->own ? frame->symbol : 0,
						.line = reading->own ? frame->line : 0};
	}
	assert(sums->works && at < sums->n_works);
	sums->works[at].time_ns += ns;
}

/* ---- segments ---- */

static bool is_work(const struct tp_segment *segment)
{
	return segment->state == TP_STATE_ON_CPU ||
	       (segment->state == TP_STATE_BLOCKED &&
		(segment->cause == TP_CAUSE_FILE || segment->cause == TP_CAUSE_DISK ||
		 segment->cause == TP_CAUSE_PAGE_FAULT));
}

/* A thread that lost its CPU, or whose stack could not be read, remains in the same code. */
static const struct tp_stack_reading *reading_of(const struct idiom_sums *sums,
						 const struct tp_segment *segment,
						 const struct tp_stack_reading *before)
{
	const struct tp_trace *trace = sums->analysis->trace;
	if (segment->sample == TP_NO_SAMPLE || !trace->samples[segment->sample].stack)
		return before;
	return &sums->readings[trace->samples[segment->sample].stack];
}

/* A rank that waits for others inside a call would wait for them however it called. */
static bool is_wait_for_ranks(const struct tp_segment *segment)
{
	return segment->label == TP_LABEL_COMMUNICATION_WAIT;
}

/* An imported library runs its top-level code only once. */
static bool is_import(const struct tp_analysis *analysis, const struct tp_segment *segment)
{
	return segment->sample != TP_NO_SAMPLE &&
	       analysis->classes[analysis->trace->samples[segment->sample].stack].phase ==
		       TP_PHASE_IMPORT;
}

/* Returns when the second half of the steps in that time begins; half of the time if it has fewer
 * than two. By steps, because what grows with them makes later steps longer. */
static uint64_t find_middle(const struct tp_profile *profile, uint64_t from_ns, uint64_t to_ns)
{
	size_t first = 0;
	while (first < profile->n_steps && profile->steps[first].start_ns < from_ns)
		first++;
	size_t end = first;
	while (end < profile->n_steps && profile->steps[end].end_ns <= to_ns)
		end++;
	return end - first < 2 ? from_ns + (to_ns - from_ns) / 2
			       : profile->steps[first + (end - first) / 2].start_ns;
}

static void sum_main(struct idiom_sums *sums, uint64_t from_ns, uint64_t to_ns)
{
	const struct tp_analysis *analysis = sums->analysis;
	const struct tp_profile *profile = analysis->profile;
	const struct tp_timeline *timeline = tp_analysis_timeline(analysis, analysis->main_task);
	const struct tp_stack_reading *reading = &sums->readings[0];
	uint64_t middle_ns = find_middle(profile, from_ns, to_ns);
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		reading = reading_of(sums, segment, reading);
		uint64_t ns = tp_segment_ns_in(segment, from_ns, to_ns);
		if (is_import(analysis, segment))
			reading = &sums->readings[0];
		if (ns && reading->idiom != TP_NO_IDIOM && !is_wait_for_ranks(segment)) {
			sums->idioms[reading->idiom].main_ns += ns;
			sums->idioms[reading->idiom].part_ns[tp_label_part(segment->label)] += ns;
			sums->idioms[reading->idiom].shared_ns += reading->is_shared ? ns : 0;
			sums->idioms[reading->idiom].queued_ns +=
				segment->state == TP_STATE_RUNNABLE ? ns : 0;
			sums->idioms[reading->idiom].late_ns +=
				tp_segment_ns_in(segment, middle_ns, to_ns);
			add_line(sums, reading, ns);
		}
		ns = tp_segment_ns_in(segment, profile->window_start_ns, profile->window_end_ns);
		bool is_for_data = tp_label_part(segment->label) == TP_PART_DATALOADER;
		sums->blocked_ns += segment->state == TP_STATE_BLOCKED && !is_for_data ? ns : 0;
		bool is_inline = !profile->n_workers && !profile->n_task_workers &&
				 tp_loader_work_is_inline(analysis, segment);
		if (ns && is_work(segment))
			add_work(sums, reading, is_inline ? TP_WORK_OF_LOADING : TP_WORK_OF_MAIN,
				 ns);
	}
}

static bool is_idle(const struct tp_analysis *analysis, const struct tp_segment *segment)
{
	if (segment->state != TP_STATE_BLOCKED || segment->sample == TP_NO_SAMPLE ||
	    is_work(segment))
		return false;
	enum tp_function_kind doing =
		analysis->classes[analysis->trace->samples[segment->sample].stack].doing;
	return doing == TP_FUNCTION_WAIT_ROOM || doing == TP_FUNCTION_WAIT_WORK;
}

/* A step of a pool's owner is what its workers do meanwhile. */
static enum tp_part part_of_task(const struct tp_analysis *analysis,
				 const struct tp_segment *segment)
{
	if (segment->sample == TP_NO_SAMPLE)
		return TP_PART_COMPUTE;
	const struct tp_stack_class *class =
		&analysis->classes[analysis->trace->samples[segment->sample].stack];
	return class->leaf == TP_LEAF_INTERPRETER ? TP_PART_HOST : TP_PART_COMPUTE;
}

static void sum_worker(struct idiom_sums *sums, uint32_t task, enum tp_work_of of)
{
	const struct tp_analysis *analysis = sums->analysis;
	const struct tp_profile *profile = analysis->profile;
	const struct tp_timeline *timeline = tp_analysis_timeline(analysis, task);
	const struct tp_stack_reading *reading = &sums->readings[0];
	uint64_t middle_ns = find_middle(profile, profile->window_start_ns, profile->window_end_ns);
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		uint64_t ns =
			tp_segment_ns_in(segment, profile->window_start_ns, profile->window_end_ns);
		reading = reading_of(sums, segment, reading);
		if (!ns || is_idle(analysis, segment))
			continue;
		if (is_import(analysis, segment))
			reading = &sums->readings[0];
		sums->busy_ns[of] += ns;
		if (is_work(segment))
			add_work(sums, reading, of, ns);
		if (reading->idiom == TP_NO_IDIOM)
			continue;
		if (of == TP_WORK_OF_TASKS)
			sums->idioms[reading->idiom].tasks_ns[part_of_task(analysis, segment)] +=
				ns;
		else
			sums->idioms[reading->idiom].loading_ns += ns;
		sums->idioms[reading->idiom].shared_ns += reading->is_shared ? ns : 0;
		sums->idioms[reading->idiom].late_ns +=
			tp_segment_ns_in(segment, middle_ns, profile->window_end_ns);
		add_line(sums, reading, ns);
	}
}

/* Counts samples of the main thread and of workers: other threads are not known to delay the
 * training. */
static void count_samples(struct idiom_sums *sums)
{
	const struct tp_analysis *analysis = sums->analysis;
	const struct tp_profile *profile = analysis->profile;
	bool *is_counted = tp_alloc((analysis->trace->n_tasks + 1) * sizeof(*is_counted));
	is_counted[analysis->main_task] = true;
	for (size_t i = 0; i < profile->n_workers; i++)
		is_counted[profile->workers[i].task] = true;
	for (uint32_t i = 0; i < analysis->trace->n_tasks; i++)
		is_counted[i] |= tp_task_pool_has_worker(analysis, profile->trainer, i);
	for (size_t i = 0; i < analysis->trace->n_samples; i++) {
		const struct tp_sample *sample = &analysis->trace->samples[i];
		uint16_t idiom = sums->readings[sample->stack].idiom;
		if (idiom != TP_NO_IDIOM && is_counted[sample->task])
			sums->idioms[idiom].n_samples++;
	}
	free(is_counted);
}

/* ---- results ---- */

/* Share of a step that the workers need for its batch, whatever the trainer does. */
static double supply_ratio(const struct tp_profile *profile)
{
	const struct tp_quantity *supply = &profile->facts[TP_FACT_LOADER_SUPPLY];
	double step_ns = profile->step_time.mean;
	if (!profile->n_workers || !supply->is_known || !(supply->value > 0) || !(step_ns > 0))
		return 0;
	return fmin(1, 1e9 / supply->value / step_ns);
}

static void set_ratios(const struct idiom_sums *sums, struct tp_idiom_result *idiom, double loop_ns)
{
	const struct tp_profile *profile = sums->analysis->profile;
	idiom->main_ratio = loop_ns > 0 ? (double)idiom->main_ns / loop_ns : 0;
	double loads_ns = (double)sums->busy_ns[TP_WORK_OF_LOADING];
	double tasks_ns = (double)sums->busy_ns[TP_WORK_OF_TASKS];
	idiom->loading_ratio = loads_ns > 0 ? (double)idiom->loading_ns / loads_ns : 0;
	double wait = profile->total_ns ? (double)profile->parts[TP_PART_DATALOADER].time_ns /
						  (double)profile->total_ns
					: 0;
	double most = 1 - supply_ratio(profile);
	double waits = fmin(idiom->loading_ratio, wait);
	double queued = loop_ns > 0 ? (double)idiom->queued_ns / loop_ns : 0;
	double held = fmin(idiom->main_ratio, most);
	for (int part = 0; part < TP_N_PARTS && idiom->main_ns; part++)
		idiom->part_ratio[part] =
			held * (double)idiom->part_ns[part] / (double)idiom->main_ns;
	idiom->part_ratio[TP_PART_DATALOADER] += waits;
	/* The owner of a pool waits for all that its workers do. */
	double window_ns = (double)(profile->window_end_ns - profile->window_start_ns);
	double tasks =
		tasks_ns > 0 && window_ns > 0 ? (double)sums->blocked_ns / window_ns / tasks_ns : 0;
	for (int part = 0; part < TP_N_PARTS; part++) {
		idiom->part_ratio[part] += (double)idiom->tasks_ns[part] * tasks;
		waits += (double)idiom->tasks_ns[part] * tasks;
	}
	idiom->held_ratio = fmin(1, held + waits);
	idiom->time_ratio = fmin(1, fmin(idiom->main_ratio - queued, most) + waits);
}

static void set_places(struct idiom_sums *sums)
{
	uint64_t *most = tp_alloc((sums->analysis->patterns->idioms.n_idioms + 1) * sizeof(*most));
	for (size_t i = 0; i < sums->n_lines; i++) {
		const struct line_time *line = &sums->lines[i];
		const struct tp_frame *frame = &sums->analysis->trace->frames[line->own];
		if (line->ns <= most[line->idiom])
			continue;
		most[line->idiom] = line->ns;
		sums->idioms[line->idiom].file = frame->file;
		sums->idioms[line->idiom].symbol = frame->symbol;
		sums->idioms[line->idiom].line = frame->line;
	}
	free(most);
}

static int idiom_order(const void *a, const void *b)
{
	const struct tp_idiom_result *x = a;
	const struct tp_idiom_result *y = b;
	if (x->held_ratio != y->held_ratio)
		return x->held_ratio < y->held_ratio ? 1 : -1;
	return strcmp(x->id, y->id);
}

static void set_idioms(struct idiom_sums *sums, double loop_ns)
{
	const struct tp_idiom_patterns *rows = &sums->analysis->patterns->idioms;
	struct tp_profile *profile = sums->analysis->profile;
	size_t n = 0;
	set_places(sums);
	for (size_t i = 0; i < rows->n_idioms; i++) {
		struct tp_idiom_result idiom = sums->idioms[i];
		if (!idiom.n_samples || rows->idioms[i].is_replaced)
			continue;
		idiom.id = tp_arena_strdup(sums->analysis->arena, rows->idioms[i].id);
		set_ratios(sums, &idiom, loop_ns);
		sums->idioms[n++] = idiom;
	}
	if (n)
		qsort(sums->idioms, n, sizeof(*sums->idioms), idiom_order);
	profile->idioms =
		tp_arena_copy(sums->analysis->arena, sums->idioms, n * sizeof(*sums->idioms));
	profile->n_idioms = n;
	profile->has_idioms = true;
}

static int work_order(const void *a, const void *b)
{
	const struct tp_work_result *x = a;
	const struct tp_work_result *y = b;
	bool is_main = x->of == TP_WORK_OF_MAIN;
	if (is_main != (y->of == TP_WORK_OF_MAIN))
		return is_main ? 1 : -1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? 1 : -1;
	return x->line != y->line ? (x->line > y->line) - (x->line < y->line)
				  : strcmp(x->name, y->name);
}

static void set_works(struct idiom_sums *sums)
{
	struct tp_profile *profile = sums->analysis->profile;
	if (sums->n_works)
		qsort(sums->works, sums->n_works, sizeof(*sums->works), work_order);
	profile->n_works = sums->n_works < MAX_WORKS ? sums->n_works : MAX_WORKS;
	profile->works = tp_arena_copy(sums->analysis->arena, sums->works,
				       profile->n_works * sizeof(*sums->works));
	memcpy(profile->work_ns, sums->work_ns, sizeof(profile->work_ns));
	uint64_t loading_ns = sums->work_ns[TP_WORK_OF_LOADING];
	if (loading_ns)
		tp_profile_set(profile, TP_FACT_LOADER_AUGMENT,
			       (double)sums->augment_ns / (double)loading_ns, TP_ORIGIN_SAMPLED, 1);
	else
		tp_profile_set_missing(profile, TP_FACT_LOADER_AUGMENT, "nothing was seen loading");
}

enum tp_status tp_pass_idioms(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	const struct tp_profile *profile = analysis->profile;
	if (analysis->main_task == TP_NO_TASK || !profile->total_ns)
		return TP_OK;
	struct idiom_sums sums = {.analysis = analysis};
	size_t n_idioms = analysis->patterns->idioms.n_idioms;
	sums.readings = tp_stack_idiom_build(analysis);
	sums.idioms = tp_alloc((n_idioms + 1) * sizeof(*sums.idioms));
	bool has_loop = analysis->loop_end_ns > analysis->loop_start_ns;
	uint64_t from_ns = has_loop ? analysis->loop_start_ns : profile->window_start_ns;
	uint64_t to_ns = has_loop ? analysis->loop_end_ns : profile->window_end_ns;
	sum_main(&sums, from_ns, to_ns);
	for (size_t i = 0; i < profile->n_workers; i++)
		sum_worker(&sums, profile->workers[i].task, TP_WORK_OF_LOADING);
	for (uint32_t i = 0; i < analysis->trace->n_tasks; i++)
		if (tp_task_pool_has_worker(analysis, profile->trainer, i))
			sum_worker(&sums, i, TP_WORK_OF_TASKS);
	count_samples(&sums);
	set_idioms(&sums, (double)(to_ns - from_ns));
	set_works(&sums);
	tp_map_release(&sums.line_index);
	tp_map_release(&sums.work_index);
	free(sums.idioms);
	free(sums.lines);
	free(sums.works);
	return TP_OK;
}
