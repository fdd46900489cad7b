/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the number of a rank in the names of files next to its trace. */
#include "ascend_folder.h"

#include "trainprof/base/memory.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t number_in(const char *folder)
{
	DIR *directory = opendir(folder);
	const struct dirent *entry;
	int64_t number = -1;
	while (directory && number < 0 && (entry = readdir(directory))) {
		unsigned found;
		int end = 0;
		if (sscanf(entry->d_name, "profiler_info_%9u.json%n", &found, &end) == 1 && end &&
		    !entry->d_name[end])
			number = found;
	}
	if (directory)
		closedir(directory);
	return number;
}

void tp_ascend_folder_rank(struct tp_rank_writer *writer, const struct tp_import_source *source)
{
	struct tp_rank_info *info = tp_rank_info(writer);
	const char *slash = strrchr(source->path, '/');
	if (info->number >= 0 || source->member)
		return;
	char *above = slash ? tp_asprintf("%.*s/..", (int)(slash - source->path), source->path)
			    : tp_strdup("..");
	info->number = number_in(above);
	free(above);
}
