/* SPDX-License-Identifier: Apache-2.0 */
/* Runs every command that reads a recording, in a child process with limits on time and memory. */
#ifndef TRAINPROF_TESTS_FAULTS_READERS_H
#define TRAINPROF_TESTS_FAULTS_READERS_H

#include <stdint.h>

/* All paths except `recording` may be NULL. */
struct readers_input {
	const char *recording;
	const char *trace; /* imported into `recording` first */
	const char *rules; /* for --rules */
	const char *rank;  /* another recording, which is another rank of the same job */
	uint64_t choice;   /* selects the export, keys of the viewer and the like */
};

/* The maximum cost of an input. */
struct readers_cost {
	double seconds; /* CPU time of all its commands */
	long kib;       /* of the process: with the inputs before it in the same child */
};

/* Runs the commands in a child. Returns NULL if every command ended with a documented status (0 to
 * 5) within 10 s and 1 GiB; otherwise a description of the fault in a static buffer: "signal 11 in
 * report --json". */
const char *readers_run(const struct readers_input *input, struct readers_cost *most);

/* Calls `run` in a child, in which readers_run() runs its commands without one of its own: to start
 * and end a process costs as much as the commands of an input. Returns NULL, or a fault of one of
 * its inputs. */
const char *readers_run_together(void (*run)(void), struct readers_cost *most);

#endif
