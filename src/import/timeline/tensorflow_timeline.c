/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads TensorFlow 1's timeline, one run of a session. Three lanes show each operation of a device:
 * its stream, "stream:all" and the executor's lane, which shows when it was placed on the device.
 * Work of the device is read from one of them.
 *
 * Format: tensorflow, python/client/timeline.py, read 2026-11-22.
 */
#include "import/lanes/lanes.h"

#include "trainprof/base/memory.h"

enum { COPIES_FIRST = 1 << 20 };

static const char all_streams[] = "/device:GPU:%/stream:all Compute";

static const struct tp_lane_row lanes[] = {
	{all_streams, NULL, TP_LANE_STREAM, TP_SPAN_KERNEL, 0, NULL, TP_MAKER_NONE},
	{"/device:GPU:%/memcpy Compute", NULL, TP_LANE_STREAM, TP_SPAN_COPY, COPIES_FIRST, NULL,
	 TP_MAKER_NONE},
	{"/device:GPU:%/stream:% Compute", NULL, TP_LANE_STREAM, TP_SPAN_KERNEL, 0, all_streams,
	 TP_MAKER_NONE},
	{"/job:*/device:CPU:% Compute", NULL, TP_LANE_THREAD, TP_SPAN_OPERATOR, 0, NULL,
	 TP_MAKER_NONE},
};

static const struct tp_lane_event_row events[] = {
	{TP_LANE_EVENT_NAME, "MEMCPYHtoD", TP_SPAN_COPY, "Memcpy HtoD"},
	{TP_LANE_EVENT_NAME, "MEMCPYDtoH", TP_SPAN_COPY, "Memcpy DtoH"},
	{TP_LANE_EVENT_NAME, "MEMCPYDtoD", TP_SPAN_COPY, "Memcpy DtoD"},
};

static const struct tp_lane_dialect dialect = {
	.lanes = lanes,
	.n_lanes = TP_ARRAY_LEN(lanes),
	.events = events,
	.n_events = TP_ARRAY_LEN(events),
	.lacks_kineto = true,
};

static enum tp_status timeline_read(struct tp_import_reader *import,
				    const struct tp_import_source *source, struct tp_error *err)
{
	return tp_lanes_read(&dialect, import, source, err);
}

const struct tp_importer tp_importer_timeline = {
	.info =
		{
			.name = "timeline",
			.summary = "TensorFlow 1's timeline, one run of a session",
			.keeps = "kernels and copies once each, operations on the CPU",
			.loses = "Python between runs, threads, waits: unknown, and not idle",
		},
	.is_of_json_maker = true,
	.read = timeline_read,
};
