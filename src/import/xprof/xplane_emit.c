/* SPDX-License-Identifier: Apache-2.0 */
/* Functions shared by spans of devices and spans of the host. */
#include "xplane_emit.h"

#include "trainprof/base/memory.h"

#include <stdio.h>
#include <string.h>

static bool number_after(const struct tp_protobuf *name, const char *prefix, int32_t *out)
{
	if (!tp_protobuf_begins(name, prefix))
		return false;
	struct tp_protobuf rest = {name->bytes + strlen(prefix), name->len - strlen(prefix)};
	uint64_t number = tp_xplane_number(&rest);
	/* "/device:TPU:0 SparseCore 1" is a part of a device whose lines repeat others. */
	for (size_t i = 0; i < rest.len; i++)
		if (rest.bytes[i] < '0' || rest.bytes[i] > '9')
			return false;
	if (!rest.len || number > INT32_MAX)
		return false;
	*out = (int32_t)number;
	return true;
}

enum tp_xplane_kind tp_xplane_kind(const struct tp_protobuf *name, int32_t *device)
{
	*device = 0;
	if (number_after(name, "/device:GPU:", device))
		return TP_XPLANE_GPU;
	if (number_after(name, "/device:TPU:", device))
		return TP_XPLANE_TPU;
	if (tp_protobuf_equals(name, "/host:CPU") || tp_protobuf_equals(name, "/host:CUPTI") ||
	    tp_protobuf_equals(name, "/host:ROCTRACER"))
		return TP_XPLANE_HOST;
	return TP_XPLANE_OTHER;
}

struct tp_device_info tp_xplane_device(struct tp_xplane_emitter *emitter, enum tp_xplane_kind kind,
				       int32_t number)
{
	struct tp_xstats stats;
	tp_xplane_stats(emitter->plane, &stats);
	struct tp_protobuf vendor = tp_xstats_text(&stats, TP_XSTAT_DEVICE_VENDOR);
	struct tp_protobuf type = tp_xstats_text(&stats, TP_XSTAT_DEVICE_TYPE);
	struct tp_device_info info = {.number = number};
	tp_buf_clear(&emitter->scratch);
	if (type.len)
		tp_buf_add(&emitter->scratch, type.bytes, type.len);
	else
		tp_buf_printf(&emitter->scratch, "%.*s%s%s", (int)vendor.len,
			      vendor.len ? (const char *)vendor.bytes : "", vendor.len ? " " : "",
			      kind == TP_XPLANE_TPU ? "TPU" : "GPU");
	info.name = tp_buf_text(&emitter->scratch);
	uint64_t processors = tp_xstats_number(&stats, TP_XSTAT_PROCESSORS);
	if (processors <= UINT16_MAX)
		info.n_processors = (uint32_t)processors;
	info.memory_bytes = tp_xstats_number(&stats, TP_XSTAT_MEMORY);
	/* AMD has its own versions there. */
	uint64_t major = tp_xstats_number(&stats, TP_XSTAT_CAPABILITY_MAJOR);
	uint64_t minor = tp_xstats_number(&stats, TP_XSTAT_CAPABILITY_MINOR);
	if (!vendor.len && major < 100 && minor < 10)
		info.capability = (uint32_t)(10 * major + minor);
	return info;
}

bool tp_xplane_next_event(struct tp_xplane_emitter *emitter, const struct tp_xline *line,
			  struct tp_protobuf *rest, struct tp_xevent *out)
{
	static const char *const why[] = {
		[TP_XEVENT_NO_TIME] = "an event without a time that makes sense",
		[TP_XEVENT_NO_NAME] = "an event whose name is missing",
		[TP_XEVENT_BAD] = "a malformed event",
	};
	for (;;) {
		enum tp_xevent_result result = tp_xline_next(emitter->plane, line, rest, out);
		if (result == TP_XEVENT_END) {
			if (rest->len)
				tp_rank_writer_skip(emitter->writer, "the rest of a line whose "
								     "bytes make no sense");
			return false;
		}
		if (emitter->bytes && emitter->bytes->drop_next &&
		    rest->bytes > emitter->bytes->drop_next)
			tp_plane_bytes_drop(emitter->bytes, rest->bytes);
		tp_rank_info(emitter->writer)->n_events++;
		if (result == TP_XEVENT_OK)
			return true;
		tp_rank_writer_skip(emitter->writer, why[result]);
	}
}

struct tp_span tp_xplane_span(const struct tp_xevent *event, uint16_t track)
{
	uint64_t link = tp_xstats_number(&event->stats, TP_XSTAT_CORRELATION);
	return (struct tp_span){
		.start_ns = event->start_ns,
		.end_ns = event->end_ns,
		.track = track,
		.link = link <= UINT32_MAX ? (uint32_t)link : 0,
	};
}

uint32_t tp_xplane_type_name(struct tp_xplane_emitter *emitter, const struct tp_xevent_type *type)
{
	const struct tp_xplane *plane = emitter->plane;
	if (!emitter->names)
		emitter->names = tp_alloc((plane->n_types + 1) * sizeof(*emitter->names));
	uint32_t *known = &emitter->names[type - plane->types];
	if (!*known)
		*known = tp_rank_writer_string(emitter->writer, (const char *)type->name.bytes,
					       type->name.len) +
			 1;
	return *known - 1;
}

uint64_t tp_xplane_number(const struct tp_protobuf *text)
{
	uint64_t number = 0;
	for (size_t i = 0; i < text->len && i < 18; i++) {
		if (text->bytes[i] < '0' || text->bytes[i] > '9')
			break;
		number = number * 10 + (uint64_t)(text->bytes[i] - '0');
	}
	return number;
}
