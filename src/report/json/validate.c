/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the guarantees of a report: exact sums, no null without a reason, ids that exist. */
#include "trainprof/report/validate.h"

#include "trainprof/base/text.h"
#include "trainprof/model/part.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

struct schema_check {
	const struct tp_json_doc *doc;
	struct tp_buf *problems;
	size_t n;
};

__attribute__((format(printf, 3, 4))) static void
add_error(struct schema_check *check, const struct tp_json *where, const char *format, ...)
{
	va_list args;
	tp_buf_printf(check->problems, "%s:%u: ", tp_json_name(check->doc),
		      where ? tp_json_line(where) : 1);
	va_start(args, format);
	tp_buf_vprintf(check->problems, format, args);
	va_end(args);
	tp_buf_putc(check->problems, '\n');
	check->n++;
}

/* Returns a whole number; adds an error if the member is none. */
static uint64_t whole(struct schema_check *check, const struct tp_json *object, const char *key)
{
	uint64_t value = 0;
	const struct tp_json *member = tp_json_get(object, key);
	if (!tp_json_uint(member, &value))
		add_error(check, member ? member : object, "%s is not a whole number", key);
	return value;
}

static void check_labels(struct schema_check *check, const struct tp_json *part, uint64_t time_ns)
{
	const struct tp_json *labels = tp_json_get(part, "labels");
	if (!labels)
		return;
	uint64_t sum = 0;
	TP_JSON_EACH (label, labels) {
		sum += whole(check, label, "time_ns");
	}
	if (sum != time_ns)
		add_error(check, labels, "labels sum to %llu, time_ns is %llu",
			  (unsigned long long)sum, (unsigned long long)time_ns);
}

static void check_share(struct schema_check *check, const struct tp_json *part, uint64_t time_ns,
			uint64_t total_ns)
{
	const struct tp_json *share = tp_json_get(tp_json_get(part, "share_ratio"), "value");
	if (!share || tp_json_type(share) != TP_JSON_NUMBER || !total_ns)
		return;
	double expected = (double)time_ns / (double)total_ns;
	if (fabs(tp_json_number(share, 0) - expected) > 1e-6)
		add_error(check, share, "share_ratio is %g, time_ns / total_ns is %g",
			  tp_json_number(share, 0), expected);
}

/* The lines of one kind are disjoint in time, so they sum to at most the time of their part. */
static void check_lines(struct schema_check *check, const struct tp_json *partition, const char *of)
{
	TP_JSON_EACH (part, tp_json_get(partition, "parts")) {
		const char *id = tp_json_string(tp_json_get(part, "id"));
		uint64_t sum = 0;
		TP_JSON_EACH (line, tp_json_get(partition, "lines")) {
			const char *its = tp_json_string(tp_json_get(line, "part"));
			const char *kind = tp_json_string(tp_json_get(line, "of"));
			if (id && its && kind && strcmp(id, its) == 0 && strcmp(of, kind) == 0)
				sum += whole(check, line, "time_ns");
		}
		if (sum > whole(check, part, "time_ns"))
			add_error(check, part, "lines of its %s sum to %llu, more than time_ns", of,
				  (unsigned long long)sum);
	}
}

static void check_partition(struct schema_check *check, const struct tp_json *root)
{
	const struct tp_json *partition = tp_json_get(root, "partition");
	if (!partition) {
		add_error(check, root, "no partition");
		return;
	}
	uint64_t total_ns = whole(check, partition, "total_ns");
	uint64_t sum = 0;
	TP_JSON_EACH (part, tp_json_get(partition, "parts")) {
		const char *id = tp_json_string(tp_json_get(part, "id"));
		if (!id || tp_part_find(id) == TP_N_PARTS)
			add_error(check, part, "no part '%s'", id ? id : "");
		uint64_t time_ns = whole(check, part, "time_ns");
		sum += time_ns;
		check_labels(check, part, time_ns);
		check_share(check, part, time_ns, total_ns);
	}
	if (sum != total_ns)
		add_error(check, partition, "parts sum to %llu, total_ns is %llu",
			  (unsigned long long)sum, (unsigned long long)total_ns);
	check_lines(check, partition, "loop");
	check_lines(check, partition, "own");
}

/* The counts of the kinds of steps must sum to the total. */
static void check_step_counts(struct schema_check *check, const struct tp_json *root)
{
	const struct tp_json *steps = tp_json_get(root, "steps");
	const struct tp_json *kinds = tp_json_get(steps, "by_kind");
	uint64_t sum = 0;
	if (!kinds)
		return; /* written by a version without this member */
	uint64_t total = whole(check, steps, "total_count");
	TP_JSON_EACH (kind, kinds) {
		sum += whole(check, kinds, tp_json_key(kind));
	}
	if (sum != total)
		add_error(check, kinds, "steps by kind sum to %llu, total_count is %llu",
			  (unsigned long long)sum, (unsigned long long)total);
	if (whole(check, kinds, "steady") != whole(check, steps, "count") ||
	    whole(check, kinds, "warmup") != whole(check, steps, "excluded_warmup"))
		add_error(check, kinds, "steps by kind differ from count and excluded_warmup");
}

/* The i-th numbers of all parts' columns must sum to the step's duration; means are rounded down,
 * so a group may lack one ns per part. */
static void check_series(struct schema_check *check, const struct tp_json *root)
{
	const struct tp_json *series = tp_json_get(tp_json_get(root, "steps"), "series");
	const struct tp_json *parts = tp_json_get(series, "parts_ns");
	if (!parts)
		return;
	const struct tp_json *columns[TP_N_PARTS];
	size_t n = 0;
	TP_JSON_EACH (column, parts) {
		if (n < TP_N_PARTS)
			columns[n++] = tp_json_first(column);
	}
	uint64_t slack = tp_json_number(tp_json_get(series, "bucket"), 1) > 1 ? TP_N_PARTS : 0;
	TP_JSON_EACH (duration, tp_json_get(series, "duration_ns")) {
		uint64_t expected = 0;
		uint64_t sum = 0;
		tp_json_uint(duration, &expected);
		for (size_t i = 0; i < n; i++) {
			uint64_t value = 0;
			if (!tp_json_uint(columns[i], &value))
				add_error(check, duration, "a part has no number for this step");
			sum += value;
			columns[i] = tp_json_after(columns[i]);
		}
		if (sum > expected || expected - sum > slack)
			add_error(check, duration, "parts of a step sum to %llu, it took %llu",
				  (unsigned long long)sum, (unsigned long long)expected);
	}
}

/* Rule of the format: null only with a reason. The parser limits the depth. */
static void check_nulls(struct schema_check *check, const struct tp_json *value)
{
	const struct tp_json *null = tp_json_get(value, "value");
	if (null && tp_json_type(null) == TP_JSON_NULL && !tp_json_get(value, "missing"))
		add_error(check, null, "null without a reason");
	TP_JSON_EACH (member, value) {
		enum tp_json_type type = tp_json_type(member);
		if (type == TP_JSON_OBJECT || type == TP_JSON_ARRAY)
			check_nulls(check, member);
	}
}

static void check_stacks(struct schema_check *check, const struct tp_json *root)
{
	const struct tp_json *stacks = tp_json_get(root, "stacks");
	size_t n_frames = tp_json_count(tp_json_get(stacks, "frames"));
	TP_JSON_EACH (stack, tp_json_get(stacks, "stacks")) {
		TP_JSON_EACH (frame, tp_json_get(stack, "frames")) {
			if (tp_json_number(frame, -1) < 0 ||
			    tp_json_number(frame, -1) >= (double)n_frames)
				add_error(check, frame, "no such frame");
		}
	}
}

/* A verdict of last resort has no conditions; a finding with advice must have some. */
static void check_findings(struct schema_check *check, const struct tp_json *root)
{
	TP_JSON_EACH (finding, tp_json_get(root, "findings")) {
		const char *state = tp_json_string(tp_json_get(finding, "state"));
		if (state && (strcmp(state, "fired") == 0 || strcmp(state, "suppressed") == 0) &&
		    tp_json_count(tp_json_get(finding, "actions")) &&
		    !tp_json_count(tp_json_get(finding, "evidence")))
			add_error(check, finding, "advice without evidence");
	}
}

/* Each device's parts sum to its windows, before and after waits were attributed to their
 * causes. */
static void check_device(struct schema_check *check, const struct tp_json *device)
{
	static const char *const keys[] = {"own_ns", "after_ns"};
	uint64_t window_ns = whole(check, device, "window_ns");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const struct tp_json *parts = tp_json_get(device, keys[i]);
		uint64_t sum = 0;
		TP_JSON_EACH (part, parts) {
			sum += whole(check, parts, tp_json_key(part));
		}
		if (sum != window_ns)
			add_error(check, device, "%s sums to %llu, window_ns is %llu", keys[i],
				  (unsigned long long)sum, (unsigned long long)window_ns);
	}
}

static bool is_device(const struct tp_json *root, const char *id)
{
	TP_JSON_EACH (device, tp_json_get(root, "devices")) {
		const char *own = tp_json_string(tp_json_get(device, "id"));
		if (id && own && strcmp(own, id) == 0)
			return true;
	}
	return false;
}

static void check_devices(struct schema_check *check, const struct tp_json *root)
{
	static const char *const lists[][2] = {{"collectives", "late"}, {"blame", "device"}};
	TP_JSON_EACH (device, tp_json_get(root, "devices"))
		check_device(check, device);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		TP_JSON_EACH (row, tp_json_get(root, lists[i][0])) {
			const char *id = tp_json_string(tp_json_get(row, lists[i][1]));
			if (!is_device(root, id))
				add_error(check, row, "no device '%s'", id ? id : "");
		}
	}
}

size_t tp_report_validate(const struct tp_json_doc *doc, struct tp_buf *problems)
{
	struct schema_check check = {.doc = doc, .problems = problems};
	const struct tp_json *root = tp_json_root(doc);
	const char *schema = tp_json_string(tp_json_get(root, "schema"));
	if (!schema || !tp_text_starts_with(schema, "trainprof-report/1.")) {
		add_error(&check, root, "not a trainprof-report/1.x: schema is '%s'",
			  schema ? schema : "");
		return check.n;
	}
	check_partition(&check, root);
	check_step_counts(&check, root);
	check_series(&check, root);
	check_nulls(&check, root);
	check_stacks(&check, root);
	check_findings(&check, root);
	check_devices(&check, root);
	return check.n;
}
