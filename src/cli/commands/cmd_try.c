/* SPDX-License-Identifier: Apache-2.0 */
/* trainprof try: measures the effect of advice, without changing the program's code. */
#include "cli/options/command.h"

#include "cli/compare/pair_series.h"
#include "cli/compare/trial_check.h"
#include "cli/session/analysis_session.h"
#include "cli/session/recording_read.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/secret.h"
#include "trainprof/base/text.h"
#include "trainprof/base/version.h"
#include "trainprof/report/trial_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct try_options {
	bool is_all;
	uint64_t budget_ns; /* of all trials together; 0 = none */
	struct tp_pair_series_options series;
	struct tp_output_format format;
	const char *output;
	struct tp_analysis_session_options how;
};

static const struct try_options defaults = {.series = TP_PAIR_SERIES_DEFAULTS,
					    .format = {.word = "text"},
					    .how = {.steps = "auto"}};

#define AT(member) .offset = offsetof(struct try_options, member)

static const struct tp_option options[] = {
	{.name = "all",
	 .type = TP_OPTION_FLAG,
	 .text = "try each advice, then all that helped together",
	 AT(is_all)},
	{.name = "budget",
	 .type = TP_OPTION_DURATION,
	 .value = "TIME",
	 .text = "with --all: time for all trials together, shared among them",
	 .otherwise = "none",
	 AT(budget_ns)},
	TP_PAIR_SERIES_ROWS(offsetof(struct try_options, series), "pairs of runs for each",
			    "start no new pair of an advice after that long"),
	TP_OUTPUT_FORMAT_ROWS(offsetof(struct try_options, format), ""),
	{.letter = 'o',
	 .name = "output",
	 .type = TP_OPTION_TEXT,
	 .value = "DIR",
	 .text = "keep the recordings there",
	 .otherwise = ".trainprof/MMDD-HHMMSS-try",
	 AT(output)},
	TP_READING_ROWS(offsetof(struct try_options, how)),
	TP_OPTION_END};

struct session {
	const struct try_options *options;
	struct tp_analysis_session reading;
	struct tp_arena arena;
	const char *folder; /* "cd FOLDER && ", or "" */
	char *directory;    /* for the new recordings; heap */
	bool shows_progress;
	struct tp_trial *trials; /* heap */
	size_t n_trials;
	size_t trials_capacity;
	struct tp_buf helped; /* prefixes of all trials that were faster */
	struct tp_buf helped_loader;
	size_t n_helped;
	uint64_t deadline_ns; /* of the budget; 0 = none */
	size_t n_waiting;     /* trials that still want a share of the budget */
};

/* The change that a trial makes to the program; NULL = it makes none. */
struct way {
	const char *prefix; /* before the command */
	const char *loader; /* settings of its DataLoader */
};

/* ---- the program ---- */

/* The reason why the program of the recording cannot be started again; NULL = it can. */
static const char *restart_error(const struct tp_run_info *run)
{
	if (run->mode == TP_MODE_IMPORT)
		return "it is of an imported trace: trainprof does not know the program's command";
	if (run->mode != TP_MODE_RUN || !run->n_command)
		return "it is of a program that ran already: how it was started is not known";
	for (size_t i = 0; i < run->n_command; i++)
		if (strstr(run->command[i], TP_SECRET_MASK))
			return "a secret in its command was not stored: use trainprof compare";
	return NULL;
}

static void describe_program(struct session *s)
{
	const struct tp_run_info *run = &s->reading.trace.run;
	struct tp_buf text = {0};
	char here[4096];
	if (run->directory && getcwd(here, sizeof(here)) && strcmp(here, run->directory) != 0) {
		tp_buf_puts(&text, "cd ");
		tp_text_add_word(&text, run->directory);
		tp_buf_puts(&text, " && ");
	}
	s->folder = tp_arena_strdup(&s->arena, tp_buf_text(&text));
	tp_buf_release(&text);
}

static const char *command_with(struct session *s, const char *folder, const char *prefix)
{
	struct tp_buf text = {0};
	tp_buf_puts(&text, folder);
	tp_run_info_add_command(&text, &s->reading.trace.run, prefix);
	const char *copy = tp_arena_strdup(&s->arena, tp_buf_text(&text));
	tp_buf_release(&text);
	return copy;
}

/* ---- one trial ---- */

static enum tp_trial_state state_of(const struct tp_pair_series *series)
{
	if (series->state == TP_PAIRS_ALIKE)
		return TP_TRIAL_ALIKE;
	if (series->state != TP_PAIRS_DIFFERENT)
		return TP_TRIAL_UNDECIDED;
	return series->ratio.value < 1 ? TP_TRIAL_FASTER : TP_TRIAL_SLOWER;
}

static void note_failed(struct session *s, struct tp_trial *trial,
			const struct tp_pair_series *series)
{
	struct tp_buf text = {0};
	tp_pair_series_describe_failed(&text, series);
	tp_buf_printf(&text, " (%s); A is as before, B with the change", series->log);
	trial->state = TP_TRIAL_FAILED;
	trial->because = tp_arena_strdup(&s->arena, tp_buf_text(&text));
	tp_buf_release(&text);
}

/* Notes the lines of the program that have to change so that it is as it was tried. */
static void note_lines(struct session *s, struct tp_trial *trial, const struct tp_loader_log *said)
{
	const char **lines = tp_arena_array(&s->arena, said->n_changed, sizeof(*lines));
	struct tp_buf text = {0};
	for (size_t i = 0; i < said->n_changed; i++) {
		tp_buf_clear(&text);
		tp_loader_log_describe(&text, &said->changed[i]);
		lines[i] = tp_arena_strdup(&s->arena, tp_buf_text(&text));
	}
	tp_buf_release(&text);
	trial->lines = lines;
	trial->n_lines = said->n_changed;
}

static void note_not_tried(struct session *s, struct tp_trial *trial,
			   const struct tp_pair_series *series)
{
	trial->state = TP_TRIAL_NOT_TRIED;
	if (!tp_pair_series_has_no_loader(series))
		trial->because = "interrupted before the first pair was measured";
	else if (series->loader_said.kept_because)
		trial->because = tp_arena_strdup(&s->arena, series->loader_said.kept_because);
	else
		trial->because = "the program made no DataLoader of PyTorch that trainprof could "
				 "change";
}

/* The speed-up is the inverse of a ratio of times, so the ends of the interval are swapped. */
static void note_speedup(struct tp_trial *trial, const struct tp_gate_estimate *ratio)
{
	trial->speedup = 1 / ratio->value;
	trial->speedup_low = 1 / ratio->high;
	trial->speedup_high = 1 / ratio->low;
}

/* Sets how long pairs of the next trial may be started: its share of the budget, at least enough
 * for the fewest pairs. Returns false if the budget is used up. */
static bool set_share(struct session *s, struct tp_pair_series_options *given)
{
	if (!s->deadline_ns)
		return true;
	uint64_t now = tp_clock_now_ns();
	uint64_t left = s->deadline_ns > now ? s->deadline_ns - now : 0;
	uint64_t pair = 2 * s->reading.trace.end_ns;
	uint64_t pairs = given->pairs == TP_PAIRS_UNTIL_DECIDED ? TP_PAIRS_LEAST : given->pairs;
	uint64_t least = (given->warmup + pairs) * pair;
	uint64_t share = left / (s->n_waiting ? s->n_waiting : 1);
	s->n_waiting -= s->n_waiting > 0;
	if (left < least)
		return false;
	share = share > least ? share : least;
	/* The last pair has to end within the share. */
	if (share - pair < given->time_ns)
		given->time_ns = share - pair;
	return true;
}

static enum tp_status measure(struct session *s, struct tp_trial *trial, const struct way *way,
			      const char *directory, struct tp_error *err)
{
	struct tp_pair_series_options plan = s->options->series;
	trial->because = NULL; /* of another action that could not be tried */
	if (!set_share(s, &plan)) {
		trial->because = "too little of the budget is left";
		return TP_OK;
	}
	struct tp_pair_series *series = tp_alloc(sizeof(*series));
	trial->command = command_with(s, s->folder, way->prefix ? way->prefix : "");
	trial->is_command_changed = way->prefix != NULL;
	trial->loader = way->loader ? tp_arena_strdup(&s->arena, way->loader) : NULL;
	enum tp_status status = TP_OK;
	if (mkdir(directory, 0777) != 0)
		status = tp_fail_errno(err, errno, "cannot create '%s'", directory);
	tp_pair_series_init(series, &plan, command_with(s, s->folder, ""), trial->command,
			    directory, s->shows_progress);
	series->loader = way->loader;
	if (status == TP_OK)
		status = tp_pair_series_run(series, err);
	note_lines(s, trial, &series->loader_said);
	trial->n_pairs = series->n_pairs;
	trial->is_of_runs = series->time == TP_FACT_RUN_DURATION;
	if (series->n_pairs)
		note_speedup(trial, &series->ratio);
	if (series->failed >= 0) {
		note_failed(s, trial, series);
	} else if (!series->n_pairs) {
		note_not_tried(s, trial, series);
	} else {
		trial->state = state_of(series);
	}
	tp_pair_series_release(series);
	free(series);
	return status;
}

/* Finds the next action, from *at on, that needs no change of code, and how to apply it. */
static struct way next_way(const struct tp_finding *finding, size_t *at)
{
	while (*at < finding->n_actions) {
		const struct tp_action *action = &finding->actions[(*at)++];
		if (action->prefix || action->loader)
			return (struct way){action->prefix, action->loader};
	}
	return (struct way){0};
}

static bool is_open(const struct way *way)
{
	return way->prefix || way->loader;
}

static void note_helped(struct session *s, const struct way *way)
{
	tp_buf_puts(&s->helped, way->prefix ? way->prefix : "");
	if (way->loader)
		tp_buf_printf(&s->helped_loader, "%s%s", s->helped_loader.len ? "," : "",
			      way->loader);
	s->n_helped++;
}

static enum tp_status try_way(struct session *s, struct tp_trial *trial, const struct way *way,
			      const char *directory, struct tp_error *err)
{
	trial->because = tp_trial_check(&s->reading.trace.run, way->prefix, &s->arena);
	if (trial->because)
		return TP_OK;
	return measure(s, trial, way, directory, err);
}

static enum tp_status try_advice(struct session *s, size_t place, struct tp_error *err)
{
	const struct tp_finding *finding = &s->reading.findings.items[place];
	struct tp_trial trial = {.number = place + 1, .finding = finding};
	enum tp_status status = TP_OK;
	size_t at = 0;
	size_t n_ways = 0;
	struct way way = next_way(finding, &at);
	if (!is_open(&way))
		trial.because = "it changes the program's code: no environment variable, launcher "
				"or setting of a DataLoader does it";
	for (; is_open(&way); way = next_way(finding, &at)) {
		char *directory = tp_asprintf("%s/advice%zu%s", s->directory, trial.number,
					      n_ways++ ? "-or" : "");
		status = try_way(s, &trial, &way, directory, err);
		free(directory);
		/* A program without a DataLoader may still take the next action. */
		if (status != TP_OK || trial.state != TP_TRIAL_NOT_TRIED || !way.loader)
			break;
	}
	if (trial.state == TP_TRIAL_FASTER)
		note_helped(s, &way);
	TP_ARRAY_PUSH(s->trials, s->n_trials, s->trials_capacity) = trial;
	return status;
}

static enum tp_status try_all(struct session *s, struct tp_error *err)
{
	enum tp_status status = TP_OK;
	if (s->options->budget_ns)
		s->deadline_ns = tp_clock_now_ns() + s->options->budget_ns;
	s->n_waiting = 1; /* all together */
	for (size_t i = 0; i < s->reading.findings.n_fired; i++) {
		size_t at = 0;
		const struct way way = next_way(&s->reading.findings.items[i], &at);
		s->n_waiting += is_open(&way);
	}
	for (size_t i = 0; i < s->reading.findings.n_fired; i++)
		if (status == TP_OK && !tp_pair_run_is_interrupted())
			status = try_advice(s, i, err);
	if (status != TP_OK || s->n_helped < 2 || tp_pair_run_is_interrupted())
		return status;
	struct tp_trial trial = {0};
	const struct way way = {s->helped.len ? tp_buf_text(&s->helped) : NULL,
				s->helped_loader.len ? tp_buf_text(&s->helped_loader) : NULL};
	char *directory = tp_asprintf("%s/together", s->directory);
	status = measure(s, &trial, &way, directory, err);
	free(directory);
	TP_ARRAY_PUSH(s->trials, s->n_trials, s->trials_capacity) = trial;
	return status;
}

/* ---- result ---- */

static int print_trials(const struct tp_cli *cli, struct session *s)
{
	const char *format = tp_output_format(&s->options->format);
	struct tp_json_writer w = {0};
	if (strcmp(format, "markdown") == 0) {
		tp_report_trials_markdown(&w.out, s->trials, s->n_trials);
		return tp_output_buf(&w.out);
	}
	if (strcmp(format, "json") == 0) {
		tp_json_open(&w, '{');
		tp_json_put_string(&w, "schema", "trainprof-trials/1.0");
		tp_json_put_string(&w, "version", tp_version());
		tp_json_put_string(&w, "command", command_with(s, "", ""));
		tp_json_put_string(&w, "directory", s->directory);
		tp_report_trials_json(&w, s->trials, s->n_trials);
		tp_json_close(&w, '}');
		return tp_output_buf(&w.out);
	}
	struct tp_report_style style = tp_terminal_style(cli, STDOUT_FILENO);
	struct tp_page page;
	tp_page_init(&page, &style);
	tp_report_trials_text(&page, s->trials, s->n_trials);
	int status = tp_output_page(&page);
	tp_page_release(&page);
	return status;
}

/* 0 if every possible trial was decided. */
static int exit_status(const struct session *s)
{
	int status = TP_EXIT_OK;
	for (size_t i = 0; i < s->n_trials; i++) {
		if (s->trials[i].state == TP_TRIAL_FAILED)
			return TP_EXIT_FILE;
		if (s->trials[i].state == TP_TRIAL_UNDECIDED ||
		    (s->trials[i].state == TP_TRIAL_NOT_TRIED && !s->options->is_all))
			status = TP_EXIT_UNDECIDED;
	}
	return status;
}

/* ---- the command ---- */

/* The index of the advice among the findings; -1 after a message. */
static long find_advice(const struct tp_findings *findings, const char *word)
{
	uint64_t number;
	bool is_number = tp_text_parse_count(word, &number);
	for (size_t i = 0; i < findings->n_fired; i++)
		if (is_number ? number == i + 1 : strcmp(findings->items[i].rule, word) == 0)
			return (long)i;
	tp_message_print("trainprof explain", "the recording has no advice '%s'%s", word,
			 is_number ? "" : ", and no recording has that name");
	return -1;
}

/* The first of two words is the recording; a single one is what exists with that name. NULL = not
 * named. */
static void split_words(int argc, char **argv, const char **recording, const char **advice)
{
	bool has_recording = argc == 2 || (argc == 1 && tp_recording_is_path(argv[0]));
	*recording = has_recording ? argv[0] : NULL;
	*advice = argc > (int)has_recording ? argv[argc - 1] : NULL;
}

static int refuse(const char *because)
{
	tp_message_print("trainprof run -- CMD", "the recording cannot be tried: %s", because);
	return TP_EXIT_USAGE;
}

static int run_trials(const struct tp_cli *cli, struct session *s, const char *advice)
{
	struct tp_error err = {0};
	if (!s->reading.has_findings)
		return tp_message_error_status(NULL, &s->reading.no_rules);
	bool is_named = !s->options->is_all && (advice || s->reading.findings.n_fired);
	long place = is_named ? find_advice(&s->reading.findings, advice ? advice : "1") : 0;
	const char *hindrance = restart_error(&s->reading.trace.run);
	if (place < 0)
		return TP_EXIT_USAGE;
	if (!hindrance && !s->reading.findings.n_fired)
		hindrance = "there is no advice for it";
	if (hindrance)
		return refuse(hindrance);
	describe_program(s);
	tp_pair_run_watch();
	enum tp_status status =
		tp_pair_series_make_directory(&s->directory, s->options->output, "-try", &err);
	if (status == TP_OK)
		status = s->options->is_all ? try_all(s, &err) : try_advice(s, (size_t)place, &err);
	if (status != TP_OK)
		return tp_message_error_status(NULL, &err);
	int printed = print_trials(cli, s);
	return printed == TP_EXIT_OK ? exit_status(s) : printed;
}

static int try_exec(const struct tp_cli *cli, const void *opts, int argc, char **argv)
{
	const struct try_options *o = opts;
	struct tp_error err = {0};
	if (o->budget_ns && !o->is_all) {
		tp_message_print("trainprof try --all --budget=30m",
				 "--budget is of all trials; a single one has --time");
		return TP_EXIT_USAGE;
	}
	if (tp_pair_series_check_count(o->series.pairs, &err) != TP_OK)
		return tp_message_error_status("try", &err);
	const char *recording;
	const char *advice;
	split_words(argc, argv, &recording, &advice);
	if (o->is_all && advice) {
		tp_message_print("trainprof try --all", "--all tries every advice, not only '%s'",
				 advice);
		return TP_EXIT_USAGE;
	}
	struct session *s = tp_alloc(sizeof(*s));
	s->options = o;
	s->shows_progress = !cli->is_quiet && isatty(STDERR_FILENO);
	int result;
	if (tp_recording_read(&s->reading, cli, recording, &o->how, &err) == TP_OK) {
		result = run_trials(cli, s, advice);
		tp_analysis_session_close(&s->reading);
	} else {
		result = tp_message_error_status(NULL, &err);
	}
	tp_arena_release(&s->arena);
	tp_buf_release(&s->helped);
	tp_buf_release(&s->helped_loader);
	free(s->trials);
	free(s->directory);
	free(s);
	return result;
}

const struct tp_command tp_cmd_try = {
	.name = "try",
	.group = "Compare",
	.synopsis = "[options] [RUN] [N|RULE]",
	.summary = "measure what advice brings, without changing the program",
	.intro = "Start the program of a recording (the last one) again, in pairs with and "
		 "without the\n"
		 "advice of that number (1), and compare them as `compare` does: what was "
		 "promised, what\n"
		 "was measured. Advice can be tried where it is an environment variable, a "
		 "launcher, or a\n"
		 "setting of PyTorch's DataLoader; else it says why it cannot. Nothing is "
		 "changed on\ndisk; the end shows the lines to change.",
	.examples = "  trainprof try\n"
		    "  trainprof try 2 --pairs=5\n"
		    "  trainprof try --all --budget=30m",
	.ending =
		"Exit status: 0 decided (faster, slower, or alike within the margin), 3 undecided, "
		"or\nthe advice cannot be tried, 4 the program failed with the change.",
	.options = options,
	.storage_size = sizeof(struct try_options),
	.defaults = &defaults,
	.max_words = 2,
	.exec = try_exec,
};
