/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of Student's t and Fisher's F, against published tables. */
#include "trainprof/gate/gate.h"

#include <check.h>
#include <math.h>

START_TEST(quantiles_match_published_tables)
{
	static const struct {
		double p, df, t;
	} rows[] = {
		{0.975, 1, 12.7062}, {0.975, 2, 4.3027},   {0.975, 4, 2.7764},  {0.975, 9, 2.2622},
		{0.975, 30, 2.0423}, {0.975, 1e6, 1.9600}, {0.995, 1, 63.6567}, {0.995, 5, 4.0321},
		{0.9, 3, 1.6377},    {0.9995, 10, 4.5869}, {0.5, 7, 0},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_double_eq_tol(tp_student_quantile(rows[i].p, rows[i].df), rows[i].t,
					1e-4 * (1 + rows[i].t));
}
END_TEST

START_TEST(lower_quantiles_mirror_the_upper_ones)
{
	ck_assert_double_eq_tol(tp_student_quantile(0.025, 9), -tp_student_quantile(0.975, 9),
				1e-9);
}
END_TEST

START_TEST(fractional_degrees_lie_between_whole_ones)
{
	double t = tp_student_quantile(0.975, 4.5);
	ck_assert(t < tp_student_quantile(0.975, 4) && t > tp_student_quantile(0.975, 5));
}
END_TEST

START_TEST(f_tails_match_published_tables_and_squares_of_t)
{
	static const struct {
		double f, above, below, tail;
	} rows[] = {{161.448, 1, 1, 0.05},
		    {3.7083, 3, 10, 0.05},
		    {99.0, 2, 2, 0.01},
		    {4.8491, 10, 10, 0.01},
		    {0, 3, 4, 1}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_double_eq_tol(tp_fisher_tail(rows[i].f, rows[i].above, rows[i].below),
					rows[i].tail, 1e-4);
	double t = tp_student_quantile(0.975, 7);
	ck_assert_double_eq_tol(tp_fisher_tail(t * t, 1, 7), 0.05, 1e-9);
	ck_assert_double_eq_tol(tp_fisher_tail(INFINITY, 1, 7), 0, 1e-12);
}
END_TEST

Suite *suite_gate_student(void);

Suite *suite_gate_student(void)
{
	Suite *s = suite_create("gate_student");
	TCase *tc = tcase_create("all");
	tcase_add_test(tc, quantiles_match_published_tables);
	tcase_add_test(tc, lower_quantiles_mirror_the_upper_ones);
	tcase_add_test(tc, fractional_degrees_lie_between_whole_ones);
	tcase_add_test(tc, f_tails_match_published_tables_and_squares_of_t);
	suite_add_tcase(s, tc);
	return s;
}
