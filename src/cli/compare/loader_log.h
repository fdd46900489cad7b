/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what src/python/trainprof/_loader.py wrote about the loaders of a tried run. */
#ifndef TRAINPROF_SRC_CLI_COMPARE_LOADER_LOG_H
#define TRAINPROF_SRC_CLI_COMPARE_LOADER_LOG_H

#include "trainprof/base/buf.h"

#include <stdbool.h>
#include <stddef.h>

enum { TP_LOADER_PLACES_MAX = 8 };

/* A place of the program that makes loaders, with what changed there. */
struct tp_loader_place {
	char *place; /* "/home/me/train.py:25"; heap */
	char *text;  /* "num_workers=0->2 persistent_workers=False->True"; heap */
};

struct tp_loader_log {
	bool is_known;                                        /* a run is over */
	struct tp_loader_place changed[TP_LOADER_PLACES_MAX]; /* each place once */
	size_t n_changed;
	char *kept_because; /* of the first loader that was left as it was; heap, or NULL */
};

/* Reads the file. None is the same as an empty one: the program made no loader. */
void tp_loader_log_read(struct tp_loader_log *out, const char *path);
/* Writes the line as it has to be: "/home/me/train.py:25  DataLoader(..., num_workers=2)". */
void tp_loader_log_describe(struct tp_buf *out, const struct tp_loader_place *place);
void tp_loader_log_release(struct tp_loader_log *log);

#endif
