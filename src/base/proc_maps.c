/* SPDX-License-Identifier: Apache-2.0 */
/* Reads /proc/PID/maps and parses its lines. */
#include "trainprof/base/proc_maps.h"

#include "trainprof/base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 64 << 20, MAX_PATH_BYTES = 4096 };

enum tp_status tp_proc_maps_read(struct tp_buf *out, const char *proc, pid_t pid,
				 struct tp_error *err)
{
	char path[MAX_PATH_BYTES];
	snprintf(path, sizeof(path), "%s/%d/maps", proc, (int)pid);
	return tp_file_read(out, path, MAX_BYTES, err);
}

static bool read_number(char **at, int base, char ending, uint64_t *out)
{
	char *end;
	*out = strtoull(*at, &end, base);
	if (end == *at || *end != ending)
		return false;
	*at = end + 1;
	return true;
}

/* "7f00-7f01 r-xp 00002000 fe:01 1234   /usr/lib/libc.so.6" */
static bool parse_line(char *line, struct tp_mapping *out)
{
	char *at = line;
	uint64_t end;
	uint64_t major;
	uint64_t minor;
	*out = (struct tp_mapping){0};
	if (!read_number(&at, 16, '-', &out->start) || !read_number(&at, 16, ' ', &end) ||
	    end <= out->start)
		return false;
	out->size = end - out->start;
	if (strnlen(at, 5) < 5 || at[4] != ' ')
		return false;
	out->is_executable = at[2] == 'x';
	at += 5;
	if (!read_number(&at, 16, ' ', &out->file_offset) || !read_number(&at, 16, ':', &major) ||
	    !read_number(&at, 16, ' ', &minor))
		return false;
	char *inode_end;
	out->inode = strtoull(at, &inode_end, 10);
	if (inode_end == at)
		return false;
	out->dev_major = (uint32_t)major;
	out->dev_minor = (uint32_t)minor;
	for (at = inode_end; *at == ' ';)
		at++;
	out->path = at;
	return true;
}

bool tp_proc_maps_next(char **text, struct tp_mapping *out)
{
	while (*text && **text) {
		char *line = *text;
		char *end = line + strcspn(line, "\n");
		*text = *end ? end + 1 : end;
		*end = '\0';
		if (parse_line(line, out))
			return true;
	}
	return false;
}
