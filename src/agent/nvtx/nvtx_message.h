/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The message of a range, made fit for the table of names: cut to what is kept, and with at most
 * two numbers taken out, because each "step 12" is another text, and the table is small. Of
 * "aten::mm, seq = 7, op_id = 12, sizes = [[64, 3]]" these are the numbers behind "= ", else the
 * last two. Numbers that would not come back the same ("007", ten digits) stay.
 *
 * No memory but the struct; any thread, also in a handler of a signal.
 */
#ifndef TRAINPROF_SRC_AGENT_NVTX_NVTX_MESSAGE_H
#define TRAINPROF_SRC_AGENT_NVTX_NVTX_MESSAGE_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

enum { TP_NVTX_MESSAGE_MAX = 511, TP_NVTX_MESSAGE_NUMBERS = 2 };

struct tp_nvtx_message {
	uint32_t numbers[TP_NVTX_MESSAGE_NUMBERS];
	unsigned n_numbers; /* TP_GPU_NUMBER_MARK stands where they were */
	uint32_t hash;      /* of text */
	size_t length;
	char text[TP_NVTX_MESSAGE_MAX + 1]; /* any bytes but 0 */
};

/* NULL is as "". A message that has TP_GPU_NUMBER_MARK itself keeps its numbers. */
void tp_nvtx_message_read(struct tp_nvtx_message *out, const char *message);
/* As UTF-8; what is no character becomes '?'. */
void tp_nvtx_message_read_wide(struct tp_nvtx_message *out, const wchar_t *message);
/* As it is, with its numbers: of names that are told once and used often. */
void tp_nvtx_message_copy(struct tp_nvtx_message *out, const char *message);

#endif
