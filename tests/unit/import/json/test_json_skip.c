/* SPDX-License-Identifier: Apache-2.0 */
/* Tests skipping brackets, with and without vectors. */
#include "import/json/json_skip.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

typedef bool (*skip_fn)(struct tp_json_skip *skip, const char **at, const char *end, bool is_last);
static const skip_fn ways[] = {tp_json_skip_run, tp_json_skip_plain};

/* Returns the text followed by bytes that must not matter. */
static char *slacked(const char *text, size_t len)
{
	char *copy = tp_alloc(len + TP_JSON_SKIP_BYTES);
	memcpy(copy, text, len);
	memset(copy + len, '}', TP_JSON_SKIP_BYTES);
	return copy;
}

/* Writes random nested brackets and strings of known length. */
static size_t nest(struct tp_buf *out, uint64_t seed)
{
	size_t depth = 0;
	uint64_t n = 0;
	do {
		uint64_t random = tp_hash_mix(seed, n++);
		bool must_close = n > 300;
		if (depth == 0 || (!must_close && random % 8 < 3)) {
			tp_buf_putc(out, random % 16 < 8 ? '{' : '[');
			depth++;
		} else if (random % 8 < 6 || must_close) {
			tp_buf_putc(out, random % 16 < 8 ? '}' : ']');
			depth--;
		} else {
			tp_buf_putc(out, '"');
			for (uint64_t i = 0; i < random / 16 % 70; i++) {
				static const char bytes[] = "{}[],:ax";
				uint64_t pick = tp_hash_mix(random, i) % 12;
				if (pick < 8)
					tp_buf_putc(out, bytes[pick]);
				else
					tp_buf_puts(out, pick < 10 ? "\\\"" : "\\\\");
			}
			tp_buf_putc(out, '"');
		}
	} while (depth);
	return out->len;
}

/* Returns the length found when the text arrives in random pieces; 0 if it does not end. */
static size_t length_in_pieces(skip_fn go_on, const char *text, size_t len, uint64_t seed)
{
	struct tp_json_skip skip = {0};
	const char *at = text;
	size_t known = 0;
	while (known < len) {
		known += 1 + tp_hash_mix(seed, known) % 100;
		known = known < len ? known : len;
		if (go_on(&skip, &at, text + known, known == len))
			return (size_t)(at - text);
	}
	return 0;
}

START_TEST(brackets_are_passed_whole_or_in_pieces)
{
	for (uint64_t seed = 0; seed < 2000; seed++) {
		struct tp_buf text = {0};
		size_t len = nest(&text, seed);
		tp_buf_puts(&text, "]}\"]]");
		char *copy = slacked(text.data, text.len);
		struct tp_json_skip skip = {0};
		const char *at = copy;
		ck_assert(ways[_i](&skip, &at, copy + text.len, true));
		ck_assert_uint_eq((size_t)(at - copy), len);
		ck_assert_uint_eq(length_in_pieces(ways[_i], copy, text.len, seed), len);
		for (size_t cut = 0; cut < len; cut += 1 + cut / 9) {
			skip = (struct tp_json_skip){0};
			at = copy;
			ck_assert(!ways[_i](&skip, &at, copy + cut, true));
		}
		free(copy);
		tp_buf_release(&text);
	}
}
END_TEST

START_TEST(depth_costs_nothing)
{
	enum { DEPTH = 1000000 };
	char *text = tp_alloc(2 * DEPTH + TP_JSON_SKIP_BYTES);
	memset(text, '[', DEPTH);
	memset(text + DEPTH, ']', DEPTH);
	struct tp_json_skip skip = {0};
	const char *at = text;
	ck_assert(ways[_i](&skip, &at, text + 2 * DEPTH, true));
	ck_assert_ptr_eq(at, text + 2 * DEPTH);
	free(text);
}
END_TEST

/* Every byte between quotes, and a backslash at every position of a block. */
START_TEST(strings_hide_what_is_in_them)
{
	for (unsigned c = 0; c < 256; c++)
		for (size_t place = 0; place < 140; place++) {
			struct tp_buf text = {0};
			tp_buf_puts(&text, "[\"");
			tp_buf_pad(&text, 'x', place);
			tp_buf_puts(&text, "\\");
			tp_buf_putc(&text, (char)c);
			tp_buf_puts(&text, "]\\\\\"]");
			char *copy = slacked(text.data, text.len);
			struct tp_json_skip skip = {0};
			const char *at = copy;
			ck_assert(ways[_i](&skip, &at, copy + text.len, true));
			ck_assert_uint_eq((size_t)(at - copy), text.len);
			free(copy);
			tp_buf_release(&text);
		}
}
END_TEST

Suite *suite_import_json_skip(void);
Suite *suite_import_json_skip(void)
{
	Suite *suite = suite_create("import/bracket");
	TCase *tc = tcase_create("bracket");
	tcase_add_loop_test(tc, brackets_are_passed_whole_or_in_pieces, 0, TP_ARRAY_LEN(ways));
	tcase_add_loop_test(tc, depth_costs_nothing, 0, TP_ARRAY_LEN(ways));
	tcase_add_loop_test(tc, strings_hide_what_is_in_them, 0, TP_ARRAY_LEN(ways));
	suite_add_tcase(suite, tc);
	return suite;
}
