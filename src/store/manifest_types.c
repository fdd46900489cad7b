/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the types of all members of manifest.json before anything is read from it. */
#include "manifest_types.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/model/run_info.h"

#include <math.h>
#include <stdio.h>

/* Types of members, with their names for messages. */
#define TYPE_MAP(X)                                                                                \
	X(text, "a text")                                                                          \
	X(time, "a number of nanoseconds, in quotes")                                              \
	X(count, "a count")                                                                        \
	X(count32, "a count below 2^32")                                                           \
	X(number, "a number")                                                                      \
	X(flag, "true or false")                                                                   \
	X(integer32, "an integer of 32 bits")                                                      \
	X(ordinal, "an integer")                                                                   \
	X(pid, "an integer")                                                                       \
	X(texts, "a list of texts")                                                                \
	X(object, "an object")                                                                     \
	X(objects, "a list of objects")

enum manifest_type {
#define X(name, text) TYPE_##name,
	TYPE_MAP(X)
#undef X
};

static const char *const type_texts[] = {
#define X(name, text) text,
	TYPE_MAP(X)
#undef X
};

struct manifest_member {
	const char *name;
	enum manifest_type type;
	const struct manifest_member *members; /* of the object, or of each object of the list */
};

#define MEMBER(field, type, name, shown_name, when) {name, TYPE_##type, NULL},

static const struct manifest_member device_members[] = {TP_DEVICE_INFO_MAP(MEMBER){0}};

static const struct manifest_member rank_members[] = {
	TP_RANK_INFO_MAP(MEMBER){"devices", TYPE_objects, device_members},
	{0},
};

static const struct manifest_member host_members[] = {
	TP_HOST_INFO_MAP(MEMBER) TP_HOST_LIMIT_MAP(MEMBER){0},
};

static const struct manifest_member job_members[] = {TP_JOB_PLACE_MAP(MEMBER){0}};

static const struct manifest_member run_members[] = {
	{"id", TYPE_text, NULL},
	{"label", TYPE_text, NULL},
	{"command", TYPE_texts, NULL},
	{"command_is_cut", TYPE_flag, NULL},
	{"keeps_arguments", TYPE_flag, NULL},
	{"directory", TYPE_text, NULL},
	{"commit", TYPE_text, NULL},
	{"mode", TYPE_text, NULL},
	{"tier", TYPE_text, NULL},
	{"pid", TYPE_integer32, NULL},
	{"attached_after_ns", TYPE_time, NULL},
	{"started_wall_ns", TYPE_time, NULL},
	{"started_ns", TYPE_time, NULL},
	{"ended_ns", TYPE_time, NULL},
	{"measure_from_ns", TYPE_time, NULL},
	{"measure_until_ns", TYPE_time, NULL},
	{"end", TYPE_text, NULL},
	{"end_code", TYPE_integer32, NULL},
	{"sample_rate_hz", TYPE_number, NULL},
	{"asked_rate_hz", TYPE_number, NULL},
	{"poll_rate_hz", TYPE_number, NULL},
	{"job", TYPE_object, job_members},
	{0},
};

static const struct manifest_member record_members[] = {
	{"is_closed", TYPE_flag, NULL},
	{"bytes", TYPE_count, NULL},
	{"blocks", TYPE_count, NULL},
	{"records", TYPE_count, NULL},
	{"has_stopped", TYPE_flag, NULL},
	{"until_ns", TYPE_time, NULL},
	{"lost", TYPE_count, NULL},
	{"because", TYPE_text, NULL},
	{0},
};

static const struct manifest_member root_members[] = {
	{"format", TYPE_text, NULL},
	{"written_by", TYPE_text, NULL},
	{"run", TYPE_object, run_members},
	{"host", TYPE_object, host_members},
	{"environment", TYPE_texts, NULL},
	{"ranks", TYPE_objects, rank_members},
	{"records", TYPE_object, record_members},
	{0},
};

static bool is_list_of(const struct tp_json *value, enum tp_json_type type)
{
	if (tp_json_type(value) != TP_JSON_ARRAY)
		return false;
	TP_JSON_EACH (item, value)
		if (tp_json_type(item) != type)
			return false;
	return true;
}

static bool is_time(const struct tp_json *value)
{
	uint64_t time_ns;
	return tp_json_type(value) == TP_JSON_STRING &&
	       tp_text_parse_count(tp_json_string(value), &time_ns);
}

static bool is_count(const struct tp_json *value, uint64_t most)
{
	uint64_t count;
	return tp_json_uint(value, &count) && count <= most;
}

static bool is_integer(const struct tp_json *value, double most)
{
	double number = tp_json_number(value, NAN);
	return number >= -most - 1 && number <= most && number == floor(number);
}

static bool has_type(const struct tp_json *value, enum manifest_type type)
{
	switch (type) {
	case TYPE_text:
		return tp_json_type(value) == TP_JSON_STRING;
	case TYPE_time:
		return is_time(value);
	case TYPE_count:
		return is_count(value, UINT64_MAX);
	case TYPE_count32:
		return is_count(value, UINT32_MAX);
	case TYPE_number:
		return isfinite(tp_json_number(value, NAN));
	case TYPE_flag:
		return tp_json_type(value) == TP_JSON_BOOL;
	case TYPE_integer32:
		return is_integer(value, INT32_MAX);
	case TYPE_ordinal:
	case TYPE_pid:
		return is_integer(value, 9007199254740991.0);
	case TYPE_texts:
		return is_list_of(value, TP_JSON_STRING);
	case TYPE_object:
		return tp_json_type(value) == TP_JSON_OBJECT;
	case TYPE_objects:
		return is_list_of(value, TP_JSON_OBJECT);
	}
	return false;
}

static enum tp_status fail_type(const struct tp_json_doc *doc, const struct tp_json *value,
				const char *path, enum manifest_type type, struct tp_error *err)
{
	(void)tp_fail(err, TP_PARSE, "%s:%u: %s is not %s", tp_json_name(doc), tp_json_line(value),
		      path, type_texts[type]);
	tp_error_next(err, "restore manifest.json, or record again");
	return TP_PARSE;
}

static enum tp_status check_object(const struct tp_json_doc *doc, const struct tp_json *object,
				   const char *path, const struct manifest_member *members,
				   struct tp_error *err);

static enum tp_status check_member(const struct tp_json_doc *doc, const struct tp_json *value,
				   const char *path, const struct manifest_member *member,
				   struct tp_error *err)
{
	if (!has_type(value, member->type))
		return fail_type(doc, value, path, member->type, err);
	if (member->type == TYPE_object)
		return check_object(doc, value, path, member->members, err);
	size_t n = 0;
	TP_JSON_EACH (item, member->members ? value : NULL) {
		char inner[96];
		snprintf(inner, sizeof(inner), "%.60s[%zu]", path, n++);
		enum tp_status status = check_object(doc, item, inner, member->members, err);
		if (status)
			return status;
	}
	return TP_OK;
}

static enum tp_status check_object(const struct tp_json_doc *doc, const struct tp_json *object,
				   const char *path, const struct manifest_member *members,
				   struct tp_error *err)
{
	for (; members->name; members++) {
		char inner[96];
		const struct tp_json *value = tp_json_get(object, members->name);
		if (tp_json_type(value) == TP_JSON_NULL)
			continue;
		snprintf(inner, sizeof(inner), "%.70s%s%.20s", path, *path ? "." : "",
			 members->name);
		enum tp_status status = check_member(doc, value, inner, members, err);
		if (status)
			return status;
	}
	return TP_OK;
}

enum tp_status tp_manifest_check_types(const struct tp_json_doc *doc, struct tp_error *err)
{
	const struct tp_json *root = tp_json_root(doc);
	if (tp_json_type(root) != TP_JSON_OBJECT)
		return fail_type(doc, root, "the document", TYPE_object, err);
	size_t n_ranks = tp_json_count(tp_json_get(root, "ranks"));
	if (n_ranks > TP_RANKS_MAX)
		return tp_fail(err, TP_PARSE, "%s: ranks has %zu, at most %d", tp_json_name(doc),
			       n_ranks, TP_RANKS_MAX);
	return check_object(doc, root, "", root_members, err);
}
