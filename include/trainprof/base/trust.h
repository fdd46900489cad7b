/* SPDX-License-Identifier: Apache-2.0 */
/* Checks who could have written a file: a file that others can write must not control a program of
 * the caller. */
#ifndef TRAINPROF_BASE_TRUST_H
#define TRAINPROF_BASE_TRUST_H

#include "trainprof/base/status.h"

#include <stdbool.h>
#include <sys/stat.h>

/*
 * Checks that a file or directory belongs to the caller (the effective user) or to root and that no
 * other user may write it; for a symbolic link, both the link and its target. Group write
 * permission is accepted for the owner's own group, which has the user's number and no other
 * members.
 *
 * Errors  TP_DENIED: says who owns it or who may write it, and what to type. TP_ABSENT, TP_IO.
 */
TP_MUST_CHECK enum tp_status tp_trust_check(const char *path, struct tp_error *err);
/* True if tp_trust_check() returns TP_OK. */
bool tp_trust_is_given(const char *path);

#endif
