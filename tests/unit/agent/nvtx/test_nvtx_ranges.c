/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the transfer of ranges from threads into the ring. */
#include "agent/nvtx/nvtx_ranges.h"

#include "agent/nvtx/nvtx_queue.h"
#include "agent/ringreading.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum { THREADS = 32, EACH = 3000, SMALL = 1 << 16 };

static char *directory;
static struct tp_ring_writer ring;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void setup_of(uint32_t n_events)
{
	directory = ring_directory();
	ck_assert_int_eq(tp_ring_writer_create(&ring, directory, n_events), 0);
	ck_assert(tp_nvtx_ranges_init(&ring, &lock));
}

static void setup(void)
{
	setup_of(SMALL);
}

static void teardown(void)
{
	tp_ring_writer_close(&ring);
	ring_remove_directory(directory);
}

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void drain(struct ring_reading *reading)
{
	char path[600];
	tp_nvtx_ranges_drain(now_ns(), true);
	ck_assert_uint_eq(ring_find(directory, 0, path, sizeof(path)), 1);
	ring_load(reading, path);
}

static void push(const void *domain, const char *text)
{
	ck_assert_int_eq(tp_nvtx_range_push(domain, &(struct tp_nvtx_range_message){.ascii = text},
					    NULL),
			 NVTX_NO_LEVELS);
}

static void *domain_of(const char *name)
{
	return tp_nvtx_range_domain(&(struct tp_nvtx_range_message){.ascii = name});
}

START_TEST(ranges_are_recorded_with_thread_name_and_numbers)
{
	struct ring_reading reading;
	uint64_t begun_ns = now_ns();
	push(NULL, "step 12");
	push(NULL, "forward");
	tp_nvtx_range_pop(NULL, NULL);
	tp_nvtx_range_pop(NULL, NULL);
	drain(&reading);
	ck_assert_uint_eq(reading.n, 4);
	const struct tp_gpu_event *step = &reading.events[0];
	ck_assert_uint_eq(step->type, TP_GPU_EVENT_PUSH);
	ck_assert_uint_eq(step->flags, TP_GPU_FLAG_HOST_CLOCK | TP_GPU_FLAG_NUMBERS);
	ck_assert_str_eq(ring_name(&reading, step->id), "step \1");
	ck_assert_uint_eq(step->dur, 12);
	ck_assert_uint_eq(step->x, (uint64_t)syscall(SYS_gettid));
	ck_assert_uint_ge(step->t0, begun_ns);
	ck_assert_uint_le(step->t0, now_ns());
	ck_assert_uint_eq(reading.events[1].flags, TP_GPU_FLAG_HOST_CLOCK);
	ck_assert_str_eq(ring_name(&reading, reading.events[1].id), "forward");
	ck_assert_uint_eq(reading.events[2].type, TP_GPU_EVENT_POP);
	ck_assert_uint_ge(reading.events[3].t0, reading.events[2].t0);
	ring_free(&reading);
}
END_TEST

/* CUPTI's threads drain too, perhaps before there is room in the ring. */
START_TEST(a_thread_that_must_not_drain_leaves_waiting_events)
{
	struct ring_reading reading;
	push(NULL, "first");
	tp_nvtx_ranges_drain(now_ns(), false);
	ck_assert_uint_eq(ring.header->head, 0);
	drain(&reading);
	ck_assert_uint_eq(reading.n, 1);
	ck_assert_uint_eq(ring_dropped(&reading), 0);
	ring_free(&reading);
	push(NULL, "second");
	tp_nvtx_ranges_drain(now_ns(), false);
	ck_assert_uint_eq(ring.header->head, 2);
}
END_TEST

/* A limit on the file length simulates a full disk. */
START_TEST(room_that_was_not_to_be_had_is_left_to_a_session)
{
	struct rlimit before;
	struct ring_reading reading;
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	const struct rlimit little = {.rlim_cur = 4096, .rlim_max = before.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &little), 0);
	push(NULL, "first");
	tp_nvtx_ranges_drain(now_ns(), true);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	push(NULL, "second");
	tp_nvtx_ranges_drain(now_ns(), true);
	ck_assert_int_ge(ring.fd, 0); /* no retry so far */
	ck_assert_uint_eq(ring.header->head, 0);
	ck_assert_int_eq(tp_ring_writer_reserve(&ring), 0);
	push(NULL, "third");
	drain(&reading);
	ck_assert_uint_eq(reading.n_lost, 2);
	ck_assert_str_eq(ring_name(&reading, reading.events[reading.n - 1].id), "third");
	ring_free(&reading);
}
END_TEST

START_TEST(domains_and_registered_texts_have_handles)
{
	struct ring_reading reading;
	void *domain = domain_of("library");
	ck_assert_ptr_eq(domain_of("library"), domain);
	ck_assert_ptr_ne(domain_of("other"), domain);
	void *text = tp_nvtx_range_register(&(struct tp_nvtx_range_message){.ascii = "layer 7"});
	const struct nvtx_attributes attributes = {.version = 3,
						   .size = sizeof(attributes),
						   .message_type = NVTX_MESSAGE_REGISTERED,
						   .message.registered = text};
	tp_nvtx_range_push(domain, &(struct tp_nvtx_range_message){.attributes = &attributes},
			   NULL);
	tp_nvtx_range_pop(domain, NULL);
	tp_nvtx_range_push("no handle", &(struct tp_nvtx_range_message){0}, NULL);
	drain(&reading);
	ck_assert_str_eq(ring_name(&reading, reading.events[0].id), "layer 7");
	ck_assert_str_eq(ring_name(&reading, (uint32_t)(reading.events[0].x >> 32)), "library");
	ck_assert_uint_eq(reading.events[1].x, reading.events[0].x);
	ck_assert_uint_eq(reading.events[2].x >> 32, 0);
	ck_assert_uint_eq(reading.events[2].id, 0);
	ring_free(&reading);
}
END_TEST

START_TEST(more_domains_than_there_is_room_for_are_the_default)
{
	char name[32];
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "domain %d", i);
		push(domain_of(name), "range");
		tp_nvtx_range_pop(domain_of(name), NULL);
	}
	struct ring_reading reading;
	drain(&reading);
	ck_assert_uint_eq(reading.n, 600);
	ck_assert_uint_eq(reading.events[598].x >> 32, 0);
	ring_free(&reading);
}
END_TEST

/* Only NCCL's payloads are decoded: no reader uses others. */
static const struct {
	const char *domain;
	size_t size;
	size_t n_events;
} payloads[] = {{"NCCL", 24, 4}, {"NCCL", 20, 4},  {"NCCL", 8, 2},       {"NCCL", 0, 1},
		{"cuDF", 24, 1}, {"NCCL", 200, 8}, {"NCCL", SIZE_MAX, 1}};

START_TEST(payloads_are_recorded_word_by_word)
{
	static const uint64_t data[25] = {0x1122334455667788, 2097152, 3, 4, 5, 6, 7, 8};
	const struct nvtx_payload payload = {16777221, payloads[_i].size, data};
	const struct nvtx_attributes attributes = {.size = sizeof(attributes),
						   .payload_type = NVTX_PAYLOAD_EXTENDED,
						   .n_payloads = 1,
						   .payload.list = &payload};
	const void *domain = domain_of(payloads[_i].domain);
	struct ring_reading reading;
	tp_nvtx_range_push(domain, &(struct tp_nvtx_range_message){.attributes = &attributes},
			   NULL);
	tp_nvtx_range_pop(domain, &payload);
	drain(&reading);
	ck_assert_uint_eq(reading.n, 2 * payloads[_i].n_events);
	for (size_t i = 1; i < payloads[_i].n_events; i++) {
		const struct tp_gpu_event *event = &reading.events[i];
		ck_assert_uint_eq(event->type, TP_GPU_EVENT_PAYLOAD);
		ck_assert_uint_eq(event->place, i - 1);
		ck_assert_uint_eq(event->id, 16777221);
		ck_assert_uint_eq(event->dur, payloads[_i].size);
		if (8 * i <= payloads[_i].size)
			ck_assert_uint_eq(event->x, data[i - 1]);
	}
	ring_free(&reading);
}
END_TEST

START_TEST(attributes_that_are_too_short_or_wild_make_ranges_without_names)
{
	struct nvtx_attributes wild = {.size = 8,
				       .payload_type = NVTX_PAYLOAD_EXTENDED,
				       .n_payloads = 5,
				       .message_type = NVTX_MESSAGE_ASCII};
	struct ring_reading reading;
	void *nccl = domain_of("NCCL");
	tp_nvtx_range_push(nccl, &(struct tp_nvtx_range_message){.attributes = &wild}, NULL);
	wild.size = sizeof(wild);
	tp_nvtx_range_push(nccl, &(struct tp_nvtx_range_message){.attributes = &wild}, NULL);
	wild.message_type = 77;
	wild.n_payloads = -1;
	tp_nvtx_range_push(nccl, &(struct tp_nvtx_range_message){.attributes = &wild}, NULL);
	tp_nvtx_range_push(nccl, &(struct tp_nvtx_range_message){.attributes = NULL}, NULL);
	drain(&reading);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_PUSH], 4);
	for (size_t i = 0; i < reading.n; i++)
		ck_assert(reading.events[i].type != TP_GPU_EVENT_PUSH || reading.events[i].id == 0);
	ring_free(&reading);
}
END_TEST

START_TEST(a_range_that_any_thread_may_end_says_who_began_it)
{
	struct ring_reading reading;
	uint64_t range = tp_nvtx_range_start(&(struct tp_nvtx_range_message){.wide = L"eval 3"});
	uint64_t other = tp_nvtx_range_start(&(struct tp_nvtx_range_message){.ascii = "save"});
	ck_assert_uint_ne(range, other);
	tp_nvtx_range_end(range);
	tp_nvtx_range_end(0);
	tp_nvtx_range_mark(NULL, &(struct tp_nvtx_range_message){.ascii = "epoch 2"});
	drain(&reading);
	ck_assert_uint_eq(reading.n, 4);
	ck_assert_uint_eq(reading.events[0].type, TP_GPU_EVENT_START);
	ck_assert_uint_eq(reading.events[0].x, range);
	ck_assert_uint_eq(range >> 32, (uint64_t)syscall(SYS_gettid));
	ck_assert_uint_eq(reading.events[2].type, TP_GPU_EVENT_END);
	ck_assert_uint_eq(reading.events[2].x, range);
	ck_assert_uint_eq(reading.events[3].type, TP_GPU_EVENT_MARK);
	ring_free(&reading);
}
END_TEST

START_TEST(unmatched_ends_are_recorded_and_deep_ranges_are_not)
{
	struct ring_reading reading;
	tp_nvtx_range_pop(NULL, NULL);
	for (int i = 0; i < 100; i++)
		push(NULL, "deep");
	for (int i = 0; i < 100; i++)
		tp_nvtx_range_pop(NULL, NULL);
	drain(&reading);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_PUSH], 32);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_POP], 33);
	ck_assert_uint_eq(reading.header->n_nvtx_lost, 68);
	ring_free(&reading);
}
END_TEST

/* Without a reader that drains: the recorded ranges are still in pairs. */
START_TEST(dropped_ranges_are_dropped_in_pairs_and_counted)
{
	enum { RANGES = 1000000 };
	struct ring_reading reading;
	uint64_t n_open = 0;
	push(NULL, "step 1");
	push(NULL, "phase");
	for (uint64_t i = 0; i < RANGES; i++) {
		push(NULL, "inner");
		tp_nvtx_range_pop(NULL, NULL);
		if (i % 10000 == 0)
			tp_nvtx_ranges_drain(now_ns(), true);
	}
	tp_nvtx_range_pop(NULL, NULL);
	tp_nvtx_range_pop(NULL, NULL);
	drain(&reading);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_PUSH], reading.n_of[TP_GPU_EVENT_POP]);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_LOST] + ring_dropped(&reading), 0);
	for (size_t i = 0; i < reading.n; i++) {
		n_open += reading.events[i].type == TP_GPU_EVENT_PUSH;
		n_open -= reading.events[i].type == TP_GPU_EVENT_POP;
		ck_assert_uint_le(n_open, 3);
	}
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_PUSH] + reading.header->n_nvtx_lost,
			  RANGES + 2);
	ck_assert_uint_gt(reading.n_of[TP_GPU_EVENT_PUSH], TP_NVTX_QUEUE_BURST / 4);
	ring_free(&reading);
}
END_TEST

START_TEST(events_that_find_the_queue_full_are_reported_lost)
{
	struct ring_reading reading;
	for (int i = 0; i < TP_NVTX_QUEUE_CELLS; i++) {
		push(NULL, "full");
		tp_nvtx_range_pop(NULL, NULL);
	}
	drain(&reading);
	ck_assert_uint_gt(ring_dropped(&reading), 0);
	ring_free(&reading);
	push(NULL, "next");
	drain(&reading);
	ck_assert_uint_eq(reading.n_lost, ring_dropped(&reading));
	ck_assert_uint_eq(reading.events[reading.n - 2].type, TP_GPU_EVENT_LOST);
	ck_assert_str_eq(ring_name(&reading, reading.events[reading.n - 1].id), "next");
	ring_free(&reading);
}
END_TEST

START_TEST(however_many_a_full_queue_drops_all_are_counted)
{
	enum { PUSHED = 3 * TP_NVTX_QUEUE_CELLS }; /* more dropped ranges than one cell can count */
	struct ring_reading reading;
	for (int i = 0; i < PUSHED; i++) {
		push(NULL, "full");
		tp_nvtx_range_pop(NULL, NULL);
	}
	drain(&reading);
	uint64_t n_kept = reading.n_of[TP_GPU_EVENT_PUSH];
	ck_assert_uint_gt(PUSHED - n_kept, UINT16_MAX);
	ck_assert_uint_eq(reading.header->n_nvtx_lost + ring_dropped(&reading), PUSHED - n_kept);
	ring_free(&reading);
}
END_TEST

START_TEST(a_forked_child_records_nothing_and_its_parent_continues)
{
	struct ring_reading reading;
	push(NULL, "before");
	pid_t pid = _i ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
	if (pid == 0) {
		void *domain = domain_of("child");
		for (int i = 0; i < 1000; i++)
			push(domain, "child");
		tp_nvtx_range_pop(NULL, NULL);
		tp_nvtx_range_mark(NULL, &(struct tp_nvtx_range_message){.ascii = "child"});
		_exit(tp_nvtx_range_start(&(struct tp_nvtx_range_message){.ascii = "child"}) != 0);
	}
	int status = -1;
	waitpid(pid, &status, 0);
	ck_assert_int_eq(status, 0);
	tp_nvtx_range_pop(NULL, NULL);
	drain(&reading);
	ck_assert_uint_eq(reading.n, 2);
	ck_assert_str_eq(ring_name(&reading, reading.events[0].id), "before");
	ring_free(&reading);
}
END_TEST

/* ---- many threads ---------------------------------------------------------------------------- */

static int is_over;

static void *name_ranges(void *unused)
{
	char text[64];
	void *domain = domain_of("threads");
	for (int i = 0; i < EACH; i++) {
		snprintf(text, sizeof(text), "step %d of layer%d", i, i % 7);
		push(NULL, text);
		push(domain, i % 2 ? "odd" : "even");
		tp_nvtx_range_pop(domain, NULL);
		tp_nvtx_range_pop(NULL, NULL);
	}
	return unused;
}

static void *drain_often(void *unused)
{
	while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE))
		tp_nvtx_ranges_drain(now_ns(), true);
	return unused;
}

static uint32_t depth_of[1 << 22];

START_TEST(thirty_two_threads_record_while_another_drains)
{
	pthread_t threads[THREADS];
	pthread_t drainer;
	struct ring_reading reading;
	pthread_create(&drainer, NULL, drain_often, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, name_ranges, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	__atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
	pthread_join(drainer, NULL);
	drain(&reading);
	/* On a busy machine the queue may have been full: then the losses are counted. */
	uint64_t n_recorded = reading.n_of[TP_GPU_EVENT_PUSH] + reading.header->n_nvtx_lost;
	ck_assert_uint_ge(n_recorded + ring_dropped(&reading), 2 * THREADS * EACH);
	ck_assert_uint_le(n_recorded, 2 * THREADS * EACH);
	for (size_t i = 0; i < reading.n && !ring_dropped(&reading); i++) {
		uint32_t tid = (uint32_t)reading.events[i].x & ((1 << 22) - 1);
		depth_of[tid] += reading.events[i].type == TP_GPU_EVENT_PUSH ? 1 : UINT32_MAX;
		ck_assert_uint_le(depth_of[tid], 2);
	}
	ck_assert_uint_lt(reading.header->n_name_bytes, 4096);
	ring_free(&reading);
}
END_TEST

static void setup_large(void)
{
	setup_of(1 << 20);
}

Suite *suite_agent_nvtx_ranges(void);
Suite *suite_agent_nvtx_ranges(void)
{
	Suite *suite = suite_create("agent_ranges");
	TCase *tests = tcase_create("ranges");
	TCase *crowds = tcase_create("crowds");
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, ranges_are_recorded_with_thread_name_and_numbers);
	tcase_add_test(tests, a_thread_that_must_not_drain_leaves_waiting_events);
	tcase_add_test(tests, room_that_was_not_to_be_had_is_left_to_a_session);
	tcase_add_test(tests, domains_and_registered_texts_have_handles);
	tcase_add_test(tests, more_domains_than_there_is_room_for_are_the_default);
	tcase_add_loop_test(tests, payloads_are_recorded_word_by_word, 0,
			    sizeof(payloads) / sizeof(payloads[0]));
	tcase_add_test(tests, attributes_that_are_too_short_or_wild_make_ranges_without_names);
	tcase_add_test(tests, a_range_that_any_thread_may_end_says_who_began_it);
	tcase_add_test(tests, unmatched_ends_are_recorded_and_deep_ranges_are_not);
	tcase_add_loop_test(tests, a_forked_child_records_nothing_and_its_parent_continues, 0, 2);
	tcase_add_checked_fixture(crowds, setup_large, teardown);
	tcase_set_timeout(crowds, 60);
	tcase_add_test(crowds, dropped_ranges_are_dropped_in_pairs_and_counted);
	tcase_add_test(crowds, events_that_find_the_queue_full_are_reported_lost);
	tcase_add_test(crowds, however_many_a_full_queue_drops_all_are_counted);
	tcase_add_test(crowds, thirty_two_threads_record_while_another_drains);
	suite_add_tcase(suite, tests);
	suite_add_tcase(suite, crowds);
	return suite;
}
