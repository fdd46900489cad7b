/* SPDX-License-Identifier: Apache-2.0 */
/* Sums the transfer rates of collectives. */
#include "bus_rate.h"

#include "analyze/numeric/stats.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <stdlib.h>
#include <string.h>

/* A collective, merged from the devices that recorded it. */
struct transfer {
	double bytes;
	uint64_t least_ns;
};

struct transfers {
	struct transfer *items; /* heap */
	size_t n;
	size_t capacity;
	struct tp_map places; /* communicator << 32 | sequence number in it -> index */
};

/* "Bus bandwidth" as NCCL's own tests define it (doc/PERFORMANCE.md of nccl-tests, read
 * 2026-11-22), for the byte count passed to the call, which is that of one rank. 0 = unknown
 * operation. */
static double bus_bytes(const char *op, double bytes, double n_ranks)
{
	static const char *const scattered[] = {"ncclAllGather", "ncclReduceScatter",
						"ncclAlltoAll"};
	static const char *const plain[] = {"ncclBroadcast", "ncclReduce", "ncclSend", "ncclRecv"};
	for (size_t i = 0; i < TP_ARRAY_LEN(plain); i++)
		if (strcmp(op, plain[i]) == 0)
			return bytes;
	if (n_ranks < 2)
		return 0;
	if (strcmp(op, "ncclAllReduce") == 0)
		return 2 * (n_ranks - 1) / n_ranks * bytes;
	for (size_t i = 0; i < TP_ARRAY_LEN(scattered); i++)
		if (strcmp(op, scattered[i]) == 0)
			return (n_ranks - 1) * bytes;
	return 0;
}

static struct transfer *find_transfer(struct transfers *transfers, const struct tp_detail *detail)
{
	uint64_t key = (uint64_t)detail->group << 32 | detail->sequence;
	uint64_t at = transfers->n;
	if (detail->sequence && tp_map_get(&transfers->places, key, &at))
		return &transfers->items[at];
	if (detail->sequence)
		tp_map_set(&transfers->places, key, at);
	struct transfer *transfer =
		&TP_ARRAY_PUSH(transfers->items, transfers->n, transfers->capacity);
	*transfer = (struct transfer){.least_ns = UINT64_MAX};
	return transfer;
}

static void add_op(struct transfers *transfers, const struct tp_trace *trace,
		   const struct tp_op *op)
{
	const struct tp_detail *detail = &trace->details[op->detail];
	double bytes = bus_bytes(tp_trace_string(trace, detail->op), (double)detail->bytes,
				 detail->n_ranks);
	uint64_t length_ns = op->end_ns - op->start_ns;
	if (bytes <= 0 || !length_ns)
		return;
	struct transfer *transfer = find_transfer(transfers, detail);
	transfer->bytes = bytes;
	transfer->least_ns = length_ns < transfer->least_ns ? length_ns : transfer->least_ns;
}

void tp_bus_rate_set(struct tp_rank_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	struct transfers transfers = {0};
	for (size_t d = 0; d < analysis->n_devices; d++) {
		const struct tp_device_work *device = &analysis->devices[d];
		for (size_t i = 0; i < device->n_ops; i++)
			if (device->ops[i].class == TP_OP_COMMUNICATION &&
			    tp_op_is_in_window(device, &device->ops[i]))
				add_op(&transfers, analysis->trace, &device->ops[i]);
	}
	double *rates = tp_alloc((transfers.n + 1) * sizeof(*rates));
	for (size_t i = 0; i < transfers.n; i++)
		rates[i] = transfers.items[i].bytes / ((double)transfers.items[i].least_ns * 1e-9);
	if (transfers.n)
		tp_profile_set(profile, TP_FACT_COMM_BUS_RATE, tp_stats_median(rates, transfers.n),
			       TP_ORIGIN_MEASURED, 1);
	else
		tp_profile_set_missing(profile, TP_FACT_COMM_BUS_RATE,
				       "no sizes and members of collectives from NCCL");
	free(rates);
	free(transfers.items);
	tp_map_release(&transfers.places);
}
