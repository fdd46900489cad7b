/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work for a GPU, on demand: reads commands from stdin, one per line, and answers each with a line
 * of JSON that contains the work done and its duration by the host's clock ("s") and, if that is
 * meaningful, by the device's ("device_s"). No toolkit is needed: driver calls are looked up at run
 * time and kernels are PTX.
 *
 *   launch N [THREADS]    launches N empty kernels from that many threads; then waits
 *   nodes N               creates a graph of N empty kernels
 *   graph N               launches that graph N times
 *   copy N                copies 1 GiB on the device N times: "bytes" read and written
 *   fma N                 N kernels that multiply and add: "flops"
 *   durations N           N of each of eight such kernels of other lengths: "mean_ns" by name
 *   upload N              N copies of 64 MiB from pageable memory
 *   churn N               N allocations of 64 MiB, each written to and freed
 *   nap MS                sleeps
 *   mode NAME             state of cupti_probe, if that is in the process
 *   self                  CPU time of each thread, resident memory
 *   end HOW               return, exit, _exit, kill, segv, exec
 *
 * It ends at the end of its input. Every answer contains the free device memory. gpu_bench --small
 * does a thousandth of the work, for machines without a GPU.
 */
#include "cuda_driver.h"
#include "cupti_probe.h"
#include "selfcost.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	FMA_KERNELS = 8,
	FMA_THREADS = 256,
	FLOPS_A_ROUND = 16, /* per thread: eight multiplications and additions */
	MOST_THREADS = 64,
	CAPTURE_RELAXED = 2,
	MULTIPROCESSORS = 16, /* CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT */
};

static const char ptx[] = {
#include "bench.ptx.inc"
	'\0',
};

static struct {
	struct cuda_driver cuda;
	cuda_handle context;
	cuda_handle stream;
	cuda_handle empty;
	cuda_handle copy;
	cuda_handle fma[FMA_KERNELS];
	cuda_handle graph;
	cuda_handle begin;
	cuda_handle end;
	cuda_address memory; /* 2 * most_bytes */
	size_t most_bytes;
	void *host; /* upload_bytes of pageable memory */
	size_t upload_bytes;
	unsigned n_blocks;
	unsigned fma_rounds; /* of the shortest kernel; each next one does twice as many */
	long n_nodes;
} bench;

static void fail(const char *what, int error)
{
	printf("{\"error\": \"%s: %d\"}\n", what, error);
	fflush(stdout);
	exit(3);
}

static void need(int error, const char *what)
{
	if (error)
		fail(what, error);
}

static double clock_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- beginning ------------------------------------------------------------------------------ */

/* Loads the kernel once for each length, under the names "bench_fma_0", "bench_fma_1" and so on. */
static void load_kernels(void)
{
	static char text[sizeof(ptx)];
	memcpy(text, ptx, sizeof(ptx));
	char *digit = strstr(text, "bench_fma_0") + strlen("bench_fma_");
	for (int i = 0; i < FMA_KERNELS; i++) {
		cuda_handle module;
		char name[] = "bench_fma_0";
		*digit = name[sizeof(name) - 2] = (char)('0' + i);
		need(bench.cuda.load_module(&module, text), "cuModuleLoadData");
		need(bench.cuda.get_function(&bench.fma[i], module, name), "cuModuleGetFunction");
		if (i)
			continue;
		need(bench.cuda.get_function(&bench.empty, module, "bench_empty"), "empty");
		need(bench.cuda.get_function(&bench.copy, module, "bench_copy"), "copy");
	}
}

static void print_device(int device)
{
	char name[128] = "";
	int version = 0;
	bench.cuda.get_name(name, sizeof(name), device);
	bench.cuda.get_version(&version);
	printf("{\"did\": \"begin\", \"device\": \"%s\", \"driver_version\": %d, "
	       "\"multiprocessors\": %u}\n",
	       name, version, bench.n_blocks / 8);
	fflush(stdout);
}

static void begin(bool is_small)
{
	int device;
	int n_multiprocessors = 0;
	const char *missing = cuda_driver_open(&bench.cuda);
	if (missing)
		fail(missing, -1);
	need(bench.cuda.init(0), "cuInit");
	need(bench.cuda.get_device(&device, 0), "cuDeviceGet");
	need(bench.cuda.retain_context(&bench.context, device), "cuDevicePrimaryCtxRetain");
	need(bench.cuda.set_context(bench.context), "cuCtxSetCurrent");
	need(bench.cuda.create_stream(&bench.stream, 1), "cuStreamCreate");
	need(bench.cuda.create_event(&bench.begin, 0), "cuEventCreate");
	need(bench.cuda.create_event(&bench.end, 0), "cuEventCreate");
	need(bench.cuda.get_attribute(&n_multiprocessors, MULTIPROCESSORS, device), "attribute");
	bench.n_blocks = 8 * (unsigned)n_multiprocessors;
	bench.most_bytes = (size_t)1 << (is_small ? 20 : 30);
	bench.upload_bytes = (size_t)64 << (is_small ? 10 : 20);
	bench.fma_rounds = is_small ? 1 : 512;
	need(bench.cuda.allocate(&bench.memory, 2 * bench.most_bytes), "cuMemAlloc");
	bench.host = malloc(bench.upload_bytes);
	memset(bench.host, 1, bench.upload_bytes);
	load_kernels();
	print_device(device);
}

/* ---- work ----------------------------------------------------------------------------------- */

static void launch_empty(cuda_handle stream)
{
	need(bench.cuda.launch(bench.empty, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL), "launch");
}

static void launch_fma(int kernel)
{
	unsigned rounds = bench.fma_rounds << kernel;
	void *arguments[] = {&bench.memory, &rounds};
	need(bench.cuda.launch(bench.fma[kernel], bench.n_blocks, 1, 1, FMA_THREADS, 1, 1, 0,
			       bench.stream, arguments, NULL),
	     "fma");
}

static void launch_copy(void)
{
	cuda_address to = bench.memory + bench.most_bytes;
	uint64_t n = bench.most_bytes / 16;
	void *arguments[] = {&to, &bench.memory, &n};
	need(bench.cuda.launch(bench.copy, bench.n_blocks, 1, 1, 512, 1, 1, 0, bench.stream,
			       arguments, NULL),
	     "copy");
}

struct launches {
	pthread_t thread;
	long n;
};

static void *launch_many(void *context)
{
	const struct launches *launches = context;
	cuda_handle stream;
	need(bench.cuda.set_context(bench.context), "cuCtxSetCurrent");
	need(bench.cuda.create_stream(&stream, 1), "cuStreamCreate");
	for (long i = 0; i < launches->n; i++)
		launch_empty(stream);
	return NULL;
}

static void launch_by_threads(long n, long n_threads)
{
	struct launches launches[MOST_THREADS];
	for (long i = 0; i < n_threads; i++) {
		launches[i].n = n / n_threads;
		pthread_create(&launches[i].thread, NULL, launch_many, &launches[i]);
	}
	for (long i = 0; i < n_threads; i++)
		pthread_join(launches[i].thread, NULL);
}

static void make_graph(long n)
{
	cuda_handle graph;
	need(bench.cuda.begin_capture(bench.stream, CAPTURE_RELAXED), "cuStreamBeginCapture");
	for (long i = 0; i < n; i++)
		launch_empty(bench.stream);
	need(bench.cuda.end_capture(bench.stream, &graph), "cuStreamEndCapture");
	need(bench.cuda.instantiate(&bench.graph, graph, 0), "cuGraphInstantiate");
	bench.n_nodes = n;
}

static void churn(void)
{
	cuda_address memory;
	need(bench.cuda.allocate(&memory, bench.upload_bytes), "cuMemAlloc");
	need(bench.cuda.copy_to_device(memory, bench.host, 4096), "cuMemcpyHtoD");
	need(bench.cuda.release(memory), "cuMemFree");
}

/* ---- answers -------------------------------------------------------------------------------- */

static double device_s(void)
{
	float ms = 0;
	need(bench.cuda.wait_for_event(bench.end), "cuEventSynchronize");
	need(bench.cuda.elapsed_ms(&ms, bench.begin, bench.end), "cuEventElapsedTime");
	return (double)ms * 1e-3;
}

static void mark(cuda_handle event)
{
	need(bench.cuda.record_event(event, bench.stream), "cuEventRecord");
}

static void answer(const char *did, double begun_s, const char *more, ...)
	__attribute__((format(printf, 3, 4)));
static void answer(const char *did, double begun_s, const char *more, ...)
{
	va_list arguments;
	size_t n_free = 0;
	size_t n_all = 0;
	double took_s = clock_s() - begun_s;
	bench.cuda.get_memory(&n_free, &n_all);
	printf("{\"did\": \"%s\", \"s\": %.9f, \"device_free_bytes\": %zu", did, took_s, n_free);
	va_start(arguments, more);
	vprintf(more, arguments);
	va_end(arguments);
	printf("}\n");
	fflush(stdout);
}

static void do_launch(long n, long n_threads)
{
	double begun_s = clock_s();
	if (n_threads > 1)
		launch_by_threads(n, n_threads < MOST_THREADS ? n_threads : MOST_THREADS);
	else
		for (long i = 0; i < n; i++)
			launch_empty(bench.stream);
	double launched_s = clock_s() - begun_s;
	need(bench.cuda.synchronize(), "cuCtxSynchronize");
	answer("launch", begun_s, ", \"n\": %ld, \"launched_s\": %.9f", n, launched_s);
}

static void do_graph(long n)
{
	double begun_s = clock_s();
	mark(bench.begin);
	for (long i = 0; i < n; i++)
		need(bench.cuda.launch_graph(bench.graph, bench.stream), "cuGraphLaunch");
	mark(bench.end);
	double on_device_s = device_s();
	answer("graph", begun_s, ", \"n\": %ld, \"nodes\": %ld, \"device_s\": %.9f", n,
	       bench.n_nodes, on_device_s);
}

static void do_copy(long n)
{
	double begun_s = clock_s();
	mark(bench.begin);
	for (long i = 0; i < n; i++)
		launch_copy();
	mark(bench.end);
	double on_device_s = device_s();
	answer("copy", begun_s, ", \"bytes\": %.0f, \"device_s\": %.9f",
	       2.0 * (double)bench.most_bytes * (double)n, on_device_s);
}

static double fma_flops(int kernel)
{
	return (double)bench.n_blocks * FMA_THREADS * (double)(bench.fma_rounds << kernel) *
	       FLOPS_A_ROUND;
}

static void do_fma(long n)
{
	int longest = FMA_KERNELS - 1;
	double begun_s = clock_s();
	mark(bench.begin);
	for (long i = 0; i < n; i++)
		launch_fma(longest);
	mark(bench.end);
	double on_device_s = device_s();
	answer("fma", begun_s, ", \"flops\": %.0f, \"device_s\": %.9f",
	       (double)n * fma_flops(longest), on_device_s);
}

static void do_durations(long n)
{
	char text[FMA_KERNELS * 48];
	int used = 0;
	double begun_s = clock_s();
	for (int kernel = 0; kernel < FMA_KERNELS; kernel++) {
		launch_fma(kernel);
		mark(bench.begin);
		for (long i = 0; i < n; i++)
			launch_fma(kernel);
		mark(bench.end);
		used += snprintf(text + used, sizeof(text) - (size_t)used,
				 "%s\"bench_fma_%d\": %.1f", kernel ? ", " : "", kernel,
				 device_s() * 1e9 / (double)n);
	}
	answer("durations", begun_s, ", \"n\": %ld, \"mean_ns\": {%s}", n, text);
}

static void do_upload(long n)
{
	double begun_s = clock_s();
	for (long i = 0; i < n; i++)
		need(bench.cuda.copy_to_device(bench.memory, bench.host, bench.upload_bytes),
		     "cuMemcpyHtoD");
	answer("upload", begun_s, ", \"bytes\": %.0f", (double)bench.upload_bytes * (double)n);
}

static void do_churn(long n)
{
	double begun_s = clock_s();
	for (long i = 0; i < n; i++)
		churn();
	answer("churn", begun_s, ", \"n\": %ld", n);
}

static void do_nap(long ms)
{
	double begun_s = clock_s();
	const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
	nanosleep(&time, NULL);
	answer("nap", begun_s, "%s", "");
}

static void do_mode(const char *name)
{
	const char *path = secure_getenv("CUDA_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	void *symbol = library ? dlsym(library, PROBE_MODE_SYMBOL) : NULL;
	probe_mode_fn *set = NULL;
	double begun_s = clock_s();
	memcpy(&set, &symbol, sizeof(set));
	int result = set ? set(name) : -1;
	answer("mode", begun_s, ", \"mode\": \"%s\", \"result\": %d", name, result);
}

static void do_self(void)
{
	char text[SELFCOST_TEXT];
	double begun_s = clock_s();
	selfcost_read(text);
	answer("self", begun_s, ", %s", text);
}

static void make_nodes(long n)
{
	double begun_s = clock_s();
	make_graph(n);
	answer("nodes", begun_s, ", \"n\": %ld", n);
}

static void end(const char *how, char **argv)
{
	if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(how, "segv") == 0)
		raise(SIGSEGV);
	if (strcmp(how, "_exit") == 0)
		_exit(0);
	if (strcmp(how, "exec") == 0)
		execv("/proc/self/exe", argv);
	exit(0);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*exec)(long n);
	} commands[] = {{"nodes", make_nodes}, {"graph", do_graph},   {"copy", do_copy},
			{"fma", do_fma},       {"upload", do_upload}, {"durations", do_durations},
			{"churn", do_churn},   {"nap", do_nap}};
	char line[128];
	begin(argc > 1 && strcmp(argv[1], "--small") == 0);
	while (fgets(line, sizeof(line), stdin)) {
		char name[32] = "";
		char word[32] = "";
		long n_threads = 1;
		sscanf(line, "%31s %31s %ld", name, word, &n_threads);
		for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
			if (strcmp(commands[i].name, name) == 0)
				commands[i].exec(strtol(word, NULL, 10));
		if (strcmp(name, "launch") == 0)
			do_launch(strtol(word, NULL, 10), n_threads);
		else if (strcmp(name, "mode") == 0)
			do_mode(word);
		else if (strcmp(name, "self") == 0)
			do_self();
		else if (strcmp(name, "end") == 0)
			end(word, argv);
	}
	return 0;
}
