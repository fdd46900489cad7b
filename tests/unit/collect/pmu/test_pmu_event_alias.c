/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the kernel's own names of events, on recorded and simulated machines. */
#include "collect/pmu/pmu_event_alias.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEN(table) (sizeof(table) / sizeof((table)[0]))

static void use_host(struct tp_host *host, char *root, size_t size, const char *machine)
{
	snprintf(root, size, "tests/data/hosts/%s", machine);
	*host = (struct tp_host){.root = root};
}

static const struct {
	const char *machine;
	size_t n;
	const char *name; /* one of them */
	uint32_t type;
} pmus[] = {
	{"cpu-spr", 1, "cpu", 4},
	{"cpu-hybrid", 2, "cpu_atom", 10},
	{"cpu-neoverse-v2", 1, "armv8_pmuv3_0", 10},
	{"firecracker-vm", 0, NULL, 0}, /* has software, tracepoint, msr and more */
	{"bare", 0, NULL, 0},
};

START_TEST(core_pmus_are_found_among_others)
{
	struct tp_host host;
	struct tp_core_pmu found[TP_CORE_PMUS_MAX];
	char root[128];
	use_host(&host, root, sizeof(root), pmus[_i].machine);
	size_t n = tp_core_pmu_find(found, TP_CORE_PMUS_MAX, &host);
	ck_assert_uint_eq(n, pmus[_i].n);
	bool met = pmus[_i].name == NULL;
	for (size_t i = 0; i < n; i++)
		met |= strcmp(found[i].name, pmus[_i].name) == 0 && found[i].type == pmus[_i].type;
	ck_assert(met);
}
END_TEST

static const struct {
	const char *machine;
	const char *alias;
	bool found;
	uint32_t type;
	uint64_t config;
	uint64_t config1;
} aliases[] = {
	{"cpu-spr", "slots", true, 4, 0x0400, 0},
	{"cpu-spr", "topdown-be-bound", true, 4, 0x8300, 0},
	{"cpu-spr", "topdown-mem-bound", true, 4, 0x8700, 0},
	{"cpu-spr", "cache-misses", true, 4, 0x412e, 0},
	{"cpu-spr", "mem-loads", true, 4, 0x01cd, 3},
	{"cpu-spr", "absent", false, 0, 0, 0},
	{"cpu-skx", "topdown-recovery-bubbles", true, 4, 0x100030d, 0},
	{"cpu-skx-smt", "topdown-total-slots", true, 4, 0x20003c, 0},
	{"cpu-zen4", "cpu-cycles", true, 4, 0x76, 0},
	{"cpu-neoverse-v2", "stall_backend_mem", true, 10, 0x4005, 0},
	{"software-pmu", "cpu_cycles", true, 1, 1, 0},
};

START_TEST(terms_are_spread_over_the_bits_of_their_formats)
{
	struct tp_host host;
	struct tp_core_pmu pmu;
	struct tp_pmu_event counter;
	char root[128];
	use_host(&host, root, sizeof(root), aliases[_i].machine);
	ck_assert_uint_eq(tp_core_pmu_find(&pmu, 1, &host), 1);
	ck_assert_int_eq(tp_pmu_event_alias_find(&counter, &host, &pmu, aliases[_i].alias),
			 aliases[_i].found);
	if (!aliases[_i].found)
		return;
	ck_assert_uint_eq(counter.type, aliases[_i].type);
	ck_assert_uint_eq(counter.config, aliases[_i].config);
	ck_assert_uint_eq(counter.config1, aliases[_i].config1);
}
END_TEST

static void write_text(const char *directory, const char *name, const char *text)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	FILE *file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static const struct {
	const char *terms;
	const char *format_of_x;
	bool good;
	uint64_t config;
} terms[] = {
	{"x=0x1a0", "config:0-7,32-35", true, 0x1000000a0}, /* AMD splits the event number */
	{"x=0xfff", "config:0-7,32-35", true, 0xf000000ff},
	{"x=0x1000", "config:0-7,32-35", false, 0}, /* does not fit: refused, not cut */
	{"x", "config:23", true, 1 << 23},
	{"x=1,config=0x10", "config:0-3", true, 0x11},
	{"x=", "config:0-7", false, 0},
	{"x=1z", "config:0-7", false, 0},
	{"x=1", "config2:0-7", false, 0},
	{"x=1", "config:7-0", false, 0},
	{"x=1", "config:0-99", false, 0},
	{"x=1", "", false, 0},
	{"y=1", "config:0-7", false, 0},
	{"../x=1", "config:0-7", false, 0},
	{"", "config:0-7", false, 0},
};

START_TEST(malformed_terms_and_formats_are_refused)
{
	char root[] = "/tmp/trainprof-alias-XXXXXX";
	char directory[256];
	char command[1024];
	ck_assert_ptr_nonnull(mkdtemp(root));
	snprintf(directory, sizeof(directory), "%s/sys/bus/event_source/devices/cpu", root);
	snprintf(command, sizeof(command), "mkdir -p %s/events %s/format", directory, directory);
	ck_assert_int_eq(system(command), 0); /* NOLINT(concurrency-mt-unsafe): one thread */
	write_text(directory, "type", "4\n");
	write_text(directory, "format/x", terms[_i].format_of_x);
	write_text(directory, "events/e", terms[_i].terms);
	struct tp_host host = {.root = root};
	struct tp_core_pmu pmu;
	struct tp_pmu_event counter = {0};
	ck_assert_uint_eq(tp_core_pmu_find(&pmu, 1, &host), 1);
	ck_assert_int_eq(tp_pmu_event_alias_find(&counter, &host, &pmu, "e"), terms[_i].good);
	ck_assert_uint_eq(counter.config, terms[_i].config);
	snprintf(command, sizeof(command), "rm -r %s", root);
	ck_assert_int_eq(system(command), 0); /* NOLINT(concurrency-mt-unsafe): one thread */
}
END_TEST

START_TEST(scale_and_caps_have_defaults)
{
	struct tp_host host;
	struct tp_core_pmu pmu;
	char root[128];
	uint64_t slots = 0;
	use_host(&host, root, sizeof(root), "cpu-skx");
	ck_assert_uint_eq(tp_core_pmu_find(&pmu, 1, &host), 1);
	ck_assert_double_eq(tp_pmu_event_alias_scale(&host, &pmu, "topdown-total-slots"), 4);
	ck_assert_double_eq(tp_pmu_event_alias_scale(&host, &pmu, "topdown-slots-issued"), 1);
	ck_assert(!tp_pmu_event_alias_cap(&slots, &host, &pmu, "slots"));
	use_host(&host, root, sizeof(root), "cpu-neoverse-v2");
	ck_assert_uint_eq(tp_core_pmu_find(&pmu, 1, &host), 1);
	ck_assert(tp_pmu_event_alias_cap(&slots, &host, &pmu, "slots"));
	ck_assert_uint_eq(slots, 8);
}
END_TEST

Suite *suite_collect_pmu_event_alias(void);
Suite *suite_collect_pmu_event_alias(void)
{
	Suite *suite = suite_create("collect/eventalias");
	TCase *tc = tcase_create("eventalias");
	tcase_add_loop_test(tc, core_pmus_are_found_among_others, 0, LEN(pmus));
	tcase_add_loop_test(tc, terms_are_spread_over_the_bits_of_their_formats, 0, LEN(aliases));
	tcase_add_loop_test(tc, malformed_terms_and_formats_are_refused, 0, LEN(terms));
	tcase_add_test(tc, scale_and_caps_have_defaults);
	suite_add_tcase(suite, tc);
	return suite;
}
