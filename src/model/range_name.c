/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises the names that PyTorch gives to NVTX ranges. */
#include "trainprof/model/range_name.h"

#include "trainprof/base/memory.h"

#include <ctype.h>
#include <string.h>

/* True for a namespace in lower case, or the name of a backward function. */
static bool is_operator_name(const char *name, size_t len)
{
	static const char backward[] = "Backward";
	const char *colons = memmem(name, len, "::", 2);
	if (colons && colons > name)
		return islower((unsigned char)name[0]) || name[0] == '_';
	while (len > 0 && isdigit((unsigned char)name[len - 1]))
		len--;
	return len > strlen(backward) &&
	       !memcmp(name + len - strlen(backward), backward, strlen(backward));
}

size_t tp_range_name_len(const char *name, size_t len, bool *is_operator)
{
	static const char *const marks[] = {", seq = ", ", op_id = "};
	size_t cut = len;
	for (size_t i = 0; i < TP_ARRAY_LEN(marks); i++) {
		size_t mark_len = strlen(marks[i]);
		const char *at = memmem(name, cut, marks[i], mark_len);
		/* A number has to follow the mark. */
		if (at && at > name && (size_t)(at - name) + mark_len < len &&
		    isdigit((unsigned char)at[mark_len]))
			cut = (size_t)(at - name);
	}
	*is_operator = cut < len && is_operator_name(name, cut);
	return cut;
}
