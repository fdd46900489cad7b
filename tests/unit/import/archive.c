/* SPDX-License-Identifier: Apache-2.0 */
/* Writes ustar headers: POSIX.1-2017, pax, "ustar Interchange Format". */
#include "archive.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK = 512, SUM = 148 };

void archive_sum(char *header)
{
	unsigned sum = 0;
	memset(header + SUM, ' ', 8);
	for (size_t i = 0; i < BLOCK; i++)
		sum += (unsigned char)header[i];
	snprintf(header + SUM, 8, "%06o", sum);
}

void archive_add(struct tp_buf *out, const char *name, char type, const void *bytes, size_t size)
{
	char header[BLOCK] = {0};
	snprintf(header, 100, "%s", name);
	memcpy(header + 100, "0000644", 7);
	snprintf(header + 124, 12, "%011zo", size);
	header[156] = type;
	memcpy(header + 257,
	       "ustar\0"
	       "00",
	       8);
	archive_sum(header);
	tp_buf_add(out, header, BLOCK);
	tp_buf_add(out, bytes, size);
	tp_buf_pad(out, '\0', (BLOCK - size % BLOCK) % BLOCK);
}

void archive_end(struct tp_buf *out)
{
	tp_buf_pad(out, '\0', 2 * BLOCK);
}
