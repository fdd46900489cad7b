/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the members that a report and a recording's manifest have in common: the host and the
 * imported files. */
#include "document.h"

static void show_always_text(struct tp_json_writer *w, const char *key, const char *text)
{
	tp_json_put_string(w, key, tp_report_known(text));
}

static void show_known_count(struct tp_json_writer *w, const char *key, uint64_t value)
{
	if (value)
		tp_json_put_uint(w, key, value);
}

static void show_known_number(struct tp_json_writer *w, const char *key, double value)
{
	if (value > 0)
		tp_json_put_number(w, key, value);
}

static void show_known_ordinal(struct tp_json_writer *w, const char *key, int64_t value)
{
	if (value >= 0)
		tp_json_put_int(w, key, value);
}

static void show_known_pid(struct tp_json_writer *w, const char *key, int64_t pid)
{
	if (pid > 0)
		tp_json_put_int(w, key, pid);
}

#define show_known_text                           tp_report_json_text
#define show_known_count32                        show_known_count
#define show_always_count                         tp_json_put_uint
#define show_always_flag                          tp_json_put_bool
#define show_always_integer32                     tp_json_put_int
#define SHOW(field, type, name, shown_name, when) show_##when##_##type(w, shown_name, from->field);

void tp_report_json_host(struct tp_json_writer *w, const struct tp_host_info *from)
{
	tp_json_write_key(w, "host");
	tp_json_open(w, '{');
	TP_HOST_INFO_MAP(SHOW)
	tp_json_close(w, '}');
	tp_json_write_key(w, "limits");
	tp_json_open(w, '{');
	TP_HOST_LIMIT_MAP(SHOW)
	tp_json_close(w, '}');
}

static void write_devices(struct tp_json_writer *w, const struct tp_rank_info *rank)
{
	tp_json_write_key(w, "devices");
	tp_json_open(w, '[');
	for (size_t i = 0; i < rank->n_devices; i++) {
		const struct tp_device_info *from = &rank->devices[i];
		tp_json_open(w, '{');
		TP_DEVICE_INFO_MAP(SHOW)
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
}

void tp_report_json_ranks(struct tp_report_document *doc)
{
	struct tp_json_writer *w = doc->w;
	const struct tp_run_info *run = doc->digest->run;
	tp_json_write_key(w, "sources");
	tp_json_open(w, '[');
	for (size_t i = 0; i < run->n_ranks; i++) {
		const struct tp_rank_info *from = &run->ranks[i];
		tp_json_open(w, '{');
		TP_RANK_INFO_MAP(SHOW)
		write_devices(w, from);
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
}
