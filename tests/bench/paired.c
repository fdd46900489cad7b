/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs commands in turn, repeatedly, and compares each with the first one, round by round.
 *
 * 	paired ROUNDS NAME=COMMAND NAME=COMMAND...
 * 	paired -- PROGRAM ARGUMENT...
 *
 * A command is passed to /bin/sh; its output goes to /dev/null. Each round starts with another
 * command, so that a drift affects all alike. CPU is user and system time of the command and all
 * its waited-for descendants (wait4). A ratio is the median over rounds of this command's figure
 * divided by the first command's figure of the same round; its interval is the one between order
 * statistics that contains the median with 95 %, without any assumption about noise.
 *
 * The second form is used inside a command, around the program that is profiled: it writes the cost
 * of that program alone into the file named by PAIRED_FILE, for the first form. The rest of the
 * command's cost is the profiler's: starting, sampling, writing its report.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_COMMANDS = 8, MAX_ROUNDS = 1000 };

enum figure { WALL, CPU, PROGRAM_WALL, PROGRAM_CPU, REST_CPU, N_FIGURES };

static const char *const figure_names[N_FIGURES] = {
	"wall s", "CPU s", "program wall s", "program CPU s", "profiler CPU s",
};

struct command {
	char *name;
	char *text;
	double seconds[N_FIGURES][MAX_ROUNDS];
	double ratio[MAX_ROUNDS];
	long rss_kb; /* largest process of the tree, largest of all rounds */
	int n_failed;
	int n_inner; /* runs that reported the cost of their program */
};

static struct command commands[MAX_COMMANDS];
static char inner_path[64];

static double now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds_of(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void become(const char *text)
{
	int fd = open("/dev/null", O_RDWR);
	if (fd >= 0) {
		dup2(fd, 0);
		dup2(fd, 1);
		if (!getenv("PAIRED_SHOW"))
			dup2(fd, 2);
	}
	setenv("PAIRED_FILE", inner_path, 1);
	execl("/bin/sh", "sh", "-c", text, (char *)NULL);
	_exit(127);
}

static int wait_for(pid_t pid, struct rusage *usage)
{
	int status;
	while (wait4(pid, &status, 0, usage) < 0) {
		if (errno != EINTR) {
			perror("paired: wait4");
			exit(2);
		}
	}
	return status;
}

/* The second form. */
static int run_inner(char **argv)
{
	const char *path = getenv("PAIRED_FILE");
	struct rusage usage;
	double begin_s = now_s();
	pid_t pid = fork();
	if (pid == 0) {
		execvp(argv[0], argv);
		_exit(127);
	}
	int status = wait_for(pid, &usage);
	double wall_s = now_s() - begin_s;
	FILE *out = path ? fopen(path, "w") : NULL;
	if (out) {
		fprintf(out, "%.9f %.9f\n", wall_s,
			seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime));
		fclose(out);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void read_inner(struct command *command, int round)
{
	FILE *in = fopen(inner_path, "r");
	double wall_s;
	double cpu_s;
	if (!in)
		return;
	if (fscanf(in, "%lf %lf", &wall_s, &cpu_s) == 2) {
		command->seconds[PROGRAM_WALL][round] = wall_s;
		command->seconds[PROGRAM_CPU][round] = cpu_s;
		command->seconds[REST_CPU][round] = command->seconds[CPU][round] - cpu_s;
		command->n_inner++;
	}
	fclose(in);
	unlink(inner_path);
}

static void run_once(struct command *command, int round)
{
	struct rusage usage;
	double begin_s = now_s();
	pid_t pid = fork();
	if (pid == 0)
		become(command->text);
	int status = wait_for(pid, &usage);
	command->seconds[WALL][round] = now_s() - begin_s;
	command->seconds[CPU][round] = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
	if (usage.ru_maxrss > command->rss_kb)
		command->rss_kb = usage.ru_maxrss;
	if (status != 0)
		command->n_failed++;
	read_inner(command, round);
}

static int compare(const void *a, const void *b)
{
	double x;
	double y;
	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

static double quantile(const double *sorted, int n, double q)
{
	double at = q * (n - 1);
	int low = (int)at;
	int high = low + 1 < n ? low + 1 : low;
	return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
}

/* Returns the largest rank r such that P(Binomial(n, 1/2) < r) <= 2.5 %: the median is in [r,
 * n-1-r]. */
static int median_rank(int n)
{
	double probability = 1;
	for (int i = 0; i < n; i++)
		probability /= 2;
	double sum = 0;
	int rank = 0;
	for (int k = 0; k < n / 2; k++) {
		sum += probability;
		if (sum > 0.025)
			break;
		rank = k;
		probability = probability * (n - k) / (k + 1);
	}
	return rank;
}

static void print_figure(struct command *command, enum figure figure, int n)
{
	double *x = command->seconds[figure];
	double *r = command->ratio;
	double sorted[MAX_ROUNDS];
	int rank = median_rank(n);
	for (int i = 0; i < n; i++) {
		double first = commands[0].seconds[figure][i];
		r[i] = first > 0 ? x[i] / first : 0;
		sorted[i] = x[i];
	}
	qsort(r, (size_t)n, sizeof(*r), compare);
	qsort(sorted, (size_t)n, sizeof(*sorted), compare);
	printf("%-12s %-15s %9.4f [%9.4f %9.4f]", command->name, figure_names[figure],
	       quantile(sorted, n, 0.5), quantile(sorted, n, 0.25), quantile(sorted, n, 0.75));
	if (figure != REST_CPU)
		printf("  %7.4f [%7.4f %7.4f]", quantile(r, n, 0.5), r[rank], r[n - 1 - rank]);
	printf("\n");
}

static void print_command(struct command *command, int n)
{
	for (int f = 0; f < N_FIGURES; f++) {
		if (f < PROGRAM_WALL || command->n_inner == n)
			print_figure(command, (enum figure)f, n);
	}
	printf("%-12s %-15s %9.1f\n", command->name, "RSS MiB", (double)command->rss_kb / 1024);
	if (command->n_failed)
		printf("%-12s %-15s %9d\n", command->name, "failed", command->n_failed);
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "--") == 0)
		return run_inner(argv + 2);
	snprintf(inner_path, sizeof(inner_path), "/tmp/paired-%d", (int)getpid());
	int rounds = argc > 1 ? atoi(argv[1]) : 0;
	int n = argc - 2;
	if (rounds < 1 || rounds > MAX_ROUNDS || n < 1 || n > MAX_COMMANDS) {
		fprintf(stderr, "usage: paired ROUNDS NAME=COMMAND...\n");
		return 2;
	}
	for (int i = 0; i < n; i++) {
		char *sign = strchr(argv[i + 2], '=');
		if (!sign) {
			fprintf(stderr, "paired: no '=' in '%s'\n", argv[i + 2]);
			return 2;
		}
		*sign = 0;
		commands[i].name = argv[i + 2];
		commands[i].text = sign + 1;
	}
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < n; i++)
			run_once(&commands[(i + round) % n], round);
	}
	printf("%-12s %-15s %-31s  %s\n", "", "", "   median [quartiles]", "ratio [95 %]");
	for (int i = 0; i < n; i++)
		print_command(&commands[i], rounds);
	return 0;
}
