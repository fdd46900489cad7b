/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepares the message of a range for the table of names. It is truncated, and at most two numbers
 * are extracted, because each "step 12" would otherwise be another name and the table is small. In
 * "aten::mm, seq = 7, op_id = 12, sizes = [[64, 3]]" these are the numbers after "= ", otherwise
 * the last two. Numbers that could not be restored exactly ("007", ten digits) stay in the text.
 *
 * Uses no memory but the struct; any thread, also in a signal handler.
 */
#ifndef TRAINPROF_SRC_AGENT_NVTX_NVTX_MESSAGE_H
#define TRAINPROF_SRC_AGENT_NVTX_NVTX_MESSAGE_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

enum { TP_NVTX_MESSAGE_MAX = 511, TP_NVTX_MESSAGE_NUMBERS = 2 };

struct tp_nvtx_message {
	uint32_t numbers[TP_NVTX_MESSAGE_NUMBERS];
	unsigned n_numbers; /* number of TP_GPU_NUMBER_MARK in the text */
	uint32_t hash;      /* of text */
	size_t length;
	char text[TP_NVTX_MESSAGE_MAX + 1]; /* any bytes but 0 */
};

/* NULL counts as "". A message that itself contains TP_GPU_NUMBER_MARK keeps its numbers. */
void tp_nvtx_message_read(struct tp_nvtx_message *out, const char *message);
/* Converts to UTF-8; invalid characters become '?'. */
void tp_nvtx_message_read_wide(struct tp_nvtx_message *out, const wchar_t *message);
/* Copies the message with its numbers, for names that are registered once and used often. */
void tp_nvtx_message_copy(struct tp_nvtx_message *out, const char *message);

#endif
