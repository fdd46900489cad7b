/* SPDX-License-Identifier: Apache-2.0 */
/* Screens of the viewer: expected screens, screens of any size, and unusual runs. */
#include "view_scene.h"

#include "proof.h"
#include "report/golden.h"
#include "report/jobsample.h"
#include "report/sample.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/text.h"
#include "trainprof/report/live.h"

#include <check.h>
#include <stdio.h>

/* ---- golden screens -------------------------------------------------------------------------- */

static const struct {
	const char *title;
	const char *keys;
} shown[] = {
	{"overview", "1"},
	{"a part", "1^"},
	{"source that is not here", "1^^"},
	{"steps", "2"},
	{"outliers", "2o"},
	{"one step as lanes", "2w^"},
	{"processes", "3s"},
	{"threads", "3^"},
	{"top", "4"},
	{"top with native frames and waits", "4pw"},
	{"tree", "4d"},
	{"inverted", "4i"},
	{"callers", "4r"},
	{"flame", "4fv"},
	{"help", "4?"},
};

static const struct {
	const char *name;
	size_t columns, lines;
	bool is_ascii;
} sizes[] = {
	{"view-40", 40, 20, false},   {"view-80", 80, 24, false},      {"view-120", 120, 30, false},
	{"view-200", 200, 40, false}, {"view-80-ascii", 80, 24, true},
};

START_TEST(screens_are_as_they_were_read)
{
	struct scene s;
	struct tp_buf text = {0};
	scene_init(&s, &scene_plain);
	for (size_t i = 0; i < TP_ARRAY_LEN(shown); i++) {
		struct tp_view *view = scene_view(&s.report);
		scene_type(view, shown[i].keys);
		tp_buf_printf(&text, "==== %s\n", shown[i].title);
		scene_draw(&text, view, sizes[_i].columns, sizes[_i].lines, sizes[_i].is_ascii);
		tp_view_free(view);
	}
	sample_golden(tp_buf_text(&text), sizes[_i].name);
	tp_buf_release(&text);
	scene_release(&s);
}
END_TEST

/* Tabs of a run with advice, and of eight ranks. */
START_TEST(tabs_of_other_runs_are_as_they_were_read)
{
	static const char *const keys[] = {"1", "1vvvvvvv", "7", "7x", "7a", "7^", "5", "6", "8"};
	struct sample s;
	struct tp_buf text = {0};
	if (_i)
		job_init(&s);
	else
		sample_init(&s);
	for (size_t i = 0; i < TP_ARRAY_LEN(keys); i++) {
		struct tp_view *view = scene_view(&s.report);
		scene_type(view, keys[i]);
		tp_buf_printf(&text, "==== %s\n", keys[i]);
		scene_draw(&text, view, 80, 24, false);
		tp_view_free(view);
	}
	sample_golden(tp_buf_text(&text), _i ? "view-job" : "view-advice");
	tp_buf_release(&text);
	sample_release(&s);
}
END_TEST

/* ---- any size -------------------------------------------------------------------------------- */

static void assert_clean(const struct tp_grid *grid)
{
	for (size_t i = 0; i < grid->columns * grid->lines; i++)
		for (const char *c = grid->cells[i].text; *c; c += tp_text_utf8_length(c)) {
			ck_assert_uint_ne(tp_text_utf8_length(c), 0);
			ck_assert_uint_eq(tp_text_unsafe_length(c), 0);
			ck_assert(!grid->is_ascii || (unsigned char)*c < 0x80);
		}
}

static void draw_sizes(const struct tp_report *report, const char *keys)
{
	static const size_t columns[] = {1, 3, 20, 38, 40, 41, 63, 64, 77, 80, 109, 110, 133, 200};
	static const size_t lines[] = {1, 2, 5, 9, 10, 11, 14, 17, 18, 24, 60};
	struct tp_view *view = scene_view(report);
	scene_type(view, keys);
	for (size_t c = 0; c < TP_ARRAY_LEN(columns); c++)
		for (size_t l = 0; l < TP_ARRAY_LEN(lines); l++) {
			struct tp_grid grid;
			tp_grid_init(&grid, columns[c], lines[l], (c + l) % 2);
			tp_view_draw(view, &grid);
			assert_clean(&grid);
			tp_grid_release(&grid);
		}
	tp_view_free(view);
}

START_TEST(every_screen_fits_any_size)
{
	struct scene s;
	scene_init(&s, &scene_plain);
	draw_sizes(&s.report, shown[_i].keys);
	scene_release(&s);
}
END_TEST

START_TEST(hostile_names_are_inert)
{
	char longest[10001];
	memset(longest, 'x', sizeof(longest) - 1);
	longest[10000] = '\0';
	const struct scene_names names[] = {
		{"\033[2J\033]0;title\a", "/tmp/\n\r\t\b.py", "\xff\xfe\x80", "\u202e\u2066left",
		 "\033[31mred",
		 "\xc2\x9b"
		 "31m"},
		{longest, longest, longest, longest, longest, longest},
		{"日本語", "/tmp/データ.py", "e\u0301\u0302\u0303\u0304\u0305", "名前",
		 "\U0001f525", ""},
		{"", "", "", "", "", ""},
	};
	for (size_t i = 0; i < TP_ARRAY_LEN(names); i++) {
		struct scene s;
		scene_init(&s, &names[i]);
		draw_sizes(&s.report, shown[_i].keys);
		struct tp_view *view = scene_view(&s.report);
		struct tp_buf text = {0};
		struct tp_grid grid;
		scene_type(view, shown[_i].keys);
		tp_view_add_markdown(view, &text);
		ck_assert_ptr_null(strchr(tp_buf_text(&text), '\033'));
		tp_grid_init(&grid, 80, 24, false);
		tp_view_draw(view, &grid);
		tp_buf_clear(&text);
		tp_grid_add_image(&text, &grid, names[i].program);
		ck_assert_ptr_null(strchr(tp_buf_text(&text), '\033'));
		tp_grid_release(&grid);
		tp_buf_release(&text);
		tp_view_free(view);
		scene_release(&s);
	}
}
END_TEST

/* ---- strange runs ---------------------------------------------------------------------------- */

/* Types every key on every screen: no memory is read that does not exist (address sanitizer). */
static void type_all_keys(const struct tp_report *report)
{
	static const char keys[] = "12345678jkvsSowtdirfwpaxnNlh/q\n\\a\n<?< ^^^^<<<<cegGQ";
	for (int first = '1'; first <= '8'; first++) {
		struct tp_view *view = scene_view(report);
		struct tp_buf text = {0};
		tp_view_handle_key(view, first);
		for (const char *k = keys; *k; k++) {
			char one[] = {*k, '\0'};
			scene_type(view, one);
			scene_draw(&text, view, 80, 24, false);
			scene_type(view, "^");
			scene_draw(&text, view, 120, 24, true);
		}
		tp_view_add_markdown(view, &text);
		tp_buf_release(&text);
		tp_view_free(view);
	}
}

START_TEST(a_run_without_anything_has_screens)
{
	struct scene s;
	struct tp_buf text = {0};
	scene_init(&s, &scene_plain);
	struct tp_profile *p = &s.profile;
	p->n_steps = p->n_steady = p->n_hot = p->n_lines = p->n_processes = p->n_threads = 0;
	p->steps = NULL;
	p->hot = NULL;
	p->is_of_steps = false;
	p->steps_found_by = TP_STEPS_NONE;
	p->steps_reason = "no loop was seen";
	p->steps_next = "trainprof run --rate=400 -- ./loop";
	p->step_time = (struct tp_stat){0};
	p->total_ns = 0;
	memset(p->parts, 0, sizeof(p->parts));
	type_all_keys(&s.report);
	struct tp_view *view = scene_view(&s.report);
	scene_type(view, "2");
	scene_draw(&text, view, 80, 24, false);
	ck_assert_ptr_nonnull(strstr(tp_buf_text(&text), "No steps: no loop was seen"));
	ck_assert_ptr_nonnull(strstr(tp_buf_text(&text), "trainprof run --rate=400 -- ./loop"));
	s.report.findings = NULL;
	s.report.no_findings_because = "rules are gone";
	type_all_keys(&s.report);
	tp_buf_release(&text);
	tp_view_free(view);
	scene_release(&s);
}
END_TEST

START_TEST(a_run_of_one_step_has_screens)
{
	struct scene s;
	scene_init(&s, &scene_plain);
	s.profile.n_steps = s.profile.n_steady = 1;
	type_all_keys(&s.report);
	scene_release(&s);
}
END_TEST

START_TEST(other_runs_take_every_key)
{
	struct sample s;
	sample_init(&s);
	type_all_keys(&s.report);
	sample_release(&s);
	job_init(&s);
	type_all_keys(&s.report);
	sample_release(&s);
}
END_TEST

/* More ranks than a recording can have. */
START_TEST(a_hundred_ranks_have_screens)
{
	enum { N = 100 };
	struct sample s;
	struct tp_buf text = {0};
	job_init(&s);
	struct tp_profile *p = &s.profile;
	struct tp_rank_info *ranks = tp_arena_array(&p->arena, N, sizeof(*ranks));
	struct tp_device_result *devices = tp_arena_array(&p->arena, N, sizeof(*devices));
	for (uint32_t i = 0; i < N; i++) {
		ranks[i] = s.trace.run.ranks[i % JOB_RANKS];
		ranks[i].number = i;
		devices[i] = p->devices[i % p->n_devices];
		devices[i].rank = i;
	}
	s.trace.run.ranks = ranks;
	s.trace.run.n_ranks = p->n_devices = N;
	p->devices = devices;
	p->collectives[0].late = N - 1;
	/* Waits are indexed by device. */
	for (size_t i = 0; i < p->n_collectives; i++)
		p->collectives[i].wait_ns = tp_arena_array(&p->arena, N, sizeof(uint64_t));
	type_all_keys(&s.report);
	draw_sizes(&s.report, "5");
	draw_sizes(&s.report, "6");
	struct tp_view *view = scene_view(&s.report);
	scene_type(view, "6/rank 99^");
	scene_draw(&text, view, 80, 24, false);
	ck_assert_ptr_nonnull(strstr(tp_buf_text(&text), "rank 99"));
	tp_buf_release(&text);
	tp_view_free(view);
	sample_release(&s);
}
END_TEST

/* A million steps whose lengths are known; the longest are found, in order. */
START_TEST(a_million_steps_are_sorted)
{
	enum { N = 1000000 };
	struct scene s;
	struct tp_buf text = {0};
	scene_init(&s, &scene_plain);
	struct tp_profile *p = &s.profile;
	p->n_steps = N;
	p->steps = tp_arena_array(&p->arena, N, sizeof(*p->steps));
	for (uint64_t i = 0; i < N; i++) {
		uint64_t length = 1000000 + i * 7919 % N;
		p->steps[i].start_ns = i * 3000000;
		p->steps[i].end_ns = p->steps[i].start_ns + length;
		p->steps[i].part_ns[TP_PART_COMPUTE] = length;
	}
	struct tp_view *view = scene_view(&s.report);
	scene_type(view, "2s");
	for (int i = 0; i < 3; i++) {
		char key[2] = "v";
		scene_draw(&text, view, 80, 24, false);
		scene_type(view, key);
	}
	/* i * 7919 = 999999 (mod 1e6) has one solution below 1e6. */
	uint64_t longest = 0;
	while (longest * 7919 % N != N - 1)
		longest++;
	char expected[32];
	snprintf(expected, sizeof(expected), "> %6llu ", (unsigned long long)longest + 1);
	ck_assert_ptr_nonnull(strstr(tp_buf_text(&text), expected));
	tp_buf_release(&text);
	tp_view_free(view);
	scene_release(&s);
}
END_TEST

/* ---- keys ------------------------------------------------------------------------------------ */

static void assert_shows(struct tp_view *view, const char *keys, const char *expected)
{
	struct tp_buf text = {0};
	scene_type(view, keys);
	scene_draw(&text, view, 80, 24, false);
	if (!strstr(tp_buf_text(&text), expected))
		ck_abort_msg("no '%s' after %s in\n%s", expected, keys, tp_buf_text(&text));
	tp_buf_release(&text);
}

START_TEST(three_keys_lead_from_the_verdict_to_the_line)
{
	struct scene s;
	scene_init(&s, &scene_plain);
	struct tp_view *view = scene_view(&s.report);
	assert_shows(view, "", ">dataloader");
	assert_shows(view, "^", "worker in decode");
	assert_shows(view, "v", "> 78 %  worker in decode");
	assert_shows(view, "^", "/nowhere/train.py");
	assert_shows(view, "", "78 %     6");
	assert_shows(view, "<<", "[1 Overview]");
	tp_view_free(view);
	scene_release(&s);
}
END_TEST

START_TEST(lanes_show_which_thread_waits_for_which)
{
	struct scene s;
	scene_init(&s, &scene_plain);
	struct tp_view *view = scene_view(&s.report);
	assert_shows(view, "2v^", "main 100  works 10.0 ms, waits 30.0 ms");
	assert_shows(view, "", "waiting for a pipe: pipe:[77]; also used by loader 101");
	assert_shows(view, "vvv", "5.00 ms  gemm_128x64");
	assert_shows(view, "n", "step 3 of 20");
	assert_shows(view, ">p", "step 3 of 20");
	tp_view_free(view);
	scene_release(&s);
}
END_TEST

START_TEST(rows_are_searched_filtered_and_sorted)
{
	struct scene s;
	scene_init(&s, &scene_plain);
	struct tp_view *view = scene_view(&s.report);
	assert_shows(view, "4/resi", "search: resi_");
	assert_shows(view, "^", "> 18 %   18 %  resize");
	assert_shows(view, "/nothing like that^", "Not found.");
	assert_shows(view, "\\main^", "> 17 %   17 %  main");
	assert_shows(view, "", "only rows with 'main'");
	struct tp_buf text = {0};
	scene_draw(&text, view, 80, 24, false);
	ck_assert_ptr_null(strstr(tp_buf_text(&text), "resize"));
	tp_buf_release(&text);
	assert_shows(view, "<", "resize");
	assert_shows(view, "s", ">  0 %  100 %  <module>");
	assert_shows(view, "2/8^", ">      8   80.0 ms !");
	assert_shows(view, "\\slow^", "dddd");
	assert_shows(view, "<", "      1   40.0 ms");
	tp_view_free(view);
	scene_release(&s);
}
END_TEST

static bool combine_two(void *context, const bool *is_chosen, double *low, double *value,
			double *high)
{
	*(int *)context += 1;
	*low = is_chosen[0] ? 1.3 : 1.01;
	*value = 1.5;
	*high = is_chosen[0] ? 1.7 : 1.06;
	return true;
}

START_TEST(the_gain_of_chosen_advice_is_asked_for)
{
	struct sample s;
	int n_asked = 0;
	sample_init(&s);
	const struct tp_view_input input = {.report = &s.report,
					    .combine = combine_two,
					    .context = &n_asked};
	struct tp_view *view = tp_view_new(&input);
	assert_shows(view, "7", "3 of 3 together: 1.44–1.77×");
	ck_assert_int_eq(n_asked, 0);
	assert_shows(view, "x", "2 of 3 together: 1.01–1.06×");
	ck_assert_int_gt(n_asked, 0);
	assert_shows(view, "", "[ ] 1");
	assert_shows(view, "xvx", "2 of 3 together: 1.30–1.70×");
	assert_shows(view, "kx", "1 of 3 together");
	tp_view_free(view);
	sample_release(&s);
}
END_TEST

/* Debug information in which the n-th address is in line n of this file. */
static bool find_two_lines(void *context, const char *module, const uint64_t *addresses, size_t n,
			   char *file, size_t size, uint32_t *lines)
{
	*(const char **)context = module;
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(addresses[0], 0x1000);
	char *path = realpath("tests/unit/report/view/test_view.c", NULL);
	snprintf(file, size, "%s", path);
	free(path);
	lines[0] = 2;
	return true;
}

START_TEST(native_functions_have_source_with_debug_information)
{
	struct scene s;
	const char *module = NULL;
	scene_init(&s, &scene_plain);
	for (size_t i = 0; i < s.trace.n_samples; i++)
		s.trace.samples[i].state = TP_STATE_ON_CPU;
	s.profile.hot[1].state = TP_STATE_ON_CPU;
	struct tp_view_input input = {.report = &s.report,
				      .find_lines = find_two_lines,
				      .context = &module};
	struct tp_view *view = tp_view_new(&input);
	assert_shows(view, "4p/read^", "> 34 %   34 %  read");
	assert_shows(view, "^", ">100 % 100 %     2  /* Screens of the viewer");
	ck_assert_str_eq(module, "/usr/lib/libc.so.6");
	tp_view_free(view);
	input.find_lines = NULL;
	view = tp_view_new(&input);
	assert_shows(view, "4p/read^^", "Callers of read");
	tp_view_free(view);
	scene_release(&s);
}
END_TEST

START_TEST(answers_say_what_the_caller_has_to_do)
{
	struct scene s;
	scene_init(&s, &scene_plain);
	struct tp_view *view = scene_view(&s.report);
	ck_assert_int_eq(scene_type(view, "c"), TP_VIEW_COPY);
	ck_assert_int_eq(scene_type(view, "e"), TP_VIEW_EXPORT);
	ck_assert_int_eq(scene_type(view, "\f"), TP_VIEW_REDRAW);
	ck_assert_int_eq(scene_type(view, "^"), TP_VIEW_STAY);
	ck_assert_int_eq(scene_type(view, "q"), TP_VIEW_STAY);
	ck_assert_int_eq(scene_type(view, "q"), TP_VIEW_QUIT);
	ck_assert_int_eq(scene_type(view, "/q"), TP_VIEW_STAY);
	ck_assert_int_eq(scene_type(view, "<Q"), TP_VIEW_QUIT);
	assert_shows(view, "Z", "This key does nothing here");
	ck_assert_str_eq(tp_view_screen_name(view), "overview");
	tp_view_free(view);
	scene_release(&s);
}
END_TEST

/* ---- a program that runs --------------------------------------------------------------------- */

static void live_init(struct tp_live *live, struct tp_live_history *history)
{
	*history = (struct tp_live_history){.n = 12};
	for (size_t i = 0; i < history->n; i++)
		history->items[i] = (struct tp_live_interval){.step_ns = (double)(40 + i) * 1e6,
							      .step_max_ns = 80e6};
	snprintf(history->alarm, sizeof(history->alarm),
		 "14:03:05  dataloader is the limit now, 75 %%; before it was compute.");
	*live = (struct tp_live){.subject = "pid 4242",
				 .clock = "14:03:11",
				 .watched_ns = 41000 * SCENE_MS,
				 .window_ns = 2000 * SCENE_MS,
				 .own_ratio = 0.006,
				 .note = "CPU stacks are off: reason",
				 .history = history};
}

START_TEST(a_running_program_has_the_same_screens)
{
	static const char *const keys[] = {"1", "1^", "2", "3", "7", "?"};
	struct scene s;
	struct tp_buf text = {0};
	struct tp_live live;
	struct tp_live_history history;
	scene_init(&s, &scene_plain);
	s.report.findings = NULL;
	s.report.no_findings_because = "a few seconds are too short for advice";
	live_init(&live, &history);
	const struct tp_view_input input = {.report = &s.report, .live = &live};
	for (size_t i = 0; i < TP_ARRAY_LEN(keys); i++) {
		struct tp_view *view = tp_view_new(&input);
		scene_type(view, keys[i]);
		tp_buf_printf(&text, "==== %s\n", keys[i]);
		scene_draw(&text, view, 80, 24, false);
		tp_view_free(view);
	}
	struct tp_view *view = tp_view_new(&input);
	tp_buf_puts(&text, "==== 44 columns\n");
	scene_draw(&text, view, 44, 18, true);
	tp_view_free(view);
	sample_golden(tp_buf_text(&text), "view-live");
	tp_buf_release(&text);
	type_all_keys(&s.report);
	scene_release(&s);
}
END_TEST

START_TEST(an_update_keeps_the_screen_its_order_and_its_filter)
{
	struct scene s[2];
	struct tp_live live;
	struct tp_live_history history;
	live_init(&live, &history);
	for (int i = 0; i < 2; i++)
		scene_init(&s[i], &scene_plain);
	/* In the second interval another part is the largest. */
	s[1].profile.parts[TP_PART_COMPUTE].time_ns *= 10;
	s[1].profile.limiter = TP_PART_COMPUTE;
	const struct tp_view_input input = {.report = &s[0].report, .live = &live};
	struct tp_view *view = tp_view_new(&input);
	assert_shows(view, "", ">dataloader");
	tp_view_update(view, &s[1].report, &live);
	assert_shows(view, "", ">compute");
	assert_shows(view, "v", ">dataloader");
	tp_view_update(view, &s[0].report, &live);
	assert_shows(view, "", ">dataloader");
	assert_shows(view, "4s\\main^", "> 17 %   17 %  main");
	tp_view_update(view, &s[1].report, &live);
	scene_release(&s[0]); /* nothing of the former interval is used any more */
	assert_shows(view, "", "only rows with 'main'");
	assert_shows(view, "", "[4 Stacks]");
	tp_view_free(view);
	scene_release(&s[1]);
}
END_TEST

START_TEST(an_opened_row_and_a_held_screen_stay)
{
	struct scene s;
	struct tp_live live;
	struct tp_live_history history;
	scene_init(&s, &scene_plain);
	live_init(&live, &history);
	const struct tp_view_input input = {.report = &s.report, .live = &live};
	struct tp_view *view = tp_view_new(&input);
	ck_assert(!tp_view_is_held(view));
	scene_type(view, "^");
	ck_assert(tp_view_is_held(view));
	assert_shows(view, "", "held at 14:03:11");
	scene_type(view, "<");
	ck_assert(!tp_view_is_held(view));
	assert_shows(view, "", "14:03:11  last 2.00 s of 0:41");
	scene_type(view, "/");
	ck_assert(tp_view_is_held(view));
	scene_type(view, "<");
	assert_shows(view, "z", "Held; z goes on. The program is not stopped.");
	ck_assert(tp_view_is_held(view));
	assert_shows(view, "z", "Goes on with the next interval.");
	ck_assert(!tp_view_is_held(view));
	tp_view_free(view);
	view = scene_view(&s.report);
	assert_shows(view, "z", "This key does nothing here");
	tp_view_free(view);
	scene_release(&s);
}
END_TEST

/* The stack of places is limited; opening more places keeps those below the top. */
START_TEST(places_do_not_pile_up)
{
	struct scene s;
	scene_init(&s, &scene_plain);
	struct tp_view *view = scene_view(&s.report);
	for (int i = 0; i < 100; i++)
		scene_type(view, "4?");
	for (int i = 0; i < 100; i++)
		scene_type(view, "^v");
	scene_type(view, "1");
	assert_shows(view, "", "[1 Overview]");
	tp_view_free(view);
	scene_release(&s);
}
END_TEST

/* ---- text ------------------------------------------------------------------------------------ */

START_TEST(markdown_cannot_be_left_from_inside)
{
	struct scene_names names = scene_plain;
	struct scene s;
	struct tp_buf text = {0};
	names.decode = "a````b";
	scene_init(&s, &names);
	struct tp_view *view = scene_view(&s.report);
	scene_type(view, "4");
	tp_view_add_markdown(view, &text);
	ck_assert_int_eq(strncmp(tp_buf_text(&text), "`````text\n", 10), 0);
	ck_assert_ptr_nonnull(strstr(tp_buf_text(&text), "\n`````\n"));
	tp_buf_release(&text);
	tp_view_free(view);
	scene_release(&s);
}
END_TEST

START_TEST(plain_screens_have_no_pictures)
{
	struct scene s;
	struct tp_buf all = {0};
	const struct tp_report_style style = {.width = 80};
	scene_init(&s, &scene_plain);
	for (size_t i = 0; i < TP_ARRAY_LEN(shown); i++) {
		struct tp_view *view = scene_view(&s.report);
		struct tp_page page;
		tp_page_init(&page, &style);
		scene_type(view, shown[i].keys);
		tp_view_print_plain(view, &page);
		ck_assert_uint_gt(page.n_lines, 2);
		static const char *const drawn[] = {"█", "▓", "░", "─", "ddd", "\033"};
		for (size_t k = 0; k < TP_ARRAY_LEN(drawn); k++)
			ck_assert_ptr_null(strstr(tp_buf_text(&page.out), drawn[k]));
		tp_buf_printf(&all, "==== %s\n%s", shown[i].title, tp_buf_text(&page.out));
		tp_page_release(&page);
		tp_view_free(view);
	}
	sample_golden(tp_buf_text(&all), "view-plain");
	tp_buf_release(&all);
	scene_release(&s);
}
END_TEST

/* ---- time to handle a key -------------------------------------------------------------------- */

enum { BIG_STEPS = 1000000, BIG_THREADS = 500, BIG_HOT = 2000, BIG_DEPTH = 60 };

/* The size of a recording of ten minutes and 500 threads; there are never more hot stacks. */
static void make_big(struct scene *s)
{
	struct tp_profile *p = &s->profile;
	struct tp_arena *arena = &p->arena;
	struct tp_trace *t = &s->trace;
	uint32_t n_frames = BIG_HOT * 4;
	p->n_steps = BIG_STEPS;
	p->steps = tp_arena_array(arena, BIG_STEPS, sizeof(*p->steps));
	for (uint64_t i = 0; i < BIG_STEPS; i++) {
		p->steps[i].start_ns = i * 600000;
		p->steps[i].end_ns = p->steps[i].start_ns + 300000 + i * 7919 % 300000;
		p->steps[i].part_ns[TP_PART_COMPUTE] = 300000;
	}
	struct tp_frame *frames = tp_arena_array(arena, n_frames + 1, sizeof(*frames));
	for (uint32_t i = 1; i <= n_frames; i++)
		frames[i] = (struct tp_frame){.kind = i % 2 ? TP_FRAME_PYTHON : TP_FRAME_NATIVE,
					      .symbol = 1,
					      .file = 1,
					      .line = i,
					      .function_start = (uint64_t)i << 32};
	t->frames = frames;
	t->n_frames = n_frames + 1;
	struct tp_stack *stacks = tp_arena_array(arena, BIG_HOT + 1, sizeof(*stacks));
	p->hot = tp_arena_array(arena, BIG_HOT, sizeof(*p->hot));
	p->n_hot = BIG_HOT;
	for (uint32_t i = 1; i <= BIG_HOT; i++) {
		uint32_t *of = tp_arena_array(arena, BIG_DEPTH, sizeof(*of));
		for (uint32_t f = 0; f < BIG_DEPTH; f++)
			of[f] = 1 + (i * (BIG_DEPTH - f) * 31 + f) % n_frames;
		stacks[i] = (struct tp_stack){.frames = of, .n_frames = BIG_DEPTH};
		p->hot[i - 1] = (struct tp_hot_stack){i, i % 3, i % 2, i % (TP_N_PARTS + 1),
						      SCENE_MS * (BIG_HOT - i)};
	}
	t->stacks = stacks;
	t->n_stacks = BIG_HOT + 1;
	p->n_lines = 0;
	p->threads = tp_arena_array(arena, BIG_THREADS, sizeof(*p->threads));
	p->n_threads = BIG_THREADS;
	for (uint32_t i = 0; i < BIG_THREADS; i++)
		p->threads[i] = (struct tp_thread_result){.task = i % 3,
							  .role = TP_THREAD_LOADER,
							  .lived_ns = SCENE_MS,
							  .on_cpu_ns = SCENE_MS / 2};
}

/* Measured as CPU time: the time of a machine without other work. */
START_TEST(no_key_takes_50_ms)
{
	static const char keys[] =
		"1^v^<<2sw^n<oo2\\slow^<jjj33^<4jjdjjijjrjjfvvv^<wwptts12345678?";
	struct scene s;
	struct tp_grid grid;
	double worst_ms = 0;
	char worst = ' ';
	scene_init(&s, &scene_plain);
	make_big(&s);
	uint64_t begun_ns = tp_clock_self_cpu_ns();
	struct tp_view *view = scene_view(&s.report);
	tp_grid_init(&grid, 200, 60, false);
	tp_view_draw(view, &grid);
	double opened_ms = (double)(tp_clock_self_cpu_ns() - begun_ns) / 1e6;
	for (const char *k = keys; *k; k++) {
		const char one[] = {*k, '\0'};
		begun_ns = tp_clock_self_cpu_ns();
		scene_type(view, one);
		tp_view_draw(view, &grid);
		double ms = (double)(tp_clock_self_cpu_ns() - begun_ns) / 1e6;
		if (ms > 20)
			printf("%c at %td: %.1f ms\n", *k, k - keys, ms);
		if (ms > worst_ms) {
			worst_ms = ms;
			worst = *k;
		}
	}
	setbuf(stdout, NULL);
	printf("opened in %.1f ms, the slowest key '%c' took %.1f ms\n", opened_ms, worst,
	       worst_ms);
	ck_assert_double_le(opened_ms, 500);
	ck_assert_double_le(worst_ms, 50);
	tp_grid_release(&grid);
	tp_view_free(view);
	scene_release(&s);
}
END_TEST

Suite *suite_report_view(void);
Suite *suite_report_view(void)
{
	Suite *suite = suite_create("report_view");
	TCase *tc = tcase_create("view");
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, screens_are_as_they_were_read, 0, (int)TP_ARRAY_LEN(sizes));
	tcase_add_loop_test(tc, tabs_of_other_runs_are_as_they_were_read, 0, 2);
	tcase_add_loop_test(tc, every_screen_fits_any_size, 0, (int)TP_ARRAY_LEN(shown));
	tcase_add_loop_test(tc, hostile_names_are_inert, 0, (int)TP_ARRAY_LEN(shown));
	tcase_add_test(tc, a_run_without_anything_has_screens);
	tcase_add_test(tc, a_run_of_one_step_has_screens);
	tcase_add_test(tc, other_runs_take_every_key);
	tcase_add_test(tc, a_hundred_ranks_have_screens);
	tcase_add_test(tc, a_million_steps_are_sorted);
	tcase_add_test(tc, three_keys_lead_from_the_verdict_to_the_line);
	tcase_add_test(tc, lanes_show_which_thread_waits_for_which);
	tcase_add_test(tc, rows_are_searched_filtered_and_sorted);
	tcase_add_test(tc, the_gain_of_chosen_advice_is_asked_for);
	tcase_add_test(tc, native_functions_have_source_with_debug_information);
	tcase_add_test(tc, answers_say_what_the_caller_has_to_do);
	tcase_add_test(tc, a_running_program_has_the_same_screens);
	tcase_add_test(tc, an_update_keeps_the_screen_its_order_and_its_filter);
	tcase_add_test(tc, an_opened_row_and_a_held_screen_stay);
	tcase_add_test(tc, places_do_not_pile_up);
	tcase_add_test(tc, markdown_cannot_be_left_from_inside);
	tcase_add_test(tc, plain_screens_have_no_pictures);
	suite_add_tcase(suite, tc);
	tcase_add_test(proof_case(suite, "speed"), no_key_takes_50_ms);
	return suite;
}
