/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of members of manifest.json with a wrong type: each is refused with its name. */
#include "store/manifest_types.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/model/run_info.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Values of each JSON type, and numbers that no member may have. */
static const char *const values[] = {
	"true", "\"text\"", "\"12\"",  "3",    "-4", "1.5",
	"[]",   "[1]",      "[\"a\"]", "[{}]", "{}", "1e300",
};

/* The values that a member accepts: a letter for each, in the same order. */
static const struct {
	const char *path; /* a dot for each object, a * for each list of objects */
	const char *takes;
	const char *type;
} members[] = {
	{"format", ".xx.........", "a text"},
	{"run", "..........x.", "an object"},
	{"host", "..........x.", "an object"},
	{"records", "..........x.", "an object"},
	{"environment", "......x.x...", "a list of texts"},
	{"ranks", "......x..x..", "a list of objects"},
	{"run.id", ".xx.........", "a text"},
	{"run.command", "......x.x...", "a list of texts"},
	{"run.pid", "...xx.......", "an integer of 32 bits"},
	{"run.ended_ns", "..x.........", "a number of nanoseconds, in quotes"},
	{"run.sample_rate_hz", "...xxx.....x", "a number"},
	{"host.cpus", "...x........", "a count below 2^32"},
	{"host.memory_bytes", "...x........", "a count"},
	{"records.is_closed", "x...........", "true or false"},
	{"records.until_ns", "..x.........", "a number of nanoseconds, in quotes"},
	{"ranks*number", "...xx.......", "an integer"},
	{"ranks*devices", "......x..x..", "a list of objects"},
	{"ranks*devices*capability", "...x........", "a count below 2^32"},
};

/* Builds {"ranks": [{"devices": [VALUE]}]} for "ranks*devices", and the path as in a message. */
static void build(struct tp_buf *text, struct tp_buf *path, const char *member, const char *value)
{
	struct tp_buf end = {0};
	tp_buf_putc(text, '{');
	for (const char *at = member; *at;) {
		size_t len = strcspn(at, ".*");
		tp_buf_printf(text, "\"%.*s\": ", (int)len, at);
		tp_buf_add(path, at, len);
		at += len;
		if (!*at)
			break;
		tp_buf_puts(text, *at == '*' ? "[{" : "{");
		tp_buf_puts(path, *at == '*' ? "[0]." : ".");
		tp_buf_puts(&end, *at == '*' ? "]}" : "}");
		at++;
	}
	tp_buf_puts(text, value);
	for (size_t i = end.len; i-- > 0;)
		tp_buf_putc(text, end.data[i]);
	tp_buf_putc(text, '}');
	tp_buf_release(&end);
}

static enum tp_status check_text(const char *text, struct tp_error *err)
{
	struct tp_json_doc *doc = NULL;
	ck_assert_msg(!tp_json_parse(&doc, text, strlen(text), "m", err), "%s: %s", text,
		      err->text);
	enum tp_status status = tp_manifest_check_types(doc, err);
	tp_json_free(doc);
	return status;
}

START_TEST(a_member_takes_its_own_type_and_names_itself_with_any_other)
{
	ck_assert_uint_eq(strlen(members[_i].takes), TP_ARRAY_LEN(values));
	for (size_t i = 0; i < TP_ARRAY_LEN(values); i++) {
		struct tp_buf text = {0};
		struct tp_buf path = {0};
		struct tp_error err = {0};
		build(&text, &path, members[_i].path, values[i]);
		enum tp_status status = check_text(tp_buf_text(&text), &err);
		ck_assert_msg(status == (members[_i].takes[i] == 'x' ? TP_OK : TP_PARSE), "%s: %s",
			      tp_buf_text(&text), err.text);
		char *message =
			tp_asprintf("m:1: %s is not %s", tp_buf_text(&path), members[_i].type);
		if (status)
			ck_assert_str_eq(err.text, message);
		free(message);
		tp_buf_release(&text);
		tp_buf_release(&path);
	}
}
END_TEST

START_TEST(null_is_unknown_and_members_of_newer_versions_may_be_anything)
{
	struct tp_error err = {0};
	ck_assert_int_eq(check_text("{\"run\": null, \"host\": {\"cpus\": null}, \"new\": [1],"
				    " \"records\": {\"new\": -1}}",
				    &err),
			 TP_OK);
}
END_TEST

START_TEST(a_manifest_is_an_object_and_has_not_too_many_ranks)
{
	struct tp_error err = {0};
	struct tp_buf text = {0};
	ck_assert_int_eq(check_text("[1]", &err), TP_PARSE);
	tp_buf_puts(&text, "{\"ranks\": [{}");
	for (int i = 0; i < TP_RANKS_MAX; i++)
		tp_buf_puts(&text, ",{}");
	tp_buf_puts(&text, "]}");
	ck_assert_int_eq(check_text(tp_buf_text(&text), &err), TP_PARSE);
	ck_assert_str_eq(err.text, "m: ranks has 1025, at most 1024");
	tp_buf_release(&text);
}
END_TEST

Suite *suite_store_manifest_types(void);
Suite *suite_store_manifest_types(void)
{
	Suite *suite = suite_create("store/manifest_types");
	TCase *tc = tcase_create("manifest_types");
	tcase_add_loop_test(tc, a_member_takes_its_own_type_and_names_itself_with_any_other, 0,
			    (int)TP_ARRAY_LEN(members));
	tcase_add_test(tc, null_is_unknown_and_members_of_newer_versions_may_be_anything);
	tcase_add_test(tc, a_manifest_is_an_object_and_has_not_too_many_ranks);
	suite_add_tcase(suite, tc);
	return suite;
}
