/* SPDX-License-Identifier: Apache-2.0 */
/* Members of JSON objects, by name; a member that is missing or of another type is empty. */
#ifndef TRAINPROF_SRC_GATE_JSON_MEMBER_H
#define TRAINPROF_SRC_GATE_JSON_MEMBER_H

#include "trainprof/base/arena.h"
#include "trainprof/base/json.h"
#include "trainprof/model/run_values.h"

#include <stdbool.h>
#include <stdint.h>

/* A copy in the arena; NULL unless a string. */
const char *tp_member_text(const struct tp_json *parent, const char *key, struct tp_arena *arena);
/* 0 unless a number. */
double tp_member_number(const struct tp_json *parent, const char *key);
/* 0 unless a whole number. */
uint64_t tp_member_count(const struct tp_json *parent, const char *key);

/* Reads an array of two numbers. Returns false for anything else; both are 0 then. */
bool tp_member_interval(const struct tp_json *pair, double *low, double *high);
/* Sets file, line, part and the text "train.py:25 (main)" of a place; the rest is 0. */
void tp_member_place(struct tp_value_place *out, const struct tp_json *from,
		     struct tp_arena *arena);

#endif
