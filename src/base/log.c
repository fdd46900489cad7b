/* SPDX-License-Identifier: Apache-2.0 */
/* Writes log lines; holds the only mutable global of the program, the levels. */
#include "trainprof/base/log.h"

#include "trainprof/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
	enum tp_log_level level;
	char spec[200]; /* ",domain:level,domain:level," */
} state = {.level = TP_LOG_WARN};

static const char *const level_names[] = {"error", "warn", "info", "debug"};

void tp_log_init(enum tp_log_level level, const char *spec)
{
	state.level = level;
	snprintf(state.spec, sizeof(state.spec), ",%s,", spec ? spec : "");
}

static bool level_of_domain(const char *domain, enum tp_log_level *out)
{
	char key[48];
	snprintf(key, sizeof(key), ",%s:", domain);
	const char *found = strstr(state.spec, key);
	if (!found)
		return false;
	found += strlen(key);
	for (int i = 0; i <= TP_LOG_DEBUG; i++) {
		size_t len = strlen(level_names[i]);
		if (strncmp(found, level_names[i], len) == 0 && found[len] == ',') {
			*out = (enum tp_log_level)i;
			return true;
		}
	}
	return false;
}

bool tp_log_enabled(const char *domain, enum tp_log_level level)
{
	enum tp_log_level limit = state.level;
	if (state.spec[0])
		(void)level_of_domain(domain, &limit);
	return level <= limit;
}

void tp_log_write(const char *domain, enum tp_log_level level, const char *format, ...)
{
	char line[512];
	int used = snprintf(line, sizeof(line), "trainprof: %s: %s: ", domain, level_names[level]);
	va_list args;
	va_start(args, format);
	int more = vsnprintf(line + used, sizeof(line) - (size_t)used - 1, format, args);
	va_end(args);
	size_t len = (size_t)used + (more > 0 ? (size_t)more : 0);
	if (len > sizeof(line) - 2)
		len = sizeof(line) - 2;
	/* Names come from the target and from files: none may move the cursor or begin a line. */
	line[len] = '\0';
	for (size_t i = 0; i < len;) {
		size_t valid = tp_text_utf8_length(line + i);
		size_t unsafe = valid ? tp_text_unsafe_length(line + i) : 1;
		memset(line + i, '?', unsafe);
		i += valid ? valid : 1;
	}
	line[len] = '\n';
	/* A log line that cannot be written has nowhere to be reported. */
	if (write(STDERR_FILENO, line, len + 1) < 0)
		return;
}
