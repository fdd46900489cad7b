/* SPDX-License-Identifier: Apache-2.0 */
/* Sums up what measuring the ranks of each host took. */
#include "job_cost.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct host_cost {
	double overhead_ns;
	double length_ns; /* of the longest rank */
	double n_cpus;    /* that one of its ranks could use, the largest number */
};

struct hosts {
	struct tp_map index; /* hash of the name -> item */
	struct host_cost *items;
	size_t n, capacity;
};

static struct host_cost *host_of(struct hosts *hosts, const char *name)
{
	uint64_t key = tp_hash_bytes(name, strlen(name));
	uint64_t at;
	if (!tp_map_get(&hosts->index, key, &at)) {
		at = hosts->n;
		tp_map_set(&hosts->index, key, at);
		TP_ARRAY_PUSH(hosts->items, hosts->n, hosts->capacity) = (struct host_cost){0};
	}
	return &hosts->items[at];
}

/* Ranks in one container share its mask or quota, others are bound to CPUs of their own; which CPUs
 * is not recorded. Together they have at least those of one rank, so this is an upper bound. */
static double ratio_of(const struct host_cost *host)
{
	double possible_ns = host->n_cpus * host->length_ns;
	return possible_ns > 0 ? host->overhead_ns / possible_ns : 0;
}

void tp_job_find_cost(struct tp_job *job)
{
	struct hosts hosts = {0};
	for (size_t i = 0; i < job->n_ranks; i++) {
		const struct tp_job_rank *rank = &job->ranks[i];
		if (rank->unreadable || rank->is_duplicate || !rank->overhead_ns ||
		    rank->ended_ns <= rank->started_ns)
			continue;
		struct host_cost *host = host_of(&hosts, rank->host ? rank->host : "");
		host->overhead_ns += (double)rank->overhead_ns;
		host->length_ns =
			fmax(host->length_ns, (double)(rank->ended_ns - rank->started_ns));
		host->n_cpus = fmax(host->n_cpus, rank->n_cpus);
	}
	for (size_t i = 0; i < hosts.n; i++)
		job->overhead_ratio = fmax(job->overhead_ratio, ratio_of(&hosts.items[i]));
	tp_map_release(&hosts.index);
	free(hosts.items);
}
