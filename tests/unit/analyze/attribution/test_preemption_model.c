/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of which known loss of a CPU represents another one. */
#include "analyze/attribution/preemption_model.h"

#include "trainprof/base/memory.h"

#include <check.h>

enum { US = 1000, MS = 1000000 };

#define SECOND (1000 * UINT64_C(1000000))

/* Each phase occurs once. */
static const struct {
	struct tp_preemption_key loss;
	enum tp_phase phase;
} known[] = {
	{{0, 10 * MS, 1 * MS, 100 * US}, TP_PHASE_DATALOADER},
	{{0, 20 * MS, 1 * MS, 4 * MS}, TP_PHASE_COMPUTE},
	{{1, 30 * MS, 1 * MS, 4 * MS}, TP_PHASE_COMMUNICATION},
	{{0, 90 * MS, 1 * MS, 4 * MS}, TP_PHASE_CHECKPOINT},
	{{0, 95 * MS, 40 * US, 4 * MS}, TP_PHASE_LOGGING},
	{{0, 9 * SECOND, 1 * MS, 20 * MS}, TP_PHASE_GC},
};

static const struct {
	struct tp_preemption_key loss;
	enum tp_phase phase;
} rows[] = {
	/* the nearest in time among similar ones */
	{{0, 40 * MS, 1 * MS, 4 * MS}, TP_PHASE_COMPUTE},
	{{0, 70 * MS, 1 * MS, 4 * MS}, TP_PHASE_CHECKPOINT},
	/* a wait of the same length has priority over nearness */
	{{0, 89 * MS, 1 * MS, 110 * US}, TP_PHASE_DATALOADER},
	/* and so has a run of the same length */
	{{0, 10 * MS, 30 * US, 4 * MS}, TP_PHASE_LOGGING},
	/* both together: 1 and 2 powers of two are less than 1 and 3 */
	{{0, 20 * MS, 500 * US, 800 * US}, TP_PHASE_COMPUTE},
	/* the group has priority over nearness */
	{{1, 90 * MS, 1 * MS, 4 * MS}, TP_PHASE_COMMUNICATION},
	/* but not over very different lengths */
	{{1, 11 * MS, 1 * MS, 100 * US}, TP_PHASE_DATALOADER},
	/* a group about which nothing is known */
	{{2, 31 * MS, 1 * MS, 4 * MS}, TP_PHASE_COMMUNICATION},
	/* a long time ago is as dissimilar as a different length */
	{{0, 8 * SECOND, 1 * MS, 90 * US}, TP_PHASE_DATALOADER},
	{{0, 8 * SECOND, 1 * MS, 6 * MS}, TP_PHASE_GC},
	/* lengths of zero and of hours */
	{{0, 10 * MS, 0, 0}, TP_PHASE_DATALOADER},
	{{0, 95 * MS, UINT64_MAX, UINT64_MAX}, TP_PHASE_CHECKPOINT},
};

START_TEST(the_loss_most_like_another_stands_for_it)
{
	struct tp_preemption_model like = {0};
	enum tp_phase phase = TP_PHASE_NONE;
	for (size_t i = 0; i < TP_ARRAY_LEN(known); i++)
		tp_preemption_model_add(&like, &known[i].loss, known[i].phase);
	ck_assert(tp_preemption_model_find(&like, &rows[_i].loss, &phase));
	ck_assert_int_eq(phase, rows[_i].phase);
	tp_preemption_model_release(&like);
}
END_TEST

START_TEST(without_observations_nothing_is_predicted)
{
	struct tp_preemption_model like = {0};
	struct tp_preemption_key loss = {.stay_ns = 1 * MS, .wait_ns = 1 * MS};
	enum tp_phase phase = TP_PHASE_HOST;
	ck_assert(!tp_preemption_model_find(&like, &loss, &phase));
	ck_assert_int_eq(phase, TP_PHASE_HOST);
	tp_preemption_model_add(&like, &loss, TP_PHASE_COMPUTE);
	loss.group = TP_N_PREEMPTION_GROUPS - 1;
	loss.wait_ns = UINT64_MAX;
	ck_assert(tp_preemption_model_find(&like, &loss, &phase));
	ck_assert_int_eq(phase, TP_PHASE_COMPUTE);
	tp_preemption_model_release(&like);
}
END_TEST

Suite *suite_analyze_preemption_model(void);
Suite *suite_analyze_preemption_model(void)
{
	Suite *suite = suite_create("analyze/lostlike");
	TCase *tc = tcase_create("lostlike");
	tcase_add_loop_test(tc, the_loss_most_like_another_stands_for_it, 0,
			    (int)TP_ARRAY_LEN(rows));
	tcase_add_test(tc, without_observations_nothing_is_predicted);
	suite_add_tcase(suite, tc);
	return suite;
}
