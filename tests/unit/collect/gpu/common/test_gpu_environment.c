/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the self-test of a machine's GPU environment, on simulated machines. */
#include "collect/gpu/common/gpu_environment.h"
#include "collect/madehost.h"

enum { ROWS = 16 };

static char root[] = "/tmp/trainprof-survey-XXXXXX";
static struct tp_host host;
static struct tp_gpu_selftest_row rows[ROWS];
static size_t n_rows;

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(root));
	host = (struct tp_host){.root = root};
}

static void teardown(void)
{
	madehost_remove(root);
}

static void lay(const char *path, const char *text)
{
	madehost_lay(root, path, text);
}

static void look(char *const *environment)
{
	memset(rows, 0, sizeof(rows));
	n_rows = tp_gpu_environment_check(rows, ROWS, &host, environment);
}

static char *no_environment[] = {NULL};

/* Returns the nth row with that name, or NULL if there is none. */
static const struct tp_gpu_selftest_row *row(const char *name, size_t nth)
{
	for (size_t i = 0; i < n_rows; i++)
		if (strcmp(rows[i].name, name) == 0 && nth-- == 0)
			return &rows[i];
	return NULL;
}

static void claim_amiss(const char *name, enum tp_presence presence, const char *reason,
			const char *remedy)
{
	const struct tp_gpu_selftest_row *found = row(name, 0);
	ck_assert_msg(found != NULL, "no row %s", name);
	ck_assert_int_eq(found->availability.presence, presence);
	ck_assert_str_eq(found->availability.reason, reason);
	ck_assert_str_eq(found->availability.remedy, remedy);
}

static void lay_driver(void)
{
	lay("/proc/driver/nvidia/version",
	    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build\n");
}

START_TEST(a_machine_without_a_driver_says_so)
{
	look(no_environment);
	claim_amiss("driver", TP_PRESENCE_NO_DEVICE, "it is not loaded", "sudo modprobe nvidia");
	ck_assert_uint_eq(n_rows, 2);
	ck_assert_int_eq(row("injection", 0)->availability.presence, TP_PRESENCE_PRESENT);
}
END_TEST

START_TEST(a_plain_machine_has_nothing_amiss)
{
	lay_driver();
	lay("/proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
	lay("/proc/7/comm", "python3\n");
	look(no_environment);
	ck_assert_uint_eq(n_rows, 3);
	for (size_t i = 0; i < n_rows; i++)
		ck_assert_int_eq(rows[i].availability.presence, TP_PRESENCE_PRESENT);
}
END_TEST

static const struct {
	const char *params;
	const char *capabilities;
	enum tp_presence presence;
} rights[] = {
	{"RmProfilingAdminOnly: 1\n", "0000000000000000", TP_PRESENCE_NO_PERMISSION},
	{"RestrictProfilingToAdminUsers: 1\n", "0000000000000000", TP_PRESENCE_NO_PERMISSION},
	{"RmProfilingAdminOnly: 1\n", "0000000000200000", TP_PRESENCE_PRESENT},       /* admin */
	{"RmProfilingAdminOnly: 1\n", "0000004000000000", TP_PRESENCE_PRESENT},       /* perfmon */
	{"RmProfilingAdminOnly: 1\n", "0000003fffdfffff", TP_PRESENCE_NO_PERMISSION}, /* neither */
	{"RmProfilingAdminOnly: 0\n", "0000000000000000", TP_PRESENCE_PRESENT},
};

START_TEST(who_may_read_counters_is_told)
{
	char status[64];
	lay_driver();
	lay("/proc/driver/nvidia/params", rights[_i].params);
	snprintf(status, sizeof(status), "Name:\tx\nCapEff:\t%s\n", rights[_i].capabilities);
	lay("/proc/self/status", status);
	look(no_environment);
	ck_assert_int_eq(row("counters", 0)->availability.presence, rights[_i].presence);
}
END_TEST

START_TEST(whoever_is_loaded_into_programs_is_named)
{
	char home[] = "HOME=/root";
	char cuda[] = "CUDA_INJECTION64_PATH=/opt/nsys/libToolsInjection64.so";
	char nvtx[] = "NVTX_INJECTION64_PATH=/opt/mine/tool.so";
	char kineto[] = "KINETO_USE_DAEMON=1";
	char *environment[] = {home, cuda, nvtx, kineto, NULL};
	lay_driver();
	look(environment);
	claim_amiss("injection", TP_PRESENCE_IN_USE, "CUDA_INJECTION64_PATH is of Nsight Systems",
		    "unset CUDA_INJECTION64_PATH");
	ck_assert_str_eq(row("injection", 1)->availability.reason,
			 "NVTX_INJECTION64_PATH is of /opt/mine/tool.so");
	ck_assert_str_eq(row("injection", 2)->availability.reason,
			 "KINETO_USE_DAEMON: Kineto, by its daemon");
	ck_assert_ptr_null(row("injection", 3));
}
END_TEST

static struct {
	char entry[64];
	const char *name; /* name of the row; NULL = none */
} variables[] = {
	{"TRAINPROF_GPU=0", "switch"},
	{"TRAINPROF_GPU=1", NULL},
	{"LD_LIBRARY_PATH=/usr/lib:/usr/local/cuda/lib64/stubs/:/opt", "libraries"},
	{"LD_LIBRARY_PATH=/usr/local/cuda/lib64/stubs", "libraries"},
	{"LD_LIBRARY_PATH=/home/me/stubs-of-mine:/x/stubs/real", NULL},
};

START_TEST(variables_that_spoil_it_are_told)
{
	char *environment[] = {variables[_i].entry, NULL};
	lay_driver();
	look(environment);
	ck_assert_uint_eq(n_rows, variables[_i].name ? 3 : 2);
	if (variables[_i].name)
		ck_assert_int_ne(row(variables[_i].name, 0)->availability.presence,
				 TP_PRESENCE_PRESENT);
}
END_TEST

START_TEST(tools_that_run_are_told_once_each)
{
	lay_driver();
	lay("/proc/11/comm", "nv-hostengine\n");
	lay("/proc/12/comm", "dcgm-exporter\n");
	lay("/proc/13/comm", "nvidia-cuda-mps\n");
	lay("/proc/net/comm", "ncu\n"); /* not a process */
	look(no_environment);
	claim_amiss("tools", TP_PRESENCE_IN_USE, "it may hold the counters of GPUs",
		    "dcgmi profile --pause   and --resume afterwards");
	ck_assert_ptr_null(row("tools", 1));
	ck_assert_int_eq(row("mps", 0)->availability.presence, TP_PRESENCE_DEGRADED);
	ck_assert_uint_eq(n_rows, 4);
}
END_TEST

START_TEST(a_gpu_in_parts_is_told)
{
	lay_driver();
	lay("/proc/driver/nvidia/capabilities/gpu0/mig/other", "");
	lay("/proc/driver/nvidia/capabilities/gpu1/mig/gi3/access", "");
	look(no_environment);
	ck_assert_str_eq(row("mig", 0)->text, "GPU 1 is in parts (MIG)");
	ck_assert_ptr_null(row("mig", 1));
}
END_TEST

START_TEST(rows_that_find_no_room_are_left_out)
{
	struct tp_gpu_selftest_row one;
	lay_driver();
	ck_assert_uint_eq(tp_gpu_environment_check(&one, 1, &host, no_environment), 1);
	ck_assert_str_eq(one.text, "NVIDIA's kernel module 580.65.06");
	ck_assert_uint_eq(tp_gpu_environment_check(NULL, 0, &host, no_environment), 0);
}
END_TEST

Suite *suite_collect_gpu_environment(void);
Suite *suite_collect_gpu_environment(void)
{
	Suite *suite = suite_create("collect/gpusurvey");
	TCase *tests = tcase_create("gpusurvey");
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, a_machine_without_a_driver_says_so);
	tcase_add_test(tests, a_plain_machine_has_nothing_amiss);
	tcase_add_loop_test(tests, who_may_read_counters_is_told, 0,
			    sizeof(rights) / sizeof(rights[0]));
	tcase_add_test(tests, whoever_is_loaded_into_programs_is_named);
	tcase_add_loop_test(tests, variables_that_spoil_it_are_told, 0,
			    sizeof(variables) / sizeof(variables[0]));
	tcase_add_test(tests, tools_that_run_are_told_once_each);
	tcase_add_test(tests, a_gpu_in_parts_is_told);
	tcase_add_test(tests, rows_that_find_no_room_are_left_out);
	suite_add_tcase(suite, tests);
	return suite;
}
