/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of units. */
#include "advise/condition/dimension.h"

#include "trainprof/model/fact.h"

#include <check.h>
#include <string.h>

START_TEST(every_fact_has_a_unit_that_is_known)
{
	static const char *const units[] = {"ns",    "ratio",       "bytes", "1", "bool",
					    "per_s", "bytes_per_s", "cpus",  "w", "j"};
	for (int i = 0; i < TP_N_FACTS; i++) {
		const char *unit = tp_fact_desc((enum tp_fact)i)->unit;
		bool is_known = false;
		for (size_t k = 0; k < sizeof(units) / sizeof(units[0]); k++)
			is_known |= strcmp(unit, units[k]) == 0;
		ck_assert_msg(is_known, "%s", unit);
		ck_assert_double_gt(tp_dimension_of_fact((enum tp_fact)i).scale, 0);
	}
}
END_TEST

START_TEST(suffixes_scale_to_base_units)
{
	static const struct {
		const char *suffix;
		bool is_rate;
		bool is_known;
		double scale;
	} rows[] = {{"", false, true, 1},        {"%", false, true, 0.01},
		    {"ms", false, true, 1e6},    {"min", false, true, 60e9},
		    {"KiB", false, true, 1024},  {"GB", false, true, 1e9},
		    {"", true, true, 1e-9},      {"MiB", true, true, 1048576e-9},
		    {"s", true, false, 0},       {"%", true, false, 0},
		    {"parsec", false, false, 0}, {"M", false, false, 0}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tp_dimension dimension;
		bool known = tp_dimension_of_suffix(rows[i].suffix, rows[i].is_rate, &dimension);
		ck_assert_msg(known == rows[i].is_known, "'%s'", rows[i].suffix);
		if (known)
			ck_assert_double_eq_tol(dimension.scale / rows[i].scale, 1, 1e-12);
	}
}
END_TEST

START_TEST(a_rate_times_a_time_is_a_count_and_a_share_stays_a_share)
{
	struct tp_dimension rate = tp_dimension_of_fact(TP_FACT_MEM_MINFLT);
	struct tp_dimension time = tp_dimension_of_fact(TP_FACT_STEP_TIME);
	struct tp_dimension share = tp_dimension_of_fact(TP_FACT_STEP_COMPUTE);
	struct tp_dimension bytes = tp_dimension_of_fact(TP_FACT_MEM_RSS);
	struct tp_dimension out;
	ck_assert(tp_dimension_mul(&rate, &time, 1, &out));
	ck_assert(!out.time && !out.bytes && !out.is_ratio);
	ck_assert(tp_dimension_mul(&time, &time, -1, &out));
	ck_assert(out.is_ratio && !out.time);
	ck_assert(tp_dimension_mul(&share, &share, -1, &out));
	ck_assert(out.is_ratio);
	ck_assert(tp_dimension_mul(&bytes, &time, -1, &out));
	ck_assert_str_eq(tp_dimension_name(&out), "bytes per second");
	ck_assert(!tp_dimension_mul(&time, &time, 1, &out));
	ck_assert(!tp_dimension_match(&bytes, &time));
}
END_TEST

Suite *suite_advise_dimension(void);
Suite *suite_advise_dimension(void)
{
	Suite *suite = suite_create("advise_dimension");
	TCase *tcase = tcase_create("dimension");
	tcase_add_test(tcase, every_fact_has_a_unit_that_is_known);
	tcase_add_test(tcase, suffixes_scale_to_base_units);
	tcase_add_test(tcase, a_rate_times_a_time_is_a_count_and_a_share_stays_a_share);
	suite_add_tcase(suite, tcase);
	return suite;
}
