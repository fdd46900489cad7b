/* SPDX-License-Identifier: Apache-2.0 */
/* Reads files of /proc and /sys below a host's root. Each function returns false if the file cannot
 * be read. */
#ifndef TRAINPROF_SRC_COLLECT_MACHINE_HOST_FILE_H
#define TRAINPROF_SRC_COLLECT_MACHINE_HOST_FILE_H

#include "cpu_list.h"

#include "trainprof/base/buf.h"
#include "trainprof/collect/host_info.h"

#include <stdbool.h>
#include <stddef.h>

bool tp_host_file_exists(const struct tp_host *host, const char *path);
/* Reads the whole text, at most 8 MiB; returns false for empty files. */
bool tp_host_file_read(struct tp_buf *out, const struct tp_host *host, const char *path);
/* Reads the first line without its newline; "" if it cannot be read. */
bool tp_host_file_line(const struct tp_host *host, const char *path, char *out, size_t size);
/* Reads the target of a link, if it fits. A recorded machine stores it as a file of one line. */
bool tp_host_file_link(const struct tp_host *host, const char *path, char *out, size_t size);
/* Reads the value of the first line "name : value" or "name value". */
bool tp_host_file_field(const struct tp_host *host, const char *path, const char *name, char *out,
			size_t size);
/* Reads a file that contains one list; returns false for an empty list. */
bool tp_host_file_cpu_list(struct tp_cpu_list *out, const struct tp_host *host, const char *path);

/* Returns the CPUs that are online; at least one. */
void tp_host_file_online(struct tp_cpu_list *out, const struct tp_host *host);
/* Returns the online CPUs that our affinity mask allows. */
void tp_host_file_allowed(struct tp_cpu_list *out, const struct tp_host *host);

#endif
