/* SPDX-License-Identifier: Apache-2.0 */
/* A growing byte buffer; text in it is always NUL-terminated. */
#ifndef TRAINPROF_BASE_BUF_H
#define TRAINPROF_BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>

/* Zero-initialised is empty and valid. data is NULL or has data[len] == '\0'. */
struct tp_buf {
	char *data;
	size_t len;
	size_t capacity;
};

void tp_buf_release(struct tp_buf *buf);
void tp_buf_clear(struct tp_buf *buf); /* keeps the memory */
void tp_buf_add(struct tp_buf *buf, const void *bytes, size_t size);
void tp_buf_puts(struct tp_buf *buf, const char *text);
void tp_buf_putc(struct tp_buf *buf, char c);
void tp_buf_pad(struct tp_buf *buf, char c, size_t n); /* n times c */
void tp_buf_printf(struct tp_buf *buf, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void tp_buf_vprintf(struct tp_buf *buf, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
/* The text; "" while nothing was added. Borrowed until the next change. */
const char *tp_buf_text(const struct tp_buf *buf);

#endif
