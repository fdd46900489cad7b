/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks of the programs that write JSON with a list of events. A file may begin with thousands of
 * events that look like those of torch.profiler and name its real maker after them: any of these
 * marks outweighs Kineto's. A trace of unitrace with calls and without kernels has none.
 *
 * Sources: traces of each maker, and torch_npu, openxla/xprof, horovod
 * (horovod/common/timeline.cc), tensorflow (python/client/timeline.py), rocprofiler-sdk, speedscope
 * and viztracer, read 2026-11-22; intel/pti-gpu (tools/unitrace/src/chromelogger.h), onnxruntime
 * (core/common/profiler_common.h), mxnet (src/profiler), roctracer (bin/tblextr.py) and PyTorch's
 * flight recorder (FlightRecorder.hpp), read 2026-11-26.
 */
#include "trace_maker.h"

#include "json_scan.h"
#include "trace_event.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

static const struct tp_trace_maker ascend = {
	.name = "Ascend's profiler (torch_npu, msprof)",
	.reader = "ascend",
};
static const struct tp_trace_maker xprof = {
	.name = "XProf (JAX, TensorFlow, torch_xla)",
	.remedy = "   (HOST.xplane.pb beside it says more)",
	.reader = "xprof-json",
};
static const struct tp_trace_maker timeline = {
	.name = "TensorFlow 1's timeline",
	.reader = "timeline",
};
static const struct tp_trace_maker horovod = {
	.name = "Horovod's timeline",
	.reader = "horovod",
};
static const struct tp_trace_maker rocprof = {
	.name = "rocprofv3",
	.reader = "rocprof",
};
static const struct tp_trace_maker speedscope = {
	.name = "speedscope: sampled stacks without waits and steps",
	.remedy = "trainprof attach PID",
};
static const struct tp_trace_maker viztracer = {
	.name = "VizTracer: Python functions and no waits",
	.remedy = "trainprof run -- CMD",
};
static const struct tp_trace_maker chakra = {
	.name = "PyTorch's execution trace (Chakra), which has no times of the device",
	.remedy = "trainprof import the trace of torch.profiler that was written beside it",
};
static const struct tp_trace_maker unitrace = {
	.name = "Intel's unitrace: calls and kernels without PyTorch's operators",
	.remedy = "torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.XPU])",
};
static const struct tp_trace_maker onnx_runtime = {
	.name = "ONNX Runtime's profiler: sessions of a finished model",
	.remedy = "trainprof run -- CMD",
};
static const struct tp_trace_maker mxnet = {
	.name = "MXNet's profiler",
	.remedy = "trainprof run -- CMD",
};
static const struct tp_trace_maker rocprof_old = {
	.name = "rocprof, the predecessor of rocprofv3",
	.remedy = "rocprofv3 --hip-trace --kernel-trace --memory-copy-trace -- CMD",
};
static const struct tp_trace_maker py_spy = {
	.name = "py-spy: sampled stacks without waits and steps",
	.remedy = "trainprof attach PID",
};
static const struct tp_trace_maker flight_recorder = {
	.name = "PyTorch's flight recorder: the last collectives of a job, and no timeline",
	.remedy = "torchfrtrace FOLDER   (says which rank did not enter a collective)",
};
static const struct tp_trace_maker scalene = {
	.name = "Scalene: a summary by line, without waits and steps",
	.remedy = "trainprof run -- CMD",
};
static const struct tp_trace_maker nsys_lines = {
	.name = "nsys, as JSON",
	.remedy = "nsys export --type sqlite REPORT.nsys-rep",
};
static const struct tp_trace_maker wandb = {
	.name = "Weights & Biases (scalars)",
	.remedy = "trainprof run -- CMD",
};
static const struct tp_trace_maker gaudi = {
	.name = "Habana's profiler",
	.remedy = "trainprof run -- CMD   or profile with torch.profiler",
};

/* A text that ends in * is compared as a prefix, one that begins with * as a suffix. */
static const struct {
	enum tp_trace_mark_place place;
	const char *text;
	const struct tp_trace_maker *maker;
} marks[] = {
	{TP_MARK_PROCESS, "Ascend Hardware", &ascend},
	{TP_MARK_PROCESS, "CANN", &ascend},
	{TP_MARK_PROCESS, "HCCL", &ascend},
	{TP_MARK_PROCESS, "Overlap Analysis", &ascend},
	{TP_MARK_PROCESS, "NPU MEM", &ascend},
	{TP_MARK_PROCESS, "NPU", &ascend},
	{TP_MARK_PROCESS, "MindSpore*", &ascend},
	{TP_MARK_PROCESS, "AI Core Freq", &ascend},
	{TP_MARK_CATEGORY, "enqueue", &ascend},
	{TP_MARK_CATEGORY, "dequeue", &ascend},
	{TP_MARK_TEXT, "cpu_op", &ascend},
	{TP_MARK_TEXT, "python_function", &ascend},
	{TP_MARK_PROCESS, "* Compute", &timeline},
	{TP_MARK_PROCESS, "* Tensors", &timeline},
	{TP_MARK_PROCESS, "/host:CPU", &xprof},
	{TP_MARK_PROCESS, "/device:*", &xprof},
	{TP_MARK_NAME, "NEGOTIATE_*", &horovod},
	{TP_MARK_NAME, "WAIT_FOR_OTHER_TENSOR_DATA", &horovod},
	{TP_MARK_NAME, "MEMCPY_IN_FUSION_BUFFER", &horovod},
	{TP_MARK_MEMBER, "rocprofiler-sdk-tool", &rocprof},
	{TP_MARK_MEMBER, "viztracer_metadata", &viztracer},
	{TP_MARK_MEMBER, "$schema", &speedscope},
	{TP_MARK_MEMBER, "nodes", &chakra},
	{TP_MARK_PROCESS, "*habana*", &gaudi},
	{TP_MARK_PROCESS, "*Gaudi*", &gaudi},
	{TP_MARK_CATEGORY, "gpu_op", &unitrace},
	{TP_MARK_CATEGORY, "Session", &onnx_runtime},
	{TP_MARK_CATEGORY, "Node", &onnx_runtime},
	{TP_MARK_PROCESS, "cpu/*", &mxnet},
	{TP_MARK_PROCESS, "gpu/*", &mxnet},
	{TP_MARK_PROCESS, "*CPU HIP API", &rocprof_old},
	{TP_MARK_PROCESS, "*CPU HSA API", &rocprof_old},
	{TP_MARK_CATEGORY, "py-spy", &py_spy},
	{TP_MARK_MEMBER, "*_comm_state", &flight_recorder},
	{TP_MARK_MEMBER, "alloc_samples", &scalene},
	{TP_MARK_MEMBER, "_runtime", &wandb},
	{TP_MARK_MEMBER, "_step", &wandb},
	{TP_MARK_MEMBER, "CudaEvent", &nsys_lines},
	{TP_MARK_MEMBER, "TraceProcessEvent", &nsys_lines},
	{TP_MARK_MEMBER, "NvtxEvent", &nsys_lines},
};

static bool is_match(const char *mark, const struct tp_json_slice *text)
{
	size_t len = strlen(mark);
	bool is_begin = len > 1 && mark[len - 1] == '*';
	bool is_end = *mark == '*';
	const char *part = mark + is_end;
	size_t n = len - is_begin - is_end;
	if (text->len < n)
		return false;
	if (is_begin && is_end)
		return memmem(text->text, text->len, part, n) != NULL;
	if (is_begin)
		return memcmp(text->text, part, n) == 0;
	if (is_end)
		return memcmp(text->text + text->len - n, part, n) == 0;
	return text->len == n && memcmp(text->text, part, n) == 0;
}

const struct tp_trace_maker *tp_trace_maker_find(enum tp_trace_mark_place place,
						 const struct tp_json_slice *text)
{
	for (size_t i = 0; text->len && i < TP_ARRAY_LEN(marks); i++)
		if (marks[i].place == place && is_match(marks[i].text, text))
			return marks[i].maker;
	return NULL;
}

/* ---- the first bytes of a file ---- */

enum { EPOCH_DIGITS = 16 };

static const struct tp_trace_maker *maker_of_event(const struct tp_trace_event *event)
{
	bool is_label = TP_JSON_SLICE_IS(&event->name, "process_labels");
	if (is_label || TP_JSON_SLICE_IS(&event->name, "process_name")) {
		struct tp_json_slice process =
			tp_json_slice_find(&event->args, is_label ? "labels" : "name");
		return tp_trace_maker_find(TP_MARK_PROCESS, &process);
	}
	const struct tp_trace_maker *maker = NULL;
	/* Microseconds since 1970 as a text. */
	if (event->ts.type == TP_JSON_SLICE_TEXT && event->ts.len >= EPOCH_DIGITS)
		maker = tp_trace_maker_find(TP_MARK_TEXT, &event->cat);
	if (!maker && event->cat.len)
		return tp_trace_maker_find(TP_MARK_CATEGORY, &event->cat);
	return maker ? maker : tp_trace_maker_find(TP_MARK_NAME, &event->name);
}

/* Returns the rest of the head as a value: one that is cut at the end of the head is parsed as far
 * as it goes. */
static struct tp_json_slice rest_of(const struct tp_json_walk *walk)
{
	int first = walk->at < walk->end ? *walk->at : '\0';
	struct tp_json_slice rest = {.text = walk->at, .len = (size_t)(walk->end - walk->at) + 1};
	rest.type = first == '{'   ? TP_JSON_SLICE_OBJECT
		    : first == '[' ? TP_JSON_SLICE_LIST
				   : TP_JSON_SLICE_NONE;
	return rest;
}

static const struct tp_trace_maker *maker_in_events(const struct tp_json_slice *list)
{
	struct tp_json_walk walk = tp_json_walk_init(list);
	struct tp_json_slice key;
	const struct tp_trace_maker *maker = NULL;
	struct tp_trace_event_reader events = {0};
	while (!maker && tp_json_walk_to_value(&walk, &key)) {
		struct tp_trace_event event;
		struct tp_json_slice value = rest_of(&walk);
		struct tp_json_slice whole;
		struct tp_json_walk after = walk;
		bool is_whole = tp_json_walk_read_value(&after, &whole);
		if (is_whole)
			value = whole;
		if (value.type == TP_JSON_SLICE_OBJECT &&
		    (tp_trace_event_read(&event, &value, &events) || !is_whole))
			maker = maker_of_event(&event);
		if (!is_whole)
			break;
		walk = after;
	}
	tp_trace_event_reader_release(&events);
	return maker;
}

static const struct tp_trace_maker *maker_in_members(const struct tp_json_slice *object)
{
	struct tp_json_walk walk = tp_json_walk_init(object);
	struct tp_json_slice key;
	struct tp_json_slice value;
	while (tp_json_walk_to_value(&walk, &key)) {
		const struct tp_trace_maker *maker = tp_trace_maker_find(TP_MARK_MEMBER, &key);
		if (!maker && TP_JSON_SLICE_IS(&key, "traceEvents")) {
			struct tp_json_slice list = rest_of(&walk);
			maker = maker_in_events(&list);
		}
		if (maker)
			return maker;
		if (!tp_json_walk_read_value(&walk, &value))
			break;
	}
	return NULL;
}

const char *tp_trace_maker_reader(const unsigned char *head, size_t size)
{
	if (!tp_json_scan_probe(head, size))
		return NULL;
	char *text = tp_alloc(size + 1 + TP_JSON_WALK_SLACK);
	memcpy(text, head, size);
	size_t begin = strcspn(text, "{[");
	struct tp_json_walk walk = {.at = text + begin, .end = text + size};
	struct tp_json_slice rest = rest_of(&walk);
	const struct tp_trace_maker *maker =
		rest.type == TP_JSON_SLICE_LIST ? maker_in_events(&rest) : maker_in_members(&rest);
	free(text);
	return maker ? maker->reader : NULL;
}

enum tp_status tp_trace_maker_error(const struct tp_trace_maker *maker, const char *path,
				    struct tp_error *err)
{
	if (!maker->reader) {
		(void)tp_fail(err, TP_PARSE,
			      "'%s' was written by %s, which trainprof does not read", path,
			      maker->name);
		tp_error_next(err, "%s", maker->remedy);
		return TP_PARSE;
	}
	(void)tp_fail(err, TP_PARSE, "'%s' was written by %s, which its first events do not show",
		      path, maker->name);
	char *command = tp_asprintf("trainprof import --from=%s ", maker->reader);
	tp_error_next_word(err, command, path, maker->remedy ? maker->remedy : "");
	free(command);
	return TP_PARSE;
}
