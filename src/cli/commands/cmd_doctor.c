/* SPDX-License-Identifier: Apache-2.0 */
/* trainprof doctor: shows what can be measured here, what is missing, and what to type. */
#include "cli/options/command.h"
#include "doctor_cost.h"

#include "cli/options/settings.h"
#include "cli/session/launch_hint.h"
#include "cli/session/rules_dir.h"
#include "cli/session/run_session.h"
#include "cli/session/source_list.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

#include "trainprof/advise/advise.h"
#include "trainprof/base/json.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/base/version.h"
#include "trainprof/collect/collector.h"
#include "trainprof/collect/gpu_selftest.h"
#include "trainprof/collect/target.h"
#include "trainprof/report/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

struct doctor_options {
	bool is_json;
	bool is_strict;
	bool has_cost;
	const char *what; /* argument of --for; NULL = all sources that run would use */
	struct tp_words rules;
};

static const char *const for_choices[] = {"gpu", NULL};

static const struct tp_option options[] = {
	{.name = "json",
	 .type = TP_OPTION_FLAG,
	 .text = "print one JSON document",
	 .offset = offsetof(struct doctor_options, is_json)},
	{.name = "strict",
	 .type = TP_OPTION_FLAG,
	 .text = "treat WARN as FAIL",
	 .offset = offsetof(struct doctor_options, is_strict)},
	{.name = "cost",
	 .type = TP_OPTION_FLAG,
	 .text = "also measure the overhead of sampling on this machine",
	 .offset = offsetof(struct doctor_options, has_cost)},
	{.name = "for",
	 .type = TP_OPTION_CHOICE,
	 .value = "WHAT",
	 .text = "gpu: also test everything that measures GPUs",
	 .choices = for_choices,
	 .offset = offsetof(struct doctor_options, what)},
	{.name = "rules",
	 .type = TP_OPTION_WORDS,
	 .value = "DIR",
	 .text = "use the rules in DIR in addition to the built-in ones",
	 .is_own = true,
	 .offset = offsetof(struct doctor_options, rules)},
	TP_OPTION_END};

/* One line of the table, from any check. */
struct doctor_check {
	enum tp_mark_word mark;
	char name[24];
	char text[330];
	const char *gains;
	char next[160];
};

enum { MAX_CHECKS = 64, MAX_GPU_ROWS = 32 };

/* Some drivers take seconds to wake up; a slower one is worth this wait once. */
static const double gpu_patience_s = 30;

struct visit {
	size_t n_rules;
	size_t n_unjudged; /* number of rules that are not judged because a source is missing */
	struct tp_host host;
	struct tp_plan *plan;
	struct tp_doctor_cost cost; /* n_looks is 0 if it was not measured */
	const char *remedy; /* of the first source that the start could grant; NULL = none */
	struct doctor_check checks[MAX_CHECKS];
	size_t n_checks;
};

/* A run of ten minutes with defaults, measured with the programs of docs/design/experiments.md. */
static const double typical_bytes = 256.0 * 1048576;
static const double min_bytes = 16.0 * 1048576;

static struct doctor_check *add_check(struct visit *visit, enum tp_mark_word mark, const char *name)
{
	/* There are fewer sources than rows; the last row is overwritten if there are too many. */
	size_t at = visit->n_checks < MAX_CHECKS ? visit->n_checks++ : MAX_CHECKS - 1;
	struct doctor_check *check = &visit->checks[at];
	*check = (struct doctor_check){.mark = mark};
	snprintf(check->name, sizeof(check->name), "%s", name);
	return check;
}

static void check_sources(struct visit *visit)
{
	for (size_t i = 0; i < tp_plan_count(visit->plan); i++) {
		const struct tp_plan_row *row = tp_plan_row(visit->plan, i);
		const struct tp_availability *found = &row->availability;
		struct doctor_check *check =
			add_check(visit, tp_source_list_mark(row), row->type->name);
		const char *reason = found->reason[0] ? found->reason
				     : found->presence == TP_PRESENCE_PRESENT
					     ? ""
					     : tp_source_state_text(found->presence);
		snprintf(check->text, sizeof(check->text), "%.150s%s%.120s", row->type->summary,
			 *reason ? ": " : "", reason);
		check->gains = tp_source_list_gains(row);
		snprintf(check->next, sizeof(check->next), "%s", found->remedy);
		bool is_refused = found->presence == TP_PRESENCE_NO_PERMISSION ||
				  found->presence == TP_PRESENCE_DEGRADED;
		if (is_refused && found->is_granted_at_start && !visit->remedy)
			visit->remedy = found->remedy;
	}
}

/* One line only where programs that run already cannot be measured: on kernels before 5.3. */
static void check_attach(struct visit *visit)
{
	char reason[128];
	if (tp_target_can_attach(reason, sizeof(reason)))
		return;
	struct doctor_check *check = add_check(visit, TP_MARK_WORD_WARN, "attach");
	snprintf(check->text, sizeof(check->text), "programs that run already: %s", reason);
	check->gains = "attach, top and stacks of a pid";
}

static void check_gpus(struct visit *visit)
{
	struct tp_gpu_selftest_row *trials = tp_alloc(MAX_GPU_ROWS * sizeof(*trials));
	size_t n = tp_gpu_selftest(trials, MAX_GPU_ROWS, &visit->host, environ, gpu_patience_s);
	for (size_t i = 0; i < n; i++) {
		const struct tp_availability *found = &trials[i].availability;
		bool is_there = found->presence == TP_PRESENCE_PRESENT;
		struct doctor_check *check =
			add_check(visit, is_there ? TP_MARK_WORD_OK : TP_MARK_WORD_WARN,
				  trials[i].name);
		if (is_there)
			snprintf(check->text, sizeof(check->text), "%s", trials[i].text);
		else
			snprintf(check->text, sizeof(check->text), "%.150s: %s", trials[i].text,
				 found->reason);
		snprintf(check->next, sizeof(check->next), "%s", found->remedy);
	}
	free(trials);
}

/* The sampling rate of a run with defaults. */
static const double looks_per_s = 99;

/* Adds one line for the sum, and one for each stage. */
static void check_cost(struct visit *visit)
{
	struct tp_error err = {0};
	struct doctor_check *check = add_check(visit, TP_MARK_WORD_OK, "cost");
	struct tp_doctor_cost *cost = &visit->cost;
	if (tp_doctor_cost_measure(cost, &err) != TP_OK) {
		check->mark = TP_MARK_WORD_WARN;
		check->gains = "the overhead of sampling on this machine";
		snprintf(check->text, sizeof(check->text), "%s", err.text);
		return;
	}
	double all_ns = cost->look_ns + cost->inside_ns;
	snprintf(check->text, sizeof(check->text),
		 "a sample of a busy %s takes %s of trainprof's CPU time and %s of the "
		 "program's; %.0f per second take %.2f %% of one CPU (%zu samples)",
		 cost->is_python ? "Python thread" : "thread", tp_unit_time(cost->look_ns).text,
		 tp_unit_time(cost->inside_ns).text, looks_per_s, all_ns * looks_per_s / 1e7,
		 cost->n_looks);
	for (size_t i = 0; i < cost->own.n; i++) {
		const struct tp_own_cpu_row *row = &cost->own.rows[i];
		char name[sizeof(check->name)];
		snprintf(name, sizeof(name), "cost.%s", row->id);
		double ns = i == 0 ? row->cpu_ns : row->cpu_ns / (double)cost->n_looks;
		check = add_check(visit, TP_MARK_WORD_OK, name);
		snprintf(check->text, sizeof(check->text), "%s %s: %s", tp_unit_time(ns).text,
			 i == 0 ? "once" : "per sample", row->text);
	}
}

static void check_disk(struct visit *visit)
{
	struct statvfs fs;
	struct doctor_check *check = add_check(visit, TP_MARK_WORD_OK, "disk");
	if (statvfs(".", &fs) != 0 || access(".", W_OK) != 0) {
		struct tp_error err;
		(void)tp_fail_errno(&err, errno, "cannot write here");
		check->mark = TP_MARK_WORD_FAIL;
		snprintf(check->text, sizeof(check->text), "%s", err.text);
		snprintf(check->next, sizeof(check->next), "trainprof run -o /tmp/prof -- …");
		return;
	}
	double free_bytes = (double)fs.f_bavail * (double)fs.f_frsize;
	snprintf(check->text, sizeof(check->text),
		 "%s free here; a run of 10 minutes needs up to %s", tp_unit_bytes(free_bytes).text,
		 tp_unit_bytes(typical_bytes).text);
	if (free_bytes >= typical_bytes)
		return;
	check->mark = free_bytes < min_bytes ? TP_MARK_WORD_FAIL : TP_MARK_WORD_WARN;
	check->gains = "a whole recording";
	snprintf(check->next, sizeof(check->next),
		 "trainprof run -o /scratch/prof …   or   --max-size=%s",
		 free_bytes > 64e6 ? "64MiB" : "8MiB");
}

/* Facts that only one source provides. */
static const struct {
	const char *source;
	const char *facts;
} single_sources[] = {
	{"pmu", "pmu.*"},
	{"proc", "io.*_call*"},
	{"proc", "io.cached_ratio"},
	{"host", "*.pressure_ratio"},
	{"host", "cpu.steal_ratio"},
	{"host", "cpu.throttled_ratio"},
	{"host", "cpu.idle_cpus"},
	{"host", "cpu.other_programs_cpus"},
	{"host", "io.disk_busy_ratio"},
};

static bool is_absent(const struct visit *visit, const char *source)
{
	for (size_t i = 0; i < tp_plan_count(visit->plan); i++) {
		const struct tp_plan_row *row = tp_plan_row(visit->plan, i);
		enum tp_presence presence = row->availability.presence;
		if (strcmp(row->type->name, source) == 0)
			return presence != TP_PRESENCE_PRESENT && presence != TP_PRESENCE_DEGRADED;
	}
	return false;
}

static bool can_be_known(const struct visit *visit, const char *fact)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(single_sources); i++)
		if (tp_text_glob(single_sources[i].facts, fact) &&
		    is_absent(visit, single_sources[i].source))
			return false;
	return true;
}

/* Counts the rules that are not judged in a hypothetical run in which everything is known except
 * what is missing here. */
static size_t count_not_judged(const struct visit *visit, const struct tp_rulebook *book,
			       bool is_complete)
{
	struct tp_trace trace = {0};
	struct tp_profile profile;
	struct tp_findings findings = {0};
	tp_profile_init(&profile, &trace);
	for (tp_fact_id f = 0; f < tp_n_facts; f++)
		if (is_complete || can_be_known(visit, tp_fact_desc(f)->name))
			tp_profile_set(&profile, f, 0, TP_ORIGIN_MEASURED, 1);
	tp_advise(&findings, book, &profile);
	size_t n = findings.n_not_judged;
	tp_findings_release(&findings);
	tp_profile_release(&profile);
	return n;
}

static void check_rules(struct visit *visit, const struct tp_words *extra)
{
	struct tp_rules_dirs dirs;
	struct tp_rulebook *book = NULL;
	struct tp_error err = {0};
	struct doctor_check *check = add_check(visit, TP_MARK_WORD_OK, "rules");
	enum tp_status status = tp_rules_dir_find(&dirs, extra, &err);
	if (status == TP_OK)
		status = tp_rules_dir_load(&book, &dirs, &err);
	if (status == TP_OK) {
		snprintf(check->text, sizeof(check->text), "%zu rules from %.200s",
			 tp_rulebook_count(book), dirs.items[0]);
		visit->n_rules = tp_rulebook_count(book);
		visit->n_unjudged =
			count_not_judged(visit, book, false) - count_not_judged(visit, book, true);
		tp_rulebook_free(book);
	} else {
		check->mark = TP_MARK_WORD_FAIL;
		check->gains = "verdicts and advice";
		snprintf(check->text, sizeof(check->text), "%s", err.text);
		snprintf(check->next, sizeof(check->next), "%.150s", err.next);
	}
	tp_rules_dir_release(&dirs);
}

static void write_cost(struct tp_json_writer *w, const struct tp_doctor_cost *cost)
{
	if (!cost->n_looks)
		return;
	tp_json_write_key(w, "cost");
	tp_json_open(w, '{');
	tp_json_put_bool(w, "is_python", cost->is_python);
	tp_json_put_uint(w, "looks", cost->n_looks);
	tp_json_put_number(w, "look_ns", cost->look_ns);
	tp_json_put_number(w, "in_program_ns", cost->inside_ns);
	tp_json_write_key(w, "own_cpu_ns");
	tp_json_open(w, '{');
	for (size_t i = 0; i < cost->own.n; i++)
		tp_json_put_number(w, cost->own.rows[i].id, cost->own.rows[i].cpu_ns);
	tp_json_put_number(w, "all", cost->own.cpu_ns);
	tp_json_close(w, '}');
	tp_json_close(w, '}');
}

/* ---- output -------------------------------------------------------------------------------- */

static void print_head(struct tp_page *page, const struct visit *visit)
{
	const struct tp_host_info *info = &visit->host.info;
	struct tp_buf text = {0};
	tp_buf_printf(&text, "trainprof %s on %s: %s, %u core%s", tp_version(),
		      info->name ? info->name : "this machine",
		      info->kernel ? info->kernel : "Linux", info->n_allowed,
		      info->n_allowed == 1 ? "" : "s");
	if (info->n_allowed < info->n_cpus)
		tp_buf_printf(&text, " of %u", info->n_cpus);
	if (info->quota_cpus > 0)
		tp_buf_printf(&text, ", quota %s", tp_unit_number(info->quota_cpus).text);
	if (visit->host.in_container)
		tp_buf_puts(&text, ", in a container");
	tp_page_wrap(page, 2, TP_PAINT_NONE, tp_buf_text(&text), 0);
	tp_page_end(page);
	tp_buf_release(&text);
}

static void print_settings(struct tp_page *page, const struct tp_settings *settings)
{
	const char *text = settings ? tp_buf_text(&settings->trace) : "";
	tp_page_add_section(page, *text ? "Settings" : "Settings: all as built in");
	while (*text) {
		size_t len = strcspn(text, "\n");
		struct tp_buf line = {0};
		tp_buf_add(&line, text, len);
		tp_page_column(page, 2);
		tp_page_wrap(page, 4, TP_PAINT_NONE, tp_buf_text(&line), 0);
		tp_buf_release(&line);
		text += len + (text[len] == '\n');
	}
}

static size_t count_marks(const struct visit *visit, enum tp_mark_word mark)
{
	size_t n = 0;
	for (size_t i = 0; i < visit->n_checks; i++)
		n += visit->checks[i].mark == mark;
	return n;
}

/* Says whether a run can be measured, and how many checks found a problem. */
static void print_result(struct tp_page *page, const struct visit *visit, int answer)
{
	size_t n_fail = count_marks(visit, TP_MARK_WORD_FAIL);
	size_t n_warn = count_marks(visit, TP_MARK_WORD_WARN);
	struct tp_buf text = {0};
	if (count_marks(visit, TP_MARK_WORD_NONE)) {
		tp_page_add(page, TP_PAINT_DIM, "  ----  not available on this machine");
		tp_page_end(page);
	}
	tp_page_end(page);
	tp_buf_puts(&text, n_fail ? "Not ready" : tp_source_list_tier(tp_plan_tier(visit->plan)));
	if (n_fail)
		tp_buf_printf(&text, ": %zu FAIL", n_fail);
	if (n_warn)
		tp_buf_printf(&text, "%s %zu WARN", n_fail ? "," : ";", n_warn);
	if (visit->n_unjudged)
		tp_buf_printf(&text, "; %zu of %zu rules cannot be checked here", visit->n_unjudged,
			      visit->n_rules);
	if (isatty(STDOUT_FILENO))
		tp_buf_printf(&text, "; exit status %d", answer);
	tp_buf_putc(&text, '.');
	tp_page_wrap(page, 2, TP_PAINT_NONE, tp_buf_text(&text), 0);
	tp_buf_release(&text);
}

static int print_text(const struct tp_cli *cli, const struct visit *visit, int answer)
{
	struct tp_report_style style = tp_terminal_style(cli, STDOUT_FILENO);
	struct tp_page page;
	tp_page_init(&page, &style);
	print_head(&page, visit);
	for (size_t i = 0; i < visit->n_checks; i++) {
		const struct doctor_check *check = &visit->checks[i];
		tp_source_list_row(&page, check->mark, check->name, check->text, check->gains,
				   check->next);
	}
	print_result(&page, visit, answer);
	struct tp_buf hint = {0};
	tp_launch_hint(&hint, &visit->host, visit->remedy);
	tp_page_wrap(&page, 2, TP_PAINT_BOLD, tp_buf_text(&hint), 0);
	tp_buf_release(&hint);
	if (cli->verbosity)
		print_settings(&page, cli->settings);
	int status = tp_output_page(&page);
	tp_page_release(&page);
	return status;
}

static int print_json(const struct visit *visit)
{
	struct tp_json_writer w = {0};
	tp_json_open(&w, '{');
	tp_json_put_string(&w, "schema", "trainprof-doctor/1.0");
	tp_json_put_string(&w, "version", tp_version());
	tp_json_put_string(&w, "commit", tp_commit());
	tp_json_put_string(&w, "kernel", visit->host.info.kernel);
	tp_json_put_uint(&w, "cores", visit->host.info.n_cpus);
	tp_json_put_uint(&w, "allowed_cores", visit->host.info.n_allowed);
	tp_json_put_bool(&w, "in_container", visit->host.in_container);
	tp_json_put_int(&w, "perf_event_paranoid", visit->host.perf_paranoid);
	tp_json_put_string(&w, "tier", tp_tier_name(tp_plan_tier(visit->plan)));
	tp_json_put_uint(&w, "rules", visit->n_rules);
	tp_json_put_uint(&w, "rules_not_judged", visit->n_unjudged);
	write_cost(&w, &visit->cost);
	struct tp_buf hint = {0};
	tp_launch_hint(&hint, &visit->host, visit->remedy);
	tp_json_put_string(&w, "start", tp_buf_text(&hint));
	tp_buf_release(&hint);
	tp_json_write_key(&w, "checks");
	tp_json_open(&w, '[');
	for (size_t i = 0; i < visit->n_checks; i++) {
		static const char *const states[] = {"ok", "warn", "fail", "not_here"};
		const struct doctor_check *check = &visit->checks[i];
		tp_json_open(&w, '{');
		tp_json_put_string(&w, "id", check->name);
		tp_json_put_string(&w, "state", states[check->mark]);
		tp_json_put_string(&w, "text", check->text);
		if (check->mark != TP_MARK_WORD_OK && check->gains)
			tp_json_put_string(&w, "gains", check->gains);
		if (check->mark != TP_MARK_WORD_OK && check->next[0])
			tp_json_put_string(&w, "next", check->next);
		tp_json_close(&w, '}');
	}
	tp_json_close(&w, ']');
	tp_json_close(&w, '}');
	int status = tp_output_text(tp_buf_text(&w.out));
	tp_json_writer_release(&w);
	return status;
}

static int doctor_exec(const struct tp_cli *cli, const void *opts, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	const struct doctor_options *o = opts;
	const struct tp_run_options as_run = TP_RUN_DEFAULTS;
	struct visit *visit = tp_alloc(sizeof(*visit));
	struct tp_error err = {0};
	int status;
	tp_host_open(&visit->host, "");
	if (tp_run_session_plan(&visit->plan, &visit->host, &as_run, false, &err) == TP_OK) {
		check_sources(visit);
		check_attach(visit);
		if (o->what)
			check_gpus(visit);
		if (o->has_cost)
			check_cost(visit);
		check_disk(visit);
		check_rules(visit, &o->rules);
		bool is_bad = count_marks(visit, TP_MARK_WORD_FAIL) ||
			      (o->is_strict && count_marks(visit, TP_MARK_WORD_WARN));
		int answer = is_bad ? TP_EXIT_BAD : TP_EXIT_OK;
		status = o->is_json ? print_json(visit) : print_text(cli, visit, answer);
		status = status == TP_EXIT_OK ? answer : status;
	} else {
		status = tp_message_error_status(NULL, &err);
	}
	tp_plan_free(visit->plan);
	tp_host_close(&visit->host);
	free(visit);
	return status;
}

const struct tp_command tp_cmd_doctor = {
	.name = "doctor",
	.group = "Other",
	.synopsis = "[--json] [--for=gpu] [--cost]",
	.summary = "what can be measured here, and how to get the rest",
	.intro = "Test every collector; show what is missing, what it would add and which command\n"
		 "enables it. Changes nothing. With -v also where settings come from.",
	.ending = "Exit status: 0 no FAIL, 1 a FAIL.",
	.options = options,
	.storage_size = sizeof(struct doctor_options),
	.exec = doctor_exec,
};
