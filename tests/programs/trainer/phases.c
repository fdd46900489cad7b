/* SPDX-License-Identifier: Apache-2.0 */
/* Charges each nanosecond of the main thread to its current phase, and writes the truth file. */
#include "phases.h"

#include "knobs.h"
#include "loader.h"
#include "resident.h"

#include "trainprof/mark.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { MAX_STEPS = 8192, MAX_DEPTH = 4 };

static const char *const part_names[N_PARTS] = {
	"compute", "communication", "memory", "dataloader", "host", "idle",
};

static const struct {
	const char *name;
	enum part part;
	const char *mark; /* NULL = not marked, trainprof must use the leaf function */
} phase_rows[N_PHASES] = {
	[PHASE_LOOP] = {"loop", PART_HOST, NULL},
	[PHASE_NEXT_BATCH] = {"next_batch", PART_DATALOADER, "dataloader"},
	[PHASE_FORWARD] = {"forward", PART_COMPUTE, "forward"},
	[PHASE_BACKWARD] = {"backward", PART_COMPUTE, "backward"},
	[PHASE_SGD] = {"sgd_update", PART_COMPUTE, "optimizer"},
	[PHASE_ALL_REDUCE] = {"all_reduce", PART_COMMUNICATION, "communication"},
	[PHASE_SCRATCH] = {"allocate_scratch", PART_MEMORY, NULL},
	[PHASE_COPY] = {"copy_activations", PART_MEMORY, NULL},
	[PHASE_METRICS] = {"update_metrics", PART_HOST, NULL},
	[PHASE_LOG] = {"log_step", PART_HOST, "logging"},
	[PHASE_CHECKPOINT] = {"save_checkpoint", PART_HOST, "checkpoint"},
	[PHASE_PAUSE] = {"pause", PART_IDLE, NULL},
};

struct step {
	uint64_t start_ns;
	uint64_t part_ns[N_PARTS];
	uint64_t runnable_ns; /* of compute, memory and host: wanted a CPU and had none */
};

/* One per rank, used by its main thread only. */
static struct {
	const struct knobs *knobs;
	int rank;
	int is_timed;
	int has_step_marks;
	int has_phase_marks;
	int schedstat; /* file descriptor */
	enum phase stack[MAX_DEPTH];
	int depth;
	uint64_t last_ns;
	uint64_t last_delay_ns;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t wall_ns[N_PHASES];
	uint64_t delay_ns[N_PHASES];
	uint64_t n_entered[N_PHASES];
	uint64_t wait_ns;
	uint64_t cpu_ns;
	long faults_at_start;
	long faults;
	struct step *steps; /* MAX_STEPS; later ones count in the totals only */
	int n_steps;
	double first_loss;
	double last_loss;
} now;

uint64_t clock_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Returns the time that this thread waited on a run queue, the second number of its schedstat. */
static uint64_t run_delay_ns(void)
{
	char text[96];
	ssize_t n = pread(now.schedstat, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return 0;
	text[n] = 0;
	char *end;
	strtoull(text, &end, 10);
	return strtoull(end, NULL, 10);
}

static uint64_t thread_cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static long minor_faults(void)
{
	struct rusage usage;
	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt;
}

/* Charges the time since the last change to the phase that ran. */
static void charge(void)
{
	uint64_t at_ns = clock_ns();
	uint64_t delay_at_ns = run_delay_ns();
	enum phase phase = now.stack[now.depth];
	enum part part = phase_rows[phase].part;
	uint64_t wall_ns = at_ns - now.last_ns;
	uint64_t delay_ns = delay_at_ns - now.last_delay_ns;
	if (delay_ns > wall_ns)
		delay_ns = wall_ns;
	now.wall_ns[phase] += wall_ns;
	now.delay_ns[phase] += delay_ns;
	if (now.n_steps > 0 && now.n_steps <= MAX_STEPS) {
		struct step *step = &now.steps[now.n_steps - 1];
		step->part_ns[part] += wall_ns;
		if (part == PART_COMPUTE || part == PART_MEMORY || part == PART_HOST)
			step->runnable_ns += delay_ns;
	}
	now.last_ns = at_ns;
	now.last_delay_ns = delay_at_ns;
}

/* True if the thread lost its CPU since the last clock reading: the readings made since then belong
 * to another moment. */
static bool was_interrupted(void)
{
	return clock_ns() - now.last_ns > 100000;
}

void phases_start(const struct knobs *knobs, int rank)
{
	now.knobs = knobs;
	now.rank = rank;
	now.is_timed = knobs->truth != NULL;
	now.has_phase_marks = strcmp(knobs->marks, "phases") == 0;
	now.has_step_marks = now.has_phase_marks || strcmp(knobs->marks, "steps") == 0;
	if (!now.is_timed)
		return;
	now.steps = resident_alloc(MAX_STEPS * sizeof(*now.steps));
	now.schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	now.faults_at_start = minor_faults();
	int n = 0;
	do {
		now.start_ns = now.last_ns = clock_ns();
		now.last_delay_ns = run_delay_ns();
		now.cpu_ns = thread_cpu_ns();
	} while (was_interrupted() && ++n < 100);
}

void phases_step(void)
{
	if (now.is_timed) {
		if (now.n_steps)
			charge();
		if (now.n_steps < MAX_STEPS)
			now.steps[now.n_steps].start_ns = now.last_ns;
		now.n_steps++;
	}
	if (now.has_step_marks)
		trainprof_step();
}

void phases_stop(void)
{
	if (now.has_step_marks)
		trainprof_step_end();
	if (!now.is_timed)
		return;
	uint64_t cpu_at_ns;
	int n = 0;
	do {
		charge();
		cpu_at_ns = thread_cpu_ns();
	} while (was_interrupted() && ++n < 100);
	now.end_ns = now.last_ns;
	now.cpu_ns = cpu_at_ns - now.cpu_ns;
	now.faults = minor_faults() - now.faults_at_start;
}

void phase_enter(enum phase phase)
{
	if (now.is_timed) {
		charge();
		now.n_entered[phase]++;
	}
	if (now.depth + 1 < MAX_DEPTH)
		now.stack[++now.depth] = phase;
	if (now.has_phase_marks && phase_rows[phase].mark)
		trainprof_phase_begin(phase_rows[phase].mark);
}

void phase_leave(void)
{
	if (now.has_phase_marks && phase_rows[now.stack[now.depth]].mark)
		trainprof_phase_end();
	if (now.is_timed)
		charge();
	if (now.depth > 0)
		now.depth--;
}

void phases_evaluation(int is_begin)
{
	if (!now.has_phase_marks)
		return;
	if (is_begin)
		trainprof_phase_begin("evaluation");
	else
		trainprof_phase_end();
}

void phases_add_wait(uint64_t wait_ns)
{
	now.wait_ns += wait_ns;
}

void phases_set_loss(double first, double last)
{
	now.first_loss = first;
	now.last_loss = last;
}

static void write_parts(FILE *out)
{
	uint64_t part_ns[N_PARTS] = {0};
	uint64_t runnable_ns[N_PARTS] = {0};
	for (int i = 0; i < N_PHASES; i++) {
		part_ns[phase_rows[i].part] += now.wall_ns[i];
		runnable_ns[phase_rows[i].part] += now.delay_ns[i];
	}
	fprintf(out, " \"parts_ns\": {");
	for (int i = 0; i < N_PARTS; i++)
		fprintf(out, "%s\"%s\": %llu", i ? ", " : "", part_names[i],
			(unsigned long long)part_ns[i]);
	fprintf(out, "},\n \"runnable_ns\": {");
	for (int i = 0; i < N_PARTS; i++)
		fprintf(out, "%s\"%s\": %llu", i ? ", " : "", part_names[i],
			(unsigned long long)runnable_ns[i]);
	fprintf(out, "},\n \"phases\": [\n");
	for (int i = 0; i < N_PHASES; i++)
		fprintf(out,
			"  {\"id\": \"%s\", \"part\": \"%s\", \"wall_ns\": %llu, "
			"\"runnable_ns\": %llu, \"count\": %llu}%s\n",
			phase_rows[i].name, part_names[phase_rows[i].part],
			(unsigned long long)now.wall_ns[i], (unsigned long long)now.delay_ns[i],
			(unsigned long long)now.n_entered[i], i + 1 < N_PHASES ? "," : "");
	fprintf(out, " ],\n");
}

static void write_workers(FILE *out, const struct loader *loader)
{
	fprintf(out, " \"workers\": [");
	int n = loader_worker_count(loader);
	for (int i = 0; i < n; i++) {
		struct worker_stat s = *loader_worker_stat(loader, i);
		fprintf(out,
			"%s\n  {\"pid\": %d, \"tid\": %d, \"batches\": %llu, \"busy_ns\": %llu, "
			"\"read_ns\": %llu, \"decode_ns\": %llu, \"sleep_ns\": %llu, "
			"\"handover_ns\": %llu}",
			i ? "," : "", s.pid, s.tid, (unsigned long long)s.n_batches,
			(unsigned long long)s.busy_ns, (unsigned long long)s.read_ns,
			(unsigned long long)s.decode_ns, (unsigned long long)s.sleep_ns,
			(unsigned long long)s.handover_ns);
	}
	fprintf(out, "%s],\n", n ? "\n " : "");
}

static void write_steps(FILE *out)
{
	int n = now.n_steps < MAX_STEPS ? now.n_steps : MAX_STEPS;
	fprintf(out, " \"per_step\": {\n  \"start_ns\": [");
	for (int i = 0; i < n; i++)
		fprintf(out, "%s%llu", i ? "," : "",
			(unsigned long long)(now.steps[i].start_ns - now.start_ns));
	fprintf(out, "],\n  \"runnable_ns\": [");
	for (int i = 0; i < n; i++)
		fprintf(out, "%s%llu", i ? "," : "", (unsigned long long)now.steps[i].runnable_ns);
	for (int p = 0; p < N_PARTS; p++) {
		fprintf(out, "],\n  \"%s\": [", part_names[p]);
		for (int i = 0; i < n; i++)
			fprintf(out, "%s%llu", i ? "," : "",
				(unsigned long long)now.steps[i].part_ns[p]);
	}
	fprintf(out, "]\n }\n");
}

void phases_write(const struct loader *loader)
{
	char path[4096];
	if (!now.is_timed)
		return;
	if (now.rank)
		snprintf(path, sizeof(path), "%s.%d", now.knobs->truth, now.rank);
	else
		snprintf(path, sizeof(path), "%s", now.knobs->truth);
	FILE *out = fopen(path, "w");
	if (!out) {
		perror(path);
		exit(2);
	}
	fprintf(out,
		"{\n \"schema\": \"trainer-truth/1\",\n \"pid\": %d, \"rank\": %d, \"ranks\": %d, "
		"\"threads\": %d, \"steps\": %d,\n",
		(int)getpid(), now.rank, now.knobs->ranks, now.knobs->threads, now.n_steps);
	fprintf(out, " \"window\": {\"start_ns\": %llu, \"end_ns\": %llu},\n",
		(unsigned long long)now.start_ns, (unsigned long long)now.end_ns);
	fprintf(out, " \"cpu_ns\": %llu,\n \"minor_faults\": %ld,\n",
		(unsigned long long)now.cpu_ns, now.faults);
	fprintf(out, " \"loss\": {\"first\": %.6f, \"last\": %.6f},\n", now.first_loss,
		now.last_loss);
	fprintf(out, " \"communication\": {\"wait_ns\": %llu, \"transfer_ns\": %llu},\n",
		(unsigned long long)now.wait_ns,
		(unsigned long long)(now.wall_ns[PHASE_ALL_REDUCE] - now.wait_ns));
	write_parts(out);
	write_workers(out, loader);
	write_steps(out);
	fprintf(out, "}\n");
	if (fclose(out) != 0) {
		perror(path);
		exit(2);
	}
}
