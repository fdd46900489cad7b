/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A capture: activity buffers as CUPTI delivered them, with the data that their records point to,
 * in a file. It is written on a machine with a GPU and read on one without. A file is CAPTURE_MAGIC
 * followed by parts, each with this head and padded to 8 bytes; a part follows the parts that it
 * needs, so a truncated file is a capture of what came before the cut.
 *
 * 	VERSION  a 32-bit number: the result of cuptiGetVersion. The first part.
 * 	NAME     a 64-bit number and a text without NUL: what a kernel's name pointer pointed to,
 * 	         from here on
 * 	CALL     two 32-bit numbers, domain and cbid, and a text: the name of a call
 * 	BUFFER   the valid bytes of one buffer
 *
 * Numbers are in the byte order of the machine.
 */
#ifndef TRAINPROF_TESTS_AGENT_CAPTURE_H
#define TRAINPROF_TESTS_AGENT_CAPTURE_H

#include <stdint.h>

#define CAPTURE_MAGIC UINT64_C(0x3154504143505554) /* "TUPCAPT1" */

enum capture_kind {
	CAPTURE_VERSION = 1,
	CAPTURE_NAME = 2,
	CAPTURE_CALL = 3,
	CAPTURE_BUFFER = 4,
};

struct capture_part {
	uint32_t kind;
	uint32_t bytes; /* after this head, without padding */
};

/* Returns the size including the padding. */
static inline uint64_t capture_padded(uint64_t bytes)
{
	return (bytes + 7) & ~UINT64_C(7);
}

#endif
