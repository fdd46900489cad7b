/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks of the programs that write JSON with a list of events. A file may begin with thousands of
 * events that look like those of torch.profiler and name its true maker behind them: any of these
 * marks outweighs Kineto's.
 *
 * Sources: traces of each maker, and torch_npu, openxla/xprof, horovod
 * (horovod/common/timeline.cc), tensorflow (python/client/timeline.py), rocprofiler-sdk, speedscope
 * and viztracer, read 2026-11-22.
 */
#include "trace_maker.h"

#include "trainprof/base/memory.h"

#include <stdbool.h>
#include <string.h>

static const struct tp_trace_maker ascend = {
	"Ascend's profiler (torch_npu, msprof)",
	"trainprof run -- CMD   (what the NPU did: msprof-analyze, on the folder of the trace)"};
static const struct tp_trace_maker xprof = {
	"XProf (JAX, TensorFlow, torch_xla) as a copy of its HOST.xplane.pb for viewers",
	"trainprof import HOST.xplane.pb   (XProf writes it beside this file)"};
static const struct tp_trace_maker timeline = {
	"TensorFlow 1's timeline",
	"trainprof run -- CMD   (what the device did: nsys profile --trace=cuda,nvtx -- CMD)"};
static const struct tp_trace_maker horovod = {
	"Horovod's timeline, which tells of transfers and of no computing",
	"trainprof run -- CMD   on each rank, or profile each with torch.profiler"};
static const struct tp_trace_maker rocprof = {
	"rocprofv3",
	"trainprof run -- CMD   or profile with torch.profiler, whose traces of AMD GPUs are read"};
static const struct tp_trace_maker speedscope = {
	"speedscope: sampled stacks without waits and steps", "trainprof attach PID"};
static const struct tp_trace_maker viztracer = {"VizTracer: Python functions and no waits",
						"trainprof run -- CMD"};
static const struct tp_trace_maker chakra = {
	"PyTorch's execution trace (Chakra), which has no times of the device",
	"trainprof import the trace of torch.profiler that was written beside it"};
static const struct tp_trace_maker gaudi = {
	"Habana's profiler", "trainprof run -- CMD   or profile with torch.profiler"};

/* A text ends in * where only its beginning counts, and begins with * where only its end does. */
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

enum tp_status tp_trace_maker_error(const struct tp_trace_maker *maker, const char *path,
				    struct tp_error *err)
{
	(void)tp_fail(err, TP_PARSE, "'%s' was written by %s, which trainprof does not read", path,
		      maker->name);
	tp_error_next(err, "%s", maker->remedy);
	return TP_PARSE;
}
