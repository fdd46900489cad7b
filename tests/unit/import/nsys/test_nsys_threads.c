/* SPDX-License-Identifier: Apache-2.0 */
/* Tests threads of exports: their samples, switches and names. */
#include "import/nsys/nsys_threads.h"

#include "import/nsys_scene.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

/* GLOBAL(5, 1001), GLOBAL(5, 1002), GLOBAL(6, 1001) */
#define T1 "281475060597737"
#define T2 "281475060597738"
#define U1 "281475077374953"
#define KERNELS                                                                                    \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, " \
	"globalPid, name);"
#define WORK_1                                                                                     \
	"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 1000, 0, 7, 1, 281475060596736, "     \
	"'k');"
#define WORK_2                                                                                     \
	"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 1000, 1, 7, 2, 281475077373952, "     \
	"'k');"
#define TABLES                                                                                     \
	"CREATE TABLE SCHED_EVENTS (start, cpu, isSchedIn, globalTid, threadState); CREATE TABLE " \
	"COMPOSITE_EVENTS (id, start, cpu, threadState, globalTid, cpuCycles); CREATE TABLE "      \
	"SAMPLING_CALLCHAINS (id, symbol, module, kernelMode, unresolved, specialEntry, "          \
	"stackDepth);"
#define FEW                                                                                        \
	"INSERT INTO SCHED_EVENTS VALUES (10, 0, 1, " T1 ", 1), (40, 0, 0, " T1 ", 2); INSERT "    \
	"INTO COMPOSITE_EVENTS VALUES (1, 20, 0, 1, " T1 ", 1); INSERT INTO SAMPLING_CALLCHAINS "  \
	"VALUES (1, 'f', '/a.so', 0, 0, 0, 0);"

/* Returns the track of the thread; NULL if there is none. */
static const struct tp_track *track_of(const struct tp_trace *trace, uint32_t rank, int64_t tid)
{
	for (size_t i = 0; i < trace->n_tracks; i++)
		if (trace->tracks[i].device == TP_TRACK_THREAD && trace->tracks[i].rank == rank &&
		    trace->tracks[i].number == tid)
			return &trace->tracks[i];
	return NULL;
}

START_TEST(threads_of_two_ranks_have_tasks_and_names_of_their_own)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(
		&scene,
		nsys_file_make(
			KERNELS WORK_1 WORK_2 TABLES FEW
			"INSERT INTO COMPOSITE_EVENTS VALUES (2, 50, 0, 1, " U1 ", 1), (3, 60, 0, "
			"1, " T2 ", 1), (4, 2000, 0, 1, " U1 ", 1);"
			"CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT); INSERT INTO "
			"StringIds VALUES (5, 'trainer'); CREATE TABLE ThreadNames (nameId, "
			"globalTid); INSERT INTO ThreadNames VALUES (5, " T1 "), ('other', " U1
			");"));
	ck_assert_msg(!scene.status, "%s", scene.err.text);
	const struct tp_trace *trace = &scene.trace;
	const struct tp_track *first = track_of(trace, 0, 1001);
	const struct tp_track *second = track_of(trace, 0, 1002);
	const struct tp_track *other = track_of(trace, 1, 1001);
	ck_assert(first && second && other);
	ck_assert(first->task_plus_1 && second->task_plus_1 && other->task_plus_1);
	ck_assert_str_eq(tp_trace_string(trace, first->name), "trainer");
	ck_assert_str_eq(tp_trace_string(trace, other->name), "other");
	const struct tp_task *task = &trace->tasks[first->task_plus_1 - 1];
	ck_assert_int_eq(task->tid, 1001);
	ck_assert_int_eq(task->pid, 5);
	ck_assert_str_eq(tp_trace_string(trace, task->comm), "trainer");
	ck_assert_uint_eq(task->start_ns, 10);
	ck_assert_uint_eq(task->end_ns, 40);
	ck_assert_int_eq(trace->tasks[other->task_plus_1 - 1].pid, 6);
	ck_assert_uint_eq(trace->n_tasks, 3);
	/* The recording also begins and ends with records of threads. */
	ck_assert_uint_eq(scene.result.first_ns, 10);
	ck_assert_uint_eq(scene.result.last_ns, 2000);
	/* Rows of samples and switches are events, but not spans. */
	ck_assert_uint_eq(scene.result.ranks[0].n_kept, 1);
	ck_assert_uint_eq(scene.result.ranks[0].n_events, 5);
	ck_assert_uint_eq(scene.result.n_tasks, 3);
	ck_assert_uint_eq(scene.result.n_thread_records, 5); /* a stay and four samples */
	nsys_scene_release(&scene);
}
END_TEST

START_TEST(equal_stacks_of_ranks_are_one)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(&scene,
			  nsys_file_make(KERNELS WORK_1 WORK_2 TABLES FEW
					 "INSERT INTO COMPOSITE_EVENTS VALUES (2, 50, 0, 1, " U1
					 ", 1); INSERT INTO SAMPLING_CALLCHAINS VALUES (2, 'f', "
					 "'/a.so', 0, 0, 0, 0);"));
	ck_assert_msg(!scene.status, "%s", scene.err.text);
	ck_assert_uint_eq(scene.trace.n_samples, 2);
	ck_assert_uint_ne(scene.trace.samples[0].stack, 0);
	ck_assert_uint_eq(scene.trace.samples[0].stack, scene.trace.samples[1].stack);
	ck_assert_uint_eq(scene.trace.n_frames, 2); /* 0 is none */
	nsys_scene_release(&scene);
}
END_TEST

START_TEST(times_are_shifted_with_those_of_spans)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(&scene,
			  nsys_file_make(KERNELS
					 "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (-50, 10, "
					 "0, 7, 1, 281475060596736, 'k');" TABLES FEW
					 "INSERT INTO COMPOSITE_EVENTS VALUES (2, -50, 0, 1, " T1
					 ", 1), (3, -51, 0, 1, " T1 ", 1);"));
	ck_assert_msg(!scene.status, "%s", scene.err.text);
	ck_assert_uint_eq(scene.trace.n_samples, 2);
	ck_assert_uint_eq(scene.trace.samples[0].time_ns, 0);
	ck_assert_uint_eq(scene.trace.samples[1].time_ns, 70);
	ck_assert_uint_eq(scene.trace.runs[0].start_ns, 60);
	ck_assert_uint_eq(scene.result.ranks[0].n_skipped, 1);
	ck_assert_str_eq(scene.result.ranks[0].skipped_because,
			 "a sample or a switch has a time that cannot be");
	nsys_scene_release(&scene);
}
END_TEST

static const struct {
	const char *claim;
	const char *tables;
	size_t n_runs, n_samples, n_stacks;
	const char *because; /* NULL = none is skipped */
} odd[] = {
	{"empty tables say nothing", TABLES, 0, 0, 0, NULL},
	{"no tables say nothing", "", 0, 0, 0, NULL},
	{"a view is not run",
	 "CREATE VIEW SCHED_EVENTS AS SELECT 1 start, 2 cpu, 1 isSchedIn, " T1
	 " globalTid, 1 threadState; CREATE VIEW COMPOSITE_EVENTS AS SELECT 1 id, 1 start, " T1
	 " globalTid; CREATE VIEW SAMPLING_CALLCHAINS AS SELECT 1 id, 0 stackDepth, 'f' symbol, "
	 "'m' module;",
	 0, 0, 0, "a table is a view, and code of a file is not run"},
	{"a trigger is not run",
	 TABLES "CREATE TABLE t (x); CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO "
		"COMPOSITE_EVENTS VALUES (7, 7, 0, 1, " T1 ", 1); END;" FEW,
	 1, 1, 1, NULL},
	{"versions of tables are read",
	 "CREATE TABLE SCHED_EVENTS_V2 (start, isSchedIn, globalTid); INSERT INTO SCHED_EVENTS_V2 "
	 "VALUES (10, 1, " T1 "), (20, 0, " T1 ");",
	 1, 0, 0, NULL},
	{"columns that nobody knows say nothing",
	 "CREATE TABLE SCHED_EVENTS (a, b); INSERT INTO SCHED_EVENTS VALUES (1, 2);", 0, 0, 0,
	 NULL},
	{"samples without stacks are samples",
	 "CREATE TABLE COMPOSITE_EVENTS (id, start, globalTid); INSERT INTO COMPOSITE_EVENTS "
	 "VALUES (1, 5, " T1 ");",
	 0, 1, 0, NULL},
};

START_TEST(odd_tables_do_no_harm)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(&scene, nsys_file_make(KERNELS WORK_1 "%s", odd[_i].tables));
	ck_assert_msg(!scene.status, "%s: %s", odd[_i].claim, scene.err.text);
	ck_assert_msg(scene.trace.n_runs == odd[_i].n_runs, "%s", odd[_i].claim);
	ck_assert_msg(scene.trace.n_samples == odd[_i].n_samples, "%s", odd[_i].claim);
	ck_assert_msg(scene.trace.n_stacks == odd[_i].n_stacks + 1, "%s", odd[_i].claim);
	const char *because = scene.result.ranks[0].skipped_because;
	if (odd[_i].because)
		ck_assert_str_eq(because, odd[_i].because);
	else
		ck_assert_msg(!because, "%s: %s", odd[_i].claim, because);
	nsys_scene_release(&scene);
}
END_TEST

/* As many threads as a file can name, and as many processes: the excess is skipped. */
START_TEST(more_threads_and_processes_than_can_be_are_skipped)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(
		&scene,
		nsys_file_make(KERNELS WORK_1 TABLES
			       "CREATE TABLE OSRT_API (start, end, globalTid, nameId); BEGIN; "
			       "INSERT INTO COMPOSITE_EVENTS WITH RECURSIVE n(i) AS (SELECT 1 "
			       "UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i, i, 0, 1, "
			       "281475060596736 + i, 1 FROM n; INSERT INTO OSRT_API WITH RECURSIVE "
			       "n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
			       "SELECT 1, 2, 281475060596736 + (i << 24), 'read' FROM n; COMMIT;",
			       TP_TRACKS_MAX + 10, TP_NSYS_PROCESSES_MAX + 10));
	ck_assert_msg(!scene.status, "%s", scene.err.text);
	ck_assert_uint_eq(scene.result.n_ranks, 1);
	ck_assert_uint_eq(scene.trace.n_samples, TP_TRACKS_MAX - 1); /* one is a stream */
	ck_assert_uint_eq(scene.result.ranks[0].n_skipped, 11);
	ck_assert_str_eq(scene.result.ranks[0].skipped_because,
			 "there are too many threads and streams");
	nsys_scene_release(&scene);
}
END_TEST

/* Samples alone are not work, without which a process cannot be analysed. */
START_TEST(samples_alone_make_no_rank)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(&scene, nsys_file_make(KERNELS TABLES FEW));
	ck_assert_int_eq(scene.status, TP_ABSENT);
	nsys_scene_release(&scene);
}
END_TEST

Suite *suite_import_nsys_threads(void);

Suite *suite_import_nsys_threads(void)
{
	Suite *suite = suite_create("import/nsys_threads");
	TCase *tcase = tcase_create("threads");
	tcase_add_test(tcase, threads_of_two_ranks_have_tasks_and_names_of_their_own);
	tcase_add_test(tcase, equal_stacks_of_ranks_are_one);
	tcase_add_test(tcase, times_are_shifted_with_those_of_spans);
	tcase_add_loop_test(tcase, odd_tables_do_no_harm, 0, (int)(sizeof(odd) / sizeof(odd[0])));
	tcase_add_test(tcase, more_threads_and_processes_than_can_be_are_skipped);
	tcase_add_test(tcase, samples_alone_make_no_rank);
	suite_add_tcase(suite, tcase);
	return suite;
}
