/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads an XSpace, which XProf writes for JAX, TensorFlow and torch_xla (HOST.xplane.pb): the
 * devices and threads of one host are a rank. Planes are read one after the other, so that memory
 * depends on the largest of them and not on the file.
 *
 * Format: openxla/xla, xplane.proto, and openxla/xprof, xplane_schema, read 2026-11-22.
 */
#include "import/reader/importer.h"
#include "plane_bytes.h"
#include "xplane_emit.h"

#include "trainprof/base/arena.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/stream.h"
#include "trainprof/model/run_info.h"

#include <stdlib.h>
#include <string.h>

enum { SPACE_PLANES = 1, SPACE_ERRORS = 2, SPACE_WARNINGS = 3, SPACE_HOSTNAMES = 4 };
enum { TEXT_MAX = 1 << 16, DEVICES_MAX = 1024 };

struct xprof_reader {
	struct tp_rank_writer *writer;
	struct tp_stream *stream;
	struct tp_plane_bytes bytes;
	struct tp_protobuf body;        /* of the current field, in `bytes` */
	struct tp_device_info *devices; /* heap */
	struct tp_arena names;          /* of devices */
	size_t n_devices;
	size_t devices_capacity;
	bool keeps_python;
	bool is_cut;
};

/* ---- the bytes of the file ---- */

static bool read_varint(struct xprof_reader *reader, uint64_t *out)
{
	unsigned char bytes[10];
	for (size_t n = 0; n < sizeof(bytes);) {
		if (tp_stream_read(reader->stream, &bytes[n], 1) != 1) {
			reader->is_cut |= n > 0;
			return false;
		}
		if (bytes[n++] & 0x80)
			continue;
		struct tp_protobuf rest = {bytes, n};
		return tp_protobuf_varint(&rest, out);
	}
	reader->is_cut = true;
	return false;
}

/* ---- planes ---- */

static void add_device(struct xprof_reader *reader, struct tp_xplane_emitter *emitter,
		       enum tp_xplane_kind kind, int32_t number)
{
	if (reader->n_devices == DEVICES_MAX)
		return;
	struct tp_device_info info = tp_xplane_device(emitter, kind, number);
	info.name = tp_arena_strdup(&reader->names, info.name);
	TP_ARRAY_PUSH(reader->devices, reader->n_devices, reader->devices_capacity) = info;
}

static void note_process(struct xprof_reader *reader, const struct tp_xplane *plane)
{
	struct tp_xstats stats;
	struct tp_rank_info *info = tp_rank_info(reader->writer);
	tp_xplane_stats(plane, &stats);
	uint64_t pid = tp_xstats_number(&stats, TP_XSTAT_PROCESS);
	if (!info->pid && pid <= INT32_MAX)
		info->pid = (int64_t)pid;
}

static void read_plane(struct xprof_reader *reader, const struct tp_protobuf *message)
{
	struct tp_protobuf name;
	struct tp_xplane plane;
	int32_t device;
	tp_xplane_name(message, &name);
	enum tp_xplane_kind kind = tp_xplane_kind(&name, &device);
	if (kind == TP_XPLANE_OTHER)
		return;
	tp_xplane_init(&plane, message);
	struct tp_xplane_emitter emitter = {.writer = reader->writer,
					    .plane = &plane,
					    .bytes = &reader->bytes,
					    .keeps_python = reader->keeps_python};
	if (kind == TP_XPLANE_HOST) {
		note_process(reader, &plane);
		tp_xplane_emit_host(&emitter);
	} else {
		add_device(reader, &emitter, kind, device);
		if (kind == TP_XPLANE_GPU)
			tp_xplane_emit_gpu(&emitter, device);
		else
			tp_xplane_emit_tpu(&emitter, device);
	}
	if (plane.is_damaged)
		tp_rank_writer_skip(reader->writer,
				    "the rest of a plane whose bytes make no sense");
	tp_buf_release(&emitter.scratch);
	free(emitter.names);
	tp_xplane_release(&plane);
}

static void read_field(struct xprof_reader *reader, uint32_t number, const struct tp_protobuf *body)
{
	struct tp_rank_info *info = tp_rank_info(reader->writer);
	if (number == SPACE_PLANES)
		read_plane(reader, body);
	else if (number == SPACE_ERRORS || number == SPACE_WARNINGS)
		tp_rank_writer_skip(reader->writer, "records that the profiler says it lost");
	else if (number == SPACE_HOSTNAMES && !info->host && body->len && body->len < TEXT_MAX)
		info->host =
			tp_rank_writer_text(reader->writer, (const char *)body->bytes, body->len);
}

/* An XSpace has no fields other than texts and messages. */
static void read_space(struct xprof_reader *reader)
{
	uint64_t tag;
	uint64_t len;
	while (!reader->is_cut && read_varint(reader, &tag)) {
		if ((tag & 7) != TP_PROTOBUF_BYTES || !read_varint(reader, &len)) {
			reader->is_cut = true;
			return;
		}
		reader->is_cut |=
			!tp_plane_bytes_read(&reader->bytes, reader->stream, len, &reader->body);
		read_field(reader, (uint32_t)(tag >> 3), &reader->body);
	}
}

static void reader_release(struct xprof_reader *reader)
{
	tp_arena_release(&reader->names);
	free(reader->devices);
	tp_plane_bytes_release(&reader->bytes);
}

static enum tp_status fail_cut(const struct xprof_reader *reader, const char *name,
			       struct tp_error *err)
{
	static const char replaced[] = "\xef\xbf\xbd"; /* by converters, for what is no text */
	if (reader->body.len &&
	    memmem(reader->body.bytes, reader->body.len, replaced, sizeof(replaced) - 1))
		(void)tp_fail(err, TP_PARSE, "'%s' was copied as text: bytes of it are lost", name);
	else
		(void)tp_fail(err, TP_PARSE, "'%s' is damaged: it was cut, or bytes of it are lost",
			      name);
	tp_error_next(err, "trainprof import FILE   (the binary file, copied again)");
	return TP_PARSE;
}

static enum tp_status fail_empty(const struct tp_rank_info *info, const char *name,
				 struct tp_error *err)
{
	if (!info->n_events)
		return tp_fail(err, TP_PARSE, "'%s' holds no event of a device or a thread", name);
	return tp_fail(err, TP_PARSE, "'%s': none of its %llu events is of use: %s", name,
		       (unsigned long long)info->n_events,
		       info->skipped_because ? info->skipped_because
					     : "they are marks without length");
}

static enum tp_status xprof_read(struct tp_import_reader *import,
				 const struct tp_import_source *source, struct tp_error *err)
{
	struct xprof_reader reader = {.writer = tp_rank_writer_begin(import),
				      .bytes = TP_PLANE_BYTES_INIT,
				      .stream = source->stream};
	if (!reader.writer)
		return tp_fail(err, TP_PARSE, "more than %d ranks", TP_RANKS_MAX);
	struct tp_rank_info *info = tp_rank_info(reader.writer);
	reader.keeps_python = tp_import_options(import)->keeps_python;
	read_space(&reader);
	tp_rank_writer_devices(reader.writer, reader.devices, reader.n_devices);
	info->is_cut = reader.is_cut;
	enum tp_status status = TP_OK;
	const char *name = source->member ? source->member : source->path;
	if (!info->n_kept && reader.is_cut)
		status = fail_cut(&reader, name, err);
	else if (!info->n_kept)
		status = fail_empty(info, name, err);
	reader_release(&reader);
	tp_rank_writer_end(reader.writer, false);
	return status;
}

/* A plane comes first, and begins with its name. pprof and Perfetto begin with the same byte. */
static bool xprof_probe(const unsigned char *head, size_t size)
{
	static const char *const names[] = {"/host:", "/device:", "Task Environment", "#Chip"};
	struct tp_protobuf rest = {head, size};
	struct tp_protobuf name;
	uint64_t tag;
	uint64_t len;
	if (!tp_protobuf_varint(&rest, &tag) || tag != (SPACE_PLANES << 3 | TP_PROTOBUF_BYTES) ||
	    !tp_protobuf_varint(&rest, &len))
		return false;
	if (len < rest.len)
		rest.len = (size_t)len;
	tp_xplane_name(&rest, &name);
	for (size_t i = 0; i < TP_ARRAY_LEN(names); i++)
		if (tp_protobuf_begins(&name, names[i]))
			return true;
	return false;
}

const struct tp_importer tp_importer_xprof = {
	.info =
		{
			.name = "xprof",
			.summary = "XProf (JAX, TensorFlow, torch_xla), HOST.xplane.pb, one for "
				   "each host",
			.keeps = "kernels, copies, XLA and TensorFlow operators, runtime calls, "
				 "steps, named ranges, outermost Python functions",
			.loses =
				"HLO programs, counters, flows, memory events, what the cores of a "
				"TPU do beside XLA operations",
		},
	.recognises = xprof_probe,
	.read = xprof_read,
};
