/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the screen of a running measurement. */
#include "trainprof/report/live.h"

#include "live_lines.h"
#include "report/digest/digest.h"
#include "report/digest/frame_name.h"
#include "report/digest/source_lines.h"
#include "summary.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
	NARROW_BELOW = 64,
	THREADS_MAX = 10, /* if the number of lines is not limited */
	HOT_MAX = 5,
	RANKS_MAX = 8,
	ROWS_MIN = 1, /* rows that a table needs to be worth its heading */
	HEADING = 2,  /* lines of a heading, with the empty line before it */
	FOOT = 3,     /* lines below the tables */
};

/* Minimum share of CPU time for a function to be listed; minimum share of the window for a wait. */
static const double SMALLEST_FUNCTION = 0.01;
static const double SMALLEST_WAIT = 0.05;

static bool is_narrow(const struct tp_page *page)
{
	return page->style->width < NARROW_BELOW;
}

/* ---- the first lines ----------------------------------------------------------------------- */

/* The command without the directory of its program: the arguments are more useful. */
static void add_command(struct tp_buf *out, const struct tp_run_info *run)
{
	for (size_t i = 0; i < run->n_command; i++)
		tp_buf_printf(out, "%s%s", i ? " " : "",
			      i ? run->command[i] : tp_text_base_name(run->command[i]));
}

static void print_header(struct tp_page *page, const struct tp_report_digest *digest,
			 const struct tp_live *live)
{
	struct tp_buf subject = {0};
	struct tp_buf times = {0};
	add_command(&subject, digest->run);
	tp_buf_printf(&times, "%s  last %s", live->clock, tp_unit_elapsed(live->window_ns).text);
	if (!is_narrow(page))
		tp_buf_printf(&times, " of %s", tp_unit_clock(live->watched_ns).text);
	tp_page_addf(page, TP_PAINT_NONE, "%s%s  ", is_narrow(page) ? "" : "trainprof top  ",
		     live->subject);
	/* The command is cut, the figures are not. */
	struct tp_report_style style = *page->style;
	const struct tp_report_style *whole = page->style;
	size_t needed = tp_text_width(tp_buf_text(&times)) + 2;
	style.width -= needed < style.width ? (unsigned)needed : 0;
	page->style = &style;
	if (tp_page_room(page) > 1)
		tp_page_add(page, TP_PAINT_NONE, tp_buf_text(&subject));
	page->style = whole;
	tp_page_right(page, TP_PAINT_NONE, tp_buf_text(&times));
	tp_buf_release(&subject);
	tp_buf_release(&times);
}

/* ---- threads ------------------------------------------------------------------------------- */

static int compare_threads(const void *a, const void *b)
{
	const struct tp_thread_result *x = *(const struct tp_thread_result *const *)a;
	const struct tp_thread_result *y = *(const struct tp_thread_result *const *)b;
	if ((x->role == TP_THREAD_MAIN) != (y->role == TP_THREAD_MAIN))
		return x->role == TP_THREAD_MAIN ? -1 : 1;
	if (x->on_cpu_ns != y->on_cpu_ns)
		return x->on_cpu_ns < y->on_cpu_ns ? 1 : -1;
	return (x->task > y->task) - (x->task < y->task);
}

static const char *role_of(const struct tp_thread_result *thread)
{
	if (thread->role == TP_THREAD_MAIN)
		return tp_role_name(TP_ROLE_TRAINER);
	if (thread->role == TP_THREAD_OTHER && thread->process_role != TP_ROLE_TRAINER)
		return tp_role_name(thread->process_role);
	return tp_thread_role_name(thread->role);
}

/* Times of threads are shown as shares of the window: a thread that lived for a moment has a small
 * share. */
static double window_ns(const struct tp_profile *profile)
{
	return (double)(profile->window_end_ns - profile->window_start_ns);
}

/* Adds the two largest waits above the minimum: "futex 41 %, wants a CPU 8 %". */
static void add_waits(struct tp_buf *out, const struct tp_profile *profile,
		      const struct tp_thread_result *thread)
{
	enum { CPU = TP_N_CAUSES, N_WAITS };
	uint64_t left_ns[N_WAITS];
	memcpy(left_ns, thread->blocked_ns, sizeof(thread->blocked_ns));
	left_ns[CPU] = thread->runnable_ns;
	for (int n = 0; n < 2; n++) {
		int most = 0;
		for (int i = 1; i < N_WAITS; i++)
			if (left_ns[i] > left_ns[most])
				most = i;
		double ratio = (double)left_ns[most] / window_ns(profile);
		if (ratio < SMALLEST_WAIT)
			return;
		tp_buf_printf(out, "%s%s %s", n ? ", " : "",
			      most == CPU ? "a free CPU" : tp_cause_name((enum tp_cause)most),
			      tp_unit_percent(ratio).text);
		left_ns[most] = 0;
	}
}

static void print_thread(struct tp_page *page, const struct tp_profile *profile,
			 const struct tp_thread_result *thread)
{
	const struct tp_task *task = &profile->trace->tasks[thread->task];
	struct tp_buf waits = {0};
	double cpu = (double)thread->on_cpu_ns / window_ns(profile);
	add_waits(&waits, profile, thread);
	tp_page_addf(page, TP_PAINT_NONE, "%9d  %-8s  %5.1f  %s", (int)task->tid, role_of(thread),
		     cpu * 100, tp_buf_text(&waits));
	if (!is_narrow(page)) {
		tp_page_column(page, 62);
		tp_page_add(page, TP_PAINT_DIM, tp_trace_string(profile->trace, task->comm));
	}
	tp_page_end(page);
	tp_buf_release(&waits);
}

static void print_threads(struct tp_page *page, const struct tp_profile *profile, size_t most)
{
	size_t n = profile->n_threads;
	if (!n || most < 1)
		return;
	const struct tp_thread_result **order = tp_alloc(n * sizeof(const void *));
	for (size_t i = 0; i < n; i++)
		order[i] = &profile->threads[i];
	qsort(order, n, sizeof(const void *), compare_threads);
	tp_page_end(page);
	tp_page_add(page, TP_PAINT_BOLD, "   thread  role      CPU %  waits for");
	if (!is_narrow(page)) {
		tp_page_column(page, 62);
		tp_page_add(page, TP_PAINT_BOLD, "name");
	}
	tp_page_end(page);
	size_t shown = n <= most ? n : most - 1;
	for (size_t i = 0; i < shown; i++)
		print_thread(page, profile, order[i]);
	if (shown < n) {
		uint64_t on_cpu_ns = 0;
		for (size_t i = shown; i < n; i++)
			on_cpu_ns += order[i]->on_cpu_ns;
		tp_page_addf(page, TP_PAINT_DIM, "%9zu  more      %5.1f", n - shown,
			     100 * (double)on_cpu_ns / window_ns(profile));
		tp_page_end(page);
	}
	free(order);
}

/* ---- the hottest lines and functions ------------------------------------------------------- */

static size_t count_lines(const struct tp_profile *profile)
{
	const struct tp_line_result *lines[HOT_MAX];
	return profile->total_ns ? tp_report_top_lines(lines, HOT_MAX, profile) : 0;
}

static void print_lines(struct tp_page *page, const struct tp_profile *profile, size_t most)
{
	const struct tp_line_result *lines[HOT_MAX];
	size_t n = tp_report_top_lines(lines, most < HOT_MAX ? most : HOT_MAX, profile);
	if (!n)
		return;
	tp_page_end(page);
	tp_page_addf(page, TP_PAINT_BOLD, "  hottest lines, of %s",
		     profile->is_of_steps ? "each step" : "the main thread's time");
	tp_page_end(page);
	for (size_t i = 0; i < n; i++) {
		struct tp_buf text = {0};
		tp_report_add_line_share(&text, profile, lines[i]);
		tp_page_column(page, 2);
		tp_page_wrap(page, 8, TP_PAINT_NONE, tp_buf_text(&text), 1);
		tp_buf_release(&text);
	}
}

struct function {
	char *name;
	uint64_t time_ns;
};

struct functions {
	struct function *items;
	size_t n, capacity;
	uint64_t total_ns; /* CPU time of all threads */
};

static int compare_functions(const void *a, const void *b)
{
	const struct function *x = a;
	const struct function *y = b;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* Sums by the innermost frame of stacks on a CPU; for Python by line. */
static void sum_functions(struct functions *out, const struct tp_profile *profile)
{
	struct tp_map index = {0};
	for (size_t i = 0; i < profile->n_hot; i++) {
		const struct tp_hot_stack *hot = &profile->hot[i];
		const struct tp_stack *stack = tp_trace_stack(profile->trace, hot->stack);
		if (hot->state != TP_STATE_ON_CPU || !stack->n_frames)
			continue;
		struct tp_buf name = {0};
		tp_report_add_frame(&name, profile->trace, stack->frames[0]);
		uint64_t key = tp_hash_bytes(tp_buf_text(&name), name.len);
		uint64_t at = out->n;
		if (!tp_map_get(&index, key, &at)) {
			tp_map_set(&index, key, at);
			TP_ARRAY_PUSH(out->items, out->n, out->capacity) =
				(struct function){.name = tp_strdup(tp_buf_text(&name))};
		}
		assert(at < out->n);
		out->items[at].time_ns += hot->time_ns;
		tp_buf_release(&name);
	}
	tp_map_release(&index);
	for (size_t i = 0; i < profile->n_threads; i++)
		out->total_ns += profile->threads[i].on_cpu_ns;
	if (out->n)
		qsort(out->items, out->n, sizeof(*out->items), compare_functions);
}

static void print_functions(struct tp_page *page, const struct tp_profile *profile, size_t most)
{
	struct functions functions = {0};
	size_t shown = 0;
	sum_functions(&functions, profile);
	for (; shown < functions.n && shown < most && functions.total_ns; shown++) {
		const struct function *function = &functions.items[shown];
		double ratio = (double)function->time_ns / (double)functions.total_ns;
		if (ratio < SMALLEST_FUNCTION)
			break;
		if (!shown) {
			tp_page_add_section(page, "  hottest functions, of the CPU time");
		}
		tp_page_addf(page, TP_PAINT_NONE, "  %5s  %s", tp_unit_percent(ratio).text,
			     function->name);
		tp_page_end(page);
	}
	for (size_t i = 0; i < functions.n; i++)
		free(functions.items[i].name);
	free(functions.items);
}

/* ---- the last lines ------------------------------------------------------------------------ */

static void print_foot(struct tp_page *page, const struct tp_report_digest *digest,
		       const struct tp_live *live)
{
	if (live->note)
		tp_page_wrap(page, 2, TP_PAINT_WARN, live->note, 1);
	tp_report_live_cost(page, digest, live);
	if (live->end_note) {
		tp_page_add(page, TP_PAINT_DIM, live->end_note);
		tp_page_end(page);
	}
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* Number of rows of each table. */
struct live_rows {
	size_t threads, lines, functions;
};

/* Returns the number of rows that fit into the room, with `reserved` lines left for other
 * tables. */
static size_t rows_in(size_t *room, size_t wanted, size_t reserved)
{
	if (!wanted || *room < reserved + HEADING + ROWS_MIN)
		return 0;
	size_t most = *room - reserved - HEADING;
	size_t rows = most < wanted ? most : wanted;
	*room -= rows + HEADING;
	return rows;
}

/* Lines of Python come first, because a user can change them. Threads have the rest, and a few rows
 * in any case. */
static struct live_rows assign_rows(size_t used, const struct tp_profile *profile,
				    const struct tp_live *live)
{
	enum { FEW_THREADS = 3 };
	struct live_rows rows = {THREADS_MAX, HOT_MAX, HOT_MAX};
	if (!live->max_lines)
		return rows;
	size_t room = live->max_lines > used + FOOT + 1 ? live->max_lines - used - FOOT - 1 : 0;
	size_t reserved = profile->n_threads < FEW_THREADS ? profile->n_threads : FEW_THREADS;
	reserved += reserved ? HEADING : 0;
	rows.lines = rows_in(&room, count_lines(profile), reserved);
	rows.functions = rows_in(&room, HOT_MAX, reserved);
	rows.threads = rows_in(&room, profile->n_threads, 0);
	return rows;
}

/* A window of a few lines shows the first lines. */
static void cut_to(struct tp_page *page, size_t max_lines)
{
	char *at = page->out.data;
	if (!max_lines || page->n_lines <= max_lines)
		return;
	for (size_t i = 0; i < max_lines; i++)
		at = strchr(at, '\n') + 1;
	*at = '\0';
	page->out.len = (size_t)(at - page->out.data);
	page->n_lines = max_lines;
}

void tp_report_live(struct tp_page *page, const struct tp_profile *profile,
		    const struct tp_live *live)
{
	const struct tp_report report = {.profile = profile};
	struct tp_report_digest digest;
	tp_report_digest_make(&digest, &report);
	print_header(page, &digest, live);
	tp_report_live_ranks(page, live, RANKS_MAX);
	tp_report_live_limit(page, &digest);
	tp_report_live_steps(page, profile);
	tp_report_live_history(page, live);
	tp_report_bars(page, &digest);
	struct live_rows rows = assign_rows(page->n_lines, profile, live);
	print_threads(page, profile, rows.threads);
	if (profile->total_ns)
		print_lines(page, profile, rows.lines);
	print_functions(page, profile, rows.functions);
	tp_page_end(page);
	print_foot(page, &digest, live);
	cut_to(page, live->max_lines);
}
