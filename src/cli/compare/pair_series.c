/* SPDX-License-Identifier: Apache-2.0 */
/* Runs pairs of two commands. */
#include "pair_series.h"

#include "cli/session/recordings.h"
#include "cli/terminal/messages.h"

#include "trainprof/base/memory.h"
#include "trainprof/report/diff_text.h"
#include "trainprof/report/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { REPEATS_MAX = 5 };

const char *const tp_pair_series_sides[2] = {"A", "B"};

void tp_pair_series_init(struct tp_pair_series *s, const struct tp_pair_series_options *options,
			 const char *a, const char *b, const char *directory, bool shows_progress)
{
	*s = (struct tp_pair_series){
		.options = options,
		.plan = {.fixed = options->pairs == TP_PAIRS_UNTIL_DECIDED ? 0 : options->pairs,
			 .most = TP_PAIRS_UNDECIDED_MAX,
			 .margin_ratio = options->margin_ratio},
		.shows_progress = shows_progress,
		.commands = {a, b},
		.directory = directory,
		.started_ns = tp_clock_now_ns(),
		.random = options->seed,
		.time = tp_n_facts,
		.failed = -1,
	};
}

void tp_pair_series_release(struct tp_pair_series *s)
{
	tp_gate_runs_release(&s->sides[0]);
	tp_gate_runs_release(&s->sides[1]);
	free(s->log);
	free(s->loader_log);
	tp_loader_log_release(&s->loader_said);
	s->log = NULL;
	s->loader_log = NULL;
}

enum tp_status tp_pair_series_check_count(uint64_t pairs, struct tp_error *err)
{
	if (pairs == TP_PAIRS_UNTIL_DECIDED ||
	    (pairs >= TP_PAIRS_GIVEN_MIN && pairs <= TP_PAIRS_GIVEN_MAX))
		return TP_OK;
	return tp_fail(err, TP_USAGE, "--pairs=%llu: from %d to %d", (unsigned long long)pairs,
		       TP_PAIRS_GIVEN_MIN, TP_PAIRS_GIVEN_MAX);
}

static void show_progress(const struct tp_pair_series *s, size_t pair, int side)
{
	if (!s->shows_progress)
		return;
	uint64_t passed = tp_clock_now_ns() - s->started_ns;
	size_t most = s->plan.fixed ? s->plan.fixed : s->plan.most;
	fprintf(stderr, "\r\033[Kpair %zu of %s%zu, %s runs", pair, s->plan.fixed ? "" : "at most ",
		most, tp_pair_series_sides[side]);
	if (s->n_pairs)
		fprintf(stderr, "; B takes %+.1f %% so far; %s left", 100 * (s->ratio.value - 1),
			tp_unit_elapsed(passed / s->n_pairs * (most - s->n_pairs)).text);
	fflush(stderr);
}

static void end_progress(const struct tp_pair_series *s)
{
	if (s->shows_progress)
		fputs("\r\033[K", stderr);
}

/* Returns one bit of splitmix64. */
static int draw_side(struct tp_pair_series *s)
{
	uint64_t z = (s->random += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (int)((z ^ (z >> 31)) >> 63);
}

/* ---- one run ---- */

/* The file is named for a program that may run in another folder. */
static struct tp_pair_command command_of(struct tp_pair_series *s, int side)
{
	struct tp_pair_command out = {.command = s->commands[side]};
	if (side != 1 || !s->loader)
		return out;
	if (!s->loader_log) {
		char *whole = realpath(s->directory, NULL);
		s->loader_log = tp_asprintf("%s/loader.log", whole ? whole : s->directory);
		free(whole);
	}
	out.loader = s->loader;
	out.loader_log = s->loader_log;
	return out;
}

/* Measures one run; a failure of the program is stored in s->failed and s->end. */
static enum tp_status measure(struct tp_pair_series *s, int side, const char *name,
			      struct tp_error *err)
{
	char *directory = tp_asprintf("%s/%s-%s", s->directory, name, tp_pair_series_sides[side]);
	free(s->log);
	s->log = tp_asprintf("%s.log", directory);
	const struct tp_pair_command command = command_of(s, side);
	enum tp_status status = tp_pair_run(&s->end, &command, directory, s->log, err);
	bool is_good =
		status == TP_OK && !s->end.is_interrupted && !s->end.exit_code && !s->end.signal;
	if (status == TP_OK && !is_good && !s->end.is_interrupted)
		s->failed = side;
	if (is_good && command.loader && !s->loader_said.is_known)
		tp_loader_log_read(&s->loader_said, s->loader_log);
	if (is_good) {
		const struct tp_cli quiet = {.is_quiet = true};
		const struct tp_analysis_session_options how = {.steps = "auto"};
		status = tp_gate_runs_add(&s->sides[side], &quiet, directory, &how, err);
	}
	free(directory);
	return status;
}

bool tp_pair_series_has_no_loader(const struct tp_pair_series *s)
{
	return s->loader_said.is_known && !s->loader_said.n_changed;
}

static bool is_stopped(const struct tp_pair_series *s)
{
	return s->failed >= 0 || tp_pair_series_has_no_loader(s) || tp_pair_run_is_interrupted();
}

static bool is_over_time(const struct tp_pair_series *s)
{
	return tp_clock_now_ns() - s->started_ns >= s->options->time_ns;
}

/* ---- one pair ---- */

static double fact_of(const struct tp_run_values *run, tp_fact_id fact)
{
	return run->facts[fact].is_known ? run->facts[fact].value : 0;
}

/* True if the hypervisor, or programs that made the threads of the run wait, took CPU time from
 * it. */
static bool is_disturbed(const struct tp_run_values *run)
{
	return fact_of(run, TP_FACT_CPU_STEAL) > TP_PAIR_STEAL_MAX ||
	       (fact_of(run, TP_FACT_CPU_OTHERS) > TP_PAIR_OTHERS_MAX &&
		fact_of(run, TP_FACT_CPU_DELAY) > TP_PAIR_DELAY_MAX);
}

static void note_value(struct tp_pair_series *s, int side, size_t pair)
{
	double value = fact_of(s->sides[side].items[pair], s->time);
	s->values[side][pair] = (struct tp_run_value){.value = value};
}

/* Compares step times while all runs have them, else the time from start to end, also for earlier
 * pairs. */
static void choose_time(struct tp_pair_series *s)
{
	bool has_steps = s->time != TP_FACT_RUN_DURATION;
	for (int side = 0; side < 2; side++)
		has_steps = has_steps &&
			    fact_of(s->sides[side].items[s->n_pairs], TP_FACT_STEP_TIME) > 0;
	tp_fact_id time = has_steps ? TP_FACT_STEP_TIME : TP_FACT_RUN_DURATION;
	if (s->time == time)
		return;
	s->time = time;
	for (size_t pair = 0; pair < s->n_pairs; pair++)
		for (int side = 0; side < 2; side++)
			note_value(s, side, pair);
}

static void drop_pair(struct tp_pair_series *s)
{
	for (int side = 0; side < 2; side++)
		s->sides[side].n = s->n_pairs;
}

static enum tp_status add_pair(struct tp_pair_series *s, struct tp_error *err)
{
	bool was_disturbed = false;
	choose_time(s);
	for (int side = 0; side < 2; side++) {
		const struct tp_run_values *run = s->sides[side].items[s->n_pairs];
		was_disturbed = was_disturbed || is_disturbed(run);
		note_value(s, side, s->n_pairs);
		if (!(s->values[side][s->n_pairs].value > 0))
			return tp_fail(err, TP_PARSE, "%s: how long it took is unknown", run->name);
	}
	if (was_disturbed && s->n_repeated < REPEATS_MAX && !is_over_time(s)) {
		s->n_repeated++;
		drop_pair(s);
		return TP_OK;
	}
	s->n_disturbed += was_disturbed;
	s->n_pairs++;
	s->state = tp_pairs_judge(&s->ratio, s->values[0], s->values[1], s->is_b_first, s->n_pairs,
				  &s->plan);
	return TP_OK;
}

static enum tp_status run_pair(struct tp_pair_series *s, const char *name, struct tp_error *err)
{
	enum tp_status status = TP_OK;
	int first = draw_side(s);
	s->is_b_first[s->n_pairs] = first == 1;
	for (int i = 0; i < 2 && status == TP_OK && !is_stopped(s); i++) {
		int side = i ? !first : first;
		show_progress(s, s->n_pairs + 1, side);
		status = measure(s, side, name, err);
	}
	return status;
}

/* Runs that only fill caches. */
static enum tp_status warm_up(struct tp_pair_series *s, struct tp_error *err)
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

/* The time is over. It ended a given number of pairs, not a result that was welcome: those that
 * were measured are judged once, as the given number would have been. */
static void judge_late(struct tp_pair_series *s)
{
	if (s->plan.fixed) {
		s->plan.fixed = s->n_pairs > TP_PAIRS_LEAST ? s->n_pairs : TP_PAIRS_LEAST;
		s->state = tp_pairs_judge(&s->ratio, s->values[0], s->values[1], s->is_b_first,
					  s->n_pairs, &s->plan);
	}
	if (s->state == TP_PAIRS_MORE)
		s->state = TP_PAIRS_UNDECIDED;
}

/* The result of usual steps holds for the program only if its special steps do not contradict it:
 * one that saves checkpoints twice as often takes longer, and its usual steps are alike. */
static void hold_against_special_steps(struct tp_pair_series *s)
{
	const struct tp_diff_request request = {.base = s->sides[0].items,
						.n_base = s->n_pairs,
						.now = s->sides[1].items,
						.n_now = s->n_pairs};
	bool is_decided = s->state == TP_PAIRS_DIFFERENT || s->state == TP_PAIRS_ALIKE;
	if (!is_decided || s->time != TP_FACT_STEP_TIME)
		return;
	s->hides_special =
		tp_pairs_hide_special(s->state, s->ratio.value, tp_gate_special_ratio(&request));
	if (s->hides_special)
		s->state = TP_PAIRS_UNDECIDED;
}

enum tp_status tp_pair_series_run(struct tp_pair_series *s, struct tp_error *err)
{
	enum tp_status status = warm_up(s, err);
	for (size_t i = 1; status == TP_OK && s->state == TP_PAIRS_MORE && !is_stopped(s) &&
			   (!s->n_pairs || !is_over_time(s));
	     i++) {
		char name[32];
		snprintf(name, sizeof(name), "pair%zu", i);
		status = run_pair(s, name, err);
		if (status == TP_OK && !is_stopped(s))
			status = add_pair(s, err);
	}
	drop_pair(s); /* half of a pair */
	if (status == TP_OK && s->state == TP_PAIRS_MORE && !is_stopped(s))
		judge_late(s);
	hold_against_special_steps(s);
	end_progress(s);
	return status;
}

/* ---- result ---- */

void tp_pair_series_describe_failed(struct tp_buf *out, const struct tp_pair_series *s)
{
	if (s->end.signal)
		tp_buf_printf(out, "%s was killed by signal %d", tp_pair_series_sides[s->failed],
			      s->end.signal);
	else
		tp_buf_printf(out, "%s ended with exit status %d", tp_pair_series_sides[s->failed],
			      s->end.exit_code);
}

static void write_failed(struct tp_json_writer *w, const struct tp_pair_series *s)
{
	tp_json_write_key(w, "failed");
	tp_json_open(w, '{');
	tp_json_put_string(w, "side", tp_pair_series_sides[s->failed]);
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

void tp_pair_series_write(struct tp_json_writer *w, const struct tp_pair_series *s,
			  const struct tp_run_diff *diff)
{
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
}

void tp_pair_series_describe(struct tp_buf *out, const struct tp_pair_series *s)
{
	if (s->state == TP_PAIRS_ALIKE)
		tp_buf_printf(out, "Both take the same time within %.3g %%. ",
			      100 * s->plan.margin_ratio);
	else if (s->hides_special)
		tp_buf_puts(out,
			    "Undecided: usual steps are compared, and checkpoints, evaluations "
			    "or slow steps take another share of the loop; more pairs would "
			    "not decide. ");
	else if (s->state != TP_PAIRS_DIFFERENT && s->n_pairs > 1)
		tp_buf_printf(out, "Undecided; about %s more would decide. ",
			      tp_unit_counted(tp_pairs_needed(&s->ratio, s->n_pairs, &s->plan),
					      "pair")
				      .text);
	if (s->n_repeated)
		tp_buf_printf(out, "Disturbed by other programs and repeated: %zu. ",
			      s->n_repeated);
	if (s->n_disturbed)
		tp_buf_printf(out, "Disturbed, but counted: %zu. ", s->n_disturbed);
	if (tp_pair_run_is_interrupted())
		tp_buf_puts(out, "Interrupted. ");
	tp_buf_printf(out, "Recordings: %s", s->directory);
}

void tp_pair_series_print_failed(const struct tp_pair_series *s)
{
	struct tp_buf text = {0};
	struct tp_buf next = {0};
	tp_pair_series_describe_failed(&text, s);
	tp_buf_printf(&next, "less %s", s->log);
	tp_message_print(tp_buf_text(&next), "%s: %s", tp_buf_text(&text), s->commands[s->failed]);
	tp_buf_release(&text);
	tp_buf_release(&next);
}

/* Nothing is decided: what the pairs measured is shown, and nothing of it is called sure. */
static void judge_nothing(struct tp_run_diff *diff)
{
	diff->is_unfinished = true;
	diff->step.is_sure = diff->ratio.is_sure = false;
	for (int i = 0; i < TP_N_PARTS; i++)
		diff->parts[i].is_sure = false;
}

void tp_pair_series_diff(struct tp_run_diff *out, const struct tp_pair_series *s,
			 struct tp_arena *arena)
{
	const struct tp_diff_request request = {
		.base = s->sides[0].items,
		.n_base = s->n_pairs,
		.now = s->sides[1].items,
		.n_now = s->n_pairs,
		.is_paired = true,
		.is_now_first = s->is_b_first,
		.confidence = tp_pairs_confidence(&s->plan),
		.margin_ratio = s->plan.margin_ratio,
		.is_ignored = {true, true, true},
	};
	tp_run_diff_make(out, &request, arena);
	out->n_unlike = 0; /* commands differ on purpose */
	if (s->n_pairs < TP_PAIRS_LEAST || s->hides_special)
		judge_nothing(out);
}

enum tp_status tp_pair_series_make_directory(char **out, const char *given, const char *ending,
					     struct tp_error *err)
{
	if (given) {
		*out = tp_strdup(given);
	} else {
		*out = tp_recordings_new_name(ending);
	}
	enum tp_status status = tp_recordings_check_room(*out, err);
	if (status != TP_OK)
		tp_error_next(err, "trainprof %s -o /tmp/pairs …", ending + 1);
	if (status != TP_OK || mkdir(*out, 0777) == 0)
		return status;
	return tp_fail_errno(err, errno, "cannot create '%s'", *out);
}
