/* SPDX-License-Identifier: Apache-2.0 */
/* Additions to the target's environment that collectors need. */
#ifndef TRAINPROF_COLLECT_ENV_H
#define TRAINPROF_COLLECT_ENV_H

#include <stddef.h>

/* Zero-initialised is empty and valid. */
struct tp_env {
	char **entries; /* "NAME=VALUE" */
	size_t n_entries;
	size_t entries_capacity;
};

void tp_env_release(struct tp_env *env);
/* Replaces an earlier value of the same name. */
void tp_env_set(struct tp_env *env, const char *name, const char *value);
/* `base` (NULL-terminated) with the additions, for exec. One block, freed with free(); strings are
 * borrowed from both. */
char **tp_env_merge(const struct tp_env *env, char *const *base);

#endif
