/* SPDX-License-Identifier: Apache-2.0 */
/* A growing byte buffer. */
#include "trainprof/base/buf.h"

#include "trainprof/base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *buf_room(struct tp_buf *buf, size_t more)
{
	if (more > SIZE_MAX / 2 - buf->len)
		tp_oom(more);
	buf->data = tp_array_grow(buf->data, buf->len + more + 1, &buf->capacity, 1);
	return buf->data + buf->len;
}

void tp_buf_release(struct tp_buf *buf)
{
	free(buf->data);
	*buf = (struct tp_buf){0};
}

void tp_buf_clear(struct tp_buf *buf)
{
	buf->len = 0;
	if (buf->data)
		buf->data[0] = '\0';
}

void tp_buf_add(struct tp_buf *buf, const void *bytes, size_t size)
{
	char *room = buf_room(buf, size);
	if (size)
		memcpy(room, bytes, size);
	buf->len += size;
	buf->data[buf->len] = '\0';
}

void tp_buf_puts(struct tp_buf *buf, const char *text)
{
	tp_buf_add(buf, text, strlen(text));
}

void tp_buf_putc(struct tp_buf *buf, char c)
{
	tp_buf_add(buf, &c, 1);
}

void tp_buf_pad(struct tp_buf *buf, char c, size_t n)
{
	char *room = buf_room(buf, n);
	memset(room, c, n);
	buf->len += n;
	buf->data[buf->len] = '\0';
}

void tp_buf_vprintf(struct tp_buf *buf, const char *format, va_list args)
{
	va_list again;
	va_copy(again, args);
	int len = vsnprintf(NULL, 0, format, args);
	if (len > 0) {
		char *room = buf_room(buf, (size_t)len);
		vsnprintf(room, (size_t)len + 1, format, again);
		buf->len += (size_t)len;
	}
	va_end(again);
}

void tp_buf_printf(struct tp_buf *buf, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	tp_buf_vprintf(buf, format, args);
	va_end(args);
}

const char *tp_buf_text(const struct tp_buf *buf)
{
	return buf->data ? buf->data : "";
}
