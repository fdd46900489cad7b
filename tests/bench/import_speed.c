/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the speed of imports, in CPU time and wall time, and their memory.
 *
 *   import_speed --make TRACE FILE MEGABYTES   writes a trace that repeats another one
 *   import_speed [--into DIRECTORY] MEGABYTES FILE...
 *
 * MEGABYTES is the unpacked size of the files. Without a directory spans are only counted;
 * otherwise a recording is written there.
 */
#include "import/json/json_scan.h"
#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/stream.h"
#include "trainprof/import/import.h"
#include "trainprof/store/recording.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static int fail(const struct tp_error *err)
{
	fprintf(stderr, "%s\n%s\n", err->text, err->next);
	return 1;
}

/* ---- making ---- */

struct range {
	uint64_t first_ns;
	uint64_t last_ns;
};

static void range_widen(struct range *range, const struct tp_json_slice *event)
{
	struct tp_json_slice ts = tp_json_slice_find(event, "ts");
	uint64_t ns;
	if (!tp_json_slice_time_ns(&ts, &ns) || !ns)
		return;
	range->first_ns = ns < range->first_ns ? ns : range->first_ns;
	range->last_ns = ns > range->last_ns ? ns : range->last_ns;
}

/* Writes a copy of the event, `shift_ns` later, with correlation and step shifted accordingly. */
static void put_event(FILE *out, const struct tp_json_slice *event, uint64_t shift_ns,
		      uint64_t copy)
{
	struct tp_json_slice ts = tp_json_slice_find(event, "ts");
	struct tp_json_slice args = tp_json_slice_find(event, "args");
	struct tp_json_slice link = tp_json_slice_find(&args, "correlation");
	const char *at = event->text;
	const char *end = at + event->len;
	uint64_t ns;
	int64_t number;
	if (tp_json_slice_time_ns(&ts, &ns)) {
		fwrite(at, 1, (size_t)(ts.text - at), out);
		ns += shift_ns;
		fprintf(out, "%" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
		at = ts.text + ts.len;
	}
	if (link.text > at && tp_json_slice_integer(&link, &number)) {
		fwrite(at, 1, (size_t)(link.text - at), out);
		fprintf(out, "%" PRIu64, (uint64_t)number + copy * 1000000);
		at = link.text + link.len;
	}
	fwrite(at, 1, (size_t)(end - at), out);
}

/* Reads the trace once: finds its range, or writes its events. */
static int pass(const char *path, struct range *range, FILE *out, uint64_t copy)
{
	struct tp_stream *stream;
	struct tp_error err = {0};
	struct tp_json_scan scan;
	struct tp_json_slice key;
	struct tp_json_slice value;
	enum tp_json_scan_item item;
	if (tp_stream_open(&stream, path, &err))
		return fail(&err);
	tp_json_scan_init(&scan, stream);
	while ((item = tp_json_scan_next(&scan, &key, &value)) != TP_JSON_SCAN_END) {
		if (item != TP_JSON_SCAN_EVENT)
			continue;
		if (!out) {
			range_widen(range, &value);
			continue;
		}
		fputs(ftell(out) > 40 ? ",\n  " : "\n  ", out);
		put_event(out, &value, copy * (range->last_ns - range->first_ns + 1000000), copy);
	}
	tp_json_scan_release(&scan);
	tp_stream_close(stream);
	return 0;
}

static int make(const char *trace, const char *path, const char *megabytes)
{
	struct range range = {.first_ns = UINT64_MAX};
	long wanted = strtol(megabytes, NULL, 10) * 1000000;
	FILE *out = fopen(path, "w");
	if (!out || pass(trace, &range, NULL, 0))
		return 1;
	fputs("{\"schemaVersion\": 1, \"traceEvents\": [", out);
	for (uint64_t copy = 0; ftell(out) < wanted; copy++)
		if (pass(trace, &range, out, copy))
			return 1;
	fputs("\n]}\n", out);
	return fclose(out) ? 1 : 0;
}

/* ---- measuring ---- */

static uint64_t n_spans;

static void count(struct tp_sink *self, const struct tp_record *record)
{
	(void)self;
	n_spans += record->kind == TP_RECORD_SPAN;
}

static const struct tp_sink_type counter = {.name = "counter", .put = count};

/* CPU time of the thread that scans; that is this thread if there is only one file. */
static uint64_t thread_cpu_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * TP_NS_PER_S + (uint64_t)now.tv_nsec;
}

static long peak_kb(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static int measure(const char *directory, double megabytes, const char *const *paths, size_t n)
{
	struct tp_sink counting;
	struct tp_sink *sink = &counting;
	struct tp_store *store = NULL;
	struct tp_import_result result;
	struct tp_import_options options = {0};
	struct tp_run_info run = {.id = "r-1"};
	struct tp_error err = {0};
	if (directory && tp_store_create(&store, directory, &run, UINT64_MAX, &err))
		return fail(&err);
	if (directory)
		sink = tp_store_sink(store);
	else
		tp_sink_init(&counting, &counter);
	uint64_t cpu_ns = tp_clock_self_cpu_ns();
	uint64_t wall_ns = tp_clock_now_ns();
	uint64_t own_ns = thread_cpu_ns();
	if (tp_import_files(&result, paths, n, &options, sink, &err))
		return fail(&err);
	if (directory && tp_store_finish(store, &run, &err))
		return fail(&err);
	double own_s = (double)(thread_cpu_ns() - own_ns) / 1e9;
	double cpu_s = (double)(tp_clock_self_cpu_ns() - cpu_ns) / 1e9;
	double wall_s = (double)(tp_clock_now_ns() - wall_ns) / 1e9;
	uint64_t n_events = 0;
	uint64_t n_kept = 0;
	for (size_t i = 0; i < result.n_ranks; i++) {
		n_events += result.ranks[i].n_events;
		n_kept += result.ranks[i].n_kept;
	}
	printf("    %-9s %9" PRIu64 " events %9" PRIu64
	       " kept  scan %6.3f s %5.0f MB/s  CPU %6.3f s %5.0f MB/s  wall %6.3f s %5.0f MB/s  "
	       "peak %3.0f MB\n",
	       directory ? "recorded" : "counted", n_events, n_kept, own_s, megabytes / own_s,
	       cpu_s, megabytes / cpu_s, wall_s, megabytes / wall_s, (double)peak_kb() / 1e3);
	tp_import_result_release(&result);
	if (!directory)
		tp_sink_release(&counting);
	return 0;
}

int main(int argc, char **argv)
{
	const char *directory = NULL;
	if (argc == 5 && strcmp(argv[1], "--make") == 0)
		return make(argv[2], argv[3], argv[4]);
	if (argc > 3 && strcmp(argv[1], "--into") == 0) {
		directory = argv[2];
		argv += 2;
		argc -= 2;
	}
	if (argc < 3) {
		fprintf(stderr, "usage: import_speed [--into DIRECTORY] MEGABYTES FILE...\n"
				"       import_speed --make TRACE FILE MEGABYTES\n");
		return 2;
	}
	return measure(directory, strtod(argv[1], NULL), (const char *const *)argv + 2,
		       (size_t)argc - 2);
}
