/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces import slots: the words, filled by the loader, through which a library calls the
 * functions of another library. After a replacement that one library calls our function instead. A
 * look-up by name (dlsym) has no import slot.
 *
 * Only the agent's own thread calls this. It may wait for the loader, which may be loading a
 * library.
 */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_GOT_PATCH_H
#define TRAINPROF_SRC_AGENT_CUPTI_GOT_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_got_import {
	const char *symbol;
	uintptr_t theirs; /* the address that the slot has once it is resolved; 0 = no function of
			     that name */
	uintptr_t ours;
};

/* All zero = nothing was searched yet. */
struct tp_got_patch {
	unsigned long long n_loaded; /* number of libraries ever loaded at the last search */
	unsigned n_replaced;         /* slots replaced so far */
};

/* Replaces the slots of `imports` in the program itself and in each library that needs (DT_NEEDED)
 * a file whose name begins with `needed`. Slots that point anywhere else, or to us, stay. A
 * repeated call searches only if a library was loaded since. */
void tp_got_patch_replace(struct tp_got_patch *slots, const struct tp_got_import *imports, size_t n,
			  const char *needed);

/* The same for the one library that contains `address`. Returns false if a slot of that name exists
 * and points elsewhere, or if the library cannot be parsed. A library without such a slot is no
 * failure. */
bool tp_got_patch_replace_in(uintptr_t address, const struct tp_got_import *imports, size_t n);

/* Makes the loader return `ours` from now on when a later library, or a look-up by name (dlsym),
 * asks for the function that begins at `theirs`, by changing the symbol table of its library in
 * this process only. Earlier look-ups keep their result. Returns false if the table could not be
 * changed. */
bool tp_got_patch_export(uintptr_t theirs, uintptr_t ours);

/* Writes the path of the file that contains the address, or "" for the program itself. */
void tp_got_patch_file_of(char *out, size_t size, uintptr_t address);

#endif
