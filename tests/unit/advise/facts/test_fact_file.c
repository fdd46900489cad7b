/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of facts written by hand: units, mistakes, derived facts, and the template. */
#include "trainprof/advise/fact_file.h"
#include "trainprof/model/fact.h"

#include "advise/shelf.h"

#include <check.h>
#include <string.h>

static struct tp_fact_file file;

static enum tp_status read_text(const char *text, struct tp_error *err)
{
	struct tp_json_doc *doc = NULL;
	ck_assert_msg(!tp_json_parse(&doc, text, strlen(text), "f.json", err), "%s", err->text);
	enum tp_status status = tp_fact_file_read(&file, doc, err);
	tp_json_free(doc);
	return status;
}

static void read_facts(const char *facts)
{
	struct tp_error err = {0};
	char text[1024];
	snprintf(text, sizeof(text), "{\"facts\": {%s}}", facts);
	ck_assert_msg(!read_text(text, &err), "%s", err.text);
}

START_TEST(facts_are_read_with_their_units)
{
	struct tp_error err = {0};
	ck_assert_msg(!read_text("{\n// a remark\n\"schema\": \"trainprof-facts/1\",\n"
				 "\"name\": \"mine\", \"note\": \"n\", \"source\": \"s\",\n"
				 "\"expect\": {\"anything\": 1}, \"facts\": {\n"
				 "\"step.time_ns\": \"2ms\", \"loader.workers\": 4,\n"
				 "\"io.data_files\": null, \"env.is_python\": true,\n"
				 "\"step.host_ratio\": {\"value\": \"20%\", \"low\": 0.1, "
				 "\"high\": \"30%\"}}}",
				 &err),
		      "%s", err.text);
	ck_assert_str_eq(file.name, "mine");
	ck_assert_uint_eq(file.n_given, 4);
	ck_assert_double_eq(file.facts[TP_FACT_STEP_TIME].value, 2e6);
	ck_assert_double_eq(file.facts[TP_FACT_STEP_HOST].high, 0.3);
	ck_assert_int_eq(file.facts[TP_FACT_STEP_HOST].origin, TP_ORIGIN_ESTIMATED);
	ck_assert_str_eq(file.facts[TP_FACT_IO_FILES].missing, "left null");
	ck_assert_str_eq(file.facts[TP_FACT_CPU_IDLE].missing, "not in the file");
	tp_fact_file_release(&file);
}
END_TEST

struct mistake {
	const char *text;
	const char *said;
};

static void expect_mistakes(const struct mistake *mistakes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct tp_error err = {0};
		ck_assert_int_eq(read_text(mistakes[i].text, &err), TP_PARSE);
		ck_assert_msg(strstr(err.text, mistakes[i].said) != NULL, "%s", err.text);
	}
}

START_TEST(errors_name_their_line)
{
	static const struct mistake mistakes[] = {
		{"{\"facts\": {\n\"loader.wokers\": 4}}",
		 "f.json:2: no fact 'loader.wokers'; nearest: loader.workers"},
		{"{\"facts\": {\n\n\"step.time_ns\": \"5%\"}}",
		 "f.json:3: 'step.time_ns' is in ns, as \"120ms\" or a plain number: this is a "
		 "share"},
		{"{\"facts\": {\"loader.workers\": \"5%\"}}", "is in 1, as 4"},
		{"{\"facts\": {\"memory.limit_bytes\": \"5ms\"}}", "this is a time"},
		{"{\"facts\": {\"step.time_ns\": \"5 parsec\"}}", "not a number with a unit"},
		{"{\"facts\": {\"env.is_python\": 1}}", "true or false"},
		{"{\"facts\": {\"loader.workers\": -4}}", "'loader.workers' is negative"},
		{"{\"facts\": {\"step.host_ratio\": 35}}", "at most 1: write \"35%\""},
		{"{\n\"facts\": {\"step.host_ratio\": 0.6, \"step.compute_ratio\": 0.5}}",
		 "f.json:2: the six parts of a step add up to 110 %"},
		{"{\"facts\": {\"step.host_ratio\": 0.2,\n\"step.host_gc_ratio\": 0.3}}",
		 "f.json:2: 'step.host_gc_ratio' is more than its part, 'step.host_ratio'"},
		{"{\n\"facts\": {\"step.host_ratio\": 0.3, \"step.host_gc_ratio\": 0.2,\n"
		 "\"step.host_sync_ratio\": 0.2}}",
		 "f.json:2: what 'step.host_ratio' consists of adds up to 40 %"},
		{"{\"facts\": {\"advice.shown\": 1}}", "known to verdicts only"},
		{"{\"fact\": {}}", "has no key 'fact'; nearest: facts"},
		{"{\"facts\": []}", "'facts' is an object"},
		{"{}", "'facts' is an object"},
		{"[]", "must be an object"},
		{"{\"schema\": \"trainprof-facts/2\", \"facts\": {}}", "another format"},
		{"{\"schema\": \"trainprof-report/1.0\", \"tool\": {}}", "another format"},
	};
	expect_mistakes(mistakes, sizeof(mistakes) / sizeof(mistakes[0]));
}
END_TEST

START_TEST(errors_in_intervals_are_reported)
{
	static const struct mistake mistakes[] = {
		{"{\"facts\": {\"step.host_ratio\": {\"value\": 0.5, \"low\": 0.6, \"high\": "
		 "0.7}}}",
		 "outside its own interval"},
		{"{\"facts\": {\"step.host_ratio\": {\"value\": 0.5, \"coverage\": 2}}}",
		 "coverage of 'step.host_ratio'"},
		{"{\"facts\": {\"step.host_ratio\": {\"value\": 0.5, \"coverage\": \"90%\"}}}",
		 "'coverage' is a plain number"},
		{"{\"facts\": {\"step.host_ratio\": {\"value\": 0.5, \"low\": 0.4}}}",
		 "'high' is missing: an interval has both ends"},
		{"{\"facts\": {\"step.host_ratio\": {\"value\": 0.5, \"high\": 0.6}}}",
		 "'low' is missing: an interval has both ends"},
		{"{\"facts\": {\n\"step.host_ratio\": {\"low\": 0.4, \"high\": 0.6}}}",
		 "f.json:2: 'value' is missing"},
		{"{\"facts\": {\"step.host_ratio\": {\"value\": 0.5, \"low\": 0.4, \"high\": "
		 "60}}}",
		 "the interval of 'step.host_ratio' ends above 1"},
		{"{\"facts\": {\"loader.workers\": {\"value\": 5, \"low\": -4, \"high\": 6}}}",
		 "the interval of 'loader.workers' is negative"},
	};
	expect_mistakes(mistakes, sizeof(mistakes) / sizeof(mistakes[0]));
}
END_TEST

static void expect_known(enum tp_fact fact, double value)
{
	ck_assert_msg(file.facts[fact].is_known, "%s", tp_fact_desc(fact)->name);
	ck_assert_double_eq_tol(file.facts[fact].value, value, 1e-9);
}

START_TEST(a_part_left_out_is_the_rest)
{
	read_facts("\"step.compute_ratio\": 0.5, \"step.dataloader_ratio\": 0.3, "
		   "\"step.host_ratio\": 0.05, \"step.idle_ratio\": 0, "
		   "\"step.communication_ratio\": 0");
	expect_known(TP_FACT_STEP_MEMORY, 0.15);
	ck_assert_int_eq(file.facts[TP_FACT_STEP_MEMORY].origin, TP_ORIGIN_DERIVED);
	ck_assert_uint_eq(file.n_given, 5);
	tp_fact_file_release(&file);
}
END_TEST

START_TEST(parts_that_take_nothing_have_no_labels)
{
	read_facts("\"step.compute_ratio\": \"70%\", \"step.dataloader_ratio\": \"30%\"");
	expect_known(TP_FACT_STEP_MEMORY, 0);
	expect_known(TP_FACT_STEP_COPY, 0);
	expect_known(TP_FACT_STEP_SYNC, 0);
	ck_assert(!file.facts[TP_FACT_STEP_PREP].is_known);
	ck_assert(!file.facts[TP_FACT_STEP_TEAM_WAIT].is_known);
	tp_fact_file_release(&file);
}
END_TEST

START_TEST(labels_that_fill_their_part_leave_nothing_to_others)
{
	read_facts("\"step.dataloader_ratio\": \"30%\", \"step.dataloader_prep_ratio\": 0.1, "
		   "\"step.dataloader_fetch_ratio\": 0.2, \"step.host_ratio\": \"10%\", "
		   "\"step.host_gc_ratio\": \"4%\"");
	expect_known(TP_FACT_STEP_HANDOVER, 0);
	expect_known(TP_FACT_STEP_NEXT, 0);
	/* Loading in the training thread is part of prep and fetch. */
	ck_assert(!file.facts[TP_FACT_STEP_INLINE].is_known);
	ck_assert(!file.facts[TP_FACT_STEP_LOGGING].is_known);
	tp_fact_file_release(&file);
}
END_TEST

START_TEST(a_run_on_a_gpu_is_not_asked_for_cpu_compute)
{
	read_facts("\"device.busy_ratio\": \"40%\", \"compute.threads\": 4");
	ck_assert(file.facts[TP_FACT_COMPUTE_SCALAR].is_foreign);
	ck_assert(file.facts[TP_FACT_PMU_MEMORY].is_foreign);
	expect_known(TP_FACT_COMPUTE_THREADS, 4);
	tp_fact_file_release(&file);
	read_facts("\"cpu.busy_ratio\": \"40%\"");
	ck_assert(!file.facts[TP_FACT_COMPUTE_SCALAR].is_foreign);
	tp_fact_file_release(&file);
}
END_TEST

START_TEST(nothing_is_made_up_where_parts_are_open)
{
	read_facts("\"step.compute_ratio\": \"50%\", \"step.dataloader_ratio\": \"30%\"");
	ck_assert(!file.facts[TP_FACT_STEP_MEMORY].is_known);
	ck_assert(!file.facts[TP_FACT_STEP_IDLE].is_known);
	tp_fact_file_release(&file);
}
END_TEST

/* The shipped rules, to make a template from. */
static struct tp_rulebook *open_book(void)
{
	struct tp_rulebook *book = NULL;
	const char *directory = "rules";
	struct tp_error err = {0};
	ck_assert_msg(!tp_rulebook_load(&book, &directory, 1, &err), "%s", err.text);
	return book;
}

START_TEST(every_template_reads_back_with_nothing_known)
{
	static const char *const topics[] = {NULL,      "input",         "host", "memory",
					     "compute", "communication", "gpu",  "run"};
	struct tp_rulebook *book = open_book();
	for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]); i++) {
		struct tp_error err = {0};
		struct tp_buf text = {0};
		ck_assert_msg(!tp_fact_file_template(&text, book, topics[i], &err), "%s", err.text);
		ck_assert_msg(!read_text(tp_buf_text(&text), &err), "%s", err.text);
		ck_assert_uint_eq(file.n_given, 0);
		ck_assert_ptr_nonnull(strstr(tp_buf_text(&text), "\": null"));
		tp_fact_file_release(&file);
		tp_buf_release(&text);
	}
	tp_rulebook_free(book);
}
END_TEST

START_TEST(a_template_of_a_topic_has_what_its_rules_ask_for)
{
	struct tp_rulebook *book = open_book();
	struct tp_error err = {0};
	struct tp_buf text = {0};
	ck_assert(!tp_fact_file_template(&text, book, "input", &err));
	const char *input = tp_buf_text(&text);
	ck_assert_ptr_nonnull(strstr(input, "\"step.dataloader_prep_ratio\": null"));
	ck_assert_ptr_nonnull(strstr(input, "// loader processes and threads, as 4; for "));
	ck_assert_ptr_null(strstr(input, "\"kernel.matrix_ratio\""));
	ck_assert_ptr_null(strstr(input, "\"trace.spans\""));
	ck_assert_int_eq(tp_fact_file_template(&text, book, "inptu", &err), TP_USAGE);
	ck_assert_str_eq(err.text, "no topic 'inptu'; nearest: input");
	ck_assert_str_eq(err.next, "trainprof advise --template input");
	ck_assert_int_eq(tp_fact_file_template(&text, book, "weather", &err), TP_USAGE);
	ck_assert_str_eq(err.text,
			 "no topic 'weather', there are: communication, compute, forecast, gpu, "
			 "host, idiom, input, memory, recipe, run");
	tp_buf_release(&text);
	tp_rulebook_free(book);
}
END_TEST

START_TEST(without_rules_there_are_no_topics)
{
	static const struct tp_rulebook none;
	struct tp_buf text = {0};
	struct tp_error err = {0};
	ck_assert_int_eq(tp_fact_file_template(&text, &none, "input", &err), TP_USAGE);
	ck_assert_str_eq(err.text, "no topic 'input', there are: none");
	ck_assert_str_eq(err.next, "");
	ck_assert_uint_eq(text.len, 0);
}
END_TEST

START_TEST(the_schema_names_every_fact_that_can_be_given)
{
	struct tp_buf text = {0};
	struct tp_json_doc *doc = NULL;
	struct tp_error err = {0};
	tp_fact_file_schema(&text);
	ck_assert(!tp_json_parse(&doc, tp_buf_text(&text), text.len, "schema", &err));
	const struct tp_json *properties = tp_json_get(tp_json_root(doc), "properties");
	const struct tp_json *facts = tp_json_get(tp_json_get(properties, "facts"), "properties");
	const struct tp_json *defs = tp_json_get(tp_json_root(doc), "$defs");
	for (int f = 0; f < TP_N_FACTS; f++) {
		const struct tp_fact_desc *desc = tp_fact_desc((enum tp_fact)f);
		const struct tp_json *fact = tp_json_get(facts, desc->name);
		ck_assert_int_eq(fact != NULL, f < TP_FACT_RULES_OWN_FIRST);
		if (!fact)
			continue;
		const char *path = tp_json_string(tp_json_get(fact, "$ref"));
		ck_assert_int_eq(strncmp(path, "#/$defs/", 8), 0);
		const struct tp_json *kind = tp_json_get(defs, path + 8);
		ck_assert_msg(kind != NULL, "%s is not defined", path);
		ck_assert_msg(strcmp(path + 8, "number") == 0 || strcmp(path + 8, desc->unit) == 0,
			      "%s is %s", desc->name, path);
		ck_assert_str_eq(tp_json_string(tp_json_get(fact, "description")), desc->text);
	}
	const struct tp_json *ends =
		tp_json_get(tp_json_get(defs, "interval"), "dependentRequired");
	ck_assert_str_eq(tp_json_string(tp_json_first(tp_json_get(ends, "low"))), "high");
	ck_assert_str_eq(tp_json_string(tp_json_first(tp_json_get(ends, "high"))), "low");
	tp_json_free(doc);
	tp_buf_release(&text);
}
END_TEST

Suite *suite_advise_fact_file(void);
Suite *suite_advise_fact_file(void)
{
	Suite *suite = suite_create("advise_factfile");
	TCase *tcase = tcase_create("factfile");
	tcase_add_test(tcase, facts_are_read_with_their_units);
	tcase_add_test(tcase, errors_name_their_line);
	tcase_add_test(tcase, errors_in_intervals_are_reported);
	tcase_add_test(tcase, a_part_left_out_is_the_rest);
	tcase_add_test(tcase, parts_that_take_nothing_have_no_labels);
	tcase_add_test(tcase, labels_that_fill_their_part_leave_nothing_to_others);
	tcase_add_test(tcase, a_run_on_a_gpu_is_not_asked_for_cpu_compute);
	tcase_add_test(tcase, nothing_is_made_up_where_parts_are_open);
	tcase_add_test(tcase, every_template_reads_back_with_nothing_known);
	tcase_add_test(tcase, a_template_of_a_topic_has_what_its_rules_ask_for);
	tcase_add_test(tcase, without_rules_there_are_no_topics);
	tcase_add_test(tcase, the_schema_names_every_fact_that_can_be_given);
	suite_add_tcase(suite, tcase);
	return suite;
}
