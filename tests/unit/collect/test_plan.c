/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of choosing sources. */
#include "agent/cudadouble.h"

#include "trainprof/collect/collector.h"
#include "trainprof/collect/host_info.h"
#include "trainprof/collect/plan.h"

#include <check.h>
#include <string.h>

static struct tp_host host;
static const struct tp_collect_config config = {.sample_rate_hz = 99,
						.poll_rate_hz = 50,
						.stack_bytes = 8192,
						.max_overhead_ratio = 0.01,
						.max_switch_rate_hz = 20000};

static void setup(void)
{
	tp_host_open(&host, "");
}

static void teardown(void)
{
	tp_host_close(&host);
}

static const struct tp_plan_row *row(const struct tp_plan *plan, const char *name)
{
	for (size_t i = 0; i < tp_plan_count(plan); i++)
		if (strcmp(tp_plan_row(plan, i)->type->name, name) == 0)
			return tp_plan_row(plan, i);
	ck_abort_msg("no row %s", name);
	return NULL;
}

static const struct {
	const char *collect;
	bool has_marks;
	bool has_host;
	bool has_self;
} selections[] = {
	{NULL, true, true, true},
	{"", false, false, false},
	{"marks", true, false, false},
	{"marks,host", true, true, false},
	{"-marks", false, true, true},
	{"-marks,-host", false, false, true},
	{"+marks", true, true, true},
	{"-marks,+marks", true, true, true},
	{"marks,-marks,self", false, false, true},
	{" marks , host ", true, true, false},
};

START_TEST(selection_adds_and_leaves_out)
{
	struct tp_plan *plan;
	struct tp_selection selection = {.collect = selections[_i].collect};
	ck_assert_int_eq(tp_plan_make(&plan, &host, &config, &selection, NULL), TP_OK);
	ck_assert_int_eq(row(plan, "marks")->is_chosen, selections[_i].has_marks);
	ck_assert_int_eq(row(plan, "host")->is_chosen, selections[_i].has_host);
	ck_assert_int_eq(row(plan, "self")->is_chosen, selections[_i].has_self);
	double rate_hz = row(plan, "perf")->is_chosen ? config.sample_rate_hz : 0;
	ck_assert_double_eq(tp_plan_config(plan)->sample_rate_hz, rate_hz);
	if (!selections[_i].has_marks) {
		ck_assert_int_eq(row(plan, "marks")->availability.presence, TP_PRESENCE_OFF);
		ck_assert_str_eq(row(plan, "marks")->availability.reason, "left out by --collect");
	}
	tp_plan_free(plan);
}
END_TEST

static const struct {
	const char *collect;
	bool is_chosen;
	const char *reason;
} counters[] = {
	{NULL, true, ""},
	{"-nvml", false, "needs the source nvml"},
	{"gpupmu", false, "needs the source nvml"},
	{"gpupmu,nvml", true, ""},
	{"-gpupmu", false, "left out by --collect"},
	{"-gpupmu,-nvml", false, "left out by --collect"},
};

/* Only NVML reports which GPUs the program uses. On a machine whose driver does not say who may
 * read counters. */
START_TEST(counters_of_gpus_are_nothing_without_nvml)
{
	const struct tp_host bare = {.root = "/nonexistent", .is_live = true};
	struct tp_plan *plan;
	char path[CUDA_DOUBLE_PATH];
	struct tp_collect_config wish = config;
	struct tp_selection selection = {.collect = counters[_i].collect};
	ck_assert_ptr_nonnull(dlopen(beside(path, "doubles/whole/libnvidia-ml.so.1"), RTLD_NOW));
	wish.wants_counters = true;
	ck_assert_int_eq(tp_plan_make(&plan, &bare, &wish, &selection, NULL), TP_OK);
	ck_assert_int_eq(row(plan, "gpupmu")->is_chosen, counters[_i].is_chosen);
	ck_assert_str_eq(row(plan, "gpupmu")->availability.reason, counters[_i].reason);
	tp_plan_free(plan);
}
END_TEST

static const struct {
	struct tp_selection selection;
	enum tp_status status;
	const char *text;
} refusals[] = {
	{{"prf", NULL}, TP_USAGE, "--collect: no source 'prf'; nearest: perf"},
	{{"-hots", NULL}, TP_USAGE, "--collect: no source 'hots'; nearest: host"},
	{{NULL, "stacs"}, TP_USAGE, "--require: no source 'stacs'; nearest: stacks"},
	{{"zzzzzzzz", NULL}, TP_USAGE, "--collect: no source 'zzzzzzzz'"},
	{{"-marks", "marks"}, TP_DENIED, "marks were required but left out by --collect"},
	{{"-host", "host"}, TP_DENIED, "host was required but left out by --collect"},
};

START_TEST(wrong_names_and_unmet_requirements_are_explained)
{
	struct tp_plan *plan = NULL;
	struct tp_error err = {0};
	ck_assert_int_eq(tp_plan_make(&plan, &host, &config, &refusals[_i].selection, &err),
			 refusals[_i].status);
	ck_assert_str_eq(err.text, refusals[_i].text);
	ck_assert_ptr_null(plan);
}
END_TEST

START_TEST(met_requirement_is_marked)
{
	struct tp_plan *plan;
	struct tp_selection selection = {.require = "marks"};
	ck_assert_int_eq(tp_plan_make(&plan, &host, &config, &selection, NULL), TP_OK);
	ck_assert(row(plan, "marks")->is_required);
	ck_assert(!row(plan, "host")->is_required);
	tp_plan_free(plan);
}
END_TEST

START_TEST(absences_are_kept_with_a_reason_and_the_tier_follows)
{
	struct tp_plan *plan;
	struct tp_host recorded = {.root = "/nonexistent"};
	ck_assert_int_eq(tp_plan_make(&plan, &recorded, &config, NULL, NULL), TP_OK);
	ck_assert(!row(plan, "perf")->is_chosen);
	ck_assert_uint_gt(strlen(row(plan, "perf")->availability.reason), 0);
	ck_assert_int_ge(tp_plan_tier(plan), TP_TIER_MINIMAL);
	tp_plan_free(plan);
	tp_plan_free(NULL);
}
END_TEST

Suite *suite_collect_plan(void);
Suite *suite_collect_plan(void)
{
	Suite *suite = suite_create("collect/plan");
	TCase *tc = tcase_create("plan");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, selection_adds_and_leaves_out, 0,
			    sizeof(selections) / sizeof(selections[0]));
	tcase_add_loop_test(tc, counters_of_gpus_are_nothing_without_nvml, 0,
			    sizeof(counters) / sizeof(counters[0]));
	tcase_add_loop_test(tc, wrong_names_and_unmet_requirements_are_explained, 0,
			    sizeof(refusals) / sizeof(refusals[0]));
	tcase_add_test(tc, met_requirement_is_marked);
	tcase_add_test(tc, absences_are_kept_with_a_reason_and_the_tier_follows);
	suite_add_tcase(suite, tc);
	return suite;
}
