/* SPDX-License-Identifier: Apache-2.0 */
/* Tests timelines of jobs in pipeline stages: ranks, steps, and which operations wait for each
 * other. */
#include "import/imported.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/memory.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HEADER "dp_rank,stage,rank,step,optype,start_ts,duration,seq_id,mc,gmc,mb_id\n"

/* An operation of a timeline. */
#define EVENT(name, pid, tid, ts, dur, step)                                                       \
	"{\"name\":\"" name "\",\"cat\":\"" name "\",\"pid\":" pid ",\"tid\":" tid ",\"ts\":" ts   \
	",\"dur\":" dur ",\"ph\":\"X\",\"args\":{\"step\":" step                                   \
	",\"model_chunk\":0,\"mb_id\":null,\"seq_id\":0}}"
#define THREAD(pid, tid, name)                                                                     \
	"{\"name\":\"thread_name\",\"pid\":" pid ",\"tid\":" tid                                   \
	",\"ph\":\"M\",\"args\":{\"name\":\"" name "\"}}"

static void import_ok(struct imported *in, const char *text)
{
	imported_text(in, text);
	ck_assert_msg(!in->status, "%s", in->err.text);
	ck_assert_str_eq(in->result.ranks[0].format, "straggler");
}

/* Returns the i-th span with that name and rank; fails if there is none. */
static const struct tp_span *span_of(const struct imported *in, const char *name, uint32_t rank,
				     size_t i)
{
	for (size_t k = 0; k < in->n_spans; k++)
		if (imported_track(in, k)->rank == rank &&
		    strcmp(imported_name(in, k), name) == 0 && i-- == 0)
			return &in->spans[k];
	ck_abort_msg("no such span: %s of rank %u", name, rank);
	return NULL;
}

static struct tp_detail detail_of(const struct imported *in, const struct tp_span *span)
{
	return imported_detail(in, (size_t)(span - in->spans));
}

/* Returns true if two spans belong to the same collective. */
static bool are_joined(const struct imported *in, const struct tp_span *a, const struct tp_span *b)
{
	struct tp_detail x = detail_of(in, a);
	struct tp_detail y = detail_of(in, b);
	ck_assert_uint_ne(x.group, 0);
	ck_assert_uint_ne(x.sequence, 0);
	return x.group == y.group && x.sequence == y.sequence && x.op == y.op;
}

/* ---- tables ---- */

START_TEST(a_row_is_work_of_a_rank_and_a_step)
{
	struct imported in;
	import_ok(&in, HEADER "0,1,4,12,forward-compute,1700000000.25,0.5,0,0,1,3\n"
			      "0,1,4,12,optimizer,1700000001.0,1.5e-05,0,0,1,\n");
	ck_assert_uint_eq(in.result.n_ranks, 1);
	const struct tp_rank_info *rank = &in.result.ranks[0];
	ck_assert_int_eq(rank->number, 4);
	ck_assert_uint_eq(rank->n_events, 2);
	ck_assert_uint_eq(rank->n_kept, 3);
	ck_assert_uint_eq(rank->n_skipped, 0);
	const struct tp_span *work = span_of(&in, "forward-compute", 0, 0);
	ck_assert_int_eq(work->kind, TP_SPAN_KERNEL);
	ck_assert_uint_eq(work->start_ns, UINT64_C(1700000000250000000));
	ck_assert_uint_eq(work->end_ns, UINT64_C(1700000000750000000));
	ck_assert_uint_eq(work->detail, 0);
	const struct tp_track *track = &in.tracks[work->track];
	ck_assert_int_eq(track->device, 0);
	ck_assert_str_eq(tp_strtab_text(&in.sink.strings, track->name), "forward-compute");
	ck_assert_uint_ne(span_of(&in, "optimizer", 0, 0)->track, work->track);
	const struct tp_span *step = span_of(&in, "step 12", 0, 0);
	ck_assert_int_eq(step->kind, TP_SPAN_ANNOTATION);
	ck_assert_uint_eq(step->start_ns, work->start_ns);
	ck_assert_uint_eq(step->end_ns, UINT64_C(1700000001000015000));
	track = &in.tracks[step->track];
	ck_assert_int_eq(track->device, TP_TRACK_THREAD);
	ck_assert_str_eq(tp_strtab_text(&in.sink.strings, track->name), "dp 0, stage 1");
	imported_release(&in);
}
END_TEST

START_TEST(columns_and_rows_come_in_any_order)
{
	struct imported in;
	import_ok(&in, ",stage,duration,rank,more,start_ts,dp_rank,optype,step,tp_rank\r\n"
		       "0,1,2.0,7,x,10,1,forward-compute,3,2\r\n"
		       "1,0,1.0,2,,8,1,\"forward-compute\",3,0\r\n");
	ck_assert_uint_eq(in.result.n_ranks, 2);
	ck_assert_int_eq(in.result.ranks[0].number, 2);
	ck_assert_int_eq(in.result.ranks[1].number, 7);
	/* A step is as long as that of the whole job. */
	for (uint32_t rank = 0; rank < 2; rank++) {
		const struct tp_span *step = span_of(&in, "step 3", rank, 0);
		ck_assert_uint_eq(step->start_ns, UINT64_C(8000000000));
		ck_assert_uint_eq(step->end_ns, UINT64_C(12000000000));
	}
	const struct tp_span *step = span_of(&in, "step 3", 1, 0);
	ck_assert_str_eq(tp_strtab_text(&in.sink.strings, in.tracks[step->track].name),
			 "dp 1, stage 1, tp 2");
	imported_release(&in);
}
END_TEST

/* The result for each type, and whether ranks 0 (dp 0) and 1 (dp 1) of the same stage, and 0 and 2
 * (the last stage of its pipeline), take part in the same operation. */
static const struct {
	const char *type;
	enum tp_span_kind kind;
	bool over_pipelines;
	bool over_stages;
} types[] = {
	{"forward-compute", TP_SPAN_KERNEL, false, false},
	{"backward-wgrad-compute", TP_SPAN_KERNEL, false, false},
	{"params-all-gather", TP_SPAN_KERNEL, true, false},
	{"grads-reduce-scatter", TP_SPAN_KERNEL, true, false},
	{"grads-reduce-scatter-nonoverlapping", TP_SPAN_KERNEL, true, false},
	{"separate-grads-all-reduce", TP_SPAN_KERNEL, true, false},
	{"embedding-grads-all-reduce", TP_SPAN_KERNEL, false, true},
	{"optimizer-clip-main-grad", TP_SPAN_KERNEL, true, true},
	{"layernorm-grads-all-reduce", TP_SPAN_KERNEL, false, false},
	{"tp-allreduce", TP_SPAN_KERNEL, false, false},
	{"something-new", TP_SPAN_KERNEL, false, false},
	{"gc", TP_SPAN_ANNOTATION, false, false},
	{"data-load", TP_SPAN_ANNOTATION, false, false},
	{"forward-backward", TP_SPAN_ANNOTATION, false, false},
};

START_TEST(types_say_who_waits_for_whom)
{
	struct imported in;
	struct tp_buf text = {0};
	const char *type = types[_i].type;
	tp_buf_printf(&text,
		      HEADER "0,0,0,1,%s,1,1,0,0,0,\n1,0,1,1,%s,1,1,0,0,0,\n"
			     "0,1,2,1,%s,1,1,0,0,1,\n",
		      type, type, type);
	import_ok(&in, tp_buf_text(&text));
	const struct tp_span *a = span_of(&in, type, 0, 0);
	const struct tp_span *b = span_of(&in, type, 1, 0);
	const struct tp_span *c = span_of(&in, type, 2, 0);
	ck_assert_int_eq(a->kind, types[_i].kind);
	if (a->detail) {
		ck_assert_int_eq(are_joined(&in, a, b), types[_i].over_pipelines);
		ck_assert_int_eq(are_joined(&in, a, c), types[_i].over_stages);
	} else {
		ck_assert(!types[_i].over_pipelines && !types[_i].over_stages);
	}
	imported_release(&in);
	tp_buf_release(&text);
}
END_TEST

/* Two stages, two micro-batches forward; the receiver's recorder also recorded one that never
 * happened. */
#define TWO_STAGES                                                                                 \
	HEADER "0,0,0,5,forward-compute,10,1,0,0,0,0\n"                                            \
	       "0,0,0,5,forward-compute,11,1,1,0,0,1\n"                                            \
	       "0,0,0,5,forward-send,11,0.5,0,0,0,\n"                                              \
	       "0,0,0,5,forward-send,12,0.5,1,0,0,\n"                                              \
	       "0,1,1,5,forward-recv,10,1.5,0,0,1,\n"                                              \
	       "0,1,1,5,forward-compute,11.5,0.7,0,0,1,0\n"                                        \
	       "0,1,1,5,forward-recv,12.2,0.3,1,0,1,\n"                                            \
	       "0,1,1,5,forward-compute,12.5,0.7,1,0,1,1\n"

START_TEST(what_is_sent_is_received)
{
	struct imported in;
	import_ok(&in, TWO_STAGES "0,1,1,5,forward-recv,13.3,0.1,2,0,1,\n"
				  "0,0,0,5,forward-recv,10,0.1,0,0,0,\n"
				  "0,0,0,5,backward-send,12,0.1,0,0,0,\n");
	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; k < 2; k++)
			ck_assert_int_eq(are_joined(&in, span_of(&in, "forward-send", 0, i),
						    span_of(&in, "forward-recv", 1, k)),
					 i == k);
	/* Not launched, and without a stage before the first. */
	ck_assert(!are_joined(&in, span_of(&in, "forward-recv", 1, 2),
			      span_of(&in, "forward-recv", 1, 1)));
	ck_assert(!are_joined(&in, span_of(&in, "forward-recv", 0, 0),
			      span_of(&in, "forward-send", 0, 0)));
	imported_release(&in);
}
END_TEST

/* Reasons why the partners of sends are unknown. */
static const char *const unsure[] = {
	/* One more send than receives. */
	TWO_STAGES "0,0,0,5,forward-send,12.6,0.1,2,0,0,\n",
	/* Several chunks of the model in a stage. */
	TWO_STAGES "0,1,1,5,forward-compute,14,0.1,2,1,3,0\n",
	/* Two ranks at the same position. */
	TWO_STAGES "0,1,2,5,forward-compute,14,0.1,2,0,1,0\n",
};

START_TEST(where_it_is_not_known_nothing_is_joined)
{
	struct imported in;
	import_ok(&in, unsure[_i]);
	ck_assert(!are_joined(&in, span_of(&in, "forward-send", 0, 0),
			      span_of(&in, "forward-recv", 1, 0)));
	imported_release(&in);
}
END_TEST

/* Steps of one second each: number and begin of two, and the interval between their emitted
 * begins. */
static const struct {
	const char *first;
	const char *second;
	uint64_t distance_ms;
} distances[] = {
	{"7,1,10", "8,1,12", 2000},  /* neighbours on one clock */
	{"7,1,10", "9,1,400", 1000}, /* the time between them was not recorded */
	{"7,1,0", "8,1,0", 1000},    /* each relative to its own begin */
	{"8,1,0", "7,1,5", 0},       /* the second is the earlier one */
};

START_TEST(steps_follow_each_other)
{
	struct imported in;
	struct tp_buf text = {0};
	char first[16];
	char second[16];
	tp_buf_printf(&text,
		      "step,duration,start_ts,rank,stage,dp_rank,optype\n%s,0,0,0,optimizer\n"
		      "%s,0,0,0,optimizer\n",
		      distances[_i].first, distances[_i].second);
	import_ok(&in, tp_buf_text(&text));
	snprintf(first, sizeof(first), "step %c", distances[_i].first[0]);
	snprintf(second, sizeof(second), "step %c", distances[_i].second[0]);
	const struct tp_span *a = span_of(&in, first, 0, 0);
	const struct tp_span *b = span_of(&in, second, 0, 0);
	ck_assert_uint_eq(a->end_ns - a->start_ns, UINT64_C(1000000000));
	if (distances[_i].distance_ms)
		ck_assert_uint_eq(b->start_ns - a->start_ns,
				  distances[_i].distance_ms * UINT64_C(1000000));
	else
		ck_assert_uint_eq(a->start_ns, b->end_ns);
	imported_release(&in);
	tp_buf_release(&text);
}
END_TEST

/* ---- timelines ---- */

START_TEST(threads_of_a_timeline_are_kinds_of_work)
{
	struct imported in;
	import_ok(&in,
		  "[" EVENT("forward-compute", "1", "35", "1000.5", "2.25", "23") "," EVENT(
			  "params-all-gather", "1", "38", "990", "10",
			  "23") "," EVENT("params-all-gather", "0", "3", "990", "10",
					  "23") "," THREAD("1", "35",
							   "PP rank 3, TP rank 2, compute") "]");
	ck_assert_uint_eq(in.result.n_ranks, 2);
	ck_assert_int_eq(in.result.ranks[0].number, 0);
	ck_assert_int_eq(in.result.ranks[1].number, 7);
	const struct tp_span *work = span_of(&in, "forward-compute", 1, 0);
	ck_assert_uint_eq(work->start_ns, 1000500);
	ck_assert_uint_eq(work->end_ns, 1002750);
	const struct tp_span *step = span_of(&in, "step 23", 1, 0);
	ck_assert_str_eq(tp_strtab_text(&in.sink.strings, in.tracks[step->track].name),
			 "dp 1, stage 3, tp 2");
	/* Waits were subtracted, so no rank has waited. */
	ck_assert(!are_joined(&in, span_of(&in, "params-all-gather", 0, 0),
			      span_of(&in, "params-all-gather", 1, 0)));
	imported_release(&in);
}
END_TEST

START_TEST(a_timeline_that_ends_early_is_cut)
{
	struct imported in;
	import_ok(&in, "[" EVENT("gc", "0", "0", "1", "1", "1") ",{\"name\":\"forw");
	ck_assert_uint_eq(in.result.n_ranks, 1);
	ck_assert(in.result.ranks[0].is_cut);
	imported_release(&in);
}
END_TEST

/* ---- errors ---- */

static const struct {
	const char *row;
	const char *why;
} bad_rows[] = {
	{"0,0,x,1,optimizer,1,1,0,0,0,", "an operation without the number of its rank"},
	{"0,0,-1,1,optimizer,1,1,0,0,0,", "an operation without the number of its rank"},
	{"0,0,0,,optimizer,1,1,0,0,0,", "an operation of no step"},
	{"0,0,0,-1,optimizer,1,1,0,0,0,", "an operation of no step"},
	{"0,0,0,1,,1,1,0,0,0,", "an operation without a type"},
	{"0,0,0,1,optimizer,nan,1,0,0,0,", "an operation without times that make sense"},
	{"0,0,0,1,optimizer,1,-1,0,0,0,", "an operation without times that make sense"},
	{"0,0,0,1,optimizer,9e9,9e9,0,0,0,", "an operation without times that make sense"},
	{"0,0,0", "an operation without a type"},
	{"\"0", "a line that is no row"},
};

START_TEST(a_bad_row_is_counted)
{
	struct imported in;
	struct tp_buf text = {0};
	tp_buf_printf(&text, HEADER "%s\n0,0,0,1,optimizer,1,1,0,0,0,\n", bad_rows[_i].row);
	import_ok(&in, tp_buf_text(&text));
	const struct tp_rank_info *rank = &in.result.ranks[0];
	ck_assert_uint_eq(rank->n_events, 2);
	ck_assert_uint_eq(rank->n_kept, 2);
	ck_assert_uint_eq(rank->n_skipped, 1);
	ck_assert_str_eq(rank->skipped_because, bad_rows[_i].why);
	imported_release(&in);
	/* Without any other row: the error contains the reason. */
	tp_buf_clear(&text);
	tp_buf_printf(&text, HEADER "%s\n", bad_rows[_i].row);
	imported_text(&in, tp_buf_text(&text));
	ck_assert_int_eq(in.status, TP_PARSE);
	ck_assert_ptr_nonnull(strstr(in.err.text, "none of its 1 operations is of use: "));
	ck_assert_ptr_nonnull(strstr(in.err.text, bad_rows[_i].why));
	ck_assert_str_eq(in.err.next, "trainprof import --list");
	imported_release(&in);
	tp_buf_release(&text);
}
END_TEST

START_TEST(a_table_without_rows_is_refused)
{
	struct imported in;
	imported_text(&in, HEADER);
	ck_assert_int_eq(in.status, TP_PARSE);
	ck_assert_ptr_nonnull(strstr(in.err.text, "holds no operations of ranks"));
	imported_release(&in);
}
END_TEST

START_TEST(more_ranks_than_fit_are_refused)
{
	struct imported in;
	struct tp_buf text = {0};
	tp_buf_puts(&text, HEADER);
	for (int i = 0; i <= TP_RANKS_MAX; i++)
		tp_buf_printf(&text, "%d,0,%d,1,optimizer,1,1,0,0,0,\n", i, i);
	imported_text(&in, tp_buf_text(&text));
	ck_assert_int_eq(in.status, TP_PARSE);
	ck_assert_ptr_nonnull(strstr(in.err.text, "has more than 1024 ranks"));
	ck_assert_ptr_nonnull(strstr(in.err.next, "d[d.dp_rank < 2]"));
	imported_release(&in);
	tp_buf_release(&text);
}
END_TEST

START_TEST(more_types_than_can_be_told_apart_are_counted)
{
	struct imported in;
	struct tp_buf text = {0};
	tp_buf_puts(&text, HEADER);
	for (int i = 0; i < 300; i++)
		tp_buf_printf(&text, "0,0,0,1,type-%d,1,1,0,0,0,\n", i);
	import_ok(&in, tp_buf_text(&text));
	ck_assert_uint_gt(in.result.ranks[0].n_skipped, 40);
	ck_assert_str_eq(in.result.ranks[0].skipped_because,
			 "more types of operations than can be distinguished");
	imported_release(&in);
	tp_buf_release(&text);
}
END_TEST

/* Heads of another format, or of none. */
static const struct {
	const char *text;
	const char *format; /* NULL = refused */
} others[] = {
	{"dp_rank,stage,rank,step,optype,start_ts\n0,0,0,1,gc,1\n", NULL},
	{"dp_rank,stage,rank,step,optype,start_ts,duration", NULL},
	{"[{\"name\":\"forward-compute\",\"ph\":\"X\",\"pid\":0,\"tid\":0,\"ts\":1,\"dur\":1,"
	 "\"args\":{\"step\":1}}]",
	 "unknown"},
};

START_TEST(other_files_are_left_to_others)
{
	struct imported in;
	imported_text(&in, others[_i].text);
	ck_assert_int_eq(in.status, others[_i].format ? TP_OK : TP_PARSE);
	if (others[_i].format)
		ck_assert_str_eq(in.result.ranks[0].format, others[_i].format);
	imported_release(&in);
}
END_TEST

Suite *suite_import_straggler(void);
Suite *suite_import_straggler(void)
{
	Suite *suite = suite_create("import/straggler");
	TCase *tc = tcase_create("tables");
	tcase_add_test(tc, a_row_is_work_of_a_rank_and_a_step);
	tcase_add_test(tc, columns_and_rows_come_in_any_order);
	tcase_add_loop_test(tc, types_say_who_waits_for_whom, 0, TP_ARRAY_LEN(types));
	tcase_add_test(tc, what_is_sent_is_received);
	tcase_add_loop_test(tc, where_it_is_not_known_nothing_is_joined, 0, TP_ARRAY_LEN(unsure));
	tcase_add_loop_test(tc, steps_follow_each_other, 0, TP_ARRAY_LEN(distances));
	suite_add_tcase(suite, tc);
	tc = tcase_create("timelines");
	tcase_add_test(tc, threads_of_a_timeline_are_kinds_of_work);
	tcase_add_test(tc, a_timeline_that_ends_early_is_cut);
	suite_add_tcase(suite, tc);
	tc = tcase_create("faults");
	tcase_add_loop_test(tc, a_bad_row_is_counted, 0, TP_ARRAY_LEN(bad_rows));
	tcase_add_test(tc, a_table_without_rows_is_refused);
	tcase_add_test(tc, more_ranks_than_fit_are_refused);
	tcase_add_test(tc, more_types_than_can_be_told_apart_are_counted);
	tcase_add_loop_test(tc, other_files_are_left_to_others, 0, TP_ARRAY_LEN(others));
	suite_add_tcase(suite, tc);
	return suite;
}
