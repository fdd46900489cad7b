/* SPDX-License-Identifier: Apache-2.0 */
/* An interval of a live view as JSON: one line, whatever the names, equal to the profile. */
#include "report/sample.h"

#include "trainprof/base/json.h"
#include "trainprof/report/live.h"

#include <check.h>
#include <string.h>

static const struct tp_live live = {.subject = "pid 4242\n\"\033[2J",
				    .clock = "14:03:11",
				    .watched_ns = 41000000000,
				    .window_ns = 2000000000,
				    .own_ratio = 0.006};

static struct tp_json_doc *write(const struct sample *s, const struct tp_live *how)
{
	struct tp_buf out = {0};
	struct tp_json_doc *doc = NULL;
	struct tp_error err = {0};
	tp_report_live_add_json(&out, &s->profile, how);
	ck_assert_ptr_eq(strchr(tp_buf_text(&out), '\n'), out.data + out.len - 1);
	ck_assert_ptr_null(strchr(tp_buf_text(&out), '\033'));
	if (tp_json_parse(&doc, out.data, out.len, "top", &err) != TP_OK)
		ck_abort_msg("%s", err.text);
	tp_buf_release(&out);
	return doc;
}

static uint64_t number(const struct tp_json *object, const char *key)
{
	uint64_t value = UINT64_MAX;
	ck_assert(tp_json_uint(tp_json_get(object, key), &value));
	return value;
}

START_TEST(an_interval_is_one_line_with_the_profile_in_it)
{
	struct sample s;
	sample_init(&s);
	struct tp_json_doc *doc = write(&s, &live);
	const struct tp_json *root = tp_json_root(doc);
	ck_assert_str_eq(tp_json_string(tp_json_get(root, "schema")), "trainprof-top/1.0");
	ck_assert_uint_eq(number(root, "interval_ns"), 2000000000);
	ck_assert_uint_eq(number(root, "total_ns"), s.profile.total_ns);
	const struct tp_json *parts = tp_json_get(root, "parts_ns");
	for (int part = 0; part < TP_N_PARTS; part++)
		ck_assert_uint_eq(number(parts, tp_part_name((enum tp_part)part)),
				  s.profile.parts[part].time_ns);
	ck_assert_uint_eq(number(tp_json_get(root, "steps"), "n"), s.profile.step_time.n);
	ck_assert_int_eq(tp_json_type(tp_json_get(root, "alarm")), TP_JSON_NULL);
	ck_assert_int_eq(tp_json_type(tp_json_get(root, "end")), TP_JSON_NULL);
	tp_json_free(doc);
	sample_release(&s);
}
END_TEST

START_TEST(ranks_of_a_job_have_their_parts_and_a_line)
{
	struct sample s;
	sample_init(&s);
	const struct tp_live_rank ranks[] = {
		{.number = 0, .pid = 4243, .profile = &s.profile},
		{.number = -1, .pid = 4244, .profile = &s.profile},
	};
	struct tp_live job = live;
	job.ranks = ranks;
	job.n_ranks = 2;
	job.shown_rank = 1;
	struct tp_json_doc *doc = write(&s, &job);
	const struct tp_json *list = tp_json_get(tp_json_root(doc), "ranks");
	ck_assert_uint_eq(tp_json_count(list), 2);
	size_t i = 0;
	TP_JSON_EACH (rank, list) {
		ck_assert_uint_eq(number(rank, "pid"), 4243 + i);
		ck_assert_int_eq(tp_json_type(tp_json_get(rank, "rank")),
				 i ? TP_JSON_NULL : TP_JSON_NUMBER);
		ck_assert_uint_eq(number(rank, "total_ns"), s.profile.total_ns);
		ck_assert_ptr_nonnull(tp_json_get(rank, "line"));
		i++;
	}
	tp_json_free(doc);
	doc = write(&s, &live);
	ck_assert_uint_eq(tp_json_count(tp_json_get(tp_json_root(doc), "ranks")), 0);
	tp_json_free(doc);
	sample_release(&s);
}
END_TEST

START_TEST(an_alarm_is_in_the_interval_that_gave_it)
{
	struct sample s;
	struct tp_live_history history = {.alarm = "14:03:11  Steps are slower.", .is_new = true};
	struct tp_live how = live;
	how.history = &history;
	sample_init(&s);
	struct tp_json_doc *doc = write(&s, &how);
	ck_assert_str_eq(tp_json_string(tp_json_get(tp_json_root(doc), "alarm")), history.alarm);
	tp_json_free(doc);
	history.is_new = false;
	doc = write(&s, &how);
	ck_assert_int_eq(tp_json_type(tp_json_get(tp_json_root(doc), "alarm")), TP_JSON_NULL);
	tp_json_free(doc);
	sample_release(&s);
}
END_TEST

START_TEST(unknown_values_are_null)
{
	struct sample s;
	struct tp_live how = live;
	how.own_ratio = -1;
	sample_init(&s);
	s.profile.total_ns = 0;
	s.profile.limiter = TP_N_PARTS;
	s.profile.is_of_steps = false;
	s.profile.step_time = (struct tp_stat){0};
	s.profile.steps_reason = "no loop was seen";
	struct tp_json_doc *doc = write(&s, &how);
	const struct tp_json *root = tp_json_root(doc);
	ck_assert_int_eq(tp_json_type(tp_json_get(root, "limiter")), TP_JSON_NULL);
	ck_assert_int_eq(tp_json_type(tp_json_get(root, "own_cpu_ratio")), TP_JSON_NULL);
	const struct tp_json *steps = tp_json_get(root, "steps");
	ck_assert_int_eq(tp_json_type(tp_json_get(steps, "mean_ns")), TP_JSON_NULL);
	ck_assert_str_eq(tp_json_string(tp_json_get(steps, "none_because")), "no loop was seen");
	tp_json_free(doc);
	sample_release(&s);
}
END_TEST

Suite *suite_report_live_json(void);
Suite *suite_report_live_json(void)
{
	Suite *suite = suite_create("report_live_json");
	TCase *tc = tcase_create("live_json");
	tcase_add_test(tc, an_interval_is_one_line_with_the_profile_in_it);
	tcase_add_test(tc, an_alarm_is_in_the_interval_that_gave_it);
	tcase_add_test(tc, ranks_of_a_job_have_their_parts_and_a_line);
	tcase_add_test(tc, unknown_values_are_null);
	suite_add_tcase(suite, tc);
	return suite;
}
