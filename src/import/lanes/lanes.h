/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads traces in Chrome's JSON that are not Kineto's, by tables: in them the names of a process
 * and of a thread say what a lane is, and an argument or a category what an event is. Names may
 * come behind the events, so spans are kept (32 bytes each) until all has been read.
 */
#ifndef TRAINPROF_SRC_IMPORT_LANES_LANES_H
#define TRAINPROF_SRC_IMPORT_LANES_LANES_H

#include "import/reader/importer.h"
#include "import/reader/text_pattern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_json_slice;

enum tp_lane_use {
	TP_LANE_THREAD,
	TP_LANE_STREAM,  /* of a device */
	TP_LANE_CORE,    /* of a device, whose operations contain others: their own time counts */
	TP_LANE_SUMMARY, /* of a device's computing, read where the maker does not say which of its
			    work computes */
};

/* The first that fits a lane is its row; lanes without a row are left out. Numbers in the names
 * (see text_pattern.h) are those of the device and of the stream. */
struct tp_lane_row {
	const char *process;
	const char *thread; /* NULL: any */
	enum tp_lane_use use;
	uint8_t kind;         /* of events that no row of events names */
	int64_t first_stream; /* added to the number of a stream */
	const char *unless;   /* left out when a process of that name has events: "%" in it is the
				 number of the same device; NULL */
};

enum { TP_LANE_ARGS_MAX = 6 };

enum tp_lane_event_place {
	TP_LANE_EVENT_NAME,
	TP_LANE_EVENT_CATEGORY,
	TP_LANE_EVENT_ARG, /* the first of the dialect's arguments; plus n: the n-th after it */
	TP_LANE_EVENT_PLACES = TP_LANE_EVENT_ARG + TP_LANE_ARGS_MAX
};

/* Beside kinds of spans. */
enum {
	TP_LANE_EVENT_DEFAULT = TP_N_SPAN_KINDS, /* what its lane says */
	TP_LANE_EVENT_LEFT_OUT,
	TP_LANE_EVENT_THREAD_CALL,     /* a call on a thread, else what its lane says */
	TP_LANE_EVENT_THREAD_OPERATOR, /* an operator, likewise */
	TP_LANE_EVENT_UNTYPED,         /* work of which the maker does not say what it is */
};

/* What an event is: the first that fits. */
struct tp_lane_event_row {
	unsigned place;   /* enum tp_lane_event_place */
	const char *text; /* a pattern */
	uint8_t kind;
	const char *name; /* of such spans; NULL: their own */
};

struct tp_lane_dialect {
	const struct tp_lane_row *lanes;
	size_t n_lanes;
	const struct tp_lane_event_row *events;
	size_t n_events;
	const char *args[TP_LANE_ARGS_MAX]; /* names of those that rows of events ask for */
	const char *link;    /* name of the one that joins a call and its work; NULL */
	char name_after;     /* a name begins behind the first of these; NUL: it is whole */
	bool has_thread_ids; /* threads have the numbers of the system: one may have two lanes */
	bool arg_decides; /* of values of the first argument without a row the event is left out */
	/* What a span's name and arguments say beside; 0 = nothing. NULL: nothing. */
	uint32_t (*detail)(struct tp_rank_writer *writer, const struct tp_json_slice *name,
			   const struct tp_json_slice *args);
	bool drops_instants; /* ranges and calls of threads without a length */
	/* The name of an event of that kind, by its own and the values of `args`; 0: its own. NULL:
	 * always its own. */
	uint32_t (*name)(struct tp_rank_writer *writer, uint8_t kind,
			 const struct tp_json_slice *name, const struct tp_json_slice *args);
	/* Fills what is known of the rank beside its spans, before it ends. NULL: nothing. */
	void (*complete)(struct tp_rank_writer *writer, const struct tp_import_source *source);
};

/* Read one source as one rank.
 * Errors  TP_PARSE: more ranks than can be imported, no event of use. */
TP_MUST_CHECK enum tp_status tp_lanes_read(const struct tp_lane_dialect *dialect,
					   struct tp_import_reader *import,
					   const struct tp_import_source *source,
					   struct tp_error *err);

#endif
