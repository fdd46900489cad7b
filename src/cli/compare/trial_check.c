/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out why a change of a program's command would not reach the program. */
#include "trial_check.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* The dynamic loader ignores a missing library. */
static bool is_library_missing(const char *prefix)
{
	static const char variable[] = "LD_PRELOAD=";
	const char *name = strstr(prefix, variable);
	if (!name)
		return false;
	char *probe = tp_asprintf("%s /bin/true 2>&1 | grep -q .", prefix);
	int status = system(probe);
	free(probe);
	return status == 0;
}

const char *tp_trial_check(const struct tp_run_info *run, const char *prefix,
			   struct tp_arena *arena)
{
	if (!prefix)
		return NULL;
	if (is_library_missing(prefix))
		return "the library that it preloads is not installed";
	const char *set = tp_run_info_overrides(run, prefix, arena);
	if (!set)
		return NULL;
	return tp_arena_printf(arena, "the command itself sets %s: change it there", set);
}
