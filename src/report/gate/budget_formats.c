/* SPDX-License-Identifier: Apache-2.0 */
/* Writes failed assertions in the formats of CI systems. Names come from files: all are escaped. */
#include "trainprof/report/budget_text.h"

#include "trainprof/base/text.h"
#include "trainprof/base/version.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>

/* A finding is its own cause; of a metric that failed the likely ones are listed. */
static void add_causes(struct tp_buf *out, const struct tp_budget_result *result,
		       const struct tp_assertion_result *item)
{
	if (item->answer != TP_GATE_FAIL)
		return;
	for (size_t i = 0; !item->assertion->pattern && i < result->n_causes; i++)
		tp_buf_printf(out, "; %s%s", i ? "" : "likely cause: ", result->causes[i]);
	if (result->next)
		tp_buf_printf(out, "; next: %s", result->next);
}

static void add_sentence(struct tp_buf *out, const struct tp_budget_result *result,
			 const struct tp_assertion_result *item)
{
	tp_buf_puts(out, item->is && item->is_measured ? item->is : "not measured");
	if (item->limit)
		tp_buf_printf(out, "; limit: %s", item->limit);
	if (item->because)
		tp_buf_printf(out, "; %s", item->because);
	add_causes(out, result, item);
}

/* ---- GitHub ---- */

/* docs.github.com, workflow commands: % and line breaks are escaped, in properties also : and , */
static void add_escaped(struct tp_buf *out, const char *text, bool is_property)
{
	for (; *text; text++) {
		if (strchr("%\r\n", *text) || (is_property && strchr(":,", *text)))
			tp_buf_printf(out, "%%%02X", (unsigned)(unsigned char)*text);
		else
			tp_buf_putc(out, *text);
	}
}

enum { GITHUB_SHOWN = 10 };

static bool is_of_kind(const struct tp_assertion_result *item, bool is_error)
{
	bool counts_as_error = item->assertion->is_error && item->answer == TP_GATE_FAIL;
	return item->answer != TP_GATE_PASS && counts_as_error == is_error;
}

static void add_github_lines(struct tp_buf *out, const struct tp_budget_result *result,
			     bool is_error)
{
	const char *kind = is_error ? "error" : "warning";
	struct tp_buf text = {0};
	size_t n = 0;
	size_t shown = 0;
	for (size_t i = 0; i < result->n_items; i++)
		n += is_of_kind(&result->items[i], is_error);
	for (size_t i = 0; i < result->n_items; i++) {
		const struct tp_assertion_result *item = &result->items[i];
		if (!is_of_kind(item, is_error) || (n > GITHUB_SHOWN && shown == GITHUB_SHOWN - 1))
			continue;
		shown++;
		tp_buf_printf(out, "::%s title=", kind);
		tp_buf_clear(&text);
		tp_buf_printf(&text, "trainprof %s", item->assertion->name);
		add_escaped(out, tp_buf_text(&text), true);
		tp_buf_puts(out, "::");
		tp_buf_clear(&text);
		add_sentence(&text, result, item);
		add_escaped(out, tp_buf_text(&text), false);
		tp_buf_putc(out, '\n');
	}
	if (n > shown)
		tp_buf_printf(out, "::%s title=trainprof::and %zu more\n", kind, n - shown);
	tp_buf_release(&text);
}

void tp_report_budget_github(struct tp_buf *out, const struct tp_budget_result *result)
{
	add_github_lines(out, result, true);
	add_github_lines(out, result, false);
}

/* ---- JUnit ---- */

static void add_text(struct tp_buf *out, const char *text)
{
	struct tp_buf clean = {0};
	tp_text_add_safe(&clean, text);
	for (const char *p = tp_buf_text(&clean); *p; p++) {
		if (*p == '&')
			tp_buf_puts(out, "&amp;");
		else if (*p == '<')
			tp_buf_puts(out, "&lt;");
		else if (*p == '>')
			tp_buf_puts(out, "&gt;");
		else if (*p == '"')
			tp_buf_puts(out, "&quot;");
		else if ((unsigned char)*p < 0x20 && *p != '\n')
			tp_buf_putc(out, ' '); /* XML 1.0 has no control characters */
		else
			tp_buf_putc(out, *p);
	}
	tp_buf_release(&clean);
}

static void add_case(struct tp_buf *out, const struct tp_budget_result *result,
		     const struct tp_assertion_result *item)
{
	static const char *const tags[] = {
		[TP_GATE_FAIL] = "failure", [TP_GATE_UNDECIDED] = "skipped"};
	struct tp_buf text = {0};
	bool fails = item->answer == TP_GATE_FAIL && item->assertion->is_error;
	add_sentence(&text, result, item);
	tp_buf_puts(out, "    <testcase classname=\"trainprof\" name=\"");
	add_text(out, item->assertion->name);
	tp_buf_puts(out, "\">");
	if (fails || item->answer == TP_GATE_UNDECIDED) {
		tp_buf_printf(out, "<%s message=\"", tags[item->answer]);
		add_text(out, tp_buf_text(&text));
		tp_buf_puts(out, "\">");
		add_text(out, tp_buf_text(&text));
		tp_buf_printf(out, "</%s>", tags[item->answer]);
	} else {
		tp_buf_puts(out, "<system-out>");
		add_text(out, tp_buf_text(&text));
		tp_buf_puts(out, "</system-out>");
	}
	tp_buf_puts(out, "</testcase>\n");
	tp_buf_release(&text);
}

void tp_report_budget_junit(struct tp_buf *out, const struct tp_budget_result *result)
{
	size_t n_skipped = 0;
	for (size_t i = 0; i < result->n_items; i++)
		n_skipped += result->items[i].answer == TP_GATE_UNDECIDED;
	tp_buf_printf(out,
		      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
		      "  <testsuite name=\"trainprof\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" "
		      "skipped=\"%zu\">\n",
		      result->n_items, result->n_failed, n_skipped);
	for (size_t i = 0; i < result->n_items; i++)
		add_case(out, result, &result->items[i]);
	tp_buf_puts(out, "  </testsuite>\n</testsuites>\n");
}

/* ---- GitLab ---- */

/* FNV-1a of the name without values, so that the same problem has the same fingerprint again. */
static uint64_t fingerprint_of(const char *name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	return hash;
}

static void put_fingerprint(struct tp_json_writer *w, const char *key, const char *name)
{
	char text[32];
	snprintf(text, sizeof(text), "%016" PRIx64, fingerprint_of(name));
	tp_json_put_string(w, key, text);
}

static void put_sentence(struct tp_json_writer *w, const char *key,
			 const struct tp_budget_result *result,
			 const struct tp_assertion_result *item)
{
	struct tp_buf text = {0};
	tp_buf_printf(&text, "%s: ", item->assertion->name);
	add_sentence(&text, result, item);
	tp_json_put_string(w, key, tp_buf_text(&text));
	tp_buf_release(&text);
}

/* Returns the line of the assertion in the budget; 1 for one of a preset, which has no line. */
static uint64_t line_of(const struct tp_assertion_result *item)
{
	return item->assertion->line ? item->assertion->line : 1;
}

void tp_report_budget_gitlab(struct tp_json_writer *w, const struct tp_budget_result *result)
{
	tp_json_open(w, '[');
	for (size_t i = 0; i < result->n_items; i++) {
		const struct tp_assertion_result *item = &result->items[i];
		if (item->answer == TP_GATE_PASS)
			continue;
		tp_json_open(w, '{');
		put_sentence(w, "description", result, item);
		tp_json_put_string(w, "check_name", item->assertion->name);
		put_fingerprint(w, "fingerprint", item->assertion->name);
		tp_json_put_string(w, "severity", is_of_kind(item, true) ? "major" : "minor");
		tp_json_write_key(w, "location");
		tp_json_open(w, '{');
		tp_json_put_string(w, "path", result->budget->path);
		tp_json_write_key(w, "lines");
		tp_json_open(w, '{');
		tp_json_put_uint(w, "begin", line_of(item));
		tp_json_close(w, '}');
		tp_json_close(w, '}');
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
}

/* ---- SARIF ---- */

static void open_member(struct tp_json_writer *w, const char *key, char bracket)
{
	tp_json_write_key(w, key);
	tp_json_open(w, bracket);
}

/* RFC 3986: other bytes are escaped. A colon would make the first folder a scheme. */
static void add_uri(struct tp_buf *out, const char *path)
{
	for (; *path; path++) {
		bool is_letter = (*path >= 'a' && *path <= 'z') || (*path >= 'A' && *path <= 'Z');
		if (is_letter || strchr("0123456789-._~/", *path))
			tp_buf_putc(out, *path);
		else
			tp_buf_printf(out, "%%%02X", (unsigned)(unsigned char)*path);
	}
}

static void write_location(struct tp_json_writer *w, const struct tp_budget_result *result,
			   const struct tp_assertion_result *item)
{
	struct tp_buf uri = {0};
	open_member(w, "locations", '[');
	tp_json_open(w, '{');
	open_member(w, "physicalLocation", '{');
	open_member(w, "artifactLocation", '{');
	add_uri(&uri, result->budget->path);
	tp_json_put_string(w, "uri", tp_buf_text(&uri));
	tp_buf_release(&uri);
	tp_json_close(w, '}');
	open_member(w, "region", '{');
	tp_json_put_uint(w, "startLine", line_of(item));
	tp_json_close(w, '}');
	tp_json_close(w, '}');
	tp_json_close(w, '}');
	tp_json_close(w, ']');
}

static void write_result(struct tp_json_writer *w, const struct tp_budget_result *result,
			 const struct tp_assertion_result *item)
{
	tp_json_open(w, '{');
	tp_json_put_string(w, "ruleId", item->assertion->name);
	tp_json_put_string(w, "level", is_of_kind(item, true) ? "error" : "warning");
	open_member(w, "message", '{');
	put_sentence(w, "text", result, item);
	tp_json_close(w, '}');
	write_location(w, result, item);
	open_member(w, "partialFingerprints", '{');
	put_fingerprint(w, "assertion/v1", item->assertion->name);
	tp_json_close(w, '}');
	tp_json_close(w, '}');
}

void tp_report_budget_sarif(struct tp_json_writer *w, const struct tp_budget_result *result)
{
	tp_json_open(w, '{');
	tp_json_put_string(w, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
	tp_json_put_string(w, "version", "2.1.0");
	open_member(w, "runs", '[');
	tp_json_open(w, '{');
	open_member(w, "tool", '{');
	open_member(w, "driver", '{');
	tp_json_put_string(w, "name", "trainprof");
	tp_json_put_string(w, "version", tp_version());
	tp_json_close(w, '}');
	tp_json_close(w, '}');
	open_member(w, "results", '[');
	for (size_t i = 0; i < result->n_items; i++)
		if (result->items[i].answer != TP_GATE_PASS)
			write_result(w, result, &result->items[i]);
	tp_json_close(w, ']');
	tp_json_close(w, '}');
	tp_json_close(w, ']');
	tp_json_close(w, '}');
}
