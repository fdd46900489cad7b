/* SPDX-License-Identifier: Apache-2.0 */
/* The names of origins. */
#include "trainprof/model/quantity.h"

const char *tp_origin_name(enum tp_origin origin)
{
	static const char *const names[] = {"measured", "sampled", "derived", "estimated"};
	return (unsigned)origin < 4 ? names[origin] : "derived";
}
