/* SPDX-License-Identifier: Apache-2.0 */
/* The report as text: the summary, and with --full all sections. */
#include "report/digest/exporters.h"

#include "summary.h"

static enum tp_status text_write(const struct tp_report *report,
				 const struct tp_report_style *style, FILE *out,
				 struct tp_error *err)
{
	struct tp_report_digest digest;
	struct tp_page page;
	tp_report_digest_make(&digest, report);
	tp_page_init(&page, style);
	if (!style->section)
		tp_report_summary(&page, &digest);
	if (style->is_full)
		tp_report_details(&page, &digest);
	enum tp_status status = tp_page_write(&page, out, err);
	tp_page_release(&page);
	return status;
}

const struct tp_exporter tp_report_text = {
	.name = "text",
	.summary = "for people: the summary, or everything with --full",
	.write = text_write,
};
