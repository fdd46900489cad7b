/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks as pprof's profile.proto, compressed with gzip. Four values for each stack: number of time
 * intervals, time on a CPU, time off it, time of a device. Field numbers are those of
 * profile.proto. */
#include "formats.h"

#include "protobuf.h"
#include "stack_names.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/pack.h"
#include "trainprof/base/text.h"

#include <stdlib.h>
#include <string.h>

enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NS = 9,
	PROFILE_DURATION_NS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14,
};

enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_TEXT = 2, LABEL_NUMBER = 3 };
enum { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_HAS_FUNCTIONS = 7 };
enum { LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_NUMBER = 2 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILE = 4 };

struct pprof {
	const struct tp_profile *profile;
	struct tp_strtab strings;
	struct tp_buf out;
	struct tp_buf message;
	struct tp_buf inner;
	bool *is_met; /* by frame: it needs a location; heap */
};

static uint32_t string(struct pprof *p, const char *text)
{
	struct tp_buf valid = {0};
	tp_text_add_utf8(&valid, text);
	uint32_t id = tp_strtab_intern(&p->strings, tp_buf_text(&valid));
	tp_buf_release(&valid);
	return id;
}

static void add_type(struct pprof *p, enum profile_field field, const char *type, const char *unit)
{
	tp_proto_add_uint(&p->message, 1, string(p, type));
	tp_proto_add_uint(&p->message, 2, string(p, unit));
	tp_proto_add_message(&p->out, field, &p->message);
}

static void add_label(struct pprof *p, const char *key, const char *text)
{
	if (!*text)
		return;
	tp_proto_add_uint(&p->inner, LABEL_KEY, string(p, key));
	tp_proto_add_uint(&p->inner, LABEL_TEXT, string(p, text));
	tp_proto_add_message(&p->message, SAMPLE_LABEL, &p->inner);
}

static void add_number(struct pprof *p, const char *key, uint64_t number)
{
	tp_proto_add_uint(&p->inner, LABEL_KEY, string(p, key));
	tp_proto_add_uint(&p->inner, LABEL_NUMBER, number);
	tp_proto_add_message(&p->message, SAMPLE_LABEL, &p->inner);
}

static void add_labels(struct pprof *p, const struct tp_export_weight *weight)
{
	const struct tp_trace *trace = p->profile->trace;
	struct tp_buf text = {0};
	tp_export_add_process(&text, p->profile, weight);
	add_label(p, "process", tp_buf_text(&text));
	tp_buf_clear(&text);
	tp_export_add_thread(&text, p->profile, weight);
	add_label(p, "thread", tp_buf_text(&text));
	tp_buf_release(&text);
	if (weight->task != TP_NO_TASK) {
		add_label(p, "role", tp_thread_role_name(tp_export_role(p->profile, weight->task)));
		add_number(p, "pid", (uint64_t)trace->tasks[weight->task].pid);
		add_number(p, "tid", (uint64_t)trace->tasks[weight->task].tid);
	}
	add_label(p, "state", tp_export_state(weight));
	if (weight->cause != TP_CAUSE_NONE)
		add_label(p, "waits_for", tp_cause_name(weight->cause));
	if (weight->part != TP_N_PARTS)
		add_label(p, "part", tp_part_name(weight->part));
	if (weight->label != TP_N_LABELS)
		add_label(p, "label", tp_label_name(weight->label));
	if (weight->step != TP_EXPORT_NO_STEP)
		add_number(p, "step", (uint64_t)weight->step + 1);
}

/* Innermost first. Location 1 stands for entries without a stack. */
static void add_locations(struct pprof *p, const struct tp_export_weight *weight)
{
	const struct tp_stack *stack = tp_trace_stack(p->profile->trace, weight->stack);
	if (weight->task == TP_NO_TASK || !stack->n_frames) {
		tp_proto_add_varint(&p->inner, 1);
	} else {
		for (uint32_t i = 0; i < stack->n_frames; i++) {
			p->is_met[stack->frames[i]] = true;
			tp_proto_add_varint(&p->inner, stack->frames[i] + UINT64_C(2));
		}
	}
	tp_proto_add_message(&p->message, SAMPLE_LOCATION, &p->inner);
}

static void add_sample(struct pprof *p, const struct tp_export_weight *weight)
{
	bool is_device = weight->task == TP_NO_TASK;
	bool is_on = !is_device && weight->state == TP_STATE_ON_CPU;
	bool is_off = !is_device && weight->state != TP_STATE_ON_CPU;
	add_locations(p, weight);
	tp_proto_add_varint(&p->inner, weight->n);
	tp_proto_add_varint(&p->inner, is_on ? weight->time_ns : 0);
	tp_proto_add_varint(&p->inner, is_off ? weight->time_ns : 0);
	tp_proto_add_varint(&p->inner, is_device ? weight->time_ns : 0);
	tp_proto_add_message(&p->message, SAMPLE_VALUE, &p->inner);
	add_labels(p, weight);
	tp_proto_add_message(&p->out, PROFILE_SAMPLE, &p->message);
}

static void add_place(struct pprof *p, uint64_t id, const char *name, const char *file,
		      uint32_t line)
{
	tp_proto_add_uint(&p->message, FUNCTION_ID, id);
	tp_proto_add_uint(&p->message, FUNCTION_NAME, string(p, name));
	tp_proto_add_uint(&p->message, FUNCTION_SYSTEM_NAME, string(p, name));
	tp_proto_add_uint(&p->message, FUNCTION_FILE, string(p, file));
	tp_proto_add_message(&p->out, PROFILE_FUNCTION, &p->message);
	tp_proto_add_uint(&p->message, LOCATION_ID, id);
	tp_proto_add_uint(&p->message, LOCATION_MAPPING, 1);
	tp_proto_add_uint(&p->inner, LINE_FUNCTION, id);
	tp_proto_add_uint(&p->inner, LINE_NUMBER, line);
	tp_proto_add_message(&p->message, LOCATION_LINE, &p->inner);
	tp_proto_add_message(&p->out, PROFILE_LOCATION, &p->message);
}

static void add_places(struct pprof *p)
{
	const struct tp_trace *trace = p->profile->trace;
	struct tp_export_names names;
	tp_export_names_init(&names, p->profile);
	add_place(p, 1, "[no stack]", "", 0);
	for (uint32_t i = 0; i < trace->n_frames; i++) {
		const struct tp_frame *frame = &trace->frames[i];
		if (p->is_met[i])
			add_place(p, i + UINT64_C(2), tp_export_names_frame(&names, i),
				  tp_trace_string(trace, frame->file ? frame->file : frame->module),
				  frame->line);
	}
	tp_export_names_release(&names);
}

/* The program itself; the profile already contains symbols. */
static void add_mapping(struct pprof *p)
{
	const struct tp_run_info *run = &p->profile->trace->run;
	tp_proto_add_uint(&p->message, MAPPING_ID, 1);
	tp_proto_add_uint(&p->message, MAPPING_FILE,
			  string(p, run->n_command ? run->command[0] : ""));
	tp_proto_add_bool(&p->message, MAPPING_HAS_FUNCTIONS, 1);
	tp_proto_add_message(&p->out, PROFILE_MAPPING, &p->message);
}

static void add_about(struct pprof *p)
{
	const struct tp_run_info *run = &p->profile->trace->run;
	tp_proto_add_uint(&p->out, PROFILE_TIME_NS, run->started_wall_ns);
	tp_proto_add_uint(&p->out, PROFILE_DURATION_NS,
			  p->profile->window_end_ns - p->profile->window_start_ns);
	add_type(p, PROFILE_PERIOD_TYPE, "on_cpu", "nanoseconds");
	if (run->sample_rate_hz > 0)
		tp_proto_add_uint(&p->out, PROFILE_PERIOD, (uint64_t)(1e9 / run->sample_rate_hz));
	tp_proto_add_uint(&p->out, PROFILE_COMMENT,
			  string(p, run->written_by ? run->written_by : "trainprof"));
	tp_proto_add_uint(&p->out, PROFILE_DEFAULT_TYPE,
			  string(p, p->profile->n_devices ? "device" : "on_cpu"));
}

static void add_samples(struct pprof *p)
{
	struct tp_export_weights weights;
	tp_export_weights_build(&weights, p->profile, true);
	for (size_t i = 0; i < weights.n; i++)
		add_sample(p, &weights.items[i]);
	tp_export_weights_release(&weights);
}

static enum tp_status pprof_write(const struct tp_report *report, FILE *out, struct tp_error *err)
{
	struct pprof p = {.profile = report->profile};
	struct tp_buf packed = {0};
	tp_strtab_init(&p.strings);
	p.is_met = tp_alloc((p.profile->trace->n_frames + 1) * sizeof(*p.is_met));
	add_type(&p, PROFILE_SAMPLE_TYPE, "stretches", "count");
	add_type(&p, PROFILE_SAMPLE_TYPE, "on_cpu", "nanoseconds");
	add_type(&p, PROFILE_SAMPLE_TYPE, "off_cpu", "nanoseconds");
	add_type(&p, PROFILE_SAMPLE_TYPE, "device", "nanoseconds");
	add_mapping(&p);
	add_samples(&p);
	add_places(&p);
	add_about(&p);
	for (uint32_t i = 0; i < p.strings.n; i++)
		tp_proto_add_text(&p.out, PROFILE_STRING, tp_strtab_text(&p.strings, i));
	tp_pack_gzip(&packed, tp_buf_text(&p.out), p.out.len);
	fwrite(tp_buf_text(&packed), 1, packed.len, out);
	tp_buf_release(&packed);
	tp_buf_release(&p.out);
	tp_buf_release(&p.message);
	tp_buf_release(&p.inner);
	tp_strtab_release(&p.strings);
	free(p.is_met);
	return tp_file_check(out, "the export", err);
}

const struct tp_export_format tp_export_pprof = {
	.name = "pprof",
	.ending = "pb.gz",
	.summary = "stacks with labels, packed",
	.opens = "go tool pprof, Grafana, Perfetto",
	.is_binary = true,
	.write = pprof_write,
};
