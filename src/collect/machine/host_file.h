/* Files of /proc and /sys below a host's root. Each returns false when it cannot be read. */
#ifndef TRAINPROF_SRC_COLLECT_MACHINE_HOST_FILE_H
#define TRAINPROF_SRC_COLLECT_MACHINE_HOST_FILE_H

#include "cpu_list.h"

#include "trainprof/base/buf.h"
#include "trainprof/collect/host_info.h"

#include <stdbool.h>
#include <stddef.h>

bool tp_hostfile_exists(const struct tp_host *host, const char *path);
/* The whole text, at most 8 MiB; empty files give false. */
bool tp_hostfile_read(struct tp_buf *out, const struct tp_host *host, const char *path);
/* The first line without its newline; "" when it cannot be read. */
bool tp_hostfile_line(const struct tp_host *host, const char *path, char *out, size_t size);
/* What a link names, if it fits. A recorded machine keeps it as a file of one line. */
bool tp_hostfile_link(const struct tp_host *host, const char *path, char *out, size_t size);
/* The value of the first line "name : value" or "name value". */
bool tp_hostfile_field(const struct tp_host *host, const char *path, const char *name, char *out,
		       size_t size);
/* A file that holds one list; an empty list gives false. */
bool tp_hostfile_cpulist(struct tp_cpulist *out, const struct tp_host *host, const char *path);

/* CPUs that are plugged in and on; at least one. */
void tp_hostfile_online(struct tp_cpulist *out, const struct tp_host *host);
/* Those of them that our affinity mask allows. */
void tp_hostfile_allowed(struct tp_cpulist *out, const struct tp_host *host);

#endif
