/* SPDX-License-Identifier: Apache-2.0 */
/* Runs call frame instructions and reduces the result to one small rule for an address. */
#ifndef TRAINPROF_SRC_STACK_CFI_CFI_H
#define TRAINPROF_SRC_STACK_CFI_CFI_H

#include "fde.h"

#include <stdbool.h>
#include <stdint.h>

/* Rule for the canonical frame address, which is the caller's stack pointer. */
enum tp_rule_cfa {
	TP_RULE_CFA_NONE,     /* nothing known about this address */
	TP_RULE_CFA_END,      /* the first frame of a thread: it has no caller */
	TP_RULE_CFA_SP,       /* sp + cfa_offset */
	TP_RULE_CFA_BP,       /* bp + cfa_offset */
	TP_RULE_CFA_SP_DEREF, /* the word at sp + cfa_offset */
	TP_RULE_CFA_BP_DEREF, /* the word at bp + cfa_offset */
};

/* Where a register of the caller is. */
enum tp_rule_place {
	TP_RULE_KEPT, /* still in its register; for the return address: in the link register */
	TP_RULE_LOST,
	TP_RULE_AT_CFA, /* in memory at cfa + offset */
	TP_RULE_AT_SP,  /* at sp + offset */
	TP_RULE_AT_BP,  /* at bp + offset */
};

/* Kind of the code before a return address. Cached in the rule, decided on demand. */
enum tp_rule_call {
	TP_RULE_CALL_UNCHECKED,
	TP_RULE_CALL_NONE,   /* no call instruction: cannot be a return address */
	TP_RULE_CALL_TABLED, /* a direct call of code with unwind tables */
	TP_RULE_CALL_BARE,   /* a direct call of code without unwind tables */
	TP_RULE_CALL_PLT, /* a direct call of a jump through a table: the target can be anything */
	TP_RULE_CALL_INDIRECT,
};

/* 32 bytes, two per cache line: a walk spends most of its time on cache misses here. A training
 * process needs about 1700 of them; a maximum limits a hostile one. */
struct tp_unwind_rule {
	uint32_t key;           /* 1 + address - low_vaddr; 0 = empty slot */
	uint32_t into_function; /* address - start of its function; UINT32_MAX = unknown */
	uint32_t call_target;   /* of a direct call: address - low_vaddr */
	uint32_t asked; /* 1 + address - low_vaddr of a function, the subject of `may_lead` */
	int32_t cfa_offset;
	int32_t bp_offset; /* aarch64 saves below large locals: 16 bits are not enough */
	int32_t ra_offset;
	uint8_t cfa; /* enum tp_rule_cfa */
	uint8_t bp;  /* enum tp_rule_place */
	uint8_t ra;  /* enum tp_rule_place */
	uint8_t call : 4;
	uint8_t may_lead : 1;  /* true if the call can lead to function `asked` */
	uint8_t is_signal : 1; /* the caller was interrupted: its address is no return address */
};

/* If this unwinder has no rule for `vaddr` that it can follow, `out->cfa` is TP_RULE_CFA_NONE. */
void tp_cfi_rule(const struct tp_fde *fde, uint16_t machine, uint64_t vaddr,
		 struct tp_unwind_rule *out);

#endif
