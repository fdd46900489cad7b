/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of how a line of code is compared with an idiom. */
#include "analyze/classify/idiom_line.h"

#include <check.h>

START_TEST(a_line_fits_one_glob_and_none_that_is_excluded)
{
	static const char *code[] = {"*float(x) for*", "*.split(',')*", NULL};
	static const char *not_code[] = {"*limit*", NULL};
	const struct tp_idiom_way way = {.code = code, .not_code = not_code};
	const struct tp_idiom_way any = {.not_code = not_code};
	ck_assert(tp_idiom_line_fits(&way, "[Float(x) for x in y]", "[float(x) for x in y]"));
	ck_assert(!tp_idiom_line_fits(&way, "y = x", "y = x"));
	ck_assert(!tp_idiom_line_fits(&way, "", ""));
	ck_assert(!tp_idiom_line_fits(&way, "limit.split(',')", "limit.split(',')"));
	ck_assert(tp_idiom_line_fits(&any, "y = x", "y = x"));
	ck_assert(!tp_idiom_line_fits(&any, "y = limit", "y = limit"));
}
END_TEST

START_TEST(an_attribute_grows_by_what_it_held)
{
	ck_assert(tp_idiom_line_is_growth("self.seen = torch.cat((self.seen, new))"));
	ck_assert(!tp_idiom_line_is_growth("seen = torch.cat((seen, new))"));
	ck_assert(!tp_idiom_line_is_growth("self.seen = torch.cat((self.seen_now, new))"));
}
END_TEST

START_TEST(calls_that_cost_nothing_share_no_time)
{
	static const char *code[] = {"*float(x) for*", NULL};
	const struct tp_idiom_way way = {.code = code};
	ck_assert(!tp_idiom_line_has_others(&way, "rows.append([float(x) for x in y])"));
	ck_assert(tp_idiom_line_has_others(&way, "rows.append(f([float(x) for x in y]))"));
}
END_TEST

Suite *suite_analyze_idiom_line(void);
Suite *suite_analyze_idiom_line(void)
{
	Suite *suite = suite_create("analyze_idiom_line");
	TCase *tc = tcase_create("idiom_line");
	tcase_add_test(tc, a_line_fits_one_glob_and_none_that_is_excluded);
	tcase_add_test(tc, an_attribute_grows_by_what_it_held);
	tcase_add_test(tc, calls_that_cost_nothing_share_no_time);
	suite_add_tcase(suite, tc);
	return suite;
}
