/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the line that doctor and run propose in this environment. */
#include "cli/session/launch_hint.h"

#include "trainprof/base/memory.h"

#include <check.h>
#include <stdlib.h>

static const char *const variables[] = {
	"JPY_SESSION_NAME",    "JPY_PARENT_PID",        "SLURM_JOB_ID",
	"SM_TRAINING_ENV",     "AZUREML_RUN_ID",        "CLOUD_ML_JOB_ID",
	"APPTAINER_CONTAINER", "SINGULARITY_CONTAINER", "KUBERNETES_SERVICE_HOST",
};

static struct tp_host host;

static void begin(void)
{
	host = (struct tp_host){.in_container = false};
	for (size_t i = 0; i < TP_ARRAY_LEN(variables); i++)
		unsetenv(variables[i]);
}

static void check_hint(const char *remedy, const char *expected)
{
	struct tp_buf text = {0};
	tp_launch_hint(&text, &host, remedy);
	ck_assert_str_eq(tp_buf_text(&text), expected);
	tp_buf_release(&text);
}

static void check_line(const char *expected)
{
	struct tp_buf text = {0};
	ck_assert_int_eq(tp_launch_add_line(&text, &host), *expected != '\0');
	ck_assert_str_eq(tp_buf_text(&text), expected);
	tp_buf_release(&text);
}

/* Fails where /.dockerenv exists and is taken for a container: in virtual machines made from an
 * image. */
START_TEST(outside_of_containers_the_remedy_of_the_source_is_proposed)
{
	check_hint("sudo sysctl kernel.perf_event_paranoid=1",
		   "Here: sudo sysctl kernel.perf_event_paranoid=1");
	check_hint(NULL, "Here: trainprof run -- python3 train.py");
	check_line("");
}
END_TEST

START_TEST(a_pod_is_granted_capabilities)
{
	setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
	check_hint("start the container with CAP_PERFMON",
		   "Kubernetes: securityContext: {capabilities: {add: [PERFMON, SYS_PTRACE]}}");
	check_hint(NULL, "Kubernetes: kubectl exec POD -- trainprof attach -d 30s PID");
	check_line("Kubernetes: securityContext: {capabilities: {add: [PERFMON, SYS_PTRACE]}}");
}
END_TEST

START_TEST(a_job_determines_the_start_and_the_pod_around_it_the_permission)
{
	setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
	setenv("SLURM_JOB_ID", "1", 1);
	check_hint(NULL, "Slurm: srun trainprof run -o prof -- python3 train.py");
	check_line("Kubernetes: securityContext: {capabilities: {add: [PERFMON, SYS_PTRACE]}}");
}
END_TEST

START_TEST(a_managed_service_grants_nothing_so_only_the_start_is_proposed)
{
	setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
	setenv("AZUREML_RUN_ID", "a", 1);
	static const char start[] = "Azure ML: trainprof run -o outputs/prof -- python3 train.py";
	check_hint("start the container with CAP_PERFMON", start);
	check_hint(NULL, start);
	check_line("Azure ML: this service grants no more permissions");
}
END_TEST

Suite *suite_cli_launch_hint(void);

Suite *suite_cli_launch_hint(void)
{
	Suite *s = suite_create("cli_launch_hint");
	TCase *tc = tcase_create("all");
	tcase_add_checked_fixture(tc, begin, NULL);
	tcase_add_test(tc, outside_of_containers_the_remedy_of_the_source_is_proposed);
	tcase_add_test(tc, a_pod_is_granted_capabilities);
	tcase_add_test(tc, a_job_determines_the_start_and_the_pod_around_it_the_permission);
	tcase_add_test(tc, a_managed_service_grants_nothing_so_only_the_start_is_proposed);
	suite_add_tcase(s, tc);
	return s;
}
