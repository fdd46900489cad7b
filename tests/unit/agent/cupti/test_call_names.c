/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the classification of calls by their names. */
#include "agent/cupti/call_names.h"

#include "trainprof/wire/gpu_ring.h"

#include <check.h>
#include <string.h>

static const struct {
	const char *name;
	uint8_t class;
} names[] = {
	{"cudaLaunchKernel_v7000", TP_GPU_CALL_LAUNCH},
	{"cudaLaunchKernelExC_ptsz_v11060", TP_GPU_CALL_LAUNCH},
	{"__cudaLaunchKernel_v13000", TP_GPU_CALL_LAUNCH},
	{"cuLaunchKernelEx", TP_GPU_CALL_LAUNCH},
	{"cudaLaunchHostFunc_v10000", TP_GPU_CALL_OTHER},
	{"cuGraphLaunch_ptsz", TP_GPU_CALL_GRAPH_LAUNCH},
	{"cudaGraphInstantiate_v10000", TP_GPU_CALL_OTHER},
	{"cudaMemcpy_v3020", TP_GPU_CALL_COPY},
	{"cudaMemcpyAsync_ptsz_v7000", TP_GPU_CALL_COPY_ASYNC},
	{"cuMemcpyHtoDAsync_v2", TP_GPU_CALL_COPY_ASYNC},
	{"cu64MemcpyHtoD", TP_GPU_CALL_COPY},
	{"cudaMemset2DAsync_v3020", TP_GPU_CALL_SET},
	{"cudaDeviceSynchronize_v3020", TP_GPU_CALL_SYNC},
	{"cuCtxSynchronize_v2", TP_GPU_CALL_SYNC},
	{"cudaMallocAsync_v11020", TP_GPU_CALL_ALLOC},
	{"cuMemAlloc_v2", TP_GPU_CALL_ALLOC},
	{"cudaFreeHost_v3020", TP_GPU_CALL_FREE},
	{"cudaStreamWaitEvent_v3020", TP_GPU_CALL_WAIT_EVENT},
	{"cuEventRecord_ptsz", TP_GPU_CALL_RECORD_EVENT},
	{"cuModuleLoadDataEx", TP_GPU_CALL_LOAD},
	{"cudaLibraryLoadData_v12060", TP_GPU_CALL_LOAD},
	{"cudaEventQuery_v3020", TP_GPU_CALL_QUERY},
	{"cudaGetLastError_v3020", TP_GPU_CALL_OTHER},
	{"launch", TP_GPU_CALL_OTHER},
	{"", TP_GPU_CALL_OTHER},
};

START_TEST(names_show_the_kind_of_a_call)
{
	ck_assert_int_eq(tp_call_names_class(names[_i].name), names[_i].class);
}
END_TEST

static int name_call(int domain, uint32_t cbid, const char **out)
{
	*out = domain == CUPTI_DOMAIN_RUNTIME ? "cudaLaunchKernel_v7000" : "cuEventQuery";
	return cbid % 2 ? 0 : 1; /* every second id has no name */
}

static uint32_t number(void *context, const char *name)
{
	ck_assert_ptr_nonnull(strstr(name, "Launch"));
	return ++*(uint32_t *)context;
}

START_TEST(every_number_is_asked_for_and_holes_are_no_end)
{
	static struct tp_call_names calls;
	const struct tp_cupti_library lib = {.get_callback_name = name_call};
	uint32_t n = 0;
	tp_call_names_load(&calls, &lib, number, &n);
	ck_assert_uint_eq(n, TP_CALL_NAMES_MAX / 2);
	ck_assert_uint_eq(calls.n[CUPTI_DOMAIN_RUNTIME], TP_CALL_NAMES_MAX / 2);
	ck_assert_uint_eq(calls.does[CUPTI_DOMAIN_RUNTIME][211], TP_GPU_CALL_LAUNCH);
	ck_assert_uint_eq(calls.name[CUPTI_DOMAIN_RUNTIME][3], 2);
	ck_assert_uint_eq(calls.does[CUPTI_DOMAIN_RUNTIME][210], TP_GPU_CALL_OTHER);
	ck_assert_uint_eq(calls.does[CUPTI_DOMAIN_DRIVER][1], TP_GPU_CALL_QUERY);
	ck_assert_uint_eq(calls.name[CUPTI_DOMAIN_DRIVER][1], 0);
}
END_TEST

Suite *suite_agent_call_names(void);
Suite *suite_agent_call_names(void)
{
	Suite *suite = suite_create("agent_callnames");
	TCase *tests = tcase_create("callnames");
	tcase_add_loop_test(tests, names_show_the_kind_of_a_call, 0,
			    sizeof(names) / sizeof(names[0]));
	tcase_add_test(tests, every_number_is_asked_for_and_holes_are_no_end);
	suite_add_tcase(suite, tests);
	return suite;
}
