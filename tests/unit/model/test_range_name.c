/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of range names. */
#include "trainprof/model/range_name.h"

#include <check.h>
#include <string.h>

static const struct {
	const char *name, *kept;
	bool is_operator;
} ranges[] = {
	{"aten::mm, op_id = 314290", "aten::mm", true},
	{"aten::mm, seq = 7, op_id = 12, sizes = [[2, 3], [3, 4]]", "aten::mm", true},
	{"aten::mm, seq = 7", "aten::mm", true},
	{"_c10d_functional::all_reduce, op_id = 1", "_c10d_functional::all_reduce", true},
	{"MmBackward0, seq = 7, op_id = 12", "MmBackward0", true},
	{"torch::autograd::AccumulateGrad, op_id = 3", "torch::autograd::AccumulateGrad", true},
	{"FSDP::pre_forward (shared), op_id = 5", "FSDP::pre_forward (shared)", false},
	{"Optimizer.step#Adam.step, op_id = 9", "Optimizer.step#Adam.step", false},
	{"aten::mm", "aten::mm", false},
	{"step 5", "step 5", false},
	{"epoch, seq = many", "epoch, seq = many", false},
	{", op_id = 5", ", op_id = 5", false},
	{"a, op_id = ", "a, op_id = ", false},
	{"", "", false},
};

START_TEST(ranges_lose_what_makes_each_unlike_all_others)
{
	bool is_operator;
	size_t len = tp_range_name_len(ranges[_i].name, strlen(ranges[_i].name), &is_operator);
	ck_assert_uint_eq(len, strlen(ranges[_i].kept));
	ck_assert(!strncmp(ranges[_i].name, ranges[_i].kept, len));
	ck_assert_int_eq(is_operator, ranges[_i].is_operator);
}
END_TEST

Suite *suite_model_range_name(void);
Suite *suite_model_range_name(void)
{
	Suite *suite = suite_create("model_rangename");
	TCase *tests = tcase_create("rangename");
	tcase_add_loop_test(tests, ranges_lose_what_makes_each_unlike_all_others, 0,
			    sizeof(ranges) / sizeof(ranges[0]));
	suite_add_tcase(suite, tests);
	return suite;
}
