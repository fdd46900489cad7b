/* The script that the double of CUPTI follows: lines "KEY VALUE" in the file $CUPTI_SCRIPT. */
#ifndef TRAINPROF_TESTS_DOUBLES_CUPTI_SCRIPT_H
#define TRAINPROF_TESTS_DOUBLES_CUPTI_SCRIPT_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 64, WORD = 64 };

static struct {
	char key[WORD];
	char value[WORD];
} lines[MOST_LINES];
static size_t n_lines;

static void read_lines(void)
{
	const char *path = getenv("CUPTI_SCRIPT");
	FILE *file = path ? fopen(path, "r") : NULL;
	while (file && n_lines < MOST_LINES &&
	       fscanf(file, "%63s %63s", lines[n_lines].key, lines[n_lines].value) == 2)
		n_lines++;
	if (file)
		fclose(file);
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

/* Does some call fail or sleep? */
static bool has_troubles(void)
{
	for (size_t i = 0; i < n_lines; i++)
		if (strncmp(lines[i].key, "fail_", 5) == 0 ||
		    strncmp(lines[i].key, "sleep_", 6) == 0)
			return true;
	return false;
}

#endif
