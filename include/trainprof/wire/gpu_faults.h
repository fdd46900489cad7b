/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Known faults of CUPTI versions, as data: with which versions nothing is collected, which calls
 * are made differently, and which flaws are reported. The agent and trainprof read the same table;
 * each row in gpu_faults.c names its source and when that was read.
 *
 * Versions are those of cuptiGetVersion: 18 is 11.8, 23 is 12.5, 24 is 12.6, 27 is 12.9, and from
 * 13.0 on MMmmuu (130001 is 13.0 update 1); 0 is unknown. Drivers are those of cuDriverGetVersion:
 * 13000 is 13.0; 0 is unknown.
 *
 * The table leaves out what trainprof does with no version: unloading CUPTI (13.0 and 13.1 crash),
 * cuptiFinalize, and timestamps from a callback of our own (from 12.6 update 2 to 13.0 update 1
 * kernels then have none).
 *
 * Needs libc only; constant data; any thread.
 */
#ifndef TRAINPROF_WIRE_GPU_FAULTS_H
#define TRAINPROF_WIRE_GPU_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tp_gpu_fault_kind {
	TP_GPU_FAULT_STOPS,      /* nothing is collected with it */
	TP_GPU_FAULT_NO_JOIN,    /* nothing is collected if CUDA was in use before we attached */
	TP_GPU_FAULT_NO_NULL,    /* its request for a buffer must not be refused */
	TP_GPU_FAULT_NO_FILTER,  /* calls cannot be enabled one by one */
	TP_GPU_FAULT_WRONG_DATA, /* it is used, and its data or what it does to others has a flaw */
};

struct tp_gpu_fault {
	enum tp_gpu_fault_kind kind;
	uint32_t since;        /* the first version of CUPTI that has the fault */
	uint32_t until;        /* the first later version without it */
	bool is_beyond_driver; /* only if its major version is higher than the driver's */
	const char *text;      /* at most 80 columns */
	const char *remedy;    /* NULL = there is none */
	const char *source;
};

/* Returns the first row of that kind that applies to these versions; NULL if there is none. */
const struct tp_gpu_fault *tp_gpu_fault_find(enum tp_gpu_fault_kind kind, uint32_t cupti,
					     uint32_t driver);

/* Writes "13.0.1", "12.6", or "?" for 0 and for numbers that no toolkit had. Returns out. */
const char *tp_gpu_cupti_name(uint32_t cupti, char *out, size_t size);

#endif
