/* SPDX-License-Identifier: Apache-2.0 */
/* Hand-made traces of spans: ranks with threads and devices; the test chooses all times. */
#ifndef TRAINPROF_TESTS_UNIT_ANALYZE_SPANSCENE_H
#define TRAINPROF_TESTS_UNIT_ANALYZE_SPANSCENE_H

#include "trainprof/analyze/analyze.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

enum { SCENE_RANKS = 8 };

struct scene {
	struct tp_trace_builder builder;
	struct tp_rank_info ranks[SCENE_RANKS];
	struct tp_run_info run;
	uint32_t n_tracks;
	uint32_t n_links;
	struct tp_patterns *patterns;
	struct tp_trace trace;
	struct tp_profile profile;
	struct tp_analyze_options options;
};

static inline void scene_init(struct scene *scene, size_t n_ranks)
{
	*scene = (struct scene){0};
	tp_trace_builder_init(&scene->builder);
	for (size_t i = 0; i < n_ranks; i++)
		scene->ranks[i] = (struct tp_rank_info){.number = (int64_t)i,
							.stage = -1,
							.path = "trace.json"};
	scene->run = (struct tp_run_info){.mode = TP_MODE_IMPORT,
					  .ranks = scene->ranks,
					  .n_ranks = n_ranks};
}

/* Adds a thread (device -1) or a stream of a device. */
static inline uint16_t scene_track(struct scene *scene, uint32_t rank, int32_t device)
{
	struct tp_track track = {.id = scene->n_tracks++, .rank = rank, .device = device};
	track.number = track.id;
	tp_sink_track(&scene->builder.sink, &track);
	return (uint16_t)track.id;
}

static inline void scene_span(struct scene *scene, uint16_t track, enum tp_span_kind kind,
			      const char *name, uint64_t start_ns, uint64_t end_ns)
{
	struct tp_span span = {.start_ns = start_ns,
			       .end_ns = end_ns,
			       .name = tp_sink_string(&scene->builder.sink, name),
			       .track = track,
			       .kind = (uint8_t)kind};
	tp_sink_span(&scene->builder.sink, &span);
}

static inline void scene_step(struct scene *scene, uint16_t thread, unsigned number,
			      uint64_t start_ns, uint64_t end_ns)
{
	char name[32];
	snprintf(name, sizeof(name), "ProfilerStep#%u", number);
	scene_span(scene, thread, TP_SPAN_ANNOTATION, name, start_ns, end_ns);
}

static inline void scene_detailed(struct scene *scene, uint16_t thread, uint64_t call_ns,
				  uint64_t call_end_ns, uint16_t stream, enum tp_span_kind kind,
				  const char *name, uint64_t start_ns, uint64_t end_ns,
				  const struct tp_detail *detail)
{
	uint32_t link = ++scene->n_links;
	struct tp_span span = {.start_ns = call_ns,
			       .end_ns = call_end_ns,
			       .link = link,
			       .track = thread,
			       .kind = TP_SPAN_CALL};
	span.name = tp_sink_string(&scene->builder.sink,
				   kind == TP_SPAN_KERNEL ? "cudaLaunchKernel" : "cudaMemcpyAsync");
	tp_sink_span(&scene->builder.sink, &span);
	span = (struct tp_span){.start_ns = start_ns,
				.end_ns = end_ns,
				.link = link,
				.track = stream,
				.kind = (uint8_t)kind};
	span.name = tp_sink_string(&scene->builder.sink, name);
	span.detail = detail ? tp_sink_detail(&scene->builder.sink, detail) : 0;
	tp_sink_span(&scene->builder.sink, &span);
}

/* Adds work on a device and the call that launches it, 2 ns long. */
static inline void scene_op(struct scene *scene, uint16_t thread, uint64_t call_ns, uint16_t stream,
			    enum tp_span_kind kind, const char *name, uint64_t start_ns,
			    uint64_t end_ns)
{
	scene_detailed(scene, thread, call_ns, call_ns + 2, stream, kind, name, start_ns, end_ns,
		       NULL);
}

#define SCENE_GEMM   "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4>(P)"
#define SCENE_ALLRED "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"
#define SCENE_ADAM                                                                                 \
	"void at::native::(anonymous "                                                             \
	"namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor>()"
#define SCENE_H2D "Memcpy HtoD (Pageable -> Device)"

static inline void scene_judge(struct scene *scene)
{
	struct tp_error err = {0};
	ck_assert_msg(!tp_patterns_load(&scene->patterns, "rules/patterns", &err), "%s", err.text);
	tp_trace_build(&scene->trace, &scene->builder, &scene->run);
	ck_assert_int_eq(tp_analyze(&scene->profile, &scene->trace, scene->patterns,
				    &scene->options, &err),
			 TP_OK);
	ck_assert(tp_profile_is_exact(&scene->profile));
}

static inline uint64_t scene_part(const struct scene *scene, enum tp_part part)
{
	return scene->profile.parts[part].time_ns;
}

static inline void scene_release(struct scene *scene)
{
	tp_profile_release(&scene->profile);
	tp_trace_release(&scene->trace);
	tp_trace_builder_release(&scene->builder);
	tp_patterns_free(scene->patterns);
}

#endif
