/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the name of a counter: "FILE:LINE FUNCTION() for loop at line 20, variable epoch". */
#ifndef TRAINPROF_SRC_ANALYZE_COUNTERS_COUNTER_NAME_H
#define TRAINPROF_SRC_ANALYZE_COUNTERS_COUNTER_NAME_H

#include "analyze/classify/counter_class.h"

#include <stdbool.h>
#include <stddef.h>

struct tp_counter_name {
	const char *text;    /* borrowed: the whole name */
	size_t function_len; /* length of the part that names the function; 0 = the name has another
				form */
	unsigned line;    /* line of the for loop; 0 = a variable, or an attribute of an object */
	bool is_position; /* position of the loop itself, not an attribute of its iterator */
	bool is_range;
	enum tp_counter_meaning meaning;
};

/* Accepts any text. patterns: NULL = the meaning is unknown. */
void tp_counter_name_parse(struct tp_counter_name *out, const char *text,
			   const struct tp_patterns *patterns);

/* Returns true if both belong to the same function. */
bool tp_counter_name_has_same_function(const struct tp_counter_name *a,
				       const struct tp_counter_name *b);

#endif
