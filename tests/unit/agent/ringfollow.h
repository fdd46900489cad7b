/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a reader running next to a writer of numbered events sees complete events, in
 * order. */
#ifndef TRAINPROF_TESTS_AGENT_RINGFOLLOW_H
#define TRAINPROF_TESTS_AGENT_RINGFOLLOW_H

#include "collect/gpu/trace/gpu_ring_reader.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

/* The progress of a reader that runs next to the writer. */
struct follower {
	const struct tp_gpu_ring_reader *file;
	uint64_t number; /* number of the last event that was not LOST */
	uint64_t n_taken;
	bool is_behind_loss;
};

static inline void follow(void *context, const struct tp_gpu_event *event)
{
	struct follower *follower = context;
	uint64_t number = event->t0;
	follower->n_taken++;
	if (event->type == TP_GPU_EVENT_LOST) {
		ck_assert_uint_gt(event->x, 0);
		follower->is_behind_loss = true;
		return;
	}
	if (event->type == TP_GPU_EVENT_NODE) {
		ck_assert_uint_eq(number, follower->number);
		return;
	}
	ck_assert_uint_eq(event->type, TP_GPU_EVENT_KERNEL);
	ck_assert_uint_eq(~event->x, number - 1);
	if (follower->is_behind_loss)
		ck_assert_uint_gt(number, follower->number + 1);
	else
		ck_assert_uint_eq(number, follower->number + 1);
	follower->number = number;
	follower->is_behind_loss = false;
	char text[32];
	size_t length;
	const char *name = tp_gpu_ring_reader_name(follower->file, event->id, &length);
	snprintf(text, sizeof(text), "kernel_%u", (unsigned)((number - 1) % 2000));
	ck_assert(!event->id || (length == strlen(text) && !memcmp(name, text, length)));
	const struct tp_gpu_place *place = tp_gpu_ring_reader_place(follower->file, event->place);
	ck_assert(!event->place || place->stream == number - 1);
}

#endif
