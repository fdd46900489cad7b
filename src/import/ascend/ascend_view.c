/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads trace_view.json of Ascend's profiler (torch_npu): activity of the host and of the NPU's
 * streams, and collectives. A wait of a stream does not count as work, and the parts of a
 * collective are not counted in addition to the collective.
 *
 * Names of processes and task types: traces of all levels and of an older export, read 2026-11-22.
 */
#include "ascend_folder.h"
#include "hccl_name.h"

#include "import/json/json_walk.h"
#include "import/lanes/lanes.h"

#include "trainprof/base/memory.h"

#include <string.h>

/* Track numbers above all stream ids: communication groups from FIRST_GROUP on, and the summary
 * track. */
enum { FIRST_GROUP = 1 << 20, SUMMARY_STREAM = 1 << 21 };

#define GROUP   "Group % Communication"
#define SUMMARY "Overlap Analysis"

static const struct tp_lane_row lanes[] = {
	{"Python", NULL, TP_LANE_THREAD, TP_SPAN_ANNOTATION, 0, NULL, TP_MAKER_NONE},
	{"CANN", NULL, TP_LANE_THREAD, TP_SPAN_CALL, 0, NULL, TP_MAKER_NONE},
	{"Ascend Hardware", "Stream %", TP_LANE_STREAM, TP_SPAN_KERNEL, 0, NULL,
	 TP_MAKER_COMPUTING},
	{"HCCL", GROUP, TP_LANE_STREAM, TP_SPAN_KERNEL, FIRST_GROUP, NULL, TP_MAKER_COMMUNICATION},
	{"Communication", GROUP, TP_LANE_STREAM, TP_SPAN_KERNEL, FIRST_GROUP, NULL,
	 TP_MAKER_COMMUNICATION},
	{SUMMARY, "Computing", TP_LANE_SUMMARY, TP_SPAN_KERNEL, SUMMARY_STREAM, NULL,
	 TP_MAKER_COMPUTING},
	{SUMMARY, "Communication", TP_LANE_CHECK, TP_SPAN_KERNEL, 0, NULL, TP_MAKER_COMMUNICATION},
	{SUMMARY, "Communication(Not Overlapped)", TP_LANE_CHECK, TP_SPAN_KERNEL, 0, NULL,
	 TP_MAKER_EXPOSED},
};

static const struct tp_lane_event_row events[] = {
	{TP_LANE_EVENT_NAME, "ProfilerStep#*", TP_SPAN_ANNOTATION, NULL},
	{TP_LANE_EVENT_CATEGORY, "cpu_op", TP_SPAN_OPERATOR, NULL},
	{TP_LANE_EVENT_CATEGORY, "python_function", TP_SPAN_PYTHON, NULL},
	{TP_LANE_EVENT_NAME, "MEMCPY_ASYNC", TP_SPAN_COPY, NULL},
	{TP_LANE_EVENT_ARG, "PCIE_DMA_SQE", TP_SPAN_COPY, NULL},
	{TP_LANE_EVENT_ARG, "SDMA_SQE", TP_SPAN_COPY, NULL},
	{TP_LANE_EVENT_ARG, "AI_CORE", TP_SPAN_KERNEL, NULL},
	{TP_LANE_EVENT_ARG, "AI_VECTOR_CORE", TP_SPAN_KERNEL, NULL},
	{TP_LANE_EVENT_ARG, "AI_CPU", TP_SPAN_KERNEL, NULL},
	{TP_LANE_EVENT_ARG, "MIX_AI*", TP_SPAN_KERNEL, NULL},
	{TP_LANE_EVENT_ARG, "DSA_SQE", TP_SPAN_KERNEL, NULL},
	{TP_LANE_EVENT_ARG, "KERNEL_*", TP_SPAN_KERNEL, NULL},
	{TP_LANE_EVENT_ARG, "Other", TP_LANE_EVENT_UNTYPED, NULL},
	{TP_LANE_EVENT_ARG, "other", TP_LANE_EVENT_UNTYPED, NULL},
};

/* Number of bytes of an element, from the bits in its type: "FP32". */
static uint64_t element_bytes(const struct tp_json_slice *type)
{
	size_t digits = type->len;
	uint64_t bits = 0;
	while (digits > 0 && type->text[digits - 1] >= '0' && type->text[digits - 1] <= '9')
		digits--;
	for (size_t i = digits; i < type->len && i < digits + 3; i++)
		bits = 10 * bits + (uint64_t)(type->text[i] - '0');
	return bits / 8;
}

static uint32_t detail_of(struct tp_rank_writer *writer, const struct tp_json_slice *name,
			  const struct tp_json_slice *args)
{
	struct tp_detail detail = {0};
	if (!tp_hccl_name_read(writer, name->text, name->len, &detail))
		return 0;
	struct tp_json_slice count = tp_json_slice_find(args, "count");
	struct tp_json_slice type = tp_json_slice_find(args, "data_type");
	uint64_t n = tp_json_slice_count(&count, INT64_MAX);
	if (__builtin_mul_overflow(n, element_bytes(&type), &detail.bytes))
		detail.bytes = 0;
	if (type.type == TP_JSON_SLICE_TEXT)
		detail.type = tp_rank_writer_string(writer, type.text, type.len);
	return tp_rank_writer_detail(writer, &detail);
}

static const struct tp_lane_dialect dialect = {
	.lanes = lanes,
	.n_lanes = TP_ARRAY_LEN(lanes),
	.events = events,
	.n_events = TP_ARRAY_LEN(events),
	.args = {"Task Type"},
	.link = "connection_id",
	.name_after = '@',
	.has_thread_ids = true,
	.arg_decides = true,
	.detail = detail_of,
	.complete = tp_ascend_folder_rank,
};

static enum tp_status view_read(struct tp_import_reader *import,
				const struct tp_import_source *source, struct tp_error *err)
{
	return tp_lanes_read(&dialect, import, source, err);
}

const struct tp_importer tp_importer_ascend = {
	.info =
		{
			.name = "ascend",
			.summary = "Ascend's profiler (torch_npu, MindSpore), trace_view.json, or "
				   "a whole *_ascend_pt folder",
			.keeps = "computing, copies, collectives, operators, calls of CANN, steps, "
				 "outermost Python functions",
			.loses = "waits of streams, the pieces of collectives, counters, memory "
				 "events, flows",
		},
	.is_of_json_maker = true,
	.read = view_read,
};
