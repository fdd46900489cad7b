/* SPDX-License-Identifier: Apache-2.0 */
/* Why a process is better left alone, from what /proc says of it. */
#ifndef TRAINPROF_SRC_INJECT_PREFLIGHT_H
#define TRAINPROF_SRC_INJECT_PREFLIGHT_H

#include "trainprof/base/status.h"

#include <stdbool.h>
#include <sys/types.h>

struct tp_image_map;

/*
 * proc   "/proc", or a tree that looks like it; ours is the process PROC/self there.
 * Errors  as of tp_inject(), but for the files that it has mapped.
 */
TP_MUST_CHECK enum tp_status tp_preflight_process(const char *proc, pid_t pid,
						  struct tp_error *err);

/* Of the files that it has mapped: whether there is a C library that is known. */
TP_MUST_CHECK enum tp_status tp_preflight_images(const struct tp_image_map *map, pid_t pid,
						 struct tp_error *err);

/* What to type where the program has to be started anew. */
void tp_preflight_suggest_run(struct tp_error *err);

#endif
