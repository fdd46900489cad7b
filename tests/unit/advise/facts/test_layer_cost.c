/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the costs of layers: sums computed by hand, and properties of any network. */
#include "advise/facts/layer_cost.h"

#include <check.h>
#include <math.h>

static struct tp_layer conv(double channels, double out, double extent, double kernel,
			    double stride)
{
	return (struct tp_layer){.kind = TP_LAYER_CONV,
				 .n_extents = 1,
				 .channels = channels,
				 .channels_out = out,
				 .extent = {extent, 0, 0},
				 .kernel = {kernel, 1, 1},
				 .stride = {stride, 1, 1},
				 .times = 1};
}

/* 4 x 8 x 8 x 8 numbers of 4 bytes through 16 kernels of 3 x 3 x 3. */
START_TEST(a_convolution_in_space_costs_what_is_counted_by_hand)
{
	struct tp_layer layer = conv(4, 16, 8, 3, 1);
	layer.n_extents = 3;
	for (int d = 1; d < 3; d++) {
		layer.extent[d] = 8;
		layer.kernel[d] = 3;
	}
	struct tp_layer_costs costs = tp_layer_costs_sum(&layer, 1, 4);
	ck_assert_double_eq(costs.sample_bytes, 4.0 * (2048 + 2048 + 8192));
	ck_assert_double_eq(costs.weight_bytes, 4.0 * 1728);
	ck_assert_double_eq(costs.operations, 6.0 * 1728 * 512);
	ck_assert_double_eq(costs.least_bytes, 4.0 * 3 * (2048 + 8192 + 1728));
	/* A plane of 256 numbers forward and one of 1024 backward, to both neighbours. */
	ck_assert_double_eq(costs.halo_bytes, 4.0 * 2 * (256 + 1024));
	ck_assert_double_eq(costs.halo_messages, 4);
	ck_assert_double_eq(costs.slabs, 8);
}
END_TEST

/* One extent, one byte per number, so that halos can be counted on a drawing. */
static const struct {
	enum tp_layer_kind kind;
	double channels, out, extent, kernel, stride;
	double halo_bytes, messages, slabs, operations;
} rows[] = {
	{TP_LAYER_CONV, 1, 2, 9, 3, 2, 2 * (1 + 2), 4, 5, 6 * 6 * 5},
	{TP_LAYER_CONV, 3, 2, 9, 1, 1, 0, 0, INFINITY, 6 * 6 * 9},
	{TP_LAYER_CONV, 1, 1, 64, 7, 2, 2 * (3 + 2), 4, 16, 6 * 7 * 32},
	/* Kernels that do not overlap need no data of a neighbour. */
	{TP_LAYER_CONV, 2, 4, 16, 4, 4, 0, 0, INFINITY, 6 * 32 * 4},
	{TP_LAYER_UPCONV, 2, 1, 4, 2, 2, 0, 0, INFINITY, 6 * 4 * 4},
	{TP_LAYER_UPCONV, 2, 1, 4, 4, 2, 2 * (2 + 1), 4, 4, 6 * 8 * 4},
	{TP_LAYER_POOL, 5, 5, 10, 3, 2, 2 * (5 + 5), 4, 5, 0},
	{TP_LAYER_POINTWISE, 5, 5, 10, 1, 1, 0, 0, INFINITY, 0},
	/* One plane of 8 is smaller than the halo of two. */
	{TP_LAYER_CONV, 1, 1, 1, 5, 1, 2 * (2 + 2), 4, 0, 6 * 5 * 1},
};

START_TEST(halos_are_as_wide_as_kernels_reach_over_a_border)
{
	struct tp_layer layer = conv(rows[_i].channels, rows[_i].out, rows[_i].extent,
				     rows[_i].kernel, rows[_i].stride);
	layer.kind = rows[_i].kind;
	struct tp_layer_costs costs = tp_layer_costs_sum(&layer, 1, 1);
	ck_assert_double_eq(costs.halo_bytes, rows[_i].halo_bytes);
	ck_assert_double_eq(costs.halo_messages, rows[_i].messages);
	ck_assert_double_eq(costs.slabs, rows[_i].slabs);
	ck_assert_double_eq(costs.operations, rows[_i].operations);
}
END_TEST

START_TEST(the_peak_is_where_what_is_kept_and_its_gradients_are_most)
{
	/* 10 numbers, then 80, then 8: the gradients of the first layer's output are the
	 * largest. */
	struct tp_layer layers[] = {
		conv(1, 8, 10, 1, 1),
		conv(8, 1, 10, 5, 5),
		{.kind = TP_LAYER_DENSE, .channels = 2, .channels_out = 3, .times = 1}};
	/* 10 + (10 + 80); 90 + (80 + 2); 92 + (2 + 3) */
	ck_assert_double_eq(tp_layer_costs_sum(layers, 1, 1).sample_bytes, 100);
	ck_assert_double_eq(tp_layer_costs_sum(layers, 2, 1).sample_bytes, 172);
	ck_assert_double_eq(tp_layer_costs_sum(layers, 3, 1).sample_bytes, 172);
	ck_assert_double_eq(tp_layer_costs_sum(layers, 3, 1).weight_bytes, 8 + 40 + 6);
}
END_TEST

START_TEST(slabs_are_cut_where_planes_are_smallest)
{
	struct tp_layer layers[] = {conv(1, 1, 4, 3, 1), conv(1, 1, 4, 3, 1)};
	for (int i = 0; i < 2; i++) {
		layers[i].n_extents = 2;
		layers[i].extent[1] = 100;
		layers[i].kernel[1] = 3;
	}
	struct tp_layer_costs costs = tp_layer_costs_sum(layers, 2, 1);
	ck_assert_int_eq(costs.split, 1);
	ck_assert_double_eq(costs.halo_bytes, 2.0 * 2 * (4 + 4));
	ck_assert_double_eq(costs.slabs, 100);
	/* A layer of one extent can only be split along that extent. */
	layers[1] = conv(1, 1, 100, 3, 1);
	ck_assert_int_eq(tp_layer_costs_sum(layers, 2, 1).split, 0);
}
END_TEST

START_TEST(without_extents_there_is_nothing_to_cut)
{
	struct tp_layer layer = {.kind = TP_LAYER_DENSE,
				 .channels = 7,
				 .channels_out = 5,
				 .times = 1};
	struct tp_layer_costs costs = tp_layer_costs_sum(&layer, 1, 2);
	ck_assert_int_eq(costs.split, -1);
	ck_assert_double_eq(costs.halo_bytes, 0);
	ck_assert_double_eq(costs.operations, 6.0 * 35);
	ck_assert_double_eq(costs.weight_bytes, 2.0 * 35);
	ck_assert_double_eq(tp_layer_costs_sum(NULL, 0, 2).sample_bytes, 0);
}
END_TEST

/* ---- any network ---- */

enum { N_LAYERS = 12, N_NETWORKS = 500 };

static unsigned state;

static double draw(unsigned least, unsigned most)
{
	state = state * 1664525 + 1013904223;
	return least + (state >> 8) % (most - least + 1);
}

static void draw_network(struct tp_layer layers[N_LAYERS])
{
	for (int i = 0; i < N_LAYERS; i++) {
		layers[i] = (struct tp_layer){.kind = (enum tp_layer_kind)draw(0, 2),
					      .n_extents = 2,
					      .channels = draw(1, 32),
					      .times = draw(1, 3)};
		layers[i].channels_out =
			layers[i].kind == TP_LAYER_POOL ? layers[i].channels : draw(1, 32);
		for (int d = 0; d < 2; d++) {
			layers[i].extent[d] = draw(1, 128);
			layers[i].kernel[d] = draw(1, 7);
			layers[i].stride[d] = draw(1, 3);
		}
	}
}

static void expect_at_least(const struct tp_layer_costs *more, const struct tp_layer_costs *less)
{
	ck_assert_double_ge(more->sample_bytes, less->sample_bytes);
	ck_assert_double_ge(more->weight_bytes, less->weight_bytes);
	ck_assert_double_ge(more->operations, less->operations);
	ck_assert_double_ge(more->least_bytes, less->least_bytes);
	ck_assert_double_ge(more->halo_bytes, less->halo_bytes);
	ck_assert_double_le(more->slabs, less->slabs);
}

START_TEST(another_layer_never_makes_anything_cheaper)
{
	struct tp_layer layers[N_LAYERS];
	for (state = 1; state < 100000; state += 7919) {
		draw_network(layers);
		struct tp_layer_costs before = tp_layer_costs_sum(layers, 1, 2);
		for (size_t n = 2; n <= N_LAYERS; n++) {
			struct tp_layer_costs costs = tp_layer_costs_sum(layers, n, 2);
			/* Costs of splits along different dimensions cannot be compared. */
			if (costs.split == before.split)
				expect_at_least(&costs, &before);
			before = costs;
		}
	}
}
END_TEST

static double kept_by(const struct tp_layer layers[N_LAYERS])
{
	double kept = 0;
	for (int i = 0; i < N_LAYERS; i++)
		kept += layers[i].times * layers[i].channels * layers[i].extent[0] *
			layers[i].extent[1];
	return kept;
}

static void expect_scaled(const struct tp_layer_costs *wide, const struct tp_layer_costs *narrow)
{
	ck_assert_double_eq(wide->sample_bytes, 4 * narrow->sample_bytes);
	ck_assert_double_eq(wide->halo_bytes, 4 * narrow->halo_bytes);
	ck_assert_double_eq(wide->slabs, narrow->slabs);
	ck_assert_double_eq(wide->operations, narrow->operations);
}

START_TEST(costs_keep_their_bounds)
{
	struct tp_layer layers[N_LAYERS];
	state = 1;
	for (int k = 0; k < N_NETWORKS; k++) {
		draw_network(layers);
		struct tp_layer_costs costs = tp_layer_costs_sum(layers, N_LAYERS, 1);
		struct tp_layer_costs wide = tp_layer_costs_sum(layers, N_LAYERS, 4);
		expect_scaled(&wide, &costs);
		ck_assert_double_gt(costs.sample_bytes, kept_by(layers));
		ck_assert(costs.slabs >= 0 && costs.slabs <= 128 * 3);
	}
}
END_TEST

START_TEST(a_layer_twice_is_two_layers)
{
	struct tp_layer twice[] = {conv(3, 3, 32, 3, 1), conv(3, 3, 32, 3, 1)};
	struct tp_layer once = twice[0];
	once.times = 2;
	struct tp_layer_costs a = tp_layer_costs_sum(twice, 2, 4);
	struct tp_layer_costs b = tp_layer_costs_sum(&once, 1, 4);
	expect_at_least(&a, &b);
	expect_at_least(&b, &a);
	ck_assert_double_eq(a.halo_messages, b.halo_messages);
}
END_TEST

Suite *suite_advise_layer_cost(void);
Suite *suite_advise_layer_cost(void)
{
	Suite *suite = suite_create("advise_layercost");
	TCase *tcase = tcase_create("layercost");
	tcase_add_test(tcase, a_convolution_in_space_costs_what_is_counted_by_hand);
	tcase_add_loop_test(tcase, halos_are_as_wide_as_kernels_reach_over_a_border, 0,
			    sizeof(rows) / sizeof(rows[0]));
	tcase_add_test(tcase, the_peak_is_where_what_is_kept_and_its_gradients_are_most);
	tcase_add_test(tcase, slabs_are_cut_where_planes_are_smallest);
	tcase_add_test(tcase, without_extents_there_is_nothing_to_cut);
	tcase_add_test(tcase, another_layer_never_makes_anything_cheaper);
	tcase_add_test(tcase, costs_keep_their_bounds);
	tcase_add_test(tcase, a_layer_twice_is_two_layers);
	suite_add_tcase(suite, tcase);
	return suite;
}
