/* SPDX-License-Identifier: Apache-2.0 */
/* Sums equal pieces of threads, and names the process, thread and part that they belong to. */
#include "weights.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <stdlib.h>

struct adding {
	struct tp_export_weights *out;
	const struct tp_profile *profile;
	struct tp_map index;
	bool is_main;
	bool by_step;
};

static void add(struct adding *adding, const struct tp_export_weight *weight)
{
	uint64_t key = tp_hash_mix((uint64_t)weight->task << 32 | weight->stack,
				   (uint64_t)weight->device << 32 | (uint64_t)weight->label << 16 |
					   (uint64_t)weight->state << 8 | (uint64_t)weight->cause);
	uint64_t at;
	key = tp_hash_mix(key, (uint64_t)weight->step);
	if (tp_map_get(&adding->index, key, &at)) {
		adding->out->items[at].time_ns += weight->time_ns;
		adding->out->items[at].n++;
		return;
	}
	tp_map_set(&adding->index, key, adding->out->n);
	TP_ARRAY_PUSH(adding->out->items, adding->out->n, adding->out->capacity) = *weight;
}

static void add_segment(void *context, const struct tp_export_piece *piece)
{
	struct adding *adding = context;
	const struct tp_profile *profile = adding->profile;
	bool has_parts = adding->is_main && !profile->n_devices;
	uint64_t from_ns = piece->start_ns;
	uint64_t to_ns = piece->end_ns;
	if (has_parts && !piece->is_judged)
		return;
	if (!has_parts) {
		if (from_ns < profile->window_start_ns)
			from_ns = profile->window_start_ns;
		if (to_ns > profile->window_end_ns)
			to_ns = profile->window_end_ns;
	}
	if (to_ns <= from_ns)
		return;
	add(adding, &(struct tp_export_weight){
			    .task = piece->task,
			    .device = TP_EXPORT_NO_DEVICE,
			    .stack = piece->stack,
			    .state = piece->state,
			    .cause = piece->cause,
			    .label = has_parts ? piece->label : TP_N_LABELS,
			    .part = has_parts ? tp_label_part(piece->label) : TP_N_PARTS,
			    .step = has_parts && adding->by_step ? piece->step : TP_EXPORT_NO_STEP,
			    .n = 1,
			    .time_ns = to_ns - from_ns,
		    });
}

static void add_device(struct adding *adding, uint32_t device)
{
	const struct tp_device_result *result = &adding->profile->devices[device];
	for (int part = 0; part < TP_N_PARTS; part++)
		if (result->after_ns[part])
			TP_ARRAY_PUSH(adding->out->items, adding->out->n, adding->out->capacity) =
				(struct tp_export_weight){.task = TP_NO_TASK,
							  .device = device,
							  .label = TP_N_LABELS,
							  .part = (enum tp_part)part,
							  .step = TP_EXPORT_NO_STEP,
							  .n = 1,
							  .time_ns = result->after_ns[part]};
}

static int weight_order(const void *a, const void *b)
{
	const struct tp_export_weight *x = a;
	const struct tp_export_weight *y = b;
	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns > y->time_ns ? -1 : 1;
	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	if (x->label != y->label)
		return x->label < y->label ? -1 : 1;
	if (x->state != y->state)
		return x->state < y->state ? -1 : 1;
	if (x->cause != y->cause)
		return x->cause < y->cause ? -1 : 1;
	return (x->step > y->step) - (x->step < y->step);
}

void tp_export_weights_build(struct tp_export_weights *out, const struct tp_profile *profile,
			     bool by_step)
{
	struct adding adding = {.out = out, .profile = profile, .by_step = by_step};
	*out = (struct tp_export_weights){0};
	for (uint32_t task = 0; task < profile->trace->n_tasks; task++) {
		adding.is_main = task == profile->main_task;
		tp_export_walk_thread(profile, task, add_segment, &adding);
	}
	for (uint32_t i = 0; i < profile->n_devices; i++)
		add_device(&adding, i);
	tp_map_release(&adding.index);
	if (out->n)
		qsort(out->items, out->n, sizeof(*out->items), weight_order);
}

void tp_export_weights_release(struct tp_export_weights *weights)
{
	free(weights->items);
	*weights = (struct tp_export_weights){0};
}

/* ---- names --------------------------------------------------------------------------------- */

static const struct tp_task *leader_of(const struct tp_trace *trace, uint32_t task)
{
	const struct tp_task *thread = &trace->tasks[task];
	for (uint32_t i = task + 1; i-- > 0;)
		if (trace->tasks[i].tid == thread->pid && trace->tasks[i].pid == thread->pid)
			return &trace->tasks[i];
	return thread;
}

static void add_rank(struct tp_buf *out, const struct tp_profile *profile, uint32_t index)
{
	const struct tp_run_info *run = &profile->trace->run;
	if (index < run->n_ranks && run->ranks[index].number >= 0)
		tp_buf_printf(out, "rank %lld", (long long)run->ranks[index].number);
	else
		tp_buf_printf(out, "process %u", index);
}

void tp_export_add_process(struct tp_buf *out, const struct tp_profile *profile,
			   const struct tp_export_weight *weight)
{
	const struct tp_trace *trace = profile->trace;
	if (weight->task == TP_NO_TASK) {
		add_rank(out, profile, profile->devices[weight->device].rank);
		return;
	}
	const struct tp_task *leader = leader_of(trace, weight->task);
	tp_buf_printf(out, "%s (%d)", tp_trace_string(trace, leader->comm), (int)leader->pid);
}

enum tp_thread_role tp_export_role(const struct tp_profile *profile, uint32_t task)
{
	if (task == profile->main_task)
		return TP_THREAD_MAIN;
	for (size_t i = 0; i < profile->n_threads; i++)
		if (profile->threads[i].task == task)
			return profile->threads[i].role;
	return TP_THREAD_OTHER;
}

void tp_export_add_thread(struct tp_buf *out, const struct tp_profile *profile,
			  const struct tp_export_weight *weight)
{
	const struct tp_trace *trace = profile->trace;
	if (weight->task == TP_NO_TASK) {
		int32_t number = profile->devices[weight->device].number;
		if (number >= 0)
			tp_buf_printf(out, "GPU %d", number);
		else
			tp_buf_puts(out, "threads");
		return;
	}
	enum tp_thread_role role = tp_export_role(profile, weight->task);
	const struct tp_task *task = &trace->tasks[weight->task];
	if (role == TP_THREAD_OTHER)
		tp_buf_puts(out, tp_trace_string(trace, task->comm));
	else
		tp_buf_puts(out, tp_thread_role_name(role));
	if (role != TP_THREAD_MAIN)
		tp_buf_printf(out, " (%d)", (int)task->tid);
}

void tp_export_add_part(struct tp_buf *out, const struct tp_export_weight *weight)
{
	if (weight->part == TP_N_PARTS)
		return;
	tp_buf_printf(out, "[%s", tp_part_name(weight->part));
	if (weight->label != TP_N_LABELS)
		tp_buf_printf(out, ".%s", tp_label_name(weight->label));
	tp_buf_putc(out, ']');
}

void tp_export_add_wait(struct tp_buf *out, enum tp_state state, enum tp_cause cause)
{
	if (state == TP_STATE_RUNNABLE)
		tp_buf_puts(out, "[waits: CPU]");
	else if (state == TP_STATE_BLOCKED)
		tp_buf_printf(out, "[waits: %s]",
			      cause == TP_CAUSE_NONE ? "unknown" : tp_cause_name(cause));
}

const char *tp_export_state(const struct tp_export_weight *weight)
{
	static const char *const names[TP_N_STATES] = {"on_cpu", "runnable", "off_cpu"};
	return weight->task == TP_NO_TASK ? "device" : names[weight->state];
}
