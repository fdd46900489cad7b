/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the traces in folders. */
#include "trainprof/import/trace_folder.h"

#include "trainprof/base/memory.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct list {
	char **paths; /* heap, as are the paths */
	size_t n;
	size_t capacity;
};

static void list_release(struct list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->paths[i]);
	free(list->paths);
	*list = (struct list){0};
}

static bool has_suffix(const char *name, const char *suffix)
{
	size_t len = strlen(name);
	size_t n = strlen(suffix);
	return len > n && strcmp(name + len - n, suffix) == 0;
}

static bool is_folder(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Names in the folder that end so ("" is all but hidden ones), by name. */
static void add_names(struct list *out, const char *folder, const char *suffix)
{
	struct dirent **entries;
	int n = scandir(folder, &entries, NULL, versionsort);
	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;
		if (name[0] != '.' && (!*suffix || has_suffix(name, suffix)))
			TP_ARRAY_PUSH(out->paths, out->n, out->capacity) =
				tp_asprintf("%s/%s", folder, name);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

/* The kinds of traces, from what says most. XProf writes its JSON beside the same in binary form,
 * and a folder of Kineto's traces may hold them packed. */
static void add_traces(struct list *out, const char *folder)
{
	static const char *const suffixes[] = {
		".xplane.pb", ".pt.trace.json.gz", ".pt.trace.json", ".sqlite", ".trace.json.gz",
	};
	for (size_t i = 0; !out->n && i < TP_ARRAY_LEN(suffixes); i++)
		add_names(out, folder, suffixes[i]);
}

/* XProf names its folders by the time: the last one is the newest. */
static void add_newest_profile(struct list *out, struct tp_trace_files *files, const char *folder,
			       struct tp_arena *arena)
{
	char *profiles = tp_asprintf("%s/plugins/profile", folder);
	struct list times = {0};
	size_t n_folders = 0;
	add_names(&times, profiles, "");
	for (size_t i = times.n; i-- > 0;) {
		n_folders += is_folder(times.paths[i]);
		if (out->n)
			continue;
		add_traces(out, times.paths[i]);
		if (out->n)
			files->chosen = tp_arena_strdup(arena, times.paths[i]);
	}
	files->n_choices = n_folders;
	if (n_folders < 2)
		files->chosen = NULL;
	list_release(&times);
	free(profiles);
}

void tp_trace_folder_expand(struct tp_trace_files *out, const char *const *paths, size_t n,
			    struct tp_arena *arena)
{
	struct list all = {0};
	*out = (struct tp_trace_files){0};
	for (size_t i = 0; i < n; i++) {
		struct list found = {0};
		if (is_folder(paths[i])) {
			add_traces(&found, paths[i]);
			if (!found.n)
				add_newest_profile(&found, out, paths[i], arena);
		}
		if (!found.n)
			TP_ARRAY_PUSH(all.paths, all.n, all.capacity) = tp_strdup(paths[i]);
		for (size_t k = 0; k < found.n; k++)
			TP_ARRAY_PUSH(all.paths, all.n, all.capacity) = tp_strdup(found.paths[k]);
		list_release(&found);
	}
	out->n = all.n;
	out->paths = tp_arena_array(arena, all.n, sizeof(*out->paths));
	for (size_t i = 0; i < all.n; i++)
		out->paths[i] = tp_arena_strdup(arena, all.paths[i]);
	list_release(&all);
}
