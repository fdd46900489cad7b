/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of whether the target uses a GPU, with a test double of NVML and simulated machines. */
#include "collect/gpu/nvml/nvml_process.h"
#include "collect/nvmldouble.h"

#include "trainprof/base/clock.h"

#include <sys/stat.h>

/* Creates a machine in its own folder: its namespace, and one process that holds files open. */
static void machine_make(char *root, const char *namespace, int pid, const char *const *files)
{
	char path[300];
	char target[300];
	ck_assert_ptr_nonnull(mkdtemp(root));
	snprintf(path, sizeof(path), "%s/proc", root);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/proc/self", root);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/proc/self/ns", root);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/proc/self/ns/pid", root);
	ck_assert_int_eq(symlink(namespace, path), 0);
	snprintf(path, sizeof(path), "%s/proc/%d", root, pid);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/proc/%d/fd", root, pid);
	mkdir(path, 0700);
	for (int i = 0; files[i]; i++) {
		snprintf(target, sizeof(target), "%s/proc/%d/fd/%d", root, pid, i);
		ck_assert_int_eq(symlink(files[i], target), 0);
	}
}

static void machine_remove(const char *root)
{
	char command[300];
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	ck_assert_int_eq(system(command), 0);
}

static const char first[] = "pid:[4026531836]";
static const char inner[] = "pid:[4026532999]";
static const char *const no_files[] = {NULL};
static const char *const node_files[] = {"/dev/null", "/dev/nvidiactl", "/dev/nvidia3",
					 "/dev/nvidia-uvm", NULL};

struct owner_rig {
	struct double_rig nvml;
	struct tp_host host;
	struct tp_nvml_process owner;
	char root[64];
};

static void owner_open(struct owner_rig *rig, const char *namespace, const char *const *files,
		       const char *script)
{
	strcpy(rig->root, "/tmp/trainprof-owner-XXXXXX");
	machine_make(rig->root, namespace, 500, files);
	double_open(&rig->nvml, "whole", script);
	rig->host = (struct tp_host){.root = rig->root};
	tp_nvml_process_init(&rig->owner, &rig->host);
	tp_nvml_process_set_pids(&rig->owner, (const pid_t[]){500, 501}, 2);
	tp_nvml_process_read(&rig->owner, &rig->nvml.device, &rig->nvml.library,
			     &rig->nvml.reading);
}

static void owner_close(struct owner_rig *rig)
{
	tp_nvml_process_release(&rig->owner);
	double_close(&rig->nvml);
	machine_remove(rig->root);
}

START_TEST(a_process_that_nvml_lists_is_ours_and_the_others_are_not)
{
	struct owner_rig rig;
	owner_open(&rig, first, no_files,
		   "devices 1\nprocess 500 1000\nprocess 501 200\nprocess 7 50\nprocess 8 5\n");
	ck_assert_double_eq(double_value(&rig.nvml, TP_METRIC_GPU_IS_LISTED), 1);
	ck_assert_double_eq(double_value(&rig.nvml, TP_METRIC_GPU_MEM_OWN), 1200);
	ck_assert_double_eq(double_value(&rig.nvml, TP_METRIC_GPU_OTHERS), 2);
	ck_assert_double_eq(double_value(&rig.nvml, TP_METRIC_GPU_MEM_OTHERS), 55);
	owner_close(&rig);
}
END_TEST

START_TEST(memory_that_is_not_told_is_not_nought)
{
	struct owner_rig rig;
	owner_open(&rig, first, no_files, "devices 1\nprocess 500 1000\nprocess 501 -\n");
	ck_assert_double_nan(double_value(&rig.nvml, TP_METRIC_GPU_MEM_OWN));
	ck_assert_double_eq(double_value(&rig.nvml, TP_METRIC_GPU_MEM_OTHERS), 0);
	owner_close(&rig);
}
END_TEST

START_TEST(more_processes_than_expected_are_all_seen)
{
	struct owner_rig rig;
	char script[8192] = "devices 1\n";
	for (int i = 0; i < 200; i++)
		snprintf(script + strlen(script), sizeof(script) - strlen(script), "process %d 1\n",
			 1000 + i);
	strcat(script, "process 501 9\n");
	owner_open(&rig, first, no_files, script);
	ck_assert_double_eq(double_value(&rig.nvml, TP_METRIC_GPU_OTHERS), 200);
	ck_assert_double_eq(double_value(&rig.nvml, TP_METRIC_GPU_MEM_OWN), 9);
	owner_close(&rig);
}
END_TEST

START_TEST(in_a_namespace_a_number_alone_proves_nothing)
{
	struct owner_rig rig;
	owner_open(&rig, inner, no_files, "devices 1\nprocess 500 1000\n");
	ck_assert_double_eq(double_value(&rig.nvml, TP_METRIC_GPU_IS_LISTED), 0);
	ck_assert_double_nan(double_value(&rig.nvml, TP_METRIC_GPU_MEM_OWN));
	ck_assert_double_nan(double_value(&rig.nvml, TP_METRIC_GPU_OTHERS));
	owner_close(&rig);
}
END_TEST

START_TEST(in_a_namespace_a_number_with_the_open_node_does)
{
	struct owner_rig rig;
	owner_open(&rig, inner, node_files, "devices 1\nminor 3\nprocess 500 1000\n");
	ck_assert_double_eq(double_value(&rig.nvml, TP_METRIC_GPU_IS_LISTED), 1);
	ck_assert_double_eq(double_value(&rig.nvml, TP_METRIC_GPU_MEM_OWN), 1000);
	ck_assert_double_nan(double_value(&rig.nvml, TP_METRIC_GPU_OTHERS));
	owner_close(&rig);
}
END_TEST

START_TEST(nodes_are_known_by_their_number)
{
	struct owner_rig rig;
	uint64_t now_ns = 1000 * TP_NS_PER_S;
	owner_open(&rig, first, node_files, "devices 1\nminor 3\n");
	ck_assert(tp_nvml_process_holds(&rig.owner, &rig.nvml.device, now_ns));
	rig.nvml.device.minor = 0; /* nvidiactl and nvidia-uvm belong to no device */
	ck_assert(!tp_nvml_process_holds(&rig.owner, &rig.nvml.device, now_ns));
	/* A process that has ended holds nothing: the next poll, one second later, notices it. */
	rig.nvml.device.minor = 3;
	tp_nvml_process_set_pids(&rig.owner, (const pid_t[]){501}, 1);
	ck_assert(tp_nvml_process_holds(&rig.owner, &rig.nvml.device, now_ns));
	ck_assert(!tp_nvml_process_holds(&rig.owner, &rig.nvml.device, now_ns + TP_NS_PER_S));
	owner_close(&rig);
}
END_TEST

static const int errors[] = {3, 4, 9, 15, 999};

START_TEST(a_list_that_is_refused_leaves_all_unknown)
{
	struct owner_rig rig;
	char script[200];
	snprintf(script, sizeof(script),
		 "devices 1\nprocess 500 1\nfail_nvmlDeviceGetComputeRunningProcesses_v3 %d\n",
		 errors[_i]);
	owner_open(&rig, first, no_files, script);
	ck_assert_double_nan(double_value(&rig.nvml, TP_METRIC_GPU_IS_LISTED));
	ck_assert_double_nan(double_value(&rig.nvml, TP_METRIC_GPU_OTHERS));
	ck_assert_int_eq(rig.nvml.device.is_lost, errors[_i] == 15);
	owner_close(&rig);
}
END_TEST

Suite *suite_collect_nvml_process(void);
Suite *suite_collect_nvml_process(void)
{
	Suite *suite = suite_create("collect/nvml_owner");
	TCase *tc = tcase_create("owner");
	tcase_add_test(tc, a_process_that_nvml_lists_is_ours_and_the_others_are_not);
	tcase_add_test(tc, memory_that_is_not_told_is_not_nought);
	tcase_add_test(tc, more_processes_than_expected_are_all_seen);
	tcase_add_test(tc, in_a_namespace_a_number_alone_proves_nothing);
	tcase_add_test(tc, in_a_namespace_a_number_with_the_open_node_does);
	tcase_add_test(tc, nodes_are_known_by_their_number);
	tcase_add_loop_test(tc, a_list_that_is_refused_leaves_all_unknown, 0, 5);
	suite_add_tcase(suite, tc);
	return suite;
}
