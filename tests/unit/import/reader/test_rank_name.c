/* SPDX-License-Identifier: Apache-2.0 */
/* Tests rank numbers in names of files. */
#include "import/reader/rank_name.h"

#include <check.h>

static const struct {
	const char *path;
	int64_t number;
} paths[] = {
	{"rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz", 34},
	{"traces/rank0.json", 0},
	{"rank_7", 7},
	{"Rank 12.json", 12},
	{"dlrm_kineto/worker3_step_12.1694128201557.pt.trace.json", 3},
	{"worker0.1623143089861.pt.trace.json", 0},
	{"rank7/trace.json", -1},
	{"trace.json", -1},
	{"", -1},
	{"rank", -1},
	{"rank-.json", -1},
	{"rank--3.json", -1},
	{"frankfurt2.json", -1},
	{"ranking_rank5.json", 5},
	{"rank99999999999999999999.json", -1},
};

START_TEST(the_number_behind_rank_or_worker_is_found)
{
	ck_assert_int_eq(tp_rank_name_number(paths[_i].path), paths[_i].number);
}
END_TEST

Suite *suite_import_rank_name(void);
Suite *suite_import_rank_name(void)
{
	Suite *suite = suite_create("import/rankname");
	TCase *tc = tcase_create("rankname");
	tcase_add_loop_test(tc, the_number_behind_rank_or_worker_is_found, 0,
			    sizeof(paths) / sizeof(paths[0]));
	suite_add_tcase(suite, tc);
	return suite;
}
