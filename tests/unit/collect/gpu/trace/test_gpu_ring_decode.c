/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the records that GPU events are decoded to. */
#include "collect/gpu/trace/gpu_ring_decode.h"

#include "collect/gpu/trace/gpu_event_name.h"
#include "collect/gpu/trace/gpu_ring_reader.h"
#include "collect/gpu/trace/progress_rate.h"
#include "collect/process/task_tree.h"

#include "collect/scriptring.h"

#include "trainprof/base/clock.h"
#include "trainprof/collect/host_info.h"
#include "trainprof/model/trace.h"

#include <check.h>

/* CUPTI's clock is ahead by half a century, because it follows the date. */
#define SKEW_NS UINT64_C(1600000000000000000)

enum { EVENTS = 64, RANK = 3 };

static char directory[] = "/tmp/tp-gputell-XXXXXX";
static struct tp_host host = {.root = ""};
static struct ring_writer writer;
static struct tp_gpu_ring_reader file;
static struct tp_gpu_demangler demangler;
static struct tp_trace_builder sink;
static struct tp_task_tree *tree;
static struct tp_gpu_decoder *decoder;
static struct tp_progress progress;
static uint16_t place;
static uint64_t t0; /* start time of all events */

static void setup(void)
{
	struct tp_error err;
	strcpy(directory + strlen(directory) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert(ring_begin(&writer, directory, 0, EVENTS));
	writer.skew_ns = SKEW_NS;
	ring_clock(&writer);
	place = ring_place(&writer, 1, 7);
	ck_assert_msg(!tp_gpu_ring_reader_open(&file, writer.path, &err), "%s", err.text);
	tp_trace_builder_init(&sink);
	tree = tp_task_tree_new(&host, &sink.sink);
	t0 = tp_clock_now_ns() - 50 * TP_NS_PER_MS;
	const struct tp_gpu_decoder_config config = {.sink = &sink.sink,
						     .tree = tree,
						     .demangler = &demangler,
						     .file = &file,
						     .source = "cupti",
						     .rank = RANK,
						     .pid = getpid(),
						     .progress = &progress};
	decoder = tp_gpu_decoder_new(&config);
}

static void teardown(void)
{
	tp_gpu_decoder_free(decoder);
	tp_progress_release(&progress);
	tp_gpu_ring_reader_close(&file);
	tp_task_tree_free(tree);
	tp_trace_builder_release(&sink);
	unlink(writer.path);
	ring_end(&writer);
	rmdir(directory);
}

static void drain(void)
{
	ck_assert(tp_gpu_ring_reader_refresh(&file));
	tp_gpu_decoder_begin(decoder, tp_clock_now_ns());
	tp_gpu_ring_reader_drain(&file, 1000, tp_gpu_decoder_event, decoder);
	tp_gpu_decoder_end(decoder);
}

static uint64_t ms(uint64_t n)
{
	return t0 + n * TP_NS_PER_MS;
}

static void turn(unsigned type, uint64_t at_ms)
{
	ring_event(&writer, &(struct tp_gpu_event){.type = (uint8_t)type,
						   .flags = TP_GPU_FLAG_HOST_CLOCK,
						   .id = 1,
						   .t0 = ms(at_ms)});
}

/* Returns the n-th span on all tracks, in order of tracks, or NULL if there are fewer. */
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

/* Returns the last record of the span's track. */
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

/* Times must match exactly: CUPTI's clock and ours differ by half a microsecond at most, because
 * the pair was one reading. */
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
	ck_assert_uint_eq(tp_gpu_decoder_get_stats(decoder)->n_spans, 2);
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
	tp_task_tree_fork(tree, getpid(), getpid(), 0, t0);
	drain();
	ck_assert_uint_eq(track_of(span_at(0)).task_plus_1, 1);
}
END_TEST

START_TEST(a_number_that_is_no_tid_finds_no_task)
{
	tp_task_tree_fork(tree, getpid(), getpid(), 0, t0);
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

/* The name cudaMemcpy does not show that the call waits; cudaStreamSynchronize does. */
START_TEST(a_wait_lies_on_the_thread_of_its_call_unless_the_call_says_so)
{
	ring_work(&writer, TP_GPU_EVENT_SYNC, place, TP_GPU_SYNC_STREAM, ms(2), ms(8), 5, 0);
	drain();
	ck_assert_uint_eq(tp_gpu_decoder_get_stats(decoder)->n_spans, 0);
	ring_work(&writer, TP_GPU_EVENT_CALL, TP_GPU_CALL_COPY, 0, ms(1), ms(9), 5, 77);
	ring_work(&writer, TP_GPU_EVENT_CALL, TP_GPU_CALL_SYNC, 0, ms(10), ms(12), 6, 77);
	ring_work(&writer, TP_GPU_EVENT_SYNC, place, TP_GPU_SYNC_STREAM, ms(10), ms(12), 6, 0);
	ring_work(&writer, TP_GPU_EVENT_SYNC, place, TP_GPU_SYNC_STREAM_EVENT, ms(13), ms(14), 5,
		  9);
	drain();
	ck_assert_uint_eq(tp_gpu_decoder_get_stats(decoder)->n_spans, 3);
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
	turn(TP_GPU_EVENT_OPEN, 0);
	const struct {
		unsigned type;
		uint32_t id;
		uint64_t at, domain;
	} events[] = {{TP_GPU_EVENT_PUSH, step, 1, 0},  {TP_GPU_EVENT_PUSH, inner, 2, other},
		      {TP_GPU_EVENT_PUSH, inner, 3, 0}, {TP_GPU_EVENT_POP, 0, 4, other},
		      {TP_GPU_EVENT_POP, 0, 5, 0},      {TP_GPU_EVENT_POP, 0, 6, 0},
		      {TP_GPU_EVENT_POP, 0, 7, 0} /* without a start */};
	for (size_t i = 0; i < 7; i++) {
		event.type = (uint8_t)events[i].type;
		event.id = events[i].id;
		event.t0 = ms(events[i].at);
		event.x = 5 | events[i].domain;
		ring_event(&writer, &event);
	}
	drain();
	ck_assert_uint_eq(tp_gpu_decoder_get_stats(decoder)->n_spans, 3);
	ck_times(span_at(0), 2, 4);
	ck_times(span_at(1), 3, 5);
	ck_times(span_at(2), 1, 6);
	ck_assert_str_eq(text_of(span_at(2)->name), "step 1");
	ck_assert_int_eq(span_at(2)->kind, TP_SPAN_ANNOTATION);
}
END_TEST

START_TEST(numbers_are_put_back_into_names)
{
	static const struct {
		const char *name;
		unsigned flags;
		uint32_t first, second;
		const char *told;
		enum tp_span_kind kind;
	} names[] = {
		{"step \1", TP_GPU_FLAG_NUMBERS, 12, 0, "step 12", TP_SPAN_ANNOTATION},
		{"epoch \1 step \1", TP_GPU_FLAG_NUMBERS, 1, 30, "epoch 1 step 30",
		 TP_SPAN_ANNOTATION},
		{"aten::mm, seq = \1, op_id = \1, sizes = [[64]]", TP_GPU_FLAG_NUMBERS, 7, 12,
		 "aten::mm", TP_SPAN_OPERATOR},
		{"a \1 b", 0, 7, 12, "a \1 b", TP_SPAN_ANNOTATION},
		{"\1\1\1", TP_GPU_FLAG_NUMBERS, 7, 12, "712\1", TP_SPAN_ANNOTATION},
		{"\xff\xfe", 0, 0, 0, "\xff\xfe", TP_SPAN_ANNOTATION},
	};
	struct tp_gpu_event event = {.x = 5};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		event.type = TP_GPU_EVENT_PUSH;
		event.flags = TP_GPU_FLAG_HOST_CLOCK | (uint8_t)names[i].flags;
		event.id = ring_name(&writer, names[i].name);
		event.dur = names[i].first;
		event.link = names[i].second;
		event.t0 = ms(i + 1);
		ring_event(&writer, &event);
		event.type = TP_GPU_EVENT_POP;
		ring_event(&writer, &event);
	}
	drain();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ck_assert_str_eq(text_of(span_at(i)->name), names[i].told);
		ck_assert_int_eq(span_at(i)->kind, names[i].kind);
	}
}
END_TEST

START_TEST(numbers_beyond_all_measure_are_told_as_a_sign)
{
	uint32_t name = ring_name(&writer, "token \1");
	struct tp_gpu_event event = {.id = name, .x = 5};
	drain();
	const char *last = "";
	for (uint32_t i = 0; i < (1 << 18) + 10; i++) {
		event.type = TP_GPU_EVENT_PUSH;
		event.flags = TP_GPU_FLAG_HOST_CLOCK | TP_GPU_FLAG_NUMBERS;
		event.dur = i;
		event.t0 = ms(1);
		tp_gpu_decoder_event(decoder, &event);
		event.type = TP_GPU_EVENT_POP;
		tp_gpu_decoder_event(decoder, &event);
	}
	for (size_t i = 1 << 18; span_at(i); i++)
		last = text_of(span_at(i)->name);
	ck_assert_str_eq(last, "token #");
}
END_TEST

START_TEST(ranges_that_any_thread_may_end_stand_with_the_one_that_began)
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
	ck_assert_uint_eq(tp_gpu_decoder_get_stats(decoder)->n_spans, 1);
	ck_times(span_at(0), 1, 4);
	ck_assert_int_eq(track_of(span_at(0)).number, getpid());
	event.x = 4713 | UINT64_C(77) << 32;
	event.type = TP_GPU_EVENT_START;
	ring_event(&writer, &event);
	event.type = TP_GPU_EVENT_END;
	event.t0 = ms(5);
	ring_event(&writer, &event);
	drain();
	ck_assert_int_eq(track_of(span_at(1)).number, 77);
}
END_TEST

/* ---- NCCL ------------------------------------------------------------------------------------ */

static struct tp_detail detail_of(const struct tp_span *span)
{
	struct tp_detail detail;
	tp_sink_detail_get(&sink.sink, span->detail, &detail);
	return detail;
}

static void add_launch(uint32_t link, uint64_t at)
{
	uint32_t call = ring_name(&writer, "cuLaunchKernelEx");
	ring_work(&writer, TP_GPU_EVENT_CALL, TP_GPU_CALL_LAUNCH, call, ms(at), ms(at), link, 5);
}

/* Returns the nth kernel span. */
static const struct tp_span *kernel_span(size_t nth)
{
	const struct tp_span *span;
	for (size_t i = 0; (span = span_at(i)); i++)
		if (span->kind == TP_SPAN_KERNEL && !nth--)
			return span;
	return NULL;
}

enum { ALL_REDUCE = 5 };

/* Kernel and call come in either order, and in separate drains. */
START_TEST(a_kernel_of_nccl_has_what_its_call_said)
{
	const uint64_t made[3] = {0xabc, 8 | UINT64_C(3) << 32, 0};
	const uint64_t words[3] = {0xabc, 2097152, 0};
	uint32_t domain = ring_name(&writer, "NCCL");
	uint32_t name = ring_name(&writer, "ncclAllReduce");
	ring_nccl(&writer, domain, ring_name(&writer, "ncclCommInitRank"), 5, 0, NULL, ms(1),
		  ms(2));
	ring_nccl(&writer, domain, name, 5, ALL_REDUCE, words, ms(1), ms(2));
	/* The number of ranks is reported when a communicator was created: at the end of its
	 * range. */
	struct tp_gpu_event end = {.type = TP_GPU_EVENT_POP,
				   .flags = TP_GPU_FLAG_HOST_CLOCK,
				   .t0 = ms(2),
				   .x = 5 | (uint64_t)domain << 32};
	ring_event(&writer, &end);
	for (uint16_t i = 0; i < 3; i++)
		ring_event(&writer, &(struct tp_gpu_event){.type = TP_GPU_EVENT_PAYLOAD,
							   .place = i,
							   .id = 1 << 24,
							   .dur = 24,
							   .x = made[i]});
	ring_nccl(&writer, domain, name, 5, ALL_REDUCE, words, ms(10), ms(12));
	if (_i & 1)
		drain();
	uint32_t kernel = ring_name(&writer, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
	if (_i & 2)
		ring_work(&writer, TP_GPU_EVENT_KERNEL, place, kernel, ms(13), ms(14), 17, 24);
	if (_i & 4)
		drain();
	add_launch(17, 11);
	if (!(_i & 2))
		ring_work(&writer, TP_GPU_EVENT_KERNEL, place, kernel, ms(13), ms(14), 17, 24);
	drain();
	const struct tp_detail detail = detail_of(kernel_span(0));
	ck_assert_uint_eq(detail.bytes, 2097152);
	ck_assert_uint_eq(detail.n_ranks, 8);
	ck_assert_uint_eq(detail.sequence, 2);
	ck_assert_uint_eq(detail.blocks, 24);
	ck_assert_str_eq(text_of(detail.op), "ncclAllReduce");
	ck_assert_str_eq(text_of(detail.group), "0000000000000abc");
}
END_TEST

START_TEST(a_group_of_calls_is_one_kernel_with_all_their_bytes)
{
	const uint64_t words[3] = {0xabc, 1000, 0};
	uint32_t domain = ring_name(&writer, "NCCL");
	uint32_t name = ring_name(&writer, "ncclAllGather");
	ring_nccl(&writer, domain, ring_name(&writer, "ncclGroupStart"), 5, 0, NULL, ms(1), ms(2));
	for (uint64_t i = 0; i < 3; i++)
		ring_nccl(&writer, domain, name, 5, ALL_REDUCE, words, ms(3 + i), ms(4 + i));
	ring_nccl(&writer, domain, ring_name(&writer, "ncclGroupEnd"), 5, 0, NULL, ms(10), ms(20));
	add_launch(17, 15);
	add_launch(18, 25); /* outside: no NCCL call is known */
	uint32_t kernel = ring_name(&writer, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
	ring_work(&writer, TP_GPU_EVENT_KERNEL, place, kernel, ms(16), ms(17), 17, 24);
	ring_work(&writer, TP_GPU_EVENT_KERNEL, place, kernel, ms(26), ms(27), 18, 24);
	drain();
	ck_assert_uint_eq(detail_of(kernel_span(0)).bytes, 3000);
	ck_assert_uint_eq(detail_of(kernel_span(0)).sequence, 1);
	ck_assert_ptr_null(kernel_span(1));
	tp_gpu_decoder_flush(decoder);
	ck_assert_uint_eq(detail_of(kernel_span(1)).bytes, 0);
}
END_TEST

START_TEST(what_was_lost_ends_the_numbering_of_collectives)
{
	const uint64_t words[3] = {0xabc, 1000, 0};
	uint32_t domain = ring_name(&writer, "NCCL");
	uint32_t name = ring_name(&writer, "ncclAllReduce");
	const struct tp_gpu_event lost = {.type = TP_GPU_EVENT_LOST,
					  .flags = TP_GPU_FLAG_HOST_CLOCK,
					  .t0 = ms(5),
					  .x = 2};
	turn(TP_GPU_EVENT_OPEN, 0);
	ring_nccl(&writer, domain, name, 5, ALL_REDUCE, words, ms(1), ms(2));
	ring_event(&writer, &lost);
	ring_nccl(&writer, domain, name, 5, ALL_REDUCE, words, ms(6), ms(7));
	drain();
	ck_assert_uint_eq(detail_of(span_at(0)).sequence, 1);
	ck_assert_uint_eq(detail_of(span_at(1)).sequence, 0);
	ck_assert_uint_eq(detail_of(span_at(1)).bytes, 1000);
}
END_TEST

START_TEST(between_windows_calls_are_counted_and_only_outer_ranges_told)
{
	const uint64_t words[3] = {0xabc, 1000, 0};
	uint32_t domain = ring_name(&writer, "NCCL");
	uint32_t name = ring_name(&writer, "ncclAllReduce");
	struct tp_gpu_event event = {.type = TP_GPU_EVENT_CLOSE,
				     .flags = TP_GPU_FLAG_HOST_CLOCK,
				     .t0 = ms(1)};
	ring_event(&writer, &event);
	for (unsigned i = 0; i < 6; i++) {
		event.type = i < 3 ? TP_GPU_EVENT_PUSH : TP_GPU_EVENT_POP;
		event.id = i < 3 ? ring_name(&writer, i == 0   ? "step"
						      : i == 1 ? "phase"
							       : "inner")
				 : 0;
		event.t0 = ms(2 + i);
		event.x = 5;
		ring_event(&writer, &event);
	}
	ring_nccl(&writer, domain, name, 5, ALL_REDUCE, words, ms(10), ms(11));
	event.type = TP_GPU_EVENT_OPEN;
	event.t0 = ms(12);
	ring_event(&writer, &event);
	ring_nccl(&writer, domain, name, 5, ALL_REDUCE, words, ms(13), ms(14));
	drain();
	ck_assert_str_eq(text_of(span_at(0)->name), "phase");
	ck_assert_str_eq(text_of(span_at(1)->name), "step");
	ck_assert_str_eq(text_of(span_at(2)->name), "ncclAllReduce");
	ck_assert_uint_eq(detail_of(span_at(2)).sequence, 2);
	ck_assert_ptr_null(span_at(3));
}
END_TEST

/* Adds a step that begins at `at`, with a part, and in it two ranges that have the step's name. */
static void add_step(uint32_t name, uint32_t part, uint64_t at)
{
	const struct {
		uint32_t name; /* 0 = an end */
		uint64_t at;
	} borders[] = {{name, 0}, {part, 0}, {name, 0}, {0, 1}, {name, 1}, {0, 2}, {0, 3}, {0, 3}};
	for (size_t i = 0; i < sizeof(borders) / sizeof(borders[0]); i++)
		ring_event(&writer,
			   &(struct tp_gpu_event){.type = borders[i].name ? TP_GPU_EVENT_PUSH
									  : TP_GPU_EVENT_POP,
						  .flags = TP_GPU_FLAG_HOST_CLOCK,
						  .id = borders[i].name,
						  .t0 = ms(at + borders[i].at),
						  .x = 5});
}

/* In windows there are three spans of that name per step, between windows one. */
START_TEST(what_is_told_in_windows_only_is_not_taken_for_progress)
{
	uint32_t name = ring_name(&writer, "Sequential");
	uint32_t part = ring_name(&writer, "forward");
	turn(TP_GPU_EVENT_CLOSE, 0);
	add_step(name, part, 1);
	drain();
	ck_assert_uint_eq(tp_gpu_decoder_get_stats(decoder)->n_spans, 2);
	turn(TP_GPU_EVENT_OPEN, 10);
	add_step(name, part, 11);
	turn(TP_GPU_EVENT_CLOSE, 20);
	add_step(name, part, 21);
	drain();
	ck_assert_uint_eq(tp_gpu_decoder_get_stats(decoder)->n_spans, 2 + 4 + 2);
	ck_assert_uint_eq(progress.n, 2);
	for (size_t i = 0; i < progress.n; i++) {
		ck_assert_int_eq(progress.series[i].kind, TP_PROGRESS_RANGES);
		ck_assert_double_eq(progress.series[i].count, 3);
	}
}
END_TEST

/* Number of a step's four ranges that are reported, depending on whether the process has started
 * CUDA and whether a window has begun. */
static const struct {
	uint32_t cupti_version;
	bool is_open;
	uint64_t n_told;
} beginnings[] = {{130000, false, 2}, {130000, true, 4}, {0, false, 4}, {0, true, 4}};

START_TEST(before_the_first_window_only_outer_ranges_are_told_where_there_will_be_one)
{
	writer.header->cupti_version = beginnings[_i].cupti_version;
	if (beginnings[_i].is_open)
		turn(TP_GPU_EVENT_OPEN, 0);
	add_step(ring_name(&writer, "step"), ring_name(&writer, "part"), 1);
	drain();
	ck_assert_uint_eq(tp_gpu_decoder_get_stats(decoder)->n_spans, beginnings[_i].n_told);
}
END_TEST

/* Ranges from before the domain had a name are not remembered. */
START_TEST(a_domain_is_known_once_it_has_a_name)
{
	const uint64_t words[3] = {0xabc, 1000, 0};
	uint32_t name = ring_name(&writer, "ncclAllReduce");
	uint32_t domain = writer.header->n_name_bytes / 8 + 1; /* id of the next name */
	turn(TP_GPU_EVENT_OPEN, 0);
	ring_nccl(&writer, domain, name, 5, ALL_REDUCE, words, ms(1), ms(2));
	drain();
	ck_assert_uint_eq(ring_name(&writer, "NCCL"), domain);
	ring_nccl(&writer, domain, name, 5, ALL_REDUCE, words, ms(3), ms(4));
	drain();
	ck_assert_uint_eq(progress.n, 1); /* the first one is an ordinary range */
	ck_assert_double_eq(progress.series[0].count, 1);
}
END_TEST

/* If there are too many threads, a payload is not attached to another thread's range either. */
START_TEST(the_payload_of_a_thread_without_room_is_nobodys)
{
	const uint64_t words[3] = {0xabc, 1000, 0};
	struct tp_gpu_event event = {.flags = TP_GPU_FLAG_HOST_CLOCK,
				     .id = ring_name(&writer, "ncclAllReduce"),
				     .t0 = ms(1)};
	uint64_t domain = (uint64_t)ring_name(&writer, "NCCL") << 32;
	turn(TP_GPU_EVENT_OPEN, 0);
	drain();
	for (uint32_t tid = 1; tid <= TP_TRACKS_MAX + 1; tid++) {
		event.type = TP_GPU_EVENT_PUSH;
		event.x = tid | domain;
		tp_gpu_decoder_event(decoder, &event);
	}
	event.x = 7 | domain;
	tp_gpu_decoder_event(decoder, &event);
	event.x = (TP_TRACKS_MAX + 1) | domain;
	tp_gpu_decoder_event(decoder, &event);
	for (uint16_t i = 0; i < 3; i++)
		tp_gpu_decoder_event(decoder, &(struct tp_gpu_event){.type = TP_GPU_EVENT_PAYLOAD,
								     .place = i,
								     .id = (1 << 24) + ALL_REDUCE,
								     .dur = 24,
								     .x = words[i]});
	event.type = TP_GPU_EVENT_POP;
	event.x = 7 | domain;
	tp_gpu_decoder_event(decoder, &event);
	ck_assert_uint_eq(detail_of(span_at(0)).bytes, 0);
}
END_TEST

START_TEST(calls_of_nccl_are_not_taken_for_progress)
{
	const uint64_t words[3] = {0xabc, 1000, 0};
	uint32_t domain = ring_name(&writer, "NCCL");
	uint32_t name = ring_name(&writer, "ncclAllReduce");
	struct tp_gpu_event event = {.type = TP_GPU_EVENT_START,
				     .flags = TP_GPU_FLAG_HOST_CLOCK,
				     .id = ring_name(&writer, "epoch 1"),
				     .t0 = ms(1),
				     .x = 4711};
	turn(TP_GPU_EVENT_OPEN, 0);
	ring_nccl(&writer, domain, name, 5, ALL_REDUCE, words, ms(1), ms(2));
	ring_event(&writer, &event);
	event.type = TP_GPU_EVENT_END;
	event.t0 = ms(4);
	ring_event(&writer, &event);
	drain();
	ck_assert_uint_eq(tp_gpu_decoder_get_stats(decoder)->n_spans, 2);
	ck_assert_uint_eq(progress.n, 1);
	ck_assert_uint_eq(progress.series[0].last_ns, ms(4));
}
END_TEST

/* A loss does not show whose ends were lost: open ranges are forgotten, and a gap is emitted. */
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
	ck_assert_uint_eq(tp_gpu_decoder_get_stats(decoder)->n_spans, 0);
	ck_assert_uint_eq(tp_gpu_decoder_get_stats(decoder)->n_lost, 1000);
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

/* Collection from before the first poll began with the program. */
START_TEST(what_lies_between_windows_is_a_gap)
{
	static const uint64_t borders[][2] = {{10, 20}, {30, 45}};
	size_t n = 0;
	turn(TP_GPU_EVENT_OPEN, 5);
	turn(TP_GPU_EVENT_CLOSE, 10);
	turn(TP_GPU_EVENT_OPEN, 20);
	turn(TP_GPU_EVENT_CLOSE, 30);
	drain();
	tp_gpu_decoder_finish(decoder, ms(45));
	tp_gpu_decoder_finish(decoder, ms(46));
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

/* Before that NVTX reports what the program does, but the GPU's work is unknown. */
START_TEST(what_lies_before_the_first_window_is_a_gap_of_its_own)
{
	tp_gpu_decoder_begin(decoder, ms(3));
	turn(TP_GPU_EVENT_OPEN, 5);
	turn(TP_GPU_EVENT_CLOSE, 10);
	turn(TP_GPU_EVENT_OPEN, 20);
	drain();
	const struct tp_gap *gap = NULL;
	for (size_t i = 0; i < sink.n_records && !gap; i++)
		if (sink.records[i].kind == TP_RECORD_GAP)
			gap = &sink.records[i].of.gap;
	ck_assert_ptr_nonnull(gap);
	ck_assert_uint_eq(gap->start_ns, ms(3));
	ck_assert_uint_eq(gap->end_ns, ms(5));
	ck_assert_str_eq(text_of(gap->reason), "the GPU was not traced yet");
	ck_assert_uint_eq(tp_gpu_decoder_get_stats(decoder)->opened_ns, ms(20));
	ck_assert_uint_eq(tp_gpu_decoder_get_stats(decoder)->closed_ns, ms(10));
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
	ck_assert_uint_eq(tp_gpu_decoder_get_stats(decoder)->n_spans, 0);
	ck_assert_uint_eq(tp_gpu_decoder_get_stats(decoder)->n_unplaced, 3);
	ck_assert_uint_eq(tp_gpu_decoder_get_stats(decoder)->n_unknown, 2);
	ck_assert_uint_eq(tp_gpu_decoder_get_stats(decoder)->n_events, 5);
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
	ck_assert_uint_eq(tp_gpu_decoder_get_stats(decoder)->n_spans, 1);
	ck_assert_str_eq(text_of(span_at(0)->name), "Lazy Function Loading");
	ck_assert_uint_eq(tp_gpu_decoder_get_stats(decoder)->cupti_ns, 2 * TP_NS_PER_MS);
}
END_TEST

/* Records stay valid whatever an event contains: the trace that is built from them drops none. */
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
	ck_assert_uint_gt(tp_gpu_decoder_get_stats(decoder)->n_spans, 100);
	tp_trace_build(&trace, &sink, &run);
	ck_assert_uint_eq(trace.n_dropped, 0);
	tp_trace_release(&trace);
}
END_TEST

Suite *suite_collect_gpu_ring_decode(void);
Suite *suite_collect_gpu_ring_decode(void)
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
	tcase_add_test(tc, ranges_that_any_thread_may_end_stand_with_the_one_that_began);
	tcase_add_test(tc, numbers_are_put_back_into_names);
	tcase_add_test(tc, numbers_beyond_all_measure_are_told_as_a_sign);
	tcase_add_loop_test(tc, a_kernel_of_nccl_has_what_its_call_said, 0, 8);
	tcase_add_test(tc, a_group_of_calls_is_one_kernel_with_all_their_bytes);
	tcase_add_test(tc, what_was_lost_ends_the_numbering_of_collectives);
	tcase_add_test(tc, between_windows_calls_are_counted_and_only_outer_ranges_told);
	tcase_add_test(tc, what_is_told_in_windows_only_is_not_taken_for_progress);
	tcase_add_loop_test(
		tc, before_the_first_window_only_outer_ranges_are_told_where_there_will_be_one, 0,
		sizeof(beginnings) / sizeof(beginnings[0]));
	tcase_add_test(tc, a_domain_is_known_once_it_has_a_name);
	tcase_add_test(tc, the_payload_of_a_thread_without_room_is_nobodys);
	tcase_add_test(tc, calls_of_nccl_are_not_taken_for_progress);
	tcase_add_test(tc, losses_are_gaps_and_forget_open_ranges);
	tcase_add_test(tc, what_lies_between_windows_is_a_gap);
	tcase_add_test(tc, what_lies_before_the_first_window_is_a_gap_of_its_own);
	tcase_add_test(tc, what_has_no_time_or_place_is_counted_and_not_told);
	tcase_add_test(tc, long_durations_are_told_in_microseconds);
	tcase_add_test(tc, what_the_driver_does_is_told_and_what_cupti_does_is_summed);
	tcase_add_test(tc, wild_events_make_no_wild_records);
	suite_add_tcase(suite, tc);
	return suite;
}
