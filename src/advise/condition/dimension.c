/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the units of facts and literals, and combines them. */
#include "dimension.h"

#include "trainprof/base/memory.h"

#include <string.h>

/* Rates are stored per ns, so that a rate times a duration needs no factor. */
static const double per_second = 1e-9;

struct tp_dimension tp_dimension_of_fact(tp_fact_id fact)
{
	static const struct {
		const char *unit;
		struct tp_dimension dimension;
	} units[] = {
		{"ns", {.time = 1, .scale = 1}},
		{"ratio", {.is_ratio = true, .scale = 1}},
		{"bytes", {.bytes = 1, .scale = 1}},
		{"bool", {.is_bool = true, .scale = 1}},
		{"per_s", {.time = -1, .scale = 1e-9}},
		{"bytes_per_s", {.time = -1, .bytes = 1, .scale = 1e-9}},
	};
	const char *unit = tp_fact_desc(fact)->unit;
	for (size_t i = 0; i < TP_ARRAY_LEN(units); i++)
		if (strcmp(unit, units[i].unit) == 0)
			return units[i].dimension;
	return (struct tp_dimension){.scale = 1}; /* "1", "cpus", "w", "j" */
}

bool tp_dimension_of_suffix(const char *suffix, bool is_rate, struct tp_dimension *out)
{
	static const struct {
		const char *suffix;
		struct tp_dimension dimension;
	} suffixes[] = {
		{"", {.scale = 1}},
		{"%", {.is_ratio = true, .scale = 0.01}},
		{"ns", {.time = 1, .scale = 1}},
		{"us", {.time = 1, .scale = 1e3}},
		{"ms", {.time = 1, .scale = 1e6}},
		{"s", {.time = 1, .scale = 1e9}},
		{"min", {.time = 1, .scale = 60e9}},
		{"h", {.time = 1, .scale = 3600e9}},
		{"B", {.bytes = 1, .scale = 1}},
		{"kB", {.bytes = 1, .scale = 1e3}},
		{"MB", {.bytes = 1, .scale = 1e6}},
		{"GB", {.bytes = 1, .scale = 1e9}},
		{"KiB", {.bytes = 1, .scale = 1024}},
		{"MiB", {.bytes = 1, .scale = 1048576}},
		{"GiB", {.bytes = 1, .scale = 1073741824}},
		{"TiB", {.bytes = 1, .scale = 1099511627776.0}},
	};
	for (size_t i = 0; i < TP_ARRAY_LEN(suffixes); i++) {
		if (strcmp(suffix, suffixes[i].suffix) != 0)
			continue;
		*out = suffixes[i].dimension;
		if (is_rate) {
			if (out->time || out->is_ratio)
				return false;
			out->time = -1;
			out->scale *= per_second;
		}
		return true;
	}
	return false;
}

bool tp_dimension_match(const struct tp_dimension *a, const struct tp_dimension *b)
{
	return a->time == b->time && a->bytes == b->bytes && !a->is_bool && !b->is_bool;
}

bool tp_dimension_mul(const struct tp_dimension *a, const struct tp_dimension *b, int sign,
		      struct tp_dimension *out)
{
	if (a->is_bool || b->is_bool)
		return false;
	int time = a->time + sign * b->time;
	int bytes = a->bytes + sign * b->bytes;
	if (time < -1 || time > 1 || bytes < -1 || bytes > 1)
		return false;
	*out = (struct tp_dimension){.time = (signed char)time,
				     .bytes = (signed char)bytes,
				     .scale = time < 0 ? per_second : 1};
	/* A share of a count is a count again, a share of a share stays one, and so does the
	 * quotient of two times or two sizes. Counts divided give a plain number. */
	if (!time && !bytes && sign > 0)
		out->is_ratio = a->is_ratio && b->is_ratio;
	else if (!time && !bytes)
		out->is_ratio = a->is_ratio || a->time || a->bytes;
	return true;
}

const char *tp_dimension_name(const struct tp_dimension *dimension)
{
	static const char *const names[3][3] = {
		{"a rate per byte", "a rate", "bytes per second"},
		{"something per byte", "a number", "bytes"},
		{"time per byte", "a time", "bytes times time"},
	};
	if (dimension->is_bool)
		return "a truth value";
	return names[dimension->time + 1][dimension->bytes + 1];
}
