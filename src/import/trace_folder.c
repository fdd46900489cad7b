/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the traces in folders. */
#include "trainprof/import/trace_folder.h"

#include "import_format.h"

#include "import/reader/text_pattern.h"

#include "trainprof/base/memory.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct list {
	char **paths; /* heap, like the paths */
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

static bool is_folder(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Adds the names in the folder that match (text_pattern.h), without hidden ones, sorted by name. */
static void add_names(struct list *out, const char *folder, const char *pattern)
{
	struct dirent **entries;
	int n = scandir(folder, &entries, NULL, versionsort);
	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;
		if (name[0] != '.' && tp_text_pattern_match(pattern, name, strlen(name), NULL))
			TP_ARRAY_PUSH(out->paths, out->n, out->capacity) =
				tp_asprintf("%s/%s", folder, name);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

/* Names of traces and the format that they promise, the most informative first: profilers write the
 * same trace in several forms next to each other, and each rank must be read only once. */
static const struct {
	const char *pattern;
	const char *format;
} names[] = {
	{"*.xplane.pb", "xprof"},
	{"*.pt.trace.json.gz", "kineto"},
	{"*.pt.trace.json", "kineto"},
	{"*_results.db", "rocpd"},
	{"*_results.json", "rocprof"},
	{"*_results.json.gz", "rocprof"},
	{"ascend_pytorch_profiler*.db", "ascend-db"},
	{"ascend_mindspore_profiler*.db", "ascend-db"},
	{"trace_view.json", "ascend"},
	{"msprof_*.db", "ascend-db"},
	{"kernel_details.csv", "ascend-csv"},
	{"op_summary_*.csv", "ascend-csv"},
	{"*.rpd", "rpd"},
	{"*.sqlite", "nsys"},
	{"*.trace.json.gz", "xprof-json"},
};

static bool holds(const struct list *list, const char *path)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->paths[i], path) == 0)
			return true;
	return false;
}

/* Adds the first trace of each other maker than that of row `chosen`: files of several makers are
 * refused when they are read. Other programs also write files with such names, so the content
 * must be of the maker that the name promises. */
static void add_foreign(struct list *out, const char *folder, size_t chosen)
{
	for (size_t i = chosen + 1; i < TP_ARRAY_LEN(names); i++) {
		struct list found = {0};
		if (tp_import_format_is_same_tool(names[i].format, names[chosen].format))
			continue;
		add_names(&found, folder, names[i].pattern);
		for (size_t k = 0; k < found.n; k++) {
			const char *path = found.paths[k];
			const char *format = holds(out, path) ? NULL : tp_import_format_of(path);
			if (!format || !tp_import_format_is_same_tool(format, names[i].format))
				continue;
			TP_ARRAY_PUSH(out->paths, out->n, out->capacity) = tp_strdup(path);
			break;
		}
		list_release(&found);
	}
}

/* Adds the traces with the first name that fits. `format`: only this one; NULL = any. */
static bool add_traces(struct list *out, const char *folder, const char *format)
{
	size_t before = out->n;
	for (size_t i = 0; out->n == before && i < TP_ARRAY_LEN(names); i++) {
		if (format && strcmp(names[i].format, format) != 0)
			continue;
		add_names(out, folder, names[i].pattern);
		if (!format && out->n > before)
			add_foreign(out, folder, i);
	}
	return out->n > before;
}

/* Adds the traces of one rank of Ascend's profiler:
 * HOST_PID_TIME_ascend_pt/ASCEND_PROFILER_OUTPUT/, or PROF_NUMBER/mindstudio_profiler_output/ of
 * msprof. */
static bool add_rank_traces(struct list *out, const char *folder, const char *format)
{
	static const char *const below[] = {"ASCEND_PROFILER_OUTPUT", "mindstudio_profiler_output"};
	bool is_added = add_traces(out, folder, format);
	for (size_t i = 0; !is_added && i < TP_ARRAY_LEN(below); i++) {
		char *path = tp_asprintf("%s/%s", folder, below[i]);
		is_added = add_traces(out, path, format);
		free(path);
	}
	return is_added;
}

/* Adds one folder per rank, as created by Ascend's profiler and (per host) by rocprofv3. */
static void add_ranks(struct list *out, const char *folder, const char *format)
{
	struct list entries = {0};
	add_names(&entries, folder, "*");
	for (size_t i = 0; i < entries.n; i++)
		if (is_folder(entries.paths[i]))
			(void)add_rank_traces(out, entries.paths[i], format);
	list_release(&entries);
}

/* XProf names its folders by time: the last one is the newest. */
static void add_newest_profile(struct list *out, struct tp_trace_files *files, const char *folder,
			       const char *format, struct tp_arena *arena)
{
	char *profiles = tp_asprintf("%s/plugins/profile", folder);
	struct list times = {0};
	size_t n_folders = 0;
	add_names(&times, profiles, "*");
	for (size_t i = times.n; i-- > 0;) {
		n_folders += is_folder(times.paths[i]);
		if (out->n)
			continue;
		if (add_traces(out, times.paths[i], format))
			files->chosen = tp_arena_strdup(arena, times.paths[i]);
	}
	files->n_choices = n_folders;
	if (n_folders < 2)
		files->chosen = NULL;
	list_release(&times);
	free(profiles);
}

static void add_folder(struct list *out, struct tp_trace_files *files, const char *folder,
		       const char *format, struct tp_arena *arena)
{
	if (!add_rank_traces(out, folder, format))
		add_newest_profile(out, files, folder, format, arena);
	if (!out->n)
		add_ranks(out, folder, format);
}

void tp_trace_folder_expand(struct tp_trace_files *out, const char *const *paths, size_t n,
			    const char *format, struct tp_arena *arena)
{
	struct list all = {0};
	*out = (struct tp_trace_files){0};
	for (size_t i = 0; i < n; i++) {
		struct list found = {0};
		if (is_folder(paths[i]))
			add_folder(&found, out, paths[i], format, arena);
		/* A trace that was renamed may be of the format. */
		if (is_folder(paths[i]) && !found.n && format)
			add_folder(&found, out, paths[i], NULL, arena);
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
