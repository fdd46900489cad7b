/* SPDX-License-Identifier: Apache-2.0 */
/* Writes gains. */
#include "gain_text.h"

#include "trainprof/report/units.h"

static bool is_floor(double low, double high)
{
	return tp_gain_is_estimate(low) && !tp_gain_has_high(low, high);
}

static void add_bound(struct tp_buf *out, double low, double high)
{
	if (tp_gain_has_high(low, high))
		tp_buf_printf(out, "up to %s", tp_unit_factor(high).text);
	else
		tp_buf_puts(out, "not known");
}

void tp_report_add_gain(struct tp_buf *out, double low, double value, double high)
{
	if (is_floor(low, high))
		tp_buf_printf(out, "at least %s", tp_unit_factor(low).text);
	else if (tp_gain_is_estimate(low))
		tp_buf_printf(out, "%s (%.2f–%.2f)", tp_unit_factor(value).text, low, high);
	else
		add_bound(out, low, high);
}

static void add_floor(struct tp_buf *out, double low, double value)
{
	static const double SAME = 1.005; /* printed alike */
	tp_buf_printf(out, "at least %s", tp_unit_factor(low).text);
	if (value > SAME * low)
		tp_buf_printf(out, ", likely %s", tp_unit_factor(value).text);
}

void tp_report_add_gain_range(struct tp_buf *out, double low, double value, double high)
{
	if (is_floor(low, high))
		add_floor(out, low, value);
	else if (tp_gain_is_estimate(low))
		tp_buf_printf(out, "%.2f–%s", low, tp_unit_factor(high).text);
	else
		add_bound(out, low, high);
}

bool tp_report_gain_is_above(double low, double high, double limit)
{
	static const double ROUNDING = 0.99;
	return limit < ROUNDING * (tp_gain_has_high(low, high) ? high : low);
}

const char *tp_report_gain_kind(double low, double high)
{
	if (is_floor(low, high))
		return "floor";
	return tp_gain_is_estimate(low) ? "estimate" : "bound";
}
