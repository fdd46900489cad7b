/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the passes in order. */
#include "trainprof/analyze/analyze.h"

#include "analysis.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/trace_check.h" /* what every pass relies on */

/* Passes for a sampled program. Each pass uses the results of those above it. */
static const struct tp_analysis_pass sample_passes[] = {
	{"threads", tp_pass_timelines},      /* classes, timelines */
	{"roles", tp_pass_roles},            /* roles, main thread */
	{"habits", tp_pass_inferred_phases}, /* the loader where no name identifies it; the loop */
	{"foreground", tp_pass_main_thread}, /* labels of the main thread */
	{"steps", tp_pass_steps},            /* steps, loop */
	{"launches", tp_pass_launches},      /* device work; steps from it if there are none yet */
	{"steady", tp_pass_steady},          /* kinds of steps, window, run phases */
	{"partition", tp_pass_partition},    /* parts, shares, brackets */
	{"devices", tp_pass_devices},        /* the same with devices, device.*, kernel.* */
	{"hang", tp_pass_hang},              /* run.hang_* */
	{"lines", tp_pass_lines},            /* lines of Python */
	{"peer waits", tp_pass_peer_waits},  /* time in exchanges, the code around them */
	{"loader", tp_pass_loader},          /* loader.* */
	{"loader settings", tp_pass_loader_settings}, /* settings in the loader object */
	{"idioms", tp_pass_idioms},                   /* idioms, kinds of work */
	{"processes", tp_pass_processes},             /* processes, hot stacks */
	{"cpu", tp_pass_cpu},                         /* cpu.* */
	{"cpu waits", tp_pass_cpu_wait},              /* cpu.wait_* */
	{"other programs", tp_pass_other_programs},   /* other programs */
	{"compute", tp_pass_compute},                 /* compute.* */
	{"communication", tp_pass_communication},     /* comm.* */
	{"memory", tp_pass_memory},                   /* memory.* */
	{"io", tp_pass_io},                           /* io.* */
	{"counters", tp_pass_counters},               /* pmu.* */
	{"gpus", tp_pass_gpus},                       /* gpus, gpu.* */
	{"environment", tp_pass_environment},         /* env.* */
	{"replay", tp_pass_replay},                   /* replay.* */
	{"quality", tp_pass_quality},                 /* run.* of the measurement */
	{"warnings", tp_pass_warnings},               /* what makes the measurement uncertain */
	{"settings", tp_pass_settings},               /* set.*, env.uses_* */
};

/* Passes for spans that another tool recorded. */
static const struct tp_analysis_pass span_passes[] = {
	{"threads",
	 tp_pass_timelines},      /* classes, timelines, if the trace has samples or switches */
	{"ranks", tp_pass_ranks}, /* everything else */
	{"settings", tp_pass_settings}, /* set.*, kernel.half_ratio and similar */
};

enum tp_status tp_analyze(struct tp_profile *out, const struct tp_trace *trace,
			  const struct tp_patterns *patterns,
			  const struct tp_analyze_options *options, struct tp_error *err)
{
	tp_profile_init(out, trace);
	struct tp_analysis analysis = {
		.trace = trace,
		.patterns = patterns,
		.options = options,
		.profile = out,
		.arena = &out->arena,
		.main_task = TP_NO_TASK,
	};
	const struct tp_analysis_pass *passes = sample_passes;
	size_t n = TP_ARRAY_LEN(sample_passes);
	if (trace->run.mode == TP_MODE_IMPORT) {
		passes = span_passes;
		n = TP_ARRAY_LEN(span_passes);
	}
	enum tp_status status = TP_OK;
	for (size_t i = 0; !status && i < n; i++)
		status = passes[i].run(&analysis, err);
	if (status) {
		tp_profile_release(out);
		return status;
	}
	out->timelines = analysis.timelines;
	out->main_task = analysis.main_task;
	if (analysis.main_task != TP_NO_TASK)
		out->main_timeline = *tp_analysis_main_timeline(&analysis);
	return status;
}
