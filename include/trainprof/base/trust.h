/* SPDX-License-Identifier: Apache-2.0 */
/* Who could have put a file there: what others can write must not steer a program of the caller. */
#ifndef TRAINPROF_BASE_TRUST_H
#define TRAINPROF_BASE_TRUST_H

#include "trainprof/base/status.h"

#include <stdbool.h>
#include <sys/stat.h>

/*
 * Whether a file or directory belongs to the caller (the effective user) or to root, and nobody
 * else may write it; of a symbolic link both the link and what it leads to. A group may write where
 * it is the owner's own: of the same number as the user and without other members.
 *
 * Errors  TP_DENIED: says whose it is or who may write it, and what to type. TP_ABSENT, TP_IO.
 */
TP_MUST_CHECK enum tp_status tp_trust_check(const char *path, struct tp_error *err);
/* Whether tp_trust_check() gives TP_OK. */
bool tp_trust_is_given(const char *path);

#endif
