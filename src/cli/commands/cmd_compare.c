/* SPDX-License-Identifier: Apache-2.0 */
/* trainprof compare: run two commands alternately until it is known which one is faster. */
#include "cli/options/command.h"

#include "cli/session/gate_runs.h"
#include "cli/session/pair_run.h"
#include "cli/session/recordings.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/version.h"
#include "trainprof/model/fact.h"
#include "trainprof/report/diff_text.h"
#include "trainprof/report/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct compare_options {
	uint64_t pairs; /* 0 = until decided */
	uint64_t warmup;
	uint64_t seed;
	uint64_t time_ns;
	double margin;
	struct tp_output_format format;
	const char *output;
};

/* docs/design/gate.md#pairs */
enum { PAIRS_MOST = 15, PAIRS_GIVEN_MAX = 200, REPEATS_MOST = 5 };

static const struct compare_options defaults = {
	.warmup = 1,
	.seed = 1,
	.time_ns = 1800 * TP_NS_PER_S,
	.margin = TP_GATE_DEFAULT_MARGIN,
	.format = {.word = "text"},
};

#define AT(member) .offset = offsetof(struct compare_options, member)

static const struct tp_option options[] = {
	{.name = "pairs",
	 .type = TP_OPTION_COUNT,
	 .value = "N",
	 .text = "so many pairs of runs",
	 .otherwise = "until decided, at most 15",
	 AT(pairs)},
	{.name = "margin",
	 .type = TP_OPTION_PERCENT,
	 .value = "P",
	 .text = "a smaller difference is none",
	 .otherwise = "3%",
	 AT(margin)},
	{.name = "time",
	 .type = TP_OPTION_DURATION,
	 .value = "TIME",
	 .text = "start no further pair after that long",
	 .otherwise = "30m",
	 AT(time_ns)},
	{.name = "warmup",
	 .type = TP_OPTION_COUNT,
	 .value = "N",
	 .text = "first runs of each that do not count",
	 .otherwise = "1",
	 AT(warmup)},
	{.name = "seed",
	 .type = TP_OPTION_COUNT,
	 .value = "N",
	 .text = "of the random order within pairs",
	 .otherwise = "1",
	 AT(seed)},
	TP_OUTPUT_FORMAT_ROWS(offsetof(struct compare_options, format), ""),
	{.letter = 'o',
	 .name = "output",
	 .type = TP_OPTION_TEXT,
	 .value = "DIR",
	 .text = "keep the recordings there",
	 .otherwise = "trainprof-MMDD-HHMMSS-compare",
	 AT(output)},
	TP_OPTION_END};

/* ---- the session ---- */

struct session {
	const struct compare_options *options;
	struct tp_pairs_plan plan;
	bool shows_progress;
	char **commands; /* A, B */
	char *directory;
	uint64_t started_ns;
	uint64_t random;
	struct tp_gate_runs sides[2];
	tp_fact_id time; /* what is compared; tp_n_facts before it is known */
	struct tp_run_value values[2][PAIRS_GIVEN_MAX];
	size_t n_pairs; /* that count */
	size_t n_repeated;
	size_t n_disturbed; /* counted all the same */
	struct tp_gate_estimate ratio;
	enum tp_pairs_state state;
	int failed; /* side whose program failed; -1 = none */
	struct tp_pair_run end;
	char *log;
};

static const char *const sides[2] = {"A", "B"};

static void show_progress(const struct session *s, size_t pair, int side)
{
	if (!s->shows_progress)
		return;
	uint64_t passed = tp_clock_now_ns() - s->started_ns;
	size_t most = s->plan.fixed ? s->plan.fixed : s->plan.most;
	fprintf(stderr, "\r\033[Kpair %zu of %s%zu, %s runs", pair, s->plan.fixed ? "" : "at most ",
		most, sides[side]);
	if (s->n_pairs)
		fprintf(stderr, "; B takes %+.1f %% so far; %s left", 100 * (s->ratio.value - 1),
			tp_unit_elapsed(passed / s->n_pairs * (most - s->n_pairs)).text);
	fflush(stderr);
}

static void end_progress(const struct session *s)
{
	if (s->shows_progress)
		fputs("\r\033[K", stderr);
}

/* splitmix64; a bit of it. */
static int draw_side(struct session *s)
{
	uint64_t z = (s->random += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (int)((z ^ (z >> 31)) >> 63);
}

/* ---- one run ---- */

/* Measures; what went wrong with the program is in s->failed and s->end. */
static enum tp_status measure(struct session *s, int side, const char *name, struct tp_error *err)
{
	char *directory = tp_asprintf("%s/%s-%s", s->directory, name, sides[side]);
	free(s->log);
	s->log = tp_asprintf("%s.log", directory);
	enum tp_status status = tp_pair_run(&s->end, s->commands[side], directory, s->log, err);
	bool is_good =
		status == TP_OK && !s->end.is_interrupted && !s->end.exit_code && !s->end.signal;
	if (status == TP_OK && !is_good && !s->end.is_interrupted)
		s->failed = side;
	if (is_good) {
		const struct tp_analysis_session_options how = {.steps = "auto"};
		status = tp_gate_runs_add(&s->sides[side], directory, &how, true, err);
	}
	free(directory);
	return status;
}

static bool is_stopped(const struct session *s)
{
	return s->failed >= 0 || tp_pair_run_is_interrupted();
}

static bool is_over_time(const struct session *s)
{
	return tp_clock_now_ns() - s->started_ns >= s->options->time_ns;
}

/* ---- one pair ---- */

static double fact_of(const struct tp_run_values *run, tp_fact_id fact)
{
	return run->facts[fact].is_known ? run->facts[fact].value : 0;
}

/* Others took what the run wanted: the hypervisor, or programs for which its threads had to wait.
 */
static bool is_disturbed(const struct tp_run_values *run)
{
	return fact_of(run, TP_FACT_CPU_STEAL) > 0.05 ||
	       (fact_of(run, TP_FACT_CPU_OTHERS) > 0.25 && fact_of(run, TP_FACT_CPU_DELAY) > 0.05);
}

/* Steps if both programs have them, else the time from start to end; decided by the first pair. */
static void choose_time(struct session *s)
{
	bool has_steps = true;
	for (int side = 0; side < 2; side++)
		has_steps = has_steps && fact_of(s->sides[side].items[0], TP_FACT_STEP_TIME) > 0;
	s->time = has_steps ? TP_FACT_STEP_TIME : TP_FACT_RUN_DURATION;
}

static void drop_pair(struct session *s)
{
	for (int side = 0; side < 2; side++)
		s->sides[side].n = s->n_pairs;
}

static enum tp_status add_pair(struct session *s, struct tp_error *err)
{
	bool was_disturbed = false;
	if (s->time == tp_n_facts)
		choose_time(s);
	for (int side = 0; side < 2; side++) {
		const struct tp_run_values *run = s->sides[side].items[s->n_pairs];
		double value = fact_of(run, s->time);
		was_disturbed = was_disturbed || is_disturbed(run);
		if (!(value > 0)) {
			tp_fail(err, TP_PARSE, "%s: %s is unknown, but was known of runs before",
				run->name, tp_fact_desc(s->time)->name);
			return TP_PARSE;
		}
		s->values[side][s->n_pairs] = (struct tp_run_value){.value = value};
	}
	if (was_disturbed && s->n_repeated < REPEATS_MOST) {
		s->n_repeated++;
		drop_pair(s);
		return TP_OK;
	}
	s->n_disturbed += was_disturbed;
	s->n_pairs++;
	s->state = tp_pairs_judge(&s->ratio, s->values[0], s->values[1], s->n_pairs, &s->plan);
	return TP_OK;
}

static enum tp_status run_pair(struct session *s, const char *name, struct tp_error *err)
{
	enum tp_status status = TP_OK;
	int first = draw_side(s);
	for (int i = 0; i < 2 && status == TP_OK && !is_stopped(s); i++) {
		int side = i ? !first : first;
		show_progress(s, s->n_pairs + 1, side);
		status = measure(s, side, name, err);
	}
	return status;
}

/* Runs that only fill caches. */
static enum tp_status warm_up(struct session *s, struct tp_error *err)
{
	enum tp_status status = TP_OK;
	for (uint64_t i = 0; i < s->options->warmup && status == TP_OK && !is_stopped(s); i++) {
		char name[32];
		snprintf(name, sizeof(name), "warmup%llu", (unsigned long long)i + 1);
		status = run_pair(s, name, err);
		drop_pair(s);
	}
	return status;
}

static enum tp_status run_pairs(struct session *s, struct tp_error *err)
{
	enum tp_status status = warm_up(s, err);
	for (size_t i = 1; status == TP_OK && s->state == TP_PAIRS_MORE && !is_stopped(s) &&
			   (i == 1 || !is_over_time(s));
	     i++) {
		char name[32];
		snprintf(name, sizeof(name), "pair%zu", i);
		status = run_pair(s, name, err);
		if (status == TP_OK && !is_stopped(s))
			status = add_pair(s, err);
	}
	drop_pair(s); /* half of one */
	end_progress(s);
	return status;
}

/* ---- what came of it ---- */

static void describe_failed(struct tp_buf *out, const struct session *s)
{
	if (s->end.signal)
		tp_buf_printf(out, "%s was killed by signal %d", sides[s->failed], s->end.signal);
	else
		tp_buf_printf(out, "%s ended with exit status %d", sides[s->failed],
			      s->end.exit_code);
}

static void write_failed(struct tp_json_writer *w, const struct session *s)
{
	tp_json_write_key(w, "failed");
	tp_json_open(w, '{');
	tp_json_put_string(w, "side", sides[s->failed]);
	if (s->end.signal)
		tp_json_put_uint(w, "signal", (uint64_t)s->end.signal);
	else
		tp_json_put_uint(w, "exit_code", (uint64_t)s->end.exit_code);
	tp_json_put_string(w, "log", s->log);
	tp_json_close(w, '}');
}

static const char *state_name(enum tp_pairs_state state)
{
	static const char *const names[] = {"unfinished", "different", "alike", "undecided"};
	return names[state];
}

static void write_json(struct tp_json_writer *w, const struct session *s,
		       const struct tp_run_diff *diff)
{
	tp_json_open(w, '{');
	tp_json_put_string(w, "schema", "trainprof-pairs/1.0");
	tp_json_put_string(w, "version", tp_version());
	tp_json_put_string(w, "A", s->commands[0]);
	tp_json_put_string(w, "B", s->commands[1]);
	tp_json_put_string(w, "directory", s->directory);
	tp_json_put_uint(w, "seed", s->options->seed);
	tp_json_put_uint(w, "pairs", s->n_pairs);
	tp_json_put_uint(w, "repeated", s->n_repeated);
	tp_json_put_uint(w, "disturbed", s->n_disturbed);
	tp_json_put_bool(w, "is_interrupted", tp_pair_run_is_interrupted());
	tp_json_put_string(w, "verdict", state_name(s->state));
	if (s->failed >= 0)
		write_failed(w, s);
	if (diff) {
		tp_json_write_key(w, "difference");
		tp_report_diff_json(w, diff);
	}
	tp_json_close(w, '}');
}

static void describe_pairs(struct tp_buf *out, const struct session *s)
{
	if (s->state == TP_PAIRS_ALIKE)
		tp_buf_printf(out, "Both take the same time within %.3g %%. ",
			      100 * s->plan.margin_ratio);
	else if (s->state != TP_PAIRS_DIFFERENT && s->n_pairs > 1)
		tp_buf_printf(out, "Undecided; about %zu pairs more would decide. ",
			      tp_pairs_needed(&s->ratio, s->n_pairs, &s->plan));
	if (s->n_repeated)
		tp_buf_printf(out, "Disturbed by other programs and repeated: %zu. ",
			      s->n_repeated);
	if (s->n_disturbed)
		tp_buf_printf(out, "Disturbed, but counted: %zu. ", s->n_disturbed);
	if (tp_pair_run_is_interrupted())
		tp_buf_puts(out, "Interrupted. ");
	tp_buf_printf(out, "Recordings: %s", s->directory);
}

static int print_text(const struct tp_cli *cli, const struct session *s,
		      const struct tp_run_diff *diff)
{
	struct tp_report_style style = tp_terminal_style(cli, STDOUT_FILENO);
	struct tp_page page;
	struct tp_buf text = {0};
	if (style.width > 80)
		style.width = 80;
	tp_page_init(&page, &style);
	for (int side = 0; side < 2; side++) {
		tp_page_addf(&page, TP_PAINT_BOLD, "%s  ", sides[side]);
		tp_page_wrap(&page, 3, TP_PAINT_NONE, s->commands[side], 0);
	}
	tp_page_end(&page);
	tp_report_diff_text(&page, diff);
	tp_page_end(&page);
	describe_pairs(&text, s);
	tp_page_wrap(&page, 0, TP_PAINT_NONE, tp_buf_text(&text), 0);
	int status = tp_output_page(&page);
	tp_buf_release(&text);
	tp_page_release(&page);
	return status;
}

static int print(const struct tp_cli *cli, const struct session *s, const struct tp_run_diff *diff)
{
	const char *format = tp_output_format(&s->options->format);
	struct tp_json_writer w = {0};
	if (strcmp(format, "json") == 0) {
		write_json(&w, s, diff);
		return tp_output_buf(&w.out);
	}
	if (!diff)
		return TP_EXIT_OK;
	if (strcmp(format, "text") == 0)
		return print_text(cli, s, diff);
	tp_report_diff_markdown(&w.out, diff);
	tp_buf_putc(&w.out, '\n');
	describe_pairs(&w.out, s);
	tp_buf_putc(&w.out, '\n');
	return tp_output_buf(&w.out);
}

static int print_pairs(const struct tp_cli *cli, const struct session *s)
{
	struct tp_arena arena = {0};
	struct tp_run_diff *diff = tp_arena_alloc(&arena, sizeof(*diff));
	const struct tp_diff_request request = {
		.base = s->sides[0].items,
		.n_base = s->n_pairs,
		.now = s->sides[1].items,
		.n_now = s->n_pairs,
		.is_paired = true,
		.confidence = tp_pairs_confidence(&s->plan),
		.margin_ratio = s->plan.margin_ratio,
		.is_ignored = {true, true, true},
	};
	tp_run_diff_make(diff, &request, &arena);
	diff->n_unlike = 0; /* commands differ on purpose, and stand above */
	int status = print(cli, s, diff);
	tp_arena_release(&arena);
	if (status != TP_EXIT_OK)
		return status;
	return s->state == TP_PAIRS_DIFFERENT || s->state == TP_PAIRS_ALIKE ? TP_EXIT_OK
									    : TP_EXIT_UNDECIDED;
}

static int print_failed(const struct tp_cli *cli, const struct session *s)
{
	struct tp_buf text = {0};
	struct tp_buf next = {0};
	describe_failed(&text, s);
	tp_buf_printf(&next, "less %s", s->log);
	tp_message_print(tp_buf_text(&next), "%s: %s", tp_buf_text(&text), s->commands[s->failed]);
	tp_buf_release(&text);
	tp_buf_release(&next);
	(void)print(cli, s, NULL);
	return TP_EXIT_FILE;
}

static int print_result(const struct tp_cli *cli, const struct session *s)
{
	if (s->failed >= 0)
		return print_failed(cli, s);
	if (s->n_pairs)
		return print_pairs(cli, s);
	tp_message_print(NULL, "interrupted before the first pair was measured");
	(void)print(cli, s, NULL);
	return TP_EXIT_UNDECIDED;
}

/* ---- the command ---- */

static bool is_bad_usage(const struct compare_options *o, int argc)
{
	if (argc != 2)
		tp_message_print("trainprof compare -- 'CMD A' 'CMD B'",
				 "compare needs two commands, each as one word");
	else if (o->pairs == 1 || o->pairs == 2 || o->pairs > PAIRS_GIVEN_MAX)
		tp_message_print("trainprof compare --pairs=5 -- 'CMD A' 'CMD B'",
				 "--pairs=%llu: from 3 to %d", (unsigned long long)o->pairs,
				 PAIRS_GIVEN_MAX);
	else
		return false;
	return true;
}

static enum tp_status make_directory(struct session *s, struct tp_error *err)
{
	if (s->options->output) {
		s->directory = tp_strdup(s->options->output);
	} else {
		char *name = tp_recordings_new_name();
		s->directory = tp_asprintf("%s-compare", name);
		free(name);
	}
	enum tp_status status = tp_recordings_check_room(s->directory, err);
	if (status != TP_OK || mkdir(s->directory, 0777) == 0)
		return status;
	return tp_fail_errno(err, errno, "cannot create '%s'", s->directory);
}

static void release(struct session *s)
{
	tp_gate_runs_release(&s->sides[0]);
	tp_gate_runs_release(&s->sides[1]);
	free(s->directory);
	free(s->log);
	free(s);
}

static int compare_exec(const struct tp_cli *cli, const void *opts, int argc, char **argv)
{
	const struct compare_options *o = opts;
	struct tp_error err = {0};
	if (is_bad_usage(o, argc))
		return TP_EXIT_USAGE;
	struct session *s = tp_alloc(sizeof(*s));
	*s = (struct session){
		.options = o,
		.plan = {.fixed = o->pairs, .most = PAIRS_MOST, .margin_ratio = o->margin},
		.shows_progress = !cli->is_quiet && isatty(STDERR_FILENO),
		.commands = argv,
		.started_ns = tp_clock_now_ns(),
		.random = o->seed,
		.time = tp_n_facts,
		.failed = -1,
	};
	tp_pair_run_watch();
	enum tp_status status = make_directory(s, &err);
	if (status == TP_OK)
		status = run_pairs(s, &err);
	int result = status == TP_OK ? print_result(cli, s) : tp_message_error_status(NULL, &err);
	release(s);
	return result;
}

const struct tp_command tp_cmd_compare = {
	.name = "compare",
	.group = "Compare",
	.synopsis = "[options] -- 'COMMAND A' 'COMMAND B'",
	.summary = "run two commands alternately until it is known which is faster",
	.intro = "Measure two commands of the shell in pairs, in random order within each pair, "
		 "and\n"
		 "compare them: steps if both have them, else the time from start to end. The "
		 "first\n"
		 "run of each does not count. Pairs that other programs disturbed are repeated.\n"
		 "Ctrl-C ends it with the verdict so far. What the programs print is kept beside\n"
		 "their recordings.",
	.examples = "  trainprof compare -- './train --workers 2' './train --workers 4'\n"
		    "  trainprof compare --pairs=5 --json -- 'python3 old.py' 'python3 new.py'",
	.ending =
		"Exit status: 0 decided (different, or alike within the margin), 3 undecided, 4 a\n"
		"program failed.",
	.options = options,
	.storage_size = sizeof(struct compare_options),
	.defaults = &defaults,
	.max_words = 3,
	.exec = compare_exec,
};
