/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that remembered keys give the same members as parsing them. */
#include "import/json/json_shape.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Counts the keys that are parsed; the field of a key is its length, up to 200. */
static unsigned n_parsed;

static uint8_t length_of(const void *self, const struct tp_json_slice *key)
{
	(void)self;
	n_parsed++;
	return (uint8_t)(key->len % 200);
}

static const struct tp_json_fields fields = {.find = length_of};

/* Reads an object both ways and compares each member and the end. */
static void compare(struct tp_json_shape *shape, const char *json, size_t len)
{
	char *copy = tp_alloc(len + TP_JSON_WALK_SLACK);
	struct tp_buf scratch = {0};
	struct tp_json_slice key;
	struct tp_json_slice value;
	struct tp_json_slice shaped_value;
	unsigned place = 0;
	memcpy(copy, json, len);
	struct tp_json_slice object = {copy, len, TP_JSON_SLICE_OBJECT, false};
	struct tp_json_walk walk = tp_json_walk_init(&object);
	struct tp_json_walk shaped = walk;
	for (bool is_member = true; is_member;) {
		is_member = tp_json_walk_to_value(&walk, &key);
		int field = tp_json_shape_next(shape, &shaped, &place, &fields, &scratch);
		key = tp_json_slice_unescape(&key, &scratch);
		ck_assert_int_eq(field, is_member ? (int)(key.len % 200) : -1);
		ck_assert_ptr_eq(shaped.at, walk.at);
		ck_assert(shaped.is_malformed == walk.is_malformed);
		is_member = is_member && tp_json_walk_read_value(&walk, &value);
		if (!is_member)
			break;
		ck_assert(tp_json_walk_read_value(&shaped, &shaped_value));
		ck_assert_ptr_eq(shaped_value.text, value.text);
		ck_assert_uint_eq(shaped_value.len, value.len);
	}
	tp_buf_release(&scratch);
	free(copy);
}

START_TEST(an_object_with_known_keys_is_not_parsed)
{
	static const char first[] =
		"{\"a\":1,\"bb\": \"x\",\"args\":{\"c\":[1]}, \"long key\":-3 }";
	static const char second[] =
		"{\"a\":\"22\",\"bb\": 0,\"args\":[],\"long key\":null,\"a\":1}";
	struct tp_json_shape *shape = tp_alloc(sizeof(*shape));
	compare(shape, first, strlen(first));
	ck_assert_uint_eq(shape->n_nodes, 4);
	n_parsed = 0;
	compare(shape, first, strlen(first));
	ck_assert_uint_eq(n_parsed, 0);
	/* Another separator is another shape. */
	compare(shape, second, strlen(second));
	ck_assert_uint_eq(n_parsed, 2);
	free(shape);
}
END_TEST

static const char *const objects[] = {
	"{}",
	"{ }",
	"{\"a\":1}",
	"{\"a\" : 1}",
	"{\"a\":}",
	"{\"a\": ,\"b\":2}",
	"{\"a\"}",
	"{\"a\"1}",
	"{a:1}",
	"{\"a\":1,,\"b\":2,}",
	"{\"a\":1 \"b\":2}",
	"{\"a\":1\"b\":2}",
	"{\"a\":\"b}",
	"{\"\\u0061\":1,\"b\":2}",
	"{\"a\":1,\"a key of more than thirty-two bytes with all\":2,\"b\":3}",
	"{\"exactly as long as fits, 27 b\":2,\"b\":3}",
	"{\"a\":\n\t{\"b\":\"}\"},\"c\":[\"]\"]\n}",
	"{\"a\":1,\"b\":2,\"c\":3,\"d\":4}",
	"{\"a\":1,\"b\":2,\"c\":3,\"d\":\"",
};

/* The result does not depend on what was read before, nor on where the text ends. */
START_TEST(members_are_those_of_the_parser)
{
	struct tp_json_shape *shape = tp_alloc(sizeof(*shape));
	for (unsigned round = 0; round < 3; round++)
		for (size_t i = 0; i < TP_ARRAY_LEN(objects); i++)
			for (size_t len = 2; len <= strlen(objects[i]); len++)
				compare(shape, objects[i], len);
	free(shape);
}
END_TEST

/* More keys than can be remembered: in one place, and in all. */
START_TEST(too_many_keys_are_parsed)
{
	struct tp_json_shape *shape = tp_alloc(sizeof(*shape));
	struct tp_buf text = {0};
	bool has_restarted = false;
	for (uint64_t i = 0; i < 4000; i++) {
		uint16_t before = shape->n_nodes;
		uint64_t n_kinds = i < 2000 ? 4 : 400;
		tp_buf_clear(&text);
		tp_buf_putc(&text, '{');
		for (uint64_t k = 0; k < 6; k++)
			tp_buf_printf(
				&text, "%s\"%.*s\":%d", k ? "," : "",
				(int)(tp_hash_mix(i, k) % n_kinds % 60 + 1),
				"a text of which each key is the beginning, up to its length..",
				(int)k);
		tp_buf_putc(&text, '}');
		compare(shape, tp_buf_text(&text), text.len);
		has_restarted |= shape->n_nodes < before;
		ck_assert_uint_lt(shape->n_nodes, TP_JSON_SHAPE_NODES);
	}
	ck_assert(has_restarted);
	tp_buf_release(&text);
	free(shape);
}
END_TEST

Suite *suite_import_json_shape(void);
Suite *suite_import_json_shape(void)
{
	Suite *suite = suite_create("import/jsonshape");
	TCase *tc = tcase_create("jsonshape");
	tcase_add_test(tc, an_object_with_known_keys_is_not_parsed);
	tcase_add_test(tc, members_are_those_of_the_parser);
	tcase_add_test(tc, too_many_keys_are_parsed);
	suite_add_tcase(suite, tc);
	return suite;
}
