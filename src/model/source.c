/* SPDX-License-Identifier: Apache-2.0 */
/* Words for the availability of a source. */
#include "trainprof/model/source.h"

const char *tp_source_state_text(enum tp_presence presence)
{
	static const char *const texts[] = {
#define X(name, text) text,
		TP_PRESENCE_MAP(X)
#undef X
	};
	return (unsigned)presence < TP_N_PRESENCES ? texts[presence] : "unknown";
}
