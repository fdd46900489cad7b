/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which processes are ranks, and which process a row belongs to. */
#include "import/nsys/nsys_process.h"

#include "import/nsys_scene.h"

#include <check.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define N(array) (int)(sizeof(array) / sizeof((array)[0]))

/* One row each, distinguished by their times. */
#define KERNEL(start, pid, link)                                                                   \
	"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" #start ", " #start                       \
	" + 5, 0, 1, 7, " #link ", " pid ", 1, 1, NULL, 1, 1, 1, 1, 1, 1, NULL);"
#define CALL(start, tid, link)                                                                     \
	"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (" #start ", " #start " + 5, 0, " tid      \
	", " #link ", 2, 0, NULL);"
#define RANGE(start, tid)                                                                          \
	"INSERT INTO NVTX_EVENTS VALUES (" #start ", " #start                                      \
	" + 5, 59, NULL, NULL, NULL, 'r', " tid ", NULL, NULL, 0);"
#define OS_CALL(start, tid)                                                                        \
	"INSERT INTO OSRT_API VALUES (" #start ", " #start " + 5, 27, " tid ", 7, 3);"
/* 1 << 48 | 5 << 24, and so on. */
#define PID_5 "281475060596736"
#define TID_5 "281475060596742"
#define PID_6 "281475077373952"
#define TID_6 "281475077373957"
#define TID_7 "281475094151175"
/* The same process number on another machine. */
#define PID_5B "562950037307392"
#define TID_5B "562950037307398"

static const struct {
	const char *sql;
	size_t n_ranks;
	int64_t pids[3];
	uint64_t n_kept[3];
	uint64_t n_skipped;
} scenes[] = {
	/* by pid, not by row; the loader worker is not a rank, and neither is its launcher with one
	 * call */
	{KERNEL(30, PID_6, 1) KERNEL(40, PID_5, 1) CALL(10, TID_5, 1) CALL(20, TID_6, 1)
		 CALL(15, TID_7, 1) OS_CALL(50, TID_7) OS_CALL(51, TID_5) RANGE(5, TID_7),
	 2,
	 {5, 6},
	 {3, 2},
	 0},
	/* calls, if no process has device work */
	{CALL(10, TID_5, 1) RANGE(11, TID_6) OS_CALL(12, TID_6), 1, {5}, {1}, 0},
	/* ranges, if no process has calls either */
	{RANGE(11, TID_6) RANGE(13, TID_7) OS_CALL(12, TID_5), 2, {6, 7}, {1, 1}, 0},
	/* two machines in one export */
	{KERNEL(30, PID_5, 1) KERNEL(40, PID_5B, 1) CALL(10, TID_5, 1) CALL(20, TID_5B, 1),
	 2,
	 {5, 5},
	 {2, 2},
	 0},
	/* no process recorded: that of the only calls */
	{KERNEL(30, "NULL", 1) CALL(10, TID_6, 1), 1, {6}, {2}, 0},
	/* no process recorded anywhere */
	{KERNEL(30, "NULL", 1) KERNEL(40, "NULL", 2), 1, {0}, {2}, 0},
	/* no process recorded, calls of two: by correlation, which is 1 in both */
	{KERNEL(30, "NULL", 1) KERNEL(40, "NULL", 2) KERNEL(50, "NULL", 3) KERNEL(60, "NULL", 9)
		 CALL(10, TID_5, 1) CALL(12, TID_5, 2) CALL(14, TID_6, 1) CALL(16, TID_6, 3),
	 2,
	 {5, 6},
	 {3, 3},
	 2},
	/* some rows record it */
	{KERNEL(30, PID_5, 1) KERNEL(40, "NULL", 2) CALL(12, TID_5, 2), 1, {5}, {3}, 0},
	/* a thread that is not recorded, of the only process */
	{KERNEL(30, PID_5, 1) CALL(12, "NULL", 1) RANGE(11, "NULL"), 1, {5}, {3}, 0},
	/* and of one of two */
	{KERNEL(30, PID_5, 1) KERNEL(31, PID_6, 1) RANGE(11, "NULL"), 2, {5, 6}, {1, 1}, 1},
};

START_TEST(ranks_are_processes_with_device_work_or_the_next_best)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(&scene, nsys_file_make("%s%s", SCHEMA_ALL, scenes[_i].sql));
	ck_assert_msg(!scene.status, "%s", scene.err.text);
	ck_assert_uint_eq(scene.result.n_ranks, scenes[_i].n_ranks);
	uint64_t n_skipped = 0;
	for (size_t i = 0; i < scene.result.n_ranks; i++) {
		const struct tp_rank_info *rank = &scene.result.ranks[i];
		ck_assert_int_eq(rank->pid, scenes[_i].pids[i]);
		ck_assert_uint_eq(rank->n_kept, scenes[_i].n_kept[i]);
		ck_assert_int_eq(rank->number, -1);
		n_skipped += rank->n_skipped;
	}
	ck_assert_uint_eq(n_skipped, scenes[_i].n_skipped);
	nsys_scene_release(&scene);
}
END_TEST

START_TEST(links_are_of_one_rank)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(&scene,
			  nsys_file_make("%s", SCHEMA_ALL KERNEL(30, PID_6, 1) KERNEL(40, PID_5, 1)
						       CALL(10, TID_5, 1) CALL(20, TID_6, 1)));
	for (size_t i = 0; i < 2; i++) {
		const struct tp_span *call = nsys_scene_span(&scene, TP_SPAN_CALL, i);
		const struct tp_span *kernel = nsys_scene_span(&scene, TP_SPAN_KERNEL, 1 - i);
		ck_assert_uint_eq(call->link, 1);
		ck_assert_uint_eq(kernel->link, 1);
		ck_assert_uint_eq(nsys_scene_track(&scene, call)->rank,
				  nsys_scene_track(&scene, kernel)->rank);
		ck_assert_uint_eq(nsys_scene_track(&scene, call)->rank, i);
	}
	nsys_scene_release(&scene);
}
END_TEST

START_TEST(negative_times_shift_all_of_a_file)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(&scene,
			  nsys_file_make("%s", SCHEMA_ALL KERNEL(30, PID_5, 1) KERNEL(40, PID_6, 1)
						       RANGE(-70, TID_5)));
	ck_assert_uint_eq(nsys_scene_span(&scene, TP_SPAN_ANNOTATION, 0)->start_ns, 0);
	ck_assert_uint_eq(nsys_scene_span(&scene, TP_SPAN_KERNEL, 0)->start_ns, 100);
	ck_assert_uint_eq(nsys_scene_span(&scene, TP_SPAN_KERNEL, 1)->start_ns, 110);
	nsys_scene_release(&scene);
}
END_TEST

START_TEST(more_processes_than_ranks_are_left_out)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(
		&scene, nsys_file_make(SCHEMA_ALL
				       "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL WITH RECURSIVE n(i) "
				       "AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1100) "
				       "SELECT i, i + 1, 0, 1, 7, 1, %lld + (i << 24), 1, 1, NULL, "
				       "1, 1, 1, 1, 1, 1, NULL FROM n;",
				       (long long)GLOBAL(0, 0)));
	ck_assert_int_eq(scene.status, TP_OK);
	ck_assert_uint_eq(scene.result.n_ranks, TP_RANKS_MAX);
	ck_assert_int_eq(scene.result.ranks[TP_RANKS_MAX - 1].pid, TP_RANKS_MAX);
	nsys_scene_release(&scene);
}
END_TEST

START_TEST(global_numbers_hold_process_and_thread)
{
	/* From a public export: pid and tid 111. */
	ck_assert_int_eq(tp_nsys_pid(tp_nsys_process_key(281476838981743)), 111);
	ck_assert_int_eq(tp_nsys_tid(281476838981743), 111);
	/* Keys of threads never equal keys of streams of any device. */
	ck_assert_int_eq(tp_nsys_track_device(tp_nsys_thread_key(-1)), TP_TRACK_THREAD);
	ck_assert_int_eq(tp_nsys_track_device(tp_nsys_stream_key(INT32_MAX, UINT32_MAX)),
			 INT32_MAX);
	ck_assert_int_eq(tp_nsys_track_device(tp_nsys_stream_key(0, 0)), 0);
}
END_TEST

START_TEST(wide_correlation_ids_link_too)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(&scene,
			  nsys_file_make("%s",
					 SCHEMA_ALL KERNEL(30, PID_5, 4294967297)
						 KERNEL(40, PID_5, 4294967298) KERNEL(50, PID_5, -1)
							 CALL(10, TID_5, 4294967298)
								 CALL(20, TID_5, 4294967297)));
	uint32_t first = nsys_scene_span(&scene, TP_SPAN_KERNEL, 0)->link;
	uint32_t second = nsys_scene_span(&scene, TP_SPAN_KERNEL, 1)->link;
	ck_assert_uint_ne(first, second);
	ck_assert_uint_eq(nsys_scene_span(&scene, TP_SPAN_CALL, 0)->link, second);
	ck_assert_uint_eq(nsys_scene_span(&scene, TP_SPAN_CALL, 1)->link, first);
	ck_assert_uint_eq(nsys_scene_span(&scene, TP_SPAN_KERNEL, 2)->link, 0);
	nsys_scene_release(&scene);
}
END_TEST

Suite *suite_import_nsys_process(void);
Suite *suite_import_nsys_process(void)
{
	Suite *suite = suite_create("import/nsys_process");
	TCase *tc = tcase_create("processes");
	tcase_add_loop_test(tc, ranks_are_processes_with_device_work_or_the_next_best, 0,
			    N(scenes));
	tcase_add_test(tc, links_are_of_one_rank);
	tcase_add_test(tc, negative_times_shift_all_of_a_file);
	tcase_add_test(tc, more_processes_than_ranks_are_left_out);
	tcase_add_test(tc, global_numbers_hold_process_and_thread);
	tcase_add_test(tc, wide_correlation_ids_link_too);
	suite_add_tcase(suite, tc);
	return suite;
}
