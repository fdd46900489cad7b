/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a process has mapped, from /proc/PID/maps: the start of each and the location of
 * its code. Files are distinguished by the last component of their paths. */
#ifndef TRAINPROF_SRC_INJECT_IMAGE_MAP_H
#define TRAINPROF_SRC_INJECT_IMAGE_MAP_H

#include "trainprof/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tp_mapping;

struct tp_image_map {
	char *text;               /* split into the paths; heap */
	struct tp_mapping *files; /* mappings that have a path, in order; heap */
	size_t n_files;
};

struct tp_image {
	uint64_t start; /* address of its first byte, the ELF header */
	uint64_t end;   /* end of its last mapping */
	uint64_t code_start;
	uint64_t code_end; /* end of its executable mapping */
};

/* Errors  TP_ABSENT (gone), TP_DENIED, TP_IO. */
TP_MUST_CHECK enum tp_status tp_image_map_read(struct tp_image_map *out, pid_t pid,
					       struct tp_error *err);
/* Parses a copy of a text of that form. */
void tp_image_map_parse(struct tp_image_map *out, const char *text);
void tp_image_map_release(struct tp_image_map *map);

/* Finds the first file with executable code whose name begins with `prefix` and continues with '.',
 * '-' or nothing; "[vdso]" too. Returns false if there is none. */
bool tp_image_map_find(struct tp_image *out, const struct tp_image_map *map, const char *prefix);

/* Finds the GNU C library, under its name since 2.34 or its older name. */
bool tp_image_map_find_libc(struct tp_image *out, const struct tp_image_map *map);

#endif
