/* SPDX-License-Identifier: Apache-2.0 */
/* Opens, drains and closes the events of threads that run Python. */
#include "python_sampling.h"

#include "python_budget.h"

#include "collect/callstack/loop_counter.h"
#include "collect/machine/stage_clock.h"
#include "collect/perf/perf_decode.h"
#include "collect/perf/perf_period.h"
#include "collect/process/procfs_stat.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define TP_LOG_DOMAIN "collect"
#include "trainprof/base/log.h"

enum {
	RING_PAGES = 32, /* two samples with whole stacks */
	SAMPLERS_MAX = 64,
	WARMING_PERIODS = 3,
	FORKED_FACTOR = 4, /* loader workers: their activity is averaged over many steps */
};

/* Within this time the thread has hardly moved; later samples are emitted without Python frames. */
#define LATE_NS        (2 * TP_NS_PER_MS)
#define RATE_PERIOD_NS TP_NS_PER_S
#define RETRY_NS       (200 * TP_NS_PER_MS)
/* Cost of a wake-up in addition to the work done, on a busy virtual machine; see
 * offcpu_collector.c. */
#define WAKE_COST_NS 30000.0

struct python_sampler {
	uint32_t task;
	pid_t pid;
	pid_t tid;
	int fd;
	struct tp_perf_ring ring;
	struct tp_perf_period_schedule pace;
	unsigned factor; /* on the period, in addition to the common factor */
	uint64_t n_samples;
	bool is_met;                        /* during an update */
	struct tp_fd_cache_slot *stat_file; /* heap: items move */
};

int tp_python_sampling_init(struct tp_python_sampling *follow,
			    const struct tp_collect_context *context,
			    const struct tp_perf_setup *setup)
{
	*follow = (struct tp_python_sampling){.context = context,
					      .setup = *setup,
					      .factor = 1,
					      .n_warming = WARMING_PERIODS};
	follow->seed = tp_clock_now_ns();
	follow->stat_files.capacity = tp_fd_cache_capacity(SAMPLERS_MAX);
	follow->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (follow->epoll_fd < 0)
		return errno;
	tp_perf_callchain_init(&follow->stacks, context->tree, context->sink);
	return 0;
}

static void sampler_close(struct tp_python_sampling *follow, struct python_sampler *item)
{
	struct tp_task_tree_task *task = tp_task_tree_find(follow->context->tree, item->tid);
	if (task && task->info.id == item->task)
		task->followed_ns = 0;
	tp_perf_ring_unmap(&item->ring);
	close(item->fd);
	tp_fd_cache_drop(&follow->stat_files, item->stat_file);
	free(item->stat_file);
}

void tp_python_sampling_stop(struct tp_python_sampling *follow)
{
	for (size_t i = 0; i < follow->n; i++)
		sampler_close(follow, &follow->items[i]);
	follow->n = 0;
}

void tp_python_sampling_release(struct tp_python_sampling *follow)
{
	tp_python_sampling_stop(follow);
	free(follow->items);
	tp_map_release(&follow->tried_ns);
	tp_perf_callchain_release(&follow->stacks);
	if (follow->epoll_fd >= 0)
		close(follow->epoll_fd);
}

static uint64_t sampler_period(struct python_sampler *item)
{
	return tp_perf_period_schedule_draw(&item->pace, item->n_samples, tp_clock_now_ns());
}

/* True for a forked process without an exec: usually a loader's worker, otherwise a rank. */
static bool is_forked(const struct tp_python_sampling *follow, const struct tp_task_tree_task *task)
{
	const struct tp_task_tree_task *leader =
		tp_task_tree_find(follow->context->tree, task->info.pid);
	return leader && leader->info.exec_ns == 0;
}

/* Follows one more thread; if that fails, the thread is sampled like all others. */
static void sampler_open(struct tp_python_sampling *follow, struct tp_task_tree_task *task)
{
	uint64_t now_ns = tp_clock_now_ns();
	struct python_sampler item = {.task = task->info.id,
				      .pid = task->info.pid,
				      .tid = task->info.tid,
				      .factor = is_forked(follow, task) ? FORKED_FACTOR : 1,
				      .is_met = true};
	item.pace.seed = tp_perf_random(&follow->seed);
	tp_perf_period_schedule_start(&item.pace, follow->setup.period_ns, now_ns);
	tp_perf_period_schedule_set_factor(&item.pace, follow->factor * item.factor, now_ns);
	item.fd = tp_perf_open_thread(item.tid, &follow->setup, sampler_period(&item));
	struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = item.fd};
	if (item.fd < 0 || tp_perf_ring_map(&item.ring, item.fd, RING_PAGES) != 0 ||
	    epoll_ctl(follow->epoll_fd, EPOLL_CTL_ADD, item.fd, &event) != 0) {
		tp_debug("thread %d is not followed: %s", (int)item.tid, tp_errno_text(errno));
		if (item.ring.page)
			tp_perf_ring_unmap(&item.ring);
		if (item.fd >= 0)
			close(item.fd);
		return;
	}
	task->followed_ns = tp_clock_now_ns();
	item.stat_file = tp_alloc(sizeof(*item.stat_file));
	TP_ARRAY_PUSH(follow->items, follow->n, follow->capacity) = item;
}

static void emit_sample(struct tp_python_sampling *follow, const struct tp_task_tree_task *task,
			const struct tp_perf_record *record, uint64_t read_ns)
{
	bool is_late = read_ns - record->time_ns > LATE_NS;
	/* Without its Python frames the stack would look as if it had other callers. */
	bool is_unwound = !is_late && !follow->places.is_unknown;
	follow->n_samples++;
	follow->n_late += is_late;
	follow->n_unread += !is_late && !is_unwound;
	follow->delay_sum_ns += (double)(read_ns - record->time_ns);
	struct tp_sample sample = tp_perf_stacks_sample(&follow->stacks, task, record, is_unwound,
							is_unwound ? &follow->places : NULL);
	tp_sink_sample(follow->context->sink, &sample);
}

/* Reads Python first, because it continues while the rest is processed. */
static void sampler_read(struct tp_python_sampling *follow, struct python_sampler *item)
{
	const struct tp_perf_layout layout = {.has_chain = follow->setup.has_kernel,
					      .has_stack = follow->setup.stack_bytes > 0};
	struct tp_task_tree_task *task = tp_task_tree_find(follow->context->tree, item->tid);
	struct tp_perf_record record;
	const void *bytes;
	size_t size;
	if (!task || task->info.id != item->task)
		return;
	tp_python_processes_read(follow->context->pythons, task, &follow->places);
	uint64_t read_ns = tp_clock_now_ns();
	tp_loop_counter_emit(follow->context->sink, follow->context->pythons, task, true);
	while ((bytes = tp_perf_ring_next(&item->ring, &size))) {
		if (!tp_perf_record_decode(&record, bytes, size, &layout))
			continue;
		if (record.type == PERF_RECORD_SAMPLE) {
			item->n_samples++;
			emit_sample(follow, task, &record, read_ns);
		} else if (record.type == PERF_RECORD_LOST) {
			follow->n_lost += record.of.n_lost;
		}
	}
	tp_perf_ring_consume(&item->ring);
}

/* A thread that has ended would wake us forever. */
static void remove_ended(const struct tp_python_sampling *follow)
{
	struct epoll_event events[SAMPLERS_MAX];
	int n = epoll_wait(follow->epoll_fd, events, SAMPLERS_MAX, 0);
	for (int i = 0; i < n; i++)
		if (events[i].events & (EPOLLHUP | EPOLLERR))
			epoll_ctl(follow->epoll_fd, EPOLL_CTL_DEL, events[i].data.fd, NULL);
}

/* The descriptor does not show which threads have samples without consuming the event, so all are
 * checked. If none has, a thread that ended may have woken us. */
void tp_python_sampling_read(struct tp_python_sampling *follow)
{
	uint64_t began_ns = 0;
	for (size_t i = 0; i < follow->n; i++) {
		struct python_sampler *item = &follow->items[i];
		if (tp_perf_ring_refresh(&item->ring) == 0)
			continue;
		began_ns = began_ns ? began_ns : tp_clock_now_ns();
		sampler_read(follow, item);
	}
	if (!began_ns) {
		remove_ended(follow);
		return;
	}
	uint64_t cpu_ns = tp_stage_used_ns(tp_task_tree_stages(follow->context->tree), began_ns);
	follow->cost_ns += WAKE_COST_NS + (double)cpu_ns;
	tp_python_processes_add_cost(follow->context->pythons, cpu_ns);
}

static struct python_sampler *sampler_of(const struct tp_python_sampling *follow, uint32_t task)
{
	for (size_t i = 0; i < follow->n; i++)
		if (follow->items[i].task == task)
			return &follow->items[i];
	return NULL;
}

/* True if the thread runs Python. Threads that do not are tested rarely, because most never
 * will. */
static bool runs_python(struct tp_python_sampling *follow, const struct tp_task_tree_task *task,
			uint64_t now_ns)
{
	uint64_t tried_ns;
	if (tp_map_get(&follow->tried_ns, task->info.id, &tried_ns) && now_ns - tried_ns < RETRY_NS)
		return false;
	if (tp_python_processes_read(follow->context->pythons, task, &follow->places))
		return true;
	tp_map_set(&follow->tried_ns, task->info.id, now_ns);
	return false;
}

/* Follows each thread of a Python process in which Python frames were found. */
static void find_threads(struct tp_python_sampling *follow, uint64_t now_ns)
{
	size_t cursor = 0;
	struct tp_task_tree_task *task;
	for (size_t i = 0; i < follow->n; i++)
		follow->items[i].is_met = false;
	while ((task = tp_task_tree_next(follow->context->tree, &cursor))) {
		struct python_sampler *item = NULL;
		if (!tp_python_processes_has(follow->context->pythons, task))
			continue;
		if (task->followed_ns)
			item = sampler_of(follow, task->info.id);
		if (item)
			item->is_met = true;
		else if (follow->n < SAMPLERS_MAX && runs_python(follow, task, now_ns))
			sampler_open(follow, task);
	}
	size_t n_kept = 0;
	for (size_t i = 0; i < follow->n; i++) {
		struct python_sampler *item = &follow->items[i];
		if (item->is_met)
			follow->items[n_kept++] = *item;
		else
			sampler_close(follow, item);
	}
	follow->n = n_kept;
}

/* See perf_period_update.c for why a period is set only while the thread runs. */
static void update_periods(struct tp_python_sampling *follow, uint64_t now_ns)
{
	for (size_t i = 0; i < follow->n; i++) {
		struct python_sampler *item = &follow->items[i];
		struct tp_procfs_stat stat;
		if (!tp_perf_period_schedule_is_due(&item->pace, item->n_samples, now_ns) ||
		    !tp_procfs_stat_reread(&stat, follow->context->host, item->pid, item->tid,
					   &follow->stat_files, item->stat_file) ||
		    stat.state != 'R')
			continue;
		uint64_t period_ns = sampler_period(item);
		ioctl(item->fd, PERF_EVENT_IOC_PERIOD, &period_ns);
	}
}

static void set_factor(struct tp_python_sampling *follow, unsigned factor, uint64_t now_ns)
{
	follow->factor = factor;
	for (size_t i = 0; i < follow->n; i++) {
		struct python_sampler *item = &follow->items[i];
		tp_perf_period_schedule_set_factor(&item->pace, factor * item->factor, now_ns);
		uint64_t period_ns = sampler_period(item);
		ioctl(item->fd, PERF_EVENT_IOC_PERIOD, &period_ns);
	}
}

/* Returns the CPUs that the followed threads have used, as sampled; at least one, which they could
 * have used. */
static double cpus_in_use(const struct tp_python_sampling *follow, double elapsed_ns)
{
	double used_ns = (double)(follow->n_samples - follow->rated_samples) *
			 (double)follow->setup.period_ns * follow->factor;
	return used_ns > elapsed_ns ? used_ns / elapsed_ns : 1;
}

static void keep_budget(struct tp_python_sampling *follow, uint64_t now_ns)
{
	double elapsed_ns = (double)(now_ns - follow->rated_ns);
	if (elapsed_ns < (double)RATE_PERIOD_NS)
		return;
	const struct tp_python_budget budget = {
		.max_ratio = follow->context->config->max_overhead_ratio,
		.n_allowed = follow->context->host->info.n_allowed,
		.n_used = cpus_in_use(follow, elapsed_ns),
	};
	double ratio = follow->cost_ns / elapsed_ns;
	unsigned factor = tp_python_budget_factor(&budget, ratio, follow->factor);
	follow->asked_ns += elapsed_ns;
	follow->kept_ns += elapsed_ns / follow->factor;
	follow->rated_ns = now_ns;
	follow->rated_samples = follow->n_samples;
	follow->cost_ns = 0;
	/* At first every function is new and must be read, and imports have deep stacks. */
	if (follow->n_warming > 0) {
		follow->n_warming--;
		return;
	}
	if (factor == follow->factor)
		return;
	tp_info("following Python costs %.2f %% of a CPU: period times %u", ratio * 100, factor);
	set_factor(follow, factor, now_ns);
}

double tp_python_sampling_kept_ratio(const struct tp_python_sampling *follow)
{
	return follow->n_samples > 0 && follow->asked_ns > 0 ? follow->kept_ns / follow->asked_ns
							     : 1;
}

void tp_python_sampling_update(struct tp_python_sampling *follow, uint64_t now_ns)
{
	if (!follow->rated_ns)
		follow->rated_ns = now_ns;
	find_threads(follow, now_ns);
	update_periods(follow, now_ns);
	keep_budget(follow, now_ns);
}
