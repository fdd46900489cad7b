/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the source that reads the GPU events of an agent inside the program. */
#include "collect/process/task_tree.h"
#include "collect/registry.h"

#include "collect/scriptring.h"

#include "trainprof/base/clock.h"
#include "trainprof/collect/collector.h"
#include "trainprof/collect/env.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <errno.h>

static struct tp_host host = {.root = "", .is_live = true};
static struct tp_collect_config config;
static struct tp_trace_builder sink;
static struct tp_collect_context context;
static struct tp_collector *cupti;
static struct tp_env env;
static struct ring_writer writer;

static void setup(void)
{
	struct tp_error err;
	setenv("TRAINPROF_AGENT", "/proc/self/exe", 1); /* any file: it is not loaded here */
	config = (struct tp_collect_config){.gpu_trace = TP_GPU_TRACE_CONTINUOUS};
	tp_trace_builder_init(&sink);
	context = (struct tp_collect_context){.host = &host, .config = &config};
	context.sink = &sink.sink;
	context.tree = tp_task_tree_new(&host, &sink.sink);
	ck_assert_int_eq(tp_cupti_collector.open(&cupti, &context, &err), TP_OK);
	cupti->type = &tp_cupti_collector;
	ck_assert_int_eq(tp_cupti_collector.child_env(cupti, &env, NULL), TP_OK);
	ck_assert_int_eq(tp_cupti_collector.start(cupti, getpid(), NULL), TP_OK);
}

static void teardown(void)
{
	tp_cupti_collector.close(cupti);
	tp_env_release(&env);
	tp_task_tree_free(context.tree);
	tp_trace_builder_release(&sink);
}

/* Returns NULL if it is not set. */
static const char *env_value(const char *name)
{
	size_t len = strlen(name);
	for (size_t i = 0; i < env.n_entries; i++)
		if (strncmp(env.entries[i], name, len) == 0 && env.entries[i][len] == '=')
			return env.entries[i] + len + 1;
	return NULL;
}

static void begin_ring(uint32_t n_events)
{
	ck_assert(ring_begin(&writer, env_value("TRAINPROF_GPU_RINGS"), 0, n_events));
	ring_clock(&writer);
	ring_place(&writer, 0, 7);
}

static void put_kernel(void)
{
	uint64_t now_ns = ring_now_ns();
	ring_work(&writer, TP_GPU_EVENT_KERNEL, 1, 0, now_ns - 2000, now_ns - 1000, 1, 0);
}

static void sample(void)
{
	ck_assert_int_eq(tp_cupti_collector.sample(cupti, tp_clock_now_ns(), NULL), TP_OK);
}

static const struct tp_source *stop(void)
{
	const struct tp_source *found = NULL;
	ck_assert_int_eq(tp_cupti_collector.stop(cupti, tp_clock_now_ns(), NULL), TP_OK);
	for (size_t i = 0; i < sink.n_records; i++)
		if (sink.records[i].kind == TP_RECORD_SOURCE)
			found = &sink.records[i].of.source;
	ck_assert_ptr_nonnull(found);
	return found;
}

static const char *reason_of(const struct tp_source *source)
{
	return tp_strtab_text(&sink.sink.strings, source->reason);
}

/* Expects that the records so far are kept and that the source reports this problem as well. */
static void claim_degraded(const char *why)
{
	const struct tp_source *source = stop();
	ck_assert_int_eq(source->presence, TP_PRESENCE_DEGRADED);
	ck_assert_ptr_nonnull(strstr(reason_of(source), why));
}

START_TEST(the_program_finds_the_agent_and_the_directory)
{
	ck_assert_str_eq(env_value("CUDA_INJECTION64_PATH"), "/proc/self/exe");
	ck_assert_str_eq(env_value("NVTX_INJECTION64_PATH"), "/proc/self/exe");
	ck_assert_int_eq(access(env_value("TRAINPROF_GPU_RINGS"), W_OK), 0);
}
END_TEST

START_TEST(ranges_are_left_to_the_tool_that_has_them)
{
	struct tp_env other = {0};
	setenv("NVTX_INJECTION64_PATH", "/opt/other/tool.so", 1);
	ck_assert_int_eq(tp_cupti_collector.child_env(cupti, &other, NULL), TP_OK);
	ck_assert_uint_eq(other.n_entries, 2);
	tp_env_release(&other);
	begin_ring(64);
	put_kernel();
	claim_degraded("NVTX_INJECTION64_PATH is another tool's");
	ring_end(&writer);
}
END_TEST

START_TEST(cuda_is_left_to_the_tool_that_has_it)
{
	struct tp_env other = {0};
	setenv("CUDA_INJECTION64_PATH", "/opt/other/tool.so", 1);
	ck_assert_int_eq(tp_cupti_collector.child_env(cupti, &other, NULL), TP_OK);
	ck_assert_uint_eq(other.n_entries, 2);
	tp_env_release(&other);
	claim_degraded("CUDA_INJECTION64_PATH is another tool's");
}
END_TEST

START_TEST(ranges_that_were_left_out_are_told)
{
	begin_ring(64);
	put_kernel();
	writer.header->n_nvtx_lost = 12345;
	claim_degraded("12345 NVTX ranges left out: ");
	ring_end(&writer);
}
END_TEST

START_TEST(a_program_that_only_names_ranges_is_said_to_be_one)
{
	begin_ring(64);
	writer.header->cupti_version = 0;
	writer.header->state = TP_GPU_STATE_FINISHED;
	ring_range(&writer, ring_name(&writer, "step"), (uint32_t)getpid(), ring_now_ns() - 2000,
		   ring_now_ns() - 1000);
	const struct tp_source *source = stop();
	ck_assert_uint_eq(source->n_records, 1);
	ck_assert_ptr_nonnull(strstr(reason_of(source), "did not start CUDA, and only named"));
	ring_end(&writer);
}
END_TEST

START_TEST(a_program_without_cuda_is_said_to_be_one)
{
	sample();
	const struct tp_source *source = stop();
	ck_assert_int_eq(source->presence, TP_PRESENCE_PRESENT);
	ck_assert_str_eq(reason_of(source),
			 "no process started CUDA, or none with CUDA_INJECTION64_PATH");
}
END_TEST

/* A program that started CUDA must not be said not to have done so. */
START_TEST(a_ring_that_could_not_be_made_is_told)
{
	char path[600];
	snprintf(path, sizeof(path), "%s/gpu-7-1-0.ring.%d", env_value("TRAINPROF_GPU_RINGS"),
		 ENOSPC);
	FILE *file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fclose(file);
	sample();
	const struct tp_source *source = stop();
	ck_assert_int_eq(source->presence, TP_PRESENCE_NO_DEVICE);
	ck_assert_str_eq(reason_of(source), "no file for GPU events: no space left on device");
}
END_TEST

START_TEST(what_is_in_the_ring_at_the_end_is_told)
{
	begin_ring(64);
	put_kernel();
	sample();
	put_kernel();
	put_kernel();
	const struct tp_source *source = stop();
	ck_assert_uint_eq(source->n_records, 3);
	ck_assert_uint_eq(source->n_lost, 0);
	ck_assert_int_eq(source->presence, TP_PRESENCE_PRESENT);
	ck_assert_ptr_nonnull(strstr(reason_of(source), "traced all the time"));
	ck_assert_uint_eq(writer.header->wanted,
			  TP_GPU_REQUEST_IDLE); /* the program may continue */
	ring_end(&writer);
}
END_TEST

START_TEST(losses_are_counted_once)
{
	begin_ring(16);
	for (int i = 0; i < 30; i++)
		put_kernel();
	sample();
	put_kernel();
	const struct tp_source *source = stop();
	ck_assert_uint_eq(source->n_lost, 14);
	ck_assert_uint_eq(source->n_records, 17);
	ring_end(&writer);
}
END_TEST

/* Each state has its own reason, with the name that the other tool has. */
static const struct {
	uint32_t state;
	enum tp_presence presence;
	const char *reason;
} ends[] = {
	{TP_GPU_STATE_NO_CUPTI, TP_PRESENCE_NO_LIBRARY,
	 "the program has no CUPTI, and none was found"},
	{TP_GPU_STATE_IN_USE, TP_PRESENCE_IN_USE, "another tool has CUPTI: CUPTI for Kineto"},
	{TP_GPU_STATE_FAILED, TP_PRESENCE_NO_DEVICE, "cuptiSubscribe of CUPTI failed (999)"},
	{TP_GPU_STATE_SECOND_COPY, TP_PRESENCE_IN_USE,
	 "two copies of CUPTI in the program, the other is …CUPTI for Kineto"},
	{TP_GPU_STATE_BACKOFF, TP_PRESENCE_IN_USE,
	 "another tool has CUPTI: CUPTI for Kineto; it is asked again now and then"},
	{TP_GPU_STATE_UNSUPPORTED, TP_PRESENCE_NO_LIBRARY,
	 "CUPTI older than 11.8 is not supported"},
	{TP_GPU_STATE_STARTING, TP_PRESENCE_NO_DEVICE,
	 "CUPTI had not started when the program ended"},
};

START_TEST(why_there_is_nothing_is_said)
{
	begin_ring(16);
	writer.header->state = ends[_i].state;
	writer.header->error = 999;
	writer.header->cupti_version = 12;
	strcpy(writer.header->owner, "CUPTI for Kineto");
	strcpy(writer.header->failed_call, "cuptiSubscribe");
	const struct tp_source *source = stop();
	ck_assert_int_eq(source->presence, ends[_i].presence);
	ck_assert_str_eq(reason_of(source), ends[_i].reason);
	ring_end(&writer);
}
END_TEST

/* CUPTI did not start, or refused the first kind of records of a window. */
static const struct {
	uint32_t state;
	uint32_t n_windows;
	const char *reason;
} untraced[] = {
	{TP_GPU_STATE_STARTING, 0,
	 "only NVTX ranges are recorded; CUPTI had not started when the program ended"},
	{TP_GPU_STATE_IN_USE, 1, "only NVTX ranges are recorded; another tool has CUPTI"},
	{TP_GPU_STATE_FINISHED, 1, "only NVTX ranges are recorded"},
};

START_TEST(ranges_of_a_program_that_cupti_did_not_trace_are_all_there_is)
{
	begin_ring(16);
	writer.header->state = untraced[_i].state;
	writer.header->n_windows = untraced[_i].n_windows;
	writer.header->kinds = 0;
	ring_range(&writer, ring_name(&writer, "step"), (uint32_t)getpid(), ring_now_ns() - 2000,
		   ring_now_ns() - 1000);
	const struct tp_source *source = stop();
	ck_assert_int_eq(source->presence, untraced[_i].state == TP_GPU_STATE_FINISHED
						   ? TP_PRESENCE_PRESENT
						   : TP_PRESENCE_DEGRADED);
	ck_assert_str_eq(reason_of(source), untraced[_i].reason);
	ring_end(&writer);
}
END_TEST

START_TEST(a_tool_that_takes_over_later_degrades_what_was_there)
{
	begin_ring(16);
	put_kernel();
	sample();
	writer.header->state = TP_GPU_STATE_TAKEOVER;
	claim_degraded("another tool took CUPTI over");
	ring_end(&writer);
}
END_TEST

/* The tool that took CUPTI over is reported even if the agent got it back, or if the program has
 * ended since. */
START_TEST(a_tool_that_came_and_went_is_named)
{
	static const uint32_t states[] = {TP_GPU_STATE_IDLE, TP_GPU_STATE_OPEN,
					  TP_GPU_STATE_FINISHED};
	begin_ring(16);
	put_kernel();
	sample();
	writer.header->state = states[_i];
	strcpy(writer.header->owner, "libtorch_cpu.so");
	claim_degraded("another tool had CUPTI for a time: libtorch_cpu.so");
	ring_end(&writer);
}
END_TEST

static void put_border(unsigned type, uint64_t time_ns)
{
	const struct tp_gpu_event event = {.type = (uint8_t)type,
					   .flags = TP_GPU_FLAG_HOST_CLOCK,
					   .id = 1,
					   .t0 = time_ns};
	ring_event(&writer, &event);
}

static uint64_t gap_ns(void)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < sink.n_records; i++)
		if (sink.records[i].kind == TP_RECORD_GAP)
			sum += sink.records[i].of.gap.end_ns - sink.records[i].of.gap.start_ns;
	return sum;
}

/* The program's activity after that is not GPU idle time; the end of the program is no gap. */
START_TEST(what_is_not_traced_for_another_tool_is_a_gap)
{
	uint64_t now_ns = ring_now_ns();
	begin_ring(16);
	sample();
	put_border(TP_GPU_EVENT_OPEN, now_ns - 3 * TP_NS_PER_S);
	put_kernel();
	put_border(TP_GPU_EVENT_CLOSE, now_ns - 2 * TP_NS_PER_S);
	uint64_t age_ns = _i ? 0 : 2 * TP_NS_PER_S;
	writer.header->heartbeat_ns = now_ns - age_ns;
	const struct tp_source *source = stop();
	ck_assert_ptr_nonnull(
		strstr(reason_of(source), _i ? "for some of the time" : "all the time"));
	ck_assert_uint_eq(gap_ns() >= 2 * TP_NS_PER_S, _i);
	ring_end(&writer);
}
END_TEST

START_TEST(a_pause_is_asked_of_the_agent)
{
	begin_ring(16);
	sample();
	tp_cupti_collector.pause(cupti, true, 0);
	ck_assert_uint_eq(writer.header->wanted, TP_GPU_REQUEST_IDLE);
	tp_cupti_collector.pause(cupti, false, 0);
	ck_assert_uint_eq(writer.header->wanted, TP_GPU_REQUEST_EVENTS);
	ring_end(&writer);
}
END_TEST

/* A long run would fill disk and memory with steps that are all alike. */
START_TEST(tracing_ends_when_enough_was_recorded)
{
	config.max_gpu_records = 3;
	begin_ring(64);
	put_kernel();
	put_kernel();
	sample();
	ck_assert_uint_eq(writer.header->wanted, TP_GPU_REQUEST_DEFAULT);
	put_kernel();
	sample();
	ck_assert_uint_eq(writer.header->wanted, TP_GPU_REQUEST_IDLE);
	/* A pause does not restart tracing. */
	tp_cupti_collector.pause(cupti, true, 0);
	tp_cupti_collector.pause(cupti, false, 0);
	ck_assert_uint_eq(writer.header->wanted, TP_GPU_REQUEST_IDLE);
	sample();
	const struct tp_source *source = stop();
	ck_assert_ptr_nonnull(strstr(reason_of(source), "traced until enough was recorded"));
	size_t n_gaps = 0;
	for (size_t i = 0; i < sink.n_records; i++) {
		if (sink.records[i].kind != TP_RECORD_GAP)
			continue;
		ck_assert_uint_eq(sink.records[i].of.gap.end_ns, UINT64_MAX);
		n_gaps++;
	}
	ck_assert_uint_eq(n_gaps, 1);
	ring_end(&writer);
}
END_TEST

static void put_range(struct ring_writer *w)
{
	ring_range(w, ring_name(w, "step"), (uint32_t)getpid(), ring_now_ns() - 2000,
		   ring_now_ns() - 1000);
}

/* The limit includes ranges and applies to all processes together. */
START_TEST(enough_is_enough_of_all_processes)
{
	struct ring_writer other;
	config.max_gpu_records = 4;
	begin_ring(64);
	ck_assert(ring_begin(&other, env_value("TRAINPROF_GPU_RINGS"), 1, 64));
	for (int i = 0; i < 2; i++) {
		put_range(&writer);
		put_range(&other);
	}
	sample();
	ck_assert_uint_eq(writer.header->wanted, TP_GPU_REQUEST_IDLE);
	put_range(&writer);
	put_range(&other);
	ck_assert_uint_eq(stop()->n_records, 4);
	ring_end(&other);
	ring_end(&writer);
}
END_TEST

/* Restarts the collector with windows instead of continuous tracing. */
static void begin_windows(void)
{
	struct tp_error err;
	tp_cupti_collector.close(cupti);
	config.gpu_trace = TP_GPU_TRACE_WINDOWS;
	config.max_overhead_ratio = 0.02;
	ck_assert_int_eq(tp_cupti_collector.open(&cupti, &context, &err), TP_OK);
	cupti->type = &tp_cupti_collector;
	tp_env_release(&env);
	env = (struct tp_env){0};
	ck_assert_int_eq(tp_cupti_collector.child_env(cupti, &env, NULL), TP_OK);
	ck_assert_uint_eq(env.n_entries, 4); /* with TRAINPROF_GPU=idle */
	ck_assert_int_eq(tp_cupti_collector.start(cupti, getpid(), NULL), TP_OK);
}

/* The reason does not report a window as left out for lack of GPU memory either. */
START_TEST(no_window_follows_when_enough_was_recorded)
{
	static const double looks_s[] = {0, 3.1, 3.2, 4.3, 10, 20, 165, 300};
	double none = 0;
	uint64_t t0 = tp_clock_now_ns();
	config.max_gpu_records = 1;
	begin_windows();
	begin_ring(16);
	for (size_t i = 0; i < sizeof(looks_s) / sizeof(looks_s[0]); i++) {
		uint64_t now_ns = t0 + (uint64_t)(looks_s[i] * 1e9);
		if (i == 2)
			put_kernel();
		ck_assert_int_eq(tp_cupti_collector.sample(cupti, now_ns, NULL), TP_OK);
		ck_assert_uint_eq(writer.header->wanted, i == 0   ? TP_GPU_REQUEST_DEFAULT
							 : i == 1 ? TP_GPU_REQUEST_EVENTS
								  : TP_GPU_REQUEST_IDLE);
		context.gpu_free_bytes = i < 3 ? NULL : &none;
	}
	const struct tp_source *source = stop();
	ck_assert_str_eq(reason_of(source),
			 "traced until enough was recorded; of CUPTI's cost 0 % of a CPU is known");
	ck_assert_int_eq(source->presence, TP_PRESENCE_PRESENT);
	ring_end(&writer);
}
END_TEST

/* The test chooses the times at which the source is sampled. The speed of the program is unknown:
 * at 2 %, a window comes every 125 to 160 s. */
START_TEST(windows_open_and_close_by_the_clock)
{
	uint64_t t0 = tp_clock_now_ns();
	begin_windows();
	begin_ring(16);
	static const struct {
		double at_s;
		uint32_t wanted;
	} looks[] = {{0, TP_GPU_REQUEST_DEFAULT},  {2.9, TP_GPU_REQUEST_DEFAULT},
		     {3.1, TP_GPU_REQUEST_EVENTS}, {3.2, TP_GPU_REQUEST_EVENTS},
		     {4.1, TP_GPU_REQUEST_EVENTS}, {4.3, TP_GPU_REQUEST_IDLE},
		     {60, TP_GPU_REQUEST_IDLE},    {118, TP_GPU_REQUEST_IDLE},
		     {165, TP_GPU_REQUEST_EVENTS}, {165.1, TP_GPU_REQUEST_EVENTS},
		     {166.2, TP_GPU_REQUEST_IDLE}};
	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
		uint64_t now_ns = t0 + (uint64_t)(looks[i].at_s * 1e9);
		ck_assert_int_eq(tp_cupti_collector.sample(cupti, now_ns, NULL), TP_OK);
		ck_assert_msg(writer.header->wanted == looks[i].wanted, "at %g s: %u",
			      looks[i].at_s, writer.header->wanted);
	}
	tp_cupti_collector.pause(cupti, false, 0); /* --delay is over: no window yet */
	ck_assert_uint_eq(writer.header->wanted, TP_GPU_REQUEST_IDLE);
	put_kernel();
	ck_assert_ptr_nonnull(strstr(reason_of(stop()), "traced in 2 windows"));
	ring_end(&writer);
}
END_TEST

START_TEST(a_process_that_runs_already_is_joined_only_if_it_uses_cuda)
{
	struct tp_collector *other;
	struct tp_error err = {0};
	char expected[64];
	config.is_attaching = true;
	ck_assert_int_eq(tp_cupti_collector.open(&other, &context, &err), TP_OK);
	ck_assert_int_ne(tp_cupti_collector.start(other, getpid(), &err), TP_OK);
	snprintf(expected, sizeof(expected), "pid %d does not use libcuda", (int)getpid());
	ck_assert_str_eq(err.text, expected);
	tp_cupti_collector.close(other);
}
END_TEST

START_TEST(the_kill_switch_comes_first)
{
	struct tp_availability found;
	setenv("TRAINPROF_GPU", "0", 1);
	tp_cupti_collector.probe(&host, &found);
	ck_assert_int_eq(found.presence, TP_PRESENCE_OFF);
	ck_assert_str_eq(found.reason, "switched off by TRAINPROF_GPU=0");
	unsetenv("TRAINPROF_GPU");
}
END_TEST

Suite *suite_collect_cupti_collector(void);
Suite *suite_collect_cupti_collector(void)
{
	Suite *suite = suite_create("collect/cupti");
	TCase *tc = tcase_create("cupti");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, the_program_finds_the_agent_and_the_directory);
	tcase_add_test(tc, a_program_without_cuda_is_said_to_be_one);
	tcase_add_test(tc, a_ring_that_could_not_be_made_is_told);
	tcase_add_test(tc, ranges_are_left_to_the_tool_that_has_them);
	tcase_add_test(tc, cuda_is_left_to_the_tool_that_has_it);
	tcase_add_test(tc, ranges_that_were_left_out_are_told);
	tcase_add_test(tc, a_program_that_only_names_ranges_is_said_to_be_one);
	tcase_add_test(tc, what_is_in_the_ring_at_the_end_is_told);
	tcase_add_test(tc, losses_are_counted_once);
	tcase_add_loop_test(tc, why_there_is_nothing_is_said, 0, sizeof(ends) / sizeof(ends[0]));
	tcase_add_loop_test(tc, ranges_of_a_program_that_cupti_did_not_trace_are_all_there_is, 0,
			    sizeof(untraced) / sizeof(untraced[0]));
	tcase_add_test(tc, a_tool_that_takes_over_later_degrades_what_was_there);
	tcase_add_loop_test(tc, a_tool_that_came_and_went_is_named, 0, 3);
	tcase_add_loop_test(tc, what_is_not_traced_for_another_tool_is_a_gap, 0, 2);
	tcase_add_test(tc, a_pause_is_asked_of_the_agent);
	tcase_add_test(tc, tracing_ends_when_enough_was_recorded);
	tcase_add_test(tc, enough_is_enough_of_all_processes);
	tcase_add_test(tc, no_window_follows_when_enough_was_recorded);
	tcase_add_test(tc, windows_open_and_close_by_the_clock);
	tcase_add_test(tc, a_process_that_runs_already_is_joined_only_if_it_uses_cuda);
	tcase_add_test(tc, the_kill_switch_comes_first);
	suite_add_tcase(suite, tc);
	return suite;
}
