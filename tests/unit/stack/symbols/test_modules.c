/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of files: the one that is opened for a mapping, and those that are not trusted. */
#include "trainprof/stack/modules.h"

#include "stack/symbols/module.h"
#include "trainprof/stack/maps.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static char folder[40];
static char path[80];
static struct tp_modules *modules;

static void set_up(void)
{
	strcpy(folder, "/tmp/trainprof-modules-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/lib.so", folder);
	modules = tp_modules_new();
}

static void tear_down(void)
{
	tp_modules_free(modules);
	unlink(path);
	rmdir(folder);
}

static void copy_self_to(const char *to)
{
	char command[200];
	snprintf(command, sizeof(command), "cp /proc/%d/exe %s", (int)getpid(), to);
	ck_assert_int_eq(system(command), 0);
}

static struct tp_file_mapping mapping_of(const char *name)
{
	struct stat st;
	ck_assert_int_eq(stat(name, &st), 0);
	return (struct tp_file_mapping){
		.start = 0x1000,
		.end = 0x2000,
		.inode = st.st_ino,
		.dev_major = major(st.st_dev),
		.dev_minor = minor(st.st_dev),
		.path = name,
	};
}

START_TEST(file_is_opened_once)
{
	copy_self_to(path);
	struct tp_file_mapping mapping = mapping_of(path);
	struct tp_module *first = tp_modules_open(modules, getpid(), &mapping);
	ck_assert(first->has_image);
	ck_assert_str_eq(first->path, path);
	ck_assert_str_eq(first->name, "lib.so");
	ck_assert_ptr_eq(tp_modules_open(modules, getpid(), &mapping), first);
	ck_assert_uint_eq(modules->n_items, 2);
	ck_assert_uint_eq(first->id, 1);
}
END_TEST

START_TEST(other_file_under_the_name_is_not_believed)
{
	copy_self_to(path);
	struct tp_file_mapping mapping = mapping_of(path);
	mapping.inode++; /* replaced since it was mapped */
	struct tp_module *module = tp_modules_open(modules, getpid(), &mapping);
	ck_assert(!module->has_image);
	ck_assert_str_eq(module->path, path);
}
END_TEST

START_TEST(deleted_file_is_remembered_from_another_process)
{
	copy_self_to(path);
	struct tp_file_mapping mapping = mapping_of(path);
	struct tp_module *before = tp_modules_open(modules, getpid(), &mapping);
	unlink(path);
	ck_assert_ptr_eq(tp_modules_open(modules, getpid(), &mapping), before);
	ck_assert(before->has_image);
}
END_TEST

/* Deleted before the lookup: the mapping itself still leads to the file (as root). */
START_TEST(deleted_file_is_reached_through_its_mapping)
{
	copy_self_to(path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *at = mmap(NULL, 1 << 16, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	unlink(path);
	struct tp_maps *maps = tp_maps_new(modules, getpid());
	struct tp_stack_frame frame;
	ck_assert_int_eq(tp_maps_read(maps, NULL), TP_OK);
	tp_maps_find(maps, (uint64_t)(uintptr_t)at + 100, 0, &frame);
	ck_assert_ptr_nonnull(frame.module);
	ck_assert_str_eq(frame.module->path, path);
	ck_assert_int_eq(frame.module->has_image, geteuid() == 0);
	tp_maps_free(maps);
	munmap(at, 1 << 16);
}
END_TEST

START_TEST(plain_path_needs_the_right_device)
{
	copy_self_to(path);
	struct tp_file_mapping mapping = mapping_of(path);
	/* No such process: only the plain path can be used. */
	pid_t nobody = 0x3fffffff;
	mapping.dev_minor++;
	ck_assert(!tp_modules_open(modules, nobody, &mapping)->has_image);
	mapping.dev_minor--;
	ck_assert(tp_modules_open(modules, nobody, &mapping)->has_image);
}
END_TEST

START_TEST(pipe_is_not_touched)
{
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	struct tp_file_mapping mapping = mapping_of(path);
	ck_assert(!tp_modules_open(modules, getpid(), &mapping)->has_image);
}
END_TEST

START_TEST(file_that_is_no_program_is_a_module_without_image)
{
	FILE *file = fopen(path, "we");
	fputs("\177ELF but not really", file);
	fclose(file);
	struct tp_file_mapping mapping = mapping_of(path);
	struct tp_module *module = tp_modules_open(modules, getpid(), &mapping);
	ck_assert(!module->has_image);
	ck_assert_int_eq(module->kind, TP_FRAME_NATIVE);
}
END_TEST

START_TEST(file_cut_under_us_gives_less_and_no_signal)
{
	copy_self_to(path);
	struct tp_file_mapping mapping = mapping_of(path);
	struct tp_module *module = tp_modules_open(modules, getpid(), &mapping);
	struct tp_module_body *inside = tp_module_of(module);
	ck_assert_int_eq(truncate(path, 4096), 0);
	struct tp_unwind_rule *rule =
		tp_unwind_rule_cache_get(&inside->rules, inside->image, inside->image->entry);
	ck_assert_int_eq(rule->cfa == TP_RULE_CFA_SP, false);
}
END_TEST

START_TEST(image_must_be_a_program)
{
	static const uint8_t nothing[64] = {0};
	struct tp_module *module = NULL;
	struct tp_error err;
	ck_assert_int_eq(tp_modules_add_image(&module, modules, "x", nothing, 64, &err), TP_PARSE);
	ck_assert_int_eq(tp_modules_add_image(&module, modules, "x", nothing, 0, &err), TP_PARSE);
	ck_assert_ptr_null(module);
	ck_assert_uint_eq(modules->n_items, 1);
}
END_TEST

Suite *suite_stack_modules(void);
Suite *suite_stack_modules(void)
{
	Suite *suite = suite_create("stack/modules");
	TCase *tc = tcase_create("modules");
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, file_is_opened_once);
	tcase_add_test(tc, other_file_under_the_name_is_not_believed);
	tcase_add_test(tc, deleted_file_is_remembered_from_another_process);
	tcase_add_test(tc, deleted_file_is_reached_through_its_mapping);
	tcase_add_test(tc, plain_path_needs_the_right_device);
	tcase_add_test(tc, pipe_is_not_touched);
	tcase_add_test(tc, file_that_is_no_program_is_a_module_without_image);
	tcase_add_test(tc, file_cut_under_us_gives_less_and_no_signal);
	tcase_add_test(tc, image_must_be_a_program);
	suite_add_tcase(suite, tc);
	return suite;
}
