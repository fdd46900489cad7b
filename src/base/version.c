/* SPDX-License-Identifier: Apache-2.0 */
/* Identifies this build; the makefile passes the values to this file only. */
#include "trainprof/base/version.h"

#include <stddef.h>

const char *tp_version(void)
{
	return BUILD_VERSION;
}

const char *tp_commit(void)
{
	return BUILD_COMMIT;
}

const char *const *tp_build_info(void)
{
	static const char *const items[] = {BUILD_WITH "compiler " __VERSION__, NULL};
	return items;
}
