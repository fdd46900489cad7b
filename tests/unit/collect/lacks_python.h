/* SPDX-License-Identifier: Apache-2.0 */
/* Skips tests that need a Python interpreter. */
#ifndef TRAINPROF_TESTS_UNIT_COLLECT_LACKS_PYTHON_H
#define TRAINPROF_TESTS_UNIT_COLLECT_LACKS_PYTHON_H

#include "skip.h"

#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

/* Returns the path of one of the distribution's interpreters, or NULL if there is none. */
static inline const char *python_here(void)
{
	static const char path[] = "/usr/bin/python3";
	return access(path, X_OK) == 0 ? path : NULL;
}

/* Returns true if there is none; the test counts as skipped and must return. */
static inline bool lacks_python(void)
{
	if (python_here())
		return false;
	test_skip("no /usr/bin/python3 here");
	return true;
}

#endif
