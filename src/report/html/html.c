/* SPDX-License-Identifier: Apache-2.0 */
/* The report as one HTML page: no network, readable without its script. Browsers run only the
 * script whose hash is in the page's policy. */
#include "html.h"

#include "report/digest/exporters.h"
#include "report/digest/step_counts.h"
#include "report/digest/verdict.h"

#include "trainprof/base/file.h"
#include "trainprof/base/sha256.h"
#include "trainprof/base/version.h"

#include <string.h>

/* ---- the page's head ----------------------------------------------------------------------- */

/* RFC 4648, 4. */
static void add_base64(struct tp_buf *out, const unsigned char *bytes, size_t size)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";
	for (size_t i = 0; i < size; i += 3) {
		unsigned n = size - i < 3 ? (unsigned)(size - i) : 3;
		unsigned bits = (unsigned)bytes[i] << 16;
		bits |= n > 1 ? (unsigned)bytes[i + 1] << 8 : 0;
		bits |= n > 2 ? bytes[i + 2] : 0;
		for (unsigned k = 0; k < 4; k++)
			tp_buf_add(out, k <= n ? &digits[bits >> (18 - 6 * k) & 63] : "=", 1);
	}
}

static unsigned hex_value(char digit)
{
	return (unsigned)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

static void add_script_hash(struct tp_buf *out)
{
	struct tp_sha256 hash;
	char hex[TP_SHA256_HEX];
	unsigned char bytes[TP_SHA256_HEX / 2];
	tp_sha256_init(&hash);
	for (const char *const *text = tp_html_script; *text; text++)
		tp_sha256_add(&hash, *text, strlen(*text));
	tp_sha256_hex(&hash, hex);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(hex_value(hex[2 * i]) << 4 | hex_value(hex[2 * i + 1]));
	tp_buf_puts(out, "sha256-");
	add_base64(out, bytes, sizeof(bytes));
}

static void add_texts(struct tp_buf *out, const char *const *texts)
{
	for (; *texts; texts++)
		tp_buf_puts(out, *texts);
}

static void add_head(struct tp_buf *out, const struct tp_report_digest *digest)
{
	tp_buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
			 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
			 "'none'; style-src 'unsafe-inline'; script-src '");
	add_script_hash(out);
	tp_buf_puts(out,
		    "'; base-uri 'none'; form-action 'none'\">\n"
		    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		    "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
	tp_html_add_text(out, tp_report_verdict_title(digest->report));
	tp_buf_puts(out, " - ");
	tp_html_add_text(out, digest->run->label ? digest->run->label : "trainprof");
	tp_buf_puts(out, "</title>\n<style>");
	add_texts(out, tp_html_style);
	tp_buf_puts(out, "</style></head>\n<body>\n");
}

static void add_key(struct tp_buf *out, const char *name, const char *value)
{
	tp_buf_printf(out, "<div><dt>%s</dt><dd>", name);
	tp_html_add_text(out, value);
	tp_buf_puts(out, "</dd></div>\n");
}

static void add_keys(struct tp_buf *out, const struct tp_report_digest *digest)
{
	const struct tp_profile *profile = digest->profile;
	struct tp_buf rate = {0};
	struct tp_buf overhead = {0};
	tp_report_add_step_rate(&rate, profile);
	tp_report_add_overhead(&overhead, digest);
	tp_buf_puts(out, "<dl class=\"keys\">\n");
	add_key(out, "measured", tp_unit_elapsed(digest->trace->end_ns).text);
	if (profile->n_steps)
		add_key(out, "steps", tp_unit_count(tp_profile_all_steps(profile)).text);
	if (rate.len)
		add_key(out, "speed", tp_buf_text(&rate));
	if (profile->step_time.n) {
		add_key(out, "mean step", tp_unit_time(profile->step_time.mean).text);
		add_key(out, "95th percentile", tp_unit_time(profile->step_time.p95).text);
	}
	if (!digest->is_import)
		add_key(out, "cost of measuring", tp_buf_text(&overhead));
	tp_buf_puts(out, "</dl>\n");
	tp_buf_release(&rate);
	tp_buf_release(&overhead);
}

static void add_header(struct tp_buf *out, const struct tp_report_digest *digest)
{
	struct tp_buf text = {0};
	tp_buf_puts(out, "<header><h1>");
	tp_html_add_text(out, tp_report_verdict_title(digest->report));
	tp_buf_puts(out, "</h1>\n<p class=\"verdict\">");
	tp_report_add_verdict(&text, digest->report);
	tp_html_flush_text(out, &text);
	tp_buf_puts(out, "</p>\n<p><code>");
	tp_report_add_subject(&text, digest);
	tp_html_flush_text(out, &text);
	tp_buf_puts(out, "</code> ");
	tp_report_add_extent(&text, digest, TP_EXTENT_ALL);
	tp_html_flush_text(out, &text);
	tp_buf_puts(out, "</p>\n");
	add_keys(out, digest);
	tp_buf_puts(out, "</header>\n");
}

static void add_footer(struct tp_buf *out, const struct tp_report_digest *digest)
{
	tp_buf_printf(out, "<footer><p>Written by trainprof %s. Run ", tp_version());
	tp_html_add_text(out, digest->run->id ? digest->run->id : "unknown");
	tp_buf_puts(out, ".</p></footer>\n</main>\n<script>");
	add_texts(out, tp_html_script);
	tp_buf_puts(out, "</script>\n</body></html>\n");
}

static enum tp_status html_write(const struct tp_report *report,
				 const struct tp_report_style *style, FILE *out,
				 struct tp_error *err)
{
	struct tp_report_digest digest;
	struct tp_buf page = {0};
	(void)style;
	tp_report_digest_make(&digest, report);
	add_head(&page, &digest);
	tp_buf_puts(&page, "<a class=\"skip\" href=\"#advice\">To the advice</a>\n<main>\n");
	add_header(&page, &digest);
	tp_html_add_parts(&page, &digest);
	tp_html_add_advice(&page, &digest);
	tp_html_add_steps(&page, &digest);
	tp_html_add_lanes(&page, &digest);
	tp_html_add_flame(&page, &digest);
	tp_html_add_workers(&page, &digest);
	tp_html_add_gpus(&page, &digest);
	tp_html_add_ranks(&page, &digest);
	tp_html_add_sources(&page, &digest);
	add_footer(&page, &digest);
	fwrite(tp_buf_text(&page), 1, page.len, out);
	tp_buf_release(&page);
	return tp_file_check(out, "the report", err);
}

const struct tp_exporter tp_report_html = {
	.name = "html",
	.summary = "one page for a browser, without network",
	.write = html_write,
};
