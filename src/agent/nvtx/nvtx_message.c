/* SPDX-License-Identifier: Apache-2.0 */
/* Extracts numbers from the messages of ranges. */
#include "nvtx_message.h"

#include "trainprof/wire/gpu_ring.h"

#include <stdbool.h>
#include <string.h>

enum { MAX_DIGITS = 9 };

/* A run of digits in the message. */
struct digits {
	size_t from;
	size_t until;
};

/* The numbers that are extracted. */
struct choice {
	struct digits items[TP_NVTX_MESSAGE_NUMBERS];
	unsigned n;
	bool is_named; /* they follow "= " */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void choose(struct choice *choice, const char *text, struct digits found)
{
	bool is_named =
		found.from >= 2 && text[found.from - 1] == ' ' && text[found.from - 2] == '=';
	bool comes_back = found.until - found.from <= MAX_DIGITS &&
			  (text[found.from] != '0' || found.until - found.from == 1);
	if (!comes_back || (choice->is_named && !is_named) ||
	    (choice->is_named && choice->n == TP_NVTX_MESSAGE_NUMBERS))
		return;
	if (is_named && !choice->is_named)
		choice->n = 0;
	choice->is_named = is_named;
	if (choice->n == TP_NVTX_MESSAGE_NUMBERS)
		choice->items[0] = choice->items[--choice->n];
	choice->items[choice->n++] = found;
}

/* Returns false if the message contains the byte that stands for numbers. */
static bool find_numbers(struct choice *out, const char *text, size_t length)
{
	size_t i = 0;
	while (i < length) {
		struct digits found = {i, i};
		if (text[i] == TP_GPU_NUMBER_MARK)
			return false;
		while (found.until < length && is_digit(text[found.until]))
			found.until++;
		if (found.until > found.from)
			choose(out, text, found);
		i = found.until > i ? found.until : i + 1;
	}
	return true;
}

/* FNV-1a, eight bytes at a time, because every range looks its name up. */
static uint32_t hash_of(const char *text, size_t length)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (; length >= 8; text += 8, length -= 8) {
		uint64_t word;
		memcpy(&word, text, sizeof(word));
		hash = (hash ^ word) * UINT64_C(0x100000001b3);
		hash ^= hash >> 32;
	}
	uint64_t rest = 0;
	memcpy(&rest, text, length);
	hash = (hash ^ rest ^ (uint64_t)length << 56) * UINT64_C(0x100000001b3);
	return (uint32_t)(hash ^ hash >> 32);
}

static void finish(struct tp_nvtx_message *out)
{
	out->text[out->length] = '\0';
	out->hash = hash_of(out->text, out->length);
}

static void copy(struct tp_nvtx_message *out, const char *from, size_t n)
{
	memcpy(out->text + out->length, from, n);
	out->length += n;
}

void tp_nvtx_message_copy(struct tp_nvtx_message *out, const char *message)
{
	out->n_numbers = 0;
	out->length = message ? strnlen(message, TP_NVTX_MESSAGE_MAX) : 0;
	if (out->length)
		memcpy(out->text, message, out->length);
	finish(out);
}

static uint32_t value_of(const char *text, struct digits digits)
{
	uint32_t value = 0;
	for (size_t i = digits.from; i < digits.until; i++)
		value = value * 10 + (uint32_t)(text[i] - '0');
	return value;
}

void tp_nvtx_message_read(struct tp_nvtx_message *out, const char *message)
{
	struct choice choice = {0};
	size_t length = message ? strnlen(message, TP_NVTX_MESSAGE_MAX) : 0;
	size_t done = 0;
	if (!find_numbers(&choice, message, length) || !choice.n) {
		tp_nvtx_message_copy(out, message);
		return;
	}
	out->length = 0;
	for (unsigned i = 0; i < choice.n; i++) {
		copy(out, message + done, choice.items[i].from - done);
		out->text[out->length++] = TP_GPU_NUMBER_MARK;
		out->numbers[i] = value_of(message, choice.items[i]);
		done = choice.items[i].until;
	}
	out->n_numbers = choice.n;
	copy(out, message + done, length - done);
	finish(out);
}

/* Returns the number of bytes written, at most 4; it never writes a 0 byte. */
static size_t append_character(char *out, uint32_t c)
{
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = '?';
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	for (size_t i = n; i-- > 1; c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(c | (0xf00u >> n & 0xff));
	return n;
}

void tp_nvtx_message_read_wide(struct tp_nvtx_message *out, const wchar_t *message)
{
	char text[TP_NVTX_MESSAGE_MAX + 4] = {0};
	size_t length = 0;
	while (message && *message && length < TP_NVTX_MESSAGE_MAX)
		length += append_character(text + length, (uint32_t)*message++);
	tp_nvtx_message_read(out, text);
}
