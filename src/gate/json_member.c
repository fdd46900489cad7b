/* SPDX-License-Identifier: Apache-2.0 */
/* Reads members of JSON objects. */
#include "json_member.h"

#include "trainprof/base/text.h"

const char *tp_member_text(const struct tp_json *parent, const char *key, struct tp_arena *arena)
{
	return tp_arena_strdup(arena, tp_json_string(tp_json_get(parent, key)));
}

double tp_member_number(const struct tp_json *parent, const char *key)
{
	return tp_json_number(tp_json_get(parent, key), 0);
}

uint64_t tp_member_count(const struct tp_json *parent, const char *key)
{
	uint64_t n = 0;
	(void)tp_json_uint(tp_json_get(parent, key), &n);
	return n;
}

bool tp_member_interval(const struct tp_json *pair, double *low, double *high)
{
	const struct tp_json *first = tp_json_first(pair);
	const struct tp_json *second = tp_json_after(first);
	bool is_pair = tp_json_type(pair) == TP_JSON_ARRAY && tp_json_count(pair) == 2 &&
		       tp_json_type(first) == TP_JSON_NUMBER &&
		       tp_json_type(second) == TP_JSON_NUMBER;
	*low = is_pair ? tp_json_number(first, 0) : 0;
	*high = is_pair ? tp_json_number(second, 0) : 0;
	return is_pair;
}

void tp_member_place(struct tp_value_place *out, const struct tp_json *from, struct tp_arena *arena)
{
	const char *file = tp_json_string(tp_json_get(from, "file"));
	const char *function = tp_json_string(tp_json_get(from, "function"));
	*out = (struct tp_value_place){
		.line = tp_member_count(from, "line"),
		.file = tp_arena_strdup(arena, file),
		.part = tp_member_text(from, "part", arena),
	};
	out->text = tp_arena_printf(arena, "%s:%lu (%s)", file ? tp_text_base_name(file) : "?",
				    (unsigned long)out->line, function ? function : "?");
}
