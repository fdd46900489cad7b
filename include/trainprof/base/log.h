/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log lines on stderr for developers of trainprof. Results never go here.
 *
 * A file defines TP_LOG_DOMAIN ("collect") before it includes this header. Levels come from -v and
 * from TRAINPROF_LOG=domain:level[,domain:level...]; the default shows errors and warnings.
 */
#ifndef TRAINPROF_BASE_LOG_H
#define TRAINPROF_BASE_LOG_H

#include <stdbool.h>

enum tp_log_level { TP_LOG_ERROR, TP_LOG_WARN, TP_LOG_INFO, TP_LOG_DEBUG };

/* Set the level for all domains; `spec` (may be NULL) overrides single ones. Call before threads.
 */
void tp_log_init(enum tp_log_level level, const char *spec);

bool tp_log_enabled(const char *domain, enum tp_log_level level);

/* Writes one whole line with one write(2). Thread-safe. */
void tp_log_write(const char *domain, enum tp_log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#define TP_LOG_AT(level, ...)                                                                      \
	do {                                                                                       \
		if (tp_log_enabled(TP_LOG_DOMAIN, level))                                          \
			tp_log_write(TP_LOG_DOMAIN, level, __VA_ARGS__);                           \
	} while (0)

#define tp_error_log(...) TP_LOG_AT(TP_LOG_ERROR, __VA_ARGS__)
#define tp_warn(...)      TP_LOG_AT(TP_LOG_WARN, __VA_ARGS__)
#define tp_info(...)      TP_LOG_AT(TP_LOG_INFO, __VA_ARGS__)
#define tp_debug(...)     TP_LOG_AT(TP_LOG_DEBUG, __VA_ARGS__)

#endif
