/* Claims about the records that GPU events become. */
#include "collect/gputell.h"

#include "collect/gpufile.h"
#include "collect/gpuname.h"
#include "collect/tree.h"

#include "scriptring.h"

#include "trainprof/base/clock.h"
#include "trainprof/collect/host.h"
#include "trainprof/model/trace.h"

#include <check.h>

/* CUPTI's clock is ahead by half a century, as the date is. */
#define SKEW_NS UINT64_C(1600000000000000000)

enum { EVENTS = 64, RANK = 3 };

static char directory[] = "/tmp/tp-gputell-XXXXXX";
static struct tp_host host = {.root = ""};
static struct ring_writer writer;
static struct tp_gpu_file file;
static struct tp_gpu_demangler demangler;
static struct tp_trace_builder sink;
static struct tp_tree *tree;
static struct tp_gpu_teller *teller;
static uint16_t place;
static uint64_t t0; /* the begin of all that is told */

static void setup(void)
{
	struct tp_error err;
	strcpy(directory + strlen(directory) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert(ring_begin(&writer, directory, 0, EVENTS));
	writer.skew_ns = SKEW_NS;
	ring_clock(&writer);
	place = ring_place(&writer, 1, 7);
	ck_assert_msg(!tp_gpu_file_open(&file, writer.path, &err), "%s", err.text);
	tp_trace_builder_init(&sink);
	tree = tp_tree_new(&host, &sink.sink);
	t0 = tp_clock_now_ns() - 50 * TP_NS_PER_MS;
	const struct tp_gpu_teller_config config = {.sink = &sink.sink,
						    .tree = tree,
						    .demangler = &demangler,
						    .file = &file,
						    .source = "cupti",
						    .rank = RANK,
						    .pid = getpid()};
	teller = tp_gpu_teller_new(&config);
}

static void teardown(void)
{
	tp_gpu_teller_free(teller);
	tp_gpu_file_close(&file);
	tp_tree_free(tree);
	tp_trace_builder_release(&sink);
	unlink(writer.path);
	ring_end(&writer);
	rmdir(directory);
}

static void drain(void)
{
	ck_assert(tp_gpu_file_refresh(&file));
	tp_gpu_teller_begin(teller, tp_clock_now_ns());
	tp_gpu_file_take(&file, 1000, tp_gpu_teller_take, teller);
	tp_gpu_teller_end(teller);
}

static uint64_t ms(uint64_t n)
{
	return t0 + n * TP_NS_PER_MS;
}

/* The n-th span that was put on any track, in order of tracks; NULL: there are fewer. */
static const struct tp_span *span_at(size_t n)
{
	for (size_t i = 0; i < sink.n_spans; i++) {
		if (n < sink.spans[i].n)
			return &sink.spans[i].items[n];
		n -= sink.spans[i].n;
	}
	return NULL;
}

static const char *text_of(uint32_t id)
{
	return tp_strtab_text(&sink.sink.strings, id);
}

/* The track as it was told last. */
static struct tp_track track_of(const struct tp_span *span)
{
	struct tp_track found = {.id = UINT32_MAX};
	for (size_t i = 0; i < sink.n_records; i++)
		if (sink.records[i].kind == TP_RECORD_TRACK &&
		    sink.records[i].of.track.id == span->track)
			found = sink.records[i].of.track;
	ck_assert_uint_ne(found.id, UINT32_MAX);
	return found;
}

/* CUPTI's clock and ours are told apart by half a microsecond at most: the pair was one reading. */
static void ck_times(const struct tp_span *span, uint64_t from, uint64_t to)
{
	ck_assert_uint_eq(span->start_ns, ms(from));
	ck_assert_uint_eq(span->end_ns, ms(to));
}

START_TEST(a_kernel_lies_on_its_stream_with_the_link_of_its_call)
{
	uint32_t kernel = ring_name(&writer, "triton_poi_fused_0");
	uint32_t call = ring_name(&writer, "cudaLaunchKernel_v7000");
	uint64_t x = 108 | UINT64_C(256) << 32 | UINT64_C(40) << 48;
	ring_work(&writer, TP_GPU_EVENT_KERNEL, place, kernel, ms(3), ms(5), 17, x);
	ring_work(&writer, TP_GPU_EVENT_CALL, TP_GPU_CALL_LAUNCH, call, ms(1), ms(2), 17, 4242);
	drain();
	const struct tp_span *span = span_at(0);
	ck_times(span, 3, 5);
	ck_assert_int_eq(span->kind, TP_SPAN_KERNEL);
	ck_assert_str_eq(text_of(span->name), "triton_poi_fused_0");
	ck_assert_uint_eq(span->link, 17);
	struct tp_detail detail;
	tp_sink_detail_get(&sink.sink, span->detail, &detail);
	ck_assert_uint_eq(detail.blocks, 108);
	ck_assert_uint_eq(detail.threads, 256);
	ck_assert_uint_eq(detail.bytes, 0);
	struct tp_track track = track_of(span);
	ck_assert_int_eq(track.device, 1);
	ck_assert_int_eq(track.number, 7);
	ck_assert_uint_eq(track.rank, RANK);
	ck_assert_str_eq(text_of(track.name), "stream 7");
	span = span_at(1);
	ck_times(span, 1, 2);
	ck_assert_int_eq(span->kind, TP_SPAN_CALL);
	ck_assert_str_eq(text_of(span->name), "cudaLaunchKernel");
	ck_assert_uint_eq(span->link, 17);
	track = track_of(span);
	ck_assert_int_eq(track.device, TP_TRACK_THREAD);
	ck_assert_int_eq(track.number, 4242);
	ck_assert_uint_eq(tp_gpu_teller_told(teller)->n_spans, 2);
}
END_TEST

START_TEST(copies_and_fills_have_bytes_and_their_own_kinds)
{
	ring_work(&writer, TP_GPU_EVENT_COPY, place,
		  TP_GPU_COPY_HTOD | TP_GPU_MEMORY_PAGEABLE << 8 | TP_GPU_MEMORY_DEVICE << 16,
		  ms(1), ms(2), 5, 1 << 20);
	ring_work(&writer, TP_GPU_EVENT_SET, place, TP_GPU_MEMORY_DEVICE << 16, ms(3), ms(4), 6,
		  4096);
	drain();
	struct tp_detail detail;
	ck_assert_int_eq(span_at(0)->kind, TP_SPAN_COPY);
	ck_assert_str_eq(text_of(span_at(0)->name), "Memcpy HtoD (Pageable -> Device)");
	tp_sink_detail_get(&sink.sink, span_at(0)->detail, &detail);
	ck_assert_uint_eq(detail.bytes, 1 << 20);
	ck_assert_int_eq(span_at(1)->kind, TP_SPAN_SET);
	ck_assert_str_eq(text_of(span_at(1)->name), "Memset (Device)");
	tp_sink_detail_get(&sink.sink, span_at(1)->detail, &detail);
	ck_assert_uint_eq(detail.bytes, 4096);
}
END_TEST

START_TEST(a_thread_is_named_by_its_task_also_when_that_comes_later)
{
	uint32_t tid = (uint32_t)getpid();
	ring_work(&writer, TP_GPU_EVENT_CALL, TP_GPU_CALL_LAUNCH, 0, ms(1), ms(2), 1, tid);
	drain();
	ck_assert_uint_eq(track_of(span_at(0)).task_plus_1, 0);
	tp_tree_fork(tree, getpid(), getpid(), 0, t0);
	drain();
	ck_assert_uint_eq(track_of(span_at(0)).task_plus_1, 1);
}
END_TEST

START_TEST(a_number_that_is_no_tid_finds_no_task)
{
	tp_tree_fork(tree, getpid(), getpid(), 0, t0);
	ring_event(&writer, &(struct tp_gpu_event){.type = TP_GPU_EVENT_CALL,
						   .flags = TP_GPU_FLAG_PTHREAD,
						   .place = TP_GPU_CALL_LAUNCH,
						   .t0 = ms(1) + SKEW_NS,
						   .dur = 10,
						   .x = (uint32_t)getpid()});
	drain();
	drain();
	ck_assert_uint_eq(track_of(span_at(0)).task_plus_1, 0);
}
END_TEST

/* cudaMemcpy does not say by its name that it waits; cudaStreamSynchronize does. */
START_TEST(a_wait_lies_on_the_thread_of_its_call_unless_the_call_says_so)
{
	ring_work(&writer, TP_GPU_EVENT_SYNC, place, TP_GPU_SYNC_STREAM, ms(2), ms(8), 5, 0);
	drain();
	ck_assert_uint_eq(tp_gpu_teller_told(teller)->n_spans, 0);
	ring_work(&writer, TP_GPU_EVENT_CALL, TP_GPU_CALL_COPY, 0, ms(1), ms(9), 5, 77);
	ring_work(&writer, TP_GPU_EVENT_CALL, TP_GPU_CALL_SYNC, 0, ms(10), ms(12), 6, 77);
	ring_work(&writer, TP_GPU_EVENT_SYNC, place, TP_GPU_SYNC_STREAM, ms(10), ms(12), 6, 0);
	ring_work(&writer, TP_GPU_EVENT_SYNC, place, TP_GPU_SYNC_STREAM_EVENT, ms(13), ms(14), 5,
		  9);
	drain();
	ck_assert_uint_eq(tp_gpu_teller_told(teller)->n_spans, 3);
	ck_assert_str_eq(text_of(span_at(2)->name), "StreamSynchronize");
	ck_times(span_at(2), 2, 8);
	ck_assert_int_eq(track_of(span_at(2)).number, 77);
}
END_TEST

START_TEST(ranges_of_a_thread_nest_by_domain)
{
	const uint64_t other = UINT64_C(9) << 32;
	uint32_t step = ring_name(&writer, "step 1");
	uint32_t inner = ring_name(&writer, "forward");
	struct tp_gpu_event event = {.flags = TP_GPU_FLAG_HOST_CLOCK, .x = 5};
	const struct {
		unsigned type;
		uint32_t id;
		uint64_t at, domain;
	} events[] = {{TP_GPU_EVENT_PUSH, step, 1, 0},  {TP_GPU_EVENT_PUSH, inner, 2, other},
		      {TP_GPU_EVENT_PUSH, inner, 3, 0}, {TP_GPU_EVENT_POP, 0, 4, other},
		      {TP_GPU_EVENT_POP, 0, 5, 0},      {TP_GPU_EVENT_POP, 0, 6, 0},
		      {TP_GPU_EVENT_POP, 0, 7, 0} /* of nothing */};
	for (size_t i = 0; i < 7; i++) {
		event.type = (uint8_t)events[i].type;
		event.id = events[i].id;
		event.t0 = ms(events[i].at);
		event.x = 5 | events[i].domain;
		ring_event(&writer, &event);
	}
	drain();
	ck_assert_uint_eq(tp_gpu_teller_told(teller)->n_spans, 3);
	ck_times(span_at(0), 2, 4);
	ck_times(span_at(1), 3, 5);
	ck_times(span_at(2), 1, 6);
	ck_assert_str_eq(text_of(span_at(2)->name), "step 1");
	ck_assert_int_eq(span_at(2)->kind, TP_SPAN_ANNOTATION);
}
END_TEST

START_TEST(ranges_that_any_thread_may_end_stand_with_the_first)
{
	uint32_t name = ring_name(&writer, "epoch");
	struct tp_gpu_event event = {.type = TP_GPU_EVENT_START,
				     .flags = TP_GPU_FLAG_HOST_CLOCK,
				     .id = name,
				     .t0 = ms(1),
				     .x = 4711};
	ring_event(&writer, &event);
	event.type = TP_GPU_EVENT_END;
	event.t0 = ms(4);
	ring_event(&writer, &event);
	event.x = 4712; /* never began */
	ring_event(&writer, &event);
	drain();
	ck_assert_uint_eq(tp_gpu_teller_told(teller)->n_spans, 1);
	ck_times(span_at(0), 1, 4);
	ck_assert_int_eq(track_of(span_at(0)).number, getpid());
}
END_TEST

/* A loss says nothing of whose ends were lost: open ranges are forgotten, and a gap is put. */
START_TEST(losses_are_gaps_and_forget_open_ranges)
{
	uint32_t name = ring_name(&writer, "step 1");
	struct tp_gpu_event event = {.type = TP_GPU_EVENT_PUSH,
				     .flags = TP_GPU_FLAG_HOST_CLOCK,
				     .id = name,
				     .t0 = ms(1),
				     .x = 5};
	ring_event(&writer, &event);
	drain();
	ring_event(&writer, &(struct tp_gpu_event){.type = TP_GPU_EVENT_LOST,
						   .flags = TP_GPU_FLAG_HOST_CLOCK,
						   .t0 = ring_now_ns(),
						   .x = 1000});
	event.type = TP_GPU_EVENT_POP;
	event.t0 = ms(9);
	ring_event(&writer, &event);
	drain();
	ck_assert_uint_eq(tp_gpu_teller_told(teller)->n_spans, 0);
	ck_assert_uint_eq(tp_gpu_teller_told(teller)->n_lost, 1000);
	const struct tp_gap *gap = NULL;
	for (size_t i = 0; i < sink.n_records; i++)
		if (sink.records[i].kind == TP_RECORD_GAP)
			gap = &sink.records[i].of.gap;
	ck_assert_ptr_nonnull(gap);
	ck_assert_uint_eq(gap->n_lost, 1000);
	ck_assert_uint_gt(gap->end_ns, gap->start_ns);
	ck_assert_str_eq(text_of(gap->source), "cupti");
}
END_TEST

static void turn(unsigned type, uint64_t at_ms)
{
	ring_event(&writer, &(struct tp_gpu_event){.type = (uint8_t)type,
						   .flags = TP_GPU_FLAG_HOST_CLOCK,
						   .id = 1,
						   .t0 = ms(at_ms)});
}

/* Before the first window CUDA had not started; behind the last one nothing is known. */
START_TEST(what_lies_between_windows_is_a_gap)
{
	static const uint64_t borders[][2] = {{10, 20}, {30, 45}};
	size_t n = 0;
	turn(TP_GPU_EVENT_OPEN, 5);
	turn(TP_GPU_EVENT_CLOSE, 10);
	turn(TP_GPU_EVENT_OPEN, 20);
	turn(TP_GPU_EVENT_CLOSE, 30);
	drain();
	tp_gpu_teller_finish(teller, ms(45));
	tp_gpu_teller_finish(teller, ms(46));
	for (size_t i = 0; i < sink.n_records; i++) {
		if (sink.records[i].kind != TP_RECORD_GAP)
			continue;
		ck_assert_uint_lt(n, 2);
		ck_assert_uint_eq(sink.records[i].of.gap.start_ns, ms(borders[n][0]));
		ck_assert_uint_eq(sink.records[i].of.gap.end_ns, ms(borders[n][1]));
		ck_assert_uint_eq(sink.records[i].of.gap.n_lost, 0);
		n++;
	}
	ck_assert_uint_eq(n, 2);
}
END_TEST

START_TEST(what_has_no_time_or_place_is_counted_and_not_told)
{
	ring_work(&writer, TP_GPU_EVENT_KERNEL, 0, 0, ms(1), ms(2), 1, 0);
	ring_work(&writer, TP_GPU_EVENT_KERNEL, 99, 0, ms(1), ms(2), 1, 0);
	ring_work(&writer, TP_GPU_EVENT_KERNEL, place, 0, ms(100000), ms(100001), 1, 0);
	ring_work(&writer, 200, place, 0, ms(1), ms(2), 1, 0);
	ring_work(&writer, TP_GPU_EVENT_NONE, place, 0, ms(1), ms(2), 1, 0);
	drain();
	ck_assert_uint_eq(tp_gpu_teller_told(teller)->n_spans, 0);
	ck_assert_uint_eq(tp_gpu_teller_told(teller)->n_unplaced, 3);
	ck_assert_uint_eq(tp_gpu_teller_told(teller)->n_unknown, 2);
	ck_assert_uint_eq(tp_gpu_teller_told(teller)->n_events, 5);
}
END_TEST

START_TEST(long_durations_are_told_in_microseconds)
{
	ring_event(&writer, &(struct tp_gpu_event){.type = TP_GPU_EVENT_KERNEL,
						   .flags = TP_GPU_FLAG_LONG,
						   .place = place,
						   .t0 = ms(1) + SKEW_NS,
						   .dur = 7000});
	drain();
	ck_times(span_at(0), 1, 8);
}
END_TEST

START_TEST(what_the_driver_does_is_told_and_what_cupti_does_is_summed)
{
	ring_work(&writer, TP_GPU_EVENT_OVERHEAD, 0, TP_GPU_OVERHEAD_LAZY_LOAD, ms(1), ms(3), 0, 5);
	ring_work(&writer, TP_GPU_EVENT_OVERHEAD, 0, TP_GPU_OVERHEAD_FLUSH, ms(4), ms(6), 0, 5);
	drain();
	ck_assert_uint_eq(tp_gpu_teller_told(teller)->n_spans, 1);
	ck_assert_str_eq(text_of(span_at(0)->name), "Lazy Function Loading");
	ck_assert_uint_eq(tp_gpu_teller_told(teller)->cupti_ns, 2 * TP_NS_PER_MS);
}
END_TEST

/* Whatever an event says, records stay sane: the trace that is built of them drops none. */
START_TEST(wild_events_make_no_wild_records)
{
	uint64_t random = 1;
	for (int i = 0; i < 20000; i++) {
		struct tp_gpu_event event;
		unsigned char *bytes = (unsigned char *)&event;
		for (size_t k = 0; k < sizeof(event); k++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			bytes[k] =
				(unsigned char)(random >> 56 & ((random >> 40 & 3) ? 0x0f : 0xff));
		}
		event.type = (uint8_t)(event.type % 20);
		if (i % 3)
			event.t0 = ms(1) + SKEW_NS + i;
		ring_event(&writer, &event);
		if (i % 50 == 49)
			drain();
	}
	struct tp_trace trace;
	const struct tp_run_info run = {.started_ns = 1, .ended_ns = tp_clock_now_ns()};
	ck_assert_uint_gt(tp_gpu_teller_told(teller)->n_spans, 100);
	tp_trace_build(&trace, &sink, &run);
	ck_assert_uint_eq(trace.n_dropped, 0);
	tp_trace_release(&trace);
}
END_TEST

Suite *suite_collect_gputell(void);
Suite *suite_collect_gputell(void)
{
	Suite *suite = suite_create("collect/gputell");
	TCase *tc = tcase_create("gputell");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_kernel_lies_on_its_stream_with_the_link_of_its_call);
	tcase_add_test(tc, copies_and_fills_have_bytes_and_their_own_kinds);
	tcase_add_test(tc, a_thread_is_named_by_its_task_also_when_that_comes_later);
	tcase_add_test(tc, a_number_that_is_no_tid_finds_no_task);
	tcase_add_test(tc, a_wait_lies_on_the_thread_of_its_call_unless_the_call_says_so);
	tcase_add_test(tc, ranges_of_a_thread_nest_by_domain);
	tcase_add_test(tc, ranges_that_any_thread_may_end_stand_with_the_first);
	tcase_add_test(tc, losses_are_gaps_and_forget_open_ranges);
	tcase_add_test(tc, what_lies_between_windows_is_a_gap);
	tcase_add_test(tc, what_has_no_time_or_place_is_counted_and_not_told);
	tcase_add_test(tc, long_durations_are_told_in_microseconds);
	tcase_add_test(tc, what_the_driver_does_is_told_and_what_cupti_does_is_summed);
	tcase_add_test(tc, wild_events_make_no_wild_records);
	suite_add_tcase(suite, tc);
	return suite;
}
