/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the wire format of Protocol Buffers. Fields with value 0 are written, too. */
#ifndef TRAINPROF_SRC_REPORT_EXPORT_PROTOBUF_H
#define TRAINPROF_SRC_REPORT_EXPORT_PROTOBUF_H

#include "trainprof/base/buf.h"

#include <stdint.h>

void tp_proto_add_varint(struct tp_buf *out, uint64_t value); /* without a field number */
void tp_proto_add_uint(struct tp_buf *out, unsigned field, uint64_t value);
void tp_proto_add_bool(struct tp_buf *out, unsigned field, int value);
void tp_proto_add_double(struct tp_buf *out, unsigned field, double value);
void tp_proto_add_float(struct tp_buf *out, unsigned field, float value);
void tp_proto_add_text(struct tp_buf *out, unsigned field, const char *text);
/* Adds a message, or packed numbers, from a separate buffer, and clears that buffer. */
void tp_proto_add_message(struct tp_buf *out, unsigned field, struct tp_buf *message);

#endif
