/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the parsers of per-process files. */
#include "collect/process/procfs.h"

#include <check.h>

static const struct {
	const char *text;
	bool good;
	bool is_running;
	int32_t number;
	uint64_t arg0;
	uint64_t arg5;
	uint64_t sp;
	uint64_t pc;
} calls[] = {
	{"0 0x3 0x7ffe 0x1 0x0 0x0 0x5 0x7ffd10 0x7f1234\n", true, false, 0, 3, 5, 0x7ffd10,
	 0x7f1234},
	{"202 0x7f0000000010 0x189 0x0 0x0 0x0 0xffffffff 0x7ffd10 0x7f1234\n", true, false, 202,
	 0x7f0000000010, 0xffffffff, 0x7ffd10, 0x7f1234},
	{"-1 0x7ffd10 0x7f1234\n", true, false, -1, 0, 0, 0x7ffd10, 0x7f1234},
	{"running\n", true, true, -1, 0, 0, 0, 0},
	{"0 0x3 0x7ffe 0x1 0x0 0x0\n", false, false, 0, 0, 0, 0, 0},
	{"-1 0x7ffd10\n", false, false, 0, 0, 0, 0, 0},
	{"-2 0x1 0x2\n", false, false, 0, 0, 0, 0, 0},
	{"99999999999 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8\n", false, false, 0, 0, 0, 0, 0},
	{"x\n", false, false, 0, 0, 0, 0, 0},
	{"", false, false, 0, 0, 0, 0, 0},
};

START_TEST(syscall_file_gives_number_arguments_and_place)
{
	struct tp_procfs_syscall call = {0};
	ck_assert_int_eq(tp_procfs_syscall(&call, calls[_i].text), calls[_i].good);
	if (!calls[_i].good)
		return;
	ck_assert_int_eq(call.is_running, calls[_i].is_running);
	ck_assert_int_eq(call.number, calls[_i].number);
	ck_assert_uint_eq(call.args[0], calls[_i].arg0);
	ck_assert_uint_eq(call.args[5], calls[_i].arg5);
	ck_assert_uint_eq(call.sp, calls[_i].sp);
	ck_assert_uint_eq(call.pc, calls[_i].pc);
}
END_TEST

START_TEST(schedstat_needs_three_numbers)
{
	struct tp_procfs_schedstat stat = {0};
	ck_assert(tp_procfs_schedstat(&stat, "2690811 3141 27\n"));
	ck_assert_uint_eq(stat.run_ns, 2690811);
	ck_assert_uint_eq(stat.delay_ns, 3141);
	ck_assert_uint_eq(stat.n_runs, 27);
	ck_assert(!tp_procfs_schedstat(&stat, "1 2\n"));
	ck_assert(!tp_procfs_schedstat(&stat, "a b c\n"));
	ck_assert(!tp_procfs_schedstat(&stat, ""));
}
END_TEST

Suite *suite_collect_procfs(void);
Suite *suite_collect_procfs(void)
{
	Suite *suite = suite_create("collect/procfs");
	TCase *tc = tcase_create("procfs");
	tcase_add_loop_test(tc, syscall_file_gives_number_arguments_and_place, 0,
			    sizeof(calls) / sizeof(calls[0]));
	tcase_add_test(tc, schedstat_needs_three_numbers);
	suite_add_tcase(suite, tc);
	return suite;
}
