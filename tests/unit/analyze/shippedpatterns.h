/* SPDX-License-Identifier: Apache-2.0 */
/* The shipped patterns, for all tests of a suite. */
#ifndef TRAINPROF_TESTS_UNIT_ANALYZE_SHIPPEDPATTERNS_H
#define TRAINPROF_TESTS_UNIT_ANALYZE_SHIPPEDPATTERNS_H

#include "trainprof/analyze/analyze.h"

#include <check.h>

static struct tp_patterns *patterns;

static void load(void)
{
	struct tp_error err;
	ck_assert_msg(tp_patterns_load(&patterns, "rules/patterns", &err) == TP_OK, "%s", err.text);
}

static void unload(void)
{
	tp_patterns_free(patterns);
}

#endif
