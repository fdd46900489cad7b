/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of reading a Python program. */
#ifndef TRAINPROF_TESTS_UNIT_COLLECT_LACKS_PYTHON_H
#define TRAINPROF_TESTS_UNIT_COLLECT_LACKS_PYTHON_H

#include "skip.h"

#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

/* An interpreter of the distribution; NULL where there is none. */
static inline const char *python_here(void)
{
	static const char path[] = "/usr/bin/python3";
	return access(path, X_OK) == 0 ? path : NULL;
}

/* Whether there is none; the test is skipped then and returns. */
static inline bool lacks_python(void)
{
	if (python_here())
		return false;
	test_skip("no /usr/bin/python3 here");
	return true;
}

#endif
