/* SPDX-License-Identifier: Apache-2.0 */
/* Finds combining marks and wide characters in ranges of code points. */
#include "character_width.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <stdint.h>

struct range {
	uint32_t first;
	uint32_t last;
};

/* Unicode 15: combining marks (general category Mn and Me) of the scripts used in names of
 * programs, joiners, variation selectors and marks that change the text direction. */
static const struct range no_width[] = {
	{0x300, 0x36f},     {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},
	{0x64b, 0x65f},     {0x6d6, 0x6dc},   {0x900, 0x902},   {0x93c, 0x93c},
	{0x941, 0x948},     {0x94d, 0x94d},   {0xe31, 0xe31},   {0xe34, 0xe3a},
	{0x1ab0, 0x1aff},   {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x202a, 0x202e},
	{0x2060, 0x206f},   {0x20d0, 0x20ff}, {0x302a, 0x302d}, {0x3099, 0x309a},
	{0xfe00, 0xfe0f},   {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0x1f3fb, 0x1f3ff},
	{0xe0100, 0xe01ef},
};

/* Unicode 15: East Asian Width W and F. */
static const struct range wide[] = {
	{0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},
	{0x25fd, 0x25fe},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x26a1, 0x26a1},
	{0x26bd, 0x26be},   {0x2705, 0x2705},   {0x270a, 0x270b},   {0x2728, 0x2728},
	{0x274c, 0x274c},   {0x2753, 0x2755},   {0x2795, 0x2797},   {0x2b1b, 0x2b1c},
	{0x2b50, 0x2b50},   {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},
	{0x4e00, 0x9fff},   {0xa000, 0xa4cf},   {0xa960, 0xa97f},   {0xac00, 0xd7a3},
	{0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},
	{0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
};

static uint32_t code_point(const char *text)
{
	static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	const unsigned char *bytes = (const unsigned char *)text;
	size_t len = tp_text_utf8_length(text);
	uint32_t code = bytes[0] & masks[len];
	for (size_t i = 1; i < len; i++)
		code = code << 6 | (bytes[i] & 0x3f);
	return code;
}

static int is_in(uint32_t code, const struct range *ranges, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return 1;
	return 0;
}

size_t tp_character_width(const char *text)
{
	if ((unsigned char)*text < 0x80)
		return 1;
	uint32_t code = code_point(text);
	if (code < 0x300)
		return 1;
	if (is_in(code, no_width, TP_ARRAY_LEN(no_width)))
		return 0;
	return is_in(code, wide, TP_ARRAY_LEN(wide)) ? 2 : 1;
}
