/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes of trainprof's own, which run beside the program and are no part of it.
 *
 * All functions belong to the thread that starts the program.
 */
#ifndef TRAINPROF_COLLECT_HELPER_PROCESS_H
#define TRAINPROF_COLLECT_HELPER_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* Forks a process that calls run(fd), with `fd` a SOCK_SEQPACKET to us and no other descriptor of
 * ours, and ends with us at the latest. `name` is shown by ps, at most 15 bytes. Returns its pid,
 * listed, and our end of the socket in *fd; -1 with errno if there is no process. */
pid_t tp_helper_start(const char *name, void (*run)(int fd), int *fd);

enum { TP_HELPERS_MAX = 8 };

/* Keeps a list of the children that tp_task_tree_scan() must not take for orphans of the program:
 * TP_HELPERS_MAX, and no more. tp_helper_start() adds its own. A pid <= 0 is ignored. */
void tp_helper_add(pid_t pid);
void tp_helper_remove(pid_t pid);
bool tp_helper_is_known(pid_t pid);

#endif
