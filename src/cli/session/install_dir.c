/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the directories that are installed with trainprof. */
#include "install_dir.h"

#include "trainprof/base/memory.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The directory of the program as it was started. An upgrade during a run moves the program's file
 * away, and /proc/self/exe follows it. */
static char program_dir[PATH_MAX];

void tp_install_dir_save(void)
{
	ssize_t len = readlink("/proc/self/exe", program_dir, sizeof(program_dir) - 1);
	program_dir[len > 0 ? len : 0] = '\0';
	char *slash = strrchr(program_dir, '/');
	if (slash)
		*slash = '\0';
}

static char *find_beside(const char *name, const char *source, bool (*is_it)(const char *path))
{
	char *whole = NULL;
	for (int i = 0; i < 3 && !whole && *program_dir; i++) {
		static const char *const below[] = {"/../share/trainprof/", "/../../", "/"};
		char *path = tp_asprintf("%s%s%s", program_dir, below[i], i == 1 ? source : name);
		whole = is_it(path) ? realpath(path, NULL) : NULL;
		free(path);
	}
	return whole;
}

char *tp_install_dir_find(const char *name, const char *source, bool (*is_it)(const char *path))
{
	static const char *const fixed[] = {"/usr/local/share/trainprof/", "/usr/share/trainprof/"};
	char *found = find_beside(name, source, is_it);
	for (size_t i = 0; i < TP_ARRAY_LEN(fixed) && !found; i++) {
		char *path = tp_asprintf("%s%s", fixed[i], name);
		if (is_it(path))
			found = path;
		else
			free(path);
	}
	return found;
}

static bool has_module(const char *path)
{
	char *inside = tp_asprintf("%s/trainprof/__init__.py", path);
	bool is_there = access(inside, R_OK) == 0;
	free(inside);
	return is_there;
}

/* The value of a variable; "" if it is not set. */
static const char *variable(const char *name)
{
	const char *value = getenv(name); /* NOLINT(concurrency-mt-unsafe): before threads */
	return value ? value : "";
}

char *tp_install_python_path(void)
{
	char *directory = tp_install_dir_find("python", "src/python", has_module);
	const char *given = variable("PYTHONPATH");
	bool has_loader = *variable(TP_LOADER_ENV);
	char *path = NULL;
	if (directory && !strchr(directory, ':'))
		path = tp_asprintf("%s%s%s%s%s", has_loader ? directory : "",
				   has_loader ? "/trainprof/startup:" : "", given,
				   *given ? ":" : "", directory);
	free(directory);
	return path;
}
