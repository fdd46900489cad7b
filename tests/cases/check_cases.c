/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks published before-and-after cases and healthy runs, written as facts (see README.md in this
 * folder): the authors' change must be advised first, or not at all if it did not help. Then checks
 * the scenes.
 *
 * check_cases RULES CASES
 */
#include "expectation.h"
#include "scenes.h"

#include "trainprof/advise/advise.h"
#include "trainprof/advise/fact_file.h"
#include "trainprof/base/file.h"
#include "trainprof/base/json.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_PUBLISHED = 71 };

static int n_passed;
static int n_failed;
static int n_skipped;
static bool is_seen[N_PUBLISHED + 1];

static void check_shape(struct judged *judged, const struct tp_json *root)
{
	if (!tp_json_string(tp_json_get(root, "note")))
		expectation_fail(judged, "no 'note' tells how its facts were derived");
	if (!tp_json_string(tp_json_get(root, "source")))
		expectation_fail(judged, "no 'source'");
}

static void play(const struct tp_rulebook *book, const char *directory, const char *name)
{
	char *path = tp_asprintf("%s/%s.json", directory, name);
	struct judged judged = {.name = name, .book = book, .is_good = true};
	struct tp_findings findings;
	struct tp_json_doc *doc = NULL;
	struct tp_fact_file file;
	struct tp_error err = {0};
	enum tp_status status = tp_json_load(&doc, path, &err);
	if (status == TP_OK)
		status = tp_fact_file_read(&file, doc, &err);
	if (status == TP_OK) {
		tp_advise_facts(&findings, book, file.facts);
		judged.findings = &findings;
		judged.expect = tp_json_get(tp_json_root(doc), "expect");
		check_shape(&judged, tp_json_root(doc));
		expectation_check(&judged);
		expectation_promises(&judged);
		tp_findings_release(&findings);
		tp_fact_file_release(&file);
	} else {
		expectation_fail(&judged, "%s", err.text);
	}
	n_passed += judged.is_good;
	n_failed += !judged.is_good;
	tp_json_free(doc);
	free(path);
}

static int is_case(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);
	return len > 5 && strcmp(entry->d_name + len - 5, ".json") == 0;
}

/* Returns the number of a published case: 16 for "c16", 28 for "c28b"; 0 for others. */
static unsigned number_of(const char *name)
{
	unsigned number = 0;
	return sscanf(name, "c%2u", &number) == 1 && number <= N_PUBLISHED ? number : 0;
}

static void play_all(const struct tp_rulebook *book, const char *directory)
{
	struct dirent **entries = NULL;
	int n = scandir(directory, &entries, is_case, alphasort);
	for (int i = 0; i < n; i++) {
		char *name = entries[i]->d_name;
		name[strlen(name) - 5] = '\0';
		play(book, directory, name);
		is_seen[number_of(name)] = true;
		free(entries[i]);
	}
	free((void *)entries);
}

/* Skips the cases that README.md lists ("| C05 | why |") because facts cannot express them. */
static void skip_listed(const char *directory)
{
	char *path = tp_asprintf("%s/README.md", directory);
	struct tp_buf text = {0};
	char *rest = NULL;
	unsigned number;
	if (tp_file_read(&text, path, 1 << 20, NULL) == TP_OK)
		for (char *line = strtok_r(text.data, "\n", &rest); line;
		     line = strtok_r(NULL, "\n", &rest)) {
			int at = 0;
			if (sscanf(line, "| C%2u | %n", &number, &at) != 1 || !at ||
			    number > N_PUBLISHED || is_seen[number])
				continue;
			is_seen[number] = true;
			n_skipped++;
			printf("skipped: c%02u: %.*s\n", number, (int)strcspn(line + at, "|"),
			       line + at);
		}
	tp_buf_release(&text);
	free(path);
}

int main(int argc, char **argv)
{
	const char *rules = argc > 1 ? argv[1] : "rules";
	const char *directory = argc > 2 ? argv[2] : "tests/cases";
	struct tp_rulebook *book = NULL;
	struct tp_error err = {0};
	if (tp_rulebook_load(&book, &rules, 1, &err) != TP_OK) {
		printf("%s\ncases: 0 passed, 1 failed, 0 skipped\n", err.text);
		return 1;
	}
	char *scenes = tp_asprintf("%s/scenes", directory);
	play_all(book, directory);
	skip_listed(directory);
	scenes_play(book, scenes, &n_passed, &n_failed);
	free(scenes);
	for (unsigned i = 1; i <= N_PUBLISHED; i++) {
		if (is_seen[i])
			continue;
		printf("failed: c%02u: neither a file nor a reason in README.md\n", i);
		n_failed++;
	}
	printf("cases: %d passed, %d failed, %d skipped\n", n_passed, n_failed, n_skipped);
	tp_rulebook_free(book);
	return n_failed ? 1 : 0;
}
