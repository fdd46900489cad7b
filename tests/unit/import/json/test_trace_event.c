/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that events read in one pass with their scan are those that are first delimited and then
 * parsed member by member. */
#include "giver.h"
#include "import/json/trace_event.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/stream.h"

#include <check.h>
#include <string.h>

static const char *const names[] = {"ph", "cat", "name", "pid", "tid", "ts", "dur", "args"};
static const char *const wanted[] = {"stream", "Task Type"};

static bool is_text(const struct tp_json_slice *slice, const char *text)
{
	return slice->len == strlen(text) && memcmp(slice->text, text, slice->len) == 0;
}

static uint8_t wanted_find(const void *self, const struct tp_json_slice *key)
{
	(void)self;
	for (uint8_t i = 0; i < TP_ARRAY_LEN(wanted); i++)
		if (is_text(key, wanted[i]))
			return i + 1;
	return 0;
}

/* The event by a plain walk. Returns false if it is malformed. */
static bool event_expect(struct tp_trace_event *event, const struct tp_json_slice *text)
{
	struct tp_json_walk walk = tp_json_walk_init(text);
	struct tp_json_slice key;
	struct tp_json_slice value;
	*event = (struct tp_trace_event){0};
	while (tp_json_walk_to_value(&walk, &key)) {
		bool is_complete = is_text(&key, "args") && *walk.at == '{';
		for (size_t i = 0; i + 1 < TP_ARRAY_LEN(names); i++)
			is_complete &= event->fields[i].type != TP_JSON_SLICE_NONE;
		/* No argument is wanted of events with a category. */
		if (is_complete && event->cat.len) {
			event->args.text = walk.at;
			event->args.type = TP_JSON_SLICE_OBJECT;
			event->args.len = (size_t)(text->text + text->len - walk.at);
			return true;
		}
		if (!tp_json_walk_read_value(&walk, &value))
			return false;
		for (size_t i = 0; i < TP_ARRAY_LEN(names); i++)
			if (is_text(&key, names[i]))
				event->fields[i] = value;
		char phase = tp_trace_event_phase(event);
		if (is_text(&key, "ph") && (!phase || !strchr("XBEM", phase)))
			return true;
	}
	return !walk.is_malformed && *walk.end == '}';
}

static void compare_slices(const struct tp_json_slice *got, const struct tp_json_slice *expected)
{
	ck_assert_int_eq(got->type, expected->type);
	if (!got->type)
		return;
	ck_assert_uint_eq(got->len, expected->len);
	ck_assert_mem_eq(got->text, expected->text, got->len);
	ck_assert(got->is_escaped == expected->is_escaped);
}

static void compare_events(const struct tp_trace_event *got,
			   const struct tp_trace_event_reader *reader,
			   const struct tp_trace_event *expected)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(names); i++)
		compare_slices(&got->fields[i], &expected->fields[i]);
	char phase = tp_trace_event_phase(got);
	for (size_t i = 0; phase == 'X' && !got->cat.len && i < TP_ARRAY_LEN(wanted); i++) {
		struct tp_json_slice value = {0};
		if (got->args.type == TP_JSON_SLICE_OBJECT)
			value = tp_json_slice_find(&expected->args, wanted[i]);
		compare_slices(&reader->args[i], &value);
	}
	for (size_t i = 0; got->cat.len && got->args.type && i < TP_ARRAY_LEN(wanted); i++)
		ck_assert_int_eq(reader->args[i].type, TP_JSON_SLICE_NONE);
}

/* Reads the document both ways. Returns the number of events that are not malformed. */
static size_t compare_document(const struct tp_buf *text)
{
	struct giver givers[] = {{text->data, text->len}, {text->data, text->len}};
	struct tp_stream *streams[2];
	struct tp_json_scan scans[2];
	static struct tp_trace_event_reader reader; /* remembers all documents */
	struct tp_json_slice keys[2];
	struct tp_json_slice values[2];
	enum tp_json_scan_item item;
	size_t n = 0;
	reader.wanted.find = wanted_find;
	reader.n_wanted = TP_ARRAY_LEN(wanted);
	for (size_t i = 0; i < 2; i++) {
		streams[i] = tp_stream_from_source(give, &givers[i]);
		tp_json_scan_init(&scans[i], streams[i]);
	}
	do {
		struct tp_trace_event got;
		struct tp_trace_event expected;
		item = tp_json_scan_next(&scans[0], &keys[0], &values[0]);
		ck_assert_int_eq(tp_trace_event_next(&got, &reader, &scans[1], &keys[1],
						     &values[1]),
				 item);
		if (item != TP_JSON_SCAN_EVENT)
			continue;
		bool is_good = event_expect(&expected, &values[0]);
		ck_assert_msg(reader.is_malformed != is_good, "%.*s", (int)values[0].len,
			      values[0].text);
		if (is_good)
			compare_events(&got, &reader, &expected);
		n += is_good;
	} while (item != TP_JSON_SCAN_END);
	for (size_t i = 0; i < 2; i++) {
		tp_json_scan_release(&scans[i]);
		tp_stream_close(streams[i]);
	}
	tp_trace_event_reader_release(&reader);
	reader.key = reader.phase = reader.category = (struct tp_buf){0};
	return n;
}

static const char *const events[] = {
	"{\"ph\":\"X\",\"cat\":\"\",\"name\":\"n\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,"
	"\"args\":{\"stream\":7}}",
	"{\"ph\":\"X\",\"name\":\"n\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,"
	"\"args\":{\"stream\":7},\"cat\":\"\"}",
	"{\"ph\":\"X\",\"name\":\"k\",\"pid\":1,\"tid\":2,\"ts\":\"1736408883600000.123\",\"dur\":"
	"4.5,"
	"\"args\":{\"Task Type\":\"AI_CORE\",\"stream\":7,\"Batch Id\":0}}",
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":2,\"ts\":5,"
	"\"dur\":1,"
	"\"args\":{\"stream\":1,\"Call stack\":\"train.py(30): step;\\r\\nmodel.py\"}}",
	"{\"name\":\"Conv2D\",\"args\":{\"stream\":\"x\",\"op\":\"}\"},\"ts\":5,\"pid\":1,\"cat\":"
	"\"Op\","
	"\"ph\":\"X\",\"tid\":0,\"dur\":4}",
	"{\n  \"ph\": \"X\", \"pid\": 1, \"tid\": \"main\",\n  \"ts\": 1e3, \"dur\": 2, \"name\": "
	"\"\",\n"
	"  \"args\": {\n    \"stream\": [1, {\"stream\": 2}],\n    \"Task Type\": {}\n  }\n}",
	"{\"ph\":\"s\",\"id\":7,\"pid\":1,\"tid\":2,\"ts\":5,\"name\":\"flow\",\"args\":{\"a\":[1}}"
	"}",
	"{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":1,\"name\":\"n\",\"args\":{\"stream\":"
	"1},"
	"\"args\":{\"Task Type\":\"second\"}}",
	"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"CANN\"}}",
	"{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"no args\",\"args\":null,\"id\":1{2,\"x\":3}}",
	"{\"ph\":\"X\" \"cat\"}",
	"{\"ph\":\"X\",\"args\":{\"stream\" 1}}",
	"{}",
	"{\"ph\":\"XX\",\"ts\":1}",
};

/* Documents of several windows, so that events are cut at their ends. */
START_TEST(events_are_the_same_in_one_pass)
{
	struct tp_buf text = {0};
	size_t n = 0;
	tp_buf_puts(&text, "{\"schemaVersion\":1,\"traceEvents\":[");
	while (text.len < 3 * TP_JSON_SCAN_WINDOW + 1000) {
		uint64_t random = tp_hash_mix(n++, 1);
		tp_buf_puts(&text, events[random % TP_ARRAY_LEN(events)]);
		tp_buf_puts(&text, random & 256 ? ",\n" : ",");
	}
	tp_buf_puts(&text, "{\"ph\":\"X\"}],\"end\":2}");
	ck_assert_uint_gt(compare_document(&text), n / 2);
	tp_buf_release(&text);
}
END_TEST

/* One byte of each event is another one. Backslashes outside of strings are left out: which quotes
 * they escape depends on where parsing begins. */
START_TEST(damaged_events_are_the_same_in_one_pass)
{
	static const char bytes[] = "{}[]\",: 1x\n";
	struct tp_buf text = {0};
	size_t n_good = 0;
	for (uint64_t i = 0; i < 20000; i++) {
		size_t begin;
		const char *event = events[tp_hash_mix(i, 2) % TP_ARRAY_LEN(events)];
		tp_buf_clear(&text);
		tp_buf_puts(&text, "[{\"ph\":\"X\"},");
		begin = text.len;
		tp_buf_puts(&text, event);
		text.data[begin + tp_hash_mix(i, 3) % strlen(event)] =
			bytes[tp_hash_mix(i, 4) % (sizeof(bytes) - 1)];
		tp_buf_puts(&text, ",{\"ph\":\"X\",\"ts\":1}]");
		n_good += compare_document(&text) >= 3;
	}
	ck_assert_uint_gt(n_good, 5000);
	tp_buf_release(&text);
}
END_TEST

Suite *suite_import_trace_event(void);
Suite *suite_import_trace_event(void)
{
	Suite *suite = suite_create("import/traceevent");
	TCase *tc = tcase_create("traceevent");
	tcase_add_test(tc, events_are_the_same_in_one_pass);
	tcase_add_test(tc, damaged_events_are_the_same_in_one_pass);
	suite_add_tcase(suite, tc);
	return suite;
}
