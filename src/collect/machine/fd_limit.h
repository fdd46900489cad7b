/* SPDX-License-Identifier: Apache-2.0 */
/* How many descriptors this process may still open. */
#ifndef TRAINPROF_SRC_COLLECT_MACHINE_FD_LIMIT_H
#define TRAINPROF_SRC_COLLECT_MACHINE_FD_LIMIT_H

#include <stdint.h>

/* What the limit of open files leaves now when `reserve` are left over for others. UINT64_MAX where
 * there is no limit, or nobody tells how many are open: opening will tell then. */
uint64_t tp_fd_limit_left(uint64_t reserve);

#endif
