/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the footer: it names only missing sources that would have changed the verdict. */
#include "report/jobsample.h"

#include "report/digest/verdict_gaps.h"

#include <check.h>

static const char *gaps_of(const struct sample *s, struct tp_buf *text)
{
	struct tp_report_digest digest;
	tp_report_digest_make(&digest, &s->report);
	tp_report_add_verdict_gaps(text, &digest);
	return tp_buf_text(text);
}

START_TEST(sources_that_only_refine_advice_are_not_named)
{
	struct sample s;
	struct tp_buf text = {0};
	sample_init(&s);
	ck_assert_str_eq(gaps_of(&s, &text), "");
	tp_buf_release(&text);
	sample_release(&s);
}
END_TEST

START_TEST(a_source_without_which_parts_are_guessed_is_named)
{
	struct sample s;
	struct tp_buf text = {0};
	sample_init(&s);
	const char *strings[] = {"", "perf", "CPU stacks, 99 per second", "not permitted"};
	struct tp_source source = {.name = 1,
				   .summary = 2,
				   .reason = 3,
				   .presence = TP_PRESENCE_NO_PERMISSION};
	s.trace.strings = strings;
	s.trace.n_strings = 4;
	s.trace.sources = &source;
	s.trace.n_sources = 1;
	ck_assert_str_eq(gaps_of(&s, &text), "Not measured: CPU stacks (not permitted)");
	source.presence = TP_PRESENCE_PRESENT;
	tp_buf_clear(&text);
	ck_assert_str_eq(gaps_of(&s, &text), "");
	tp_buf_release(&text);
	sample_release(&s);
}
END_TEST

Suite *suite_report_verdict_gaps(void);
Suite *suite_report_verdict_gaps(void)
{
	Suite *suite = suite_create("report_verdict_gaps");
	TCase *tc = tcase_create("verdict_gaps");
	tcase_add_test(tc, sources_that_only_refine_advice_are_not_named);
	tcase_add_test(tc, a_source_without_which_parts_are_guessed_is_named);
	suite_add_tcase(suite, tc);
	return suite;
}
