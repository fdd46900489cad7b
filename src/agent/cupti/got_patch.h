/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words by which a library calls another one that it is linked with: in each there is one for
 * each function it calls, which the loader has filled. Whoever replaces one is called instead, by
 * that library alone. What is asked of the loader by name (dlsym) has no such word.
 *
 * Only the agent's own thread calls this; it may wait for the loader, which may be loading.
 */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_GOT_PATCH_H
#define TRAINPROF_SRC_AGENT_CUPTI_GOT_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_got_import {
	const char *symbol;
	uintptr_t
		theirs; /* where the word leads to, once it is filled; 0: to nothing of that name */
	uintptr_t ours;
};

/* Zeroed: nothing was looked at. */
struct tp_got_patch {
	unsigned long long n_loaded; /* libraries, ever, when they were looked at */
	unsigned n_replaced;         /* words, ever */
};

/*
 * In each library whose list of what it needs has a file name that begins with `needed`, and in the
 * program itself, replace the words of `imports`. Words that lead anywhere else stay, as do those
 * that are ours. Again looks only if something has been loaded since.
 */
void tp_got_patch_replace(struct tp_got_patch *slots, const struct tp_got_import *imports, size_t n,
			  const char *needed);

/*
 * The same in one library, the one that has `address` in it. False: a word of that name is there
 * and leads elsewhere, or the library cannot be read. What has no such word is no failure.
 */
bool tp_got_patch_replace_in(uintptr_t address, const struct tp_got_import *imports, size_t n);

/*
 * Have the loader answer with `ours` from now on, when a library that is loaded later, or anybody
 * by name (dlsym), asks for the function that begins at `theirs`: its library's table of symbols is
 * changed, in this process only. Who asked before keeps what he has. False: it could not be
 * changed.
 */
bool tp_got_patch_export(uintptr_t theirs, uintptr_t ours);

/* Path of the file that has that address in it, "" for the program itself. */
void tp_got_patch_file_of(char *out, size_t size, uintptr_t address);

#endif
