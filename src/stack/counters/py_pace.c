/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the less often, the longer nothing changes. */
#include "py_pace.h"

bool tp_py_pace_is_due(const struct tp_py_pace *pace)
{
	return pace->n_seen >= pace->due;
}

void tp_py_pace_skip(struct tp_py_pace *pace)
{
	pace->n_seen++;
}

void tp_py_pace_read(struct tp_py_pace *pace, bool has_changed)
{
	if (has_changed) {
		*pace = (struct tp_py_pace){0};
		return;
	}
	uint32_t wait = ++pace->n_seen / TP_PY_PACE_SHARE;
	pace->due = pace->n_seen + (wait < TP_PY_PACE_MAX_WAIT ? wait : TP_PY_PACE_MAX_WAIT);
}
