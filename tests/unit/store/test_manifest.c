/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of manifest.json. */
#include "store/manifest.h"

#include "store/layout.h"
#include "story.h"

#include "trainprof/base/file.h"
#include "trainprof/base/json.h"
#include "trainprof/base/memory.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static char *directory;
static char *path;

static void setup(void)
{
	directory = story_directory();
	path = tp_asprintf("%s/manifest.json", directory);
}

static void teardown(void)
{
	free(path);
	story_remove(directory);
}

static void write_text(const char *text)
{
	ck_assert_int_eq(tp_file_replace(path, text, strlen(text), NULL), TP_OK);
}

static const struct tp_store_result full_ledger = {
	.is_closed = true,
	.n_bytes = 123456,
	.n_blocks = 7,
	.n_records = 99999,
	.has_stopped = true,
	.until_ns = STORY_STARTED_NS + 1,
	.n_lost = 17,
	.stopped_because = "no space left on device",
};

static void assert_ranks(const struct tp_run_info *run, const struct tp_run_info *told)
{
	ck_assert_uint_eq(run->n_ranks, told->n_ranks);
	const struct tp_rank_info *rank = &run->ranks[0];
	ck_assert_str_eq(rank->path, told->ranks[0].path);
	ck_assert_str_eq(rank->member, told->ranks[0].member);
	ck_assert_str_eq(rank->sha256, told->ranks[0].sha256);
	ck_assert_str_eq(rank->format, told->ranks[0].format);
	ck_assert_str_eq(rank->host, told->ranks[0].host);
	ck_assert_int_eq(rank->number, told->ranks[0].number);
	ck_assert_uint_eq(rank->n_ranks, told->ranks[0].n_ranks);
	ck_assert_int_eq(rank->pid, told->ranks[0].pid);
	ck_assert_uint_eq(rank->n_events, told->ranks[0].n_events);
	ck_assert_uint_eq(rank->n_kept, told->ranks[0].n_kept);
	ck_assert_uint_eq(rank->n_skipped, told->ranks[0].n_skipped);
	ck_assert_str_eq(rank->skipped_because, told->ranks[0].skipped_because);
	ck_assert_int_eq(rank->is_cut, told->ranks[0].is_cut);
	ck_assert_uint_eq(rank->n_devices, 1);
	ck_assert_int_eq(rank->devices[0].number, told->ranks[0].devices[0].number);
	ck_assert_str_eq(rank->devices[0].name, told->ranks[0].devices[0].name);
	ck_assert_uint_eq(rank->devices[0].n_processors, told->ranks[0].devices[0].n_processors);
	ck_assert_uint_eq(rank->devices[0].memory_bytes, told->ranks[0].devices[0].memory_bytes);
	ck_assert_uint_eq(rank->devices[0].capability, told->ranks[0].devices[0].capability);
	ck_assert_ptr_null(run->ranks[1].path);
	ck_assert_int_eq(run->ranks[1].number, -1);
}

static void assert_measuring(const struct tp_run_info *run, const struct tp_run_info *told)
{
	ck_assert_int_eq(run->mode, told->mode);
	ck_assert_int_eq(run->tier, told->tier);
	ck_assert_int_eq(run->pid, told->pid);
	ck_assert_uint_eq(run->started_wall_ns, told->started_wall_ns);
	ck_assert_uint_eq(run->started_ns, told->started_ns);
	ck_assert_uint_eq(run->ended_ns, told->ended_ns);
	ck_assert_uint_eq(run->measure_from_ns, told->measure_from_ns);
	ck_assert_uint_eq(run->measure_until_ns, told->measure_until_ns);
	ck_assert_int_eq(run->end, told->end);
	ck_assert_int_eq(run->end_code, told->end_code);
	ck_assert_double_eq(run->sample_rate_hz, told->sample_rate_hz);
	ck_assert_double_eq(run->asked_rate_hz, told->asked_rate_hz);
	ck_assert_double_eq(run->poll_rate_hz, told->poll_rate_hz);
}

static void assert_host(const struct tp_host_info *host, const struct tp_host_info *told)
{
	ck_assert_str_eq(host->name, told->name);
	ck_assert_str_eq(host->kernel, told->kernel);
	ck_assert_str_eq(host->cpu_model, told->cpu_model);
	ck_assert_uint_eq(host->n_cpus, told->n_cpus);
	ck_assert_uint_eq(host->n_allowed, told->n_allowed);
	ck_assert_uint_eq(host->n_numa_nodes, told->n_numa_nodes);
	ck_assert_uint_eq(host->memory_bytes, told->memory_bytes);
	ck_assert_double_eq(host->quota_cpus, told->quota_cpus);
	ck_assert_uint_eq(host->memory_limit_bytes, told->memory_limit_bytes);
}

static void assert_ledger(const struct tp_store_result *ledger)
{
	ck_assert_int_eq(ledger->is_closed, 1);
	ck_assert_uint_eq(ledger->n_bytes, full_ledger.n_bytes);
	ck_assert_uint_eq(ledger->n_blocks, full_ledger.n_blocks);
	ck_assert_uint_eq(ledger->n_records, full_ledger.n_records);
	ck_assert_int_eq(ledger->has_stopped, 1);
	ck_assert_uint_eq(ledger->until_ns, full_ledger.until_ns);
	ck_assert_uint_eq(ledger->n_lost, full_ledger.n_lost);
	ck_assert_str_eq(ledger->stopped_because, full_ledger.stopped_because);
}

START_TEST(everything_known_about_a_run_reads_back)
{
	struct tp_buf text = {0};
	tp_manifest_write(&text, story_run(), &full_ledger);
	write_text(tp_buf_text(&text));
	tp_buf_release(&text);
	struct tp_arena arena = {0};
	struct tp_run_info run;
	struct tp_store_result ledger;
	ck_assert_int_eq(tp_manifest_load(&run, &ledger, &arena, directory, NULL), TP_OK);
	const struct tp_run_info *told = story_run();
	ck_assert_str_eq(run.id, told->id);
	ck_assert_str_eq(run.label, told->label);
	ck_assert_uint_eq(run.n_command, told->n_command);
	for (size_t i = 0; i < told->n_command; i++)
		ck_assert_str_eq(run.command[i], told->command[i]);
	ck_assert_str_eq(run.directory, told->directory);
	assert_measuring(&run, told);
	assert_host(&run.host, &told->host);
	ck_assert_uint_eq(run.n_environment, told->n_environment);
	for (size_t i = 0; i < told->n_environment; i++) {
		ck_assert_str_eq(run.environment[i].name, told->environment[i].name);
		ck_assert_str_eq(run.environment[i].value, told->environment[i].value);
	}
	ck_assert_str_eq(run.written_by, told->written_by);
	assert_ranks(&run, told);
	assert_ledger(&ledger);
	tp_arena_release(&arena);
}
END_TEST

START_TEST(an_empty_run_can_be_written_and_read)
{
	struct tp_buf text = {0};
	struct tp_run_info nothing = {0};
	tp_manifest_write(&text, &nothing, &(struct tp_store_result){0});
	write_text(tp_buf_text(&text));
	tp_buf_release(&text);
	struct tp_arena arena = {0};
	struct tp_run_info run;
	struct tp_store_result ledger;
	ck_assert_int_eq(tp_manifest_load(&run, &ledger, &arena, directory, NULL), TP_OK);
	ck_assert_ptr_null(run.id);
	ck_assert_uint_eq(run.n_command, 0);
	ck_assert_int_eq(run.end, TP_END_UNKNOWN);
	ck_assert_int_eq(ledger.is_closed, 0);
	tp_arena_release(&arena);
}
END_TEST

/* The worst case: every text has the maximum length, of the bytes that JSON escapes longest. */
START_TEST(no_run_outgrows_the_space_kept_for_its_manifest)
{
	static const char worst[] = {'\x01', '\xff', '"', 'a', '\0'};
	const char *long_texts[4];
	for (size_t i = 0; i < 4; i++) {
		char *text = tp_alloc(100001);
		memset(text, worst[i], 100000);
		long_texts[i] = text;
	}
	for (size_t i = 0; i < 5; i++) {
		const char *text = i < 4 ? long_texts[i] : "";
		const char *command[3000];
		struct tp_env_var variables[3000];
		for (size_t j = 0; j < 3000; j++) {
			command[j] = text;
			variables[j] = (struct tp_env_var){text, text};
		}
		struct tp_run_info run = *story_run();
		run.id = run.label = run.directory = run.written_by = text;
		run.host.name = run.host.kernel = run.host.cpu_model = text;
		run.command = command;
		run.n_command = 3000;
		run.environment = variables;
		run.n_environment = 3000;
		struct tp_store_result ledger = full_ledger;
		ledger.stopped_because = text;
		struct tp_buf out = {0};
		tp_manifest_write(&out, &run, &ledger);
		ck_assert_uint_le(out.len, LAYOUT_NEXT_MANIFEST_BYTES);
		struct tp_json_doc *doc;
		struct tp_error err = {0};
		ck_assert_msg(!tp_json_parse(&doc, out.data, out.len, "m", &err), "%s", err.text);
		const struct tp_json *told = tp_json_get(tp_json_root(doc), "run");
		ck_assert(tp_json_bool(tp_json_get(told, "command_is_cut"), false));
		tp_json_free(doc);
		tp_buf_release(&out);
	}
	for (size_t i = 0; i < 4; i++)
		free((void *)(uintptr_t)long_texts[i]);
}
END_TEST

static const struct {
	const char *text;
	enum tp_status status;
	const char *message; /* after the path of the directory */
} bad[] = {
	{"", TP_PARSE, NULL},
	{"{", TP_PARSE, NULL},
	{"[]", TP_PARSE, "/manifest.json: not the manifest of a recording"},
	{"{}", TP_PARSE, "/manifest.json: not the manifest of a recording"},
	{"{\"format\": 1}", TP_PARSE, NULL},
	{"{\"format\": \"trainprof-report/1.0\"}", TP_PARSE, NULL},
	{"{\"format\": \"trainprof-recording/\"}", TP_PARSE, NULL},
	{"{\"format\": \"trainprof-recording/1\"}", TP_PARSE, NULL},
	{"{\"format\": \"trainprof-recording/2.1\"}", TP_VERSION, NULL},
	{"{\"format\": \"trainprof-recording/0.9\"}", TP_VERSION, NULL},
	{"{\"format\": \"trainprof-recording/1.9\"}", TP_OK, NULL},
	{"{\"format\": \"trainprof-recording/1.0\", \"run\": 5, \"host\": [], \"environment\": {}}",
	 TP_PARSE, "/manifest.json:1: run is not an object"},
	{"{\"format\": \"trainprof-recording/1.0\", \"ranks\": [{}, {\"pid\": []}]}", TP_PARSE,
	 "/manifest.json:1: ranks[1].pid is not an integer"},
	{"{\"format\": \"trainprof-recording/1.0\", \"run\": {\"mode\": \"dance\", \"id\": null},"
	 "\"environment\": [\"novalue\", \"a=b=c\"], \"host\": {\"quota_cpus\": -7}}",
	 TP_OK, NULL},
};

START_TEST(other_files_are_refused_and_odd_members_read_as_unknown)
{
	write_text(bad[_i].text);
	struct tp_arena arena = {0};
	struct tp_run_info run = {.pid = 77};
	struct tp_store_result ledger;
	struct tp_error err = {0};
	ck_assert_int_eq(tp_manifest_load(&run, &ledger, &arena, directory, &err), bad[_i].status);
	if (bad[_i].message)
		ck_assert_str_eq(err.text + strlen(directory), bad[_i].message);
	if (bad[_i].status == TP_VERSION)
		ck_assert_str_eq(err.next, "update trainprof");
	if (bad[_i].status) {
		ck_assert_int_eq(run.pid, 77); /* unchanged */
	} else {
		ck_assert_ptr_null(run.id);
		ck_assert_int_eq(run.pid, 0);
		ck_assert_uint_eq(run.started_ns, 0);
		ck_assert_uint_eq(run.host.n_cpus, 0);
		ck_assert_uint_eq(run.host.memory_bytes, 0);
		ck_assert_double_eq(run.host.quota_cpus, 0);
		ck_assert_uint_le(run.n_command, 1);
		ck_assert_uint_le(run.n_environment, 1);
	}
	tp_arena_release(&arena);
}
END_TEST

START_TEST(a_folder_without_manifest_is_not_a_recording)
{
	struct tp_arena arena = {0};
	struct tp_run_info run;
	struct tp_store_result ledger;
	struct tp_error err = {0};
	ck_assert_int_eq(tp_manifest_load(&run, &ledger, &arena, directory, &err), TP_ABSENT);
	char *text = tp_asprintf("'%s' is not a recording (no manifest.json)", directory);
	ck_assert_str_eq(err.text, text);
	free(text);
}
END_TEST

Suite *suite_store_manifest(void);
Suite *suite_store_manifest(void)
{
	Suite *suite = suite_create("store/manifest");
	TCase *tc = tcase_create("manifest");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, everything_known_about_a_run_reads_back);
	tcase_add_test(tc, an_empty_run_can_be_written_and_read);
	tcase_add_test(tc, no_run_outgrows_the_space_kept_for_its_manifest);
	tcase_add_loop_test(tc, other_files_are_refused_and_odd_members_read_as_unknown, 0,
			    sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(tc, a_folder_without_manifest_is_not_a_recording);
	suite_add_tcase(suite, tc);
	return suite;
}
