/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of decoding NCCL's payloads. */
#include "collect/gpu/trace/nccl_payload.h"

#include <check.h>

enum { STATIC = 1 << 24 };

static const struct {
	uint32_t schema, size;
	uint64_t words[TP_GPU_PAYLOAD_WORDS];
	const char *op;
	uint64_t bytes, communicator;
} calls[] = {
	/* As libnccl 2.28.9 writes them. */
	{STATIC + 5, 24, {0xabc, 2097152, 0}, "ncclAllReduce", 2097152, 0xabc},
	{STATIC + 7, 24, {0xabc, 16384, 0}, "ncclReduceScatter", 16384, 0xabc},
	{STATIC + 9, 24, {0xabc, 777, 1}, "ncclSend", 777, 0xabc},
	{STATIC + 4, 16, {0xabc, 5}, "ncclAllGather", 5, 0xabc},
	{STATIC + 16, 16, {0xabc, 6}, "ncclAlltoAll", 6, 0xabc},
	/* Before 2.25.1 */
	{STATIC + 5, 16, {2097152, 0}, "ncclAllReduce", 2097152, 0},
	{STATIC + 4, 8, {5}, "ncclAllGather", 5, 0},
	{STATIC + 10, 16, {777, 1}, "ncclRecv", 777, 0},
	{STATIC + 6, 24, {0xabc, UINT64_MAX, 0}, "ncclBroadcast", UINT64_MAX, 0xabc},
};

START_TEST(calls_say_function_bytes_and_communicator)
{
	struct tp_nccl_call call;
	ck_assert(tp_nccl_payload_read(&call, calls[_i].schema, calls[_i].size, calls[_i].words));
	ck_assert_str_eq(call.op, calls[_i].op);
	ck_assert_uint_eq(call.bytes, calls[_i].bytes);
	ck_assert_uint_eq(call.communicator, calls[_i].communicator);
	bool is_peer = calls[_i].schema == STATIC + 9 || calls[_i].schema == STATIC + 10;
	ck_assert_int_eq(call.kind, is_peer ? TP_NCCL_PEER : TP_NCCL_COLLECTIVE);
}
END_TEST

static const struct {
	uint32_t schema, size;
	uint64_t words[TP_GPU_PAYLOAD_WORDS];
	uint32_t n_ranks;
} makers[] = {
	{STATIC + 0, 24, {0xabc, 8 | UINT64_C(3) << 32, 3}, 8},
	{STATIC + 1, 16, {0xabc, 4}, 4},
	{STATIC + 11, 24, {0xabc, 16 | UINT64_C(9) << 32, 3}, 16},
	{STATIC + 13, 40, {0xabc, 0xdef, 2 | UINT64_C(1) << 32, 3, 4}, 2},
	{STATIC + 15, 24, {0xabc, 7 | UINT64_C(1) << 32, 3}, 7},
};

START_TEST(making_a_communicator_says_how_many_ranks_it_has)
{
	struct tp_nccl_call call;
	ck_assert(
		tp_nccl_payload_read(&call, makers[_i].schema, makers[_i].size, makers[_i].words));
	ck_assert_int_eq(call.kind, TP_NCCL_COMMUNICATOR);
	ck_assert_uint_eq(call.communicator, 0xabc);
	ck_assert_uint_eq(call.n_ranks, makers[_i].n_ranks);
}
END_TEST

static const struct {
	uint32_t schema, size;
} unknown[] = {{5, 24},           {STATIC + 5, 0},  {STATIC + 5, 32}, {STATIC + 2, 24},
	       {STATIC + 14, 24}, {STATIC + 99, 8}, {0, 0},           {UINT32_MAX, 24},
	       {STATIC + 16, 0},  {STATIC + 0, 24} /* zero ranks */};

START_TEST(of_other_payloads_nothing_is_known)
{
	static const uint64_t words[TP_GPU_PAYLOAD_WORDS];
	struct tp_nccl_call call;
	ck_assert(!tp_nccl_payload_read(&call, unknown[_i].schema, unknown[_i].size, words));
}
END_TEST

Suite *suite_collect_nccl_payload(void);
Suite *suite_collect_nccl_payload(void)
{
	Suite *suite = suite_create("collect_ncclcall");
	TCase *tests = tcase_create("ncclcall");
	tcase_add_loop_test(tests, calls_say_function_bytes_and_communicator, 0,
			    sizeof(calls) / sizeof(calls[0]));
	tcase_add_loop_test(tests, making_a_communicator_says_how_many_ranks_it_has, 0,
			    sizeof(makers) / sizeof(makers[0]));
	tcase_add_loop_test(tests, of_other_payloads_nothing_is_known, 0,
			    sizeof(unknown) / sizeof(unknown[0]));
	suite_add_tcase(suite, tests);
	return suite;
}
