/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the kinds of categories of events. */
#include "import/reader/category.h"

#include "trainprof/model/span.h"

#include <check.h>
#include <string.h>

static const struct {
	const char *name;
	enum tp_category_use use;
	enum tp_span_kind kind;
} names[] = {
	{"kernel", TP_CATEGORY_KEPT, TP_SPAN_KERNEL},
	{"Kernel", TP_CATEGORY_KEPT, TP_SPAN_KERNEL},
	{"mtia_ccp_events", TP_CATEGORY_KEPT, TP_SPAN_KERNEL},
	{"gpu_memcpy", TP_CATEGORY_KEPT, TP_SPAN_COPY},
	{"Memcpy", TP_CATEGORY_KEPT, TP_SPAN_COPY},
	{"gpu_memset", TP_CATEGORY_KEPT, TP_SPAN_SET},
	{"Memset", TP_CATEGORY_KEPT, TP_SPAN_SET},
	{"cpu_op", TP_CATEGORY_KEPT, TP_SPAN_OPERATOR},
	{"Operator", TP_CATEGORY_KEPT, TP_SPAN_OPERATOR},
	{"cuda_runtime", TP_CATEGORY_KEPT, TP_SPAN_CALL},
	{"cuda_driver", TP_CATEGORY_KEPT, TP_SPAN_CALL},
	{"Runtime", TP_CATEGORY_KEPT, TP_SPAN_CALL},
	{"hip_runtime", TP_CATEGORY_KEPT, TP_SPAN_CALL},
	{"xpu_runtime", TP_CATEGORY_KEPT, TP_SPAN_CALL},
	{"mtia_runtime", TP_CATEGORY_KEPT, TP_SPAN_CALL},
	{"privateuse1_runtime", TP_CATEGORY_KEPT, TP_SPAN_CALL},
	{"privateuse1_driver", TP_CATEGORY_KEPT, TP_SPAN_CALL},
	{"user_annotation", TP_CATEGORY_KEPT, TP_SPAN_ANNOTATION},
	{"python_function", TP_CATEGORY_KEPT, TP_SPAN_PYTHON},
	{"gpu_user_annotation", TP_CATEGORY_LEFT_OUT, 0},
	{"overhead", TP_CATEGORY_LEFT_OUT, 0},
	{"Trace", TP_CATEGORY_LEFT_OUT, 0},
	{"cuda_sync", TP_CATEGORY_LEFT_OUT, 0},
	{"", TP_CATEGORY_UNKNOWN, 0},
	{"_runtime", TP_CATEGORY_UNKNOWN, 0},
	{"kernels", TP_CATEGORY_UNKNOWN, 0},
	/* MXNet's, and other tools'. */
	{"operator", TP_CATEGORY_UNKNOWN, 0},
	{"memcpy", TP_CATEGORY_UNKNOWN, 0},
	{"toplevel,blink", TP_CATEGORY_UNKNOWN, 0},
};

START_TEST(categories_old_and_new_are_known)
{
	struct tp_category_cache cache = {0};
	struct tp_category category =
		tp_category_find(&cache, names[_i].name, strlen(names[_i].name));
	ck_assert_int_eq(category.use, names[_i].use);
	ck_assert_int_eq(category.kind, names[_i].kind);
}
END_TEST

/* Also if names share a row of the cache, and if none fits. */
START_TEST(names_that_were_met_before_are_the_same)
{
	struct tp_category_cache cache = {0};
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			struct tp_category category =
				tp_category_find(&cache, names[i].name, strlen(names[i].name));
			ck_assert_int_eq(category.use, names[i].use);
			ck_assert_int_eq(category.kind, names[i].kind);
		}
		/* The row of "kernel": same length, first and middle byte. */
		ck_assert_int_eq(tp_category_find(&cache, "kxxnxx", 6).use, TP_CATEGORY_UNKNOWN);
		ck_assert_int_eq(tp_category_find(&cache, "kernel", 6).use, TP_CATEGORY_KEPT);
		ck_assert_int_eq(tp_category_find(&cache, "kernel which no trace names", 27).use,
				 TP_CATEGORY_UNKNOWN);
	}
}
END_TEST

Suite *suite_import_category(void);
Suite *suite_import_category(void)
{
	Suite *suite = suite_create("import/category");
	TCase *tc = tcase_create("category");
	tcase_add_loop_test(tc, categories_old_and_new_are_known, 0,
			    sizeof(names) / sizeof(names[0]));
	tcase_add_test(tc, names_that_were_met_before_are_the_same);
	suite_add_tcase(suite, tc);
	return suite;
}
