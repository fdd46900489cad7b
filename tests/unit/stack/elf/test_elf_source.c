/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of reading files with few descriptors. */
#include "stack/elf/elf_source.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N_FILES = 20 };
static char folder[] = "/tmp/trainprof-source-XXXXXX";

static const char *path_of(int i)
{
	static char path[80];
	snprintf(path, sizeof(path), "%s/%d", folder, i);
	return path;
}

static void set_up(void)
{
	strcpy(folder, "/tmp/trainprof-source-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	for (int i = 0; i < N_FILES; i++) {
		FILE *file = fopen(path_of(i), "we");
		fprintf(file, "this is file %02d", i);
		fclose(file);
	}
}

static void tear_down(void)
{
	for (int i = 0; i < N_FILES; i++)
		unlink(path_of(i));
	rmdir(folder);
}

static void open_all(struct tp_elf_source_pool *pool, struct tp_elf_source *sources)
{
	tp_elf_source_pool_init(pool, 3);
	for (int i = 0; i < N_FILES; i++) {
		struct stat st;
		int fd = tp_elf_source_open_regular(path_of(i), &st);
		ck_assert_int_ge(fd, 0);
		tp_elf_source_init_file(&sources[i], pool, fd, &st, path_of(i), NULL);
		ck_assert_uint_le(pool->n_open, 3);
	}
}

static void close_all(struct tp_elf_source_pool *pool, struct tp_elf_source *sources)
{
	for (int i = 0; i < N_FILES; i++)
		tp_elf_source_release(&sources[i]);
	ck_assert_uint_eq(pool->n_open, 0);
	tp_elf_source_pool_release(pool);
}

/* Searches of a table are many reads that are near each other. */
START_TEST(small_reads_of_a_block_read_the_file_once)
{
	char word[5] = "";
	struct stat st;
	struct tp_elf_source_pool pool;
	struct tp_elf_source source;
	set_up();
	int fd = tp_elf_source_open_regular(path_of(7), &st);
	tp_elf_source_pool_init(&pool, 3);
	tp_elf_source_init_file(&source, &pool, fd, &st, path_of(7), NULL);
	ck_assert(tp_elf_source_read(&source, 0, word, 4));
	ck_assert_str_eq(word, "this");
	fd = open(path_of(7), O_WRONLY | O_CLOEXEC);
	ck_assert_int_eq(pwrite(fd, "THIS IS FILE", 12, 0), 12);
	close(fd);
	ck_assert(tp_elf_source_read(&source, 8, word, 4));
	ck_assert_str_eq(word, "file");
	ck_assert_uint_eq(tp_elf_source_read_some(&source, 14, word, 4), 1);
	ck_assert_uint_eq(tp_elf_source_read_some(&source, 15, word, 4), 0);
	tp_elf_source_release(&source);
	/* Another file in its place has blocks of its own. */
	fd = tp_elf_source_open_regular(path_of(7), &st);
	tp_elf_source_init_file(&source, &pool, fd, &st, path_of(7), NULL);
	ck_assert(tp_elf_source_read(&source, 8, word, 4));
	ck_assert_str_eq(word, "FILE");
	tp_elf_source_release(&source);
	tp_elf_source_pool_release(&pool);
	tear_down();
}
END_TEST

START_TEST(every_file_stays_readable_with_three_descriptors)
{
	struct tp_elf_source_pool pool;
	struct tp_elf_source sources[N_FILES];
	open_all(&pool, sources);
	for (int i = 0; i < 200; i++) {
		char text[3] = "";
		char expected[16];
		int which = i * 7 % N_FILES;
		ck_assert(tp_elf_source_read(&sources[which], 13, text, 2));
		snprintf(expected, sizeof(expected), "%02d", which);
		ck_assert_str_eq(text, expected);
		ck_assert_uint_le(pool.n_open, 3);
	}
	close_all(&pool, sources);
}
END_TEST

START_TEST(file_replaced_while_closed_is_not_read)
{
	struct tp_elf_source_pool pool;
	struct tp_elf_source sources[N_FILES];
	char text[16];
	open_all(&pool, sources);
	FILE *file = fopen(path_of(N_FILES - 1), "we"); /* still open: the same inode, truncated */
	fclose(file);
	ck_assert(!tp_elf_source_read(&sources[N_FILES - 1], 0, text, 4));
	unlink(path_of(0)); /* closed meanwhile, replaced by another file */
	file = fopen(path_of(0), "we");
	fputs("this is a different file", file);
	fclose(file);
	ck_assert(!tp_elf_source_read(&sources[0], 0, text, 4));
	/* Equal name, size and time are not enough. */
	struct timespec times[2] = {sources[2].identity.st_atim, sources[2].identity.st_mtim};
	char kept[80];
	snprintf(kept, sizeof(kept), "%s/kept", folder);
	ck_assert_int_eq(rename(path_of(2), kept), 0); /* keeps its inode from being used again */
	file = fopen(path_of(2), "we");
	fputs("this is file XX", file);
	fclose(file);
	ck_assert_int_eq(utimensat(AT_FDCWD, path_of(2), times, 0), 0);
	ck_assert(!tp_elf_source_read(&sources[2], 0, text, 4));
	unlink(kept);
	ck_assert(tp_elf_source_read(&sources[1], 0, text, 4));
	close_all(&pool, sources);
}
END_TEST

START_TEST(reads_beyond_the_end_are_short)
{
	struct tp_elf_source memory;
	char out[8];
	tp_elf_source_init_memory(&memory, "0123456789", 10);
	ck_assert_uint_eq(tp_elf_source_read_some(&memory, 8, out, 8), 2);
	ck_assert_uint_eq(tp_elf_source_read_some(&memory, 10, out, 8), 0);
	ck_assert_uint_eq(tp_elf_source_read_some(&memory, UINT64_MAX, out, 8), 0);
	ck_assert(!tp_elf_source_read(&memory, 8, out, 3));
	ck_assert(tp_elf_source_read(&memory, 8, out, 2));
	struct tp_elf_source_pool pool;
	struct tp_elf_source file;
	struct stat st;
	tp_elf_source_pool_init(&pool, 0);
	int fd = tp_elf_source_open_regular(path_of(3), &st);
	tp_elf_source_init_file(&file, &pool, fd, &st, NULL, NULL);
	ck_assert_uint_eq(tp_elf_source_read_some(&file, 13, out, 8), 2);
	ck_assert_uint_eq(tp_elf_source_read_some(&file, UINT64_MAX - 2, out, 8), 0);
	tp_elf_source_release(&file);
	tp_elf_source_pool_release(&pool);
}
END_TEST

START_TEST(only_regular_files_are_opened)
{
	struct stat st;
	ck_assert_int_eq(tp_elf_source_open_regular("/dev/zero", &st), -1);
	ck_assert_int_eq(tp_elf_source_open_regular("/tmp", &st), -1);
	ck_assert_int_eq(tp_elf_source_open_regular("/nonexistent", &st), -1);
}
END_TEST

Suite *suite_stack_elf_source(void);
Suite *suite_stack_elf_source(void)
{
	Suite *suite = suite_create("stack/elfsource");
	TCase *tc = tcase_create("elfsource");
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, small_reads_of_a_block_read_the_file_once);
	tcase_add_test(tc, every_file_stays_readable_with_three_descriptors);
	tcase_add_test(tc, file_replaced_while_closed_is_not_read);
	tcase_add_test(tc, reads_beyond_the_end_are_short);
	tcase_add_test(tc, only_regular_files_are_opened);
	suite_add_tcase(suite, tc);
	return suite;
}
