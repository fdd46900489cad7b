/* SPDX-License-Identifier: Apache-2.0 */
/* Hand-made imports for the tests of writers: a step of eight ranks with one late rank, and six
 * steps of one rank that waits for data. The ranks' times are those of param-dlrm-8ranks. */
#ifndef TRAINPROF_TESTS_UNIT_REPORT_JOBSAMPLE_H
#define TRAINPROF_TESTS_UNIT_REPORT_JOBSAMPLE_H

#include "sample.h"

#include "trainprof/model/fact.h"

enum { JOB_RANKS = 8, JOB_COLLECTIVES = 3, JOB_KERNELS = 3 };

#define JOB_HASH "3f5a9c0e17b2d4865a9c3e7f10b2d4863f5a9c0e17b2d4865a9c3e7f10b2d486"

/* us: own parts in their order, then the same after waits were attributed to their causes. */
static const uint64_t job_parts[JOB_RANKS][2][TP_N_PARTS + 1] = {
	{{1034, 5537, 19, 1101, 6624, 140, 0}, {1404, 195, 30, 1375, 11283, 168, 0}},
	{{1050, 11056, 19, 0, 6345, 114, 0}, {1447, 202, 30, 1157, 11188, 172, 4388}},
	{{1068, 3217, 19, 1283, 7284, 146, 0}, {1306, 183, 23, 1283, 10076, 146, 0}},
	{{1064, 9450, 18, 1006, 7049, 124, 0}, {1399, 197, 29, 2163, 11852, 182, 2889}},
	{{1126, 6550, 26, 1048, 9091, 138, 0}, {1297, 213, 37, 2205, 12396, 196, 1635}},
	{{1041, 6211, 19, 1081, 9308, 137, 0}, {1201, 204, 30, 2238, 12497, 195, 1432}},
	{{1051, 3289, 19, 1298, 7292, 142, 0}, {1295, 180, 23, 1298, 10153, 142, 0}},
	{{1059, 1580, 20, 1157, 8541, 152, 0}, {1223, 200, 20, 1157, 9757, 152, 0}},
};

/* us: busy, from first to last, unions of the classes, the exposed part of them, overlap with
 * compute. */
static const uint64_t job_times[JOB_RANKS][8] = {
	{6590, 13009, 1034, 5798, 19, 5537, 19, 261},
	{12321, 18749, 1246, 11336, 19, 11056, 19, 280},
	{4304, 11350, 1068, 3492, 19, 3217, 19, 275},
	{10708, 18853, 1240, 9774, 28, 9450, 18, 324},
	{7702, 16589, 1126, 6587, 26, 6550, 26, 37},
	{7271, 16392, 1041, 6251, 19, 6211, 19, 40},
	{4359, 11410, 1051, 3558, 19, 3289, 19, 269},
	{2659, 10967, 1059, 1746, 20, 1580, 20, 166},
};

static const uint64_t job_caused_us[JOB_RANKS] = {0, 0, 0, 0, 5009, 5059, 0, 35248};

static const struct tp_blame_result job_blames[] = {
	{7, TP_LABEL_HOST_DISPATCH, 18700000},  {7, TP_LABEL_COMMUNICATION_UNCAPTURED, 10344000},
	{7, TP_LABEL_DATALOADER_NEXT, 4902000}, {5, TP_LABEL_HOST_DISPATCH, 4587000},
	{4, TP_LABEL_HOST_LAUNCH, 4381000},     {7, TP_LABEL_COMPUTE_MATH, 979000},
};

/* Strings of both traces, in this order from 1 on. */
enum { JOB_GEMM = 1, JOB_REDUCE, JOB_COPY, JOB_GROUP };

static void job_trace(struct sample *s, const struct tp_rank_info *ranks, size_t n_ranks,
		      const char *label, uint64_t length_ns)
{
	static const char *command[] = {"trainprof", "import", "dlrm.tar.gz"};
	tp_trace_builder_init(&s->builder);
	struct tp_sink *sink = &s->builder.sink;
	tp_sink_string(sink, "ampere_sgemm_128x64_tn<float, 4>");
	tp_sink_string(sink, "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)");
	tp_sink_string(sink, "Memcpy HtoD (Pageable -> Device)");
	tp_sink_string(sink, "default_pg");
	tp_sink_source(sink, "kineto", "traces of torch.profiler",
		       &(struct tp_availability){.presence = TP_PRESENCE_DEGRADED,
						 .reason = "what loader processes do, why threads "
							   "are off their CPU"},
		       26320, n_ranks == 1 ? 13 : 0);
	struct tp_run_info run = {
		.id = "r-5f0c9a1d2b3e4f60",
		.label = label,
		.command = command,
		.n_command = 3,
		.directory = "",
		.mode = TP_MODE_IMPORT,
		.tier = TP_TIER_BARE,
		.started_wall_ns = UINT64_C(1763647391) * 1000000000U,
		.started_ns = 1000000000U,
		.ended_ns = 1000000000U + length_ns,
		.written_by = "trainprof 0.1.0 (0000000)",
		.ranks = ranks,
		.n_ranks = n_ranks,
	};
	tp_trace_build(&s->trace, &s->builder, &run);
}

/* Sums parts, shares and labels over the devices. */
static void job_sum(struct sample *s)
{
	static const enum tp_label whole[TP_N_PARTS] = {
		TP_LABEL_COMPUTE_MATH,    TP_LABEL_COMMUNICATION_TRANSFER, TP_LABEL_MEMORY_H2D,
		TP_LABEL_DATALOADER_NEXT, TP_LABEL_HOST_DISPATCH,          TP_LABEL_IDLE_UNKNOWN};
	struct tp_profile *p = &s->profile;
	for (size_t i = 0; i < p->n_devices; i++)
		for (int k = 0; k < TP_N_PARTS; k++) {
			p->parts[k].time_ns += p->devices[i].after_ns[k];
			p->label_ns[whole[k]] += p->devices[i].after_ns[k];
			p->total_ns += p->devices[i].after_ns[k];
		}
	double n_windows = (double)p->n_devices * (double)p->n_steady;
	for (int k = 0; k < TP_N_PARTS; k++)
		p->parts[k].per_step =
			(struct tp_stat){.n = p->n_steady,
					 .mean = (double)p->parts[k].time_ns / n_windows};
	for (int k = 0; k < TP_N_PARTS; k++)
		p->parts[k].share = (struct tp_quantity){.is_known = true,
							 .value = (double)p->parts[k].time_ns /
								  (double)p->total_ns,
							 .coverage = 1,
							 .n = p->n_steady};
}

static void job_device(struct tp_profile *p, uint32_t rank)
{
	struct tp_device_result *d = &p->devices[rank];
	const uint64_t *times = job_times[rank];
	uint64_t *steps = tp_arena_array(&p->arena, 2, sizeof(*steps));
	*d = (struct tp_device_result){
		.rank = rank,
		.number = 0,
		.n_ops = {237, 8, 16},
		.n_unlinked = rank == 1 ? 4 : 0,
		.busy_ns = times[0] * 1000,
		.span_ns = times[1] * 1000,
		.union_ns = {times[2] * 1000, times[3] * 1000, times[4] * 1000},
		.exposed_communication_ns = times[5] * 1000,
		.exposed_copy_ns = times[6] * 1000,
		.overlap_ns = times[7] * 1000,
		.wait_caused_ns = job_caused_us[rank] * 1000,
		.n_steps = 1,
		.ops_per_step = steps,
		.step_ns = steps + 1,
	};
	for (int k = 0; k <= TP_N_PARTS; k++) {
		int part = k < TP_N_PARTS ? k : TP_PART_COMMUNICATION;
		d->own_ns[part] += job_parts[rank][0][k] * 1000;
		d->after_ns[part] += job_parts[rank][1][k] * 1000;
		d->window_ns += job_parts[rank][0][k] * 1000;
		if (part != TP_PART_HOST && part != TP_PART_DATALOADER && part != TP_PART_IDLE)
			d->window_busy_ns += job_parts[rank][0][k] * 1000;
	}
	d->not_captured_ns = job_parts[rank][1][TP_N_PARTS] * 1000;
	d->gap_ns[TP_GAP_HOST] = d->own_ns[TP_PART_HOST];
	d->gap_ns[TP_GAP_DATALOADER] = d->own_ns[TP_PART_DATALOADER];
	steps[0] = 261;
	steps[1] = d->window_ns;
}

static void job_lists(struct tp_profile *p)
{
	static const struct tp_kernel_result kernels[JOB_KERNELS] = {
		{.name = JOB_REDUCE,
		 .row = "nccl",
		 .family = "nccl",
		 .class = TP_OP_COMMUNICATION,
		 .n = 64,
		 .time_ns = 48542000},
		{.name = JOB_GEMM,
		 .row = "cublas-simt",
		 .family = "gemm",
		 .n = 1896,
		 .time_ns = 8865000,
		 .overlapped_ns = 1652000,
		 .slowdown = 1.21},
		{.name = JOB_COPY,
		 .row = "copy",
		 .family = "copy",
		 .class = TP_OP_COPY,
		 .is_weak = true,
		 .n = 128,
		 .time_ns = 169000},
	};
	static const uint64_t waits[JOB_COLLECTIVES][JOB_RANKS] = {
		{2135000, 7624000, 508000, 6122000, 4872000, 4669000, 505000, 0},
		{503000, 534000, 458000, 533000, 52000, 0, 475000, 348000},
		{885000, 858000, 846000, 817000, 0, 14000, 851000, 738000},
	};
	static const uint32_t late[JOB_COLLECTIVES] = {7, 5, 4};
	p->kernels = tp_arena_copy(&p->arena, kernels, sizeof(kernels));
	p->n_kernels = JOB_KERNELS;
	p->collectives = tp_arena_array(&p->arena, JOB_COLLECTIVES, sizeof(*p->collectives));
	for (size_t i = 0; i < JOB_COLLECTIVES; i++)
		p->collectives[i] =
			(struct tp_collective_result){.name = JOB_REDUCE,
						      .group = JOB_GROUP,
						      .late = late[i],
						      .n_members = JOB_RANKS,
						      .arrival_ns = 5000000 + i,
						      .arrival_spread_ns = i ? 885000 : 7624000,
						      .end_spread_ns = 2000,
						      .transfer_ns = 11000,
						      .wait_ns = waits[i]};
	p->n_collectives = JOB_COLLECTIVES;
	p->blames = tp_arena_copy(&p->arena, job_blames, sizeof(job_blames));
	p->n_blames = TP_ARRAY_LEN(job_blames);
}

static void job_steps(struct tp_profile *p, size_t n, uint64_t each_ns)
{
	p->is_of_steps = true;
	p->steps_found_by = TP_STEPS_MARKER;
	p->steps_confidence = 1;
	p->steps_reason = "marked by ProfilerStep";
	p->n_steps = p->n_steady = n;
	p->steps = tp_arena_array(&p->arena, n, sizeof(*p->steps));
	for (size_t i = 0; i < n; i++) {
		p->steps[i] =
			(struct tp_step){.start_ns = i * each_ns, .end_ns = (i + 1) * each_ns};
		p->steps[i].part_ns[TP_PART_HOST] = each_ns;
	}
	p->step_time = (struct tp_stat){.n = n,
					.mean = (double)each_ns,
					.median = (double)each_ns,
					.p05 = (double)each_ns,
					.p95 = (double)each_ns,
					.p99 = (double)each_ns,
					.min = (double)each_ns,
					.max = (double)each_ns};
}

static void job_report(struct sample *s)
{
	sample_findings(s);
	s->findings.verdict = "too_short";
	s->findings.n_not_judged = 45;
	s->report = (struct tp_report){.profile = &s->profile,
				       .findings = &s->findings,
				       .directory = ".trainprof/1122-090000",
				       .is_last = true};
}

/* One step of eight ranks in one archive; rank 7 makes the others wait. */
static inline void job_init(struct sample *s)
{
	static const struct tp_device_info device = {.number = 0,
						     .name = "NVIDIA A100",
						     .capability = 80};
	static char members[JOB_RANKS][32];
	static struct tp_rank_info ranks[JOB_RANKS];
	memset(s, 0, sizeof(*s));
	for (int i = 0; i < JOB_RANKS; i++) {
		snprintf(members[i], sizeof(members[i]), "dlrm/worker%d.json", i);
		ranks[i] = (struct tp_rank_info){.path = "traces/dlrm.tar.gz",
						 .member = members[i],
						 .sha256 = JOB_HASH,
						 .format = "kineto",
						 .number = i,
						 .n_ranks = JOB_RANKS,
						 .n_events = 3290,
						 .n_kept = 2100,
						 .devices = &device,
						 .n_devices = 1};
	}
	job_trace(s, ranks, JOB_RANKS, "dlrm", 21000000);
	struct tp_profile *p = &s->profile;
	tp_profile_init(p, &s->trace);
	p->trainer = TP_NO_TASK;
	p->n_devices = JOB_RANKS;
	p->devices = tp_arena_array(&p->arena, JOB_RANKS, sizeof(*p->devices));
	for (uint32_t rank = 0; rank < JOB_RANKS; rank++)
		job_device(p, rank);
	job_steps(p, 1, 18711000);
	job_sum(s);
	job_lists(p);
	p->largest_loss = p->limiter = TP_PART_HOST;
	p->window_end_ns = 18711000;
	tp_profile_set(p, TP_FACT_DEVICE_OPS, 261, TP_ORIGIN_MEASURED, 1);
	tp_profile_set(p, TP_FACT_DEVICE_KERNEL, 4200, TP_ORIGIN_MEASURED, 1);
	tp_profile_set(p, TP_FACT_KERNEL_WEAK, 0.12, TP_ORIGIN_MEASURED, 1);
	tp_profile_set_missing(p, TP_FACT_RUN_OVERHEAD_RATIO,
			       "imported: not measured by trainprof");
	job_report(s);
}

/* Six steps of one rank; a third of each is waiting for data. */
static inline void job_alone_init(struct sample *s)
{
	static const struct tp_device_info device = {.number = 0, .name = "Tesla V100-DGXS-32GB"};
	static const struct tp_rank_info rank = {.path = "worker0.1623143089861.pt.trace.json.gz",
						 .sha256 = JOB_HASH,
						 .format = "kineto",
						 .number = -1,
						 .n_events = 75718,
						 .n_kept = 74000,
						 .n_skipped = 13,
						 .skipped_because = "no duration",
						 .is_cut = true,
						 .devices = &device,
						 .n_devices = 1};
	static const uint64_t own_ns[TP_N_PARTS] = {591532000, 0,        12026000,
						    355572000, 99490000, 6937000};
	memset(s, 0, sizeof(*s));
	job_trace(s, &rank, 1, "worker0.1623143089861", 1070000000);
	struct tp_profile *p = &s->profile;
	tp_profile_init(p, &s->trace);
	p->trainer = TP_NO_TASK;
	p->n_devices = 1;
	p->devices = tp_arena_array(&p->arena, 1, sizeof(*p->devices));
	uint64_t *steps = tp_arena_array(&p->arena, 12, sizeof(*steps));
	for (int i = 0; i < 6; i++) {
		steps[i] = 1516;
		steps[6 + i] = 177592833;
	}
	p->devices[0] = (struct tp_device_result){
		.n_ops = {8772, 0, 324},
		.span_ns = 996477000,
		.busy_ns = 603558000,
		.union_ns = {591532000, 0, 12026000},
		.exposed_copy_ns = 12026000,
		.gap_ns = {[TP_GAP_LATENCY] = 1000000,
			   [TP_GAP_DATALOADER] = 355572000,
			   [TP_GAP_HOST] = 36347000},
		.n_steps = 6,
		.ops_per_step = steps,
		.step_ns = steps + 6,
	};
	for (int k = 0; k < TP_N_PARTS; k++) {
		p->devices[0].own_ns[k] = p->devices[0].after_ns[k] = own_ns[k];
		p->devices[0].window_ns += own_ns[k];
	}
	p->devices[0].window_busy_ns = own_ns[TP_PART_COMPUTE] + own_ns[TP_PART_MEMORY];
	job_steps(p, 6, 177592833);
	job_sum(s);
	p->largest_loss = p->limiter = TP_PART_DATALOADER;
	p->window_end_ns = 1065557000;
	tp_profile_set(p, TP_FACT_DEVICE_OPS, 1516, TP_ORIGIN_MEASURED, 1);
	tp_profile_set(p, TP_FACT_DEVICE_KERNEL, 24300, TP_ORIGIN_MEASURED, 1);
	tp_profile_set(p, TP_FACT_KERNEL_WEAK, 0.02, TP_ORIGIN_MEASURED, 1);
	job_report(s);
}

#endif
