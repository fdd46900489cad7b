/* SPDX-License-Identifier: Apache-2.0 */
/* Imports the traces written for rules and compares the report with the results known by
 * construction: check_rule_traces PROGRAM RULES TRACES. Every rule that needs a fact which only
 * traces provide must have a trace on which it fires and one on which it does not. Ends with a line
 * "rule traces: N passed, N failed, N skipped". */
#include "ruletrace.h"

#include "advise/rulebook/book.h"

#include "trainprof/base/file.h"
#include "trainprof/base/json.h"
#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if TP_HAVE_SQLITE
#include <sqlite3.h>
#endif

/* Rules that no importable file can make fire. */
static const struct {
	const char *rule;
	const char *why;
} unreachable[] = {
	{"run/no-spans", "a file without a span is refused: only a damaged recording has none"},
	{"gpu/clocks-held-back", "no trace has the readings of NVML"},
	{"gpu/kernels-slow-down", "steps of the traces written here are all alike"},
};

static const double SAME = 1e-9; /* relative: reports have no more digits */

static int n_passed;
static int n_failed;
static int n_skipped;
static char program[4096];
static char rules_variable[4096 + 32];
static char work[] = "/tmp/trainprof-rules-XXXXXX";

__attribute__((format(printf, 2, 3))) static bool check(bool holds, const char *format, ...)
{
	if (holds) {
		n_passed++;
		return true;
	}
	n_failed++;
	va_list args;
	va_start(args, format);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
	return false;
}

/* ---- files ---- */

static bool write_kineto(const char *path, const struct ruletrace_scene *scene, size_t rank)
{
	struct tp_buf text = {0};
	ruletrace_kineto(&text, scene, rank);
	bool is_written = tp_file_replace(path, text.data, text.len, NULL) == TP_OK;
	tp_buf_release(&text);
	return is_written;
}

static bool write_nsys(const char *path, const struct ruletrace_scene *scene, size_t rank)
{
#if TP_HAVE_SQLITE
	struct tp_buf sql = {0};
	sqlite3 *db = NULL;
	unlink(path);
	ruletrace_nsys(&sql, scene, rank);
	bool is_written = sqlite3_open(path, &db) == SQLITE_OK &&
			  sqlite3_exec(db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF",
				       NULL, NULL, NULL) == SQLITE_OK &&
			  sqlite3_exec(db, sql.data, NULL, NULL, NULL) == SQLITE_OK;
	if (!is_written)
		printf("%s: %s\n", path, sqlite3_errmsg(db));
	sqlite3_close(db);
	tp_buf_release(&sql);
	return is_written;
#else
	(void)path;
	(void)scene;
	(void)rank;
	return false;
#endif
}

/* ---- the command ---- */

enum { RANKS_MOST = 16, ARGUMENTS = 6 };

/* Imports the files rank0, rank1 … from here into a recording "prof". */
static bool import(const char *ending, size_t n_files)
{
	char names[RANKS_MOST][32];
	static char said[][16] = {"import", "--force", "-o", "prof"};
	static char locale[] = "LC_ALL=C.UTF-8";
	char *words[ARGUMENTS + RANKS_MOST] = {program, said[0], said[1], said[2], said[3]};
	char *environment[] = {rules_variable, locale, NULL};
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int status = -1;
	for (size_t i = 0; i < n_files; i++) {
		snprintf(names[i], sizeof(names[i]), "rank%zu.%s", i, ending);
		words[ARGUMENTS - 1 + i] = names[i];
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "printed",
					 O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (posix_spawn(&pid, program, &actions, NULL, words, environment) == 0)
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			continue;
	posix_spawn_file_actions_destroy(&actions);
	return status == 0;
}

/* ---- results ---- */

static const struct tp_json *find_finding(const struct tp_json *report, const char *rule)
{
	TP_JSON_EACH (item, tp_json_get(report, "findings"))
		if (strcmp(tp_json_string(tp_json_get(item, "rule")), rule) == 0)
			return item;
	return NULL;
}

static void check_text(const char *place, const char *what, const char *expected,
		       const struct tp_json *found)
{
	const char *text = tp_json_string(found);
	check(text && strcmp(text, expected) == 0, "%s: %s is '%s', not '%s'", place, what,
	      text ? text : "", expected);
}

static void check_finding(const char *place, const struct ruletrace_scene *scene,
			  const struct tp_json *finding)
{
	/* A rule that holds may be hidden by one that says the same better. */
	if (scene->fires && tp_json_get(finding, "suppressed"))
		check_text(place, "it", "suppressed", tp_json_get(finding, "state"));
	else
		check_text(place, "it", scene->fires ? "fired" : "quiet",
			   tp_json_get(finding, "state"));
	if (scene->level)
		check_text(place, "the level", scene->level, tp_json_get(finding, "level"));
	if (scene->because)
		check_text(place, "the reason", scene->because,
			   tp_json_get(finding, scene->fires ? "because" : "quiet_because"));
}

static void check_facts(const char *place, const struct ruletrace_scene *scene,
			const struct tp_json *report)
{
	const struct tp_json *facts = tp_json_get(tp_json_get(report, "summary"), "metrics");
	for (size_t i = 0; i < scene->n_facts; i++) {
		const struct ruletrace_fact *fact = &scene->facts[i];
		const struct tp_json *found = tp_json_get(facts, fact->name);
		double value = tp_json_number(tp_json_get(found, "value"), NAN);
		check(fabs(value - fact->value) <= SAME * fmax(1, fabs(fact->value)),
		      "%s: %s is %.12g, not %.12g", place, fact->name, value, fact->value);
	}
}

/* ---- rules ---- */

typedef bool write_function(const char *path, const struct ruletrace_scene *scene, size_t rank);

static void check_scene(const struct ruletrace *trace, const struct ruletrace_scene *scene,
			const char *rule, write_function *write, const char *ending)
{
	struct tp_json_doc *doc = NULL;
	struct tp_error err = {0};
	char place[4096];
	snprintf(place, sizeof(place), "%s:%u: as %s", trace->path, scene->line, ending);
	bool is_written = scene->n_seen > 0 && scene->n_seen <= RANKS_MOST;
	for (size_t i = 0; i < scene->n_seen && is_written; i++) {
		char name[32];
		snprintf(name, sizeof(name), "rank%zu.%s", i, ending);
		is_written = write(name, scene, i);
	}
	if (!check(is_written, "%s: cannot be written", place) ||
	    !check(import(ending, scene->n_seen), "%s: was not imported", place))
		return;
	enum tp_status status = tp_json_load(&doc, "prof/report.json", &err);
	if (check(status == TP_OK, "%s: %s", place, err.text)) {
		const struct tp_json *report = tp_json_root(doc);
		const struct tp_json *finding = find_finding(report, rule);
		if (check(finding != NULL, "%s: the report has no such rule", place))
			check_finding(place, scene, finding);
		check_facts(place, scene, report);
	}
	tp_json_free(doc);
}

static void check_rule(const struct tp_rule *rule, const char *path)
{
	struct ruletrace trace;
	struct tp_error err = {0};
	bool seen[2] = {false};
	if (check(ruletrace_load(&trace, path, &err) == TP_OK, "%s", err.text)) {
		for (size_t i = 0; i < trace.n_scenes; i++) {
			const struct ruletrace_scene *scene = &trace.scenes[i];
			seen[scene->fires] = true;
			check_scene(&trace, scene, rule->id, write_kineto, "json");
			if (scene->is_nsys_too && TP_HAVE_SQLITE)
				check_scene(&trace, scene, rule->id, write_nsys, "sqlite");
			n_skipped += scene->is_nsys_too && !TP_HAVE_SQLITE;
		}
		check(seen[true], "%s: no trace on which it fires", path);
		check(seen[false], "%s: no trace on which it is quiet", path);
	}
	ruletrace_release(&trace);
}

/* Returns true if the rule needs a fact that a live run cannot provide; those facts are adjacent in
 * fact.h. A rule that also needs a fact which no recording has fires on no trace. */
static bool is_of_traces(const struct tp_rule *rule)
{
	bool is_of_traces = false;
	for (size_t i = 0; i < rule->n_needs; i++) {
		if (tp_fact_is_user_supplied(rule->needs[i]))
			return false;
		is_of_traces |= rule->needs[i] >= TP_FACT_STEP_NEXT &&
				rule->needs[i] <= TP_FACT_TRACE_SPANS;
	}
	return is_of_traces;
}

static bool is_unreachable(const char *rule)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(unreachable); i++)
		if (strcmp(unreachable[i].rule, rule) == 0)
			return true;
	return false;
}

static void check_rules(const struct tp_rulebook *book, const char *directory)
{
	size_t n_traces = 0;
	for (size_t i = 0; i < book->n_rules; i++) {
		const struct tp_rule *rule = &book->rules[i];
		char *path = tp_asprintf("%s/%s.trace", directory, rule->id);
		if (access(path, R_OK) == 0) {
			check_rule(rule, path);
			n_traces++;
		} else if (is_of_traces(rule) && !is_unreachable(rule->id)) {
			check(false, "%s: only traces tell what it needs, and it has none: %s",
			      rule->path, path);
		}
		free(path);
	}
	printf("rule traces: of %zu rules\n", n_traces);
}

/* ---- names without a rule ---- */

static const struct tp_rulebook *known_rules;
static size_t directory_length;

static int check_name(const char *path, const struct stat *info, int type, struct FTW *walk)
{
	static const char ending[] = ".trace";
	(void)info;
	(void)walk;
	size_t len = strlen(path);
	if (type != FTW_F || len < sizeof(ending) ||
	    strcmp(path + len - strlen(ending), ending) != 0)
		return 0;
	char *id = tp_strndup(path + directory_length + 1,
			      len - directory_length - strlen(ending) - 1);
	check(tp_rulebook_find(known_rules, id) != NULL, "%s: there is no such rule", path);
	free(id);
	return 0;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
	(void)info;
	(void)type;
	(void)walk;
	return remove(path);
}

int main(int argc, char **argv)
{
	struct tp_rulebook *book = NULL;
	struct tp_error err = {0};
	char rules[4096];
	char traces[4096];
	if (argc != 4 || !realpath(argv[1], program) || !realpath(argv[2], rules) ||
	    !realpath(argv[3], traces) || !mkdtemp(work) || chdir(work) != 0) {
		perror("check_rule_traces PROGRAM RULES TRACES");
		return 2;
	}
	const char *directory = rules;
	snprintf(rules_variable, sizeof(rules_variable), "TRAINPROF_RULES=%s", rules);
	if (check(tp_rulebook_load(&book, &directory, 1, &err) == TP_OK, "%s", err.text)) {
		check_rules(book, traces);
		known_rules = book;
		directory_length = strlen(traces);
		nftw(traces, check_name, 16, FTW_PHYS);
	}
	tp_rulebook_free(book);
	nftw(work, remove_one, 16, FTW_PHYS | FTW_DEPTH);
	printf("rule traces: %d passed, %d failed, %d skipped\n", n_passed, n_failed, n_skipped);
	return n_failed > 0;
}
