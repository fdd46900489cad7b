/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads the reasons of gaps in which the program or trainprof was stopped. */
#include "trainprof/model/stop.h"

#include "trainprof/base/clock.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char of_process[] = ", process ";
static const char for_ms[] = " for ";

static const char *const kind_texts[TP_N_STOP_KINDS] = {
#define X(id, text) [TP_STOP_##id] = (text),
	TP_STOP_MAP(X)
#undef X
};

const char *tp_stop_kind_text(enum tp_stop_kind kind)
{
	return kind < TP_N_STOP_KINDS ? kind_texts[kind] : "stopped";
}

bool tp_stop_is_of_program(enum tp_stop_kind kind)
{
	return kind != TP_STOP_MEASURER && kind != TP_STOP_DISK_FULL;
}

void tp_stop_format(char out[TP_STOP_REASON_SIZE], enum tp_stop_kind kind, pid_t pid,
		    uint64_t asleep_ns)
{
	int length = snprintf(out, TP_STOP_REASON_SIZE, "%s", tp_stop_kind_text(kind));
	char *end = out + length;
	size_t room = (size_t)(TP_STOP_REASON_SIZE - length);
	if (asleep_ns)
		snprintf(end, room, "%s%llu ms", for_ms,
			 (unsigned long long)(asleep_ns / TP_NS_PER_MS));
	else if (pid > 0)
		snprintf(end, room, "%s%d", of_process, (int)pid);
}

/* Returns the decimal number after `prefix`; 0 if there is none. */
static unsigned long long number_after(const char *text, const char *prefix)
{
	size_t length = strlen(prefix);
	if (strncmp(text, prefix, length) != 0 || text[length] < '0' || text[length] > '9')
		return 0;
	return strtoull(text + length, NULL, 10);
}

bool tp_stop_parse(struct tp_stopped_time *out, const char *reason)
{
	for (int kind = 0; kind < TP_N_STOP_KINDS; kind++) {
		size_t length = strlen(kind_texts[kind]);
		if (strncmp(reason, kind_texts[kind], length) != 0)
			continue;
		unsigned long long pid = number_after(reason + length, of_process);
		unsigned long long asleep_ms = number_after(reason + length, for_ms);
		*out = (struct tp_stopped_time){.kind = (enum tp_stop_kind)kind};
		if (pid <= INT_MAX)
			out->pid = (pid_t)pid;
		if (asleep_ms <= UINT64_MAX / TP_NS_PER_MS)
			out->length_ns = asleep_ms * TP_NS_PER_MS;
		return true;
	}
	return false;
}
