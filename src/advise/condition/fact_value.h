/* SPDX-License-Identifier: Apache-2.0 */
/* The written form of a fact: 0.05, "5%", "2ms", true, null for unknown, or an object with an
 * interval: {"value": "20%", "low": "15%", "high": "25%", "coverage": 0.5}. */
#ifndef TRAINPROF_SRC_ADVISE_CONDITION_FACT_VALUE_H
#define TRAINPROF_SRC_ADVISE_CONDITION_FACT_VALUE_H

#include "json_form.h"

/* Returns the value in the fact's unit. Null returns an unknown value with `absent` (borrowed) as
 * the reason. A wrong unit becomes the error of the form. */
struct tp_quantity tp_fact_value_read(struct tp_json_form *form, const struct tp_json *value,
				      tp_fact_id fact, const char *absent);

/* Returns an example of a value in JSON for the fact's unit: "\"35%\"", "4", "true". Static
 * storage. */
const char *tp_fact_value_example(tp_fact_id fact);

#endif
