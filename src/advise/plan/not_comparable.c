/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the reasons why two runs cannot be compared. */
#include "advise/rulebook/book.h"

size_t tp_rulebook_not_comparable(const struct tp_rulebook *book, const struct tp_quantity *first,
				  const struct tp_quantity *second, const char **because,
				  size_t most)
{
	size_t n = 0;
	for (size_t i = 0; i < book->n_spoilers && n < most; i++) {
		const struct tp_quality_issue *spoiler = &book->spoilers[i];
		if (tp_expr_truth(spoiler->when, first).value == TP_YES &&
		    tp_expr_truth(spoiler->when, second).value == TP_YES)
			because[n++] = spoiler->because;
	}
	return n;
}
