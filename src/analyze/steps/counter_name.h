/* SPDX-License-Identifier: Apache-2.0 */
/* What the name of a counter says: "FILE:LINE FUNCTION() for loop at line 20, variable epoch". */
#ifndef TRAINPROF_SRC_ANALYZE_STEPS_COUNTER_NAME_H
#define TRAINPROF_SRC_ANALYZE_STEPS_COUNTER_NAME_H

#include "analyze/classify/counter_class.h"

#include <stdbool.h>
#include <stddef.h>

struct tp_counter_name {
	const char *text;    /* lent: the whole name */
	size_t function_len; /* of what says the function; 0 = the name has another form */
	unsigned line;       /* of the for loop; 0: a variable, or an attribute of an object */
	bool is_position;    /* of the loop itself, not an attribute of its iterator */
	bool is_range;
	enum tp_counter_meaning meaning;
};

/* Any text is taken. patterns: NULL = the meaning is unknown. */
void tp_counter_name_parse(struct tp_counter_name *out, const char *text,
			   const struct tp_patterns *patterns);

/* Are both of one function? */
bool tp_counter_name_has_same_function(const struct tp_counter_name *a,
				       const struct tp_counter_name *b);

#endif
