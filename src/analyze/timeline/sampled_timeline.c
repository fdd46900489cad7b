/* SPDX-License-Identifier: Apache-2.0 */
/* Builds those parts of a timeline for which only samples exist. */
#include "sampled_timeline.h"

#include "analyze/thresholds.h"

#include "trainprof/base/memory.h"

#include <math.h>
#include <stdlib.h>

struct probe {
	uint64_t end_ns; /* end of the time that it represents */
	uint32_t sample;
	uint32_t wait; /* the nearest probe that found a wait, with a stack if possible */
};

struct sampled_range {
	const struct tp_trace *trace;
	struct tp_segments *out;
	uint32_t task;
	uint64_t from_ns;
	uint64_t until_ns;
	size_t first; /* index of a sample */
	size_t end;
	size_t n_looks;
	size_t n_timer;      /* number of timer samples */
	size_t n_hits;       /* of those, samples with a complete stack */
	struct probe *looks; /* heap */
};

/* Time that no timer sample represents. */
struct rest {
	double waits_ns; /* blocked, according to probes */
	double runs_ns;  /* on a CPU or runnable */
	/* Share of each kind of time that was on a CPU (run) and runnable (delay). */
	double run_of_waits;
	double delay_of_waits;
	double run_of_runs;
	double delay_of_runs;
};

static const struct tp_sample *sample_of(const struct sampled_range *s, size_t at)
{
	return &s->trace->samples[at];
}

static bool is_probe(const struct tp_sample *sample)
{
	return sample->flags & TP_SAMPLE_POLLED;
}

static bool is_of_timer(const struct tp_sample *sample)
{
	return !is_probe(sample) && sample->state == TP_STATE_ON_CPU;
}

static bool is_hit(const struct tp_sample *sample)
{
	return is_of_timer(sample) && !(sample->flags & TP_SAMPLE_LEAF_ONLY);
}

static void add(const struct sampled_range *s, uint64_t start_ns, uint64_t end_ns,
		enum tp_state state, uint32_t sample, bool is_inferred)
{
	struct tp_segment *segment =
		tp_segments_add(s->out, s->trace, start_ns, end_ns, state, sample);
	if (!segment)
		return;
	segment->is_sampled = true;
	segment->is_inferred = is_inferred;
	if (sample == TP_NO_SAMPLE)
		segment->cause = TP_CAUSE_UNKNOWN;
	else if (state != TP_STATE_BLOCKED)
		segment->cause = TP_CAUSE_NONE;
}

/* ---- without kernel accounting ---------------------------------------------- */

/* Returns the timer sample nearest in time, for a probe that found the thread running. */
static uint32_t nearest_interrupt(const struct sampled_range *s, size_t at)
{
	size_t first = s->trace->sample_index[s->task];
	size_t end = s->trace->sample_index[s->task + 1];
	for (size_t distance = 0; distance < end - first; distance++) {
		if (at >= first + distance && !is_probe(sample_of(s, at - distance)))
			return (uint32_t)(at - distance);
		if (at + distance < end && !is_probe(sample_of(s, at + distance)))
			return (uint32_t)(at + distance);
	}
	return (uint32_t)at;
}

static void add_held(const struct sampled_range *s, uint64_t start_ns, uint64_t end_ns,
		     uint32_t held)
{
	enum tp_state state = held == TP_NO_SAMPLE ? TP_STATE_BLOCKED : sample_of(s, held)->state;
	bool is_running = state == TP_STATE_ON_CPU && s->n_looks;
	add(s, start_ns, end_ns, state, is_running ? nearest_interrupt(s, held) : held, false);
}

/* Uses timer samples only if there are no probes. */
static void split_by_samples(const struct sampled_range *s)
{
	uint64_t start_ns = s->from_ns;
	uint32_t held = TP_NO_SAMPLE;
	for (size_t i = s->first; i < s->end; i++) {
		const struct tp_sample *sample = sample_of(s, i);
		if (s->n_looks && !is_probe(sample))
			continue;
		if (held != TP_NO_SAMPLE) {
			uint64_t middle_ns = (sample_of(s, held)->time_ns + sample->time_ns) / 2;
			add_held(s, start_ns, middle_ns, held);
			start_ns = middle_ns > start_ns ? middle_ns : start_ns;
		}
		held = (uint32_t)i;
	}
	add_held(s, start_ns, s->until_ns, held);
}

/* ---- timer samples ---------------------------------------------------------- */

/* Iterates over the timer samples with a stack; each has the time up to the midpoints between it
 * and its neighbours. */
struct hits {
	const struct sampled_range *sampled_range;
	size_t next;
	size_t at;
	uint64_t start_ns;
	uint64_t end_ns;
};

static size_t find_hit(const struct sampled_range *s, size_t at)
{
	while (at < s->end && !is_hit(sample_of(s, at)))
		at++;
	return at;
}

static struct hits first_hit(const struct sampled_range *s)
{
	return (struct hits){.sampled_range = s,
			     .next = find_hit(s, s->first),
			     .end_ns = s->from_ns};
}

/* Returns false after the last one. */
static bool next_hit(struct hits *hits)
{
	const struct sampled_range *s = hits->sampled_range;
	if (hits->next >= s->end)
		return false;
	hits->at = hits->next;
	hits->next = find_hit(s, hits->at + 1);
	hits->start_ns = hits->end_ns;
	hits->end_ns =
		hits->next < s->end
			? (sample_of(s, hits->at)->time_ns + sample_of(s, hits->next)->time_ns) / 2
			: s->until_ns;
	return true;
}

/* Start of the time that the sample represents, limited to side_ns before it. */
static uint64_t begin_of(const struct hits *hits, uint64_t side_ns)
{
	uint64_t time_ns = sample_of(hits->sampled_range, hits->at)->time_ns;
	return time_ns - hits->start_ns > side_ns ? time_ns - side_ns : hits->start_ns;
}

static uint64_t end_of(const struct hits *hits, uint64_t side_ns)
{
	uint64_t time_ns = sample_of(hits->sampled_range, hits->at)->time_ns;
	return hits->end_ns - time_ns > side_ns ? time_ns + side_ns : hits->end_ns;
}

static double covered_ns(const struct sampled_range *s, uint64_t side_ns)
{
	double sum = 0;
	for (struct hits hits = first_hit(s); next_hit(&hits);)
		sum += (double)(end_of(&hits, side_ns) - begin_of(&hits, side_ns));
	return sum;
}

/* Sampling periods are random, so only their total equals the wanted time. Returns the limit per
 * side with which all samples together represent it. */
static uint64_t find_side(const struct sampled_range *s, double wanted_ns)
{
	uint64_t low = 0;
	uint64_t high = s->until_ns - s->from_ns;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		if (covered_ns(s, middle) < wanted_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- remaining time --------------------------------------------------------- */

static bool is_wait(const struct sampled_range *s, uint32_t sample, bool has_stack)
{
	return sample_of(s, sample)->state == TP_STATE_BLOCKED &&
	       (!has_stack || sample_of(s, sample)->stack);
}

/* Sets the nearest wait before or after each probe. Returns false if there is none. */
static bool find_waits(const struct sampled_range *s, bool has_stack)
{
	struct probe *looks = s->looks;
	uint32_t wait = TP_NO_SAMPLE;
	for (size_t i = 0; i < s->n_looks; i++) {
		if (is_wait(s, looks[i].sample, has_stack))
			wait = looks[i].sample;
		looks[i].wait = wait;
	}
	wait = TP_NO_SAMPLE;
	for (size_t i = s->n_looks; i-- > 0;) {
		uint64_t time_ns = sample_of(s, looks[i].sample)->time_ns;
		if (is_wait(s, looks[i].sample, has_stack))
			wait = looks[i].sample;
		if (looks[i].wait == TP_NO_SAMPLE ||
		    (wait != TP_NO_SAMPLE &&
		     sample_of(s, wait)->time_ns - time_ns <
			     time_ns - sample_of(s, looks[i].wait)->time_ns))
			looks[i].wait = wait;
	}
	return s->n_looks && looks[0].wait != TP_NO_SAMPLE;
}

static void find_probes(struct sampled_range *s)
{
	size_t n = 0;
	s->looks = tp_alloc((s->n_looks + 1) * sizeof(*s->looks));
	for (size_t i = s->first; i < s->end; i++) {
		if (!is_probe(sample_of(s, i)))
			continue;
		s->looks[n] = (struct probe){.sample = (uint32_t)i, .end_ns = s->until_ns};
		if (n)
			s->looks[n - 1].end_ns = (sample_of(s, s->looks[n - 1].sample)->time_ns +
						  sample_of(s, i)->time_ns) /
						 2;
		n++;
	}
}

static void add_rest(const struct sampled_range *s, const struct rest *rest,
		     const struct probe *probe, uint64_t start_ns, uint64_t end_ns)
{
	bool is_of_wait = is_wait(s, probe->sample, false);
	double length_ns = (double)(end_ns - start_ns);
	double run = is_of_wait ? rest->run_of_waits : rest->run_of_runs;
	double delay = is_of_wait ? rest->delay_of_waits : rest->delay_of_runs;
	uint64_t ran_ns = start_ns + (uint64_t)(length_ns * run);
	uint64_t got_ns = start_ns + (uint64_t)(length_ns * (run + delay));
	got_ns = got_ns < end_ns ? got_ns : end_ns;
	uint32_t place = probe->wait;
	if (ran_ns > start_ns && !is_wait(s, place, true))
		place = nearest_interrupt(s, probe->sample);
	add(s, start_ns, ran_ns, TP_STATE_ON_CPU, place, true);
	add(s, ran_ns, got_ns, TP_STATE_RUNNABLE, TP_NO_SAMPLE, false);
	add(s, got_ns, end_ns, TP_STATE_BLOCKED, is_of_wait ? probe->sample : probe->wait,
	    !is_of_wait);
}

/* Iterates over the remaining time: adds the segments if `rest` is given, otherwise sums it up in
 * `sums`. */
static void walk(const struct sampled_range *s, uint64_t side_ns, const struct rest *rest,
		 struct rest *sums)
{
	size_t at = 0;
	uint64_t now_ns = s->from_ns;
	struct hits hits = first_hit(s);
	for (bool is_last = false; !is_last;) {
		is_last = !next_hit(&hits);
		uint64_t until_ns = is_last ? s->until_ns : begin_of(&hits, side_ns);
		while (now_ns < until_ns) {
			while (s->looks[at].end_ns <= now_ns)
				at++;
			const struct probe *probe = &s->looks[at];
			uint64_t end_ns = probe->end_ns < until_ns ? probe->end_ns : until_ns;
			if (rest)
				add_rest(s, rest, probe, now_ns, end_ns);
			else if (is_wait(s, probe->sample, false))
				sums->waits_ns += (double)(end_ns - now_ns);
			else
				sums->runs_ns += (double)(end_ns - now_ns);
			now_ns = end_ns;
		}
		if (is_last)
			break;
		now_ns = end_of(&hits, side_ns);
		if (rest)
			add(s, until_ns, now_ns, TP_STATE_ON_CPU, (uint32_t)hits.at, false);
	}
}

/* Assigns CPU and runnable time to the time of running or runnable probes first, then also to that
 * of blocked probes. */
static void assign_rest(struct rest *rest, double run_ns, double delay_ns)
{
	double all_ns = rest->waits_ns + rest->runs_ns;
	run_ns = fmin(run_ns, all_ns);
	delay_ns = fmin(delay_ns, all_ns - run_ns);
	double wanted_ns = run_ns + delay_ns;
	double of_runs_ns = fmin(wanted_ns, rest->runs_ns);
	double of_waits_ns = wanted_ns - of_runs_ns;
	double run = wanted_ns > 0 ? run_ns / wanted_ns : 0;
	if (rest->runs_ns > 0) {
		rest->run_of_runs = run * of_runs_ns / rest->runs_ns;
		rest->delay_of_runs = (1 - run) * of_runs_ns / rest->runs_ns;
	}
	if (rest->waits_ns > 0) {
		rest->run_of_waits = run * of_waits_ns / rest->waits_ns;
		rest->delay_of_waits = (1 - run) * of_waits_ns / rest->waits_ns;
	}
}

/* ---- with kernel accounting ------------------------------------------------- */

static bool find_accounting(const struct sampled_range *s, double *run_ns, double *delay_ns)
{
	const struct tp_run_info *run = &s->trace->run;
	return s->n_looks && s->n_hits && s->until_ns - s->from_ns >= TP_BOOKS_NS_MIN &&
	       run->sample_rate_hz > 0 &&
	       run->sample_rate_hz >= TP_RATE_KEPT_MIN * run->asked_rate_hz &&
	       tp_trace_counter_delta(s->trace, TP_METRIC_TASK_RUN, s->task, s->from_ns,
				      s->until_ns, run_ns) &&
	       tp_trace_counter_delta(s->trace, TP_METRIC_TASK_DELAY, s->task, s->from_ns,
				      s->until_ns, delay_ns);
}

/* Returns false if there is no usable accounting, or no wait that could take the remaining time. */
static bool split_by_accounting(struct sampled_range *s)
{
	double run_ns;
	double delay_ns;
	if (!find_accounting(s, &run_ns, &delay_ns))
		return false;
	find_probes(s);
	bool has_waits = find_waits(s, true) || find_waits(s, false);
	if (has_waits) {
		struct rest rest = {0};
		double period_ns = 1e9 / s->trace->run.sample_rate_hz;
		double hits_ns = (double)s->n_timer * period_ns;
		bool is_missing = run_ns - hits_ns > TP_MISSED_SHARE_MIN * run_ns &&
				  run_ns - hits_ns > TP_MISSED_SAMPLES_MIN * period_ns;
		uint64_t side_ns = find_side(s, is_missing ? hits_ns : run_ns);
		walk(s, side_ns, NULL, &rest);
		assign_rest(&rest, fmax(run_ns - covered_ns(s, side_ns), 0), delay_ns);
		walk(s, side_ns, &rest, NULL);
	}
	free(s->looks);
	return has_waits;
}

size_t tp_sampled_timeline_add(struct tp_segments *out, const struct tp_trace *trace, uint32_t task,
			       size_t at, uint64_t from_ns, uint64_t until_ns)
{
	struct sampled_range s = {
		.trace = trace, .out = out, .task = task, .from_ns = from_ns, .until_ns = until_ns};
	size_t end = trace->sample_index[task + 1];
	while (at < end && trace->samples[at].time_ns < from_ns)
		at++;
	s.first = at;
	for (; at < end && trace->samples[at].time_ns < until_ns; at++) {
		s.n_looks += is_probe(&trace->samples[at]);
		s.n_timer += is_of_timer(&trace->samples[at]);
		s.n_hits += is_hit(&trace->samples[at]);
	}
	s.end = at;
	if (!split_by_accounting(&s))
		split_by_samples(&s);
	return s.end;
}
