/* SPDX-License-Identifier: Apache-2.0 */
/* Step times as a TensorBoard event file: protobuf in records with a checksum. Field numbers are
 * those of event.proto and summary.proto. Values are floats with 24 bits of precision, as in
 * TensorBoard. */
#include "formats.h"

#include "protobuf.h"

#include "trainprof/base/file.h"

enum { EVENT_WALL_TIME = 1, EVENT_STEP = 2, EVENT_VERSION = 3, EVENT_SUMMARY = 5 };
enum { SUMMARY_VALUE = 1 };
enum { VALUE_TAG = 1, VALUE_NUMBER = 2 };

/* CRC-32C (RFC 3720, B.4), reflected. */
static uint32_t checksum(const unsigned char *bytes, size_t size)
{
	uint32_t crc = UINT32_MAX;
	for (size_t i = 0; i < size; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78U : 0);
	}
	return ~crc;
}

/* A checksum over data that contain checksums is weak: the format rotates it and adds a
 * constant. */
static uint32_t masked(uint32_t crc)
{
	return (crc >> 15 | crc << 17) + 0xa282ead8U;
}

static void write_fixed(FILE *out, uint64_t value, unsigned n_bytes, unsigned char *bytes)
{
	for (unsigned i = 0; i < n_bytes; i++)
		bytes[i] = (unsigned char)(value >> 8 * i);
	fwrite(bytes, 1, n_bytes, out);
}

static void write_record(FILE *out, struct tp_buf *event)
{
	unsigned char bytes[8];
	const unsigned char *data = (const unsigned char *)tp_buf_text(event);
	write_fixed(out, event->len, 8, bytes);
	write_fixed(out, masked(checksum(bytes, 8)), 4, bytes);
	fwrite(data, 1, event->len, out);
	write_fixed(out, masked(checksum(data, event->len)), 4, bytes);
	tp_buf_clear(event);
}

static void add_value(struct tp_buf *summary, const char *tag, uint64_t ns)
{
	struct tp_buf value = {0};
	tp_proto_add_text(&value, VALUE_TAG, tag);
	tp_proto_add_float(&value, VALUE_NUMBER, (float)((double)ns / 1e9));
	tp_proto_add_message(summary, SUMMARY_VALUE, &value);
	tp_buf_release(&value);
}

static void write_step(FILE *out, const struct tp_profile *profile, size_t index)
{
	const struct tp_step *step = &profile->steps[index];
	const struct tp_run_info *run = &profile->trace->run;
	struct tp_buf event = {0};
	struct tp_buf summary = {0};
	tp_proto_add_double(&event, EVENT_WALL_TIME,
			    ((double)run->started_wall_ns + (double)step->end_ns) / 1e9);
	tp_proto_add_uint(&event, EVENT_STEP, index + 1);
	add_value(&summary, "trainprof/step_seconds", step->end_ns - step->start_ns);
	for (int part = 0; part < TP_N_PARTS; part++) {
		char tag[64];
		snprintf(tag, sizeof(tag), "trainprof/%s_seconds",
			 tp_part_name((enum tp_part)part));
		add_value(&summary, tag, step->part_ns[part]);
	}
	tp_proto_add_message(&event, EVENT_SUMMARY, &summary);
	write_record(out, &event);
	tp_buf_release(&event);
	tp_buf_release(&summary);
}

static enum tp_status tensorboard_write(const struct tp_report *report, FILE *out,
					struct tp_error *err)
{
	const struct tp_profile *profile = report->profile;
	struct tp_buf event = {0};
	tp_proto_add_double(&event, EVENT_WALL_TIME,
			    (double)profile->trace->run.started_wall_ns / 1e9);
	tp_proto_add_text(&event, EVENT_VERSION, "brain.Event:2");
	write_record(out, &event);
	tp_buf_release(&event);
	for (size_t i = 0; i < profile->n_steps; i++)
		if (profile->steps[i].kind != TP_STEP_CUT)
			write_step(out, profile, i);
	return tp_file_check(out, "the export", err);
}

const struct tp_export_format tp_export_tensorboard = {
	.name = "tensorboard",
	.ending = "tfevents",
	.summary = "times of steps and their parts",
	.opens = "tensorboard --logdir",
	.is_binary = true,
	.write = tensorboard_write,
};
