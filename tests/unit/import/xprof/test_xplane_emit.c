/* SPDX-License-Identifier: Apache-2.0 */
/* Tests names of planes and numbers in texts. */
#include "import/xprof/xplane_emit.h"

#include "trainprof/base/memory.h"

#include <check.h>
#include <string.h>

static struct tp_protobuf text_of(const char *text)
{
	return (struct tp_protobuf){(const unsigned char *)text, strlen(text)};
}

START_TEST(the_name_of_a_plane_says_what_it_is)
{
	static const struct {
		const char *name;
		enum tp_xplane_kind kind;
		int32_t device;
	} planes[] = {
		{"/host:CPU", TP_XPLANE_HOST, 0},
		{"/host:CUPTI", TP_XPLANE_HOST, 0},
		{"/host:metadata", TP_XPLANE_OTHER, 0},
		{"/device:GPU:13", TP_XPLANE_GPU, 13},
		{"/device:TPU:2", TP_XPLANE_TPU, 2},
		{"/device:TPU:2 SparseCore 1", TP_XPLANE_OTHER, 0},
		{"/device:GPU:", TP_XPLANE_OTHER, 0},
		{"/device:GPU:99999999999", TP_XPLANE_OTHER, 0},
		{"/device:CUSTOM:Megascale Trace", TP_XPLANE_OTHER, 0},
		{"Task Environment", TP_XPLANE_OTHER, 0},
		{"", TP_XPLANE_OTHER, 0},
	};
	for (size_t i = 0; i < TP_ARRAY_LEN(planes); i++) {
		struct tp_protobuf name = text_of(planes[i].name);
		int32_t device;
		ck_assert_msg(tp_xplane_kind(&name, &device) == planes[i].kind, "%s",
			      planes[i].name);
		if (planes[i].kind != TP_XPLANE_OTHER)
			ck_assert_int_eq(device, planes[i].device);
	}
}
END_TEST

START_TEST(a_number_ends_where_its_digits_end)
{
	struct tp_protobuf text = text_of("160,1,1");
	ck_assert_uint_eq(tp_xplane_number(&text), 160);
	text = text_of("x");
	ck_assert_uint_eq(tp_xplane_number(&text), 0);
	text = text_of("99999999999999999999999");
	ck_assert_uint_eq(tp_xplane_number(&text), 999999999999999999);
}
END_TEST

Suite *suite_import_xplane_emit(void);
Suite *suite_import_xplane_emit(void)
{
	Suite *suite = suite_create("import/xplane_emit");
	TCase *tcase = tcase_create("names");
	tcase_add_test(tcase, the_name_of_a_plane_says_what_it_is);
	tcase_add_test(tcase, a_number_ends_where_its_digits_end);
	suite_add_tcase(suite, tcase);
	return suite;
}
