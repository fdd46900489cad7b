/* SPDX-License-Identifier: Apache-2.0 */
/* A test that cannot run on this machine says so: skipped tests are counted, never silent. */
#ifndef TRAINPROF_TESTS_UNIT_SKIP_H
#define TRAINPROF_TESTS_UNIT_SKIP_H

/* Print the reason and count the running test as skipped; the test then returns. */
void test_skip(const char *reason);

#endif
