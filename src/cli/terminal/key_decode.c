/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes the sequences of ECMA-48 and of xterm for cursor keys. */
#include "key_decode.h"

#include "trainprof/report/view.h"

#include <string.h>

/* Keys by the bytes after "\033[" or "\033O". */
static const struct {
	const char *text;
	int key;
} sequences[] = {
	{"A", TP_KEY_UP},
	{"B", TP_KEY_DOWN},
	{"C", TP_KEY_RIGHT},
	{"D", TP_KEY_LEFT},
	{"H", TP_KEY_HOME},
	{"F", TP_KEY_END},
	{"1~", TP_KEY_HOME},
	{"7~", TP_KEY_HOME},
	{"4~", TP_KEY_END},
	{"8~", TP_KEY_END},
	{"5~", TP_KEY_PAGE_UP},
	{"6~", TP_KEY_PAGE_DOWN},
	{"Z", TP_KEY_SHIFT_TAB},
	{"P", '?'},
	{"11~", '?'},
};

/* Number of bytes of a sequence: parameters, then one letter or tilde. */
static size_t sequence_length(const char *bytes, size_t n)
{
	size_t len = 2;
	while (len < n && bytes[len] < '@')
		len++;
	return len < n ? len + 1 : 0;
}

static int key_of(const char *text, size_t len)
{
	for (size_t i = 0; i < sizeof(sequences) / sizeof(sequences[0]); i++)
		if (strlen(sequences[i].text) == len && memcmp(sequences[i].text, text, len) == 0)
			return sequences[i].key;
	return TP_KEY_NONE;
}

int tp_key_decode(const char *bytes, size_t n, size_t *used)
{
	*used = 1;
	if (bytes[0] != TP_KEY_ESCAPE)
		return (unsigned char)bytes[0];
	if (n == 1) {
		*used = 0;
		return TP_KEY_ESCAPE;
	}
	if (bytes[1] != '[' && bytes[1] != 'O')
		return TP_KEY_ESCAPE;
	*used = sequence_length(bytes, n);
	return *used ? key_of(bytes + 2, *used - 2) : TP_KEY_ESCAPE;
}
