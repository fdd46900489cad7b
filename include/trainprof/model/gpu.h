/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's own statistics of each GPU that the program used, over the judged window. */
#ifndef TRAINPROF_MODEL_GPU_H
#define TRAINPROF_MODEL_GPU_H

#include "trainprof/model/quantity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* name in code, name in data, unit, metric and how it is aggregated; the second metric is used
 * where the first has no readings. MEAN and PEAK of levels, RATE = growth of a counter per second,
 * GROWTH = total growth. */
#define TP_GPU_STAT_MAP(X)                                                                         \
	X(AWAKE, "awake_ratio", "ratio", AWAKE, MEAN, AWAKE, MEAN)                                 \
	X(MEM_USED, "memory_used_bytes", "bytes", MEM_USED, PEAK, MEM_USED, PEAK)                  \
	X(MEM_OWN, "memory_own_bytes", "bytes", MEM_OWN, PEAK, MEM_OWN, PEAK)                      \
	X(MEM_TOTAL, "memory_total_bytes", "bytes", MEM_TOTAL, PEAK, MEM_TOTAL, PEAK)              \
	X(POWER, "power_w", "w", POWER, MEAN, POWER, MEAN)                                         \
	X(ENERGY, "energy_j", "j", ENERGY, GROWTH, ENERGY, GROWTH)                                 \
	X(CLOCK, "sm_clock_hz", "hz", CLOCK, MEAN, CLOCK, MEAN)                                    \
	X(CLOCK_MAX, "sm_clock_max_hz", "hz", CLOCK_MAX, PEAK, CLOCK_MAX, PEAK)                    \
	X(POWER_CAPPED, "power_capped_ratio", "ratio", POWER_CAPPED, RATE, IS_CAPPED, MEAN)        \
	X(HEAT_CAPPED, "heat_capped_ratio", "ratio", HEAT_CAPPED, RATE, IS_HOT, MEAN)              \
	X(SLOWED, "hardware_slowed_ratio", "ratio", IS_SLOWED, MEAN, IS_SLOWED, MEAN)              \
	X(OTHERS, "other_processes", "1", OTHERS, PEAK, OTHERS, PEAK)                              \
	X(MEM_OTHERS, "other_memory_bytes", "bytes", MEM_OTHERS, PEAK, MEM_OTHERS, PEAK)           \
	X(MEM_GROWTH, "memory_growth_bytes_per_s", "bytes_per_s", MEM_OWN, RATE, MEM_USED, RATE)   \
	X(POWER_LIMIT, "power_limit_w", "w", POWER_LIMIT, MEAN, POWER_LIMIT, MEAN)                 \
	X(POWER_DEFAULT, "power_limit_default_w", "w", POWER_DEFAULT, PEAK, POWER_DEFAULT, PEAK)   \
	X(PCIE_LINK, "pcie_link_bytes_per_s", "bytes_per_s", PCIE_LINK, PEAK, PCIE_LINK, PEAK)     \
	X(PCIE_LINK_MAX, "pcie_link_max_bytes_per_s", "bytes_per_s", PCIE_LINK_MAX, PEAK,          \
	  PCIE_LINK_MAX, PEAK)                                                                     \
	X(CAPABILITY, "compute_capability", "1", CAPABILITY, PEAK, CAPABILITY, PEAK)               \
	X(SM_ACTIVE, "sm_active_ratio", "ratio", SM_ACTIVE, MEAN, PM_SM_ACTIVE, MEAN)              \
	X(OCCUPANCY, "sm_occupancy_ratio", "ratio", OCCUPANCY, MEAN, PM_OCCUPANCY, MEAN)           \
	X(TENSOR, "tensor_active_ratio", "ratio", TENSOR, MEAN, PM_TENSOR, MEAN)                   \
	X(DRAM, "dram_active_ratio", "ratio", DRAM, MEAN, PM_DRAM, MEAN)                           \
	X(PCIE_TX, "pcie_sent_bytes_per_s", "bytes_per_s", PCIE_TX, RATE, PCIE_TX_RATE, MEAN)      \
	X(PCIE_RX, "pcie_received_bytes_per_s", "bytes_per_s", PCIE_RX, RATE, PCIE_RX_RATE, MEAN)  \
	X(NVLINK_TX, "nvlink_sent_bytes_per_s", "bytes_per_s", NVLINK_TX, MEAN, PM_NVLINK_TX,      \
	  MEAN)                                                                                    \
	X(NVLINK_RX, "nvlink_received_bytes_per_s", "bytes_per_s", NVLINK_RX, MEAN, PM_NVLINK_RX,  \
	  MEAN)                                                                                    \
	X(L2_HIT, "l2_hit_ratio", "ratio", PM_L2_HIT, MEAN, PM_L2_HIT, MEAN)                       \
	X(DRAM_READ, "dram_read_bytes_per_s", "bytes_per_s", PM_DRAM_READ, MEAN, PM_DRAM_READ,     \
	  MEAN)                                                                                    \
	X(DRAM_WRITTEN, "dram_written_bytes_per_s", "bytes_per_s", PM_DRAM_WRITE, MEAN,            \
	  PM_DRAM_WRITE, MEAN)                                                                     \
	X(LAUNCHES, "launches_per_s", "per_s", PM_LAUNCHES, MEAN, PM_LAUNCHES, MEAN)               \
	X(COUNTED_CLOCK, "counted_clock_hz", "hz", PM_CLOCK, MEAN, PM_CLOCK, MEAN)

enum tp_gpu_stat {
#define X(id, name, unit, metric, how, other, other_how) TP_GPU_##id,
	TP_GPU_STAT_MAP(X)
#undef X
		TP_N_GPU_STATS
};

struct tp_gpu_stat_desc {
	const char *name;
	const char *unit;
};

/* Never NULL for a valid figure. */
const struct tp_gpu_stat_desc *tp_gpu_stat_desc(enum tp_gpu_stat figure);

struct tp_gpu_result {
	uint32_t track; /* track of the trace; its name is the device's */
	int32_t number; /* NVML's index */
	bool is_listed; /* NVML listed the program's processes; otherwise they held the device node
			   open */
	size_t n;       /* number of readings in the window */
	struct tp_quantity figures[TP_N_GPU_STATS];
};

#endif
