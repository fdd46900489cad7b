/*
 * Claims about the shipped rules as a whole: runs with one dominant cause, every fact known.
 *
 * A scene starts from a healthy run and changes what its cause changes. All other rules see the
 * same facts, so that a rule that speaks out of turn fails somebody else's scene.
 */
#include "advise/shelf.h"
#include "trainprof/advise/advise.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static struct tp_rulebook *book;
static struct tp_profile profile;
static struct tp_findings findings;

static void setup(void)
{
	const char *directory = "rules";
	struct tp_error err = {0};
	ck_assert_msg(!tp_rulebook_load(&book, &directory, 1, &err), "%s", err.text);
	tp_profile_init(&profile, NULL);
}

static void teardown(void)
{
	tp_findings_release(&findings);
	tp_profile_release(&profile);
	tp_rulebook_free(book);
}

static void know(enum tp_fact fact, double value)
{
	tp_profile_set(&profile, fact, value, TP_ORIGIN_MEASURED, 1);
}

struct fact_value {
	enum tp_fact fact;
	double value;
};

/* A run with nothing to say about: four CPUs, two workers that keep up, math on all CPUs. */
static const struct fact_value healthy[] = {
	{TP_FACT_RUN_DURATION, 60e9},
	{TP_FACT_RUN_WINDOW, 50e9},
	{TP_FACT_RUN_STARTUP_RATIO, 0.03},
	{TP_FACT_RUN_WARMUP_RATIO, 0.02},
	{TP_FACT_RUN_OUTSIDE_RATIO, 0.01},
	{TP_FACT_RUN_CHECKPOINT_RATIO, 0.005},
	{TP_FACT_RUN_CHECKPOINT_WAIT, 0.2},
	{TP_FACT_RUN_EVALUATION, 0.004},
	{TP_FACT_RUN_OVERHEAD_RATIO, 0.006},
	{TP_FACT_RUN_RECORDS_LOST_RATIO, 0},
	{TP_FACT_RUN_ACCOUNTED_RATIO, 0.99},
	{TP_FACT_RUN_UNKNOWN_RATIO, 0.01},
	{TP_FACT_STEP_COUNT, 1000},
	{TP_FACT_STEP_TIME, 50e6},
	{TP_FACT_STEP_MEDIAN, 50e6},
	{TP_FACT_STEP_P95, 53e6},
	{TP_FACT_LOADER_WORKERS, 2},
	{TP_FACT_LOADER_PROCESSES, 2},
	{TP_FACT_LOADER_BUSY, 0.3},
	{TP_FACT_LOADER_READ, 0.02},
	{TP_FACT_LOADER_IDLE, 0.6},
	{TP_FACT_LOADER_SLEEP, 0},
	{TP_FACT_LOADER_QUEUE, 0.01},
	{TP_FACT_LOADER_DECODE, 0.15},
	{TP_FACT_LOADER_TRANSFORM, 0.12},
	{TP_FACT_LOADER_HANDOVER, 0.03},
	{TP_FACT_LOADER_FULL, 0},
	{TP_FACT_LOADER_INDEX, 0.6},
	{TP_FACT_LOADER_BATCH, 32e6},
	{TP_FACT_LOADER_PASSING, 2e6},
	{TP_FACT_LOADER_SUPPLY, 62},
	{TP_FACT_LOADER_DEMAND, 20.2},
	{TP_FACT_LOADER_STARTUP, 0.002},
	{TP_FACT_LOADER_STARTS, 1},
	{TP_FACT_LOADER_IMBALANCE, 0.05},
	{TP_FACT_CPU_ALLOWED, 4},
	{TP_FACT_CPU_QUOTA, 4},
	{TP_FACT_CPU_TREE_BUSY, 3.6},
	{TP_FACT_CPU_BUSY_RATIO, 0.9},
	{TP_FACT_CPU_IDLE, 0.4},
	{TP_FACT_CPU_OTHERS, 0.05},
	{TP_FACT_CPU_DELAY, 0.01},
	{TP_FACT_CPU_RUNNABLE, 3.7},
	{TP_FACT_CPU_PER_CORE, 0.92},
	{TP_FACT_CPU_THROTTLED, 0},
	{TP_FACT_CPU_STEAL, 0},
	{TP_FACT_COMPUTE_THREADS, 4},
	{TP_FACT_COMPUTE_BUSY, 3.6},
	{TP_FACT_COMPUTE_SPIN, 0.03},
	{TP_FACT_COMPUTE_SCALAR, 0.05},
	{TP_FACT_COMPUTE_LIBRARY, 0.9},
	{TP_FACT_COMPUTE_POOLS, 1},
	{TP_FACT_MEM_MINFLT, 300},
	{TP_FACT_MEM_MAJFLT, 0},
	{TP_FACT_MEM_RSS, 2e9},
	{TP_FACT_MEM_GROWTH, 0},
	{TP_FACT_MEM_LIMIT, 24e9},
	{TP_FACT_MEM_USED_RATIO, 0.1},
	{TP_FACT_MEM_SWAP, 0},
	{TP_FACT_MEM_PSI, 0},
	{TP_FACT_MEM_STIME, 0.02},
	{TP_FACT_MEM_NUMA, 1},
	{TP_FACT_IO_READ, 1e3},
	{TP_FACT_IO_CALL_READ, 20e6},
	{TP_FACT_IO_CALLS, 200},
	{TP_FACT_IO_CALL_BYTES, 100e3},
	{TP_FACT_IO_CACHED, 0.999},
	{TP_FACT_IO_DISK_BUSY, 0.01},
	{TP_FACT_IO_FILES, 500},
	{TP_FACT_COMM_PEERS, 1},
	{TP_FACT_COMM_BUSY_WAIT, 0},
	{TP_FACT_PMU_MEMORY, 0.1},
	{TP_FACT_ENV_PASSIVE, 0},
	{TP_FACT_ENV_MALLOC, 0},
	{TP_FACT_ENV_PYTHON, 1},
	{TP_FACT_SET_BLOCKING, 0},
	{TP_FACT_SET_DEBUG, 0},
	{TP_FACT_SET_NCCL, 0},
};

/* The same of an imported trace: a rank of eight, kernels long enough, collectives hidden. What
 * only a live run knows is unknown, and the other way round. */
static const struct fact_value healthy_trace[] = {
	{TP_FACT_RUN_DURATION, 1e9},       {TP_FACT_RUN_WINDOW, 0.8e9},
	{TP_FACT_STEP_COUNT, 16},          {TP_FACT_STEP_TIME, 50e6},
	{TP_FACT_STEP_MEDIAN, 50e6},       {TP_FACT_STEP_P95, 52e6},
	{TP_FACT_DEVICE_COUNT, 1},         {TP_FACT_DEVICE_BUSY, 0.96},
	{TP_FACT_DEVICE_BUSY_LEAST, 0.96}, {TP_FACT_DEVICE_OPS, 1500},
	{TP_FACT_DEVICE_KERNEL, 90e3},     {TP_FACT_DEVICE_SHORT, 0.15},
	{TP_FACT_DEVICE_UNLINKED, 0.01},   {TP_FACT_DEVICE_GAP_HOST, 0.01},
	{TP_FACT_DEVICE_GAP_SYNC, 0.005},  {TP_FACT_DEVICE_GAP_QUEUED, 0.01},
	{TP_FACT_DEVICE_SYNCS, 1},         {TP_FACT_DEVICE_ALLOCS, 0},
	{TP_FACT_DEVICE_ALLOC_TIME, 0},    {TP_FACT_DEVICE_COPY, 0.03},
	{TP_FACT_DEVICE_H2D_RATE, 20e9},   {TP_FACT_DEVICE_PAGEABLE, 0.01},
	{TP_FACT_DEVICE_COPIES, 3},        {TP_FACT_DEVICE_SMALL_COPY, 0.02},
	{TP_FACT_DEVICE_QUEUE, 40},        {TP_FACT_DEVICE_DRIFT, 0.002},
	{TP_FACT_DEVICE_CAPABILITY, 90},   {TP_FACT_DEVICE_TENSOR, 1},
	{TP_FACT_KERNEL_MEMORY, 0.3},      {TP_FACT_KERNEL_ELEMENTWISE, 0.1},
	{TP_FACT_KERNEL_LAYOUT, 0.01},     {TP_FACT_KERNEL_OPTIMIZER, 0.03},
	{TP_FACT_KERNEL_MATH, 0.65},       {TP_FACT_KERNEL_TENSOR, 0.96},
	{TP_FACT_KERNEL_NO_TENSOR, 0.03},  {TP_FACT_KERNEL_HALF, 0.95},
	{TP_FACT_KERNEL_SINGLE, 0.03},     {TP_FACT_KERNEL_DOUBLE, 0},
	{TP_FACT_KERNEL_WEAK, 0.05},       {TP_FACT_COMM_TIME, 0.4},
	{TP_FACT_COMM_HIDDEN, 0.97},       {TP_FACT_COMM_PER_STEP, 20},
	{TP_FACT_COMM_BYTES, 25e6},        {TP_FACT_COMM_SHORT, 0.05},
	{TP_FACT_COMM_RANKS, 8},           {TP_FACT_COMM_SEEN, 8},
	{TP_FACT_COMM_LATE, 0.2},          {TP_FACT_COMM_WAITS, 0.01},
	{TP_FACT_COMM_SLOWDOWN, 0.01},     {TP_FACT_TRACE_CUT, 0},
	{TP_FACT_TRACE_SKIPPED, 0},        {TP_FACT_TRACE_OPS, 24000},
	{TP_FACT_TRACE_SPANS, 70000},
};

enum { LIVE = 1, TRACE = 2 };

static const struct {
	enum tp_fact label;
	enum tp_part part;
	int kinds; /* of measurement that know it */
} of_part[] = {
	{TP_FACT_STEP_TEAM_WAIT, TP_PART_COMPUTE, LIVE},
	{TP_FACT_STEP_COMM_WAIT, TP_PART_COMMUNICATION, LIVE | TRACE},
	{TP_FACT_STEP_COMMUNICATION, TP_PART_COMMUNICATION, LIVE | TRACE}, /* the transfer */
	{TP_FACT_STEP_FAULT, TP_PART_MEMORY, LIVE},
	{TP_FACT_STEP_SWAP, TP_PART_MEMORY, LIVE},
	{TP_FACT_STEP_ALLOC, TP_PART_MEMORY, LIVE | TRACE},
	{TP_FACT_STEP_COPY, TP_PART_MEMORY, LIVE},
	{TP_FACT_STEP_PREP, TP_PART_DATALOADER, LIVE},
	{TP_FACT_STEP_FETCH, TP_PART_DATALOADER, LIVE},
	{TP_FACT_STEP_HANDOVER, TP_PART_DATALOADER, LIVE},
	{TP_FACT_STEP_PAUSE, TP_PART_DATALOADER, LIVE},
	{TP_FACT_STEP_LOADER_QUEUE, TP_PART_DATALOADER, LIVE},
	{TP_FACT_STEP_INTERPRETER, TP_PART_HOST, LIVE},
	{TP_FACT_STEP_GIL, TP_PART_HOST, LIVE},
	{TP_FACT_STEP_LOGGING, TP_PART_HOST, LIVE | TRACE},
	{TP_FACT_STEP_CHECKPOINT, TP_PART_HOST, LIVE | TRACE},
	{TP_FACT_STEP_HOST_KERNEL, TP_PART_HOST, LIVE},
	{TP_FACT_STEP_RUNNABLE, TP_PART_IDLE, LIVE},
	{TP_FACT_STEP_SLEEP, TP_PART_IDLE, LIVE},
	{TP_FACT_STEP_IDLE_IO, TP_PART_IDLE, LIVE},
	{TP_FACT_STEP_LOCK, TP_PART_IDLE, LIVE},
	{TP_FACT_STEP_COLLECTIVE, TP_PART_COMMUNICATION, TRACE},
	{TP_FACT_STEP_UNCAPTURED, TP_PART_COMMUNICATION, TRACE},
	{TP_FACT_STEP_H2D, TP_PART_MEMORY, TRACE},
	{TP_FACT_STEP_D2H, TP_PART_MEMORY, TRACE},
	{TP_FACT_STEP_D2D, TP_PART_MEMORY, TRACE},
	{TP_FACT_STEP_NEXT, TP_PART_DATALOADER, TRACE},
	{TP_FACT_STEP_DISPATCH, TP_PART_HOST, TRACE},
	{TP_FACT_STEP_LAUNCH, TP_PART_HOST, TRACE},
	{TP_FACT_STEP_SYNC, TP_PART_HOST, TRACE},
	{TP_FACT_STEP_GC, TP_PART_HOST, LIVE | TRACE},
	{TP_FACT_STEP_COMPILE, TP_PART_HOST, LIVE | TRACE},
	{TP_FACT_STEP_HOST, TP_PART_HOST, LIVE | TRACE}, /* the rest */
};

/* Shares of labels; the parts are their sums, compute takes the rest. */
static void set_shares(const struct fact_value *labels, size_t n, int kind)
{
	static const enum tp_fact shares[TP_N_PARTS] = {
		[TP_PART_COMPUTE] = TP_FACT_STEP_COMPUTE,
		[TP_PART_COMMUNICATION] = TP_FACT_STEP_COMMUNICATION,
		[TP_PART_MEMORY] = TP_FACT_STEP_MEMORY,
		[TP_PART_DATALOADER] = TP_FACT_STEP_DATALOADER,
		[TP_PART_HOST] = TP_FACT_STEP_HOST,
		[TP_PART_IDLE] = TP_FACT_STEP_IDLE,
	};
	double part[TP_N_PARTS] = {0};
	double losses = 0;
	for (size_t i = 0; i < TP_ARRAY_LEN(of_part); i++)
		if (of_part[i].kinds & kind)
			know(of_part[i].label, 0);
	if (kind == LIVE)
		know(TP_FACT_STEP_INLINE, 0);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < TP_ARRAY_LEN(of_part); k++)
			if (of_part[k].label == labels[i].fact)
				part[of_part[k].part] += labels[i].value;
		know(labels[i].fact, labels[i].value);
	}
	part[TP_PART_COMPUTE] = 0; /* its label is inside the rest */
	for (int i = 0; i < TP_N_PARTS; i++)
		losses += part[i];
	part[TP_PART_COMPUTE] = 1 - losses;
	profile.is_of_steps = true;
	profile.total_ns = 50000000000;
	profile.step_time.n = 1000;
	profile.step_time.mean = 50e6;
	for (int i = 0; i < TP_N_PARTS; i++) {
		struct tp_part_result *result = &profile.parts[i];
		result->time_ns = (uint64_t)(part[i] * 50e9);
		result->without_low_ns = (1 - part[i]) * 50e6;
		result->without_high_ns = (1 - 0.9 * part[i]) * 50e6;
		know(shares[i], part[i]);
		profile.facts[shares[i]].has_interval = true;
		profile.facts[shares[i]].low = part[i] * 0.95;
		profile.facts[shares[i]].high = part[i] * 1.05;
	}
}

struct scene {
	const char *name;
	struct fact_value labels[4]; /* value 0 ends */
	struct fact_value facts[10]; /* ended by TP_N_FACTS */
	const char *advice;          /* first shown; NULL: none */
	const char *verdict;
};

#define END                                                                                        \
	{                                                                                          \
		TP_N_FACTS, 0                                                                      \
	}

static const struct scene scenes[] = {
	{"healthy", {{TP_FACT_STEP_PREP, 0.01}}, {END}, NULL, "compute_bound"},
	{"loads in the trainer",
	 {{TP_FACT_STEP_PREP, 0.4}},
	 {{TP_FACT_LOADER_WORKERS, 0},
	  {TP_FACT_STEP_INLINE, 0.4},
	  {TP_FACT_CPU_IDLE, 1.5},
	  {TP_FACT_CPU_BUSY_RATIO, 0.6},
	  END},
	 "input/loads-in-trainer",
	 "compute_bound"},
	{"a sleep in every sample, in the trainer, beside a neighbour",
	 {{TP_FACT_STEP_PREP, 0.1}, {TP_FACT_STEP_PAUSE, 0.6}},
	 {{TP_FACT_LOADER_WORKERS, 0},
	  {TP_FACT_STEP_INLINE, 0.7},
	  {TP_FACT_CPU_IDLE, 0},
	  {TP_FACT_CPU_OTHERS, 3},
	  {TP_FACT_CPU_BUSY_RATIO, 1},
	  END},
	 "input/loads-in-trainer",
	 "dataloader_bound"},
	{"one worker that decodes",
	 {{TP_FACT_STEP_PREP, 0.45}},
	 {{TP_FACT_LOADER_WORKERS, 0.99},
	  {TP_FACT_LOADER_BUSY, 0.98},
	  {TP_FACT_CPU_IDLE, 2},
	  {TP_FACT_CPU_BUSY_RATIO, 0.5},
	  END},
	 "input/too-few-workers",
	 "compute_bound"},
	{"decoding on all CPUs",
	 {{TP_FACT_STEP_PREP, 0.5}},
	 {{TP_FACT_LOADER_WORKERS, 4}, {TP_FACT_LOADER_BUSY, 0.95}, {TP_FACT_CPU_IDLE, 0.1}, END},
	 "input/loader-cpu-bound",
	 "dataloader_bound"},
	{"decoding that churns memory",
	 {{TP_FACT_STEP_PREP, 0.8}},
	 {{TP_FACT_MEM_MINFLT, 90000}, {TP_FACT_MEM_STIME, 0.25}, {TP_FACT_CPU_IDLE, 0.2}, END},
	 "input/loader-cpu-bound",
	 "dataloader_bound"},
	{"a slow disk",
	 {{TP_FACT_STEP_FETCH, 0.5}},
	 {{TP_FACT_IO_READ, 200e6},
	  {TP_FACT_IO_CALL_READ, 200e6},
	  {TP_FACT_IO_CALL_BYTES, 1e6},
	  {TP_FACT_IO_DISK_BUSY, 0.98},
	  {TP_FACT_RUN_WINDOW, 500e9},
	  {TP_FACT_IO_CACHED, 0.01},
	  {TP_FACT_CPU_IDLE, 2},
	  END},
	 "input/storage-bound",
	 "dataloader_bound"},
	{"a cold cache",
	 {{TP_FACT_STEP_FETCH, 0.5}},
	 {{TP_FACT_IO_READ, 100e6},
	  {TP_FACT_IO_CALL_READ, 100e6},
	  {TP_FACT_IO_CALL_BYTES, 1e6},
	  {TP_FACT_IO_CACHED, 0.01},
	  END},
	 "input/cold-cache",
	 "dataloader_bound"},
	{"a cache that is too small",
	 {{TP_FACT_STEP_FETCH, 0.5}},
	 {{TP_FACT_IO_READ, 200e6},
	  {TP_FACT_IO_CALL_READ, 400e6},
	  {TP_FACT_IO_CALL_BYTES, 1e6},
	  {TP_FACT_IO_DISK_BUSY, 0.98},
	  {TP_FACT_RUN_WINDOW, 500e9},
	  {TP_FACT_IO_CACHED, 0.5},
	  END},
	 "input/evicted-cache",
	 "dataloader_bound"},
	{"small files",
	 {{TP_FACT_STEP_FETCH, 0.5}},
	 {{TP_FACT_IO_READ, 100e6},
	  {TP_FACT_IO_CALL_READ, 100e6},
	  {TP_FACT_IO_CALL_BYTES, 8e3},
	  {TP_FACT_IO_CACHED, 0.1},
	  {TP_FACT_RUN_WINDOW, 500e9},
	  END},
	 "input/small-reads",
	 "dataloader_bound"},
	{"a mapped token file",
	 {{TP_FACT_STEP_FETCH, 0.9}},
	 {{TP_FACT_IO_READ, 100e6},
	  {TP_FACT_IO_CALL_READ, 1e3},
	  {TP_FACT_MEM_MAJFLT, 35},
	  {TP_FACT_RUN_WINDOW, 500e9},
	  {TP_FACT_IO_CALL_BYTES, 1e6},
	  END},
	 "input/mapped-file-reads",
	 "dataloader_bound"},
	{"pages of a mapped file in the math",
	 {{TP_FACT_STEP_FAULT, 0.7}},
	 {{TP_FACT_IO_READ, 100e6}, {TP_FACT_MEM_MAJFLT, 35}, END},
	 "memory/mapped-file-reads",
	 "memory_bound"},
	{"batches as pickles",
	 {{TP_FACT_STEP_HANDOVER, 0.3}},
	 {END},
	 "input/handover",
	 "compute_bound"},
	{"workers that are started in each epoch",
	 {{TP_FACT_STEP_PREP, 0.01}},
	 {{TP_FACT_LOADER_STARTUP, 0.2}, {TP_FACT_LOADER_STARTS, 12}, END},
	 "input/workers-start-again",
	 "compute_bound"},
	{"one slow worker",
	 {{TP_FACT_STEP_PREP, 0.02}, {TP_FACT_STEP_PAUSE, 0.04}, {TP_FACT_STEP_HANDOVER, 0.04}},
	 {{TP_FACT_LOADER_WORKERS, 4}, {TP_FACT_LOADER_IMBALANCE, 1.5}, END},
	 "input/worker-imbalance",
	 "compute_bound"},
	{"a sleep in every sample",
	 {{TP_FACT_STEP_PAUSE, 0.5}},
	 {{TP_FACT_LOADER_SLEEP, 0.95}, END},
	 "input/producer-sleeps",
	 "dataloader_bound"},
	{"a quota over the loader",
	 {{TP_FACT_STEP_PREP, 0.5}},
	 {{TP_FACT_CPU_THROTTLED, 0.45}, {TP_FACT_CPU_QUOTA, 1}, {TP_FACT_CPU_IDLE, 2}, END},
	 "input/quota-starves-loader",
	 "dataloader_bound"},
	{"a quota over the math",
	 {{TP_FACT_STEP_RUNNABLE, 0.5}},
	 {{TP_FACT_CPU_THROTTLED, 0.5},
	  {TP_FACT_CPU_QUOTA, 2},
	  {TP_FACT_CPU_ALLOWED, 2},
	  {TP_FACT_CPU_DELAY, 0.5},
	  {TP_FACT_CPU_PER_CORE, 2},
	  END},
	 "host/quota-throttled",
	 "idle_bound"},
	{"a neighbour",
	 {{TP_FACT_STEP_RUNNABLE, 0.3}},
	 {{TP_FACT_CPU_OTHERS, 3}, {TP_FACT_CPU_DELAY, 0.3}, {TP_FACT_CPU_PER_CORE, 1.9}, END},
	 "host/other-programs",
	 "compute_bound"},
	{"too many processes",
	 {{TP_FACT_STEP_RUNNABLE, 0.3}},
	 {{TP_FACT_CPU_DELAY, 0.4},
	  {TP_FACT_CPU_PER_CORE, 3},
	  {TP_FACT_CPU_RUNNABLE, 12},
	  {TP_FACT_LOADER_WORKERS, 10},
	  END},
	 "host/oversubscribed",
	 "compute_bound"},
	{"a lock", {{TP_FACT_STEP_LOCK, 0.3}}, {END}, "host/lock-contention", "compute_bound"},
	{"a sleep in the step",
	 {{TP_FACT_STEP_SLEEP, 0.3}},
	 {END},
	 "host/sleeps-in-step",
	 "compute_bound"},
	{"fsync in the step",
	 {{TP_FACT_STEP_IDLE_IO, 0.3}},
	 {END},
	 "host/waits-for-files",
	 "compute_bound"},
	{"the interpreter",
	 {{TP_FACT_STEP_INTERPRETER, 0.4}},
	 {END},
	 "host/interpreter",
	 "compute_bound"},
	{"threads that take turns",
	 {{TP_FACT_STEP_GIL, 0.3}},
	 {END},
	 "host/interpreter-lock",
	 "compute_bound"},
	{"logging", {{TP_FACT_STEP_LOGGING, 0.25}}, {END}, "host/logging-in-step", "compute_bound"},
	{"a checkpoint in every step",
	 {{TP_FACT_STEP_CHECKPOINT, 0.3}},
	 {END},
	 "host/checkpoint-in-step",
	 "compute_bound"},
	{"checkpoints between steps",
	 {{TP_FACT_STEP_PREP, 0.01}},
	 {{TP_FACT_RUN_CHECKPOINT_RATIO, 0.3}, {TP_FACT_RUN_OUTSIDE_RATIO, 0.31}, END},
	 "host/checkpoints",
	 "compute_bound"},
	{"evaluations between steps",
	 {{TP_FACT_STEP_PREP, 0.01}},
	 {{TP_FACT_RUN_EVALUATION, 0.3}, {TP_FACT_RUN_OUTSIDE_RATIO, 0.31}, END},
	 "host/evaluations",
	 "compute_bound"},
	{"a variable that was left on",
	 {{TP_FACT_STEP_PREP, 0.01}},
	 {{TP_FACT_SET_BLOCKING, 1}, END},
	 "host/debugging-left-on",
	 "compute_bound"},
	{"a process for four devices",
	 {{TP_FACT_STEP_PREP, 0.01}},
	 {{TP_FACT_SET_DATA_PARALLEL, 1}, {TP_FACT_GPU_COUNT, 4}, END},
	 "communication/data-parallel",
	 "compute_bound"},
	{"system calls",
	 {{TP_FACT_STEP_HOST_KERNEL, 0.3}},
	 {END},
	 "host/system-calls",
	 "compute_bound"},
	{"a stolen CPU",
	 {{TP_FACT_STEP_PREP, 0.01}},
	 {{TP_FACT_CPU_STEAL, 0.3}, END},
	 "host/steal",
	 "compute_bound"},
	{"page faults of returned memory",
	 {{TP_FACT_STEP_FAULT, 0.25}},
	 {{TP_FACT_MEM_MINFLT, 120000}, {TP_FACT_MEM_STIME, 0.25}, END},
	 "memory/page-fault-churn",
	 "compute_bound"},
	{"swap",
	 {{TP_FACT_STEP_SWAP, 0.3}},
	 {{TP_FACT_MEM_SWAP, 50e6}, {TP_FACT_MEM_USED_RATIO, 0.98}, END},
	 "memory/swap",
	 "compute_bound"},
	{"malloc", {{TP_FACT_STEP_ALLOC, 0.25}}, {END}, "memory/allocator", "compute_bound"},
	{"copies", {{TP_FACT_STEP_COPY, 0.25}}, {END}, "memory/copies", "compute_bound"},
	{"bandwidth",
	 {{TP_FACT_STEP_PREP, 0.01}},
	 {{TP_FACT_PMU_MEMORY, 0.6}, END},
	 "memory/bandwidth",
	 "compute_bound"},
	{"two pools that spin",
	 {{TP_FACT_STEP_TEAM_WAIT, 0.4}},
	 {{TP_FACT_COMPUTE_POOLS, 2},
	  {TP_FACT_COMPUTE_SPIN, 0.5},
	  {TP_FACT_COMPUTE_THREADS, 8},
	  {TP_FACT_CPU_DELAY, 0.2},
	  {TP_FACT_CPU_PER_CORE, 2},
	  END},
	 "compute/spinning-pools",
	 "compute_bound"},
	{"too many threads",
	 {{TP_FACT_STEP_TEAM_WAIT, 0.3}},
	 {{TP_FACT_COMPUTE_THREADS, 16},
	  {TP_FACT_CPU_DELAY, 0.4},
	  {TP_FACT_CPU_PER_CORE, 4},
	  {TP_FACT_CPU_RUNNABLE, 16},
	  {TP_FACT_COMPUTE_SPIN, 0.2},
	  END},
	 "compute/too-many-threads",
	 "compute_bound"},
	{"an uneven team",
	 {{TP_FACT_STEP_TEAM_WAIT, 0.4}},
	 {{TP_FACT_COMPUTE_BUSY, 2.2}, {TP_FACT_CPU_IDLE, 1.5}, END},
	 "compute/team-imbalance",
	 "compute_bound"},
	{"one thread",
	 {{TP_FACT_STEP_PREP, 0.01}},
	 {{TP_FACT_COMPUTE_THREADS, 1},
	  {TP_FACT_COMPUTE_BUSY, 1},
	  {TP_FACT_CPU_IDLE, 2.9},
	  {TP_FACT_CPU_BUSY_RATIO, 0.27},
	  END},
	 "compute/one-thread",
	 "compute_bound"},
	{"scalar loops",
	 {{TP_FACT_STEP_PREP, 0.01}},
	 {{TP_FACT_COMPUTE_SCALAR, 0.95}, {TP_FACT_COMPUTE_LIBRARY, 0}, END},
	 "compute/scalar-kernels",
	 "compute_bound"},
	{"a late rank",
	 {{TP_FACT_STEP_COMM_WAIT, 0.4}},
	 {{TP_FACT_COMM_PEERS, 2}, END},
	 "communication/late-rank",
	 "compute_bound"},
	{"a slow link",
	 {{TP_FACT_STEP_COMMUNICATION, 0.6}},
	 {{TP_FACT_COMM_PEERS, 2}, END},
	 "communication/transfer",
	 "communication_bound"},
	{"links that a variable shuts",
	 {{TP_FACT_STEP_COMMUNICATION, 0.6}},
	 {{TP_FACT_COMM_PEERS, 2}, {TP_FACT_SET_NCCL, 1}, END},
	 "communication/transfer",
	 "communication_bound"},
	{"ranks that spin",
	 {{TP_FACT_STEP_COMMUNICATION, 0.5}},
	 {{TP_FACT_COMM_PEERS, 8}, {TP_FACT_COMM_BUSY_WAIT, 0.95}, {TP_FACT_CPU_IDLE, 0}, END},
	 "communication/transfer|communication/spins",
	 "communication_bound"},
	{"a healthy trace", {{TP_FACT_STEP_COLLECTIVE, 0.012}}, {END}, NULL, "compute_bound"},
	{"a loop that asks for data",
	 {{TP_FACT_STEP_NEXT, 0.33}},
	 {{TP_FACT_DEVICE_BUSY, 0.65}, END},
	 "input/next-blocks",
	 "compute_bound"},
	{"kernels shorter than launches",
	 {{TP_FACT_STEP_DISPATCH, 0.25}, {TP_FACT_STEP_LAUNCH, 0.1}},
	 {{TP_FACT_DEVICE_KERNEL, 6e3},
	  {TP_FACT_DEVICE_SHORT, 0.8},
	  {TP_FACT_DEVICE_GAP_HOST, 0.35},
	  {TP_FACT_DEVICE_BUSY, 0.64},
	  END},
	 "gpu/launch-bound",
	 "compute_bound"},
	{"kernels too short for their number",
	 {{TP_FACT_STEP_DISPATCH, 0.4}, {TP_FACT_STEP_LAUNCH, 0.2}},
	 {{TP_FACT_DEVICE_KERNEL, 6e3}, {TP_FACT_DEVICE_BUSY, 0.39}, END},
	 "gpu/launch-bound",
	 "host_bound"},
	{"slow code between long kernels",
	 {{TP_FACT_STEP_DISPATCH, 0.3}},
	 {{TP_FACT_DEVICE_GAP_HOST, 0.3}, {TP_FACT_DEVICE_BUSY, 0.69}, END},
	 "gpu/host-late",
	 "compute_bound"},
	{"a loss that is printed",
	 {{TP_FACT_STEP_DISPATCH, 0.19}, {TP_FACT_STEP_SYNC, 0.06}},
	 {{TP_FACT_DEVICE_GAP_SYNC, 0.23}, {TP_FACT_DEVICE_BUSY, 0.74}, END},
	 "gpu/synchronises",
	 "compute_bound"},
	{"batches that are copied on the way",
	 {{TP_FACT_STEP_H2D, 0.3}},
	 {END},
	 "gpu/copies-to-device",
	 "compute_bound"},
	{"pageable batches",
	 {{TP_FACT_STEP_H2D, 0.3}},
	 {{TP_FACT_DEVICE_PAGEABLE, 0.97}, END},
	 "gpu/pageable-copies",
	 "compute_bound"},
	{"hundreds of small copies",
	 {{TP_FACT_STEP_H2D, 0.3}},
	 {{TP_FACT_DEVICE_SMALL_COPY, 0.9}, {TP_FACT_DEVICE_COPIES, 300}, END},
	 "gpu/many-small-copies",
	 "compute_bound"},
	{"a power limit that somebody lowered",
	 {{TP_FACT_STEP_COLLECTIVE, 0.012}},
	 {{TP_FACT_GPU_CLOCK, 0.55},
	  {TP_FACT_GPU_POWER_CAPPED, 0.95},
	  {TP_FACT_GPU_POWER_LIMIT, 0.5},
	  {TP_FACT_GPU_HEAT_CAPPED, 0},
	  {TP_FACT_GPU_SLOWED, 0},
	  END},
	 "gpu/clocks-held-back",
	 "compute_bound"},
	{"layers in host memory",
	 {{TP_FACT_STEP_H2D, 0.9}},
	 {END},
	 "gpu/offloaded-parameters",
	 "memory_bound"},
	{"outputs that are brought back",
	 {{TP_FACT_STEP_D2H, 0.25}},
	 {END},
	 "gpu/copies-from-device",
	 "compute_bound"},
	{"clones", {{TP_FACT_STEP_D2D, 0.25}}, {END}, "gpu/copies-on-device", "compute_bound"},
	{"a cache that is emptied",
	 {{TP_FACT_STEP_COLLECTIVE, 0.012}, {TP_FACT_STEP_ALLOC, 0.25}},
	 {{TP_FACT_DEVICE_ALLOCS, 60}, {TP_FACT_DEVICE_ALLOC_TIME, 0.27}, END},
	 "gpu/allocates-in-step",
	 "compute_bound"},
	{"eager activations",
	 {{TP_FACT_STEP_COLLECTIVE, 0.012}},
	 {{TP_FACT_KERNEL_MEMORY, 0.7}, {TP_FACT_KERNEL_ELEMENTWISE, 0.6}, END},
	 "gpu/unfused-kernels",
	 "compute_bound"},
	{"norms and embeddings",
	 {{TP_FACT_STEP_COLLECTIVE, 0.012}},
	 {{TP_FACT_KERNEL_MEMORY, 0.7}, END},
	 "gpu/memory-bound-kernels",
	 "compute_bound"},
	{"channels first",
	 {{TP_FACT_STEP_COLLECTIVE, 0.012}},
	 {{TP_FACT_KERNEL_LAYOUT, 0.2}, END},
	 "gpu/layout-changes",
	 "compute_bound"},
	{"an optimizer in many kernels",
	 {{TP_FACT_STEP_COLLECTIVE, 0.012}},
	 {{TP_FACT_KERNEL_OPTIMIZER, 0.25}, END},
	 "gpu/optimizer-kernels",
	 "compute_bound"},
	{"products in 32 bits",
	 {{TP_FACT_STEP_COLLECTIVE, 0.012}},
	 {{TP_FACT_KERNEL_TENSOR, 0.02}, {TP_FACT_KERNEL_NO_TENSOR, 0.95}, END},
	 "gpu/matrix-units-idle",
	 "compute_bound"},
	{"products in TF32",
	 {{TP_FACT_STEP_COLLECTIVE, 0.012}},
	 {{TP_FACT_KERNEL_HALF, 0.02}, {TP_FACT_KERNEL_SINGLE, 0.95}, END},
	 "gpu/wide-numbers",
	 "compute_bound"},
	{"products of NumPy's numbers",
	 {{TP_FACT_STEP_COLLECTIVE, 0.012}},
	 {{TP_FACT_KERNEL_HALF, 0}, {TP_FACT_KERNEL_DOUBLE, 0.95}, END},
	 "gpu/double-numbers",
	 "compute_bound"},
	{"gradients sent at the end",
	 {{TP_FACT_STEP_COLLECTIVE, 0.3}},
	 {{TP_FACT_COMM_TIME, 0.32}, {TP_FACT_COMM_HIDDEN, 0.06}, END},
	 "communication/hide-collectives",
	 "compute_bound"},
	{"more traffic than math",
	 {{TP_FACT_STEP_COLLECTIVE, 0.62}},
	 {{TP_FACT_COMM_TIME, 0.81}, {TP_FACT_COMM_HIDDEN, 0.22}, END},
	 "communication/more-than-compute",
	 "communication_bound"},
	{"statistics of every layer",
	 {{TP_FACT_STEP_COLLECTIVE, 0.3}},
	 {{TP_FACT_COMM_TIME, 0.32},
	  {TP_FACT_COMM_HIDDEN, 0.06},
	  {TP_FACT_COMM_SHORT, 0.97},
	  {TP_FACT_COMM_BYTES, 4096},
	  END},
	 "communication/hide-collectives|communication/small-collectives",
	 "compute_bound"},
	{"collectives that take the device",
	 {{TP_FACT_STEP_COLLECTIVE, 0.012}},
	 {{TP_FACT_COMM_SLOWDOWN, 0.2}, END},
	 "communication/interference",
	 "compute_bound"},
	{"one rank with more work",
	 {{TP_FACT_STEP_COLLECTIVE, 0.012}},
	 {{TP_FACT_COMM_WAITS, 0.4}, {TP_FACT_COMM_LATE, 0.8}, END},
	 "communication/one-late-rank",
	 "compute_bound"},
	{"ranks that pause in turn",
	 {{TP_FACT_STEP_COLLECTIVE, 0.012}},
	 {{TP_FACT_COMM_WAITS, 0.4}, END},
	 "communication/ranks-in-turn",
	 "compute_bound"},
	{"garbage", {{TP_FACT_STEP_GC, 0.25}}, {END}, "host/garbage-collection", "compute_bound"},
	{"callbacks",
	 {{TP_FACT_STEP_COLLECTIVE, 0.012}, {TP_FACT_STEP_HOST, 0.25}},
	 {{TP_FACT_DEVICE_GAP_HOST, 0.25}, {TP_FACT_DEVICE_BUSY, 0.74}, END},
	 "gpu/host-other-work",
	 "compute_bound"},
	{"an optimizer on the host",
	 {{TP_FACT_STEP_COLLECTIVE, 0.012}, {TP_FACT_STEP_HOST, 0.6}},
	 {{TP_FACT_DEVICE_GAP_HOST, 0.6},
	  {TP_FACT_DEVICE_BUSY, 0.38},
	  {TP_FACT_DEVICE_COPY, 0.12},
	  {TP_FACT_KERNEL_OPTIMIZER, 0},
	  END},
	 "gpu/optimizer-on-host",
	 "host_bound"},
	{"shapes that never come back",
	 {{TP_FACT_STEP_COMPILE, 0.25}},
	 {END},
	 "host/compiles-in-step",
	 "compute_bound"},
	/* What people tell of the job, its data and its model beside what was measured. */
	{"a part of the data that would fit",
	 {{TP_FACT_STEP_FETCH, 0.5}},
	 {{TP_FACT_IO_READ, 200e6},
	  {TP_FACT_IO_CALL_READ, 400e6},
	  {TP_FACT_IO_CALL_BYTES, 1e6},
	  {TP_FACT_RUN_WINDOW, 500e9},
	  {TP_FACT_IO_CACHED, 0.5},
	  {TP_FACT_DATA_SIZE, 28e9},
	  END},
	 "input/cache-size",
	 "dataloader_bound"},
	{"data that fits the memory of all nodes",
	 {{TP_FACT_STEP_FETCH, 0.5}},
	 {{TP_FACT_IO_READ, 200e6},
	  {TP_FACT_IO_CALL_READ, 400e6},
	  {TP_FACT_IO_CALL_BYTES, 1e6},
	  {TP_FACT_RUN_WINDOW, 500e9},
	  {TP_FACT_IO_CACHED, 0.5},
	  {TP_FACT_DATA_SIZE, 100e9},
	  {TP_FACT_JOB_NODES, 8},
	  END},
	 "input/cache-of-nodes",
	 "dataloader_bound"},
	{"data that fits no memory",
	 {{TP_FACT_STEP_FETCH, 0.5}},
	 {{TP_FACT_IO_READ, 200e6},
	  {TP_FACT_IO_CALL_READ, 400e6},
	  {TP_FACT_IO_CALL_BYTES, 1e6},
	  {TP_FACT_RUN_WINDOW, 500e9},
	  {TP_FACT_IO_CACHED, 0.5},
	  {TP_FACT_DATA_SIZE, 1e12},
	  {TP_FACT_JOB_NODES, 8},
	  END},
	 "input/cache-too-small",
	 "dataloader_bound"},
	{"a sample that fits no device",
	 {{TP_FACT_STEP_PREP, 0.01}},
	 {{TP_FACT_MODEL_SAMPLE, 50e9},
	  {TP_FACT_MODEL_STATE, 1e9},
	  {TP_FACT_GPU_MEM_TOTAL, 16e9},
	  END},
	 "gpu/sample-too-large",
	 "compute_bound"},
	{"a sample that four devices hold",
	 {{TP_FACT_STEP_PREP, 0.01}},
	 {{TP_FACT_MODEL_SAMPLE, 50e9},
	  {TP_FACT_MODEL_STATE, 1e9},
	  {TP_FACT_GPU_MEM_TOTAL, 16e9},
	  {TP_FACT_MODEL_SAMPLE_TIME, 1e9},
	  {TP_FACT_MODEL_HALO, 400e6},
	  {TP_FACT_MODEL_HALO_MESSAGES, 40},
	  {TP_FACT_MODEL_SPLIT, 64},
	  {TP_FACT_LINK_RATE, 20e9},
	  {TP_FACT_LINK_LATENCY, 10e3},
	  END},
	 "gpu/split-samples",
	 "compute_bound"},
	{"sixteen samples for sixty-four devices",
	 {{TP_FACT_STEP_PREP, 0.01}},
	 {{TP_FACT_JOB_DEVICES, 64},
	  {TP_FACT_JOB_BATCH, 16},
	  {TP_FACT_MODEL_SAMPLE_TIME, 1e9},
	  {TP_FACT_MODEL_HALO, 400e6},
	  {TP_FACT_MODEL_HALO_MESSAGES, 40},
	  {TP_FACT_MODEL_SPLIT, 64},
	  {TP_FACT_LINK_RATE, 20e9},
	  {TP_FACT_LINK_LATENCY, 10e3},
	  END},
	 "gpu/more-devices-than-samples",
	 "compute_bound"},
	{"large linear layers",
	 {{TP_FACT_STEP_COLLECTIVE, 0.012}},
	 {{TP_FACT_MODEL_LINEAR, 0.6}, {TP_FACT_DEVICE_CAPABILITY, 80}, END},
	 "gpu/paired-zeros",
	 "compute_bound"},
	{"blocks of zeros",
	 {{TP_FACT_STEP_COLLECTIVE, 0.012}},
	 {{TP_FACT_MODEL_LINEAR, 0.4},
	  {TP_FACT_MODEL_ZEROS, 0.8},
	  {TP_FACT_MODEL_ZERO_BLOCKS, 1},
	  {TP_FACT_MODEL_ZERO_PAIRS, 0},
	  END},
	 "gpu/zero-blocks",
	 "compute_bound"},
	{"scattered zeros",
	 {{TP_FACT_STEP_COLLECTIVE, 0.012}},
	 {{TP_FACT_MODEL_LINEAR, 0.4},
	  {TP_FACT_MODEL_ZEROS, 0.8},
	  {TP_FACT_MODEL_ZERO_BLOCKS, 0},
	  {TP_FACT_MODEL_ZERO_PAIRS, 0},
	  END},
	 "gpu/scattered-zeros",
	 "compute_bound"},
	{"many bytes for each product",
	 {{TP_FACT_STEP_COLLECTIVE, 0.012}},
	 {{TP_FACT_GPU_DRAM, 0.8},
	  {TP_FACT_GPU_MEM_RATE, 900e9},
	  {TP_FACT_MODEL_LEAST, 1e9},
	  {TP_FACT_JOB_DEVICE_SAMPLES, 8},
	  END},
	 "gpu/moves-too-many-bytes",
	 "compute_bound"},
	{"twenty-four layers alike",
	 {{TP_FACT_STEP_PREP, 0.01}},
	 {{TP_FACT_MODEL_STATE, 12e9},
	  {TP_FACT_GPU_MEM_TOTAL, 16e9},
	  {TP_FACT_MODEL_ALIKE, 24},
	  {TP_FACT_MODEL_ALIKE_RATIO, 0.9},
	  END},
	 "gpu/layers-alike",
	 "compute_bound"},
	{"twenty-four layers alike on a slow link",
	 {{TP_FACT_STEP_COMMUNICATION, 0.6}},
	 {{TP_FACT_COMM_PEERS, 2},
	  {TP_FACT_MODEL_ALIKE, 24},
	  {TP_FACT_MODEL_ALIKE_RATIO, 0.9},
	  END},
	 "communication/transfer|communication/shared-weights",
	 "communication_bound"},
	{"an ensemble",
	 {{TP_FACT_STEP_PREP, 0.01}},
	 {{TP_FACT_FORECAST_MEMBERS, 50},
	  {TP_FACT_FORECAST_COST, 0.9},
	  {TP_FACT_FORECAST_SPREAD, 0},
	  END},
	 "forecast/costly-members",
	 "compute_bound"},
	{"an ensemble for its spread",
	 {{TP_FACT_STEP_PREP, 0.01}},
	 {{TP_FACT_FORECAST_MEMBERS, 50},
	  {TP_FACT_FORECAST_COST, 0.9},
	  {TP_FACT_FORECAST_SPREAD, 1},
	  END},
	 "forecast/spread-only",
	 "compute_bound"},
	{"a classifier of images",
	 {{TP_FACT_STEP_PREP, 0.01}},
	 {{TP_FACT_MODEL_CLASSIFIER, 1}, END},
	 "recipe/image-classifier",
	 "compute_bound"},
	{"a BERT",
	 {{TP_FACT_STEP_PREP, 0.01}},
	 {{TP_FACT_MODEL_MASKED, 1}, END},
	 "recipe/masked-language-model",
	 "compute_bound"},
	{"eight jobs on the same data",
	 {{TP_FACT_STEP_PREP, 0.5}},
	 {{TP_FACT_JOB_SAME_DATA, 8}, END},
	 "input/loader-cpu-bound|input/shared-data",
	 "dataloader_bound"},
	{"a vocabulary of 50257",
	 {{TP_FACT_STEP_COLLECTIVE, 0.012}},
	 {{TP_FACT_MODEL_ODD, 0.5}, END},
	 "gpu/odd-sizes",
	 "compute_bound"},
	{"a pipeline of eight stages",
	 {{TP_FACT_STEP_COMMUNICATION, 0.6}},
	 {{TP_FACT_JOB_STAGES, 8}, {TP_FACT_JOB_MICROBATCHES, 8}, END},
	 "communication/transfer|communication/pipeline-bubbles",
	 "communication_bound"},
	{"large products in 16 bits",
	 {{TP_FACT_STEP_COLLECTIVE, 0.012}},
	 {{TP_FACT_MODEL_LINEAR, 0.7},
	  {TP_FACT_KERNEL_HALF, 0.9},
	  {TP_FACT_DEVICE_CAPABILITY, 90},
	  END},
	 "gpu/eight-bit-products",
	 "compute_bound"},
	{"Adam beside a model of seven billion",
	 {{TP_FACT_STEP_PREP, 0.01}},
	 {{TP_FACT_MODEL_OPTIMIZER, 27e9},
	  {TP_FACT_GPU_MEM_TOTAL, 80e9},
	  {TP_FACT_GPU_MEM_USED, 0.65},
	  END},
	 "gpu/optimizer-state",
	 "compute_bound"},
	{"an encoder that does not learn",
	 {{TP_FACT_STEP_PREP, 0.01}},
	 {{TP_FACT_MODEL_FROZEN, 0.3}, END},
	 "gpu/frozen-networks",
	 "compute_bound"},
	{"activations in 32 bits",
	 {{TP_FACT_STEP_COLLECTIVE, 0.012}},
	 {{TP_FACT_MODEL_WIDE, 0.3}, END},
	 "gpu/wide-activations",
	 "compute_bound"},
	{"long texts",
	 {{TP_FACT_STEP_COLLECTIVE, 0.012}},
	 {{TP_FACT_MODEL_ATTENTION, 0.4}, END},
	 "gpu/dense-attention",
	 "compute_bound"},
	{"texts of unequal length",
	 {{TP_FACT_STEP_PREP, 0.01}},
	 {{TP_FACT_DATA_PADDING, 0.3}, END},
	 "input/padding",
	 "compute_bound"},
	{"ninety epochs",
	 {{TP_FACT_STEP_PREP, 0.01}},
	 {{TP_FACT_JOB_EPOCHS, 90}, END},
	 "recipe/easy-samples",
	 "compute_bound"},
	{"a GPT",
	 {{TP_FACT_STEP_PREP, 0.01}},
	 {{TP_FACT_MODEL_CAUSAL, 1}, END},
	 "recipe/language-model",
	 "compute_bound"},
};

static void know_all(const struct fact_value *facts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		know(facts[i].fact, facts[i].value);
}

/* Of a trace are the scenes whose first label only traces know. */
static int kind_of(const struct scene *scene)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(of_part); i++)
		if (of_part[i].label == scene->labels[0].fact && of_part[i].kinds == TRACE)
			return TRACE;
	return LIVE;
}

static void play(const struct scene *scene)
{
	size_t n = 0;
	while (n < TP_ARRAY_LEN(scene->labels) && scene->labels[n].value > 0)
		n++;
	tp_profile_release(&profile);
	tp_profile_init(&profile, NULL);
	int kind = kind_of(scene);
	if (kind == TRACE)
		know_all(healthy_trace, TP_ARRAY_LEN(healthy_trace));
	else
		know_all(healthy, TP_ARRAY_LEN(healthy));
	set_shares(scene->labels, n, kind);
	for (size_t i = 0; scene->facts[i].fact != TP_N_FACTS; i++)
		know(scene->facts[i].fact, scene->facts[i].value);
	tp_findings_release(&findings);
	tp_advise(&findings, book, &profile);
}

START_TEST(each_dominant_cause_gets_its_advice_first)
{
	const struct scene *scene = &scenes[_i];
	play(scene);
	const char *first = findings.n_fired ? findings.items[0].rule : "nothing";
	if (!scene->advice)
		ck_assert_msg(!findings.n_fired, "%s: %s", scene->name, first);
	else
		ck_assert_msg(strstr(scene->advice, first) != NULL, "%s: %s first", scene->name,
			      first);
	ck_assert_msg(findings.verdict && strcmp(findings.verdict, scene->verdict) == 0,
		      "%s: verdict %s", scene->name, findings.verdict);
}
END_TEST

static bool may_lack_gain(const char *rule)
{
	static const char *const rules[] = {
		/* Waits are handed over: what goes away with them is other advice's gain. */
		"communication/late-rank", "communication/one-late-rank",
		"communication/ranks-in-turn", "communication/wait-for-fewer",
		/* What a setting costs no fact of one run tells. */
		"communication/forced-transport", "communication/data-parallel",
		"host/debugging-left-on",
		/* Room, not time. */
		"gpu/sample-too-large", "gpu/split-samples", "gpu/layers-alike",
		"gpu/optimizer-state",
		/* Nothing but another pattern. */
		"gpu/scattered-zeros",
		/* Outside of the steps, or fewer of them. */
		"forecast/costly-members", "forecast/spread-only", "recipe/image-classifier",
		"recipe/masked-language-model", "recipe/language-model"};
	for (size_t i = 0; i < TP_ARRAY_LEN(rules); i++)
		if (strcmp(rule, rules[i]) == 0)
			return true;
	return false;
}

START_TEST(advice_keeps_the_promises_of_its_type)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(scenes); i++) {
		size_t n_gains = 0;
		play(&scenes[i]);
		for (size_t k = 0; k < findings.n_items; k++) {
			const struct tp_finding *finding = &findings.items[k];
			bool is_shown = k < findings.n_fired;
			ck_assert(is_shown ==
				  (finding->state == TP_FINDING_FIRED &&
				   finding->level != TP_LEVEL_NOTE && !finding->suppressed));
			if (!is_shown)
				continue;
			ck_assert_ptr_nonnull(finding->because);
			ck_assert_ptr_nonnull(finding->verify);
			ck_assert_ptr_nonnull(finding->price);
			ck_assert_uint_gt(finding->n_actions, 0);
			ck_assert_uint_gt(finding->n_sources, 0);
			ck_assert(finding->has_gain || may_lack_gain(finding->rule));
			if (!finding->has_gain)
				continue;
			n_gains++;
			ck_assert(finding->gain_value >= 1.03 && finding->gain_low >= 1 &&
				  finding->gain_low <= finding->gain_value &&
				  finding->gain_value <= finding->gain_high);
		}
		ck_assert(findings.has_combined == (n_gains > 0));
		if (n_gains) {
			ck_assert_double_le(findings.combined_low, findings.combined_value);
			ck_assert_double_le(findings.combined_value, findings.combined_high);
			ck_assert_ptr_nonnull(findings.then_limit);
			/* What is left of a step of 50 ms is not longer than it. */
			ck_assert_double_ge_tol(findings.then_steps_per_s, 20, 1e-6);
		}
		ck_assert_ptr_nonnull(findings.verdict_title);
		ck_assert_ptr_nonnull(findings.verdict_sentence);
	}
}
END_TEST

START_TEST(a_healthy_run_is_told_that_little_is_left)
{
	play(&scenes[0]);
	ck_assert_uint_eq(findings.n_fired, 0);
	ck_assert_str_eq(findings.verdict_title, "COMPUTE-BOUND");
	ck_assert_str_eq(findings.verdict_sentence, "Little is left: 99 % of each step is math.");
}
END_TEST

static bool is_shown(const char *rule)
{
	for (size_t i = 0; i < findings.n_fired; i++)
		if (strcmp(findings.items[i].rule, rule) == 0)
			return true;
	return false;
}

static const struct scene *scene_named(const char *name)
{
	size_t i = 0;
	while (strcmp(scenes[i].name, name) != 0)
		i++;
	return &scenes[i];
}

START_TEST(second_causes_are_shown_beside_the_first)
{
	static const struct {
		const char *scene;
		const char *rule;
		bool shown;
	} rows[] = {
		{"decoding that churns memory", "input/loader-page-faults", true},
		{"decoding that churns memory", "input/smaller-samples", true},
		{"decoding that churns memory", "input/waits-for-data", false},
		{"a slow link", "communication/fewer-bytes", true},
		{"a slow link", "communication/forced-transport", false},
		{"links that a variable shuts", "communication/forced-transport", true},
		{"a cold cache", "input/storage-bound", false},
		{"a quota over the loader", "host/quota-throttled", false},
		{"a quota over the loader", "input/too-few-workers", false},
		{"two pools that spin", "compute/too-many-threads", false},
		{"two pools that spin", "compute/team-imbalance", false},
	};
	for (size_t i = 0; i < TP_ARRAY_LEN(rows); i++) {
		play(scene_named(rows[i].scene));
		ck_assert_msg(is_shown(rows[i].rule) == rows[i].shown, "%s: %s", rows[i].scene,
			      rows[i].rule);
	}
}
END_TEST

START_TEST(idle_of_one_percent_is_no_finding)
{
	struct scene scene = {.name = "idle", .labels = {{TP_FACT_STEP_RUNNABLE, 0.0099}}};
	scene.facts[0].fact = TP_N_FACTS;
	play(&scene);
	ck_assert_uint_eq(findings.n_fired, 0);
	ck_assert_str_eq(findings.verdict, "compute_bound");
}
END_TEST

/* What spoils a measurement goes before what it seems to say. */
START_TEST(doubtful_measurements_get_no_bottleneck)
{
	static const struct {
		struct fact_value fact;
		const char *verdict;
	} rows[] = {
		{{TP_FACT_RUN_RECORDS_LOST_RATIO, 0.5}, "records_lost"},
		{{TP_FACT_RUN_OVERHEAD_RATIO, 0.5}, "own_overhead"},
		{{TP_FACT_RUN_WINDOW, 1e9}, "too_short"},
		{{TP_FACT_RUN_UNKNOWN_RATIO, 0.8}, "cannot_tell"},
	};
	for (size_t i = 0; i < TP_ARRAY_LEN(rows); i++) {
		struct scene scene = {.name = "doubtful", .labels = {{TP_FACT_STEP_PREP, 0.5}}};
		scene.facts[0] = rows[i].fact;
		scene.facts[1].fact = TP_N_FACTS;
		play(&scene);
		ck_assert_str_eq(findings.verdict, rows[i].verdict);
	}
	struct scene warm = {.name = "warm-up", .labels = {{TP_FACT_STEP_PREP, 0.5}}};
	warm.facts[0] = (struct fact_value){TP_FACT_RUN_WARMUP_RATIO, 0.95};
	warm.facts[1] = (struct fact_value){TP_FACT_STEP_COUNT, 4};
	warm.facts[2].fact = TP_N_FACTS;
	play(&warm);
	ck_assert_str_eq(findings.verdict, "warm_up_only");
}
END_TEST

START_TEST(detail_that_was_given_up_weakens_findings)
{
	static const struct {
		struct fact_value fact;
		const char *doubt;
	} rows[] = {
		{{TP_FACT_RUN_SWITCHES_OFF_RATIO, 0.3}, "switch records were off"},
		{{TP_FACT_RUN_THINNED_RATIO, 0.3}, "many stacks were left out"},
		{{TP_FACT_RUN_N_SAMPLES, 30}, "few samples"},
	};
	for (size_t i = 0; i < TP_ARRAY_LEN(rows); i++) {
		struct scene scene = *scene_named("one worker that decodes");
		play(&scene);
		enum tp_confidence before = findings.items[0].confidence;
		ck_assert_ptr_null(findings.items[0].doubts);
		size_t n = 0;
		while (scene.facts[n].fact != TP_N_FACTS)
			n++;
		scene.facts[n] = rows[i].fact;
		scene.facts[n + 1].fact = TP_N_FACTS;
		play(&scene);
		ck_assert_int_gt(findings.items[0].confidence, before);
		ck_assert_ptr_nonnull(strstr(findings.items[0].doubts, rows[i].doubt));
	}
}
END_TEST

START_TEST(an_interval_over_the_line_names_no_bottleneck)
{
	struct scene scene = {.name = "wide", .labels = {{TP_FACT_STEP_PREP, 0.6}}};
	scene.facts[0].fact = TP_N_FACTS;
	play(&scene);
	ck_assert_str_eq(findings.verdict, "dataloader_bound");
	profile.facts[TP_FACT_STEP_DATALOADER].low = 0.1;
	profile.facts[TP_FACT_STEP_DATALOADER].high = 0.5;
	tp_findings_release(&findings);
	tp_advise(&findings, book, &profile);
	ck_assert_str_ne(findings.verdict, "dataloader_bound");
}
END_TEST

/* "IDLE-BOUND" above bars that say compute 60 %, idle 36 % is read as wrong, and it is. */
START_TEST(a_verdict_names_the_largest_part)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(scenes); i++) {
		play(&scenes[i]);
		int largest = 0;
		double loss = 0;
		for (int p = 1; p < TP_N_PARTS; p++) {
			if (profile.parts[p].time_ns >= profile.parts[largest].time_ns)
				largest = p;
			loss = fmax(loss, (double)profile.parts[p].time_ns / 50e9);
		}
		char verdict[40];
		snprintf(verdict, sizeof(verdict), "%s_bound", tp_part_name((enum tp_part)largest));
		ck_assert_msg(strcmp(findings.verdict, verdict) == 0, "%s: %s, the largest is %s",
			      scenes[i].name, findings.verdict, verdict);
		ck_assert_msg(largest || loss < 0.21 ||
				      strstr(findings.verdict_sentence, " is lost "),
			      "%s: %s", scenes[i].name, findings.verdict_sentence);
	}
}
END_TEST

START_TEST(a_loss_behind_compute_is_told)
{
	static const struct {
		enum tp_fact label;
		const char *sentence;
	} rows[] = {
		{TP_FACT_STEP_PREP, "36 % of each step is lost waiting for data."},
		{TP_FACT_STEP_COMM_WAIT, "36 % of each step is lost to communication."},
		{TP_FACT_STEP_ALLOC, "36 % of each step is lost handling memory."},
		{TP_FACT_STEP_LOGGING, "36 % of each step is lost to work around it."},
		{TP_FACT_STEP_RUNNABLE, "36 % of each step is lost waiting for a CPU."},
		{TP_FACT_STEP_SLEEP, "36 % of each step is lost in sleep."},
		{TP_FACT_STEP_IDLE_IO, "36 % of each step is lost waiting for files."},
		{TP_FACT_STEP_LOCK, "36 % of each step is lost to a lock."},
	};
	for (size_t i = 0; i < TP_ARRAY_LEN(rows); i++) {
		struct scene scene = {.name = "behind", .labels = {{rows[i].label, 0.36}}};
		scene.facts[0].fact = TP_N_FACTS;
		play(&scene);
		ck_assert_str_eq(findings.verdict_title, "COMPUTE-BOUND");
		ck_assert_str_eq(findings.verdict_sentence, rows[i].sentence);
	}
	play(scene_named("checkpoints between steps"));
	ck_assert_str_eq(findings.verdict_sentence, "30 % of the loop is lost to checkpoints.");
}
END_TEST

START_TEST(many_small_losses_have_no_single_limit)
{
	struct scene scene = {.name = "balanced",
			      .labels = {{TP_FACT_STEP_PREP, 0.15},
					 {TP_FACT_STEP_LOGGING, 0.15},
					 {TP_FACT_STEP_ALLOC, 0.15},
					 {TP_FACT_STEP_LOCK, 0.15}}};
	scene.facts[0].fact = TP_N_FACTS;
	play(&scene);
	ck_assert_str_eq(findings.verdict, "balanced");
	ck_assert_uint_ge(findings.n_fired, 3);
	/* Four times 15 % are at most 100 to 40; the product of gains would say more. */
	ck_assert_double_le(findings.combined_high, 2.5 + 1e-6);
}
END_TEST

START_TEST(a_run_of_which_nothing_is_known_cannot_be_told)
{
	tp_advise(&findings, book, &profile);
	ck_assert_uint_eq(findings.n_fired, 0);
	ck_assert(!findings.has_combined);
	ck_assert_uint_gt(findings.n_not_judged, 30);
	tp_findings_release(&findings);
	know(TP_FACT_RUN_DURATION, 9e9);
	tp_advise(&findings, book, &profile);
	ck_assert_str_eq(findings.verdict, "cannot_tell");
}
END_TEST

START_TEST(without_steps_sentences_speak_of_the_time_measured)
{
	struct scene scene = {.name = "window", .labels = {{TP_FACT_STEP_PREP, 0.5}}};
	scene.facts[0].fact = TP_N_FACTS;
	play(&scene);
	ck_assert_str_eq(findings.verdict_sentence, "Waiting for data takes 50 % of each step.");
	profile.is_of_steps = false;
	tp_findings_release(&findings);
	tp_advise(&findings, book, &profile);
	ck_assert_str_eq(findings.verdict_sentence,
			 "Waiting for data takes 50 % of the time measured.");
}
END_TEST

static const struct tp_finding *finding_of(const char *rule)
{
	for (size_t i = 0; i < findings.n_items; i++)
		if (strcmp(findings.items[i].rule, rule) == 0)
			return &findings.items[i];
	return NULL;
}

/* What the summary does not show, no other page may show as advice. */
START_TEST(a_run_that_is_too_short_is_advised_nothing)
{
	struct scene scene = *scene_named("one worker that decodes");
	play(&scene);
	size_t n_advice = findings.n_fired;
	ck_assert_uint_gt(n_advice, 0);
	size_t at = 0;
	while (scene.facts[at].fact != TP_N_FACTS)
		at++;
	ck_assert_uint_lt(at + 1, TP_ARRAY_LEN(scene.facts));
	scene.facts[at] = (struct fact_value){TP_FACT_RUN_WINDOW, 1e9};
	scene.facts[at + 1].fact = TP_N_FACTS;
	play(&scene);
	ck_assert_str_eq(findings.verdict, "too_short");
	ck_assert_uint_eq(findings.n_fired, 0);
	ck_assert_uint_eq(findings.course.n_moves, 0);
	ck_assert(!findings.has_combined);
	const char *why = finding_of(scene.advice)->suppressed;
	ck_assert_ptr_nonnull(why);
	ck_assert_str_eq(why, "the run is too short to judge");
}
END_TEST

/* Public traces, by their shares; what the shares leave open is as such programs are. */
static const struct scene public_traces[] = {
	{"ResNet-50, no workers, V100",
	 {{TP_FACT_STEP_NEXT, 0.334},
	  {TP_FACT_STEP_DISPATCH, 0.06},
	  {TP_FACT_STEP_LAUNCH, 0.033},
	  {TP_FACT_STEP_H2D, 0.011}},
	 {{TP_FACT_STEP_COUNT, 6},
	  {TP_FACT_DEVICE_BUSY, 0.606},
	  {TP_FACT_DEVICE_KERNEL, 2e3},
	  {TP_FACT_DEVICE_PAGEABLE, 1},
	  {TP_FACT_DEVICE_CAPABILITY, 70},
	  {TP_FACT_KERNEL_TENSOR, 0.05},
	  {TP_FACT_KERNEL_NO_TENSOR, 0.9},
	  END},
	 "input/next-blocks",
	 "33 % of each step is lost waiting for data."},
	{"the same, four workers",
	 {{TP_FACT_STEP_NEXT, 0.0084},
	  {TP_FACT_STEP_DISPATCH, 0.15},
	  {TP_FACT_STEP_LAUNCH, 0.086},
	  {TP_FACT_STEP_H2D, 0.023}},
	 {{TP_FACT_STEP_COUNT, 6},
	  {TP_FACT_DEVICE_BUSY, 0.767},
	  {TP_FACT_DEVICE_KERNEL, 2e3},
	  {TP_FACT_DEVICE_PAGEABLE, 1},
	  {TP_FACT_DEVICE_CAPABILITY, 70},
	  {TP_FACT_KERNEL_TENSOR, 0.05},
	  {TP_FACT_KERNEL_NO_TENSOR, 0.9},
	  END},
	 "gpu/launch-bound",
	 "24 % of each step is lost to work around it."},
	{"a job on several GPUs",
	 {{TP_FACT_STEP_COLLECTIVE, 0.189},
	  {TP_FACT_STEP_DISPATCH, 0.13},
	  {TP_FACT_STEP_LAUNCH, 0.032},
	  {TP_FACT_STEP_H2D, 0.042}},
	 {{TP_FACT_STEP_COUNT, 6},
	  {TP_FACT_DEVICE_BUSY, 0.836},
	  {TP_FACT_COMM_TIME, 0.352},
	  {TP_FACT_COMM_HIDDEN, 0.462},
	  {TP_FACT_COMM_SEEN, 1},
	  END},
	 "communication/hide-collectives",
	 "Compute takes 61 % of each step."},
	{"ResNet with recomputation on MI300",
	 {{TP_FACT_STEP_COLLECTIVE, 0.624}, {TP_FACT_STEP_H2D, 0.03}},
	 {{TP_FACT_STEP_COUNT, 3}, {TP_FACT_COMM_TIME, 0.826}, {TP_FACT_COMM_HIDDEN, 0.222}, END},
	 "communication/more-than-compute",
	 "Communication takes 62 % of each step."},
	{"FSDP with layers in host memory",
	 {{TP_FACT_STEP_H2D, 0.95}, {TP_FACT_STEP_D2D, 0.02}},
	 {{TP_FACT_STEP_COUNT, 0}, {TP_FACT_DEVICE_BUSY, 0.99}, END},
	 "gpu/offloaded-parameters",
	 "Handling memory takes 97 % of each step."},
	{"kernels without gaps",
	 {{TP_FACT_STEP_LAUNCH, 0.0099}},
	 {{TP_FACT_STEP_COUNT, 0},
	  {TP_FACT_DEVICE_BUSY, 0.99},
	  {TP_FACT_KERNEL_MEMORY, 0.5},
	  {TP_FACT_KERNEL_ELEMENTWISE, 0.5},
	  {TP_FACT_KERNEL_WEAK, 1},
	  {TP_FACT_COMM_TIME, 0},
	  END},
	 NULL,
	 "Little is left: 99 % of each step is math."},
	{"Qwen 0.5B on H100",
	 {{TP_FACT_STEP_DISPATCH, 0.07}, {TP_FACT_STEP_LAUNCH, 0.023}, {TP_FACT_STEP_H2D, 0.004}},
	 {{TP_FACT_STEP_COUNT, 1},
	  {TP_FACT_DEVICE_UNLINKED, 0.3},
	  {TP_FACT_DEVICE_KERNEL, 29e3},
	  {TP_FACT_DEVICE_BUSY, 0.919},
	  {TP_FACT_KERNEL_MEMORY, 0.64},
	  {TP_FACT_KERNEL_ELEMENTWISE, 0.55},
	  END},
	 "gpu/unfused-kernels",
	 "Compute takes 90 % of each step."},
	{"DeepSeek V3: collectives behind math",
	 {{TP_FACT_STEP_COLLECTIVE, 0.032}},
	 {{TP_FACT_COMM_TIME, 0.88}, {TP_FACT_COMM_HIDDEN, 0.963}, END},
	 NULL,
	 "Little is left: 97 % of each step is math."},
};

START_TEST(public_traces_are_judged_as_their_answers_say)
{
	const struct scene *scene = &public_traces[_i];
	play(scene);
	const char *first = findings.n_fired ? findings.items[0].rule : "nothing";
	ck_assert_msg(strcmp(first, scene->advice ? scene->advice : "nothing") == 0, "%s: %s first",
		      scene->name, first);
	ck_assert_msg(strcmp(findings.verdict_sentence, scene->verdict) == 0, "%s: %s", scene->name,
		      findings.verdict_sentence);
	double compute = profile.facts[TP_FACT_STEP_COMPUTE].value;
	for (size_t i = 0; i < findings.n_fired && compute > 0.9; i++)
		ck_assert_int_ne(findings.items[i].level, TP_LEVEL_HIGH);
	/* Its interval of 5 % must be above 90 % as well. */
	enum tp_finding_state little_left = compute > 0.95 ? TP_FINDING_FIRED : TP_FINDING_QUIET;
	ck_assert_int_eq(finding_of("gpu/little-left")->state, little_left);
}
END_TEST

static const struct tp_expr *figure_of(const char *rule_id, const char *name)
{
	const struct tp_rule *rule = tp_rulebook_find(book, rule_id);
	for (size_t i = 0; i < rule->n_locals; i++)
		if (strcmp(rule->locals[i].name, name) == 0)
			return rule->locals[i].expr;
	ck_abort_msg("%s has no $%s", rule_id, name);
	return NULL;
}

/* The share of the data that must be in memory, from rates in MB/s. */
static double enough_of(const char *rule, double disk, double all, double waits)
{
	struct tp_quantity facts[TP_N_FACTS];
	facts_init(facts);
	facts_set(facts, TP_FACT_IO_READ, disk * 1e6);
	facts_set(facts, TP_FACT_IO_CALL_READ, all * 1e6);
	facts_set(facts, TP_FACT_STEP_DATALOADER, waits);
	struct tp_number enough = tp_expr_number(figure_of(rule, "enough"), facts);
	ck_assert(enough.is_known);
	return enough.value;
}

/* DS-Analyzer the other way round: with this share cached the disk's rest arrives as fast as the
 * step takes it. Memory counts as infinitely fast. */
START_TEST(the_cache_asked_for_makes_reads_as_fast_as_the_step)
{
	static const char *const rules[] = {"input/evicted-cache", "input/cache-size",
					    "input/cache-of-nodes", "input/cache-too-small"};
	for (double disk = 10; disk <= 1000; disk *= 1.7) {
		for (double all = disk; all <= 20 * disk; all *= 1.9) {
			double before = 0;
			for (double waits = 0.05; waits < 1; waits += 0.1) {
				double enough = enough_of(rules[0], disk, all, waits);
				double demand = all / (1 - waits);
				ck_assert(enough >= before && enough >= 0 && enough < 1);
				ck_assert_double_eq_tol(disk / (1 - enough), demand, 1e-6 * demand);
				for (size_t i = 1; i < TP_ARRAY_LEN(rules); i++)
					ck_assert_double_eq(enough_of(rules[i], disk, all, waits),
							    enough);
				/* A faster disk asks for no more. */
				ck_assert_double_le(enough_of(rules[0], disk, all, waits),
						    enough_of(rules[0], disk / 2, all, waits));
				before = enough;
			}
		}
	}
	/* By hand: 400 MB/s from the disk of 500, half of the time waiting: 1000 are asked for. */
	ck_assert_double_eq_tol(enough_of(rules[0], 400, 500, 0.5), 0.6, 1e-12);
	/* More from the disk than was asked for, by reading ahead: nothing need be cached. */
	ck_assert_double_eq(enough_of(rules[0], 900, 500, 0.1), 0);
}
END_TEST

/* Rules for the one kind of measurement say nothing about the other, nor that all is well. */
START_TEST(live_runs_and_traces_have_their_own_rules)
{
	static const struct {
		const char *scene;
		const char *rule;
	} rows[] = {
		{"healthy", "gpu/launch-bound"},
		{"healthy", "gpu/unfused-kernels"},
		{"healthy", "communication/one-late-rank"},
		{"healthy", "run/trace-cut"},
		{"a healthy trace", "host/oversubscribed"},
		{"a healthy trace", "compute/one-thread"},
		{"a healthy trace", "memory/bandwidth"},
		{"a loop that asks for data", "input/too-few-workers"},
	};
	for (size_t i = 0; i < TP_ARRAY_LEN(rows); i++) {
		play(scene_named(rows[i].scene));
		ck_assert_msg(finding_of(rows[i].rule)->state == TP_FINDING_NOT_JUDGED, "%s: %s",
			      rows[i].scene, rows[i].rule);
	}
}
END_TEST

START_TEST(notes_tell_what_a_capture_lacks)
{
	static const struct {
		struct fact_value fact;
		const char *note;
		const char *doubt;
	} rows[] = {
		{{TP_FACT_TRACE_CUT, 1}, "run/trace-cut", "mid-document"},
		{{TP_FACT_TRACE_SKIPPED, 0.05}, "run/events-skipped", "malformed"},
		{{TP_FACT_DEVICE_UNLINKED, 0.4}, "run/unlinked-work", "no known launch"},
		{{TP_FACT_STEP_COUNT, 6}, "run/few-steps-captured", "few steps"},
		{{TP_FACT_STEP_COUNT, 0}, "run/no-steps-captured", NULL},
		{{TP_FACT_KERNEL_WEAK, 0.4}, "run/weak-kernel-names", NULL},
		{{TP_FACT_COMM_SEEN, 1}, "communication/ranks-missing", NULL},
	};
	for (size_t i = 0; i < TP_ARRAY_LEN(rows); i++) {
		struct scene scene = *scene_named("gradients sent at the end");
		scene.facts[2] = rows[i].fact;
		scene.facts[3].fact = TP_N_FACTS;
		play(&scene);
		ck_assert_msg(finding_of(rows[i].note)->state == TP_FINDING_FIRED, "%s",
			      rows[i].note);
		ck_assert_str_eq(findings.items[0].rule, "communication/hide-collectives");
		const char *doubts = findings.items[0].doubts;
		ck_assert_msg(rows[i].doubt ? doubts && strstr(doubts, rows[i].doubt) : !doubts,
			      "%s: %s", rows[i].note, doubts);
	}
}
END_TEST

START_TEST(a_trace_without_spans_is_not_judged)
{
	struct scene scene = *scene_named("a healthy trace");
	scene.facts[0] = (struct fact_value){TP_FACT_TRACE_SPANS, 0};
	scene.facts[1].fact = TP_N_FACTS;
	play(&scene);
	ck_assert_str_eq(findings.verdict, "cannot_tell");
	scene.facts[0] = (struct fact_value){TP_FACT_TRACE_SKIPPED, 0.5};
	play(&scene);
	ck_assert_str_eq(findings.verdict, "records_lost");
}
END_TEST

Suite *suite_advise_advise(void);
Suite *suite_advise_advise(void)
{
	Suite *suite = suite_create("advise_advise");
	TCase *tcase = tcase_create("advise");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, each_dominant_cause_gets_its_advice_first, 0,
			    TP_ARRAY_LEN(scenes));
	tcase_add_test(tcase, advice_keeps_the_promises_of_its_type);
	tcase_add_test(tcase, a_healthy_run_is_told_that_little_is_left);
	tcase_add_test(tcase, second_causes_are_shown_beside_the_first);
	tcase_add_test(tcase, idle_of_one_percent_is_no_finding);
	tcase_add_test(tcase, doubtful_measurements_get_no_bottleneck);
	tcase_add_test(tcase, a_run_that_is_too_short_is_advised_nothing);
	tcase_add_test(tcase, detail_that_was_given_up_weakens_findings);
	tcase_add_test(tcase, an_interval_over_the_line_names_no_bottleneck);
	tcase_add_test(tcase, a_verdict_names_the_largest_part);
	tcase_add_test(tcase, a_loss_behind_compute_is_told);
	tcase_add_test(tcase, many_small_losses_have_no_single_limit);
	tcase_add_test(tcase, a_run_of_which_nothing_is_known_cannot_be_told);
	tcase_add_test(tcase, without_steps_sentences_speak_of_the_time_measured);
	tcase_add_loop_test(tcase, public_traces_are_judged_as_their_answers_say, 0,
			    TP_ARRAY_LEN(public_traces));
	tcase_add_test(tcase, the_cache_asked_for_makes_reads_as_fast_as_the_step);
	tcase_add_test(tcase, live_runs_and_traces_have_their_own_rules);
	tcase_add_test(tcase, notes_tell_what_a_capture_lacks);
	tcase_add_test(tcase, a_trace_without_spans_is_not_judged);
	suite_add_tcase(suite, tcase);
	return suite;
}
