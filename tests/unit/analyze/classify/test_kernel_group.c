/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of groups of families of kernels. */
#include "analyze/classify/frame_class.h"
#include "analyze/classify/kernel_group.h"
#include "analyze/classify/pattern_tables.h"

#include "analyze/patternfolder.h"

#include "trainprof/base/memory.h"

#define ROWS                                                                                       \
	"\"patterns\": [ { \"id\": \"a\", \"family\": \"gemm\", \"class\": \"compute\", "          \
	"\"base\": "                                                                               \
	"[\"mm\"] }, { \"id\": \"b\", \"family\": \"fill\", \"class\": \"memory\", \"base\": "     \
	"[\"fill\"] }, { \"id\": \"c\", \"family\": \"norm\", \"class\": \"memory\", \"base\": "   \
	"[\"norm\"] } ]"

START_TEST(a_family_is_in_the_group_that_names_it)
{
	struct tp_patterns *patterns;
	struct tp_error err = {0};
	ck_assert_int_eq(load_text(&patterns,
				   "{ \"groups\": { \"matrix\": [\"gemm\", \"conv\"], "
				   "\"elementwise\": [\"fill\"], \"layout\": [] }, " ROWS " }",
				   &err),
			 TP_OK);
	ck_assert_int_eq(tp_kernel_row_find(patterns, "my_mm")->group, TP_GROUP_MATRIX);
	ck_assert_int_eq(tp_kernel_row_find(patterns, "fill_it")->group, TP_GROUP_ELEMENTWISE);
	ck_assert_int_eq(tp_kernel_row_find(patterns, "norm")->group, TP_GROUP_NONE);
	ck_assert_int_eq(tp_kernel_row_find(patterns, "what")->group, TP_GROUP_NONE);
	const struct tp_kernel_family *unused = tp_kernel_groups_unused(&patterns->kernels);
	ck_assert_str_eq(unused->name, "conv");
	ck_assert_int_eq(tp_patterns_check(patterns, &err), TP_PARSE);
	ck_assert_ptr_nonnull(strstr(err.text, ":1: no row is of the family 'conv'"));
	tp_patterns_free(patterns);
}
END_TEST

static const struct {
	const char *groups;
	const char *message;
} mistakes[] = {
	{"{ \"matrixx\": [] }", ":1: unknown key 'matrixx'; nearest: matrix"},
	{"{ \"matrix\": \"gemm\" }", ":1: not a list: 'matrix'"},
	{"{ \"matrix\": [\"gemm\", 7] }", ":1: not the name of a family in 'groups'"},
	{"{ \"matrix\": [\"\"] }", ":1: not the name of a family in 'groups'"},
	{"{ \"layout\": [\"gemm\"],\n\"matrix\": [\"gemm\"] }",
	 ":2: in another group already: 'gemm'"},
	{"[\"gemm\"]", ":1: not an object: 'patterns'"},
};

START_TEST(groups_with_mistakes_are_refused)
{
	struct tp_patterns *patterns;
	struct tp_error err = {0};
	struct tp_buf text = {0};
	tp_buf_printf(&text, "{ \"groups\": %s, " ROWS " }", mistakes[_i].groups);
	ck_assert_int_eq(load_text(&patterns, text.data, &err), TP_PARSE);
	ck_assert_ptr_nonnull(strstr(err.text, mistakes[_i].message));
	tp_buf_release(&text);
}
END_TEST

START_TEST(ours_are_those_that_facts_speak_of)
{
	static const struct {
		const char *name;
		enum tp_kernel_group group;
	} kernels[] = {
		{"ampere_sgemm_128x64_tn", TP_GROUP_MATRIX},
		{"flash_fwd_kernel", TP_GROUP_MATRIX},
		{"void at::native::elementwise_add<float>(float*)", TP_GROUP_ELEMENTWISE},
		{"batched_transpose_4x64_half", TP_GROUP_LAYOUT},
		{"void at::native::(anonymous "
		 "namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor>()",
		 TP_GROUP_OPTIMIZER},
		{"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", TP_GROUP_NONE},
	};
	struct tp_patterns *patterns = NULL;
	struct tp_error err = {0};
	ck_assert_msg(tp_patterns_load(&patterns, "rules/patterns", &err) == TP_OK, "%s", err.text);
	for (size_t i = 0; i < TP_ARRAY_LEN(kernels); i++)
		ck_assert_int_eq(tp_kernel_row_find(patterns, kernels[i].name)->group,
				 kernels[i].group);
	ck_assert_ptr_null(tp_kernel_groups_unused(&patterns->kernels));
	tp_patterns_free(patterns);
}
END_TEST

Suite *suite_analyze_kernel_group(void);
Suite *suite_analyze_kernel_group(void)
{
	Suite *suite = suite_create("analyze/kernelgroup");
	TCase *tc = tcase_create("kernelgroup");
	tcase_add_test(tc, a_family_is_in_the_group_that_names_it);
	tcase_add_loop_test(tc, groups_with_mistakes_are_refused, 0, TP_ARRAY_LEN(mistakes));
	tcase_add_test(tc, ours_are_those_that_facts_speak_of);
	suite_add_tcase(suite, tc);
	return suite;
}
