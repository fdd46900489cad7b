/* SPDX-License-Identifier: Apache-2.0 */
/* Tests switches: the stays of threads they form, in whatever order they come. */
#include "import/nsys/nsys_switches.h"

#include "import/nsys_scene.h"

#include <check.h>

#define T1 "281475060597737" /* GLOBAL(5, 1001) */
#define T2 "281475060597738"
/* Columns without types, so that they can contain anything. */
#define TABLE "CREATE TABLE SCHED_EVENTS (id, start, cpu, isSchedIn, globalTid, threadState);"
#define WORK                                                                                       \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, " \
	"globalPid, name); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 1000, 0, 7, 1, "      \
	"281475060596736, 'k');"

struct stay {
	uint64_t start_ns;
	uint64_t end_ns;
	enum tp_run_end how;
	uint32_t cpu;
};

#define STAYS_MOST 6

static const struct {
	const char *claim;
	const char *rows;              /* start, cpu, isSchedIn, globalTid, threadState */
	struct stay stays[STAYS_MOST]; /* of the first thread */
	uint64_t n_skipped;
	const char *because;
} scenes[] = {
	{"states tell how a stay ended",
	 "(1, 10, 2, 1, " T1 ", 1), (2, 20, 2, 0, " T1 ", 2), (3, 30, 3, 1, " T1 ", 1), (4, 45, 3, "
	 "0, " T1 ", 6), (5, 50, 3, 1, " T1 ", 1), (6, 60, 3, 0, " T1 ", 1), (7, 70, 0, 1, " T1
	 ", 1), (8, 80, 0, 0, " T1 ", 3), (9, 81, 0, 1, " T1 ", 1), (10, 82, 0, 0, " T1 ", 5)",
	 {{10, 20, TP_RUN_BLOCKED, 2},
	  {30, 45, TP_RUN_PREEMPTED, 3},
	  {50, 60, TP_RUN_PREEMPTED, 3},
	  {70, 80, TP_RUN_BLOCKED, 0},
	  {81, 82, TP_RUN_EXITED, 0}},
	 0,
	 NULL},
	{"a state that is not told leaves it open",
	 "(1, 10, 2, 1, " T1 ", NULL), (2, 20, 2, 0, " T1 ", NULL), (3, 30, 2, 1, " T1 ", 0), (4, "
	 "40, 2, 0, " T1 ", 0), (5, 50, 2, 1, " T1 ", 1), (6, 60, 2, 0, " T1 ", 99)",
	 {{10, 20, TP_RUN_OPEN, 2}, {30, 40, TP_RUN_OPEN, 2}, {50, 60, TP_RUN_OPEN, 2}},
	 0,
	 NULL},
	{"who leaves first was there, and who came last is there until the last switch of all",
	 "(1, 10, 2, 0, " T1 ", 2), (2, 30, 2, 1, " T1 ", 1), (3, 90, 1, 0, " T2 ", 2)",
	 {{9, 10, TP_RUN_BLOCKED, 2}, {30, 90, TP_RUN_OPEN, 2}},
	 0,
	 NULL},
	{"the last switch of all ends the wait before it",
	 "(1, 10, 2, 1, " T1 ", 1), (2, 20, 2, 0, " T1 ", 2), (3, 30, 2, 1, " T1 ", 1)",
	 {{10, 20, TP_RUN_BLOCKED, 2}, {30, 31, TP_RUN_OPEN, 2}},
	 0,
	 NULL},
	{"the order of rows is nothing",
	 "(4, 45, 3, 0, " T1 ", 6), (2, 20, 2, 0, " T1 ", 2), (1, 10, 2, 1, " T1 ", 1), (3, 20, 3, "
	 "1, " T1 ", 1)",
	 {{10, 20, TP_RUN_BLOCKED, 2}, {20, 45, TP_RUN_PREEMPTED, 3}},
	 0,
	 NULL},
	{"a switch that is lost is counted",
	 "(1, 10, 2, 1, " T1 ", 1), (2, 30, 3, 1, " T1 ", 1), (3, 40, 3, 0, " T1 ", 2), (4, 50, 3, "
	 "0, " T1 ", 2)",
	 {{10, 11, TP_RUN_OPEN, 2}, {30, 40, TP_RUN_BLOCKED, 3}, {49, 50, TP_RUN_BLOCKED, 3}},
	 2,
	 "a switch has no counterpart"},
	{"switches at one instant do not overlap",
	 "(1, 10, 2, 1, " T1 ", 1), (2, 10, 2, 1, " T1 ", 1), (3, 20, 2, 0, " T1
	 ", 2), (4, 20, 2, 0, " T1 ", 2), (5, 30, 2, 1, " T1 ", 1), (6, 30, 2, 0, " T1
	 ", 2), (7, 0, 2, 0, " T1 ", 2)",
	 {{10, 20, TP_RUN_BLOCKED, 2}, {29, 30, TP_RUN_BLOCKED, 2}, {30, 31, TP_RUN_OPEN, 2}},
	 3,
	 "a switch has no counterpart"},
	{"what is no switch is counted",
	 "(1, 10, 2, 1, " T1 ", 1), (2, 20, 2, 0, " T1 ", 2), (3, 'x', 2, 1, " T1
	 ", 1), (4, 30, 2, "
	 "'in', " T1 ", 1), (5, 30, 2, 1, NULL, 1), (6, -30, 2, 1, " T1 ", 1), (7, "
	 "9223372036854775807, 2, 1, " T1 ", 1), (8, 30, 2, NULL, " T1 ", 1)",
	 {{10, 20, TP_RUN_BLOCKED, 2}},
	 6,
	 NULL},
	{"other processes are nobody's",
	 "(1, 10, 2, 1, 281475077373953, 1), (2, 20, 2, 0, 281475077373953, 2), (3, 30, 'cpu', "
	 "1, " T1 ", 1), (4, 40, -7, 0, " T1 ", 'R')",
	 {{30, 40, TP_RUN_OPEN, 0}},
	 0,
	 NULL},
};

START_TEST(switches_make_stays)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(&scene, nsys_file_make(WORK TABLE "INSERT INTO SCHED_EVENTS VALUES %s;",
						 scenes[_i].rows));
	ck_assert_msg(!scene.status, "%s", scene.err.text);
	const struct tp_trace *trace = &scene.trace;
	const struct tp_rank_info *rank = &scene.result.ranks[0];
	ck_assert_uint_eq(trace->tasks[0].tid, 1001);
	ck_assert_uint_eq(trace->tasks[0].pid, 5);
	size_t at = trace->run_index[0];
	for (size_t i = 0; i < STAYS_MOST && scenes[_i].stays[i].end_ns; i++, at++) {
		const struct stay *stay = &scenes[_i].stays[i];
		ck_assert_msg(at < trace->run_index[1], "%s: stay %zu is not there",
			      scenes[_i].claim, i);
		ck_assert_uint_eq(trace->runs[at].start_ns, stay->start_ns);
		ck_assert_uint_eq(trace->runs[at].end_ns, stay->end_ns);
		ck_assert_int_eq(trace->runs[at].how, stay->how);
		ck_assert_uint_eq(trace->runs[at].cpu, stay->cpu);
	}
	ck_assert_uint_eq(at, trace->run_index[1]);
	ck_assert_uint_eq(rank->n_skipped, scenes[_i].n_skipped);
	if (scenes[_i].because)
		ck_assert_str_eq(rank->skipped_because, scenes[_i].because);
	ck_assert_uint_eq(trace->n_dropped, 0);
	nsys_scene_release(&scene);
}
END_TEST

/* One and a half times as many as are sorted together, with the second half of them before the
 * first: none is lost as long as none is further away from its place. */
START_TEST(a_table_larger_than_what_is_sorted_at_once_keeps_its_stays)
{
	struct nsys_scene scene;
	long long n = TP_NSYS_SWITCHES_SORTED + TP_NSYS_SWITCHES_SORTED / 2;
	if (!nsys_can_read())
		return;
	nsys_scene_import(
		&scene,
		nsys_file_make(WORK TABLE
			       "BEGIN; INSERT INTO SCHED_EVENTS WITH RECURSIVE n(i) AS (SELECT 0 "
			       "UNION ALL SELECT i + 1 FROM n WHERE i < %lld) SELECT i, 100 + ((i "
			       "/ 1024) * 1024 + 1023 - i %% 1024) * 10, 1, (i + 1) %% 2, " T1
			       ", 2 FROM n; COMMIT;",
			       n - 1));
	ck_assert_msg(!scene.status, "%s", scene.err.text);
	ck_assert_uint_eq(scene.trace.n_runs, (uint64_t)n / 2 + 1);
	ck_assert_uint_eq(scene.result.ranks[0].n_skipped, 0);
	for (size_t i = 2; i + 1 < scene.trace.n_runs; i++)
		ck_assert_uint_eq(scene.trace.runs[i].end_ns - scene.trace.runs[i].start_ns, 10);
	nsys_scene_release(&scene);
}
END_TEST

Suite *suite_import_nsys_switches(void);

Suite *suite_import_nsys_switches(void)
{
	Suite *suite = suite_create("import/nsys_switches");
	TCase *tcase = tcase_create("switches");
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, switches_make_stays, 0,
			    (int)(sizeof(scenes) / sizeof(scenes[0])));
	tcase_add_test(tcase, a_table_larger_than_what_is_sorted_at_once_keeps_its_stays);
	suite_add_tcase(suite, tcase);
	return suite;
}
