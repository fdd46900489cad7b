/* SPDX-License-Identifier: Apache-2.0 */
/* Tests facts about machine, job and threads. */
#include "import/nsys/nsys_facts.h"

#include "import/nsys_scene.h"

#include <check.h>
#include <string.h>

#define N(array) (int)(sizeof(array) / sizeof((array)[0]))
#define KERNELS                                                                                    \
	SCHEMA_STRINGS SCHEMA_KERNEL SCHEMA_CALLS                                                  \
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 1, 1, 7, 5, "              \
		"281475060596736, 1, 1, "                                                          \
		"NULL, 1, 1, 1, 1, 1, 1, NULL), (15, 20, 0, 1, 7, 6, 281475060596736, 1, 1, "      \
		"NULL, 1, 1, 1, "                                                                  \
		"1, 1, 1, NULL);"                                                                  \
		"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 0, 281475060596742, 5, 1, " \
		"0, NULL);"
#define SECOND_RANK                                                                                \
	"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 1, 7, 5, 281475077373952, 1, "  \
	"1, "                                                                                      \
	"NULL, 1, 1, 1, 1, 1, 1, NULL);"
#define SYSTEM                                                                                     \
	"CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT NOT NULL, "     \
	"name "                                                                                    \
	"TEXT NOT NULL, nameEnum INTEGER NOT NULL, value TEXT NOT NULL);"
#define CAPTURE "CREATE TABLE META_DATA_CAPTURE (name TEXT NOT NULL, value TEXT);"

static const struct {
	const char *sql;
	int64_t number;
	uint32_t n_ranks;
} jobs[] = {
	{"", -1, 0},
	{CAPTURE "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', "
		 "'RANK=\"3\"'), ('PROCESS_0:ENVIRONMENT_VARIABLE', 'WORLD_SIZE=\"8\"'), "
		 "('PROCESS_0:ENVIRONMENT_VARIABLE', 'LOCAL_RANK=\"1\"');",
	 3, 8},
	{SYSTEM "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (1, 'x', 'DeviceEnvironment', 1, "
		"'A=1;OMPI_COMM_WORLD_RANK=2;B=;OMPI_COMM_WORLD_SIZE=4');",
	 2, 4},
	/* the launcher of Python has precedence over its own launcher */
	{SYSTEM "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (1, 'x', 'DeviceEnvironment', 1, "
		"'PMI_SIZE=9;PMI_RANK=7;WORLD_SIZE=2;RANK=1');",
	 1, 2},
	{CAPTURE
	 "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', 'RANK=3');",
	 3, 0},
	/* a batch script, and a step of Slurm */
	{SYSTEM "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (1, 'x', 'DeviceEnvironment', 1, "
		"'SLURM_PROCID=0;SLURM_NTASKS=4');",
	 -1, 0},
	{SYSTEM "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (1, 'x', 'DeviceEnvironment', 1, "
		"'SLURM_PROCID=3;SLURM_STEP_NUM_TASKS=4');",
	 3, 4},
	/* numbers that no job has */
	{CAPTURE
	 "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', 'RANK=8'), "
	 "('PROCESS_0:ENVIRONMENT_VARIABLE', 'WORLD_SIZE=8');",
	 -1, 0},
	{CAPTURE
	 "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', 'RANK=-1'), "
	 "('PROCESS_0:ENVIRONMENT_VARIABLE', 'RANKS=1'), ('PROCESS_0:ENVIRONMENT_VARIABLE', "
	 "'PMI_RANK=\"\"'), ('PROCESS_0:ENVIRONMENT_VARIABLE', 'OMPI_COMM_WORLD_RANK=9999999'), "
	 "('PROCESS_0:ARGUMENT_1', 'RANK=1'), ('PROCESS_0:ENVIRONMENT_VARIABLE', NULL);",
	 -1, 0},
	/* one environment for two ranks */
	{SECOND_RANK CAPTURE "INSERT INTO META_DATA_CAPTURE VALUES "
			     "('PROCESS_0:ENVIRONMENT_VARIABLE', 'RANK=3');",
	 -1, 0},
};

START_TEST(a_place_in_the_job_comes_from_the_environment)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(&scene, nsys_file_make("%s%s", KERNELS, jobs[_i].sql));
	ck_assert_msg(!scene.status, "%s", scene.err.text);
	ck_assert_int_eq(scene.result.ranks[0].number, jobs[_i].number);
	ck_assert_uint_eq(scene.result.ranks[0].n_ranks, jobs[_i].n_ranks);
	nsys_scene_release(&scene);
}
END_TEST

START_TEST(devices_are_those_worked_on)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(
		&scene,
		nsys_file_make(
			"%s", KERNELS SECOND_RANK
			"CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, totalMemory INTEGER, "
			"smCount INTEGER, cuDevice INTEGER, computeMajor INTEGER, computeMinor "
			"INTEGER);"
			"CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid "
			"INTEGER, numMultiprocessors INTEGER);"
			"INSERT INTO TARGET_INFO_GPU VALUES (0, 'A', 85899345920, 132, 0, 9, 0), "
			"(1, 'B', "
			"-1, 108, 1, 8, 0), (2, 'C', 3, 84, 2, 8, 6);"
			"INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (2, 0, 6, 14), (1, 0, 7, 1);"));
	const struct tp_rank_info *rank = &scene.result.ranks[0];
	ck_assert_uint_eq(rank->n_devices, 2);
	ck_assert_int_eq(rank->devices[0].number, 0);
	ck_assert_str_eq(rank->devices[0].name, "A");
	ck_assert_uint_eq(rank->devices[0].memory_bytes, 85899345920);
	ck_assert_uint_eq(rank->devices[0].n_processors, 132);
	ck_assert_uint_eq(rank->devices[0].capability, 90);
	ck_assert_str_eq(rank->devices[1].name, "B");
	ck_assert_uint_eq(rank->devices[1].memory_bytes, 0);
	/* CUDA_VISIBLE_DEVICES=2, and only a part of that device */
	rank = &scene.result.ranks[1];
	ck_assert_uint_eq(rank->n_devices, 1);
	ck_assert_int_eq(rank->devices[0].number, 0);
	ck_assert_str_eq(rank->devices[0].name, "C");
	ck_assert_uint_eq(rank->devices[0].n_processors, 14);
	ck_assert_uint_eq(rank->devices[0].capability, 86);
	nsys_scene_release(&scene);
}
END_TEST

START_TEST(devices_that_nothing_is_told_of_have_a_number)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(&scene, nsys_file_make("%s", KERNELS));
	ck_assert_uint_eq(scene.result.ranks[0].n_devices, 2);
	ck_assert_int_eq(scene.result.ranks[0].devices[1].number, 1);
	ck_assert_ptr_null(scene.result.ranks[0].devices[1].name);
	ck_assert_ptr_null(scene.result.ranks[0].host);
	nsys_scene_release(&scene);
}
END_TEST

START_TEST(every_rank_of_a_host_has_its_name)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(&scene,
			  nsys_file_make("%s", KERNELS SECOND_RANK SYSTEM
					 "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (1, 'x', "
					 "'Hostname', 1, 'node7');"));
	ck_assert_str_eq(scene.result.ranks[0].host, "node7");
	ck_assert_str_eq(scene.result.ranks[1].host, "node7");
	nsys_scene_release(&scene);
}
END_TEST

START_TEST(threads_with_spans_are_named)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(
		&scene,
		nsys_file_make(
			"%s", KERNELS
			"CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, "
			"globalTid INTEGER);"
			"INSERT INTO StringIds VALUES (50, 'pt_main_thread'), (51, 'idle');"
			"INSERT INTO ThreadNames VALUES (51, 20, 281475060596743), (50, 20, "
			"281475060596742), (51, 20, 281475077373958), (51, 20, NULL);"));
	const struct tp_span *call = nsys_scene_span(&scene, TP_SPAN_CALL, 0);
	ck_assert_uint_eq(scene.trace.n_tracks, 3);
	ck_assert_str_eq(tp_trace_string(&scene.trace, nsys_scene_track(&scene, call)->name),
			 "pt_main_thread");
	nsys_scene_release(&scene);
}
END_TEST

Suite *suite_import_nsys_facts(void);
Suite *suite_import_nsys_facts(void)
{
	Suite *suite = suite_create("import/nsys_facts");
	TCase *tc = tcase_create("facts");
	tcase_add_loop_test(tc, a_place_in_the_job_comes_from_the_environment, 0, N(jobs));
	tcase_add_test(tc, devices_are_those_worked_on);
	tcase_add_test(tc, devices_that_nothing_is_told_of_have_a_number);
	tcase_add_test(tc, every_rank_of_a_host_has_its_name);
	tcase_add_test(tc, threads_with_spans_are_named);
	suite_add_tcase(suite, tc);
	return suite;
}
