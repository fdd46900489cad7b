/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of one CUPTI session, with the double in this process. */
#include "agent/cudadouble.h"
#include "agent/cupti/cupti_session.h"
#include "agent/ringreading.h"
#include "doubles/cuda_double.h"

#include <pthread.h>
#include <time.h>

enum { LAUNCHERS = 32, EACH = 5000 /* two buffers and more */ };

static char *directory;
static struct tp_ring_writer ring;
static struct tp_cupti_session session;
static void (*work)(const struct cuda_double_work *);

static enum tp_gpu_state begin(const char *age, const char *script)
{
	directory = ring_directory();
	cupti_script(directory, script);
	void *symbol = dlsym(cuda_doubles_load(age), "cuda_double_work");
	memcpy(&work, &symbol, sizeof(work));
	ck_assert_int_eq(tp_ring_writer_create(&ring, directory, 1 << 19), 0);
	tp_cupti_session_init(&session, &ring);
	ck_assert(tp_cupti_library_load(&session.lib));
	tp_cupti_library_start(&session.lib); /* some scripts make it fail */
	return tp_cupti_session_open(&session);
}

static void launch(uint64_t n, enum cuda_double_what what)
{
	for (uint64_t i = 0; i < n; i++)
		work(&(struct cuda_double_work){.what = what,
						.name = "_Z4gemmPf",
						.stream = 7,
						.took_ns = 100,
						.bytes = 64});
}

static void load(struct ring_reading *reading)
{
	char path[600];
	ck_assert_uint_eq(ring_find(directory, 0, path, sizeof(path)), 1);
	ring_load(reading, path);
}

/* Returns the first event of a type. */
static const struct tp_gpu_event *first_of(const struct ring_reading *reading, uint8_t type)
{
	size_t i = 0;
	while (i < reading->n && reading->events[i].type != type)
		i++;
	ck_assert_uint_lt(i, reading->n);
	return &reading->events[i];
}

static void close_session(void)
{
	tp_cupti_session_pause(&session);
	tp_cupti_session_flush(&session, true);
	tp_cupti_session_release(&session);
}

static void finish(struct ring_reading *reading)
{
	ring_free(reading);
	ring_remove_directory(directory);
}

/* Every age of CUPTI, with records of the size that each version had. */
static const struct {
	const char *age;
	const char *script;
} versions[] = {
	{"whole", ""},
	{"old", ""},
	{"old", "shared 1 kernel_bytes 200 memcpy_bytes 88 memcpy2_bytes 96 memset_bytes 88 "
		"sync_bytes 40 overhead_bytes 40"},
	{"whole", "version 22 kernel_bytes 208 overhead_bytes 48"},
	{"whole", "version 26 kernel_bytes 208 memcpy_bytes 96"},
	{"whole", "version 130300 kernel_bytes 256 memcpy_bytes 128 memcpy2_bytes 128 "
		  "memset_bytes 120 call_bytes 48 sync_bytes 64 overhead_bytes 72"},
};

START_TEST(records_of_every_version_are_read)
{
	struct ring_reading reading;
	ck_assert_int_eq(begin(versions[_i].age, versions[_i].script), TP_GPU_STATE_OPEN);
	for (int what = CUDA_DOUBLE_LAUNCH; what <= CUDA_DOUBLE_QUERY; what++)
		launch(3, (enum cuda_double_what)what);
	close_session();
	load(&reading);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_KERNEL], 9);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_NODE], 3);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_COPY], 6);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_PEER], 3);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_SET], 3);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_SYNC], 3);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_CALL], 21); /* all calls but queries */
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_OPEN], 1);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_CLOSE], 1);
	ck_assert_uint_eq(reading.header->n_unknown + reading.header->n_untimed, 0);
	finish(&reading);
}
END_TEST

START_TEST(calls_carry_their_thread_and_link_what_they_caused)
{
	struct ring_reading reading;
	bool tells_tids = _i == 0;
	begin(tells_tids ? "whole" : "old", "");
	launch(1, CUDA_DOUBLE_LAUNCH);
	close_session();
	load(&reading);
	const struct tp_gpu_event *kernel = first_of(&reading, TP_GPU_EVENT_KERNEL);
	const struct tp_gpu_event *call = first_of(&reading, TP_GPU_EVENT_CALL);
	ck_assert_uint_eq(call->link, kernel->link);
	ck_assert_uint_eq(call->x, (uint64_t)getpid()); /* this is the first thread */
	ck_assert_int_eq(call->flags, tells_tids ? 0 : TP_GPU_FLAG_PTHREAD);
	finish(&reading);
}
END_TEST

START_TEST(times_become_those_of_the_host_by_the_clock_pairs)
{
	struct ring_reading reading;
	struct timespec before;
	struct timespec after;
	begin("whole", "");
	clock_gettime(CLOCK_MONOTONIC, &before);
	launch(1, CUDA_DOUBLE_LAUNCH);
	clock_gettime(CLOCK_MONOTONIC, &after);
	close_session();
	load(&reading);
	const struct tp_gpu_clock *pair = ring_clock(&reading, 0);
	ck_assert_uint_eq(reading.header->n_clock_pairs, 1);
	uint64_t at_ns =
		first_of(&reading, TP_GPU_EVENT_KERNEL)->t0 - pair->cupti_ns + pair->host_ns;
	uint64_t first_ns = (uint64_t)before.tv_sec * 1000000000u + (uint64_t)before.tv_nsec;
	uint64_t last_ns = (uint64_t)after.tv_sec * 1000000000u + (uint64_t)after.tv_nsec;
	ck_assert_uint_ge(at_ns + pair->error_ns, first_ns);
	ck_assert_uint_le(at_ns, last_ns + pair->error_ns);
	finish(&reading);
}
END_TEST

/* ---- failures -------------------------------------------------------------------------------- */

/* For each call: true if collecting needs it. A call of 13.0 replaces cuptiSubscribe. */
static const struct {
	const char *symbol;
	bool is_needed;
	const char *age;
} calls[] = {
	{"cuptiSubscribe", true, "old"},
	{"cuptiSubscribe_v2", true, "whole"},
	{"cuptiGetTimestamp", true, "whole"},
	{"cuptiActivityRegisterCallbacks", true, "whole"},
	{"cuptiActivityEnable", true, "whole"},
	{"cuptiGetVersion", false, "whole"},
	{"cuptiGetCallbackName", false, "whole"},
	{"cuptiUnsubscribe", false, "whole"},
	{"cuptiActivityDisable", false, "whole"},
	{"cuptiActivityFlushAll", false, "whole"},
	{"cuptiActivityGetNextRecord", false, "whole"},
	{"cuptiActivityGetNumDroppedRecords", false, "whole"},
	{"cuptiActivitySetAttribute", false, "whole"},
	{"cuptiSetThreadIdType", false, "whole"},
	{"cuptiEnableCallback", false, "whole"},
	{"cuptiActivityEnableDriverApi", false, "whole"},
	{"cuptiActivityEnableRuntimeApi", false, "whole"},
	{"cuptiActivityEnableAllSyncRecords", false, "whole"},
};
static const int errors[] = {999, 15, 35, 39};
enum { N_CALLS = sizeof(calls) / sizeof(calls[0]), N_ERRORS = sizeof(errors) / sizeof(errors[0]) };

START_TEST(a_failing_call_stops_what_needs_it_and_nothing_else)
{
	struct ring_reading reading;
	char script[128];
	const char *symbol = calls[_i / N_ERRORS].symbol;
	int error = errors[_i % N_ERRORS];
	snprintf(script, sizeof(script), "fail_%s %d", symbol, error);
	enum tp_gpu_state state = begin(calls[_i / N_ERRORS].age, script);
	launch(100, CUDA_DOUBLE_LAUNCH);
	if (calls[_i / N_ERRORS].is_needed) {
		ck_assert_int_eq(state, error == 39 ? TP_GPU_STATE_IN_USE : TP_GPU_STATE_FAILED);
		ck_assert_str_eq(ring.header->failed_call, symbol);
		ck_assert_int_eq(ring.header->error, error);
		ck_assert_uint_eq(ring.header->kinds, 0);
	} else {
		ck_assert_int_eq(state, TP_GPU_STATE_OPEN);
		tp_cupti_session_watch(&session, true);
		tp_cupti_session_flush(&session, false);
		close_session();
		ck_assert_uint_ne(ring.header->kinds, 0);
	}
	ck_assert_ptr_null(session.subscriber);
	ck_assert_uint_eq(session.kinds | session.filtered, 0);
	load(&reading);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_OPEN], reading.n_of[TP_GPU_EVENT_CLOSE]);
	if (strcmp(symbol, "cuptiActivityGetNextRecord") == 0) /* no other call can replace it */
		ck_assert_uint_gt(reading.header->n_lost, 0);
	finish(&reading);
}
END_TEST

/* One list has all calls that the agent may make; the test omits none of them. */
START_TEST(each_call_of_the_agent_is_made_to_fail)
{
	static const char *const symbols[] = {
#define X(member, symbol, is_needed, arguments) #symbol,
		TP_CUPTI_CALL_MAP(X)
#undef X
	};
	enum { N_SYMBOLS = sizeof(symbols) / sizeof(symbols[0]) };
	ck_assert_int_eq(N_CALLS, N_SYMBOLS);
	for (size_t i = 0; i < N_SYMBOLS; i++) {
		size_t row = 0;
		while (row < N_CALLS && strcmp(calls[row].symbol, symbols[i]) != 0)
			row++;
		ck_assert_msg(row < N_CALLS, "%s never fails", symbols[i]);
	}
}
END_TEST

START_TEST(the_other_tool_is_named_where_cupti_names_it)
{
	struct ring_reading reading;
	bool is_named = _i == 0;
	ck_assert_int_eq(begin(is_named ? "whole" : "old", "owner Kineto"), TP_GPU_STATE_IN_USE);
	load(&reading);
	ck_assert_str_eq(reading.header->owner, is_named ? "CUPTI for Kineto" : "");
	ck_assert_str_eq(reading.header->failed_call,
			 is_named ? "cuptiSubscribe_v2" : "cuptiSubscribe");
	finish(&reading);
}
END_TEST

START_TEST(kernels_without_times_and_records_lost_are_counted)
{
	struct ring_reading reading;
	begin("whole", "zero 10 dropped 17 overheads 100");
	launch(1000, CUDA_DOUBLE_LAUNCH);
	close_session();
	load(&reading);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_KERNEL], 900);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_OVERHEAD], 10);
	ck_assert_uint_eq(reading.header->n_untimed, 100);
	ck_assert_uint_eq(reading.header->n_lost, 17);
	finish(&reading);
}
END_TEST

START_TEST(late_deliveries_are_complete_in_the_end)
{
	struct ring_reading reading;
	begin("whole", "delay 3600");
	launch(500, CUDA_DOUBLE_LAUNCH);
	tp_cupti_session_flush(&session, false);
	ck_assert_uint_eq(ring.header->head, 1); /* the event of the opening */
	close_session();
	load(&reading);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_KERNEL], 500);
	finish(&reading);
}
END_TEST

START_TEST(a_session_opens_again_and_numbers_its_windows)
{
	struct ring_reading reading;
	begin("whole", "");
	for (int window = 0; window < 3; window++) {
		if (window)
			ck_assert_int_eq(tp_cupti_session_open(&session), TP_GPU_STATE_OPEN);
		launch(10, CUDA_DOUBLE_LAUNCH);
		close_session();
		launch(5, CUDA_DOUBLE_LAUNCH); /* no subscriber */
	}
	load(&reading);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_KERNEL], 30);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_OPEN], 3);
	ck_assert_uint_eq(reading.header->n_windows, 3);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_CLOSE], 3);
	ck_assert_uint_eq(first_of(&reading, TP_GPU_EVENT_CLOSE)->id, 1);
	finish(&reading);
}
END_TEST

/* Each thread fills a buffer of its own: with more threads than buffers some get none. */
START_TEST(when_buffers_run_out_records_are_lost_and_counted)
{
	struct ring_reading reading;
	bool may_refuse = _i == 0;
	begin("whole", may_refuse ? "" : "version 26");
	for (int i = 0; i < TP_BUFFER_POOL_N; i++)
		tp_buffer_pool_get(&session.pool);
	launch(10, CUDA_DOUBLE_LAUNCH);
	for (size_t w = 0; w < TP_BUFFER_POOL_N / 64; w++)
		session.pool.taken[w] = 0;
	close_session();
	tp_cupti_session_open(&session);
	launch(1, CUDA_DOUBLE_LAUNCH);
	close_session();
	load(&reading);
	ck_assert_uint_ge(reading.header->n_scratch, 1);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_KERNEL], 1);
	if (may_refuse) /* 10 kernels and 10 calls */
		ck_assert_uint_eq(reading.header->n_lost, 20);
	finish(&reading);
}
END_TEST

/* ---- many threads ---------------------------------------------------------------------------- */

static void *launch_many(void *unused)
{
	launch(EACH, CUDA_DOUBLE_LAUNCH);
	return unused;
}

static const char *const ways[] = {"", "shared 1", "at_once 1"};

START_TEST(nothing_is_lost_of_32_launching_threads)
{
	struct ring_reading reading;
	pthread_t threads[LAUNCHERS];
	int n_over = 0;
	begin("whole", ways[_i]);
	for (int i = 0; i < LAUNCHERS; i++)
		pthread_create(&threads[i], NULL, launch_many, NULL);
	while (n_over < 5) { /* the work of the agent's thread */
		tp_cupti_session_flush(&session, false);
		tp_cupti_session_emit_clock(&session);
		n_over++;
	}
	for (int i = 0; i < LAUNCHERS; i++)
		pthread_join(threads[i], NULL);
	close_session();
	load(&reading);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_KERNEL], LAUNCHERS * EACH);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_CALL], LAUNCHERS * EACH);
	ck_assert_uint_eq(ring_dropped(&reading) + reading.header->n_lost, 0);
	ck_assert_uint_eq(reading.header->n_scratch, 0);
	finish(&reading);
}
END_TEST

Suite *suite_agent_cupti_session(void);
Suite *suite_agent_cupti_session(void)
{
	Suite *suite = suite_create("agent_cuptisession");
	TCase *tests = tcase_create("session");
	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, records_of_every_version_are_read, 0,
			    sizeof(versions) / sizeof(versions[0]));
	tcase_add_loop_test(tests, calls_carry_their_thread_and_link_what_they_caused, 0, 2);
	tcase_add_test(tests, times_become_those_of_the_host_by_the_clock_pairs);
	tcase_add_loop_test(tests, a_failing_call_stops_what_needs_it_and_nothing_else, 0,
			    (int)N_CALLS * (int)N_ERRORS);
	tcase_add_test(tests, each_call_of_the_agent_is_made_to_fail);
	tcase_add_loop_test(tests, the_other_tool_is_named_where_cupti_names_it, 0, 2);
	tcase_add_test(tests, kernels_without_times_and_records_lost_are_counted);
	tcase_add_test(tests, late_deliveries_are_complete_in_the_end);
	tcase_add_test(tests, a_session_opens_again_and_numbers_its_windows);
	tcase_add_loop_test(tests, when_buffers_run_out_records_are_lost_and_counted, 0, 2);
	tcase_add_loop_test(tests, nothing_is_lost_of_32_launching_threads, 0, 3);
	suite_add_tcase(suite, tests);
	return suite;
}
