/* SPDX-License-Identifier: Apache-2.0 */
/* The screen of a running program equals the expected ones; GOLDEN=1 rewrites them. */
#include "report/golden.h"
#include "report/sample.h"

#include "trainprof/base/text.h"
#include "trainprof/report/live.h"

#include <check.h>

/* A training thread that waits for eight loaders, its compute team, and a launcher. */
static void add_threads(struct sample *s)
{
	struct tp_profile *p = &s->profile;
	p->n_threads = 12;
	p->window_end_ns = p->window_start_ns + 50000000000;
	p->threads = tp_arena_array(&p->arena, p->n_threads, sizeof(*p->threads));
	for (uint32_t i = 0; i < p->n_threads; i++) {
		struct tp_thread_result *row = &p->threads[i];
		*row = (struct tp_thread_result){.task = i,
						 .role = TP_THREAD_LOADER,
						 .process_role = TP_ROLE_LOADER,
						 .lived_ns = 50000000000,
						 .on_cpu_ns = 48500000000 - i * 250000000};
		row->blocked_ns[TP_CAUSE_PIPE] = row->lived_ns - row->on_cpu_ns;
	}
	struct tp_thread_result *main = &p->threads[0];
	main->role = TP_THREAD_MAIN;
	main->process_role = TP_ROLE_TRAINER;
	main->on_cpu_ns = 25000000000;
	main->runnable_ns = 4000000000;
	main->blocked_ns[TP_CAUSE_PIPE] = 1000000000; /* 2 %: too little to be shown */
	main->blocked_ns[TP_CAUSE_FUTEX] = 20000000000;
	p->threads[9].role = TP_THREAD_TEAM;
	p->threads[9].process_role = TP_ROLE_TRAINER;
	p->threads[11].role = TP_THREAD_OTHER;
	p->threads[11].process_role = TP_ROLE_LAUNCHER;
}

static void add_lines(struct sample *s)
{
	struct tp_profile *p = &s->profile;
	struct tp_trace *t = &s->trace;
	enum { N_STRINGS = 4 };
	static const char *const names[N_STRINGS] = {"/home/me/train.py", "main",
						     "/home/me/data.py", "load"};
	uint32_t base = (uint32_t)t->n_strings;
	const char **strings = tp_arena_array(&t->arena, base + N_STRINGS, sizeof(*strings));
	memcpy(strings, t->strings, base * sizeof(*strings));
	memcpy(strings + base, names, sizeof(names));
	t->strings = strings;
	t->n_strings += N_STRINGS;
	p->loop = (struct tp_source_loop){.is_known = true, .file = base, .symbol = base + 1};
	p->n_lines = 3;
	p->lines = tp_arena_array(&p->arena, p->n_lines, sizeof(*p->lines));
	p->lines[0] = (struct tp_line_result){.part = TP_PART_COMPUTE,
					      .file = base,
					      .symbol = base + 1,
					      .line = 93,
					      .time_ns = p->total_ns / 2};
	p->lines[1] = (struct tp_line_result){.part = TP_PART_DATALOADER,
					      .file = base,
					      .symbol = base + 1,
					      .line = 88,
					      .time_ns = p->total_ns / 3};
	p->lines[2] = (struct tp_line_result){.part = TP_PART_DATALOADER,
					      .is_own = true,
					      .file = base + 2,
					      .symbol = base + 3,
					      .line = 7,
					      .time_ns = p->total_ns / 4};
}

static void no_steps(struct sample *s)
{
	struct tp_profile *p = &s->profile;
	p->is_of_steps = false;
	p->steps_reason = "fewer than 4 rounds were seen";
	p->n_steps = p->n_steady = 0;
	p->step_time.n = 0;
}

/* 20 ms in the second between its readings, which end before the window of two seconds does. */
static void recorder(struct sample *s)
{
	static struct tp_gauge readings[] = {{.metric = TP_METRIC_SELF_CPU,
					      .task = TP_NO_TASK,
					      .time_ns = 1000000000,
					      .value = 7e6},
					     {.metric = TP_METRIC_SELF_CPU,
					      .task = TP_NO_TASK,
					      .time_ns = 2000000000,
					      .value = 27e6}};
	s->trace.gauges = readings;
	s->trace.n_gauges = TP_ARRAY_LEN(readings);
}

/* No thread ran, or no thread is known. */
static void nobody(struct sample *s)
{
	no_steps(s);
	s->profile.total_ns = 0;
	memset(s->profile.parts, 0, sizeof(s->profile.parts));
	s->profile.limiter = TP_N_PARTS;
	s->profile.n_threads = s->profile.n_lines = s->profile.n_hot = 0;
}

static void hostile(struct sample *s)
{
	static const char *command[] = {"./train\n\x1b]0;owned\a",
					"--a-very-long-option=with-a-value",
					"--another-very-long-option=with-another-value"};
	s->trace.run.command = command;
	s->trace.strings[s->trace.tasks[1].comm] = "\x1b[2J\xff";
}

static const struct tp_live running = {.subject = "pid 4242",
				       .clock = "14:03:11",
				       .watched_ns = 41000000000,
				       .window_ns = 2000000000,
				       .own_ratio = 0.006,
				       .end_note = "q ends this; the program goes on."};

static const struct {
	const char *name;
	void (*change)(struct sample *s);
	struct tp_report_style style;
	size_t max_lines;
	bool is_recorded;
	const char *note;
} screens[] = {
	{"live-80", NULL, {.width = 80}, 0, false, NULL},
	{"live-80-python", add_lines, {.width = 80}, 0, false, NULL},
	{"live-80-python-23", add_lines, {.width = 80}, 23, false, NULL},
	{"live-120-python-39", add_lines, {.width = 120}, 39, true, "CPU stacks are off: reason"},
	{"live-44", add_lines, {.width = 44}, 0, false, NULL},
	{"live-44-ascii-15", add_lines, {.width = 44, .is_ascii = true}, 15, false, NULL},
	{"live-80-colour", NULL, {.width = 80, .has_colour = true}, 23, false, NULL},
	{"live-80-no-steps", no_steps, {.width = 80}, 0, true, NULL},
	{"live-80-recorder", recorder, {.width = 80}, 0, true, NULL},
	{"live-80-nobody", nobody, {.width = 80}, 0, false, "CPU stacks are off: reason"},
	{"live-80-hostile", hostile, {.width = 80}, 0, false, "\x1b[31m"},
};

static void draw(struct tp_page *page, struct sample *s, size_t i, size_t max_lines)
{
	struct tp_live live = running;
	live.max_lines = max_lines;
	live.is_recorded = screens[i].is_recorded;
	live.note = screens[i].note;
	sample_init(s);
	add_threads(s);
	if (screens[i].change)
		screens[i].change(s);
	tp_page_init(page, &screens[i].style);
	tp_report_live(page, &s->profile, &live);
}

/* Colours need no columns, and are removed here. */
static void assert_fits(const char *text, unsigned width)
{
	for (const char *line = text; *line;) {
		const char *end = strchr(line, '\n');
		ck_assert_ptr_nonnull(end);
		char *copy = tp_strndup(line, (size_t)(end - line));
		ck_assert_msg(tp_text_width(copy) <= width, "wider than %u: %s", width, copy);
		free(copy);
		line = end + 1;
	}
}

START_TEST(screens_are_as_they_were_read)
{
	struct sample s;
	struct tp_page page;
	size_t i = (size_t)_i;
	draw(&page, &s, i, screens[i].max_lines);
	if (!screens[i].style.has_colour)
		assert_fits(tp_buf_text(&page.out), screens[i].style.width);
	sample_golden(tp_buf_text(&page.out), screens[i].name);
	tp_page_release(&page);
	sample_release(&s);
}
END_TEST

START_TEST(no_screen_is_higher_than_asked)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(screens); i++)
		for (size_t most = 1; most < 60; most++) {
			struct sample s;
			struct tp_page page;
			size_t n = 0;
			draw(&page, &s, i, most);
			for (const char *c = tp_buf_text(&page.out); *c; c++)
				n += *c == '\n';
			ck_assert_uint_le(n, most);
			ck_assert_uint_eq(n, page.n_lines);
			tp_page_release(&page);
			sample_release(&s);
		}
}
END_TEST

Suite *suite_report_live(void);
Suite *suite_report_live(void)
{
	Suite *suite = suite_create("report_live");
	TCase *tc = tcase_create("live");
	tcase_add_loop_test(tc, screens_are_as_they_were_read, 0, (int)TP_ARRAY_LEN(screens));
	tcase_add_test(tc, no_screen_is_higher_than_asked);
	suite_add_tcase(suite, tc);
	return suite;
}
