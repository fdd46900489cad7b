/*
 * A training loop on a GPU that is not there: gpu_script STEPS LOAD COPY KERNEL BESIDE METRICS
 *
 * Times in ms. Each step loads a batch (a CPU works), copies it to the device and waits, launches a
 * kernel, works BESIDE it (hidden, where the kernel is longer), waits for it, and sums up metrics.
 * What CUPTI would tell of that is written into a ring in $TRAINPROF_GPU_RINGS as trainprof's agent
 * does. Of each step it prints, by its own clock: "kernel NS copy NS load NS rest NS wall NS".
 * Where KILL is set it kills itself after the last step; where MARKS is set it marks what the CPU
 * does.
 */
#include "../unit/collect/scriptring.h"

#include "trainprof/mark.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

enum { EVENTS = 4096, STREAM = 7, LAUNCH_NS = 50000, LATENCY_NS = 10000 };

#define CUPTI_AHEAD_NS UINT64_C(1700000000000000000)

struct script {
	unsigned long steps;
	uint64_t load_ns;
	uint64_t copy_ns;
	uint64_t kernel_ns;
	uint64_t beside_ns;
	uint64_t metrics_ns;
};

struct truth {
	uint64_t kernel_ns;
	uint64_t copy_ns;
	uint64_t load_ns;
	uint64_t wall_ns;
};

static struct ring_writer ring;
static uint32_t kernel_name;
static uint32_t launch_name;
static uint32_t copy_name;
static uint32_t sync_name;
static uint32_t links;
static uint32_t tid;
static int has_marks;
static volatile uint64_t sink;

static void work_until(uint64_t end_ns)
{
	while (ring_now_ns() < end_ns)
		for (uint64_t i = 0; i < 200; i++)
			sink += i * sink + 1;
}

static void sleep_until(uint64_t end_ns)
{
	struct timespec at = {.tv_sec = (time_t)(end_ns / 1000000000u),
			      .tv_nsec = (long)(end_ns % 1000000000u)};
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

/* Two functions that do not do the same: a compiler makes one of equal ones. */
__attribute__((noinline)) static void load_batch(uint64_t ns)
{
	if (has_marks)
		trainprof_phase_begin("dataloader");
	work_until(ring_now_ns() + ns);
	sink += 1;
	if (has_marks)
		trainprof_phase_end();
}

__attribute__((noinline)) static void update_metrics(uint64_t ns)
{
	if (has_marks)
		trainprof_phase_begin("metrics");
	work_until(ring_now_ns() + ns);
	sink += 2;
	if (has_marks)
		trainprof_phase_end();
}

static void tell_call(unsigned call, uint32_t name, uint64_t start_ns, uint64_t end_ns,
		      uint32_t link)
{
	ring_work(&ring, TP_GPU_EVENT_CALL, (uint16_t)call, name, start_ns, end_ns, link, tid);
}

/* The device copies while the thread waits in the call. Returns for how long the device did. */
static uint64_t copy_batch(uint64_t ns)
{
	uint64_t start_ns = ring_now_ns();
	uint32_t link = ++links;
	sleep_until(start_ns + LATENCY_NS + ns);
	tell_call(TP_GPU_CALL_COPY, copy_name, start_ns, ring_now_ns(), link);
	ring_work(&ring, TP_GPU_EVENT_COPY, 1,
		  TP_GPU_COPY_HTOD | TP_GPU_MEMORY_PAGEABLE << 8 | TP_GPU_MEMORY_DEVICE << 16,
		  start_ns + LATENCY_NS, start_ns + LATENCY_NS + ns, link, 1 << 20);
	return ns;
}

/* Returns when the kernel ends; the event is told then, by wait_for(). */
static uint64_t launch(uint64_t *kernel_start_ns, uint64_t ns)
{
	uint64_t start_ns = ring_now_ns();
	work_until(start_ns + LAUNCH_NS);
	uint64_t end_ns = ring_now_ns();
	tell_call(TP_GPU_CALL_LAUNCH, launch_name, start_ns, end_ns, ++links);
	*kernel_start_ns = end_ns + LATENCY_NS;
	return *kernel_start_ns + ns;
}

static void wait_for(uint64_t kernel_start_ns, uint64_t kernel_end_ns)
{
	uint32_t link = links;
	uint64_t start_ns = ring_now_ns();
	sleep_until(kernel_end_ns);
	tell_call(TP_GPU_CALL_SYNC, sync_name, start_ns, ring_now_ns(), ++links);
	ring_work(&ring, TP_GPU_EVENT_KERNEL, 1, kernel_name, kernel_start_ns, kernel_end_ns, link,
		  128 | UINT64_C(256) << 32);
}

static void step(const struct script *script, struct truth *truth)
{
	uint64_t kernel_start_ns;
	uint64_t begin_ns = ring_now_ns();
	trainprof_step();
	ring_clock(&ring);
	uint64_t load_ns = ring_now_ns();
	load_batch(script->load_ns);
	truth->load_ns = ring_now_ns() - load_ns;
	truth->copy_ns = copy_batch(script->copy_ns);
	uint64_t kernel_end_ns = launch(&kernel_start_ns, script->kernel_ns);
	if (script->beside_ns)
		update_metrics(script->beside_ns);
	wait_for(kernel_start_ns, kernel_end_ns);
	truth->kernel_ns = script->kernel_ns;
	update_metrics(script->metrics_ns);
	truth->wall_ns = ring_now_ns() - begin_ns;
}

static void print_truth(const struct truth *truth)
{
	uint64_t known_ns = truth->kernel_ns + truth->copy_ns + truth->load_ns;
	printf("kernel %llu copy %llu load %llu rest %llu wall %llu\n",
	       (unsigned long long)truth->kernel_ns, (unsigned long long)truth->copy_ns,
	       (unsigned long long)truth->load_ns, (unsigned long long)(truth->wall_ns - known_ns),
	       (unsigned long long)truth->wall_ns);
}

static int begin(void)
{
	const char *directory = getenv(TP_GPU_RINGS_ENV);
	if (!directory || !ring_begin(&ring, directory, 0, EVENTS))
		return 0;
	tid = (uint32_t)syscall(SYS_gettid);
	ring.skew_ns = CUPTI_AHEAD_NS;
	ring_clock(&ring);
	ring_place(&ring, 0, STREAM);
	kernel_name = ring_name(&ring, "ampere_sgemm_128x64_tn");
	launch_name = ring_name(&ring, "cudaLaunchKernel_v7000");
	copy_name = ring_name(&ring, "cudaMemcpy_v3020");
	sync_name = ring_name(&ring, "cudaStreamSynchronize_v3020");
	return 1;
}

int main(int argc, char **argv)
{
	struct truth truth;
	uint64_t ns[6];
	for (int i = 0; i < 6; i++)
		ns[i] = argc > i + 1 ? (uint64_t)(strtod(argv[i + 1], NULL) * 1e6) : 0;
	const struct script script = {ns[0] / 1000000, ns[1], ns[2], ns[3], ns[4], ns[5]};
	if (argc < 7 || !begin()) {
		fprintf(stderr, "gpu_script: nobody listens, or too few arguments\n");
		return 2;
	}
	has_marks = getenv("MARKS") != NULL;
	for (unsigned long i = 0; i < script.steps; i++) {
		step(&script, &truth);
		print_truth(&truth);
	}
	if (getenv("KILL"))
		kill(getpid(), SIGKILL);
	ring.header->state = TP_GPU_STATE_FINISHED;
	return 0;
}
