/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers a wait that was found twice in a row. */
#include "typical_wait.h"

void tp_typical_wait_add(struct tp_typical_wait *self, const struct tp_wait_info *wait)
{
	const struct tp_wait_info *last = &self->last;
	if (last->state == TP_STATE_BLOCKED && last->cause == wait->cause &&
	    last->syscall == wait->syscall && last->target == wait->target) {
		self->usual = *wait;
		self->is_known = true;
	}
	self->last = *wait;
}

bool tp_typical_wait_apply(const struct tp_typical_wait *self, struct tp_sample *sample)
{
	const struct tp_wait_info *wait = &self->usual;
	if (!self->is_known)
		return false;
	sample->cause = wait->cause;
	sample->stack = wait->stack;
	sample->target = wait->target;
	sample->syscall = wait->syscall;
	sample->address = wait->address;
	return true;
}
