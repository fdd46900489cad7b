/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of decoding perf records: hand-written, truncated and random bytes. */
#include "collect/perf/perf_decode.h"
#include "collect/perf_bytes.h"

#include <check.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const struct tp_perf_layout full = {.has_chain = true, .has_stack = true};

static bool end(struct tp_perf_record *out, const struct tp_perf_layout *layout)
{
	seal();
	return tp_perf_record_decode(out, record.data, record.size, layout);
}

START_TEST(switch_record_tells_direction_and_preemption)
{
	static const struct {
		uint16_t misc;
		bool is_out;
		bool is_preempted;
	} cases[] = {
		{0, false, false},
		{PERF_RECORD_MISC_SWITCH_OUT, true, false},
		{PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, true, true},
	};
	struct tp_perf_record out;
	begin(PERF_RECORD_SWITCH, cases[_i].misc);
	put_id(10, 11, 12345, 3);
	ck_assert(end(&out, &full));
	ck_assert_int_eq(out.pid, 10);
	ck_assert_int_eq(out.tid, 11);
	ck_assert_uint_eq(out.time_ns, 12345);
	ck_assert_uint_eq(out.cpu, 3);
	ck_assert_int_eq(out.of.change.is_out, cases[_i].is_out);
	ck_assert_int_eq(out.of.change.is_preempted, cases[_i].is_preempted);
}
END_TEST

START_TEST(switch_of_a_cpu_is_one_of_the_thread_that_is_on_it)
{
	struct tp_perf_record out;
	begin(PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT);
	put_u32(20); /* next task */
	put_u32(21);
	put_id(10, 11, 12345, 3);
	ck_assert(end(&out, &full));
	ck_assert_uint_eq(out.type, PERF_RECORD_SWITCH);
	ck_assert_int_eq(out.pid, 10);
	ck_assert_int_eq(out.tid, 11);
	ck_assert_uint_eq(out.time_ns, 12345);
	ck_assert(out.of.change.is_out);
	ck_assert(!out.of.change.is_preempted);
}
END_TEST

static void put_mapping(uint16_t misc)
{
	begin(PERF_RECORD_MMAP2, misc);
	put_u32(10);
	put_u32(11);
	put_u64(0x7f0000001000);
	put_u64(0x2000);
	put_u64(0x3000);
	put_u32(8);
	put_u32(1);
	put_u64(4711);
	put_u64(1);
	put_u32(PROT_READ | PROT_EXEC);
	put_u32(MAP_PRIVATE);
	put_text("/usr/lib/libc.so.6");
	put_id(10, 12, 99, 0);
}

START_TEST(mapping_is_of_the_process_that_maps)
{
	struct tp_perf_record out;
	put_mapping(0);
	ck_assert(end(&out, &full));
	ck_assert_int_eq(out.tid, 11);
	ck_assert_uint_eq(out.time_ns, 99);
	ck_assert_uint_eq(out.of.mapping.start, 0x7f0000001000);
	ck_assert_uint_eq(out.of.mapping.size, 0x2000);
	ck_assert_uint_eq(out.of.mapping.file_offset, 0x3000);
	ck_assert_uint_eq(out.of.mapping.inode, 4711);
	ck_assert_uint_eq(out.of.mapping.dev_major, 8);
	ck_assert(out.of.mapping.is_executable);
	ck_assert_str_eq(out.of.mapping.path, "/usr/lib/libc.so.6");
	put_mapping(PERF_RECORD_MISC_MMAP_BUILD_ID);
	ck_assert(end(&out, &full));
	ck_assert_uint_eq(out.of.mapping.inode, 0);
}
END_TEST

START_TEST(text_that_does_not_end_is_refused)
{
	struct tp_perf_record out;
	put_mapping(0);
	memset(record.data + 72, 'x', record.size - 72 - 24);
	ck_assert(!end(&out, &full));
	begin(PERF_RECORD_COMM, 0);
	put_u32(1);
	put_u32(1);
	put_u64(UINT64_MAX);
	put_id(1, 1, 5, 0);
	ck_assert(!end(&out, &full));
}
END_TEST

START_TEST(name_and_exec_are_told_apart)
{
	struct tp_perf_record out;
	for (int is_exec = 0; is_exec < 2; is_exec++) {
		begin(PERF_RECORD_COMM, is_exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
		put_u32(10);
		put_u32(11);
		put_text("python3");
		put_id(10, 11, 7, 1);
		ck_assert(end(&out, &full));
		ck_assert_str_eq(out.of.comm.name, "python3");
		ck_assert_int_eq(out.of.comm.is_exec, is_exec);
	}
}
END_TEST

START_TEST(fork_names_child_and_parent)
{
	struct tp_perf_record out;
	begin(PERF_RECORD_FORK, 0);
	put_u32(20);
	put_u32(10);
	put_u32(21);
	put_u32(11);
	put_u64(55);
	put_id(10, 11, 56, 0); /* the parent writes this record */
	ck_assert(end(&out, &full));
	ck_assert_int_eq(out.pid, 20);
	ck_assert_int_eq(out.tid, 21);
	ck_assert_int_eq(out.of.fork.parent_pid, 10);
	ck_assert_int_eq(out.of.fork.parent_tid, 11);
	ck_assert_uint_eq(out.time_ns, 56);
}
END_TEST

START_TEST(lost_records_are_counted)
{
	struct tp_perf_record out;
	begin(PERF_RECORD_LOST, 0);
	put_u64(3);
	put_u64(1000);
	put_id(10, 11, 56, 0);
	ck_assert(end(&out, &full));
	ck_assert_uint_eq(out.of.n_lost, 1000);
	begin(PERF_RECORD_LOST_SAMPLES, 0);
	put_u64(7);
	put_id(10, 11, 56, 0);
	ck_assert(end(&out, &full));
	ck_assert_uint_eq(out.of.n_lost, 7);
}
END_TEST

/* A sample with n_chain kernel addresses and `filled` of `reserved` stack bytes. */
static void put_sample(uint16_t mode, uint64_t n_chain, uint64_t abi, uint64_t reserved,
		       uint64_t filled)
{
	begin(PERF_RECORD_SAMPLE, mode);
	put_u64(0xabcd);
	put_id(10, 11, 777, 2);
	put_u64(n_chain);
	for (uint64_t i = 0; i < n_chain; i++)
		put_u64(0xffffffff81000000 + i);
	put_u64(abi);
	int n_regs = __builtin_popcountll(tp_perf_user_regs());
	for (int i = 0; abi && i < n_regs; i++)
		put_u64(0x1000 + (uint64_t)i);
	put_u64(reserved);
	for (uint64_t i = 0; i < reserved; i += 8)
		put_u64(i);
	if (reserved)
		put_u64(filled);
}

START_TEST(sample_holds_chain_registers_and_the_filled_part_of_the_stack)
{
	struct tp_perf_record out;
	put_sample(PERF_RECORD_MISC_KERNEL, 3, PERF_SAMPLE_REGS_ABI_64, 4096, 512);
	ck_assert(end(&out, &full));
	const struct tp_perf_sample *sample = &out.of.sample;
	ck_assert_uint_eq(sample->ip, 0xabcd);
	ck_assert_uint_eq(out.time_ns, 777);
	ck_assert_uint_eq(out.cpu, 2);
	ck_assert(sample->is_kernel && sample->has_regs);
	ck_assert_uint_eq(sample->n_chain, 3);
	ck_assert_uint_eq(sample->chain[2], 0xffffffff81000002);
	ck_assert_uint_eq(sample->stack_bytes, 512);
	ck_assert_uint_eq(((const uint64_t *)sample->stack)[1], 8);
#if defined(__x86_64__)
	ck_assert_uint_eq(sample->regs.bp, 0x1000);
	ck_assert_uint_eq(sample->regs.sp, 0x1001);
	ck_assert_uint_eq(sample->regs.ip, 0x1002);
#endif
}
END_TEST

START_TEST(sample_without_user_part_is_a_sample)
{
	struct tp_perf_record out;
	put_sample(PERF_RECORD_MISC_KERNEL, 2, PERF_SAMPLE_REGS_ABI_NONE, 0, 0);
	ck_assert(end(&out, &full));
	ck_assert(!out.of.sample.has_regs);
	ck_assert_ptr_null(out.of.sample.stack);
	put_sample(PERF_RECORD_MISC_USER, 0, PERF_SAMPLE_REGS_ABI_32, 64, 64);
	ck_assert(end(&out, &full));
	ck_assert(!out.of.sample.has_regs && !out.of.sample.is_kernel);
	begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put_u64(0xabcd);
	put_id(10, 11, 777, 2);
	static const struct tp_perf_layout bare;
	ck_assert(end(&out, &bare));
	ck_assert(!end(&out, &full));
}
END_TEST

START_TEST(lying_counts_are_refused)
{
	struct tp_perf_record out;
	put_sample(PERF_RECORD_MISC_USER, 3, PERF_SAMPLE_REGS_ABI_64, 64, 64);
	uint64_t huge = UINT64_MAX / 8 + 2;
	memcpy(record.data + 40, &huge, sizeof(huge)); /* length of the chain */
	ck_assert(!end(&out, &full));
	put_sample(PERF_RECORD_MISC_USER, 0, PERF_SAMPLE_REGS_ABI_64, 64, 72);
	ck_assert(!end(&out, &full));
}
END_TEST

/* Checks that all pointers of a decoded record point into its bytes. */
static void assert_inside(const struct tp_perf_record *out, const uint8_t *bytes, size_t size)
{
	const uint8_t *limit = bytes + size;
	if (out->type == PERF_RECORD_SAMPLE) {
		const struct tp_perf_sample *s = &out->of.sample;
		if (s->n_chain)
			ck_assert((const uint8_t *)(s->chain + s->n_chain) <= limit);
		if (s->stack)
			ck_assert((const uint8_t *)s->stack + s->stack_bytes <= limit);
	} else if (out->type == PERF_RECORD_COMM) {
		ck_assert((const uint8_t *)out->of.comm.name + strlen(out->of.comm.name) < limit);
	} else if (out->type == PERF_RECORD_MMAP2) {
		const char *path = out->of.mapping.path;
		ck_assert((const uint8_t *)path + strlen(path) < limit);
	}
}

START_TEST(records_cut_anywhere_never_lead_outside)
{
	struct tp_perf_record out;
	for (int what = 0; what < 2; what++) {
		if (what)
			put_mapping(0);
		else
			put_sample(PERF_RECORD_MISC_USER, 3, PERF_SAMPLE_REGS_ABI_64, 64, 64);
		size_t whole = record.size;
		for (record.size = 0; record.size <= whole; record.size++) {
			/* exact allocation, so that ASan sees a read past its end */
			uint8_t *exact = malloc(record.size + 1);
			(void)end(&out, &full);
			memcpy(exact, record.data, record.size);
			if (tp_perf_record_decode(&out, exact, record.size, &full))
				assert_inside(&out, exact, record.size);
			free(exact);
		}
	}
}
END_TEST

START_TEST(random_bytes_never_lead_outside)
{
	unsigned seed = 20261120;
	struct tp_perf_record out;
	unsigned n_accepted = 0;
	for (int round = 0; round < 200000; round++) {
		size_t size = 8 + (size_t)(rand_r(&seed) % 40) * 8;
		for (size_t i = 0; i < size; i++)
			record.data[i] = rand_r(&seed) % 4 ? 0 : (uint8_t)rand_r(&seed);
		struct perf_event_header header = {.size = (uint16_t)size};
		header.type = (uint32_t)(rand_r(&seed) % 22);
		header.misc = (uint16_t)rand_r(&seed);
		memcpy(record.data, &header, sizeof(header));
		uint8_t *exact = malloc(size);
		memcpy(exact, record.data, size);
		if (tp_perf_record_decode(&out, exact, size, &full)) {
			assert_inside(&out, exact, size);
			n_accepted++;
		}
		free(exact);
	}
	ck_assert_uint_gt(n_accepted, 1000);
}
END_TEST

START_TEST(records_tell_their_event_where_it_was_asked_for)
{
	static const struct tp_perf_layout with_event = {.has_event = true};
	struct tp_perf_record out;
	uint64_t time;
	begin(PERF_RECORD_SWITCH, 0);
	put_event_id(10, 11, 12345, 77, 3);
	ck_assert(end(&out, &with_event));
	ck_assert_uint_eq(out.event_id, 77);
	ck_assert_int_eq(out.tid, 11);
	ck_assert_uint_eq(out.time_ns, 12345);
	ck_assert_uint_eq(out.cpu, 3);
	memcpy(&time, record.data + tp_perf_record_time_offset(out.type, record.size, true), 8);
	ck_assert_uint_eq(time, 12345);

	begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put_u64(0x401000);
	put_event_id(10, 11, 12345, 78, 2);
	ck_assert(end(&out, &with_event));
	ck_assert_uint_eq(out.event_id, 78);
	ck_assert_uint_eq(out.of.sample.ip, 0x401000);
	ck_assert_uint_eq(out.cpu, 2);
	memcpy(&time, record.data + tp_perf_record_time_offset(out.type, record.size, true), 8);
	ck_assert_uint_eq(time, 12345);
	/* Too short for a switch record. */
	begin(PERF_RECORD_SWITCH, 0);
	put_id(10, 11, 12345, 3);
	ck_assert(!end(&out, &with_event));
}
END_TEST

Suite *suite_collect_perf_decode(void);
Suite *suite_collect_perf_decode(void)
{
	Suite *suite = suite_create("collect/perf_record");
	TCase *tc = tcase_create("perf_record");
	tcase_add_loop_test(tc, switch_record_tells_direction_and_preemption, 0, 3);
	tcase_add_test(tc, switch_of_a_cpu_is_one_of_the_thread_that_is_on_it);
	tcase_add_test(tc, mapping_is_of_the_process_that_maps);
	tcase_add_test(tc, text_that_does_not_end_is_refused);
	tcase_add_test(tc, name_and_exec_are_told_apart);
	tcase_add_test(tc, fork_names_child_and_parent);
	tcase_add_test(tc, lost_records_are_counted);
	tcase_add_test(tc, sample_holds_chain_registers_and_the_filled_part_of_the_stack);
	tcase_add_test(tc, sample_without_user_part_is_a_sample);
	tcase_add_test(tc, records_tell_their_event_where_it_was_asked_for);
	tcase_add_test(tc, lying_counts_are_refused);
	tcase_add_test(tc, records_cut_anywhere_never_lead_outside);
	tcase_add_test(tc, random_bytes_never_lead_outside);
	suite_add_tcase(suite, tc);
	return suite;
}
