/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the rings of Python processes; the tests write them byte by byte. */
#include "trainprof/wire/mark_folder.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { N_RECORDS = 16, MAX_KEPT = 64 };

struct kept {
	struct tp_mark_record mark[MAX_KEPT];
	size_t n;
};

static char directory[64];
static char shared[96];
static struct tp_mark_folder folder;
static struct kept kept;

static void keep(void *context, const struct tp_mark_record *mark)
{
	struct kept *list = context;
	ck_assert_uint_lt(list->n, MAX_KEPT);
	list->mark[list->n++] = *mark;
}

static void setup(void)
{
	snprintf(directory, sizeof(directory), "/tmp/mark-folder-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(shared, sizeof(shared), "%s/marks.ring", directory);
	ck_assert_int_eq(tp_mark_folder_open(&folder, shared), 0);
	kept.n = 0;
}

static int count_files(void)
{
	DIR *dir = opendir(directory);
	int n = 0;
	for (const struct dirent *entry; (entry = readdir(dir));)
		n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(dir);
	return n;
}

static void teardown(void)
{
	tp_mark_folder_close(&folder);
	ck_assert_int_eq(count_files(), 0);
	ck_assert_int_eq(rmdir(directory), 0);
}

/* Makes a ring as Python leaves it; the file stays open so that more can be written. */
static int make_ring(const char *name, const struct tp_mark_ring_header *header)
{
	char path[192];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, TP_MARK_RING_HEADER_BYTES +
					       N_RECORDS * TP_MARK_RING_RECORD_BYTES),
			 0);
	ck_assert_int_eq(pwrite(fd, header, sizeof(*header), 0), sizeof(*header));
	return fd;
}

static struct tp_mark_ring_header good_header(void)
{
	return (struct tp_mark_ring_header){.magic = TP_MARK_RING_MAGIC,
					    .header_bytes = TP_MARK_RING_HEADER_BYTES,
					    .record_bytes = TP_MARK_RING_RECORD_BYTES,
					    .n_records = N_RECORDS,
					    .flags = TP_MARK_RING_CHECKSUMS};
}

static void set_head(int fd, uint64_t head)
{
	ck_assert_int_eq(pwrite(fd, &head, sizeof(head),
				offsetof(struct tp_mark_ring_header, head)),
			 sizeof(head));
}

/* Writes the record of a claim; the checksum is right unless `damage` changes it. */
static void write_mark(int fd, uint64_t claim, uint32_t damage)
{
	struct tp_mark_record mark = {.sequence = (claim + 1) << 1,
				      .time_ns = 1000 + claim,
				      .pid = 7,
				      .tid = 8,
				      .kind = TP_RING_PHASE_BEGIN,
				      .name = "forward"};
	mark.checksum = (uint32_t)crc32(0, (const unsigned char *)&mark, sizeof(mark)) ^ damage;
	ck_assert_int_eq(pwrite(fd, &mark, sizeof(mark),
				TP_MARK_RING_HEADER_BYTES +
					(off_t)(claim % N_RECORDS) * TP_MARK_RING_RECORD_BYTES),
			 sizeof(mark));
}

START_TEST(marks_of_two_rings_arrive_and_their_names_go)
{
	struct tp_mark_ring_header header = good_header();
	int one = make_ring("marks.ring.7-0", &header);
	int two = make_ring("marks.ring.9-0", &header);
	write_mark(one, 0, 0);
	set_head(one, 1);
	write_mark(two, 0, 0);
	write_mark(two, 1, 0);
	set_head(two, 2);
	ck_assert_uint_eq(tp_mark_folder_drain(&folder, false, keep, &kept), 3);
	ck_assert_uint_eq(folder.n_rings, 2);
	ck_assert_int_eq(count_files(), 0);
	ck_assert_str_eq(kept.mark[0].name, "forward");
	write_mark(one, 1, 0);
	set_head(one, 2);
	ck_assert_uint_eq(tp_mark_folder_drain(&folder, true, keep, &kept), 1);
	ck_assert_uint_eq(kept.mark[3].time_ns, 1001);
	ck_assert_uint_eq(folder.n_taken, 4);
	ck_assert_uint_eq(folder.n_lost + folder.n_refused, 0);
	close(one);
	close(two);
}
END_TEST

START_TEST(a_record_with_a_wrong_checksum_is_awaited_then_lost)
{
	struct tp_mark_ring_header header = good_header();
	int fd = make_ring("marks.ring.7-0", &header);
	write_mark(fd, 0, 1);
	write_mark(fd, 1, 0);
	set_head(fd, 2);
	ck_assert_uint_eq(tp_mark_folder_drain(&folder, false, keep, &kept), 0);
	write_mark(fd, 0, 0); /* now it is complete */
	ck_assert_uint_eq(tp_mark_folder_drain(&folder, false, keep, &kept), 2);
	write_mark(fd, 2, 0x80000000);
	set_head(fd, 3);
	ck_assert_uint_eq(tp_mark_folder_drain(&folder, true, keep, &kept), 0);
	ck_assert_uint_eq(folder.n_lost, 1);
	close(fd);
}
END_TEST

START_TEST(each_bit_of_a_record_is_in_the_checksum)
{
	struct tp_mark_ring_header header = good_header();
	int fd = make_ring("marks.ring.7-0", &header);
	for (unsigned bit = 64; bit < TP_MARK_RING_RECORD_BYTES * 8; bit++) {
		uint64_t claim = bit - 64;
		off_t at = TP_MARK_RING_HEADER_BYTES +
			   (off_t)(claim % N_RECORDS) * TP_MARK_RING_RECORD_BYTES + bit / 8;
		uint8_t byte;
		write_mark(fd, claim, 0);
		ck_assert_int_eq(pread(fd, &byte, 1, at), 1);
		byte ^= (uint8_t)(1u << (bit % 8));
		ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
		set_head(fd, claim + 1);
		ck_assert_uint_eq(tp_mark_folder_drain(&folder, true, keep, &kept), 0);
		ck_assert_uint_eq(folder.n_lost, claim + 1);
	}
	close(fd);
}
END_TEST

START_TEST(overwritten_records_are_counted)
{
	struct tp_mark_ring_header header = good_header();
	int fd = make_ring("marks.ring.7-0", &header);
	for (uint64_t claim = 0; claim < 40; claim++)
		write_mark(fd, claim, 0);
	set_head(fd, 40);
	ck_assert_uint_eq(tp_mark_folder_drain(&folder, false, keep, &kept), 16);
	ck_assert_uint_eq(kept.mark[0].time_ns, 1024);
	ck_assert_uint_eq(folder.n_lost, 24);
	close(fd);
}
END_TEST

START_TEST(a_file_that_is_no_ring_is_refused_once)
{
	struct tp_mark_ring_header bad[7];
	char name[32];
	for (int i = 0; i < 7; i++)
		bad[i] = good_header();
	bad[0].magic++;
	bad[1].header_bytes = 64;
	bad[2].record_bytes = 32;
	bad[3].n_records = 24;
	bad[4].n_records = 1u << 20; /* more records than the file can hold */
	bad[5].n_records = 0;
	bad[6].flags = 0;
	for (int i = 0; i < 7; i++) {
		snprintf(name, sizeof(name), "marks.ring.%d-0", i);
		close(make_ring(name, &bad[i]));
	}
	char path[192];
	snprintf(path, sizeof(path), "%s/marks.ring.fifo", directory);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	snprintf(path, sizeof(path), "%s/marks.ring.link", directory);
	ck_assert_int_eq(symlink("/dev/zero", path), 0);
	ck_assert_uint_eq(tp_mark_folder_drain(&folder, false, keep, &kept), 0);
	ck_assert_uint_eq(folder.n_rings, 0);
	ck_assert_uint_eq(folder.n_refused, 9);
	ck_assert_int_eq(count_files(), 0);
}
END_TEST

START_TEST(ring_that_is_cut_or_runs_backwards_is_dropped_alone)
{
	struct tp_mark_ring_header header = good_header();
	int cut = make_ring("marks.ring.1-0", &header);
	int back = make_ring("marks.ring.2-0", &header);
	int good = make_ring("marks.ring.3-0", &header);
	write_mark(back, 0, 0);
	set_head(back, 1);
	ck_assert_uint_eq(tp_mark_folder_drain(&folder, false, keep, &kept), 1);
	ck_assert_int_eq(ftruncate(cut, 10), 0);
	set_head(back, 0);
	write_mark(good, 0, 0);
	set_head(good, 1);
	ck_assert_uint_eq(tp_mark_folder_drain(&folder, false, keep, &kept), 1);
	ck_assert_uint_eq(folder.n_rings, 1);
	ck_assert_uint_eq(folder.n_refused, 2);
	close(cut);
	close(back);
	close(good);
}
END_TEST

START_TEST(more_rings_than_are_read_are_refused_and_removed)
{
	struct tp_mark_ring_header header = good_header();
	char name[32];
	for (int i = 0; i < TP_MARK_FOLDER_MAX_RINGS + 3; i++) {
		snprintf(name, sizeof(name), "marks.ring.%d-0", i);
		close(make_ring(name, &header));
	}
	tp_mark_folder_drain(&folder, false, keep, &kept);
	ck_assert_uint_eq(folder.n_rings, TP_MARK_FOLDER_MAX_RINGS);
	ck_assert_uint_eq(folder.n_refused, 3);
	ck_assert_int_eq(count_files(), 0);
}
END_TEST

START_TEST(unfinished_file_is_left_until_the_end_and_others_stay)
{
	struct tp_mark_ring_header header = good_header();
	char path[192];
	close(make_ring(".marks.ring.7-0", &header));
	close(make_ring("records.tpr", &header));
	ck_assert_uint_eq(tp_mark_folder_drain(&folder, false, keep, &kept), 0);
	ck_assert_int_eq(count_files(), 2);
	tp_mark_folder_close(&folder);
	ck_assert_int_eq(count_files(), 1);
	snprintf(path, sizeof(path), "%s/records.tpr", directory);
	ck_assert_int_eq(unlink(path), 0);
}
END_TEST

/* A folder that has not changed for long is looked at in every fourth drain only. */
START_TEST(a_ring_that_comes_later_is_found_by_one_of_four_drains)
{
	struct tp_mark_ring_header header = good_header();
	const struct timespec long_ago[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
	ck_assert_int_eq(utimensat(AT_FDCWD, directory, long_ago, 0), 0);
	tp_mark_folder_drain(&folder, false, keep, &kept);
	int fd = make_ring("marks.ring.7-0", &header);
	write_mark(fd, 0, 0);
	set_head(fd, 1);
	ck_assert_uint_eq(tp_mark_folder_drain(&folder, false, keep, &kept), 0);
	for (int i = 0; i < 3; i++)
		tp_mark_folder_drain(&folder, false, keep, &kept);
	ck_assert_uint_eq(folder.n_taken, 1);
	ck_assert_uint_eq(folder.n_rings, 1);
	close(fd);
}
END_TEST

Suite *suite_wire_mark_folder(void);
Suite *suite_wire_mark_folder(void)
{
	Suite *s = suite_create("wire/mark_folder");
	TCase *c = tcase_create("all");
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, marks_of_two_rings_arrive_and_their_names_go);
	tcase_add_test(c, a_record_with_a_wrong_checksum_is_awaited_then_lost);
	tcase_add_test(c, each_bit_of_a_record_is_in_the_checksum);
	tcase_add_test(c, overwritten_records_are_counted);
	tcase_add_test(c, a_file_that_is_no_ring_is_refused_once);
	tcase_add_test(c, ring_that_is_cut_or_runs_backwards_is_dropped_alone);
	tcase_add_test(c, more_rings_than_are_read_are_refused_and_removed);
	tcase_add_test(c, unfinished_file_is_left_until_the_end_and_others_stay);
	tcase_add_test(c, a_ring_that_comes_later_is_found_by_one_of_four_drains);
	suite_add_tcase(s, c);
	return s;
}
