/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the order in which missing facts are requested. */
#include "advise/judge/missing_facts.h"

#include "advise/shelf.h"
#include "trainprof/advise/advise.h"
#include "trainprof/model/fact.h"

#include <check.h>
#include <string.h>

static struct shelf shelf;
static struct tp_rulebook *book;
static struct tp_quantity facts[TP_N_FACTS];
static struct tp_findings findings;

#define GAIN(part) ", \"gain\": {\"part\": \"" part "\", \"fraction\": \"1\", \"method\": \"m\"}"

static void setup(void)
{
	shelf_open(&shelf);
	facts_init(facts);
	facts_set(facts, TP_FACT_STEP_COUNT, 100);
}

static void teardown(void)
{
	tp_findings_release(&findings);
	tp_rulebook_free(book);
	shelf_close(&shelf);
}

static void advise(void)
{
	struct tp_error err = {0};
	ck_assert_msg(!shelf_load(&shelf, &book, &err), "%s", err.text);
	tp_advise_facts(&findings, book, facts);
}

static size_t place_of(enum tp_fact fact)
{
	size_t i = 0;
	while (i < findings.n_wanted && findings.wanted[i].fact != fact)
		i++;
	return i;
}

START_TEST(parts_come_first_while_there_is_no_verdict)
{
	shelf_put_rule(&shelf, "a", "loader.workers > 1", GAIN("host"));
	advise();
	ck_assert_uint_eq(findings.n_wanted, TP_MISSING_FACTS_MAX);
	for (size_t i = 0; i < findings.n_wanted; i++)
		ck_assert(findings.wanted[i].fact >= TP_FACT_STEP_COMPUTE &&
			  findings.wanted[i].fact <= TP_FACT_STEP_IDLE);
}
END_TEST

static void know_parts(void)
{
	for (int i = TP_FACT_STEP_COMPUTE; i <= TP_FACT_STEP_IDLE; i++)
		facts_set(facts, (enum tp_fact)i, 0);
	facts_set(facts, TP_FACT_STEP_DATALOADER, 0.6);
	facts_set(facts, TP_FACT_STEP_HOST, 0.3);
	facts_set(facts, TP_FACT_STEP_MEMORY, 0.1);
}

START_TEST(facts_with_larger_gains_are_asked_first)
{
	know_parts();
	shelf_put_rule(&shelf, "a", "cpu.steal_ratio > 1%", GAIN("memory"));
	shelf_put_rule(&shelf, "b", "loader.workers > 1", GAIN("dataloader"));
	shelf_put_rule(&shelf, "c", "cpu.idle_cpus > 1", GAIN("host"));
	advise();
	ck_assert_uint_eq(findings.n_wanted, 3);
	ck_assert_uint_eq(place_of(TP_FACT_LOADER_WORKERS), 0);
	ck_assert_uint_eq(place_of(TP_FACT_CPU_IDLE), 1);
	ck_assert_uint_eq(place_of(TP_FACT_CPU_STEAL), 2);
	ck_assert_uint_eq(findings.wanted[0].n_rules, 1);
}
END_TEST

START_TEST(a_known_fact_asks_for_the_rest_of_its_group)
{
	know_parts();
	facts_set(facts, TP_FACT_DEVICE_BUSY, 0.5);
	shelf_put_rule(&shelf, "a", "cpu.idle_cpus > 1", GAIN("host"));
	shelf_put_rule(&shelf, "b", "device.copy_ratio > 1%", GAIN("host"));
	advise();
	ck_assert_uint_eq(place_of(TP_FACT_DEVICE_COPY), 0);
	ck_assert_uint_eq(place_of(TP_FACT_CPU_IDLE), 1);
}
END_TEST

START_TEST(facts_without_gain_are_not_asked)
{
	know_parts();
	shelf_put_rule(&shelf, "a", "cpu.steal_ratio > 1%", GAIN("idle"));
	shelf_put_rule(&shelf, "b", "loader.workers > 1 and step.count > 500", GAIN("host"));
	advise();
	ck_assert_uint_eq(findings.n_wanted, 0);
	ck_assert_uint_eq(findings.n_not_judged, 1);
}
END_TEST

START_TEST(a_fact_that_may_be_unknown_is_not_asked_for)
{
	know_parts();
	shelf_put_rule(&shelf, "a",
		       "(not known(io.data_files) or io.data_files > 9) and cpu.idle_cpus > 1",
		       GAIN("host"));
	shelf_put_rule(&shelf, "b", "not known(io.data_files) or io.data_files > 9",
		       ", \"unless\": [{\"when\": \"cpu.idle_cpus > 3\", \"because\": \"b\"}]" GAIN(
			       "host"));
	advise();
	ck_assert_uint_eq(place_of(TP_FACT_CPU_IDLE), 0);
	ck_assert_uint_eq(findings.wanted[0].n_rules, 2);
}
END_TEST

START_TEST(missing_facts_of_a_parent_are_asked)
{
	know_parts();
	shelf_put_rule(&shelf, "above", "loader.workers > 1", GAIN("dataloader"));
	shelf_put_rule(&shelf, "below", "step.count > 1",
		       ", \"parent\": \"test/above\"" GAIN("dataloader"));
	advise();
	ck_assert_uint_eq(findings.n_wanted, 1);
	ck_assert_uint_eq(findings.wanted[0].fact, TP_FACT_LOADER_WORKERS);
	ck_assert_uint_eq(findings.wanted[0].n_rules, 2);
}
END_TEST

Suite *suite_advise_missing_facts(void);
Suite *suite_advise_missing_facts(void)
{
	Suite *suite = suite_create("advise_wanted");
	TCase *tcase = tcase_create("wanted");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, parts_come_first_while_there_is_no_verdict);
	tcase_add_test(tcase, facts_with_larger_gains_are_asked_first);
	tcase_add_test(tcase, a_known_fact_asks_for_the_rest_of_its_group);
	tcase_add_test(tcase, facts_without_gain_are_not_asked);
	tcase_add_test(tcase, a_fact_that_may_be_unknown_is_not_asked_for);
	tcase_add_test(tcase, missing_facts_of_a_parent_are_asked);
	suite_add_tcase(suite, tcase);
	return suite;
}
