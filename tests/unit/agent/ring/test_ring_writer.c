/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the ring writer. */
#include "agent/ring/ring_writer.h"
#include "agent/ringfollow.h"
#include "agent/ringreading.h"
#include "skip.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { SMALL = 64 };

static char *directory;
static struct tp_ring_writer ring;

static void begin(void)
{
	directory = ring_directory();
	ck_assert_int_eq(tp_ring_writer_create(&ring, directory, SMALL), 0);
	ck_assert_int_eq(tp_ring_writer_reserve(&ring), 0);
}

static void finish(void)
{
	tp_ring_writer_close(&ring);
	ring_remove_directory(directory);
}

static void put_marks(uint64_t from, uint64_t n)
{
	for (uint64_t i = from; i < from + n; i++) {
		struct tp_gpu_event event = {.type = TP_GPU_EVENT_MARK, .t0 = i + 1, .x = i};
		tp_ring_writer_append(&ring, &event, 1);
	}
	tp_ring_writer_publish(&ring);
}

static void load(struct ring_reading *reading)
{
	char path[600];
	ck_assert_uint_ge(ring_find(directory, 0, path, sizeof(path)), 1);
	ring_load(reading, path);
}

START_TEST(a_new_file_says_who_and_what_and_is_private)
{
	struct ring_reading reading;
	struct stat status;
	char path[600];
	begin();
	ring_find(directory, 0, path, sizeof(path));
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_int_eq(status.st_mode & 0777, 0600);
	load(&reading);
	ck_assert_uint_eq(reading.header->pid, (uint32_t)getpid());
	ck_assert_uint_gt(reading.header->start_ticks, 0);
	ck_assert_uint_eq(reading.size,
			  reading.header->events_at + SMALL * sizeof(struct tp_gpu_event));
	ring_free(&reading);
	finish();
}
END_TEST

START_TEST(until_there_is_room_for_events_the_file_is_short)
{
	struct ring_reading reading;
	directory = ring_directory();
	ck_assert_int_eq(tp_ring_writer_create(&ring, directory, SMALL), 0);
	load(&reading);
	ck_assert_uint_eq(reading.size, reading.header->events_at);
	ring_free(&reading);
	finish();
}
END_TEST

START_TEST(the_same_process_again_makes_another_file)
{
	char path[600];
	begin();
	struct tp_ring_writer first = ring;
	ck_assert_int_eq(tp_ring_writer_create(&ring, directory, SMALL), 0);
	ck_assert_uint_eq(ring_find(directory, 1, path, sizeof(path)), 2);
	ck_assert_str_eq(path + strlen(path) - 7, "-1.ring");
	tp_ring_writer_close(&first);
	finish();
}
END_TEST

START_TEST(a_directory_that_is_not_there_is_an_error)
{
	struct tp_ring_writer none = {0};
	ck_assert_int_eq(tp_ring_writer_create(&none, "/nonexistent", SMALL), ENOENT);
	ck_assert_ptr_null(none.header);
	ck_assert(!tp_ring_writer_is_ours(&none));
}
END_TEST

/* A file that grows beyond its limit kills the program; a failure leaves its reason and no ring. */
START_TEST(a_limit_on_the_size_of_files_is_kept)
{
	struct tp_ring_writer none = {0};
	char path[600];
	const struct rlimit little = {.rlim_cur = 65536, .rlim_max = 65536};
	directory = ring_directory();
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &little), 0);
	ck_assert_int_eq(tp_ring_writer_create(&none, directory, SMALL), EFBIG);
	ck_assert_uint_eq(ring_find(directory, 0, path, sizeof(path)), 0);
	snprintf(path, sizeof(path), "%s/gpu-*-0.ring.%d", directory, EFBIG);
	glob_t reasons;
	ck_assert_int_eq(glob(path, 0, NULL, &reasons), 0);
	globfree(&reasons);
	ring_remove_directory(directory);
}
END_TEST

/* Replaces libc's function: the file system of `ring.fd` has this room left, whatever its kind. */
static uint64_t room_bytes = UINT64_MAX;
int fstatvfs(int fd, struct statvfs *out)
{
	void *symbol = dlsym(RTLD_NEXT, "fstatvfs");
	int (*real)(int, struct statvfs *) = NULL;
	memcpy(&real, &symbol, sizeof(symbol));
	int result = real(fd, out);
	if (room_bytes != UINT64_MAX) {
		out->f_blocks = 1;
		out->f_frsize = 1;
		out->f_bavail = room_bytes;
	}
	return result;
}

/* The other half is for the loader workers of the program. */
START_TEST(a_ring_takes_at_most_half_of_what_is_free)
{
	struct ring_reading reading;
	directory = ring_directory();
	ck_assert_int_eq(tp_ring_writer_create(&ring, directory, SMALL), 0);
	load(&reading);
	uint64_t whole = reading.header->events_at + SMALL * sizeof(struct tp_gpu_event);
	ring_free(&reading);
	room_bytes = 2 * whole - 4096;
	ck_assert_int_eq(tp_ring_writer_reserve(&ring), ENOSPC);
	load(&reading);
	ck_assert_uint_eq(reading.size, reading.header->events_at);
	ring_free(&reading);
	room_bytes = 2 * whole + 4096;
	ck_assert_int_eq(tp_ring_writer_reserve(&ring), 0);
	room_bytes = UINT64_MAX;
	finish();
}
END_TEST

/* Replaces libc's function: older kernels interrupt the call at any signal, with no effect. */
static int n_interruptions;
int posix_fallocate(int fd, off_t offset, off_t length)
{
	void *symbol = dlsym(RTLD_NEXT, "posix_fallocate");
	int (*real)(int, off_t, off_t) = NULL;
	memcpy(&real, &symbol, sizeof(symbol));
	if (n_interruptions) {
		n_interruptions--;
		return EINTR;
	}
	return real(fd, offset, length);
}

START_TEST(a_program_that_has_a_timer_gets_a_ring_all_the_same)
{
	directory = ring_directory();
	n_interruptions = 3;
	ck_assert_int_eq(tp_ring_writer_create(&ring, directory, SMALL), 0);
	ck_assert_int_eq(n_interruptions, 0);
	n_interruptions = 3;
	ck_assert_int_eq(tp_ring_writer_reserve(&ring), 0);
	finish();
}
END_TEST

START_TEST(written_events_are_visible_after_publishing)
{
	struct ring_reading reading;
	struct tp_gpu_event event = {.type = TP_GPU_EVENT_MARK, .t0 = 5, .x = 6};
	begin();
	tp_ring_writer_append(&ring, &event, 1);
	load(&reading);
	ck_assert_uint_eq(reading.header->head, 0);
	ring_free(&reading);
	tp_ring_writer_publish(&ring);
	load(&reading);
	ck_assert_uint_eq(reading.n, 1);
	ck_assert_mem_eq(&reading.events[0], &event, sizeof(event));
	ring_free(&reading);
	finish();
}
END_TEST

/* Page faults would be a large part of the cost of the first events. */
START_TEST(the_room_for_events_is_mapped_before_they_come)
{
	struct rusage before;
	struct rusage after;
	char page[4096] __attribute__((aligned(4096)));
	directory = ring_directory();
	ck_assert_int_eq(tp_ring_writer_create(&ring, directory, 1 << 16), 0);
	ck_assert_int_eq(tp_ring_writer_reserve(&ring), 0);
	getrusage(RUSAGE_THREAD, &before);
	put_marks(0, 1 << 16);
	getrusage(RUSAGE_THREAD, &after);
	if (madvise(page, sizeof(page), MADV_POPULATE_WRITE) != 0)
		test_skip("this kernel does not map pages ahead");
	else
		ck_assert_int_lt(after.ru_minflt - before.ru_minflt, 100); /* of 512 pages */
	finish();
}
END_TEST

START_TEST(a_full_ring_drops_counts_and_says_where)
{
	struct ring_reading reading;
	begin();
	put_marks(0, SMALL + 10);
	ck_assert_uint_eq(ring.header->head, SMALL);
	ck_assert_uint_eq(ring.header->n_dropped[TP_GPU_EVENT_MARK], 10);
	ring.header->tail = 1; /* room for one: not enough for an event and its LOST event */
	put_marks(100, 1);
	ck_assert_uint_eq(ring.header->n_dropped[TP_GPU_EVENT_MARK], 11);
	ring.header->tail = 2;
	put_marks(200, 1);
	load(&reading);
	ck_assert_uint_eq(reading.header->head, SMALL + 2);
	ck_assert_uint_eq(reading.events[0].type, TP_GPU_EVENT_LOST);
	ck_assert_uint_eq(reading.events[0].x, 11);
	ck_assert_uint_eq(reading.events[1].x, 200);
	ck_assert_uint_eq(reading.events[2].x, 2); /* not overwritten */
	/* All events: 64 + 10 + 1 + 1. */
	ck_assert_uint_eq(reading.header->head + ring_dropped(&reading) - 1, SMALL + 12);
	ring_free(&reading);
	finish();
}
END_TEST

START_TEST(events_that_belong_together_are_dropped_together)
{
	const struct tp_gpu_event both[2] = {{.type = TP_GPU_EVENT_KERNEL},
					     {.type = TP_GPU_EVENT_NODE}};
	begin();
	put_marks(0, SMALL - 1);
	tp_ring_writer_append(&ring, both, 2);
	tp_ring_writer_publish(&ring);
	ck_assert_uint_eq(ring.header->head, SMALL - 1);
	ck_assert_uint_eq(ring.header->n_dropped[TP_GPU_EVENT_KERNEL], 1);
	ck_assert_uint_eq(ring.header->n_dropped[TP_GPU_EVENT_NODE], 1);
	finish();
}
END_TEST

START_TEST(a_tail_that_makes_no_sense_only_drops)
{
	begin();
	put_marks(0, SMALL);
	ring.header->tail = UINT64_MAX;
	put_marks(0, 5);
	ring.header->tail = SMALL + 1;
	put_marks(0, 5);
	ck_assert_uint_eq(ring.header->head, SMALL);
	ck_assert_uint_eq(ring.header->n_dropped[TP_GPU_EVENT_MARK], 10);
	finish();
}
END_TEST

START_TEST(names_are_stored_contiguously_up_to_the_end_of_the_table)
{
	static char longest[3 * TP_GPU_NAME_MAX];
	struct ring_reading reading;
	begin();
	memset(longest, 'x', sizeof(longest) - 1);
	uint32_t first = tp_ring_writer_add_name(&ring, "gemm", 4);
	uint32_t second = tp_ring_writer_add_name(&ring, longest, strlen(longest));
	ck_assert_uint_eq(first, 1);
	ck_assert_uint_eq(second, 1 + 16 / 8);
	load(&reading);
	ck_assert_str_eq(ring_name(&reading, first), "gemm");
	ck_assert_uint_eq(strlen(ring_name(&reading, second)), TP_GPU_NAME_MAX);
	ring_free(&reading);
	uint32_t n = 2;
	while (tp_ring_writer_add_name(&ring, longest, TP_GPU_NAME_MAX))
		n++;
	ck_assert_uint_ge(n, TP_GPU_RING_NAME_BYTES / (TP_GPU_NAME_MAX + 12));
	ck_assert_uint_le(ring.header->n_name_bytes, ring.header->names_bytes);
	ck_assert_uint_eq(ring.header->n_unnamed, 1);
	finish();
}
END_TEST

START_TEST(the_oldest_clock_pairs_are_overwritten)
{
	struct ring_reading reading;
	begin();
	for (uint64_t i = 0; i < TP_GPU_RING_CLOCKS + 3; i++)
		tp_ring_writer_add_clock(&ring,
					 &(struct tp_gpu_clock){.host_ns = i, .cupti_ns = 2 * i});
	load(&reading);
	ck_assert_uint_eq(reading.header->n_clock_pairs, TP_GPU_RING_CLOCKS + 3);
	ck_assert_uint_eq(ring_clock(&reading, TP_GPU_RING_CLOCKS + 2)->host_ns,
			  TP_GPU_RING_CLOCKS + 2);
	ck_assert_uint_eq(ring_clock(&reading, 3)->host_ns, 3);
	ring_free(&reading);
	finish();
}
END_TEST

/* Independent of how it was forked: by the library, or by the system call, which runs no fork
 * handlers. */
START_TEST(a_child_knows_that_the_ring_is_not_its_own)
{
	int status = -1;
	begin();
	ck_assert(tp_ring_writer_is_ours(&ring));
	pid_t pid = _i ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
	if (pid == 0)
		_exit(tp_ring_writer_is_ours(&ring) ? 1 : 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert(tp_ring_writer_is_ours(&ring));
	finish();
}
END_TEST

/* ---- death at any instruction ---------------------------------------------------------------- */

enum { DEATHS = 200, LONGEST_US = 3000 };

/* Writes as fast as possible: each event has its number twice, each third has a companion, and each
 * refers to a name and a place that were added for it. */
static void write_until_killed(bool has_reader)
{
	for (uint32_t i = 0;; i++) {
		char text[32];
		snprintf(text, sizeof(text), "kernel_%u", i % 2000);
		struct tp_gpu_event events[2] = {{.type = TP_GPU_EVENT_KERNEL, .t0 = i + 1}};
		events[0].id = tp_ring_writer_add_name(&ring, text, strlen(text));
		events[0].place = tp_ring_writer_add_place(&ring, i, i, i);
		events[0].x = ~(uint64_t)i;
		events[1] = (struct tp_gpu_event){.type = TP_GPU_EVENT_NODE, .t0 = i + 1, .id = i};
		tp_ring_writer_append(&ring, events, i % 3 ? 1 : 2);
		if (i % 5 == 0)
			tp_ring_writer_publish(&ring);
		if (i % 16 == 0 && !has_reader)
			ring.header->tail = ring.head; /* as if a reader were always present */
	}
}

/* Checks the guarantees for a file whose writer is dead. */
static void check_dead(const struct ring_reading *reading)
{
	const struct tp_gpu_ring_header *header = reading->header;
	const void *events = reading->bytes + header->events_at;
	const struct tp_gpu_event *all = events;
	ck_assert_uint_le(header->n_name_bytes, header->names_bytes);
	ck_assert_uint_le(header->n_places, header->n_places_most);
	/* The last half was not yet overwritten by events that were never published. */
	uint64_t from = header->head > SMALL / 2 ? header->head - SMALL / 2 : 0;
	uint64_t number = 0;
	for (uint64_t e = from; e < header->head; e++) {
		const struct tp_gpu_event *event = &all[e & (header->n_events - 1)];
		ck_assert(event->type == TP_GPU_EVENT_NODE || event->type == TP_GPU_EVENT_KERNEL);
		if (number && event->type == TP_GPU_EVENT_NODE && e > from)
			ck_assert_uint_eq(event->t0, number);
		else if (number)
			ck_assert_uint_eq(event->t0, number + 1);
		number = event->t0;
		if (event->type == TP_GPU_EVENT_NODE) {
			ck_assert_uint_eq(event->id, number - 1);
			continue;
		}
		ck_assert_uint_eq(~event->x, number - 1);
		char text[32];
		snprintf(text, sizeof(text), "kernel_%u", (unsigned)((number - 1) % 2000));
		if (event->id)
			ck_assert_str_eq(ring_name(reading, event->id), text);
		if (event->place)
			ck_assert_uint_eq(ring_place(reading, event->place)->stream, number - 1);
	}
}

static pid_t start_writer(bool has_reader)
{
	directory = ring_directory();
	pid_t pid = fork();
	if (pid == 0) {
		tp_ring_writer_create(&ring, directory, SMALL);
		tp_ring_writer_reserve(&ring);
		write_until_killed(has_reader);
	}
	return pid;
}

static void kill_writer(pid_t pid)
{
	int status = 0;
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	ck_assert(WIFSIGNALED(status));
}

/* Most kills come at a random time; each fourth waits until there is an event to check, even if the
 * CPUs are busy. */
static bool is_patient(unsigned seed)
{
	return seed % 4 == 0;
}

static void open_new_ring(struct tp_gpu_ring_reader *file)
{
	char path[600];
	struct tp_error error;
	*file = (struct tp_gpu_ring_reader){.fd = -1};
	for (int i = 0; i < 100000 && file->fd < 0; i++)
		if (!ring_find(directory, 0, path, sizeof(path)) ||
		    tp_gpu_ring_reader_open(file, path, &error) != TP_OK)
			usleep(100);
	ck_assert_int_ge(file->fd, 0);
}

static void die_once(unsigned seed)
{
	char path[600];
	struct ring_reading reading;
	pid_t pid = start_writer(false);
	if (is_patient(seed)) {
		struct tp_gpu_ring_reader file;
		open_new_ring(&file);
		tp_gpu_ring_reader_close(&file);
	}
	usleep(seed * 2654435761u % LONGEST_US);
	kill_writer(pid);
	/* Killed before it had created its file, or the header of the file: nothing to read
	 * then. */
	if (ring_find(directory, 0, path, sizeof(path))) {
		FILE *file = fopen(path, "rb");
		uint64_t magic = 0;
		bool is_begun = fread(&magic, sizeof(magic), 1, file) == 1 && magic;
		fclose(file);
		if (is_begun) {
			ring_load(&reading, path);
			check_dead(&reading);
			ring_free(&reading);
		}
	}
	ring_remove_directory(directory);
}

START_TEST(a_writer_that_is_killed_leaves_whole_events)
{
	for (unsigned seed = 1; seed <= DEATHS; seed++)
		die_once(seed);
}
END_TEST

/* Writes several rounds of the ring, in pieces of any size; the reader never sees events beyond the
 * head. */
static uint64_t die_beside_a_reader(unsigned seed)
{
	struct tp_gpu_ring_reader file;
	pid_t pid = start_writer(true);
	open_new_ring(&file);
	struct follower follower = {.file = &file};
	unsigned n_looks = 1 + seed * 2654435761u % 500;
	uint64_t n_least = is_patient(seed) ? 8 * SMALL : 0;
	for (unsigned i = 0; i < n_looks || follower.n_taken < n_least; i++) {
		ck_assert(tp_gpu_ring_reader_refresh(&file));
		tp_gpu_ring_reader_drain(&file, 1 + (seed * 31 + i * 7) % SMALL, follow, &follower);
	}
	kill_writer(pid);
	ck_assert(tp_gpu_ring_reader_refresh(&file));
	tp_gpu_ring_reader_drain(&file, SIZE_MAX, follow, &follower);
	ck_assert_uint_eq(tp_gpu_ring_reader_n_left(&file), 0);
	ck_assert_uint_eq(follower.n_taken, file.head);
	tp_gpu_ring_reader_close(&file);
	ring_remove_directory(directory);
	return follower.n_taken;
}

START_TEST(a_reader_sees_whole_events_in_order_though_the_writer_is_killed)
{
	uint64_t n_taken = 0;
	for (unsigned seed = 1; seed <= DEATHS; seed++)
		n_taken += die_beside_a_reader(seed);
	ck_assert_uint_gt(n_taken, (uint64_t)DEATHS * SMALL); /* several rounds */
}
END_TEST

Suite *suite_agent_ring_writer(void);
Suite *suite_agent_ring_writer(void)
{
	Suite *suite = suite_create("agent_ringwriter");
	TCase *tests = tcase_create("ringwriter");
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, a_new_file_says_who_and_what_and_is_private);
	tcase_add_test(tests, until_there_is_room_for_events_the_file_is_short);
	tcase_add_test(tests, the_same_process_again_makes_another_file);
	tcase_add_test(tests, a_directory_that_is_not_there_is_an_error);
	tcase_add_test(tests, a_limit_on_the_size_of_files_is_kept);
	tcase_add_test(tests, a_ring_takes_at_most_half_of_what_is_free);
	tcase_add_test(tests, a_program_that_has_a_timer_gets_a_ring_all_the_same);
	tcase_add_test(tests, written_events_are_visible_after_publishing);
	tcase_add_test(tests, the_room_for_events_is_mapped_before_they_come);
	tcase_add_test(tests, a_full_ring_drops_counts_and_says_where);
	tcase_add_test(tests, events_that_belong_together_are_dropped_together);
	tcase_add_test(tests, a_tail_that_makes_no_sense_only_drops);
	tcase_add_test(tests, names_are_stored_contiguously_up_to_the_end_of_the_table);
	tcase_add_test(tests, the_oldest_clock_pairs_are_overwritten);
	tcase_add_loop_test(tests, a_child_knows_that_the_ring_is_not_its_own, 0, 2);
	tcase_add_test(tests, a_writer_that_is_killed_leaves_whole_events);
	tcase_add_test(tests, a_reader_sees_whole_events_in_order_though_the_writer_is_killed);
	suite_add_tcase(suite, tests);
	return suite;
}
