/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes the records of a recording: fields of one, of some or of all records of a kind; records
 * that are dropped, repeated or moved; what is known of the run; tables of strings, frames, stacks.
 */
#ifndef TRAINPROF_TESTS_FAULTS_MUTATE_RECORDS_H
#define TRAINPROF_TESTS_FAULTS_MUTATE_RECORDS_H

#include "trainprof/model/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The records of a recording as a sink takes them; heap. Times are of the clock. */
struct record_list {
	struct tp_record *items;
	size_t n;
	size_t capacity;
};

/* A part of the recording: so many of each kind that reading them takes milliseconds. False and a
 * message when the directory holds none. `trace` holds the tables that the records name. */
bool record_list_load(struct record_list *list, struct tp_trace *trace, const char *directory);

/* One to three changes of records and `run`. */
void mutate_records(struct record_list *list, const struct tp_trace *trace, struct tp_run_info *run,
		    uint64_t *state);

/*
 * Write them with right checksums into a directory that does not exist. `tables` other than 0
 * changes frames and details, the same way each time. False: the store refused, and said why.
 */
bool record_list_write(const struct record_list *list, const struct tp_trace *trace,
		       const struct tp_run_info *run, uint64_t tables, const char *directory);

#endif
