/* SPDX-License-Identifier: Apache-2.0 */
/* Options match exactly, values have units, and every error message names the correction. */
#include "cli/options/options.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct storage {
	bool flag;
	unsigned verbosity;
	const char *text;
	const char *choice;
	uint64_t duration_ns;
	uint64_t size;
	double percent;
	double rate;
	uint64_t count;
	struct tp_words words;
};

static const char *const choices[] = {"short", "full", "none", NULL};

#define AT(member) .offset = offsetof(struct storage, member)
static const struct tp_option options[] = {
	{.letter = 'f', .name = "flag", .type = TP_OPTION_FLAG, AT(flag)},
	{.letter = 'v', .name = "verbose", .type = TP_OPTION_COUNTED, AT(verbosity)},
	{.letter = 'o', .name = "output", .type = TP_OPTION_TEXT, .value = "DIR", AT(text)},
	{.name = "summary",
	 .type = TP_OPTION_CHOICE,
	 .value = "HOW",
	 .choices = choices,
	 AT(choice)},
	{.letter = 'd',
	 .name = "duration",
	 .type = TP_OPTION_DURATION,
	 .value = "TIME",
	 AT(duration_ns)},
	{.name = "max-size", .type = TP_OPTION_SIZE, .value = "SIZE", AT(size)},
	{.name = "max-overhead", .type = TP_OPTION_PERCENT, .value = "P", AT(percent)},
	{.name = "rate", .type = TP_OPTION_RATE, .value = "HZ", AT(rate)},
	{.name = "skip", .type = TP_OPTION_COUNT, .value = "N", AT(count)},
	{.name = "env", .type = TP_OPTION_WORDS, .value = "NAME", AT(words)},
	TP_OPTION_END};

struct parsed {
	struct storage storage;
	const char *words[4];
	size_t n_words;
	size_t n_used;
	enum tp_status status;
	struct tp_error err;
};

/* A command line as words separated by spaces. */
static struct parsed parse(const char *line, bool stops_at_word)
{
	static char copy[400];
	char *argv[80];
	int argc = 0;
	struct parsed out = {0};
	snprintf(copy, sizeof(copy), "%s", line);
	char *state = NULL;
	for (char *word = strtok_r(copy, " ", &state); word; word = strtok_r(NULL, " ", &state))
		argv[argc++] = word;
	argv[argc] = NULL;
	const struct tp_option_set set = {options, &out.storage};
	struct tp_parse how = {.command = "run",
			       .sets = &set,
			       .n_sets = 1,
			       .stops_at_word = stops_at_word,
			       .words = out.words,
			       .max_words = 4};
	out.status = tp_options_parse(&how, argc, argv, &out.err);
	out.n_words = how.n_words;
	out.n_used = how.n_used;
	return out;
}

START_TEST(values_are_read_in_both_forms)
{
	struct parsed p = parse("--flag -vv -o prof --summary=full -d90s --max-size 2GiB "
				"--max-overhead=0.5% --rate=199Hz --skip 50 --env A --env=B",
				true);
	ck_assert_int_eq(p.status, TP_OK);
	ck_assert(p.storage.flag);
	ck_assert_uint_eq(p.storage.verbosity, 2);
	ck_assert_str_eq(p.storage.text, "prof");
	ck_assert_str_eq(p.storage.choice, "full");
	ck_assert_uint_eq(p.storage.duration_ns, UINT64_C(90000000000));
	ck_assert_uint_eq(p.storage.size, UINT64_C(2147483648));
	ck_assert_double_eq(p.storage.percent, 0.005);
	ck_assert_double_eq(p.storage.rate, 199);
	ck_assert_uint_eq(p.storage.count, 50);
	ck_assert_uint_eq(p.storage.words.n, 2);
	ck_assert_str_eq(p.storage.words.items[1], "B");
}
END_TEST

START_TEST(last_one_wins_and_no_clears_a_flag)
{
	struct parsed p = parse("--skip 1 --skip 2 --flag --no-flag", true);
	ck_assert_int_eq(p.status, TP_OK);
	ck_assert_uint_eq(p.storage.count, 2);
	ck_assert(!p.storage.flag);
}
END_TEST

START_TEST(options_after_the_program_belong_to_it)
{
	struct parsed p = parse("--flag ./train --flag --unknown -x", true);
	ck_assert_int_eq(p.status, TP_OK);
	ck_assert_uint_eq(p.n_used, 1);
	p = parse("-- --flag", true);
	ck_assert_int_eq(p.status, TP_OK);
	ck_assert_uint_eq(p.n_used, 1);
	ck_assert(!p.storage.flag);
}
END_TEST

START_TEST(words_and_options_mix_where_no_program_follows)
{
	struct parsed p = parse("prof --flag 1 - -- --rate", false);
	ck_assert_int_eq(p.status, TP_OK);
	ck_assert(p.storage.flag);
	ck_assert_uint_eq(p.n_words, 4);
	ck_assert_str_eq(p.words[0], "prof");
	ck_assert_str_eq(p.words[2], "-");
	ck_assert_str_eq(p.words[3], "--rate");
}
END_TEST

/* Settings files contain the number of uses, not one more use. */
START_TEST(count_of_uses_is_what_a_text_says)
{
	static const struct {
		const char *text;
		enum tp_status status;
		unsigned verbosity;
	} cases[] = {
		{"0", TP_OK, 0},        {"2", TP_OK, 2},     {"99", TP_OK, 99},
		{"100", TP_USAGE, 1},   {"-1", TP_USAGE, 1}, {"4294967297", TP_USAGE, 1},
		{"false", TP_USAGE, 1}, {"", TP_USAGE, 1},   {NULL, TP_OK, 2},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct storage storage = {.verbosity = 1};
		struct tp_error err = {0};
		const struct tp_option *option = tp_option_find(options, "verbose");
		ck_assert_int_eq(tp_option_set(option, &storage, cases[i].text, "f:1", &err),
				 cases[i].status);
		ck_assert_uint_eq(storage.verbosity, cases[i].verbosity);
		if (cases[i].status != TP_OK)
			ck_assert_str_eq(err.text, "f:1: not a whole number below 100");
	}
}
END_TEST

/* Message and suggestion for every error. */
static const struct {
	const char *line;
	const char *text;
	const char *next;
} refusals[] = {
	{"--max-overhead=0%", "--max-overhead=0%: not a share above 0 such as 1%",
	 "trainprof help run"},
	{"--duraton=9s", "unknown option '--duraton'; nearest: --duration", "trainprof help run"},
	{"--fla", "unknown option '--fla'; nearest: --flag", "trainprof help run"},
	{"--zzzzzz=1", "unknown option '--zzzzzz'", "trainprof help run"},
	{"-x", "unknown option '-x'", "trainprof help run"},
	{"-fx", "unknown option '-x'", "trainprof help run"},
	{"--duration=90", "--duration=90: no unit; use 90s or 90ms",
	 "trainprof run --duration=90s -- …"},
	{"--max-size=2", "--max-size=2: no unit; use 2GiB or 2MiB",
	 "trainprof run --max-size=2GiB -- …"},
	{"--max-overhead=1", "--max-overhead=1: no unit; use 1%",
	 "trainprof run --max-overhead=1% -- …"},
	{"--duration=9parsecs",
	 "--duration=9parsecs: not a time such as 90s or 55ms (ns us ms s m h)",
	 "trainprof help run"},
	{"--duration=-9s", "--duration=-9s: not a time such as 90s or 55ms (ns us ms s m h)",
	 "trainprof help run"},
	{"--skip=many", "--skip=many: not a whole number", "trainprof help run"},
	{"--skip=-1", "--skip=-1: not a whole number", "trainprof help run"},
	{"--rate=fast", "--rate=fast: not a rate of 1 or more, such as 99 (Hz kHz)",
	 "trainprof help run"},
	{"--rate=0", "--rate=0: not a rate of 1 or more, such as 99 (Hz kHz)",
	 "trainprof help run"},
	{"--rate=0.1Hz", "--rate=0.1Hz: not a rate of 1 or more, such as 99 (Hz kHz)",
	 "trainprof help run"},
	{"--summary=shrt", "--summary=shrt: not one of short, full, none; nearest: short",
	 "trainprof run --summary=short -- …"},
	{"--summary -- ./train", "--summary needs one of short, full, none",
	 "trainprof run --summary=short -- …"},
	{"--summary=", "--summary=: not one of short, full, none", "trainprof help run"},
	{"--flag=yes", "--flag takes no value", "trainprof help run"},
	{"--no-output", "unknown option '--no-output'; nearest: --output", "trainprof help run"},
	{"--duration", "--duration needs a value: a time such as 90s or 55ms (ns us ms s m h)",
	 "trainprof help run"},
	{"-o", "--output needs a value: a text", "trainprof help run"},
	{"-o -- x", "--output needs a value: a text", "trainprof help run"},
	{"--output -- x", "--output needs a value: a text", "trainprof help run"},
};

START_TEST(refusals_say_what_to_type)
{
	struct parsed p = parse(refusals[_i].line, true);
	ck_assert_int_eq(p.status, TP_USAGE);
	ck_assert_str_eq(p.err.text, refusals[_i].text);
	ck_assert_str_eq(p.err.next, refusals[_i].next);
}
END_TEST

START_TEST(too_many_words_are_refused)
{
	struct parsed p = parse("a b c d e", false);
	ck_assert_int_eq(p.status, TP_USAGE);
	ck_assert_str_eq(p.err.text, "unexpected argument 'e'");
}
END_TEST

START_TEST(repeated_words_are_bounded)
{
	char line[400] = "";
	for (int i = 0; i < 30; i++)
		strcat(line, "--env A ");
	ck_assert_int_eq(parse(line, true).status, TP_OK);
	struct storage storage = {0};
	struct tp_error err = {0};
	const struct tp_option *env = tp_option_find(options, "env");
	for (int i = 0; i < 32; i++)
		ck_assert_int_eq(tp_option_set(env, &storage, "A", "--env=A", &err), TP_OK);
	ck_assert_int_eq(tp_option_set(env, &storage, "A", "--env=A", &err), TP_USAGE);
	ck_assert_uint_eq(storage.words.n, 32);
}
END_TEST

START_TEST(values_from_files_name_their_place)
{
	struct storage storage = {0};
	struct tp_error err = {0};
	const struct tp_option *flag = tp_option_find(options, "flag");
	ck_assert_int_eq(tp_option_set(flag, &storage, "true", "x.json:3: flag", &err), TP_OK);
	ck_assert(storage.flag);
	ck_assert_int_eq(tp_option_set(flag, &storage, "1", "x.json:3: flag", &err), TP_USAGE);
	ck_assert_str_eq(err.text, "x.json:3: flag: not true or false");
	ck_assert(storage.flag);
}
END_TEST

static enum tp_status refuse(const struct storage *given, const struct storage *usual,
			     const char *const *used, struct tp_error *err)
{
	return tp_option_refuse_unused(options, given, usual, used, "is of runs", err);
}

START_TEST(options_of_another_use_are_refused)
{
	static const struct storage usual = {.choice = "full", .percent = 0.03};
	static const char *const used[] = {"output", "skip", NULL};
	struct tp_error err = {0};
	for (const struct tp_option *option = options; option->name; option++) {
		static const char *const texts[] = {
			[TP_OPTION_TEXT] = "a",      [TP_OPTION_CHOICE] = "none",
			[TP_OPTION_DURATION] = "1s", [TP_OPTION_SIZE] = "1GiB",
			[TP_OPTION_PERCENT] = "4%",  [TP_OPTION_RATE] = "9",
			[TP_OPTION_COUNT] = "3",     [TP_OPTION_WORDS] = "A"};
		struct storage given = usual;
		const char *text = option->type <= TP_OPTION_COUNTED ? NULL : texts[option->type];
		bool is_used =
			strcmp(option->name, "output") == 0 || strcmp(option->name, "skip") == 0;
		ck_assert_int_eq(refuse(&given, &usual, used, &err), TP_OK);
		ck_assert_int_eq(tp_option_set(option, &given, text, "here", &err), TP_OK);
		ck_assert_int_eq(refuse(&given, &usual, used, &err), is_used ? TP_OK : TP_USAGE);
	}
	struct storage given = {.flag = true};
	ck_assert_int_eq(refuse(&given, NULL, used, &err), TP_USAGE);
	ck_assert_str_eq(err.text, "--flag is of runs");
	/* A default is one wherever its text is. */
	const char elsewhere[] = "full";
	given = (struct storage){.choice = elsewhere, .percent = usual.percent};
	ck_assert_int_eq(refuse(&given, &usual, used, &err), TP_OK);
}
END_TEST

Suite *suite_cli_options(void);
Suite *suite_cli_options(void)
{
	Suite *suite = suite_create("cli_options");
	TCase *tc = tcase_create("options");
	tcase_add_test(tc, values_are_read_in_both_forms);
	tcase_add_test(tc, last_one_wins_and_no_clears_a_flag);
	tcase_add_test(tc, count_of_uses_is_what_a_text_says);
	tcase_add_test(tc, options_after_the_program_belong_to_it);
	tcase_add_test(tc, words_and_options_mix_where_no_program_follows);
	tcase_add_loop_test(tc, refusals_say_what_to_type, 0,
			    (int)(sizeof(refusals) / sizeof(refusals[0])));
	tcase_add_test(tc, too_many_words_are_refused);
	tcase_add_test(tc, repeated_words_are_bounded);
	tcase_add_test(tc, values_from_files_name_their_place);
	tcase_add_test(tc, options_of_another_use_are_refused);
	suite_add_tcase(suite, tc);
	return suite;
}
