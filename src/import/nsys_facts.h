/* What an export tells of machine, job and threads. */
#ifndef TRAINPROF_SRC_IMPORT_NSYS_FACTS_H
#define TRAINPROF_SRC_IMPORT_NSYS_FACTS_H

#include "nsys_names.h"
#include "nsys_process.h"

#include "trainprof/model/run_info.h"

/* Zero-initialised is empty and valid. */
struct tp_nsys_facts {
	struct tp_device_info *devices; /* of all ranks, each one's in a row */
	size_t n_devices;
	size_t devices_capacity;
};

/* Tell the ranks' writers host, devices, place in the job and names of threads; after their spans,
 * for only threads with spans are named. What the writers borrow lives in `facts`. */
void tp_nsys_facts_read(struct tp_nsys_facts *facts, struct tp_nsys_processes *processes,
			const struct tp_nsys_names *names, struct tp_nsys_db *db);
void tp_nsys_facts_release(struct tp_nsys_facts *facts);

#endif
