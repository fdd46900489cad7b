/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of shortening a report. */
#include "trainprof/report/short_report.h"

#include <check.h>
#include <string.h>

/* Compares the shortened document, without its line breaks and indentation. */
static void check_short(const char *report, const char *expected)
{
	struct tp_json_doc *doc = NULL;
	struct tp_json_writer w = {0};
	struct tp_buf text = {0};
	ck_assert_int_eq(tp_json_parse(&doc, report, strlen(report), "r", NULL), TP_OK);
	tp_report_trim(&w, doc);
	for (const char *p = tp_buf_text(&w.out); *p; p++)
		if (*p != '\n' && *p != ' ')
			tp_buf_putc(&text, *p);
	ck_assert_str_eq(tp_buf_text(&text), expected);
	tp_buf_release(&text);
	tp_json_writer_release(&w);
	tp_json_free(doc);
}

START_TEST(lists_that_no_comparison_reads_are_left_out)
{
	check_short("{\"run\": {\"id\": \"r\", \"stacks\": 1}, \"stacks\": {\"a\": [1]}}",
		    "{\"run\":{\"id\":\"r\",\"stacks\":1}}");
	check_short("{\"steps\": {\"count\": 3, \"series\": {}, \"each\": {}}}",
		    "{\"steps\":{\"count\":3}}");
	check_short("{\"summary\": {\"metrics\": {\"a.b\": {\"value\": 1.5, \"origin\": \"x\"}}}}",
		    "{\"summary\":{\"metrics\":{\"a.b\":{\"value\":1.5}}}}");
}
END_TEST

START_TEST(evidence_stays_where_a_rule_fired)
{
	check_short("{\"findings\": [{\"state\": \"fired\", \"evidence\": [1]},"
		    "{\"state\": \"suppressed\", \"evidence\": [2]},"
		    "{\"state\": \"quiet\", \"evidence\": [3]}]}",
		    "{\"findings\":[{\"state\":\"fired\",\"evidence\":[1]},"
		    "{\"state\":\"suppressed\",\"evidence\":[2]},{\"state\":\"quiet\"}]}");
}
END_TEST

START_TEST(values_of_all_types_stay_as_they_are)
{
	check_short("{\"x\": [null, true, \"t\", 9007199254740992, 0.25, {\"y\": []}]}",
		    "{\"x\":[null,true,\"t\",9007199254740992,0.25,{\"y\":[]}]}");
}
END_TEST

Suite *suite_report_short_document(void);

Suite *suite_report_short_document(void)
{
	Suite *s = suite_create("report_short_document");
	TCase *tc = tcase_create("all");
	tcase_add_test(tc, lists_that_no_comparison_reads_are_left_out);
	tcase_add_test(tc, evidence_stays_where_a_rule_fired);
	tcase_add_test(tc, values_of_all_types_stay_as_they_are);
	suite_add_tcase(s, tc);
	return s;
}
