/* SPDX-License-Identifier: Apache-2.0 */
/* trainprof baseline: keeps reports of runs that later runs are compared with. */
#include "cli/options/command.h"

#include "cli/compare/baseline_store.h"
#include "cli/compare/gate_runs.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/model/fact.h"
#include "trainprof/report/short_report.h"
#include "trainprof/report/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct baseline_options {
	const char *reason;
	bool force;
	bool is_json;
	struct tp_analysis_session_options how;
};

static const struct baseline_options defaults = {.how = {.steps = "auto"}};

#define AT(member) .offset = offsetof(struct baseline_options, member)

static const struct tp_option options[] = {
	{.name = "reason",
	 .type = TP_OPTION_TEXT,
	 .value = "TEXT",
	 .text = "why it is saved; required to replace a baseline",
	 AT(reason)},
	{.name = "force",
	 .type = TP_OPTION_FLAG,
	 .text = "also save runs that cannot be compared with each other",
	 AT(force)},
	{.name = "json", .type = TP_OPTION_FLAG, .text = "list, show: as JSON", AT(is_json)},
	TP_READING_ROWS(offsetof(struct baseline_options, how)),
	TP_OPTION_END};

/* ---- save ---- */

/* The runs of one baseline must be runs of one program on one machine. */
static enum tp_status check_same(const struct tp_gate_runs *runs, struct tp_error *err)
{
	struct tp_arena arena = {0};
	struct tp_run_diff *diff = tp_arena_alloc(&arena, sizeof(*diff));
	const struct tp_diff_request request = {.base = runs->items,
						.n_base = 1,
						.now = runs->items,
						.n_now = runs->n};
	enum tp_status status = TP_OK;
	tp_run_diff_make(diff, &request, &arena);
	for (size_t i = 0; i < diff->n_unlike && status == TP_OK; i++) {
		const struct tp_unlike *u = &diff->unlike[i];
		if (u->is_ignored)
			continue;
		status = tp_fail(err, TP_USAGE, "not the same %s: %s is %.60s and %.60s",
				 tp_comparable_name(u->aspect), u->what, u->base, u->now);
		tp_error_next(err, "trainprof baseline save --force …");
	}
	tp_arena_release(&arena);
	return status;
}

/* A run that failed or has no time would make every comparison with it undecided. */
static enum tp_status check_usable(const struct tp_gate_runs *runs, struct tp_error *err)
{
	for (size_t i = 0; i < runs->n; i++) {
		const struct tp_run_values *run = runs->items[i];
		if (tp_run_has_failed(run))
			return tp_fail(err, TP_USAGE, "%s: its program failed", run->name);
		if (!run->facts[TP_FACT_STEP_TIME].is_known &&
		    !run->facts[TP_FACT_RUN_DURATION].is_known)
			return tp_fail(err, TP_USAGE, "%s: neither steps nor duration are known",
				       run->name);
	}
	return TP_OK;
}

static enum tp_status check_name(const struct baseline_options *o, const char *name,
				 struct tp_error *err)
{
	if (!tp_baseline_is_name(name))
		return tp_fail(err, TP_USAGE,
			       "'%.64s' is not a valid baseline name; use letters, digits, . _ -",
			       name);
	if (!tp_baseline_exists(name) || o->reason)
		return TP_OK;
	tp_fail(err, TP_EXISTS, "baseline '%s' exists; say why it is replaced", name);
	tp_error_next(err, "trainprof baseline save --reason='…' %s …", name);
	return TP_EXISTS;
}

/* A baseline is read by comparisons alone, and should be small enough for a repository. */
static enum tp_status trim_reports(struct tp_gate_runs *runs, struct tp_error *err)
{
	for (size_t i = 0; i < runs->n; i++) {
		struct tp_json_doc *doc = NULL;
		struct tp_json_writer w = {0};
		const char *text = runs->documents[i];
		enum tp_status status =
			tp_json_parse(&doc, text, strlen(text), runs->items[i]->name, err);
		if (status != TP_OK)
			return status;
		tp_report_trim(&w, doc);
		runs->documents[i] = tp_arena_strdup(&runs->arena, tp_buf_text(&w.out));
		tp_json_writer_release(&w);
		tp_json_free(doc);
	}
	return TP_OK;
}

/* --redact above all would leave in a report what it should remove. */
static enum tp_status refuse_unused_on_reports(const struct tp_gate_runs *runs,
					       const struct tp_cli *cli, struct tp_error *err)
{
	const struct baseline_options *given = cli->given;
	return tp_gate_runs_refuse_unused(runs, runs, &given->how, false, err);
}

static enum tp_status save(struct tp_gate_runs *runs, const struct tp_cli *cli,
			   const struct baseline_options *o, int argc, char **argv,
			   struct tp_error *err)
{
	enum tp_status status = check_name(o, argv[1], err);
	runs->keeps_documents = true;
	if (status == TP_OK && argc == 2)
		status = tp_gate_runs_add(runs, cli, NULL, &o->how, err);
	for (int i = 2; i < argc && status == TP_OK; i++)
		status = tp_gate_runs_add(runs, cli, argv[i], &o->how, err);
	if (status == TP_OK)
		status = refuse_unused_on_reports(runs, cli, err);
	if (status == TP_OK)
		status = check_usable(runs, err);
	if (status == TP_OK && !o->force)
		status = check_same(runs, err);
	if (status == TP_OK)
		status = trim_reports(runs, err);
	if (status != TP_OK)
		return status;
	const struct tp_baseline_new what = {.name = argv[1],
					     .reason = o->reason,
					     .machine = runs->items[0]->cpu_model,
					     .documents = runs->documents,
					     .runs = runs->items,
					     .n_documents = runs->n};
	return tp_baseline_save(&what, err);
}

static int exec_save(const struct tp_cli *cli, const struct baseline_options *o, int argc,
		     char **argv)
{
	struct tp_gate_runs runs = {0};
	struct tp_error err = {0};
	int result = TP_EXIT_OK;
	if (save(&runs, cli, o, argc, argv, &err) == TP_OK) {
		char *path = tp_baseline_path(argv[1]);
		if (!cli->is_quiet)
			tp_message_print(NULL, "saved %zu run%s in %s", runs.n,
					 runs.n == 1 ? "" : "s", path);
		free(path);
	} else {
		result = tp_message_error_status(NULL, &err);
	}
	tp_gate_runs_release(&runs);
	return result;
}

/* ---- list, show ---- */

static void write_json(struct tp_json_writer *w, const struct tp_baseline *b)
{
	tp_json_open(w, '{');
	tp_json_put_string(w, "name", b->name);
	tp_json_put_string(w, "path", b->directory);
	tp_json_put_known_string(w, "saved_at", b->saved_at);
	tp_json_put_known_string(w, "reason", b->reason);
	tp_json_put_known_string(w, "commit", b->commit);
	tp_json_put_known_string(w, "machine", b->machine);
	tp_json_write_key(w, "runs");
	tp_json_open(w, '[');
	for (size_t i = 0; i < b->n_runs; i++)
		tp_json_write_string(w, b->runs[i]);
	tp_json_close(w, ']');
	tp_json_close(w, '}');
}

static void write_line(struct tp_buf *out, const struct tp_baseline *b)
{
	tp_buf_printf(out, "%s  %zu run%s, saved %s", b->name, b->n_runs, b->n_runs == 1 ? "" : "s",
		      b->saved_at ? b->saved_at : "at an unknown time");
	if (b->commit)
		tp_buf_printf(out, ", commit %.12s", b->commit);
	if (b->machine)
		tp_buf_printf(out, ", %s", b->machine);
	if (b->reason)
		tp_buf_printf(out, ": %s", b->reason);
	tp_buf_putc(out, '\n');
}

static enum tp_status add_run(struct tp_buf *out, const char *path,
			      const struct baseline_options *o, struct tp_error *err)
{
	const struct tp_cli quiet = {.is_quiet = true};
	struct tp_gate_runs runs = {0};
	enum tp_status status = tp_gate_runs_add(&runs, &quiet, path, &o->how, err);
	for (size_t i = 0; i < runs.n && status == TP_OK; i++) {
		const struct tp_quantity *step = &runs.items[i]->facts[TP_FACT_STEP_TIME];
		tp_buf_printf(out, "  %s: ", runs.items[i]->name);
		if (step->is_known)
			tp_buf_printf(out, "%s per step, ", tp_unit_time(step->value).text);
		tp_buf_printf(out, "%s\n",
			      runs.items[i]->verdict_title ? runs.items[i]->verdict_title
							   : "no verdict");
	}
	tp_gate_runs_release(&runs);
	return status;
}

/* Each alone: copies of a run are shown, too. */
static enum tp_status add_runs(struct tp_buf *out, const struct tp_baseline *b,
			       const struct baseline_options *o, struct tp_error *err)
{
	enum tp_status status = TP_OK;
	for (size_t i = 0; i < b->n_runs && status == TP_OK; i++)
		status = add_run(out, b->runs[i], o, err);
	return status;
}

static enum tp_status show(struct tp_json_writer *w, const struct baseline_options *o,
			   const char *name, bool with_runs, struct tp_error *err)
{
	struct tp_baseline baseline;
	enum tp_status status = tp_baseline_load(&baseline, name, err);
	if (status != TP_OK)
		return status;
	if (o->is_json)
		write_json(w, &baseline);
	else
		write_line(&w->out, &baseline);
	if (with_runs && !o->is_json)
		status = add_runs(&w->out, &baseline, o, err);
	tp_baseline_release(&baseline);
	return status;
}

static int exec_show(const struct baseline_options *o, const char *name)
{
	struct tp_json_writer w = {0};
	struct tp_error err = {0};
	if (show(&w, o, name, true, &err) == TP_OK)
		return tp_output_buf(&w.out);
	tp_json_writer_release(&w);
	return tp_message_error_status(NULL, &err);
}

static int exec_list(const struct baseline_options *o)
{
	struct tp_json_writer w = {0};
	struct tp_error err = {0};
	enum tp_status status = TP_OK;
	size_t n;
	char **names = tp_baseline_names(&n);
	if (o->is_json)
		tp_json_open(&w, '[');
	for (size_t i = 0; i < n && status == TP_OK; i++)
		status = show(&w, o, names[i], false, &err);
	if (o->is_json)
		tp_json_close(&w, ']');
	tp_baseline_names_free(names, n);
	if (status == TP_OK)
		return tp_output_buf(&w.out);
	tp_json_writer_release(&w);
	return tp_message_error_status(NULL, &err);
}

/* ---- path, remove ---- */

static int exec_path(const char *name)
{
	struct tp_baseline baseline;
	struct tp_error err = {0};
	struct tp_buf text = {0};
	if (tp_baseline_load(&baseline, name, &err) != TP_OK)
		return tp_message_error_status(NULL, &err);
	tp_buf_printf(&text, "%s\n", baseline.directory);
	tp_baseline_release(&baseline);
	return tp_output_buf(&text);
}

static int exec_remove(const char *name)
{
	struct tp_error err = {0};
	return tp_baseline_remove(name, &err) == TP_OK ? TP_EXIT_OK
						       : tp_message_error_status(NULL, &err);
}

/* ---- the command ---- */

static const char *const verbs[] = {"save", "list", "show", "remove", "path"};

static const char *needs_text(const char *verb)
{
	if (strcmp(verb, "save") == 0)
		return "needs a name, and the runs unless it is the last one";
	return strcmp(verb, "list") == 0 ? "takes no name" : "needs a name, and nothing else";
}

static int usage_error(const char *verb)
{
	const char *near = verb ? tp_text_closest(verb, verbs, TP_ARRAY_LEN(verbs)) : NULL;
	if (verb)
		tp_message_print("trainprof help baseline", "baseline %s: %s%s", verb,
				 near && strcmp(near, verb) == 0 ? needs_text(verb)
				 : near                          ? "unknown; nearest: "
								 : "unknown",
				 near && strcmp(near, verb) != 0 ? near : "");
	else
		tp_message_print("trainprof help baseline",
				 "baseline needs one of save, list, show, remove, path");
	return TP_EXIT_USAGE;
}

/* Refuses options of another verb, which would have no effect. */
static enum tp_status refuse_unused(const struct baseline_options *given, const char *verb,
				    struct tp_error *err)
{
	static const char *const of_save[] = {"reason", "force",  "steps",   "skip", "rank",
					      "rules",  "redact", "lenient", NULL};
	static const char *const of_list[] = {"json", NULL};
	static const char *const of_path[] = {NULL};
	const char *const *used = of_path;
	char why[48];
	if (strcmp(verb, "save") == 0)
		used = of_save;
	else if (strcmp(verb, "list") == 0 || strcmp(verb, "show") == 0)
		used = of_list;
	snprintf(why, sizeof(why), "has no effect with 'baseline %.16s'", verb);
	return tp_option_refuse_unused(options, given, &defaults, used, why, err);
}

static bool is_use(const char *verb, int argc)
{
	if (strcmp(verb, "save") == 0)
		return argc > 1;
	for (size_t i = 0; i < TP_ARRAY_LEN(verbs); i++)
		if (strcmp(verb, verbs[i]) == 0)
			return argc == (strcmp(verb, "list") == 0 ? 1 : 2);
	return false;
}

static int baseline_exec(const struct tp_cli *cli, const void *opts, int argc, char **argv)
{
	const struct baseline_options *o = opts;
	struct tp_error err = {0};
	const char *verb = argc ? argv[0] : NULL;
	if (!verb || !is_use(verb, argc))
		return usage_error(verb);
	if (refuse_unused(cli->given, verb, &err) != TP_OK)
		return tp_message_error_status(NULL, &err);
	if (strcmp(verb, "save") == 0)
		return exec_save(cli, o, argc, argv);
	if (strcmp(verb, "list") == 0)
		return exec_list(o);
	if (strcmp(verb, "show") == 0)
		return exec_show(o, argv[1]);
	return strcmp(verb, "path") == 0 ? exec_path(argv[1]) : exec_remove(argv[1]);
}

const struct tp_command tp_cmd_baseline = {
	.name = "baseline",
	.group = "Compare",
	.synopsis = "save NAME [RUN...] | list | show NAME | remove NAME | path NAME",
	.summary = "keep reports of runs that later runs are compared with",
	.intro =
		"Copy the report.json of runs (not the recordings) into .trainprof/baselines/NAME\n"
		"of this directory or of one above it, with commit, machine and reason. They are\n"
		"small enough to be committed; trainprof diff NAME compares with them. Several "
		"runs\n"
		"in one baseline show how much runs differ, so that smaller changes are seen.",
	.examples = "  trainprof baseline save main run1 run2 run3\n"
		    "  trainprof diff --gate main\n"
		    "  trainprof baseline save --reason='bigger batch' main run4 run5 run6",
	.options = options,
	.storage_size = sizeof(struct baseline_options),
	.defaults = &defaults,
	.max_words = TP_MAX_WORDS,
	.exec = baseline_exec,
};
