/* SPDX-License-Identifier: Apache-2.0 */
/* Tests names of communicators. */
#include "import/reader/communicator_name.h"

#include "trainprof/base/memory.h"

#include <check.h>
#include <string.h>

static const struct {
	const char *name;
	enum tp_json_slice_type type;
	const char *members;
	const char *result;
} cases[] = {
	{"tp", TP_JSON_SLICE_TEXT, "[0, 1]", "tp (ranks 0,1)"},
	{"tp", TP_JSON_SLICE_LIST, "[2,3]", "tp (ranks 2,3)"},
	{"0", TP_JSON_SLICE_TEXT, "[0, 1, 2, 3, 4, 5, 6, 7]", "0 (ranks 0-7)"},
	{"dp", TP_JSON_SLICE_TEXT, "[0, 4, 8, 12]", "dp (ranks 0,4,8,12)"},
	{"dp", TP_JSON_SLICE_TEXT, "[0, 1, 2, 4, 6, 7]", "dp (ranks 0-2,4,6,7)"},
	{"0", TP_JSON_SLICE_TEXT, "[0, 1, 2, ..., 63]", "0 (ranks 0-2,...,63)"},
	{"0", TP_JSON_SLICE_TEXT, "[..., 63]", "0 (ranks ...,63)"},
	{"", TP_JSON_SLICE_TEXT, "[5, 6, 7]", "ranks 5-7"},
	{"a", TP_JSON_SLICE_TEXT, "[999999999, 0]", "a (ranks 999999999,0)"},
	/* No members. */
	{"tp", TP_JSON_SLICE_TEXT, "[]", "tp"},
	{"tp", TP_JSON_SLICE_TEXT, "", "tp"},
	{"tp", TP_JSON_SLICE_NONE, "", "tp"},
	{"tp", TP_JSON_SLICE_WORD, "null", "tp"},
	{"tp", TP_JSON_SLICE_TEXT, "[0, x]", "tp"},
	{"tp", TP_JSON_SLICE_TEXT, "[-1, 0]", "tp"},
	{"", TP_JSON_SLICE_LIST, "[]", ""},
	{"", TP_JSON_SLICE_NONE, "", ""},
};

START_TEST(members_belong_to_the_name_where_they_are_told)
{
	struct tp_buf out = {0};
	const struct tp_json_slice members = {.text = cases[_i].members,
					      .len = strlen(cases[_i].members),
					      .type = cases[_i].type};
	tp_buf_puts(&out, "what was there before");
	tp_communicator_name(&out, cases[_i].name, strlen(cases[_i].name), &members);
	ck_assert_str_eq(tp_buf_text(&out), cases[_i].result);
	ck_assert_uint_eq(out.len, strlen(cases[_i].result));
	tp_buf_release(&out);
}
END_TEST

Suite *suite_import_communicator_name(void);
Suite *suite_import_communicator_name(void)
{
	Suite *suite = suite_create("import/groupname");
	TCase *tc = tcase_create("groupname");
	tcase_add_loop_test(tc, members_belong_to_the_name_where_they_are_told, 0,
			    TP_ARRAY_LEN(cases));
	suite_add_tcase(suite, tc);
	return suite;
}
