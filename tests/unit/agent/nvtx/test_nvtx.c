/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of NVTX's tables, and about programs that name ranges with NVTX. */
#include "agent/nvtx/nvtx.h"
#include "agent/nvtx/nvtx_queue.h"

#include "agent/cudadouble.h"
#include "agent/nvtx/nvtx_ranges.h"
#include "agent/ringreading.h"
#include "doubles/nvtx_client.h"
#include "skip.h"

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sys/wait.h>

static char *directory;
static char output[CUDA_DOUBLE_PATH];

/* ---- in this process ------------------------------------------------------------------------- */

static struct tp_ring_writer ring;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void attach(void)
{
	directory = ring_directory();
	ck_assert_int_eq(tp_ring_writer_create(&ring, directory, 1024), 0);
	ck_assert(tp_nvtx_ranges_init(&ring, &lock));
	ck_assert(tp_nvtx_attach(nvtx_client_table));
	tp_nvtx_attach_extension(nvtx_client_extension());
}

START_TEST(each_function_of_the_tables_records_its_event)
{
	struct ring_reading reading;
	char path[600];
	attach();
	void *domain = nvtx_domain("NCCL");
	void *text = nvtx_register(domain, "ncclAllReduce");
	const uint64_t data[3] = {0xabc, 2097152, 0};
	nvtx_push("plain");
	nvtx_push_wide(L"wide");
	nvtx_pop();
	nvtx_pop();
	nvtx_push_payload(domain, text, 16777221, data, sizeof(data));
	nvtx_pop_payload(domain, 16777216, data, 24);
	nvtx_end(nvtx_start("anywhere"));
	nvtx_mark("now");
	tp_nvtx_ranges_drain(1, true);
	ring_find(directory, 0, path, sizeof(path));
	ring_load(&reading, path);
	static const uint8_t types[] = {TP_GPU_EVENT_PUSH,    TP_GPU_EVENT_PUSH,
					TP_GPU_EVENT_POP,     TP_GPU_EVENT_POP,
					TP_GPU_EVENT_PUSH,    TP_GPU_EVENT_PAYLOAD,
					TP_GPU_EVENT_PAYLOAD, TP_GPU_EVENT_PAYLOAD,
					TP_GPU_EVENT_POP,     TP_GPU_EVENT_PAYLOAD,
					TP_GPU_EVENT_PAYLOAD, TP_GPU_EVENT_PAYLOAD,
					TP_GPU_EVENT_START,   TP_GPU_EVENT_END,
					TP_GPU_EVENT_MARK};
	ck_assert_uint_eq(reading.n, sizeof(types));
	for (size_t i = 0; i < sizeof(types); i++)
		ck_assert_uint_eq(reading.events[i].type, types[i]);
	ck_assert_str_eq(ring_name(&reading, reading.events[1].id), "wide");
	ck_assert_str_eq(ring_name(&reading, reading.events[4].id), "ncclAllReduce");
	ck_assert_uint_eq(reading.events[6].x, 2097152);
	ck_assert_uint_eq(reading.events[9].id, 16777216);
	ring_free(&reading);
	tp_ring_writer_close(&ring);
	ring_remove_directory(directory);
}
END_TEST

static int no_functions(enum nvtx_module module, nvtx_function ***table, unsigned *size)
{
	(void)module;
	(void)table;
	(void)size;
	return 0;
}

static const void *table_of_nothing(uint32_t table)
{
	static const struct nvtx_callbacks callbacks = {sizeof(callbacks), no_functions};
	return table == NVTX_TABLE_CALLBACKS ? &callbacks : NULL;
}

static const void *no_table(uint32_t table)
{
	(void)table;
	return NULL;
}

START_TEST(a_module_without_tables_is_left_alone)
{
	struct nvtx_extension extension = *nvtx_client_extension();
	ck_assert(!tp_nvtx_attach(no_table));
	ck_assert(!tp_nvtx_attach(table_of_nothing));
	extension.module = 3;
	tp_nvtx_attach_extension(&extension);
	for (size_t i = 0; i < NVTX_CLIENT_SLOTS; i++)
		ck_assert_int_eq(nvtx_slots[i], 0);
}
END_TEST

/* ---- in programs ----------------------------------------------------------------------------- */

static int run(const char *how, const char *threads, const char *ranges)
{
	char program[CUDA_DOUBLE_PATH];
	char agent[CUDA_DOUBLE_PATH];
	int status = -1;
	beside(program, "programs/nvtx_ranges");
	snprintf(output, sizeof(output), "%s/output", directory);
	pid_t pid = fork();
	if (pid == 0) {
		int fd = open(output, O_WRONLY | O_CREAT | O_APPEND, 0600);
		dup2(fd, 1);
		dup2(fd, 2);
		setenv("NVTX_INJECTION64_PATH", beside(agent, "libtrainprof-agent.so"), 1);
		setenv("TRAINPROF_GPU_RINGS", directory, 1);
		execl(program, "nvtx_ranges", how, threads, ranges, (char *)NULL);
		_exit(127);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

static void load(struct ring_reading *reading, size_t nth)
{
	char path[600];
	ck_assert_uint_gt(ring_find(directory, nth, path, sizeof(path)), nth);
	ring_load(reading, path);
}

static void check_whole(const struct ring_reading *reading, uint64_t n)
{
	ck_assert_uint_eq(reading->n_of[TP_GPU_EVENT_PUSH], n);
	ck_assert_uint_eq(reading->n_of[TP_GPU_EVENT_POP], n);
	ck_assert_uint_eq(ring_dropped(reading) + reading->header->n_nvtx_lost, 0);
	ck_assert_uint_eq(reading->header->cupti_version, 0);
}

static const struct {
	const char *how;
	int status;
	uint32_t state;
} programs[] = {{"return", 0, TP_GPU_STATE_FINISHED},
		{"fork", 0, TP_GPU_STATE_FINISHED},
		{"kill", SIGKILL, TP_GPU_STATE_STARTING}};

/* The program has no CUDA, so the agent does not search for CUPTI. */
START_TEST(a_program_without_cuda_records_its_ranges)
{
	struct ring_reading reading;
	directory = ring_directory();
	ck_assert_int_eq(run(programs[_i].how, "4", "1000"), programs[_i].status);
	load(&reading, 0);
	check_whole(&reading, 8000);
	ck_assert_uint_eq(reading.header->state, programs[_i].state);
	ck_assert_uint_eq(ring_find(directory, 0, output, sizeof(output)), 1);
	ring_free(&reading);
	ring_remove_directory(directory);
}
END_TEST

START_TEST(exec_begins_another_ring_of_ranges)
{
	struct ring_reading reading;
	directory = ring_directory();
	ck_assert_int_eq(run("exec", "1", "100"), 0);
	ck_assert_uint_eq(ring_find(directory, 0, output, sizeof(output)), 2);
	load(&reading, 1);
	check_whole(&reading, 200);
	ring_free(&reading);
	ring_remove_directory(directory);
}
END_TEST

START_TEST(handlers_of_signals_may_name_ranges_too)
{
	struct ring_reading reading;
	directory = ring_directory();
	ck_assert_int_eq(run("signal", "2", "20000"), 0);
	load(&reading, 0);
	uint64_t n_recorded = reading.n_of[TP_GPU_EVENT_PUSH] + reading.header->n_nvtx_lost +
			      ring_dropped(&reading);
	ck_assert_uint_ge(n_recorded, 80000);
	ring_free(&reading);
	ring_remove_directory(directory);
}
END_TEST

START_TEST(a_million_ranges_are_recorded_or_counted)
{
	struct ring_reading reading;
	directory = ring_directory();
	ck_assert_int_eq(run("return", "1", "500000"), 0);
	load(&reading, 0);
	uint64_t n_recorded = reading.n_of[TP_GPU_EVENT_PUSH];
	/* The queue alone holds more, even if its reader gets no CPU until the program ends. */
	ck_assert_uint_ge(n_recorded, TP_NVTX_QUEUE_CELLS / 4);
	ck_assert_uint_le(n_recorded + reading.header->n_nvtx_lost, 1000000);
	ck_assert_uint_ge(n_recorded + reading.header->n_nvtx_lost + ring_dropped(&reading),
			  1000000);
	ring_free(&reading);
	ring_remove_directory(directory);
}
END_TEST

START_TEST(switched_off_the_tables_stay_empty)
{
	char path[600];
	directory = ring_directory();
	setenv("TRAINPROF_GPU", "0", 1);
	ck_assert_int_eq(run("return", "1", "100"), 0);
	ck_assert_uint_eq(ring_find(directory, 0, path, sizeof(path)), 0);
	ring_remove_directory(directory);
}
END_TEST

/* ---- NCCL itself ----------------------------------------------------------------------------- */

/* Returns the path of a libnccl; NULL = not found. */
static const char *find_nccl(char out[CUDA_DOUBLE_PATH])
{
	static const char *const places[] = {
		"/usr/lib/*-linux-gnu/libnccl.so.2", "/usr/lib64/libnccl.so.2",
		"/usr/local/cuda/lib*/libnccl.so.2",
		"/usr/l*/python3*/*-packages/nvidia/nccl/lib/libnccl.so.2",
		"/usr/local/lib/python3*/*-packages/nvidia/nccl/lib/libnccl.so.2"};
	const char *path = getenv("TRAINPROF_NCCL");
	if (path)
		return path;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		glob_t found;
		bool is_there = glob(places[i], 0, NULL, &found) == 0;
		if (is_there)
			snprintf(out, CUDA_DOUBLE_PATH, "%s", found.gl_pathv[0]);
		globfree(&found);
		if (is_there)
			return out;
	}
	return NULL;
}

/* The payload has 24 bytes since 2.25.1: the communicator, none here, and the number of bytes. */
static void check_call(const struct ring_reading *reading, const char *name, uint32_t schema,
		       uint64_t bytes)
{
	for (size_t i = 0; i + 1 < reading->n; i++) {
		const struct tp_gpu_event *push = &reading->events[i];
		if (push->type != TP_GPU_EVENT_PUSH || !push->id ||
		    strcmp(ring_name(reading, push->id), name) != 0)
			continue;
		const struct tp_gpu_event *word = push + (push[1].dur == 24 ? 2 : 1);
		ck_assert_uint_eq(word->type, TP_GPU_EVENT_PAYLOAD);
		ck_assert_uint_eq(word->id, (1 << 24) + schema);
		ck_assert_uint_eq(word->x, bytes);
		ck_assert_str_eq(ring_name(reading, (uint32_t)(push->x >> 32)), "NCCL");
		return;
	}
	ck_abort_msg("no %s", name);
}

START_TEST(libnccl_says_what_it_is_asked_for)
{
	char program[CUDA_DOUBLE_PATH];
	char agent[CUDA_DOUBLE_PATH];
	char path[CUDA_DOUBLE_PATH];
	struct ring_reading reading;
	int status = -1;
	const char *library = find_nccl(path);
	if (!library) {
		test_skip("no libnccl.so.2 here: TRAINPROF_NCCL=/path/of/libnccl.so.2");
		return;
	}
	directory = ring_directory();
	pid_t pid = fork();
	if (pid == 0) {
		setenv("NVTX_INJECTION64_PATH", beside(agent, "libtrainprof-agent.so"), 1);
		setenv("TRAINPROF_GPU_RINGS", directory, 1);
		execl(beside(program, "programs/nccl_calls"), "nccl_calls", library, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 3) {
		test_skip("libnccl.so.2 cannot be loaded here");
		return;
	}
	ck_assert_int_eq(status, 0);
	load(&reading, 0);
	check_call(&reading, "ncclAllReduce", 5, 2097152);
	check_call(&reading, "ncclReduceScatter", 7, 16384);
	check_call(&reading, "ncclSend", 9, 777);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_PUSH], reading.n_of[TP_GPU_EVENT_POP]);
	ring_free(&reading);
	ring_remove_directory(directory);
}
END_TEST

Suite *suite_agent_nvtx(void);
Suite *suite_agent_nvtx(void)
{
	Suite *suite = suite_create("agent_nvtx");
	TCase *tests = tcase_create("nvtx");
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, each_function_of_the_tables_records_its_event);
	tcase_add_test(tests, a_module_without_tables_is_left_alone);
	tcase_add_loop_test(tests, a_program_without_cuda_records_its_ranges, 0,
			    sizeof(programs) / sizeof(programs[0]));
	tcase_add_test(tests, exec_begins_another_ring_of_ranges);
	tcase_add_test(tests, handlers_of_signals_may_name_ranges_too);
	tcase_add_test(tests, a_million_ranges_are_recorded_or_counted);
	tcase_add_test(tests, switched_off_the_tables_stay_empty);
	tcase_add_test(tests, libnccl_says_what_it_is_asked_for);
	suite_add_tcase(suite, tests);
	return suite;
}
