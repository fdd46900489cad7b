/* SPDX-License-Identifier: Apache-2.0 */
/* Converts times in records of the kernel to those of our time namespace. */
#include "kernel_time.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t tp_kernel_time_add_offset(uint64_t kernel_ns, const char *offsets)
{
	static const char name[] = "monotonic";
	const char *at = strstr(offsets, name);
	if (!at)
		return kernel_ns;
	char *end;
	long long seconds = strtoll(at + strlen(name), &end, 10);
	long long ns = strtoll(end, NULL, 10);
	/* Unsigned, so that a negative offset wraps to the right sum. */
	return kernel_ns + (uint64_t)seconds * TP_NS_PER_S + (uint64_t)ns;
}

/* The file has the offsets of children: ours, if theirs is our namespace. */
static bool is_in_namespace_of_children(void)
{
	char ours[64] = "";
	char theirs[64] = "";
	return readlink("/proc/self/ns/time", ours, sizeof(ours) - 1) > 0 &&
	       readlink("/proc/self/ns/time_for_children", theirs, sizeof(theirs) - 1) > 0 &&
	       strcmp(ours, theirs) == 0;
}

/* A process cannot change its own time namespace while it has threads, and we never do. */
uint64_t tp_kernel_time_ns(uint64_t kernel_ns)
{
	static bool is_read;
	static char offsets[256];
	if (!is_read) {
		is_read = true;
		if (!is_in_namespace_of_children() ||
		    tp_file_peek("/proc/self/timens_offsets", offsets, sizeof(offsets)) <= 0)
			offsets[0] = '\0';
	}
	return offsets[0] ? tp_kernel_time_add_offset(kernel_ns, offsets) : kernel_ns;
}
