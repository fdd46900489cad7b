/* Reads lines of /proc/PID/maps. */
#include "image_map.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MOST = 64 << 20, NAME_MOST = 4096 };

struct line {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	bool is_code;
	const char *path; /* to its newline */
	size_t length;
};

enum tp_status tp_imagemap_read(struct tp_imagemap *out, pid_t pid, struct tp_error *err)
{
	char path[64];
	struct tp_buf text = {0};
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	enum tp_status status = tp_file_read(&text, path, TEXT_MOST, err);
	if (status == TP_OK)
		tp_imagemap_parse(out, tp_buf_text(&text));
	tp_buf_release(&text);
	return status;
}

void tp_imagemap_parse(struct tp_imagemap *out, const char *text)
{
	out->text = tp_strdup(text);
}

void tp_imagemap_release(struct tp_imagemap *map)
{
	free(map->text);
	map->text = NULL;
}

/* "START-END PERMS OFFSET DEVICE INODE   PATH"; false: no file. */
static bool parse(struct line *out, const char *text)
{
	char *at;
	const char *end = strchr(text, '\n');
	out->start = strtoull(text, &at, 16);
	if (!end || *at != '-')
		return false;
	out->end = strtoull(at + 1, &at, 16);
	if (strlen(at) < 6)
		return false;
	out->is_code = at[3] == 'x';
	out->offset = strtoull(at + 6, NULL, 16);
	for (int field = 0; at && at < end && field < 4; field++)
		at = strchr(at + 1, ' ');
	if (!at || at >= end)
		return false;
	out->path = at + strspn(at, " ");
	out->length = (size_t)(end - out->path);
	return out->path < end;
}

static bool is_called(const struct line *line, const char *prefix)
{
	const char *name = line->path;
	size_t length = strlen(prefix);
	for (const char *at = line->path; at < line->path + line->length; at++)
		if (*at == '/')
			name = at + 1;
	size_t left = (size_t)(line->path + line->length - name);
	return left >= length && strncmp(name, prefix, length) == 0 &&
	       (left == length || name[length] == '.' || name[length] == '-' ||
		name[length] == ' ');
}

static bool is_of(const struct line *line, const struct line *first)
{
	return line->length == first->length && strncmp(line->path, first->path, line->length) == 0;
}

/* The mappings of one file, from its first on, as long as they are of that file. */
static bool take(struct tp_image *out, const char *text, const struct line *first)
{
	struct line line;
	*out = (struct tp_image){.start = first->start};
	for (const char *at = text; at; at = strchr(at, '\n'), at = at ? at + 1 : NULL) {
		if (!parse(&line, at))
			continue;
		if (!is_of(&line, first))
			break;
		out->end = line.end;
		if (line.is_code && !out->code_end) {
			out->code_start = line.start;
			out->code_end = line.end;
		}
	}
	return out->code_end != 0;
}

bool tp_imagemap_find(struct tp_image *out, const struct tp_imagemap *map, const char *prefix)
{
	struct line line;
	for (const char *at = map->text; at; at = strchr(at, '\n'), at = at ? at + 1 : NULL)
		if (parse(&line, at) && line.offset == 0 && is_called(&line, prefix) &&
		    take(out, at, &line))
			return true;
	return false;
}

bool tp_imagemap_find_libc(struct tp_image *out, const struct tp_imagemap *map)
{
	return tp_imagemap_find(out, map, "libc.so") || tp_imagemap_find(out, map, "libc-2");
}
