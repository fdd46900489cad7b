/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the encoding: small, and as shown in docs/format.md. */
#include "store/encoder.h"

#include "store/decoder.h"
#include "store/layout.h"
#include "story.h"

#include "trainprof/base/file.h"
#include "trainprof/base/map.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tp_encoder encoder;

static void setup(void)
{
	tp_encoder_init(&encoder);
}

static void teardown(void)
{
	tp_encoder_release(&encoder);
}

/* 32 threads on 16 CPUs, stays of up to 100 ms, one ending every 100 µs on average. */
START_TEST(a_stay_on_a_cpu_takes_at_most_ten_bytes)
{
	enum { N = 5000 };
	uint64_t time_ns = STORY_STARTED_NS;
	for (uint64_t i = 0; i < N; i++) {
		uint32_t random = (uint32_t)tp_hash_mix(i, 5);
		time_ns += random % 200000;
		struct tp_record record = {.kind = TP_RECORD_RUN};
		record.of.run = (struct tp_run){.task = random / 7 % 32,
						.cpu = random / 11 % 16,
						.start_ns = time_ns - random / 13 % 100000000,
						.end_ns = time_ns,
						.how = random / 17 % TP_N_RUN_ENDS};
		tp_encoder_add(&encoder, &record);
	}
	ck_assert_uint_le(encoder.used - BLOCK_HEADER_BYTES, 10 * N);
	ck_assert_uint_ge(encoder.used - BLOCK_HEADER_BYTES, 5 * N);
}
END_TEST

/* 500 threads on 64 CPUs, 10,000 stacks, 99 Hz on 64 CPUs; a third in the kernel. */
START_TEST(a_sample_takes_at_most_fourteen_bytes)
{
	enum { N = 5000 };
	uint64_t time_ns = STORY_STARTED_NS;
	for (uint64_t i = 0; i < N; i++) {
		uint32_t random = (uint32_t)tp_hash_mix(i, 6);
		time_ns += random % 320000;
		struct tp_record record = {.kind = TP_RECORD_SAMPLE};
		record.of.sample = (struct tp_sample){.task = random / 7 % 500,
						      .state = TP_STATE_ON_CPU,
						      .cause = TP_CAUSE_NONE,
						      .flags = random % 3 ? 0 : TP_SAMPLE_KERNEL,
						      .stack = random / 13 % 10000,
						      .cpu = random / 17 % 64,
						      .syscall = -1,
						      .time_ns = time_ns};
		tp_encoder_add(&encoder, &record);
	}
	ck_assert_uint_le(encoder.used - BLOCK_HEADER_BYTES, 14 * N);
}
END_TEST

START_TEST(texts_are_cut_where_the_format_says)
{
	char *text = malloc(100001);
	memset(text, 'x', 100000);
	text[100000] = '\0';
	struct tp_record record = {.kind = TP_RECORD_STRING, .id = 1};
	record.of.string = text;
	tp_encoder_add(&encoder, &record);
	free(text);
	struct tp_trace_builder builder;
	struct tp_decoder decoder;
	tp_trace_builder_init(&builder);
	tp_decoder_init(&decoder, &builder.sink);
	ck_assert(tp_decoder_add(&decoder, encoder.bytes + BLOCK_HEADER_BYTES,
				 encoder.used - BLOCK_HEADER_BYTES, 0));
	ck_assert_uint_eq(strlen(tp_strtab_text(&builder.sink.strings, 1)), LAYOUT_STRING_MAX);
	tp_decoder_release(&decoder);
	tp_trace_builder_release(&builder);
}
END_TEST

START_TEST(the_largest_records_fit_after_an_almost_full_block)
{
	char *text = malloc(LAYOUT_STRING_MAX + 1);
	memset(text, 'x', LAYOUT_STRING_MAX);
	text[LAYOUT_STRING_MAX] = '\0';
	struct tp_record record = {.kind = TP_RECORD_STRING, .id = UINT32_MAX};
	record.of.string = "";
	while (encoder.used < BLOCK_HEADER_BYTES + LAYOUT_BLOCK_FULL - 8)
		tp_encoder_add(&encoder, &record);
	ck_assert(!tp_encoder_is_full(&encoder));
	record.of.string = text;
	tp_encoder_add(&encoder, &record); /* AddressSanitizer checks this */
	ck_assert(tp_encoder_is_full(&encoder));
	ck_assert_uint_le(encoder.used, LAYOUT_BLOCK_MAX);
	free(text);
}
END_TEST

/* ---- the example in docs/format.md ------------------------------------------------------- */

static void example_emit(void)
{
	struct tp_record string = {.kind = TP_RECORD_STRING, .id = 1};
	string.of.string = "train";
	tp_encoder_add(&encoder, &string);
	struct tp_record task = {.kind = TP_RECORD_TASK};
	task.of.task = (struct tp_task){.id = 0,
					.tid = 4242,
					.pid = 4242,
					.parent = TP_NO_TASK,
					.start_ns = 1000000,
					.comm = 1};
	tp_encoder_add(&encoder, &task);
	struct tp_record run = {.kind = TP_RECORD_RUN};
	run.of.run = (struct tp_run){.task = 0,
				     .cpu = 3,
				     .start_ns = 1500000,
				     .end_ns = 2000000,
				     .how = TP_RUN_PREEMPTED};
	tp_encoder_add(&encoder, &run);
	struct tp_record sample = {.kind = TP_RECORD_SAMPLE};
	sample.of.sample = (struct tp_sample){.task = 0,
					      .state = TP_STATE_BLOCKED,
					      .cause = TP_CAUSE_PIPE,
					      .flags = TP_SAMPLE_POLLED,
					      .cpu = 3,
					      .syscall = 0,
					      .time_ns = 1999900};
	tp_encoder_add(&encoder, &sample);
	struct tp_record gauge = {.kind = TP_RECORD_GAUGE};
	gauge.of.gauge = (struct tp_gauge){TP_METRIC_PROC_RSS, 0, 2000000, 4096};
	tp_encoder_add(&encoder, &gauge);
	tp_encoder_finish_block(&encoder);
}

/* Reads the bytes of the lines "    0030  16 01 74 …" between the two markers of the document. */
static size_t example_read(unsigned char *out, size_t size)
{
	struct tp_buf text = {0};
	ck_assert(!tp_file_read(&text, "docs/format.md", 1 << 20, NULL));
	const char *line = strstr(tp_buf_text(&text), "<!-- example: one block -->");
	const char *end = strstr(tp_buf_text(&text), "<!-- end of example -->");
	ck_assert(line && end && line < end);
	size_t n = 0;
	for (; line < end; line = strchr(line, '\n') + 1) {
		char *p;
		if (strspn(line, "0123456789abcdef") != 4 || strncmp(line + 4, "  ", 2) != 0)
			continue;
		ck_assert_uint_eq(strtoul(line, &p, 16), n);
		while (strspn(p, " ") <= 2 && strspn(p + strspn(p, " "), "0123456789abcdef") == 2) {
			ck_assert_uint_lt(n, size);
			out[n++] = (unsigned char)strtoul(p, &p, 16);
		}
	}
	tp_buf_release(&text);
	return n;
}

/* Prints the text for the document. */
static void example_show(void)
{
	for (size_t i = 0; i < encoder.used; i++) {
		if (i % 16 == 0)
			fprintf(stderr, "\n%04zx ", i);
		fprintf(stderr, " %02x", encoder.bytes[i]);
	}
	fprintf(stderr, "\n");
}

START_TEST(the_example_in_the_document_is_what_we_write)
{
	unsigned char example[512];
	size_t n = example_read(example, sizeof(example));
	example_emit();
	if (n != encoder.used || memcmp(example, encoder.bytes, n) != 0)
		example_show();
	ck_assert_uint_eq(n, encoder.used);
	ck_assert_mem_eq(example, encoder.bytes, n);
}
END_TEST

Suite *suite_store_encoder(void);
Suite *suite_store_encoder(void)
{
	Suite *suite = suite_create("store/encoder");
	TCase *tc = tcase_create("encoder");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_stay_on_a_cpu_takes_at_most_ten_bytes);
	tcase_add_test(tc, a_sample_takes_at_most_fourteen_bytes);
	tcase_add_test(tc, texts_are_cut_where_the_format_says);
	tcase_add_test(tc, the_largest_records_fit_after_an_almost_full_block);
	tcase_add_test(tc, the_example_in_the_document_is_what_we_write);
	suite_add_tcase(suite, tc);
	return suite;
}
