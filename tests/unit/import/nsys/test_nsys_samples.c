/* SPDX-License-Identifier: Apache-2.0 */
/* Tests samples: which count as time, and in which state they found the thread. */
#include "import/nsys/nsys_samples.h"

#include "import/nsys_scene.h"

#include <check.h>

#define T1 "281475060597737" /* GLOBAL(5, 1001) */
#define WORK                                                                                       \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, " \
	"globalPid, name); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 1000, 0, 7, 1, "      \
	"281475060596736, 'k');"

#define FULL "(id, start, cpu, threadState, globalTid, cpuCycles)"

static const struct {
	const char *claim;
	const char *columns;
	const char *rows;
	size_t n;
	enum tp_state states[4];
	uint64_t n_skipped;
} scenes[] = {
	{"samples of the cycles' clock are time on a CPU",
	 FULL,
	 "(1, 10, 3, 1, " T1 ", 1), (2, 20, 3, 1, " T1 ", 1)",
	 2,
	 {TP_STATE_ON_CPU, TP_STATE_ON_CPU},
	 0},
	{"beside them others were taken at switches",
	 FULL,
	 "(1, 10, 3, 1, " T1 ", 0), (2, 20, 3, 1, " T1 ", 7), (3, 30, 3, 2, " T1 ", 0), (4, 40, 3, "
	 "6, " T1 ", 0)",
	 3,
	 {TP_STATE_ON_CPU, TP_STATE_BLOCKED, TP_STATE_BLOCKED},
	 0},
	{"without that clock all are samples",
	 FULL,
	 "(1, 10, 3, 1, " T1 ", 0), (2, 20, 3, 0, " T1 ", 0), (3, 30, 3, NULL, " T1 ", 0)",
	 3,
	 {TP_STATE_ON_CPU, TP_STATE_ON_CPU, TP_STATE_ON_CPU},
	 0},
	{"a state says whether it waited or wanted a CPU",
	 FULL,
	 "(1, 10, 3, 7, " T1 ", 1), (2, 20, 3, 6, " T1 ", 1), (3, 30, 3, 8, " T1 ", 1), (4, 40, 3, "
	 "'R', " T1 ", 1)",
	 4,
	 {TP_STATE_BLOCKED, TP_STATE_RUNNABLE, TP_STATE_ON_CPU, TP_STATE_ON_CPU},
	 0},
	{"columns may be missing",
	 "(start, globalTid)",
	 "(10, " T1 "), (20, " T1 ")",
	 2,
	 {TP_STATE_ON_CPU, TP_STATE_ON_CPU},
	 0},
	{"rows come in any order",
	 FULL,
	 "(2, 20, 3, 2, " T1 ", 1), (1, 10, 3, 1, " T1 ", 1)",
	 2,
	 {TP_STATE_ON_CPU, TP_STATE_BLOCKED},
	 0},
	{"what is no sample is counted",
	 FULL,
	 "(1, 10, 3, 1, " T1 ", 1), (2, '20', 3, 1, " T1
	 ", 1), (3, 30, 3, 1, 'x', 1), (4, -40, 3, 1, " T1
	 ", 1), (5, 9223372036854775807, 3, 1, " T1 ", 1), (6, NULL, 3, 1, " T1 ", 1)",
	 1,
	 {TP_STATE_ON_CPU},
	 5},
	{"samples of other processes are nobody's",
	 FULL,
	 "(1, 10, 3, 1, " T1 ", 1), (2, 20, 3, 1, 281475077373953, 1)",
	 1,
	 {TP_STATE_ON_CPU},
	 0},
};

START_TEST(samples_have_states)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(&scene, nsys_file_make(WORK "CREATE TABLE COMPOSITE_EVENTS %s; INSERT "
						      "INTO COMPOSITE_EVENTS VALUES %s;",
						 scenes[_i].columns, scenes[_i].rows));
	ck_assert_msg(!scene.status, "%s", scene.err.text);
	ck_assert_msg(scene.trace.n_samples == scenes[_i].n, "%s", scenes[_i].claim);
	for (size_t i = 0; i < scenes[_i].n; i++) {
		const struct tp_sample *sample = &scene.trace.samples[i];
		ck_assert_msg(sample->state == scenes[_i].states[i], "%s: sample %zu",
			      scenes[_i].claim, i);
		ck_assert_uint_eq(sample->stack, 0);
		ck_assert_uint_eq(sample->task, 0);
		ck_assert_int_eq(sample->cause, sample->state == TP_STATE_BLOCKED ? TP_CAUSE_UNKNOWN
										  : TP_CAUSE_NONE);
	}
	ck_assert_uint_eq(scene.result.ranks[0].n_skipped, scenes[_i].n_skipped);
	ck_assert_uint_eq(scene.trace.n_dropped, 0);
	nsys_scene_release(&scene);
}
END_TEST

Suite *suite_import_nsys_samples(void);

Suite *suite_import_nsys_samples(void)
{
	Suite *suite = suite_create("import/nsys_samples");
	TCase *tcase = tcase_create("samples");
	tcase_add_loop_test(tcase, samples_have_states, 0,
			    (int)(sizeof(scenes) / sizeof(scenes[0])));
	suite_add_tcase(suite, tcase);
	return suite;
}
