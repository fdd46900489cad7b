/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads Horovod's timeline: which rank was ready last for each tensor and how long the others
 * waited, and transfers. It contains nothing about computing. Every tensor is a process of the
 * trace; ends have no name; a rank that becomes ready is an event in the negotiation with the
 * rank's number as its name.
 *
 * The results become ranges on lanes: one for each rank that was last, one for transfers. The order
 * of ranks within one cycle of the coordinator is not the order of their arrival.
 *
 * Format: horovod, horovod/common/timeline.cc, read 2026-11-22.
 */
#include "import/json/json_scan.h"
#include "import/json/trace_event.h"
#include "import/reader/importer.h"
#include "import/reader/text_pattern.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 8, RANKS_MAX = 1 << 14, TENSORS_MAX = 1 << 20 };

/* Default of HOROVOD_CYCLE_TIME, 5 ms. */
static const uint64_t CYCLE_NS = 5000000;

enum use { USE_NONE, USE_NEGOTIATION, USE_TRANSFER, USE_WAIT };

static const struct {
	const char *name;
	enum use use;
} uses[] = {
	{"NEGOTIATE_*", USE_NEGOTIATION}, {"NCCL_*", USE_TRANSFER}, {"MPI_*", USE_TRANSFER},
	{"GLOO_*", USE_TRANSFER},         {"CCL_*", USE_TRANSFER},  {"HCCL_*", USE_TRANSFER},
	{"WAIT_FOR_*", USE_WAIT},
};

/* Numbers of lanes that are not ranks. */

struct activity {
	enum use use;
	uint64_t start_ns;
	uint32_t name;
	int64_t last_rank; /* last rank that became ready; -1 = none */
};

struct tensor {
	struct activity open[DEPTH_MAX];
	size_t n_open; /* includes those that did not fit */
};

struct horovod_reader {
	struct tp_rank_writer *writer;
	struct tp_rank_info *info;
	struct tp_map ids;      /* pid -> index */
	struct tensor *tensors; /* heap */
	size_t n;
	size_t capacity;
	struct tp_buf scratch;
	struct tp_trace_event_reader events;
};

static struct tensor *process_of(struct horovod_reader *reader, const struct tp_trace_event *event)
{
	int64_t pid = 0;
	uint64_t index;
	(void)tp_json_slice_integer(&event->pid, &pid);
	if (!tp_map_get(&reader->ids, (uint64_t)pid, &index)) {
		if (reader->n == TENSORS_MAX)
			return NULL;
		index = reader->n;
		tp_map_set(&reader->ids, (uint64_t)pid, index);
		TP_ARRAY_PUSH(reader->tensors, reader->n, reader->capacity) = (struct tensor){0};
	}
	return &reader->tensors[index];
}

static void begin(struct horovod_reader *reader, struct tensor *tensor,
		  const struct tp_trace_event *event, uint64_t now_ns)
{
	size_t len;
	const char *text = tp_json_slice_text(&event->name, &reader->scratch, &len);
	struct activity activity = {.start_ns = now_ns, .last_rank = -1};
	for (size_t i = 0; !activity.use && i < TP_ARRAY_LEN(uses); i++)
		if (tp_text_pattern_match(uses[i].name, text, len, NULL))
			activity.use = uses[i].use;
	if (activity.use)
		activity.name = tp_rank_writer_string(reader->writer, text, len);
	if (tensor->n_open < DEPTH_MAX)
		tensor->open[tensor->n_open] = activity;
	tensor->n_open++;
}

static uint16_t lane_of(struct horovod_reader *reader, int64_t lane)
{
	char text[48] = "transfers";
	if (lane == TP_TRACK_DATA_WAITS)
		strcpy(text, "waits for data to send");
	else if (lane == TP_TRACK_TOGETHER)
		strcpy(text, "ranks that came within one cycle");
	else if (lane >= 0)
		snprintf(text, sizeof(text), "rank %lld was ready last", (long long)lane);
	uint16_t track = tp_rank_writer_track(reader->writer, TP_TRACK_THREAD, lane);
	tp_rank_writer_name_track(reader->writer, track,
				  tp_rank_writer_string(reader->writer, text, strlen(text)));
	return track;
}

static void end(struct horovod_reader *reader, struct tensor *tensor, uint64_t now_ns)
{
	if (!tensor->n_open) {
		tp_rank_writer_skip(reader->writer, "an end without a begin");
		return;
	}
	if (--tensor->n_open >= DEPTH_MAX)
		return;
	const struct activity *activity = &tensor->open[tensor->n_open];
	int64_t lane = activity->use == USE_WAIT ? TP_TRACK_DATA_WAITS : TP_TRACK_TRANSFERS;
	if (!activity->use)
		return;
	if (now_ns < activity->start_ns) {
		tp_rank_writer_skip(reader->writer, "an end before its begin");
		return;
	}
	if (activity->use == USE_NEGOTIATION)
		lane = now_ns - activity->start_ns < CYCLE_NS || activity->last_rank < 0
			       ? TP_TRACK_TOGETHER
			       : activity->last_rank;
	struct tp_span span = {.start_ns = activity->start_ns,
			       .end_ns = now_ns,
			       .name = activity->name,
			       .kind = TP_SPAN_ANNOTATION};
	span.track = lane_of(reader, lane);
	tp_rank_writer_span(reader->writer, &span);
}

static void ready(struct tensor *tensor, const struct tp_trace_event *event)
{
	int64_t rank;
	if (tensor->n_open && tensor->n_open <= DEPTH_MAX &&
	    tensor->open[tensor->n_open - 1].use == USE_NEGOTIATION &&
	    tp_json_slice_integer(&event->name, &rank) && rank >= 0 && rank < RANKS_MAX)
		tensor->open[tensor->n_open - 1].last_rank = rank;
}

static void read_event(struct horovod_reader *reader, const struct tp_trace_event *event)
{
	uint64_t now_ns;
	reader->info->n_events++;
	if (reader->events.is_malformed) {
		tp_rank_writer_skip(reader->writer, "a malformed event");
		return;
	}
	char phase = tp_trace_event_phase(event);
	if (phase == 'M' || !phase || !strchr("BEX", phase))
		return;
	struct tensor *tensor = process_of(reader, event);
	if (!tensor || !tp_json_slice_time_ns(&event->ts, &now_ns))
		tp_rank_writer_skip(reader->writer, "an event without a time that makes sense");
	else if (phase == 'B')
		begin(reader, tensor, event, now_ns);
	else if (phase == 'E')
		end(reader, tensor, now_ns);
	else
		ready(tensor, event);
}

static enum tp_status timeline_read(struct tp_import_reader *import,
				    const struct tp_import_source *source, struct tp_error *err)
{
	struct tp_json_scan scan;
	struct tp_json_slice key;
	struct tp_json_slice value;
	enum tp_json_scan_item item;
	struct tp_trace_event event;
	struct horovod_reader reader = {.writer = tp_rank_writer_begin(import)};
	enum tp_status status = TP_OK;
	if (!reader.writer)
		return tp_fail(err, TP_PARSE, "more than %d ranks", TP_RANKS_MAX);
	reader.info = tp_rank_info(reader.writer);
	tp_json_scan_init(&scan, source->stream);
	while ((item = tp_trace_event_next(&event, &reader.events, &scan, &key, &value)) !=
	       TP_JSON_SCAN_END) {
		if (item == TP_JSON_SCAN_EVENT)
			read_event(&reader, &event);
		else if (item != TP_JSON_SCAN_MEMBER)
			tp_rank_writer_skip(reader.writer, "an entry that is no event");
	}
	/* Old versions leave the list open at a comma: a file that ends so is complete. */
	reader.info->is_cut = scan.is_cut;
	if (!reader.info->n_kept)
		status = tp_fail(err, TP_PARSE, "'%s' holds no negotiation and no transfer",
				 source->member ? source->member : source->path);
	tp_json_scan_release(&scan);
	tp_map_release(&reader.ids);
	tp_buf_release(&reader.scratch);
	tp_trace_event_reader_release(&reader.events);
	free(reader.tensors);
	tp_rank_writer_end(reader.writer, false);
	return status;
}

const struct tp_importer tp_importer_horovod = {
	.info =
		{
			.name = "horovod",
			.summary = "Horovod's timeline (HOROVOD_TIMELINE), written by rank 0 for "
				   "all ranks",
			.keeps = "which rank was ready last and for how long the others waited, "
				 "transfers",
			.loses = "computing, loading and devices, which it does not record: no "
				 "parts of a step, no advice",
		},
	.is_of_json_maker = true,
	.read = timeline_read,
};
