/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of splitting kernel names into parts. */
#include "analyze/classify/kernel_name.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	const char *base;
	const char *head;
} names[] = {
	{"volta_sgemm_128x64_nt", "volta_sgemm_128x64_nt", "volta_sgemm_128x64_nt"},
	{"ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", "nccldevkernel_generic_1",
	 "nccldevkernel_generic_1"},
	{"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >(at::native::Op)",
	 "at::native::reduce_kernel",
	 "at::native::reduce_kernel<512, 1, at::native::reduceop<float> >"},
	/* namespaces without names, as three demanglers write them */
	{"void (anonymous namespace)::softmax_warp_forward<float>(float*)", "softmax_warp_forward",
	 "softmax_warp_forward<float>"},
	{"void <unnamed>::softmax_warp_forward<float, (int)6>(T2 *, const T1 *)",
	 "softmax_warp_forward", "softmax_warp_forward<float, 6>"},
	{"void at::native::(anonymous namespace)::fill<at::native::(anonymous namespace)::F>(int)",
	 "at::native::fill", "at::native::fill<at::native::f>"},
	/* functions inside arguments: their parameters are ignored, too */
	{"void at::native::unrolled<at::native::copy(at::TensorIteratorBase &)::[lambda() "
	 "(instance "
	 "3)]::operator ()() const::[lambda(long) (instance 1)], (int)4>(int, T1)",
	 "at::native::unrolled", "at::native::unrolled<at::native::copy::operator  const::, 4>"},
	{"void f<g(int)::{lambda()#1}::operator()() const::{lambda(float)#2}>(int)", "f",
	 "f<g::operator const::>"},
	/* the return type may be computed */
	{"std::enable_if<!(false), void>::type internal::gemvx::kernel<int, 7>(cublasGemvParams)",
	 "internal::gemvx::kernel", "internal::gemvx::kernel<int, 7>"},
	{"std::enable_if<!T7, void>::type internal::gemvx::kernel<int, (bool)0>(T13)",
	 "internal::gemvx::kernel", "internal::gemvx::kernel<int, 0>"},
	/* members of templates, clones, names with spaces */
	{"void outer<int>::inner<float>(int)", "outer::inner", "outer<int>::inner<float>"},
	{"rcclGenericKernel(ncclDevComm*) [clone .kd]", "rcclgenerickernel", "rcclgenerickernel"},
	{"Memcpy DtoD (Device -> Device)", "memcpy dtod ", "memcpy dtod "},
	{"loop_add_fusion.3", "loop_add_fusion.3", "loop_add_fusion.3"},
	/* mangled: types do not count in the base name */
	{"_ZN5aiter48bf16gemm_fp32bf16_tn_96x64_bshuffle_splitk_cleanE",
	 "aiter::bf16gemm_fp32bf16_tn_96x64_bshuffle_splitk_clean",
	 "_zn5aiter48bf16gemm_fp32bf16_tn_96x64_bshuffle_splitk_cleane"},
	{"_Zgarbage", "_zgarbage", "_zgarbage"},
	/* hostile input */
	{"", "", ""},
	{"(", "", ""},
	{">>>)))", ">>>)))", ">>>)))"},
	{"f<<<<", "f", "f<<<<"},
	{"f{[(<", "f", "f"},
	{"((((((((((", "", ""},
	{"void ", "", ""},
};

START_TEST(base_and_head_leave_out_types_and_parameters)
{
	struct tp_kernel_name name;
	tp_kernel_name_parse(&name, names[_i].name);
	ck_assert_str_eq(name.base, names[_i].base);
	ck_assert_str_eq(name.head, names[_i].head);
}
END_TEST

/* Returns a name of n bytes that repeats a text. */
static char *repeat(const char *text, size_t n)
{
	char *name = malloc(n + 1);
	ck_assert_ptr_nonnull(name);
	size_t length = strlen(text);
	for (size_t i = 0; i < n; i++)
		name[i] = text[i % length];
	name[n] = '\0';
	return name;
}

START_TEST(names_of_100_kb_are_cut_soon)
{
	static const char *const texts[] = {"x",  "<",        "(",  "()",      "a(",  "a()::",
					    "{[", "operator", "<>", "a<b(c>d", "::",  "<unnamed>::",
					    ">",  "void ",    "T_", "_ZN1",    "_ZT", "_ZNI"};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char *hostile = repeat(texts[i], 100000);
		char *mangled = repeat(texts[i], 100000);
		memcpy(mangled, "_ZN1aI", 6);
		struct tp_kernel_name name;
		tp_kernel_name_parse(&name, hostile);
		ck_assert_uint_lt(strlen(name.base), sizeof(name.base));
		ck_assert_uint_lt(strlen(name.head), sizeof(name.head));
		tp_kernel_name_parse(&name, mangled);
		ck_assert_uint_lt(strlen(name.base), sizeof(name.base));
		ck_assert_uint_lt(strlen(name.head), sizeof(name.head));
		free(hostile);
		free(mangled);
	}
}
END_TEST

Suite *suite_analyze_kernel_name(void);
Suite *suite_analyze_kernel_name(void)
{
	Suite *suite = suite_create("analyze/kernelname");
	TCase *tc = tcase_create("kernelname");
	tcase_add_loop_test(tc, base_and_head_leave_out_types_and_parameters, 0,
			    sizeof(names) / sizeof(names[0]));
	tcase_add_test(tc, names_of_100_kb_are_cut_soon);
	suite_add_tcase(suite, tc);
	return suite;
}
