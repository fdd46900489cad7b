/* SPDX-License-Identifier: Apache-2.0 */
/* Names of causes. */
#include "trainprof/model/task.h"

const char *tp_cause_name(enum tp_cause cause)
{
	static const char *const names[] = {
#define X(name, text) text,
		TP_CAUSE_MAP(X)
#undef X
	};
	return (unsigned)cause < TP_N_CAUSES ? names[cause] : "unknown";
}
