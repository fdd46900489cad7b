/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions that the C library picks when it is loaded, for which it has no symbols. */
#ifndef TRAINPROF_SRC_STACK_SYMBOLS_IFUNC_H
#define TRAINPROF_SRC_STACK_SYMBOLS_IFUNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TP_IFUNCS_MAX = 16, TP_IFUNC_ID_CHARS = 64 };

/* The implementations that this process uses. All zero = not looked up yet. */
struct tp_ifuncs {
	struct tp_ifunc {
		const char *name;
		uint64_t start;
		char build_id[TP_IFUNC_ID_CHARS + 1]; /* of the library that contains it */
	} items[TP_IFUNCS_MAX];
	size_t n;
	bool is_known; /* the choice is made once and does not change */
};

/* Returns "memcpy" for the start of the implementation that this machine uses, if the file is the C
 * library that we run with ourselves (same build-id); NULL otherwise.
 * start  relative to the load address, like the bounds of a function. */
const char *tp_ifunc_name(struct tp_ifuncs *ifuncs, const char *build_id, uint64_t start);

#endif
