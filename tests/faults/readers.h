/* SPDX-License-Identifier: Apache-2.0 */
/* Runs every command that reads a recording, in a child process with limits of time and memory. */
#ifndef TRAINPROF_TESTS_FAULTS_READERS_H
#define TRAINPROF_TESTS_FAULTS_READERS_H

#include <stdint.h>

/* All paths may be NULL but `recording`. */
struct readers_input {
	const char *recording;
	const char *trace; /* imported into `recording` first */
	const char *rules; /* for --rules */
	const char *rank;  /* another recording, which is another rank of the same job */
	uint64_t choice;   /* which export, keys of the viewer and the like */
};

/* The most that a call of readers_run() has needed. */
struct readers_cost {
	double seconds; /* of all commands of one input */
	long kib;
};

/*
 * NULL when every command ended with a documented status within 10 s and 1 GiB; else what happened,
 * in a static buffer: "signal 11 in report --json". Only documented statuses (0 to 5) are right.
 */
const char *readers_run(const struct readers_input *input, struct readers_cost *most);

#endif
