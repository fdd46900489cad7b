/* Parses lines of /proc/PID/maps (proc(5)). */
#include "proc_maps.h"

#include <stdlib.h>

static bool take_number(char **at, int base, char ending, uint64_t *out)
{
	char *end;
	*out = strtoull(*at, &end, base);
	if (end == *at || *end != ending)
		return false;
	*at = end + 1;
	return true;
}

/* "7f00-7f01 r-xp 00002000 fe:01 1234   /usr/lib/libc.so.6" */
bool tp_procmaps_parse(char *line, struct tp_mapping *out)
{
	char *at = line;
	uint64_t end;
	uint64_t major;
	uint64_t minor;
	*out = (struct tp_mapping){0};
	if (!take_number(&at, 16, '-', &out->start) || !take_number(&at, 16, ' ', &end) ||
	    end <= out->start)
		return false;
	out->size = end - out->start;
	for (int i = 0; i < 4; i++) {
		if (at[i] == '\0')
			return false;
	}
	out->is_executable = at[2] == 'x';
	if (at[4] != ' ')
		return false;
	at += 5;
	if (!take_number(&at, 16, ' ', &out->file_offset) || !take_number(&at, 16, ':', &major) ||
	    !take_number(&at, 16, ' ', &minor))
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
