/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_recordings SECONDS[:RECORDINGS:IMPORTS] SEED KEEP WORK RECORDING... [-- TRACE...]
 *                 [-- RULE.json...]
 *
 * Changes whole recordings, traces of other tools (JSON and SQLite) and rules by their structure,
 * with correct checksums, and runs every reader on them (readers.h), on several in one process. An
 * input is a find if a reader dies of a signal or a sanitizer, ends with an undocumented status, or
 * takes more than 10 s or 1 GiB: it is minimised and stored in KEEP. With counts it ends earlier,
 * after so many of both.
 */
#include "mutate_database.h"
#include "mutate_document.h"
#include "mutate_records.h"
#include "readers.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"

#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

enum { SEEDS_MAX = 1024 };

struct scene {
	struct tp_trace trace;
	struct record_list records;
};

struct list {
	const char *items[SEEDS_MAX];
	size_t n;
};

struct progress {
	uint64_t state; /* of the random numbers */
	uint64_t n_recordings;
	uint64_t n_imports;
	uint64_t n_rules;
};

static struct {
	struct scene scenes[SEEDS_MAX];
	size_t n_scenes;
	struct list traces;
	struct list rules;
	const char *keep;
	const char *work;
	char run[300];       /* the recording that is changed */
	char rank[300];      /* another one, unchanged */
	struct progress *at; /* shared with the children */
	uint64_t n_finds;
	struct readers_cost most;
} fuzz;

static double now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *place)
{
	(void)info;
	(void)type;
	(void)place;
	return remove(path);
}

static void remove_tree(const char *path)
{
	enum { OPEN_MAX_AT_ONCE = 8 };
	(void)nftw(path, remove_entry, OPEN_MAX_AT_ONCE, FTW_DEPTH | FTW_PHYS);
}

static void write_scene(const char *path, const struct scene *scene, const struct record_list *list,
			const struct tp_run_info *run, uint64_t tables)
{
	remove_tree(path);
	if (!record_list_write(list, &scene->trace, run, tables, path))
		exit(2);
}

static void keep(const char *what, const char *path, const char *kind)
{
	char command[900];
	fuzz.n_finds++;
	snprintf(command, sizeof(command),
		 "mkdir -p '%s' && rm -rf '%s/%s-%" PRIu64 "' && cp -r '%s' '%s/%s-%" PRIu64 "'",
		 fuzz.keep, fuzz.keep, kind, fuzz.n_finds, path, fuzz.keep, kind, fuzz.n_finds);
	if (system(command) != 0)
		fprintf(stderr, "cannot keep %s\n", path);
	printf("find: %s: %s/%s-%" PRIu64 "\n", what, fuzz.keep, kind, fuzz.n_finds);
	fflush(stdout);
}

/* Leaves out halves, quarters, ... of the records as long as the fault still occurs. */
static void minimize(struct record_list *list, const struct scene *scene,
		     const struct tp_run_info *run, uint64_t tables,
		     const struct readers_input *input)
{
	struct record_list less = {.items = tp_alloc((list->n + 1) * sizeof(*less.items))};
	for (size_t part = list->n / 2; part > 0; part /= 2) {
		for (size_t at = 0; at + part <= list->n;) {
			less.n = list->n - part;
			memcpy(less.items, list->items, at * sizeof(*less.items));
			memcpy(less.items + at, list->items + at + part,
			       (less.n - at) * sizeof(*less.items));
			write_scene(input->recording, scene, &less, run, tables);
			if (readers_run(input, &fuzz.most)) {
				memcpy(list->items, less.items, less.n * sizeof(*less.items));
				list->n = less.n;
			} else {
				at += part;
			}
		}
	}
	free(less.items);
	write_scene(input->recording, scene, list, run, tables);
}

/* ---- one input of each kind ----------------------------------------------------------------- */

static bool is_database(const char *path)
{
	size_t len = strlen(path);
	return len > 7 && strcmp(path + len - 7, ".sqlite") == 0;
}

/* Writes a changed copy of a document; the same one if it is no JSON. */
static void mutate_file(const char *from, const char *to)
{
	struct tp_buf text = {0};
	if (tp_file_read(&text, from, 64 << 20, NULL) != TP_OK)
		exit(2);
	char *changed = mutate_document(text.data, text.len, &fuzz.at->state);
	if (changed && tp_file_replace(to, changed, strlen(changed), NULL) != TP_OK)
		exit(2);
	free(changed);
	tp_buf_release(&text);
}

static void one_recording(void)
{
	const struct scene *scene = &fuzz.scenes[random_below(&fuzz.at->state, fuzz.n_scenes)];
	struct tp_run_info run = scene->trace.run;
	struct record_list list = {0};
	char manifest[400];
	for (size_t i = 0; i < scene->records.n; i++)
		TP_ARRAY_PUSH(list.items, list.n, list.capacity) = scene->records.items[i];
	if (random_below(&fuzz.at->state, 2))
		run.job = (struct tp_job_place){.launcher = "torchrun", .rank = 1, .n_ranks = 2};
	mutate_records(&list, &scene->trace, &run, &fuzz.at->state);
	uint64_t tables = random_below(&fuzz.at->state, 4) ? 0 : random_next(&fuzz.at->state) | 1;
	write_scene(fuzz.run, scene, &list, &run, tables);
	bool is_manifest = random_below(&fuzz.at->state, 5) == 0;
	snprintf(manifest, sizeof(manifest), "%s/manifest.json", fuzz.run);
	if (is_manifest)
		mutate_file(manifest, manifest);
	const struct readers_input input = {.recording = fuzz.run,
					    .rank = fuzz.rank,
					    .choice = random_next(&fuzz.at->state)};
	const char *what = readers_run(&input, &fuzz.most);
	fuzz.at->n_recordings++;
	if (what) {
		char said[300];
		snprintf(said, sizeof(said), "%s", what);
		if (!is_manifest)
			minimize(&list, scene, &run, tables, &input);
		printf("%zu records; choice %" PRIu64 "; ", list.n, input.choice);
		keep(said, fuzz.run, "recording");
	}
	free(list.items);
}

static void one_import(void)
{
	const char *from = fuzz.traces.items[random_below(&fuzz.at->state, fuzz.traces.n)];
	char trace[400];
	snprintf(trace, sizeof(trace), "%s/trace.%s", fuzz.work,
		 is_database(from) ? "sqlite" : "json");
	remove_tree(fuzz.run);
	if (is_database(from))
		mutate_database(from, trace, &fuzz.at->state);
	else
		mutate_file(from, trace);
	const struct readers_input input = {.recording = fuzz.run,
					    .trace = trace,
					    .choice = random_next(&fuzz.at->state)};
	const char *what = readers_run(&input, &fuzz.most);
	fuzz.at->n_imports++;
	if (what)
		keep(what, trace, "trace");
}

static void one_rule(void)
{
	char folder[300];
	char to[700];
	const char *from = fuzz.rules.items[random_below(&fuzz.at->state, fuzz.rules.n)];
	const char *below = strstr(from, "rules/");
	snprintf(folder, sizeof(folder), "%s/rules", fuzz.work);
	remove_tree(folder);
	snprintf(to, sizeof(to), "%s/%s", fuzz.work, below ? below : "rules/x.json");
	for (char *slash = to + strlen(fuzz.work) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(to, 0700);
		*slash = '/';
	}
	mutate_file(from, to);
	const struct readers_input input = {.recording = fuzz.rank,
					    .rules = folder,
					    .choice = random_next(&fuzz.at->state)};
	const char *what = readers_run(&input, &fuzz.most);
	fuzz.at->n_rules++;
	if (what)
		keep(what, folder, "rules");
}

/* Writes the other rank: the first seed, unchanged. */
static void write_rank(void)
{
	struct scene *scene = &fuzz.scenes[0];
	struct tp_run_info run = scene->trace.run;
	run.job = (struct tp_job_place){.launcher = "torchrun", .n_ranks = 2};
	write_scene(fuzz.rank, scene, &scene->records, &run, 0);
}

static void read_arguments(int argc, char **argv)
{
	struct list *list = NULL;
	fuzz.at->state = strtoull(argv[2], NULL, 10) * 2 + 1;
	fuzz.keep = argv[3];
	fuzz.work = argv[4];
	for (int i = 5; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0)
			list = list ? &fuzz.rules : &fuzz.traces;
		else if (list && list->n < SEEDS_MAX)
			list->items[list->n++] = argv[i];
		else if (!list && fuzz.n_scenes < SEEDS_MAX &&
			 record_list_load(&fuzz.scenes[fuzz.n_scenes].records,
					  &fuzz.scenes[fuzz.n_scenes].trace, argv[i]))
			fuzz.n_scenes++;
	}
	snprintf(fuzz.run, sizeof(fuzz.run), "%s/r", fuzz.work);
	snprintf(fuzz.rank, sizeof(fuzz.rank), "%s/rank", fuzz.work);
}

/* Rules are few: each of their inputs loads all rules again, and costs as much as ten others. */
static void one_input(void)
{
	enum { OF_ALL = 66, OF_IMPORTS = 6 };
	uint64_t what = random_below(&fuzz.at->state, OF_ALL);
	if (what == 0 && fuzz.rules.n)
		one_rule();
	else if (what <= OF_IMPORTS && fuzz.traces.n)
		one_import();
	else
		one_recording();
}

static void some_inputs(void)
{
	enum { INPUTS = 16 };
	for (int i = 0; i < INPUTS; i++)
		one_input();
}

/* After a fault each of the inputs is repeated in a child of its own, which names the one. */
static void run_some(void)
{
	const struct progress before = *fuzz.at;
	uint64_t n_before = fuzz.n_finds;
	const char *what = readers_run_together(some_inputs, &fuzz.most);
	if (!what)
		return;
	char said[300];
	snprintf(said, sizeof(said), "%s", what);
	*fuzz.at = before;
	some_inputs();
	if (fuzz.n_finds > n_before)
		return;
	fuzz.n_finds++;
	printf("find: %s, only after the inputs before it, from state %" PRIu64 "\n", said,
	       before.state);
	fflush(stdout);
}

static void print_counts(void)
{
	printf("fuzz-recordings: %" PRIu64 " recordings, %" PRIu64 " imports, %" PRIu64
	       " rules, %" PRIu64 " finds; slowest %.1f s, largest %ld MiB\n",
	       fuzz.at->n_recordings, fuzz.at->n_imports, fuzz.at->n_rules, fuzz.n_finds,
	       fuzz.most.seconds, fuzz.most.kib >> 10);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	enum { COUNTS_EVERY = 500 };
	double seconds = 0;
	uint64_t recordings = UINT64_MAX;
	uint64_t imports = UINT64_MAX;
	uint64_t n_printed = 0;
	fuzz.at = mmap(NULL, sizeof(*fuzz.at), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (fuzz.at == MAP_FAILED || argc < 6 ||
	    sscanf(argv[1], "%lf:%" SCNu64 ":%" SCNu64, &seconds, &recordings, &imports) < 1)
		return 2;
	double until_s = now_s() + seconds;
	read_arguments(argc, argv);
	if (!fuzz.n_scenes)
		return 2;
	setenv("TRAINPROF_CONFIG", "", 1);
	write_rank();
	while (now_s() < until_s &&
	       (fuzz.at->n_recordings < recordings || fuzz.at->n_imports < imports)) {
		run_some();
		/* A run that is stopped has said how far it got. */
		if (fuzz.at->n_recordings + fuzz.at->n_imports >= n_printed + COUNTS_EVERY) {
			n_printed = fuzz.at->n_recordings + fuzz.at->n_imports;
			print_counts();
		}
	}
	print_counts();
	return fuzz.n_finds != 0;
}
