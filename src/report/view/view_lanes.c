/* SPDX-License-Identifier: Apache-2.0 */
/* Shows one step as lanes: the activity of each thread, worker and stream from begin to end, and
 * the threads that it waited for. */
#include "view_stacks.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"
#include "trainprof/base/text.h"
#include "trainprof/model/cause_text.h"
#include "trainprof/model/range_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES_MAX = 400, NAME_COLUMN = 22, NAME_NARROW = NAME_COLUMN / 2 };

struct step_lane {
	bool is_track; /* spans; false = stays of a task on CPUs */
	uint32_t id;
};

enum cell_state { CELL_OFF, CELL_WAIT, CELL_WANTS_CPU, CELL_WORK, CELL_COMMUNICATION, N_CELLS };

struct lane_times {
	uint64_t work_ns;
	uint64_t wants_cpu_ns;
	uint64_t wait_ns;
};

static const struct tp_step *step_of(const struct tp_view *view, const struct tp_view_place *place)
{
	return &view->profile->steps[place->index];
}

/* ---- which lanes ---- */

static void add_lane(struct tp_view_place *place, bool is_track, uint32_t id)
{
	struct step_lane *lanes = place->data;
	if (place->n_items < LANES_MAX)
		lanes[place->n_items++] = (struct step_lane){is_track, id};
}

static void add_threads(struct tp_view *view, struct tp_view_place *place)
{
	static const enum tp_thread_role roles[] = {TP_THREAD_MAIN, TP_THREAD_LOADER,
						    TP_THREAD_COMM, TP_THREAD_TEAM};
	for (size_t r = 0; r < TP_ARRAY_LEN(roles); r++)
		for (size_t i = 0; i < view->profile->n_threads; i++)
			if (view->profile->threads[i].role == roles[r] && view->trace->run_index)
				add_lane(place, false, view->profile->threads[i].task);
}

static void make(struct tp_view *view, struct tp_view_place *place)
{
	const struct tp_trace *trace = view->trace;
	place->data = tp_alloc(LANES_MAX * sizeof(struct step_lane));
	if (place->index >= view->profile->n_steps)
		return;
	add_threads(view, place);
	for (uint32_t i = 0; i < trace->n_tracks; i++)
		if (trace->tracks[i].device != TP_TRACK_THREAD && trace->spans[i].n)
			add_lane(place, true, i);
	for (uint32_t i = 0; i < trace->n_tracks; i++)
		if (trace->tracks[i].device == TP_TRACK_THREAD && trace->spans[i].n)
			add_lane(place, true, i);
}

/* ---- what a lane did ---- */

static size_t first_run(const struct tp_trace *trace, uint32_t task, uint64_t at_ns)
{
	size_t at;
	TP_FIND_FIRST(at, trace->run_index[task], trace->run_index[task + 1],
		      trace->runs[at].end_ns > at_ns);
	return at;
}

/* Calls `add` for each interval between two instants in which the state is known. */
typedef void add_interval(void *context, uint64_t from_ns, uint64_t until_ns,
			  enum cell_state state);

static void add_clipped(const struct tp_step *step, uint64_t from_ns, uint64_t until_ns,
			enum cell_state state, add_interval *add, void *context)
{
	if (from_ns < step->start_ns)
		from_ns = step->start_ns;
	if (until_ns > step->end_ns)
		until_ns = step->end_ns;
	if (from_ns < until_ns)
		add(context, from_ns, until_ns, state);
}

static enum cell_state state_after(enum tp_run_end how)
{
	return how == TP_RUN_BLOCKED     ? CELL_WAIT
	       : how == TP_RUN_PREEMPTED ? CELL_WANTS_CPU
					 : CELL_OFF;
}

static void walk_task(const struct tp_trace *trace, uint32_t task, const struct tp_step *step,
		      add_interval *add, void *context)
{
	size_t begin = trace->run_index[task];
	size_t end = trace->run_index[task + 1];
	size_t i = first_run(trace, task, step->start_ns);
	if (i > begin) {
		const struct tp_run *before = &trace->runs[i - 1];
		uint64_t until_ns = i < end ? trace->runs[i].start_ns : step->end_ns;
		add_clipped(step, before->end_ns, until_ns, state_after(before->how), add, context);
	}
	for (; i < end && trace->runs[i].start_ns < step->end_ns; i++) {
		const struct tp_run *run = &trace->runs[i];
		uint64_t next_ns = i + 1 < end ? trace->runs[i + 1].start_ns : step->end_ns;
		add_clipped(step, run->start_ns, run->end_ns, CELL_WORK, add, context);
		add_clipped(step, run->end_ns, next_ns, state_after(run->how), add, context);
	}
}

static bool is_communication(const struct tp_trace *trace, const struct tp_span *span)
{
	return trace->details[span->detail].op != 0;
}

static void walk_track(const struct tp_trace *trace, uint32_t track, const struct tp_step *step,
		       add_interval *add, void *context)
{
	const struct tp_track_spans *spans = &trace->spans[track];
	size_t at;
	TP_FIND_FIRST(at, 0, spans->n, spans->items[at].start_ns >= step->start_ns);
	/* Earlier spans may extend into the step: checking a few of them is enough. */
	for (size_t i = at > 16 ? at - 16 : 0; i < spans->n; i++) {
		const struct tp_span *span = &spans->items[i];
		if (span->start_ns >= step->end_ns)
			return;
		add_clipped(step, span->start_ns, span->end_ns,
			    is_communication(trace, span) ? CELL_COMMUNICATION : CELL_WORK, add,
			    context);
	}
}

static void walk_lane(const struct tp_view *view, const struct step_lane *lane,
		      const struct tp_step *step, add_interval *add, void *context)
{
	if (lane->is_track)
		walk_track(view->trace, lane->id, step, add, context);
	else
		walk_task(view->trace, lane->id, step, add, context);
}

static void add_time(void *context, uint64_t from_ns, uint64_t until_ns, enum cell_state state)
{
	struct lane_times *times = context;
	uint64_t ns = until_ns - from_ns;
	times->work_ns += state >= CELL_WORK ? ns : 0;
	times->wants_cpu_ns += state == CELL_WANTS_CPU ? ns : 0;
	times->wait_ns += state == CELL_WAIT ? ns : 0;
}

/* ---- cells ---- */

struct strip {
	const struct tp_step *step;
	uint64_t (*ns)[N_CELLS]; /* by cell and state */
	size_t n;
};

static void add_to_cells(void *context, uint64_t from_ns, uint64_t until_ns, enum cell_state state)
{
	struct strip *strip = context;
	double length = (double)(strip->step->end_ns - strip->step->start_ns);
	double per_ns = (double)strip->n / length;
	uint64_t start_ns = strip->step->start_ns;
	size_t first = (size_t)((double)(from_ns - start_ns) * per_ns);
	size_t last = (size_t)((double)(until_ns - start_ns - 1) * per_ns);
	for (size_t i = first; i <= last && i < strip->n; i++) {
		uint64_t cell_from = start_ns + (uint64_t)((double)i / per_ns);
		uint64_t cell_until = start_ns + (uint64_t)((double)(i + 1) / per_ns);
		uint64_t from = from_ns > cell_from ? from_ns : cell_from;
		uint64_t until = until_ns < cell_until ? until_ns : cell_until;
		strip->ns[i][state] += until > from ? until - from : 1;
	}
}

/* A cell shows the state with most of its time; work is shown from a sixteenth on, because short
 * work matters. */
static const char *cell_text(const uint64_t ns[N_CELLS], double cell_ns)
{
	static const char *const texts[N_CELLS] = {" ", "░", "▒", "▓", "n"};
	int best = CELL_OFF;
	for (int i = CELL_WAIT; i < N_CELLS; i++)
		if (ns[i] > ns[best])
			best = i;
	if (best == CELL_OFF && (double)ns[CELL_WORK] > cell_ns / 16)
		best = CELL_WORK;
	return texts[best];
}

static void print_cells(struct tp_view *view, const struct step_lane *lane,
			const struct tp_step *step, struct tp_page *page)
{
	size_t n = tp_page_room(page);
	struct tp_buf text = {0};
	struct strip strip = {.step = step, .n = n};
	if (!n || step->end_ns <= step->start_ns)
		return;
	strip.ns = tp_alloc(n * sizeof(*strip.ns));
	walk_lane(view, lane, step, add_to_cells, &strip);
	double cell_ns = (double)(step->end_ns - step->start_ns) / (double)n;
	for (size_t i = 0; i < n; i++)
		tp_buf_puts(&text, cell_text(strip.ns[i], cell_ns));
	tp_page_add(page, TP_PAINT_NONE, tp_buf_text(&text));
	tp_buf_release(&text);
	free(strip.ns);
}

/* ---- names ---- */

static const char *role_of(const struct tp_view *view, uint32_t task)
{
	for (size_t i = 0; i < view->profile->n_threads; i++)
		if (view->profile->threads[i].task == task)
			return tp_thread_role_name(view->profile->threads[i].role);
	return "thread";
}

static void add_name(struct tp_buf *out, const struct tp_view *view, const struct step_lane *lane)
{
	const struct tp_trace *trace = view->trace;
	if (!lane->is_track) {
		tp_buf_printf(out, "%s %d", role_of(view, lane->id),
			      (int)trace->tasks[lane->id].tid);
		return;
	}
	const struct tp_track *track = &trace->tracks[lane->id];
	if (trace->run.n_ranks > 1)
		tp_buf_printf(out, "r%lld ",
			      (long long)tp_report_rank_number(&trace->run, track->rank));
	if (track->device != TP_TRACK_THREAD)
		tp_buf_printf(out, "GPU %d ", track->device);
	const char *name = tp_trace_string(trace, track->name);
	if (*name)
		tp_buf_puts(out, name);
	else
		tp_buf_printf(out, "%s %lld",
			      track->device == TP_TRACK_THREAD ? "thread" : "stream",
			      (long long)track->number);
}

/* ---- the screen ---- */

static size_t name_column(const struct tp_page *page)
{
	return tp_view_is_narrow(page) ? NAME_NARROW : NAME_COLUMN;
}

static void print_scale(struct tp_page *page, const struct tp_step *step)
{
	enum { MARKS = 4 };
	size_t first = name_column(page) + 1;
	size_t n = page->style->width > first ? page->style->width - first : 1;
	double length = (double)(step->end_ns - step->start_ns);
	for (size_t i = 0; i < MARKS; i++) {
		tp_page_column(page, first + n * i / MARKS);
		tp_page_addf(page, TP_PAINT_DIM, "|%s",
			     tp_unit_time(length * (double)i / MARKS).text);
	}
	tp_page_end(page);
}

static void print_head(struct tp_view *view, struct tp_view_place *place, struct tp_page *page)
{
	const struct tp_step *step = step_of(view, place);
	tp_page_addf(page, TP_PAINT_BOLD, " step %zu of %zu", place->index + 1,
		     view->profile->n_steps);
	tp_page_addf(page, TP_PAINT_NONE, "  %s",
		     tp_unit_time((double)(step->end_ns - step->start_ns)).text);
	for (int part = 0; part < TP_N_PARTS; part++)
		if (step->part_ns[part])
			tp_page_addf(page, TP_PAINT_PART + part, "  %s %s",
				     tp_part_name((enum tp_part)part),
				     tp_unit_time((double)step->part_ns[part]).text);
	tp_page_end(page);
	if (!view->is_plain) {
		tp_page_add(page, TP_PAINT_DIM,
			    " ▓ works  ░ waits  ▒ waits for a CPU  n communicates");
		tp_page_end(page);
		print_scale(page, step);
	}
}

static void print_row(struct tp_view *view, struct tp_view_place *place, size_t item,
		      struct tp_page *page)
{
	const struct step_lane *lane = &((const struct step_lane *)place->data)[item];
	struct tp_buf name = {0};
	struct tp_report_style style = *page->style;
	const struct tp_report_style *whole = page->style;
	add_name(&name, view, lane);
	style.width = (unsigned)name_column(page) - 1;
	page->style = &style;
	tp_page_add(page, TP_PAINT_NONE, tp_buf_text(&name));
	page->style = whole;
	tp_buf_release(&name);
	if (view->is_plain) {
		struct lane_times times = {0};
		walk_lane(view, lane, step_of(view, place), add_time, &times);
		tp_page_addf(page, TP_PAINT_NONE, ": works %s, ",
			     tp_unit_time((double)times.work_ns).text);
		tp_page_addf(page, TP_PAINT_NONE, "waits %s",
			     tp_unit_time((double)times.wait_ns).text);
	} else {
		tp_page_column(page, name_column(page));
		print_cells(view, lane, step_of(view, place), page);
	}
	tp_page_end(page);
}

/* ---- detail: the wait, and other threads at the same pipe or lock ---- */

static void print_peers(struct tp_view *view, const struct tp_sample *sample, struct tp_page *page)
{
	enum { SHOWN = 4 };
	const struct tp_trace *trace = view->trace;
	size_t n = 0;
	for (size_t i = 0; i < view->profile->n_threads && sample->target && n < SHOWN; i++) {
		uint32_t task = view->profile->threads[i].task;
		if (task == sample->task || view->profile->threads[i].role == TP_THREAD_OTHER)
			continue;
		for (size_t k = trace->sample_index[task]; k < trace->sample_index[task + 1]; k++)
			if (trace->samples[k].target == sample->target) {
				tp_page_addf(page, TP_PAINT_NONE, "%s%s %d",
					     n++ ? ", " : "; also used by ", role_of(view, task),
					     (int)trace->tasks[task].tid);
				break;
			}
	}
}

static void print_waits(struct tp_view *view, uint32_t task, const struct tp_step *step,
			struct tp_page *page)
{
	enum { SHOWN = 4 };
	const struct tp_trace *trace = view->trace;
	struct tp_map seen = {0};
	size_t n = 0;
	for (size_t i = trace->sample_index[task]; i < trace->sample_index[task + 1]; i++) {
		const struct tp_sample *sample = &trace->samples[i];
		uint64_t key = (uint64_t)sample->cause << 32 | sample->target;
		if (sample->time_ns < step->start_ns || sample->time_ns >= step->end_ns ||
		    sample->state != TP_STATE_BLOCKED || tp_map_get(&seen, key, NULL) || n == SHOWN)
			continue;
		tp_map_set(&seen, key, 1);
		n++;
		const char *target = tp_trace_string(trace, sample->target);
		tp_page_addf(page, TP_PAINT_NONE, "   seen waiting for %s%s%s",
			     tp_cause_text(sample->cause), *target ? ": " : "", target);
		print_peers(view, sample, page);
		tp_page_end(page);
	}
	tp_map_release(&seen);
}

static void print_longest_spans(struct tp_view *view, uint32_t track, const struct tp_step *step,
				struct tp_page *page)
{
	enum { SHOWN = 4 };
	const struct tp_track_spans *spans = &view->trace->spans[track];
	const struct tp_span *longest[SHOWN] = {NULL};
	for (size_t i = 0; i < spans->n && spans->items[i].start_ns < step->end_ns; i++) {
		const struct tp_span *span = &spans->items[i];
		if (span->end_ns <= step->start_ns)
			continue;
		for (size_t k = 0; k < SHOWN; k++)
			if (!longest[k] || span->end_ns - span->start_ns >
						   longest[k]->end_ns - longest[k]->start_ns) {
				memmove(&longest[k + 1], &longest[k],
					(SHOWN - 1 - k) * sizeof(const void *));
				longest[k] = span;
				break;
			}
	}
	for (size_t k = 0; k < SHOWN && longest[k]; k++) {
		tp_page_addf(page, TP_PAINT_NONE, "   %s  %s",
			     tp_unit_right(tp_unit_time((double)(longest[k]->end_ns -
								 longest[k]->start_ns)),
					   9)
				     .text,
			     tp_trace_string(view->trace, longest[k]->name));
		tp_page_end(page);
	}
}

static void print_detail(struct tp_view *view, struct tp_view_place *place, size_t item,
			 struct tp_page *page)
{
	const struct step_lane *lane = &((const struct step_lane *)place->data)[item];
	const struct tp_step *step = step_of(view, place);
	struct lane_times times = {0};
	struct tp_buf name = {0};
	add_name(&name, view, lane);
	walk_lane(view, lane, step, add_time, &times);
	tp_page_addf(page, TP_PAINT_BOLD, " %s", tp_buf_text(&name));
	tp_page_addf(page, TP_PAINT_NONE, "  works %s", tp_unit_time((double)times.work_ns).text);
	if (!lane->is_track) {
		tp_page_addf(page, TP_PAINT_NONE, ", waits %s",
			     tp_unit_time((double)times.wait_ns).text);
		tp_page_addf(page, TP_PAINT_NONE, ", waits for a CPU %s",
			     tp_unit_time((double)times.wants_cpu_ns).text);
	}
	tp_page_end(page);
	if (lane->is_track)
		print_longest_spans(view, lane->id, step, page);
	else
		print_waits(view, lane->id, step, page);
	tp_buf_release(&name);
}

static uint32_t leader_of(const struct tp_trace *trace, uint32_t task)
{
	for (uint32_t i = task + 1; i-- > 0;)
		if (trace->tasks[i].pid == trace->tasks[task].pid &&
		    trace->tasks[i].tid == trace->tasks[task].pid)
			return i;
	return task;
}

static void open_row(struct tp_view *view, struct tp_view_place *place, size_t item)
{
	const struct step_lane lane = ((const struct step_lane *)place->data)[item];
	if (lane.is_track) {
		tp_view_show_message(view, "The spans of this lane have no stacks.");
		return;
	}
	struct tp_view_place *next = tp_view_push(view, TP_SCREEN_STACKS);
	next->selection.task = leader_of(view->trace, lane.id);
	tp_view_make_rows(view, next);
}

const struct tp_view_screen tp_view_lanes = {
	.id = TP_SCREEN_LANES,
	.name = "one step",
	.make = make,
	.print_head = print_head,
	.print_row = print_row,
	.print_detail = print_detail,
	.open = open_row,
	.needs_width = true,
	.selected_columns = NAME_COLUMN,
};
