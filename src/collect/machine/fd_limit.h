/* SPDX-License-Identifier: Apache-2.0 */
/* The number of descriptors that this process may still open. */
#ifndef TRAINPROF_SRC_COLLECT_MACHINE_FD_LIMIT_H
#define TRAINPROF_SRC_COLLECT_MACHINE_FD_LIMIT_H

#include <stdint.h>

/* Returns how many descriptors the limit of open files leaves now, minus `reserve`. UINT64_MAX if
 * there is no limit, or if the number of open ones is unknown: then a failing open shows the
 * limit. */
uint64_t tp_fd_limit_left(uint64_t reserve);

#endif
