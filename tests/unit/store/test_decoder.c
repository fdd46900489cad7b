/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of decoding: newer records are skipped, invalid ones refused, numbers keep their
 * meaning. */
#include "store/decoder.h"

#include "store/encoder.h"
#include "store/layout.h"
#include "store/wire_num.h"
#include "story.h"

#include "trainprof/model/trace.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tp_trace_builder builder;
static struct tp_decoder decoder;

static void setup(void)
{
	tp_trace_builder_init(&builder);
	tp_decoder_init(&decoder, &builder.sink);
}

static void teardown(void)
{
	tp_decoder_release(&decoder);
	tp_trace_builder_release(&builder);
}

/* The numbers that docs/format.md guarantees. A name that moves in the enumeration must keep its
 * number. */
static const char *const causes[] = {"none",  "unknown",  "file",  "disk",  "page_fault",
				     "pipe",  "socket",   "poll",  "futex", "sleep",
				     "child", "terminal", "other", "gil"};

START_TEST(numbers_in_files_keep_their_meaning)
{
	ck_assert_int_eq(TP_N_CAUSES, sizeof(causes) / sizeof(causes[0]));
	for (unsigned i = 0; i < TP_N_CAUSES; i++)
		ck_assert_str_eq(tp_cause_name((enum tp_cause)i), causes[i]);
	ck_assert_int_eq(TP_STATE_ON_CPU, 0);
	ck_assert_int_eq(TP_STATE_RUNNABLE, 1);
	ck_assert_int_eq(TP_STATE_BLOCKED, 2);
	ck_assert_int_eq(TP_RUN_BLOCKED, 0);
	ck_assert_int_eq(TP_RUN_PREEMPTED, 1);
	ck_assert_int_eq(TP_RUN_EXITED, 2);
	ck_assert_int_eq(TP_RUN_OPEN, 3);
	ck_assert_int_eq(TP_FRAME_NATIVE, 0);
	ck_assert_int_eq(TP_FRAME_JIT, 1);
	ck_assert_int_eq(TP_FRAME_KERNEL, 2);
	ck_assert_int_eq(TP_FRAME_PYTHON, 3);
	ck_assert_int_eq(TP_FRAME_GUESSED, 1);
	ck_assert_int_eq(TP_FRAME_GENERATOR, 16);
	ck_assert_int_eq(TP_STACK_TRUNCATED, 1);
	ck_assert_int_eq(TP_SAMPLE_KERNEL, 1);
	ck_assert_int_eq(TP_SAMPLE_POLLED, 2);
	ck_assert_int_eq(TP_MARK_STEP, 0);
	ck_assert_int_eq(TP_MARK_PHASE_BEGIN, 1);
	ck_assert_int_eq(TP_MARK_PHASE_END, 2);
	ck_assert_int_eq(TP_MARK_STEP_END, 3);
	ck_assert_int_eq(TP_MARK_COUNTER, 4);
	ck_assert_int_eq(TP_MARK_WRITE, 5);
	ck_assert_int_eq(TP_MARK_CALL, 6);
	ck_assert_int_eq(TP_MARK_LOOP_END, 9);
	ck_assert_int_eq(TP_PRESENCE_PRESENT, 0);
	ck_assert_int_eq(TP_PRESENCE_DEGRADED, 1);
	ck_assert_int_eq(TP_PRESENCE_NOT_BUILT, 2);
	ck_assert_int_eq(TP_PRESENCE_NO_LIBRARY, 3);
	ck_assert_int_eq(TP_PRESENCE_NO_DEVICE, 4);
	ck_assert_int_eq(TP_PRESENCE_NO_PERMISSION, 5);
	ck_assert_int_eq(TP_PRESENCE_IN_USE, 6);
	ck_assert_int_eq(TP_PRESENCE_OFF, 7);
	ck_assert_int_eq(TP_SPAN_KERNEL, 0);
	ck_assert_int_eq(TP_SPAN_COPY, 1);
	ck_assert_int_eq(TP_SPAN_SET, 2);
	ck_assert_int_eq(TP_SPAN_OPERATOR, 3);
	ck_assert_int_eq(TP_SPAN_CALL, 4);
	ck_assert_int_eq(TP_SPAN_ANNOTATION, 5);
	ck_assert_int_eq(TP_SPAN_PYTHON, 6);
	ck_assert_int_eq(TP_SPAN_OS_CALL, 7);
}
END_TEST

START_TEST(varints_keep_every_number)
{
	static const uint64_t numbers[] = {0,          1,
					   127,        128,
					   16383,      16384,
					   UINT32_MAX, UINT64_C(1) << 32,
					   INT64_MAX,  UINT64_C(1) << 63,
					   UINT64_MAX};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		unsigned char bytes[TP_VARINT_MAX_BYTES];
		struct tp_varint_cursor cursor = {.at = bytes,
						  .end = tp_varint_put(bytes, numbers[i])};
		ck_assert_uint_eq(tp_varint_get(&cursor), numbers[i]);
		ck_assert(!cursor.is_bad);
		for (size_t j = 0; j < sizeof(numbers) / sizeof(numbers[0]); j++)
			ck_assert_uint_eq(tp_delta_decode(tp_delta_encode(numbers[i], numbers[j]),
							  numbers[j]),
					  numbers[i]);
	}
	/* A varint of eleven bytes, and one that does not end. */
	unsigned char endless[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
				   0x80, 0x80, 0x80, 0x80, 0x01};
	struct tp_varint_cursor cursor = {.at = endless, .end = endless + sizeof(endless)};
	ck_assert_uint_eq(tp_varint_get(&cursor), 0);
	ck_assert(cursor.is_bad);
	cursor = (struct tp_varint_cursor){.at = endless, .end = endless + 3};
	(void)tp_varint_get(&cursor);
	ck_assert(cursor.is_bad);
}
END_TEST

/* Payloads by hand, with what must come of them. A task with id 0 and string 1 are always there. */
#define PREFIX                                                                                     \
	"\x61\x01train"                                                                            \
	"\xe4\x00\x92\x21\x92\x21\x00\x01\x00\x00\x01\x00\x00\x00\x00"
static const struct {
	const char *what;
	const char *bytes;
	size_t size;
	bool is_whole;
	unsigned n_refused;
	unsigned n_skipped;
} payloads[] = {
#define CASE(what, bytes, whole, refused, skipped)                                                 \
	{                                                                                          \
		what, bytes, sizeof(bytes) - 1, whole, refused, skipped                            \
	}
	CASE("a run", "\x45\x02\x01\x00\x19", true, 0, 0),
	CASE("a run with a field of a newer version", "\x55\x02\x01\x00\x19\x07", true, 0, 0),
	CASE("a run too short", "\x35\x02\x01\x00", true, 1, 0),
	CASE("a run of an unknown task", "\x45\x02\x01\x05\x19", true, 1, 0),
	CASE("a run longer than time", "\x95\x02\xff\xff\xff\xff\xff\x7f\x00\x19", true, 1, 0),
	CASE("a record kind of a newer version", "\x2f\x01\x02", true, 0, 1),
	CASE("a track", "\x5c\x00\x00\x01\x01\x0e", true, 0, 0),
	CASE("a track with its task", "\x6c\x00\x00\x01\x01\x0e\x01", true, 0, 0),
	CASE("a track of a task that is not known", "\x6c\x00\x00\x01\x01\x0e\x02", true, 1, 0),
	CASE("a track that jumps ahead", "\x5c\x01\x00\x01\x01\x0e", true, 1, 0),
	CASE("a track of device -2", "\x5c\x00\x00\x03\x01\x0e", true, 1, 0),
	CASE("a detail", "\x9d\x01\x08\x00\x00\x01\x00\x00\x00\x00", true, 0, 0),
	CASE("a detail of an unknown string", "\x9d\x01\x08\x00\x00\x09\x00\x00\x00\x00", true, 1,
	     0),
	CASE("a span", "\x5c\x00\x00\x01\x01\x0e\x6e\x13\x02\x05\x00\x01\x02", true, 0, 0),
	CASE("a span of an unknown track", "\x6e\x13\x02\x05\x00\x01\x02", true, 1, 0),
	CASE("a span longer than time",
	     "\x5c\x00\x00\x01\x01\x0e\xee\x03\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x01",
	     true, 1, 0),
	CASE("a span of a newer kind", "\x5c\x00\x00\x01\x01\x0e\x5e\x0f\x02\x05\x00\x01", true, 0,
	     1),
	CASE("kind 15", "\x0f", true, 0, 1),
	CASE("kind 0", "\x00", true, 0, 1),
	CASE("a record longer than the block", "\x45\x02\x01\x00", false, 0, 0),
	CASE("a length longer than the block", "\xf5\xff\xff\xff\xff\x0f\x01", false, 0, 0),
	CASE("a length that does not end", "\xf5\xff", false, 0, 0),
	CASE("a string that jumps ahead", "\x31\x07xy", true, 1, 0),
	CASE("a string defined again", "\x31\x01xy", true, 1, 0),
	CASE("a frame of an unknown string", "\x92\x01\x00\x00\x09\x00\x00\x00\x00\x00", true, 1,
	     0),
	CASE("a frame of a newer kind", "\x92\x01\x7f\x00\x01\x00\x00\x00\x00\x00", true, 0, 0),
	CASE("a stack of an unknown frame", "\x43\x01\x00\x01\x05", true, 1, 0),
	CASE("a stack that claims more", "\x53\x01\x00\xff\xff\x03", true, 1, 0),
	CASE("an empty stack", "\x33\x01\x00\x00", true, 1, 0),
	CASE("a task that jumps ahead", "\xc4\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
	     true, 1, 0),
	CASE("a sample of an unknown stack", "\x56\x00\x02\x00\x00\x09", true, 1, 0),
	CASE("a sample of a state to come", "\x56\x03\x02\x00\x00\x00", true, 1, 0),
	CASE("a sample of a newer cause", "\x66\x0a\x02\x00\x00\x00\x7e", true, 0, 0),
	CASE("a gauge of a metric without a name", "\x47\x03\x02\x00\x05", true, 0, 1),
	CASE("a metric of a newer version", "\x9b\x01\x01\x02\x01\x31novel", false, 0, 1),
	CASE("a metric of a newer version, whole", "\xab\x01\x01\x02\x01\x31novel", true, 0, 1),
	CASE("a metric with another unit", "\xfb\x16\x01\x01\x01\x01\x31process.rss_bytes", true, 1,
	     0),
	CASE("a gauge of a device whose track nobody told",
	     "\xfb\x18\x07\x01\x03\x05"
	     "ratio"
	     "gpu.awake_ratio"
	     "\x57\x0f\x00\x00\x01\x00",
	     true, 1, 0),
	CASE("a gauge of a device without its track",
	     "\xfb\x18\x07\x01\x03\x05"
	     "ratio"
	     "gpu.awake_ratio"
	     "\x47\x0f\x00\x00\x01",
	     true, 1, 0),
	CASE("a metric whose unit claims more", "\x6b\x01\x01\x02\x1f\x31\x31", true, 1, 0),
	CASE("a metric number too large", "\x6b\xff\xff\x03\x00\x00\x00", true, 1, 0),
	CASE("a gauge that is no number", "\xb7\x02\x02\x00\x00\x00\x00\x00\x00\x00\xf8\x7f", true,
	     1, 0),
	CASE("a mark of a newer kind", "\x58\x0b\x02\x01\x00\x00", true, 0, 1),
	CASE("a mark of an unknown task", "\x58\x00\x02\x07\x00\x00", true, 1, 0),
	CASE("a gap", "\x69\x00\xff\x7f\x00\x00\x00", true, 0, 0),
	CASE("a gap longer than time", "\xa9\x00\xff\xff\xff\xff\xff\x7f\x00\x00\x00", true, 1, 0),
	CASE("a source of a newer presence", "\x7a\x01\x01\x70\x00\x00\x00\x00", true, 0, 0),
#undef CASE
};

START_TEST(each_payload_has_its_fate)
{
	ck_assert(tp_decoder_add(&decoder, (const unsigned char *)PREFIX, sizeof(PREFIX) - 1, 0));
	ck_assert_uint_eq(decoder.n_refused + decoder.n_skipped, 0);
	const char *what = payloads[_i].what;
	/* Allocated with the exact size, so that AddressSanitizer detects a read of one byte too
	 * many. */
	unsigned char *exact = malloc(payloads[_i].size);
	memcpy(exact, payloads[_i].bytes, payloads[_i].size);
	bool whole = tp_decoder_add(&decoder, exact, payloads[_i].size, 1000000);
	free(exact);
	ck_assert_msg(whole == payloads[_i].is_whole, "%s: whole %d", what, whole);
	ck_assert_msg(decoder.n_refused == payloads[_i].n_refused &&
			      decoder.n_skipped == payloads[_i].n_skipped,
		      "%s: %llu refused, %llu skipped", what, (unsigned long long)decoder.n_refused,
		      (unsigned long long)decoder.n_skipped);
}
END_TEST

START_TEST(a_trace_can_walk_the_sources_of_any_recording)
{
	for (unsigned i = 1; i <= 2 * DECODER_SOURCES_MAX; i++) {
		unsigned char bytes[64];
		char name[16];
		unsigned len = (unsigned)snprintf(name, sizeof(name), "s%u", i);
		unsigned char *p = tp_varint_put(bytes + 1, i);
		memcpy(p, name, len);
		bytes[0] = (unsigned char)(LAYOUT_STRING | (p + len - bytes - 1) << 4);
		ck_assert(tp_decoder_add(&decoder, bytes, (size_t)(p + len - bytes), 0));
		p = tp_varint_put(bytes + 1, i);
		memset(p, 0, 6);
		bytes[0] = (unsigned char)(LAYOUT_SOURCE | (p + 6 - bytes - 1) << 4);
		ck_assert(tp_decoder_add(&decoder, bytes, (size_t)(p + 6 - bytes), 0));
	}
	ck_assert_uint_eq(builder.n_records, DECODER_SOURCES_MAX);
	ck_assert_uint_eq(decoder.n_refused, DECODER_SOURCES_MAX);
}
END_TEST

Suite *suite_store_decoder(void);
Suite *suite_store_decoder(void)
{
	Suite *suite = suite_create("store/decoder");
	TCase *tc = tcase_create("decoder");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, numbers_in_files_keep_their_meaning);
	tcase_add_test(tc, varints_keep_every_number);
	tcase_add_loop_test(tc, each_payload_has_its_fate, 0,
			    sizeof(payloads) / sizeof(payloads[0]));
	tcase_add_test(tc, a_trace_can_walk_the_sources_of_any_recording);
	suite_add_tcase(suite, tc);
	return suite;
}
