/* SPDX-License-Identifier: Apache-2.0 */
/* Finds our control groups, version 1 and 2, nested and namespaced, and their limits. */
#include "cgroup.h"

#include "host_file.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

/* A hierarchy as mounted here, and our group in it; both below the host's root. */
struct cgroup_place {
	char mount[PATH_SIZE];
	char directory[PATH_SIZE]; /* starts with mount */
	bool is_v2;
};

/* True if `word` is one of the comma-separated words of list[0..len). */
static bool list_has_word(const char *list, size_t len, const char *word)
{
	size_t word_len = strlen(word);
	const char *end = list + len;
	while (list < end) {
		const char *comma = memchr(list, ',', (size_t)(end - list));
		size_t n = (size_t)((comma ? comma : end) - list);
		if (n == word_len && memcmp(list, word, n) == 0)
			return true;
		list += n + 1;
	}
	return false;
}

/* Returns our path in the hierarchy of `controller`, NULL for version 2, from /proc/self/cgroup. */
static bool find_own_path(char *text, const char *controller, char *out, size_t size)
{
	for (char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		char *controllers = strchr(line, ':');
		char *path = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!path)
			return false;
		controllers++;
		size_t len = (size_t)(path - controllers);
		if (controller ? !list_has_word(controllers, len, controller) : len != 0)
			continue;
		path++;
		snprintf(out, size, "%.*s", (int)strcspn(path, "\n"), path);
		return true;
	}
	return false;
}

/* The kernel writes blanks in paths as \040. Decodes in place. */
static void unescape_octal(char *text)
{
	char *to = text;
	for (const char *from = text; *from; to++) {
		unsigned value;
		if (from[0] == '\\' && sscanf(from + 1, "%3o", &value) == 1) {
			*to = (char)value;
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

/* The required fields of one line of mountinfo. */
struct mount {
	char *root; /* the mounted part of the hierarchy */
	char *point;
	char *type;
	char *options; /* of the super block: the controllers of version 1 */
};

/* Splits one line; returns false if a field is missing. */
static bool parse_mount(char *line, struct mount *out)
{
	char *rest = NULL;
	char *separator = strstr(line, " - ");
	if (!separator)
		return false;
	*separator = '\0';
	out->type = strtok_r(separator + 3, " ", &rest);
	strtok_r(NULL, " ", &rest); /* the source, not needed */
	out->options = strtok_r(NULL, " ", &rest);
	strtok_r(line, " ", &rest);
	strtok_r(NULL, " ", &rest);
	strtok_r(NULL, " ", &rest);
	out->root = strtok_r(NULL, " ", &rest);
	out->point = strtok_r(NULL, " ", &rest);
	return out->type && out->options && out->root && out->point;
}

/* Finds the mount of the hierarchy of `controller`, NULL for version 2. Modifies `text`. */
static bool find_mount(char *text, const char *controller, struct mount *out)
{
	char *rest = NULL;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (!parse_mount(line, out))
			continue;
		if (strcmp(out->type, controller ? "cgroup" : "cgroup2") != 0)
			continue;
		if (controller && !list_has_word(out->options, strlen(out->options), controller))
			continue;
		unescape_octal(out->root);
		unescape_octal(out->point);
		return true;
	}
	return false;
}

/* Joins the mount point and our path. A container without its own cgroup namespace has the whole
 * path but only its own part mounted: the mount's root is removed from the path. If the result does
 * not exist or lies outside ("/../x"), returns the mount point, the closest visible group. */
static void join_place(const struct tp_host *host, struct cgroup_place *out,
		       const struct mount *mount, const char *own)
{
	size_t root_len = strcmp(mount->root, "/") == 0 ? 0 : strlen(mount->root);
	const char *below = own;
	if (root_len && strncmp(own, mount->root, root_len) == 0 &&
	    (own[root_len] == '/' || own[root_len] == '\0'))
		below = own + root_len;
	snprintf(out->mount, sizeof(out->mount), "%s", mount->point);
	int len = snprintf(out->directory, sizeof(out->directory), "%s%s", mount->point,
			   strcmp(below, "/") == 0 ? "" : below);
	if (len < 0 || (size_t)len >= sizeof(out->directory) || strstr(below, "/..") ||
	    !tp_host_file_exists(host, out->directory))
		snprintf(out->directory, sizeof(out->directory), "%s", out->mount);
}

/* Finds our group in the hierarchy of `controller`; NULL for the version 2 hierarchy. */
static bool find_place_in(const struct tp_host *host, struct cgroup_place *out,
			  const char *controller)
{
	bool found = false;
	char own[PATH_SIZE];
	struct tp_buf groups = {0};
	struct tp_buf mounts = {0};
	if (!tp_host_file_read(&groups, host, "/proc/self/cgroup") ||
	    !tp_host_file_read(&mounts, host, "/proc/self/mountinfo"))
		goto out;
	struct mount mount;
	if (!find_own_path(groups.data, controller, own, sizeof(own)))
		goto out;
	if (!find_mount(mounts.data, controller, &mount))
		goto out;
	out->is_v2 = !controller;
	join_place(host, out, &mount, own);
	found = true;
out:
	tp_buf_release(&groups);
	tp_buf_release(&mounts);
	return found;
}

/* A controller is in one hierarchy only: its own version 1 hierarchy or that of version 2. */
static bool find_place(const struct tp_host *host, struct cgroup_place *out, const char *controller)
{
	return find_place_in(host, out, controller) || find_place_in(host, out, NULL);
}

static bool read_group_file(const struct tp_host *host, const char *directory, const char *name,
			    char *out, size_t size)
{
	char below[PATH_SIZE];
	int len = snprintf(below, sizeof(below), "%s/%s", directory, name);
	return len > 0 && (size_t)len < sizeof(below) && tp_host_file_line(host, below, out, size);
}

/* Returns the CPUs that one group may use; 0 = not limited. */
static double read_quota(const struct tp_host *host, const char *directory, bool is_v2)
{
	char text[64];
	char period_text[64];
	double quota = 0;
	double period = 0;
	if (is_v2) {
		if (!read_group_file(host, directory, "cpu.max", text, sizeof(text)) ||
		    sscanf(text, "%lf %lf", &quota, &period) != 2)
			return 0;
	} else {
		if (!read_group_file(host, directory, "cpu.cfs_quota_us", text, sizeof(text)) ||
		    !read_group_file(host, directory, "cpu.cfs_period_us", period_text,
				     sizeof(period_text)) ||
		    sscanf(text, "%lf", &quota) != 1 || sscanf(period_text, "%lf", &period) != 1)
			return 0;
	}
	return quota > 0 && period > 0 ? quota / period : 0;
}

/* Returns the bytes that one group may use; 0 = not limited. Version 1 writes "no limit" as a huge
 * number. */
static uint64_t read_memory_limit(const struct tp_host *host, const char *directory, bool is_v2)
{
	char text[64];
	if (!read_group_file(host, directory, is_v2 ? "memory.max" : "memory.limit_in_bytes", text,
			     sizeof(text)) ||
	    strncmp(text, "max", 3) == 0)
		return 0;
	uint64_t limit = strtoull(text, NULL, 10);
	return limit < UINT64_C(1) << 60 ? limit : 0;
}

/* Replaces `directory` with its parent; false above the mount point. */
static bool to_parent_dir(char *directory, const char *mount)
{
	char *slash = strrchr(directory, '/');
	if (!slash || strlen(directory) <= strlen(mount))
		return false;
	*slash = '\0';
	return strlen(directory) >= strlen(mount);
}

static void find_cpu(struct tp_host *host, struct cgroup_place *place)
{
	char tightest[PATH_SIZE];
	snprintf(tightest, sizeof(tightest), "%s", place->directory);
	do {
		double quota = read_quota(host, place->directory, place->is_v2);
		if (quota > 0 && (host->info.quota_cpus <= 0 || quota < host->info.quota_cpus)) {
			host->info.quota_cpus = quota;
			snprintf(tightest, sizeof(tightest), "%s", place->directory);
		}
	} while (to_parent_dir(place->directory, place->mount));
	host->cgroup_cpu = tp_arena_strdup(&host->arena, tightest);
	host->cgroup_is_v2 = place->is_v2;
}

static void find_memory(struct tp_host *host, struct cgroup_place *place)
{
	host->cgroup_memory = tp_arena_strdup(&host->arena, place->directory);
	uint64_t least = host->info.memory_bytes;
	do {
		uint64_t limit = read_memory_limit(host, place->directory, place->is_v2);
		if (limit && (least == 0 || limit < least)) {
			least = limit;
			host->info.memory_limit_bytes = limit;
		}
	} while (to_parent_dir(place->directory, place->mount));
}

void tp_cgroup_find(struct tp_host *host)
{
	struct cgroup_place *place = tp_alloc(sizeof(*place));
	if (find_place(host, place, "cpu"))
		find_cpu(host, place);
	if (find_place(host, place, "memory"))
		find_memory(host, place);
	free(place);
}
