/* SPDX-License-Identifier: Apache-2.0 */
/* Determines what keeps the main thread off its CPU. */
#include "wait_attribution.h"

#include "analyze/classify/frame_class.h"
#include "analyze/roles/poll_loop.h"
#include "analyze/thresholds.h"
#include "label.h"
#include "offloaded_work.h"

/* The labels of waits for a team differ in what counts while the team reads files, sleeps or does
 * nothing. */
/* clang-format off */
#define TEAM_LABELS(read, sleep, none) { \
	[TP_ACTIVITY_WORK] = TP_LABEL_COMPUTE_SPIN, \
	[TP_ACTIVITY_SCRIPT] = TP_LABEL_HOST_INTERPRETER, \
	[TP_ACTIVITY_READ] = (read), \
	[TP_ACTIVITY_QUEUE] = TP_LABEL_IDLE_RUNNABLE, \
	[TP_ACTIVITY_TRANSFER] = TP_LABEL_COMPUTE_SPIN, \
	[TP_ACTIVITY_SLEEP] = (sleep), \
	[TP_ACTIVITY_EXCHANGE] = TP_LABEL_COMMUNICATION_WAIT, \
	[TP_ACTIVITY_NONE] = (none), \
}
/* clang-format on */

static const enum tp_label team_labels[TP_N_ACTIVITIES] =
	TEAM_LABELS(TP_LABEL_IDLE_IO, TP_LABEL_IDLE_SLEEP, TP_LABEL_IDLE_LOCK);

/* A wait inside the barrier of its own team counts for the team, whatever delays the other
 * members. */
static const enum tp_label barrier_labels[TP_N_ACTIVITIES] =
	TEAM_LABELS(TP_LABEL_COMPUTE_SPIN, TP_LABEL_COMPUTE_SPIN, TP_LABEL_COMPUTE_SPIN);

/* The team woke the thread: gaps in the team's activity are wake-up latency. */
static const enum tp_label woken_labels[TP_N_ACTIVITIES] =
	TEAM_LABELS(TP_LABEL_IDLE_IO, TP_LABEL_IDLE_SLEEP, TP_LABEL_COMPUTE_SPIN);

/* The thread reads from a pipe that the team writes. */
static const enum tp_label team_pipe_labels[TP_N_ACTIVITIES] =
	TEAM_LABELS(TP_LABEL_IDLE_IO, TP_LABEL_IDLE_SLEEP, TP_LABEL_IDLE_PEER);

/* The main thread only hands out the work and collects it: what the pool does is the step. */
static const enum tp_label worker_labels[TP_N_ACTIVITIES] = {
	[TP_ACTIVITY_WORK] = TP_LABEL_COMPUTE_MATH,
	[TP_ACTIVITY_SCRIPT] = TP_LABEL_HOST_INTERPRETER,
	[TP_ACTIVITY_READ] = TP_LABEL_IDLE_IO,
	[TP_ACTIVITY_QUEUE] = TP_LABEL_IDLE_RUNNABLE,
	[TP_ACTIVITY_TRANSFER] = TP_LABEL_HOST_OTHER,
	[TP_ACTIVITY_SLEEP] = TP_LABEL_IDLE_SLEEP,
	[TP_ACTIVITY_EXCHANGE] = TP_LABEL_COMMUNICATION_WAIT,
	[TP_ACTIVITY_NONE] = TP_LABEL_HOST_OTHER,
};

static struct tp_wait wait_for_loader(const struct tp_wait_attribution *waiting)
{
	return (struct tp_wait){.label = TP_LABEL_DATALOADER_HANDOVER,
				.follow = &waiting->loader,
				.labels = tp_wait_loader_labels};
}

/* `label` applies where the team's activity does not cover the wait. A main thread that delegates
 * whole steps delegates data fetching, too. */
static struct tp_wait wait_for_team(const struct tp_wait_attribution *waiting, enum tp_label label,
				    const enum tp_label *labels)
{
	return (struct tp_wait){.label = label,
				.follow = &waiting->team,
				.labels = labels,
				.behind = waiting->delegates ? &waiting->loader : NULL,
				.is_delegated = waiting->delegates};
}

static struct tp_wait wait_for_pool(const struct tp_wait_attribution *waiting)
{
	return (struct tp_wait){.label = TP_LABEL_HOST_OTHER,
				.follow = &waiting->pool,
				.labels = worker_labels};
}

static struct tp_wait fixed(enum tp_label label)
{
	return (struct tp_wait){.label = label};
}

/* Blocked inside the loader's `next`. */
static struct tp_wait loader_wait(const struct tp_wait_attribution *waiting, enum tp_cause cause)
{
	switch (cause) {
	case TP_CAUSE_FILE:
	case TP_CAUSE_DISK:
	case TP_CAUSE_PAGE_FAULT:
		return fixed(TP_LABEL_DATALOADER_FETCH);
	case TP_CAUSE_SLEEP:
		/* Polling a queue looks like sleep: the activity of the workers decides. */
		return waiting->loader.activities.n ? wait_for_loader(waiting)
						    : fixed(TP_LABEL_DATALOADER_PAUSE);
	case TP_CAUSE_GIL: /* a thread of its own process runs Python; workers have locks of their
			      own */
		return fixed(TP_LABEL_DATALOADER_HANDOVER);
	case TP_CAUSE_SOCKET: /* without workers, a server sends the samples */
		return waiting->loader.activities.n ? wait_for_loader(waiting)
						    : fixed(TP_LABEL_DATALOADER_FETCH);
	default:
		return waiting->loader.activities.n ? wait_for_loader(waiting)
						    : fixed(TP_LABEL_DATALOADER_HANDOVER);
	}
}

/* Returns true if any thread of the group uses a CPU or storage at that time. */
static bool is_active(const struct tp_activities *group, uint64_t time_ns)
{
	size_t at = tp_activities_find(group, time_ns);
	return at < group->n && (group->items[at].kind <= TP_ACTIVITY_READ ||
				 group->items[at].kind == TP_ACTIVITY_TRANSFER);
}

static uint64_t active_ns(const struct tp_activities *group, const struct tp_segment *segment)
{
	uint64_t sum = 0;
	for (size_t i = tp_activities_find(group, segment->start_ns); i < group->n; i++) {
		const struct tp_activity *item = &group->items[i];
		if (item->start_ns >= segment->end_ns)
			break;
		if (item->kind <= TP_ACTIVITY_READ)
			sum += tp_segment_ns_in(segment, item->start_ns, item->end_ns);
	}
	return sum;
}

/* The pool worked for more of that time than any other group, or for most of it beside loaders,
 * which work ahead. A wait in which nothing worked is for the pool only if it is alone. */
static bool is_wait_for_pool(const struct tp_wait_attribution *waiting,
			     const struct tp_segment *segment)
{
	uint64_t pool_ns = active_ns(&waiting->pool.activities, segment);
	uint64_t team_ns = active_ns(&waiting->team.activities, segment);
	uint64_t loader_ns = active_ns(&waiting->loader.activities, segment);
	if (!pool_ns && !team_ns && !loader_ns)
		return waiting->pool.activities.n && !waiting->team.activities.n &&
		       !waiting->loader.activities.n;
	bool is_most = 2 * pool_ns >= segment->end_ns - segment->start_ns;
	return pool_ns && pool_ns >= team_ns && (pool_ns >= loader_ns || is_most);
}

/*
 * Finds the group for which a thread blocked on a futex waits. The thread that wakes it is on a CPU
 * just before it runs again; if that is ambiguous, the group that was busier during the wait is
 * used. If the main thread waits for its team in other functions, team members do not count as the
 * waker: they spin for a while before they sleep, in a stay whose sample may have been taken at
 * work.
 */
static struct tp_wait futex_wait(const struct tp_wait_attribution *waiting,
				 const struct tp_segment *segment)
{
	if (is_wait_for_pool(waiting, segment))
		return wait_for_pool(waiting);
	uint64_t wake = segment->end_ns > segment->start_ns + TP_WAKER_NS
				? segment->end_ns - TP_WAKER_NS
				: segment->start_ns;
	bool team = is_active(&waiting->team.activities, wake);
	bool loader = is_active(&waiting->loader.activities, wake);
	if (team && !loader)
		return wait_for_team(waiting, TP_LABEL_COMPUTE_SPIN, woken_labels);
	if (loader && (!team || waiting->joins_team) && !waiting->delegates)
		return wait_for_loader(waiting);
	uint64_t team_ns = active_ns(&waiting->team.activities, segment);
	uint64_t loader_ns = active_ns(&waiting->loader.activities, segment);
	if ((team_ns || loader_ns) && waiting->delegates)
		return wait_for_team(waiting, TP_LABEL_IDLE_LOCK, woken_labels);
	if (team_ns || loader_ns)
		return team_ns >= loader_ns
			       ? wait_for_team(waiting, TP_LABEL_IDLE_LOCK, team_labels)
			       : wait_for_loader(waiting);
	if (waiting->team.activities.n)
		return wait_for_team(waiting, TP_LABEL_IDLE_LOCK, team_labels);
	return waiting->loader.activities.n ? wait_for_loader(waiting) : fixed(TP_LABEL_IDLE_LOCK);
}

/* A loop of short sleeps polls until another thread is done. */
static struct tp_wait sleep_wait(const struct tp_wait_attribution *waiting,
				 const struct tp_segment *segment)
{
	const struct tp_analysis *analysis = waiting->analysis;
	bool polls =
		tp_poll_loop_is_sleep(tp_analysis_timeline(analysis, analysis->main_task), segment);
	if (polls && (active_ns(&waiting->team.activities, segment) ||
		      active_ns(&waiting->pool.activities, segment) ||
		      active_ns(&waiting->loader.activities, segment)))
		return futex_wait(waiting, segment);
	return fixed(TP_LABEL_IDLE_SLEEP);
}

static struct tp_wait file_wait(const struct tp_wait_attribution *waiting,
				const struct tp_segment *segment,
				const struct tp_stack_class *class)
{
	const struct tp_trace *trace = waiting->analysis->trace;
	enum tp_file_kind kind = TP_FILE_UNKNOWN;
	if (segment->sample != TP_NO_SAMPLE)
		kind = tp_patterns_file(waiting->analysis->patterns,
					tp_trace_string(trace,
							trace->samples[segment->sample].target));
	if (class->leaf == TP_LEAF_WRITE)
		return fixed(kind == TP_FILE_LOG ? TP_LABEL_HOST_LOGGING
						 : TP_LABEL_HOST_CHECKPOINT);
	if (class->leaf == TP_LEAF_READ || kind == TP_FILE_DATA)
		return fixed(TP_LABEL_DATALOADER_FETCH);
	if (kind == TP_FILE_CHECKPOINT)
		return fixed(TP_LABEL_HOST_CHECKPOINT);
	return fixed(kind == TP_FILE_LOG ? TP_LABEL_HOST_LOGGING : TP_LABEL_IDLE_IO);
}

static struct tp_wait peer_wait(const struct tp_wait_attribution *waiting,
				const struct tp_segment *segment,
				const struct tp_stack_class *class)
{
	enum tp_cause cause = segment->cause;
	if (class->leaf == TP_LEAF_WRITE && cause == TP_CAUSE_PIPE)
		return fixed(TP_LABEL_HOST_LOGGING);
	if (!waiting->has_peers && is_wait_for_pool(waiting, segment) && cause != TP_CAUSE_SOCKET)
		return wait_for_pool(waiting);
	if (waiting->has_loader_processes && !waiting->has_peers)
		return wait_for_loader(waiting);
	if (waiting->has_peers)
		return fixed(TP_LABEL_COMMUNICATION_WAIT);
	/* No other rank is known: whose answer is awaited, nothing shows. An event loop polls. */
	if (cause == TP_CAUSE_SOCKET)
		return fixed(TP_LABEL_IDLE_PEER);
	if (waiting->loader.activities.n)
		return wait_for_loader(waiting);
	return wait_for_team(waiting, TP_LABEL_IDLE_PEER, team_pipe_labels);
}

static struct tp_wait blocked(const struct tp_wait_attribution *waiting,
			      const struct tp_segment *segment, const struct tp_stack_class *class,
			      enum tp_phase phase)
{
	if (phase == TP_PHASE_DATALOADER)
		return loader_wait(waiting, segment->cause);
	if (phase == TP_PHASE_COMMUNICATION)
		return fixed(TP_LABEL_COMMUNICATION_WAIT);
	if (tp_phase_owns_time(phase))
		return fixed(tp_label_of_phase(phase, class->leaf));
	switch (segment->cause) {
	case TP_CAUSE_FUTEX:
		if (class->is_team_root || class->leaf == TP_LEAF_SPIN)
			return wait_for_team(waiting, TP_LABEL_COMPUTE_SPIN, barrier_labels);
		if (phase == TP_PHASE_COMPUTE && waiting->team.activities.n && !waiting->delegates)
			return wait_for_team(waiting, TP_LABEL_IDLE_LOCK, woken_labels);
		return futex_wait(waiting, segment);
	case TP_CAUSE_FILE:
	case TP_CAUSE_DISK:
		return file_wait(waiting, segment, class);
	case TP_CAUSE_PAGE_FAULT:
		return fixed(waiting->swaps ? TP_LABEL_MEMORY_SWAP : TP_LABEL_MEMORY_FAULT);
	case TP_CAUSE_PIPE:
	case TP_CAUSE_SOCKET:
	case TP_CAUSE_POLL:
		return peer_wait(waiting, segment, class);
	case TP_CAUSE_SLEEP:
		return sleep_wait(waiting, segment);
	case TP_CAUSE_CHILD:
		return fixed(TP_LABEL_IDLE_CHILD);
	case TP_CAUSE_TERMINAL:
		return fixed(TP_LABEL_HOST_LOGGING);
	case TP_CAUSE_GIL:
		return fixed(TP_LABEL_HOST_GIL);
	default:
		return fixed(TP_LABEL_IDLE_UNKNOWN);
	}
}

/* Handles a runnable thread. Inside a protecting phase the time belongs to the phase. Otherwise, if
 * its own compute team holds the CPUs, the wait is part of computing with more threads than CPUs;
 * if not, other threads have the CPU. */
static struct tp_wait runnable(const struct tp_wait_attribution *waiting, enum tp_phase phase,
			       enum tp_part before)
{
	static const enum tp_label own_team[TP_N_ACTIVITIES] = {
		[TP_ACTIVITY_WORK] = TP_LABEL_COMPUTE_SPIN,
		[TP_ACTIVITY_SCRIPT] = TP_LABEL_HOST_INTERPRETER,
		[TP_ACTIVITY_READ] = TP_LABEL_IDLE_RUNNABLE,
		[TP_ACTIVITY_QUEUE] = TP_LABEL_IDLE_RUNNABLE,
		[TP_ACTIVITY_TRANSFER] = TP_LABEL_COMPUTE_SPIN,
		[TP_ACTIVITY_SLEEP] = TP_LABEL_IDLE_RUNNABLE,
		[TP_ACTIVITY_EXCHANGE] = TP_LABEL_IDLE_RUNNABLE,
		[TP_ACTIVITY_NONE] = TP_LABEL_IDLE_RUNNABLE,
	};
	/* After a wake-up it still waits for the same thing until it runs. A thread that exchanges
	 * data wakes others, and these take its CPU. */
	bool is_open = !tp_phase_owns_time(phase);
	if (phase == TP_PHASE_DATALOADER || (is_open && before == TP_PART_DATALOADER))
		return fixed(TP_LABEL_DATALOADER_QUEUE);
	if (phase == TP_PHASE_COMMUNICATION || (is_open && before == TP_PART_COMMUNICATION))
		return fixed(TP_LABEL_COMMUNICATION_WAIT);
	if (!is_open)
		return fixed(tp_label_of_phase(phase, TP_LEAF_NONE));
	const struct tp_wait_group *team =
		waiting->team.activities.n ? &waiting->team : &waiting->pool;
	if (team->activities.n)
		return (struct tp_wait){.label = TP_LABEL_IDLE_RUNNABLE,
					.follow = team,
					.labels = own_team};
	return fixed(TP_LABEL_IDLE_RUNNABLE);
}

struct tp_wait tp_wait_attribution_find(const struct tp_wait_attribution *waiting,
					const struct tp_segment *segment,
					const struct tp_stack_class *class, enum tp_phase phase,
					enum tp_part before)
{
	if (segment->state != TP_STATE_BLOCKED)
		return runnable(waiting, phase, before);
	struct tp_wait wait = blocked(waiting, segment, class, phase);
	if (!wait.is_delegated || segment->is_sampled || !waiting->fetches.is_seen)
		return wait;
	/* Where fetches are seen, a step that waits for none has its batch. */
	wait.fetch = tp_pending_fetch_first(&waiting->fetches, segment);
	wait.behind = wait.fetch.end_ns > wait.fetch.start_ns ? &waiting->loader : NULL;
	return wait;
}

bool tp_wait_attribution_find_spin(const struct tp_wait_attribution *waiting,
				   const struct tp_segment *segment,
				   const struct tp_stack_class *class, enum tp_phase phase,
				   struct tp_wait *out)
{
	if (class->leaf != TP_LEAF_SPIN)
		return false;
	bool is_open = !tp_phase_owns_time(phase) && !class->is_team_root &&
		       !active_ns(&waiting->team.activities, segment);
	bool is_loading = phase == TP_PHASE_DATALOADER;
	bool is_for_loader = is_loading || active_ns(&waiting->loader.activities, segment) > 0;
	*out = is_for_loader ? wait_for_loader(waiting) : fixed(TP_LABEL_COMMUNICATION_WAIT);
	if (is_loading || (is_open && is_for_loader))
		return waiting->loader.activities.n > 0;
	return is_open && waiting->has_peers && !waiting->team.activities.n;
}

/* Walks both timelines once. */
static void measure_overlap(struct tp_wait_group *group, const struct tp_timeline *timeline)
{
	const struct tp_activities *activities = &group->activities;
	size_t at = 0;
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		if (segment->state == TP_STATE_ON_CPU || segment->is_sampled)
			continue;
		uint64_t *ns = group->meanwhile_ns[tp_wait_kind(segment)];
		while (at < activities->n && activities->items[at].end_ns <= segment->start_ns)
			at++;
		for (size_t k = at; k < activities->n; k++) {
			const struct tp_activity *item = &activities->items[k];
			if (item->start_ns >= segment->end_ns)
				break;
			ns[item->kind] += tp_segment_ns_in(segment, item->start_ns, item->end_ns);
		}
	}
}

static void find_group(struct tp_wait_group *group, const struct tp_analysis *analysis,
		       enum tp_thread_role role)
{
	tp_activities_build(&group->activities, analysis, role);
	measure_overlap(group, tp_analysis_timeline(analysis, analysis->main_task));
}

/* A wait for an OpenMP team has functions of the runtime on the stack, as its loops have. */
static bool find_joins(const struct tp_analysis *analysis)
{
	const struct tp_timeline *timeline = tp_analysis_timeline(analysis, analysis->main_task);
	for (size_t i = 0; i < timeline->n; i++) {
		uint32_t sample = timeline->segments[i].sample;
		if (sample != TP_NO_SAMPLE &&
		    analysis->classes[analysis->trace->samples[sample].stack].is_team_root)
			return true;
	}
	return false;
}

void tp_wait_attribution_build(struct tp_wait_attribution *out, const struct tp_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	uint32_t trainer = analysis->profile->trainer;
	/* Ranks that are recorded separately have their peers outside of the recording. */
	*out = (struct tp_wait_attribution){.analysis = analysis,
					    .has_peers = trace->run.job.launcher != NULL};
	find_group(&out->loader, analysis, TP_THREAD_LOADER);
	find_group(&out->team, analysis, TP_THREAD_TEAM);
	tp_activities_build_pool(&out->pool.activities, analysis);
	measure_overlap(&out->pool, tp_analysis_timeline(analysis, analysis->main_task));
	for (uint32_t i = 0; i < trace->n_tasks; i++) {
		if (analysis->threads[i].leader != i || i == trainer)
			continue;
		out->has_loader_processes |= analysis->roles[i] == TP_ROLE_LOADER;
		out->has_peers |= analysis->roles[i] == TP_ROLE_TRAINER;
	}
	out->delegates = tp_offloaded_work_is_seen(analysis);
	tp_pending_fetch_build(&out->fetches, analysis);
	out->joins_team = find_joins(analysis);
	double swapped = 0;
	out->swaps = tp_trace_counter_delta(trace, TP_METRIC_SWAP_IN, TP_NO_TASK, 0, trace->end_ns,
					    &swapped) &&
		     swapped > 0;
}
