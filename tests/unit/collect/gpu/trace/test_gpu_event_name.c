/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the names of events: imported traces have the same ones. */
#include "collect/gpu/trace/gpu_event_name.h"

#include <check.h>
#include <string.h>

static struct tp_buf text;

static void teardown(void)
{
	tp_buf_release(&text);
}

/* NVIDIA's demangler and this one produce the same name for templates without user-defined
 * types. */
START_TEST(kernels_are_demangled_where_the_library_is_here)
{
	static const char mangled[] = "_Z3addIfEvPT_i";
	struct tp_gpu_demangler demangler;
	tp_gpu_demangler_open(&demangler);
	tp_gpu_name_kernel(&text, &demangler, mangled, strlen(mangled));
	ck_assert_str_eq(tp_buf_text(&text),
			 demangler.demangle ? "void add<float>(float*, int)" : mangled);
	tp_gpu_demangler_close(&demangler);
}
END_TEST

START_TEST(names_that_are_not_mangled_stay)
{
	static const char *const names[] = {"triton_poi_fused_add_0", "_Znonsense", "_Z"};
	struct tp_gpu_demangler demangler;
	tp_gpu_demangler_open(&demangler);
	for (size_t i = 0; i < 3; i++) {
		tp_buf_clear(&text);
		tp_gpu_name_kernel(&text, &demangler, names[i], strlen(names[i]));
		ck_assert_str_eq(tp_buf_text(&text), names[i]);
	}
	tp_gpu_demangler_close(&demangler);
}
END_TEST

START_TEST(without_the_library_kernels_keep_their_mangled_names)
{
	const struct tp_gpu_demangler none = {0};
	tp_gpu_name_kernel(&text, &none, "_Z3addIfEvPT_i", 14);
	ck_assert_str_eq(tp_buf_text(&text), "_Z3addIfEvPT_i");
}
END_TEST

/* Names as torch.profiler writes them. */
static const struct {
	uint32_t id;
	const char *name;
} copies[] = {
	{TP_GPU_COPY_HTOD | TP_GPU_MEMORY_PAGEABLE << 8 | TP_GPU_MEMORY_DEVICE << 16,
	 "Memcpy HtoD (Pageable -> Device)"},
	{TP_GPU_COPY_DTOH | TP_GPU_MEMORY_DEVICE << 8 | TP_GPU_MEMORY_PINNED << 16,
	 "Memcpy DtoH (Device -> Pinned)"},
	{TP_GPU_COPY_DTOD | TP_GPU_MEMORY_DEVICE << 8 | TP_GPU_MEMORY_DEVICE << 16,
	 "Memcpy DtoD (Device -> Device)"},
	{0, "Memcpy (Unknown -> Unknown)"},
	{UINT32_MAX, "Memcpy (Unknown -> Unknown)"},
};

START_TEST(copies_say_their_way_and_both_memories)
{
	tp_gpu_name_copy(&text, copies[_i].id);
	ck_assert_str_eq(tp_buf_text(&text), copies[_i].name);
}
END_TEST

START_TEST(fills_say_what_memory)
{
	tp_gpu_name_set(&text, TP_GPU_MEMORY_DEVICE << 16);
	ck_assert_str_eq(tp_buf_text(&text), "Memset (Device)");
}
END_TEST

static const struct {
	const char *name;
	unsigned call;
	const char *shown;
} calls[] = {
	{"cudaLaunchKernel_v7000", 0, "cudaLaunchKernel"},
	{"cudaStreamSynchronize_ptsz", 0, "cudaStreamSynchronize"},
	{"cudaMemcpyAsync_ptsz_v7000", 0, "cudaMemcpyAsync"},
	{"cuMemAlloc_v2", 0, "cuMemAlloc"},
	{"_v2", 0, "_v2"},
	{"v", 0, "v"},
	{NULL, TP_GPU_CALL_LAUNCH, "cudaLaunchKernel"},
	{NULL, TP_GPU_CALL_SYNC, "cudaStreamSynchronize"},
	{NULL, TP_GPU_CALL_OTHER, "CUDA call"},
	{NULL, 60000, "CUDA call"},
};

START_TEST(calls_are_named_without_their_entry_point)
{
	const char *name = calls[_i].name;
	tp_gpu_name_call(&text, name, name ? strlen(name) : 0, calls[_i].call);
	ck_assert_str_eq(tp_buf_text(&text), calls[_i].shown);
}
END_TEST

START_TEST(only_waits_of_threads_have_names)
{
	ck_assert_str_eq(tp_gpu_name_wait(TP_GPU_SYNC_STREAM), "StreamSynchronize");
	ck_assert_str_eq(tp_gpu_name_wait(TP_GPU_SYNC_EVENT), "EventSynchronize");
	ck_assert_str_eq(tp_gpu_name_wait(TP_GPU_SYNC_CONTEXT), "ContextSynchronize");
	ck_assert_ptr_null(tp_gpu_name_wait(TP_GPU_SYNC_STREAM_EVENT));
	ck_assert_ptr_null(tp_gpu_name_wait(4711));
	ck_assert_ptr_nonnull(tp_gpu_name_overhead(TP_GPU_OVERHEAD_LAZY_LOAD));
	ck_assert_ptr_null(tp_gpu_name_overhead(TP_GPU_OVERHEAD_FLUSH));
}
END_TEST

Suite *suite_collect_gpu_event_name(void);
Suite *suite_collect_gpu_event_name(void)
{
	Suite *suite = suite_create("collect/gpuname");
	TCase *tc = tcase_create("gpuname");
	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, kernels_are_demangled_where_the_library_is_here);
	tcase_add_test(tc, names_that_are_not_mangled_stay);
	tcase_add_test(tc, without_the_library_kernels_keep_their_mangled_names);
	tcase_add_loop_test(tc, copies_say_their_way_and_both_memories, 0, 5);
	tcase_add_test(tc, fills_say_what_memory);
	tcase_add_loop_test(tc, calls_are_named_without_their_entry_point, 0, 10);
	tcase_add_test(tc, only_waits_of_threads_have_names);
	suite_add_tcase(suite, tc);
	return suite;
}
