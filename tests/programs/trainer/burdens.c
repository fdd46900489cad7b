/* SPDX-License-Identifier: Apache-2.0 */
/* Work of real trainers besides training, each kind in its own function. */
#include "burdens.h"

#include "knobs.h"
#include "network.h"
#include "resident.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096, N_METRICS = 512 };

struct burdens {
	const struct knobs *knobs;
	FILE *log;
	char log_path[4096];
	char checkpoint_path[4096];
	char *copy_from;
	char *copy_to;
	char *state; /* stands for the optimizer's state in checkpoints */
	double metrics[N_METRICS];
	char line[256];
};

static char *take(int megabytes)
{
	return resident_alloc((size_t)megabytes << 20);
}

static void place(char *out, size_t size, const char *wanted, const char *kind, int rank)
{
	const char *directory = getenv("TMPDIR");
	if (wanted)
		snprintf(out, size, "%s%s", wanted, rank ? ".rank" : "");
	else
		snprintf(out, size, "%s/trainer-%d.%s", directory ? directory : "/tmp",
			 (int)getpid(), kind);
}

struct burdens *burdens_open(const struct knobs *knobs, int rank)
{
	struct burdens *b = resident_alloc(sizeof(*b));
	b->knobs = knobs;
	place(b->log_path, sizeof(b->log_path), knobs->log, "log", rank);
	place(b->checkpoint_path, sizeof(b->checkpoint_path), knobs->checkpoint, "ckpt", rank);
	b->log = fopen(b->log_path, "w");
	if (!b->log) {
		perror(b->log_path);
		exit(2);
	}
	b->copy_from = take(knobs->copy_mb);
	b->copy_to = take(knobs->copy_mb);
	b->state = take(knobs->checkpoint_mb);
	return b;
}

void burdens_close(struct burdens *b)
{
	fclose(b->log);
	if (!b->knobs->log)
		unlink(b->log_path);
	if (!b->knobs->checkpoint)
		unlink(b->checkpoint_path);
	free(b->copy_from);
	free(b->copy_to);
	free(b->state);
	free(b);
}

/* The behaviour of malloc above its mmap threshold, and nothing else. */
__attribute__((noinline)) void allocate_scratch(struct burdens *b)
{
	size_t size = (size_t)b->knobs->churn_mb << 20;
	char *scratch =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (scratch == MAP_FAILED)
		abort();
	/* Huge pages would hide the cost that this function is to show. */
	madvise(scratch, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < size; i += PAGE_BYTES)
		scratch[i] = 1;
	munmap(scratch, size);
}

__attribute__((noinline)) void copy_activations(struct burdens *b, const struct network *net)
{
	size_t size = (size_t)b->knobs->copy_mb << 20;
	size_t n;
	const float *activations = network_activations(net, &n);
	memcpy(b->copy_from, activations, n * sizeof(float) < size ? n * sizeof(float) : size);
	memcpy(b->copy_to, b->copy_from, size);
}

static int compare(const void *a, const void *b)
{
	double x;
	double y;
	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

/* Median, spread and a line of text, as dashboards get them. */
__attribute__((noinline)) void update_metrics(struct burdens *b, int step, double loss)
{
	for (int round = 0; round < b->knobs->metrics; round++) {
		double sum = 0;
		for (int i = 0; i < N_METRICS; i++) {
			unsigned mixed = (unsigned)(i + step) * 2654435761u ^ (unsigned)round;
			b->metrics[i] = loss + (double)(mixed % 1000) / 1000.0;
			sum += b->metrics[i];
		}
		qsort(b->metrics, N_METRICS, sizeof(b->metrics[0]), compare);
		snprintf(b->line, sizeof(b->line),
			 "{\"mean\": %.6f, \"median\": %.6f, \"p99\": %.6f}", sum / N_METRICS,
			 b->metrics[N_METRICS / 2], b->metrics[N_METRICS * 99 / 100]);
	}
}

__attribute__((noinline)) void log_step(struct burdens *b, int step, double loss)
{
	for (int i = 0; i < b->knobs->log_lines; i++) {
		fprintf(b->log, "step %d line %d loss %.6f\n", step, i, loss);
		fflush(b->log);
	}
	if (b->knobs->log_sync)
		fdatasync(fileno(b->log));
}

static int write_all(int fd, const char *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);
		if (n < 0)
			return -1;
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

__attribute__((noinline)) void save_checkpoint(struct burdens *b, const struct network *net)
{
	char fresh[4200];
	size_t n;
	const float *parameters = network_parameters(net, &n);
	snprintf(fresh, sizeof(fresh), "%s.new", b->checkpoint_path);
	int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || write_all(fd, (const char *)parameters, n * sizeof(float)) != 0 ||
	    write_all(fd, b->state, (size_t)b->knobs->checkpoint_mb << 20) != 0 || fsync(fd) != 0 ||
	    close(fd) != 0 || rename(fresh, b->checkpoint_path) != 0) {
		perror(fresh);
		exit(2);
	}
}

__attribute__((noinline)) void pause_for(int microseconds)
{
	struct timespec t = {microseconds / 1000000, microseconds % 1000000 * 1000L};
	nanosleep(&t, NULL);
}
