/* SPDX-License-Identifier: Apache-2.0 */
/* Changes SQLite databases in the layout of Nsight Systems: values of one, of some and of all
 * rows. */
#ifndef TRAINPROF_TESTS_FAULTS_MUTATE_DATABASE_H
#define TRAINPROF_TESTS_FAULTS_MUTATE_DATABASE_H

#include <stdint.h>

/* Writes a changed copy; ends the program if that is not possible. */
void mutate_database(const char *from, const char *to, uint64_t *state);

#endif
