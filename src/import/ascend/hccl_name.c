/* SPDX-License-Identifier: Apache-2.0 */
/* Parses names of collectives. */
#include "hccl_name.h"

#include <ctype.h>
#include <string.h>

bool tp_hccl_name_read(struct tp_rank_writer *writer, const char *name, size_t len,
		       struct tp_detail *out)
{
	static const char prefix[] = "hcom_";
	char op[32];
	size_t at = sizeof(prefix) - 1;
	size_t n = 0;
	uint32_t sequence = 0;
	if (len <= at || memcmp(name, prefix, at) != 0)
		return false;
	for (; at < len && isalpha((unsigned char)name[at]) && n < sizeof(op); at++)
		op[n++] = (char)tolower((unsigned char)name[at]);
	const char *group = memmem(name + at, len - at, "__", 2);
	if (!n || !group)
		return false;
	out->op = tp_rank_writer_string(writer, op, n);
	group += 2;
	size_t digits = 0;
	size_t rest = len - (size_t)(group - name);
	while (digits < rest && isdigit((unsigned char)group[digits]))
		digits++;
	out->group = tp_rank_writer_string(writer, group, digits);
	for (at = digits + 1; at < rest && isdigit((unsigned char)group[at]); at++)
		sequence = sequence < UINT32_MAX / 16 ? 10 * sequence + (uint32_t)(group[at] - '0')
						      : UINT32_MAX / 16;
	out->sequence = digits && at > digits + 1 ? sequence + 1 : 0;
	return true;
}
