/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a rank's place in its job, from the variables of launchers. */
#include "trainprof/model/job_place.h"

#include <check.h>
#include <string.h>

/* "NAME=value", NULL-terminated. */
static const char *variable(const void *context, const char *name)
{
	size_t len = strlen(name);
	for (const char *const *line = context; *line; line++)
		if (strncmp(*line, name, len) == 0 && (*line)[len] == '=')
			return *line + len + 1;
	return NULL;
}

static struct tp_arena arena;

static bool find(struct tp_job_place *out, const char *const *lines)
{
	return tp_job_place_find(out, variable, lines, &arena);
}

struct launched {
	const char *lines[8];
	const char *launcher;
	const char *id;
	int64_t rank;
	uint32_t n_ranks;
};

static const struct launched launched[] = {
	{{"OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4", "PMIX_NAMESPACE=77"},
	 "Open MPI",
	 "77",
	 3,
	 4},
	{{"PMI_RANK=0", "PMI_SIZE=2", "PBS_JOBID=12.server"}, "PMI", "12.server", 0, 2},
	{{"SLURM_PROCID=5", "SLURM_STEP_NUM_TASKS=6", "SLURM_NTASKS=99", "SLURM_JOB_ID=8",
	  "SLURM_STEP_ID=0"},
	 "Slurm",
	 "8.0",
	 5,
	 6},
	{{"SLURM_PROCID=1", "SLURM_NTASKS=2"}, "Slurm", NULL, 1, 2},
	{{"RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=10.0.0.1", "MASTER_PORT=29500"},
	 "RANK and WORLD_SIZE",
	 "10.0.0.1:29500",
	 1,
	 2},
	{{"PMIX_RANK=2", "PMIX_NAMESPACE=a"}, "PMIx", "a", 2, 0},
	/* torchrun in a Slurm task: its own ranks count. */
	{{"TORCHELASTIC_RUN_ID=none", "RANK=6", "WORLD_SIZE=8", "MASTER_ADDR=h", "MASTER_PORT=1",
	  "SLURM_PROCID=0", "SLURM_NTASKS=2"},
	 "torchrun",
	 "h:1",
	 6,
	 8},
	/* mpirun in a pod that is rank 0 itself: the ranks of mpirun count. */
	{{"RANK=0", "WORLD_SIZE=2", "OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=4"},
	 "Open MPI",
	 NULL,
	 1,
	 4},
};

START_TEST(every_launcher_is_known)
{
	const struct launched *is = &launched[_i];
	struct tp_job_place place;
	ck_assert(find(&place, is->lines));
	ck_assert_str_eq(place.launcher, is->launcher);
	ck_assert_int_eq(place.rank, is->rank);
	ck_assert_uint_eq(place.n_ranks, is->n_ranks);
	ck_assert_str_eq(place.id ? place.id : "", is->id ? is->id : "");
	ck_assert_ptr_null(place.contradiction);
}
END_TEST

START_TEST(a_launcher_is_no_rank)
{
	static const char *const none[][4] = {
		{NULL},
		{"RANK=0"},
		{"RANK=0", "WORLD_SIZE=1"},
		{"ENVIRONMENT=BATCH", "SLURM_PROCID=0", "SLURM_NTASKS=8"},
		{"WORLD_SIZE=2"},
	};
	struct tp_job_place place;
	ck_assert(!find(&place, none[_i]));
	ck_assert_ptr_null(place.launcher);
	ck_assert_ptr_null(place.contradiction);
}
END_TEST

START_TEST(variables_that_lie_are_named)
{
	const char *const lines[] = {"RANK=7", "WORLD_SIZE=2", NULL};
	struct tp_job_place place;
	ck_assert(find(&place, lines));
	ck_assert_str_eq(place.contradiction, "RANK=7 of WORLD_SIZE=2");
	ck_assert_int_eq(place.rank, 7);
	ck_assert_uint_eq(place.n_ranks, 0);
}
END_TEST

START_TEST(another_launcher_knows_better_than_a_lie)
{
	const char *const lines[] = {"RANK=7", "WORLD_SIZE=2", "SLURM_PROCID=1", "SLURM_NTASKS=2",
				     NULL};
	struct tp_job_place place;
	ck_assert(find(&place, lines));
	ck_assert_str_eq(place.launcher, "Slurm");
	ck_assert_int_eq(place.rank, 1);
	ck_assert_uint_eq(place.n_ranks, 2);
	ck_assert_ptr_nonnull(place.contradiction);
}
END_TEST

START_TEST(words_and_negative_numbers_are_no_ranks)
{
	static const char *const bad[][3] = {
		{"RANK=-1", "WORLD_SIZE=2"},
		{"RANK=one", "WORLD_SIZE=2"},
		{"RANK=99999999999999999999", "WORLD_SIZE=2"},
	};
	struct tp_job_place place;
	ck_assert(!find(&place, bad[_i]));
	ck_assert_ptr_nonnull(place.contradiction);
	ck_assert_ptr_null(place.launcher);
}
END_TEST

START_TEST(a_copy_survives_its_original)
{
	struct tp_arena other = {0};
	char text[] = "job";
	struct tp_job_place place = {.launcher = text, .id = text, .contradiction = text};
	struct tp_job_place copy;
	tp_job_place_copy(&copy, &place, &other);
	text[0] = 'X';
	ck_assert_str_eq(copy.launcher, "job");
	ck_assert_str_eq(copy.id, "job");
	ck_assert_str_eq(copy.contradiction, "job");
	tp_arena_release(&other);
}
END_TEST

static void release(void)
{
	tp_arena_release(&arena);
}

Suite *suite_model_job_place(void);

Suite *suite_model_job_place(void)
{
	Suite *suite = suite_create("model_job_place");
	TCase *tc = tcase_create("variables");
	tcase_add_checked_fixture(tc, NULL, release);
	tcase_add_loop_test(tc, every_launcher_is_known, 0, sizeof(launched) / sizeof(launched[0]));
	tcase_add_loop_test(tc, a_launcher_is_no_rank, 0, 5);
	tcase_add_test(tc, variables_that_lie_are_named);
	tcase_add_test(tc, another_launcher_knows_better_than_a_lie);
	tcase_add_loop_test(tc, words_and_negative_numbers_are_no_ranks, 0, 3);
	tcase_add_test(tc, a_copy_survives_its_original);
	suite_add_tcase(suite, tc);
	return suite;
}
