/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the phase in which the main thread was preempted, from samples at that moment or from
 * similar preemptions. */
#include "preemption.h"

#include "analyze/thresholds.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"

#include <stdlib.h>

enum { MAX_SEARCH = 32 }; /* segments to search for samples on each side */

static const struct tp_segment *segment_at(const struct tp_preemption *self, size_t at)
{
	return at < self->timeline->n ? &self->timeline->segments[at] : NULL;
}

/* Returns true if the segment was itself sampled on a CPU and the sample has a usable stack. */
static bool is_seen(const struct tp_preemption *self, const struct tp_segment *segment)
{
	if (!segment || segment->state != TP_STATE_ON_CPU || segment->sample == TP_NO_SAMPLE ||
	    segment->is_inferred)
		return false;
	uint32_t stack = self->analysis->trace->samples[segment->sample].stack;
	return !self->needs_python || self->analysis->classes[stack].has_python;
}

static enum tp_phase phase_of(const struct tp_preemption *self, uint32_t sample)
{
	return self->analysis->classes[self->analysis->trace->samples[sample].stack].phase;
}

static uint64_t distance(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns;
}

static bool is_preempted(const struct tp_preemption *self, size_t at)
{
	const struct tp_segment *segment = segment_at(self, at);
	const struct tp_segment *run = at > 0 ? segment_at(self, at - 1) : NULL;
	return segment->state == TP_STATE_RUNNABLE && run && run->state == TP_STATE_ON_CPU &&
	       run->end_ns == segment->start_ns;
}

/* Uses the sample next to the preemption, before or after; returns false if none is near enough. */
static bool find_by_samples(const struct tp_preemption *self, size_t at, enum tp_phase *out)
{
	const struct tp_trace *trace = self->analysis->trace;
	const struct tp_segment *segment = segment_at(self, at);
	const struct tp_segment *sides[] = {segment_at(self, at - 1), segment_at(self, at + 1)};
	const uint64_t borders_ns[] = {segment->start_ns, segment->end_ns};
	double rate_hz = trace->run.sample_rate_hz;
	uint64_t best_ns = rate_hz > 0 ? (uint64_t)(1e9 / rate_hz / TP_LOSS_NEAR_PARTS) : 0;
	uint32_t best = TP_NO_SAMPLE;
	for (int i = 0; i < 2; i++) {
		if (!is_seen(self, sides[i]))
			continue;
		uint64_t ns = distance(trace->samples[sides[i]->sample].time_ns, borders_ns[i]);
		if (ns <= best_ns) {
			best_ns = ns;
			best = sides[i]->sample;
		}
	}
	if (best != TP_NO_SAMPLE)
		*out = phase_of(self, best);
	return best != TP_NO_SAMPLE;
}

/* Length of the run on the CPU that ended there; samples cut it into segments. */
static uint64_t run_ns_before(const struct tp_preemption *self, size_t at)
{
	uint64_t end_ns = segment_at(self, at)->start_ns;
	uint64_t start_ns = end_ns;
	for (size_t i = at; i > 0; i--) {
		const struct tp_segment *segment = segment_at(self, i - 1);
		if (segment->state != TP_STATE_ON_CPU || segment->end_ns != start_ns)
			break;
		start_ns = segment->start_ns;
	}
	return end_ns - start_ns;
}

/* Returns how many of the samples, which are in order of task and time, precede this position. */
static size_t count_before(const struct tp_sample *samples, size_t n, uint32_t task,
			   uint64_t time_ns)
{
	size_t at;
	TP_FIND_FIRST(at, 0, n,
		      samples[at].task > task ||
			      (samples[at].task == task && samples[at].time_ns >= time_ns));
	return at;
}

/* Uses the sample that was taken as the thread left the CPU. A stay has such a sample only at its
 * end. */
static bool find_by_switch(const struct tp_preemption *self, size_t at, enum tp_phase *out)
{
	const struct tp_trace *trace = self->analysis->trace;
	uint32_t task = self->analysis->main_task;
	uint64_t end_ns = segment_at(self, at)->start_ns;
	size_t after = count_before(trace->leavings, trace->n_leavings, task, end_ns + 1);
	if (after == 0)
		return false;
	const struct tp_sample *sample = &trace->leavings[after - 1];
	const struct tp_stack_class *class = &self->analysis->classes[sample->stack];
	if (sample->task != task || sample->time_ns + run_ns_before(self, at) < end_ns ||
	    (self->needs_python && !class->has_python))
		return false;
	*out = class->phase;
	return true;
}

/* Uses a stack read while the thread was runnable: it did not run then and is still where it lost
 * the CPU. */
static bool find_by_python_read(const struct tp_preemption *self, size_t at, enum tp_phase *out)
{
	const struct tp_trace *trace = self->analysis->trace;
	const struct tp_segment *segment = segment_at(self, at);
	uint32_t task = self->analysis->main_task;
	size_t end = trace->sample_index[task + 1];
	size_t begin = count_before(trace->samples, end, task, segment->start_ns);
	for (size_t i = begin; i < end; i++) {
		const struct tp_sample *sample = &trace->samples[i];
		const struct tp_stack_class *class = &self->analysis->classes[sample->stack];
		if (sample->time_ns >= segment->end_ns)
			break;
		if (sample->state != TP_STATE_RUNNABLE || !class->has_python)
			continue;
		*out = class->phase;
		return true;
	}
	return false;
}

static bool find_known(const struct tp_preemption *self, size_t at, enum tp_phase *out)
{
	bool (*const ways[])(const struct tp_preemption *, size_t, enum tp_phase *) = {
		[TP_PREEMPTION_BY_SAMPLES] = find_by_samples,
		[TP_PREEMPTION_BY_PYTHON_READS] = find_by_python_read,
		[TP_PREEMPTION_BY_SWITCHES] = find_by_switch,
	};
	return ways[self->way](self, at, out);
}

/* Returns how many preemptions precede that time. */
static size_t count_preemptions(const struct tp_preemption *self, uint64_t time_ns)
{
	size_t at;
	TP_FIND_FIRST(at, 0, self->n_losses, self->losses[at].time_ns >= time_ns);
	return at;
}

/* Returns true if the phase is known for a sufficient part of the preemptions. If only few have a
 * sample, the source was switched off during the run and covers only the time before. */
static bool has_enough_known(const struct tp_preemption *self)
{
	size_t n_lost = 0;
	size_t n_known = 0;
	for (size_t i = 0; i < self->timeline->n; i++) {
		enum tp_phase ignored;
		if (!is_preempted(self, i))
			continue;
		n_lost++;
		n_known += find_known(self, i, &ignored);
	}
	return n_known && n_lost <= n_known * TP_LOSSES_MAX;
}

static void choose_source(struct tp_preemption *self)
{
	self->way = TP_PREEMPTION_BY_SWITCHES;
	if (self->analysis->trace->n_leavings && has_enough_known(self))
		return;
	self->way = TP_PREEMPTION_BY_PYTHON_READS;
	if (self->needs_python && has_enough_known(self))
		return;
	self->way = TP_PREEMPTION_BY_SAMPLES;
}

/* Collects the stays of the main thread that ended by preemption. */
static void find_preemptions(struct tp_preemption *self)
{
	const struct tp_trace *trace = self->analysis->trace;
	uint32_t task = self->analysis->main_task;
	size_t end = trace->run_index[task + 1];
	size_t first = trace->run_index[task];
	self->losses = tp_alloc((end - first + 1) * sizeof(*self->losses));
	for (size_t i = first; i < end; i++) {
		const struct tp_run *run = &trace->runs[i];
		if (run->how == TP_RUN_PREEMPTED)
			self->losses[self->n_losses++] =
				(struct tp_preemption_event){.time_ns = run->end_ns,
							     .cpu = run->cpu};
	}
}

/* Records the task of `run` as the one that took the CPU, if the run follows a preemption. */
static void check_next_task(struct tp_preemption *self, const struct tp_run *run,
			    enum tp_run_end before)
{
	size_t at = count_preemptions(self, run->start_ns + 1);
	if (at == 0)
		return;
	struct tp_preemption_event *lost = &self->losses[at - 1];
	if (lost->cpu != run->cpu || run->start_ns - lost->time_ns >= TP_SWITCH_NS ||
	    lost->taker != TP_THREAD_OTHER)
		return;
	lost->taker = self->analysis->threads[run->task].role;
	lost->is_taker_woken = before != TP_RUN_PREEMPTED;
}

static void find_next_tasks(struct tp_preemption *self)
{
	const struct tp_trace *trace = self->analysis->trace;
	for (uint32_t task = 0; task < trace->n_tasks; task++) {
		enum tp_run_end before = TP_RUN_BLOCKED;
		for (size_t i = trace->run_index[task]; i < trace->run_index[task + 1]; i++) {
			check_next_task(self, &trace->runs[i], before);
			before = trace->runs[i].how;
		}
	}
}

/* Returns NULL if the records of the switch are incomplete. */
static const struct tp_preemption_event *preemption_at(const struct tp_preemption *self, size_t at)
{
	uint64_t time_ns = segment_at(self, at)->start_ns;
	size_t found = count_preemptions(self, time_ns);
	bool is_it = found < self->n_losses && self->losses[found].time_ns == time_ns;
	return is_it ? &self->losses[found] : NULL;
}

/* CPU time since the last wait; UINT64_MAX if that is long ago. */
static uint64_t since_wait_ns(const struct tp_preemption *self, size_t at)
{
	uint64_t ran_ns = 0;
	for (size_t i = at; i > 0 && ran_ns < TP_WAKING_NS; i--) {
		const struct tp_segment *segment = segment_at(self, i - 1);
		if (segment->state == TP_STATE_BLOCKED)
			return ran_ns;
		if (segment->state == TP_STATE_ON_CPU)
			ran_ns += segment->end_ns - segment->start_ns;
	}
	return UINT64_MAX;
}

/*
 * Returns the properties by which preemptions are compared: which kind of thread took the CPU,
 * whether it was just woken, how long the thread had run without a break (right after a wait: since
 * the wait), and how long it then waited for a CPU. If only samples nearby are known, the wait
 * counts only if the samples themselves cause preemptions: a process that reads Python at a sample
 * is woken by it and soon releases the CPU.
 */
static struct tp_preemption_key preemption_key_of(const struct tp_preemption *self, size_t at)
{
	const struct tp_segment *segment = segment_at(self, at);
	const struct tp_preemption_event *lost = preemption_at(self, at);
	uint64_t since_ns = since_wait_ns(self, at);
	bool is_waking = since_ns < TP_WAKING_NS;
	bool counts_wait = self->way != TP_PREEMPTION_BY_SAMPLES || self->needs_python;
	int group = lost ? (int)lost->taker * 4 + lost->is_taker_woken * 2 : 0;
	return (struct tp_preemption_key){.group = group + is_waking,
					  .time_ns = segment->start_ns,
					  .stay_ns = is_waking ? since_ns : run_ns_before(self, at),
					  .wait_ns = counts_wait
							     ? segment->end_ns - segment->start_ns
							     : 0};
}

void tp_preemption_build(struct tp_preemption *self, const struct tp_analysis *analysis,
			 const struct tp_timeline *timeline, bool needs_python)
{
	*self = (struct tp_preemption){.analysis = analysis,
				       .timeline = timeline,
				       .needs_python = needs_python};
	choose_source(self);
	find_preemptions(self);
	find_next_tasks(self);
	for (size_t i = 0; i < timeline->n; i++) {
		enum tp_phase phase;
		if (!is_preempted(self, i) || !find_known(self, i, &phase))
			continue;
		struct tp_preemption_key loss = preemption_key_of(self, i);
		tp_preemption_model_add(&self->known, &loss, phase);
	}
}

void tp_preemption_release(struct tp_preemption *self)
{
	tp_preemption_model_release(&self->known);
	free(self->losses);
}

/* Returns how many samples in a row in that direction are of this phase, within the search limit; 0
 * if one is of another phase. */
static int count_same_phase(const struct tp_preemption *self, size_t at, int way,
			    enum tp_phase phase)
{
	int n = 0;
	for (size_t i = 1; i <= MAX_SEARCH && n < TP_LOSS_AROUND; i++) {
		if (way < 0 && i > at)
			break;
		const struct tp_segment *segment = segment_at(self, way < 0 ? at - i : at + i);
		if (!segment)
			break;
		if (is_seen(self, segment) && phase_of(self, segment->sample) != phase)
			return 0;
		n += is_seen(self, segment);
	}
	return n;
}

enum tp_phase tp_preemption_phase(const struct tp_preemption *self, size_t at, enum tp_phase before)
{
	if (!is_preempted(self, at))
		return before;
	enum tp_phase phase;
	if (find_known(self, at, &phase))
		return phase;
	if (self->way == TP_PREEMPTION_BY_SAMPLES &&
	    count_same_phase(self, at, -1, before) == TP_LOSS_AROUND &&
	    count_same_phase(self, at, 1, before) == TP_LOSS_AROUND)
		return before;
	struct tp_preemption_key loss = preemption_key_of(self, at);
	return tp_preemption_model_find(&self->known, &loss, &phase) ? phase : before;
}
