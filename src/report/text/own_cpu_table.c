/* SPDX-License-Identifier: Apache-2.0 */
/* Prints how trainprof used its own CPU time. */
#include "own_cpu_table.h"

#include "trainprof/report/own_cpu.h"

#include "trainprof/report/units.h"

static void print_row(struct tp_page *page, const char *text, double cpu_ns, double all_ns)
{
	tp_page_column(page, 2);
	tp_page_add(page, TP_PAINT_NONE, text);
	tp_page_column(page, 48);
	tp_page_add(page, TP_PAINT_NONE, tp_unit_right(tp_unit_time(cpu_ns), 9).text);
	tp_page_column(page, 59);
	tp_page_addf(page, TP_PAINT_NONE, "%6s", tp_unit_percent(cpu_ns / all_ns).text);
	tp_page_end(page);
}

void tp_report_own_cpu_table(struct tp_page *page, const struct tp_report_digest *digest)
{
	struct tp_own_cpu own;
	if (!tp_own_cpu_read(&own, digest->trace) || own.cpu_ns <= 0)
		return;
	tp_page_add_section(page, "What trainprof's own CPU time went for");
	for (size_t i = 0; i < own.n; i++)
		print_row(page, own.rows[i].text, own.rows[i].cpu_ns, own.cpu_ns);
	print_row(page, "all of it, by the kernel", own.cpu_ns, own.cpu_ns);
}
