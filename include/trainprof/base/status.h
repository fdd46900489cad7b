/* SPDX-License-Identifier: Apache-2.0 */
/* Error reporting of every fallible function of trainprof: one status, one line of text. */
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

/* One message, written where the cause is known: one line, no full stop, naming the file, pid or
 * event. `next` holds a command that the reader can type, or is empty. Owned by the caller; a
 * function changes it only when it fails. NULL is allowed everywhere. */
struct tp_error {
	enum tp_status status;
	char text[240];
	char next[200];
};

#define TP_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define TP_MUST_CHECK        __attribute__((warn_unused_result))

/* Fills `err` (may be NULL) and returns `status`, so that reporting a cause takes one statement. */
enum tp_status tp_fail(struct tp_error *err, enum tp_status status, const char *format, ...)
	TP_PRINTF(3, 4);

/* The same for a failed system call: appends ": " and the text of `error` in lower case ("no space
 * left on device"), and chooses the status: TP_ABSENT, TP_DENIED, TP_EXISTS or TP_IO. If the format
 * gives an empty text, the message is that text alone. EMFILE has a next command where the limit
 * can be raised, others have none. */
enum tp_status tp_fail_errno(struct tp_error *err, int error, const char *format, ...)
	TP_PRINTF(3, 4);

/* Returns the text of an errno value in lower case ("no space left on device"). Valid until the
 * thread's next call; thread-safe, never translated. */
const char *tp_errno_text(int error);

/* Adds the command to type next to an error just filled. Does nothing if err is NULL. */
void tp_error_next(struct tp_error *err, const char *format, ...) TP_PRINTF(2, 3);
/* The same for a line that contains a name, which is quoted where a shell needs it. A line that
 * does not fit is left out, because half of it would do something else. */
void tp_error_next_word(struct tp_error *err, const char *before, const char *word,
			const char *after);

/* Adds the command that raises the limit of open files, unless it is as high as it can be. */
void tp_error_next_more_files(struct tp_error *err);

/* The status in words ("permission denied"). Static storage. */
const char *tp_status_text(enum tp_status status);

#endif
