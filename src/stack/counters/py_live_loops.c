/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out when the loops of a thread are over. */
#include "py_live_loops.h"

void tp_py_live_loops_begin(struct tp_py_live_loops *self, bool is_whole)
{
	self->reading++;
	self->is_whole = is_whole;
}

void tp_py_live_loops_note_unknown(struct tp_py_live_loops *self)
{
	self->is_whole = false;
}

void tp_py_live_loops_note_function(struct tp_py_live_loops *self, uint64_t code)
{
	for (size_t i = 0; i < self->n; i++)
		if (self->items[i].code == code)
			self->items[i].in_frame = self->reading;
}

void tp_py_live_loops_note_loop(struct tp_py_live_loops *self, uint64_t code, uint32_t start)
{
	for (size_t i = 0; i < self->n; i++)
		if (self->items[i].code == code && self->items[i].start == start)
			self->items[i].ran = self->reading;
}

void tp_py_live_loops_note_counter(struct tp_py_live_loops *self, uint64_t slot, uint64_t code,
				   uint32_t start, const struct tp_python_counter *counter)
{
	size_t at = 0;
	while (at < self->n && self->items[at].slot != slot)
		at++;
	if (at == TP_PY_LIVE_LOOPS_MAX)
		return;
	self->n += at == self->n;
	self->items[at] = (struct tp_py_live_loop_state){slot,          code,          start,
							 self->reading, self->reading, *counter};
}

static bool is_over(const struct tp_py_live_loops *self, const struct tp_py_live_loop_state *loop)
{
	return loop->ran != self->reading && (self->is_whole || loop->in_frame == self->reading);
}

size_t tp_py_live_loops_ends(struct tp_py_live_loops *self, struct tp_python_counter *out,
			     size_t max)
{
	size_t n_kept = 0;
	size_t n_ends = 0;
	for (size_t i = 0; i < self->n; i++) {
		if (n_ends == max || !is_over(self, &self->items[i])) {
			self->items[n_kept++] = self->items[i];
			continue;
		}
		out[n_ends] = self->items[i].counter;
		out[n_ends].kind = TP_PYTHON_COUNTER_LOOP_END;
		out[n_ends++].total = 0;
	}
	self->n = n_kept;
	return n_ends;
}
