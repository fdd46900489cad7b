/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that measure a program while it runs (sampling, CPU shares, elapsed time) depend on what
 * else runs on the machine. They are proofs: `make proof-unit` runs them when asked; no gate does.
 */
#ifndef TRAINPROF_TESTS_UNIT_PROOF_H
#define TRAINPROF_TESTS_UNIT_PROOF_H

#include <check.h>

/* The tag of a test case whose tests are proofs: tcase_set_tags(tc, PROOF). */
#define PROOF "proof"

/* Adds a test case of proofs to the suite; the suite owns it. */
static inline TCase *proof_case(Suite *suite, const char *name)
{
	TCase *tc = tcase_create(name);
	tcase_set_tags(tc, PROOF);
	suite_add_tcase(suite, tc);
	return tc;
}

#endif
