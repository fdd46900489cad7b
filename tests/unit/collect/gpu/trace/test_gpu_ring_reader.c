/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the reader of a GPU ring: complete data is read, anything else is refused. */
#include "collect/gpu/trace/gpu_ring_reader.h"

#include "collect/scriptring.h"

#include <check.h>
#include <signal.h>
#include <sys/wait.h>

enum { EVENTS = 8 };

static char directory[] = "/tmp/tp-gpufile-XXXXXX";
static struct ring_writer writer;
static struct tp_gpu_ring_reader file;
static struct tp_error err;
static struct tp_gpu_event seen[64];
static size_t n_seen;

static void setup(void)
{
	strcpy(directory + strlen(directory) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert(ring_begin(&writer, directory, 0, EVENTS));
	file.fd = -1;
	n_seen = 0;
}

static void teardown(void)
{
	tp_gpu_ring_reader_close(&file);
	unlink(writer.path);
	if (writer.header)
		ring_end(&writer);
	ck_assert_int_eq(rmdir(directory), 0);
}

static void see(void *context, const struct tp_gpu_event *event)
{
	(void)context;
	ck_assert_uint_lt(n_seen, 64);
	seen[n_seen++] = *event;
}

static void open_it(void)
{
	ck_assert_msg(!tp_gpu_ring_reader_open(&file, writer.path, &err), "%s", err.text);
}

static size_t take(size_t most)
{
	ck_assert(tp_gpu_ring_reader_refresh(&file));
	return tp_gpu_ring_reader_drain(&file, most, see, NULL);
}

static void put(uint32_t id)
{
	ring_event(&writer, &(struct tp_gpu_event){.type = TP_GPU_EVENT_KERNEL, .id = id});
}

START_TEST(events_come_in_order_and_their_room_is_given_back)
{
	open_it();
	ck_assert_uint_eq(take(100), 0);
	for (uint32_t i = 0; i < 30; i++) {
		put(i);
		if (i % 5 == 4)
			ck_assert_uint_eq(take(100), 5);
	}
	ck_assert_uint_eq(n_seen, 30);
	for (uint32_t i = 0; i < 30; i++)
		ck_assert_uint_eq(seen[i].id, i);
	ck_assert_uint_eq(writer.header->tail, 30);
	ck_assert_uint_eq(writer.header->n_dropped[TP_GPU_EVENT_KERNEL], 0);
}
END_TEST

START_TEST(a_call_takes_no_more_than_it_is_asked_for)
{
	open_it();
	for (uint32_t i = 0; i < EVENTS; i++)
		put(i);
	ck_assert_uint_eq(take(3), 3);
	ck_assert_uint_eq(tp_gpu_ring_reader_n_left(&file), EVENTS - 3);
	ck_assert_uint_eq(take(100), EVENTS - 3);
	ck_assert_uint_eq(tp_gpu_ring_reader_n_left(&file), 0);
}
END_TEST

/* head + dropped - LOST events = events made, as the ring guarantees. */
START_TEST(what_found_no_room_is_told_by_number)
{
	open_it();
	for (uint32_t i = 0; i < EVENTS + 5; i++)
		put(i);
	ck_assert_uint_eq(take(100), EVENTS);
	put(99);
	ck_assert_uint_eq(take(100), 2);
	ck_assert_uint_eq(seen[EVENTS].type, TP_GPU_EVENT_LOST);
	ck_assert_uint_eq(seen[EVENTS].x, 5);
	ck_assert_uint_eq(seen[EVENTS + 1].id, 99);
	ck_assert_uint_eq(file.header.n_dropped[TP_GPU_EVENT_KERNEL], 5);
}
END_TEST

START_TEST(names_and_places_are_found_and_ids_beyond_them_are_not)
{
	size_t length;
	uint32_t first = ring_name(&writer, "gemm");
	uint32_t second = ring_name(&writer, "a name that is longer than eight bytes");
	uint16_t place = ring_place(&writer, 3, 7);
	open_it();
	put(first);
	take(100);
	ck_assert(!memcmp(tp_gpu_ring_reader_name(&file, first, &length), "gemm", 4));
	ck_assert_uint_eq(length, 4);
	ck_assert(!memcmp(tp_gpu_ring_reader_name(&file, second, &length), "a name that", 11));
	ck_assert_uint_eq(length, 38);
	static const uint32_t wrong[] = {0, 999999, UINT32_MAX, 100};
	for (size_t i = 0; i < 4; i++)
		ck_assert_ptr_null(tp_gpu_ring_reader_name(&file, wrong[i], &length));
	ck_assert_uint_eq(length, 0);
	ck_assert_uint_eq(tp_gpu_ring_reader_place(&file, place)->device, 3);
	ck_assert_uint_eq(tp_gpu_ring_reader_place(&file, place)->stream, 7);
	ck_assert_ptr_null(tp_gpu_ring_reader_place(&file, 0));
	ck_assert_ptr_null(tp_gpu_ring_reader_place(&file, (uint16_t)(place + 1)));
	/* Tables grow while the ring is read. */
	uint32_t third = ring_name(&writer, "late");
	take(100);
	ck_assert(!memcmp(tp_gpu_ring_reader_name(&file, third, &length), "late", 4));
}
END_TEST

START_TEST(a_name_that_reaches_out_of_its_table_is_none)
{
	size_t length;
	uint32_t id = ring_name(&writer, "gemm");
	uint32_t wild = 4000;
	memcpy(writer.file + writer.header->names_at, &wild, sizeof(wild));
	open_it();
	take(100);
	ck_assert_ptr_null(tp_gpu_ring_reader_name(&file, id, &length));
}
END_TEST

START_TEST(clock_pairs_that_were_overwritten_are_left_out)
{
	open_it();
	for (uint64_t i = 1; i <= RING_CLOCKS + 4; i++)
		ring_clock_at(&writer, i * 1000, i);
	take(100);
	/* All slots except the one that may be written next. */
	ck_assert_uint_eq(file.clocks.n, RING_CLOCKS - 1);
	ck_assert_uint_eq(file.clocks.pairs[0].cupti_ns, 6);
	ring_clock_at(&writer, 77000, 77);
	take(100);
	ck_assert_uint_eq(file.clocks.n, RING_CLOCKS);
	ck_assert_uint_eq(file.clocks.pairs[RING_CLOCKS - 1].host_ns, 77000);
}
END_TEST

/* ---- creation and versions ---- */

START_TEST(a_ring_without_contents_is_tried_again)
{
	writer.header->magic = 0;
	ck_assert_int_eq(tp_gpu_ring_reader_open(&file, writer.path, &err), TP_ABSENT);
	ck_assert_int_eq(truncate(writer.path, 100), 0);
	ck_assert_int_eq(tp_gpu_ring_reader_open(&file, writer.path, &err), TP_ABSENT);
	ck_assert_int_eq(truncate(writer.path, 0), 0);
	ck_assert_int_eq(tp_gpu_ring_reader_open(&file, writer.path, &err), TP_ABSENT);
	ck_assert_int_eq(truncate(writer.path, 1 << 16),
			 0); /* restored, because the writer's own mapping is still used */
}
END_TEST

START_TEST(another_major_version_is_refused_by_its_number)
{
	writer.header->major = 2;
	ck_assert_int_eq(tp_gpu_ring_reader_open(&file, writer.path, &err), TP_VERSION);
	ck_assert_str_eq(err.text, "the GPU agent writes version 2.2 of its ring, known is 1");
}
END_TEST

START_TEST(a_newer_minor_version_with_longer_events_is_read)
{
	struct tp_gpu_ring_header *h = writer.header;
	h->minor = 7;
	h->event_bytes = 64;
	h->n_events = 4;
	open_it();
	put(1);
	put(2);
	ck_assert_uint_eq(take(100), 2);
	ck_assert_uint_eq(seen[0].id, 1);
	ck_assert_uint_eq(seen[1].id, 2);
	h->event_bytes = 32;
	h->n_events = EVENTS;
}
END_TEST

/* ---- damage ---- */

enum wound { N_EVENTS, EVENT_BYTES, NAMES_BYTES, CLOCKS, HEADER_BYTES, MAGIC, N_WOUNDS };

static void wound(enum wound what)
{
	struct tp_gpu_ring_header *h = writer.header;
	switch (what) {
	case N_EVENTS:
		h->n_events = 7;
		break;
	case EVENT_BYTES:
		h->event_bytes = 8;
		break;
	case NAMES_BYTES:
		h->names_bytes = UINT32_MAX;
		break;
	case CLOCKS:
		h->n_clocks = 0;
		break;
	case HEADER_BYTES:
		h->header_bytes = 16;
		break;
	default:
		h->magic = 12345;
		break;
	}
}

START_TEST(sizes_that_cannot_be_are_refused)
{
	struct tp_gpu_ring_header good = *writer.header;
	wound((enum wound)_i);
	ck_assert_int_eq(tp_gpu_ring_reader_open(&file, writer.path, &err), TP_PARSE);
	*writer.header = good;
}
END_TEST

enum { HEAD_BACK, HEAD_FAR, NAMES_FAR, NAMES_BACK, PLACES_FAR, N_DAMAGES };

START_TEST(damage_ends_the_reading_for_ever)
{
	struct tp_gpu_ring_header *h = writer.header;
	ring_name(&writer, "gemm");
	open_it();
	put(1);
	put(2);
	ck_assert_uint_eq(take(100), 2);
	if (_i == HEAD_BACK || _i == HEAD_FAR)
		h->head = _i == HEAD_BACK ? 1 : 2 + EVENTS + 1;
	else if (_i == PLACES_FAR)
		h->n_places = RING_PLACES + 1;
	else
		h->n_name_bytes = _i == NAMES_BACK ? 0 : RING_NAME_BYTES + 8;
	ck_assert(!tp_gpu_ring_reader_refresh(&file));
	ck_assert(file.is_damaged);
	h->head = 3;
	h->n_places = 0;
	h->n_name_bytes = 16;
	ck_assert(!tp_gpu_ring_reader_refresh(&file));
	ck_assert_uint_eq(tp_gpu_ring_reader_drain(&file, 100, see, NULL), 0);
}
END_TEST

/* Reading through a mapping would raise SIGBUS here. */
START_TEST(a_file_that_was_cut_is_damaged_and_nothing_else)
{
	open_it();
	put(1);
	ck_assert_int_eq(truncate(writer.path, (off_t)writer.header->events_at + 8), 0);
	ck_assert(tp_gpu_ring_reader_refresh(&file));
	ck_assert_uint_eq(tp_gpu_ring_reader_drain(&file, 100, see, NULL), 0);
	ck_assert(file.is_damaged);
}
END_TEST

/* The writer is killed while it writes as fast as it can: everything before head is complete. */
START_TEST(after_the_writers_death_all_that_it_finished_is_there)
{
	open_it();
	pid_t pid = fork();
	if (!pid)
		for (uint32_t i = 0;; i++)
			put(i + 1);
	ck_assert_int_gt(pid, 0);
	for (size_t n = 0; n < (size_t)1000 * (_i + 1);) {
		n_seen = 0;
		ck_assert(tp_gpu_ring_reader_refresh(&file));
		n += tp_gpu_ring_reader_drain(&file, EVENTS, see, NULL);
		for (size_t i = 0; i < n_seen; i++)
			ck_assert(seen[i].type == TP_GPU_EVENT_KERNEL
					  ? seen[i].id
					  : seen[i].type == TP_GPU_EVENT_LOST);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	n_seen = 0;
	take(100);
	ck_assert_uint_eq(file.head, writer.header->head);
	ck_assert_uint_eq(tp_gpu_ring_reader_n_left(&file), 0);
	ck_assert_uint_gt(file.head, 0);
}
END_TEST

/* ---- torn writes ---- */

enum { TEARS = 4000 };

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Overwrites bytes in a way that no writer does: half of the tears hit the header, most of which is
 * constant. */
static void tear(char *bytes, size_t size, uint64_t *random)
{
	size_t n = 1 + random_next(random) % 8;
	size_t within = random_next(random) % 2 ? sizeof(struct tp_gpu_ring_header) : size;
	size_t at = random_next(random) % (within - n);
	for (size_t i = 0; i < n; i++)
		bytes[at + i] = (char)(random_next(random) % 3 ? random_next(random) : 0xff);
}

static void count(void *context, const struct tp_gpu_event *event)
{
	(void)event;
	++*(uint64_t *)context;
}

/* Reads twice, because a file may be torn again while it is read. Returns false if it was
 * refused. */
static bool read_torn(char *bytes, size_t size, uint64_t *random)
{
	uint64_t n_taken = 0;
	size_t length;
	if (tp_gpu_ring_reader_open(&file, writer.path, &err) != TP_OK)
		return false;
	for (int i = 0; i < 2; i++) {
		if (tp_gpu_ring_reader_refresh(&file))
			tp_gpu_ring_reader_drain(&file, SIZE_MAX, count, &n_taken);
		for (uint32_t id = 0; id < 64; id++) {
			(void)tp_gpu_ring_reader_name(&file, id, &length);
			(void)tp_gpu_ring_reader_place(&file, id);
		}
		tear(bytes, size, random);
	}
	ck_assert_uint_le(n_taken, 2 * (uint64_t)file.header.n_events);
	tp_gpu_ring_reader_close(&file);
	return true;
}

START_TEST(whatever_is_torn_the_reading_ends)
{
	uint64_t random = 88172645463325252u;
	const size_t size = writer.header->events_at + EVENTS * sizeof(struct tp_gpu_event);
	char *good = malloc(size);
	int n_read = 0;
	ring_name(&writer, "gemm");
	ring_place(&writer, 1, 7);
	ring_clock(&writer);
	for (uint32_t i = 0; i < EVENTS; i++)
		put(i);
	memcpy(good, writer.file, size);
	for (int i = 0; i < TEARS; i++) {
		memcpy(writer.file, good, size);
		tear(writer.file, size, &random);
		n_read += read_torn(writer.file, size, &random);
	}
	memcpy(writer.file, good, size);
	free(good);
	/* Some files were refused, but not all. */
	ck_assert_int_gt(n_read, TEARS / 10);
	ck_assert_int_lt(n_read, TEARS);
}
END_TEST

START_TEST(what_is_wanted_reaches_the_agent)
{
	open_it();
	tp_gpu_ring_reader_request(&file, TP_GPU_REQUEST_IDLE);
	ck_assert_uint_eq(writer.header->wanted, TP_GPU_REQUEST_IDLE);
	tp_gpu_ring_reader_request(&file, TP_GPU_REQUEST_EVENTS);
	ck_assert_uint_eq(writer.header->wanted, TP_GPU_REQUEST_EVENTS);
}
END_TEST

Suite *suite_collect_gpu_ring_reader(void);
Suite *suite_collect_gpu_ring_reader(void)
{
	Suite *suite = suite_create("collect/gpufile");
	TCase *tc = tcase_create("gpufile");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, events_come_in_order_and_their_room_is_given_back);
	tcase_add_test(tc, a_call_takes_no_more_than_it_is_asked_for);
	tcase_add_test(tc, what_found_no_room_is_told_by_number);
	tcase_add_test(tc, names_and_places_are_found_and_ids_beyond_them_are_not);
	tcase_add_test(tc, a_name_that_reaches_out_of_its_table_is_none);
	tcase_add_test(tc, clock_pairs_that_were_overwritten_are_left_out);
	tcase_add_test(tc, a_ring_without_contents_is_tried_again);
	tcase_add_test(tc, another_major_version_is_refused_by_its_number);
	tcase_add_test(tc, a_newer_minor_version_with_longer_events_is_read);
	tcase_add_loop_test(tc, sizes_that_cannot_be_are_refused, 0, N_WOUNDS);
	tcase_add_loop_test(tc, damage_ends_the_reading_for_ever, 0, N_DAMAGES);
	tcase_add_test(tc, a_file_that_was_cut_is_damaged_and_nothing_else);
	tcase_add_loop_test(tc, after_the_writers_death_all_that_it_finished_is_there, 0, 4);
	tcase_add_test(tc, whatever_is_torn_the_reading_ends);
	tcase_add_test(tc, what_is_wanted_reaches_the_agent);
	suite_add_tcase(suite, tc);
	return suite;
}
