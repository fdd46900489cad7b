/* SPDX-License-Identifier: Apache-2.0 */
/* Reads small files of /proc and /sys below a host's root. */
#include "host_file.h"

#include "trainprof/base/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX = 8 << 20, PATH_SIZE = 4096 };

const char *tp_host_path(const struct tp_host *host, char *out, size_t size, const char *path)
{
	snprintf(out, size, "%s%s", host->root, path);
	return out;
}

bool tp_host_file_exists(const struct tp_host *host, const char *path)
{
	char full[PATH_SIZE];
	return access(tp_host_path(host, full, sizeof(full), path), F_OK) == 0;
}

bool tp_host_file_read(struct tp_buf *out, const struct tp_host *host, const char *path)
{
	char full[PATH_SIZE];
	return !tp_file_read(out, tp_host_path(host, full, sizeof(full), path), FILE_MAX, NULL) &&
	       out->len > 0;
}

bool tp_host_file_line(const struct tp_host *host, const char *path, char *out, size_t size)
{
	char full[PATH_SIZE];
	out[0] = '\0';
	if (tp_file_peek(tp_host_path(host, full, sizeof(full), path), out, size) < 0)
		return false;
	out[strcspn(out, "\n")] = '\0';
	return true;
}

bool tp_host_file_link(const struct tp_host *host, const char *path, char *out, size_t size)
{
	char full[PATH_SIZE];
	ssize_t len = readlink(tp_host_path(host, full, sizeof(full), path), out, size);
	if (len < 0 && errno == EINVAL)
		return tp_host_file_line(host, path, out, size);
	if (len <= 0 || (size_t)len >= size)
		return false;
	out[len] = '\0';
	return true;
}

/* Returns the value of the first line with that name; NULL if there is none. Modifies `text`. */
static const char *find_field(char *text, const char *name)
{
	size_t len = strlen(name);
	for (char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, len) != 0 || line[len] == '\0' ||
		    !strchr(" \t:", line[len]))
			continue;
		char *value = line + len + strspn(line + len, " \t:");
		value[strcspn(value, "\n")] = '\0';
		return value;
	}
	return NULL;
}

bool tp_host_file_field(const struct tp_host *host, const char *path, const char *name, char *out,
			size_t size)
{
	struct tp_buf text = {0};
	const char *value =
		tp_host_file_read(&text, host, path) ? find_field(text.data, name) : NULL;
	if (value)
		snprintf(out, size, "%s", value);
	tp_buf_release(&text);
	return value != NULL;
}

bool tp_host_file_cpu_list(struct tp_cpu_list *out, const struct tp_host *host, const char *path)
{
	char text[PATH_SIZE];
	return tp_host_file_line(host, path, text, sizeof(text)) && tp_cpu_list_parse(out, text) &&
	       tp_cpu_list_count(out) > 0;
}

void tp_host_file_online(struct tp_cpu_list *out, const struct tp_host *host)
{
	if (!tp_host_file_cpu_list(out, host, "/sys/devices/system/cpu/online"))
		tp_cpu_list_parse(out, "0");
}

void tp_host_file_allowed(struct tp_cpu_list *out, const struct tp_host *host)
{
	char text[PATH_SIZE];
	struct tp_cpu_list mask;
	tp_host_file_online(out, host);
	/* The mask can contain CPUs that are not present. */
	if (tp_host_file_field(host, "/proc/self/status", "Cpus_allowed_list", text,
			       sizeof(text)) &&
	    tp_cpu_list_parse(&mask, text))
		tp_cpu_list_intersect(out, &mask);
}
