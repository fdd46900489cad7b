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

bool tp_hostfile_exists(const struct tp_host *host, const char *path)
{
	char full[PATH_SIZE];
	return access(tp_host_path(host, full, sizeof(full), path), F_OK) == 0;
}

bool tp_hostfile_read(struct tp_buf *out, const struct tp_host *host, const char *path)
{
	char full[PATH_SIZE];
	return !tp_file_read(out, tp_host_path(host, full, sizeof(full), path), FILE_MAX, NULL) &&
	       out->len > 0;
}

bool tp_hostfile_line(const struct tp_host *host, const char *path, char *out, size_t size)
{
	char full[PATH_SIZE];
	out[0] = '\0';
	if (tp_file_peek(tp_host_path(host, full, sizeof(full), path), out, size) < 0)
		return false;
	out[strcspn(out, "\n")] = '\0';
	return true;
}

bool tp_hostfile_link(const struct tp_host *host, const char *path, char *out, size_t size)
{
	char full[PATH_SIZE];
	ssize_t len = readlink(tp_host_path(host, full, sizeof(full), path), out, size);
	if (len < 0 && errno == EINVAL)
		return tp_hostfile_line(host, path, out, size);
	if (len <= 0 || (size_t)len >= size)
		return false;
	out[len] = '\0';
	return true;
}

/* The value of the first line with that name; NULL when there is none. Cut out of `text`. */
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

bool tp_hostfile_field(const struct tp_host *host, const char *path, const char *name, char *out,
		       size_t size)
{
	struct tp_buf text = {0};
	const char *value =
		tp_hostfile_read(&text, host, path) ? find_field(text.data, name) : NULL;
	if (value)
		snprintf(out, size, "%s", value);
	tp_buf_release(&text);
	return value != NULL;
}

bool tp_hostfile_cpulist(struct tp_cpulist *out, const struct tp_host *host, const char *path)
{
	char text[PATH_SIZE];
	return tp_hostfile_line(host, path, text, sizeof(text)) && tp_cpulist_parse(out, text) &&
	       tp_cpulist_count(out) > 0;
}

void tp_hostfile_online(struct tp_cpulist *out, const struct tp_host *host)
{
	if (!tp_hostfile_cpulist(out, host, "/sys/devices/system/cpu/online"))
		tp_cpulist_parse(out, "0");
}

void tp_hostfile_allowed(struct tp_cpulist *out, const struct tp_host *host)
{
	char text[PATH_SIZE];
	struct tp_cpulist mask;
	tp_hostfile_online(out, host);
	/* The mask can name CPUs that are not plugged in. */
	if (tp_hostfile_field(host, "/proc/self/status", "Cpus_allowed_list", text, sizeof(text)) &&
	    tp_cpulist_parse(&mask, text))
		tp_cpulist_intersect(out, &mask);
}
