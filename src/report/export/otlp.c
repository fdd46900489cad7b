/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks as OTLP profiles in JSON (profiles/v1development, which is not stable yet): one profile of
 * time on CPUs, one of time off them, one of devices. Entry 0 of each table means none. */
#include "formats.h"

#include "json_stream.h"
#include "stack_names.h"

#include "trainprof/base/file.h"
#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/version.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Numbers keys from 1 in order of appearance; index 0 means none. */
struct numbering {
	struct tp_map index;
	uint64_t *keys; /* by index - 1; heap */
	size_t n;
	size_t capacity;
};

struct otlp {
	FILE *out;
	const struct tp_profile *profile;
	struct tp_export_names names; /* names of frames; its texts are the table of strings */
	struct tp_export_weights weights;
	struct numbering attributes; /* key << 32 | value, both texts */
	struct numbering
		stacks; /* by stack id; a stack without frames has the place "[no stack]" */
};

static size_t number_of(struct numbering *numbers, uint64_t key)
{
	uint64_t at;
	if (tp_map_get(&numbers->index, key, &at))
		return at;
	TP_ARRAY_PUSH(numbers->keys, numbers->n, numbers->capacity) = key;
	tp_map_set(&numbers->index, key, numbers->n);
	return numbers->n;
}

static uint32_t string(struct otlp *o, const char *text)
{
	return tp_strtab_intern(&o->names.texts, text);
}

static void write_attribute(struct otlp *o, const char *key, const char *value, bool *is_next)
{
	if (!*value)
		return;
	uint64_t pair = (uint64_t)string(o, key) << 32 | string(o, value);
	fprintf(o->out, "%s%zu", *is_next ? "," : "", number_of(&o->attributes, pair));
	*is_next = true;
}

static void write_attributes(struct otlp *o, const struct tp_export_weight *weight)
{
	bool is_next = false;
	struct tp_buf text = {0};
	tp_export_add_process(&text, o->profile, weight);
	write_attribute(o, "process", tp_buf_text(&text), &is_next);
	tp_buf_clear(&text);
	tp_export_add_thread(&text, o->profile, weight);
	write_attribute(o, "thread", tp_buf_text(&text), &is_next);
	tp_buf_release(&text);
	if (weight->part != TP_N_PARTS)
		write_attribute(o, "part", tp_part_name(weight->part), &is_next);
	if (weight->label != TP_N_LABELS)
		write_attribute(o, "label", tp_label_name(weight->label), &is_next);
	write_attribute(o, "state", tp_export_state(weight), &is_next);
	if (weight->cause != TP_CAUSE_NONE)
		write_attribute(o, "waits_for", tp_cause_name(weight->cause), &is_next);
}

static const char *type_of(const struct tp_export_weight *weight)
{
	if (weight->task == TP_NO_TASK)
		return "device";
	return weight->state == TP_STATE_ON_CPU ? "on_cpu" : "off_cpu";
}

static void write_sample(struct otlp *o, const struct tp_export_weight *weight)
{
	uint32_t stack = weight->task == TP_NO_TASK ? 0 : weight->stack;
	fprintf(o->out, "{\"stackIndex\":%zu,\"values\":[\"%" PRIu64 "\"],\"attributeIndices\":[",
		number_of(&o->stacks, stack), weight->time_ns);
	write_attributes(o, weight);
	fputs("]}", o->out);
}

static void write_profile(struct otlp *o, const char *type)
{
	const struct tp_profile *profile = o->profile;
	bool is_next = false;
	fprintf(o->out,
		"{\"sampleType\":{\"typeStrindex\":%" PRIu32 ",\"unitStrindex\":%" PRIu32
		"},\"timeUnixNano\":\"%" PRIu64 "\",\"durationNano\":\"%" PRIu64 "\",\"samples\":[",
		string(o, type), string(o, "nanoseconds"),
		profile->trace->run.started_wall_ns + profile->window_start_ns,
		profile->window_end_ns - profile->window_start_ns);
	for (size_t i = 0; i < o->weights.n; i++) {
		if (strcmp(type_of(&o->weights.items[i]), type) != 0)
			continue;
		fputs(is_next ? ",\n" : "\n", o->out);
		is_next = true;
		write_sample(o, &o->weights.items[i]);
	}
	fputs("]}", o->out);
}

static void write_stacks(struct otlp *o)
{
	fputs("\"stackTable\":[{}", o->out);
	for (size_t i = 0; i < o->stacks.n; i++) {
		const struct tp_stack *stack =
			tp_trace_stack(o->profile->trace, (uint32_t)o->stacks.keys[i]);
		fputs(",\n{\"locationIndices\":[", o->out);
		/* Location 1 is "[no stack]"; those of frames follow, innermost first. */
		if (!stack->n_frames)
			putc('1', o->out);
		for (uint32_t f = 0; f < stack->n_frames; f++)
			fprintf(o->out, "%s%" PRIu32, f ? "," : "", stack->frames[f] + 2);
		fputs("]}", o->out);
	}
	fputs("],\n", o->out);
}

/* Writes a location and a function for each frame, also for frames that are in no stack, so that
 * their numbers are frame ids. */
static void write_places(struct otlp *o)
{
	const struct tp_trace *trace = o->profile->trace;
	fprintf(o->out, "\"functionTable\":[{},{\"nameStrindex\":%" PRIu32 "}",
		string(o, "[no stack]"));
	for (uint32_t i = 0; i < trace->n_frames; i++)
		fprintf(o->out,
			",\n{\"nameStrindex\":%" PRIu32 ",\"filenameStrindex\":%" PRIu32 "}",
			i ? string(o, tp_export_names_frame(&o->names, i)) : 0,
			i ? string(o, tp_trace_string(trace, trace->frames[i].file)) : 0);
	fputs("],\n\"locationTable\":[{},{\"lines\":[{\"functionIndex\":1}]}", o->out);
	for (uint32_t i = 0; i < trace->n_frames; i++)
		fprintf(o->out,
			",\n{\"lines\":[{\"functionIndex\":%" PRIu32 ",\"line\":\"%" PRIu32 "\"}]}",
			i + 2, i ? trace->frames[i].line : 0);
	fputs("],\n", o->out);
}

static void write_tables(struct otlp *o)
{
	FILE *out = o->out;
	fputs("\"dictionary\":{\"mappingTable\":[{}],\"linkTable\":[{}],\n", out);
	write_stacks(o);
	write_places(o);
	fputs("\"attributeTable\":[{}", out);
	for (size_t i = 0; i < o->attributes.n; i++) {
		uint64_t pair = o->attributes.keys[i];
		fprintf(out, ",\n{\"keyStrindex\":%" PRIu32 ",\"value\":{\"stringValue\":",
			(uint32_t)(pair >> 32));
		tp_export_json_text(out, tp_export_names_text(&o->names, (uint32_t)pair));
		fputs("}}", out);
	}
	fputs("],\n\"stringTable\":[", out);
	for (uint32_t i = 0; i < o->names.texts.n; i++) {
		fputs(i ? ",\n" : "", out);
		tp_export_json_text(out, tp_export_names_text(&o->names, i));
	}
	fputs("]}", out);
}

static void release(struct otlp *o)
{
	tp_export_names_release(&o->names);
	tp_export_weights_release(&o->weights);
	tp_map_release(&o->attributes.index);
	tp_map_release(&o->stacks.index);
	free(o->attributes.keys);
	free(o->stacks.keys);
}

static enum tp_status otlp_write(const struct tp_report *report, FILE *out, struct tp_error *err)
{
	static const struct tp_export_weight kinds[] = {{.state = TP_STATE_ON_CPU},
							{.state = TP_STATE_BLOCKED},
							{.task = TP_NO_TASK}};
	struct otlp o = {.out = out, .profile = report->profile};
	tp_export_names_init(&o.names, report->profile);
	tp_export_weights_build(&o.weights, report->profile, false);
	fputs("{\"resourceProfiles\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\","
	      "\"value\":{\"stringValue\":",
	      out);
	tp_export_json_text(out, report->profile->trace->run.label
					 ? report->profile->trace->run.label
					 : "");
	fprintf(out,
		"}}]},\"scopeProfiles\":[{\"scope\":{\"name\":\"trainprof\",\"version\":\"%s\"},"
		"\"profiles\":[",
		tp_version());
	for (size_t i = 0; i < TP_ARRAY_LEN(kinds); i++) {
		fputs(i ? ",\n" : "\n", out);
		write_profile(&o, type_of(&kinds[i]));
	}
	fputs("]}]}],\n", out);
	write_tables(&o);
	fputs("}\n", out);
	release(&o);
	return tp_file_check(out, "the export", err);
}

const struct tp_export_format tp_export_otlp = {
	.name = "otlp",
	.ending = "otlp.json",
	.summary = "OTLP profiles (not stable yet), JSON",
	.opens = "OpenTelemetry collectors",
	.write = otlp_write,
};
