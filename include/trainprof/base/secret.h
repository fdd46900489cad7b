/* SPDX-License-Identifier: Apache-2.0 */
/* Hides secrets in what is written of command lines and environments. */
#ifndef TRAINPROF_BASE_SECRET_H
#define TRAINPROF_BASE_SECRET_H

#include "trainprof/base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* What stands for a secret. */
#define TP_SECRET_MASK "***"

/*
 * Whether a value of that name is a secret: "HF_TOKEN", "--api-key", "db.password". Not so the
 * names of files that hold one ("password-file"), and of what only sounds like it ("eos_token",
 * "sort-key").
 */
bool tp_secret_is_name(const char *name, size_t len);

/* One argument after the other: the value of "--password" is the next one. Zero-initialised. */
struct tp_secret_scan {
	bool expects_value;
};

/*
 * Append an argument with the secrets in it masked: values of names as above after "=" or ":", also
 * inside of code and addresses; passwords of URLs; what follows "Bearer"; words that begin like the
 * tokens of well-known services. Arguments with blanks in them are read as command lines.
 */
void tp_secret_add_argument(struct tp_buf *out, struct tp_secret_scan *scan, const char *argument);

/* The value of an environment variable. */
void tp_secret_add_variable(struct tp_buf *out, const char *name, const char *value);

#endif
