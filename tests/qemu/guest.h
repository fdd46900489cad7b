/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that run as the first program of an emulated machine, and their shared counts. */
#ifndef TRAINPROF_TESTS_QEMU_GUEST_H
#define TRAINPROF_TESTS_QEMU_GUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Counts one check and prints a line for it. Works in child processes too. */
void guest_check(bool good, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Writes a setting of /proc/sys; returns false if the file does not exist or refuses the value. */
bool guest_set(const char *path, const char *value);
/* Runs the function in a child that has no rights (uid 1000), or all of them; waits for it. */
void guest_run(bool without_rights, void (*function)(void));

/* Two instructions per turn, nothing else. */
void guest_loop(uint64_t turns);

void guest_check_machine(void);
void guest_check_counters(void);
void guest_check_sampling(void);
void guest_check_collector(void);
void guest_check_attached(void);
void guest_check_waits(void);
void guest_check_quota(void);
void guest_check_paranoid(void);
void guest_check_yama(void); /* call it last: the highest scope cannot be reset */

#endif
