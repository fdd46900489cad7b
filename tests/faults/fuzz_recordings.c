/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_recordings SECONDS SEED KEEP WORK RECORDING... [-- TRACE.json...] [-- RULE.json...]
 *
 * Changes whole recordings, traces of other tools and rules by their structure, with right
 * checksums, and lets every reader loose on them: report --json, --full and --markdown, explain
 * --all, guide --plan. A reader that dies of a signal or a sanitizer, that ends with another status
 * than 0 to 5, or that takes more than 10 s or 1 GiB is a find: its input is made small and put
 * into KEEP.
 */
#include "mutate_document.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/cli/cli.h"
#include "trainprof/store/recording.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SEEDS_MAX = 64, SECONDS_MAX = 10, KIB_MAX = 1 << 20, RECORDS_SLICE = 1200 };

struct scene {
	struct tp_trace trace;
	struct tp_record *records;
	size_t n;
};

struct list {
	const char *items[SEEDS_MAX];
	size_t n;
};

static struct {
	struct scene scenes[SEEDS_MAX];
	size_t n_scenes;
	struct list traces;
	struct list rules;
	const char *keep;
	const char *work;
	uint64_t state;
	uint64_t n_recordings;
	uint64_t n_imports;
	uint64_t n_rules;
	uint64_t n_finds;
	double slowest_s;
	long largest_kib;
} fuzz;

/* ---- the records of a recording, as a sink takes them --------------------------------------- */

static void add(struct scene *scene, size_t *capacity, const struct tp_record *record)
{
	if (scene->n < RECORDS_SLICE * 12)
		TP_ARRAY_PUSH(scene->records, scene->n, *capacity) = *record;
}

#define ADD_ALL(kind_, field, items, count)                                                        \
	for (size_t i_ = 0; i_ < (count) && i_ < RECORDS_SLICE; i_++)                              \
	add(scene, &capacity, &(struct tp_record){.kind = (kind_), .of.field = (items)[i_]})

static bool scene_load(struct scene *scene, const char *directory)
{
	size_t capacity = 0;
	struct tp_trace *t = &scene->trace;
	struct tp_error err = {0};
	if (tp_store_load(t, directory, &err) != TP_OK) {
		fprintf(stderr, "%s: %s\n", directory, err.text);
		return false;
	}
	ADD_ALL(TP_RECORD_TASK, task, t->tasks, t->n_tasks);
	ADD_ALL(TP_RECORD_TRACK, track, t->tracks, t->n_tracks);
	ADD_ALL(TP_RECORD_SOURCE, source, t->sources, t->n_sources);
	ADD_ALL(TP_RECORD_RUN, run, t->runs, t->n_runs);
	ADD_ALL(TP_RECORD_SAMPLE, sample, t->samples, t->n_samples);
	ADD_ALL(TP_RECORD_SAMPLE, sample, t->leavings, t->n_leavings);
	ADD_ALL(TP_RECORD_GAUGE, gauge, t->gauges, t->n_gauges);
	ADD_ALL(TP_RECORD_MARK, mark, t->marks, t->n_marks);
	ADD_ALL(TP_RECORD_GAP, gap, t->gaps, t->n_gaps);
	for (size_t track = 0; track < t->n_tracks; track++)
		ADD_ALL(TP_RECORD_SPAN, span, t->spans[track].items, t->spans[track].n);
	return true;
}

static uint64_t shifted(uint64_t time_ns, const struct tp_run_info *run)
{
	return time_ns ? time_ns + run->started_ns : 0;
}

/* Times of a trace count from its begin, those of records from the clock's. */
static void to_clock(struct tp_record *record, const struct tp_run_info *run)
{
	switch (record->kind) {
	case TP_RECORD_TASK:
		record->of.task.start_ns += run->started_ns;
		record->of.task.end_ns = shifted(record->of.task.end_ns, run);
		record->of.task.exec_ns = shifted(record->of.task.exec_ns, run);
		break;
	case TP_RECORD_RUN:
		record->of.run.start_ns += run->started_ns;
		record->of.run.end_ns += run->started_ns;
		break;
	case TP_RECORD_SAMPLE:
		record->of.sample.time_ns += run->started_ns;
		break;
	case TP_RECORD_GAUGE:
		record->of.gauge.time_ns += run->started_ns;
		break;
	case TP_RECORD_MARK:
		record->of.mark.time_ns += run->started_ns;
		break;
	case TP_RECORD_GAP:
		record->of.gap.start_ns += run->started_ns;
		record->of.gap.end_ns += run->started_ns;
		break;
	case TP_RECORD_SPAN:
		record->of.span.start_ns += run->started_ns;
		record->of.span.end_ns += run->started_ns;
		break;
	default:
		break;
	}
}

/* ---- changes ----------------------------------------------------------------------------------
 */

struct field {
	enum tp_record_kind kind;
	size_t offset;
	size_t size;
	bool is_double;
};

#define FIELD(kind, part, member)                                                                  \
	{                                                                                          \
		TP_RECORD_##kind, offsetof(struct tp_record, of.part.member),                      \
			sizeof(((struct tp_record *)0)->of.part.member), false                     \
	}

static const struct field fields[] = {
	FIELD(TASK, task, id),
	FIELD(TASK, task, tid),
	FIELD(TASK, task, pid),
	FIELD(TASK, task, parent),
	FIELD(TASK, task, start_ns),
	FIELD(TASK, task, end_ns),
	FIELD(TASK, task, exec_ns),
	FIELD(TASK, task, comm),
	FIELD(TASK, task, exe),
	FIELD(TASK, task, utime_ns),
	FIELD(TASK, task, stime_ns),
	FIELD(RUN, run, task),
	FIELD(RUN, run, cpu),
	FIELD(RUN, run, start_ns),
	FIELD(RUN, run, end_ns),
	FIELD(RUN, run, how),
	FIELD(SAMPLE, sample, task),
	FIELD(SAMPLE, sample, state),
	FIELD(SAMPLE, sample, cause),
	FIELD(SAMPLE, sample, flags),
	FIELD(SAMPLE, sample, stack),
	FIELD(SAMPLE, sample, target),
	FIELD(SAMPLE, sample, syscall),
	FIELD(SAMPLE, sample, time_ns),
	FIELD(SAMPLE, sample, address),
	FIELD(GAUGE, gauge, metric),
	FIELD(GAUGE, gauge, task),
	FIELD(GAUGE, gauge, time_ns),
	{TP_RECORD_GAUGE, offsetof(struct tp_record, of.gauge.value), sizeof(double), true},
	FIELD(MARK, mark, task),
	FIELD(MARK, mark, kind),
	FIELD(MARK, mark, name),
	FIELD(MARK, mark, time_ns),
	FIELD(MARK, mark, value),
	FIELD(GAP, gap, source),
	FIELD(GAP, gap, reason),
	FIELD(GAP, gap, start_ns),
	FIELD(GAP, gap, end_ns),
	FIELD(GAP, gap, n_lost),
	FIELD(SOURCE, source, name),
	FIELD(SOURCE, source, presence),
	FIELD(SOURCE, source, n_records),
	FIELD(SOURCE, source, n_lost),
	FIELD(TRACK, track, id),
	FIELD(TRACK, track, rank),
	FIELD(TRACK, track, device),
	FIELD(TRACK, track, number),
	FIELD(TRACK, track, task_plus_1),
	FIELD(SPAN, span, start_ns),
	FIELD(SPAN, span, end_ns),
	FIELD(SPAN, span, name),
	FIELD(SPAN, span, link),
	FIELD(SPAN, span, detail),
	FIELD(SPAN, span, track),
	FIELD(SPAN, span, kind),
};

enum { N_FIELDS = sizeof(fields) / sizeof(fields[0]) };

static uint64_t odd_number(uint64_t before, uint64_t *state)
{
	static const uint64_t numbers[] = {0,          1,          2,
					   UINT32_MAX, UINT64_MAX, INT64_MAX,
					   INT32_MAX,  1 << 15,    UINT64_C(1) << 53,
					   1000000000, 255,        UINT64_C(1) << 62};
	switch (random_below(state, 6)) {
	case 0:
		return before + random_below(state, 3) - 1;
	case 1:
		return before / 2;
	case 2:
		return before * 2;
	case 3:
		return random_below(state, 16);
	default:
		return numbers[random_below(state, sizeof(numbers) / sizeof(numbers[0]))];
	}
}

static double odd_double(double before, uint64_t *state)
{
	static const double numbers[] = {0,      -1,  1e18, -1e18, 1e300, INFINITY, NAN,
					 1e-300, 0.5, 1e9,  4e15,  -0.0,  1};
	if (random_below(state, 3) == 0)
		return before * (double)((int64_t)random_below(state, 5) - 2);
	return numbers[random_below(state, sizeof(numbers) / sizeof(numbers[0]))];
}

static void change_field(struct tp_record *record, const struct field *field, uint64_t *state)
{
	char *at = (char *)record + field->offset;
	if (field->is_double) {
		double value;
		memcpy(&value, at, sizeof(value));
		value = odd_double(value, state);
		memcpy(at, &value, sizeof(value));
		return;
	}
	uint64_t value = 0;
	memcpy(&value, at, field->size); /* little-endian, as all machines that are measured */
	value = odd_number(value, state);
	memcpy(at, &value, field->size);
}

static size_t count_kind(const struct tp_record *records, size_t n, enum tp_record_kind kind)
{
	size_t found = 0;
	for (size_t i = 0; i < n; i++)
		found += records[i].kind == kind;
	return found;
}

/* Fields of one, of some or of all records of a kind. */
static void change_fields(struct tp_record *records, size_t n, uint64_t *state)
{
	const struct field *field = &fields[random_below(state, N_FIELDS)];
	size_t n_kind = count_kind(records, n, field->kind);
	uint64_t mode = random_below(state, 3);
	size_t chosen = (size_t)random_below(state, n_kind);
	uint64_t same = *state;
	bool is_same = random_below(state, 2);
	for (size_t i = 0, k = 0; i < n; i++) {
		if (records[i].kind != field->kind)
			continue;
		bool is_hit = mode == 0   ? k == chosen
			      : mode == 1 ? random_below(state, 8) == 0
					  : true;
		uint64_t own = same;
		if (is_hit)
			change_field(&records[i], field, is_same ? &own : state);
		k++;
	}
}

/* Drop, repeat or move records of a kind. Returns the new number; there is room for twice as many.
 */
static size_t change_order(struct tp_record *records, size_t n, uint64_t *state)
{
	if (!n)
		return 0;
	enum tp_record_kind kind = records[random_below(state, n)].kind;
	uint64_t one_of = random_below(state, 2) ? 1 : 1 + random_below(state, 20);
	uint64_t mode = random_below(state, 3);
	size_t kept = 0;
	size_t n_before = n;
	struct tp_record *copy = tp_alloc(n * sizeof(*copy));
	memcpy(copy, records, n * sizeof(*copy));
	for (size_t i = 0; i < n_before; i++) {
		bool is_hit = copy[i].kind == kind && random_below(state, one_of) == 0;
		if (is_hit && mode == 0)
			continue;
		if (is_hit && mode == 1)
			records[kept++] = copy[random_below(state, n_before)];
		records[kept++] = copy[i];
		if (is_hit && mode == 2 && kept > 1) {
			size_t other = (size_t)random_below(state, kept);
			struct tp_record swap = records[other];
			records[other] = records[kept - 1];
			records[kept - 1] = swap;
		}
	}
	free(copy);
	return kept;
}

static void change_run_info(struct tp_run_info *run, uint64_t *state)
{
	switch (random_below(state, 9)) {
	case 0:
		run->started_ns = odd_number(run->started_ns, state);
		break;
	case 1:
		run->ended_ns = odd_number(run->ended_ns, state);
		break;
	case 2:
		run->measure_from_ns = odd_number(run->measure_from_ns, state);
		break;
	case 3:
		run->measure_until_ns = odd_number(run->measure_until_ns, state);
		break;
	case 4:
		run->sample_rate_hz = odd_double(run->sample_rate_hz, state);
		break;
	case 5:
		run->poll_rate_hz = odd_double(run->poll_rate_hz, state);
		break;
	case 6:
		run->host.n_cpus = (uint32_t)odd_number(run->host.n_cpus, state);
		run->host.n_allowed = (uint32_t)odd_number(run->host.n_allowed, state);
		break;
	case 7:
		run->mode = (enum tp_run_mode)random_below(state, TP_N_RUN_MODES);
		break;
	default:
		run->n_ranks = (size_t)random_below(state, run->n_ranks + 1);
	}
}

/* ---- writing and reading -----------------------------------------------------------------------
 */

static void remove_tree(const char *path)
{
	char command[512];
	snprintf(command, sizeof(command), "rm -rf '%s'", path);
	if (system(command) != 0)
		abort();
}

static void write_tables(struct tp_sink *sink, const struct tp_trace *t)
{
	for (size_t i = 1; i < t->n_strings; i++)
		(void)tp_sink_string(sink, t->strings[i]);
	for (size_t i = 1; i < t->n_frames; i++)
		(void)tp_sink_frame(sink, &t->frames[i]);
	for (size_t i = 1; i < t->n_stacks; i++)
		(void)tp_sink_stack(sink, t->stacks[i].frames, t->stacks[i].n_frames,
				    t->stacks[i].flags);
	for (size_t i = 1; i < t->n_details; i++)
		(void)tp_sink_detail(sink, &t->details[i]);
}

static void write_recording(const char *path, const struct tp_trace *t,
			    const struct tp_record *records, size_t n,
			    const struct tp_run_info *run)
{
	struct tp_store *store;
	struct tp_error err = {0};
	remove_tree(path);
	if (tp_store_create(&store, path, run, UINT64_C(1) << 30, &err) != TP_OK) {
		fprintf(stderr, "%s\n", err.text);
		exit(2);
	}
	struct tp_sink *sink = tp_store_sink(store);
	write_tables(sink, t);
	for (size_t i = 0; i < n; i++)
		sink->type->put(sink, &records[i]);
	if (tp_store_finish(store, run, &err) != TP_OK)
		fprintf(stderr, "%s\n", err.text);
}

static int call(const char *first, const char *second, const char *third, const char *fourth)
{
	char *argv[8] = {NULL};
	const char *const words[] = {"trainprof", first, second, third, fourth};
	int argc = 0;
	for (size_t i = 0; i < 5; i++)
		if (words[i])
			argv[argc++] = tp_strdup(words[i]);
	int status = tp_cli_main(argc, argv);
	for (int i = 0; i < argc; i++)
		free(argv[i]);
	return status;
}

static bool is_fine(int status)
{
	return status >= 0 && status <= 5;
}

/* All readers of a recording, or the import before them; exits with what is wrong, 0 for nothing.
 */
static void read_all(const char *recording, const char *trace, const char *rules)
{
	int null = open("/dev/null", O_WRONLY);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	alarm(SECONDS_MAX);
	char option[300];
	snprintf(option, sizeof(option), "--rules=%s", rules ? rules : "");
	const char *how = rules ? option : NULL;
	if (trace) {
		int status = call("import", "--output", recording, trace);
		if (!is_fine(status))
			_exit(90);
		if (status != 0)
			_exit(0);
	}
	if (!is_fine(call("report", "--json", recording, how)))
		_exit(91);
	if (!is_fine(call("report", "--full", recording, how)))
		_exit(92);
	if (!is_fine(call("report", "--markdown", recording, how)))
		_exit(93);
	if (!is_fine(call("explain", "--all", recording, how)))
		_exit(94);
	if (!is_fine(call("guide", "--plan", recording, how)))
		_exit(95);
	if (rules && !is_fine(call("rules", "check", how, NULL)))
		_exit(96);
	_exit(0);
}

static double now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* What happened, in words; NULL when nothing did. */
static const char *try_it(const char *recording, const char *trace, const char *rules)
{
	static char what[80];
	struct rusage usage = {0};
	int status = 0;
	double began_s = now_s();
	fflush(NULL);
	pid_t child = fork();
	if (child == 0)
		read_all(recording, trace, rules);
	if (child < 0 || wait4(child, &status, 0, &usage) != child)
		exit(2);
	double took_s = now_s() - began_s;
	fuzz.slowest_s = fmax(fuzz.slowest_s, took_s);
	if (usage.ru_maxrss > fuzz.largest_kib)
		fuzz.largest_kib = usage.ru_maxrss;
	if (WIFSIGNALED(status))
		snprintf(what, sizeof(what), "signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		snprintf(what, sizeof(what), "status %d", WEXITSTATUS(status));
	else if (usage.ru_maxrss > KIB_MAX)
		snprintf(what, sizeof(what), "%ld KiB", usage.ru_maxrss);
	else
		return NULL;
	return what;
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

/* Leave out halves, quarters, ... of the records as long as the same happens. */
static size_t minimize(const char *path, const struct scene *scene, struct tp_record *records,
		       size_t n, const struct tp_run_info *run)
{
	struct tp_record *less = tp_alloc((n + 1) * sizeof(*less));
	for (size_t part = n / 2; part > 0; part /= 2) {
		for (size_t at = 0; at + part <= n;) {
			memcpy(less, records, at * sizeof(*less));
			memcpy(less + at, records + at + part, (n - at - part) * sizeof(*less));
			write_recording(path, &scene->trace, less, n - part, run);
			if (try_it(path, NULL, NULL)) {
				memcpy(records, less, (n - part) * sizeof(*less));
				n -= part;
			} else {
				at += part;
			}
		}
	}
	free(less);
	write_recording(path, &scene->trace, records, n, run);
	return n;
}

/* ---- one input of each kind ---------------------------------------------------------------------
 */

static void mutate_file(const char *from, const char *to)
{
	struct tp_buf text = {0};
	if (tp_file_read(&text, from, 64 << 20, NULL) != TP_OK)
		return;
	char *changed = mutate_document(text.data, text.len, &fuzz.state);
	if (changed && tp_file_replace(to, changed, strlen(changed), NULL) != TP_OK)
		exit(2);
	free(changed);
	tp_buf_release(&text);
}

static void one_recording(void)
{
	const struct scene *scene = &fuzz.scenes[random_below(&fuzz.state, fuzz.n_scenes)];
	struct tp_run_info run = scene->trace.run;
	struct tp_record *records = tp_alloc((2 * scene->n + 1) * 2 * sizeof(*records));
	size_t n = scene->n;
	char path[300];
	char manifest[400];
	snprintf(path, sizeof(path), "%s/r", fuzz.work);
	memcpy(records, scene->records, n * sizeof(*records));
	for (size_t i = 0; i < n; i++)
		to_clock(&records[i], &run);
	for (uint64_t k = 1 + random_below(&fuzz.state, 3); k; k--) {
		uint64_t what = random_below(&fuzz.state, 10);
		if (what < 6)
			change_fields(records, n, &fuzz.state);
		else if (what < 9 && n <= 2 * scene->n)
			n = change_order(records, n, &fuzz.state);
		else
			change_run_info(&run, &fuzz.state);
	}
	write_recording(path, &scene->trace, records, n, &run);
	bool is_manifest = random_below(&fuzz.state, 5) == 0;
	snprintf(manifest, sizeof(manifest), "%s/manifest.json", path);
	if (is_manifest)
		mutate_file(manifest, manifest);
	const char *what = try_it(path, NULL, NULL);
	fuzz.n_recordings++;
	if (what) {
		char said[80];
		snprintf(said, sizeof(said), "%s", what);
		if (!is_manifest)
			n = minimize(path, scene, records, n, &run);
		printf("%zu records; ", n);
		keep(said, path, "recording");
	}
	free(records);
}

static void one_import(void)
{
	char trace[300];
	char path[300];
	const char *from = fuzz.traces.items[random_below(&fuzz.state, fuzz.traces.n)];
	snprintf(trace, sizeof(trace), "%s/trace.json", fuzz.work);
	snprintf(path, sizeof(path), "%s/imported", fuzz.work);
	remove_tree(path);
	mutate_file(from, trace);
	const char *what = try_it(path, trace, NULL);
	fuzz.n_imports++;
	if (what)
		keep(what, trace, "trace");
}

static void one_rule(void)
{
	char folder[300];
	char to[400];
	char seed[300];
	const char *from = fuzz.rules.items[random_below(&fuzz.state, fuzz.rules.n)];
	const struct scene *scene = &fuzz.scenes[random_below(&fuzz.state, fuzz.n_scenes)];
	const char *below = strstr(from, "rules/");
	snprintf(folder, sizeof(folder), "%s/rules", fuzz.work);
	snprintf(seed, sizeof(seed), "%s/s", fuzz.work);
	remove_tree(folder);
	snprintf(to, sizeof(to), "%s/%s", fuzz.work, below ? below : "rules/x.json");
	for (char *slash = to + strlen(fuzz.work) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(to, 0700);
		*slash = '/';
	}
	mutate_file(from, to);
	write_recording(seed, &scene->trace, NULL, 0, &scene->trace.run);
	const char *what = try_it(seed, NULL, folder);
	fuzz.n_rules++;
	if (what)
		keep(what, folder, "rules");
}

int main(int argc, char **argv)
{
	if (argc < 6)
		return 2;
	double until_s = now_s() + atof(argv[1]);
	fuzz.state = strtoull(argv[2], NULL, 10) * 2 + 1;
	fuzz.keep = argv[3];
	fuzz.work = argv[4];
	struct list *list = NULL;
	for (int i = 5; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0)
			list = list ? &fuzz.rules : &fuzz.traces;
		else if (list && list->n < SEEDS_MAX)
			list->items[list->n++] = argv[i];
		else if (!list && fuzz.n_scenes < SEEDS_MAX &&
			 scene_load(&fuzz.scenes[fuzz.n_scenes], argv[i]))
			fuzz.n_scenes++;
	}
	if (!fuzz.n_scenes)
		return 2;
	setenv("TRAINPROF_CONFIG", "", 1);
	while (now_s() < until_s) {
		uint64_t what = random_below(&fuzz.state, 14);
		if (what == 0 && fuzz.traces.n)
			one_import();
		else if (what == 1 && fuzz.rules.n)
			one_rule();
		else
			one_recording();
	}
	printf("fuzz-recordings: %" PRIu64 " recordings, %" PRIu64 " imports, %" PRIu64
	       " rules, %" PRIu64 " finds; slowest %.1f s, largest %ld MiB\n",
	       fuzz.n_recordings, fuzz.n_imports, fuzz.n_rules, fuzz.n_finds, fuzz.slowest_s,
	       fuzz.largest_kib >> 10);
	return fuzz.n_finds != 0;
}
