/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program, receives its marks and adds them up: mark_listener RINGFILE PROGRAM ARGUMENT...
 * Prints the number and the total ns of steps and of each phase name, for the first thread that
 * marks. */
#include "trainprof/wire/mark_ring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_NAMES = 32, MAX_DEPTH = 16 };

struct total {
	char name[TP_MARK_NAME_BYTES];
	uint64_t n;
	uint64_t time_ns;
};

struct listener {
	uint32_t tid;
	uint64_t step_ns; /* start of the running step; 0 = none */
	struct total steps;
	struct total totals[MAX_NAMES];
	int n_totals;
	struct {
		int total;
		uint64_t time_ns;
	} open[MAX_DEPTH];
};

static int total_of(struct listener *l, const char *name)
{
	for (int i = 0; i < l->n_totals; i++) {
		if (strcmp(l->totals[i].name, name) == 0)
			return i;
	}
	if (l->n_totals == MAX_NAMES)
		return MAX_NAMES - 1;
	memcpy(l->totals[l->n_totals].name, name, strlen(name) + 1);
	return l->n_totals++;
}

static void hear(void *context, const struct tp_mark_record *mark)
{
	struct listener *l = context;
	if (!l->tid)
		l->tid = mark->tid;
	if (mark->tid != l->tid || mark->depth >= MAX_DEPTH)
		return;
	switch (mark->kind) {
	case TP_RING_STEP:
	case TP_RING_STEP_END:
		if (l->step_ns) {
			l->steps.n++;
			l->steps.time_ns += mark->time_ns - l->step_ns;
		}
		l->step_ns = mark->kind == TP_RING_STEP ? mark->time_ns : 0;
		break;
	case TP_RING_PHASE_BEGIN:
		l->open[mark->depth].total = total_of(l, mark->name);
		l->open[mark->depth].time_ns = mark->time_ns;
		break;
	default:
		l->totals[l->open[mark->depth].total].n++;
		l->totals[l->open[mark->depth].total].time_ns +=
			mark->time_ns - l->open[mark->depth].time_ns;
	}
}

int main(int argc, char **argv)
{
	struct listener listener = {.tid = 0};
	struct tp_mark_ring ring;
	int status = 0;
	if (argc < 3 || tp_mark_ring_create(&ring, argv[1], TP_MARK_RING_RECORDS) != 0) {
		fprintf(stderr, "usage: mark_listener NEWFILE PROGRAM ARGUMENT...\n");
		return 2;
	}
	setenv(TP_MARK_RING_ENV, argv[1], 1);
	pid_t pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	while (waitpid(pid, &status, WNOHANG) == 0) {
		struct timespec rest = {0, 20000000};
		tp_mark_ring_drain(&ring, false, hear, &listener);
		nanosleep(&rest, NULL);
	}
	tp_mark_ring_drain(&ring, true, hear, &listener);
	printf("step %llu %llu\n", (unsigned long long)listener.steps.n,
	       (unsigned long long)listener.steps.time_ns);
	for (int i = 0; i < listener.n_totals; i++)
		printf("%s %llu %llu\n", listener.totals[i].name,
		       (unsigned long long)listener.totals[i].n,
		       (unsigned long long)listener.totals[i].time_ns);
	printf("lost %llu\n", (unsigned long long)ring.n_lost);
	tp_mark_ring_close(&ring);
	unlink(argv[1]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
