/* SPDX-License-Identifier: Apache-2.0 */
/* Shortens a report to what comparisons read. */
#include "trainprof/report/short_report.h"

#include <math.h>
#include <string.h>

/* Members that no comparison reads, by the object that holds them. The empty name is the document;
 * items of an array are called as the array is. */
static const struct {
	const char *of;
	const char *key;
} left_out[] = {
	{"", "stacks"},
	{"", "processes"},
	{"", "loader_workers"},
	{"", "what_if"},
	{"", "phases"},
	{"", "gpus"},
	{"", "job"},
	{"", "devices"},
	{"", "collectives"},
	{"", "blame"},
	{"collection", "own_cpu_ns"},
	{"collection", "gaps"},
	{"steps", "series"},
	{"steps", "outliers"},
	{"steps", "each"},
	{"parts", "per_step_ns"},
	{"parts", "labels"},
	{"findings", "sources"},
	{"findings", "doubts"},
	{"findings", "price"},
	{"findings", "refute"},
	{"findings", "quiet_because"},
	{"actions", "guide"},
	{"metric", "origin"},
	{"metric", "seen"},
};

static bool is_left_out(const char *of, const char *key)
{
	for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
		if (strcmp(left_out[i].of, of) == 0 && strcmp(left_out[i].key, key) == 0)
			return true;
	return false;
}

static bool has_not_fired(const struct tp_json *finding)
{
	const char *state = tp_json_string(tp_json_get(finding, "state"));
	return state && strcmp(state, "fired") != 0 && strcmp(state, "suppressed") != 0;
}

/* The evidence of a rule matters only where the rule fired. */
static bool is_evidence_left_out(const struct tp_json *object, const char *key)
{
	return strcmp(key, "evidence") == 0 && has_not_fired(object);
}

/* Figures and rules have a line each, so that the difference between two commits is readable. */
static bool is_one_line(const struct tp_json *object, const char *name)
{
	return strcmp(name, "metric") == 0 || strcmp(name, "lines") == 0 ||
	       (strcmp(name, "findings") == 0 && has_not_fired(object));
}

static void write_number(struct tp_json_writer *w, const struct tp_json *value)
{
	uint64_t whole;
	if (tp_json_uint(value, &whole))
		tp_json_write_uint(w, whole);
	else
		tp_json_write_number(w, tp_json_number(value, NAN));
}

/* True for an array of single values, which stays on one line. */
static bool is_plain(const struct tp_json *array)
{
	TP_JSON_EACH (item, array) {
		enum tp_json_type type = tp_json_type(item);
		if (type == TP_JSON_OBJECT || type == TP_JSON_ARRAY)
			return false;
	}
	return true;
}

static void copy(struct tp_json_writer *w, const struct tp_json *value, const char *name);

static void copy_array(struct tp_json_writer *w, const struct tp_json *array, const char *name)
{
	tp_json_open(w, '[');
	bool was_flat = w->is_flat;
	w->is_flat = was_flat || is_plain(array);
	TP_JSON_EACH (item, array)
		copy(w, item, name);
	tp_json_close(w, ']');
	w->is_flat = was_flat;
}

static void copy_object(struct tp_json_writer *w, const struct tp_json *object, const char *name)
{
	bool was_flat = w->is_flat;
	tp_json_open(w, '{');
	w->is_flat = was_flat || is_one_line(object, name);
	TP_JSON_EACH (member, object) {
		const char *key = tp_json_key(member);
		if (is_left_out(name, key) || is_evidence_left_out(object, key))
			continue;
		tp_json_write_key(w, key);
		copy(w, member, strcmp(name, "metrics") == 0 ? "metric" : key);
	}
	tp_json_close(w, '}');
	w->is_flat = was_flat;
}

/* The parser bounds the depth. */
static void copy(struct tp_json_writer *w, const struct tp_json *value, const char *name)
{
	switch (tp_json_type(value)) {
	case TP_JSON_OBJECT:
		copy_object(w, value, name);
		break;
	case TP_JSON_ARRAY:
		copy_array(w, value, name);
		break;
	case TP_JSON_NUMBER:
		write_number(w, value);
		break;
	case TP_JSON_BOOL:
		tp_json_write_bool(w, tp_json_bool(value, false));
		break;
	case TP_JSON_STRING:
		tp_json_write_string(w, tp_json_string(value));
		break;
	default:
		tp_json_write_null(w);
	}
}

void tp_report_trim(struct tp_json_writer *w, const struct tp_json_doc *report)
{
	copy(w, tp_json_root(report), "");
}
