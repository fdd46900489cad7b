/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the cost of samples and switches with events on ourselves. */
#include "perf_cost.h"

#include "perf_ring.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* If the calibration fails: as measured in a nested virtual machine, which is slow. */
#define SAMPLE_FALLBACK_NS 14000.0
#define SWITCH_FALLBACK_NS 1300.0

#define CALIBRATION_PERIOD_NS (150 * TP_NS_PER_US)
#define TIME_LIMIT_NS         (40 * TP_NS_PER_MS)

enum {
	RING_PAGES = 64,
	N_SAMPLES = 24,
	N_INTERRUPTIONS = 256,
	N_ROUNDS = 4,
	N_ROUND_TRIPS = 10, /* of a byte to the partner and back, per round */
};

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a;
	double right = *(const double *)b;
	return (left > right) - (left < right);
}

/* Reads the clock without pause: an interrupt shows as a gap between two readings. Returns the
 * number of gaps of at least `least_ns` until `n_wanted` records are in the ring or the time is
 * up. */
static size_t find_interruptions(struct tp_perf_ring *ring, double least_ns, double *out,
				 uint64_t until_ns, size_t *n_samples)
{
	size_t n = 0;
	size_t size;
	uint64_t before_ns = tp_clock_now_ns();
	*n_samples = 0;
	while (before_ns < until_ns && *n_samples < N_SAMPLES && n < N_INTERRUPTIONS) {
		uint64_t now_ns = tp_clock_now_ns();
		double step_ns = (double)(now_ns - before_ns);
		before_ns = now_ns;
		if (step_ns < least_ns)
			continue;
		out[n++] = step_ns;
		tp_perf_ring_refresh(ring);
		while (tp_perf_ring_next(ring, &size))
			++*n_samples;
		tp_perf_ring_consume(ring);
		before_ns = tp_clock_now_ns();
	}
	return n;
}

/* Returns the usual gap between two readings of the clock. */
static double typical_step_ns(void)
{
	double steps[101];
	for (size_t i = 0; i < TP_ARRAY_LEN(steps); i++) {
		uint64_t before_ns = tp_clock_now_ns();
		steps[i] = (double)(tp_clock_now_ns() - before_ns);
	}
	qsort(steps, TP_ARRAY_LEN(steps), sizeof(*steps), compare_doubles);
	return steps[TP_ARRAY_LEN(steps) / 2];
}

/* Other interrupts are shorter or rarer than ours: of the longest gaps, as many as there are
 * samples, the lower half are samples. */
static double measure_sample_ns(const struct tp_perf_setup *setup, uint64_t until_ns)
{
	struct tp_perf_ring ring = {0};
	double detours[N_INTERRUPTIONS];
	size_t n_samples = 0;
	size_t n = 0;
	double usual_ns = typical_step_ns();
	int fd = tp_perf_open_sampler_self(setup, CALIBRATION_PERIOD_NS, -1);
	if (fd >= 0 && tp_perf_ring_map(&ring, fd, RING_PAGES) == 0) {
		n = find_interruptions(&ring, usual_ns * 3 + 300, detours, until_ns, &n_samples);
		tp_perf_ring_unmap(&ring);
	}
	if (fd >= 0)
		close(fd);
	if (n < N_SAMPLES / 4 || n_samples < N_SAMPLES / 4)
		return SAMPLE_FALLBACK_NS;
	qsort(detours, n, sizeof(*detours), compare_doubles);
	size_t n_ours = n_samples < n ? n_samples : n;
	return detours[n - 1 - n_ours * 3 / 4] - usual_ns;
}

/* The other end of the ping-pong; ends when our end is closed. */
static void *peer_run(void *argument)
{
	int fd = *(const int *)argument;
	char byte;
	while (recv(fd, &byte, 1, 0) == 1 && send(fd, &byte, 1, MSG_NOSIGNAL) == 1)
		;
	return NULL;
}

/* Returns the time of one round trip to the partner, in ns; 0 if it does not answer. */
static double round_trip_ns(int fd)
{
	uint64_t before_ns = tp_clock_now_ns();
	for (int i = 0; i < N_ROUND_TRIPS; i++) {
		char byte = 0;
		if (send(fd, &byte, 1, MSG_NOSIGNAL) != 1 || recv(fd, &byte, 1, 0) != 1)
			return 0;
	}
	return (double)(tp_clock_now_ns() - before_ns) / N_ROUND_TRIPS;
}

/* Times round trips between this thread and another of ours, both with the events that are open
 * now. A child process would do as well, but creating one costs a third of a whole start. */
static double round_trip_peer_ns(void)
{
	int pair[2];
	pthread_t partner;
	double ns = 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return 0;
	bool is_there = pthread_create(&partner, NULL, peer_run, &pair[1]) == 0;
	if (is_there)
		ns = round_trip_ns(pair[0]);
	close(pair[0]);
	if (is_there)
		pthread_join(partner, NULL);
	close(pair[1]);
	return ns;
}

static double round_trip_events_ns(const struct tp_perf_setup *setup, int cpu, bool has_switches)
{
	struct tp_perf_ring ring = {0};
	double ns = 0;
	int sampler = tp_perf_open_sampler_self(setup, TP_NS_PER_S, cpu);
	int switches = has_switches ? tp_perf_open_switches_self(cpu) : -1;
	int ringed = has_switches ? switches : sampler;
	if (sampler >= 0 && ringed >= 0 && tp_perf_ring_map(&ring, ringed, RING_PAGES) == 0) {
		ns = round_trip_peer_ns();
		tp_perf_ring_unmap(&ring);
	}
	if (sampler >= 0)
		close(sampler);
	if (switches >= 0)
		close(switches);
	return ns;
}

static void keep_min(double *least, double ns)
{
	if (ns > 0 && (*least <= 0 || ns < *least))
		*least = ns;
}

/* Sends a byte to a thread on the same CPU and back: a round trip is two switches. Uses the best of
 * several alternating rounds, so that disturbances affect all or none. */
static void measure_switch(struct tp_perf_cost *out, const struct tp_perf_setup *setup, int cpu,
			   uint64_t until_ns)
{
	double without_ns = 0;
	double sampler_ns = 0;
	double switches_ns = 0;
	for (int i = 0; i < N_ROUNDS && tp_clock_now_ns() < until_ns; i++) {
		keep_min(&without_ns, round_trip_peer_ns());
		keep_min(&sampler_ns, round_trip_events_ns(setup, cpu, false));
		keep_min(&switches_ns, round_trip_events_ns(setup, cpu, true));
	}
	if (without_ns <= 0 || sampler_ns <= 0 || switches_ns <= 0)
		return;
	out->switch_ns = (switches_ns - without_ns) / 2;
	out->record_ns = (switches_ns - sampler_ns) / 2;
}

static double clamp(double value, double low, double high)
{
	return value < low ? low : value > high ? high : value;
}

void tp_perf_cost_measure(struct tp_perf_cost *out, const struct tp_perf_setup *setup)
{
	uint64_t until_ns = tp_clock_now_ns() + TIME_LIMIT_NS;
	cpu_set_t before;
	cpu_set_t here;
	int cpu = sched_getcpu();
	bool is_pinned =
		cpu >= 0 && cpu < CPU_SETSIZE && sched_getaffinity(0, sizeof(before), &before) == 0;
	if (is_pinned) {
		CPU_ZERO(&here);
		CPU_SET(cpu, &here);
		is_pinned = sched_setaffinity(0, sizeof(here), &here) == 0;
	}
	*out = (struct tp_perf_cost){.switch_ns = SWITCH_FALLBACK_NS,
				     .record_ns = SWITCH_FALLBACK_NS / 2};
	out->sample_ns = measure_sample_ns(setup, until_ns - TIME_LIMIT_NS / 2);
	if (is_pinned)
		measure_switch(out, setup, cpu, until_ns);
	if (is_pinned)
		sched_setaffinity(0, sizeof(before), &before);
	/* A value outside these limits is not a valid measurement. */
	out->sample_ns = clamp(out->sample_ns, 200, 1e5);
	out->switch_ns = clamp(out->switch_ns, 50, 1e4);
	out->record_ns = clamp(out->record_ns, 50, out->switch_ns);
}
