/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of JSON written straight into a stream, for documents of any size. */
#ifndef TRAINPROF_SRC_REPORT_EXPORT_JSON_STREAM_H
#define TRAINPROF_SRC_REPORT_EXPORT_JSON_STREAM_H

#include <stdint.h>
#include <stdio.h>

/* A string in its quotes; any bytes. "<" is written so that no HTML page can be broken by it. */
void tp_export_json_text(FILE *out, const char *text);
void tp_export_json_number(FILE *out, uint64_t value);
/* ,"key": */
void tp_export_json_key(FILE *out, const char *key);
/* ,"key":"text" */
void tp_export_json_member(FILE *out, const char *key, const char *text);
/* "12.345" of 12345: thousands of ns without loss, as JSON has it. */
void tp_export_json_decimals(FILE *out, uint64_t value);

#endif
