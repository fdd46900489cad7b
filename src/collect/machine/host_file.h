/* SPDX-License-Identifier: Apache-2.0 */
/* Files of /proc and /sys below a host's root. Each returns false when it cannot be read. */
#ifndef TRAINPROF_SRC_COLLECT_MACHINE_HOST_FILE_H
#define TRAINPROF_SRC_COLLECT_MACHINE_HOST_FILE_H

#include "cpu_list.h"

#include "trainprof/base/buf.h"
#include "trainprof/collect/host_info.h"

#include <stdbool.h>
#include <stddef.h>

bool tp_host_file_exists(const struct tp_host *host, const char *path);
/* The whole text, at most 8 MiB; empty files give false. */
bool tp_host_file_read(struct tp_buf *out, const struct tp_host *host, const char *path);
/* The first line without its newline; "" when it cannot be read. */
bool tp_host_file_line(const struct tp_host *host, const char *path, char *out, size_t size);
/* What a link names, if it fits. A recorded machine keeps it as a file of one line. */
bool tp_host_file_link(const struct tp_host *host, const char *path, char *out, size_t size);
/* The value of the first line "name : value" or "name value". */
bool tp_host_file_field(const struct tp_host *host, const char *path, const char *name, char *out,
			size_t size);
/* A file that holds one list; an empty list gives false. */
bool tp_host_file_cpu_list(struct tp_cpu_list *out, const struct tp_host *host, const char *path);

/* CPUs that are plugged in and on; at least one. */
void tp_host_file_online(struct tp_cpu_list *out, const struct tp_host *host);
/* Those of them that our affinity mask allows. */
void tp_host_file_allowed(struct tp_cpu_list *out, const struct tp_host *host);

#endif
