/* SPDX-License-Identifier: Apache-2.0 */
/* Names of NVTX's ranges, whoever recorded them. */
#ifndef TRAINPROF_MODEL_RANGE_NAME_H
#define TRAINPROF_MODEL_RANGE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Length of a range's name without the numbers that torch.autograd.profiler.emit_nvtx() adds:
 * "aten::mm" of "aten::mm, seq = 7, op_id = 12"; no two such ranges have the same name.
 * is_operator   whether it was such a range, and is an operator of a library ("aten::mm",
 *               "MmBackward0") rather than one that the program named ("FSDP::forward").
 */
size_t tp_range_name_len(const char *name, size_t len, bool *is_operator);

#endif
