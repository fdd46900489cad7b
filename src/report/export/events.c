/* SPDX-License-Identifier: Apache-2.0 */
/* Makes slices of steps, threads and spans. */
#include "events.h"

#include "span_lanes.h"
#include "stack_names.h"
#include "thread_walk.h"

#include "trainprof/base/buf.h"

struct emitting {
	const struct tp_profile *profile;
	const struct tp_export_event_sink *sink;
	struct tp_export_names names;
	struct tp_buf name;
	int64_t step; /* index of the step whose slice was written last */
	int64_t pid;
	int64_t tid;
};

static void add_text(struct tp_export_slice *slice, const char *key, const char *text)
{
	if (text && *text && slice->n_args < TP_EXPORT_ARGS_MAX)
		slice->args[slice->n_args++] = (struct tp_export_arg){.key = key, .text = text};
}

static void add_number(struct tp_export_slice *slice, const char *key, uint64_t number)
{
	if (slice->n_args < TP_EXPORT_ARGS_MAX)
		slice->args[slice->n_args++] = (struct tp_export_arg){.key = key, .number = number};
}

/* ---- threads ------------------------------------------------------------------------------- */

/* Above all process and thread numbers of Linux (at most 2^22), so that none is used twice. */
enum {
	RANK_PIDS = 10000001,
	TRACK_TIDS = 10000000,
	STEP_TIDS = 18000000,
	DEVICE_TIDS = 19000000,
};

static void emit_step(struct emitting *e, size_t index)
{
	static const char *const keys[TP_N_PARTS] = {"compute_ns", "communication_ns",
						     "memory_ns",  "dataloader_ns",
						     "host_ns",    "idle_ns"};
	const struct tp_step *step = &e->profile->steps[index];
	struct tp_export_slice slice = {.pid = e->pid,
					.tid = e->tid,
					.start_ns = step->start_ns,
					.end_ns = step->end_ns,
					.category = "step"};
	tp_buf_clear(&e->name);
	tp_buf_printf(&e->name, "step %zu", index + 1);
	slice.name = tp_buf_text(&e->name);
	add_number(&slice, "step", index + 1);
	add_text(&slice, "kind", tp_step_kind_name(step->kind));
	for (int part = 0; part < TP_N_PARTS; part++)
		add_number(&slice, keys[part], step->part_ns[part]);
	e->sink->slice(e->sink->context, &slice);
}

static void name_segment(struct tp_buf *out, const struct tp_export_piece *piece)
{
	tp_buf_clear(out);
	if (piece->label != TP_N_LABELS)
		tp_buf_printf(out, "%s.%s", tp_part_name(tp_label_part(piece->label)),
			      tp_label_name(piece->label));
	else if (piece->state == TP_STATE_ON_CPU)
		tp_buf_puts(out, "on CPU");
	else
		tp_export_add_wait(out, piece->state, piece->cause);
}

static void emit_segment(void *context, const struct tp_export_piece *piece)
{
	static const char *const states[TP_N_STATES] = {"on_cpu", "runnable", "off_cpu"};
	struct emitting *e = context;
	const struct tp_stack *stack = tp_trace_stack(e->profile->trace, piece->stack);
	struct tp_export_slice slice = {.pid = e->pid,
					.tid = e->tid,
					.start_ns = piece->start_ns,
					.end_ns = piece->end_ns,
					.category = "thread"};
	if (piece->step != TP_EXPORT_NO_STEP && piece->step != e->step)
		emit_step(e, (size_t)piece->step);
	e->step = piece->step;
	name_segment(&e->name, piece);
	slice.name = tp_buf_text(&e->name);
	if (piece->label != TP_N_LABELS) {
		slice.category = "part";
		add_text(&slice, "part", tp_part_name(tp_label_part(piece->label)));
	}
	if (piece->is_judged && !e->profile->n_devices)
		add_number(&slice, "judged", 1);
	add_text(&slice, "state", piece->is_known ? states[piece->state] : "unknown");
	if (piece->cause != TP_CAUSE_NONE)
		add_text(&slice, "waits_for", tp_cause_name(piece->cause));
	if (piece->is_of_device)
		add_number(&slice, "of_device", 1);
	if (stack->n_frames)
		add_text(&slice, "at", tp_export_names_frame(&e->names, stack->frames[0]));
	e->sink->slice(e->sink->context, &slice);
}

static void emit_thread(struct emitting *e, uint32_t task)
{
	const struct tp_trace *trace = e->profile->trace;
	const struct tp_export_weight weight = {.task = task};
	struct tp_buf text = {0};
	e->pid = trace->tasks[task].pid;
	e->tid = trace->tasks[task].tid;
	e->step = TP_EXPORT_NO_STEP;
	tp_export_add_process(&text, e->profile, &weight);
	e->sink->process(e->sink->context, e->pid, tp_buf_text(&text));
	tp_buf_clear(&text);
	tp_export_add_thread(&text, e->profile, &weight);
	e->sink->track(e->sink->context, e->pid, e->tid, tp_buf_text(&text));
	tp_buf_release(&text);
	tp_export_walk_thread(e->profile, task, emit_segment, e);
}

/* ---- spans --------------------------------------------------------------------------------- */

static int64_t rank_pid(const struct tp_trace *trace, uint32_t rank)
{
	bool is_own = !trace->run.n_ranks && !rank && trace->run.pid > 0;
	return is_own ? (int64_t)trace->run.pid : RANK_PIDS + (int64_t)rank;
}

static void emit_rank(struct emitting *e, uint32_t rank)
{
	const struct tp_run_info *run = &e->profile->trace->run;
	e->pid = rank_pid(e->profile->trace, rank);
	tp_buf_clear(&e->name);
	if (rank < run->n_ranks && run->ranks[rank].number >= 0)
		tp_buf_printf(&e->name, "rank %lld", (long long)run->ranks[rank].number);
	else
		tp_buf_printf(&e->name, "process %u", rank);
	e->sink->process(e->sink->context, e->pid, tp_buf_text(&e->name));
}

static void name_track(struct emitting *e, const struct tp_track *track, unsigned lane)
{
	const char *name = tp_trace_string(e->profile->trace, track->name);
	tp_buf_clear(&e->name);
	if (track->device >= 0)
		tp_buf_printf(&e->name, "GPU %d %s", track->device, *name ? name : "stream");
	else
		tp_buf_printf(&e->name, "%s %lld", *name ? name : "thread",
			      (long long)track->number);
	if (lane)
		tp_buf_printf(&e->name, ", beside (%u)", lane + 1);
	e->sink->track(e->sink->context, e->pid, e->tid, tp_buf_text(&e->name));
}

static void emit_span(const struct emitting *e, const struct tp_span *span,
		      const struct tp_track *track)
{
	const struct tp_trace *trace = e->profile->trace;
	struct tp_export_slice slice = {.pid = e->pid,
					.tid = e->tid,
					.start_ns = span->start_ns,
					.end_ns = span->end_ns,
					.name = tp_trace_string(trace, span->name),
					.category = tp_span_kind_name(span->kind)};
	if (span->link)
		add_number(&slice, "correlation", span->link);
	if (track->device >= 0) {
		add_number(&slice, "device", (uint64_t)track->device);
		add_number(&slice, "stream", (uint64_t)track->number);
	}
	if (span->detail && trace->details[span->detail].bytes)
		add_number(&slice, "bytes", trace->details[span->detail].bytes);
	e->sink->slice(e->sink->context, &slice);
}

/* A span that partly overlaps its neighbours is written to another track. */
static void emit_track(struct emitting *e, uint32_t id)
{
	const struct tp_trace *trace = e->profile->trace;
	const struct tp_track *track = &trace->tracks[id];
	const struct tp_track_spans *spans = &trace->spans[id];
	struct tp_span_lanes lanes;
	if (!spans->n)
		return;
	tp_span_lanes_build(&lanes, spans->items, spans->n);
	emit_rank(e, track->rank);
	for (unsigned lane = 0; lane < lanes.n_lanes; lane++) {
		e->tid = TRACK_TIDS + (int64_t)id * TP_SPAN_LANES_MAX + lane;
		name_track(e, track, lane);
		for (size_t i = 0; i < spans->n; i++)
			if (lanes.of_span[i] == lane)
				emit_span(e, &spans->items[i], track);
	}
	tp_span_lanes_release(&lanes);
}

/* ---- devices ------------------------------------------------------------------------------- */

static void emit_device_segment(struct emitting *e, const struct tp_device_piece *piece)
{
	struct tp_export_slice slice = {.pid = e->pid,
					.tid = e->tid,
					.start_ns = piece->start_ns,
					.end_ns = piece->end_ns,
					.category = "part"};
	tp_buf_clear(&e->name);
	tp_buf_printf(&e->name, "%s.%s", tp_part_name(tp_label_part(piece->label)),
		      tp_label_name(piece->label));
	slice.name = tp_buf_text(&e->name);
	add_text(&slice, "part", tp_part_name(tp_label_part(piece->label)));
	add_number(&slice, "judged", 1);
	e->sink->slice(e->sink->context, &slice);
}

/* Emits what each judged instant of a device is attributed to. */
static void emit_device(struct emitting *e, size_t index)
{
	const struct tp_device_result *device = &e->profile->devices[index];
	emit_rank(e, device->rank);
	e->tid = DEVICE_TIDS + (int64_t)index;
	tp_buf_clear(&e->name);
	if (device->number >= 0)
		tp_buf_printf(&e->name, "parts of GPU %d", device->number);
	else
		tp_buf_puts(&e->name, "parts");
	e->sink->track(e->sink->context, e->pid, e->tid, tp_buf_text(&e->name));
	for (size_t i = 0; i < device->n_pieces; i++)
		emit_device_segment(e, &device->pieces[i]);
}

/* Emits the steps of a trace without a main thread on a track of their own. */
static void emit_steps(struct emitting *e)
{
	if (!e->profile->n_steps || tp_export_has_thread(e->profile, e->profile->main_task))
		return;
	emit_rank(e, e->profile->n_devices ? e->profile->devices[0].rank : 0);
	e->tid = STEP_TIDS;
	e->sink->track(e->sink->context, e->pid, e->tid, "steps");
	for (size_t i = 0; i < e->profile->n_steps; i++)
		emit_step(e, i);
}

void tp_export_events_emit(const struct tp_profile *profile,
			   const struct tp_export_event_sink *sink)
{
	struct emitting e = {.profile = profile, .sink = sink};
	tp_export_names_init(&e.names, profile);
	for (uint32_t task = 0; task < profile->trace->n_tasks; task++)
		if (tp_export_has_thread(profile, task))
			emit_thread(&e, task);
	emit_steps(&e);
	for (size_t i = 0; i < profile->n_devices; i++)
		emit_device(&e, i);
	for (uint32_t id = 0; id < profile->trace->n_tracks; id++)
		emit_track(&e, id);
	tp_export_names_release(&e.names);
	tp_buf_release(&e.name);
}
