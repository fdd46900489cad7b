/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the speed of the partition: partition_speed MILLIONS. Six lanes of random intervals,
 * like those of a device and its threads, in order of starts; then the same unordered. */
#include "analyze/numeric/intervals.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { N_LANES = 6 };

static void measure(const char *what, size_t n, bool is_sorted)
{
	struct tp_interval *items[N_LANES];
	struct tp_lane lanes[N_LANES];
	uint64_t end_ns = 0;
	for (size_t lane = 0; lane < N_LANES; lane++) {
		uint64_t at = 0;
		items[lane] = tp_alloc(n / N_LANES * sizeof(*items[lane]));
		for (size_t i = 0; i < n / N_LANES; i++) {
			uint64_t random = tp_hash_mix(lane, i);
			uint64_t start = is_sorted ? (at += random % 2000) : random % (n * 300);
			items[lane][i] = (struct tp_interval){start, start + random / 2000 % 1200};
			end_ns = start + 1200 > end_ns ? start + 1200 : end_ns;
		}
		lanes[lane] = (struct tp_lane){(enum tp_part)lane, false, items[lane], n / N_LANES};
	}
	struct tp_interval window = {0, end_ns};
	struct tp_lane_times times;
	uint64_t before_ns = tp_clock_self_cpu_ns();
	tp_lanes_partition(&times, lanes, N_LANES, &window, 1, TP_PART_IDLE);
	double seconds = (double)(tp_clock_self_cpu_ns() - before_ns) / 1e9;
	printf("%-9s %5.1f M intervals   CPU %.3f s   %.1f M/s%s\n", what, (double)n / 1e6, seconds,
	       (double)n / 1e6 / seconds, times.window_ns == end_ns ? "" : "   WRONG");
	for (size_t lane = 0; lane < N_LANES; lane++)
		free(items[lane]);
}

int main(int argc, char **argv)
{
	size_t n = (argc > 1 ? strtoull(argv[1], NULL, 10) : 6) * 1000000;
	measure("in order", n, true);
	measure("unordered", n, false);
	return 0;
}
