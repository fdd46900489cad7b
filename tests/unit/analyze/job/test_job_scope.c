/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of ranks among the processes of one recording. */
#include "trainprof/analyze/job_join.h"

#include "trainprof/model/trace.h"

#include <check.h>

struct scene {
	struct tp_trace_builder builder;
	struct tp_trace trace;
	struct tp_arena arena;
	struct tp_inner_rank *ranks;
};

/* rank < 0 = its launcher has set no rank */
static void put_process(struct scene *scene, uint32_t id, uint32_t parent, int rank)
{
	struct tp_task task = {.id = id,
			       .pid = 100 + (pid_t)id,
			       .tid = 100 + (pid_t)id,
			       .start_ns = 1 + id,
			       .parent = parent};
	tp_sink_task(&scene->builder.sink, &task);
	if (rank < 0)
		return;
	tp_sink_gauge(&scene->builder.sink, TP_METRIC_PROC_RANK, id, 2 + id, rank);
	tp_sink_gauge(&scene->builder.sink, TP_METRIC_PROC_RANKS, id, 2 + id, 2);
}

static size_t find(struct scene *scene)
{
	struct tp_run_info run = {.started_ns = 1, .ended_ns = 1000000};
	tp_trace_build(&scene->trace, &scene->builder, &run);
	return tp_job_ranks_by_launcher(&scene->ranks, &scene->trace, &scene->arena);
}

static void release(struct scene *scene)
{
	tp_trace_release(&scene->trace);
	tp_trace_builder_release(&scene->builder);
	tp_arena_release(&scene->arena);
}

START_TEST(each_rank_is_the_first_process_of_its_number)
{
	struct scene scene = {0};
	tp_trace_builder_init(&scene.builder);
	put_process(&scene, 0, TP_NO_TASK, -1); /* mpirun */
	put_process(&scene, 1, 0, 1);           /* a shell */
	put_process(&scene, 2, 1, 1);           /* the program that the shell starts */
	put_process(&scene, 3, 0, 0);
	put_process(&scene, 4, 3, 0); /* a loader's worker */
	ck_assert_uint_eq(find(&scene), 2);
	ck_assert_int_eq(scene.ranks[0].number, 0);
	ck_assert_uint_eq(scene.ranks[0].root, 3);
	ck_assert_uint_eq(scene.ranks[1].root, 1);
	ck_assert_uint_eq(scene.ranks[1].n_ranks, 2);
	ck_assert_int_eq(scene.ranks[1].pid, 101);
	release(&scene);
}
END_TEST

START_TEST(one_rank_alone_is_no_job)
{
	struct scene scene = {0};
	tp_trace_builder_init(&scene.builder);
	put_process(&scene, 0, TP_NO_TASK, -1);
	put_process(&scene, 1, 0, 1);
	put_process(&scene, 2, 0, 1); /* the same number again */
	ck_assert_uint_eq(find(&scene), 0);
	release(&scene);
}
END_TEST

Suite *suite_analyze_job_scope(void);

Suite *suite_analyze_job_scope(void)
{
	Suite *suite = suite_create("analyze_job_scope");
	TCase *tc = tcase_create("processes");
	tcase_add_test(tc, each_rank_is_the_first_process_of_its_number);
	tcase_add_test(tc, one_rank_alone_is_no_job);
	suite_add_tcase(suite, tc);
	return suite;
}
