/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the activities of devices. */
#include "trainprof/model/device.h"

const char *tp_op_class_name(enum tp_op_class class)
{
	static const char *const names[] = {
#define X(id, name) name,
		TP_OP_MAP(X)
#undef X
	};
	return (unsigned)class < TP_N_OP_CLASSES ? names[class] : "none";
}

const char *tp_gap_cause_name(enum tp_gap_cause cause)
{
	static const char *const names[] = {
#define X(id, name) name,
		TP_GAP_MAP(X)
#undef X
	};
	return (unsigned)cause < TP_N_GAP_CAUSES ? names[cause] : "none";
}
