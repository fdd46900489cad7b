/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the value of a fact and its unit. */
#include "fact_value.h"

#include "token.h"

#include <math.h>
#include <string.h>

const char *tp_fact_value_example(tp_fact_id fact)
{
	static const char *const examples[][2] = {
		{"ratio", "\"35%\""},
		{"ns", "\"120ms\""},
		{"bytes", "\"64GiB\""},
		{"per_s", "\"250/s\""},
		{"bytes_per_s", "\"120MiB/s\""},
		{"bool", "true"},
	};
	const char *unit = tp_fact_desc(fact)->unit;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
		if (strcmp(unit, examples[i][0]) == 0)
			return examples[i][1];
	return "4";
}

/* A share of a count has no meaning, although both are plain numbers. */
static bool fits(const struct tp_dimension *want, const struct tp_dimension *got)
{
	return tp_dimension_match(want, got) && (want->is_ratio || !got->is_ratio);
}

static const char *kind_of_text(const char *text)
{
	double number;
	struct tp_dimension got;
	if (!text || !tp_token_parse_number(text, &number, &got))
		return text ? "a text that is not a number with a unit" : "another type";
	return got.is_ratio ? "a share" : tp_dimension_name(&got);
}

static double value_number(struct tp_json_form *form, const struct tp_json *value, tp_fact_id fact)
{
	struct tp_dimension want = tp_dimension_of_fact(fact);
	struct tp_dimension got;
	double number = NAN;
	const char *text = tp_json_string(value);
	if (tp_json_type(value) == TP_JSON_BOOL && want.is_bool)
		return tp_json_bool(value, false);
	if (tp_json_type(value) == TP_JSON_NUMBER && !want.is_bool)
		return tp_json_number(value, 0);
	if (text && tp_token_parse_number(text, &number, &got) && fits(&want, &got))
		return number / want.scale;
	tp_json_form_fail(form, value, "'%s' is in %s, as %s%s: this is %s",
			  tp_fact_desc(fact)->name,
			  want.is_bool ? "true or false" : tp_fact_desc(fact)->unit,
			  tp_fact_value_example(fact), want.is_bool ? "" : " or a plain number",
			  kind_of_text(text));
	return NAN;
}

struct tp_quantity tp_fact_value_read(struct tp_json_form *form, const struct tp_json *value,
				      tp_fact_id fact, const char *absent)
{
	static const char *const keys[] = {"value", "low", "high", "coverage", NULL};
	struct tp_quantity quantity = {.is_known = true, .coverage = 1};
	if (tp_json_type(value) == TP_JSON_NULL)
		return (struct tp_quantity){.missing = absent};
	if (tp_json_type(value) != TP_JSON_OBJECT) {
		quantity.value = value_number(form, value, fact);
		return quantity;
	}
	tp_json_form_check_keys(form, value, "a fact", keys);
	const struct tp_json *low = tp_json_get(value, "low");
	const struct tp_json *high = tp_json_get(value, "high");
	const struct tp_json *coverage = tp_json_get(value, "coverage");
	if (!tp_json_get(value, "value"))
		tp_json_form_fail(form, value, "'value' is missing");
	quantity.value = value_number(form, tp_json_get(value, "value"), fact);
	quantity.has_interval = low && high;
	if ((low || high) && !quantity.has_interval)
		tp_json_form_fail(form, low ? low : high,
				  "'%s' is missing: an interval has both ends",
				  low ? "high" : "low");
	if (quantity.has_interval) {
		quantity.low = value_number(form, low, fact);
		quantity.high = value_number(form, high, fact);
	}
	if (coverage && tp_json_type(coverage) != TP_JSON_NUMBER)
		tp_json_form_fail(form, coverage, "'coverage' is a plain number from 0 to 1");
	quantity.coverage = tp_json_number(coverage, 1);
	return quantity;
}
