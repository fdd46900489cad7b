/* SPDX-License-Identifier: Apache-2.0 */
/* Judges pairs of run times as `compare` does. Reads a series a line, "FIRST A B FIRST A B ...",
 * where FIRST is 1 if B ran first; prints the interval of B / A for all of its pairs, the answer of
 * looks after each pair ("different", "alike", "undecided"), its interval, and the number of pairs
 * that it took. */
#include "trainprof/gate/gate.h"

#include <stdio.h>
#include <stdlib.h>

enum { PAIRS_MAX = 200, MOST = 15 };

static size_t parse(char *line, bool *is_b_first, struct tp_run_value *a, struct tp_run_value *b)
{
	size_t n = 0;
	char *at = line;
	for (; n < PAIRS_MAX; n++) {
		char *end;
		long first = strtol(at, &end, 10);
		if (end == at)
			break;
		is_b_first[n] = first == 1;
		a[n] = (struct tp_run_value){.value = strtod(end, &at)};
		b[n] = (struct tp_run_value){.value = strtod(at, &at)};
	}
	return n;
}

int main(void)
{
	static const char *const answers[] = {"undecided", "different", "alike", "undecided"};
	static bool is_b_first[PAIRS_MAX];
	static struct tp_run_value a[PAIRS_MAX];
	static struct tp_run_value b[PAIRS_MAX];
	char *line = NULL;
	size_t size = 0;
	while (getline(&line, &size, stdin) > 0) {
		size_t n = parse(line, is_b_first, a, b);
		const struct tp_pairs_plan once = {.fixed = n,
						   .margin_ratio = TP_GATE_DEFAULT_MARGIN};
		const struct tp_pairs_plan looks = {.most = MOST,
						    .margin_ratio = TP_GATE_DEFAULT_MARGIN};
		struct tp_gate_estimate all;
		struct tp_gate_estimate seen = {0};
		enum tp_pairs_state state = TP_PAIRS_MORE;
		size_t n_seen = 0;
		(void)tp_pairs_judge(&all, a, b, is_b_first, n, &once);
		while (n_seen < n && state == TP_PAIRS_MORE)
			state = tp_pairs_judge(&seen, a, b, is_b_first, ++n_seen, &looks);
		if (n)
			printf("%.6f %.6f %s %.6f %.6f %zu\n", all.low, all.high, answers[state],
			       seen.low, seen.high, n_seen);
	}
	free(line);
	return 0;
}
