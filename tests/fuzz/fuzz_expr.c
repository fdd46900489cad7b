/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes conditions and sentences: any text is parsed or refused; a parsed one evaluates to valid
 * results. */
#include "advise/condition/expr.h"
#include "advise/condition/sentence.h"

#include "trainprof/model/fact_id.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_EVIDENCE = 16 };

/* Three runs: nothing known, everything a point, everything an interval that contains zero. */
static void fill_facts(struct tp_quantity *facts, int kind)
{
	for (tp_fact_id i = 0; i < tp_n_facts; i++) {
		facts[i] = (struct tp_quantity){.is_known = kind > 0,
						.value = kind == 1 ? i * 0.37 : 0.5,
						.has_interval = kind == 2,
						.low = -1,
						.high = 1e12};
	}
}

static void evaluate(const struct tp_expr *expr, bool is_condition)
{
	struct tp_quantity facts[TP_MAX_FACTS];
	struct tp_evidence evidence[MAX_EVIDENCE];
	for (int kind = 0; kind < 3; kind++) {
		fill_facts(facts, kind);
		if (is_condition) {
			struct tp_truth truth = tp_expr_truth(expr, facts);
			size_t n = tp_expr_evidence(expr, facts, false, evidence, MAX_EVIDENCE);
			if (truth.value > TP_UNKNOWN || n > MAX_EVIDENCE)
				abort();
			continue;
		}
		struct tp_number number = tp_expr_number(expr, facts);
		if (number.is_known && !(number.low <= number.value && number.value <= number.high))
			abort();
	}
}

static void fill(const struct tp_sentence *sentence, struct tp_arena *arena)
{
	struct tp_quantity facts[TP_MAX_FACTS];
	for (int kind = 0; kind < 3; kind++) {
		fill_facts(facts, kind);
		const struct tp_sentence_words terms = {.whole = "each step"};
		tp_sentence_fill(sentence, facts, &terms, arena);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tp_threshold items[] = {{.name = "part.high",
					       .value = 0.2,
					       .dimension = {.is_ratio = true, .scale = 0.01}}};
	struct tp_thresholds thresholds = {.items = items, .n_items = 1};
	struct tp_arena arena = {0};
	struct tp_error err;
	struct tp_expr_scope place = {.file = "fuzz",
				      .line = 1,
				      .thresholds = &thresholds,
				      .arena = &arena};
	if (size > 4096)
		return 0;
	char *text = tp_arena_strndup(&arena, (const char *)data, size);
	const struct tp_expr *expr;
	const struct tp_sentence *sentence;
	if (!tp_expr_parse(&expr, text, TP_EXPR_CONDITION, &place, &err))
		evaluate(expr, true);
	if (!tp_expr_parse(&expr, text, TP_EXPR_NUMBER, &place, &err))
		evaluate(expr, false);
	if (!tp_sentence_parse(&sentence, text, &place, &err))
		fill(sentence, &arena);
	tp_arena_release(&arena);
	return 0;
}
