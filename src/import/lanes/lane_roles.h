/* SPDX-License-Identifier: Apache-2.0 */
/* The state of reading one file by tables of lanes, and what follows when all names are known. */
#ifndef TRAINPROF_SRC_IMPORT_LANES_LANE_ROLES_H
#define TRAINPROF_SRC_IMPORT_LANES_LANE_ROLES_H

#include "lanes.h"

#include "import/json/trace_event.h"
#include "import/reader/span_store.h"
#include "import/reader/thread_map.h"

#include "trainprof/base/arena.h"
#include "trainprof/base/buf.h"
#include "trainprof/base/map.h"

enum { TP_LANE_LETTERS = 32 };

struct tp_lane_name {
	const char *text; /* in the arena; NULL = none */
	size_t len;
};

/* States whether the spans of a lane are passed on when they are read. */
enum tp_lane_begin {
	TP_LANE_UNTRIED, /* it had no span yet */
	TP_LANE_EARLY,
	TP_LANE_LATE, /* they are kept: its role, or which of them stay, is known at the end */
};

/* One for each thread of the map. */
struct tp_lane_state {
	struct tp_lane_name thread;
	size_t n_events;
	size_t n_untyped;
	const struct tp_lane_row *row; /* NULL = left out */
	int32_t device;
	uint16_t track;
	enum tp_lane_begin begin;
};

struct tp_lanes_reader {
	const struct tp_lane_dialect *dialect;
	struct tp_rank_writer *writer;
	struct tp_rank_info *info;
	struct tp_thread_map threads;
	struct tp_lane_state *lanes; /* heap, by index of threads */
	size_t n_lanes;
	size_t lanes_capacity;
	struct tp_map processes;    /* pid -> index into process_names */
	struct tp_lane_name *names; /* of processes; heap */
	size_t n_names;
	size_t names_capacity;
	struct tp_arena arena;
	struct tp_span_store spans; /* `track` is the lane, `kind` as in rows of events */
	struct tp_span_store cores; /* of lanes whose operations contain others */
	struct tp_buf scratch;
	struct tp_trace_event_reader events;
	size_t link_place; /* of the link among wanted arguments */
	/* Rows of events that a text may fit, by its place and first letter: one bit for each. */
	uint64_t rows_by_letter[TP_LANE_EVENT_PLACES][TP_LANE_LETTERS];
	const char *named_lanes; /* pattern of the user; NULL = roles are those of rows */
	struct tp_category_cache categories;
	struct tp_map devices; /* pid -> number, of processes with such lanes */
	bool is_summarised;    /* a summary lane represents the computing */
};

/* Passes on a span whose `track` is the lane if nothing that follows can change what it is. Returns
 * false if it has to be kept. */
bool tp_lane_roles_pass(struct tp_lanes_reader *reader, struct tp_lane_state *lane,
			const struct tp_span *span);
/* Makes a lane that gets another name start again, with the role of that name. */
void tp_lane_roles_renamed(struct tp_lane_state *lane);
/* Gives each lane its role: that of the first row it fits, or of the user's names. */
void tp_lane_roles_find(struct tp_lanes_reader *reader);
/* Moves the spans that stay to the front, and those of cores into their own store. */
void tp_lane_roles_apply(struct tp_lanes_reader *reader);
/* Emits the self time of operations that contain others. */
void tp_lane_roles_emit_cores(struct tp_lanes_reader *reader);

#endif
