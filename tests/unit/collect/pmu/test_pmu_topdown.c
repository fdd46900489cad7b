/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of top-down recipes, for one CPU of each kind. */
#include "collect/pmu/pmu_topdown.h"

#include <check.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LEN(table) (sizeof(table) / sizeof((table)[0]))

static void use_host(struct tp_host *host, char *root, size_t size, const char *machine)
{
	snprintf(root, size, "tests/data/hosts/%s", machine);
	*host = (struct tp_host){.root = root};
}

/* The events that must be opened, and the expected results for an invented count of each. */
static const struct {
	const char *machine;
	const char *name; /* NULL = no recipe */
	size_t n;
	uint64_t configs[6];
	double counts[6];
	double slots;
	double backend;
	double memory; /* NAN = not known */
} recipes[] = {
	{"cpu-spr",
	 "Intel top-down metrics",
	 6,
	 {0x400, 0x8000, 0x8100, 0x8200, 0x8300, 0x8700},
	 {1000, 300, 50, 150, 500, 350},
	 1000,
	 500,
	 350},
	{"cpu-icx",
	 "Intel top-down metrics",
	 5,
	 {0x400, 0x8000, 0x8100, 0x8200, 0x8300},
	 {1000, 300, 50, 150, 500},
	 1000,
	 500,
	 (double)NAN},
	/* total 4 x 250, fetch bubbles 100, issued 400, recovery 4 x 25 */
	{"cpu-skx",
	 "Intel top-down bubbles",
	 4,
	 {0x3c, 0x19c, 0x10e, 0x100030d},
	 {250, 100, 400, 25},
	 1000,
	 400,
	 (double)NAN},
	{"cpu-zen4",
	 "AMD Zen 4 dispatch slots",
	 4,
	 {0x76, 0x100001ea0, 0xa2d6, 0x02d6},
	 {1000, 3000, 30, 120},
	 6000,
	 3000,
	 750},
	{"cpu-zen5",
	 "AMD Zen 5 dispatch slots",
	 4,
	 {0x76, 0x100001ea0, 0xa2d6, 0x02d6},
	 {1000, 3000, 30, 120},
	 8000,
	 3000,
	 750},
	{"cpu-neoverse-v2",
	 "ARM stall slots",
	 4,
	 {0x11, 0x3d, 0x4005, 0x24},
	 {1000, 4000, 100, 400},
	 8000,
	 4000,
	 1000},
	{"cpu-skx-smt", NULL, 0, {0}, {0}, 0, 0, 0},
	{"cpu-zen3", NULL, 0, {0}, {0}, 0, 0, 0},
	{"cpu-neoverse-n1", NULL, 0, {0}, {0}, 0, 0, 0},
};

static bool find_recipe(struct tp_pmu_topdown *recipe, const char *machine, char *why, size_t size)
{
	struct tp_host host;
	struct tp_core_pmu pmu;
	char root[128];
	use_host(&host, root, sizeof(root), machine);
	ck_assert_uint_eq(tp_core_pmu_find(&pmu, 1, &host), 1);
	return tp_pmu_topdown_find(recipe, &host, &pmu, why, size);
}

START_TEST(recipe_opens_and_computes_what_the_manual_says)
{
	struct tp_pmu_topdown recipe;
	char why[120] = "";
	bool found = find_recipe(&recipe, recipes[_i].machine, why, sizeof(why));
	ck_assert_int_eq(found, recipes[_i].name != NULL);
	if (!found) {
		ck_assert_str_ne(why, "");
		return;
	}
	ck_assert_str_eq(recipe.name, recipes[_i].name);
	ck_assert_uint_eq(recipe.n, recipes[_i].n);
	for (size_t i = 0; i < recipe.n; i++)
		ck_assert_uint_eq(recipe.events[i].config, recipes[_i].configs[i]);
	struct tp_pmu_topdown_slots topdown;
	ck_assert(tp_pmu_topdown_compute(&topdown, &recipe, recipes[_i].counts));
	ck_assert_double_eq_tol(topdown.slots, recipes[_i].slots, 1e-9);
	ck_assert_double_eq_tol(topdown.backend, recipes[_i].backend, 1e-9);
	if (isnan(recipes[_i].memory))
		ck_assert_double_nan(topdown.memory);
	else
		ck_assert_double_eq_tol(topdown.memory, recipes[_i].memory, 1e-9);
}
END_TEST

/* libpfm4's names must give the same numbers as the table that replaces them. */
START_TEST(zen4_by_name_is_zen4_by_number)
{
	struct tp_pmu_topdown by_number;
	struct tp_pmu_topdown by_name;
	char why[120];
	ck_assert(find_recipe(&by_number, "cpu-zen4", why, sizeof(why)));
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1); /* NOLINT(concurrency-mt-unsafe): one thread */
	ck_assert(find_recipe(&by_name, "cpu-zen4", why, sizeof(why)));
	for (size_t i = 0; i < by_number.n; i++) {
		ck_assert_uint_eq(by_name.events[i].config, by_number.events[i].config);
		ck_assert_uint_eq(by_name.events[i].type, by_number.events[i].type);
	}
}
END_TEST

static const struct {
	double counts[6];
	bool good;
} contradictions[] = {
	{{1000, 300, 50, 150, 500, 350}, true},
	{{1000, 300, 50, 190, 500, 350}, true},  /* 104 % */
	{{1000, 300, 50, 250, 500, 350}, false}, /* 110 % */
	{{1000, 100, 50, 150, 500, 350}, false}, /* 80 % */
	{{0, 0, 0, 0, 0, 0}, false},
};

START_TEST(counts_that_contradict_themselves_are_refused)
{
	struct tp_pmu_topdown recipe;
	struct tp_pmu_topdown_slots topdown;
	char why[120];
	ck_assert(find_recipe(&recipe, "cpu-spr", why, sizeof(why)));
	ck_assert_int_eq(tp_pmu_topdown_compute(&topdown, &recipe, contradictions[_i].counts),
			 contradictions[_i].good);
}
END_TEST

static const struct {
	const char *machine;
	size_t n;
	uint64_t configs[4];
} basics[] = {
	{"cpu-spr", 4, {0x3c, 0xc0, 0x4f2e, 0x412e}},
	{"cpu-zen4",
	 4,
	 {0x76, 0xc0, 0x5e44, 0x5c44}}, /* not the generic ones, which count the second level */
	{"cpu-zen3", 4, {0x76, 0xc0, 0x5e44, 0x5c44}},
	{"cpu-neoverse-v2", 4, {0x11, 0x08, 0x36, 0x37}},
	{"cpu-neoverse-n1", 2, {0x11, 0x08, 0, 0}}, /* generic ones would count the first level */
};

START_TEST(last_level_events_are_those_of_the_last_level)
{
	struct tp_host host;
	struct tp_core_pmu pmu;
	struct tp_pmu_event events[TP_N_BASIC];
	char root[128];
	use_host(&host, root, sizeof(root), basics[_i].machine);
	ck_assert_uint_eq(tp_core_pmu_find(&pmu, 1, &host), 1);
	ck_assert_uint_eq(tp_pmu_topdown_basic(events, &host, &pmu), basics[_i].n);
	for (size_t i = 0; i < basics[_i].n; i++)
		ck_assert_uint_eq(events[i].config, basics[_i].configs[i]);
}
END_TEST

START_TEST(a_pmu_without_aliases_is_asked_for_generic_events)
{
	struct tp_host host = {.root = "tests/data/hosts/bare"};
	struct tp_core_pmu pmu = {.name = "cpu", .type = 4};
	struct tp_pmu_event events[TP_N_BASIC];
	ck_assert_uint_eq(tp_pmu_topdown_basic(events, &host, &pmu), 2);
	ck_assert_uint_eq(events[0].type, PERF_TYPE_HARDWARE);
	ck_assert_uint_eq(events[0].config, PERF_COUNT_HW_CPU_CYCLES);
	ck_assert_uint_eq(events[1].config, PERF_COUNT_HW_INSTRUCTIONS);
}
END_TEST

Suite *suite_collect_pmu_topdown(void);
Suite *suite_collect_pmu_topdown(void)
{
	Suite *suite = suite_create("collect/pmurecipe");
	TCase *tc = tcase_create("pmurecipe");
	tcase_add_loop_test(tc, recipe_opens_and_computes_what_the_manual_says, 0, LEN(recipes));
	tcase_add_test(tc, zen4_by_name_is_zen4_by_number);
	tcase_add_loop_test(tc, counts_that_contradict_themselves_are_refused, 0,
			    LEN(contradictions));
	tcase_add_loop_test(tc, last_level_events_are_those_of_the_last_level, 0, LEN(basics));
	tcase_add_test(tc, a_pmu_without_aliases_is_asked_for_generic_events);
	suite_add_tcase(suite, tc);
	return suite;
}
