/* SPDX-License-Identifier: Apache-2.0 */
/* A number and how far it can be trusted. */
#ifndef TRAINPROF_MODEL_QUANTITY_H
#define TRAINPROF_MODEL_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

enum tp_origin { TP_ORIGIN_MEASURED, TP_ORIGIN_SAMPLED, TP_ORIGIN_DERIVED, TP_ORIGIN_ESTIMATED };

const char *tp_origin_name(enum tp_origin origin);

/* In the unit of the fact or figure. All zero = unknown, without a reason. */
struct tp_quantity {
	bool is_known;
	bool is_foreign; /* unknown because recordings of this kind never have it */
	bool has_interval;
	enum tp_origin origin;
	double value;
	double low; /* 95 % interval */
	double high;
	double coverage;     /* 0..1: the share of its subject that was observed */
	uint64_t n;          /* number of steps, samples or readings used; 0 = does not apply */
	const char *missing; /* why it is unknown; NULL if known */
	const char *seen;    /* the evidence, "kernel flash_fwd_kernel", "GPM"; NULL */
};

#endif
