/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of sentences that contain numbers. */
#include "advise/condition/sentence.h"
#include "advise/shelf.h"

#include "trainprof/model/fact.h"

#include <check.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

static struct tp_arena arena;
static struct tp_quantity facts[TP_N_FACTS];
static const struct tp_thresholds none;

static void setup(void)
{
	tp_arena_init(&arena);
	facts_init(facts);
}

static void teardown(void)
{
	tp_arena_release(&arena);
}

static enum tp_status parse(const char *text, const struct tp_sentence **out, struct tp_error *err)
{
	struct tp_expr_scope place = {.file = "x", .line = 3, .thresholds = &none, .arena = &arena};
	return tp_sentence_parse(out, text, &place, err);
}

static const char *filled(const char *text)
{
	const struct tp_sentence *words = NULL;
	struct tp_error err = {0};
	ck_assert_msg(!parse(text, &words, &err), "%s", err.text);
	const struct tp_sentence_words terms = {.whole = "each step", .others = "cc1 (pid 9)"};
	return tp_sentence_fill(words, facts, &terms, &arena);
}

START_TEST(the_unit_of_a_fact_decides_how_it_is_written)
{
	static const struct {
		enum tp_fact fact;
		double value;
		const char *text;
	} rows[] = {
		{TP_FACT_STEP_COMPUTE, 0.39, "39 %"},
		{TP_FACT_STEP_COMPUTE, 0.394, "39 %"},
		{TP_FACT_STEP_COMPUTE, 0.004, "0.4 %"},
		{TP_FACT_STEP_COMPUTE, 0, "0 %"},
		{TP_FACT_STEP_COMPUTE, 1, "100 %"},
		{TP_FACT_STEP_TIME, 19.84e6, "19.8 ms"},
		{TP_FACT_STEP_TIME, 640, "640 ns"},
		{TP_FACT_STEP_TIME, 999.96e6, "1.0 s"},
		{TP_FACT_STEP_TIME, 120e9, "120 s"},
		{TP_FACT_MEM_RSS, 2147483648.0, "2.0 GiB"},
		{TP_FACT_MEM_RSS, 512, "512 B"},
		{TP_FACT_STEP_COUNT, 1201, "1,201"},
		{TP_FACT_STEP_COUNT, 1234567, "1,234,567"},
		{TP_FACT_CPU_IDLE, 50.2, "50"},
		{TP_FACT_CPU_IDLE, 1.94, "1.9"},
		{TP_FACT_CPU_IDLE, 2, "2"},
		{TP_FACT_MEM_MINFLT, 5600, "5,600/s"},
		{TP_FACT_IO_READ, 125829120, "120 MiB/s"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[64];
		snprintf(text, sizeof(text), "<{%s}>", tp_fact_desc(rows[i].fact)->name);
		facts_set(facts, rows[i].fact, rows[i].value);
		char expected[64];
		snprintf(expected, sizeof(expected), "<%s>", rows[i].text);
		ck_assert_str_eq(filled(text), expected);
	}
}
END_TEST

START_TEST(expressions_and_formats_fill_a_sentence)
{
	facts_set(facts, TP_FACT_LOADER_WORKERS, 2);
	facts_set(facts, TP_FACT_STEP_DATALOADER, 0.4);
	ck_assert_str_eq(filled("from {loader.workers} to "
				"{ceil(loader.workers / (1 - step.dataloader_ratio))|count}."),
			 "from 2 to 4.");
	ck_assert_str_eq(filled("{step.dataloader_ratio} of {whole}"), "40 % of each step");
	ck_assert_str_eq(filled("{1 + step.dataloader_ratio|number} times"), "1.4 times");
	ck_assert_str_eq(filled("{-loader.workers}"), "-2");
	ck_assert_str_eq(filled("no number"), "no number");
	ck_assert_str_eq(filled(""), "");
}
END_TEST

START_TEST(a_second_part_is_named_only_if_it_is_large)
{
	facts_set(facts, TP_FACT_STEP_DATALOADER, 0.4);
	ck_assert_str_eq(filled("{step.dataloader_ratio} of {whole}{beside}."),
			 "40 % of each step.");
	facts_set(facts, tp_fact_find("step.host_ratio"), 0.45);
	facts_set(facts, tp_fact_find("step.compute_ratio"), 0.12);
	ck_assert_str_eq(filled("{step.dataloader_ratio} of {whole}{beside}."),
			 "40 % of each step; compute 12 %.");
	facts_set(facts, tp_fact_find("step.compute_ratio"), 0.003);
	ck_assert_str_eq(filled("{step.dataloader_ratio} of {whole}{beside}."),
			 "40 % of each step; other work of the CPU 45 %.");
	facts_set(facts, TP_FACT_STEP_PREP, 0.3);
	facts_set(facts, tp_fact_find("step.host_ratio"), 0.1);
	ck_assert_str_eq(filled("{step.dataloader_prep_ratio} of {whole}{beside}."),
			 "30 % of each step; other work of the CPU 10 %.");
	facts_set(facts, tp_fact_find("step.idle_ratio"), 0.2);
	ck_assert_str_eq(filled("{step.dataloader_prep_ratio} of {whole}{beside}."),
			 "30 % of each step; waiting 20 %.");
	facts_set(facts, tp_fact_find("step.idle_runnable_ratio"), 0.15);
	ck_assert_str_eq(filled("{step.dataloader_prep_ratio} of {whole}{beside}."),
			 "30 % of each step; waiting for a CPU 15 %.");
	ck_assert_str_eq(filled("stop {others}{others_cpus}"), "stop cc1 (pid 9)");
}
END_TEST

START_TEST(words_agree_with_the_number_as_it_is_written)
{
	static const struct {
		const char *text;
		double value;
		const char *filled;
	} rows[] = {
		{"{loader.workers|count|worker|workers}", 1, "1 worker"},
		{"{loader.workers|count|worker|workers}", 0.99, "1 worker"},
		{"{loader.workers|count|worker|workers}", 0, "0 workers"},
		{"{loader.workers|count|worker|workers}", 2, "2 workers"},
		{"{loader.workers|count|worker|workers}", 11, "11 workers"},
		{"{loader.workers|count|worker|workers}", 1001, "1,001 workers"},
		{"{loader.workers||CPU idles|CPUs idle}", 1, "1 CPU idles"},
		{"{loader.workers||CPU idles|CPUs idle}", 0.99, "1.0 CPUs idle"},
		{"{loader.workers||CPU idles|CPUs idle}", 0.8, "0.8 CPUs idle"},
		{"on {loader.workers|number|thread of its own|threads of their own}.", 1,
		 "on 1 thread of its own."},
		{"on {loader.workers|number|thread of its own|threads of their own}.", -1,
		 "on -1 threads of their own."},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		facts_set(facts, TP_FACT_LOADER_WORKERS, rows[i].value);
		ck_assert_str_eq(filled(rows[i].text), rows[i].filled);
	}
}
END_TEST

START_TEST(loader_settings_are_named_if_the_object_was_read)
{
	facts_set(facts, TP_FACT_LOADER_WORKERS, 2);
	ck_assert_str_eq(filled("Use more.{settings}"), "Use more.");
	facts_set(facts, TP_FACT_LOADER_PERSISTENT, 0);
	facts_set(facts, TP_FACT_LOADER_PREFETCH, 4);
	ck_assert_str_eq(filled("Use more.{settings}"),
			 "Use more. Set now: persistent_workers=False, num_workers=2, "
			 "prefetch_factor=4.");
}
END_TEST

START_TEST(an_unknown_number_makes_no_sentence)
{
	ck_assert_ptr_null(filled("{loader.workers} workers"));
}
END_TEST

START_TEST(the_decimal_point_is_a_point_everywhere)
{
	/* This checks something only if the locale is installed. */
	setlocale(LC_ALL, "de_DE.UTF-8");
	facts_set(facts, TP_FACT_CPU_IDLE, 1.94);
	ck_assert_str_eq(filled("{cpu.idle_cpus} {1.5|number}"), "1.9 1.5");
	setlocale(LC_ALL, "C");
}
END_TEST

START_TEST(bad_sentences_are_refused)
{
	static const struct {
		const char *text;
		const char *said;
	} rows[] = {{"{step.count", "x:3: unmatched brace"},
		    {"step.count}", "unmatched brace"},
		    {"{{step.count}}", "unmatched brace"},
		    {"{step.cuont}", "no fact 'step.cuont'; nearest: step.count"},
		    {"{step.count|furlong}", "no format 'furlong'"},
		    {"{step.count|}", "no format ''"},
		    {"{step.count|count|step}", "two words, singular and plural, not 'step'"},
		    {"{step.count|count|step|}", "two words, singular and plural, not 'step|'"},
		    {"{step.count|count||steps}", "two words, singular and plural, not '|steps'"},
		    {"{step.count|count|a|b|c}", "two words, singular and plural, not 'a|b|c'"},
		    {"{step.count|furlong|a|b}", "no format 'furlong'"},
		    {"{step.count > 3}", "a number is needed here"},
		    {"{}", "expected"}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct tp_sentence *words = NULL;
		struct tp_error err = {0};
		ck_assert_int_eq(parse(rows[i].text, &words, &err), TP_PARSE);
		ck_assert_msg(strstr(err.text, rows[i].said) != NULL, "%s: %s", rows[i].text,
			      err.text);
	}
}
END_TEST

Suite *suite_advise_sentence(void);
Suite *suite_advise_sentence(void)
{
	Suite *suite = suite_create("advise_sentence");
	TCase *tcase = tcase_create("sentence");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, the_unit_of_a_fact_decides_how_it_is_written);
	tcase_add_test(tcase, expressions_and_formats_fill_a_sentence);
	tcase_add_test(tcase, a_second_part_is_named_only_if_it_is_large);
	tcase_add_test(tcase, words_agree_with_the_number_as_it_is_written);
	tcase_add_test(tcase, loader_settings_are_named_if_the_object_was_read);
	tcase_add_test(tcase, an_unknown_number_makes_no_sentence);
	tcase_add_test(tcase, the_decimal_point_is_a_point_everywhere);
	tcase_add_test(tcase, bad_sentences_are_refused);
	suite_add_tcase(suite, tcase);
	return suite;
}
