/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the thresholds of src/analyze as variables, for programs that are linked with objects of
 * analysis compiled for that (TP_THRESHOLDS_VARIABLE). THRESHOLD=NAME*FACTOR in the environment
 * scales one; if its unit is "scaled from 1", only the part above 1. THRESHOLDS_READ=FILE appends
 * the name of each threshold that is read. */
#ifndef TP_THRESHOLDS_VARIABLE
#define TP_THRESHOLDS_VARIABLE
#endif
#include "analyze/thresholds.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Each threshold has a page of its own, which is inaccessible until it is read. */
#define OWN_PAGE __attribute__((section("thresholds"), aligned(4096), no_reorder))
#define THRESHOLD(type, name, value, unit, reason, source, halved, doubled)                        \
	OWN_PAGE type name = value;
#include "analyze/thresholds.def"
#undef THRESHOLD
OWN_PAGE static char behind_all[4096] = {1};

#define THRESHOLD(type, name, value, unit, reason, source, halved, doubled) {#name, unit, &name},
static const struct {
	const char *name;
	const char *unit;
	void *at;
} rows[] = {
#include "analyze/thresholds.def"
};
#undef THRESHOLD
#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

static int read_fd = -1;

/* Check records every assertion that holds in a file: most of the time that a simulated trainer
 * takes. */
void __wrap__mark_point(const char *file, int line);
void __wrap__mark_point(const char *file, int line)
{
	(void)file;
	(void)line;
}

static double scaled(double value, const char *unit, double factor)
{
	double fixed = strstr(unit, "scaled from 1") ? 1 : 0;
	return fixed + (value - fixed) * factor;
}

static void scale_one(const char *wanted)
{
	const char *star = strchr(wanted, '*');
	size_t length = star ? (size_t)(star - wanted) : 0;
	double factor = star ? strtod(star + 1, NULL) : 0;
	bool is_found = false;
#define THRESHOLD(type, name, value, unit, reason, source, halved, doubled)                        \
	if (strlen(#name) == length && strncmp(wanted, #name, length) == 0) {                      \
		name = (type)scaled((double)name, unit, factor);                                   \
		is_found = true;                                                                   \
	}
#include "analyze/thresholds.def"
#undef THRESHOLD
	if (is_found && factor > 0)
		return;
	fprintf(stderr, "THRESHOLD=%s: no such threshold, or no factor\n", wanted);
	exit(2);
}

static void tell_read(int signal_number, siginfo_t *info, void *context)
{
	(void)context;
	for (size_t i = 0; i < N_ROWS; i++) {
		if (info->si_addr != rows[i].at)
			continue;
		char line[128];
		int n = snprintf(line, sizeof(line), "%s\n", rows[i].name);
		if (write(read_fd, line, (size_t)n) == n &&
		    mprotect(rows[i].at, 4096, PROT_READ | PROT_WRITE) == 0)
			return;
	}
	signal(signal_number, SIG_DFL);
}

static void close_pages(const char *path)
{
	struct sigaction action = {.sa_sigaction = tell_read, .sa_flags = SA_SIGINFO};
	read_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (read_fd < 0 || sigaction(SIGSEGV, &action, NULL) != 0)
		exit(2);
	for (size_t i = 0; i < N_ROWS; i++)
		if ((char *)rows[i].at >= behind_all || mprotect(rows[i].at, 4096, PROT_NONE) != 0)
			exit(2);
}

__attribute__((constructor)) static void begin(void)
{
	const char *wanted = getenv("THRESHOLD");
	const char *path = getenv("THRESHOLDS_READ");
	if (wanted)
		scale_one(wanted);
	if (path)
		close_pages(path);
}
