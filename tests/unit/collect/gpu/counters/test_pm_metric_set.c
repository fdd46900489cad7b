/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the sets of counters: with the test double, and for every chip that a real libcupti
 * supports, which needs neither a GPU nor its driver. */
#include "collect/gpu/counters/pm_metric_set.h"
#include "collect/pmdouble.h"
#include "skip.h"

#include <math.h>

static struct tp_pm_library library;
static struct tp_pm_metric_set set;
static struct tp_pm_failure failure;

static void open_double(const char *script)
{
	pm_script(script);
	ck_assert(!tp_pm_library_open(&library, NULL, NULL));
}

static bool has(const char *name)
{
	for (size_t i = 0; i < set.n; i++)
		if (strcmp(set.names[i], name) == 0)
			return true;
	return false;
}

static double *converted(const double *values)
{
	static double out[TP_N_PM_METRICS];
	tp_pm_metric_set_convert(&set, values, 0.001, out);
	return out;
}

static double metric(const double *values, enum tp_metric metric)
{
	return values[metric - TP_METRIC_PM_FIRST];
}

START_TEST(what_the_chip_knows_is_taken_under_the_name_that_it_knows)
{
	open_double(PM_CORE "dram__bytes_op_read.sum 7\nnvlrx__bytes.sum 5\n"
			    "pcie__unheard_of.sum 5\n");
	ck_assert(tp_pm_metric_set_build(&set, &library, "GH100", NULL, &failure));
	ck_assert_uint_eq(set.n, 6);
	ck_assert(has("dram__bytes_op_read.sum"));
	ck_assert(!has("dram__bytes_read.sum"));
	ck_assert_uint_gt(set.image_bytes, 0);
	tp_pm_metric_set_release(&set, &library);
	pm_double_reset();
}
END_TEST

START_TEST(what_does_not_fit_into_one_pass_is_left_out_from_the_end)
{
	open_double("one_pass_most 5\n" PM_CORE "dram__bytes_read.sum 7\nnvlrx__bytes.sum 5\n");
	ck_assert(tp_pm_metric_set_build(&set, &library, "GH100", NULL, &failure));
	ck_assert_uint_eq(set.n, 5);
	ck_assert(has("dram__bytes_read.sum"));
	ck_assert(!has("nvlrx__bytes.sum"));
	struct pm_passes passes = {.size = PM_SIZE(pm_passes, n),
				   .bytes = set.image_bytes,
				   .image = set.image};
	ck_assert_int_eq(library.passes(&passes), PM_OK);
	ck_assert_uint_eq(passes.n, 1); /* the image contains only those five */
	tp_pm_metric_set_release(&set, &library);
	pm_double_reset();
}
END_TEST

START_TEST(a_chip_without_any_is_a_failure_with_a_name)
{
	open_double("fail_cuptiProfilerHostInitialize 46\n");
	ck_assert(!tp_pm_metric_set_build(&set, &library, "GZ999", NULL, &failure));
	ck_assert_int_eq(failure.result, PM_UNKNOWN_CHIP);
	ck_assert_str_eq(failure.call, "HostInitialize");
	pm_double_reset();
}
END_TEST

START_TEST(values_become_ratios_and_rates)
{
	open_double(PM_CORE "dram__bytes_read.sum 0\ngpc__cycles_elapsed.avg.per_second 0\n");
	ck_assert(tp_pm_metric_set_build(&set, &library, "GH100", NULL, &failure));
	ck_assert_str_eq(set.names[4], "gpc__cycles_elapsed.avg.per_second");
	const double *out = converted((const double[]){80, 30, 20, 5, 1.98e9, 4e6});
	ck_assert_double_eq_tol(metric(out, TP_METRIC_GPU_PM_SM_ACTIVE), 0.8, 1e-12);
	ck_assert_double_eq_tol(metric(out, TP_METRIC_GPU_PM_TENSOR), 0.3, 1e-12);
	ck_assert_double_eq_tol(metric(out, TP_METRIC_GPU_PM_DRAM), 0.25, 1e-12);
	ck_assert_double_eq_tol(metric(out, TP_METRIC_GPU_PM_CLOCK), 1.98e9, 1);
	ck_assert_double_eq_tol(metric(out, TP_METRIC_GPU_PM_DRAM_READ), 4e9, 1);
	ck_assert(isnan(metric(out, TP_METRIC_GPU_PM_L2_HIT)));
	/* A ratio of nothing to nothing is not known. */
	out = converted((const double[]){80, NAN, 20, 5, 1.98e9, INFINITY});
	ck_assert(isnan(metric(out, TP_METRIC_GPU_PM_TENSOR)));
	ck_assert(isnan(metric(out, TP_METRIC_GPU_PM_DRAM_READ)));
	tp_pm_metric_set_release(&set, &library);
	pm_double_reset();
}
END_TEST

START_TEST(half_of_a_sum_is_not_told)
{
	open_double("dram__read_throughput" PM_PEAK " 20\n");
	ck_assert(tp_pm_metric_set_build(&set, &library, "GH100", NULL, &failure));
	const double *out = converted((const double[]){20});
	ck_assert(isnan(metric(out, TP_METRIC_GPU_PM_DRAM)));
	tp_pm_metric_set_release(&set, &library);
	pm_double_reset();
}
END_TEST

/* Chips before Turing have no PM sampling. */
static bool samples(const char *chip)
{
	static const char *const families[] = {"TU", "GA", "AD", "GH", "GB"};
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (strncmp(chip, families[i], 2) == 0)
			return true;
	return false;
}

/* Requires SM activity and matrix units; the other counters depend on the chip. */
START_TEST(every_chip_that_cupti_knows_gives_its_set_in_one_pass)
{
	struct tp_error why = {0};
	struct pm_supported_chips chips = {.size = PM_SIZE(pm_supported_chips, chips)};
#ifdef __SANITIZE_ADDRESS__
	test_skip(
		"CUPTI opens its host library with RTLD_DEEPBIND, which AddressSanitizer refuses");
	return;
#endif
	if (tp_pm_library_open(&library, NULL, &why)) {
		test_skip(why.text);
		return;
	}
	ck_assert_int_eq(library.supported_chips(&chips), PM_OK);
	ck_assert_uint_ge(chips.n, 20);
	for (size_t i = 0; i < chips.n; i++) {
		bool is_made =
			tp_pm_metric_set_build(&set, &library, chips.chips[i], NULL, &failure);
		if (!is_made && !samples(chips.chips[i]) && failure.result == PM_NOT_SUPPORTED)
			continue;
		ck_assert_msg(is_made, "%s: %s: %d", chips.chips[i], failure.call, failure.result);
		struct pm_passes passes = {.size = PM_SIZE(pm_passes, n),
					   .bytes = set.image_bytes,
					   .image = set.image};
		ck_assert_int_eq(library.passes(&passes), PM_OK);
		ck_assert_msg(passes.n == 1, "%s: %zu passes", chips.chips[i], passes.n);
		ck_assert_msg(has("sm__cycles_active" PM_PEAK), "%s", chips.chips[i]);
		if (getenv("PM_SETS"))
			printf("%s: %zu counters, image of %zu bytes\n", chips.chips[i], set.n,
			       set.image_bytes);
		tp_pm_metric_set_release(&set, &library);
	}
}
END_TEST

Suite *suite_collect_pm_metric_set(void);
Suite *suite_collect_pm_metric_set(void)
{
	Suite *suite = suite_create("collect/pm_set");
	TCase *tc = tcase_create("pm_set");
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, what_the_chip_knows_is_taken_under_the_name_that_it_knows);
	tcase_add_test(tc, what_does_not_fit_into_one_pass_is_left_out_from_the_end);
	tcase_add_test(tc, a_chip_without_any_is_a_failure_with_a_name);
	tcase_add_test(tc, values_become_ratios_and_rates);
	tcase_add_test(tc, half_of_a_sum_is_not_told);
	tcase_add_test(tc, every_chip_that_cupti_knows_gives_its_set_in_one_pass);
	suite_add_tcase(suite, tc);
	return suite;
}
