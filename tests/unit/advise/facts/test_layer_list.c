/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of networks in files of facts: the derived facts, and the errors. */
#include "advise/facts/layer_list.h"

#include "trainprof/advise/fact_file.h"
#include "trainprof/model/fact.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static struct tp_fact_file file;

static enum tp_status read_file(const char *facts, const char *network, struct tp_error *err)
{
	struct tp_json_doc *doc = NULL;
	char text[2048];
	snprintf(text, sizeof(text), "{\"facts\": {%s},\n\"network\": %s}", facts, network);
	ck_assert_msg(!tp_json_parse(&doc, text, strlen(text), "f.json", err), "%s", err->text);
	enum tp_status status = tp_fact_file_read(&file, doc, err);
	tp_json_free(doc);
	return status;
}

static void must_read(const char *facts, const char *network)
{
	struct tp_error err = {0};
	ck_assert_msg(!read_file(facts, network, &err), "%s", err.text);
}

static void expect_fact(enum tp_fact fact, double value, enum tp_origin origin)
{
	ck_assert_msg(file.facts[fact].is_known, "%s", tp_fact_desc(fact)->name);
	ck_assert_double_eq_tol(file.facts[fact].value, value, 1e-9 * value);
	ck_assert_int_eq(file.facts[fact].origin, origin);
}

/* The sums are in test_layer_cost.c. */
static const char cube[] = "{\"layers\": [{\"kind\": \"conv\", \"in\": [4, 8, 8, 8], \"out\": 16, "
			   "\"kernel\": 3}]}";

START_TEST(layers_give_the_facts_of_a_sample)
{
	must_read("\"model.operations_per_s\": \"1000/s\"", cube);
	expect_fact(TP_FACT_MODEL_SAMPLE, 49152, TP_ORIGIN_DERIVED);
	expect_fact(TP_FACT_MODEL_STATE, 2 * 6912, TP_ORIGIN_DERIVED);
	expect_fact(TP_FACT_MODEL_OPERATIONS, 5308416, TP_ORIGIN_DERIVED);
	expect_fact(TP_FACT_MODEL_SAMPLE_TIME, 5308416e6, TP_ORIGIN_DERIVED);
	expect_fact(TP_FACT_MODEL_LEAST, 143616, TP_ORIGIN_DERIVED);
	expect_fact(TP_FACT_MODEL_HALO, 10240, TP_ORIGIN_DERIVED);
	expect_fact(TP_FACT_MODEL_HALO_MESSAGES, 4, TP_ORIGIN_DERIVED);
	expect_fact(TP_FACT_MODEL_SPLIT, 8, TP_ORIGIN_DERIVED);
	ck_assert_uint_eq(file.n_given, 1);
	tp_fact_file_release(&file);
}
END_TEST

START_TEST(stated_facts_override_derived_ones)
{
	must_read("\"model.sample_bytes\": \"3GiB\", \"model.sample_time_ns\": \"2s\"", cube);
	expect_fact(TP_FACT_MODEL_SAMPLE, 3221225472.0, TP_ORIGIN_ESTIMATED);
	expect_fact(TP_FACT_MODEL_SAMPLE_TIME, 2e9, TP_ORIGIN_ESTIMATED);
	expect_fact(TP_FACT_MODEL_HALO, 10240, TP_ORIGIN_DERIVED);
	tp_fact_file_release(&file);
}
END_TEST

START_TEST(underivable_facts_stay_unknown)
{
	must_read("\"step.count\": 4", "{\"layers\": [{\"kind\": \"dense\", \"in\": [4]}]}");
	expect_fact(TP_FACT_MODEL_SAMPLE, 4 * 12, TP_ORIGIN_DERIVED);
	ck_assert(!file.facts[TP_FACT_MODEL_HALO].is_known);
	ck_assert(!file.facts[TP_FACT_MODEL_SPLIT].is_known);
	ck_assert(!file.facts[TP_FACT_MODEL_SAMPLE_TIME].is_known);
	tp_fact_file_release(&file);
	/* Without halos slabs may be arbitrarily thin: the fact has no value. */
	must_read("", "{\"layers\": [{\"kind\": \"pointwise\", \"in\": [4, 9]}]}");
	expect_fact(TP_FACT_MODEL_SAMPLE, 4 * 108, TP_ORIGIN_DERIVED);
	ck_assert(!file.facts[TP_FACT_MODEL_SPLIT].is_known);
	tp_fact_file_release(&file);
}
END_TEST

START_TEST(numbers_may_be_one_for_all_extents_or_one_for_each)
{
	must_read("", "{\"number_bytes\": 2, \"layers\": [{\"kind\": \"conv\", \"in\": [1, 6, 10], "
		      "\"kernel\": [1, 3], \"stride\": [1, 1], \"times\": 3}]}");
	/* A split along the first extent sends nothing, because kernels have width one there. */
	expect_fact(TP_FACT_MODEL_STATE, 2 * 2 * 3 * 3, TP_ORIGIN_DERIVED);
	ck_assert_double_eq(file.facts[TP_FACT_MODEL_HALO].value, 0);
	expect_fact(TP_FACT_MODEL_SAMPLE, 2 * (180 + 120), TP_ORIGIN_DERIVED);
	tp_fact_file_release(&file);
}
END_TEST

START_TEST(errors_in_layers_name_their_line)
{
	static const struct {
		const char *network;
		const char *said;
	} rows[] = {
		{"[]", "f.json:2:"},
		{"{}", "f.json:2: 'layers' is missing"},
		{"{\"layers\": []}", "'layers' is empty"},
		{"{\"layer\": []}", "has no key 'layer'; nearest: layers"},
		{"{\"number_bytes\": 0,\n\"layers\": [{\"kind\": \"dense\", \"in\": [4]}]}",
		 "f.json:2: 'number_bytes' holds whole numbers from 1"},
		{"{\"layers\": [\n{\"in\": [4]}]}", "f.json:3: 'kind' is missing"},
		{"{\"layers\": [\n{\"kind\": \"cnov\", \"in\": [4, 4]}]}", "f.json:3:"},
		{"{\"layers\": [{\"kind\": \"conv\"}]}", "'in' is missing"},
		{"{\"layers\": [{\"kind\": \"conv\", \"in\": [4]}]}",
		 "'in' of a conv layer is [channels, then 1 to 3 extents]"},
		{"{\"layers\": [{\"kind\": \"conv\", \"in\": [4, 5, 6, 7, 8]}]}", "1 to 3 extents"},
		{"{\"layers\": [{\"kind\": \"dense\", \"in\": [4, 5]}]}", "'in' of a dense layer"},
		{"{\"layers\": [{\"kind\": \"conv\", \"in\": [4, 0]}]}", "from 1 to 1000000000"},
		{"{\"layers\": [{\"kind\": \"conv\", \"in\": [4, 1.5]}]}", "whole numbers"},
		{"{\"layers\": [{\"kind\": \"conv\", \"in\": [4, 2000000000]}]}", "'in' holds"},
		{"{\"layers\": [{\"kind\": \"conv\", \"in\": [4, \"8\"]}]}", "'in' holds"},
		{"{\"layers\": [{\"kind\": \"conv\", \"in\": [4, 8, 8],\n\"kernel\": [3]}]}",
		 "f.json:3: 'kernel' is one number, or one for each of the 2 extents"},
		{"{\"layers\": [{\"kind\": \"conv\", \"in\": [4, 8], \"stride\": [0]}]}",
		 "'stride' holds"},
		{"{\"layers\": [{\"kind\": \"dense\", \"in\": [4], \"kernel\": 3}]}",
		 "a dense layer has no 'kernel'"},
		{"{\"layers\": [{\"kind\": \"pool\", \"in\": [4, 8], \"out\": 5}]}",
		 "a pool layer puts out the channels that it takes in"},
		{"{\"layers\": [{\"kind\": \"conv\", \"in\": [4, 8], \"padding\": 1}]}",
		 "has no key 'padding'"},
		{"{\"layers\": [4]}", "must be an object"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tp_error err = {0};
		ck_assert_msg(read_file("", rows[i].network, &err) == TP_PARSE, "%s",
			      rows[i].network);
		ck_assert_msg(strstr(err.text, rows[i].said) != NULL, "%s: %s", rows[i].said,
			      err.text);
	}
}
END_TEST

Suite *suite_advise_layer_list(void);
Suite *suite_advise_layer_list(void)
{
	Suite *suite = suite_create("advise_layerlist");
	TCase *tcase = tcase_create("layerlist");
	tcase_add_test(tcase, layers_give_the_facts_of_a_sample);
	tcase_add_test(tcase, stated_facts_override_derived_ones);
	tcase_add_test(tcase, underivable_facts_stay_unknown);
	tcase_add_test(tcase, numbers_may_be_one_for_all_extents_or_one_for_each);
	tcase_add_test(tcase, errors_in_layers_name_their_line);
	suite_add_tcase(suite, tcase);
	return suite;
}
