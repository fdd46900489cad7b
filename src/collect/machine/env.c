/* SPDX-License-Identifier: Apache-2.0 */
/* Stores additions to an environment and merges them with it. */
#include "trainprof/collect/env.h"

#include "trainprof/base/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void tp_env_release(struct tp_env *env)
{
	for (size_t i = 0; i < env->n_entries; i++)
		free(env->entries[i]);
	free(env->entries);
	*env = (struct tp_env){0};
}

/* True if `entry` is NAME=…, where NAME has `len` bytes. */
static bool entry_is(const char *entry, const char *name, size_t len)
{
	return strncmp(entry, name, len) == 0 && entry[len] == '=';
}

void tp_env_set(struct tp_env *env, const char *name, const char *value)
{
	char *entry = tp_asprintf("%s=%s", name, value);
	for (size_t i = 0; i < env->n_entries; i++) {
		if (!entry_is(env->entries[i], name, strlen(name)))
			continue;
		free(env->entries[i]);
		env->entries[i] = entry;
		return;
	}
	TP_ARRAY_PUSH(env->entries, env->n_entries, env->entries_capacity) = entry;
}

/* True if an addition replaces this entry of the base. */
static bool env_replaces(const struct tp_env *env, const char *entry)
{
	for (size_t i = 0; i < env->n_entries; i++)
		if (entry_is(entry, env->entries[i], strcspn(env->entries[i], "=")))
			return true;
	return false;
}

char **tp_env_merge(const struct tp_env *env, char *const *base)
{
	size_t n_base = 0;
	while (base[n_base])
		n_base++;
	char **merged = tp_alloc((n_base + env->n_entries + 1) * sizeof(*merged));
	size_t n = 0;
	for (size_t i = 0; i < n_base; i++)
		if (!env_replaces(env, base[i]))
			merged[n++] = base[i];
	for (size_t i = 0; i < env->n_entries; i++)
		merged[n++] = env->entries[i];
	merged[n] = NULL;
	return merged;
}
