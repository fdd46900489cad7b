/* SPDX-License-Identifier: Apache-2.0 */
/* Tries functions of native programs until one is found that is called once per step. */
#include "entry_watch.h"

#include "call_period.h"
#include "entry_choice.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <stdlib.h>
#include <string.h>

#define TP_LOG_DOMAIN "collect"
#include "trainprof/base/log.h"

enum {
	SAMPLES_MIN = 50,                /* before functions are chosen */
	HITS_ENOUGH = 24,                /* per trial */
	HITS_MAX = 96,                   /* per trial of a function that may be called in bursts */
	HITS_KEPT = TP_PERIOD_CALLS_MAX, /* for the best function, until all trials are over */
	ROUNDS_MAX = 5,                  /* of sampling and trials */
};

#define SAMPLING_NS    (700 * TP_NS_PER_MS)
#define TRIAL_NS       TP_NS_PER_S       /* for a function that is hardly called */
#define TRIAL_MAX_NS   (3 * TP_NS_PER_S) /* for a function that is called now and then */
#define ROUND_PAUSE_NS (2 * TP_NS_PER_S)

/* Maximum difference of the rates of two functions of one step. */
static const double same_rate = 0.25;
/* Maximum number of batches whose gradients are accumulated before one update. A less frequent
 * function is only called now and then: a checkpoint, an evaluation. */
static const double batches_max = 8.5;
static const double rate_min_hz = 0.2;

struct trial {
	struct tp_entry_thread *owner;
	uint32_t function;
	struct tp_watch *watch; /* NULL = it is over */
	uint64_t began_ns;
	uint64_t times_ns[HITS_KEPT]; /* of the first hits */
	size_t n;
	struct tp_call_period period;
	bool is_kept; /* rounds are emitted at once */
	uint32_t name;
	uint64_t last_ns;     /* time and number of the last hit that was judged as a round */
	uint64_t last_number; /* 0 = none */
	uint64_t n_rounds;    /* emitted; a gap in the numbers shows that hits were lost */
};

enum entry_state { STATE_SAMPLING, STATE_TRYING, STATE_KEEPING, STATE_OVER };

struct tp_entry_thread {
	struct tp_entry_watch *owner;
	uint32_t task;
	pid_t tid;
	enum entry_state state;
	struct tp_entry_stacks stacks;
	uint64_t first_ns; /* time of the first sample */
	uint64_t last_ns;
	uint64_t pause_until_ns;
	uint32_t candidates[TP_ENTRY_CANDIDATES_MAX];
	size_t n_candidates;
	size_t n_parts; /* those that are called in turn; the others are most likely entered only
			   once */
	size_t n_tried;
	double rates_hz[TP_ENTRY_CANDIDATES_MAX]; /* of the tried ones, 0 = hardly called */
	unsigned n_rounds;
	struct trial *best; /* heap; its breakpoint stays set */
	struct trial *now;  /* heap */
};

void tp_entry_watch_init(struct tp_entry_watch *self, struct tp_watch_list *list,
			 struct tp_sink *sink, tp_entry_address_fn *find_address, void *context)
{
	*self = (struct tp_entry_watch){.list = list,
					.sink = sink,
					.find_address = find_address,
					.context = context};
}

static void thread_free(struct tp_entry_thread *thread)
{
	tp_entry_stacks_release(&thread->stacks);
	free(thread->best);
	free(thread->now);
	free(thread);
}

void tp_entry_watch_release(struct tp_entry_watch *self)
{
	for (size_t i = 0; i < TP_ENTRY_THREADS_MAX; i++)
		if (self->threads[i])
			thread_free(self->threads[i]);
}

static struct tp_entry_thread *thread_of(struct tp_entry_watch *self, uint32_t task, pid_t tid)
{
	struct tp_entry_thread **room = NULL;
	for (size_t i = 0; i < TP_ENTRY_THREADS_MAX; i++) {
		if (self->threads[i] && self->threads[i]->task == task)
			return self->threads[i];
		if (!self->threads[i] && !room)
			room = &self->threads[i];
	}
	if (!room)
		return NULL;
	*room = tp_alloc(sizeof(**room));
	(*room)->owner = self;
	(*room)->task = task;
	(*room)->tid = tid;
	tp_entry_stacks_init(&(*room)->stacks);
	return *room;
}

void tp_entry_watch_add(struct tp_entry_watch *self, const struct tp_sample *sample, pid_t tid)
{
	struct tp_entry_thread *thread = thread_of(self, sample->task, tid);
	if (!thread || thread->state != STATE_SAMPLING || sample->time_ns < thread->pause_until_ns)
		return;
	if (thread->stacks.n == 0)
		thread->first_ns = sample->time_ns;
	thread->last_ns = sample->time_ns;
	tp_entry_stacks_add(&thread->stacks, self->sink, sample->stack);
	if (thread->stacks.has_python)
		thread->state = STATE_OVER;
}

/* ---- calls ---- */

/* Emits the hit as a call if it begins a round. Lost hits leave a gap in the numbers of rounds. */
static void put_hit(struct trial *trial, uint64_t time_ns, uint64_t number)
{
	if (trial->last_number > 0 && number != trial->last_number + 1) {
		trial->n_rounds++;
		trial->last_ns = 0;
	}
	if (tp_call_period_begins_round(&trial->period, trial->last_ns, time_ns)) {
		const struct tp_mark mark = {.kind = TP_MARK_CALL,
					     .task = trial->owner->task,
					     .name = trial->name,
					     .time_ns = time_ns,
					     .value = ++trial->n_rounds};
		tp_sink_mark(trial->owner->owner->sink, &mark);
	}
	trial->last_ns = time_ns;
	trial->last_number = number;
}

static void on_hit(void *context, const struct tp_watch *watch, uint64_t time_ns, uint64_t number)
{
	struct trial *trial = context;
	(void)watch;
	if (number == 0)
		trial->watch = NULL;
	else if (trial->is_kept)
		put_hit(trial, time_ns, number);
	else if (trial->n < HITS_KEPT)
		trial->times_ns[trial->n++] = time_ns;
}

/* ---- trials ---- */

/* A slower function covers whole steps, of which the faster one is a part, unless it is an
 * evaluation. One that is called in bursts does so only if a whole burst fits between two calls of
 * the faster one, as an update of each tensor after the batches; those of an epoch do not. */
static bool is_better(const struct trial *trial, const struct trial *old)
{
	const struct tp_entry_stacks *stacks = &trial->owner->stacks;
	double rate_hz = trial->period.rate_hz;
	double old_hz = old->period.rate_hz;
	if ((double)trial->period.burst_ns * old_hz >= 1e9)
		return false;
	if (rate_hz * (1 + same_rate) < old_hz)
		return rate_hz * batches_max >= old_hz &&
		       !tp_entry_stacks_overlap(stacks, trial->function);
	if (rate_hz > (1 + same_rate) * old_hz)
		return rate_hz > batches_max * old_hz ||
		       tp_entry_stacks_overlap(stacks, old->function);
	return false;
}

/* A function whose leaves also run outside of it may be an evaluation, unless another function is
 * called as often. */
static bool may_be_kept(const struct tp_entry_thread *thread, const struct trial *best)
{
	size_t n_alike = 0;
	if (!tp_entry_stacks_overlap(&thread->stacks, best->function))
		return true;
	for (size_t i = 0; i < thread->n_tried; i++)
		n_alike += thread->rates_hz[i] * (1 + same_rate) >= best->period.rate_hz &&
			   thread->rates_hz[i] <= best->period.rate_hz * (1 + same_rate);
	return n_alike > 1; /* includes itself */
}

static void end_trial(struct trial *trial)
{
	if (trial->watch)
		tp_watch_list_close(trial->owner->owner->list, trial->watch);
	free(trial);
}

/* Bursts need more calls, and are of use only beside a function that is called regularly. */
static bool is_over(struct trial *trial, uint64_t now_ns)
{
	uint64_t age_ns = now_ns - trial->began_ns;
	if (!trial->watch || age_ns >= TRIAL_MAX_NS || (age_ns >= TRIAL_NS && trial->n < 2))
		return true;
	if (trial->n < HITS_ENOUGH)
		return false;
	tp_call_period_find(&trial->period, trial->times_ns, trial->n);
	return !trial->owner->best || trial->n >= HITS_MAX ||
	       (trial->period.is_regular && trial->period.pause_ns == 0);
}

static double calls_hz(const struct trial *trial)
{
	uint64_t all_ns = trial->n > 1 ? trial->times_ns[trial->n - 1] - trial->times_ns[0] : 0;
	return all_ns > 0 ? (double)(trial->n - 1) * 1e9 / (double)all_ns : 0;
}

static void judge_trial(struct tp_entry_thread *thread)
{
	struct trial *trial = thread->now;
	thread->now = NULL;
	struct trial *best = thread->best;
	struct tp_call_period *period = &trial->period;
	tp_call_period_find(period, trial->times_ns, trial->n);
	bool is_steady = period->is_regular && period->rate_hz >= rate_min_hz &&
			 (best || period->pause_ns == 0);
	/* A trial is over before its rate is limited. */
	bool is_affordable =
		trial->watch && calls_hz(trial) <= tp_watch_list_rate_max_hz(thread->owner->list);
	/* An evaluation comes as often as the bursts of an epoch's batches. */
	thread->rates_hz[thread->n_tried - 1] =
		period->pause_ns > 0 ? calls_hz(trial) : period->rate_hz;
	tp_debug("%s(): %zu calls, %.1f per second, %s%s, %s",
		 tp_strtab_text(&thread->owner->sink->strings,
				thread->stacks.functions[trial->function].symbol),
		 trial->n, period->rate_hz, is_steady ? "regular" : "irregular",
		 period->pause_ns > 0 ? " bursts" : "", is_affordable ? "affordable" : "too fast");
	if (!is_affordable || !is_steady || (best && !is_better(trial, best))) {
		end_trial(trial);
		return;
	}
	if (best)
		end_trial(best);
	thread->best = trial;
}

/* Begins the trial of the next candidate that can be watched; false if there is none. */
static bool begin_trial(struct tp_entry_thread *thread, const struct tp_task_tree_task *task,
			uint64_t now_ns)
{
	struct tp_entry_watch *self = thread->owner;
	while (thread->n_tried < thread->n_candidates) {
		uint32_t number = thread->candidates[thread->n_tried++];
		const struct tp_entry_function *function = &thread->stacks.functions[number];
		struct tp_breakpoint_place place = {.tid = task->info.tid, .is_call = true};
		const char *path = tp_strtab_text(&self->sink->strings, function->path);
		if (!self->find_address(self->context, task, path, function->start, &place.address))
			continue;
		struct trial *trial = tp_alloc(sizeof(*trial));
		trial->owner = thread;
		trial->function = number;
		trial->began_ns = now_ns;
		trial->watch = tp_watch_list_open(self->list, task, &place, now_ns, on_hit, trial);
		if (trial->watch) {
			thread->now = trial;
			return true;
		}
		free(trial);
	}
	return false;
}

/* "gpt2_forward() in train_gpt2" */
static uint32_t name_of(const struct trial *trial)
{
	struct tp_sink *sink = trial->owner->owner->sink;
	const struct tp_entry_function *function = &trial->owner->stacks.functions[trial->function];
	struct tp_buf text = {0};
	tp_buf_printf(&text, "%s() in ", tp_strtab_text(&sink->strings, function->symbol));
	tp_buf_puts(&text, tp_text_base_name(tp_strtab_text(&sink->strings, function->path)));
	uint32_t name = tp_sink_string(sink, tp_buf_text(&text));
	tp_buf_release(&text);
	return name;
}

static void keep_best(struct tp_entry_thread *thread)
{
	struct trial *best = thread->best;
	thread->state = STATE_KEEPING;
	best->is_kept = true;
	best->name = name_of(best);
	for (size_t i = 0; i < best->n; i++)
		put_hit(best, best->times_ns[i], i + 1);
	tp_info("%s is called%s %.1f times per second: its calls are recorded",
		tp_strtab_text(&thread->owner->sink->strings, best->name),
		best->period.pause_ns > 0 ? " in bursts" : "", best->period.rate_hz);
}

static void try_again_later(struct tp_entry_thread *thread, uint64_t now_ns)
{
	thread->state = ++thread->n_rounds < ROUNDS_MAX ? STATE_SAMPLING : STATE_OVER;
	thread->pause_until_ns = now_ns + ROUND_PAUSE_NS;
	tp_entry_stacks_clear(&thread->stacks);
}

static void update_trials(struct tp_entry_thread *thread, const struct tp_task_tree_task *task,
			  uint64_t now_ns)
{
	if (thread->now && !is_over(thread->now, now_ns))
		return;
	if (thread->now)
		judge_trial(thread);
	/* Its hits came too fast, or it has ended: so it was not the right one. */
	if (thread->best && (!thread->best->watch || thread->best->n == HITS_KEPT)) {
		end_trial(thread->best);
		thread->best = NULL;
	}
	bool is_good = thread->best && may_be_kept(thread, thread->best);
	if ((!is_good || thread->n_tried < thread->n_parts) && begin_trial(thread, task, now_ns))
		return;
	if (is_good) {
		keep_best(thread);
		return;
	}
	if (thread->best)
		end_trial(thread->best);
	thread->best = NULL;
	try_again_later(thread, now_ns);
}

static void update_thread(struct tp_entry_thread *thread, uint64_t now_ns)
{
	const struct tp_task_tree *tree = thread->owner->list->tree;
	const struct tp_task_tree_task *task = tp_task_tree_find(tree, thread->tid);
	if (!task || task->info.id != thread->task)
		return;
	if (thread->state == STATE_SAMPLING && thread->stacks.n >= SAMPLES_MIN &&
	    thread->last_ns - thread->first_ns >= SAMPLING_NS) {
		thread->n_candidates = tp_entry_stacks_choose(&thread->stacks, thread->candidates,
							      &thread->n_parts);
		thread->n_tried = 0;
		memset(thread->rates_hz, 0, sizeof(thread->rates_hz));
		thread->state = STATE_TRYING;
	}
	if (thread->state == STATE_TRYING)
		update_trials(thread, task, now_ns);
	/* The process called exec, or its calls came too fast. */
	if (thread->state == STATE_KEEPING && !thread->best->watch) {
		free(thread->best);
		thread->best = NULL;
		try_again_later(thread, now_ns);
	}
}

static void end_all(struct tp_entry_thread *thread)
{
	if (thread->now)
		end_trial(thread->now);
	if (thread->best)
		end_trial(thread->best);
	thread->now = thread->best = NULL;
	thread->state = STATE_OVER;
}

void tp_entry_watch_update(struct tp_entry_watch *self, uint64_t now_ns)
{
	for (size_t i = 0; i < TP_ENTRY_THREADS_MAX; i++) {
		if (self->threads[i] && self->is_off)
			end_all(self->threads[i]);
		else if (self->threads[i])
			update_thread(self->threads[i], now_ns);
	}
}
