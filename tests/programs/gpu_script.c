/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated training loop on a simulated GPU: gpu_script STEPS LOAD COPY KERNEL BESIDE METRICS
 *
 * Times in ms. Each step loads a batch (CPU work), copies it to the device and waits, launches a
 * kernel, does BESIDE of CPU work during it (hidden if the kernel is longer), waits for it, and
 * computes metrics. It writes the events that CUPTI would report into a ring in
 * $TRAINPROF_GPU_RINGS, as trainprof's agent does. For each step it prints, by its own clock:
 * "kernel NS copy NS load NS rest NS wall NS torn N". N is not 0 if the thread lost its CPU between
 * a mark and its own clock reading, which then differ. If KILL is set it kills itself after the
 * last step; if MARKS is set it marks the CPU work.
 *
 * If SLOWED and PERIOD are set it behaves like an agent that was started idle: it emits events only
 * while they are requested, is slower by the factor SLOWED meanwhile, and also prints "traced 0" or
 * "traced 1" and "begin NS". A step then begins every PERIOD ms, of a clock that is slower by
 * SLOWED meanwhile: time that other programs took from one step is made up for by the next ones, if
 * their work leaves room. More than STEPS steps run if a window is open or has just ended, so that
 * each window has steps on both sides.
 */
#include "../unit/collect/scriptring.h"

#include "trainprof/mark.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

enum {
	EVENTS = 4096,
	STREAM = 7,
	LAUNCH_NS = 50000,
	LATENCY_NS = 10000,
	STEPS_BEHIND = 50,
	TEAR_NS = 200000
};

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
	uint64_t begin_ns; /* time of the step's mark, since the start of this program */
	uint64_t end_ns;
	int is_traced;
	int is_torn;
};

static struct ring_writer ring;
static uint32_t kernel_name;
static uint32_t launch_name;
static uint32_t copy_name;
static uint32_t sync_name;
static uint32_t links;
static uint32_t tid;
static int has_marks;
static double slowed; /* 0 = events are always emitted */
static uint64_t started_ns;
static uint64_t period_ns;
static uint64_t due_ns; /* begin of the next step; 0 = when this one is done */
static int is_traced = 1;
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

/* Two functions with different bodies: a compiler merges equal ones. */
__attribute__((noinline)) static uint64_t load_batch(uint64_t ns)
{
	if (has_marks)
		trainprof_phase_begin("dataloader");
	uint64_t begin_ns = ring_now_ns();
	work_until(begin_ns + ns);
	sink += 1;
	uint64_t took_ns = ring_now_ns() - begin_ns;
	if (has_marks)
		trainprof_phase_end();
	return took_ns; /* time between the marks */
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

static void tell(unsigned type, uint16_t place, uint32_t id, uint64_t start_ns, uint64_t end_ns,
		 uint32_t link, uint64_t x)
{
	if (is_traced)
		ring_work(&ring, type, place, id, start_ns, end_ns, link, x);
}

static void tell_window(uint8_t type)
{
	ring_event(&ring, &(struct tp_gpu_event){.type = type,
						 .flags = TP_GPU_FLAG_HOST_CLOCK,
						 .id = ring.header->n_windows,
						 .t0 = ring_now_ns()});
}

/* Follows a request to start or stop tracing. Called between two steps; an agent would do so at
 * once. */
static void heed_wish(void)
{
	uint32_t wanted = __atomic_load_n(&ring.header->wanted, __ATOMIC_RELAXED);
	int is_wanted = wanted == TP_GPU_REQUEST_EVENTS;
	if (slowed <= 0 || is_wanted == is_traced)
		return;
	is_traced = is_wanted;
	ring.header->n_windows += (uint32_t)is_wanted;
	ring.header->state = is_wanted ? TP_GPU_STATE_OPEN : TP_GPU_STATE_IDLE;
	tell_window(is_wanted ? TP_GPU_EVENT_OPEN : TP_GPU_EVENT_CLOSE);
}

/* Returns the duration, in the present state, of work that takes `ns` untraced. */
static uint64_t now_takes(uint64_t ns)
{
	return is_traced && slowed > 0 ? (uint64_t)((double)ns * slowed) : ns;
}

static void tell_call(unsigned call, uint32_t name, uint64_t start_ns, uint64_t end_ns,
		      uint32_t link)
{
	tell(TP_GPU_EVENT_CALL, (uint16_t)call, name, start_ns, end_ns, link, tid);
}

/* The device copies while the thread waits in the call. Returns the duration of the device's
 * copy. */
static uint64_t copy_batch(uint64_t ns)
{
	uint64_t start_ns = ring_now_ns();
	uint32_t link = ++links;
	sleep_until(start_ns + LATENCY_NS + ns);
	tell_call(TP_GPU_CALL_COPY, copy_name, start_ns, ring_now_ns(), link);
	tell(TP_GPU_EVENT_COPY, 1,
	     TP_GPU_COPY_HTOD | TP_GPU_MEMORY_PAGEABLE << 8 | TP_GPU_MEMORY_DEVICE << 16,
	     start_ns + LATENCY_NS, start_ns + LATENCY_NS + ns, link, 1 << 20);
	return ns;
}

/* Returns the end of the kernel; wait_for() emits the event at that time. */
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
	tell(TP_GPU_EVENT_KERNEL, 1, kernel_name, kernel_start_ns, kernel_end_ns, link,
	     128 | UINT64_C(256) << 32);
}

static void step(const struct script *script, struct truth *truth, struct truth *before)
{
	uint64_t kernel_start_ns;
	uint64_t begin_ns = ring_now_ns();
	heed_wish();
	trainprof_step();
	uint64_t marked_ns = ring_now_ns();
	truth->begin_ns = marked_ns - started_ns;
	truth->is_torn = marked_ns - begin_ns > TEAR_NS;
	before->is_torn |= marked_ns - before->end_ns > TEAR_NS;
	ring_clock(&ring);
	uint64_t load_ns = ring_now_ns();
	uint64_t between_ns = load_batch(now_takes(script->load_ns));
	truth->load_ns = ring_now_ns() - load_ns;
	truth->is_torn |= truth->load_ns - between_ns > TEAR_NS;
	truth->copy_ns = copy_batch(now_takes(script->copy_ns));
	uint64_t kernel_end_ns = launch(&kernel_start_ns, now_takes(script->kernel_ns));
	if (script->beside_ns)
		update_metrics(now_takes(script->beside_ns));
	wait_for(kernel_start_ns, kernel_end_ns);
	truth->kernel_ns = now_takes(script->kernel_ns);
	update_metrics(now_takes(script->metrics_ns));
	if (due_ns)
		sleep_until(due_ns += now_takes(period_ns));
	truth->end_ns = ring_now_ns();
	truth->wall_ns = truth->end_ns - begin_ns;
	truth->is_traced = is_traced;
}

static void print_truth(const struct truth *truth)
{
	uint64_t known_ns = truth->kernel_ns + truth->copy_ns + truth->load_ns;
	printf("kernel %llu copy %llu load %llu rest %llu wall %llu",
	       (unsigned long long)truth->kernel_ns, (unsigned long long)truth->copy_ns,
	       (unsigned long long)truth->load_ns, (unsigned long long)(truth->wall_ns - known_ns),
	       (unsigned long long)truth->wall_ns);
	if (slowed > 0)
		printf(" traced %d begin %llu", truth->is_traced,
		       (unsigned long long)truth->begin_ns);
	printf(" torn %d\n", truth->is_torn);
}

static void run_steps(const struct script *script)
{
	struct truth truths[2] = {0}; /* this step and the previous one */
	unsigned long n_behind = STEPS_BEHIND;
	unsigned long n = 0;
	for (; n < script->steps || n_behind < STEPS_BEHIND; n++) {
		struct truth *before = &truths[(n + 1) % 2];
		step(script, &truths[n % 2], before);
		if (n)
			print_truth(before);
		if (slowed > 0)
			n_behind = is_traced ? 0 : n_behind + 1;
	}
	if (n)
		print_truth(&truths[(n + 1) % 2]);
}

static void begin_slowed(const char *factor, const char *period_ms)
{
	if (!factor || !period_ms)
		return;
	slowed = strtod(factor, NULL);
	is_traced = 0;
	ring.header->state = TP_GPU_STATE_IDLE;
	period_ns = (uint64_t)(strtod(period_ms, NULL) * 1e6);
	due_ns = started_ns;
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
	uint64_t ns[6];
	for (int i = 0; i < 6; i++)
		ns[i] = argc > i + 1 ? (uint64_t)(strtod(argv[i + 1], NULL) * 1e6) : 0;
	const struct script script = {ns[0] / 1000000, ns[1], ns[2], ns[3], ns[4], ns[5]};
	if (argc < 7 || !begin()) {
		fprintf(stderr, "gpu_script: nobody listens, or too few arguments\n");
		return 2;
	}
	started_ns = ring_now_ns();
	has_marks = getenv("MARKS") != NULL;
	begin_slowed(getenv("SLOWED"), getenv("PERIOD"));
	run_steps(&script);
	if (getenv("KILL"))
		kill(getpid(), SIGKILL);
	ring.header->state = TP_GPU_STATE_FINISHED;
	return 0;
}
