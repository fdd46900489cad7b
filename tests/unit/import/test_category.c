/* Claims about what categories of events are. */
#include "import/category.h"

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
	{"toplevel,blink", TP_CATEGORY_UNKNOWN, 0},
};

START_TEST(categories_old_and_new_are_known)
{
	struct tp_category category = tp_category_find(names[_i].name, strlen(names[_i].name));
	ck_assert_int_eq(category.use, names[_i].use);
	ck_assert_int_eq(category.kind, names[_i].kind);
}
END_TEST

Suite *suite_import_category(void);
Suite *suite_import_category(void)
{
	Suite *suite = suite_create("import/category");
	TCase *tc = tcase_create("category");
	tcase_add_loop_test(tc, categories_old_and_new_are_known, 0,
			    sizeof(names) / sizeof(names[0]));
	suite_add_tcase(suite, tc);
	return suite;
}
