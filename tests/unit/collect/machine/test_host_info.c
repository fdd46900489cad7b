/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the description of a machine, on recorded machines and on this one. */
#include "trainprof/collect/host_info.h"

#include <check.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#define HOSTS "tests/data/hosts/"

static const struct machine {
	const char *root;
	int paranoid;
	int ptrace_scope;
	bool in_container;
	uint32_t n_cpus;
	uint32_t n_allowed;
	uint32_t n_numa_nodes;
	uint64_t memory_bytes;
	double quota_cpus;
	uint64_t memory_limit_bytes;
	bool is_v2;
	const char *cgroup_cpu;
	const char *cgroup_memory;
	const char *cpu_model;
} machines[] = {
	{HOSTS "firecracker-vm", 2, 0, false, 2, 2, 1, 25276502016, 0, 0, false,
	 "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/memory/vm/job1", "Intel(R) Xeon(R) Processor"},
	{HOSTS "v1-quota", 2, 0, false, 2, 2, 1, 25276502016, 0.5, UINT64_C(1) << 30, false,
	 "/sys/fs/cgroup/cpu/batch", "/sys/fs/cgroup/memory/batch/job7",
	 "Intel(R) Xeon(R) Processor"},
	{HOSTS "docker-v1", 2, 1, true, 8, 8, 1, 33583718400, 2.5, UINT64_C(8) << 30, false,
	 "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/memory", "unknown CPU"},
	{HOSTS "pod-v2", 4, 0, true, 96, 96, 2, 405602918400, 4, UINT64_C(16) << 30, true,
	 "/sys/fs/cgroup", "/sys/fs/cgroup", "unknown CPU"},
	{HOSTS "slices-v2", 3, 1, false, 64, 32, 2, 270189158400, 8, UINT64_C(64) << 30, true,
	 "/sys/fs/cgroup/batch.slice", "/sys/fs/cgroup/batch.slice/job7.scope/load",
	 "AMD EPYC 9354 32-Core Processor"},
	{HOSTS "bare", 99, 0, false, 1, 1, 1, 0, 0, 0, false, NULL, NULL, "unknown CPU"},
};

START_TEST(host_is_described_as_recorded)
{
	const struct machine *want = &machines[_i];
	struct tp_host host;
	tp_host_open(&host, want->root);
	ck_assert(!host.is_live);
	ck_assert_int_eq(host.perf_paranoid, want->paranoid);
	ck_assert_int_eq(host.ptrace_scope, want->ptrace_scope);
	ck_assert_int_eq(host.in_container, want->in_container);
	ck_assert_uint_eq(host.info.n_cpus, want->n_cpus);
	ck_assert_uint_eq(host.info.n_allowed, want->n_allowed);
	ck_assert_uint_eq(host.info.n_numa_nodes, want->n_numa_nodes);
	ck_assert_uint_eq(host.info.memory_bytes, want->memory_bytes);
	ck_assert_double_eq_tol(host.info.quota_cpus, want->quota_cpus, 1e-9);
	ck_assert_uint_eq(host.info.memory_limit_bytes, want->memory_limit_bytes);
	ck_assert_int_eq(host.cgroup_is_v2, want->is_v2);
	ck_assert_pstr_eq(host.cgroup_cpu, want->cgroup_cpu);
	ck_assert_pstr_eq(host.cgroup_memory, want->cgroup_memory);
	ck_assert_str_eq(host.info.cpu_model, want->cpu_model);
	tp_host_close(&host);
}
END_TEST

START_TEST(host_agrees_with_the_system_calls_on_this_machine)
{
	struct tp_host host;
	struct utsname names;
	struct sysinfo memory;
	cpu_set_t allowed;
	tp_host_open(&host, "");
	ck_assert(host.is_live);
	ck_assert_int_eq(uname(&names), 0);
	ck_assert_int_eq(sysinfo(&memory), 0);
	ck_assert_int_eq(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	ck_assert_str_eq(host.info.name, names.nodename);
	ck_assert_int_eq(strncmp(host.info.kernel, "Linux ", 6), 0);
	ck_assert_str_eq(host.info.kernel + 6, names.release);
	ck_assert_uint_eq(host.info.memory_bytes, (uint64_t)memory.totalram * memory.mem_unit);
	ck_assert_uint_eq(host.info.n_allowed, (uint32_t)CPU_COUNT(&allowed));
	ck_assert_uint_eq(host.info.n_cpus, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
	if (host.cgroup_cpu)
		ck_assert_int_eq(access(host.cgroup_cpu, R_OK), 0);
	tp_host_close(&host);
}
END_TEST

START_TEST(host_sees_the_mask_that_was_set)
{
	cpu_set_t one;
	cpu_set_t before;
	struct tp_host host;
	ck_assert_int_eq(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++) {
		if (CPU_ISSET(cpu, &before))
			CPU_SET(cpu, &one);
	}
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	tp_host_open(&host, "");
	ck_assert_uint_eq(host.info.n_allowed, 1);
	tp_host_close(&host);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(before), &before), 0);
}
END_TEST

Suite *suite_collect_host_info(void);
Suite *suite_collect_host_info(void)
{
	Suite *suite = suite_create("collect/host");
	TCase *tc = tcase_create("host");
	tcase_add_loop_test(tc, host_is_described_as_recorded, 0,
			    sizeof(machines) / sizeof(machines[0]));
	tcase_add_test(tc, host_agrees_with_the_system_calls_on_this_machine);
	tcase_add_test(tc, host_sees_the_mask_that_was_set);
	suite_add_tcase(suite, tc);
	return suite;
}
