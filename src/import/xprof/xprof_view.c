/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the JSON that XProf and JAX write for viewers (HOST.trace.json.gz, perfetto_trace.json.gz):
 * the planes and lines of an XSpace as processes and threads. It rounds begins and lengths
 * independently, and may be cut: the XSpace next to it contains more.
 *
 * Format: files of jax 0.10.2 and XProf 2.24 as described in openxla/xprof, read 2026-11-22.
 */
#include "import/json/json_walk.h"
#include "import/lanes/lanes.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/memory.h"

#include <string.h>

enum { COPY, SET, CATEGORY, STEP, OPERATION, CORRELATION };

static const struct tp_lane_row lanes[] = {
	{"/host:CPU", NULL, TP_LANE_THREAD, TP_SPAN_ANNOTATION, 0, NULL, TP_MAKER_NONE},
	{"/device:GPU:%", "Stream #%*", TP_LANE_STREAM, TP_SPAN_KERNEL, 0, NULL, TP_MAKER_NONE},
	{"/device:TPU:%", "XLA Ops", TP_LANE_CORE, TP_SPAN_KERNEL, 0, NULL, TP_MAKER_NONE},
};

static const struct tp_lane_event_row events[] = {
	{TP_LANE_EVENT_ARG + STEP, "*", TP_SPAN_ANNOTATION, NULL},
	{TP_LANE_EVENT_NAME, "$*", TP_SPAN_PYTHON, NULL},
	{TP_LANE_EVENT_ARG + COPY, "*kind:H2D*", TP_SPAN_COPY, "Memcpy HtoD"},
	{TP_LANE_EVENT_ARG + COPY, "*kind:D2H*", TP_SPAN_COPY, "Memcpy DtoH"},
	{TP_LANE_EVENT_ARG + COPY, "*kind:D2D*", TP_SPAN_COPY, "Memcpy DtoD"},
	{TP_LANE_EVENT_NAME, "MemcpyH2D", TP_SPAN_COPY, "Memcpy HtoD"},
	{TP_LANE_EVENT_NAME, "MemcpyD2H", TP_SPAN_COPY, "Memcpy DtoH"},
	{TP_LANE_EVENT_NAME, "MemcpyD2D", TP_SPAN_COPY, "Memcpy DtoD"},
	{TP_LANE_EVENT_ARG + COPY, "*", TP_SPAN_COPY, NULL},
	{TP_LANE_EVENT_ARG + SET, "*", TP_SPAN_SET, NULL},
	{TP_LANE_EVENT_NAME, "__amd_rocclr_copy*", TP_SPAN_COPY, NULL},
	{TP_LANE_EVENT_NAME, "__amd_rocclr_fill*", TP_SPAN_SET, NULL},
	/* As in xplane_device.c. */
	{TP_LANE_EVENT_ARG + CATEGORY, "all-reduce*", TP_SPAN_KERNEL, "all-reduce"},
	{TP_LANE_EVENT_ARG + CATEGORY, "all-gather*", TP_SPAN_KERNEL, "all-gather"},
	{TP_LANE_EVENT_ARG + CATEGORY, "reduce-scatter*", TP_SPAN_KERNEL, "reduce-scatter"},
	{TP_LANE_EVENT_ARG + CATEGORY, "all-to-all*", TP_SPAN_KERNEL, "all-to-all"},
	{TP_LANE_EVENT_ARG + CATEGORY, "collective*", TP_SPAN_KERNEL, "collective"},
	{TP_LANE_EVENT_ARG + CATEGORY, "send*", TP_SPAN_KERNEL, "send"},
	{TP_LANE_EVENT_ARG + CATEGORY, "recv*", TP_SPAN_KERNEL, "recv"},
	{TP_LANE_EVENT_ARG + CATEGORY, "copy*", TP_SPAN_COPY, NULL},
	{TP_LANE_EVENT_ARG + CATEGORY, "async-*", TP_SPAN_COPY, NULL},
	{TP_LANE_EVENT_ARG + CATEGORY, "host send*", TP_SPAN_COPY, NULL},
	{TP_LANE_EVENT_ARG + CATEGORY, "host recv*", TP_SPAN_COPY, NULL},
	{TP_LANE_EVENT_ARG + CATEGORY, "infeed*", TP_SPAN_COPY, NULL},
	{TP_LANE_EVENT_ARG + CATEGORY, "outfeed*", TP_SPAN_COPY, NULL},
	{TP_LANE_EVENT_ARG + CORRELATION, "*", TP_LANE_EVENT_THREAD_CALL, NULL},
	{TP_LANE_EVENT_ARG + OPERATION, "*", TP_LANE_EVENT_THREAD_OPERATOR, NULL},
};

/* Returns "step 7", or "train.py(12): batch" for "$train.py:12 batch", the form of Kineto. */
static uint32_t name_of(struct tp_rank_writer *writer, uint8_t kind,
			const struct tp_json_slice *name, const struct tp_json_slice *args)
{
	struct tp_buf text = {0};
	uint32_t id = 0;
	if (kind == TP_SPAN_ANNOTATION && args[STEP].len) {
		tp_buf_puts(&text, "step ");
		tp_buf_add(&text, args[STEP].text, args[STEP].len);
	} else if (kind == TP_SPAN_PYTHON) {
		const char *blank = memchr(name->text, ' ', name->len);
		const char *colon =
			blank ? memrchr(name->text, ':', (size_t)(blank - name->text)) : NULL;
		if (colon) {
			tp_buf_add(&text, name->text + 1, (size_t)(colon - name->text) - 1);
			tp_buf_putc(&text, '(');
			tp_buf_add(&text, colon + 1, (size_t)(blank - colon) - 1);
			tp_buf_puts(&text, "):");
			tp_buf_add(&text, blank, name->len - (size_t)(blank - name->text));
		}
	}
	if (text.len)
		id = tp_rank_writer_string(writer, text.data, text.len);
	tp_buf_release(&text);
	return id;
}

static const struct tp_lane_dialect dialect = {
	.lanes = lanes,
	.n_lanes = TP_ARRAY_LEN(lanes),
	.events = events,
	.n_events = TP_ARRAY_LEN(events),
	.args = {[COPY] = "memcpy_details",
		 [SET] = "memset_details",
		 [CATEGORY] = "hlo_category",
		 [STEP] = "step_num",
		 [OPERATION] = "hlo_op",
		 [CORRELATION] = "correlation_id"},
	.link = "correlation_id",
	.lacks_kineto = true,
	.drops_instants = true,
	.names_come_first = true,
	.name = name_of,
};

static enum tp_status view_read(struct tp_import_reader *import,
				const struct tp_import_source *source, struct tp_error *err)
{
	return tp_lanes_read(&dialect, import, source, err);
}

const struct tp_importer tp_importer_xprof_json = {
	.info =
		{
			.name = "xprof-json",
			.summary = "XProf's and JAX's JSON for viewers (HOST.trace.json.gz, "
				   "perfetto_trace.json.gz)",
			.keeps = "kernels, copies, operations of TPU cores, steps, calls, named "
				 "ranges, outermost Python functions",
			.loses = "fractions of a nanosecond, and what the writer cut: the "
				 ".xplane.pb beside it says more",
		},
	.is_of_json_maker = true,
	.read = view_read,
};
