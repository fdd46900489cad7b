/* SPDX-License-Identifier: Apache-2.0 */
/* A test that cannot run on this machine reports it: skipped tests are counted, never silent. */
#ifndef TRAINPROF_TESTS_UNIT_SKIP_H
#define TRAINPROF_TESTS_UNIT_SKIP_H

/* Prints the reason and counts the running test as skipped; the test must return then. */
void test_skip(const char *reason);

#endif
