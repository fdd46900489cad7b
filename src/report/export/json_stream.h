/* SPDX-License-Identifier: Apache-2.0 */
/* Writes pieces of JSON directly to a stream, for documents of any size. */
#ifndef TRAINPROF_SRC_REPORT_EXPORT_JSON_STREAM_H
#define TRAINPROF_SRC_REPORT_EXPORT_JSON_STREAM_H

#include <stdint.h>
#include <stdio.h>

/* Writes a string in quotes; any bytes. "<" is escaped so that the string cannot break an HTML
 * page. */
void tp_export_json_text(FILE *out, const char *text);
void tp_export_json_number(FILE *out, uint64_t value);
/* ,"key": */
void tp_export_json_key(FILE *out, const char *key);
/* ,"key":"text" */
void tp_export_json_member(FILE *out, const char *key, const char *text);
/* Writes "12.345" for 12345: thousands of ns without loss, as a JSON number. */
void tp_export_json_decimals(FILE *out, uint64_t value);

#endif
