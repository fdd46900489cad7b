/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the library that is loaded into programs that use a GPU. */
#include "agent_path.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/trust.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *tp_agent_path(void)
{
	static const char *const places[] = {"/" TP_AGENT_LIBRARY,
					     "/../lib/trainprof/" TP_AGENT_LIBRARY,
					     "/../lib/" TP_AGENT_LIBRARY};
	char self[PATH_MAX];
	const char *given = getenv(TP_AGENT_ENV); /* NOLINT(concurrency-mt-unsafe) */
	if (given)
		return access(given, R_OK) == 0 && tp_trust_is_given(given) ? tp_strdup(given)
									    : NULL;
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (len <= 0)
		return NULL;
	self[len] = '\0';
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < TP_ARRAY_LEN(places); i++) {
		char *path = tp_asprintf("%s%s", self, places[i]);
		if (access(path, R_OK) == 0)
			return path;
		free(path);
	}
	return NULL;
}
