/*
 * Turns runs and samples into one timeline per thread.
 *
 * With context-switch records the borders of "on a CPU", "wants one" and "blocked" are exact, and
 * samples only say what a piece was. A piece that no sample hit takes the sample of another piece
 * of the same thread that is most like it: same state, similar length, nearest in time. Similar
 * length matters: long waits are hit nearly always, short ones rarely, so the nearest hit of any
 * length would nearly always be a long wait, and short ones would take its class.
 *
 * Each sample stands for the CPU time up to the middle between it and its neighbours, also across a
 * wait: a stay of one and a half sampling periods is hit once in its middle or twice near its ends,
 * so that samples would count twice as much in the middle if they had to share the stay.
 *
 * Without switch records, or while they were off, polled samples are instants drawn at random: each
 * one stands for the time around it, to the middle between it and its neighbours.
 */
#include "analysis.h"

#include "classify.h"
#include "patterns.h"
#include "strata.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* What begins and ends a stay and belongs to the sample before and after it. */
struct edges {
	uint64_t head_ns;
	uint64_t tail_ns;
	uint32_t before;
	uint32_t after;
};

struct build {
	const struct tp_trace *trace;
	struct edges *edges;         /* heap: of each stay of the thread */
	struct tp_segment *segments; /* heap */
	size_t n;
	size_t capacity;
	struct tp_strata strata;
};

static bool is_bare(const struct tp_trace *trace, const struct tp_segment *piece)
{
	return piece->state == TP_STATE_BLOCKED && piece->sample != NO_SAMPLE &&
	       trace->samples[piece->sample].stack == 0;
}

static void add_piece(struct build *build, uint64_t start_ns, uint64_t end_ns, enum tp_state state,
		      uint32_t sample)
{
	if (end_ns <= start_ns)
		return;
	struct tp_segment piece = {.start_ns = start_ns,
				   .end_ns = end_ns,
				   .state = state,
				   .sample = sample,
				   .label = TP_N_LABELS};
	if (sample != NO_SAMPLE)
		piece.cause = build->trace->samples[sample].cause;
	TP_ARRAY_PUSH(build->segments, build->n, build->capacity) = piece;
}

/* Samples of a task inside [from, to) with the wanted state; *cursor moves forward only. */
struct sample_cursor {
	size_t next;
	size_t end;
};

static void skip_to(const struct tp_trace *trace, struct sample_cursor *cursor, uint64_t time_ns)
{
	while (cursor->next < cursor->end && trace->samples[cursor->next].time_ns < time_ns)
		cursor->next++;
}

/* A leaf without its callers would pass for another phase; which ones were thinned out is chance,
 * so leaving them out favours nothing. */
static bool is_usable(const struct tp_sample *sample)
{
	return sample->state == TP_STATE_ON_CPU && !(sample->flags & TP_SAMPLE_THINNED);
}

/* The next usable sample before the end of the stay; NO_SAMPLE when there is none. */
static uint32_t next_in_run(const struct tp_trace *trace, struct sample_cursor *cursor,
			    const struct tp_run *run)
{
	skip_to(trace, cursor, run->start_ns);
	while (cursor->next < cursor->end && trace->samples[cursor->next].time_ns < run->end_ns) {
		uint32_t at = (uint32_t)cursor->next++;
		if (is_usable(&trace->samples[at]))
			return at;
	}
	return NO_SAMPLE;
}

/* The border between the last sample of one stay and the first of the next lies in the middle of
 * the CPU time between them. */
static void cut_between(const struct tp_trace *trace, const struct tp_run *run, uint32_t last,
			struct edges *edges, const struct tp_run *next, uint32_t first,
			struct edges *next_edges)
{
	uint64_t tail_ns = run->end_ns - trace->samples[last].time_ns;
	uint64_t head_ns = trace->samples[first].time_ns - next->start_ns;
	if (tail_ns > head_ns) {
		edges->tail_ns = (tail_ns - head_ns) / 2;
		edges->after = first;
	} else {
		next_edges->head_ns = (head_ns - tail_ns) / 2;
		next_edges->before = last;
	}
}

/* Stays shorter than a period are hit once or not at all, and once means anywhere in them. */
static void find_edges(struct build *build, struct sample_cursor cursor, size_t first_run,
		       size_t end_run)
{
	const struct tp_trace *trace = build->trace;
	double rate_hz = trace->run.sample_rate_hz;
	size_t held_run = 0;
	uint32_t held = NO_SAMPLE;
	build->edges = tp_alloc((end_run - first_run + 1) * sizeof(*build->edges));
	for (size_t i = first_run; i < end_run && rate_hz > 0; i++) {
		const struct tp_run *run = &trace->runs[i];
		uint32_t first = next_in_run(trace, &cursor, run);
		uint32_t last = first;
		for (uint32_t at = first; at != NO_SAMPLE; at = next_in_run(trace, &cursor, run))
			last = at;
		if (first == NO_SAMPLE || (double)(run->end_ns - run->start_ns) * rate_hz < 1e9)
			continue;
		if (held != NO_SAMPLE)
			cut_between(trace, &trace->runs[held_run], held,
				    &build->edges[held_run - first_run], run, first,
				    &build->edges[i - first_run]);
		held = last;
		held_run = i;
	}
}

/* Given to a sample of another stay. */
static void add_foreign(struct build *build, uint64_t start_ns, uint64_t end_ns, uint32_t sample)
{
	size_t before = build->n;
	add_piece(build, start_ns, end_ns, TP_STATE_ON_CPU, sample);
	if (build->n > before)
		build->segments[before].is_inferred = true;
}

/* A stay on a CPU: cut in the middle between the samples inside it. */
static void add_run(struct build *build, struct sample_cursor *cursor, const struct tp_run *run,
		    const struct edges *edges)
{
	const struct tp_trace *trace = build->trace;
	uint64_t start = run->start_ns + edges->head_ns;
	uint64_t end = run->end_ns - edges->tail_ns;
	uint32_t held = NO_SAMPLE;
	add_foreign(build, run->start_ns, start, edges->before);
	size_t before = build->n;
	uint32_t at;
	while ((at = next_in_run(trace, cursor, run)) != NO_SAMPLE) {
		if (held != NO_SAMPLE) {
			uint64_t middle =
				(trace->samples[held].time_ns + trace->samples[at].time_ns) / 2;
			add_piece(build, start, middle, TP_STATE_ON_CPU, held);
			start = middle;
		}
		held = at;
	}
	add_piece(build, start, end, TP_STATE_ON_CPU, held);
	if (held != NO_SAMPLE && build->n > before)
		tp_strata_add(&build->strata,
			      run->how == TP_RUN_PREEMPTED ? TP_STAY_RUNS_PREEMPTED : TP_STAY_RUNS,
			      build->segments[before].start_ns, run->end_ns - run->start_ns,
			      build->segments[before].sample);
	add_foreign(build, end, run->end_ns, edges->after);
}

/* Off a CPU. Preempted: runnable throughout. Blocked: until a look found it woken. */
static void add_gap(struct build *build, struct sample_cursor *cursor, uint64_t start_ns,
		    uint64_t end_ns, enum tp_run_end how)
{
	const struct tp_trace *trace = build->trace;
	if (end_ns <= start_ns)
		return;
	if (how == TP_RUN_PREEMPTED) {
		add_piece(build, start_ns, end_ns, TP_STATE_RUNNABLE, NO_SAMPLE);
		return;
	}
	uint64_t woken_ns = end_ns;
	uint32_t held = NO_SAMPLE;
	skip_to(trace, cursor, start_ns);
	for (; cursor->next < cursor->end; cursor->next++) {
		const struct tp_sample *sample = &trace->samples[cursor->next];
		if (sample->time_ns >= end_ns)
			break;
		if (sample->state == TP_STATE_BLOCKED &&
		    (held == NO_SAMPLE || trace->samples[held].stack == 0))
			held = (uint32_t)cursor->next;
		if (sample->state == TP_STATE_RUNNABLE && sample->time_ns < woken_ns)
			woken_ns = sample->time_ns;
	}
	size_t before = build->n;
	add_piece(build, start_ns, woken_ns, TP_STATE_BLOCKED, held);
	if (held != NO_SAMPLE && build->n > before) {
		const struct tp_segment *piece = &build->segments[before];
		tp_strata_add(&build->strata,
			      is_bare(trace, piece) ? TP_STAY_WAITS_BARE : TP_STAY_WAITS,
			      piece->start_ns, end_ns - start_ns, piece->sample);
	}
	add_piece(build, woken_ns, end_ns, TP_STATE_RUNNABLE, NO_SAMPLE);
}

static uint32_t infer_sample(const struct build *build, const struct tp_segment *piece,
			     enum tp_stay_kind kind)
{
	return tp_strata_like(&build->strata, kind, piece->start_ns,
			      piece->end_ns - piece->start_ns);
}

static bool ends_preempted(const struct build *build, size_t piece)
{
	return piece + 1 < build->n && build->segments[piece + 1].state == TP_STATE_RUNNABLE;
}

/* Nobody saw this piece: one like it stands for it, of the other kind where there is none. */
static void infer_unseen(const struct build *build, size_t at)
{
	struct tp_segment *piece = &build->segments[at];
	bool runs = piece->state == TP_STATE_ON_CPU;
	enum tp_stay_kind ran = ends_preempted(build, at) ? TP_STAY_RUNS_PREEMPTED : TP_STAY_RUNS;
	enum tp_stay_kind kind = runs ? ran : TP_STAY_WAITS;
	piece->sample = infer_sample(build, piece, kind);
	if (piece->sample == NO_SAMPLE)
		piece->sample = infer_sample(build, piece, tp_stay_other(kind));
	piece->is_inferred = true;
	piece->cause = runs                         ? TP_CAUSE_NONE
		       : piece->sample == NO_SAMPLE ? TP_CAUSE_UNKNOWN
						    : build->trace->samples[piece->sample].cause;
}

/* The cause is known, the place is that of a like wait for the same. */
static void infer_place(const struct build *build, struct tp_segment *piece)
{
	uint32_t like = infer_sample(build, piece, TP_STAY_WAITS);
	if (like == NO_SAMPLE || build->trace->samples[like].cause != piece->cause)
		return;
	piece->sample = like;
	piece->is_inferred = true;
}

static void infer_pieces(struct build *build)
{
	for (size_t i = 0; i < build->n; i++) {
		struct tp_segment *piece = &build->segments[i];
		if (is_bare(build->trace, piece))
			infer_place(build, piece);
		else if (piece->sample == NO_SAMPLE && piece->state != TP_STATE_RUNNABLE)
			infer_unseen(build, i);
	}
}

static uint64_t task_end(const struct tp_trace *trace, const struct tp_task *task)
{
	uint64_t end = task->end_ns ? task->end_ns : trace->end_ns;
	return end < trace->end_ns || !trace->end_ns ? end : trace->end_ns;
}

/* The on-CPU stack nearest in time among interrupts, for a poll that found the thread running. */
static uint32_t nearest_interrupt(const struct tp_trace *trace, uint32_t task, size_t at)
{
	size_t first = trace->sample_index[task];
	size_t end = trace->sample_index[task + 1];
	for (size_t distance = 0; distance < end - first; distance++) {
		if (at >= first + distance &&
		    !(trace->samples[at - distance].flags & TP_SAMPLE_POLLED))
			return (uint32_t)(at - distance);
		if (at + distance < end &&
		    !(trace->samples[at + distance].flags & TP_SAMPLE_POLLED))
			return (uint32_t)(at + distance);
	}
	return (uint32_t)at;
}

/* Is there a sample of [from, to) with these flags? */
static bool has_sample(const struct tp_trace *trace, struct sample_cursor cursor, uint64_t from_ns,
		       uint64_t to_ns, uint32_t flags)
{
	skip_to(trace, &cursor, from_ns);
	for (; cursor.next < cursor.end; cursor.next++) {
		const struct tp_sample *sample = &trace->samples[cursor.next];
		if (sample->time_ns >= to_ns)
			return false;
		if ((sample->flags & flags) == flags)
			return true;
	}
	return false;
}

/* Where nothing but samples tells; interrupts only when nobody looked. */
static void add_sampled(struct build *build, struct sample_cursor *cursor, uint32_t task,
			uint64_t from_ns, uint64_t until_ns)
{
	const struct tp_trace *trace = build->trace;
	bool has_polls = has_sample(trace, *cursor, from_ns, until_ns, TP_SAMPLE_POLLED);
	size_t before = build->n;
	uint64_t start = from_ns;
	uint32_t held = NO_SAMPLE;
	skip_to(trace, cursor, from_ns);
	for (; cursor->next < cursor->end; cursor->next++) {
		const struct tp_sample *sample = &trace->samples[cursor->next];
		if (sample->time_ns >= until_ns)
			break;
		if (has_polls && !(sample->flags & TP_SAMPLE_POLLED))
			continue;
		if (held != NO_SAMPLE) {
			uint64_t middle = (trace->samples[held].time_ns + sample->time_ns) / 2;
			add_piece(build, start, middle, trace->samples[held].state, held);
			start = middle > start ? middle : start;
		}
		held = (uint32_t)cursor->next;
	}
	enum tp_state last = held == NO_SAMPLE ? TP_STATE_BLOCKED : trace->samples[held].state;
	add_piece(build, start, until_ns, last, held);
	for (size_t i = before; i < build->n; i++) {
		struct tp_segment *piece = &build->segments[i];
		piece->is_sampled = true;
		if (piece->sample == NO_SAMPLE)
			piece->cause = TP_CAUSE_UNKNOWN;
		else if (piece->state == TP_STATE_ON_CPU && has_polls)
			piece->sample = nearest_interrupt(trace, task, piece->sample);
	}
}

/* Between two stays. */
static void add_between(struct build *build, struct sample_cursor *cursor, uint32_t task,
			uint64_t from_ns, uint64_t to_ns, enum tp_run_end how)
{
	if (how == TP_RUN_OPEN && has_sample(build->trace, *cursor, from_ns, to_ns, 0))
		add_sampled(build, cursor, task, from_ns, to_ns);
	else
		add_gap(build, cursor, from_ns, to_ns, how);
}

/* A new thread waits for its first turn. But looks that find a thread on a CPU are only kept while
 * nothing else tells where it is. */
static bool was_born_unseen(const struct tp_trace *trace, struct sample_cursor cursor,
			    uint64_t first_run_ns)
{
	for (; cursor.next < cursor.end; cursor.next++) {
		const struct tp_sample *sample = &trace->samples[cursor.next];
		if (sample->time_ns >= first_run_ns)
			return false;
		if (sample->state == TP_STATE_ON_CPU && (sample->flags & TP_SAMPLE_POLLED))
			return true;
	}
	return false;
}

static void build_from_runs(struct build *build, const struct tp_task *task, uint64_t until_ns)
{
	const struct tp_trace *trace = build->trace;
	struct sample_cursor cursor = {trace->sample_index[task->id],
				       trace->sample_index[task->id + 1]};
	uint64_t at = task->start_ns;
	size_t first = trace->run_index[task->id];
	size_t end = trace->run_index[task->id + 1];
	enum tp_run_end how = was_born_unseen(trace, cursor, trace->runs[first].start_ns)
				      ? TP_RUN_OPEN
				      : TP_RUN_PREEMPTED;
	find_edges(build, cursor, first, end);
	for (size_t i = first; i < end; i++) {
		const struct tp_run *run = &trace->runs[i];
		add_between(build, &cursor, task->id, at, run->start_ns, how);
		add_run(build, &cursor, run, &build->edges[i - first]);
		at = run->end_ns;
		how = run->how;
	}
	if (how != TP_RUN_EXITED)
		add_between(build, &cursor, task->id, at, until_ns, how);
	infer_pieces(build);
	free(build->edges);
}

static void build_from_samples(struct build *build, const struct tp_task *task, uint64_t until_ns)
{
	const struct tp_trace *trace = build->trace;
	struct sample_cursor cursor = {trace->sample_index[task->id],
				       trace->sample_index[task->id + 1]};
	add_sampled(build, &cursor, task->id, task->start_ns, until_ns);
}

/* A thread that imports modules does nothing then that it does later: training begins after the
 * last of them, as a rule. */
static uint64_t imports_end_ns(const struct tp_analysis *analysis, uint32_t task)
{
	const struct tp_trace *trace = analysis->trace;
	for (size_t i = trace->sample_index[task + 1]; i-- > trace->sample_index[task];)
		if (analysis->classes[trace->samples[i].stack].phase == TP_PHASE_IMPORT)
			return trace->samples[i].time_ns;
	return 0;
}

static void sum_thread(struct tp_analysis *analysis, uint32_t id)
{
	struct tp_thread_info *info = &analysis->threads[id];
	const struct tp_timeline *timeline = &analysis->timelines[id];
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *piece = &timeline->segments[i];
		if (piece->state != TP_STATE_ON_CPU)
			continue;
		uint64_t length = piece->end_ns - piece->start_ns;
		info->on_cpu_ns += length;
		if (piece->sample == NO_SAMPLE)
			continue;
		const struct tp_stack_class *class =
			&analysis->classes[analysis->trace->samples[piece->sample].stack];
		info->phase_ns[class->phase] += length;
		/* Reading a checkpoint or compressing a log is no loading. */
		if (!tp_phase_protects(class->phase) || class->phase == TP_PHASE_DATALOADER)
			info->leaf_ns[class->leaf] += length;
	}
}

/* Leaders come before their threads in order of birth, but a lost record may hide one. */
static void find_leaders(struct tp_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	struct tp_map leaders = {0};
	for (size_t i = 0; i < trace->n_tasks; i++) {
		const struct tp_task *task = &trace->tasks[i];
		if (task->tid == task->pid)
			tp_map_set(&leaders, (uint64_t)task->pid, i);
		uint64_t leader = i;
		(void)tp_map_get(&leaders, (uint64_t)task->pid, &leader);
		analysis->threads[i].leader = (uint32_t)leader;
	}
	tp_map_release(&leaders);
	for (size_t i = 0; i < trace->n_tasks; i++)
		analysis->threads[i].next = TP_NO_TASK;
	for (size_t i = trace->n_tasks; i-- > 0;) {
		struct tp_thread_info *leader = &analysis->threads[analysis->threads[i].leader];
		if (leader == &analysis->threads[i])
			continue;
		analysis->threads[i].next = leader->next;
		leader->next = (uint32_t)i;
	}
}

enum tp_status tp_pass_threads(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	const struct tp_trace *trace = analysis->trace;
	struct tp_arena *arena = analysis->arena;
	analysis->classes = tp_classify_stacks(trace, analysis->patterns, arena);
	analysis->timelines = tp_arena_array(arena, trace->n_tasks, sizeof(struct tp_timeline));
	analysis->threads = tp_arena_array(arena, trace->n_tasks, sizeof(struct tp_thread_info));
	analysis->has_runs = trace->n_runs > 0;
	find_leaders(analysis);
	for (uint32_t id = 0; id < trace->n_tasks; id++) {
		const struct tp_task *task = &trace->tasks[id];
		struct build build = {.trace = trace};
		build.strata.border_ns = imports_end_ns(analysis, id);
		if (trace->run_index[id] < trace->run_index[id + 1])
			build_from_runs(&build, task, task_end(trace, task));
		else
			build_from_samples(&build, task, task_end(trace, task));
		analysis->timelines[id].n = build.n;
		analysis->timelines[id].segments =
			tp_arena_copy(arena, build.segments, build.n * sizeof(*build.segments));
		free(build.segments);
		tp_strata_release(&build.strata);
		sum_thread(analysis, id);
	}
	return TP_OK;
}
