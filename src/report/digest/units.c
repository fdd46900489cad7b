/* SPDX-License-Identifier: Apache-2.0 */
/* Formats numbers for readers. */
#include "trainprof/report/units.h"

#include "trainprof/base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	double ns;
	const char *name;
} time_units[] = {{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}};

enum { N_TIME_UNITS = sizeof(time_units) / sizeof(time_units[0]) };

/* Number of decimals that gives three digits. 99.95 already rounds to 100, so the limits are
 * below. */
static int decimals_for(double value)
{
	double size = fabs(value);
	if (size >= 99.95)
		return 0;
	return size >= 9.995 ? 1 : 2;
}

struct tp_unit_text tp_unit_time(double ns)
{
	struct tp_unit_text out;
	double size = fabs(ns);
	size_t i = 0;
	/* 999.5 would be printed as 1000. */
	while (i + 1 < N_TIME_UNITS && size >= 999.5 * time_units[i].ns)
		i++;
	double value = ns / time_units[i].ns;
	/* There is nothing to show below a nanosecond. */
	int decimals = i ? decimals_for(value) : 0;
	snprintf(out.text, sizeof(out.text), "%.*f %s", decimals, value, time_units[i].name);
	return out;
}

struct tp_unit_text tp_unit_elapsed(uint64_t ns)
{
	uint64_t s = (ns + 500000000U) / 1000000000U;
	if (s < 600)
		return tp_unit_time((double)ns);
	struct tp_unit_text out;
	if (s < 3600)
		snprintf(out.text, sizeof(out.text), "%llu min %02llu s",
			 (unsigned long long)(s / 60), (unsigned long long)(s % 60));
	else
		snprintf(out.text, sizeof(out.text), "%llu h %02llu min",
			 (unsigned long long)(s / 3600), (unsigned long long)(s % 3600 / 60));
	return out;
}

struct tp_unit_text tp_unit_clock(uint64_t ns)
{
	struct tp_unit_text out;
	unsigned long long s = ns / 1000000000U;
	if (s < 3600)
		snprintf(out.text, sizeof(out.text), "%llu:%02llu", s / 60, s % 60);
	else
		snprintf(out.text, sizeof(out.text), "%llu:%02llu:%02llu", s / 3600, s % 3600 / 60,
			 s % 60);
	return out;
}

struct tp_unit_text tp_unit_bytes(double bytes)
{
	static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
	struct tp_unit_text out;
	size_t i = 0;
	double value = bytes;
	while (i + 1 < sizeof(names) / sizeof(names[0]) && fabs(value) >= 999.5) {
		value /= 1024;
		i++;
	}
	int decimals = i && fabs(value) < 9.95 ? 1 : 0;
	snprintf(out.text, sizeof(out.text), "%.*f %s", decimals, value, names[i]);
	return out;
}

struct tp_unit_text tp_unit_count(uint64_t n)
{
	struct tp_unit_text out;
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
	char *to = out.text;
	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return out;
}

struct tp_unit_text tp_unit_counted(uint64_t n, const char *noun)
{
	struct tp_unit_text out = tp_unit_count(n);
	size_t len = strlen(out.text);
	snprintf(out.text + len, sizeof(out.text) - len, " %s%s", noun, n == 1 ? "" : "s");
	return out;
}

struct tp_unit_text tp_unit_number(double value)
{
	if (value >= 9999.5 && value < 1e18)
		return tp_unit_count((uint64_t)llround(value));
	struct tp_unit_text out;
	if (fabs(value) < 0.9995 && value != 0)
		snprintf(out.text, sizeof(out.text), "%.3g", value);
	else if (value == floor(value) && fabs(value) < 1e6)
		snprintf(out.text, sizeof(out.text), "%.0f", value);
	else
		snprintf(out.text, sizeof(out.text), "%.*f", decimals_for(value), value);
	return out;
}

/* Below 10 % a decimal is significant, above it is noise. */
static int percent_decimals(double percent)
{
	return fabs(percent) < 9.95 ? 1 : 0;
}

/* Halves are rounded up, as in sentences of rules; printf() rounds them to even. */
static void print_percent(struct tp_unit_text *out, double percent)
{
	int decimals = percent_decimals(percent);
	double scale = decimals ? 10 : 1;
	snprintf(out->text, sizeof(out->text), "%.*f %%", decimals, round(percent * scale) / scale);
}

struct tp_unit_text tp_unit_percent(double ratio)
{
	struct tp_unit_text out;
	double percent = ratio * 100;
	if (percent > 0 && percent < 0.05)
		snprintf(out.text, sizeof(out.text), "<0.1 %%");
	else if (percent == 0)
		snprintf(out.text, sizeof(out.text), "0 %%");
	else
		print_percent(&out, percent);
	return out;
}

struct tp_unit_text tp_unit_percents(double low, double high)
{
	struct tp_unit_text out;
	int decimals = percent_decimals(high * 100);
	snprintf(out.text, sizeof(out.text), "%.*f–%.*f", decimals, low * 100, decimals,
		 high * 100);
	return out;
}

struct tp_unit_text tp_unit_interval(double value, double low, double high)
{
	struct tp_unit_text out = {""};
	double shown = strtod(tp_unit_percent(value).text, NULL);
	int decimals = percent_decimals(high * 100);
	if (value < low || value > high)
		return out;
	for (int more = 0; more < 2; more++) {
		double scale = pow(10, decimals + more);
		double least = round(low * 100 * scale) / scale;
		double most = round(high * 100 * scale) / scale;
		if (least >= most || shown < least || shown > most)
			continue;
		snprintf(out.text, sizeof(out.text), "%.*f–%.*f", decimals + more, least,
			 decimals + more, most);
		break;
	}
	return out;
}

struct tp_unit_text tp_unit_factor(double speedup)
{
	struct tp_unit_text out;
	snprintf(out.text, sizeof(out.text), "%.*f×", speedup < 9.995 ? 2 : 1, speedup);
	return out;
}

struct tp_unit_text tp_unit_value(double value, const char *unit)
{
	struct tp_unit_text out;
	if (strcmp(unit, "ns") == 0)
		return tp_unit_time(value);
	if (strcmp(unit, "bytes") == 0)
		return tp_unit_bytes(value);
	if (strcmp(unit, "bytes_per_s") == 0) {
		snprintf(out.text, sizeof(out.text), "%.30s/s", tp_unit_bytes(value).text);
		return out;
	}
	if (strcmp(unit, "w") == 0 || strcmp(unit, "j") == 0) {
		snprintf(out.text, sizeof(out.text), "%.30s %c", tp_unit_number(value).text,
			 *unit == 'w' ? 'W' : 'J');
		return out;
	}
	if (strcmp(unit, "hz") == 0) {
		snprintf(out.text, sizeof(out.text), "%.0f MHz", value * 1e-6);
		return out;
	}
	if (strcmp(unit, "bool") == 0) {
		snprintf(out.text, sizeof(out.text), "%s", value != 0 ? "yes" : "no");
		return out;
	}
	return tp_unit_number(value);
}

struct tp_unit_scale tp_unit_scale_for(double largest_ns)
{
	size_t i = 0;
	while (i + 1 < N_TIME_UNITS && largest_ns >= 999.5 * time_units[i].ns)
		i++;
	double value = largest_ns / time_units[i].ns;
	return (struct tp_unit_scale){
		.ns = time_units[i].ns,
		.name = time_units[i].name,
		/* One decimal less than for three digits: parts are smaller than their sum, and a
		 * table needs one number of decimals. */
		.decimals = i == 0           ? 0
			    : value >= 9.995 ? 1
					     : 2,
	};
}

struct tp_unit_text tp_unit_scaled(struct tp_unit_scale scale, double ns)
{
	struct tp_unit_text out;
	snprintf(out.text, sizeof(out.text), "%.*f %s", scale.decimals, ns / scale.ns, scale.name);
	return out;
}

unsigned tp_unit_whole_percent(uint64_t part, uint64_t total)
{
	return total ? (unsigned)lround((double)part / (double)total * 100) : 0;
}

struct tp_unit_text tp_unit_right(struct tp_unit_text text, size_t columns)
{
	struct tp_unit_text out = {""};
	size_t width = tp_text_width(text.text);
	size_t size = strlen(text.text);
	size_t n_spaces = columns > width ? columns - width : 0;
	if (n_spaces + size >= sizeof(out.text))
		return text;
	memset(out.text, ' ', n_spaces);
	memcpy(out.text + n_spaces, text.text, size);
	return out;
}
