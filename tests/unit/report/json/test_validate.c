/* SPDX-License-Identifier: Apache-2.0 */
/* The checker accepts the output of the writer and finds each violated guarantee. */
#include "report/jobsample.h"
#include "report/jsonreport.h"

#include "trainprof/base/json.h"
#include "trainprof/report/validate.h"

#include <check.h>
#include <stdlib.h>

START_TEST(validate_accepts_what_is_written)
{
	struct sample s;
	(_i ? job_init : sample_init)(&s);
	size_t size = 0;
	char *text = render(&s.report, &size);
	struct tp_json_doc *doc = parse(text, size);
	struct tp_buf problems = {0};
	ck_assert_uint_eq(tp_report_validate(doc, &problems), 0);
	ck_assert_str_eq(tp_buf_text(&problems), "");
	tp_json_free(doc);
	free(text);
	sample_release(&s);
}
END_TEST

/* One change each; validate must find it. */
static const struct {
	const char *from;
	const char *to;
	const char *problem;
	bool is_of_job;
} changes[] = {
	{"\"total_ns\": 49593600000", "\"total_ns\": 49593600001", "parts sum to", false},
	{"\"time_ns\": 20664000000", "\"time_ns\": 20664000002", "labels sum to", false},
	{"\"metrics\": {", "\"metrics\": {\"x\": {\"value\": null},", "null without a reason",
	 false},
	{"\"compute\": [21000000,", "\"compute\": [21000001,", "parts of a step sum", false},
	{"\"steady\": 984", "\"steady\": 983", "steps by kind sum to", false},
	{"\"steady\": 984", "\"steady\": 983", "steps by kind differ from", false},
	{"\"slow\": 0", "\"slow\": 1", "steps by kind sum to 1025", false},
	{"trainprof-report/1.1", "trainprof-report/2.0", "not a trainprof-report/1.x", false},
	{"\"frames\": [0, 1, 2]", "\"frames\": [0, 1, 9]", "no such frame", false},
	{"\"host\": 6624000", "\"host\": 6624001", "own_ns sums to", true},
	{"\"not_captured\": 4388000", "\"not_captured\": 0", "after_ns sums to", true},
	{"\"late\": \"d7\"", "\"late\": \"d8\"", "no device 'd8'", true},
	{"\"device\": \"d7\"", "\"device\": \"x\"", "no device 'x'", true},
};

START_TEST(validate_finds_each_broken_promise)
{
	struct sample s;
	(changes[_i].is_of_job ? job_init : sample_init)(&s);
	size_t size = 0;
	char *text = render(&s.report, &size);
	char *found = strstr(text, changes[_i].from);
	ck_assert_msg(found != NULL, "%s", changes[_i].from);
	struct tp_buf changed = {0};
	tp_buf_add(&changed, text, (size_t)(found - text));
	tp_buf_puts(&changed, changes[_i].to);
	tp_buf_puts(&changed, found + strlen(changes[_i].from));
	struct tp_json_doc *doc = parse(tp_buf_text(&changed), changed.len);
	struct tp_buf problems = {0};
	ck_assert_uint_ge(tp_report_validate(doc, &problems), 1);
	ck_assert_ptr_nonnull(strstr(tp_buf_text(&problems), changes[_i].problem));
	tp_buf_release(&problems);
	tp_buf_release(&changed);
	tp_json_free(doc);
	free(text);
	sample_release(&s);
}
END_TEST

Suite *suite_report_validate(void);
Suite *suite_report_validate(void)
{
	Suite *suite = suite_create("report_validate");
	TCase *tc = tcase_create("validate");
	tcase_add_loop_test(tc, validate_accepts_what_is_written, 0, 2);
	tcase_add_loop_test(tc, validate_finds_each_broken_promise, 0,
			    (int)(sizeof(changes) / sizeof(changes[0])));
	suite_add_tcase(suite, tc);
	return suite;
}
