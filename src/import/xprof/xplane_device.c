/* SPDX-License-Identifier: Apache-2.0 */
/* Emits spans of devices. For a GPU, the lines "Stream #7(Compute)" contain its work; all other
 * lines of its plane sum that up by operator, scope, module or step. For a TPU, the line "XLA Ops"
 * contains the operations of the core, one at a time, with loops around the operations they
 * contain. */
#include "import/reader/self_time.h"
#include "xplane_emit.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

static uint32_t string_of(struct tp_rank_writer *writer, const struct tp_protobuf *text)
{
	return tp_rank_writer_string(writer, (const char *)text->bytes, text->len);
}

/* ---- GPUs ---- */

/* Returns the text after "key:" in "size:112 dest:4 async:0"; empty if there is none. */
static struct tp_protobuf value_in(const struct tp_protobuf *details, const char *key)
{
	struct tp_protobuf rest = *details;
	size_t len = strlen(key);
	while (rest.len) {
		if (rest.len > len && rest.bytes[len] == ':' && memcmp(rest.bytes, key, len) == 0)
			return (struct tp_protobuf){rest.bytes + len + 1, rest.len - len - 1};
		const unsigned char *blank = memchr(rest.bytes, ' ', rest.len);
		if (!blank)
			break;
		size_t n = (size_t)(blank - rest.bytes) + 1;
		rest.bytes += n;
		rest.len -= n;
	}
	return (struct tp_protobuf){0};
}

/* Returns 160 for "160,1,1 block:...": the product of the numbers. 0 if there are none. */
static uint64_t count_in(const struct tp_protobuf *details, const char *key)
{
	struct tp_protobuf rest = value_in(details, key);
	uint64_t product = 1;
	if (!rest.len)
		return 0;
	for (;;) {
		uint64_t factor = tp_xplane_number(&rest);
		if (factor && product > UINT32_MAX / factor)
			return 0;
		product *= factor;
		while (rest.len && *rest.bytes >= '0' && *rest.bytes <= '9') {
			rest.bytes++;
			rest.len--;
		}
		if (!rest.len || *rest.bytes != ',')
			return product;
		rest.bytes++;
		rest.len--;
	}
}

static bool contains(const struct tp_protobuf *name, const char *part)
{
	return name->len && memmem(name->bytes, name->len, part, strlen(part)) != NULL;
}

/* Returns the names of copies that Kineto uses, because the analysis knows those. */
static uint32_t copy_name(struct tp_rank_writer *writer, const struct tp_protobuf *name,
			  const struct tp_protobuf *details)
{
	static const struct {
		const char *name; /* of the event, or the kind in its details */
		const char *known;
	} ways[] = {
		{"H2D", "Memcpy HtoD"},  {"D2H", "Memcpy DtoH"},  {"D2D", "Memcpy DtoD"},
		{"P2P", "Memcpy PtoP"},  {"HtoD", "Memcpy HtoD"}, {"DtoH", "Memcpy DtoH"},
		{"DtoD", "Memcpy DtoD"},
	};
	for (size_t i = 0; i < TP_ARRAY_LEN(ways); i++)
		if (contains(name, ways[i].name) || contains(details, ways[i].name))
			return tp_rank_writer_string(writer, ways[i].known, strlen(ways[i].known));
	return string_of(writer, name);
}

/* AMD's runtime copies and fills with its own kernels. */
static enum tp_span_kind kernel_kind(const struct tp_protobuf *name)
{
	if (tp_protobuf_begins(name, "__amd_rocclr_copy"))
		return TP_SPAN_COPY;
	if (tp_protobuf_begins(name, "__amd_rocclr_fill"))
		return TP_SPAN_SET;
	return TP_SPAN_KERNEL;
}

static void emit_gpu_event(struct tp_xplane_emitter *emitter, const struct tp_xevent *event,
			   uint16_t track)
{
	struct tp_rank_writer *writer = emitter->writer;
	struct tp_detail detail = {0};
	bool is_copy = tp_xstats_have(&event->stats, TP_XSTAT_MEMCPY);
	struct tp_protobuf moved =
		tp_xstats_text(&event->stats, is_copy ? TP_XSTAT_MEMCPY : TP_XSTAT_MEMSET);
	struct tp_protobuf size = value_in(&moved, "size");
	struct tp_span span = tp_xplane_span(event, track);
	if (is_copy) {
		span.kind = TP_SPAN_COPY;
		span.name = copy_name(writer, &event->type->name, &moved);
	} else {
		bool is_set = tp_xstats_have(&event->stats, TP_XSTAT_MEMSET);
		struct tp_protobuf kernel = tp_xstats_text(&event->stats, TP_XSTAT_KERNEL);
		span.kind = (uint8_t)(is_set ? TP_SPAN_SET : kernel_kind(&event->type->name));
		span.name = tp_xplane_type_name(emitter, event->type);
		detail.blocks = count_in(&kernel, "grid");
		detail.threads = (uint32_t)count_in(&kernel, "block");
	}
	detail.bytes = tp_xplane_number(&size);
	if (detail.bytes || detail.blocks || detail.threads)
		span.detail = tp_rank_writer_detail(writer, &detail);
	tp_rank_writer_span(writer, &span);
}

void tp_xplane_emit_gpu(struct tp_xplane_emitter *emitter, int32_t device)
{
	static const char prefix[] = "Stream #";
	for (size_t i = 0; i < emitter->plane->n_lines; i++) {
		struct tp_xline line;
		struct tp_xevent event;
		tp_xline_init(&line, &emitter->plane->lines[i]);
		if (!tp_protobuf_begins(&line.name, prefix))
			continue;
		struct tp_protobuf number = {line.name.bytes + sizeof(prefix) - 1,
					     line.name.len - (sizeof(prefix) - 1)};
		uint16_t track = tp_rank_writer_track(emitter->writer, device,
						      (int64_t)tp_xplane_number(&number));
		tp_rank_writer_name_track(emitter->writer, track,
					  string_of(emitter->writer, &line.name));
		struct tp_protobuf rest = line.message;
		while (tp_xplane_next_event(emitter, &line, &rest, &event))
			emit_gpu_event(emitter, &event, track);
	}
}

/* ---- TPUs ---- */

/* Maps categories to kinds of spans; in all other categories the core computes. */
static const struct {
	const char *category;
	enum tp_span_kind kind;
	bool is_communication;
} categories[] = {
	{"all-reduce", TP_SPAN_KERNEL, true},     {"all-gather", TP_SPAN_KERNEL, true},
	{"reduce-scatter", TP_SPAN_KERNEL, true}, {"all-to-all", TP_SPAN_KERNEL, true},
	{"collective", TP_SPAN_KERNEL, true},     {"send", TP_SPAN_KERNEL, true},
	{"recv", TP_SPAN_KERNEL, true},           {"copy", TP_SPAN_COPY, false},
	{"async-", TP_SPAN_COPY, false},          {"host send", TP_SPAN_COPY, false},
	{"host recv", TP_SPAN_COPY, false},       {"infeed", TP_SPAN_COPY, false},
	{"outfeed", TP_SPAN_COPY, false},
};

static struct tp_span tpu_span(struct tp_xplane_emitter *emitter, const struct tp_xevent *event,
			       uint16_t track)
{
	struct tp_protobuf category = tp_xstats_text(&event->stats, TP_XSTAT_HLO_CATEGORY);
	struct tp_span span = tp_xplane_span(event, track);
	const struct tp_protobuf *name =
		event->type->display_name.len ? &event->type->display_name : &event->type->name;
	span.kind = TP_SPAN_KERNEL;
	span.name = string_of(emitter->writer, name);
	for (size_t i = 0; i < TP_ARRAY_LEN(categories); i++) {
		if (!tp_protobuf_begins(&category, categories[i].category))
			continue;
		span.kind = (uint8_t)categories[i].kind;
		/* The name of a fusion does not show that it communicates. */
		if (categories[i].is_communication)
			span.name = tp_rank_writer_string(emitter->writer, categories[i].category,
							  strlen(categories[i].category));
		break;
	}
	return span;
}

static void emit_tpu_line(struct tp_xplane_emitter *emitter, const struct tp_xline *line,
			  uint16_t track)
{
	struct tp_span *ops = NULL;
	size_t n = 0;
	size_t capacity = 0;
	struct tp_xevent event;
	struct tp_protobuf rest = line->message;
	while (tp_xplane_next_event(emitter, line, &rest, &event))
		TP_ARRAY_PUSH(ops, n, capacity) = tpu_span(emitter, &event, track);
	tp_self_time_emit(emitter->writer, ops, n);
	free(ops);
}

void tp_xplane_emit_tpu(struct tp_xplane_emitter *emitter, int32_t device)
{
	for (size_t i = 0; i < emitter->plane->n_lines; i++) {
		struct tp_xline line;
		tp_xline_init(&line, &emitter->plane->lines[i]);
		if (!tp_protobuf_equals(&line.name, "XLA Ops"))
			continue;
		uint16_t track = tp_rank_writer_track(emitter->writer, device, 0);
		tp_rank_writer_name_track(emitter->writer, track,
					  string_of(emitter->writer, &line.name));
		emit_tpu_line(emitter, &line, track);
	}
}
