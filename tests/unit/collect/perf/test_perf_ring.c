/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of perf rings and their merge, with rings in ordinary memory that are written as the kernel
 * writes them. */
#include "collect/perf/perf_decode.h"
#include "collect/perf/perf_ring.h"

#include <check.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

enum { RING_BYTES = 4096, N_RINGS = 5 };

/* The kernel's side of a ring. */
struct fake {
	struct perf_event_mmap_page page;
	_Alignas(8) uint8_t data[RING_BYTES];
	uint64_t time_ns;
	uint64_t n_written;
};

static struct fake fakes[N_RINGS];
static struct tp_perf_ring rings[N_RINGS];
static struct tp_perf_ring_merge merge;

static void setup(void)
{
	memset(fakes, 0, sizeof(fakes));
	for (int i = 0; i < N_RINGS; i++)
		tp_perf_ring_init(&rings[i], &fakes[i].page, fakes[i].data, RING_BYTES);
	tp_perf_ring_merge_init(&merge, rings, N_RINGS);
}

static void teardown(void)
{
	tp_perf_ring_merge_release(&merge);
	for (int i = 0; i < N_RINGS; i++)
		tp_perf_ring_unmap(&rings[i]);
}

static void put(struct fake *fake, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		fake->data[(fake->page.data_head + i) % RING_BYTES] = ((const uint8_t *)bytes)[i];
	__atomic_store_n(&fake->page.data_head, fake->page.data_head + size, __ATOMIC_RELEASE);
}

/* Writes a record of `n_words` filler words, with its number in the first one; false = ring
 * full. */
static bool write_record(struct fake *fake, uint64_t time_ns, size_t n_words)
{
	uint64_t words[64] = {0};
	struct perf_event_header header = {.type = PERF_RECORD_LOST_SAMPLES};
	size_t size = (1 + n_words + 3) * sizeof(uint64_t);
	if (fake->page.data_head + size - fake->page.data_tail > RING_BYTES)
		return false;
	header.size = (uint16_t)size;
	memcpy(words, &header, sizeof(header));
	words[n_words] = fake->n_written++;
	words[1 + n_words + 1] = time_ns;
	put(fake, words, size);
	return true;
}

/* Returns the record's number within its ring, and its time. */
static uint64_t decode(const void *bytes, size_t size, uint64_t *time_ns)
{
	static const struct tp_perf_layout layout;
	struct tp_perf_record record;
	ck_assert(tp_perf_record_decode(&record, bytes, size, &layout));
	*time_ns = record.time_ns;
	return record.of.n_lost;
}

START_TEST(random_rings_come_out_complete_and_in_order)
{
	unsigned seed = (unsigned)_i * 7919 + 1;
	uint64_t expected[N_RINGS] = {0};
	uint64_t now_ns = 1000;
	uint64_t last_ns = 0;
	uint64_t n_taken = 0;
	for (int round = 0; round < 400; round++) {
		for (int k = 0; k < 30; k++) {
			struct fake *fake = &fakes[rand_r(&seed) % N_RINGS];
			now_ns += (uint64_t)(rand_r(&seed) % 50);
			if (fake->time_ns < now_ns)
				fake->time_ns = now_ns;
			write_record(fake, fake->time_ns, 1 + (size_t)(rand_r(&seed) % 40));
		}
		bool is_last = round == 399;
		uint64_t horizon_ns = is_last ? UINT64_MAX : now_ns - 200;
		size_t limit = is_last ? SIZE_MAX : (size_t)(rand_r(&seed) % 60);
		tp_perf_ring_merge_refresh(&merge);
		const void *bytes;
		size_t size;
		size_t ring;
		while (limit-- &&
		       (bytes = tp_perf_ring_merge_next(&merge, horizon_ns, &size, &ring))) {
			uint64_t time_ns;
			ck_assert_uint_eq(decode(bytes, size, &time_ns), expected[ring]++);
			ck_assert_uint_ge(time_ns, last_ns);
			ck_assert_uint_le(time_ns, horizon_ns);
			last_ns = time_ns;
			n_taken++;
		}
		tp_perf_ring_merge_consume(&merge);
	}
	uint64_t n_written = 0;
	for (int i = 0; i < N_RINGS; i++) {
		n_written += fakes[i].n_written;
		ck_assert_uint_eq(fakes[i].page.data_tail, fakes[i].page.data_head);
		ck_assert_uint_eq(rings[i].n_broken, 0);
	}
	ck_assert_uint_eq(n_taken, n_written);
	ck_assert_uint_gt(n_taken, 3000);
}
END_TEST

START_TEST(ring_whose_time_runs_backwards_keeps_its_own_order)
{
	write_record(&fakes[0], 100, 1);
	write_record(&fakes[0], 90, 1); /* written by an interrupt inside the first */
	write_record(&fakes[1], 95, 1);
	tp_perf_ring_merge_refresh(&merge);
	size_t size;
	size_t ring;
	size_t order[3];
	for (int i = 0; i < 3; i++) {
		ck_assert_ptr_nonnull(tp_perf_ring_merge_next(&merge, UINT64_MAX, &size, &ring));
		order[i] = ring;
	}
	ck_assert_uint_eq(order[0], 1);
	ck_assert_uint_eq(order[1], 0);
	ck_assert_uint_eq(order[2], 0);
	ck_assert_ptr_null(tp_perf_ring_merge_next(&merge, UINT64_MAX, &size, &ring));
}
END_TEST

static void note_ahead(void *context, const void *bytes, size_t size)
{
	uint64_t *next = context;
	uint64_t time_ns;
	ck_assert_uint_eq(decode(bytes, size, &time_ns), (*next)++);
}

/* Also across the end of the ring, and after the buffer for that was allocated. */
START_TEST(what_was_looked_at_ahead_is_still_taken)
{
	uint64_t n_taken = 0;
	for (int round = 0; round < 60; round++) {
		size_t size;
		uint64_t time_ns;
		uint64_t next = n_taken;
		const void *bytes;
		for (int i = 0; i < 5; i++)
			ck_assert(write_record(&fakes[0], (uint64_t)round, 21));
		tp_perf_ring_peek(&rings[0], 3, note_ahead, &next);
		ck_assert_uint_eq(next, n_taken + 3);
		next = n_taken;
		tp_perf_ring_peek(&rings[0], 100, note_ahead, &next);
		ck_assert_uint_eq(next, n_taken + 5);
		(void)tp_perf_ring_refresh(&rings[0]);
		while ((bytes = tp_perf_ring_next(&rings[0], &size)))
			ck_assert_uint_eq(decode(bytes, size, &time_ns), n_taken++);
		ck_assert_uint_eq(n_taken, next);
		tp_perf_ring_consume(&rings[0]);
	}
}
END_TEST

START_TEST(nothing_is_taken_beyond_the_horizon)
{
	write_record(&fakes[0], 100, 1);
	write_record(&fakes[1], 50, 1);
	tp_perf_ring_merge_refresh(&merge);
	size_t size;
	size_t ring;
	ck_assert_ptr_nonnull(tp_perf_ring_merge_next(&merge, 99, &size, &ring));
	ck_assert_uint_eq(ring, 1);
	ck_assert_ptr_null(tp_perf_ring_merge_next(&merge, 99, &size, &ring));
	ck_assert_ptr_nonnull(tp_perf_ring_merge_next(&merge, 100, &size, &ring));
}
END_TEST

START_TEST(room_is_given_back_only_when_told)
{
	while (write_record(&fakes[0], 1, 10))
		;
	tp_perf_ring_merge_refresh(&merge);
	ck_assert_double_gt(merge.fill, 0.95);
	size_t size;
	size_t ring;
	while (tp_perf_ring_merge_next(&merge, UINT64_MAX, &size, &ring))
		;
	ck_assert_uint_eq(fakes[0].page.data_tail, 0);
	ck_assert(!write_record(&fakes[0], 1, 10));
	tp_perf_ring_merge_consume(&merge);
	ck_assert(write_record(&fakes[0], 1, 10));
}
END_TEST

START_TEST(broken_bytes_are_dropped_and_the_ring_goes_on)
{
	static const uint16_t sizes[] = {0, 4, 12, 7, 4000};
	struct perf_event_header header = {.type = PERF_RECORD_SAMPLE};
	header.size = sizes[_i];
	put(&fakes[0], &header, sizeof(header));
	put(&fakes[0], &header, sizeof(header));
	write_record(&fakes[1], 5, 1);
	tp_perf_ring_merge_refresh(&merge);
	size_t size;
	size_t ring;
	ck_assert_ptr_nonnull(tp_perf_ring_merge_next(&merge, UINT64_MAX, &size, &ring));
	ck_assert_uint_eq(ring, 1);
	ck_assert_uint_eq(rings[0].n_broken, 1);
	tp_perf_ring_merge_consume(&merge);
	write_record(&fakes[0], 6, 1);
	tp_perf_ring_merge_refresh(&merge);
	ck_assert_ptr_nonnull(tp_perf_ring_merge_next(&merge, UINT64_MAX, &size, &ring));
	ck_assert_uint_eq(ring, 0);
}
END_TEST

START_TEST(head_that_jumps_is_no_reason_to_read_outside)
{
	fakes[0].page.data_head = UINT64_MAX / 2;
	tp_perf_ring_merge_refresh(&merge);
	size_t size;
	size_t ring;
	ck_assert_ptr_null(tp_perf_ring_merge_next(&merge, UINT64_MAX, &size, &ring));
	ck_assert_uint_eq(rings[0].n_broken, 1);
}
END_TEST

Suite *suite_collect_perf_ring(void);
Suite *suite_collect_perf_ring(void)
{
	Suite *suite = suite_create("collect/perf_merge");
	TCase *tc = tcase_create("perf_merge");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, random_rings_come_out_complete_and_in_order, 0, 20);
	tcase_add_test(tc, ring_whose_time_runs_backwards_keeps_its_own_order);
	tcase_add_test(tc, what_was_looked_at_ahead_is_still_taken);
	tcase_add_test(tc, nothing_is_taken_beyond_the_horizon);
	tcase_add_test(tc, room_is_given_back_only_when_told);
	tcase_add_loop_test(tc, broken_bytes_are_dropped_and_the_ring_goes_on, 0, 5);
	tcase_add_test(tc, head_that_jumps_is_no_reason_to_read_outside);
	suite_add_tcase(suite, tc);
	return suite;
}
