/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the directory of rings. */
#include "collect/gpu/trace/gpu_ring_set.h"

#include "collect/process/task_tree.h"
#include "collect/scriptring.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/collect/collector.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char parent[] = "/tmp/tp-gpurings-XXXXXX";
static struct tp_host host = {.root = ""};
static struct tp_trace_builder sink;
static struct tp_collect_context context;
static struct tp_gpu_ring_set rings;

static void setup(void)
{
	struct tp_error err;
	strcpy(parent + strlen(parent) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(parent));
	tp_trace_builder_init(&sink);
	context = (struct tp_collect_context){.host = &host, .sink = &sink.sink};
	context.tree = tp_task_tree_new(&host, &sink.sink);
	ck_assert_int_eq(tp_gpu_ring_set_open(&rings, parent, &context, "cupti", &err), TP_OK);
}

static void teardown(void)
{
	tp_gpu_ring_set_close(&rings);
	tp_task_tree_free(context.tree);
	tp_trace_builder_release(&sink);
	ck_assert_int_eq(rmdir(parent), 0); /* the directory must be empty */
}

static void put_kernel(struct ring_writer *w)
{
	uint64_t now_ns = ring_now_ns();
	ring_clock(w);
	ring_work(w, TP_GPU_EVENT_KERNEL, ring_place(w, 0, 7), 0, now_ns - 2000, now_ns - 1000, 1,
		  0);
}

START_TEST(the_directory_is_ours_alone)
{
	struct stat about;
	ck_assert_int_eq(stat(rings.directory, &about), 0);
	ck_assert_uint_eq(about.st_mode & 0777, 0700);
}
END_TEST

START_TEST(each_ring_is_a_rank_of_its_own_in_order_of_appearance)
{
	struct ring_writer a;
	struct ring_writer b;
	ck_assert(ring_begin(&a, rings.directory, 0, 16));
	put_kernel(&a);
	ck_assert_uint_eq(tp_gpu_ring_set_drain(&rings, tp_clock_now_ns(), 100), 0);
	ck_assert(ring_begin(&b, rings.directory, 1, 16)); /* after an exec */
	put_kernel(&b);
	put_kernel(&a);
	tp_gpu_ring_set_drain(&rings, tp_clock_now_ns(), 100);
	ck_assert_uint_eq(rings.n, 2);
	ck_assert_uint_eq(tp_gpu_decoder_get_stats(rings.items[0]->decoder)->n_spans, 2);
	ck_assert_uint_eq(tp_gpu_decoder_get_stats(rings.items[1]->decoder)->n_spans, 1);
	size_t n_tracks = 0;
	for (size_t i = 0; i < sink.n_records; i++) {
		if (sink.records[i].kind != TP_RECORD_TRACK)
			continue;
		/* Two places of the first ring, emitted one by one, and one of the second. */
		ck_assert_uint_eq(sink.records[i].of.track.id, n_tracks);
		ck_assert_uint_eq(sink.records[i].of.track.rank, n_tracks / 2);
		n_tracks++;
	}
	ring_end(&a);
	ring_end(&b);
}
END_TEST

START_TEST(work_of_a_call_is_bounded_for_each_ring)
{
	struct ring_writer a;
	ck_assert(ring_begin(&a, rings.directory, 0, 16));
	for (int i = 0; i < 5; i++)
		put_kernel(&a);
	ck_assert_uint_eq(tp_gpu_ring_set_drain(&rings, tp_clock_now_ns(), 2), 3);
	ck_assert_uint_eq(tp_gpu_ring_set_drain(&rings, tp_clock_now_ns(), 2), 1);
	ck_assert_uint_eq(tp_gpu_ring_set_drain(&rings, tp_clock_now_ns(), 2), 0);
	ring_end(&a);
}
END_TEST

START_TEST(a_ring_of_another_version_is_refused_once_and_named)
{
	struct ring_writer a;
	ck_assert(ring_begin(&a, rings.directory, 0, 16));
	a.header->major = 9;
	tp_gpu_ring_set_drain(&rings, tp_clock_now_ns(), 100);
	tp_gpu_ring_set_drain(&rings, tp_clock_now_ns(), 100);
	ck_assert_uint_eq(rings.n, 1);
	ck_assert_ptr_null(rings.items[0]->decoder);
	ck_assert_ptr_nonnull(strstr(rings.items[0]->why.text, "version 9.2"));
	ring_end(&a);
}
END_TEST

START_TEST(a_ring_that_is_being_made_is_taken_when_it_is_there)
{
	struct ring_writer a;
	ck_assert(ring_begin(&a, rings.directory, 0, 16));
	a.header->magic = 0;
	tp_gpu_ring_set_drain(&rings, tp_clock_now_ns(), 100);
	ck_assert_uint_eq(rings.n, 0);
	a.header->magic = TP_GPU_RING_MAGIC;
	tp_gpu_ring_set_drain(&rings, tp_clock_now_ns(), 100);
	ck_assert_uint_eq(rings.n, 1);
	ring_end(&a);
}
END_TEST

START_TEST(what_is_wanted_holds_for_rings_that_come_later)
{
	struct ring_writer a;
	struct ring_writer b;
	ck_assert(ring_begin(&a, rings.directory, 0, 16));
	tp_gpu_ring_set_drain(&rings, tp_clock_now_ns(), 100);
	ck_assert_uint_eq(a.header->wanted, TP_GPU_REQUEST_DEFAULT);
	tp_gpu_ring_set_request(&rings, TP_GPU_REQUEST_IDLE);
	ck_assert_uint_eq(a.header->wanted, TP_GPU_REQUEST_IDLE);
	ck_assert(ring_begin(&b, rings.directory, 1, 16));
	tp_gpu_ring_set_drain(&rings, tp_clock_now_ns(), 100);
	ck_assert_uint_eq(b.header->wanted, TP_GPU_REQUEST_IDLE);
	ring_end(&a);
	ring_end(&b);
}
END_TEST

/* Returns the pid of a process that has ended and was reaped: it is not reused for a while. */
static pid_t dead_pid(void)
{
	pid_t pid = fork();
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

START_TEST(directories_of_killed_profilers_are_removed_and_no_others)
{
	struct tp_gpu_ring_set more;
	struct tp_error err;
	char *dead = tp_asprintf("%s/trainprof-gpu-%d-abcdef", parent, (int)dead_pid());
	char *ring = tp_asprintf("%s/gpu-1-1-0.ring", dead);
	ck_assert_int_eq(mkdir(dead, 0700), 0);
	FILE *file = fopen(ring, "w");
	fclose(file);
	ck_assert_int_eq(tp_gpu_ring_set_open(&more, parent, &context, "cupti", &err), TP_OK);
	ck_assert_int_ne(access(dead, F_OK), 0);
	ck_assert_int_eq(access(rings.directory, F_OK), 0);
	tp_gpu_ring_set_close(&more);
	free(ring);
	free(dead);
}
END_TEST

/* A profiler in another container, whose pid does not exist here, uses the same /dev/shm. */
START_TEST(a_directory_that_a_profiler_holds_stays_whatever_its_number)
{
	struct tp_gpu_ring_set more;
	struct tp_error err;
	char *foreign = tp_asprintf("%s/trainprof-gpu-%d-abcdef", parent, (int)dead_pid());
	ck_assert_int_eq(rename(rings.directory, foreign), 0);
	ck_assert_int_eq(tp_gpu_ring_set_open(&more, parent, &context, "cupti", &err), TP_OK);
	ck_assert_int_eq(access(foreign, F_OK), 0);
	tp_gpu_ring_set_close(&more);
	ck_assert_int_eq(rename(foreign, rings.directory), 0);
	free(foreign);
}
END_TEST

/* Eight ranks and their loader workers share what containers provide: 64, 256 or 512 MiB. */
START_TEST(rings_leave_as_much_room_as_they_take)
{
	const uint64_t mib = UINT64_C(1) << 20;
	ck_assert_uint_gt(tp_gpu_ring_set_room(0), 64 * mib);
	ck_assert_uint_gt(tp_gpu_ring_set_room(1), 256 * mib);
	ck_assert_uint_gt(tp_gpu_ring_set_room(8), 512 * mib);
	ck_assert_uint_le(tp_gpu_ring_set_room(8), 1024 * mib);
}
END_TEST

Suite *suite_collect_gpu_ring_set(void);
Suite *suite_collect_gpu_ring_set(void)
{
	Suite *suite = suite_create("collect/gpurings");
	TCase *tc = tcase_create("gpurings");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, the_directory_is_ours_alone);
	tcase_add_test(tc, each_ring_is_a_rank_of_its_own_in_order_of_appearance);
	tcase_add_test(tc, work_of_a_call_is_bounded_for_each_ring);
	tcase_add_test(tc, a_ring_of_another_version_is_refused_once_and_named);
	tcase_add_test(tc, a_ring_that_is_being_made_is_taken_when_it_is_there);
	tcase_add_test(tc, what_is_wanted_holds_for_rings_that_come_later);
	tcase_add_test(tc, directories_of_killed_profilers_are_removed_and_no_others);
	tcase_add_test(tc, a_directory_that_a_profiler_holds_stays_whatever_its_number);
	tcase_add_test(tc, rings_leave_as_much_room_as_they_take);
	suite_add_tcase(suite, tc);
	return suite;
}
