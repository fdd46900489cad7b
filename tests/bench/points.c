/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares a report with the truth that the program wrote itself, in points per part.
 *
 * 	points [--wait-as PART] [--label TEXT] [--max POINTS] DIRECTORY TRUTH
 *
 * DIRECTORY is a recording with report.json and manifest.json. The manifest contains the zero of
 * the report's clock, so the truth is summed over exactly the steps that the report calls steady,
 * or over its window if it has no steps or too many to list them.
 *
 * Time in which the main thread wanted a CPU and had none is idle, unless its phase (dataloader,
 * communication) covers it. While a team computes, the main thread's queueing may be either: its
 * team mates compute at that instant or they do not, and that was not recorded; then compute and
 * idle are intervals, and the error is the distance to them.
 *
 * --wait-as moves the time until the last rank arrived to the part in which that rank was
 * meanwhile. Exit status: 0, 1 if an error exceeds --max, 2 misuse, 4 unreadable.
 */
#include "trainprof/base/json.h"
#include "trainprof/base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum part { COMPUTE, COMMUNICATION, MEMORY, DATALOADER, HOST, IDLE, N_PARTS };

static const char *const names[N_PARTS] = {
	"compute", "communication", "memory", "dataloader", "host", "idle",
};

struct options {
	const char *label;
	const char *wait_as;
	const char *directory;
	const char *truth;
	double max_points;
};

/* Half-open intervals on the truth's clock, ascending, that the report covers. */
struct spans {
	double *start_ns;
	double *end_ns;
	size_t n;
};

/* Shares of the whole, 0 to 1. */
struct shares {
	double low[N_PARTS];
	double high[N_PARTS];
};

static struct tp_json_doc *load(const char *path)
{
	struct tp_json_doc *doc = NULL;
	struct tp_error err = {0};
	if (tp_json_load(&doc, path, &err) != TP_OK) {
		fprintf(stderr, "points: %s\n", err.text);
		return NULL;
	}
	return doc;
}

static double number(const struct tp_json *object, const char *key)
{
	return tp_json_number(tp_json_get(object, key), 0);
}

/* Clock values are written as text if they may exceed the precision of JSON readers. */
static double clock_value(const struct tp_json *object, const char *key)
{
	const char *text = tp_json_string(tp_json_get(object, key));
	return text ? strtod(text, NULL) : number(object, key);
}

static size_t read_numbers(double **out, const struct tp_json *array)
{
	size_t n = tp_json_count(array);
	size_t i = 0;
	*out = tp_alloc((n + 1) * sizeof(**out));
	TP_JSON_EACH (item, array)
		(*out)[i++] = tp_json_number(item, 0);
	return n;
}

static void spans_add(struct spans *spans, double start_ns, double end_ns)
{
	if (end_ns <= start_ns)
		return;
	spans->start_ns[spans->n] = start_ns;
	spans->end_ns[spans->n] = end_ns;
	spans->n++;
}

static void spans_release(struct spans *spans)
{
	free(spans->start_ns);
	free(spans->end_ns);
}

/* Returns the steady steps if they are listed one by one, otherwise the window. */
static struct spans report_spans(const struct tp_json *report, double zero_ns)
{
	const struct tp_json *series = tp_json_get(tp_json_get(report, "steps"), "series");
	const struct tp_json *kinds = tp_json_get(series, "kinds");
	const struct tp_json *window = tp_json_get(tp_json_get(report, "run"), "window");
	const char *of = tp_json_string(tp_json_get(tp_json_get(report, "partition"), "of"));
	double *start;
	double *duration;
	size_t n = read_numbers(&start, tp_json_get(series, "start_ns"));
	size_t n_durations = read_numbers(&duration, tp_json_get(series, "duration_ns"));
	struct spans spans = {tp_alloc((n + 1) * sizeof(double)),
			      tp_alloc((n + 1) * sizeof(double)), 0};
	if (of && strcmp(of, "step") == 0 && n && n == n_durations && tp_json_count(kinds) == n) {
		size_t i = 0;
		TP_JSON_EACH (kind, kinds) {
			const char *name = tp_json_string(kind);
			if (name && strcmp(name, "steady") == 0)
				spans_add(&spans, zero_ns + start[i],
					  zero_ns + start[i] + duration[i]);
			i++;
		}
	} else {
		spans_add(&spans, zero_ns + number(window, "start_ns"),
			  zero_ns + number(window, "end_ns"));
	}
	free(start);
	free(duration);
	return spans;
}

static double overlap_ns(const struct spans *spans, double from_ns, double to_ns)
{
	double sum_ns = 0;
	for (size_t i = 0; i < spans->n && spans->start_ns[i] < to_ns; i++)
		sum_ns +=
			fmax(0, fmin(to_ns, spans->end_ns[i]) - fmax(from_ns, spans->start_ns[i]));
	return sum_ns;
}

/* Returns the fraction of each step of the truth that lies in the spans, 0 to 1. */
static double *step_weights(const struct tp_json *truth, const struct spans *spans)
{
	const struct tp_json *window = tp_json_get(truth, "window");
	double zero_ns = number(window, "start_ns");
	double *start;
	size_t n = read_numbers(&start, tp_json_get(tp_json_get(truth, "per_step"), "start_ns"));
	double *weight = tp_alloc((n + 1) * sizeof(*weight));
	start[n] = number(window, "end_ns") - zero_ns;
	for (size_t i = 0; i < n; i++) {
		double length = start[i + 1] - start[i];
		if (length > 0)
			weight[i] = overlap_ns(spans, zero_ns + start[i], zero_ns + start[i + 1]) /
				    length;
	}
	free(start);
	return weight;
}

static double weighted_sum(const struct tp_json *array, const double *weight)
{
	double *x;
	double sum = 0;
	size_t n = read_numbers(&x, array);
	for (size_t i = 0; i < n; i++)
		sum += x[i] * weight[i];
	free(x);
	return sum;
}

/* Computes the parts in ns over the spans. Returns the time on the run queue during compute, memory
 * and host. */
static double truth_parts(const struct tp_json *truth, const struct spans *spans, double *part_ns)
{
	const struct tp_json *per_step = tp_json_get(truth, "per_step");
	const struct tp_json *runnable = tp_json_get(truth, "runnable_ns");
	if (tp_json_type(per_step) != TP_JSON_OBJECT) {
		for (int p = 0; p < N_PARTS; p++)
			part_ns[p] = number(tp_json_get(truth, "parts_ns"), names[p]);
		return number(runnable, "compute") + number(runnable, "memory") +
		       number(runnable, "host");
	}
	double *weight = step_weights(truth, spans);
	for (int p = 0; p < N_PARTS; p++)
		part_ns[p] = weighted_sum(tp_json_get(per_step, names[p]), weight);
	double queued = weighted_sum(tp_json_get(per_step, "runnable_ns"), weight);
	free(weight);
	return queued;
}

static void move(double *part_ns, int from, int to, double ns)
{
	ns = fmin(ns, part_ns[from]);
	part_ns[from] -= ns;
	part_ns[to] += ns;
}

static int part_of(const char *name)
{
	for (int p = 0; name && p < N_PARTS; p++) {
		if (strcmp(name, names[p]) == 0)
			return p;
	}
	return -1;
}

static void truth_shares(struct shares *out, const struct tp_json *truth, const struct spans *spans,
			 const char *wait_as)
{
	static const int queued_parts[] = {COMPUTE, MEMORY, HOST};
	const struct tp_json *runnable = tp_json_get(truth, "runnable_ns");
	double part_ns[N_PARTS];
	double queued_ns = truth_parts(truth, spans, part_ns);
	double all_ns = number(tp_json_get(truth, "parts_ns"), "communication");
	double waited_ns = number(tp_json_get(truth, "communication"), "wait_ns");
	double all_queued_ns =
		number(runnable, "compute") + number(runnable, "memory") + number(runnable, "host");
	double compute_queued_ns = 0;
	for (size_t i = 0; i < TP_ARRAY_LEN(queued_parts) && all_queued_ns > 0; i++) {
		int p = queued_parts[i];
		double ns = queued_ns * number(runnable, names[p]) / all_queued_ns;
		if (p == COMPUTE)
			compute_queued_ns = fmin(ns, part_ns[COMPUTE]);
		move(part_ns, p, IDLE, ns);
	}
	if (part_of(wait_as) >= 0 && all_ns > 0)
		move(part_ns, COMMUNICATION, part_of(wait_as),
		     waited_ns * part_ns[COMMUNICATION] / all_ns);
	double total_ns = 0;
	for (int p = 0; p < N_PARTS; p++)
		total_ns += part_ns[p];
	for (int p = 0; p < N_PARTS; p++)
		out->low[p] = out->high[p] = total_ns > 0 ? part_ns[p] / total_ns : 0;
	if (number(truth, "threads") > 1 && total_ns > 0) {
		out->high[COMPUTE] += compute_queued_ns / total_ns;
		out->low[IDLE] -= compute_queued_ns / total_ns;
	}
}

/* Computes shares from the report's integer times, not from its rounded ratios. Returns false if it
 * has none. */
static bool report_shares(double *out, const struct tp_json *report)
{
	const struct tp_json *partition = tp_json_get(report, "partition");
	double total_ns = number(partition, "total_ns");
	double sum_ns = 0;
	for (int p = 0; p < N_PARTS; p++)
		out[p] = 0;
	TP_JSON_EACH (part, tp_json_get(partition, "parts")) {
		int p = part_of(tp_json_string(tp_json_get(part, "id")));
		if (p >= 0 && total_ns > 0)
			out[p] = number(part, "time_ns") / total_ns;
		sum_ns += number(part, "time_ns");
	}
	return total_ns > 0 && fabs(sum_ns - total_ns) < 1;
}

static double distance(double x, double low, double high)
{
	if (x < low)
		return x - low;
	return x > high ? x - high : 0;
}

static double print_row(const char *label, const double *measured, const struct shares *truth)
{
	double worst = 0;
	printf("%-34s", label);
	for (int p = 0; p < N_PARTS; p++) {
		double points = 100 * distance(measured[p], truth->low[p], truth->high[p]);
		worst = fmax(worst, fabs(points));
		printf("  %5.1f %5.1f %+5.1f", 100 * measured[p],
		       100 * (truth->low[p] + truth->high[p]) / 2, points);
	}
	printf("  %5.2f\n", worst);
	return worst;
}

static void print_header(void)
{
	printf("%-34s", "measured, truth, error in points");
	for (int p = 0; p < N_PARTS; p++)
		printf("  %17.17s", names[p]);
	printf("  worst\n");
}

static int compare_files(const struct options *o)
{
	char path[4096];
	double measured[N_PARTS];
	struct shares truth_share;
	int status = 4;
	snprintf(path, sizeof(path), "%s/report.json", o->directory);
	struct tp_json_doc *report = load(path);
	snprintf(path, sizeof(path), "%s/manifest.json", o->directory);
	struct tp_json_doc *manifest = load(path);
	struct tp_json_doc *truth = load(o->truth);
	if (!report || !manifest || !truth)
		goto out;
	if (!report_shares(measured, tp_json_root(report))) {
		fprintf(stderr, "points: %s/report.json: parts do not sum to total_ns\n",
			o->directory);
		goto out;
	}
	double zero_ns = clock_value(tp_json_get(tp_json_root(manifest), "run"), "started_ns");
	struct spans spans = report_spans(tp_json_root(report), zero_ns);
	truth_shares(&truth_share, tp_json_root(truth), &spans, o->wait_as);
	spans_release(&spans);
	status = print_row(o->label, measured, &truth_share) > o->max_points;
out:
	tp_json_free(report);
	tp_json_free(manifest);
	tp_json_free(truth);
	return status;
}

int main(int argc, char **argv)
{
	struct options o = {.label = "", .max_points = 100};
	int i = 1;
	if (argc == 2 && strcmp(argv[1], "--header") == 0) {
		print_header();
		return 0;
	}
	for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
		if (strcmp(argv[i], "--label") == 0)
			o.label = argv[i + 1];
		else if (strcmp(argv[i], "--wait-as") == 0)
			o.wait_as = argv[i + 1];
		else if (strcmp(argv[i], "--max") == 0)
			o.max_points = strtod(argv[i + 1], NULL);
		else
			break;
	}
	if (argc - i != 2 || (o.wait_as && part_of(o.wait_as) < 0)) {
		fprintf(stderr, "usage: points [--wait-as PART] [--label TEXT] [--max POINTS] "
				"DIRECTORY TRUTH\n       points --header\n");
		return 2;
	}
	o.directory = argv[i];
	o.truth = argv[i + 1];
	return compare_files(&o);
}
