/* SPDX-License-Identifier: Apache-2.0 */
/* Names communicators by name and members. */
#include "communicator_name.h"

#include <ctype.h>
#include <inttypes.h>

/* Consecutive members are one range. */
struct ranges {
	struct tp_buf *out;
	int64_t first;
	int64_t last; /* below first: none is open */
	bool has_some;
};

enum { DIGITS_MAX = 9 };

static void append_range(struct ranges *ranges)
{
	if (ranges->last < ranges->first)
		return;
	tp_buf_printf(ranges->out, "%s%" PRId64, ranges->has_some ? "," : "", ranges->first);
	if (ranges->last > ranges->first)
		tp_buf_printf(ranges->out, "%c%" PRId64,
			      ranges->last > ranges->first + 1 ? '-' : ',', ranges->last);
	ranges->has_some = true;
	ranges->last = ranges->first - 1;
}

static void add_member(struct ranges *ranges, int64_t rank)
{
	bool goes_on = ranges->last >= ranges->first && rank == ranges->last + 1;
	if (!goes_on) {
		append_range(ranges);
		ranges->first = rank;
	}
	ranges->last = rank;
}

static void add_dots(struct ranges *ranges)
{
	append_range(ranges);
	tp_buf_puts(ranges->out, ranges->has_some ? ",..." : "...");
	ranges->has_some = true;
}

/* Returns false if the text is not a list of ranks. */
static bool add_members(struct ranges *ranges, const char *p, const char *end)
{
	while (p < end) {
		const char *start = p;
		int64_t rank = 0;
		for (; p < end && isdigit((unsigned char)*p) && p - start < DIGITS_MAX; p++)
			rank = rank * 10 + (*p - '0');
		if (p > start) {
			add_member(ranges, rank);
		} else if (end - p >= 3 && p[0] == '.' && p[1] == '.' && p[2] == '.') {
			add_dots(ranges);
			p += 3;
		} else if (*p == ',' || *p == '[' || *p == ']' || isspace((unsigned char)*p)) {
			p++;
		} else {
			return false;
		}
	}
	append_range(ranges);
	return ranges->has_some;
}

void tp_communicator_name(struct tp_buf *out, const char *name, size_t name_len,
			  const struct tp_json_slice *members)
{
	struct ranges ranges = {.out = out, .last = -1};
	tp_buf_clear(out);
	tp_buf_add(out, name, name_len);
	size_t before = out->len;
	tp_buf_puts(out, name_len ? " (ranks " : "ranks ");
	bool is_list = members->type == TP_JSON_SLICE_LIST || members->type == TP_JSON_SLICE_TEXT;
	if (is_list && add_members(&ranges, members->text, members->text + members->len)) {
		tp_buf_puts(out, name_len ? ")" : "");
		return;
	}
	out->len = before;
	out->data[before] = '\0';
}
