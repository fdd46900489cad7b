/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the cost of the agent, on the doubles of CUDA: agent_speed DOUBLES_DIRECTORY
 * [LAUNCHES_PER_S]. One thread launches kernels for one second while a reader drains; five times.
 * Prints the lost records, the CPU time per record of our callback (including the double's
 * iterator), of only decoding and appending (records in a buffer, no CUPTI), and of the double's
 * iterator alone. All are medians of the thread's CPU time, so that other load on the machine has
 * little effect. Then prints the cost of an NVTX range in the thread that emits it, both ends
 * together, alone and with three other threads that do the same.
 */
#include "../doubles/cuda_double.h"
#include "agent/cupti/cupti_session.h"
#include "agent/nvtx/nvtx_ranges.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 5, RECORDS = 2000, ROUNDS = 500, RANGES = 5000, MOST_NAMING = 4 };

static struct tp_ring_writer ring;
static struct tp_cupti_session session;
static void (*work)(const struct cuda_double_work *);
static int is_over;

static double clock_s(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void nap(double seconds)
{
	struct timespec time = {.tv_nsec = (long)(seconds * 1e9)};
	nanosleep(&time, NULL);
}

static void drain(void)
{
	struct tp_gpu_ring_header *header = ring.header;
	__atomic_store_n(&header->tail, __atomic_load_n(&header->head, __ATOMIC_ACQUIRE),
			 __ATOMIC_RELEASE);
}

/* Does the periodic work of the agent's thread and of the reader. */
static void *tend(void *unused)
{
	for (int i = 0; !__atomic_load_n(&is_over, __ATOMIC_ACQUIRE); i++) {
		nap(0.02);
		drain();
		if (i % 5 == 0)
			tp_cupti_session_flush(&session, false);
	}
	return unused;
}

static long launch(double rate)
{
	static const char *const names[] = {
		"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEE",
		"_Z4gemmPf", "_ZN7cutlass6KernelI50cutlass_80_tensorop_s16816gemm_f16_128x128",
		"triton_poi_fused_add_relu_0"};
	double begun_s = clock_s(CLOCK_MONOTONIC);
	long n = 0;
	while (clock_s(CLOCK_MONOTONIC) - begun_s < 1) {
		work(&(struct cuda_double_work){.name = names[n % 4], .took_ns = 900, .stream = 7});
		n++;
		double ahead_s = (double)n / rate - (clock_s(CLOCK_MONOTONIC) - begun_s);
		if (ahead_s > 0.001)
			nap(ahead_s);
	}
	return n;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare);
	return values[n / 2];
}

static void run_launches(double rate)
{
	double cost_ns[RUNS];
	long n = 0;
	const struct tp_gpu_ring_header *header = ring.header;
	for (int i = 0; i < RUNS; i++) {
		pthread_t thread;
		uint64_t records = header->n_records;
		uint64_t cost = header->cost_ns;
		is_over = 0;
		pthread_create(&thread, NULL, tend, NULL);
		n += launch(rate);
		__atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
		pthread_join(thread, NULL);
		tp_cupti_session_flush(&session, true);
		drain();
		cost_ns[i] =
			(double)(header->cost_ns - cost) / (double)(header->n_records - records);
	}
	uint64_t dropped = header->n_lost + header->n_scratch + header->n_untimed;
	for (size_t i = 0; i < TP_GPU_EVENT_TYPES; i++)
		dropped += header->n_dropped[i];
	printf("%ld launches in %d s, %llu records, %llu lost\n", n, RUNS,
	       (unsigned long long)header->n_records, (unsigned long long)dropped);
	printf("callback: %.1f ns per record (median of %d)\n", median(cost_ns, RUNS), RUNS);
}

enum { KERNEL = 216, CALL = 40 };

/* Kernels and their calls in turn, in the layout of a CUPTI 13.0 buffer. */
static uint8_t buffer[RECORDS * (KERNEL + CALL)] __attribute__((aligned(8)));

static void fill_buffer(void)
{
	for (int i = 0; i < RECORDS; i++) {
		struct cupti_kernel kernel = {.kind = CUPTI_CONCURRENT_KERNEL,
					      .start = 5,
					      .end = 9,
					      .stream = 7,
					      .name = i % 2 ? "_Z4gemmPf" : "_Z4reluPf",
					      .grid = {80, 1, 1},
					      .block = {128, 1, 1}};
		struct cupti_call call = {.kind = CUPTI_RUNTIME, .cbid = 211, .start = 5, .end = 9};
		memcpy(buffer + (size_t)i * (KERNEL + CALL), &kernel, sizeof(kernel));
		memcpy(buffer + (size_t)i * (KERNEL + CALL) + KERNEL, &call, sizeof(call));
	}
}

static void run_decoding(void)
{
	double each_ns[5 * RUNS];
	for (int run = 0; run < 5 * RUNS; run++) {
		double begun_s = clock_s(CLOCK_THREAD_CPUTIME_ID);
		for (int round = 0; round < ROUNDS / RUNS; round++) {
			const uint8_t *at = buffer;
			for (int i = 0; i < RECORDS; i++) {
				tp_cupti_decode(&session.decoder, (const void *)at);
				tp_cupti_decode(&session.decoder, (const void *)(at + KERNEL));
				at += KERNEL + CALL;
			}
			tp_ring_writer_publish(&ring);
			drain();
		}
		each_ns[run] = (clock_s(CLOCK_THREAD_CPUTIME_ID) - begun_s) * 1e9 /
			       (2.0 * RECORDS * (ROUNDS / RUNS));
	}
	printf("decoding and appending: %.1f ns per record (median of %d)\n",
	       median(each_ns, 5 * RUNS), 5 * RUNS);
}

/* Measures the iterator alone: the callback's figure contains it once per record, decoding's does
 * not. */
static void run_stepping(void)
{
	double each_ns[5 * RUNS];
	for (int run = 0; run < 5 * RUNS; run++) {
		long n = 0;
		double begun_s = clock_s(CLOCK_THREAD_CPUTIME_ID);
		for (int round = 0; round < ROUNDS / RUNS; round++) {
			struct cupti_record *last = NULL;
			while (session.lib.get_next_record(buffer, sizeof(buffer), &last) ==
			       CUPTI_OK)
				n++;
		}
		each_ns[run] = (clock_s(CLOCK_THREAD_CPUTIME_ID) - begun_s) * 1e9 / (double)n;
	}
	printf("the double's iterator: %.1f ns per record (median of %d)\n",
	       median(each_ns, 5 * RUNS), 5 * RUNS);
}

/* Emits only as many ranges as the ring can hold: a dropped range would cost less. */
static void *name_ranges(void *out)
{
	double *each_ns = out;
	char name[32];
	double begun_s = clock_s(CLOCK_THREAD_CPUTIME_ID);
	for (int i = 0; i < RANGES; i++)
		snprintf(name, sizeof(name), "step %d", i);
	double text_s = clock_s(CLOCK_THREAD_CPUTIME_ID) - begun_s;
	begun_s = clock_s(CLOCK_THREAD_CPUTIME_ID);
	for (int i = 0; i < RANGES; i++) {
		snprintf(name, sizeof(name), "step %d", i);
		tp_nvtx_range_push(NULL, &(struct tp_nvtx_range_message){.ascii = name}, NULL);
		tp_nvtx_range_pop(NULL, NULL);
	}
	*each_ns = (clock_s(CLOCK_THREAD_CPUTIME_ID) - begun_s - text_s) * 1e9 / RANGES;
	return NULL;
}

static void run_ranges(int n_threads)
{
	double all_ns[25 * MOST_NAMING];
	size_t n = 0;
	uint64_t at_ns = 1;
	for (int run = 0; run < 25; run++) {
		pthread_t threads[MOST_NAMING];
		for (int i = 0; i < n_threads; i++)
			pthread_create(&threads[i], NULL, name_ranges, &all_ns[n++]);
		for (int i = 0; i < n_threads; i++)
			pthread_join(threads[i], NULL);
		tp_nvtx_ranges_drain(at_ns += UINT64_C(100000000000), true);
		drain();
	}
	printf("a range of NVTX: %.1f ns (median of %zu, %d threads), %llu left out\n",
	       median(all_ns, n), n, n_threads,
	       (unsigned long long)(ring.header->n_nvtx_lost +
				    ring.header->n_dropped[TP_GPU_EVENT_PUSH]));
}

static int load(const char *doubles)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/libcuda.so.1", doubles);
	void *cuda = dlopen(path, RTLD_NOW);
	void *symbol = cuda ? dlsym(cuda, "cuda_double_work") : NULL;
	memcpy(&work, &symbol, sizeof(work));
	snprintf(path, sizeof(path), "%s/whole/libcupti.so.13", doubles);
	setenv("TRAINPROF_CUPTI", path, 1);
	return work != NULL;
}

int main(int argc, char **argv)
{
	char directory[] = "/dev/shm/trainprof-speed-XXXXXX";
	char command[64];
	double rate = argc > 2 ? strtod(argv[2], NULL) : 200000;
	if (argc < 2 || !load(argv[1]) || !mkdtemp(directory) ||
	    tp_ring_writer_create(&ring, directory, TP_GPU_RING_EVENTS) != 0)
		return 2;
	tp_cupti_session_init(&session, &ring);
	if (!tp_cupti_library_load(&session.lib) || !tp_cupti_library_start(&session.lib) ||
	    tp_cupti_session_open(&session) != TP_GPU_STATE_OPEN)
		return 2;
	run_launches(rate);
	fill_buffer();
	run_decoding();
	run_stepping();
	if (!tp_nvtx_ranges_init(&ring, &session.lock))
		return 2;
	run_ranges(1);
	run_ranges(MOST_NAMING);
	snprintf(command, sizeof(command), "rm -r %s", directory);
	return system(command);
}
