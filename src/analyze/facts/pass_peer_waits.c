/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits each step into exchanges with other ranks and the rank's own work, so that ranks can be
 * compared.
 *
 * Needs: labels of the main thread, steps, window. Gives: peer_ns of steps, profile->places,
 * beside_peers_ns, peer_tail_ns, last_place.
 *
 * A rank that spins in a collective loses its CPU to ranks that work. That is a wait for them, not
 * a lack of CPUs: a wait for a CPU between two segments of an exchange belongs to the exchange, and
 * half of it if only one of the two is an exchange. Both sides count because labels of segments are
 * often inferred.
 */
#include "analyze/analysis.h"
#include "exchange_times.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES_MAX = 24 };

struct place_sum {
	struct tp_place_result place;
	uint64_t label_ns[TP_N_LABELS];
	uint64_t cpu_ns;   /* of its time: on a CPU, or waiting for one */
	uint64_t queue_ns; /* of that: waiting for one */
};

struct peer_waits {
	const struct tp_analysis *analysis;
	uint8_t *halves; /* heap, by segment of the main timeline: halves of it that are exchange, 0
			    to 2 */
	uint32_t *by_stack;  /* heap, by stack: the frame of its place; 0 = none */
	bool *is_done;       /* heap, by stack */
	struct tp_map index; /* hash of file, symbol, line -> row */
	struct place_sum *rows;
	size_t n, capacity;
	/* Work by label on a CPU or waiting for one, which samples separate from exchanges. */
	uint64_t cpu_ns[TP_N_LABELS];
};

static bool is_exchange(const struct tp_segment *segment)
{
	return segment->label < TP_N_LABELS &&
	       tp_label_part(segment->label) == TP_PART_COMMUNICATION;
}

/* Marks the segments of exchanges, and the adjacent waits for a CPU. */
static void find_exchanges(struct peer_waits *p, const struct tp_timeline *timeline)
{
	bool was_exchange = false;
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		bool waits = segment->label == TP_LABEL_IDLE_RUNNABLE;
		if (!waits)
			was_exchange = is_exchange(segment);
		p->halves[i] = waits ? was_exchange : 2 * was_exchange;
	}
	bool is_next_exchange = false;
	for (size_t i = timeline->n; i-- > 0;) {
		const struct tp_segment *segment = &timeline->segments[i];
		if (segment->label == TP_LABEL_IDLE_RUNNABLE)
			p->halves[i] = (uint8_t)(p->halves[i] + is_next_exchange);
		else
			is_next_exchange = is_exchange(segment);
	}
}

/* ---- places ---------------------------------------------------------------------------------- */

/* Returns true for "<genexpr>", "<lambda>" and similar: before Python 3.11 the name does not
 * contain the function around it. */
static bool has_no_name(const struct tp_trace *trace, const struct tp_frame *frame)
{
	const char *name = tp_trace_string(trace, frame->symbol);
	return *name == '<' && strcmp(name, "<module>") != 0;
}

/* Returns the innermost function of the program itself: a Python function in the user's own files,
 * else a function of the executable. Code without a name of its own belongs to its caller in the
 * same file, if there is one. */
static uint32_t find_place(const struct peer_waits *p, uint32_t id)
{
	const struct tp_trace *trace = p->analysis->trace;
	const struct tp_stack *stack = tp_trace_stack(trace, id);
	const char *exe = tp_trace_string(trace, trace->tasks[p->analysis->profile->trainer].exe);
	bool has_python = p->analysis->classes[id].has_python;
	uint32_t nameless = 0;
	for (uint32_t i = 0; i < stack->n_frames; i++) {
		const struct tp_frame *frame = &trace->frames[stack->frames[i]];
		bool is_python = frame->kind == TP_FRAME_PYTHON;
		bool is_own = p->analysis->frame_flags[stack->frames[i]] & TP_FRAME_IS_OWN;
		if (is_python ? !frame->line || !is_own
			      : has_python || !frame->symbol ||
					strcmp(tp_trace_string(trace, frame->module), exe) != 0)
			continue;
		if (is_python && has_no_name(trace, frame))
			nameless = nameless ? nameless : stack->frames[i];
		else if (!nameless || trace->frames[nameless].file == frame->file)
			return stack->frames[i];
	}
	return nameless;
}

/* A stack from before the step is no evidence about the step. */
static bool is_stale(const struct peer_waits *p, const struct tp_segment *segment, size_t step)
{
	const struct tp_profile *profile = p->analysis->profile;
	const struct tp_sample *sample = &p->analysis->trace->samples[segment->sample];
	return profile->is_of_steps && step < profile->n_steps &&
	       profile->steps[step].start_ns <= segment->start_ns &&
	       sample->time_ns < profile->steps[step].start_ns;
}

static uint32_t place_of(struct peer_waits *p, const struct tp_segment *segment, uint32_t before,
			 size_t step)
{
	if (segment->sample == TP_NO_SAMPLE)
		return before;
	if (is_stale(p, segment, step))
		return 0;
	uint32_t stack = p->analysis->trace->samples[segment->sample].stack;
	if (!p->is_done[stack])
		p->by_stack[stack] = find_place(p, stack);
	p->is_done[stack] = true;
	return p->by_stack[stack] ? p->by_stack[stack] : before;
}

static struct place_sum *row_of(struct peer_waits *p, const struct tp_frame *frame)
{
	uint64_t key = tp_hash_mix((uint64_t)frame->file << 32 | frame->line, frame->symbol);
	uint64_t at;
	if (!tp_map_get(&p->index, key, &at)) {
		at = p->n;
		tp_map_set(&p->index, key, at);
		TP_ARRAY_PUSH(p->rows, p->n, p->capacity) =
			(struct place_sum){.place = {.file = frame->file,
						     .symbol = frame->symbol,
						     .line = frame->line}};
	}
	return &p->rows[at];
}

static void add_place(struct peer_waits *p, uint32_t frame_id, const struct tp_segment *segment,
		      uint64_t ns)
{
	enum tp_label label = segment->label;
	struct place_sum *row = row_of(p, &p->analysis->trace->frames[frame_id]);
	row->place.time_ns += ns;
	row->label_ns[label] += ns;
	row->cpu_ns += segment->state == TP_STATE_BLOCKED ? 0 : ns;
	if (label != TP_LABEL_IDLE_RUNNABLE && label != TP_LABEL_DATALOADER_QUEUE)
		return;
	row->place.queue_ns += ns;
	row->queue_ns += segment->state == TP_STATE_BLOCKED ? 0 : ns;
}

static int place_order(const void *a, const void *b)
{
	const struct tp_place_result *x = &((const struct place_sum *)a)->place;
	const struct tp_place_result *y = &((const struct place_sum *)b)->place;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? 1 : -1;
	return (x->line > y->line) - (x->line < y->line);
}

/* A lack of CPUs is the label of a place only if it has hardly any other. */
static enum tp_label main_label(const struct place_sum *row)
{
	int best = TP_LABEL_IDLE_RUNNABLE;
	uint64_t most = row->label_ns[TP_LABEL_IDLE_RUNNABLE] / 4;
	for (int label = 0; label < TP_N_LABELS; label++) {
		if (label == TP_LABEL_IDLE_RUNNABLE || label == TP_LABEL_DATALOADER_QUEUE ||
		    row->label_ns[label] <= most)
			continue;
		best = label;
		most = row->label_ns[label];
	}
	return (enum tp_label)best;
}

static void set_places(struct peer_waits *p)
{
	struct tp_profile *profile = p->analysis->profile;
	if (p->n)
		qsort(p->rows, p->n, sizeof(*p->rows), place_order);
	size_t n = p->n < PLACES_MAX ? p->n : PLACES_MAX;
	profile->places = tp_arena_array(p->analysis->arena, n + 1, sizeof(*profile->places));
	profile->n_places = n;
	for (size_t i = 0; i < n; i++) {
		profile->places[i] = p->rows[i].place;
		profile->places[i].label = main_label(&p->rows[i]);
	}
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Returns how much of the segment lies in judged steps or in the window; adds exchanges to their
 * steps. */
static uint64_t judged_ns(struct tp_profile *profile, const struct tp_segment *segment,
			  unsigned halves, size_t *step)
{
	uint64_t ns = profile->is_of_steps ? 0
					   : tp_segment_ns_in(segment, profile->window_start_ns,
							      profile->window_end_ns);
	while (*step < profile->n_steps && profile->steps[*step].end_ns <= segment->start_ns)
		++*step;
	for (size_t k = *step; k < profile->n_steps && profile->steps[k].start_ns < segment->end_ns;
	     k++) {
		struct tp_step *at = &profile->steps[k];
		uint64_t inside = tp_segment_ns_in(segment, at->start_ns, at->end_ns);
		at->peer_ns += inside * halves / 2;
		ns += profile->is_of_steps && at->kind == TP_STEP_STEADY ? inside : 0;
	}
	return ns;
}

static void sum_segments(struct peer_waits *p, const struct tp_timeline *timeline)
{
	struct tp_profile *profile = p->analysis->profile;
	uint32_t place = 0;
	size_t step = 0;
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		uint64_t ns = judged_ns(profile, segment, p->halves[i], &step);
		place = place_of(p, segment, place, step);
		if (!ns || segment->label >= TP_N_LABELS)
			continue;
		uint64_t moved = is_exchange(segment) ? 0 : ns * p->halves[i] / 2;
		profile->beside_peers_ns[TP_LABEL_COMMUNICATION_WAIT] += moved;
		profile->beside_peers_ns[segment->label] += ns - moved;
		if (!is_exchange(segment) && segment->state != TP_STATE_BLOCKED)
			p->cpu_ns[segment->label] += ns - moved;
		if (!is_exchange(segment) && !segment->is_of_device && place)
			add_place(p, place, segment, ns - moved);
	}
}

static uint64_t steady_peer_ns(const struct tp_profile *profile)
{
	uint64_t sum = 0;
	for (size_t k = 0; k < profile->n_steps; k++)
		sum += profile->steps[k].kind == TP_STEP_STEADY ? profile->steps[k].peer_ns : 0;
	return sum;
}

/* If the share is negative, a sum with the result is still right: unsigned numbers wrap around. */
static uint64_t share_of(uint64_t ns, double share)
{
	return (uint64_t)(int64_t)round((double)ns * share);
}

/* Moves time between exchanges and the work on a CPU, so that labels and places sum up to the steps
 * after their exchanges were estimated again. */
static void move_time(struct peer_waits *p, uint64_t old_ns, uint64_t new_ns)
{
	uint64_t *label_ns = p->analysis->profile->beside_peers_ns;
	double peer_ns = 0;
	double cpu_ns = 0;
	for (int label = 0; label < TP_N_LABELS; label++) {
		bool is_peer = tp_label_part((enum tp_label)label) == TP_PART_COMMUNICATION;
		peer_ns += is_peer ? (double)label_ns[label] : 0;
		cpu_ns += (double)p->cpu_ns[label];
	}
	double moved_ns = fmin((double)old_ns - (double)new_ns, peer_ns);
	if (cpu_ns <= 0 || peer_ns <= 0 || moved_ns == 0)
		return;
	moved_ns = fmax(moved_ns, -cpu_ns);
	for (int label = 0; label < TP_N_LABELS; label++) {
		bool is_peer = tp_label_part((enum tp_label)label) == TP_PART_COMMUNICATION;
		double share = is_peer ? -(double)label_ns[label] / peer_ns
				       : (double)p->cpu_ns[label] / cpu_ns;
		label_ns[label] =
			(uint64_t)fmax(0, round((double)label_ns[label] + share * moved_ns));
	}
	for (size_t i = 0; i < p->n; i++) {
		struct place_sum *row = &p->rows[i];
		row->place.time_ns += share_of(row->cpu_ns, moved_ns / cpu_ns);
		row->place.queue_ns += share_of(row->queue_ns, moved_ns / cpu_ns);
	}
}

/* Sets the place with the most time in the last second: in its very last moments a program cleans
 * up. */
static void set_last_place(struct peer_waits *p, const struct tp_timeline *timeline)
{
	static const uint64_t LAST_NS = 1000000000;
	struct peer_waits last = {.analysis = p->analysis};
	uint64_t end_ns = timeline->n ? timeline->segments[timeline->n - 1].end_ns : 0;
	uint64_t from_ns = end_ns > LAST_NS ? end_ns - LAST_NS : 0;
	uint32_t place = 0;
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		place = place_of(p, segment, place, SIZE_MAX);
		uint64_t ns = tp_segment_ns_in(segment, from_ns, end_ns);
		if (ns && place && segment->label < TP_N_LABELS)
			add_place(&last, place, segment, ns);
	}
	if (last.n) {
		qsort(last.rows, last.n, sizeof(*last.rows), place_order);
		p->analysis->profile->last_place = last.rows[0].place;
		p->analysis->profile->last_place.label = main_label(&last.rows[0]);
	}
	tp_map_release(&last.index);
	free(last.rows);
}

/* Sets the length of the final wait for peers. Short moments in which the rank woke up only to wait
 * again do not end it. */
static void set_tail(struct peer_waits *p, const struct tp_timeline *timeline)
{
	struct tp_profile *profile = p->analysis->profile;
	uint64_t end_ns = timeline->n ? timeline->segments[timeline->n - 1].end_ns : 0;
	uint64_t other_ns = 0;
	for (size_t i = timeline->n; i-- > 0;) {
		const struct tp_segment *segment = &timeline->segments[i];
		if (!p->halves[i]) {
			other_ns += segment->end_ns - segment->start_ns;
			if (other_ns > (end_ns - segment->start_ns) / 100)
				break;
			continue;
		}
		profile->peer_tail_ns = end_ns - segment->start_ns;
	}
}

enum tp_status tp_pass_peer_waits(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	if (analysis->main_task == TP_NO_TASK)
		return TP_OK;
	const struct tp_timeline *timeline = tp_analysis_main_timeline(analysis);
	size_t n_stacks = analysis->trace->n_stacks;
	struct peer_waits p = {.analysis = analysis};
	p.halves = tp_alloc((timeline->n + 1) * sizeof(*p.halves));
	p.by_stack = tp_alloc((n_stacks + 1) * sizeof(*p.by_stack));
	p.is_done = tp_alloc((n_stacks + 1) * sizeof(*p.is_done));
	find_exchanges(&p, timeline);
	sum_segments(&p, timeline);
	uint64_t peer_ns = steady_peer_ns(analysis->profile);
	tp_exchange_times_estimate(analysis->profile, timeline, p.halves);
	if (analysis->profile->is_of_steps)
		move_time(&p, peer_ns, steady_peer_ns(analysis->profile));
	set_places(&p);
	set_tail(&p, timeline);
	set_last_place(&p, timeline);
	tp_map_release(&p.index);
	free(p.halves);
	free(p.by_stack);
	free(p.is_done);
	free(p.rows);
	return TP_OK;
}
