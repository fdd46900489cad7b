/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of writing a recording: complete, private, bounded, and harmless if an operation
 * fails. */
#include "trainprof/store/recording.h"

#include "skip.h"
#include "store/layout.h"
#include "store/manifest.h"
#include "story.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"

#include <check.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *directory; /* directory of this test */
static char *recording; /* in it, not created yet */

static void setup(void)
{
	directory = story_directory();
	recording = tp_asprintf("%s/prof", directory);
}

static void teardown(void)
{
	free(recording);
	ck_assert_int_eq(chdir("/"), 0);
	umount2(directory, MNT_DETACH); /* if a test has mounted a file system */
	story_remove(directory);
}

static struct tp_store *create(uint64_t max_bytes)
{
	struct tp_store *store;
	struct tp_error err = {0};
	ck_assert_msg(!tp_store_create(&store, recording, story_run(), max_bytes, &err), "%s",
		      err.text);
	return store;
}

static void finish(struct tp_store *store)
{
	struct tp_error err = {0};
	ck_assert_msg(!tp_store_finish(store, story_run(), &err), "%s", err.text);
}

static void load(struct tp_trace *trace)
{
	struct tp_error err = {0};
	ck_assert_msg(!tp_store_load(trace, recording, &err), "%s", err.text);
}

START_TEST(a_recording_reads_back_as_written)
{
	enum { PARTS = 60000 };
	struct tp_store *store = create(UINT64_MAX);
	for (uint64_t part = 0; part < PARTS; part += 1000) {
		story_emit(tp_store_sink(store), part, part + 1000);
		if (part % 7000 == 0)
			tp_store_flush(store);
	}
	uint64_t until;
	ck_assert(!tp_store_has_stopped(store, &until, NULL));
	finish(store);
	struct tp_trace told;
	struct tp_trace read;
	story_trace(&told, PARTS);
	load(&read);
	ck_assert(!read.is_partial);
	story_assert_equal(&told, &read);
	ck_assert_str_eq(read.run.id, story_run()->id);
	tp_trace_release(&told);
	tp_trace_release(&read);
}
END_TEST

START_TEST(only_the_owner_may_read_a_recording)
{
	umask(0);
	struct tp_store *store = create(UINT64_MAX);
	story_emit(tp_store_sink(store), 0, 10);
	finish(store);
	static const struct {
		const char *name;
		mode_t mode;
	} files[] = {{".", 0700}, {LAYOUT_MANIFEST, 0600}, {LAYOUT_RECORDS, 0600}};
	for (size_t i = 0; i < TP_ARRAY_LEN(files); i++) {
		char path[300];
		struct stat st;
		snprintf(path, sizeof(path), "%s/%s", recording, files[i].name);
		ck_assert_int_eq(stat(path, &st), 0);
		ck_assert_uint_eq(st.st_mode & 0777, files[i].mode);
	}
}
END_TEST

START_TEST(only_manifest_and_records_are_left)
{
	finish(create(UINT64_MAX));
	char *command =
		tp_asprintf("test \"$(ls -A '%s')\" = 'manifest.json\nrecords.tpr'", recording);
	ck_assert_int_eq(system(command), 0); /* NOLINT: a test's own path */
	free(command);
}
END_TEST

START_TEST(the_first_manifest_says_that_the_end_is_unknown)
{
	struct tp_store *store = create(UINT64_MAX);
	struct tp_arena arena = {0};
	struct tp_run_info run;
	struct tp_store_result ledger;
	ck_assert_int_eq(tp_manifest_load(&run, &ledger, &arena, recording, NULL), TP_OK);
	ck_assert_int_eq(run.end, TP_END_UNKNOWN);
	ck_assert(!ledger.is_closed);
	ck_assert_str_eq(run.label, "train");
	tp_arena_release(&arena);
	finish(store);
}
END_TEST

static void refused(const char *path, enum tp_status status, const char *text, const char *next)
{
	struct tp_store *store = NULL;
	struct tp_error err = {0};
	ck_assert_int_eq(tp_store_create(&store, path, story_run(), UINT64_MAX, &err), status);
	ck_assert_ptr_null(store);
	ck_assert_str_eq(err.text, text);
	ck_assert_str_eq(err.next, next);
}

START_TEST(an_existing_recording_is_never_overwritten)
{
	ck_assert_int_eq(chdir(directory), 0);
	finish(create(UINT64_MAX));
	refused("prof", TP_EXISTS, "'prof' exists and is a recording of 2026-11-20",
		"choose another -o, or add --force");
}
END_TEST

START_TEST(existing_files_that_are_no_recording_are_left_alone)
{
	ck_assert_int_eq(chdir(directory), 0);
	ck_assert_int_eq(mkdir("folder", 0755), 0);
	ck_assert_int_eq(symlink("nowhere", "link"), 0);
	ck_assert_int_eq(symlink("folder", "way"), 0);
	ck_assert_int_eq(close(creat("file", 0644)), 0);
	static const char *const names[] = {"folder", "link", "way", "file"};
	for (size_t i = 0; i < TP_ARRAY_LEN(names); i++) {
		char text[100];
		snprintf(text, sizeof(text), "'%s' exists and is not a recording", names[i]);
		refused(names[i], TP_EXISTS, text, "choose another -o");
	}
	ck_assert_int_eq(access("nowhere", F_OK), -1);
}
END_TEST

START_TEST(an_unwritable_place_is_named_with_a_way_out)
{
	ck_assert_int_eq(chdir(directory), 0);
	refused("a/b", TP_ABSENT, "cannot write in 'a': no such file or directory", "mkdir -p a");
	ck_assert_int_eq(close(creat("file", 0644)), 0);
	refused("file/b/", TP_ABSENT, "cannot write in 'file': not a directory",
		"trainprof run -o /tmp/b -- …");
	/* The folder exists, and nothing can be made in it. */
	refused("/proc/prof", TP_ABSENT, "cannot write in '/proc': no such file or directory",
		"trainprof run -o /tmp/prof -- …");
	ck_assert_int_eq(mkdir("closed", 0500), 0);
	uid_t self = geteuid();
	ck_assert(self != 0 || seteuid(65534) == 0); /* root may write anywhere */
	refused("closed/prof", TP_DENIED, "cannot write in 'closed': permission denied",
		"trainprof run -o /tmp/prof -- …");
	refused("/prof", TP_DENIED, "cannot write in '/': permission denied",
		"trainprof run -o /tmp/prof -- …");
	ck_assert_int_eq(seteuid(self), 0);
}
END_TEST

/* Returns the gap of an early stop. */
static const struct tp_gap *stop_gap(const struct tp_trace *trace)
{
	size_t i = 0;
	while (i < trace->n_gaps &&
	       strcmp(tp_trace_string(trace, trace->gaps[i].source), "recording") != 0)
		i++;
	ck_assert_uint_lt(i, trace->n_gaps);
	return &trace->gaps[i];
}

/* More different stacks than the writer caches: they are read back, and equal ones as equal. */
START_TEST(stacks_of_a_long_run_read_back)
{
	enum { N_STACKS = 100000, DEPTH = 64 };
	struct tp_store *store = create(UINT64_MAX);
	struct tp_sink *sink = tp_store_sink(store);
	struct tp_task task = {.tid = 1, .pid = 1, .parent = TP_NO_TASK};
	tp_sink_task(sink, &task);
	uint32_t frames[DEPTH];
	for (uint32_t i = 0; i < DEPTH; i++) {
		struct tp_frame frame = {.address = i + 1};
		frames[i] = tp_sink_frame(sink, &frame);
	}
	struct tp_sample sample = {.time_ns = STORY_STARTED_NS};
	for (uint32_t i = 0; i <= N_STACKS; i++) { /* the last is the first again */
		for (uint32_t bit = 0; bit < 20; bit++)
			frames[bit] = 1 + 2 * bit + (i % N_STACKS >> bit & 1);
		sample.stack = tp_sink_stack(sink, frames, DEPTH, 0);
		sample.time_ns++;
		tp_sink_sample(sink, &sample);
	}
	ck_assert_uint_lt(sink->n_stacks, N_STACKS);
	finish(store);
	struct tp_trace trace;
	load(&trace);
	ck_assert_uint_eq(trace.n_samples, N_STACKS + 1);
	ck_assert_uint_eq(trace.n_stacks, N_STACKS + 1); /* plus the empty one */
	ck_assert_uint_eq(trace.samples[0].stack, trace.samples[N_STACKS].stack);
	const struct tp_stack *last = tp_trace_stack(&trace, trace.samples[N_STACKS - 1].stack);
	ck_assert_uint_eq(last->n_frames, DEPTH);
	ck_assert_uint_eq(trace.frames[last->frames[0]].address, 1 + ((N_STACKS - 1) & 1));
	tp_trace_release(&trace);
}
END_TEST

START_TEST(at_its_size_limit_a_recording_stops_and_stays_whole)
{
	enum { LIMIT = 300000, PARTS = 100000 };
	struct tp_store *store = create(LIMIT);
	story_emit(tp_store_sink(store), 0, PARTS);
	uint64_t until_ns = 0;
	struct tp_error err = {0};
	ck_assert(tp_store_has_stopped(store, &until_ns, &err));
	ck_assert_str_eq(err.text, "size limit of 300000 bytes reached");
	ck_assert_uint_gt(until_ns, STORY_STARTED_NS);
	ck_assert_uint_le(tp_store_size(store), LIMIT);
	ck_assert_uint_ge(tp_store_size(store), LIMIT - 2 * LAYOUT_BLOCK_FULL);
	finish(store);
	struct tp_trace trace;
	load(&trace);
	ck_assert(!trace.is_partial); /* it was closed; the missing part is a gap */
	const struct tp_gap *gap = stop_gap(&trace);
	ck_assert_uint_eq(gap->start_ns, until_ns - STORY_STARTED_NS);
	ck_assert_uint_eq(gap->end_ns, trace.end_ns);
	ck_assert_str_eq(tp_trace_string(&trace, gap->reason), err.text);
	ck_assert_uint_gt(gap->n_lost, PARTS / 10);
	tp_trace_release(&trace);
}
END_TEST

/* Mounts a small file system, which ends with the test's process. */
static bool mount_small(const char *size)
{
	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("small", directory, "tmpfs", 0, size) != 0) {
		test_skip("mounting a small file system needs root");
		return false;
	}
	return true;
}

/* Takes all that is left of the small file system; returns the path. */
static char *fill_disk(void)
{
	static const char page[4096];
	char *path = tp_asprintf("%s/filler", directory);
	int fd = open(path, O_WRONLY | O_CREAT, 0600);
	while (write(fd, page, sizeof(page)) > 0)
		;
	close(fd);
	return path;
}

START_TEST(a_full_disk_stops_recording_and_leaves_room_for_manifest_and_report)
{
	if (!mount_small("size=3m"))
		return;
	struct tp_store *store = create(UINT64_MAX);
	story_emit(tp_store_sink(store), 0, 400000);
	uint64_t until_ns = 0;
	struct tp_error err = {0};
	tp_store_end(store);
	ck_assert(tp_store_has_stopped(store, &until_ns, &err));
	ck_assert_str_eq(err.text, "no space left on device");
	free(fill_disk()); /* the target takes the remaining space */
	finish(store);
	char *report = tp_alloc(900000);
	char *path = tp_asprintf("%s/report.json", recording);
	ck_assert_int_eq(tp_file_replace(path, report, 900000, NULL), TP_OK);
	free(path);
	free(report);
	struct tp_trace trace;
	load(&trace);
	ck_assert(!trace.is_partial);
	ck_assert_uint_gt(trace.n_runs, 1000);
	ck_assert_str_eq(tp_trace_string(&trace, stop_gap(&trace)->reason),
			 "no space left on device");
	tp_trace_release(&trace);
}
END_TEST

/* A tenth of a millisecond lies between two samples, so that half a second is more than a page. */
enum { TICK_NS = 100000, PER_MS = 10 };

static void put_samples(struct tp_sink *sink, uint64_t from_ms, uint64_t to_ms, uint32_t stack)
{
	for (uint64_t tick = from_ms * PER_MS; tick < to_ms * PER_MS; tick++) {
		struct tp_sample sample = {.task = 0, .syscall = -1, .stack = stack};
		sample.time_ns = STORY_STARTED_NS + tick * TICK_NS;
		tp_sink_sample(sink, &sample);
	}
}

static uint32_t put_stack(struct tp_sink *sink, const char *function)
{
	struct tp_frame frame = {.kind = TP_FRAME_NATIVE};
	frame.symbol = tp_sink_string(sink, function);
	uint32_t id = tp_sink_frame(sink, &frame);
	return tp_sink_stack(sink, &id, 1, 0);
}

/* The disk is full from 1000 ms to 3000 ms. */
START_TEST(on_a_disk_that_is_freed_recording_goes_on)
{
	if (!mount_small("size=3m"))
		return;
	struct tp_store *store = create(UINT64_MAX);
	struct tp_sink *sink = tp_store_sink(store);
	tp_store_wait_for_room(store);
	const struct tp_task task = {.tid = 1, .pid = 1, .parent = TP_NO_TASK};
	tp_sink_task(sink, &task);
	put_samples(sink, 1, 500, put_stack(sink, "before"));
	tp_store_flush(store);
	char *filler = fill_disk();
	put_samples(sink, 500, 1000, put_stack(sink, "before"));
	tp_store_flush(store); /* does not fit, and waits */
	uint32_t during = put_stack(sink, "during");
	put_samples(sink, 1000, 2000, during);
	tp_store_flush(store);
	put_samples(sink, 2000, 3000, during);
	ck_assert(!tp_store_has_stopped(store, &(uint64_t){0}, NULL));
	remove(filler);
	free(filler);
	tp_store_flush(store);
	put_samples(sink, 3000, 4000, during);
	finish(store);
	struct tp_trace trace;
	load(&trace);
	ck_assert(!trace.is_partial);
	ck_assert_uint_eq(trace.n_samples, (999 + 1000) * PER_MS);
	ck_assert_uint_eq(tp_trace_n_lost(&trace), 2000 * PER_MS);
	const struct tp_stack *last =
		tp_trace_stack(&trace, trace.samples[trace.n_samples - 1].stack);
	ck_assert_str_eq(tp_trace_string(&trace, trace.frames[last->frames[0]].symbol), "during");
	ck_assert_uint_eq(trace.n_timed_gaps, 1);
	ck_assert_str_eq(trace.timed_gaps[0].reason, "the disk was full");
	ck_assert_uint_eq(trace.timed_gaps[0].start_ns, 1000 * 1000000ULL - TICK_NS);
	ck_assert_uint_eq(trace.timed_gaps[0].end_ns, 3000 * 1000000ULL - TICK_NS);
	/* Time of which nothing is known is no time of the program. */
	ck_assert_uint_eq(trace.left_out_ns[TP_STOP_DISK_FULL], 2000 * 1000000ULL);
	tp_trace_release(&trace);
}
END_TEST

/* Definitions wait, too; there is an end to that. */
START_TEST(on_a_disk_that_stays_full_recording_ends_and_counts_what_is_lost)
{
	enum { N_STACKS = 200000 };
	if (!mount_small("size=3m"))
		return;
	struct tp_store *store = create(UINT64_MAX);
	struct tp_sink *sink = tp_store_sink(store);
	tp_store_wait_for_room(store);
	const struct tp_task task = {.tid = 1, .pid = 1, .parent = TP_NO_TASK};
	tp_sink_task(sink, &task);
	put_samples(sink, 1, 500, put_stack(sink, "before"));
	tp_store_flush(store);
	free(fill_disk());
	put_samples(sink, 500, 1000, 1);
	tp_store_flush(store);
	char name[40];
	uint64_t until_ns = 0;
	int n = 0;
	for (; n < N_STACKS && !tp_store_has_stopped(store, &until_ns, NULL); n++) {
		snprintf(name, sizeof(name), "a function with the number %d", n);
		put_samples(sink, 1000 + (uint64_t)n, 1001 + (uint64_t)n, put_stack(sink, name));
	}
	ck_assert_int_lt(n, N_STACKS);
	ck_assert_uint_eq(until_ns, STORY_STARTED_NS + 500 * 1000000ULL - TICK_NS);
	finish(store);
	struct tp_trace trace;
	load(&trace);
	ck_assert_uint_eq(trace.n_samples, 499 * PER_MS);
	/* A string, a frame and a stack for the samples of each turn of the loop. */
	ck_assert_uint_ge(tp_trace_n_lost(&trace), 500 * PER_MS + (PER_MS + 3) * (uint64_t)(n - 1));
	ck_assert_str_eq(tp_trace_string(&trace, stop_gap(&trace)->reason),
			 "no space left on device");
	tp_trace_release(&trace);
}
END_TEST

START_TEST(a_disk_without_room_for_a_recording_is_refused_and_left_clean)
{
	if (!mount_small("size=512k"))
		return;
	ck_assert_int_eq(chdir(directory), 0);
	refused("prof", TP_IO, "cannot write in '.': no space left on device",
		"trainprof run -o /tmp/prof -- …");
	ck_assert_int_eq(access("prof", F_OK), -1);
}
END_TEST

/* A write that stops in the middle of a block: the file-size limit causes one on any machine. */
START_TEST(half_a_block_is_taken_back)
{
	struct tp_store *store = create(UINT64_MAX);
	story_emit(tp_store_sink(store), 0, 100);
	tp_store_flush(store);
	uint64_t whole = tp_store_size(store);
	signal(SIGXFSZ, SIG_IGN);
	struct rlimit limit = {whole + 1000, RLIM_INFINITY};
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	story_emit(tp_store_sink(store), 100, 1000);
	tp_store_flush(store);
	uint64_t until_ns = 0;
	struct tp_error err = {0};
	ck_assert(tp_store_has_stopped(store, &until_ns, &err));
	ck_assert_str_eq(err.text, "file too large");
	ck_assert_uint_eq(tp_store_size(store), whole);
	char *path = tp_asprintf("%s/records.tpr", recording);
	struct stat st;
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq((uint64_t)st.st_size, whole);
	free(path);
	limit.rlim_cur = RLIM_INFINITY;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	finish(store);
	struct tp_trace trace;
	load(&trace);
	ck_assert_uint_eq(trace.n_tasks, 8);
	tp_trace_release(&trace);
}
END_TEST

START_TEST(the_file_size_limit_of_the_shell_is_kept_without_a_signal)
{
	struct rlimit limit = {400000, RLIM_INFINITY};
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	struct tp_store *store = create(UINT64_MAX);
	story_emit(tp_store_sink(store), 0, 100000);
	uint64_t until_ns;
	struct tp_error err = {0};
	ck_assert(tp_store_has_stopped(store, &until_ns, &err));
	ck_assert_str_eq(err.text, "size limit of 400000 bytes reached");
	ck_assert_uint_le(tp_store_size(store), 400000);
	finish(store);
	struct tp_trace trace;
	load(&trace);
	ck_assert_uint_gt(trace.n_runs, 1000);
	tp_trace_release(&trace);
}
END_TEST

/* Reads bytes of a file from `from` on into the caller's buffer. */
static size_t read_from(const char *path, off_t from, char *out, size_t size)
{
	int fd = open(path, O_RDONLY);
	ck_assert_int_ge(fd, 0);
	ssize_t got = pread(fd, out, size, from);
	close(fd);
	ck_assert_int_ge(got, 0);
	return (size_t)got;
}

static void write_until_killed(void)
{
	struct tp_store *store;
	if (tp_store_create(&store, recording, story_run(), UINT64_MAX, NULL))
		_exit(1);
	for (uint64_t part = 0;; part++)
		story_emit(tp_store_sink(store), part, part + 1);
}

START_TEST(a_killed_writer_leaves_all_that_reached_the_disk)
{
	enum { LARGE = 8 << 20 };
	char *path = tp_asprintf("%s/records.tpr", recording);
	pid_t child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0)
		write_until_killed();
	struct stat st = {0};
	while (st.st_size < 1000000 && waitpid(child, NULL, WNOHANG) == 0) {
		usleep(1000);
		if (stat(path, &st) != 0)
			st.st_size = 0;
	}
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	struct tp_trace trace;
	load(&trace);
	ck_assert(trace.is_partial);
	ck_assert_int_eq(trace.run.end, TP_END_UNKNOWN);
	ck_assert_uint_gt(trace.n_runs, 10000);
	ck_assert_uint_eq(trace.n_tasks, 8);
	tp_trace_release(&trace);

	/* The same story up to its end: the killed writer's file is the beginning of this one. */
	char *killed = tp_alloc(LARGE);
	size_t n_killed = read_from(path, HEADER_BYTES, killed, LARGE);
	free(path);
	free(recording);
	recording = tp_asprintf("%s/whole", directory);
	struct tp_store *store = create(UINT64_MAX);
	for (uint64_t part = 0; tp_store_size(store) < HEADER_BYTES + n_killed; part++)
		story_emit(tp_store_sink(store), part, part + 1);
	finish(store);
	path = tp_asprintf("%s/records.tpr", recording);
	char *whole = tp_alloc(LARGE);
	ck_assert_uint_ge(read_from(path, HEADER_BYTES, whole, LARGE), n_killed);
	ck_assert_mem_eq(whole, killed, n_killed);
	free(path);
	free(killed);
	free(whole);
}
END_TEST

Suite *suite_store_writer(void);
Suite *suite_store_writer(void)
{
	Suite *suite = suite_create("store/writer");
	TCase *tc = tcase_create("writer");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_recording_reads_back_as_written);
	tcase_add_test(tc, only_the_owner_may_read_a_recording);
	tcase_add_test(tc, only_manifest_and_records_are_left);
	tcase_add_test(tc, the_first_manifest_says_that_the_end_is_unknown);
	tcase_add_test(tc, an_existing_recording_is_never_overwritten);
	tcase_add_test(tc, existing_files_that_are_no_recording_are_left_alone);
	tcase_add_test(tc, an_unwritable_place_is_named_with_a_way_out);
	tcase_add_test(tc, stacks_of_a_long_run_read_back);
	tcase_add_test(tc, at_its_size_limit_a_recording_stops_and_stays_whole);
	tcase_add_test(tc, a_full_disk_stops_recording_and_leaves_room_for_manifest_and_report);
	tcase_add_test(tc, on_a_disk_that_is_freed_recording_goes_on);
	tcase_add_test(tc, on_a_disk_that_stays_full_recording_ends_and_counts_what_is_lost);
	tcase_add_test(tc, a_disk_without_room_for_a_recording_is_refused_and_left_clean);
	tcase_add_test(tc, half_a_block_is_taken_back);
	tcase_add_test(tc, the_file_size_limit_of_the_shell_is_kept_without_a_signal);
	tcase_add_test(tc, a_killed_writer_leaves_all_that_reached_the_disk);
	suite_add_tcase(suite, tc);
	return suite;
}
