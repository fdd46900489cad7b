/* SPDX-License-Identifier: Apache-2.0 */
/* A job of ranks with known work and waits, for tests of joining them. */
#ifndef TRAINPROF_TESTS_UNIT_ANALYZE_JOB_JOB_SCENE_H
#define TRAINPROF_TESTS_UNIT_ANALYZE_JOB_JOB_SCENE_H

#include "trainprof/model/job_result.h"

#define JOB_SCENE_MS UINT64_C(1000000)

enum { JOB_SCENE_STEPS = 80 };

struct job_scene {
	struct tp_job job;
	uint64_t length_ns[JOB_SCENE_STEPS]; /* length of each step, for all ranks */
};

/* Steps of 40 to 45 ms, or all of equal length. */
void job_scene_init(struct job_scene *scene, bool is_even);
/* A rank whose clock is off by skew and whose recording begins at a step; in each step it works
 * own_ns and waits for the rest. */
struct tp_job_rank *job_scene_add(struct job_scene *scene, int64_t number, const char *host,
			     uint64_t own_ns, uint64_t skew_ns, size_t first_step);
/* Returns the number of the late rank; -1 if there is none. */
int64_t job_scene_late(const struct job_scene *scene);

#endif
