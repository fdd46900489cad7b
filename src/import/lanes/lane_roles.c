/* SPDX-License-Identifier: Apache-2.0 */
/* Determines which lanes are devices and which are threads, and the kinds of their spans. */
#include "lane_roles.h"

#include "import/json/trace_maker.h"
#include "import/reader/self_time.h"

#include "trainprof/base/memory.h"

#include <string.h>

static struct tp_lane_name process_of(const struct tp_lanes_reader *reader, size_t lane)
{
	uint64_t index;
	if (tp_map_get(&reader->processes, (uint64_t)reader->threads.items[lane].pid, &index))
		return reader->names[index];
	return (struct tp_lane_name){0};
}

/* True if a process with that name and device has events. */
static bool has_process(const struct tp_lanes_reader *reader, const char *pattern, int64_t device)
{
	for (size_t i = 0; i < reader->n_lanes; i++) {
		int64_t numbers[TP_PATTERN_NUMBERS] = {0};
		struct tp_lane_name name = process_of(reader, i);
		if (reader->lanes[i].n_events &&
		    tp_text_pattern_match(pattern, name.text, name.len, numbers) &&
		    numbers[0] == device)
			return true;
	}
	return false;
}

static uint16_t thread_track(struct tp_lanes_reader *reader, size_t index)
{
	struct tp_thread *thread = &reader->threads.items[index];
	if (reader->dialect->has_thread_ids && thread->tid >= 0)
		return tp_rank_writer_track(reader->writer, TP_TRACK_THREAD, thread->tid);
	return tp_thread_map_track(&reader->threads, thread);
}

static bool lane_fits(struct tp_lanes_reader *reader, struct tp_lane_state *lane, size_t index,
		      const struct tp_lane_row *row)
{
	int64_t numbers[TP_PATTERN_NUMBERS + TP_PATTERN_NUMBERS] = {0};
	struct tp_lane_name process = process_of(reader, index);
	const struct tp_thread *thread = &reader->threads.items[index];
	int64_t stream = thread->tid >= 0 && thread->tid <= UINT32_MAX ? thread->tid : 0;
	if (!tp_text_pattern_match(row->process, process.text, process.len, numbers))
		return false;
	if (row->thread && !tp_text_pattern_match(row->thread, lane->thread.text, lane->thread.len,
						  &numbers[TP_PATTERN_NUMBERS]))
		return false;
	if (row->unless && has_process(reader, row->unless, numbers[0]))
		return false;
	lane->row = row;
	lane->device = (int32_t)numbers[0];
	if (strchr(row->process, '%') && numbers[1])
		stream = numbers[1];
	else if (row->thread && strchr(row->thread, '%'))
		stream = numbers[TP_PATTERN_NUMBERS];
	if (row->use == TP_LANE_CHECK) {
		lane->track = TP_NO_TRACK;
		return true;
	}
	lane->track = row->use == TP_LANE_THREAD
			      ? thread_track(reader, index)
			      : tp_rank_writer_track(reader->writer, lane->device,
						     row->first_stream + stream);
	const struct tp_lane_name *name = lane->thread.len ? &lane->thread : &process;
	tp_rank_writer_name_track(reader->writer, lane->track,
				  tp_rank_writer_string(reader->writer, name->text, name->len));
	return true;
}

/* True if the pattern is that of "PROCESS/THREAD", or of one of the two. */
static bool is_named(struct tp_lanes_reader *reader, const struct tp_lane_name *process,
		     const struct tp_lane_name *thread)
{
	struct tp_buf *both = &reader->scratch;
	tp_buf_clear(both);
	tp_buf_add(both, process->text, process->len);
	tp_buf_putc(both, '/');
	tp_buf_add(both, thread->text, thread->len);
	return tp_text_pattern_match(reader->named_lanes, tp_buf_text(both), both->len, NULL) ||
	       tp_text_pattern_match(reader->named_lanes, process->text, process->len, NULL) ||
	       tp_text_pattern_match(reader->named_lanes, thread->text, thread->len, NULL);
}

static void name_lane(struct tp_lanes_reader *reader, struct tp_lane_state *lane, size_t index)
{
	struct tp_lane_name process = process_of(reader, index);
	const struct tp_thread *thread = &reader->threads.items[index];
	uint64_t device = reader->devices.n;
	if (!lane->n_events || !is_named(reader, &process, &lane->thread))
		return;
	if (!tp_map_get(&reader->devices, (uint64_t)thread->pid, &device))
		tp_map_set(&reader->devices, (uint64_t)thread->pid, device);
	lane->row = reader->dialect->lanes;
	lane->device = (int32_t)device;
	lane->track = tp_rank_writer_track(reader->writer, lane->device, (int64_t)index);
	const struct tp_lane_name *name = lane->thread.len ? &lane->thread : &process;
	tp_rank_writer_name_track(reader->writer, lane->track,
				  tp_rank_writer_string(reader->writer, name->text, name->len));
}

static void lanes_resolve(struct tp_lanes_reader *reader)
{
	const struct tp_lane_dialect *dialect = reader->dialect;
	for (size_t i = 0; i < reader->n_lanes; i++) {
		struct tp_lane_state *lane = &reader->lanes[i];
		if (reader->named_lanes) {
			name_lane(reader, lane, i);
			continue;
		}
		for (size_t r = 0; lane->n_events && !lane->row && r < dialect->n_lanes; r++)
			(void)lane_fits(reader, lane, i, &dialect->lanes[r]);
		bool is_program = dialect->has_thread_ids && lane->row == dialect->lanes;
		if (is_program && !reader->info->pid && reader->threads.items[i].pid > 0 &&
		    reader->threads.items[i].pid <= INT32_MAX)
			reader->info->pid = reader->threads.items[i].pid;
	}
}

/* Counts the events of lanes that another maker names: two traces were put into one file. */
static void others_skip(struct tp_lanes_reader *reader)
{
	for (size_t i = 0; i < reader->n_lanes; i++) {
		const struct tp_lane_state *lane = &reader->lanes[i];
		struct tp_lane_name process = process_of(reader, i);
		struct tp_json_slice text = {.text = process.text, .len = process.len};
		if (lane->row || !lane->n_events || reader->named_lanes)
			continue;
		const struct tp_trace_maker *maker = tp_trace_maker_find(TP_MARK_PROCESS, &text);
		if (!maker || !maker->reader || strcmp(maker->reader, reader->info->format) == 0)
			continue;
		for (uint64_t n = 0; n < lane->n_events; n++)
			tp_rank_writer_skip(reader->writer, "an event of another tool's");
	}
}

static bool has_unknown_types(const struct tp_lanes_reader *reader)
{
	for (size_t i = 0; i < reader->n_lanes; i++)
		if (reader->lanes[i].n_untyped)
			return true;
	return false;
}

/* Chooses the computing of a device: its own work, or the maker's summary of it. */
static void choose_computing(struct tp_lanes_reader *reader)
{
	bool needs_summary = has_unknown_types(reader);
	for (size_t i = 0; i < reader->n_lanes; i++) {
		const struct tp_lane_row *row = reader->lanes[i].row;
		if (!row || row->use != TP_LANE_SUMMARY)
			continue;
		if (needs_summary)
			reader->is_summarised = true;
		else
			reader->lanes[i].row = NULL;
	}
}

/* Compares with the maker's sums, unless its summary is what is read. */
static void sums_set(struct tp_lanes_reader *reader)
{
	struct tp_maker_sums sums = {0};
	if (has_unknown_types(reader))
		return;
	for (size_t i = 0; i < reader->spans.n; i++) {
		const struct tp_span *span = &reader->spans.items[i];
		const struct tp_lane_row *row = reader->lanes[span->track].row;
		if (!row || row->sum == TP_MAKER_NONE)
			continue;
		if (row->use != TP_LANE_STREAM)
			sums.written_ns[row->sum] += span->end_ns - span->start_ns;
		else if (span->kind == TP_LANE_EVENT_DEFAULT || span->kind == TP_SPAN_KERNEL)
			tp_maker_sums_add(&sums, row->sum, span->start_ns, span->end_ns);
	}
	tp_maker_sums_set(&sums, reader->info);
	tp_maker_sums_release(&sums);
}

void tp_lane_roles_find(struct tp_lanes_reader *reader)
{
	lanes_resolve(reader);
	others_skip(reader);
	sums_set(reader);
	choose_computing(reader);
}

static bool span_resolve(const struct tp_lanes_reader *reader, struct tp_span *span)
{
	const struct tp_lane_state *lane = &reader->lanes[span->track];
	if (!lane->row || lane->track == TP_NO_TRACK)
		return false;
	bool is_thread = lane->row->use == TP_LANE_THREAD;
	if (span->kind == TP_LANE_EVENT_THREAD_CALL)
		span->kind = (uint8_t)(is_thread ? TP_SPAN_CALL : TP_LANE_EVENT_DEFAULT);
	else if (span->kind == TP_LANE_EVENT_THREAD_OPERATOR)
		span->kind = (uint8_t)(is_thread ? TP_SPAN_OPERATOR : TP_LANE_EVENT_DEFAULT);
	bool is_typed = span->kind != TP_LANE_EVENT_DEFAULT;
	if (!is_typed)
		span->kind = lane->row->kind;
	if (tp_span_kind_is_device(span->kind) == is_thread)
		return false;
	span->track = lane->track;
	return !is_typed || span->kind != TP_SPAN_KERNEL || !reader->is_summarised;
}

static bool is_dropped_mark(const struct tp_lanes_reader *reader, const struct tp_span *span)
{
	return reader->dialect->drops_instants && span->start_ns == span->end_ns &&
	       !tp_span_kind_is_device(span->kind) && span->kind != TP_SPAN_PYTHON;
}

static void lane_begin(struct tp_lanes_reader *reader, struct tp_lane_state *lane)
{
	const struct tp_lane_dialect *dialect = reader->dialect;
	size_t index = (size_t)(lane - reader->lanes);
	lane->begin = TP_LANE_LATE;
	if (!dialect->names_come_first || !lane->thread.len)
		return;
	for (size_t r = 0; !lane->row && r < dialect->n_lanes; r++)
		(void)lane_fits(reader, lane, index, &dialect->lanes[r]);
	if (lane->row && (lane->row->use == TP_LANE_STREAM || lane->row->use == TP_LANE_THREAD))
		lane->begin = TP_LANE_EARLY;
}

bool tp_lane_roles_pass(struct tp_lanes_reader *reader, struct tp_lane_state *lane,
			const struct tp_span *span)
{
	struct tp_span passed = *span;
	if (lane->begin == TP_LANE_UNTRIED)
		lane_begin(reader, lane);
	/* The outermost Python functions are known only at the end. */
	if (lane->begin != TP_LANE_EARLY || span->kind == TP_SPAN_PYTHON)
		return false;
	if (span_resolve(reader, &passed) && !is_dropped_mark(reader, &passed))
		tp_rank_writer_span(reader->writer, &passed);
	return true;
}

void tp_lane_roles_renamed(struct tp_lane_state *lane)
{
	if (lane->begin != TP_LANE_EARLY)
		return;
	lane->begin = TP_LANE_UNTRIED;
	lane->row = NULL;
	lane->n_events = 0;
}

void tp_lane_roles_apply(struct tp_lanes_reader *reader)
{
	size_t n = 0;
	for (size_t i = 0; i < reader->spans.n; i++) {
		struct tp_span *span = &reader->spans.items[i];
		bool is_core = reader->lanes[span->track].row &&
			       reader->lanes[span->track].row->use == TP_LANE_CORE;
		if (!span_resolve(reader, span) || is_dropped_mark(reader, span))
			continue;
		if (is_core)
			TP_ARRAY_PUSH(reader->cores.items, reader->cores.n,
				      reader->cores.capacity) = *span;
		else
			reader->spans.items[n++] = *span;
	}
	reader->spans.n = n;
}

void tp_lane_roles_emit_cores(struct tp_lanes_reader *reader)
{
	struct tp_span_store one = {0};
	for (size_t i = 0; reader->cores.n && i < reader->n_lanes; i++) {
		const struct tp_lane_state *lane = &reader->lanes[i];
		if (!lane->row || lane->row->use != TP_LANE_CORE)
			continue;
		one.n = 0;
		for (size_t k = 0; k < reader->cores.n; k++)
			if (reader->cores.items[k].track == lane->track)
				TP_ARRAY_PUSH(one.items, one.n, one.capacity) =
					reader->cores.items[k];
		tp_self_time_emit(reader->writer, one.items, one.n);
	}
	tp_span_store_release(&one);
}
