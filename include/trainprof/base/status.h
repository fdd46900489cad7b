/* SPDX-License-Identifier: Apache-2.0 */
/* How every fallible function of trainprof reports: one status, one line of text. */
#ifndef TRAINPROF_BASE_STATUS_H
#define TRAINPROF_BASE_STATUS_H

#define TP_STATUS_MAP(X)                                                                           \
	X(OK, "success")                                                                           \
	X(NOMEM, "out of memory")                                                                  \
	X(IO, "input or output failed")                                                            \
	X(PARSE, "malformed input")                                                                \
	X(VERSION, "written by another version")                                                   \
	X(DENIED, "permission denied")                                                             \
	X(ABSENT, "not present on this machine")                                                   \
	X(BUSY, "in use by another tool")                                                          \
	X(EXISTS, "already there")                                                                 \
	X(USAGE, "used in a way that does not exist")                                              \
	X(TARGET, "the profiled program did not start")

enum tp_status {
#define X(name, text) TP_##name,
	TP_STATUS_MAP(X)
#undef X
};

/*
 * What went wrong, said once, where the cause is known. One line, no full stop; names the file,
 * pid or event. `next` holds what the reader can type, or is empty. Owned by the caller; a
 * function touches it only when it fails. Passing NULL is allowed everywhere.
 */
struct tp_error {
	enum tp_status status;
	char text[240];
	char next[200];
};

#define TP_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define TP_MUST_CHECK        __attribute__((warn_unused_result))

/* Fill `err` (may be NULL) and return `status`, so that a cause is one statement. */
enum tp_status tp_fail(struct tp_error *err, enum tp_status status, const char *format, ...)
	TP_PRINTF(3, 4);

/*
 * The same for a failed system call: appends ": " and what errno value `error` means, in lower case
 * ("no space left on device"), and chooses the status: TP_ABSENT, TP_DENIED, TP_EXISTS or TP_IO.
 * Without a text of its own ("%s" of "") the cause stands alone.
 */
enum tp_status tp_fail_errno(struct tp_error *err, int error, const char *format, ...)
	TP_PRINTF(3, 4);

/* What an errno value means, in lower case ("no space left on device"). The thread's until its next
 * call; safe with threads, never translated. */
const char *tp_errno_text(int error);

/* Add the line to type next to an error just filled. Does nothing when err is NULL. */
void tp_error_next(struct tp_error *err, const char *format, ...) TP_PRINTF(2, 3);
/* The same for a line with a name in it, which is put into quotes where a shell needs them. A line
 * that does not fit is left out: half of it would do something else. */
void tp_error_next_word(struct tp_error *err, const char *before, const char *word,
			const char *after);

/* The status in words ("permission denied"). Static storage. */
const char *tp_status_text(enum tp_status status);

#endif
