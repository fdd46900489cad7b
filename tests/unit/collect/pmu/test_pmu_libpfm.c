/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of event names; expected encodings, for CPUs other than this one. */
#include "collect/pmu/pmu_libpfm.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define LEN(table) (sizeof(table) / sizeof((table)[0]))

static const struct {
	const char *name;
	enum tp_status status;
	uint32_t type;
	uint64_t config;
} golden[] = {
	{"amd64_fam19h_zen4::RETIRED_SSE_AVX_FLOPS:ANY", TP_OK, 4, 0x1f03},
	{"amd64_fam19h_zen4::CYCLES_NOT_IN_HALT", TP_OK, 4, 0x76},
	{"amd64_fam19h_zen4::DISPATCH_STALLS_1:BE_STALLS", TP_OK, 4, 0x100001ea0},
	{"skl::CYCLE_ACTIVITY:STALLS_L3_MISS", TP_OK, 4, 0x60006a3},
	{"PERF_COUNT_HW_INSTRUCTIONS", TP_OK, 0, 1},
	{"spr::TOPDOWN:SLOTS", TP_OK, 4, 0x400},
	/* libpfm4 uses 0x200 and 0x1000; a fixed event would not be refused */
	{"icx::TOPDOWN:BACKEND_BOUND_SLOTS", TP_VERSION, 4, 0x2a4},
	{"spr::TOPDOWN:BACKEND_BOUND_SLOTS", TP_VERSION, 4, 0x2a4},
	{"spr::TOPDOWN:MEMORY_BOUND_SLOTS", TP_VERSION, 4, 0x10a4},
	{"skl::NO_SUCH_EVENT", TP_ABSENT, 0, 0},
	{"", TP_ABSENT, 0, 0},
};

START_TEST(names_are_encoded_as_the_manuals_say_or_refused)
{
	struct tp_pmu_event counter = {0};
	struct tp_error err = {0};
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1); /* NOLINT(concurrency-mt-unsafe): one thread */
	enum tp_status status = tp_pmu_libpfm_encode(&counter, golden[_i].name, &err);
	if (!TP_HAVE_PFM) {
		ck_assert_int_eq(status, TP_ABSENT);
		return;
	}
	bool is_mended = golden[_i].status == TP_VERSION && status == TP_OK;
	if (!is_mended)
		ck_assert_msg(status == golden[_i].status, "%s: %s", golden[_i].name, err.text);
	if (status == TP_OK) {
		ck_assert_uint_eq(counter.type, golden[_i].type);
		ck_assert_uint_eq(counter.config, golden[_i].config);
	} else {
		ck_assert_msg(strstr(err.text, golden[_i].name) != NULL, "%s", err.text);
	}
}
END_TEST

Suite *suite_collect_pmu_libpfm(void);
Suite *suite_collect_pmu_libpfm(void)
{
	Suite *suite = suite_create("collect/pfm");
	TCase *tc = tcase_create("pfm");
	tcase_add_loop_test(tc, names_are_encoded_as_the_manuals_say_or_refused, 0, LEN(golden));
	suite_add_tcase(suite, tc);
	return suite;
}
