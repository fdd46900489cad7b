/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises the program that wrote a JSON trace, by marks that only this program writes. */
#ifndef TRAINPROF_SRC_IMPORT_JSON_TRACE_MAKER_H
#define TRAINPROF_SRC_IMPORT_JSON_TRACE_MAKER_H

#include "import/json/json_walk.h"

#include "trainprof/base/status.h"

#include <stdbool.h>

enum tp_trace_mark_place {
	TP_MARK_MEMBER,   /* key of a member next to the events */
	TP_MARK_PROCESS,  /* name or label of a process, from metadata */
	TP_MARK_CATEGORY, /* category of an event that Kineto does not have */
	TP_MARK_NAME,     /* name of an event without a category */
	TP_MARK_TEXT,     /* category of an event whose time is a long text */
};

struct tp_trace_maker {
	const char *name; /* "Ascend's profiler" */
	/* Command to type; for one with a reader a note behind that command, or NULL. */
	const char *remedy;
	const char *reader; /* name of its importer; NULL = none */
};

/* Returns NULL if the text is not a mark. */
const struct tp_trace_maker *tp_trace_maker_find(enum tp_trace_mark_place place,
						 const struct tp_json_slice *text);
/* Returns the name of the importer for the maker whose mark the first bytes of a file have; NULL if
 * there is no mark, or no importer. */
const char *tp_trace_maker_reader(const unsigned char *head, size_t size);
/* Fails with TP_PARSE and the command to type. */
enum tp_status tp_trace_maker_error(const struct tp_trace_maker *maker, const char *path,
				    struct tp_error *err);

#endif
