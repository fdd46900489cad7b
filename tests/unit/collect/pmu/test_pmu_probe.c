/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of whether counters can be used, on recorded and simulated machines and on this one. */
#include "collect/pmu/pmu_probe.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#define LEN(table) (sizeof(table) / sizeof((table)[0]))

static const struct {
	const char *machine;
	enum tp_presence presence;
	const char *in_reason;
} probes[] = {
	{"firecracker-vm", TP_PRESENCE_NO_DEVICE,
	 "this virtual machine exposes no hardware counters"},
	{"bare", TP_PRESENCE_NO_DEVICE, "this machine exposes no hardware counters"},
	{"cpu-spr", TP_PRESENCE_PRESENT, ""},
	{"cpu-zen4", TP_PRESENCE_PRESENT, ""},
	{"cpu-zen3", TP_PRESENCE_DEGRADED, "no top-down counters"},
	{"cpu-skx-smt", TP_PRESENCE_DEGRADED, "SMT"},
	{"cpu-hybrid", TP_PRESENCE_DEGRADED, "2 kinds of core"},
};

START_TEST(probe_tells_what_the_cpu_offers)
{
	char root[128];
	struct tp_host host;
	struct tp_availability out;
	snprintf(root, sizeof(root), "tests/data/hosts/%s", probes[_i].machine);
	tp_host_open(&host, root);
	tp_pmu_probe(&host, &out);
	ck_assert_int_eq(out.presence, probes[_i].presence);
	ck_assert_msg(strstr(out.reason, probes[_i].in_reason) != NULL, "%s", out.reason);
	ck_assert_int_eq(out.reason[0] == '\0', out.presence == TP_PRESENCE_PRESENT);
	tp_host_close(&host);
}
END_TEST

/* Here counting is really tried. Whatever the result, a count of zero must not be offered. */
START_TEST(probe_of_this_machine_gives_a_reason_when_it_cannot_count)
{
	struct tp_host host;
	struct tp_availability out;
	tp_host_open(&host, "");
	tp_pmu_probe(&host, &out);
	ck_assert_int_eq(out.reason[0] == '\0', out.presence == TP_PRESENCE_PRESENT);
	tp_host_close(&host);
}
END_TEST

Suite *suite_collect_pmu_probe(void);
Suite *suite_collect_pmu_probe(void)
{
	Suite *suite = suite_create("collect/pmuprobe");
	TCase *tc = tcase_create("pmuprobe");
	tcase_add_loop_test(tc, probe_tells_what_the_cpu_offers, 0, LEN(probes));
	tcase_add_test(tc, probe_of_this_machine_gives_a_reason_when_it_cannot_count);
	suite_add_tcase(suite, tc);
	return suite;
}
