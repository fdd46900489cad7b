/* SPDX-License-Identifier: Apache-2.0 */
/* Imports the public traces and compares every number with the reference answers next to them:
 * check_traces DIRECTORY, which contains expected.json and the traces. Ends with a line "traces: N
 * passed, N failed, N skipped". */
#include "trainprof/advise/advise.h"
#include "trainprof/analyze/analyze.h"
#include "trainprof/base/json.h"
#include "trainprof/base/memory.h"
#include "trainprof/import/import.h"
#include "trainprof/model/trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n_passed;
static int n_failed;

/* Shares are percentages rounded to three digits. */
static const double SHARE_MOST = 0.05;

__attribute__((format(printf, 2, 3))) static void check(bool holds, const char *format, ...)
{
	if (holds) {
		n_passed++;
		return;
	}
	n_failed++;
	va_list args;
	va_start(args, format);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
}

struct judged {
	struct tp_import_result import;
	struct tp_trace trace;
	struct tp_profile profile;
	struct tp_findings findings;
};

/* Removes the framework's marks, so that steps have to be detected. */
static void take_out_marks(struct tp_trace *trace)
{
	static const char mark[] = "ProfilerStep#";
	for (size_t i = 0; i < trace->n_tracks; i++) {
		struct tp_track_spans *spans = &trace->spans[i];
		size_t n = 0;
		for (size_t k = 0; k < spans->n; k++)
			if (strncmp(tp_trace_string(trace, spans->items[k].name), mark,
				    strlen(mark)) != 0)
				spans->items[n++] = spans->items[k];
		spans->n = n;
	}
}

static bool judge(struct judged *out, const char *path, const struct tp_patterns *patterns,
		  const struct tp_rulebook *book, bool has_marks)
{
	static const struct tp_import_options import_options;
	static const struct tp_analyze_options options;
	struct tp_trace_builder builder;
	struct tp_error err = {0};
	tp_trace_builder_init(&builder);
	enum tp_status status =
		tp_import_files(&out->import, &path, 1, &import_options, &builder.sink, &err);
	if (!status) {
		struct tp_run_info run = {.mode = TP_MODE_IMPORT,
					  .ranks = out->import.ranks,
					  .n_ranks = out->import.n_ranks,
					  .started_ns = out->import.first_ns,
					  .ended_ns = out->import.last_ns};
		tp_trace_build(&out->trace, &builder, &run);
		if (!has_marks)
			take_out_marks(&out->trace);
		status = tp_analyze(&out->profile, &out->trace, patterns, &options, &err);
	}
	tp_trace_builder_release(&builder);
	check(!status, "%s: %s", path, err.text);
	if (!status)
		tp_advise(&out->findings, book, &out->profile);
	return !status;
}

static void release(struct judged *judged)
{
	tp_findings_release(&judged->findings);
	tp_profile_release(&judged->profile);
	tp_trace_release(&judged->trace);
	tp_import_result_release(&judged->import);
}

static void check_count(const char *id, const char *what, const struct tp_json *expected,
			uint64_t found)
{
	double value = tp_json_number(expected, 0);
	check(fabs((double)found - value) < 0.5, "%s: %s is %" PRIu64 ", not %.0f", id, what, found,
	      value);
}

/* ---- one rank ---- */

static void check_device(const char *id, const struct tp_json *expected,
			 const struct tp_device_result *device)
{
	static const struct {
		const char *name;
		enum tp_op_class class;
	} ops[] = {{"compute", TP_OP_COMPUTE}, {"comm", TP_OP_COMMUNICATION}, {"copy", TP_OP_COPY}};
	const struct tp_json *counts = tp_json_get(expected, "ops");
	for (size_t i = 0; i < TP_ARRAY_LEN(ops); i++)
		check_count(id, ops[i].name, tp_json_get(counts, ops[i].name),
			    device->n_ops[ops[i].class]);
	const struct {
		const char *name;
		uint64_t found;
	} sums[] = {
		{"window_ns", device->span_ns},
		{"busy_ns", device->busy_ns},
		{"idle_ns", device->span_ns - device->busy_ns},
		{"compute_union_ns", device->union_ns[TP_OP_COMPUTE]},
		{"comm_union_ns", device->union_ns[TP_OP_COMMUNICATION]},
		{"copy_union_ns", device->union_ns[TP_OP_COPY]},
		{"exposed_comm_ns", device->exposed_communication_ns},
		{"exposed_copy_ns", device->exposed_copy_ns},
		{"compute_comm_overlap_ns", device->overlap_ns},
	};
	for (size_t i = 0; i < TP_ARRAY_LEN(sums); i++)
		check_count(id, sums[i].name, tp_json_get(expected, sums[i].name), sums[i].found);
}

static void check_devices(const char *id, const struct tp_json *expected, uint32_t rank,
			  const struct tp_profile *profile)
{
	TP_JSON_EACH (item, expected) {
		const struct tp_device_result *found = NULL;
		for (size_t i = 0; i < profile->n_devices; i++)
			if (profile->devices[i].rank == rank &&
			    profile->devices[i].number == atoi(tp_json_key(item)))
				found = &profile->devices[i];
		/* If each process has a device of its own, the processes are separate ranks. */
		for (size_t i = 0; i < profile->n_devices && !found; i++)
			if (profile->devices[i].number == atoi(tp_json_key(item)))
				found = &profile->devices[i];
		check(found != NULL, "%s: no device %s", id, tp_json_key(item));
		if (found)
			check_device(id, item, found);
	}
}

static void check_shares(const char *id, const struct tp_json *expected,
			 const uint64_t part_ns[TP_N_PARTS], uint64_t total_ns)
{
	TP_JSON_EACH (item, expected) {
		enum tp_part part = tp_part_find(tp_json_key(item));
		if (part == TP_N_PARTS)
			continue;
		double found = total_ns ? 100 * (double)part_ns[part] / (double)total_ns : 0;
		double value = tp_json_number(item, -1);
		check(fabs(found - value) <= SHARE_MOST, "%s: %s is %.3f %%, not %.3f", id,
		      tp_json_key(item), found, value);
	}
}

/* The reference answers are of all whole steps, also of those that are not judged. */
static void check_shares_of_all(const char *id, const struct tp_json *expected,
				const struct tp_profile *profile,
				const struct tp_device_result *device)
{
	uint64_t part_ns[TP_N_PARTS];
	uint64_t total_ns = device->window_ns;
	memcpy(part_ns, device->own_ns, sizeof(part_ns));
	for (size_t i = 0; profile->n_devices == 1 && i < profile->n_steps; i++) {
		const struct tp_step *step = &profile->steps[i];
		if (step->kind == TP_STEP_STEADY || step->kind == TP_STEP_CUT)
			continue;
		total_ns += step->end_ns - step->start_ns;
		for (int part = 0; part < TP_N_PARTS; part++)
			part_ns[part] += step->part_ns[part];
	}
	check_shares(id, expected, part_ns, total_ns);
}

static void check_list(const char *id, const char *what, const struct tp_json *expected,
		       const uint64_t *found, uint64_t n)
{
	uint64_t i = 0;
	check(tp_json_count(expected) == n, "%s: %" PRIu64 " %s, not %zu", id, n, what,
	      tp_json_count(expected));
	TP_JSON_EACH (item, expected)
		if (i < n)
			check_count(id, what, item, found[i++]);
}

static void check_rank(const char *id, const struct tp_json *expected,
		       const struct tp_profile *profile, uint32_t rank)
{
	check_devices(id, tp_json_get(expected, "devices"), rank, profile);
	const struct tp_device_result *device = NULL;
	for (size_t i = 0; i < profile->n_devices && !device; i++)
		if (profile->devices[i].rank == rank)
			device = &profile->devices[i];
	check(device != NULL, "%s: nothing is known of the rank", id);
	if (!device)
		return;
	check_shares_of_all(id, tp_json_get(expected, "share_percent"), profile, device);
	check_list(id, "host_step_ns", tp_json_get(expected, "host_step_ns"), device->step_ns,
		   device->n_steps);
	if (tp_json_get(expected, "device_ops_per_step"))
		check_list(id, "device_ops_per_step", tp_json_get(expected, "device_ops_per_step"),
			   device->ops_per_step, device->n_steps);
	/* For a file with several processes the sum of all. */
	const struct tp_run_info *run = &profile->trace->run;
	uint64_t n_events = 0;
	for (size_t i = 0; i < run->n_ranks; i++)
		if (i == rank || !run->ranks[i].member)
			n_events += run->ranks[i].n_events;
	check_count(id, "events", tp_json_get(expected, "events"), n_events);
}

static void check_loss(const char *id, const struct tp_json *expected,
		       const struct tp_profile *profile)
{
	const char *text = tp_json_string(tp_json_get(expected, "largest_loss"));
	if (!text)
		return;
	const char *found =
		profile->largest_loss < TP_N_PARTS ? tp_part_name(profile->largest_loss) : "none";
	check(strncmp(text, found, strlen(found)) == 0, "%s: the largest loss is %s, not %s", id,
	      found, text);
}

/* A healthy trace raises no alarm. */
static void check_alarms(const char *id, const struct tp_json *expected,
			 const struct tp_findings *findings)
{
	const char *text = tp_json_string(tp_json_get(expected, "largest_loss"));
	if (!text || strncmp(text, "none", 4) != 0)
		return;
	for (size_t i = 0; i < findings->n_items; i++) {
		const struct tp_finding *finding = &findings->items[i];
		check(finding->state != TP_FINDING_FIRED || finding->level != TP_LEVEL_HIGH,
		      "%s: is healthy, but %s fires: %s", id, finding->rule, finding->title);
	}
}

/* ---- the job ---- */

static const struct tp_device_result *device_of(const struct tp_profile *profile, double number)
{
	for (size_t i = 0; i < profile->n_devices; i++)
		if (profile->trace->run.ranks[profile->devices[i].rank].number == (int64_t)number)
			return &profile->devices[i];
	return NULL;
}

static void check_collectives(const struct tp_json *expected, const struct tp_profile *profile)
{
	size_t i = 0;
	check(tp_json_count(expected) == profile->n_collectives, "job: %zu collectives, not %zu",
	      profile->n_collectives, tp_json_count(expected));
	TP_JSON_EACH (item, expected) {
		if (i >= profile->n_collectives)
			break;
		char id[32];
		snprintf(id, sizeof(id), "collective %zu", i);
		const struct tp_collective_result *found = &profile->collectives[i++];
		check_count(id, "arrival_spread_ns", tp_json_get(item, "arrival_spread_ns"),
			    found->arrival_spread_ns);
		check_count(id, "end_spread_ns", tp_json_get(item, "end_spread_ns"),
			    found->end_spread_ns);
		check_count(id, "transfer_ns", tp_json_get(item, "transfer_ns"),
			    found->transfer_ns);
		TP_JSON_EACH (wait, tp_json_get(item, "wait_ns")) {
			const struct tp_device_result *device =
				device_of(profile, atof(tp_json_key(wait)));
			if (device)
				check_count(id, "wait_ns", wait,
					    found->wait_ns[device - profile->devices]);
		}
	}
}

static void check_rank_sums(const struct tp_json *item, const struct tp_device_result *device,
			    const char *id)
{
	static const struct {
		const char *key;
		bool is_after;
	} tables[] = {{"own_ns", false}, {"after_wait_transfer_ns", true}};
	check_count(id, "window_ns", tp_json_get(item, "window_ns"), device->window_ns);
	for (size_t t = 0; t < TP_ARRAY_LEN(tables); t++) {
		TP_JSON_EACH (value, tp_json_get(item, tables[t].key)) {
			enum tp_part part = tp_part_find(tp_json_key(value));
			uint64_t found = device->not_captured_ns;
			if (part < TP_N_PARTS)
				found = tables[t].is_after ? device->after_ns[part]
							   : device->own_ns[part];
			/* There, time that was not captured is counted separately. */
			if (tables[t].is_after && part == TP_PART_COMMUNICATION)
				found -= device->not_captured_ns;
			check_count(id, tp_json_key(value), value, found);
		}
	}
}

static void check_job(const struct tp_json *expected, const struct tp_profile *profile)
{
	uint64_t own_ns[TP_N_PARTS] = {0};
	uint64_t after_ns[TP_N_PARTS] = {0};
	uint64_t lost_ns = 0;
	uint64_t total_ns = 0;
	TP_JSON_EACH (item, tp_json_get(expected, "per_rank")) {
		double number = tp_json_number(tp_json_get(item, "rank"), -1);
		const struct tp_device_result *device = device_of(profile, number);
		char id[32];
		snprintf(id, sizeof(id), "rank %.0f", number);
		check(device != NULL, "%s: is not there", id);
		if (!device)
			continue;
		check_rank_sums(item, device, id);
		total_ns += device->window_ns;
		lost_ns += device->not_captured_ns;
		for (int part = 0; part < TP_N_PARTS; part++) {
			own_ns[part] += device->own_ns[part];
			after_ns[part] += device->after_ns[part];
		}
	}
	after_ns[TP_PART_COMMUNICATION] -= lost_ns;
	check_shares("job before", tp_json_get(expected, "job_share_percent_before"), own_ns,
		     total_ns);
	check_shares("job after", tp_json_get(expected, "job_share_percent_after_wait_transfer"),
		     after_ns, total_ns);
	TP_JSON_EACH (item, tp_json_get(expected, "wait_caused_by_ns")) {
		const struct tp_device_result *device =
			device_of(profile, atof(tp_json_key(item) + strlen("rank")));
		if (device)
			check_count("job", tp_json_key(item), item, device->wait_caused_ns);
	}
	check_collectives(tp_json_get(expected, "collectives"), profile);
}

/* ---- files ---- */

static const struct tp_json *find_member(const struct tp_json *cases, const char *member)
{
	TP_JSON_EACH (item, cases) {
		const char *name = tp_json_string(tp_json_get(item, "member"));
		if (name && member && strcmp(name, member) == 0)
			return item;
	}
	return NULL;
}

static void check_archive(const char *path, const struct tp_json *root,
			  const struct tp_patterns *patterns, const struct tp_rulebook *book)
{
	struct judged judged = {0};
	if (!judge(&judged, path, patterns, book, true))
		return;
	for (uint32_t i = 0; i < judged.trace.run.n_ranks; i++) {
		const struct tp_json *expected =
			find_member(tp_json_get(root, "cases"), judged.trace.run.ranks[i].member);
		check(expected != NULL, "%s: unknown member", path);
		if (expected)
			check_rank(tp_json_key(expected), expected, &judged.profile, i);
	}
	check_job(tp_json_get(root, "param-dlrm-job"), &judged.profile);
	release(&judged);
}

static void check_file(const char *path, const struct tp_json *expected,
		       const struct tp_patterns *patterns, const struct tp_rulebook *book)
{
	const char *id = tp_json_key(expected);
	struct judged judged = {0};
	if (!judge(&judged, path, patterns, book, true))
		return;
	check_rank(id, expected, &judged.profile, 0);
	check_loss(id, expected, &judged.profile);
	check_alarms(id, expected, &judged.findings);
	check(tp_profile_is_exact(&judged.profile), "%s: parts do not sum to the window", id);
	release(&judged);
}

/* Checks how many pieces of device work are launched between marks of the trace; 0 = its launches
 * do not repeat, although layers of it do. */
static void check_period(const char *directory, const char *id, uint64_t n_ops,
			 const struct tp_patterns *patterns, const struct tp_rulebook *book)
{
	struct judged judged = {0};
	char *path = tp_asprintf("%s/%s.json.gz", directory, id);
	if (judge(&judged, path, patterns, book, false)) {
		const struct tp_profile *profile = &judged.profile;
		const struct tp_device_result *device = &profile->devices[0];
		check(profile->is_of_steps == (n_ops > 0), "%s without marks: %s", id,
		      profile->steps_reason);
		check(!n_ops || device->n_steps > 1, "%s without marks: few steps", id);
		for (size_t i = 0; i < device->n_steps; i++)
			check(device->ops_per_step[i] == n_ops,
			      "%s without marks: step %zu has %" PRIu64
			      " pieces of work, not %" PRIu64,
			      id, i, device->ops_per_step[i], n_ops);
	}
	release(&judged);
	free(path);
}

static void check_periods(const char *directory, const struct tp_patterns *patterns,
			  const struct tp_rulebook *book)
{
	static const struct {
		const char *id;
		uint64_t n_ops;
	} periods[] = {
		{"kineto-r50-w0-s5", 1516},
		{"kineto-r50-w4-s5", 1543},
		{"hta-trace-diff-control", 1575},
		{"tl-mi300-resnet-act-ckpt", 895},
		{"tl-h100-qwen", 0},
	};
	for (size_t i = 0; i < TP_ARRAY_LEN(periods); i++)
		check_period(directory, periods[i].id, periods[i].n_ops, patterns, book);
}

static void check_all(const char *directory, const struct tp_json *root,
		      const struct tp_patterns *patterns, const struct tp_rulebook *book)
{
	bool archive_is_checked = false;
	TP_JSON_EACH (item, tp_json_get(root, "cases")) {
		char *path =
			tp_asprintf("%s/%s", directory, tp_json_string(tp_json_get(item, "file")));
		if (!tp_json_get(item, "member"))
			check_file(path, item, patterns, book);
		else if (!archive_is_checked)
			check_archive(path, root, patterns, book);
		archive_is_checked |= tp_json_get(item, "member") != NULL;
		free(path);
	}
}

int main(int argc, char **argv)
{
	const char *directory = argc > 1 ? argv[1] : "../shared/traces";
	static const char *const rules = "rules";
	struct tp_json_doc *doc = NULL;
	struct tp_patterns *patterns = NULL;
	struct tp_rulebook *book = NULL;
	struct tp_error err = {0};
	char *path = tp_asprintf("%s/expected.json", directory);
	enum tp_status status = tp_json_load(&doc, path, &err);
	free(path);
	if (status == TP_ABSENT) {
		printf("skipped: no public traces in '%s'\n", directory);
		printf("traces: 0 passed, 0 failed, 1 skipped\n");
		return 0;
	}
	if (!status)
		status = tp_patterns_load(&patterns, "rules/patterns", &err);
	if (!status)
		status = tp_rulebook_load(&book, &rules, 1, &err);
	check(!status, "%s", err.text);
	if (!status) {
		check_all(directory, tp_json_root(doc), patterns, book);
		check_periods(directory, patterns, book);
	}
	tp_rulebook_free(book);
	tp_patterns_free(patterns);
	tp_json_free(doc);
	printf("traces: %d passed, %d failed, 0 skipped\n", n_passed, n_failed);
	return n_failed > 0;
}
