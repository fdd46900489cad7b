/* SPDX-License-Identifier: Apache-2.0 */
/* Processes and their threads: how long each ran, and the causes of its waits. */
#include "view_stacks.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/cause_text.h"

#include <stdlib.h>
#include <string.h>

enum { SORTS = 4, CAUSES_MAX = 3 };

/* Fields that processes and threads have in common. */
struct time_shares {
	uint32_t task;
	const char *role;
	uint64_t lived_ns, on_cpu_ns, runnable_ns;
	const uint64_t *blocked_ns;
	uint64_t rss_bytes; /* 0 for a thread */
	uint32_t n_threads;
};

static struct time_shares share_of_process(const struct tp_view *view, size_t item)
{
	const struct tp_process_result *p = &view->profile->processes[item];
	return (struct time_shares){p->task,           tp_role_name(p->role), p->lived_ns,
				    p->on_cpu_ns,      p->runnable_ns,        p->blocked_ns,
				    p->rss_peak_bytes, p->n_threads};
}

static struct time_shares share_of_thread(const struct tp_view *view, size_t item)
{
	const struct tp_thread_result *t = &view->profile->threads[item];
	return (struct time_shares){t->task,
				    tp_thread_role_name(t->role),
				    t->lived_ns,
				    t->on_cpu_ns,
				    t->runnable_ns,
				    t->blocked_ns,
				    0,
				    0};
}

static uint64_t blocked_in_all(const struct time_shares *share)
{
	uint64_t sum = 0;
	for (int i = 0; i < TP_N_CAUSES; i++)
		sum += share->blocked_ns[i];
	return sum;
}

static enum tp_cause largest_cause(const struct time_shares *share)
{
	int most = 0;
	for (int i = 1; i < TP_N_CAUSES; i++)
		if (share->blocked_ns[i] > share->blocked_ns[most])
			most = i;
	return share->blocked_ns[most] ? (enum tp_cause)most : TP_CAUSE_NONE;
}

/* ---- order ---- */

struct order {
	size_t item;
	double key;
};

static int compare_orders(const void *a, const void *b)
{
	const struct order *x = a;
	const struct order *y = b;
	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return (x->item > y->item) - (x->item < y->item);
}

static double key_of(const struct time_shares *share, int sort)
{
	switch (sort) {
	case 1:
		return (double)share->on_cpu_ns;
	case 2:
		return (double)blocked_in_all(share);
	case 3:
		return (double)share->rss_bytes;
	default:
		return 0;
	}
}

static void sort_rows(struct tp_view *view, struct tp_view_place *place,
		      struct time_shares (*share_of)(const struct tp_view *, size_t))
{
	size_t n = place->n_rows;
	struct order *order = tp_alloc((n + 1) * sizeof(*order));
	for (size_t i = 0; i < n; i++) {
		struct time_shares share = share_of(view, place->rows[i]);
		order[i] = (struct order){place->rows[i],
					  key_of(&share, (place->sort % SORTS + SORTS) % SORTS)};
	}
	if (n)
		qsort(order, n, sizeof(*order), compare_orders);
	for (size_t i = 0; i < n; i++)
		place->rows[i] = order[i].item;
	free(order);
}

static void make_processes(struct tp_view *view, struct tp_view_place *place)
{
	place->n_items = place->n_rows = view->profile->n_processes;
	place->rows = tp_alloc((place->n_rows + 1) * sizeof(*place->rows));
	for (size_t i = 0; i < place->n_rows; i++)
		place->rows[i] = i;
	sort_rows(view, place, share_of_process);
}

static void make_threads(struct tp_view *view, struct tp_view_place *place)
{
	const struct tp_task *tasks = view->trace->tasks;
	place->n_items = view->profile->n_threads;
	place->rows = tp_alloc((place->n_items + 1) * sizeof(*place->rows));
	place->n_rows = 0;
	for (size_t i = 0; i < place->n_items; i++)
		if (tasks[view->profile->threads[i].task].pid == tasks[place->selection.task].pid)
			place->rows[place->n_rows++] = i;
	sort_rows(view, place, share_of_thread);
}

/* ---- rows ---- */

static void print_columns(struct tp_view_place *place, struct tp_page *page, const char *first)
{
	static const char *const sorts[SORTS] = {"", ", by CPU", ", by waiting", ", by memory"};
	tp_page_addf(page, TP_PAINT_DIM, "%9s  role      CPU     CPU wait  waits", first);
	if (!tp_view_is_narrow(page)) {
		tp_page_column(page, 50);
		tp_page_addf(page, TP_PAINT_DIM, "for, name%s",
			     sorts[(place->sort % SORTS + SORTS) % SORTS]);
	}
	tp_page_end(page);
}

static void print_head(struct tp_view *view, struct tp_view_place *place, struct tp_page *page)
{
	tp_page_addf(page, TP_PAINT_NONE, " %s, shares of their time in the judged window",
		     tp_unit_counted(view->profile->n_threads, "thread").text);
	tp_page_end(page);
	print_columns(place, page, "pid");
}

static void print_threads_head(struct tp_view *view, struct tp_view_place *place,
			       struct tp_page *page)
{
	const struct tp_task *task = &view->trace->tasks[place->selection.task];
	tp_page_addf(page, TP_PAINT_NONE, " process %d  ", (int)task->pid);
	const char *command = tp_trace_string(view->trace, task->cmdline);
	tp_page_wrap(page, 1, TP_PAINT_NONE,
		     *command ? command : tp_trace_string(view->trace, task->comm), 2);
	print_columns(place, page, "thread");
}

static void print_share(struct tp_view *view, const struct time_shares *share, bool is_thread,
			struct tp_page *page)
{
	const struct tp_task *task = &view->trace->tasks[share->task];
	double lived = share->lived_ns ? (double)share->lived_ns : 1;
	enum tp_cause cause = largest_cause(share);
	tp_page_addf(page, TP_PAINT_NONE, "%8d  %-8s ", (int)(is_thread ? task->tid : task->pid),
		     share->role);
	tp_view_percent(page, (double)share->on_cpu_ns / lived);
	tp_page_add(page, TP_PAINT_NONE, "      ");
	tp_view_percent(page, (double)share->runnable_ns / lived);
	tp_page_add(page, TP_PAINT_NONE, "  ");
	tp_view_percent(page, (double)blocked_in_all(share) / lived);
	tp_page_add(page, TP_PAINT_NONE, " ");
	if (!tp_view_is_narrow(page)) {
		tp_page_column(page, 49);
		if (cause != TP_CAUSE_NONE)
			tp_page_addf(page, TP_PAINT_NONE, "%s, ", tp_cause_name(cause));
		tp_page_add(page, TP_PAINT_NONE, tp_trace_string(view->trace, task->comm));
	}
	tp_page_end(page);
}

static void print_process(struct tp_view *view, struct tp_view_place *place, size_t item,
			  struct tp_page *page)
{
	(void)place;
	struct time_shares share = share_of_process(view, item);
	print_share(view, &share, false, page);
}

static void print_thread(struct tp_view *view, struct tp_view_place *place, size_t item,
			 struct tp_page *page)
{
	(void)place;
	struct time_shares share = share_of_thread(view, item);
	print_share(view, &share, true, page);
}

/* ---- detail ---- */

static void print_causes(const struct time_shares *share, struct tp_page *page)
{
	bool is_used[TP_N_CAUSES] = {false};
	double lived = share->lived_ns ? (double)share->lived_ns : 1;
	for (int n = 0; n < CAUSES_MAX; n++) {
		int most = -1;
		for (int i = 0; i < TP_N_CAUSES; i++)
			if (!is_used[i] && share->blocked_ns[i] &&
			    (most < 0 || share->blocked_ns[i] > share->blocked_ns[most]))
				most = i;
		if (most < 0)
			return;
		is_used[most] = true;
		tp_page_add(page, TP_PAINT_NONE, n ? "         " : "   waits ");
		tp_view_percent(page, (double)share->blocked_ns[most] / lived);
		tp_page_addf(page, TP_PAINT_NONE, "  for %s", tp_cause_text((enum tp_cause)most));
		tp_page_end(page);
	}
}

/* Prints the functions of a process with most time on a CPU. */
static void print_functions(struct tp_view *view, uint32_t task, struct tp_page *page)
{
	enum { SHOWN = 5 };
	struct tp_view_selection selection = tp_view_select_all(&view->functions);
	selection.task = task;
	selection.state = TP_VIEW_CPU_TIME;
	size_t n;
	struct tp_view_cost *costs = tp_view_costs(&view->functions, &selection, &n);
	uint64_t all = tp_view_selected_ns(&view->functions, &selection);
	for (size_t i = 0; i < n && i < SHOWN && costs[i].self_ns; i++) {
		char name[160];
		struct tp_buf where = {0};
		tp_page_add(page, TP_PAINT_NONE, i ? "         " : "    runs ");
		tp_view_percent(page, all ? (double)costs[i].self_ns / (double)all : 0);
		tp_view_add_function_place(&where, view, costs[i].function, costs[i].line);
		tp_page_addf(page, TP_PAINT_NONE, "  %s  %s",
			     tp_view_function_name(&view->functions, costs[i].function, name,
						   sizeof(name)),
			     tp_buf_text(&where));
		tp_page_end(page);
		tp_buf_release(&where);
	}
	free(costs);
}

static void print_process_detail(struct tp_view *view, struct tp_view_place *place, size_t item,
				 struct tp_page *page)
{
	(void)place;
	struct time_shares share = share_of_process(view, item);
	const struct tp_task *task = &view->trace->tasks[share.task];
	tp_page_addf(page, TP_PAINT_BOLD, " pid %d  ", (int)task->pid);
	tp_page_addf(page, TP_PAINT_NONE, "%s, ", tp_unit_counted(share.n_threads, "thread").text);
	if (share.rss_bytes)
		tp_page_addf(page, TP_PAINT_NONE, "at most %s resident, ",
			     tp_unit_bytes((double)share.rss_bytes).text);
	tp_page_wrap(page, 3, TP_PAINT_NONE, tp_trace_string(view->trace, task->cmdline), 2);
	print_functions(view, share.task, page);
	print_causes(&share, page);
}

static void print_thread_detail(struct tp_view *view, struct tp_view_place *place, size_t item,
				struct tp_page *page)
{
	(void)place;
	struct time_shares share = share_of_thread(view, item);
	print_causes(&share, page);
}

/* ---- to other screens ---- */

static void open_process(struct tp_view *view, struct tp_view_place *place, size_t item)
{
	(void)place;
	struct tp_view_place *next = tp_view_push(view, TP_SCREEN_THREADS);
	next->selection.task = view->profile->processes[item].task;
	tp_view_make_rows(view, next);
}

/* Stacks are recorded by process. */
static void open_thread(struct tp_view *view, struct tp_view_place *place, size_t item)
{
	uint32_t task = place->selection.task;
	(void)item;
	struct tp_view_place *next = tp_view_push(view, TP_SCREEN_STACKS);
	next->selection.task = task;
	tp_view_make_rows(view, next);
}

const struct tp_view_screen tp_view_processes = {
	.id = TP_SCREEN_PROCESSES,
	.name = "processes",
	.title = "Processes",
	.make = make_processes,
	.print_head = print_head,
	.print_row = print_process,
	.print_detail = print_process_detail,
	.open = open_process,
};

const struct tp_view_screen tp_view_threads = {
	.id = TP_SCREEN_THREADS,
	.name = "threads",
	.make = make_threads,
	.print_head = print_threads_head,
	.print_row = print_thread,
	.print_detail = print_thread_detail,
	.open = open_thread,
};
