/* SPDX-License-Identifier: Apache-2.0 */
/* Names of places in a program. */
#ifndef TRAINPROF_SRC_REPORT_DIGEST_FRAME_NAME_H
#define TRAINPROF_SRC_REPORT_DIGEST_FRAME_NAME_H

#include "trainprof/base/buf.h"
#include "trainprof/model/trace.h"

/* Append "decode_jpeg", "libc.so.6+0x1f3a", "[kernel] do_sys_poll", "load (data.py:88)". */
void tp_report_add_frame(struct tp_buf *out, const struct tp_trace *trace, uint32_t frame);
/* Append the leaf and its callers, leaf first: "decode < load < main"; "[no stack]" for none. */
void tp_report_add_stack(struct tp_buf *out, const struct tp_trace *trace, uint32_t stack,
			 size_t max_frames);
#endif
