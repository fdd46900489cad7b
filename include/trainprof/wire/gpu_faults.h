/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known to go wrong with versions of CUPTI, as data: where nothing is collected, which
 * calls are made otherwise, and what is worth a word. The agent and trainprof read the same table;
 * each row in gpu_faults.c says where it is written and when that was read.
 *
 * Versions are those of cuptiGetVersion: 18 is 11.8, 23 is 12.5, 24 is 12.6, 27 is 12.9, and from
 * 13.0 on MMmmuu (130001 is 13.0 update 1); 0 is unknown. Drivers are those of cuDriverGetVersion:
 * 13000 is 13.0; 0 is unknown.
 *
 * Not in the table, because nobody here does it with any version: unloading CUPTI (13.0 and 13.1
 * crash), cuptiFinalize, timestamps by a callback of ours (from 12.6 update 2 to 13.0 update 1
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
	TP_GPU_FAULT_NO_JOIN,    /* nothing is collected where CUDA was in use before we came */
	TP_GPU_FAULT_NO_NULL,    /* a buffer that it asks for must not be refused */
	TP_GPU_FAULT_NO_FILTER,  /* calls cannot be switched on one by one */
	TP_GPU_FAULT_WRONG_DATA, /* it is used, and what it tells has a flaw */
};

struct tp_gpu_fault {
	enum tp_gpu_fault_kind kind;
	uint32_t since;        /* the first version of CUPTI that has it */
	uint32_t until;        /* the first that has it no more */
	bool is_beyond_driver; /* only where its major number is higher than the driver's */
	const char *text;      /* at most 80 columns */
	const char *remedy;    /* NULL: there is none */
	const char *source;
};

/* The first row of that kind that these versions have; NULL: none. */
const struct tp_gpu_fault *tp_gpu_fault_find(enum tp_gpu_fault_kind kind, uint32_t cupti,
					     uint32_t driver);

/* "13.0.1", "12.6"; "?" for 0 and for numbers that no toolkit had. Returns out. */
const char *tp_gpu_cupti_name(uint32_t cupti, char *out, size_t size);

#endif
