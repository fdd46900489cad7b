/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the collector "host", on recorded machines and on this one. */
#include "collect/registry.h"

#include "proof.h"

#include "trainprof/base/clock.h"
#include "trainprof/collect/collector.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Returns reading number `index` of a metric, or NAN if there is none. */
static double gauge_at(const struct tp_trace_builder *builder, enum tp_metric metric, size_t index)
{
	for (size_t i = 0; i < builder->n_records; i++) {
		const struct tp_record *record = &builder->records[i];
		if (record->kind == TP_RECORD_GAUGE && record->of.gauge.metric == metric &&
		    index-- == 0)
			return record->of.gauge.value;
	}
	return NAN;
}

struct rig {
	struct tp_host host;
	struct tp_trace_builder builder;
	struct tp_collect_config config;
	struct tp_collect_context context;
	struct tp_collector *collector;
};

static void rig_open(struct rig *rig, const char *root)
{
	memset(rig, 0, sizeof(*rig));
	tp_host_open(&rig->host, root);
	tp_trace_builder_init(&rig->builder);
	rig->context = (struct tp_collect_context){.host = &rig->host,
						   .config = &rig->config,
						   .sink = &rig->builder.sink};
	ck_assert_int_eq(tp_host_collector.open(&rig->collector, &rig->context, NULL), TP_OK);
	ck_assert_int_eq(tp_host_collector.start(rig->collector, getpid(), NULL), TP_OK);
}

static void rig_close(struct rig *rig)
{
	tp_host_collector.close(rig->collector);
	tp_trace_builder_release(&rig->builder);
	tp_host_close(&rig->host);
}

/* Calculated by hand from the recorded files; NAN = not reported by the machine. */
static const struct {
	const char *root;
	enum tp_metric metric;
	double want;
} recorded[] = {
	{"firecracker-vm", TP_METRIC_CPU_BUSY, 115710e6},
	{"firecracker-vm", TP_METRIC_CPU_IDLE, 3262180e6},
	{"firecracker-vm", TP_METRIC_CPU_STEAL, 140e6},
	{"firecracker-vm", TP_METRIC_PSI_CPU, 8159920e3},
	{"firecracker-vm", TP_METRIC_PSI_IO_SOME, 6731988e3},
	{"firecracker-vm", TP_METRIC_PSI_IO_FULL, 6360849e3},
	{"firecracker-vm", TP_METRIC_PSI_MEM_SOME, 0},
	{"firecracker-vm", TP_METRIC_DISK_READ, 5462410.0 * 512},
	{"firecracker-vm", TP_METRIC_DISK_WRITE, 950680.0 * 512},
	{"firecracker-vm", TP_METRIC_DISK_READS, 66472},
	{"firecracker-vm", TP_METRIC_DISK_BUSY, 0}, /* since the start of the run */
	{"firecracker-vm", TP_METRIC_NET_BYTES, 53513099 + 51939},
	{"firecracker-vm", TP_METRIC_MEM_AVAILABLE, 24339804.0 * 1024},
	{"firecracker-vm", TP_METRIC_SWAP_IN, 0},
	{"firecracker-vm", TP_METRIC_CG_QUOTA, NAN},
	{"firecracker-vm", TP_METRIC_NUMA_NODES, 1},
	{"v1-quota", TP_METRIC_CG_QUOTA, 0.5},
	{"v1-quota", TP_METRIC_CG_PERIODS, 32},
	{"v1-quota", TP_METRIC_CG_THROTTLES, 30},
	{"v1-quota", TP_METRIC_CG_THROTTLED, 1472998891},
	{"v1-quota", TP_METRIC_DISK_READ, NAN}, /* which of them are whole devices is not known */
	{"v1-quota", TP_METRIC_SWAP_IN, NAN},
	{"docker-v1", TP_METRIC_CG_THROTTLED, 19876543210},
	{"docker-v1", TP_METRIC_PSI_CPU, NAN},
	{"pod-v2", TP_METRIC_CG_QUOTA, 4},
	{"pod-v2", TP_METRIC_CG_THROTTLED, 98765432e3},
	{"slices-v2", TP_METRIC_CG_THROTTLED, 345678e3},
	{"slices-v2", TP_METRIC_CG_QUOTA, 8},
	{"slices-v2", TP_METRIC_NUMA_NODES, 2},
	{"bare", TP_METRIC_CPU_BUSY, NAN},
	{"bare", TP_METRIC_MEM_AVAILABLE, NAN},
};

START_TEST(figures_are_those_of_the_recorded_machine)
{
	struct rig rig;
	char root[128];
	snprintf(root, sizeof(root), "tests/data/hosts/%s", recorded[_i].root);
	rig_open(&rig, root);
	double got = gauge_at(&rig.builder, recorded[_i].metric, 0);
	if (isnan(recorded[_i].want))
		ck_assert_double_nan(got);
	else
		ck_assert_double_eq(got, recorded[_i].want);
	rig_close(&rig);
}
END_TEST

/* Difference between the first and the second reading of a metric. */
static double growth(const struct tp_trace_builder *builder, enum tp_metric metric)
{
	return gauge_at(builder, metric, 1) - gauge_at(builder, metric, 0);
}

START_TEST(cpu_time_of_this_machine_adds_up_to_wall_time)
{
	struct rig rig;
	/* The readings are between these times, which may be far apart on a busy machine. */
	uint64_t before_ns = tp_clock_now_ns();
	rig_open(&rig, "");
	uint64_t began_ns = tp_clock_now_ns();
	uint64_t own_ns = tp_clock_self_cpu_ns();
	while (tp_clock_now_ns() - began_ns < 400 * TP_NS_PER_MS)
		continue;
	own_ns = tp_clock_self_cpu_ns() - own_ns;
	uint64_t ended_ns = tp_clock_now_ns();
	ck_assert_int_eq(tp_host_collector.sample(rig.collector, ended_ns, NULL), TP_OK);
	uint64_t after_ns = tp_clock_now_ns();
	double busy = growth(&rig.builder, TP_METRIC_CPU_BUSY);
	double steal = growth(&rig.builder, TP_METRIC_CPU_STEAL);
	double sum = busy + steal + growth(&rig.builder, TP_METRIC_CPU_IDLE);
	double least = (double)(ended_ns - began_ns) * rig.host.info.n_allowed;
	double most = (double)(after_ns - before_ns) * rig.host.info.n_allowed;
	/* The kernel counts ticks of 10 ms per CPU; a stopped tick is caught up late. */
	ck_assert_double_ge(sum, 0.85 * least);
	ck_assert_double_le(sum, 1.15 * most);
	/* Not every kernel subtracts stolen time from a program's CPU time. */
	ck_assert_double_ge(busy + steal, (double)own_ns - 20e6);
	rig_close(&rig);
}
END_TEST

START_TEST(stop_reads_once_more_and_says_what_was_had)
{
	struct rig rig;
	rig_open(&rig, "tests/data/hosts/docker-v1");
	ck_assert_int_eq(tp_host_collector.stop(rig.collector, tp_clock_now_ns(), NULL), TP_OK);
	ck_assert_double_eq(gauge_at(&rig.builder, TP_METRIC_CG_PERIODS, 1), 1204);
	const struct tp_record *last = &rig.builder.records[rig.builder.n_records - 1];
	ck_assert_int_eq(last->kind, TP_RECORD_SOURCE);
	ck_assert_uint_eq(last->of.source.n_records, rig.builder.n_records - 1);
	ck_assert_int_eq(last->of.source.presence, TP_PRESENCE_NO_PERMISSION); /* no /proc/stat */
	rig_close(&rig);
}
END_TEST

static const struct {
	const char *root;
	enum tp_presence presence;
} presences[] = {
	{"tests/data/hosts/firecracker-vm", TP_PRESENCE_PRESENT},
	{"tests/data/hosts/bare", TP_PRESENCE_NO_PERMISSION},
};

START_TEST(probe_says_what_is_missing)
{
	struct tp_host host;
	struct tp_availability availability;
	tp_host_open(&host, presences[_i].root);
	tp_host_collector.probe(&host, &availability);
	ck_assert_int_eq(availability.presence, presences[_i].presence);
	ck_assert_int_eq(availability.reason[0] == '\0',
			 availability.presence == TP_PRESENCE_PRESENT);
	tp_host_close(&host);
}
END_TEST

#define LEN(table) (sizeof(table) / sizeof((table)[0]))

Suite *suite_collect_host_collector(void);
Suite *suite_collect_host_collector(void)
{
	Suite *suite = suite_create("collect/hostload");
	TCase *tc = tcase_create("hostload");
	tcase_add_loop_test(tc, figures_are_those_of_the_recorded_machine, 0, LEN(recorded));
	tcase_add_test(tc, stop_reads_once_more_and_says_what_was_had);
	tcase_add_loop_test(tc, probe_says_what_is_missing, 0, LEN(presences));
	suite_add_tcase(suite, tc);
	TCase *proofs = proof_case(suite, "this machine");
	tcase_add_test(proofs, cpu_time_of_this_machine_adds_up_to_wall_time);
	return suite;
}
