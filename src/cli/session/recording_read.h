/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises and reads the recording that a command was asked for. */
#ifndef TRAINPROF_SRC_CLI_SESSION_RECORDING_READ_H
#define TRAINPROF_SRC_CLI_SESSION_RECORDING_READ_H

#include "analysis_session.h"
#include "cli/options/command.h"

/* True for a recording, and for a file inside one. */
bool tp_recording_holds(const char *path);

/* True if an argument that may also be a number or a name is meant as a path: it exists. */
bool tp_recording_is_path(const char *word);

/* Finds, reads and judges the recording that an argument refers to; NULL for the last one here. On
 * stderr it draws the progress, and says so if the recording was not closed; neither with -q.
 * Errors  as tp_recordings_find(), tp_analysis_session_open(). */
TP_MUST_CHECK enum tp_status tp_recording_read(struct tp_analysis_session *reading,
					       const struct tp_cli *cli, const char *word,
					       const struct tp_analysis_session_options *options,
					       struct tp_error *err);

#endif
