/* SPDX-License-Identifier: Apache-2.0 */
/* Masks secrets in recorded command lines and environments. */
#ifndef TRAINPROF_BASE_SECRET_H
#define TRAINPROF_BASE_SECRET_H

#include "trainprof/base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* replaces a secret */
#define TP_SECRET_MASK "***"

/* True if a value of that name is a secret: "HF_TOKEN", "--api-key", "db.password". Names of files
 * that hold a secret ("password-file") and names that only sound like one ("eos_token", "sort-key")
 * do not count. */
bool tp_secret_is_name(const char *name, size_t len);

/* State from one argument to the next, because the value of "--password" is the next one.
 * Zero-initialised. */
struct tp_secret_scan {
	bool expects_value;
};

/* Appends an argument with its secrets masked: values after "=" or ":" of names of secrets, also
 * inside code and addresses; passwords of URLs; the word after "Bearer"; words that begin like the
 * tokens of well-known services. Arguments that contain blanks are parsed as command lines. */
void tp_secret_add_argument(struct tp_buf *out, struct tp_secret_scan *scan, const char *argument);

/* Appends the value of an environment variable, masked if its name is a secret's. */
void tp_secret_add_variable(struct tp_buf *out, const char *name, const char *value);

#endif
