/* SPDX-License-Identifier: Apache-2.0 */
/* Converts str objects (PEP 393: one, two or four bytes per character) to UTF-8. */
#include "py_text.h"

#include <string.h>

/* struct state of PyASCIIObject, the same from 3.8 to 3.14. */
enum { KIND_SHIFT = 2, KIND_MASK = 7, IS_COMPACT = 1 << 5, IS_ASCII = 1 << 6 };

enum { LAST_CHARACTER = 0x10ffff };

static void append_utf8(struct tp_buf *out, uint32_t c)
{
	if (c < 0x80) {
		tp_buf_putc(out, (char)c);
	} else if (c < 0x800) {
		tp_buf_putc(out, (char)(0xc0 | c >> 6));
		tp_buf_putc(out, (char)(0x80 | (c & 63)));
	} else if (c < 0x10000) {
		tp_buf_putc(out, (char)(0xe0 | c >> 12));
		tp_buf_putc(out, (char)(0x80 | (c >> 6 & 63)));
		tp_buf_putc(out, (char)(0x80 | (c & 63)));
	} else {
		tp_buf_putc(out, (char)(0xf0 | c >> 18));
		tp_buf_putc(out, (char)(0x80 | (c >> 12 & 63)));
		tp_buf_putc(out, (char)(0x80 | (c >> 6 & 63)));
		tp_buf_putc(out, (char)(0x80 | (c & 63)));
	}
}

static void append_char(struct tp_buf *out, uint32_t c)
{
	if (c == '\n')
		tp_buf_puts(out, "\\n");
	else if (c == '\t')
		tp_buf_puts(out, "\\t");
	else if (c < 0x20 || (c >= 0x7f && c < 0xa0))
		tp_buf_printf(out, "\\x%02x", (unsigned)c);
	else if ((c >= 0xd800 && c < 0xe000) || c == 0x2028 || c == 0x2029)
		tp_buf_printf(out, "\\u%04x", (unsigned)c);
	else
		append_utf8(out, c);
}

static uint32_t character(const uint8_t *bytes, size_t i, unsigned kind)
{
	if (kind == 1)
		return bytes[i];
	if (kind == 4)
		return tp_py_memory_u32(bytes + 4 * i);
	return (uint32_t)bytes[2 * i] | (uint32_t)bytes[2 * i + 1] << 8;
}

static bool append_all(struct tp_buf *out, const uint8_t *bytes, size_t n, unsigned kind)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t c = character(bytes, i, kind);
		if (c > LAST_CHARACTER)
			return false;
		append_char(out, c);
	}
	return true;
}

/* Finds the address of the characters. */
static bool find_data(struct tp_py_memory *mem, const struct tp_py_layout *layout, uint64_t address,
		      uint32_t state, uint64_t *data)
{
	if (!(state &
	      IS_COMPACT)) /* characters in a separate block; the pointer follows the longer head */
		return tp_py_memory_get_u64(mem, address + layout->text_compact, data);
	*data = address + (state & IS_ASCII ? layout->text_ascii : layout->text_compact);
	return true;
}

/* No more than every text has, unless the rest is on the same page. */
struct tp_process_range tp_py_text_first(const struct tp_py_layout *layout, uint64_t address,
					 void *out)
{
	size_t left = TP_PROCESS_MEMORY_PAGE - address % TP_PROCESS_MEMORY_PAGE;
	size_t size = left < TP_PY_TEXT_FIRST_BYTES ? left : TP_PY_TEXT_FIRST_BYTES;
	size_t head_size = layout->text_ascii < TP_PY_TEXT_FIRST_BYTES ? layout->text_ascii
								       : TP_PY_TEXT_FIRST_BYTES;
	return (struct tp_process_range){address, out, size < head_size ? head_size : size};
}

bool tp_py_text_read_rest(struct tp_buf *out, struct tp_py_memory *mem,
			  const struct tp_py_layout *layout, const struct tp_process_range *first)
{
	const uint8_t *head = first->out;
	uint8_t bytes[4 * TP_PY_TEXT_MAX_CHARACTERS];
	tp_buf_clear(out);
	if (layout->text_ascii > first->size || layout->text_state + 4 > layout->text_ascii ||
	    layout->text_length + 8 > layout->text_ascii)
		return false;
	uint64_t length = tp_py_memory_u64(head + layout->text_length);
	uint32_t state = tp_py_memory_u32(head + layout->text_state);
	unsigned kind = state >> KIND_SHIFT & KIND_MASK;
	uint64_t data;
	if ((kind != 1 && kind != 2 && kind != 4) || length > INT64_MAX ||
	    !find_data(mem, layout, first->address, state, &data))
		return false;
	size_t n = length < TP_PY_TEXT_MAX_CHARACTERS ? (size_t)length : TP_PY_TEXT_MAX_CHARACTERS;
	uint64_t at = data - first->address;
	bool is_read = at <= first->size && n * kind <= first->size - at;
	if (n > 0 && !is_read && !tp_py_memory_get(mem, data, bytes, n * kind))
		return false;
	if (!append_all(out, is_read ? head + at : bytes, n, kind))
		return false;
	if (n < length)
		tp_buf_puts(out, "…");
	return true;
}

bool tp_py_text_read(struct tp_buf *out, struct tp_py_memory *mem,
		     const struct tp_py_layout *layout, uint64_t address)
{
	uint8_t head[TP_PY_TEXT_FIRST_BYTES];
	const struct tp_process_range first = tp_py_text_first(layout, address, head);
	tp_buf_clear(out);
	return mem->read(mem, &first, 1) == 1 && tp_py_text_read_rest(out, mem, layout, &first);
}
