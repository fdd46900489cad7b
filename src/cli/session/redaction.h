/* SPDX-License-Identifier: Apache-2.0 */
/* Removes confidential data from a loaded recording. The files on disk are not changed. */
#ifndef TRAINPROF_SRC_CLI_SESSION_REDACTION_H
#define TRAINPROF_SRC_CLI_SESSION_REDACTION_H

#include "trainprof/base/status.h"
#include "trainprof/model/profile.h"

enum {
	TP_REDACT_COMMAND = 1, /* arguments of all processes, names of other programs */
	TP_REDACT_PATHS = 2,   /* folders; names of files stay */
	TP_REDACT_HOSTS = 4,   /* names of hosts */
	TP_REDACT_ENV = 8,     /* values of environment variables; names stay */
};

/* Parses "command,paths,hosts,env", any of them, or "all". NULL = none.
 * Errors  TP_USAGE. */
TP_MUST_CHECK enum tp_status tp_redaction_parse(unsigned *out, const char *words,
						struct tp_error *err);

/* Call after the analysis, which needs paths to recognise libraries, and before rules, which fill
 * texts. */
void tp_redaction_apply(unsigned what, struct tp_trace *trace, struct tp_profile *profile);

#endif
