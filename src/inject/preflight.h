/* SPDX-License-Identifier: Apache-2.0 */
/* Finds reasons in /proc not to touch a process. */
#ifndef TRAINPROF_SRC_INJECT_PREFLIGHT_H
#define TRAINPROF_SRC_INJECT_PREFLIGHT_H

#include "trainprof/base/status.h"

#include <stdbool.h>
#include <sys/types.h>

struct tp_image_map;

/* proc   "/proc", or a directory of the same layout; our own process is PROC/self there. Errors  as
 * of tp_inject(), except those about mapped files. */
TP_MUST_CHECK enum tp_status tp_preflight_process(const char *proc, pid_t pid,
						  struct tp_error *err);

/* Checks the files that it has mapped: there must be a known C library. */
TP_MUST_CHECK enum tp_status tp_preflight_images(const struct tp_image_map *map, pid_t pid,
						 struct tp_error *err);

/* Appends the command to type when the program must be restarted under trainprof. */
void tp_preflight_suggest_run(struct tp_error *err);

#endif
