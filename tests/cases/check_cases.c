/*
 * Published before-and-after cases and healthy runs, as facts (README.md beside this file): what
 * the authors did must be advised first, or not at all where it did not help.
 *
 * check_cases RULES CASES
 */
#include "trainprof/advise/advise.h"
#include "trainprof/advise/fact_file.h"
#include "trainprof/base/file.h"
#include "trainprof/base/json.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 3, N_PUBLISHED = 71 };

/* Effects are told with two or three digits. */
static const double EFFECT_TOLERANCE = 0.01;

struct scene {
	const char *name; /* "c16" */
	const struct tp_json *expect;
	struct tp_findings findings;
	bool is_good;
};

static int n_passed;
static int n_failed;
static int n_skipped;
static bool is_seen[N_PUBLISHED + 1];

__attribute__((format(printf, 2, 3))) static void fail(struct scene *scene, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	printf("failed: %s: ", scene->name);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
	scene->is_good = false;
}

/* ---- expectations ---- */

/* Where the technique is among the shown advice; n_fired when nowhere. */
static size_t place_of(const struct scene *scene, const char *technique)
{
	const struct tp_findings *findings = &scene->findings;
	for (size_t i = 0; i < findings->n_fired; i++)
		for (size_t k = 0; k < findings->items[i].n_actions; k++)
			if (strcmp(findings->items[i].actions[k].technique, technique) == 0)
				return i;
	return findings->n_fired;
}

static const char *list_advice(const struct scene *scene, struct tp_buf *out)
{
	for (size_t i = 0; i < scene->findings.n_fired; i++) {
		const struct tp_finding *finding = &scene->findings.items[i];
		tp_buf_printf(out, "%s%s (", i ? ", " : "", finding->rule);
		for (size_t k = 0; k < finding->n_actions; k++)
			tp_buf_printf(out, "%s%s", k ? " " : "", finding->actions[k].technique);
		tp_buf_puts(out, ")");
	}
	return out->len ? tp_buf_text(out) : "nothing";
}

static void check_advice(struct scene *scene)
{
	TP_JSON_EACH (item, tp_json_get(scene->expect, "advice")) {
		struct tp_buf list = {0};
		const char *technique = tp_json_string(item);
		if (place_of(scene, technique) >= FIRST ||
		    place_of(scene, technique) == scene->findings.n_fired)
			fail(scene, "'%s' is not among the first three: %s", technique,
			     list_advice(scene, &list));
		tp_buf_release(&list);
	}
	TP_JSON_EACH (item, tp_json_get(scene->expect, "absent")) {
		const char *technique = tp_json_string(item);
		if (place_of(scene, technique) < scene->findings.n_fired)
			fail(scene, "'%s' is advised, and does not help", technique);
	}
	TP_JSON_EACH (item, tp_json_get(scene->expect, "quiet_families")) {
		const char *family = tp_json_string(item);
		for (size_t i = 0; i < scene->findings.n_fired; i++)
			if (tp_text_starts_with(scene->findings.items[i].rule, family))
				fail(scene, "%s speaks", scene->findings.items[i].rule);
	}
}

/* Of what is worth knowing, and promises no speed. */
static bool is_in_notes(const struct scene *scene, const char *technique)
{
	for (size_t i = 0; i < scene->findings.n_items; i++) {
		const struct tp_finding *finding = &scene->findings.items[i];
		if (finding->state != TP_FINDING_FIRED || finding->level != TP_LEVEL_NOTE)
			continue;
		for (size_t k = 0; k < finding->n_actions; k++)
			if (strcmp(finding->actions[k].technique, technique) == 0)
				return true;
	}
	return false;
}

static void check_notes(struct scene *scene)
{
	TP_JSON_EACH (item, tp_json_get(scene->expect, "notes"))
		if (!is_in_notes(scene, tp_json_string(item)))
			fail(scene, "'%s' is in no note", tp_json_string(item));
}

/* What changes the training names its price. */
static void check_prices(struct scene *scene)
{
	TP_JSON_EACH (item, tp_json_get(scene->expect, "price")) {
		size_t place = place_of(scene, tp_json_string(item));
		if (place == scene->findings.n_fired) {
			fail(scene, "'%s' is not advised, so no price", tp_json_string(item));
			continue;
		}
		const struct tp_finding *finding = &scene->findings.items[place];
		if (finding->kind != TP_ADVICE_SEMANTIC || !finding->price ||
		    tp_text_starts_with(finding->price, "None"))
			fail(scene, "%s has no price", finding->rule);
	}
}

static void check_verdict(struct scene *scene)
{
	const char *wanted = tp_json_string(tp_json_get(scene->expect, "verdict"));
	const char *got = scene->findings.verdict;
	if (wanted && (!got || strcmp(got, wanted) != 0))
		fail(scene, "the verdict is %s, not %s", got ? got : "none", wanted);
}

/* What the authors measured lies within what is promised. */
static void check_effect(struct scene *scene)
{
	double effect = tp_json_number(tp_json_get(scene->expect, "speedup"), 0);
	const struct tp_findings *findings = &scene->findings;
	if (effect <= 0)
		return;
	if (!findings->has_combined || effect > findings->combined_high * (1 + EFFECT_TOLERANCE) ||
	    effect < findings->combined_low * (1 - EFFECT_TOLERANCE))
		fail(scene, "measured %.2f, promised %.2f to %.2f", effect, findings->combined_low,
		     findings->combined_high);
}

static void check_silence(struct scene *scene)
{
	struct tp_buf list = {0};
	if (tp_json_bool(tp_json_get(scene->expect, "silent"), false) && scene->findings.n_fired)
		fail(scene, "it should be silent: %s", list_advice(scene, &list));
	tp_buf_release(&list);
}

/* A fixture that asks for nothing cannot fail. */
static void check_shape(struct scene *scene, const struct tp_json *root)
{
	static const char *const keys[] = {"advice",  "absent",  "quiet_families", "price",
					   "verdict", "speedup", "silent",         "notes"};
	size_t n_known = 0;
	for (size_t i = 0; i < TP_ARRAY_LEN(keys); i++)
		n_known += tp_json_get(scene->expect, keys[i]) != NULL;
	if (!n_known || n_known != tp_json_count(scene->expect))
		fail(scene, "'expect' is empty or has a key that is not read");
	if (!tp_json_string(tp_json_get(root, "note")))
		fail(scene, "no 'note' tells how its facts were derived");
	if (!tp_json_string(tp_json_get(root, "source")))
		fail(scene, "no 'source'");
}

/* ---- files ---- */

static void play(const struct tp_rulebook *book, const char *directory, const char *name)
{
	char *path = tp_asprintf("%s/%s.json", directory, name);
	struct scene scene = {.name = name, .is_good = true};
	struct tp_json_doc *doc = NULL;
	struct tp_factfile file;
	struct tp_error err = {0};
	enum tp_status status = tp_json_load(&doc, path, &err);
	if (status == TP_OK)
		status = tp_factfile_read(&file, doc, &err);
	if (status == TP_OK) {
		scene.expect = tp_json_get(tp_json_root(doc), "expect");
		tp_advise_facts(&scene.findings, book, file.facts);
		check_shape(&scene, tp_json_root(doc));
		check_advice(&scene);
		check_notes(&scene);
		check_prices(&scene);
		check_verdict(&scene);
		check_effect(&scene);
		check_silence(&scene);
		tp_findings_release(&scene.findings);
		tp_factfile_release(&file);
	} else {
		fail(&scene, "%s", err.text);
	}
	n_passed += scene.is_good;
	n_failed += !scene.is_good;
	tp_json_free(doc);
	free(path);
}

static int is_case(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);
	return len > 5 && strcmp(entry->d_name + len - 5, ".json") == 0;
}

/* The number of a published case: 16 of "c16", "c28b"; 0 of others. */
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

/* "| C05 | why |" in README.md: cases that no facts can tell. */
static void skip_told(const char *directory)
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
	play_all(book, directory);
	skip_told(directory);
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
