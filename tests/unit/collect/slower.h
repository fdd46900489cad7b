/* SPDX-License-Identifier: Apache-2.0 */
/* How much more CPU trainprof may take when a sanitizer watches it. */
#ifndef TRAINPROF_TESTS_UNIT_COLLECT_SLOWER_H
#define TRAINPROF_TESTS_UNIT_COLLECT_SLOWER_H

#ifdef __SANITIZE_ADDRESS__
#define SLOWER 3
#else
#define SLOWER 1
#endif

#endif
