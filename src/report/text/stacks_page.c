/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the stacks of all threads; threads with the same stack are grouped. */
#include "trainprof/report/stacks_page.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/model/cause_text.h"
#include "trainprof/report/units.h"

#include <stdlib.h>
#include <string.h>

enum {
	FUNCTION_COLUMN = 4,
	PLACE_COLUMN = 36,
	FRAMES_MAX = 40, /* printed frames of a stack; the JSON has all */
	IDS_MAX = 8,     /* printed thread ids of a group */
};

/* The length of shorter waits is not printed: they come and go. */
#define WAIT_WORTH_NS UINT64_C(100000000)

static const struct tp_task *task_of(const struct tp_thread_stacks *stacks,
				     const struct tp_thread_stack *thread)
{
	return &stacks->trace.tasks[thread->task];
}

static const char *string_of(const struct tp_thread_stacks *stacks, uint32_t id)
{
	return tp_trace_string(&stacks->trace, id);
}

static const char *state_text(const struct tp_thread_stack *thread)
{
	if (thread->letter == 'T')
		return "is stopped by a signal";
	if (thread->letter == 't')
		return "is held by a debugger";
	if (strstr(thread->kernel, "freezer") || strstr(thread->kernel, "refrigerator"))
		return "is frozen by its control group";
	if (thread->letter == 'Z')
		return "has ended and is not yet collected by its parent";
	return thread->state == TP_STATE_BLOCKED ? "waits for " : "runs, or waits for a CPU";
}

static void add_state(struct tp_buf *out, const struct tp_thread_stacks *stacks,
		      const struct tp_thread_stack *thread)
{
	const char *state = state_text(thread);
	const char *target = string_of(stacks, thread->target);
	tp_buf_puts(out, state);
	if (!tp_text_starts_with(state, "waits for "))
		return;
	tp_buf_puts(out, tp_cause_text(thread->cause));
	if (*target)
		tp_buf_printf(out, " (%s)", target);
	else if (thread->cause <= TP_CAUSE_UNKNOWN && thread->kernel[0])
		tp_buf_printf(out, ", in %s() of the kernel", thread->kernel);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static bool is_equal(const struct tp_thread_stacks *stacks, const struct tp_thread_stack *a,
		     const struct tp_thread_stack *b)
{
	return a->stack == b->stack && a->state == b->state && a->cause == b->cause &&
	       strcmp(state_text(a), state_text(b)) == 0 &&
	       task_of(stacks, a)->comm == task_of(stacks, b)->comm &&
	       (a->stack || a->target == b->target);
}

static void add_threads(struct tp_buf *out, const struct tp_thread_stacks *stacks, size_t first,
			size_t n)
{
	size_t shown = 0;
	for (size_t i = first; i < stacks->n && shown < IDS_MAX; i++) {
		const struct tp_thread_stack *thread = &stacks->items[i];
		if (!is_equal(stacks, &stacks->items[first], thread))
			continue;
		const struct tp_task *task = task_of(stacks, thread);
		tp_buf_printf(out, "%s%d", shown++ ? ", " : "", (int)task->tid);
		if (task->tid == task->pid)
			tp_buf_puts(out, " (main)");
	}
	if (n > shown)
		tp_buf_printf(out, " and %zu more", n - shown);
}

static uint64_t min_wait(const struct tp_thread_stacks *stacks, size_t first)
{
	uint64_t shortest_ns = UINT64_MAX;
	for (size_t i = first; i < stacks->n; i++) {
		const struct tp_thread_stack *thread = &stacks->items[i];
		if (is_equal(stacks, &stacks->items[first], thread) && thread->has_waits &&
		    thread->waits_ns < shortest_ns)
			shortest_ns = thread->waits_ns;
	}
	return shortest_ns == UINT64_MAX ? 0 : shortest_ns;
}

static void print_frame(struct tp_page *page, const struct tp_thread_stacks *stacks,
			const struct tp_frame *frame)
{
	const char *symbol = string_of(stacks, frame->symbol);
	const char *module = tp_text_base_name(string_of(stacks, frame->module));
	tp_page_column(page, FUNCTION_COLUMN);
	tp_page_add(page, frame->kind == TP_FRAME_PYTHON ? TP_PAINT_BOLD : TP_PAINT_NONE,
		    *symbol ? symbol : "?");
	tp_page_add(page, TP_PAINT_NONE, " ");
	tp_page_column(page, PLACE_COLUMN);
	if (frame->kind == TP_FRAME_PYTHON)
		tp_page_addf(page, TP_PAINT_NONE, "%s:%u",
			     tp_text_base_name(string_of(stacks, frame->file)), frame->line);
	else
		tp_page_add(page, TP_PAINT_DIM, module);
	tp_page_end(page);
}

/* True for frames of the interpreter between two Python functions: they do not help a reader of
 * Python code. */
static bool is_interpreter(const struct tp_thread_stacks *stacks, const struct tp_frame *frame)
{
	const char *module = tp_text_base_name(string_of(stacks, frame->module));
	return frame->kind == TP_FRAME_NATIVE &&
	       (tp_text_starts_with(module, "libpython") || tp_text_starts_with(module, "python"));
}

static uint32_t first_python(const struct tp_thread_stacks *stacks, const struct tp_stack *stack)
{
	uint32_t i = 0;
	while (i < stack->n_frames &&
	       stacks->trace.frames[stack->frames[i]].kind != TP_FRAME_PYTHON)
		i++;
	return i;
}

static void print_stack(struct tp_page *page, const struct tp_thread_stacks *stacks,
			const struct tp_thread_stack *thread)
{
	const struct tp_stack *stack = tp_trace_stack(&stacks->trace, thread->stack);
	uint32_t python = first_python(stacks, stack);
	uint32_t n_shown = 0;
	for (uint32_t i = 0; i < stack->n_frames && n_shown < FRAMES_MAX; i++) {
		const struct tp_frame *frame = &stacks->trace.frames[stack->frames[i]];
		if (i > python && is_interpreter(stacks, frame))
			continue;
		print_frame(page, stacks, frame);
		n_shown++;
	}
	if (n_shown == FRAMES_MAX) {
		tp_page_add(page, TP_PAINT_DIM,
			    "    the outer frames are left out: --json has all");
		tp_page_end(page);
	}
	if (!stack->n_frames) {
		tp_page_add(page, TP_PAINT_DIM, "    no stack could be read");
		tp_page_end(page);
	}
}

static void print_group(struct tp_page *page, const struct tp_thread_stacks *stacks, size_t first,
			size_t n)
{
	const struct tp_thread_stack *thread = &stacks->items[first];
	struct tp_buf text = {0};
	tp_page_end(page);
	tp_page_addf(page, TP_PAINT_BOLD, "%s", string_of(stacks, task_of(stacks, thread)->comm));
	tp_buf_puts(&text, n == 1 ? " thread " : " threads ");
	add_threads(&text, stacks, first, n);
	tp_buf_puts(&text, n == 1 ? ": " : ", each: ");
	add_state(&text, stacks, thread);
	uint64_t waits_ns = min_wait(stacks, first);
	if (waits_ns >= WAIT_WORTH_NS)
		tp_buf_printf(&text, ", for %s", tp_unit_elapsed(waits_ns).text);
	tp_page_wrap(page, 2, TP_PAINT_NONE, tp_buf_text(&text), 0);
	tp_buf_release(&text);
	print_stack(page, stacks, thread);
}

static size_t count_processes(const struct tp_thread_stacks *stacks)
{
	size_t n = 0;
	for (size_t i = 0; i < stacks->n; i++)
		n += task_of(stacks, &stacks->items[i])->tid ==
		     task_of(stacks, &stacks->items[i])->pid;
	return n;
}

void tp_report_stacks_page(struct tp_page *page, const struct tp_thread_stacks *stacks)
{
	bool *is_printed = tp_alloc((stacks->n + 1) * sizeof(*is_printed));
	struct tp_buf text = {0};
	tp_buf_printf(&text, "pid %d: ", (int)stacks->trace.run.pid);
	size_t n_processes = count_processes(stacks);
	tp_buf_printf(&text, "%s process%s, ", tp_unit_count(n_processes).text,
		      n_processes == 1 ? "" : "es");
	tp_buf_puts(&text, tp_unit_counted(stacks->n, "thread").text);
	tp_page_wrap(page, 2, TP_PAINT_NONE, tp_buf_text(&text), 0);
	tp_buf_release(&text);
	for (size_t i = 0; i < stacks->n; i++) {
		size_t n = 0;
		if (is_printed[i])
			continue;
		for (size_t k = i; k < stacks->n; k++) {
			if (!is_equal(stacks, &stacks->items[i], &stacks->items[k]))
				continue;
			is_printed[k] = true;
			n++;
		}
		print_group(page, stacks, i, n);
	}
	free(is_printed);
}

/* ---- ranks ----------------------------------------------------------------------------------- */

struct rank_thread {
	const struct tp_thread_stack *thread;
	int64_t number;
	size_t group; /* index of the first rank in the same place */
	size_t n;     /* size of the group; set in its first rank */
};

static int64_t rank_of(const struct tp_thread_stacks *stacks, const struct tp_thread_stack *thread)
{
	size_t n;
	const struct tp_gauge *gauges =
		tp_trace_gauges(&stacks->trace, TP_METRIC_PROC_RANK, thread->task, &n);
	return n ? (int64_t)gauges[n - 1].value : -1;
}

/* True for a process of a rank, except those that only wait for it: shells, and trainprof. */
static bool is_rank(const struct tp_thread_stacks *stacks, const struct tp_thread_stack *thread)
{
	const struct tp_task *task = task_of(stacks, thread);
	return task->tid == task->pid && thread->cause != TP_CAUSE_CHILD &&
	       strcmp(string_of(stacks, task->comm), "trainprof") != 0 &&
	       rank_of(stacks, thread) >= 0;
}

static int by_number(const void *a, const void *b)
{
	const struct rank_thread *x = a;
	const struct rank_thread *y = b;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

/* Finds the first process of each rank: its child processes have its environment variables, too. */
static size_t find_ranks(struct rank_thread *ranks, const struct tp_thread_stacks *stacks)
{
	size_t n = 0;
	size_t n_kept = 0;
	for (size_t i = 0; i < stacks->n; i++)
		if (is_rank(stacks, &stacks->items[i]))
			ranks[n++] =
				(struct rank_thread){.thread = &stacks->items[i],
						     .number = rank_of(stacks, &stacks->items[i])};
	if (n)
		qsort(ranks, n, sizeof(*ranks), by_number);
	for (size_t i = 0; i < n; i++)
		if (!i || ranks[i].number != ranks[n_kept - 1].number)
			ranks[n_kept++] = ranks[i];
	return n_kept;
}

/* Addresses and ids of stacks differ between processes. */
static bool is_same_frame(const struct tp_thread_stacks *stacks, uint32_t a, uint32_t b)
{
	const struct tp_frame *x = &stacks->trace.frames[a];
	const struct tp_frame *y = &stacks->trace.frames[b];
	return a == b || (x->kind == y->kind && x->symbol == y->symbol && x->file == y->file &&
			  x->line == y->line && x->module == y->module);
}

/* For Python the place is the Python line: a rank that waits in a loop of MPI is in a different MPI
 * function each time. */
static bool is_same_place(const struct tp_thread_stacks *stacks, const struct tp_thread_stack *a,
			  const struct tp_thread_stack *b)
{
	const struct tp_stack *x = tp_trace_stack(&stacks->trace, a->stack);
	const struct tp_stack *y = tp_trace_stack(&stacks->trace, b->stack);
	uint32_t i = first_python(stacks, x);
	uint32_t k = first_python(stacks, y);
	if (i == x->n_frames || k == y->n_frames) {
		if (a->state != b->state || a->cause != b->cause)
			return false;
		i = k = 0;
	}
	if (x->n_frames - i != y->n_frames - k)
		return false;
	for (; i < x->n_frames; i++, k++)
		if (!is_same_frame(stacks, x->frames[i], y->frames[k]))
			return false;
	return x->n_frames || a->target == b->target;
}

static void group_ranks(struct rank_thread *ranks, size_t n, const struct tp_thread_stacks *stacks)
{
	for (size_t i = 0; i < n; i++) {
		ranks[i].group = i;
		for (size_t k = 0; k < i && ranks[i].group == i; k++)
			if (ranks[k].group == k &&
			    is_same_place(stacks, ranks[k].thread, ranks[i].thread))
				ranks[i].group = k;
		ranks[ranks[i].group].n++;
	}
}

/* "0, 2-5" */
static void add_numbers(struct tp_buf *out, const struct rank_thread *ranks, size_t n, size_t group)
{
	int64_t last = -2;
	bool is_run = false;
	for (size_t i = 0; i < n; i++) {
		if (ranks[i].group != group)
			continue;
		int64_t number = ranks[i].number;
		if (number != last + 1 || last < 0) {
			if (is_run)
				tp_buf_printf(out, "-%lld", (long long)last);
			tp_buf_printf(out, "%s%lld", last < 0 ? "" : ", ", (long long)number);
			is_run = false;
		} else {
			is_run = true;
		}
		last = number;
	}
	if (is_run)
		tp_buf_printf(out, "-%lld", (long long)last);
}

static void print_ranks(struct tp_page *page, const struct tp_thread_stacks *stacks,
			const struct rank_thread *ranks, size_t n, size_t group)
{
	struct tp_buf text = {0};
	uint64_t waits_ns = UINT64_MAX;
	tp_page_end(page);
	tp_page_add(page, TP_PAINT_BOLD, ranks[group].n == 1 ? "rank " : "ranks ");
	add_numbers(&text, ranks, n, group);
	tp_buf_puts(&text, ranks[group].n == 1 ? ": " : ", each: ");
	add_state(&text, stacks, ranks[group].thread);
	for (size_t i = 0; i < n; i++)
		if (ranks[i].group == group && ranks[i].thread->has_waits &&
		    ranks[i].thread->waits_ns < waits_ns)
			waits_ns = ranks[i].thread->waits_ns;
	if (waits_ns != UINT64_MAX && waits_ns >= WAIT_WORTH_NS)
		tp_buf_printf(&text, ", for %s", tp_unit_elapsed(waits_ns).text);
	tp_page_wrap(page, 2, TP_PAINT_NONE, tp_buf_text(&text), 0);
	tp_buf_release(&text);
	print_stack(page, stacks, ranks[group].thread);
}

bool tp_report_stacks_job_page(struct tp_page *page, const struct tp_thread_stacks *stacks)
{
	struct rank_thread *ranks = tp_alloc((stacks->n + 1) * sizeof(*ranks));
	size_t n = find_ranks(ranks, stacks);
	size_t n_groups = 0;
	group_ranks(ranks, n, stacks);
	for (size_t i = 0; i < n; i++)
		n_groups += ranks[i].group == i;
	if (n) {
		tp_page_addf(page, TP_PAINT_NONE, "pid %d: %s", (int)stacks->trace.run.pid,
			     tp_unit_counted(n, "rank").text);
		tp_page_addf(page, TP_PAINT_NONE, " at %s",
			     tp_unit_counted(n_groups, "place").text);
		tp_page_end(page);
	}
	/* The largest group comes first: a rank that is elsewhere is where the job hangs. */
	for (size_t size = n; size > 0; size--)
		for (size_t i = 0; i < n; i++)
			if (ranks[i].group == i && ranks[i].n == size)
				print_ranks(page, stacks, ranks, n, i);
	free(ranks);
	return n > 0;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void write_frame(struct tp_json_writer *w, const struct tp_thread_stacks *stacks,
			const struct tp_frame *frame)
{
	static const char *const kinds[] = {[TP_FRAME_NATIVE] = "native",
					    [TP_FRAME_JIT] = "jit",
					    [TP_FRAME_KERNEL] = "kernel",
					    [TP_FRAME_PYTHON] = "python"};
	bool is_python = frame->kind == TP_FRAME_PYTHON;
	tp_json_open(w, '{');
	tp_json_put_string(w, "kind", frame->kind < TP_ARRAY_LEN(kinds) ? kinds[frame->kind] : "?");
	tp_json_put_string(w, "function", string_of(stacks, frame->symbol));
	tp_json_put_string(w, is_python ? "file" : "module",
			   string_of(stacks, is_python ? frame->file : frame->module));
	if (is_python)
		tp_json_put_uint(w, "line", frame->line);
	tp_json_close(w, '}');
}

static void write_thread(struct tp_json_writer *w, const struct tp_thread_stacks *stacks,
			 const struct tp_thread_stack *thread)
{
	const struct tp_task *task = task_of(stacks, thread);
	const struct tp_stack *stack = tp_trace_stack(&stacks->trace, thread->stack);
	const char letter[] = {thread->letter, '\0'};
	struct tp_buf does = {0};
	add_state(&does, stacks, thread);
	tp_json_open(w, '{');
	tp_json_put_uint(w, "pid", (uint64_t)task->pid);
	tp_json_put_uint(w, "tid", (uint64_t)task->tid);
	if (rank_of(stacks, thread) >= 0)
		tp_json_put_uint(w, "rank", (uint64_t)rank_of(stacks, thread));
	tp_json_put_string(w, "name", string_of(stacks, task->comm));
	tp_json_put_string(w, "state", letter);
	tp_json_put_string(w, "does", tp_buf_text(&does));
	tp_json_put_string(w, "cause", tp_cause_name(thread->cause));
	tp_json_put_string(w, "target", string_of(stacks, thread->target));
	tp_json_put_string(w, "kernel_function", thread->kernel);
	if (thread->has_waits)
		tp_json_put_uint(w, "waits_ns", thread->waits_ns);
	tp_json_write_key(w, "stack");
	tp_json_open(w, '[');
	for (uint32_t i = 0; i < stack->n_frames; i++)
		write_frame(w, stacks, &stacks->trace.frames[stack->frames[i]]);
	tp_json_close(w, ']');
	tp_json_close(w, '}');
	tp_buf_release(&does);
}

void tp_report_stacks_json(struct tp_json_writer *w, const struct tp_thread_stacks *stacks)
{
	tp_json_open(w, '{');
	tp_json_put_string(w, "schema", "trainprof-stacks/1");
	tp_json_put_uint(w, "pid", (uint64_t)stacks->trace.run.pid);
	tp_json_write_key(w, "threads");
	tp_json_open(w, '[');
	for (size_t i = 0; i < stacks->n; i++)
		write_thread(w, stacks, &stacks->items[i]);
	tp_json_close(w, ']');
	tp_json_close(w, '}');
}
