/* SPDX-License-Identifier: Apache-2.0 */
/* Matches names with patterns. */
#include "text_pattern.h"

#include <string.h>

static size_t digits_in(const char *text, size_t len, int64_t *number)
{
	size_t n = 0;
	int64_t value = 0;
	for (; n < len && text[n] >= '0' && text[n] <= '9'; n++)
		if (value <= INT32_MAX)
			value = 10 * value + (text[n] - '0');
	if (n && value <= INT32_MAX)
		*number = value;
	return n;
}

/* Matches the rest of the pattern, up to the next '*', at the text's beginning. Returns the length
 * of the matching text; SIZE_MAX if it does not match. */
static size_t part_match(const char *pattern, size_t n, const char *text, size_t len,
			 int64_t *numbers, size_t *n_numbers)
{
	size_t at = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t number = -1;
		if (pattern[i] != '%') {
			if (at >= len || text[at] != pattern[i])
				return SIZE_MAX;
			at++;
			continue;
		}
		size_t digits = digits_in(text + at, len - at, &number);
		if (!digits)
			return SIZE_MAX;
		if (numbers && *n_numbers < TP_PATTERN_NUMBERS && number >= 0)
			numbers[(*n_numbers)++] = number;
		at += digits;
	}
	return at;
}

bool tp_text_pattern_match(const char *pattern, const char *text, size_t len,
			   int64_t numbers[TP_PATTERN_NUMBERS])
{
	size_t n_numbers = 0;
	if (strcmp(pattern, "*") == 0)
		return true;
	size_t n = strcspn(pattern, "*");
	size_t used = part_match(pattern, n, text, len, numbers, &n_numbers);
	if (used == SIZE_MAX)
		return false;
	text += used;
	len -= used;
	/* Each part after a star matches at its first occurrence; the last one has to reach the
	 * end. */
	for (pattern += n; *pattern == '*'; pattern += n) {
		pattern++;
		n = strcspn(pattern, "*");
		bool is_last = !pattern[n];
		if (is_last && !memchr(pattern, '%', n))
			return len >= n && memcmp(text + len - n, pattern, n) == 0;
		for (;;) {
			size_t before = n_numbers;
			used = part_match(pattern, n, text, len, numbers, &n_numbers);
			if (used != SIZE_MAX && (!is_last || used == len))
				break;
			n_numbers = before;
			if (!len)
				return false;
			text++;
			len--;
		}
		text += used;
		len -= used;
	}
	return !len;
}
