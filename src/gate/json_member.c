/* SPDX-License-Identifier: Apache-2.0 */
/* Reads members of JSON objects. */
#include "json_member.h"

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
