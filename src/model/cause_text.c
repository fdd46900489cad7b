/* SPDX-License-Identifier: Apache-2.0 */
/* Describes what a blocked thread waits for. */
#include "trainprof/model/cause_text.h"

const char *tp_cause_text(enum tp_cause cause)
{
	static const char *const texts[TP_N_CAUSES] = {
		[TP_CAUSE_FILE] = "a file",
		[TP_CAUSE_DISK] = "the disk",
		[TP_CAUSE_PAGE_FAULT] = "a page to be read in",
		[TP_CAUSE_PIPE] = "a pipe",
		[TP_CAUSE_SOCKET] = "a socket",
		[TP_CAUSE_POLL] = "several descriptors (poll)",
		[TP_CAUSE_FUTEX] = "a lock or a condition (futex)",
		[TP_CAUSE_SLEEP] = "a time to pass (sleep)",
		[TP_CAUSE_CHILD] = "a child process to end",
		[TP_CAUSE_TERMINAL] = "the terminal",
		[TP_CAUSE_GIL] = "the interpreter lock",
	};
	return cause < TP_N_CAUSES && texts[cause] ? texts[cause] : "something unknown";
}
