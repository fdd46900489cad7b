/* SPDX-License-Identifier: Apache-2.0 */
/* Finds files among the mappings of a process. */
#include "image_map.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/proc_maps.h"

#include <stdlib.h>
#include <string.h>

enum tp_status tp_image_map_read(struct tp_image_map *out, pid_t pid, struct tp_error *err)
{
	struct tp_buf text = {0};
	enum tp_status status = tp_proc_maps_read(&text, "/proc", pid, err);
	if (status == TP_OK)
		tp_image_map_parse(out, tp_buf_text(&text));
	tp_buf_release(&text);
	return status;
}

void tp_image_map_parse(struct tp_image_map *out, const char *text)
{
	*out = (struct tp_image_map){.text = tp_strdup(text)};
	char *at = out->text;
	size_t capacity = 0;
	struct tp_mapping mapping;
	while (tp_proc_maps_next(&at, &mapping))
		if (*mapping.path)
			TP_ARRAY_PUSH(out->files, out->n_files, capacity) = mapping;
}

void tp_image_map_release(struct tp_image_map *map)
{
	free(map->files);
	free(map->text);
	*map = (struct tp_image_map){0};
}

static bool is_called(const char *path, const char *prefix)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t length = strlen(prefix);
	return strncmp(name, prefix, length) == 0 && strchr(".- ", name[length]);
}

/* Reads the mappings of one file, starting with its first one, until those of another file
 * begin. */
static bool read_image(struct tp_image *out, const struct tp_image_map *map, size_t first)
{
	const struct tp_mapping *files = map->files;
	*out = (struct tp_image){.start = files[first].start};
	for (size_t i = first; i < map->n_files && strcmp(files[i].path, files[first].path) == 0;
	     i++) {
		out->end = files[i].start + files[i].size;
		if (files[i].is_executable && !out->code_end) {
			out->code_start = files[i].start;
			out->code_end = out->end;
		}
	}
	return out->code_end != 0;
}

bool tp_image_map_find(struct tp_image *out, const struct tp_image_map *map, const char *prefix)
{
	for (size_t i = 0; i < map->n_files; i++)
		if (map->files[i].file_offset == 0 && is_called(map->files[i].path, prefix) &&
		    read_image(out, map, i))
			return true;
	return false;
}

bool tp_image_map_find_libc(struct tp_image *out, const struct tp_image_map *map)
{
	return tp_image_map_find(out, map, "libc.so") || tp_image_map_find(out, map, "libc-2");
}
