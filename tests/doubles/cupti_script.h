/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the script of the double of CUPTI: lines "KEY VALUE" in the file $CUPTI_SCRIPT. */
#ifndef TRAINPROF_TESTS_DOUBLES_CUPTI_SCRIPT_H
#define TRAINPROF_TESTS_DOUBLES_CUPTI_SCRIPT_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_LINES = 64, WORD = 128 };

static struct {
	char key[WORD];
	char value[WORD];
} lines[MOST_LINES];
static size_t n_lines;
static bool has_troubles; /* some call fails, sleeps or crashes */

static void read_lines(void)
{
	const char *path = getenv("CUPTI_SCRIPT");
	FILE *file = path ? fopen(path, "r") : NULL;
	while (file && n_lines < MOST_LINES &&
	       fscanf(file, "%127s %127s", lines[n_lines].key, lines[n_lines].value) == 2)
		n_lines++;
	if (file)
		fclose(file);
	for (size_t i = 0; i < n_lines; i++)
		has_troubles |= strncmp(lines[i].key, "fail_", 5) == 0 ||
				strncmp(lines[i].key, "sleep_", 6) == 0 ||
				strncmp(lines[i].key, "crash_", 6) == 0;
}

static const char *find(const char *key)
{
	for (size_t i = 0; i < n_lines; i++)
		if (strcmp(lines[i].key, key) == 0)
			return lines[i].value;
	return NULL;
}

static double number(const char *key, double otherwise)
{
	const char *text = find(key);
	return text ? strtod(text, NULL) : otherwise;
}

static void claim(bool is_so, const char *what)
{
	if (is_so)
		return;
	fprintf(stderr, "double of CUPTI: %s\n", what);
	abort();
}

/* The common beginning of each call. */
static int enter(const char *symbol)
{
	char key[WORD + 8];
	if (!has_troubles)
		return 0;
	snprintf(key, sizeof(key), "sleep_%s", symbol);
	double nap_s = number(key, 0);
	struct timespec nap = {.tv_sec = (time_t)nap_s,
			       .tv_nsec = (long)((nap_s - (double)(time_t)nap_s) * 1e9)};
	if (nap_s > 0)
		nanosleep(&nap, NULL);
	snprintf(key, sizeof(key), "crash_%s", symbol);
	claim(!find(key), key);
	snprintf(key, sizeof(key), "fail_%s", symbol);
	return (int)number(key, 0);
}

#define CALL(symbol, body, ...)                                                                    \
	int symbol(__VA_ARGS__);                                                                   \
	int symbol(__VA_ARGS__)                                                                    \
	{                                                                                          \
		int result = enter(#symbol);                                                       \
		if (result == 0) {                                                                 \
			body;                                                                      \
		}                                                                                  \
		return result;                                                                     \
	}

#endif
