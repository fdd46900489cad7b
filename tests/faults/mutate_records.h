/* SPDX-License-Identifier: Apache-2.0 */
/* Changes the records of a recording: fields of one, of some or of all records of a kind; records
 * that are dropped, repeated or moved; the run's information; tables of strings, frames, stacks. */
#ifndef TRAINPROF_TESTS_FAULTS_MUTATE_RECORDS_H
#define TRAINPROF_TESTS_FAULTS_MUTATE_RECORDS_H

#include "trainprof/model/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The records of a recording as a sink receives them; heap. Times are clock times. */
struct record_list {
	struct tp_record *items;
	size_t n;
	size_t capacity;
};

/* Loads a part of the recording: so many records of each kind that reading them takes milliseconds.
 * Returns false and prints a message if the directory contains no recording. `trace` holds the
 * tables that the records refer to. */
bool record_list_load(struct record_list *list, struct tp_trace *trace, const char *directory);

/* Makes one to three changes of records and `run`. */
void mutate_records(struct record_list *list, const struct tp_trace *trace, struct tp_run_info *run,
		    uint64_t *state);

/* Writes them with correct checksums into a directory that does not exist. If `tables` is not 0,
 * frames and details are changed, the same way each time. Returns false if the store refused; it
 * has printed why. */
bool record_list_write(const struct record_list *list, const struct tp_trace *trace,
		       const struct tp_run_info *run, uint64_t tables, const char *directory);

#endif
