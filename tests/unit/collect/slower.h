/* SPDX-License-Identifier: Apache-2.0 */
/* Factor by which trainprof may use more CPU time when built with a sanitizer. */
#ifndef TRAINPROF_TESTS_UNIT_COLLECT_SLOWER_H
#define TRAINPROF_TESTS_UNIT_COLLECT_SLOWER_H

#ifdef __SANITIZE_ADDRESS__
#define SLOWER 3
#else
#define SLOWER 1
#endif

#endif
