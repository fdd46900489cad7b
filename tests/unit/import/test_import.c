/* SPDX-License-Identifier: Apache-2.0 */
/* Tests importing files: several at a time, archives, other files, and public traces. */
#include "trainprof/import/import.h"

#include "archive.h"
#include "base/packed.h"
#include "imported.h"
#include "skip.h"

#include "trainprof/base/file.h"
#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[64];

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st;
	(void)type;
	(void)walk;
	return remove(path);
}

static void setup(void)
{
	strcpy(directory, "/tmp/trainprof-import-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void teardown(void)
{
	nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Freed by the caller. */
static char *put_file(const char *name, const void *bytes, size_t size)
{
	char *path = tp_asprintf("%s/%s", directory, name);
	ck_assert_int_eq(tp_file_replace(path, bytes, size, NULL), TP_OK);
	return path;
}

/* Writes a trace of `n` operators of the thread and the rank with that number. */
static void put_trace(struct tp_buf *out, int rank, int n)
{
	tp_buf_printf(out, "{\"distributedInfo\":{\"rank\":%d},\"traceEvents\":[", rank);
	for (int i = 0; i < n; i++)
		tp_buf_printf(
			out,
			"%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op %d of %d\",\"pid\":%d,"
			"\"tid\":%d,\"ts\":%d,\"dur\":1}",
			i ? "," : "", i % 5, rank, rank + 10, rank, i * 2);
	tp_buf_puts(out, "]}");
}

/* ---- several files ---- */

START_TEST(files_read_at_the_same_time_are_ranks_in_order_of_their_numbers)
{
	enum { N = 9, EVENTS = 20000 };
	char *paths[N];
	for (int i = 0; i < N; i++) {
		struct tp_buf text = {0};
		struct tp_buf packed = {0};
		char name[32];
		snprintf(name, sizeof(name), "trace%d", i);
		put_trace(&text, N - i, EVENTS / (i + 1));
		packed_add(&packed, text.data, text.len);
		paths[i] = i % 2 ? put_file(name, packed.data, packed.len)
				 : put_file(name, text.data, text.len);
		tp_buf_release(&text);
		tp_buf_release(&packed);
	}
	static const unsigned n_threads[] = {1, 2, 5, 64, 0};
	for (size_t k = 0; k < TP_ARRAY_LEN(n_threads); k++) {
		struct imported in;
		struct tp_import_options options = {.n_threads = n_threads[k]};
		imported_files(&in, (const char *const *)paths, N, &options);
		ck_assert_msg(!in.status, "%s", in.err.text);
		ck_assert_uint_eq(in.result.n_ranks, N);
		for (int i = 0; i < N; i++) {
			int file = N - 1 - i; /* its rank is i + 1 */
			ck_assert_int_eq(in.result.ranks[i].number, i + 1);
			ck_assert_str_eq(in.result.ranks[i].path, paths[file]);
			ck_assert_uint_eq(in.result.ranks[i].n_kept, EVENTS / (file + 1));
		}
		for (size_t i = 0; i < in.n_spans; i++) {
			const struct tp_track *track = imported_track(&in, i);
			char end[16];
			snprintf(end, sizeof(end), " of %d", (int)track->number);
			ck_assert_int_eq(in.result.ranks[track->rank].number, track->number);
			ck_assert_ptr_nonnull(strstr(imported_name(&in, i), end));
		}
		imported_release(&in);
	}
	for (int i = 0; i < N; i++)
		free(paths[i]);
}
END_TEST

START_TEST(ranks_of_one_number_or_none_stand_in_order_of_files)
{
	static const int numbers[][3] = {{2, 1, 1}, {2, -1, 1}};
	for (size_t k = 0; k < TP_ARRAY_LEN(numbers); k++) {
		char *paths[3];
		struct imported in;
		for (int i = 0; i < 3; i++) {
			static const char *const names[] = {"c.json", "a.json", "b.json"};
			struct tp_buf text = {0};
			put_trace(&text, numbers[k][i], 3);
			paths[i] = put_file(names[i], text.data, text.len);
			tp_buf_release(&text);
		}
		imported_files(&in, (const char *const *)paths, 3, NULL);
		for (int i = 0; i < 3; i++) {
			ck_assert_int_eq(in.result.ranks[i].number, numbers[k][i]);
			ck_assert_str_eq(in.result.ranks[i].path, paths[i]);
		}
		imported_release(&in);
		for (int i = 0; i < 3; i++)
			free(paths[i]);
	}
}
END_TEST

START_TEST(of_several_files_the_name_tells_the_rank_if_nothing_else_does)
{
	static const char text[] = "[{\"ph\":\"X\",\"ts\":1,\"dur\":1}]";
	char *paths[] = {put_file("rank-5.json", text, strlen(text)),
			 put_file("other.json", text, strlen(text))};
	struct imported in;
	imported_files(&in, (const char *const *)paths, 2, NULL);
	ck_assert_int_eq(in.result.ranks[0].number, 5);
	ck_assert_int_eq(in.result.ranks[1].number, -1);
	imported_release(&in);
	imported_files(&in, (const char *const *)paths, 1, NULL);
	ck_assert_int_eq(in.result.ranks[0].number, -1);
	imported_release(&in);
	free(paths[0]);
	free(paths[1]);
}
END_TEST

/* Two forms of one maker are one job, and a file of an unknown maker is not of another tool. */
START_TEST(files_of_different_tools_are_no_job)
{
	static const char kineto[] = "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":"
				     "\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2}]}";
	static const char csv[] = "Name,Start Time(us),Duration(us)\nMatMul,5,6\n";
	static const char other[] = "[{\"ph\":\"X\",\"cat\":\"mine\",\"name\":\"a\",\"pid\":1,"
				    "\"tid\":1,\"ts\":1,\"dur\":2}]";
	struct imported in;
	char *one = put_file("0.json", kineto, strlen(kineto));
	char *two = put_file("1.csv", csv, strlen(csv));
	char *three = put_file("2.json", other, strlen(other));
	imported_files(&in, (const char *[]){one, two}, 2, NULL);
	ck_assert_int_eq(in.status, TP_PARSE);
	ck_assert_msg(strstr(in.err.text, "another tool") != NULL, "%s", in.err.text);
	ck_assert_uint_gt(strlen(in.err.next), 0);
	imported_release(&in);
	imported_files(&in, (const char *[]){one, three}, 2, NULL);
	ck_assert_int_eq(in.status, TP_OK);
	imported_release(&in);
	free(one);
	free(two);
	free(three);
}
END_TEST

/* Profilers write a run as a database, as JSON and as CSV: it is one rank, not two. */
START_TEST(two_forms_of_one_run_are_no_job)
{
	static const char view[] =
		"[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,"
		"\"ts\":\"1736408883600000.000\",\"dur\":2},{\"name\":\"process_name\","
		"\"pid\":1,\"args\":{\"name\":\"Python\"},\"ph\":\"M\"}]";
	static const char csv[] = "Name,Start Time(us),Duration(us)\nMatMul,5,6\n";
	struct imported in;
	char *one = put_file("kernel_details.csv", csv, strlen(csv));
	char *two = put_file("trace_view.json", view, strlen(view));
	imported_files(&in, (const char *[]){one, two}, 2, NULL);
	ck_assert_int_eq(in.status, TP_PARSE);
	ck_assert_msg(strstr(in.err.text, "one run in two forms") != NULL, "%s", in.err.text);
	ck_assert_msg(strstr(in.err.next, two) != NULL, "%s", in.err.next);
	imported_release(&in);
	free(one);
	/* In folders of their own they are ranks. */
	char *folder = tp_asprintf("%s/next", directory);
	ck_assert_int_eq(mkdir(folder, 0700), 0);
	one = put_file("next/kernel_details.csv", csv, strlen(csv));
	imported_files(&in, (const char *[]){one, two}, 2, NULL);
	ck_assert_int_eq(in.status, TP_OK);
	ck_assert_uint_eq(in.result.n_ranks, 2);
	imported_release(&in);
	free(folder);
	free(one);
	free(two);
}
END_TEST

START_TEST(the_first_file_of_no_use_is_named)
{
	struct tp_buf text = {0};
	put_trace(&text, 0, 3);
	char *paths[] = {put_file("good", text.data, text.len), put_file("bad", "noise", 5),
			 put_file("worse", "", 0)};
	for (unsigned n_threads = 1; n_threads < 4; n_threads++) {
		struct imported in;
		struct tp_import_options options = {.n_threads = 1};
		imported_files(&in, (const char *const *)paths, 3, &options);
		ck_assert_int_eq(in.status, TP_PARSE);
		ck_assert_ptr_nonnull(
			strstr(in.err.text, "/bad' is no trace that trainprof knows"));
		imported_release(&in);
	}
	for (size_t i = 0; i < TP_ARRAY_LEN(paths); i++)
		free(paths[i]);
	tp_buf_release(&text);
}
END_TEST

START_TEST(more_files_than_ranks_may_be_are_refused)
{
	struct tp_buf text = {0};
	put_trace(&text, 0, 1);
	char *path = put_file("one", text.data, text.len);
	const char *paths[TP_RANKS_MAX + 1];
	for (size_t i = 0; i < TP_ARRAY_LEN(paths); i++)
		paths[i] = path;
	struct imported in;
	imported_files(&in, paths, TP_RANKS_MAX, NULL);
	ck_assert_int_eq(in.status, TP_OK);
	imported_release(&in);
	imported_files(&in, paths, TP_RANKS_MAX + 1, NULL);
	ck_assert_int_eq(in.status, TP_PARSE);
	ck_assert_str_eq(in.err.text, "more than 1024 ranks");
	imported_release(&in);
	free(path);
	tp_buf_release(&text);
}
END_TEST

/* ---- archives ---- */

/* Ranks 4, 2 and 9, the last one compressed again, between other files. */
static void put_archive(struct tp_buf *out)
{
	static const int ranks[] = {4, 2};
	archive_add(out, "run/", '5', "", 0);
	archive_add(out, "run/README", '0', "words", 5);
	for (size_t i = 0; i < 2; i++) {
		struct tp_buf text = {0};
		char name[32];
		snprintf(name, sizeof(name), "run/rank%d.json", ranks[i]);
		put_trace(&text, ranks[i], 1000);
		archive_add(out, "run/._rank.json", '0', "{}", 2);
		archive_add(out, "run/settings.json", '0', "{\"batch\":32}", 12);
		archive_add(out, name, '0', text.data, text.len);
		tp_buf_release(&text);
	}
	struct tp_buf text = {0};
	struct tp_buf packed = {0};
	put_trace(&text, 9, 1000);
	packed_add(&packed, text.data, text.len);
	archive_add(out, "run/rank9.json.gz", '0', packed.data, packed.len);
	tp_buf_release(&text);
	tp_buf_release(&packed);
	archive_end(out);
}

static void assert_archive(const struct imported *in)
{
	static const int ranks[] = {2, 4, 9};
	ck_assert_msg(!in->status, "%s", in->err.text);
	ck_assert_uint_eq(in->result.n_ranks, 3);
	for (size_t i = 0; i < 3; i++) {
		char member[32];
		snprintf(member, sizeof(member), "run/rank%d.json%s", ranks[i],
			 i == 2 ? ".gz" : "");
		ck_assert_str_eq(in->result.ranks[i].member, member);
		ck_assert_int_eq(in->result.ranks[i].number, ranks[i]);
		ck_assert_uint_eq(in->result.ranks[i].n_kept, 1000);
		ck_assert(!in->result.ranks[i].is_cut);
		ck_assert_uint_eq(in->result.ranks[i].n_skipped, 0);
		ck_assert_str_eq(in->result.ranks[i].sha256, in->result.ranks[0].sha256);
	}
	ck_assert_uint_eq(in->n_tracks, 3);
}

START_TEST(members_of_archives_are_ranks)
{
	struct imported in;
	struct tp_buf archive = {0};
	struct tp_buf packed = {0};
	put_archive(&archive);
	packed_add(&packed, archive.data, archive.len);
	imported_bytes(&in, archive.data, archive.len, NULL);
	assert_archive(&in);
	imported_release(&in);
	imported_bytes(&in, packed.data, packed.len, NULL);
	assert_archive(&in);
	imported_release(&in);
	tp_buf_release(&archive);
	tp_buf_release(&packed);
}
END_TEST

START_TEST(an_archive_that_is_cut_says_so_at_its_last_rank)
{
	static const int ranks[] = {4, 2, 9}; /* in the order of the archive */
	struct imported in;
	struct tp_buf archive = {0};
	put_archive(&archive);
	size_t n_before = 0;
	for (size_t cut = 4096; cut < archive.len - 2048; cut += 5000) {
		imported_bytes(&in, archive.data, cut, NULL);
		if (!in.status) {
			size_t n = in.result.n_ranks;
			ck_assert_uint_ge(n, n_before);
			for (size_t i = 0; i < n; i++)
				ck_assert_int_eq(in.result.ranks[i].is_cut,
						 in.result.ranks[i].number == ranks[n - 1]);
			n_before = n;
		}
		imported_release(&in);
	}
	ck_assert_uint_eq(n_before, 3);
	tp_buf_release(&archive);
}
END_TEST

START_TEST(damage_of_a_packed_member_is_said_of_its_rank)
{
	struct imported in;
	struct tp_buf archive = {0};
	struct tp_buf text = {0};
	struct tp_buf packed = {0};
	put_trace(&text, 1, 10);
	packed_add(&packed, text.data, text.len);
	packed.data[packed.len - 1] ^= 1;
	archive_add(&archive, "a.json.gz", '0', packed.data, packed.len);
	archive_add(&archive, "b.json", '0', text.data, text.len);
	archive_end(&archive);
	imported_bytes(&in, archive.data, archive.len, NULL);
	ck_assert_uint_eq(in.result.n_ranks, 2);
	ck_assert(in.result.ranks[0].is_cut && !in.result.ranks[1].is_cut);
	ck_assert_str_eq(in.result.ranks[0].skipped_because, "its gzip data is damaged");
	ck_assert_uint_eq(in.result.ranks[0].n_kept, 10);
	imported_release(&in);
	tp_buf_release(&archive);
	tp_buf_release(&text);
	tp_buf_release(&packed);
}
END_TEST

START_TEST(archives_without_traces_are_refused)
{
	struct imported in;
	struct tp_buf archive = {0};
	archive_add(&archive, "README", '0', "words", 5);
	archive_add(&archive, "settings.json", '0', "{\"batch\":32}", 12);
	archive_end(&archive);
	imported_bytes(&in, archive.data, archive.len, NULL);
	ck_assert_int_eq(in.status, TP_PARSE);
	ck_assert_ptr_nonnull(strstr(in.err.text, "' holds no traces"));
	imported_release(&in);
	tp_buf_release(&archive);
}
END_TEST

/* ---- damaged gzip ---- */

START_TEST(what_is_wrong_with_the_file_is_said_of_its_rank)
{
	struct tp_buf text = {0};
	struct tp_buf packed = {0};
	struct imported in;
	put_trace(&text, 0, 2000);
	packed_add(&packed, text.data, text.len);
	imported_bytes(&in, packed.data, packed.len - 4000, NULL);
	ck_assert_int_eq(in.status, TP_OK);
	ck_assert(in.result.ranks[0].is_cut);
	ck_assert_uint_gt(in.result.ranks[0].n_kept, 1900);
	ck_assert_str_eq(in.result.ranks[0].skipped_because, "its gzip data is truncated");
	imported_release(&in);
	packed.data[packed.len - 1] ^= 1;
	imported_bytes(&in, packed.data, packed.len, NULL);
	ck_assert_int_eq(in.status, TP_OK);
	ck_assert_uint_eq(in.result.ranks[0].n_kept, 2000);
	ck_assert_str_eq(in.result.ranks[0].skipped_because, "its gzip data is damaged");
	imported_release(&in);
	imported_bytes(&in, packed.data, 12, NULL);
	ck_assert_int_eq(in.status, TP_PARSE);
	ck_assert_ptr_nonnull(
		strstr(in.err.text, "cannot be unpacked: its gzip data is truncated"));
	imported_release(&in);
	tp_buf_release(&text);
	tp_buf_release(&packed);
}
END_TEST

/* ---- other files ---- */

START_TEST(folders_and_nothing_and_absence_are_named)
{
	struct imported in;
	imported_files(&in, &(const char *){directory}, 1, NULL);
	ck_assert_int_eq(in.status, TP_PARSE);
	ck_assert_ptr_nonnull(strstr(in.err.text, "' is a directory"));
	imported_release(&in);
	imported_text(&in, "");
	ck_assert_int_eq(in.status, TP_PARSE);
	ck_assert_ptr_nonnull(strstr(in.err.text, "' is empty"));
	imported_release(&in);
	imported_files(&in, &(const char *){"/nowhere/trace.json"}, 1, NULL);
	ck_assert_int_eq(in.status, TP_ABSENT);
	imported_release(&in);
	imported_text(&in, "<html><body>Sign in</body></html>");
	ck_assert_int_eq(in.status, TP_PARSE);
	ck_assert_ptr_nonnull(strstr(in.err.text, "' is an HTML page"));
	imported_release(&in);
	imported_files(&in, NULL, 0, NULL);
	ck_assert_int_eq(in.status, TP_OK);
	ck_assert_uint_eq(in.result.n_ranks, 0);
	ck_assert_uint_eq(in.result.first_ns, 0);
	imported_release(&in);
}
END_TEST

START_TEST(formats_have_names_and_only_those)
{
	struct imported in;
	static const char text[] = "[{\"ph\":\"X\",\"ts\":1,\"dur\":1}]";
	struct tp_import_options options = {.format = "kineto"};
	ck_assert_str_eq(tp_import_format_info(0)->name, "kineto");
	ck_assert_str_eq(tp_import_format_info(1)->name, "nsys");
	ck_assert_ptr_null(tp_import_format_info(1000));
	imported_bytes(&in, text, strlen(text), &options);
	ck_assert_int_eq(in.status, TP_OK);
	imported_release(&in);
	options.format = "kinetto";
	imported_bytes(&in, text, strlen(text), &options);
	ck_assert_int_eq(in.status, TP_USAGE);
	ck_assert_str_eq(in.err.text, "no format 'kinetto'; nearest: kineto");
	ck_assert_str_eq(in.err.next, "trainprof import --list");
	imported_release(&in);
}
END_TEST

/* ---- public traces ---- */

/* The answers of ../shared/traces/expected.json, counted by other programs: events, device
 * operations (a kernel is a kernel, whether it computes or communicates), step marks; and the sum
 * of the lengths of device operations, added with exact fractions by a Python script. */
static const struct {
	const char *file;
	size_t n_ranks;
	uint64_t n_events; /* of the first rank */
	size_t n_kernels;
	size_t n_copies;   /* and memory sets */
	size_t n_unlinked; /* device operations whose call is not in the trace */
	size_t n_steps;
	uint64_t device_ns;
} publics[] = {
	{"kineto-r50-w0-s5.json.gz", 1, 75718, 8772, 324, 0, 6, 603558000},
	{"kineto-r50-w4-s5.json.gz", 1, 71424, 8868, 390, 0, 6, 614413000},
	{"hta-trace-diff-control.json.gz", 1, 109123, 8568, 882, 0, 6, 501567000},
	{"hta-cpu-only.json.gz", 1, 30, 0, 0, 0, 1, 0},
	{"hta-rank-non-gpu.json.gz", 1, 2467, 0, 0, 0, 1, 0},
	{"tl-h100-qwen.json.gz", 1, 18221, 1465, 242, 509, 1, 45647300},
	{"tl-mi300-resnet-act-ckpt.json.gz", 1, 56451, 2995, 658, 968, 3, 100230072},
	{"param-dlrm-8ranks.tar.gz", 8, 3290, 2104, 140, 128, 8, 57576000},
};

static size_t count_steps(const struct imported *in)
{
	size_t n = 0;
	for (size_t i = 0; i < in->n_spans; i++)
		n += strncmp(imported_name(in, i), "ProfilerStep#", 13) == 0 &&
		     in->spans[i].kind != TP_SPAN_PYTHON;
	return n;
}

static uint64_t link_key(const struct imported *in, size_t i)
{
	return (uint64_t)imported_track(in, i)->rank << 32 | in->spans[i].link;
}

static size_t count_unlinked(const struct imported *in, uint64_t *device_ns)
{
	struct tp_map calls = {0};
	size_t n = 0;
	*device_ns = 0;
	for (size_t i = 0; i < in->n_spans; i++)
		if (in->spans[i].kind == TP_SPAN_CALL && in->spans[i].link)
			tp_map_set(&calls, link_key(in, i), 1);
	for (size_t i = 0; i < in->n_spans; i++) {
		if (!tp_span_kind_is_device(in->spans[i].kind))
			continue;
		*device_ns += in->spans[i].end_ns - in->spans[i].start_ns;
		n += !tp_map_get(&calls, link_key(in, i), NULL);
	}
	tp_map_release(&calls);
	return n;
}

START_TEST(public_traces_are_read_as_expected)
{
	const char *shared = getenv("TRAINPROF_SHARED");
	char path[512];
	struct imported in;
	uint64_t device_ns;
	snprintf(path, sizeof(path), "%s/traces/%s", shared ? shared : "../shared",
		 publics[_i].file);
	if (access(path, R_OK) != 0) {
		test_skip("no public traces in ../shared/traces");
		return;
	}
	imported_files(&in, &(const char *){path}, 1, NULL);
	ck_assert_msg(!in.status, "%s", in.err.text);
	ck_assert_uint_eq(in.result.n_ranks, publics[_i].n_ranks);
	ck_assert_uint_eq(in.result.ranks[0].n_events, publics[_i].n_events);
	for (size_t i = 0; i < in.result.n_ranks; i++) {
		ck_assert_uint_eq(in.result.ranks[i].n_skipped, 0);
		ck_assert(!in.result.ranks[i].is_cut);
	}
	ck_assert_uint_eq(imported_count(&in, TP_SPAN_KERNEL), publics[_i].n_kernels);
	ck_assert_uint_eq(imported_count(&in, TP_SPAN_COPY) + imported_count(&in, TP_SPAN_SET),
			  publics[_i].n_copies);
	ck_assert_uint_eq(count_unlinked(&in, &device_ns), publics[_i].n_unlinked);
	ck_assert_uint_eq(device_ns, publics[_i].device_ns);
	ck_assert_uint_eq(count_steps(&in), publics[_i].n_steps);
	imported_release(&in);
}
END_TEST

#define LOOP(tc, test, table) tcase_add_loop_test(tc, test, 0, sizeof(table) / sizeof((table)[0]))

Suite *suite_import_import(void);
Suite *suite_import_import(void)
{
	Suite *suite = suite_create("import/import");
	TCase *tc = tcase_create("import");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, files_read_at_the_same_time_are_ranks_in_order_of_their_numbers);
	tcase_add_test(tc, ranks_of_one_number_or_none_stand_in_order_of_files);
	tcase_add_test(tc, of_several_files_the_name_tells_the_rank_if_nothing_else_does);
	tcase_add_test(tc, the_first_file_of_no_use_is_named);
	tcase_add_test(tc, files_of_different_tools_are_no_job);
	tcase_add_test(tc, two_forms_of_one_run_are_no_job);
	tcase_add_test(tc, more_files_than_ranks_may_be_are_refused);
	tcase_add_test(tc, members_of_archives_are_ranks);
	tcase_add_test(tc, an_archive_that_is_cut_says_so_at_its_last_rank);
	tcase_add_test(tc, damage_of_a_packed_member_is_said_of_its_rank);
	tcase_add_test(tc, archives_without_traces_are_refused);
	tcase_add_test(tc, what_is_wrong_with_the_file_is_said_of_its_rank);
	tcase_add_test(tc, folders_and_nothing_and_absence_are_named);
	tcase_add_test(tc, formats_have_names_and_only_those);
	LOOP(tc, public_traces_are_read_as_expected, publics);
	suite_add_tcase(suite, tc);
	return suite;
}
