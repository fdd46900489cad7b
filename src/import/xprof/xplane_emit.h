/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the lines of one plane into spans of a rank: those of devices and those of the host. */
#ifndef TRAINPROF_SRC_IMPORT_XPROF_XPLANE_EMIT_H
#define TRAINPROF_SRC_IMPORT_XPROF_XPLANE_EMIT_H

#include "import/reader/rank_writer.h"
#include "plane_bytes.h"
#include "xplane.h"

#include "trainprof/base/buf.h"
#include "trainprof/model/run_info.h"

/* State shared by both. */
struct tp_xplane_emitter {
	struct tp_rank_writer *writer;
	const struct tp_xplane *plane;
	struct tp_plane_bytes *bytes; /* that the plane lies in; NULL = they stay in memory */
	uint32_t *names; /* by type: the writer's string, plus one; heap, 0 = not asked for yet */
	struct tp_buf scratch;
	bool keeps_python; /* all Python functions, not only the outermost */
};

/* Kinds of planes, by name. */
enum tp_xplane_kind { TP_XPLANE_OTHER, TP_XPLANE_GPU, TP_XPLANE_TPU, TP_XPLANE_HOST };

/* Returns the kind, and for a device its number. */
enum tp_xplane_kind tp_xplane_kind(const struct tp_protobuf *name, int32_t *device);

/* Returns the plane's description of its device; the name is in `scratch`. */
struct tp_device_info tp_xplane_device(struct tp_xplane_emitter *emitter, enum tp_xplane_kind kind,
				       int32_t number);

void tp_xplane_emit_gpu(struct tp_xplane_emitter *emitter, int32_t device);
void tp_xplane_emit_tpu(struct tp_xplane_emitter *emitter, int32_t device);
void tp_xplane_emit_host(struct tp_xplane_emitter *emitter);

/* Returns the next event of the line that has valid times; others are counted as skipped. */
bool tp_xplane_next_event(struct tp_xplane_emitter *emitter, const struct tp_xline *line,
			  struct tp_protobuf *rest, struct tp_xevent *out);
/* Returns a span with the event's times on that track. Its link is the event's correlation. */
struct tp_span tp_xplane_span(const struct tp_xevent *event, uint16_t track);
/* Returns the name of the event's type as a string of the writer. */
uint32_t tp_xplane_type_name(struct tp_xplane_emitter *emitter, const struct tp_xevent_type *type);
/* Returns the decimal number at the beginning of the text; 0 if there is none. */
uint64_t tp_xplane_number(const struct tp_protobuf *text);

#endif
