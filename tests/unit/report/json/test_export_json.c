/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON report has exactly the content of the profile, and satisfies its own schema and sums. */
#include "report/jobsample.h"
#include "report/jsonreport.h"

#include "report/digest/job.h"
#include "trainprof/base/file.h"
#include "trainprof/base/json.h"
#include "trainprof/model/fact_id.h"
#include "trainprof/report/validate.h"

#include <check.h>
#include <stdlib.h>
#include <unistd.h>

static const struct tp_json *at(const struct tp_json *value, const char *a, const char *b)
{
	return tp_json_get(tp_json_get(value, a), b);
}

START_TEST(integers_are_exact_and_sum)
{
	struct sample s;
	sample_init(&s);
	/* One odd ns, to show that no value was rounded. */
	s.profile.parts[TP_PART_HOST].time_ns++;
	s.profile.label_ns[TP_LABEL_HOST_INTERPRETER]++;
	s.profile.total_ns++;
	size_t size = 0;
	char *text = render(&s.report, &size);
	struct tp_json_doc *doc = parse(text, size);
	const struct tp_json *root = tp_json_root(doc);
	uint64_t total = 0;
	uint64_t sum = 0;
	ck_assert(tp_json_uint(at(root, "partition", "total_ns"), &total));
	ck_assert_uint_eq(total, s.profile.total_ns);
	int k = 0;
	TP_JSON_EACH (part, at(root, "partition", "parts")) {
		uint64_t time_ns = 0;
		ck_assert(tp_json_uint(tp_json_get(part, "time_ns"), &time_ns));
		ck_assert_uint_eq(time_ns, s.profile.parts[k++].time_ns);
		sum += time_ns;
	}
	ck_assert_uint_eq(sum, total);
	tp_json_free(doc);
	free(text);
	sample_release(&s);
}
END_TEST

START_TEST(every_fact_is_there_with_value_or_reason)
{
	struct sample s;
	sample_init(&s);
	size_t size = 0;
	char *text = render(&s.report, &size);
	struct tp_json_doc *doc = parse(text, size);
	const struct tp_json *metrics = at(tp_json_root(doc), "summary", "metrics");
	size_t n = tp_json_count(metrics);
	TP_JSON_EACH (metric, metrics) {
		tp_fact_id fact = tp_fact_find(tp_json_key(metric));
		ck_assert_uint_ne(fact, tp_n_facts);
		ck_assert_double_eq_tol(tp_json_number(tp_json_get(metric, "value"), -1),
					s.profile.facts[fact].value, 1e-9);
	}
	TP_JSON_EACH (group, at(tp_json_root(doc), "summary", "missing")) {
		ck_assert_ptr_nonnull(tp_json_string(tp_json_get(group, "because")));
		TP_JSON_EACH (name, tp_json_get(group, "metrics")) {
			tp_fact_id fact = tp_fact_find(tp_json_string(name));
			ck_assert(fact != tp_n_facts && !s.profile.facts[fact].is_known);
			n++;
		}
	}
	ck_assert_uint_eq(n, tp_n_facts);
	tp_json_free(doc);
	free(text);
	sample_release(&s);
}
END_TEST

START_TEST(quiet_and_unjudged_rules_are_listed)
{
	struct sample s;
	sample_init(&s);
	s.findings.items[6].state = TP_FINDING_QUIET;
	size_t size = 0;
	char *text = render(&s.report, &size);
	struct tp_json_doc *doc = parse(text, size);
	int n[3] = {0};
	TP_JSON_EACH (finding, tp_json_get(tp_json_root(doc), "findings")) {
		const char *state = tp_json_string(tp_json_get(finding, "state"));
		for (int i = 0; i < 3; i++)
			n[i] += strcmp(state, tp_finding_state_name((enum tp_finding_state)i)) == 0;
	}
	ck_assert_int_eq(n[TP_FINDING_FIRED], 3);
	ck_assert_int_eq(n[TP_FINDING_QUIET], 1);
	ck_assert_int_eq(n[TP_FINDING_NOT_JUDGED], 3);
	tp_json_free(doc);
	free(text);
	sample_release(&s);
}
END_TEST

/* A condition that facts cannot decide has neither "yes" nor "no". */
START_TEST(methods_that_change_iterations_are_compared_with_a_shorter_schedule)
{
	struct sample s;
	sample_init(&s);
	s.findings.items[0].actions = sample_echo;
	s.findings.items[0].n_actions = 2;
	size_t size = 0;
	char *text = render(&s.report, &size);
	struct tp_json_doc *doc = parse(text, size);
	const struct tp_json *finding = tp_json_first(tp_json_get(tp_json_root(doc), "findings"));
	const struct tp_json *action = tp_json_first(tp_json_get(finding, "actions"));
	const struct tp_json *against = at(action, "guide", "against");
	const struct tp_json *reported = tp_json_first(tp_json_get(against, "reported"));
	ck_assert_str_eq(tp_json_string(tp_json_get(against, "technique")), "train-shorter");
	ck_assert_str_eq(tp_json_string(tp_json_get(reported, "hardware")), "8x A100");
	tp_json_free(doc);
	free(text);
	sample_release(&s);
}
END_TEST

START_TEST(an_action_has_the_guides_entry)
{
	struct sample s;
	sample_init(&s);
	size_t size = 0;
	char *text = render(&s.report, &size);
	struct tp_json_doc *doc = parse(text, size);
	const struct tp_json *finding = tp_json_first(tp_json_get(tp_json_root(doc), "findings"));
	const struct tp_json *action = tp_json_first(tp_json_get(finding, "actions"));
	const struct tp_json *guide = tp_json_get(action, "guide");
	const struct tp_json *reported = tp_json_first(tp_json_get(guide, "reported"));
	ck_assert_str_eq(tp_json_string(tp_json_get(guide, "effort")), "flag");
	ck_assert_str_eq(tp_json_string(at(guide, "risk", "level")), "none");
	ck_assert_str_eq(tp_json_string(tp_json_get(reported, "hardware")), "one node");
	ck_assert_str_eq(tp_json_string(tp_json_get(reported, "baseline")), "0 workers");
	ck_assert_str_eq(tp_json_string(at(reported, "source", "checked")), "2026-11-20");
	const struct tp_json *need = tp_json_first(tp_json_get(guide, "conditions"));
	ck_assert_str_eq(tp_json_string(tp_json_get(need, "kind")), "needs");
	ck_assert(tp_json_bool(tp_json_get(need, "holds"), false));
	ck_assert_ptr_null(tp_json_get(tp_json_after(need), "holds"));
	const struct tp_json *not_when = tp_json_after(tp_json_after(need));
	ck_assert_str_eq(tp_json_string(tp_json_get(not_when, "kind")), "not_when");
	ck_assert(!tp_json_bool(tp_json_get(not_when, "holds"), true));
	tp_json_free(doc);
	free(text);
	sample_release(&s);
}
END_TEST

START_TEST(reduced_detail_is_reported)
{
	struct sample s;
	sample_init(&s);
	for (int i = 0; i < 2; i++) {
		size_t size = 0;
		char *text = render(&s.report, &size);
		struct tp_json_doc *doc = parse(text, size);
		const struct tp_json *collection = tp_json_get(tp_json_root(doc), "collection");
		const char *reduced = tp_json_string(tp_json_get(collection, "reduced"));
		double asked_hz = tp_json_number(tp_json_get(collection, "asked_rate_hz"), -1);
		if (i)
			ck_assert_ptr_nonnull(strstr(reduced, "for 40 % of the run"));
		else
			ck_assert_ptr_null(reduced);
		ck_assert_double_eq(asked_hz, i ? 99 : -1);
		tp_json_free(doc);
		free(text);
		sample_reduce(&s);
	}
	sample_release(&s);
}
END_TEST

START_TEST(inexact_profile_is_refused)
{
	struct sample s;
	struct tp_report_style style = {.width = 80};
	struct tp_error err = {0};
	sample_init(&s);
	s.profile.total_ns++;
	FILE *out = fopen("/dev/null", "w");
	ck_assert_int_eq(tp_exporter_find("json")->write(&s.report, &style, out, &err), TP_PARSE);
	fclose(out);
	sample_release(&s);
}
END_TEST

START_TEST(cause_of_a_slow_step_is_the_part_that_grew)
{
	struct sample s;
	sample_init(&s);
	struct tp_step *slow = &s.profile.steps[SAMPLE_WARMUP + 3];
	/* Compute is still its largest part. */
	slow->kind = TP_STEP_SLOW;
	slow->part_ns[TP_PART_COMMUNICATION] += slow->part_ns[TP_PART_COMPUTE] / 2;
	slow->end_ns += slow->part_ns[TP_PART_COMPUTE] / 2;
	ck_assert_uint_gt(slow->part_ns[TP_PART_COMPUTE], slow->part_ns[TP_PART_COMMUNICATION]);
	size_t size = 0;
	char *text = render(&s.report, &size);
	struct tp_json_doc *doc = parse(text, size);
	const struct tp_json *outliers = at(tp_json_root(doc), "steps", "outliers");
	ck_assert_uint_eq(tp_json_count(outliers), 1);
	ck_assert_str_eq(tp_json_string(tp_json_get(tp_json_first(outliers), "cause")),
			 "communication");
	tp_json_free(doc);
	free(text);
	sample_release(&s);
}
END_TEST

/* 200,000 steps and 3,000 processes still fit into the megabyte that our own parser accepts. */
START_TEST(document_is_bounded)
{
	struct sample s;
	sample_init(&s);
	sample_python(&s);
	struct tp_profile *p = &s.profile;
	struct tp_step one = p->steps[SAMPLE_WARMUP];
	p->n_steps = 200000;
	p->n_steady = p->n_steps / 2;
	p->steps = tp_arena_array(&p->arena, p->n_steps, sizeof(*p->steps));
	for (size_t i = 0; i < p->n_steps; i++) {
		p->steps[i] = one;
		p->steps[i].kind = i % 2 ? TP_STEP_STEADY : TP_STEP_SLOW;
	}
	size_t n = 3000;
	struct tp_process_result *many = tp_arena_array(&p->arena, n, sizeof(*many));
	for (size_t i = 0; i < n; i++)
		many[i] = p->processes[i % p->n_processes];
	p->processes = many;
	p->n_processes = n;
	size_t size = 0;
	char *text = render(&s.report, &size);
	ck_assert_uint_le(size, TP_JSON_MAX_BYTES);
	struct tp_json_doc *doc = parse(text, size);
	struct tp_buf problems = {0};
	ck_assert_uint_eq(tp_report_validate(doc, &problems), 0);
	uint64_t cut = 0;
	ck_assert(tp_json_uint(at(tp_json_root(doc), "truncated", "outliers"), &cut));
	ck_assert_uint_ge(cut, 99000);
	tp_json_free(doc);
	free(text);
	sample_release(&s);
}
END_TEST

static uint64_t number(const struct tp_json *object, const char *key)
{
	uint64_t value = 0;
	ck_assert_msg(tp_json_uint(tp_json_get(object, key), &value), "no whole number %s", key);
	return value;
}

static void assert_parts(const struct tp_json *parts, const uint64_t *expected)
{
	for (int p = 0; p < TP_N_PARTS; p++)
		ck_assert_uint_eq(number(parts, tp_part_name((enum tp_part)p)), expected[p]);
}

START_TEST(every_number_of_a_device_is_there)
{
	struct sample s;
	job_init(&s);
	size_t size = 0;
	char *text = render(&s.report, &size);
	struct tp_json_doc *doc = parse(text, size);
	const struct tp_json *device = tp_json_first(tp_json_get(tp_json_root(doc), "devices"));
	for (size_t i = 0; i < JOB_RANKS; i++, device = tp_json_after(device)) {
		const struct tp_device_result *d = &s.profile.devices[i];
		ck_assert_uint_eq(number(device, "rank"), i);
		ck_assert_uint_eq(number(device, "source"), i);
		ck_assert_uint_eq(number(device, "number"), 0);
		ck_assert_str_eq(tp_json_string(tp_json_get(device, "name")), "NVIDIA A100");
		ck_assert_uint_eq(number(tp_json_get(device, "ops"), "compute"), 237);
		ck_assert_uint_eq(number(tp_json_get(device, "ops"), "communication"), 8);
		ck_assert_uint_eq(number(tp_json_get(device, "ops"), "copy"), 16);
		ck_assert_uint_eq(number(device, "ops_unlinked"), d->n_unlinked);
		ck_assert_uint_eq(number(device, "span_ns"), d->span_ns);
		ck_assert_uint_eq(number(device, "busy_ns"), d->busy_ns);
		ck_assert_uint_eq(number(device, "exposed_communication_ns"),
				  d->exposed_communication_ns);
		ck_assert_uint_eq(number(device, "exposed_copy_ns"), d->exposed_copy_ns);
		ck_assert_uint_eq(number(device, "overlap_ns"), d->overlap_ns);
		ck_assert_uint_eq(number(device, "window_ns"), d->window_ns);
		ck_assert_uint_eq(number(device, "wait_caused_ns"), d->wait_caused_ns);
		ck_assert_uint_eq(number(tp_json_get(device, "gap_ns"), "host"),
				  d->gap_ns[TP_GAP_HOST]);
		ck_assert_uint_eq(number(device, "steps"), 1);
		ck_assert_uint_eq(tp_json_count(tp_json_get(device, "ops_per_step")), 1);
		ck_assert_uint_eq(tp_json_count(tp_json_get(device, "step_ns")), 1);
		assert_parts(tp_json_get(device, "own_ns"), d->own_ns);
		uint64_t after[TP_N_PARTS + 1];
		tp_report_after(d, after);
		assert_parts(tp_json_get(device, "after_ns"), after);
		ck_assert_uint_eq(number(tp_json_get(device, "after_ns"), "not_captured"),
				  d->not_captured_ns);
	}
	ck_assert_ptr_null(device);
	tp_json_free(doc);
	free(text);
	sample_release(&s);
}
END_TEST

START_TEST(job_kernels_collectives_and_blame_are_there)
{
	struct sample s;
	job_init(&s);
	size_t size = 0;
	char *text = render(&s.report, &size);
	struct tp_json_doc *doc = parse(text, size);
	const struct tp_json *root = tp_json_root(doc);
	const struct tp_json *job = tp_json_get(root, "job");
	ck_assert_double_eq_tol(tp_json_number(at(job, "own_ratio", "host"), 0), 0.48781, 1e-5);
	ck_assert_double_eq_tol(tp_json_number(at(job, "after_ratio", "host"), 0), 0.70715, 1e-5);
	ck_assert_double_eq_tol(tp_json_number(at(job, "after_ratio", "not_captured"), 0), 0.082,
				1e-5);
	ck_assert(tp_json_bool(tp_json_get(job, "is_joined"), false));
	ck_assert_str_eq(tp_json_string(at(root, "summary", "largest_loss")), "host");
	ck_assert_str_eq(tp_json_string(at(root, "summary", "verdict")), "host_bound");
	const struct tp_json *kernel = tp_json_first(tp_json_get(root, "kernels"));
	ck_assert_uint_eq(number(kernel, "time_ns"), 48542000);
	ck_assert_ptr_null(tp_json_get(kernel, "slowdown_ratio"));
	const struct tp_json *collective = tp_json_first(tp_json_get(root, "collectives"));
	ck_assert_str_eq(tp_json_string(tp_json_get(collective, "late")), "d7");
	ck_assert_str_eq(tp_json_string(tp_json_get(collective, "group")), "default_pg");
	ck_assert_uint_eq(tp_json_count(tp_json_get(collective, "wait_ns")), JOB_RANKS);
	const struct tp_json *blame = tp_json_first(tp_json_get(root, "blame"));
	ck_assert_str_eq(tp_json_string(tp_json_get(blame, "device")), "d7");
	ck_assert_str_eq(tp_json_string(tp_json_get(blame, "label")), "dispatch");
	tp_json_free(doc);
	free(text);
	sample_release(&s);
}
END_TEST

START_TEST(an_import_claims_nothing_of_a_host_or_an_end)
{
	struct sample s;
	job_alone_init(&s);
	size_t size = 0;
	char *text = render(&s.report, &size);
	struct tp_json_doc *doc = parse(text, size);
	const struct tp_json *root = tp_json_root(doc);
	const struct tp_json *run = tp_json_get(root, "run");
	const struct tp_json *source = tp_json_first(tp_json_get(run, "sources"));
	ck_assert_str_eq(tp_json_string(tp_json_get(run, "mode")), "import");
	ck_assert_str_eq(tp_json_string(at(run, "end", "kind")), "unknown");
	ck_assert_ptr_null(tp_json_get(run, "tier"));
	ck_assert_uint_eq(tp_json_count(at(root, "environment", "host")), 0);
	ck_assert_ptr_null(at(root, "environment", "fingerprint"));
	ck_assert_str_eq(tp_json_string(tp_json_get(source, "sha256")), JOB_HASH);
	ck_assert_ptr_null(tp_json_get(source, "rank"));
	ck_assert_uint_eq(number(source, "skipped"), 13);
	ck_assert(tp_json_bool(tp_json_get(source, "is_cut"), false));
	struct tp_buf problems = {0};
	ck_assert_uint_eq(tp_report_validate(doc, &problems), 0);
	tp_json_free(doc);
	free(text);
	sample_release(&s);
}
END_TEST

/* 64 devices with 5,000 steps, and names as long as those of templates. */
START_TEST(document_of_a_large_job_is_bounded)
{
	enum { DEVICES = 64, STEPS = 5000, KERNELS = 300, COLLECTIVES = 1000 };
	struct sample s;
	job_init(&s);
	struct tp_profile *p = &s.profile;
	struct tp_device_result *devices = tp_arena_array(&p->arena, DEVICES, sizeof(*devices));
	uint64_t *steps = tp_arena_array(&p->arena, STEPS, sizeof(*steps));
	for (size_t i = 0; i < STEPS; i++)
		steps[i] = 123456789012;
	for (size_t i = 0; i < DEVICES; i++) {
		devices[i] = p->devices[i % JOB_RANKS];
		devices[i].n_steps = STEPS;
		devices[i].ops_per_step = devices[i].step_ns = steps;
	}
	struct tp_kernel_result *kernels = tp_arena_array(&p->arena, KERNELS, sizeof(*kernels));
	for (size_t i = 0; i < KERNELS; i++)
		kernels[i] = p->kernels[0];
	struct tp_collective_result *collectives =
		tp_arena_array(&p->arena, COLLECTIVES, sizeof(*collectives));
	for (size_t i = 0; i < COLLECTIVES; i++) {
		collectives[i] = p->collectives[0];
		collectives[i].wait_ns = steps;
	}
	char *name = tp_arena_alloc(&p->arena, 5001);
	memset(name, 'k', 5000);
	s.trace.strings[JOB_REDUCE] = name;
	p->devices = devices;
	p->n_devices = DEVICES;
	p->kernels = kernels;
	p->n_kernels = KERNELS;
	p->collectives = collectives;
	p->n_collectives = COLLECTIVES;
	size_t size = 0;
	char *text = render(&s.report, &size);
	ck_assert_uint_le(size, TP_JSON_MAX_BYTES);
	struct tp_json_doc *doc = parse(text, size);
	struct tp_buf problems = {0};
	ck_assert_uint_eq(tp_report_validate(doc, &problems), 0);
	const struct tp_json *truncated = tp_json_get(tp_json_root(doc), "truncated");
	ck_assert_uint_ge(number(truncated, "kernels"), KERNELS - 100);
	ck_assert_uint_ge(number(truncated, "collectives"), COLLECTIVES - 200);
	ck_assert_uint_ge(number(truncated, "device_steps"), UINT64_C(3000) * DEVICES);
	tp_json_free(doc);
	free(text);
	sample_release(&s);
}
END_TEST

/* Python's jsonschema is an independent implementation of the schema language. */
START_TEST(document_satisfies_the_schema)
{
	if (system("/usr/bin/python3 -c 'import jsonschema' 2>/dev/null") != 0) {
		fprintf(stderr, "skipped: python3-jsonschema is not installed\n");
		return;
	}
	struct sample s;
	(_i < 3 ? sample_init : _i == 3 ? job_init : job_alone_init)(&s);
	if (_i == 0)
		sample_python(&s);
	if (_i == 1)
		s.report.findings = NULL;
	if (_i == 2) {
		s.trace.run.end = TP_END_SIGNALED;
		s.trace.run.end_code = 11;
		s.profile.n_steps = 0;
		s.profile.steps_found_by = TP_STEPS_NONE;
	}
	size_t size = 0;
	char *text = render(&s.report, &size);
	char dir[] = "/tmp/trainprof-test-XXXXXX";
	ck_assert_ptr_nonnull(mkdtemp(dir));
	char schema[64];
	char report[64];
	char command[400];
	snprintf(schema, sizeof(schema), "%s/schema.json", dir);
	snprintf(report, sizeof(report), "%s/report.json", dir);
	const char *schema_text = tp_report_schema();
	ck_assert_int_eq(tp_file_replace(schema, schema_text, strlen(schema_text), NULL), TP_OK);
	ck_assert_int_eq(tp_file_replace(report, text, size, NULL), TP_OK);
	snprintf(command, sizeof(command),
		 "/usr/bin/python3 -c 'import json, jsonschema, sys; "
		 "jsonschema.Draft202012Validator(json.load(open(sys.argv[1]))).validate("
		 "json.load(open(sys.argv[2])))' %s %s",
		 schema, report);
	ck_assert_int_eq(system(command), 0);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	ck_assert_int_eq(system(command), 0);
	free(text);
	sample_release(&s);
}
END_TEST

Suite *suite_report_export_json(void);
Suite *suite_report_export_json(void)
{
	Suite *suite = suite_create("report_export_json");
	TCase *tc = tcase_create("json");
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, integers_are_exact_and_sum);
	tcase_add_test(tc, every_fact_is_there_with_value_or_reason);
	tcase_add_test(tc, quiet_and_unjudged_rules_are_listed);
	tcase_add_test(tc, an_action_has_the_guides_entry);
	tcase_add_test(tc, methods_that_change_iterations_are_compared_with_a_shorter_schedule);
	tcase_add_test(tc, reduced_detail_is_reported);
	tcase_add_test(tc, inexact_profile_is_refused);
	tcase_add_test(tc, cause_of_a_slow_step_is_the_part_that_grew);
	tcase_add_test(tc, document_is_bounded);
	tcase_add_test(tc, every_number_of_a_device_is_there);
	tcase_add_test(tc, job_kernels_collectives_and_blame_are_there);
	tcase_add_test(tc, an_import_claims_nothing_of_a_host_or_an_end);
	tcase_add_test(tc, document_of_a_large_job_is_bounded);
	tcase_add_loop_test(tc, document_satisfies_the_schema, 0, 5);
	suite_add_tcase(suite, tc);
	return suite;
}
