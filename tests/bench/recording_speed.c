/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the speed of writing and loading a recording, in CPU time. recording_speed DIRECTORY
 * [MILLIONS] */
#include "trainprof/base/clock.h"
#include "trainprof/base/map.h"
#include "trainprof/store/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void report(const char *what, uint64_t n, uint64_t cpu_ns)
{
	printf("%-24s %6.1f M/s  %5.0f ns each\n", what, (double)n * 1e3 / (double)cpu_ns,
	       (double)cpu_ns / (double)n);
}

/* 16 tasks on 4 CPUs, switching every 20 µs; a sample after every 50 stays. */
static void tell(struct tp_sink *sink, uint64_t n)
{
	uint64_t time_ns = 1000000;
	uint64_t busy_since_ns[16] = {0};
	for (uint32_t id = 0; id < 16; id++)
		tp_sink_task(sink, &(struct tp_task){.id = id,
						     .tid = (pid_t)(100 + id),
						     .pid = 100,
						     .parent = TP_NO_TASK,
						     .start_ns = 1000000});
	for (uint64_t i = 0; i < n; i++) {
		uint64_t random = tp_hash_mix(i, 1);
		uint32_t task = random % 16;
		time_ns += random / 16 % 5000;
		uint64_t start_ns = time_ns - random / 65536 % 40000;
		if (start_ns < busy_since_ns[task])
			start_ns = busy_since_ns[task];
		busy_since_ns[task] = time_ns;
		tp_sink_run(sink, &(struct tp_run){.task = task,
						   .cpu = random / 16 % 4,
						   .start_ns = start_ns,
						   .end_ns = time_ns,
						   .how = random / 64 % 2});
		if (i % 50 == 0)
			tp_sink_sample(sink, &(struct tp_sample){.task = task,
								 .syscall = -1,
								 .time_ns = time_ns});
	}
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: recording_speed DIRECTORY [MILLIONS]\n");
		return 2;
	}
	uint64_t n = (argc > 2 ? strtoull(argv[2], NULL, 10) : 4) * 1000000;
	struct tp_store *store;
	struct tp_error err = {0};
	struct tp_run_info run = {.id = "r-1", .started_ns = 1000000};
	if (tp_store_create(&store, argv[1], &run, UINT64_MAX, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	uint64_t begun_ns = tp_clock_self_cpu_ns();
	tell(tp_store_sink(store), n);
	tp_store_flush(store);
	report("written", n + n / 50, tp_clock_self_cpu_ns() - begun_ns);
	printf("%-24s %6.2f bytes\n", "a record",
	       (double)tp_store_size(store) / (double)(n + n / 50));
	if (tp_store_finish(store, &run, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	struct tp_trace trace;
	begun_ns = tp_clock_self_cpu_ns();
	if (tp_store_load(&trace, argv[1], &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	report("loaded, trace built", trace.n_runs + trace.n_samples,
	       tp_clock_self_cpu_ns() - begun_ns);
	tp_trace_release(&trace);
	return 0;
}
