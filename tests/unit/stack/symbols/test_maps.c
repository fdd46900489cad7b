/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of address spaces: overlaps, forks, execs, and the modules of mappings. */
#include "trainprof/stack/maps.h"
#include "trainprof/stack/modules.h"
#include "trainprof/stack/symbol.h"

#include "trainprof/base/clock.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

static struct tp_modules *modules;
static struct tp_maps *maps;

static void set_up(void)
{
	modules = tp_modules_new();
	maps = tp_maps_new(modules, getpid());
}

static void tear_down(void)
{
	tp_maps_free(maps);
	tp_modules_free(modules);
}

/* Files that do not exist are enough: addresses are offsets in them. */
static void add(struct tp_maps *to, uint64_t start, uint64_t end, const char *path,
		uint64_t file_offset, bool is_executable)
{
	struct tp_mapping mapping = {
		.start = start,
		.size = end - start,
		.file_offset = file_offset,
		.inode = 1,
		.is_executable = is_executable,
		.path = path,
	};
	tp_maps_add(to, &mapping);
}

/* Returns "path+offset" of an address, or "none". Valid until the next call. */
static const char *place(struct tp_maps *in, uint64_t pc)
{
	static char text[100];
	struct tp_stack_frame frame;
	tp_maps_find(in, pc, 0, &frame);
	if (!frame.module)
		return "none";
	snprintf(text, sizeof(text), "%s+%llx", frame.module->path,
		 (unsigned long long)frame.address);
	return text;
}

START_TEST(later_mapping_replaces_what_it_overlaps)
{
	add(maps, 0x10000, 0x20000, "/none/a", 0x1000, true);
	ck_assert_str_eq(place(maps, 0x10000), "/none/a+1000");
	ck_assert_str_eq(place(maps, 0x1ffff), "/none/a+10fff");
	ck_assert_str_eq(place(maps, 0x20000), "none");
	add(maps, 0x14000, 0x16000, "/none/b", 0, true); /* in the middle */
	ck_assert_str_eq(place(maps, 0x13fff), "/none/a+4fff");
	ck_assert_str_eq(place(maps, 0x14000), "/none/b+0");
	ck_assert_str_eq(place(maps, 0x16000), "/none/a+7000");
	add(maps, 0xf000, 0x12000, "/none/c", 0, true); /* over the front */
	ck_assert_str_eq(place(maps, 0x11fff), "/none/c+2fff");
	ck_assert_str_eq(place(maps, 0x12000), "/none/a+3000");
	add(maps, 0x1f000, 0x21000, "/none/d", 0, true); /* over the end */
	ck_assert_str_eq(place(maps, 0x1efff), "/none/a+ffff");
	ck_assert_str_eq(place(maps, 0x1f000), "/none/d+0");
	add(maps, 0x13000, 0x1f800, "/none/e", 0, true); /* over several */
	ck_assert_str_eq(place(maps, 0x12fff), "/none/a+3fff");
	ck_assert_str_eq(place(maps, 0x15000), "/none/e+2000");
	ck_assert_str_eq(place(maps, 0x1f7ff), "/none/e+c7ff");
	ck_assert_str_eq(place(maps, 0x1f800), "/none/d+800");
}
END_TEST

/* Compared with the simplest model: an owner for every page. */
START_TEST(random_mappings_agree_with_a_page_table)
{
	enum { PAGES = 64, ROUNDS = 2000 };
	char owner[PAGES] = {0};
	unsigned state = 1;
	for (int round = 0; round < ROUNDS; round++) {
		state = state * 1103515245 + 12345;
		unsigned first = state >> 16 & (PAGES - 1);
		unsigned n = 1 + (state >> 22) % 12;
		char letter = (char)('a' + (state >> 8) % 26);
		char path[] = "/none/?";
		path[6] = letter;
		bool is_executable = letter != 'z';
		if (first + n > PAGES)
			n = PAGES - first;
		add(maps, 0x1000 * (1 + first), 0x1000 * (1 + first + n), path, 0, is_executable);
		memset(owner + first, is_executable ? letter : 0, n);
		for (unsigned page = 0; page < PAGES; page++) {
			const char *found = place(maps, 0x1000 * (1 + page) + 0x123);
			if (owner[page])
				ck_assert_int_eq(found[6], owner[page]);
			else
				ck_assert_str_eq(found, "none");
		}
	}
}
END_TEST

START_TEST(data_mapping_cuts_a_hole)
{
	add(maps, 0x10000, 0x20000, "/none/a", 0, true);
	add(maps, 0x14000, 0x15000, "/none/a", 0x4000, false);
	ck_assert_str_eq(place(maps, 0x14000), "none");
	ck_assert_str_eq(place(maps, 0x15000), "/none/a+5000");
}
END_TEST

START_TEST(child_has_the_mappings_of_the_time_of_the_fork)
{
	add(maps, 0x10000, 0x20000, "/none/a", 0, true);
	struct tp_maps *child = tp_maps_fork(maps, getpid());
	add(maps, 0x30000, 0x40000, "/none/parent", 0, true);
	add(child, 0x30000, 0x40000, "/none/child", 0, true);
	ck_assert_str_eq(place(child, 0x10000), "/none/a+0");
	ck_assert_str_eq(place(child, 0x30000), "/none/child+0");
	ck_assert_str_eq(place(maps, 0x30000), "/none/parent+0");
	struct tp_maps *grandchild = tp_maps_fork(child, getpid());
	tp_maps_free(child);
	ck_assert_str_eq(place(grandchild, 0x30000), "/none/child+0");
	tp_maps_free(grandchild);
}
END_TEST

START_TEST(exec_forgets_and_leaves_the_parent_alone)
{
	add(maps, 0x10000, 0x20000, "/none/a", 0, true);
	struct tp_maps *child = tp_maps_fork(maps, getpid());
	tp_maps_clear(child);
	ck_assert_str_eq(place(child, 0x10000), "none");
	ck_assert_str_eq(place(maps, 0x10000), "/none/a+0");
	tp_maps_free(child);
}
END_TEST

START_TEST(nonsense_mappings_are_left_out)
{
	add(maps, 0x10000, 0x10000, "/none/empty", 0, true);
	add(maps, UINT64_MAX - 0xfff, UINT64_MAX, "/none/kernel", 0, true);
	add(maps, 0x1000, UINT64_MAX, "/none/all", 0, true);
	ck_assert_str_eq(place(maps, 0x10000), "none");
	ck_assert_str_eq(place(maps, 0xffffffff81000000), "[kernel]+ffffffff81000000");
	ck_assert_str_eq(place(maps, 0), "none");
}
END_TEST

START_TEST(own_function_is_found_by_its_address)
{
	struct tp_stack_frame frame;
	struct tp_symbol symbol;
	void (*function)(void) = set_up;
	uint64_t pc = 0;
	memcpy(&pc, &function, sizeof(function));
	ck_assert_int_eq(tp_maps_read(maps, NULL), TP_OK);
	tp_maps_find(maps, pc, 0, &frame);
	ck_assert_ptr_nonnull(frame.module);
	ck_assert_int_eq(frame.module->kind, TP_FRAME_NATIVE);
	ck_assert(frame.module->has_image);
	ck_assert_str_eq(frame.module->name, "unit");
	ck_assert_uint_eq(strlen(frame.module->build_id), 40);
	tp_symbol_find(&frame, &symbol);
	ck_assert_str_eq(symbol.name, "set_up");
	ck_assert_uint_eq(symbol.start, frame.address);
	uint64_t back;
	ck_assert(tp_maps_address(maps, frame.module->path, symbol.start, &back));
	ck_assert_uint_eq(back, pc);
	ck_assert(!tp_maps_address(maps, frame.module->path, UINT64_C(1) << 40, &back));
	ck_assert(!tp_maps_address(maps, "/no/such/file", symbol.start, &back));
	/* The same file in another process is the same module. */
	struct tp_maps *other = tp_maps_new(modules, getppid());
	struct tp_stack_frame there;
	if (tp_maps_read(other, NULL) == TP_OK) {
		tp_maps_find(other, pc, 0, &there);
		if (there.module && strcmp(there.module->path, frame.module->path) == 0)
			ck_assert_ptr_eq(there.module, frame.module);
	}
	tp_maps_free(other);
}
END_TEST

START_TEST(vdso_is_our_own)
{
	struct tp_stack_frame frame;
	struct tp_symbol symbol;
	ck_assert_int_eq(tp_maps_read(maps, NULL), TP_OK);
	tp_maps_find(maps, getauxval(AT_SYSINFO_EHDR) + 0x10, 0, &frame);
	ck_assert_ptr_nonnull(frame.module);
	ck_assert_str_eq(frame.module->path, "[vdso]");
	ck_assert(frame.module->has_image);
	/* Some address in it has a name. */
	size_t n_named = 0;
	for (uint64_t at = 0; at < 0x2000; at += 16) {
		frame.address = at;
		tp_symbol_find(&frame, &symbol);
		n_named += strstr(symbol.name, "gettime") != NULL;
	}
	ck_assert_uint_gt(n_named, 0);
}
END_TEST

START_TEST(code_made_at_run_time_is_one_module_of_its_process)
{
	void *page = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct tp_stack_frame first;
	struct tp_stack_frame second;
	uint64_t pc = (uint64_t)(uintptr_t)page;
	ck_assert_int_eq(tp_maps_read(maps, NULL), TP_OK);
	tp_maps_find(maps, pc + 16, 0, &first);
	tp_maps_find(maps, pc + 5000, 0, &second);
	ck_assert_ptr_nonnull(first.module);
	ck_assert_int_eq(first.module->kind, TP_FRAME_JIT);
	ck_assert_str_eq(first.module->path, "[jit]");
	ck_assert_uint_eq(first.address, pc + 16);
	ck_assert_ptr_eq(first.module, second.module);
	munmap(page, 8192);
}
END_TEST

static const char *const anonymous[] = {"",
					"//anon",
					"[heap]",
					"[anon:jit]",
					"/memfd:jit (deleted)",
					"/dev/zero (deleted)",
					"/SYSV00000000 (deleted)",
					"/anon_hugepage (deleted)"};

START_TEST(memory_without_a_file_is_known_by_its_names)
{
	struct tp_stack_frame frame;
	add(maps, 0x10000, 0x20000, anonymous[_i], 0, true);
	tp_maps_find(maps, 0x10010, 0, &frame);
	ck_assert_ptr_nonnull(frame.module);
	ck_assert_int_eq(frame.module->kind, TP_FRAME_JIT);
	ck_assert_uint_eq(frame.address, 0x10010);
}
END_TEST

START_TEST(names_of_run_time_code_come_from_its_perf_map)
{
	struct tp_stack_frame frame;
	struct tp_symbol symbol;
	char path[40];
	add(maps, 0x10000, 0x20000, "", 0, true);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	FILE *file = fopen(path, "we");
	fputs("10000 20 kernel_f32\n", file);
	fflush(file);
	tp_maps_find(maps, 0x10010, 0, &frame);
	uint64_t before_ns = tp_clock_now_ns();
	tp_symbol_find(&frame, &symbol);
	const char *name = symbol.name;
	ck_assert_str_eq(name, "kernel_f32");
	/* The process compiles more code: the file is read again, not at once but soon. */
	fputs("10100 20 kernel_f64\n", file);
	fclose(file);
	tp_maps_find(maps, 0x10110, 0, &frame);
	tp_symbol_find(&frame, &symbol);
	if (tp_clock_now_ns() - before_ns < 100 * TP_NS_PER_MS)
		ck_assert_str_eq(symbol.name, "");
	for (int tries = 0; tries < 2000 && !*symbol.name; tries++) {
		usleep(20000);
		tp_symbol_find(&frame, &symbol);
	}
	ck_assert_str_eq(symbol.name, "kernel_f64");
	ck_assert_str_eq(name, "kernel_f32");
	unlink(path);
	/* A return address after its last byte still belongs to it. */
	tp_maps_find(maps, 0x10020, TP_FRAME_RETURN, &frame);
	tp_symbol_find(&frame, &symbol);
	ck_assert_str_eq(symbol.name, "kernel_f32");
	tp_maps_find(maps, 0x10020, 0, &frame);
	tp_symbol_find(&frame, &symbol);
	ck_assert_str_eq(symbol.name, "");
}
END_TEST

START_TEST(process_that_is_gone_is_absent)
{
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	struct tp_maps *gone = tp_maps_new(modules, child);
	struct tp_error err;
	ck_assert_int_eq(tp_maps_read(gone, &err), TP_ABSENT);
	tp_maps_free(gone);
}
END_TEST

Suite *suite_stack_maps(void);
Suite *suite_stack_maps(void)
{
	Suite *suite = suite_create("stack/maps");
	TCase *tc = tcase_create("maps");
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, later_mapping_replaces_what_it_overlaps);
	tcase_add_test(tc, random_mappings_agree_with_a_page_table);
	tcase_add_test(tc, data_mapping_cuts_a_hole);
	tcase_add_test(tc, child_has_the_mappings_of_the_time_of_the_fork);
	tcase_add_test(tc, exec_forgets_and_leaves_the_parent_alone);
	tcase_add_test(tc, nonsense_mappings_are_left_out);
	tcase_add_test(tc, own_function_is_found_by_its_address);
	tcase_add_test(tc, vdso_is_our_own);
	tcase_add_test(tc, code_made_at_run_time_is_one_module_of_its_process);
	tcase_add_loop_test(tc, memory_without_a_file_is_known_by_its_names, 0,
			    (int)(sizeof(anonymous) / sizeof(anonymous[0])));
	tcase_add_test(tc, names_of_run_time_code_come_from_its_perf_map);
	tcase_add_test(tc, process_that_is_gone_is_absent);
	suite_add_tcase(suite, tc);
	return suite;
}
