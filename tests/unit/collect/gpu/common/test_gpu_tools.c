/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of recognizing other GPU tools by name. */
#include "collect/gpu/common/gpu_tools.h"

#include <check.h>
#include <stddef.h>

static const struct {
	const char *path;
	const char *tool; /* NULL = not a known tool */
} libraries[] = {
	{"/opt/nsys/target-linux-x64/libToolsInjection64.so", "Nsight Systems"},
	{"libToolsInjectionProxy64.so", "Nsight Systems"},
	{"/usr/local/cuda/nsight-compute/target/libcuda-injection.so", "Nsight Compute"},
	{"/opt/libToolsInjection64/mine.so", NULL}, /* only the file's own name counts */
	{"none", NULL},
};

START_TEST(libraries_are_known_by_the_beginning_of_their_file_names)
{
	const char *tool = tp_gpu_tool_of_library(libraries[_i].path);
	if (libraries[_i].tool)
		ck_assert_str_eq(tool, libraries[_i].tool);
	else
		ck_assert_ptr_null(tool);
}
END_TEST

START_TEST(variables_are_known_whole)
{
	ck_assert_str_eq(tp_gpu_tool_of_variable("KINETO_USE_DAEMON"), "Kineto, by its daemon");
	ck_assert_ptr_null(tp_gpu_tool_of_variable("KINETO_USE_DAEMONS"));
	ck_assert_ptr_null(tp_gpu_tool_of_variable("KINETO"));
}
END_TEST

START_TEST(processes_are_known_by_what_the_kernel_keeps_of_their_names)
{
	const char *tool = NULL;
	ck_assert_int_eq(tp_gpu_process_kind_of("nv-hostengine", &tool), TP_GPU_PROCESS_COUNTS);
	ck_assert_str_eq(tool, "DCGM");
	ck_assert_int_eq(tp_gpu_process_kind_of("compute-sanitiz", &tool), TP_GPU_PROCESS_TRACES);
	ck_assert_int_eq(tp_gpu_process_kind_of("nvidia-cuda-mps", &tool), TP_GPU_PROCESS_SHARES);
	tool = NULL;
	ck_assert_int_eq(tp_gpu_process_kind_of("ncurses", &tool), TP_GPU_PROCESS_OTHER);
	ck_assert_ptr_null(tool);
}
END_TEST

Suite *suite_collect_gpu_tools(void);
Suite *suite_collect_gpu_tools(void)
{
	Suite *suite = suite_create("collect/gpuothers");
	TCase *tests = tcase_create("gpuothers");
	tcase_add_loop_test(tests, libraries_are_known_by_the_beginning_of_their_file_names, 0,
			    sizeof(libraries) / sizeof(libraries[0]));
	tcase_add_test(tests, variables_are_known_whole);
	tcase_add_test(tests, processes_are_known_by_what_the_kernel_keeps_of_their_names);
	suite_add_tcase(suite, tests);
	return suite;
}
