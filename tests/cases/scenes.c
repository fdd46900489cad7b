/* SPDX-License-Identifier: Apache-2.0 */
/* Runs scenes on top of healthy runs. All rules see the same facts, so a rule that fires wrongly
 * fails another rule's scene. */
#include "scenes.h"

#include "expectation.h"

#include "advise/condition/fact_value.h"

#include "trainprof/base/arena.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/model/profile.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Number of steps of each run, and their mean time. */
enum { N_STEPS = 1000 };
static const double STEP_NS = 50e6;

/* Largest relative error that a measured share may have. */
static const double SHARE_ERROR = 0.05;

/* The fraction of a part's time in which nothing else runs: at least that much goes away with the
 * part. */
static const double SOLO = 0.9;

/* A smaller loss need not be mentioned if compute is the limit. */
static const double LEAST_LOSS = 0.21;

struct player {
	const struct tp_rulebook *book;
	struct tp_json_doc *healthy;
	int n_passed;
	int n_failed;
};

/* A scene before it is judged. */
struct scene {
	struct tp_json_form form;
	struct tp_arena arena;
	struct tp_error err;
	struct tp_profile profile;
};

/* ---- facts ---- */

static double set_fact(struct scene *scene, const struct tp_json *member, tp_fact_id *fact)
{
	struct tp_json_form *form = &scene->form;
	*fact = tp_json_form_fact(form, member, tp_json_key(member));
	if (form->status)
		return 0;
	struct tp_quantity value = tp_fact_value_read(form, member, *fact, "left null");
	value.origin = TP_ORIGIN_MEASURED;
	scene->profile.facts[*fact] = value;
	return value.value;
}

static void set_facts(struct scene *scene, const struct tp_json *facts)
{
	tp_fact_id fact;
	TP_JSON_EACH (member, facts)
		set_fact(scene, member, &fact);
}

/* "step.memory_copy_ratio" and "step.memory_ratio" belong to memory. */
static enum tp_part part_of(struct scene *scene, const struct tp_json *at, const char *name)
{
	for (int p = 0; p < TP_N_PARTS; p++) {
		char prefix[48];
		snprintf(prefix, sizeof(prefix), "step.%s_", tp_part_name((enum tp_part)p));
		if (tp_text_starts_with(name, prefix))
			return (enum tp_part)p;
	}
	tp_json_form_fail(&scene->form, at, "'%s' is no share of a part", name);
	return TP_PART_COMPUTE;
}

static void set_part(struct tp_profile *profile, enum tp_part part, double share)
{
	struct tp_part_result *result = &profile->parts[part];
	result->time_ns = (uint64_t)(share * N_STEPS * STEP_NS);
	result->without_low_ns = (1 - share) * STEP_NS;
	result->without_high_ns = (1 - SOLO * share) * STEP_NS;
	tp_fact_id fact = tp_part_facts[part];
	tp_profile_set(profile, fact, share, TP_ORIGIN_MEASURED, 1);
	profile->facts[fact].has_interval = true;
	profile->facts[fact].low = share * (1 - SHARE_ERROR);
	profile->facts[fact].high = share * (1 + SHARE_ERROR);
}

/* Each part is the sum of the shares below it; compute is the rest. `known` are the shares that
 * such a run knows: 0, unless the scene has a value. */
static void set_shares(struct scene *scene, const struct tp_json *known,
		       const struct tp_json *shares)
{
	struct tp_profile *profile = &scene->profile;
	double part[TP_N_PARTS] = {0};
	double losses = 0;
	TP_JSON_EACH (name, known) {
		tp_fact_id fact = tp_json_form_fact(&scene->form, name, tp_json_string(name));
		if (!scene->form.status)
			tp_profile_set(profile, fact, 0, TP_ORIGIN_MEASURED, 1);
	}
	TP_JSON_EACH (share, shares) {
		tp_fact_id fact;
		part[part_of(scene, share, tp_json_key(share))] += set_fact(scene, share, &fact);
	}
	for (int i = TP_PART_COMPUTE + 1; i < TP_N_PARTS; i++)
		losses += part[i];
	part[TP_PART_COMPUTE] = 1 - losses;
	for (int i = 0; i < TP_N_PARTS; i++)
		set_part(profile, (enum tp_part)i, part[i]);
	profile->is_of_steps = true;
	profile->total_ns = (uint64_t)(N_STEPS * STEP_NS);
	profile->step_time.n = N_STEPS;
	profile->step_time.mean = STEP_NS;
}

/* ---- checks of every scene ---- */

static bool is_of_part(const char *verdict)
{
	size_t len = verdict ? strlen(verdict) : 0;
	return len > 6 && strcmp(verdict + len - 6, "_bound") == 0;
}

/* The verdict must name the largest part: "NOT ENOUGH CPU" above bars of 60 % compute and 36 % idle
 * is wrong, and is read as wrong. */
static void check_largest(struct judged *judged, const struct tp_profile *profile)
{
	int largest = TP_PART_COMPUTE;
	double loss = 0;
	for (int p = TP_PART_COMPUTE + 1; p < TP_N_PARTS; p++) {
		if (profile->parts[p].time_ns >= profile->parts[largest].time_ns)
			largest = p;
		loss = fmax(loss, (double)profile->parts[p].time_ns / (N_STEPS * STEP_NS));
	}
	char verdict[40];
	snprintf(verdict, sizeof(verdict), "%s_bound", tp_part_name((enum tp_part)largest));
	if (strcmp(judged->findings->verdict, verdict) != 0)
		expectation_fail(judged, "%s, and the largest part is %s",
				 judged->findings->verdict, verdict);
	if (largest == TP_PART_COMPUTE && loss >= LEAST_LOSS &&
	    !strstr(judged->findings->verdict_sentence, "; "))
		expectation_fail(judged, "no loss is reported: %s",
				 judged->findings->verdict_sentence);
}

/* The rest of a step cannot be longer than the step. */
static void check_then(struct judged *judged)
{
	double before = 1e9 / STEP_NS;
	if (judged->findings->then_limit && judged->findings->then_steps_per_s < before - 1e-6)
		expectation_fail(judged, "then %.3f steps per second, before %.3f",
				 judged->findings->then_steps_per_s, before);
}

static void check_all(struct judged *judged, const struct tp_profile *profile)
{
	expectation_check(judged);
	expectation_promises(judged);
	if (is_of_part(judged->findings->verdict))
		check_largest(judged, profile);
	check_then(judged);
}

/* ---- files ---- */

static void check_keys(struct scene *scene, const struct tp_json *at)
{
	static const char *const keys[] = {"name", "run", "shares", "facts", "expect", NULL};
	tp_json_form_check_keys(&scene->form, at, "a scene", keys);
}

/* Combines the healthy run of the scene's kind, "live" or "trace", with the changes of the
 * scene. */
static void make(struct scene *scene, const struct player *player, const struct tp_json *at)
{
	const char *kind = tp_json_form_text(&scene->form, at, "run", true);
	const struct tp_json *run = kind ? tp_json_get(tp_json_root(player->healthy), kind) : NULL;
	if (!run)
		tp_json_form_fail(&scene->form, at, "healthy.json has no such run");
	check_keys(scene, at);
	set_facts(scene, tp_json_get(run, "facts"));
	set_shares(scene, tp_json_get(run, "shares"), tp_json_get(at, "shares"));
	set_facts(scene, tp_json_get(at, "facts"));
}

static void play(struct player *player, const struct tp_json_doc *doc, const struct tp_json *at)
{
	struct scene scene = {.form = {.doc = doc}};
	struct tp_findings findings = {0};
	struct judged judged = {.name = tp_json_string(tp_json_get(at, "name")),
				.book = player->book,
				.expect = tp_json_get(at, "expect"),
				.findings = &findings,
				.is_good = true};
	if (!judged.name)
		judged.name = "a scene without a name";
	scene.form.arena = &scene.arena;
	scene.form.err = &scene.err;
	tp_profile_init(&scene.profile, NULL);
	make(&scene, player, at);
	if (scene.form.status) {
		expectation_fail(&judged, "%s", scene.err.text);
	} else {
		tp_advise(&findings, player->book, &scene.profile);
		check_all(&judged, &scene.profile);
	}
	player->n_passed += judged.is_good;
	player->n_failed += !judged.is_good;
	tp_findings_release(&findings);
	tp_profile_release(&scene.profile);
	tp_arena_release(&scene.arena);
}

static void play_file(struct player *player, const char *directory, const char *name)
{
	char *path = tp_asprintf("%s/%s", directory, name);
	struct tp_json_doc *doc = NULL;
	struct tp_error err = {0};
	if (tp_json_load(&doc, path, &err) != TP_OK) {
		printf("failed: %s\n", err.text);
		player->n_failed++;
	}
	TP_JSON_EACH (scene, tp_json_get(doc ? tp_json_root(doc) : NULL, "scenes"))
		play(player, doc, scene);
	tp_json_free(doc);
	free(path);
}

static int is_scenes(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);
	return len > 5 && strcmp(entry->d_name + len - 5, ".json") == 0 &&
	       strcmp(entry->d_name, "healthy.json") != 0;
}

void scenes_play(const struct tp_rulebook *book, const char *directory, int *n_passed,
		 int *n_failed)
{
	struct player player = {.book = book};
	struct tp_error err = {0};
	struct dirent **entries = NULL;
	char *path = tp_asprintf("%s/healthy.json", directory);
	if (tp_json_load(&player.healthy, path, &err) != TP_OK) {
		printf("failed: %s\n", err.text);
		player.n_failed++;
	}
	int n = player.healthy ? scandir(directory, &entries, is_scenes, alphasort) : 0;
	for (int i = 0; i < n; i++) {
		play_file(&player, directory, entries[i]->d_name);
		free(entries[i]);
	}
	free((void *)entries);
	free(path);
	tp_json_free(player.healthy);
	*n_passed += player.n_passed;
	*n_failed += player.n_failed;
}
