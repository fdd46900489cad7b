/* SPDX-License-Identifier: Apache-2.0 */
/* Parsers of the per-process files of /proc. */
#include "procfs.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Parses one decimal number, possibly negative, after blanks, and returns the position after it. */
static const char *scan_signed(const char *at, int64_t *out)
{
	at += strspn(at, " ");
	const char *digits = at + (*at == '-');
	if (!isdigit((unsigned char)*digits))
		return NULL;
	char *end;
	*out = strtoll(at, &end, 10);
	return end;
}

bool tp_procfs_schedstat(struct tp_procfs_schedstat *out, const char *text)
{
	uint64_t fields[3];
	for (int i = 0; i < 3; i++) {
		text += strspn(text, " ");
		if (!isdigit((unsigned char)*text))
			return false;
		char *end;
		fields[i] = strtoull(text, &end, 10);
		text = end;
	}
	*out = (struct tp_procfs_schedstat){fields[0], fields[1], fields[2]};
	return true;
}

/* Parses one " 0x…" and returns the position after it; NULL if there is none. */
static const char *scan_hex(const char *at, uint64_t *out)
{
	at += strspn(at, " ");
	if (at[0] != '0' || at[1] != 'x' || !isxdigit((unsigned char)at[2]))
		return NULL;
	char *end;
	*out = strtoull(at, &end, 16);
	return end;
}

bool tp_procfs_syscall(struct tp_procfs_syscall *out, const char *text)
{
	struct tp_procfs_syscall call = {.number = -1};
	if (strncmp(text, "running", 7) == 0) {
		call.is_running = true;
		*out = call;
		return true;
	}
	int64_t number;
	const char *at = scan_signed(text, &number);
	if (!at || number < -1 || number > INT32_MAX)
		return false;
	call.number = (int32_t)number;
	for (int i = 0; at && number >= 0 && i < 6; i++)
		at = scan_hex(at, &call.args[i]);
	at = at ? scan_hex(at, &call.sp) : NULL;
	at = at ? scan_hex(at, &call.pc) : NULL;
	if (!at)
		return false;
	*out = call;
	return true;
}
