/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the less often, the longer nothing changes. */
#include "py_read_interval.h"

bool tp_py_read_interval_is_due(const struct tp_py_read_interval *interval)
{
	return interval->n_seen >= interval->due;
}

void tp_py_read_interval_skip(struct tp_py_read_interval *interval)
{
	interval->n_seen++;
}

void tp_py_read_interval_read(struct tp_py_read_interval *interval, bool has_changed)
{
	if (has_changed) {
		*interval = (struct tp_py_read_interval){0};
		return;
	}
	uint32_t wait = ++interval->n_seen / TP_PY_READ_INTERVAL_SHARE;
	interval->due = interval->n_seen +
			(wait < TP_PY_READ_INTERVAL_MAX_WAIT ? wait : TP_PY_READ_INTERVAL_MAX_WAIT);
}
