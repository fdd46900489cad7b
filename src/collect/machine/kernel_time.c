/* SPDX-License-Identifier: Apache-2.0 */
/* Converts times of the kernel and of other processes to those of our time namespace. */
#include "kernel_time.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/file.h"
#include "trainprof/collect/host_info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, OFFSETS_SIZE = 256 };

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

/* Returns false, and "", if there is no such link. */
static bool read_link(const struct tp_host *host, const char *process, const char *name, char *out,
		      size_t size)
{
	char relative[64];
	char path[PATH_SIZE];
	snprintf(relative, sizeof(relative), "/proc/%s/ns/%s", process, name);
	ssize_t n = readlink(tp_host_path(host, path, sizeof(path), relative), out, size - 1);
	out[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Reads the offsets of a process's own namespace; false if they are unknown. The file has those of
 * its children: they are its own if it is in the same namespace. */
static bool read_offsets(const struct tp_host *host, const char *process, char *out, size_t size)
{
	char own[64];
	char of_children[64];
	char relative[64];
	char path[PATH_SIZE];
	snprintf(relative, sizeof(relative), "/proc/%s/timens_offsets", process);
	bool is_known =
		read_link(host, process, "time", own, sizeof(own)) &&
		read_link(host, process, "time_for_children", of_children, sizeof(of_children)) &&
		strcmp(own, of_children) == 0 &&
		tp_file_peek(tp_host_path(host, path, sizeof(path), relative), out, size) > 0;
	if (!is_known)
		out[0] = '\0';
	return is_known;
}

/* A process cannot change its own time namespace while it has threads, and we never do. */
uint64_t tp_kernel_time_ns(uint64_t kernel_ns)
{
	static const struct tp_host machine = {.root = ""};
	static bool is_read;
	static char offsets[OFFSETS_SIZE];
	if (!is_read) {
		is_read = true;
		(void)read_offsets(&machine, "self", offsets, sizeof(offsets));
	}
	return offsets[0] ? tp_kernel_time_add_offset(kernel_ns, offsets) : kernel_ns;
}

bool tp_process_time_offset(const struct tp_host *host, pid_t pid, int64_t *offset_ns)
{
	char process[16];
	char ours[64];
	char theirs[64];
	char our_offsets[OFFSETS_SIZE];
	char their_offsets[OFFSETS_SIZE];
	*offset_ns = 0;
	snprintf(process, sizeof(process), "%d", (int)pid);
	if (!read_link(host, "self", "time", ours, sizeof(ours)))
		return true; /* a kernel without time namespaces */
	if (!read_link(host, process, "time", theirs, sizeof(theirs)))
		return false;
	if (strcmp(ours, theirs) == 0)
		return true;
	if (!read_offsets(host, "self", our_offsets, sizeof(our_offsets)) ||
	    !read_offsets(host, process, their_offsets, sizeof(their_offsets)))
		return false;
	*offset_ns = (int64_t)(tp_kernel_time_add_offset(0, our_offsets) -
			       tp_kernel_time_add_offset(0, their_offsets));
	return true;
}
