/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of initializing CUDA, with the test double of its driver. */
#include "collect/gpu/common/cuda_init.h"

#include "agent/cudadouble.h"

START_TEST(cuda_starts_where_there_is_a_driver)
{
	char path[CUDA_DOUBLE_PATH];
	ck_assert_ptr_nonnull(dlopen(beside(path, "doubles/libcuda.so.1"), RTLD_NOW));
	ck_assert_int_eq(tp_cuda_init(), 0);
	ck_assert_int_eq(tp_cuda_init(), 0);
}
END_TEST

Suite *suite_collect_cuda_init(void);
Suite *suite_collect_cuda_init(void)
{
	Suite *suite = suite_create("collect/cudastart");
	TCase *tc = tcase_create("cudastart");
	tcase_add_test(tc, cuda_starts_where_there_is_a_driver);
	suite_add_tcase(suite, tc);
	return suite;
}
