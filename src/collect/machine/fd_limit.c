/* SPDX-License-Identifier: Apache-2.0 */
/* Counts open files against their limit. */
#include "fd_limit.h"

#include <dirent.h>
#include <sys/resource.h>

uint64_t tp_fd_limit_left(uint64_t reserve)
{
	struct rlimit limit;
	DIR *dir = opendir("/proc/self/fd");
	if (!dir || getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
		if (dir)
			closedir(dir);
		return UINT64_MAX;
	}
	uint64_t n_taken = reserve;
	while (readdir(dir)) /* NOLINT(concurrency-mt-unsafe): a DIR of our own */
		n_taken++;
	closedir(dir);
	return n_taken < limit.rlim_cur ? limit.rlim_cur - n_taken : 0;
}
