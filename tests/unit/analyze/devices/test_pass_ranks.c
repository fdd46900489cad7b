/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of traces of spans, on scenes in which the label of each instant is known. */
#include "analyze/spanscene.h"

#include "trainprof/model/fact.h"

#include <stdio.h>

#define US UINT64_C(1000)

static struct scene s;

static void setup(void)
{
	scene_init(&s, 1);
}

static void teardown(void)
{
	scene_release(&s);
}

/* ---- one rank ---- */

START_TEST(toy_overlap_gives_the_published_parts)
{
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	uint16_t stream = scene_track(&s, 0, 0);
	uint16_t other = scene_track(&s, 0, 0);
	scene_step(&s, thread, 1, 1000, 1100);
	scene_op(&s, thread, 1000, stream, TP_SPAN_KERNEL, SCENE_GEMM, 1000, 1060);
	scene_op(&s, thread, 1002, other, TP_SPAN_KERNEL, SCENE_ALLRED, 1040, 1080);
	scene_op(&s, thread, 1004, stream, TP_SPAN_COPY, SCENE_H2D, 1075, 1085);
	scene_span(&s, thread, TP_SPAN_ANNOTATION, "enumerate(DataLoader)#It.__next__", 1070, 1100);
	scene_judge(&s);
	const struct tp_profile *p = &s.profile;
	ck_assert_uint_eq(p->total_ns, 100);
	ck_assert_uint_eq(scene_part(&s, TP_PART_COMPUTE), 60);
	ck_assert_uint_eq(scene_part(&s, TP_PART_COMMUNICATION), 20);
	ck_assert_uint_eq(scene_part(&s, TP_PART_MEMORY), 5);
	ck_assert_uint_eq(scene_part(&s, TP_PART_DATALOADER), 15);
	ck_assert_uint_eq(p->parts[TP_PART_COMMUNICATION].hidden_ns, 20);
	ck_assert_uint_eq(p->parts[TP_PART_MEMORY].hidden_ns, 5);
	ck_assert_uint_eq(p->parts[TP_PART_DATALOADER].hidden_ns, 15);
	ck_assert_uint_eq(p->parts[TP_PART_DATALOADER].solo_ns, 15);
	ck_assert_uint_eq(p->parts[TP_PART_COMMUNICATION].solo_ns, 10);
	ck_assert_uint_eq(p->label_ns[TP_LABEL_MEMORY_H2D], 5);
	ck_assert_int_eq(p->largest_loss, TP_PART_COMMUNICATION);
	const struct tp_device_result *device = &p->devices[0];
	ck_assert_uint_eq(p->n_devices, 1);
	ck_assert_uint_eq(device->span_ns, 85);
	ck_assert_uint_eq(device->busy_ns, 85);
	ck_assert_uint_eq(device->exposed_communication_ns, 20);
	ck_assert_uint_eq(device->exposed_copy_ns, 5);
	ck_assert_uint_eq(device->overlap_ns, 20);
	ck_assert_uint_eq(device->n_ops[TP_OP_COMPUTE], 1);
	ck_assert_uint_eq(device->n_ops[TP_OP_COMMUNICATION], 1);
	ck_assert_uint_eq(device->n_ops[TP_OP_COPY], 1);
	/* Sizes are unknown, so nothing is reported about them. */
	ck_assert(!p->facts[TP_FACT_COMM_BYTES].is_known);
	ck_assert_ptr_nonnull(p->facts[TP_FACT_COMM_BYTES].missing);
}
END_TEST

START_TEST(work_belongs_to_the_step_that_launched_it)
{
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	uint16_t stream = scene_track(&s, 0, 0);
	/* One kernel is launched before the first step; one launched in it ends in the second. */
	scene_op(&s, thread, 900, stream, TP_SPAN_KERNEL, SCENE_GEMM, 950, 1040);
	scene_step(&s, thread, 1, 1000, 1100);
	scene_op(&s, thread, 1010, stream, TP_SPAN_KERNEL, SCENE_GEMM, 1050, 1130);
	scene_step(&s, thread, 2, 1100, 1200);
	scene_op(&s, thread, 1110, stream, TP_SPAN_KERNEL, SCENE_GEMM, 1130, 1190);
	/* A call that reaches beyond its step belongs to no step. */
	scene_detailed(&s, thread, 1195, 1205, stream, TP_SPAN_KERNEL, SCENE_GEMM, 1210, 1220,
		       NULL);
	scene_judge(&s);
	const struct tp_profile *p = &s.profile;
	ck_assert_uint_eq(p->n_steps, 2);
	/* [1040, 1130): before that the device ran work that no step launched. */
	ck_assert_uint_eq(p->steps[0].start_ns, 1040);
	ck_assert_uint_eq(p->steps[0].end_ns, 1130);
	ck_assert_uint_eq(p->steps[1].end_ns, 1200);
	ck_assert_uint_eq(p->steps[0].part_ns[TP_PART_COMPUTE], 80);
	ck_assert_uint_eq(p->steps[1].part_ns[TP_PART_COMPUTE], 60);
	ck_assert_uint_eq(p->devices[0].ops_per_step[0], 1);
	ck_assert_uint_eq(p->devices[0].ops_per_step[1], 1);
	ck_assert_uint_eq(p->devices[0].n_unlinked, 0);
}
END_TEST

START_TEST(repeated_or_nested_marks_are_one_step)
{
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	uint16_t stream = scene_track(&s, 0, 0);
	for (unsigned i = 0; i < 4; i++) {
		uint64_t at = 1000 + i * 100;
		scene_step(&s, thread, i, at, at + 100);
		scene_step(&s, thread, i, at, at + 100);
		scene_step(&s, thread, 100 + i, at + 10, at + 30);
		scene_op(&s, thread, at + 5, stream, TP_SPAN_KERNEL, SCENE_GEMM, at + 20, at + 90);
	}
	scene_judge(&s);
	ck_assert_uint_eq(s.profile.n_steps, 4);
	ck_assert_uint_eq(s.profile.total_ns, 400);
	ck_assert_uint_eq(scene_part(&s, TP_PART_COMPUTE), 280);
	ck_assert_int_eq(s.profile.steps_found_by, TP_STEPS_MARKER);
}
END_TEST

/* Start and length are rounded independently. */
START_TEST(marks_that_overlap_by_rounding_are_two_steps)
{
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	uint16_t stream = scene_track(&s, 0, 0);
	for (unsigned i = 0; i < 4; i++) {
		scene_step(&s, thread, i, 1000 * (i + 1), 1000 * (i + 2) + 1);
		scene_op(&s, thread, 1000 * (i + 1) + 10, stream, TP_SPAN_KERNEL, SCENE_GEMM,
			 1000 * (i + 1) + 50, 1000 * (i + 1) + 500);
	}
	/* Spans of no length with a step's name are not step marks. */
	uint16_t other = scene_track(&s, 0, TP_TRACK_THREAD);
	for (unsigned i = 0; i < 9; i++)
		scene_step(&s, other, i, 1000 + i, 1000 + i);
	scene_judge(&s);
	const struct tp_device_result *device = &s.profile.devices[0];
	ck_assert_uint_eq(device->n_steps, 4);
	for (size_t i = 0; i < 4; i++) {
		ck_assert_uint_eq(device->ops_per_step[i], 1);
		ck_assert_uint_eq(device->step_ns[i], i < 3 ? 1000 : 1001);
	}
}
END_TEST

START_TEST(a_step_that_was_not_seen_whole_is_left_out)
{
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	uint16_t stream = scene_track(&s, 0, 0);
	for (unsigned i = 0; i < 4; i++) {
		uint64_t at = 1000 + i * 100;
		scene_step(&s, thread, i, at, at + 100);
		for (unsigned k = 0; k < (i == 3 ? 2 : 4); k++)
			scene_op(&s, thread, at + k * 10, stream, TP_SPAN_KERNEL, SCENE_GEMM,
				 at + 10 + k * 20, at + 20 + k * 20);
	}
	scene_judge(&s);
	ck_assert_uint_eq(s.profile.n_steps, 4);
	ck_assert_uint_eq(s.profile.n_steady, 3);
	ck_assert_int_eq(s.profile.steps[3].kind, TP_STEP_CUT);
	ck_assert_uint_eq(s.profile.total_ns, 300);
}
END_TEST

/* The activity of threads counts when the device is idle; the phase has priority over the leaf. */
START_TEST(host_work_has_names)
{
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	uint16_t backward = scene_track(&s, 0, TP_TRACK_THREAD);
	uint16_t stream = scene_track(&s, 0, 0);
	scene_step(&s, thread, 1, 1000, 2000);
	scene_op(&s, thread, 1000, stream, TP_SPAN_KERNEL, SCENE_GEMM, 1000, 1100);
	scene_span(&s, thread, TP_SPAN_ANNOTATION, "enumerate(DataLoader)#It.__next__", 1100, 1200);
	scene_span(&s, thread, TP_SPAN_CALL, "cudaMalloc", 1150, 1250);
	scene_span(&s, thread, TP_SPAN_CALL, "cudaStreamSynchronize", 1250, 1300);
	scene_span(&s, thread, TP_SPAN_OPERATOR, "aten::linear", 1300, 1500);
	scene_span(&s, thread, TP_SPAN_CALL, "cudaLaunchKernel", 1350, 1400);
	scene_span(&s, backward, TP_SPAN_OPERATOR, "AddmmBackward0", 1450, 1600);
	scene_span(&s, backward, TP_SPAN_OS_CALL, "poll", 1000, 2000);
	scene_span(&s, thread, TP_SPAN_ANNOTATION, "my range", 1600, 1700);
	scene_judge(&s);
	const uint64_t *label_ns = s.profile.label_ns;
	ck_assert_uint_eq(label_ns[TP_LABEL_COMPUTE_MATH], 100);
	ck_assert_uint_eq(label_ns[TP_LABEL_DATALOADER_NEXT], 100);
	ck_assert_uint_eq(label_ns[TP_LABEL_MEMORY_ALLOC], 50);
	ck_assert_uint_eq(label_ns[TP_LABEL_HOST_SYNC], 50);
	ck_assert_uint_eq(label_ns[TP_LABEL_HOST_LAUNCH], 50);
	ck_assert_uint_eq(label_ns[TP_LABEL_HOST_DISPATCH], 250);
	ck_assert_uint_eq(label_ns[TP_LABEL_HOST_OTHER], 100);
	ck_assert_uint_eq(label_ns[TP_LABEL_IDLE_UNKNOWN], 300);
	ck_assert_double_eq(s.profile.facts[TP_FACT_DEVICE_SYNCS].value, 1);
	ck_assert_double_eq(s.profile.facts[TP_FACT_DEVICE_ALLOCS].value, 1);
}
END_TEST

static double fact(enum tp_fact fact)
{
	ck_assert_msg(s.profile.facts[fact].is_known, "%s: %s", tp_fact_desc(fact)->name,
		      s.profile.facts[fact].missing);
	return s.profile.facts[fact].value;
}

/* Two copies to the device per step, of which the short one is small; one back is ignored. */
START_TEST(copies_of_a_step_are_counted_by_their_size)
{
	static const struct tp_detail small = {.bytes = 65535};
	static const struct tp_detail large = {.bytes = 65536};
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	uint16_t stream = scene_track(&s, 0, 0);
	for (unsigned i = 0; i < 3; i++) {
		uint64_t at = 1000 + i * 1000;
		scene_step(&s, thread, i, at, at + 1000);
		scene_detailed(&s, thread, at, at + 5, stream, TP_SPAN_COPY, SCENE_H2D, at + 10,
			       at + 40, &small);
		scene_detailed(&s, thread, at + 50, at + 55, stream, TP_SPAN_COPY, SCENE_H2D,
			       at + 100, at + 190, &large);
		scene_detailed(&s, thread, at + 200, at + 205, stream, TP_SPAN_COPY,
			       "Memcpy DtoH (Device -> Pinned)", at + 300, at + 400, &small);
	}
	scene_judge(&s);
	ck_assert_double_eq(fact(TP_FACT_DEVICE_COPIES), 2);
	ck_assert_double_eq_tol(fact(TP_FACT_DEVICE_SMALL_COPY), 0.25, 1e-9);
}
END_TEST

/* In 1000 ns, one kernel waits 100 ns after its launch call ended, the other 300 ns: the mean depth
 * of the queue is (100 + 300) / 1000 = 0.4. */
START_TEST(work_that_waits_for_its_turn_is_the_depth_of_the_queue)
{
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	uint16_t stream = scene_track(&s, 0, 0);
	for (unsigned i = 0; i < 4; i++) {
		uint64_t at = 10000 + i * 1000;
		scene_step(&s, thread, i, at, at + 1000);
		scene_op(&s, thread, at + 8, stream, TP_SPAN_KERNEL, SCENE_GEMM, at + 110,
			 at + 400);
		scene_op(&s, thread, at + 98, stream, TP_SPAN_KERNEL, SCENE_GEMM, at + 400,
			 at + 900);
	}
	scene_judge(&s);
	ck_assert_double_eq_tol(fact(TP_FACT_DEVICE_QUEUE), 0.4, 0.02);
}
END_TEST

/* Twenty-four steps; in the later twelve one kernel takes a tenth longer, and another, which takes
 * half its time, runs twice, so that it cannot be compared. */
static void play_drift(unsigned n_steps, unsigned times_late)
{
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	uint16_t stream = scene_track(&s, 0, 0);
	for (unsigned i = 0; i < n_steps; i++) {
		uint64_t at = 10000 + i * 1000;
		bool is_late = i >= n_steps / 2;
		scene_step(&s, thread, i, at, at + 1000);
		scene_op(&s, thread, at, stream, TP_SPAN_KERNEL, SCENE_GEMM, at + 10,
			 at + (is_late ? 230 : 210));
		for (unsigned k = 0; k < (is_late ? times_late : 1); k++)
			scene_op(&s, thread, at + 250 + 100 * k, stream, TP_SPAN_KERNEL, SCENE_ADAM,
				 at + 260 + 100 * k, at + 280 + 100 * k);
	}
	scene_judge(&s);
}

START_TEST(slower_kernels_are_distinguished_from_more_kernels)
{
	play_drift(24, 2);
	ck_assert_double_eq_tol(fact(TP_FACT_DEVICE_DRIFT), 0.1, 1e-9);
}
END_TEST

START_TEST(few_steps_have_no_later_half)
{
	play_drift(18, 1);
	ck_assert(!s.profile.facts[TP_FACT_DEVICE_DRIFT].is_known);
	ck_assert_str_eq(s.profile.facts[TP_FACT_DEVICE_DRIFT].missing,
			 "fewer than twenty steps have kernels that compute");
}
END_TEST

START_TEST(without_a_device_operators_compute)
{
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	scene_step(&s, thread, 1, 1000, 2000);
	scene_span(&s, thread, TP_SPAN_OPERATOR, "aten::addmm", 1000, 1400);
	scene_span(&s, thread, TP_SPAN_ANNOTATION, "gloo:all_reduce", 1300, 1500);
	scene_span(&s, thread, TP_SPAN_ANNOTATION, "enumerate(DataLoader)#It.__next__", 1500, 1600);
	scene_span(&s, thread, TP_SPAN_ANNOTATION, "Optimizer.step#SGD.step", 1600, 1900);
	scene_judge(&s);
	ck_assert_uint_eq(scene_part(&s, TP_PART_COMPUTE), 300);
	ck_assert_uint_eq(scene_part(&s, TP_PART_COMMUNICATION), 200);
	ck_assert_uint_eq(scene_part(&s, TP_PART_DATALOADER), 100);
	ck_assert_uint_eq(scene_part(&s, TP_PART_HOST), 300);
	ck_assert_uint_eq(scene_part(&s, TP_PART_IDLE), 100);
	ck_assert_int_eq(s.profile.devices[0].number, TP_TRACK_THREAD);
	ck_assert(!s.profile.facts[TP_FACT_DEVICE_BUSY].is_known);
	ck_assert(!s.profile.facts[TP_FACT_DEVICE_BUSY].is_foreign);
	ck_assert(s.profile.facts[TP_FACT_CPU_IDLE].is_foreign);
}
END_TEST

/* Two calls of Keras. The second one makes two steps, and fetches the batch of the second while the
 * first one computes: 100 of that fetch have no other work beside. */
START_TEST(a_batch_that_is_fetched_ahead_hides_no_computing)
{
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	uint16_t pool = scene_track(&s, 0, TP_TRACK_THREAD);
	for (unsigned call = 0; call < 2; call++) {
		uint64_t at = 1000 + 1000 * call;
		scene_step(&s, thread, call, at, at + 1000);
		scene_span(&s, thread, TP_SPAN_ANNOTATION, "IteratorGetNextOp::DoCompute", at,
			   at + 200);
		scene_span(&s, pool, TP_SPAN_OPERATOR, "MatMul", at + 150, at + 600);
	}
	scene_span(&s, thread, TP_SPAN_ANNOTATION, "IteratorGetNextOp::DoCompute", 2250, 2700);
	scene_span(&s, pool, TP_SPAN_OPERATOR, "MatMul", 2700, 3000);
	scene_judge(&s);
	ck_assert_uint_eq(scene_part(&s, TP_PART_DATALOADER), 200 + 200 + 100);
	ck_assert_uint_eq(scene_part(&s, TP_PART_COMPUTE), 400 + 400 + 300);
	ck_assert_uint_eq(scene_part(&s, TP_PART_IDLE), 400);
}
END_TEST

/* Each gap of the device with its cause. */
START_TEST(gaps_have_causes)
{
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	uint16_t stream = scene_track(&s, 0, 0);
	scene_step(&s, thread, 1, 0, 1000 * US);
	scene_op(&s, thread, 0, stream, TP_SPAN_KERNEL, SCENE_GEMM, 10 * US, 100 * US);
	/* queued already: 2 us, then 20 us */
	scene_op(&s, thread, 50 * US, stream, TP_SPAN_KERNEL, SCENE_GEMM, 102 * US, 200 * US);
	scene_op(&s, thread, 60 * US, stream, TP_SPAN_KERNEL, SCENE_GEMM, 220 * US, 300 * US);
	/* the call began before the gap and ended in it */
	scene_detailed(&s, thread, 290 * US, 330 * US, stream, TP_SPAN_KERNEL, SCENE_GEMM, 335 * US,
		       400 * US, NULL);
	/* the CPU side had waited for the device */
	scene_span(&s, thread, TP_SPAN_CALL, "cudaStreamSynchronize", 340 * US, 405 * US);
	scene_op(&s, thread, 440 * US, stream, TP_SPAN_KERNEL, SCENE_GEMM, 445 * US, 500 * US);
	/* data loading */
	scene_span(&s, thread, TP_SPAN_ANNOTATION, "enumerate(DataLoader)#It.__next__", 500 * US,
		   540 * US);
	scene_op(&s, thread, 545 * US, stream, TP_SPAN_KERNEL, SCENE_GEMM, 550 * US, 600 * US);
	/* any other cause */
	scene_op(&s, thread, 650 * US, stream, TP_SPAN_KERNEL, SCENE_GEMM, 655 * US, 700 * US);
	/* unknown cause */
	scene_span(&s, stream, TP_SPAN_KERNEL, SCENE_GEMM, 710 * US, 800 * US);
	scene_judge(&s);
	const uint64_t *gap_ns = s.profile.devices[0].gap_ns;
	ck_assert_uint_eq(gap_ns[TP_GAP_LATENCY], 2 * US);
	ck_assert_uint_eq(gap_ns[TP_GAP_DEPENDENCY], 20 * US);
	ck_assert_uint_eq(gap_ns[TP_GAP_LAUNCH], 35 * US);
	ck_assert_uint_eq(gap_ns[TP_GAP_SYNC], 45 * US);
	ck_assert_uint_eq(gap_ns[TP_GAP_DATALOADER], 50 * US);
	ck_assert_uint_eq(gap_ns[TP_GAP_HOST], 55 * US);
	ck_assert_uint_eq(gap_ns[TP_GAP_UNKNOWN], 10 * US);
	ck_assert_uint_eq(s.profile.devices[0].n_unlinked, 1);
}
END_TEST

/* ---- steps ---- */

/* Runs `n` micro-batches of three layers, then the optimizer; returns the end time. */
static uint64_t train_step(uint16_t thread, uint16_t stream, uint64_t at, unsigned n,
			   const char *optimizer, bool has_input)
{
	static const char *const layer[] = {SCENE_GEMM, "void softmax_warp_forward<float>()",
					    "void vectorized_layer_norm_kernel<float>()"};
	for (unsigned m = 0; m < n; m++) {
		if (has_input) {
			scene_op(&s, thread, at, stream, TP_SPAN_COPY, SCENE_H2D, at + 5, at + 10);
			at += 10;
		}
		for (unsigned i = 0; i < 9; i++, at += 10)
			scene_op(&s, thread, at, stream, TP_SPAN_KERNEL, layer[i % 3], at + 5,
				 at + 12);
		scene_op(&s, thread, at, stream, TP_SPAN_KERNEL,
			 "void nll_loss_forward_reduce_cuda_kernel_2d<float>()", at + 5, at + 12);
		at += 10;
	}
	for (unsigned i = 0; optimizer && i < 12; i++, at += 10) {
		char name[200];
		snprintf(name, sizeof(name), "%s/*%u*/", optimizer, i % 6);
		scene_op(&s, thread, at, stream, TP_SPAN_KERNEL, name, at + 5, at + 12);
	}
	return at;
}

START_TEST(steps_are_found_in_the_order_of_launches)
{
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	uint16_t stream = scene_track(&s, 0, 0);
	uint64_t at = 1000;
	for (unsigned i = 0; i < 10; i++)
		at = train_step(thread, stream, at, 1, SCENE_ADAM, true);
	scene_judge(&s);
	const struct tp_profile *p = &s.profile;
	ck_assert_int_eq(p->steps_found_by, TP_STEPS_PERIOD);
	ck_assert_uint_eq(p->n_steps, 9); /* counted between cuts */
	ck_assert_uint_eq(p->micro_batches, 0);
	ck_assert_double_eq(p->steps_confidence, 1);
	for (size_t i = 0; i < p->n_steps; i++)
		ck_assert_uint_eq(p->devices[0].ops_per_step[i], 23);
}
END_TEST

START_TEST(a_layer_is_no_step)
{
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	uint16_t stream = scene_track(&s, 0, 0);
	uint64_t at = 1000;
	for (unsigned i = 0; i < 10; i++)
		at = train_step(thread, stream, at, 1, NULL, false);
	scene_judge(&s);
	ck_assert_int_eq(s.profile.steps_found_by, TP_STEPS_NONE);
	ck_assert_uint_eq(s.profile.n_steps, 0);
	ck_assert_ptr_nonnull(strstr(s.profile.steps_reason, "layers or micro-batches"));
	ck_assert(!s.profile.is_of_steps);
	ck_assert_uint_gt(s.profile.total_ns, 0);
}
END_TEST

START_TEST(the_step_of_accumulated_gradients_has_the_optimizer)
{
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	uint16_t stream = scene_track(&s, 0, 0);
	uint64_t at = 1000;
	for (unsigned i = 0; i < 8; i++)
		at = train_step(thread, stream, at, 16, SCENE_ADAM, true);
	scene_judge(&s);
	const struct tp_profile *p = &s.profile;
	ck_assert_int_eq(p->steps_found_by, TP_STEPS_PERIOD);
	ck_assert_uint_eq(p->n_steps, 7);
	for (size_t i = 0; i < p->n_steps; i++)
		ck_assert_uint_eq(p->devices[0].ops_per_step[i], 16 * 11 + 12);
}
END_TEST

START_TEST(the_optimizer_ends_steps_that_are_not_alike)
{
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	uint16_t stream = scene_track(&s, 0, 0);
	uint64_t at = 1000;
	for (unsigned i = 0; i < 8; i++) {
		at = train_step(thread, stream, at, 1 + i * 7 % 5, NULL, i % 2);
		scene_span(&s, thread, TP_SPAN_ANNOTATION, "Optimizer.step#Adam.step", at, at + 50);
		at += 60;
	}
	scene_judge(&s);
	ck_assert_int_eq(s.profile.steps_found_by, TP_STEPS_PERIOD);
	ck_assert_uint_eq(s.profile.n_steps, 7);
	ck_assert_double_lt(s.profile.steps_confidence, 0.9);
}
END_TEST

/* Steps whose launches differ, each followed by a trainer's work at the end of a step; returns the
 * number of steps found. A step takes at least 1 us, the gaps between end-of-step kernels 50 ns. */
static size_t steps_of_ends(const char *const *names, size_t n_names, unsigned n_steps)
{
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	uint16_t stream = scene_track(&s, 0, 0);
	uint64_t at = 1000;
	for (unsigned i = 0; i < n_steps; i++) {
		at = train_step(thread, stream, at, 10 + i * 7 % 5, NULL, i % 2);
		for (size_t k = 0; k < n_names; k++, at += 60)
			scene_span(&s, thread, TP_SPAN_ANNOTATION, names[k], at, at + 50);
	}
	scene_judge(&s);
	return s.profile.n_steps;
}

START_TEST(clearing_gradients_ends_no_step)
{
	static const char *const names[] = {"Optimizer.step#Adam.step",
					    "Optimizer.zero_grad#Adam.zero_grad"};
	ck_assert_uint_eq(steps_of_ends(names, 2, 6), 5);
}
END_TEST

START_TEST(two_optimizers_at_the_end_are_one_step)
{
	static const char *const names[] = {"Optimizer.step#Adam.step", "Optimizer.step#Adam.step"};
	ck_assert_uint_eq(steps_of_ends(names, 2, 6), 5);
}
END_TEST

START_TEST(optimizers_of_two_names_are_one_step)
{
	static const char *const names[] = {"Optimizer.step#Adam.step", "Optimizer.step#SGD.step"};
	ck_assert_uint_eq(steps_of_ends(names, 2, 6), 5);
}
END_TEST

/* Ten rounds of a layer, each with a copy of `bytes`. */
static void repeat_with_copy(uint64_t bytes)
{
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	uint16_t stream = scene_track(&s, 0, 0);
	struct tp_detail detail = {.bytes = bytes};
	uint64_t at = 1000;
	for (unsigned i = 0; i < 10; i++) {
		scene_detailed(&s, thread, at, at + 2, stream, TP_SPAN_COPY, SCENE_H2D, at + 5,
			       at + 10, &detail);
		at = train_step(thread, stream, at + 10, 1, NULL, false);
	}
	scene_judge(&s);
}

START_TEST(a_copy_of_eight_bytes_is_no_input)
{
	repeat_with_copy(8);
	ck_assert_int_eq(s.profile.steps_found_by, TP_STEPS_NONE);
	ck_assert_uint_eq(s.profile.n_steps, 0);
	ck_assert_ptr_nonnull(strstr(s.profile.steps_reason, "layers or micro-batches"));
}
END_TEST

static bool is_warned(const char *id)
{
	for (size_t i = 0; i < s.profile.n_warnings; i++)
		if (strcmp(s.profile.warnings[i].id, id) == 0)
			return true;
	return false;
}

START_TEST(repeats_without_an_optimizer_are_called_repeats)
{
	repeat_with_copy(4096);
	ck_assert_uint_eq(s.profile.n_steps, 9);
	ck_assert(is_warned("repeats-without-optimizer"));
	ck_assert_ptr_nonnull(strstr(s.profile.steps_reason, "without an optimizer"));
}
END_TEST

START_TEST(a_trace_without_work_is_said_to_be_empty)
{
	scene_judge(&s);
	ck_assert_uint_eq(s.profile.total_ns, 0);
	ck_assert_uint_eq(s.profile.n_warnings, 1);
	ck_assert_str_eq(s.profile.warnings[0].id, "empty-trace");
}
END_TEST

/* ---- several ranks ---- */

struct job {
	uint16_t threads[SCENE_RANKS];
	uint16_t streams[SCENE_RANKS];
};

static void job_init(struct job *job, uint32_t n)
{
	scene_release(&s);
	scene_init(&s, n);
	for (uint32_t i = 0; i < n; i++) {
		job->threads[i] = scene_track(&s, i, TP_TRACK_THREAD);
		job->streams[i] = scene_track(&s, i, (int32_t)i);
	}
}

static void collective(const struct job *job, uint32_t rank, const char *group, uint32_t sequence,
		       uint64_t start, uint64_t end)
{
	struct tp_detail detail = {.group = tp_sink_string(&s.builder.sink, group),
				   .sequence = sequence,
				   .bytes = 4096};
	scene_detailed(&s, job->threads[rank], start - 4, start - 2, job->streams[rank],
		       TP_SPAN_KERNEL, SCENE_ALLRED, start, end, &detail);
}

static uint64_t blame(uint32_t device, enum tp_label label)
{
	for (size_t i = 0; i < s.profile.n_blames; i++)
		if (s.profile.blames[i].device == device && s.profile.blames[i].label == label)
			return s.profile.blames[i].time_ns;
	return 0;
}

/* Rank 1 comes late by 300: it computed for 100 and ran operators for 200. */
static void late_rank(const struct job *job, uint64_t shift)
{
	scene_step(&s, job->threads[0], 1, 1000, 2000);
	collective(job, 0, "", 0, 1100, 1500);
	scene_step(&s, job->threads[1], 1, shift + 1000, shift + 2000);
	scene_op(&s, job->threads[1], shift + 1000, job->streams[1], TP_SPAN_KERNEL, SCENE_GEMM,
		 shift + 1100, shift + 1200);
	scene_span(&s, job->threads[1], TP_SPAN_OPERATOR, "aten::linear", shift + 1200,
		   shift + 1396);
	collective(job, 1, "", 0, shift + 1400, shift + 1500);
}

static const uint64_t shifts[] = {0, 7, UINT64_C(5000000000)};

START_TEST(a_wait_goes_to_what_the_late_rank_did)
{
	struct job job;
	job_init(&job, 2);
	late_rank(&job, shifts[_i]);
	scene_judge(&s);
	const struct tp_profile *p = &s.profile;
	ck_assert_uint_eq(p->n_collectives, 1);
	const struct tp_collective_result *c = &p->collectives[0];
	ck_assert_uint_eq(c->late, 1);
	ck_assert_uint_eq(c->arrival_spread_ns, 300 + (_i == 1 ? 7 : 0));
	ck_assert_uint_eq(c->transfer_ns, 100);
	ck_assert_uint_eq(c->wait_ns[0], c->arrival_spread_ns);
	if (_i ==
	    1) /* clocks that differ by 7 ns count as one clock: all times are 7 later there */
		return;
	ck_assert_uint_eq(p->devices[0].own_ns[TP_PART_COMMUNICATION], 400);
	ck_assert_uint_eq(p->devices[0].after_ns[TP_PART_COMMUNICATION], 100);
	ck_assert_uint_eq(p->devices[0].after_ns[TP_PART_COMPUTE], 100);
	ck_assert_uint_eq(blame(1, TP_LABEL_COMPUTE_MATH), 100);
	ck_assert_uint_eq(blame(1, TP_LABEL_HOST_DISPATCH), 196);
	ck_assert_uint_eq(blame(1, TP_LABEL_HOST_LAUNCH), 2);
	ck_assert_uint_eq(blame(1, TP_LABEL_IDLE_UNKNOWN), 2);
	ck_assert_uint_eq(p->devices[1].wait_caused_ns, 300);
	ck_assert_uint_eq(p->label_ns[TP_LABEL_COMMUNICATION_TRANSFER], 200);
	ck_assert_uint_eq(p->label_ns[TP_LABEL_COMMUNICATION_COLLECTIVE], 0);
}
END_TEST

/* Sends of the thread just before and after are separate from the device's wait. */
START_TEST(a_wait_next_to_a_threads_own_exchange_is_handed_over)
{
	struct job job;
	job_init(&job, 2);
	late_rank(&job, 0);
	scene_span(&s, job.threads[0], TP_SPAN_OPERATOR, "gloo:all_reduce", 1050, 1100);
	scene_span(&s, job.threads[0], TP_SPAN_OPERATOR, "gloo:all_reduce", 1500, 1520);
	scene_judge(&s);
	const struct tp_profile *p = &s.profile;
	ck_assert_uint_eq(p->devices[0].own_ns[TP_PART_COMMUNICATION], 470);
	ck_assert_uint_eq(p->devices[0].after_ns[TP_PART_COMMUNICATION], 170);
	ck_assert_uint_eq(p->devices[1].wait_caused_ns, 300);
	ck_assert_uint_eq(p->label_ns[TP_LABEL_COMMUNICATION_TRANSFER], 200);
	ck_assert_uint_eq(p->label_ns[TP_LABEL_COMMUNICATION_COLLECTIVE], 70);
}
END_TEST

/* Rank 0 waits for 1, which meanwhile waits for 2 in another communicator. */
START_TEST(a_wait_follows_the_chain)
{
	struct job job;
	job_init(&job, 3);
	for (uint32_t i = 0; i < 3; i++)
		scene_step(&s, job.threads[i], 1, 1000, 2000);
	collective(&job, 1, "b", 0, 1100, 1300);
	scene_span(&s, job.threads[2], TP_SPAN_ANNOTATION, "enumerate(DataLoader)#It.__next__",
		   1100, 1200);
	collective(&job, 2, "b", 0, 1200, 1300);
	collective(&job, 0, "a", 0, 1150, 1400);
	collective(&job, 1, "a", 0, 1350, 1400);
	scene_judge(&s);
	ck_assert_uint_eq(s.profile.n_collectives, 2);
	/* [1150, 1200) rank 2 loads, of that 2 ns in a call that does not count as loading; [1200,
	 * 1300) rank 1 transfers; then it is idle, except for its call. */
	ck_assert_uint_eq(blame(2, TP_LABEL_DATALOADER_NEXT), 100 + 50);
	ck_assert_uint_eq(blame(1, TP_LABEL_COMMUNICATION_TRANSFER), 100);
	ck_assert_uint_eq(blame(1, TP_LABEL_HOST_LAUNCH), 2);
	ck_assert_uint_eq(blame(1, TP_LABEL_IDLE_UNKNOWN), 48);
}
END_TEST

START_TEST(without_records_of_the_late_rank_nothing_is_claimed)
{
	struct job job;
	job_init(&job, 2);
	scene_step(&s, job.threads[0], 1, 1000, 2000);
	collective(&job, 0, "", 0, 1100, 1500);
	scene_step(&s, job.threads[1], 1, 1300, 2000);
	collective(&job, 1, "", 0, 1400, 1500);
	scene_judge(&s);
	ck_assert_uint_eq(s.profile.devices[0].not_captured_ns, 200);
	ck_assert_uint_eq(blame(1, TP_LABEL_COMMUNICATION_UNCAPTURED), 200);
}
END_TEST

START_TEST(different_numbers_of_collectives_are_not_joined)
{
	struct job job;
	job_init(&job, 2);
	for (uint32_t i = 0; i < 2; i++)
		scene_step(&s, job.threads[i], 1, 1000, 2000);
	collective(&job, 0, "tp", 0, 1100, 1200);
	collective(&job, 0, "tp", 0, 1300, 1400);
	collective(&job, 1, "tp", 0, 1150, 1200);
	scene_judge(&s);
	ck_assert_uint_eq(s.profile.n_collectives, 0);
	ck_assert_ptr_nonnull(strstr(s.profile.not_joined, "different numbers"));
	ck_assert_ptr_nonnull(strstr(s.profile.not_joined, "tp"));
	ck_assert_uint_eq(s.profile.label_ns[TP_LABEL_COMMUNICATION_COLLECTIVE], 250);
}
END_TEST

/* Two pairs of ranks, in which 1 waits for 0 and 2 for 3; if they were one communicator of four, 3
 * would be late for all. */
static void two_pairs(const struct job *job, const char *const groups[2], uint32_t n_ranks)
{
	static const uint64_t starts[] = {1150, 1100, 1200, 1350};
	static const uint64_t ends[] = {1200, 1200, 1400, 1400};
	for (uint32_t i = 0; i < 4; i++) {
		struct tp_detail detail = {.group = tp_sink_string(&s.builder.sink, groups[i / 2]),
					   .n_ranks = n_ranks};
		scene_step(&s, job->threads[i], 1, 1000, 2000);
		scene_detailed(&s, job->threads[i], starts[i] - 4, starts[i] - 2, job->streams[i],
			       TP_SPAN_KERNEL, SCENE_ALLRED, starts[i], ends[i], &detail);
	}
	scene_judge(&s);
}

START_TEST(communicators_of_one_name_and_other_members_are_two)
{
	static const char *const groups[] = {"tp (ranks 0,1)", "tp (ranks 2,3)"};
	struct job job;
	job_init(&job, 4);
	two_pairs(&job, groups, 2);
	const struct tp_profile *p = &s.profile;
	ck_assert_uint_eq(p->n_collectives, 2);
	ck_assert_uint_eq(p->collectives[0].late, 0);
	ck_assert_uint_eq(p->collectives[0].n_members, 2);
	ck_assert_uint_eq(p->collectives[1].late, 3);
	ck_assert_uint_eq(p->devices[0].wait_caused_ns, 50);
	ck_assert_uint_eq(p->devices[1].wait_caused_ns, 0);
	ck_assert_uint_eq(p->devices[3].wait_caused_ns, 150);
	ck_assert_ptr_null(p->not_joined);
}
END_TEST

/* If members are not listed, more ranks than a communicator has show that there are several. */
START_TEST(more_ranks_than_a_communicator_has_are_not_joined)
{
	static const char *const groups[] = {"tp", "tp"};
	struct job job;
	job_init(&job, 4);
	two_pairs(&job, groups, 2);
	ck_assert_uint_eq(s.profile.n_collectives, 0);
	ck_assert_ptr_nonnull(strstr(s.profile.not_joined, "several communicators"));
}
END_TEST

START_TEST(simultaneous_last_arrivals_name_the_lowest_rank)
{
	struct job job;
	job_init(&job, 3);
	for (uint32_t i = 0; i < 3; i++)
		scene_step(&s, job.threads[i], 1, 1000, 2000);
	collective(&job, 0, "", 0, 1100, 1300);
	collective(&job, 1, "", 0, 1200, 1300);
	collective(&job, 2, "", 0, 1200, 1300);
	scene_judge(&s);
	ck_assert_uint_eq(s.profile.collectives[0].late, 1);
	ck_assert_uint_eq(s.profile.devices[1].wait_caused_ns, 100);
	ck_assert_uint_eq(s.profile.devices[2].wait_caused_ns, 0);
}
END_TEST

/* As many communicators as kernels: each costs as much as its own kernels, not as all of them. */
START_TEST(many_communicators_are_joined_as_fast_as_one)
{
	enum { N = 60000 };
	struct job job;
	char group[32];
	job_init(&job, 2);
	for (uint32_t i = 0; i < 2; i++)
		scene_step(&s, job.threads[i], 1, 1000, 1000 + 100 * (N + 2));
	for (uint32_t k = 0; k < N; k++) {
		snprintf(group, sizeof(group), "group %u", k);
		for (uint32_t i = 0; i < 2; i++)
			collective(&job, i, group, 0, 1100 + 100 * k + 10 * i, 1160 + 100 * k);
	}
	scene_judge(&s);
	ck_assert_uint_eq(s.profile.n_collectives, N);
	ck_assert_uint_eq(s.profile.devices[1].wait_caused_ns, 10 * N);
}
END_TEST

/* A profiler that was restarted counts its calls from the beginning. */
START_TEST(a_link_that_comes_again_is_the_later_call_of_the_later_work)
{
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	uint16_t stream = scene_track(&s, 0, 0);
	for (unsigned i = 0; i < 4; i++) {
		uint64_t at = 1000 * (i + 1);
		scene_step(&s, thread, i, at, at + 1000);
		s.n_links = 0;
		scene_op(&s, thread, at + 100, stream, TP_SPAN_KERNEL, SCENE_GEMM, at + 150,
			 at + 400);
		scene_op(&s, thread, at + 110, stream, TP_SPAN_KERNEL, SCENE_GEMM, at + 400,
			 at + 900);
	}
	scene_judge(&s);
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_uint_eq(s.profile.devices[0].ops_per_step[i], 2);
		ck_assert_uint_eq(s.profile.steps[i].part_ns[TP_PART_COMPUTE], 750);
	}
}
END_TEST

/* Work of a rank without steps counts as no step of the job, and not as fifty either. */
START_TEST(a_rank_without_steps_among_others_is_not_judged)
{
	struct job job;
	job_init(&job, 2);
	for (uint32_t i = 0; i < 4; i++) {
		scene_step(&s, job.threads[0], i, 1000 * (i + 1), 1000 * (i + 2));
		for (uint32_t r = 0; r < 2; r++)
			scene_op(&s, job.threads[r], 1000 * (i + 1), job.streams[r], TP_SPAN_KERNEL,
				 SCENE_GEMM, 1000 * (i + 1) + 100, 1000 * (i + 1) + 600);
	}
	scene_judge(&s);
	const struct tp_profile *p = &s.profile;
	ck_assert_uint_eq(p->total_ns, 4000);
	ck_assert_uint_eq(p->parts[TP_PART_COMPUTE].time_ns, 2000);
	ck_assert_double_eq(p->parts[TP_PART_COMPUTE].per_step.mean, 500);
	ck_assert_uint_eq(p->devices[1].window_ns, 0);
	ck_assert_uint_eq(p->devices[1].n_ops[TP_OP_COMPUTE], 4);
	ck_assert_uint_eq(p->n_warnings, 1);
	ck_assert_str_eq(p->warnings[0].id, "devices-without-steps");
}
END_TEST

/* Streams may run collectives in another order. */
START_TEST(sequence_numbers_match_in_any_order)
{
	struct job job;
	job_init(&job, 2);
	for (uint32_t i = 0; i < 2; i++)
		scene_step(&s, job.threads[i], 1, 1000, 2000);
	collective(&job, 0, "tp", 1, 1100, 1400);
	collective(&job, 0, "tp", 2, 1200, 1400);
	collective(&job, 1, "tp", 2, 1110, 1400);
	collective(&job, 1, "tp", 1, 1230, 1400);
	scene_judge(&s);
	ck_assert_uint_eq(s.profile.n_collectives, 2);
	ck_assert_uint_eq(s.profile.collectives[0].arrival_spread_ns, 90);
	ck_assert_uint_eq(s.profile.collectives[1].arrival_spread_ns, 130);
}
END_TEST

/* One capture began later: sequence numbers show which of its collectives correspond. */
START_TEST(sequence_numbers_match_what_both_have)
{
	struct job job;
	job_init(&job, 2);
	for (uint32_t i = 0; i < 2; i++)
		scene_step(&s, job.threads[i], 1, 1000, 2000);
	collective(&job, 0, "tp", 5, 1100, 1200);
	collective(&job, 0, "tp", 6, 1300, 1400);
	collective(&job, 1, "tp", 6, 1350, 1400);
	scene_judge(&s);
	ck_assert_uint_eq(s.profile.n_collectives, 1);
	ck_assert_uint_eq(s.profile.collectives[0].arrival_spread_ns, 50);
	ck_assert_ptr_null(s.profile.not_joined);
}
END_TEST

/* A clock that runs 1 in 1000 slow, with an offset of one hour. */
START_TEST(clocks_are_aligned_by_the_ends_of_collectives)
{
	struct job job;
	job_init(&job, 2);
	for (uint32_t i = 0; i < 40; i++) {
		uint64_t at = 10000 * US * (i + 1);
		uint64_t there = UINT64_C(3600000000000) + at + at / 1000;
		scene_step(&s, job.threads[0], i, at, at + 9000 * US);
		scene_step(&s, job.threads[1], i, there, there + 9000 * US);
		collective(&job, 0, "", 0, at + 1000 * US, at + 3000 * US);
		collective(&job, 1, "", 0, there + 2000 * US, there + 3000 * US);
	}
	scene_judge(&s);
	ck_assert_uint_eq(s.profile.n_collectives, 40);
	for (size_t i = 0; i < 40; i++) {
		const struct tp_collective_result *c = &s.profile.collectives[i];
		ck_assert_uint_eq(c->late, 1);
		ck_assert_uint_ge(c->arrival_spread_ns, 950 * US);
		ck_assert_uint_le(c->arrival_spread_ns, 1050 * US);
		ck_assert_uint_le(c->end_spread_ns, 50 * US);
	}
}
END_TEST

/* The late rank's capture began 900 ns after the wait. On the clock that is behind, that is before
 * the first record of all. */
START_TEST(a_wait_from_before_a_clock_began_is_not_captured)
{
	const uint64_t ahead = 100000;
	struct job job;
	job_init(&job, 2);
	uint32_t waiting = (uint32_t)_i;
	uint32_t late = 1 - waiting;
	scene_step(&s, job.threads[waiting], 1, ahead - 1000, ahead + 900);
	collective(&job, waiting, "", 0, ahead - 900, ahead + 500);
	scene_step(&s, job.threads[late], 1, 0, 900);
	collective(&job, late, "", 0, 400, 500);
	scene_judge(&s);
	const struct tp_profile *p = &s.profile;
	ck_assert_uint_eq(p->n_collectives, 1);
	ck_assert_uint_eq(p->collectives[0].late, late);
	ck_assert_uint_eq(p->collectives[0].arrival_spread_ns, 1300);
	ck_assert_uint_eq(p->devices[waiting].not_captured_ns, 900);
	ck_assert_uint_eq(p->devices[waiting].after_ns[TP_PART_COMMUNICATION], 1000);
	ck_assert_uint_eq(blame(late, TP_LABEL_COMMUNICATION_UNCAPTURED), 900);
	ck_assert_uint_eq(blame(late, TP_LABEL_HOST_LAUNCH), 2);
	ck_assert_uint_eq(blame(late, TP_LABEL_IDLE_UNKNOWN), 398);
}
END_TEST

START_TEST(communication_that_slows_kernels_is_seen)
{
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	uint16_t stream = scene_track(&s, 0, 0);
	uint16_t other = scene_track(&s, 0, 0);
	scene_step(&s, thread, 1, 1000, 2000);
	scene_op(&s, thread, 1000, stream, TP_SPAN_KERNEL, SCENE_GEMM, 1100, 1200);
	scene_op(&s, thread, 1010, stream, TP_SPAN_KERNEL, SCENE_GEMM, 1300, 1450);
	scene_op(&s, thread, 1020, other, TP_SPAN_KERNEL, SCENE_ALLRED, 1300, 1440);
	scene_judge(&s);
	const struct tp_kernel_result *kernel = &s.profile.kernels[0];
	ck_assert_uint_eq(kernel->n, 2);
	ck_assert_uint_eq(kernel->time_ns, 250);
	ck_assert_uint_eq(kernel->overlapped_ns, 150);
	ck_assert_double_eq(kernel->slowdown, 1.5);
	ck_assert_str_eq(kernel->family, "gemm");
	ck_assert_double_eq(s.profile.facts[TP_FACT_COMM_SLOWDOWN].value, 0.05);
	ck_assert_double_eq(s.profile.facts[TP_FACT_KERNEL_TENSOR].value, 1);
	ck_assert_str_eq(s.profile.facts[TP_FACT_KERNEL_TENSOR].seen, "by names of kernels");
}
END_TEST

/* Names are known in the order in which the files were read. */
START_TEST(kernels_of_equal_time_are_listed_by_name)
{
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	uint16_t stream = scene_track(&s, 0, 0);
	static const char *const names[] = {"c", "b", "a"};
	scene_step(&s, thread, 1, 1000, 2000);
	scene_op(&s, thread, 1000, stream, TP_SPAN_KERNEL, "z", 1050, 1050);
	for (uint64_t i = 0; i < 3; i++)
		scene_op(&s, thread, 1010 + 10 * i, stream, TP_SPAN_KERNEL, names[i],
			 1100 + 100 * i, 1150 + 100 * i);
	scene_judge(&s);
	ck_assert_uint_eq(s.profile.n_kernels, 4);
	for (size_t i = 0; i < 3; i++)
		ck_assert_str_eq(tp_trace_string(&s.trace, s.profile.kernels[i].name),
				 names[2 - i]);
	ck_assert_uint_eq(s.profile.kernels[3].n, 1);
}
END_TEST

Suite *suite_analyze_pass_ranks(void);
Suite *suite_analyze_pass_ranks(void)
{
	Suite *suite = suite_create("analyze/pass_ranks");
	TCase *tc = tcase_create("ranks");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, toy_overlap_gives_the_published_parts);
	tcase_add_test(tc, work_belongs_to_the_step_that_launched_it);
	tcase_add_test(tc, repeated_or_nested_marks_are_one_step);
	tcase_add_test(tc, marks_that_overlap_by_rounding_are_two_steps);
	tcase_add_test(tc, a_step_that_was_not_seen_whole_is_left_out);
	tcase_add_test(tc, host_work_has_names);
	tcase_add_test(tc, copies_of_a_step_are_counted_by_their_size);
	tcase_add_test(tc, work_that_waits_for_its_turn_is_the_depth_of_the_queue);
	tcase_add_test(tc, slower_kernels_are_distinguished_from_more_kernels);
	tcase_add_test(tc, few_steps_have_no_later_half);
	tcase_add_test(tc, without_a_device_operators_compute);
	tcase_add_test(tc, a_batch_that_is_fetched_ahead_hides_no_computing);
	tcase_add_test(tc, gaps_have_causes);
	tcase_add_test(tc, steps_are_found_in_the_order_of_launches);
	tcase_add_test(tc, a_layer_is_no_step);
	tcase_add_test(tc, the_step_of_accumulated_gradients_has_the_optimizer);
	tcase_add_test(tc, the_optimizer_ends_steps_that_are_not_alike);
	tcase_add_test(tc, clearing_gradients_ends_no_step);
	tcase_add_test(tc, two_optimizers_at_the_end_are_one_step);
	tcase_add_test(tc, optimizers_of_two_names_are_one_step);
	tcase_add_test(tc, a_copy_of_eight_bytes_is_no_input);
	tcase_add_test(tc, repeats_without_an_optimizer_are_called_repeats);
	tcase_add_test(tc, a_trace_without_work_is_said_to_be_empty);
	tcase_add_loop_test(tc, a_wait_goes_to_what_the_late_rank_did, 0,
			    sizeof(shifts) / sizeof(shifts[0]));
	tcase_add_test(tc, a_wait_next_to_a_threads_own_exchange_is_handed_over);
	tcase_add_test(tc, a_wait_follows_the_chain);
	tcase_add_test(tc, without_records_of_the_late_rank_nothing_is_claimed);
	tcase_add_test(tc, different_numbers_of_collectives_are_not_joined);
	tcase_add_test(tc, communicators_of_one_name_and_other_members_are_two);
	tcase_add_test(tc, more_ranks_than_a_communicator_has_are_not_joined);
	tcase_add_test(tc, simultaneous_last_arrivals_name_the_lowest_rank);
	tcase_add_test(tc, many_communicators_are_joined_as_fast_as_one);
	tcase_add_test(tc, a_link_that_comes_again_is_the_later_call_of_the_later_work);
	tcase_add_test(tc, a_rank_without_steps_among_others_is_not_judged);
	tcase_add_test(tc, sequence_numbers_match_in_any_order);
	tcase_add_test(tc, sequence_numbers_match_what_both_have);
	tcase_add_test(tc, clocks_are_aligned_by_the_ends_of_collectives);
	tcase_add_loop_test(tc, a_wait_from_before_a_clock_began_is_not_captured, 0, 2);
	tcase_add_test(tc, communication_that_slows_kernels_is_seen);
	tcase_add_test(tc, kernels_of_equal_time_are_listed_by_name);
	suite_add_tcase(suite, tc);
	return suite;
}
