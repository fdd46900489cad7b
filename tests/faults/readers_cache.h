/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps what many commands on the same recording would otherwise compute again: the rules, which
 * are the same for all inputs, and the analysis of the recording, which is the same for all reports
 * of it. The linker replaces the functions of trainprof that compute them (--wrap, see the
 * Makefile).
 */
#ifndef TRAINPROF_TESTS_FAULTS_READERS_CACHE_H
#define TRAINPROF_TESTS_FAULTS_READERS_CACHE_H

/* Loads the rules for this process and its children; ends the program if there are none. */
void readers_cache_load_rules(void);
/* Forgets the analysis of a recording, before another one takes its place. */
void readers_cache_forget(const char *directory);

#endif
