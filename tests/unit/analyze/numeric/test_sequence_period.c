/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of finding periods in the order of launches, on sequences whose step is known. */
#include "analyze/numeric/sequence_period.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <check.h>
#include <stdlib.h>

/* A simulated training: steps of some micro-batches of layers, with an optimizer at the end of
 * each. */
struct training {
	size_t n_steps;
	size_t n_micro;
	size_t n_layers;
	size_t n_heads;    /* ops of a micro-batch outside layers: input, loss */
	size_t n_optimize; /* ops of the optimizer */
	unsigned noise;    /* per thousand: ops replaced by an op of a layer */
	size_t cut;        /* ops missing at the beginning */
	size_t lag;        /* expected period; 0 = none */
};

enum { LAYER_OPS = 7, FIRST_HEAD = 20, FIRST_OPTIMIZE = 40, N_SYMBOLS = 80 };

static const struct training trainings[] = {
	{2, 1, 4, 3, 5, 0, 0, 36},
	{10, 1, 24, 3, 5, 0, 0, 176},
	{10, 1, 24, 3, 5, 0, 100, 176},
	{10, 1, 24, 12, 14, 20, 0, 194},
	{1000, 1, 12, 3, 5, 0, 0, 92},
	{1000, 1, 12, 3, 5, 5, 31, 92},
	/* Only layers: the layer is found, which is not a step, as its anchor will show later. */
	{1, 1, 50, 0, 0, 0, 0, LAYER_OPS},
	/* One step only: its layers repeat, but the ops that occur once do not. */
	{1, 1, 50, 6, 9, 0, 0, 0},
	{1, 1, 1, 3, 0, 0, 0, 0},
};

static size_t emit(const struct training *t, uint32_t *symbols, uint64_t *times)
{
	size_t n = 0;
	size_t met = 0;
	for (size_t step = 0; step < t->n_steps; step++) {
		size_t per_micro = t->n_heads + t->n_layers * LAYER_OPS;
		size_t total = t->n_micro * per_micro + t->n_optimize;
		for (size_t i = 0; i < total; i++, met++) {
			size_t at = i % (per_micro ? per_micro : 1);
			uint32_t symbol = (uint32_t)(FIRST_OPTIMIZE + i - t->n_micro * per_micro);
			if (i < t->n_micro * per_micro)
				symbol = at < t->n_heads
						 ? (uint32_t)(FIRST_HEAD + at)
						 : (uint32_t)((at - t->n_heads) % LAYER_OPS);
			if (tp_hash_mix(met, 77) % 1000 < t->noise)
				symbol = (uint32_t)(tp_hash_mix(met, 78) % LAYER_OPS);
			if (met < t->cut)
				continue;
			symbols[n] = symbol;
			times[n++] = met * 10000;
		}
	}
	return n;
}

enum { OPS_MOST = 200000 };

START_TEST(the_step_is_the_lag)
{
	const struct training *t = &trainings[_i];
	uint32_t *symbols = tp_alloc(OPS_MOST * sizeof(*symbols));
	uint64_t *times = tp_alloc(OPS_MOST * sizeof(*times));
	size_t n = emit(t, symbols, times);
	ck_assert_uint_lt(n, OPS_MOST);
	struct tp_period period;
	bool is_found = tp_period_find(&period, symbols, times, n, N_SYMBOLS, 1);
	ck_assert_int_eq(is_found, t->lag > 0);
	ck_assert_uint_eq(period.lag, t->lag);
	if (is_found) {
		ck_assert_double_ge(period.plain, 0.9);
		ck_assert_double_ge(period.rare, 0.9);
		ck_assert_uint_eq(symbols[period.first], period.cut);
	}
	free(symbols);
	free(times);
}
END_TEST

START_TEST(gradient_accumulation_has_two_periods)
{
	static const struct training t = {12, 4, 6, 12, 1, 0, 0, 0};
	uint32_t *symbols = tp_alloc(OPS_MOST * sizeof(*symbols));
	uint64_t *times = tp_alloc(OPS_MOST * sizeof(*times));
	size_t n = emit(&t, symbols, times);
	size_t micro = 12 + 6 * LAYER_OPS;
	struct tp_period period;
	ck_assert(tp_period_find(&period, symbols, times, n, N_SYMBOLS, 1));
	/* One optimizer op in four micro-batches shifts the rest, so the step itself is found. */
	ck_assert_uint_eq(period.lag, 4 * micro + 1);
	free(symbols);
	free(times);
}
END_TEST

START_TEST(nothing_is_found_in_nothing)
{
	struct tp_period period;
	uint32_t one = 0;
	uint64_t time = 0;
	ck_assert(!tp_period_find(&period, &one, &time, 0, 1, 1));
	ck_assert(!tp_period_find(&period, &one, &time, 1, 1, 1));
	ck_assert_uint_eq(period.lag, 0);
}
END_TEST

Suite *suite_analyze_sequence_period(void);
Suite *suite_analyze_sequence_period(void)
{
	Suite *suite = suite_create("analyze/period");
	TCase *tc = tcase_create("period");
	tcase_add_loop_test(tc, the_step_is_the_lag, 0, sizeof(trainings) / sizeof(trainings[0]));
	tcase_add_test(tc, gradient_accumulation_has_two_periods);
	tcase_add_test(tc, nothing_is_found_in_nothing);
	suite_add_tcase(suite, tc);
	return suite;
}
