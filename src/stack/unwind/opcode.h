/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes machine instructions as far as needed to recognise arithmetic. */
#ifndef TRAINPROF_SRC_STACK_UNWIND_OPCODE_H
#define TRAINPROF_SRC_STACK_UNWIND_OPCODE_H

#include "trainprof/stack/arith.h"

#include <stddef.h>
#include <stdint.h>

/* The longest instruction of any machine that we decode. */
enum { TP_OPCODE_MAX = 15 };

/* `machine` is EM_…; `code` has n bytes from the beginning of an instruction. */
enum tp_arith tp_opcode_arith(uint16_t machine, const uint8_t *code, size_t n);

#endif
