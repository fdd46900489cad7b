/* SPDX-License-Identifier: Apache-2.0 */
/* Reads JSON with a list of events from tools that are not known, when the user names the lanes of
 * its devices. What the other lanes are is unknown, so they are left out. */
#include "lanes.h"

#include "trainprof/base/memory.h"

static const struct tp_lane_row lanes[] = {
	{"*", NULL, TP_LANE_STREAM, TP_SPAN_KERNEL, 0, NULL, TP_MAKER_NONE},
};

static const struct tp_lane_event_row events[] = {
	{TP_LANE_EVENT_NAME, "Memcpy*", TP_SPAN_COPY, NULL},
	{TP_LANE_EVENT_NAME, "memcpy*", TP_SPAN_COPY, NULL},
	{TP_LANE_EVENT_NAME, "MEMCPY*", TP_SPAN_COPY, NULL},
	{TP_LANE_EVENT_NAME, "Memset*", TP_SPAN_SET, NULL},
	{TP_LANE_EVENT_NAME, "memset*", TP_SPAN_SET, NULL},
	{TP_LANE_EVENT_NAME, "MEMSET*", TP_SPAN_SET, NULL},
};

static const struct tp_lane_dialect dialect = {
	.lanes = lanes,
	.n_lanes = TP_ARRAY_LEN(lanes),
	.events = events,
	.n_events = TP_ARRAY_LEN(events),
	.has_named_lanes = true,
};

static enum tp_status named_read(struct tp_import_reader *import,
				 const struct tp_import_source *source, struct tp_error *err)
{
	if (tp_import_options(import)->device_lane)
		return tp_lanes_read(&dialect, import, source, err);
	(void)tp_fail(err, TP_USAGE, "format lanes needs the lanes of the devices");
	tp_error_next_word(err, "trainprof import --device-lane='PROCESS/THREAD' ", source->path,
			   "");
	return TP_USAGE;
}

const struct tp_importer tp_importer_named_lanes = {
	.info =
		{
			.name = "lanes",
			.summary = "JSON with a list of events of any other tool, with "
				   "--device-lane=GLOB",
			.keeps = "the lanes that GLOB names, as work of devices: one for each "
				 "process",
			.loses = "all other lanes, calls and steps: why a device idles is unknown",
		},
	.is_of_json_maker = true,
	.read = named_read,
};
