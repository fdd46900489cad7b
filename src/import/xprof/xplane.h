/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes one plane of an XSpace: a device or a host, with its lines (streams or threads) of
 * events.
 *
 * An event refers to its name, and its statistics refer to theirs, by numbers; the tables of names
 * come after the lines in the file. So the slices of the lines are kept until the tables are known.
 *
 * Format: openxla/xla, xla/tsl/profiler/protobuf/xplane.proto, read 2026-11-22.
 */
#ifndef TRAINPROF_SRC_IMPORT_XPROF_XPLANE_H
#define TRAINPROF_SRC_IMPORT_XPROF_XPLANE_H

#include "protobuf_read.h"

#include "trainprof/base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Statistics that trainprof uses: name in code, name in the file. */
#define TP_XSTAT_MAP(X)                                                                            \
	X(CORRELATION, "correlation_id")                                                           \
	X(MEMCPY, "memcpy_details")                                                                \
	X(MEMSET, "memset_details")                                                                \
	X(KERNEL, "kernel_details")                                                                \
	X(HLO_OP, "hlo_op")                                                                        \
	X(HLO_CATEGORY, "hlo_category")                                                            \
	X(STEP, "step_num")                                                                        \
	X(PROCESS, "process_id")                                                                   \
	X(DEVICE_VENDOR, "device_vendor")                                                          \
	X(DEVICE_TYPE, "device_type_string")                                                       \
	X(PROCESSORS, "core_count")                                                                \
	X(MEMORY, "memory_size")                                                                   \
	X(CAPABILITY_MAJOR, "compute_cap_major")                                                   \
	X(CAPABILITY_MINOR, "compute_cap_minor")

enum tp_xstat {
	TP_XSTAT_OTHER,
#define X(id, name) TP_XSTAT_##id,
	TP_XSTAT_MAP(X)
#undef X
		TP_N_XSTATS
};

struct tp_xvalue {
	uint64_t number;         /* of numeric ones; a double counts as 0 */
	struct tp_protobuf text; /* of texts, and of references to names */
};

/* Zero bits are enough to empty it: there is one for each of millions of events. */
struct tp_xstats {
	uint32_t known;                   /* a bit for each enum tp_xstat */
	struct tp_xvalue of[TP_N_XSTATS]; /* those without a bit are not initialised */
};

static inline bool tp_xstats_have(const struct tp_xstats *stats, enum tp_xstat which)
{
	return stats->known >> which & 1;
}

/* Returns 0 if it is unknown. */
static inline uint64_t tp_xstats_number(const struct tp_xstats *stats, enum tp_xstat which)
{
	return tp_xstats_have(stats, which) ? stats->of[which].number : 0;
}

/* Returns an empty text if it is unknown. */
static inline struct tp_protobuf tp_xstats_text(const struct tp_xstats *stats, enum tp_xstat which)
{
	return tp_xstats_have(stats, which) ? stats->of[which].text : (struct tp_protobuf){0};
}

struct tp_xevent_type {
	struct tp_protobuf name;
	struct tp_protobuf display_name; /* shorter; often empty */
	struct tp_protobuf message;      /* XEventMetadata, for its statistics */
	bool has_stats;
};

/* Places in an array by ids of the file, which mostly count from 1. */
struct tp_xindex {
	struct tp_map map;
	uint32_t *places; /* of small ids: index + 1, 0 = none; heap */
	size_t n_places;
};

struct tp_xplane {
	int64_t id;
	struct tp_protobuf name;
	struct tp_protobuf message;
	struct tp_protobuf *lines; /* heap, like the tables */
	size_t n_lines;
	size_t lines_capacity;
	struct tp_xevent_type *types;
	size_t n_types;
	size_t types_capacity;
	struct tp_xindex type_ids;
	struct tp_protobuf *stat_names;
	size_t n_stat_names;
	size_t stat_names_capacity;
	struct tp_xindex stat_ids;
	uint8_t *stats;           /* enum tp_xstat by index of the name; heap */
	uint8_t stats_by_id[128]; /* the same by id, of those that take one byte in the file */
	bool is_damaged;          /* some of its bytes are not fields */
};

struct tp_xline {
	int64_t id;
	struct tp_protobuf name;
	uint64_t timestamp_ns;
	struct tp_protobuf message;
};

struct tp_xevent {
	const struct tp_xevent_type *type;
	uint64_t start_ns; /* rounded down from absolute picoseconds, like the end */
	uint64_t end_ns;
	struct tp_xstats stats; /* its own, then those of its type that it does not have itself */
};

enum tp_xevent_result {
	TP_XEVENT_OK,
	TP_XEVENT_END,
	TP_XEVENT_NO_TIME,
	TP_XEVENT_NO_NAME, /* the plane's tables do not have it: what it is cannot be known */
	TP_XEVENT_BAD
};

/* Decodes only the name: enough to decide what to do with the plane. */
void tp_xplane_name(const struct tp_protobuf *message, struct tp_protobuf *name);

/* Decodes the plane's tables. Everything that cannot be decoded is left out. */
void tp_xplane_init(struct tp_xplane *plane, const struct tp_protobuf *message);
void tp_xplane_release(struct tp_xplane *plane);
void tp_xplane_stats(const struct tp_xplane *plane, struct tp_xstats *out);

/* Decodes the line's head. tp_xline_next() then yields the events in the order of the file: `rest`
 * starts as the line's message. */
void tp_xline_init(struct tp_xline *line, const struct tp_protobuf *message);
enum tp_xevent_result tp_xline_next(const struct tp_xplane *plane, const struct tp_xline *line,
				    struct tp_protobuf *rest, struct tp_xevent *out);

#endif
