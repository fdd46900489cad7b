/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the decoding of records. */
#include "agent/cupti/cupti_decode.h"
#include "agent/ringreading.h"

enum { SMALL = 256 };

static struct tp_ring_writer ring;
static struct tp_cupti_decoder decoder;
static struct ring_reading reading;
static char *directory;

static void begin(void)
{
	directory = ring_directory();
	ck_assert_int_eq(tp_ring_writer_create(&ring, directory, SMALL), 0);
	ck_assert_int_eq(tp_ring_writer_reserve(&ring), 0);
	tp_cupti_decoder_init(&decoder, &ring);
}

static void decode(const void *record)
{
	tp_cupti_decode(&decoder, record);
}

static void load(void)
{
	char path[600];
	tp_ring_writer_publish(&ring);
	ring_find(directory, 0, path, sizeof(path));
	ring_load(&reading, path);
}

static void finish(void)
{
	ring_free(&reading);
	tp_ring_writer_close(&ring);
	ring_remove_directory(directory);
}

static const struct cupti_kernel gemm = {
	.kind = CUPTI_CONCURRENT_KERNEL,
	.registers = 96,
	.start = 1000,
	.end = 3500,
	.device = 1,
	.context = 2,
	.stream = 7,
	.grid = {64, 4, 2},
	.block = {32, 8, 1},
	.correlation = 42,
	.name = "_Z4gemmPf",
};

START_TEST(a_kernel_says_where_when_what_and_how_large)
{
	begin();
	decode(&gemm);
	load();
	const struct tp_gpu_event *event = &reading.events[0];
	ck_assert_uint_eq(reading.n, 1);
	ck_assert_uint_eq(event->type, TP_GPU_EVENT_KERNEL);
	ck_assert_uint_eq(event->t0, 1000);
	ck_assert_uint_eq(event->dur, 2500);
	ck_assert_uint_eq(event->link, 42);
	ck_assert_uint_eq(event->x, 512 | 256ull << 32 | 96ull << 48);
	ck_assert_str_eq(ring_name(&reading, event->id), "_Z4gemmPf");
	ck_assert_uint_eq(ring_place(&reading, event->place)->device, 1);
	ck_assert_uint_eq(ring_place(&reading, event->place)->context, 2);
	ck_assert_uint_eq(ring_place(&reading, event->place)->stream, 7);
	finish();
}
END_TEST

START_TEST(a_node_of_a_graph_follows_its_kernel)
{
	struct cupti_kernel node = gemm;
	begin();
	node.graph_node = UINT64_C(0x500000007);
	node.graph = 5;
	decode(&node);
	load();
	ck_assert_uint_eq(reading.n, 2);
	ck_assert_uint_eq(reading.events[1].type, TP_GPU_EVENT_NODE);
	ck_assert_uint_eq(reading.events[1].id, 5);
	ck_assert_uint_eq(reading.events[1].x, UINT64_C(0x500000007));
	ck_assert_uint_eq(reading.events[1].link, 42);
	finish();
}
END_TEST

START_TEST(the_largest_grid_is_recorded_as_the_maximum)
{
	struct cupti_kernel huge = gemm;
	begin();
	for (int i = 0; i < 3; i++)
		huge.grid[i] = huge.block[i] = INT32_MAX;
	decode(&huge);
	load();
	ck_assert_uint_eq(reading.events[0].x, UINT32_MAX | 65535ull << 32 | 96ull << 48);
	finish();
}
END_TEST

static const struct {
	uint64_t start;
	uint64_t end;
	uint64_t dur;
	bool is_long;
	bool is_timed;
} times[] = {
	{0, 0, 0, false, false},
	{0, 500, 0, false, false},
	{500, 0, 0, false, false},
	{500, 499, 0, false, false},
	{500, 500, 0, false, true},
	{500, 500 + UINT64_C(0xffffffff), 0xffffffff, false, true},
	{500, 500 + UINT64_C(0x100000000), 4294967, true, true},
	{1, UINT64_MAX, UINT32_MAX, true, true},
};

START_TEST(without_times_there_is_no_event_and_long_ones_are_in_us)
{
	struct cupti_kernel kernel = gemm;
	begin();
	kernel.start = times[_i].start;
	kernel.end = times[_i].end;
	decode(&kernel);
	load();
	ck_assert_uint_eq(reading.n, times[_i].is_timed);
	ck_assert_uint_eq(reading.header->n_untimed, !times[_i].is_timed);
	ck_assert_uint_eq(reading.header->n_records, 1);
	if (reading.n) {
		ck_assert_uint_eq(reading.events[0].dur, times[_i].dur);
		ck_assert_int_eq(reading.events[0].flags & TP_GPU_FLAG_LONG, times[_i].is_long);
	}
	finish();
}
END_TEST

START_TEST(copies_say_from_where_to_where_and_how_much)
{
	const struct cupti_memcpy copy = {
		.kind = CUPTI_MEMCPY,
		.copy_kind = 1,
		.from = 1,
		.to = 3,
		.flags = 1,
		.bytes = UINT64_C(5) << 32,
		.start = 10,
		.end = 30,
		.correlation = 8,
	};
	const struct cupti_memcpy2 peer = {
		.kind = CUPTI_MEMCPY2,
		.copy_kind = 10,
		.from = 3,
		.to = 3,
		.bytes = 77,
		.start = 40,
		.end = 50,
		.from_device = 4,
		.to_device = 6,
		.correlation = 9,
		.graph_node = 3,
		.graph = 2,
	};
	begin();
	decode(&copy);
	decode(&peer);
	load();
	ck_assert_uint_eq(reading.n, 4);
	ck_assert_uint_eq(reading.events[0].id, TP_GPU_COPY_HTOD | TP_GPU_MEMORY_PAGEABLE << 8 |
							TP_GPU_MEMORY_DEVICE << 16);
	ck_assert_uint_eq(reading.events[0].x, UINT64_C(5) << 32);
	ck_assert_int_eq(reading.events[0].flags, TP_GPU_FLAG_ASYNC);
	ck_assert_int_eq(reading.events[1].flags, 0);
	ck_assert_uint_eq(reading.events[1].id & 0xff, TP_GPU_COPY_PTOP);
	ck_assert_uint_eq(reading.events[2].type, TP_GPU_EVENT_PEER);
	ck_assert_uint_eq(reading.events[2].id, 4);
	ck_assert_uint_eq(reading.events[2].x, 6);
	ck_assert_uint_eq(reading.events[3].type, TP_GPU_EVENT_NODE);
	finish();
}
END_TEST

START_TEST(memsets_and_waits_are_recorded)
{
	const struct cupti_memset set = {
		.kind = CUPTI_MEMSET,
		.bytes = 99,
		.start = 1,
		.end = 2,
		.flags = 1,
		.memory = 3,
	};
	const struct cupti_sync sync = {
		.kind = CUPTI_SYNCHRONIZATION,
		.type = 3,
		.start = 5,
		.end = 9,
		.correlation = 6,
		.context = 2,
		.stream = 7,
		.event = UINT32_MAX,
	};
	begin();
	decode(&set);
	decode(&sync);
	load();
	ck_assert_uint_eq(reading.events[0].type, TP_GPU_EVENT_SET);
	ck_assert_uint_eq(reading.events[0].id, TP_GPU_MEMORY_DEVICE << 16);
	ck_assert_uint_eq(reading.events[0].x, 99);
	ck_assert_int_eq(reading.events[0].flags, TP_GPU_FLAG_ASYNC);
	ck_assert_uint_eq(reading.events[1].type, TP_GPU_EVENT_SYNC);
	ck_assert_uint_eq(reading.events[1].id, TP_GPU_SYNC_STREAM);
	ck_assert_uint_eq(reading.events[1].x, 0);
	ck_assert_uint_eq(ring_place(&reading, reading.events[1].place)->device, UINT32_MAX);
	ck_assert_uint_eq(ring_place(&reading, reading.events[1].place)->stream, 7);
	finish();
}
END_TEST

START_TEST(calls_are_recorded_by_kind_and_others_are_counted)
{
	struct cupti_call call = {
		.kind = CUPTI_RUNTIME,
		.cbid = 211,
		.start = 100,
		.end = 150,
		.thread = 4711,
		.correlation = 42,
		.returned = 2,
	};
	begin();
	decoder.calls.does[CUPTI_DOMAIN_RUNTIME][211] = TP_GPU_CALL_LAUNCH;
	decoder.calls.name[CUPTI_DOMAIN_RUNTIME][211] =
		tp_name_table_id(&decoder.names, "cudaLaunchKernel_v7000");
	decoder.calls.does[CUPTI_DOMAIN_RUNTIME][138] = TP_GPU_CALL_QUERY;
	decoder.calls.does[CUPTI_DOMAIN_DRIVER][211] = TP_GPU_CALL_SYNC;
	decoder.calls.name[CUPTI_DOMAIN_DRIVER][211] =
		tp_name_table_id(&decoder.names, "cuCtxSynchronize");
	decode(&call);
	call.cbid = 138;
	decode(&call);
	call.cbid = 9;
	decode(&call);
	call.cbid = UINT32_MAX;
	decode(&call);
	call.cbid = 211;
	call.kind = CUPTI_DRIVER;
	decoder.thread_flag = TP_GPU_FLAG_PTHREAD;
	decode(&call);
	load();
	ck_assert_uint_eq(reading.n, 2);
	ck_assert_uint_eq(reading.header->n_ignored, 3);
	ck_assert_uint_eq(reading.events[0].place, TP_GPU_CALL_LAUNCH);
	ck_assert_uint_eq(reading.events[0].x, 4711 | 2ull << 32);
	ck_assert_uint_eq(reading.events[0].link, 42);
	ck_assert_int_eq(reading.events[0].flags, 0);
	ck_assert_str_eq(ring_name(&reading, reading.events[0].id), "cudaLaunchKernel_v7000");
	ck_assert_uint_eq(reading.events[1].place, TP_GPU_CALL_SYNC);
	ck_assert_int_eq(reading.events[1].flags, TP_GPU_FLAG_DRIVER | TP_GPU_FLAG_PTHREAD);
	finish();
}
END_TEST

static const struct {
	uint32_t cupti;
	uint32_t ours;
} overheads[] = {
	{0, TP_GPU_OVERHEAD_OTHER},
	{1, TP_GPU_OVERHEAD_COMPILER},
	{1 << 16, TP_GPU_OVERHEAD_FLUSH},
	{2 << 16, TP_GPU_OVERHEAD_INSTRUMENT},
	{5 << 16, TP_GPU_OVERHEAD_LAZY_LOAD},
	{6 << 16, TP_GPU_OVERHEAD_QUEUE_FULL},
	{8 << 16, TP_GPU_OVERHEAD_MANAGED_INIT},
	{9 << 16, TP_GPU_OVERHEAD_OTHER},
	{(6 << 16) + 1, TP_GPU_OVERHEAD_OTHER},
	{0x7fffffff, TP_GPU_OVERHEAD_OTHER},
};

START_TEST(overheads_have_a_kind_and_an_owner)
{
	struct cupti_overhead overhead = {
		.kind = CUPTI_OVERHEAD,
		.overhead = overheads[_i].cupti,
		.start = 3,
		.end = 4,
		.object = CUPTI_OBJECT_THREAD,
		.object_thread = 88,
	};
	begin();
	decode(&overhead);
	overhead.object = 3;
	decode(&overhead);
	load();
	ck_assert_uint_eq(reading.events[0].id, overheads[_i].ours);
	ck_assert_uint_eq(reading.events[0].x, 88);
	ck_assert_uint_eq(reading.events[1].x, 0);
	finish();
}
END_TEST

START_TEST(unrequested_kinds_are_counted)
{
	const struct cupti_record other = {.kind = 12};
	begin();
	decode(&other);
	load();
	ck_assert_uint_eq(reading.n, 0);
	ck_assert_uint_eq(reading.header->n_unknown, 1);
	finish();
}
END_TEST

Suite *suite_agent_cupti_decode(void);
Suite *suite_agent_cupti_decode(void)
{
	Suite *suite = suite_create("agent_decode");
	TCase *tests = tcase_create("decode");
	tcase_add_test(tests, a_kernel_says_where_when_what_and_how_large);
	tcase_add_test(tests, a_node_of_a_graph_follows_its_kernel);
	tcase_add_test(tests, the_largest_grid_is_recorded_as_the_maximum);
	tcase_add_loop_test(tests, without_times_there_is_no_event_and_long_ones_are_in_us, 0,
			    sizeof(times) / sizeof(times[0]));
	tcase_add_test(tests, copies_say_from_where_to_where_and_how_much);
	tcase_add_test(tests, memsets_and_waits_are_recorded);
	tcase_add_test(tests, calls_are_recorded_by_kind_and_others_are_counted);
	tcase_add_loop_test(tests, overheads_have_a_kind_and_an_owner, 0,
			    sizeof(overheads) / sizeof(overheads[0]));
	tcase_add_test(tests, unrequested_kinds_are_counted);
	suite_add_tcase(suite, tests);
	return suite;
}
