/* SPDX-License-Identifier: Apache-2.0 */
/* Reads Chrome JSON traces that are not Kineto's, driven by tables: the names of a process and of a
 * thread determine the role of a lane, and an argument or a category the kind of an event. Where
 * names may come after the events, spans are kept (32 bytes each) until everything has been
 * read. */
#ifndef TRAINPROF_SRC_IMPORT_LANES_LANES_H
#define TRAINPROF_SRC_IMPORT_LANES_LANES_H

#include "import/reader/importer.h"
#include "import/reader/maker_sums.h"
#include "import/reader/text_pattern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_json_slice;

enum tp_lane_use {
	TP_LANE_THREAD,
	TP_LANE_STREAM,  /* of a device */
	TP_LANE_CORE,    /* of a device, whose operations contain others: their self time counts */
	TP_LANE_SUMMARY, /* a lane with all computing of a device, for tools that do not record
			    which operations compute */
	TP_LANE_CHECK,   /* a lane with sums of the maker's, only to be compared */
};

/* The first row that matches a lane applies; lanes without a row are left out. Numbers in the names
 * (see text_pattern.h) are those of the device and of the stream. */
struct tp_lane_row {
	const char *process;
	const char *thread; /* NULL = any */
	enum tp_lane_use use;
	uint8_t kind;          /* of events that match no row of events */
	int64_t first_stream;  /* added to the number of a stream */
	const char *unless;    /* left out if a process of that name ("%": number of the device) has
				  events; NULL = never */
	enum tp_maker_sum sum; /* of the maker's sums: that in which its work counts */
};

enum { TP_LANE_ARGS_MAX = 6 };

enum tp_lane_event_place {
	TP_LANE_EVENT_NAME,
	TP_LANE_EVENT_CATEGORY,
	TP_LANE_EVENT_ARG, /* the first of the dialect's arguments; plus n: the n-th after it */
	TP_LANE_EVENT_PLACES = TP_LANE_EVENT_ARG + TP_LANE_ARGS_MAX
};

/* Values in addition to kinds of spans. */
enum {
	TP_LANE_EVENT_DEFAULT = TP_N_SPAN_KINDS, /* determined by its lane */
	TP_LANE_EVENT_LEFT_OUT,
	TP_LANE_EVENT_THREAD_CALL,     /* a call on a thread, otherwise determined by its lane */
	TP_LANE_EVENT_THREAD_OPERATOR, /* an operator on a thread */
	TP_LANE_EVENT_UNTYPED,         /* work whose kind the maker does not record */
};

/* Determines the kind of an event: the first row that matches. */
struct tp_lane_event_row {
	unsigned place;   /* enum tp_lane_event_place */
	const char *text; /* a pattern */
	uint8_t kind;
	const char *name; /* of such spans; NULL = their own */
};

struct tp_lane_dialect {
	const struct tp_lane_row *lanes;
	size_t n_lanes;
	const struct tp_lane_event_row *events;
	size_t n_events;                    /* up to 64 */
	const char *args[TP_LANE_ARGS_MAX]; /* names of the arguments that rows of events use */
	const char *link;    /* name of the argument that links a call and its work; NULL = none */
	char name_after;     /* a name begins after the first of these; NUL = names are complete */
	bool lacks_kineto;   /* categories of torch.profiler are not its own: from another file */
	bool has_thread_ids; /* threads have system thread ids: one may have two lanes */
	bool arg_decides; /* events are left out if the first argument has a value without a row */
	/* Returns the detail from a span's name and arguments; 0 = none. NULL = never any. */
	uint32_t (*detail)(struct tp_rank_writer *writer, const struct tp_json_slice *name,
			   const struct tp_json_slice *args);
	bool has_named_lanes;  /* the lanes that the user named are streams, one device for each
				  process; there is one row of lanes */
	bool drops_instants;   /* drops ranges and calls of threads that have no length */
	bool names_come_first; /* before the events of their lanes, and no row has `unless` or
				  `sum`: spans need not be kept until the end */
	/* Returns the name of an event of that kind, from its own name and the values of `args`; 0
	 * = its own. NULL = always its own. */
	uint32_t (*name)(struct tp_rank_writer *writer, uint8_t kind,
			 const struct tp_json_slice *name, const struct tp_json_slice *args);
	/* Fills in what is known about the rank besides its spans, before it ends. NULL =
	 * nothing. */
	void (*complete)(struct tp_rank_writer *writer, const struct tp_import_source *source);
};

/* Reads one source as one rank.
 * Errors  TP_PARSE: more ranks than can be imported, no useful event. */
TP_MUST_CHECK enum tp_status tp_lanes_read(const struct tp_lane_dialect *dialect,
					   struct tp_import_reader *import,
					   const struct tp_import_source *source,
					   struct tp_error *err);

#endif
