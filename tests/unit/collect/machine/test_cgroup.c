/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of unusual locations of control groups; test_host_info.c has the usual ones on recorded
 * machines. */
#include "collect/machine/cgroup.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#define LEN(table) (sizeof(table) / sizeof((table)[0]))

static const struct {
	const char *groups;    /* /proc/self/cgroup */
	const char *mounts;    /* /proc/self/mountinfo */
	const char *directory; /* an existing one, with cpu.max "300000 100000" */
	const char *cpu;       /* NULL = none */
	double quota_cpus;
} places[] = {
	/* a blank in the mount point is written \040 */
	{"0::/a\n", "29 23 0:26 / /my\\040groups rw - cgroup2 cgroup2 rw\n", "/my groups/a",
	 "/my groups/a", 3},
	/* moved outside of what our namespace shows: the mount point is the closest visible
	 * group */
	{"0::/../other\n", "29 23 0:26 / /groups rw - cgroup2 cgroup2 rw\n", "/groups", "/groups",
	 3},
	/* a path that is not mounted here */
	{"0::/gone\n", "29 23 0:26 / /groups rw - cgroup2 cgroup2 rw\n", "/groups", "/groups", 3},
	/* a root that only begins with our path */
	{"0::/docker12\n", "29 23 0:26 /docker1 /groups rw - cgroup2 cgroup2 rw\n",
	 "/groups/docker12", "/groups/docker12", 3},
	/* version 2 is mounted, but the controller is in version 1, which is not mounted */
	{"3:cpuset:/a\n0::/a\n", "29 23 0:26 / /groups rw - cgroup2 cgroup2 rw\n", "/groups/a",
	 "/groups/a", 3},
	/* "cpu" is not found in "cpuset" */
	{"3:cpuset:/a\n", "29 23 0:26 / /groups rw - cgroup cgroup rw,cpuset\n", "/groups/a", NULL,
	 0},
	{"", "29 23 0:26 / /groups rw - cgroup2 cgroup2 rw\n", "/groups", NULL, 0},
	{"0::/a\n", "garbage\n29 23 - x\n- - -\n\n", "/groups", NULL, 0},
	{"0:a\nnonsense\n", "29 23 0:26 / /groups rw - cgroup2 cgroup2 rw\n", "/groups", NULL, 0},
};

static void write_text(const char *root, const char *path, const char *text)
{
	char full[512];
	snprintf(full, sizeof(full), "%s%s", root, path);
	FILE *file = fopen(full, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

START_TEST(place_is_found_or_none_is_claimed)
{
	char root[] = "/tmp/trainprof-cgroup-XXXXXX";
	char command[512];
	char path[256];
	ck_assert_ptr_nonnull(mkdtemp(root));
	snprintf(command, sizeof(command), "mkdir -p %s/proc/self '%s%s'", root, root,
		 places[_i].directory);
	ck_assert_int_eq(system(command), 0); /* NOLINT(concurrency-mt-unsafe): one thread */
	write_text(root, "/proc/self/cgroup", places[_i].groups);
	write_text(root, "/proc/self/mountinfo", places[_i].mounts);
	snprintf(path, sizeof(path), "%s/cpu.max", places[_i].directory);
	write_text(root, path, "300000 100000\n");
	struct tp_host host = {.root = root};
	tp_cgroup_find(&host);
	ck_assert_pstr_eq(host.cgroup_cpu, places[_i].cpu);
	ck_assert_double_eq_tol(host.info.quota_cpus, places[_i].quota_cpus, 1e-9);
	tp_arena_release(&host.arena);
	snprintf(command, sizeof(command), "rm -r '%s'", root);
	ck_assert_int_eq(system(command), 0); /* NOLINT(concurrency-mt-unsafe): one thread */
}
END_TEST

Suite *suite_collect_cgroup(void);
Suite *suite_collect_cgroup(void)
{
	Suite *suite = suite_create("collect/cgroup");
	TCase *tc = tcase_create("cgroup");
	tcase_add_loop_test(tc, place_is_found_or_none_is_claimed, 0, LEN(places));
	suite_add_tcase(suite, tc);
	return suite;
}
