/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the list of sources: each entry follows the rules of the collector interface. */
#include "trainprof/collect/collector.h"

#include <check.h>
#include <string.h>

START_TEST(every_source_has_a_name_of_its_own_and_can_be_run)
{
	const struct tp_collector_type *const *types = tp_collector_types();
	for (size_t i = 0; types[i]; i++) {
		const struct tp_collector_type *type = types[i];
		ck_assert_uint_gt(strlen(type->name), 0);
		ck_assert_uint_eq(strcspn(type->name, " ,+-"), strlen(type->name));
		ck_assert_uint_gt(strlen(type->summary), 0);
		ck_assert_uint_gt(strlen(type->gains), 0);
		ck_assert(type->probe && type->open && type->stop && type->close);
		ck_assert(!type->sample || type->period_ns || type->wait_fd || type->pause);
		for (size_t k = 0; k < i; k++)
			ck_assert_str_ne(type->name, types[k]->name);
	}
	ck_assert_str_eq(types[0]->name, "perf"); /* it tracks the live tasks */
}
END_TEST

START_TEST(probing_a_recorded_machine_opens_nothing_and_explains_absences)
{
	struct tp_host host = {.root = "/nonexistent"};
	const struct tp_collector_type *const *types = tp_collector_types();
	for (size_t i = 0; types[i]; i++) {
		struct tp_availability availability;
		memset(&availability, 0x55, sizeof(availability));
		types[i]->probe(&host, &availability);
		ck_assert_int_lt(availability.presence, TP_N_PRESENCES);
		ck_assert_ptr_nonnull(memchr(availability.reason, 0, sizeof(availability.reason)));
		if (availability.presence != TP_PRESENCE_PRESENT)
			ck_assert_uint_gt(strlen(availability.reason), 0);
	}
}
END_TEST

Suite *suite_collect_registry(void);
Suite *suite_collect_registry(void)
{
	Suite *suite = suite_create("collect/registry");
	TCase *tc = tcase_create("registry");
	tcase_add_test(tc, every_source_has_a_name_of_its_own_and_can_be_run);
	tcase_add_test(tc, probing_a_recorded_machine_opens_nothing_and_explains_absences);
	suite_add_tcase(suite, tc);
	return suite;
}
