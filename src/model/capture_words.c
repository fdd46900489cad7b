/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings of profilers, as torch.profiler, Nsight Systems, jax.profiler, tf.profiler,
 * rocprofv3, rocmProfileData and torch_npu.profiler name them in 2026.
 */
#include "trainprof/model/capture_words.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/run_info.h"

#include <string.h>

/* NULL in a row = the words for any tool. */
struct capture_row {
	const char *format; /* the names of formats begin with it */
	const char *words[TP_CAPTURE_NEEDS];
};

static const char *const any_tool[TP_CAPTURE_NEEDS] = {
	[TP_CAPTURE_DEVICE] = "torch.profiler.profile() with ProfilerActivity.CUDA, or: nsys "
			      "profile --trace=cuda,nvtx,osrt CMD",
	[TP_CAPTURE_HOST] = "PyTorch: profile(with_stack=True); nsys profile "
			    "--trace=cuda,nvtx,osrt --sample=process-tree",
	[TP_CAPTURE_MARKS] = "profiler.step() of torch.profiler, or an NVTX range",
	[TP_CAPTURE_STEPS] = "PyTorch: schedule(skip_first=10, wait=1, warmup=2, active=20, "
			     "repeat=1); Nsight Systems: nsys profile --delay=60 --duration=30",
	[TP_CAPTURE_END] = "PyTorch: prof.stop() before the program exits; Nsight Systems: nsys "
			   "profile --duration=30",
	[TP_CAPTURE_LINKS] = "PyTorch: schedule(wait=1, warmup=2, active=20); Nsight Systems: nsys "
			     "profile --cuda-graph-trace=node",
	[TP_CAPTURE_STACKS] = "PyTorch: profile(with_stack=True); Nsight Systems: nsys profile "
			      "--sample=process-tree --python-sampling=true",
};

static const struct capture_row rows[] = {
	{"kineto",
	 {[TP_CAPTURE_DEVICE] = "torch.profiler.profile() with ProfilerActivity.CUDA",
	  [TP_CAPTURE_HOST] = "torch.profiler.profile(activities=[ProfilerActivity.CPU, "
			      "ProfilerActivity.CUDA], with_stack=True)",
	  [TP_CAPTURE_MARKS] = "prof.step() of torch.profiler at its end",
	  [TP_CAPTURE_STEPS] = "schedule=torch.profiler.schedule(skip_first=10, wait=1, warmup=2, "
			       "active=20, repeat=1)",
	  [TP_CAPTURE_END] = "prof.stop() before the program exits",
	  [TP_CAPTURE_LINKS] = "schedule=torch.profiler.schedule(wait=1, warmup=2, active=20)",
	  [TP_CAPTURE_STACKS] = "torch.profiler.profile(with_stack=True)"}},
	{"nsys",
	 {[TP_CAPTURE_DEVICE] = "nsys profile --trace=cuda,nvtx CMD",
	  [TP_CAPTURE_HOST] = "nsys profile --trace=cuda,nvtx,osrt --sample=process-tree "
			      "--cpuctxsw=process-tree CMD",
	  [TP_CAPTURE_MARKS] = "an NVTX range around it (torch.cuda.nvtx.range_push)",
	  [TP_CAPTURE_STEPS] = "nsys profile --delay=60 --duration=30 CMD",
	  [TP_CAPTURE_END] = "nsys profile --duration=30 CMD",
	  [TP_CAPTURE_LINKS] = "nsys profile --cuda-graph-trace=node CMD",
	  [TP_CAPTURE_STACKS] = "nsys profile --sample=process-tree --python-sampling=true CMD"}},
	{"xprof",
	 {[TP_CAPTURE_DEVICE] = "jax.profiler.start_trace(LOGDIR), or: tf.profiler.experimental."
				"start(LOGDIR)",
	  [TP_CAPTURE_HOST] = "JAX: ProfileOptions with python_tracer_level = 1; TensorFlow: "
			      "ProfilerOptions(python_tracer_level=1)",
	  [TP_CAPTURE_MARKS] = "JAX: jax.profiler.StepTraceAnnotation(\"train\", step_num=i); "
			       "TensorFlow: tf.profiler.experimental.Trace(\"train\", step_num=i, "
			       "_r=1)",
	  [TP_CAPTURE_STEPS] = "JAX: jax.profiler.start_trace(LOGDIR) after step 10, stop_trace() "
			       "20 steps later; TensorFlow: tf.profiler.experimental.start(LOGDIR) "
			       "and stop()",
	  [TP_CAPTURE_END] = "JAX: jax.profiler.stop_trace() before the program exits; TensorFlow: "
			     "tf.profiler.experimental.stop()",
	  [TP_CAPTURE_LINKS] = "XLA_FLAGS=--xla_gpu_enable_command_buffer= launches each kernel by "
			       "itself",
	  [TP_CAPTURE_STACKS] = "JAX: ProfileOptions with python_tracer_level = 1; TensorFlow: "
				"ProfilerOptions(python_tracer_level=1)"}},
	{"rocp", /* rocpd, rocprof */
	 {[TP_CAPTURE_DEVICE] = "rocprofv3 --kernel-trace --memory-copy-trace -- CMD",
	  [TP_CAPTURE_HOST] = "rocprofv3 --hip-trace --marker-trace --kernel-trace "
			      "--memory-copy-trace -- CMD",
	  [TP_CAPTURE_MARKS] = "roctxRangePush(\"step 1\"), with rocprofv3 --marker-trace",
	  [TP_CAPTURE_STEPS] = "rocprofv3 --collection-period 60:30:1 -- CMD",
	  [TP_CAPTURE_END] = "rocprofv3 --collection-period 60:30:1 -- CMD",
	  [TP_CAPTURE_LINKS] = "rocprofv3 --hip-trace --kernel-trace -- CMD",
	  [TP_CAPTURE_STACKS] = "a roctx range around each part of the step, with rocprofv3 "
				"--marker-trace"}},
	{"rpd",
	 {[TP_CAPTURE_DEVICE] = "runTracer.sh -o trace.rpd CMD",
	  [TP_CAPTURE_HOST] = "runTracer.sh -o trace.rpd CMD, with rangePush of rpdTracerControl",
	  [TP_CAPTURE_MARKS] = "rangePush of rpdTracerControl around it",
	  [TP_CAPTURE_STEPS] = "start() of rpdTracerControl after step 10, stop() 20 steps later",
	  [TP_CAPTURE_END] = "stop() of rpdTracerControl before the program exits",
	  [TP_CAPTURE_LINKS] = "runTracer.sh -o trace.rpd CMD from the first launch on",
	  [TP_CAPTURE_STACKS] = "rangePush of rpdTracerControl around each part of the step"}},
	{"ascend",
	 {[TP_CAPTURE_DEVICE] = "torch_npu.profiler.profile() with ProfilerActivity.NPU",
	  [TP_CAPTURE_HOST] = "torch_npu.profiler.profile(activities=[ProfilerActivity.CPU, "
			      "ProfilerActivity.NPU], with_stack=True)",
	  [TP_CAPTURE_MARKS] = "prof.step() of torch_npu.profiler at its end",
	  [TP_CAPTURE_STEPS] = "schedule=torch_npu.profiler.schedule(skip_first=10, wait=1, "
			       "warmup=2, active=20, repeat=1)",
	  [TP_CAPTURE_END] = "prof.stop() before the program exits",
	  [TP_CAPTURE_LINKS] = "experimental_config=torch_npu.profiler._ExperimentalConfig("
			       "profiler_level=torch_npu.profiler.ProfilerLevel.Level1)",
	  [TP_CAPTURE_STACKS] = "torch_npu.profiler.profile(with_stack=True)"}},
	{"timeline",
	 {[TP_CAPTURE_DEVICE] = "tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE) of sess.run",
	  [TP_CAPTURE_HOST] = "trainprof run -- CMD: a timeline has operations only",
	  [TP_CAPTURE_MARKS] = "write one file for each sess.run, and import them one by one",
	  [TP_CAPTURE_STEPS] = "write the timelines of sess.run 10 to 30",
	  [TP_CAPTURE_END] = "close the file before the program exits",
	  [TP_CAPTURE_STACKS] = "trainprof run -- CMD: a timeline has operations only"}},
};

const char *tp_capture_words(const struct tp_run_info *run, enum tp_capture_need need)
{
	const char *format = run && run->n_ranks ? run->ranks[0].format : NULL;
	for (size_t i = 0; format && i < TP_ARRAY_LEN(rows); i++)
		if (strncmp(format, rows[i].format, strlen(rows[i].format)) == 0 &&
		    rows[i].words[need])
			return rows[i].words[need];
	return any_tool[need];
}

enum tp_capture_need tp_capture_need_of(const char *text, size_t *len)
{
	static const char *const names[TP_CAPTURE_NEEDS] = {
		"%CAPTURE_DEVICE", "%CAPTURE_HOST",  "%CAPTURE_MARKS",  "%CAPTURE_STEPS",
		"%CAPTURE_END",    "%CAPTURE_LINKS", "%CAPTURE_STACKS",
	};
	for (int need = 0; need < TP_CAPTURE_NEEDS; need++) {
		*len = strlen(names[need]);
		if (strncmp(text, names[need], *len) == 0)
			return (enum tp_capture_need)need;
	}
	return TP_CAPTURE_NEEDS;
}
