/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads Python stacks for tests/python/check_python.sh.
 *
 *   stack_probe print PID TID            frames, one per line: file, name, line, offset
 *   stack_probe torture PID SAMPLES HZ   stacks of torture.py: checks that they are possible
 *   stack_probe cost PID READS           CPU time and system calls of a read
 *   stack_probe gil PID LOOKS            how often the GIL was held, and was waited for
 *   stack_probe count PID LOOKS          the counter of hard.py counts or script.py: checks it
 *   stack_probe restless PID READS       all threads until the process ends: outcomes only
 */
#include "trainprof/base/memory.h"
#include "trainprof/stack/python.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

enum { MAX_PLACES = 20000, COUNTED_LOCAL = 2, N_COUNTED = 300 };

static struct tp_python_place places[MAX_PLACES];

static const char *const outcomes[TP_PYTHON_N_OUTCOMES] = {"read", "none", "moving", "lost",
							   "partly"};

static double cpu_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int print(struct tp_python *python, pid_t tid)
{
	size_t n;
	size_t cut;
	enum tp_python_outcome outcome;
	for (int i = 0; i < 20; i++) {
		outcome = tp_python_read(python, tid, places, MAX_PLACES, &n, &cut);
		if (outcome != TP_PYTHON_MOVING && outcome != TP_PYTHON_PARTIAL)
			break;
	}
	if (outcome != TP_PYTHON_READ)
		printf("%s\n", outcomes[outcome]);
	for (size_t i = 0; i < n; i++)
		printf("%s\t%s\t%u\t%u\n", places[i].file, places[i].name, places[i].line,
		       places[i].offset);
	return 0;
}

/* "e_17" -> 'e', 17; returns false for other names. */
static bool take_member(const char *name, char *letter, int *family)
{
	char *end;
	if (name[0] < 'a' || name[0] > 'g' || name[1] != '_')
		return false;
	*letter = name[0];
	*family = (int)strtol(name + 2, &end, 10);
	return *end == '\0' && end != name + 2;
}

/* The letters, outermost first, have to be a prefix of a, b, g, c, d, e. */
static bool is_possible(size_t n)
{
	static const char order[] = "abgcde";
	int family = -1;
	size_t at = 0;
	for (size_t i = n; i > 0; i--) {
		char letter;
		int k;
		if (!take_member(places[i - 1].name, &letter, &k)) {
			if (family >= 0)
				return false;
			continue;
		}
		if ((family >= 0 && k != family) || letter != order[at])
			return false;
		char file[32];
		snprintf(file, sizeof(file), "family_%d.py", k);
		if (strcmp(places[i - 1].file, file) != 0)
			return false;
		family = k;
		at++;
	}
	return true;
}

static bool is_rooted(size_t n)
{
	return n > 0 && strcmp(places[n - 1].name, "<module>") == 0;
}

static void show(const char *what, size_t n)
{
	printf("%s:", what);
	for (size_t i = n; i > 0; i--)
		printf(" %s:%u", places[i - 1].name, places[i - 1].line);
	printf("\n");
}

static int torture(struct tp_python *python, pid_t pid, long n_samples, long rate_hz)
{
	uint64_t counts[TP_PYTHON_N_OUTCOMES] = {0};
	uint64_t n_impossible = 0;
	uint64_t n_unrooted = 0;
	uint64_t n_deep = 0;
	double used_us = 0;
	unsigned seed = 1;
	for (long i = 0; i < n_samples; i++) {
		size_t n;
		size_t cut;
		/* Random pauses, never in step with the program. */
		seed = seed * 1103515245 + 12345;
		long pause_ns = 1000000000 / rate_hz;
		nanosleep(&(struct timespec){0, pause_ns / 2 + (long)(seed >> 8) % pause_ns}, NULL);
		double begun_us = cpu_us();
		enum tp_python_outcome outcome =
			tp_python_read(python, pid, places, MAX_PLACES, &n, &cut);
		used_us += cpu_us() - begun_us;
		counts[outcome]++;
		if (outcome != TP_PYTHON_READ && outcome != TP_PYTHON_PARTIAL)
			continue;
		bool is_bad = !is_possible(n);
		n_impossible += is_bad;
		n_unrooted += !is_rooted(n);
		n_deep += outcome == TP_PYTHON_READ && n > 5;
		if (is_bad && n_impossible <= 3)
			show(outcome == TP_PYTHON_READ ? "impossible" : "impossible part", n);
		if (!is_rooted(n) && n_unrooted <= 3)
			show("wrongly rooted", n);
	}
	const struct tp_python_counts *c = tp_python_counts(python);
	printf("read %llu partly %llu none %llu moving %llu lost %llu impossible %llu unrooted "
	       "%llu deep %llu "
	       "us %.1f calls %.2f\n",
	       (unsigned long long)counts[TP_PYTHON_READ],
	       (unsigned long long)counts[TP_PYTHON_PARTIAL],
	       (unsigned long long)counts[TP_PYTHON_NONE],
	       (unsigned long long)counts[TP_PYTHON_MOVING],
	       (unsigned long long)counts[TP_PYTHON_LOST], (unsigned long long)n_impossible,
	       (unsigned long long)n_unrooted, (unsigned long long)n_deep,
	       used_us / (double)n_samples, (double)c->n_syscalls / (double)n_samples);
	return 0;
}

static double cost_of(struct tp_python *python, pid_t pid, long n_reads, bool with_counters)
{
	struct tp_python_counter counters[16];
	size_t n;
	size_t cut;
	double begun_us = cpu_us();
	for (long i = 0; i < n_reads; i++) {
		tp_python_read(python, pid, places, MAX_PLACES, &n, &cut);
		if (with_counters)
			tp_python_count(python, counters, 16);
	}
	return (cpu_us() - begun_us) / (double)n_reads;
}

static int cost(struct tp_python *python, pid_t pid, long n_reads)
{
	size_t n;
	size_t cut;
	tp_python_read(python, pid, places, MAX_PLACES, &n, &cut);
	uint64_t begun_calls = tp_python_counts(python)->n_syscalls;
	double used_us = cost_of(python, pid, n_reads, false);
	double calls =
		(double)(tp_python_counts(python)->n_syscalls - begun_calls) / (double)n_reads;
	cost_of(python, pid, 100, true);
	double counting_us = cost_of(python, pid, n_reads, true) - used_us;
	printf("frames %zu us %.1f calls %.2f, its counters: us %.1f\n", n, used_us, calls,
	       counting_us);
	return 0;
}

/* Returns the address at which the thread waits in a futex call; 0 = it does not. */
static uint64_t futex_of(pid_t pid, const char *tid)
{
	char path[400];
	unsigned long number = 0;
	unsigned long address = 0;
	snprintf(path, sizeof(path), "/proc/%d/task/%s/syscall", (int)pid, tid);
	FILE *file = fopen(path, "r");
	if (!file)
		return 0;
	int n = fscanf(file, "%lu 0x%lx", &number, &address);
	fclose(file);
	return n == 2 && number == SYS_futex ? address : 0;
}

/* On a busy machine the thread that is to acquire or to release the GIL waits for a CPU. Then more
 * samples are taken, until the GIL was held in half of the requested number, and waited for in a
 * third. */
static int gil(struct tp_python *python, pid_t pid, long n_asked)
{
	char path[64];
	long n_held = 0;
	long n_waits = 0;
	long n_looks = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	while (n_looks < n_asked ||
	       (n_looks < 20 * n_asked && (2 * n_held <= n_asked || 3 * n_waits <= n_asked))) {
		n_looks++;
		DIR *tasks = opendir(path);
		const struct dirent *entry;
		n_held += tp_python_gil_holder(python) != 0;
		while (tasks && (entry = readdir(tasks))) {
			uint64_t address = futex_of(pid, entry->d_name);
			n_waits += address != 0 && tp_python_is_gil_wait(python, address);
		}
		if (tasks)
			closedir(tasks);
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	}
	printf("held %ld waits %ld of %ld\n", n_held, n_waits, n_looks);
	return 0;
}

/* True for the counter of the program: in hard.py it is the third variable of train() (name, limit,
 * step, end, k), in script.py it has a name. */
static bool is_step(const struct tp_python_counter *counter)
{
	const char *function = strrchr(counter->name, '.');
	if (counter->variable)
		return strcmp(counter->variable, "step") == 0;
	return strcmp(function ? function + 1 : counter->name, "train") == 0 &&
	       counter->local == COUNTED_LOCAL;
}

/* Checks that the values never decrease and reads up to the last round. */
static int count(struct tp_python *python, pid_t pid, long n_most)
{
	struct tp_python_counter counters[16];
	uint64_t last = 0;
	long n_told = 0;
	long n_wrong = 0;
	long n_others = 0;
	enum tp_python_outcome outcome = TP_PYTHON_READ;
	for (long i = 0; i < n_most && outcome != TP_PYTHON_LOST && last + 1 < N_COUNTED; i++) {
		size_t n;
		size_t cut;
		outcome = tp_python_read(python, pid, places, MAX_PLACES, &n, &cut);
		n = tp_python_count(python, counters, 16);
		for (size_t k = 0; k < n; k++) {
			n_others += !is_step(&counters[k]);
			if (!is_step(&counters[k]))
				continue;
			n_wrong += counters[k].value < last || counters[k].value >= N_COUNTED;
			last = counters[k].value;
			n_told++;
		}
		nanosleep(&(struct timespec){0, 2000000}, NULL);
	}
	printf("told %ld wrong %ld last %llu others %ld\n", n_told, n_wrong,
	       (unsigned long long)last, n_others);
	return 0;
}

static int restless(struct tp_python *python, pid_t pid, long n_reads)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	printf("reading\n");
	fflush(stdout);
	for (long i = 0; i < n_reads; i++) {
		DIR *tasks = opendir(path);
		const struct dirent *entry;
		if (!tasks)
			break;
		while ((entry = readdir(tasks))) {
			size_t n;
			size_t cut;
			tp_python_read(python, (pid_t)atoi(entry->d_name), places, MAX_PLACES, &n,
				       &cut);
			tp_python_gil_holder(python);
		}
		closedir(tasks);
	}
	for (int i = 0; i < TP_PYTHON_N_OUTCOMES; i++)
		printf("%s %llu ", outcomes[i], (unsigned long long)tp_python_counts(python)->n[i]);
	printf("\n");
	return 0;
}

int main(int argc, char **argv)
{
	struct tp_error err;
	struct tp_python *python;
	int status = 2;
	if (argc < 4)
		return 2;
	pid_t pid = (pid_t)atoi(argv[2]);
	if (tp_python_open(&python, "/proc", pid, &err) != TP_OK) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	if (strcmp(argv[1], "print") == 0)
		status = print(python, (pid_t)atoi(argv[3]));
	else if (strcmp(argv[1], "torture") == 0 && argc > 4)
		status = torture(python, pid, atol(argv[3]), atol(argv[4]));
	else if (strcmp(argv[1], "cost") == 0)
		status = cost(python, pid, atol(argv[3]));
	else if (strcmp(argv[1], "gil") == 0)
		status = gil(python, pid, atol(argv[3]));
	else if (strcmp(argv[1], "count") == 0)
		status = count(python, pid, atol(argv[3]));
	else if (strcmp(argv[1], "restless") == 0)
		status = restless(python, pid, atol(argv[3]));
	tp_python_close(python);
	return status;
}
