/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers formatted for people: three digits, a unit, a dot in every locale. Data never passes
 * through here. */
#ifndef TRAINPROF_REPORT_UNITS_H
#define TRAINPROF_REPORT_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* Returned by value, so that it can be used in an argument list. UTF-8. */
struct tp_unit_text {
	char text[40];
};

struct tp_unit_text tp_unit_time(double ns);       /* "21.0 ms", "640 ns", "61.2 s" */
struct tp_unit_text tp_unit_elapsed(uint64_t ns);  /* "61.2 s", "12 min 03 s", "2 h 05 min" */
struct tp_unit_text tp_unit_clock(uint64_t ns);    /* "0:41", "1:02:03" */
struct tp_unit_text tp_unit_bytes(double bytes);   /* "1.2 GiB" */
struct tp_unit_text tp_unit_count(uint64_t n);     /* "1,201" */
struct tp_unit_text tp_unit_number(double value);  /* "0.393", "50.2", "12,300" */
struct tp_unit_text tp_unit_percent(double ratio); /* "39 %", "0.8 %" */
struct tp_unit_text tp_unit_percents(double low, double high);
/* The same for the interval of a share that is printed by tp_unit_percent(); with one more digit
 * where that is needed to contain the value, and "" if the interval does not contain it or has no
 * width. */
struct tp_unit_text tp_unit_interval(double value, double low,
				     double high);  /* "0.4–1.3", "37–41" */
struct tp_unit_text tp_unit_factor(double speedup); /* "1.52×" */

/* "1 record", "1,201 records"; `noun` is short and its plural ends in s. */
struct tp_unit_text tp_unit_counted(uint64_t n, const char *noun);

/* A value of a fact or metric by its unit: "ns", "bytes", "per_s", "bool", anything else plain. */
struct tp_unit_text tp_unit_value(double value, const char *unit);

/* The common scale of all times in one table, so that they can be compared by eye. */
struct tp_unit_scale {
	double ns;        /* of one unit */
	const char *name; /* "ms" */
	int decimals;
};

/* The scale for a table whose largest time is `largest_ns`. */
struct tp_unit_scale tp_unit_scale_for(double largest_ns);
struct tp_unit_text tp_unit_scaled(struct tp_unit_scale scale, double ns);

/* The text with spaces before it, so that it takes at least that many columns of a terminal. In
 * printf() "%9s" counts bytes, and the "µ" of a unit has two. */
struct tp_unit_text tp_unit_right(struct tp_unit_text text, size_t columns);

/* The share of one part in whole percent, rounded as sentences round it: the parts of a run may add
 * up to 99 or 101. 0 if the total is. */
unsigned tp_unit_whole_percent(uint64_t part, uint64_t total);

#endif
