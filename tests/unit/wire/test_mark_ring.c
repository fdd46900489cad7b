/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the mark ring: each mark arrives complete, or is counted as lost. */
#include "trainprof/wire/mark_ring.h"

#include "trainprof/mark.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* mark.h repeats the layout so that users need only one file; these assertions compare both. */
_Static_assert(TRAINPROF_RING_MAGIC == TP_MARK_RING_MAGIC, "magic");
_Static_assert(TRAINPROF_RING_HEADER == TP_MARK_RING_HEADER_BYTES, "header");
_Static_assert(TRAINPROF_RING_RECORD == TP_MARK_RING_RECORD_BYTES, "record");
_Static_assert(TRAINPROF_RING_MAX_RECORDS == TP_MARK_RING_MAX_RECORDS, "bound");
_Static_assert(sizeof(struct trainprof_ring_header) == sizeof(struct tp_mark_ring_header), "size");
_Static_assert(offsetof(struct trainprof_ring_header, head) ==
		       offsetof(struct tp_mark_ring_header, head),
	       "head");
_Static_assert(offsetof(struct trainprof_ring_header, n_records) ==
		       offsetof(struct tp_mark_ring_header, n_records),
	       "n_records");
_Static_assert((int)TRAINPROF_MARK_STEP == (int)TP_RING_STEP &&
		       (int)TRAINPROF_MARK_STEP_END == (int)TP_RING_STEP_END &&
		       (int)TRAINPROF_MARK_PHASE_BEGIN == (int)TP_RING_PHASE_BEGIN &&
		       (int)TRAINPROF_MARK_PHASE_END == (int)TP_RING_PHASE_END,
	       "kinds");

enum { MAX_KEPT = 64, N_THREADS = 3, N_PROCESSES = 2 };

struct kept {
	struct tp_mark_record mark[MAX_KEPT];
	size_t n;
};

static void keep(void *context, const struct tp_mark_record *mark)
{
	struct kept *kept = context;
	ck_assert_uint_lt(kept->n, MAX_KEPT);
	kept->mark[kept->n++] = *mark;
}

static char ring_path[64];

static void listen_on(struct tp_mark_ring *ring, uint32_t n_records)
{
	snprintf(ring_path, sizeof(ring_path), "/tmp/mark-ring-%d", (int)getpid());
	unlink(ring_path);
	ck_assert_int_eq(tp_mark_ring_create(ring, ring_path, n_records), 0);
	setenv(TP_MARK_RING_ENV, ring_path, 1);
	trainprof_mark_ring = 0;
	trainprof_mark_depth = 0;
}

static void hang_up(struct tp_mark_ring *ring)
{
	tp_mark_ring_close(ring);
	unlink(ring_path);
	unsetenv(TP_MARK_RING_ENV);
	trainprof_mark_ring = 0;
}

static void assert_nothing_unaccounted(const struct tp_mark_ring *ring)
{
	ck_assert_uint_eq(ring->next, ring->n_taken + ring->n_lost);
}

START_TEST(marks_arrive_in_order_with_depth_name_and_ids)
{
	struct tp_mark_ring ring;
	listen_on(&ring, 64);
	trainprof_step();
	trainprof_phase_begin("forward");
	trainprof_phase_begin("a name that is longer than what fits into a record");
	trainprof_phase_end();
	trainprof_phase_end();
	trainprof_phase_end(); /* one too many: no effect */
	trainprof_step_end();

	static const struct {
		int kind;
		int depth;
		const char *name;
	} expected[] = {
		{TP_RING_STEP, 0, ""},
		{TP_RING_PHASE_BEGIN, 0, "forward"},
		{TP_RING_PHASE_BEGIN, 1, "a name that is longer than what"},
		{TP_RING_PHASE_END, 1, ""},
		{TP_RING_PHASE_END, 0, ""},
		{TP_RING_STEP_END, 0, ""},
	};
	struct kept kept = {0};
	ck_assert_uint_eq(tp_mark_ring_drain(&ring, false, keep, &kept), 6);
	uint64_t before_ns = 0;
	for (size_t i = 0; i < 6; i++) {
		const struct tp_mark_record *mark = &kept.mark[i];
		ck_assert_int_eq(mark->kind, expected[i].kind);
		ck_assert_int_eq(mark->depth, expected[i].depth);
		ck_assert_str_eq(mark->name, expected[i].name);
		ck_assert_uint_eq(mark->pid, getpid());
		ck_assert_uint_eq(mark->tid, syscall(SYS_gettid));
		ck_assert_uint_ge(mark->time_ns, before_ns);
		before_ns = mark->time_ns;
	}
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	ck_assert_uint_le(before_ns, now_ns);
	ck_assert_uint_lt(now_ns - before_ns, UINT64_C(60000000000));
	ck_assert_uint_eq(tp_mark_ring_drain(&ring, true, keep, &kept), 0);
	ck_assert_uint_eq(ring.n_lost, 0);
	assert_nothing_unaccounted(&ring);
	hang_up(&ring);
}
END_TEST

START_TEST(slow_reader_loses_the_oldest_and_counts_them)
{
	struct tp_mark_ring ring;
	struct kept kept = {0};
	listen_on(&ring, 16);
	for (int i = 0; i < 100; i++) {
		char name[16];
		snprintf(name, sizeof(name), "p%d", i);
		trainprof_phase_begin(name);
		trainprof_mark_depth = 0;
	}
	ck_assert_uint_eq(tp_mark_ring_drain(&ring, false, keep, &kept), 16);
	ck_assert_str_eq(kept.mark[0].name, "p84");
	ck_assert_str_eq(kept.mark[15].name, "p99");
	ck_assert_uint_eq(ring.n_lost, 84);
	assert_nothing_unaccounted(&ring);
	hang_up(&ring);
}
END_TEST

/* Each thread marks phases named after its own counter, so that a torn record is detected. */
struct writer {
	int n_marks;
	int yield_each;
};

static void *write_marks(void *argument)
{
	const struct writer *writer = argument;
	unsigned tid = (unsigned)syscall(SYS_gettid);
	for (int i = 0; i < writer->n_marks; i++) {
		char name[TP_MARK_NAME_BYTES];
		snprintf(name, sizeof(name), "%010u-%010d-%08x", tid, i, (tid * 31u + i) ^ 0x5aa5u);
		trainprof_mark_depth = (unsigned)i & 0xfff;
		trainprof_phase_begin(name);
		if (writer->yield_each && i % writer->yield_each == 0)
			sched_yield();
	}
	return NULL;
}

static void write_from_threads(struct writer *writer)
{
	pthread_t thread[N_THREADS];
	for (int i = 0; i < N_THREADS; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, write_marks, writer), 0);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(thread[i], NULL);
}

struct audit {
	unsigned tid[N_THREADS * N_PROCESSES];
	int last[N_THREADS * N_PROCESSES];
	int n_tids;
};

static void audit_mark(void *context, const struct tp_mark_record *mark)
{
	struct audit *audit = context;
	unsigned tid = 0;
	int i = -1;
	unsigned check = 0;
	ck_assert_int_eq(sscanf(mark->name, "%u-%d-%x", &tid, &i, &check), 3);
	ck_assert_uint_eq(check, (tid * 31u + i) ^ 0x5aa5u);
	ck_assert_uint_eq(tid, mark->tid);
	ck_assert_uint_eq(mark->depth, (unsigned)i & 0xfff);
	int at = 0;
	while (at < audit->n_tids && audit->tid[at] != tid)
		at++;
	ck_assert_int_lt(at, N_THREADS * N_PROCESSES);
	if (at == audit->n_tids) {
		audit->tid[audit->n_tids++] = tid;
		audit->last[at] = -1;
	}
	ck_assert_int_gt(i, audit->last[at]);
	audit->last[at] = i;
}

static void run_processes(struct tp_mark_ring *ring, struct writer writer, struct audit *audit)
{
	trainprof_marks_on(); /* the ring is mapped before the fork */
	for (int i = 0; i < N_PROCESSES; i++) {
		pid_t pid = fork();
		ck_assert_int_ge(pid, 0);
		if (pid == 0) {
			write_from_threads(&writer);
			_exit(0);
		}
	}
	for (int n_gone = 0; n_gone < N_PROCESSES;) {
		tp_mark_ring_drain(ring, false, audit_mark, audit);
		if (waitpid(-1, NULL, WNOHANG) > 0)
			n_gone++;
	}
	tp_mark_ring_drain(ring, true, audit_mark, audit);
	assert_nothing_unaccounted(ring);
	ck_assert_uint_eq(ring->next, (uint64_t)writer.n_marks * N_THREADS * N_PROCESSES);
}

START_TEST(two_processes_of_threads_lose_nothing_while_drained)
{
	struct tp_mark_ring ring;
	struct audit audit = {0};
	listen_on(&ring, 1 << 16);
	run_processes(&ring, (struct writer){.n_marks = 8000, .yield_each = 1000}, &audit);
	ck_assert_uint_eq(ring.n_lost, 0);
	ck_assert_int_eq(audit.n_tids, N_THREADS * N_PROCESSES);
	for (int i = 0; i < audit.n_tids; i++)
		ck_assert_int_eq(audit.last[i], 7999);
	hang_up(&ring);
}
END_TEST

START_TEST(overrun_ring_gives_no_torn_record)
{
	struct tp_mark_ring ring;
	struct audit audit = {0};
	listen_on(&ring, 16);
	run_processes(&ring, (struct writer){.n_marks = 20000, .yield_each = 500}, &audit);
	ck_assert_uint_gt(ring.n_lost, 0);
	ck_assert_uint_gt(ring.n_taken, 0);
	hang_up(&ring);
}
END_TEST

START_TEST(forked_child_marks_under_its_own_pid)
{
	struct tp_mark_ring ring;
	struct kept kept = {0};
	listen_on(&ring, 64);
	trainprof_step();
	pid_t child = fork();
	if (child == 0) {
		trainprof_step();
		_exit(0);
	}
	waitpid(child, NULL, 0);
	ck_assert_uint_eq(tp_mark_ring_drain(&ring, true, keep, &kept), 2);
	ck_assert_uint_eq(kept.mark[0].pid, getpid());
	ck_assert_uint_eq(kept.mark[1].pid, child);
	ck_assert_uint_eq(kept.mark[1].tid, child);
	hang_up(&ring);
}
END_TEST

START_TEST(dead_writer_holds_the_reader_up_for_half_a_ring)
{
	struct tp_mark_ring ring;
	struct kept kept = {0};
	listen_on(&ring, 16);
	trainprof_step();
	/* A writer claimed record 1 and died while writing it. */
	uint64_t busy = (UINT64_C(2) << 1) | 1;
	uint64_t head = 2;
	ck_assert_int_eq(pwrite(ring.fd, &busy, 8, 128 + 64), 8);
	ck_assert_int_eq(pwrite(ring.fd, &head, 8, 64), 8);
	for (int i = 0; i < 7; i++) {
		trainprof_step();
		ck_assert_uint_eq(tp_mark_ring_drain(&ring, false, keep, &kept), i == 0);
	}
	trainprof_step();
	ck_assert_uint_eq(tp_mark_ring_drain(&ring, false, keep, &kept), 8);
	ck_assert_uint_eq(ring.n_lost, 1);
	/* Its slot stays closed: the next round loses that one record and nothing else. */
	for (int i = 0; i < 16; i++)
		trainprof_step();
	ck_assert_uint_eq(tp_mark_ring_drain(&ring, true, keep, &kept), 15);
	ck_assert_uint_eq(ring.n_lost, 2);
	assert_nothing_unaccounted(&ring);
	hang_up(&ring);
}
END_TEST

static void count(void *context, const struct tp_mark_record *mark)
{
	(*(size_t *)context)++;
	ck_assert_uint_lt(strlen(mark->name), TP_MARK_NAME_BYTES);
	ck_assert_uint_ge(mark->kind, TP_RING_STEP);
	ck_assert_uint_le(mark->kind, TP_RING_PHASE_END);
}

/* xorshift64*, Marsaglia 2003 with Vigna's multiplier. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

static void scribble(const struct tp_mark_ring *ring, uint64_t *state)
{
	uint64_t words[16 + 16 * 8];
	for (size_t i = 0; i < sizeof(words) / 8; i++)
		words[i] = next_random(state);
	/* Half of the time the sequence numbers are right and only the contents are hostile. */
	if (next_random(state) & 1) {
		words[8] = ring->next + next_random(state) % 40;
		for (uint64_t slot = 0; slot < 16; slot++)
			words[16 + slot * 8] = (ring->next + ((slot - ring->next) & 15) + 1) << 1;
	}
	if ((next_random(state) & 3) == 0)
		words[8] = UINT64_MAX - next_random(state) % 20;
	ck_assert_int_eq(pwrite(ring->fd, words, sizeof(words), 0), sizeof(words));
}

START_TEST(hostile_bytes_are_counted_never_believed)
{
	uint64_t state = 88172645463325252u + (uint64_t)_i;
	size_t n_seen = 0;
	for (int round = 0; round < 200; round++) {
		struct tp_mark_ring ring;
		listen_on(&ring, 16);
		for (int i = 0; i < 5; i++) {
			scribble(&ring, &state);
			tp_mark_ring_drain(&ring, i == 4, count, &n_seen);
			assert_nothing_unaccounted(&ring);
		}
		hang_up(&ring);
	}
}
END_TEST

START_TEST(cut_file_ends_the_ring_quietly)
{
	static const off_t sizes[] = {0, 64, 71, 128, 128 + 64 * 3, 128 + 64 * 16 - 1};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct tp_mark_ring ring;
		size_t n_seen = 0;
		listen_on(&ring, 16);
		for (int k = 0; k < 16; k++)
			trainprof_step();
		ck_assert_int_eq(ftruncate(ring.fd, sizes[i]), 0);
		tp_mark_ring_drain(&ring, true, count, &n_seen);
		ck_assert(ring.is_damaged);
		ck_assert_uint_eq(n_seen, 0);
		ck_assert_uint_eq(tp_mark_ring_drain(&ring, true, count, &n_seen), 0);
		hang_up(&ring);
	}
}
END_TEST

START_TEST(without_a_listener_marks_turn_off_and_errno_is_kept)
{
	char text[] = "/tmp/mark-ring-none-XXXXXX";
	int fd = mkstemp(text);
	ck_assert_int_ge(fd, 0);
	static const char not_a_ring[4096] = "not a ring";
	ck_assert_int_eq(write(fd, not_a_ring, sizeof(not_a_ring)), sizeof(not_a_ring));
	close(fd);
	const char *paths[] = {NULL, "", "/nonexistent/ring", "/dev/null", "/", "/proc/self/stat",
			       text};
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (paths[i])
			setenv(TP_MARK_RING_ENV, paths[i], 1);
		else
			unsetenv(TP_MARK_RING_ENV);
		trainprof_mark_ring = 0;
		errno = 77;
		trainprof_step();
		trainprof_phase_begin("x");
		trainprof_phase_end();
		ck_assert_int_eq(errno, 77);
		ck_assert(!trainprof_marks_on());
		ck_assert_uint_eq(trainprof_mark_depth, 0);
	}
	unlink(text);
	unsetenv(TP_MARK_RING_ENV);
	trainprof_mark_ring = 0;
}
END_TEST

START_TEST(ring_is_private_exclusive_and_backed_by_blocks)
{
	struct tp_mark_ring ring;
	struct tp_mark_ring second;
	struct stat st;
	listen_on(&ring, 1000);
	ck_assert_uint_eq(ring.n_records, 1024);
	ck_assert_int_eq(tp_mark_ring_create(&second, ring_path, 16), EEXIST);
	ck_assert_int_eq(fstat(ring.fd, &st), 0);
	ck_assert_int_eq(st.st_size, 128 + 1024 * 64);
	ck_assert_int_ge(st.st_blocks * 512, st.st_size);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	ck_assert_int_eq(tp_mark_ring_create(&second, "/nonexistent/ring", 16), ENOENT);
	hang_up(&ring);
}
END_TEST

Suite *suite_wire_mark_ring(void);
Suite *suite_wire_mark_ring(void)
{
	Suite *suite = suite_create("wire/mark_ring");
	TCase *tc = tcase_create("mark_ring");
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, marks_arrive_in_order_with_depth_name_and_ids);
	tcase_add_test(tc, slow_reader_loses_the_oldest_and_counts_them);
	tcase_add_test(tc, two_processes_of_threads_lose_nothing_while_drained);
	tcase_add_test(tc, overrun_ring_gives_no_torn_record);
	tcase_add_test(tc, forked_child_marks_under_its_own_pid);
	tcase_add_test(tc, dead_writer_holds_the_reader_up_for_half_a_ring);
	tcase_add_loop_test(tc, hostile_bytes_are_counted_never_believed, 0, 4);
	tcase_add_test(tc, cut_file_ends_the_ring_quietly);
	tcase_add_test(tc, without_a_listener_marks_turn_off_and_errno_is_kept);
	tcase_add_test(tc, ring_is_private_exclusive_and_backed_by_blocks);
	suite_add_tcase(suite, tc);
	return suite;
}
