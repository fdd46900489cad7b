/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that a process has mapped, from /proc/PID/maps: where each begins, and where its code
 * lies. Names are told apart by their last component.
 */
#ifndef TRAINPROF_SRC_INJECT_IMAGE_MAP_H
#define TRAINPROF_SRC_INJECT_IMAGE_MAP_H

#include "trainprof/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tp_mapping;

struct tp_image_map {
	char *text;               /* cut up into the paths; heap */
	struct tp_mapping *files; /* those that have a path, in their order; heap */
	size_t n_files;
};

struct tp_image {
	uint64_t start; /* of the mapping of its first byte: its ELF header */
	uint64_t end;   /* of its last mapping */
	uint64_t code_start;
	uint64_t code_end; /* of its executable mapping */
};

/* Errors  TP_ABSENT (gone), TP_DENIED, TP_IO. */
TP_MUST_CHECK enum tp_status tp_image_map_read(struct tp_image_map *out, pid_t pid,
					       struct tp_error *err);
/* From a text of that form; copied. */
void tp_image_map_parse(struct tp_image_map *out, const char *text);
void tp_image_map_release(struct tp_image_map *map);

/* The first file whose name begins with `prefix` and goes on with a '.', a '-' or not at all, that
 * has executable code; "[vdso]" too. False: there is none. */
bool tp_image_map_find(struct tp_image *out, const struct tp_image_map *map, const char *prefix);

/* The GNU C library, under its name since 2.34 or before. */
bool tp_image_map_find_libc(struct tp_image *out, const struct tp_image_map *map);

#endif
