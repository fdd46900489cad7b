/* SPDX-License-Identifier: Apache-2.0 */
/* Names of NVTX ranges, from any recorder. */
#ifndef TRAINPROF_MODEL_RANGE_NAME_H
#define TRAINPROF_MODEL_RANGE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Length of a range's name without the numbers that torch.autograd.profiler.emit_nvtx() appends,
 * which make every name unique: "aten::mm" of "aten::mm, seq = 7, op_id = 12". is_operator   true
 * if it was such a range and names an operator of a library ("aten::mm",
 *               "MmBackward0") rather than a range of the program ("FSDP::forward").
 */
size_t tp_range_name_len(const char *name, size_t len, bool *is_operator);

#endif
