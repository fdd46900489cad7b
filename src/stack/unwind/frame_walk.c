/* SPDX-License-Identifier: Apache-2.0 */
/* Applies unwind rules to registers and a copied stack. */
#include "frame_walk.h"

#include "stack/cfi/call_site.h"
#include "stack/symbols/locate.h"
#include "stack/symbols/module.h"

#include <elf.h>
#include <string.h>

bool tp_frame_walk_word(const struct tp_frame_walk *walk, uint64_t address, uint64_t *out)
{
	if (address < walk->low || address >= walk->high || walk->high - address < sizeof(*out))
		return false;
	memcpy(out, walk->stack + (address - walk->low), sizeof(*out));
	return true;
}

/* Finds the rule for the code of a frame; returns false if it has none. */
static bool find_rule(struct tp_frame_walk *walk, const struct tp_frame_walk_state *state,
		      struct tp_unwind_rule *out, uint16_t *machine)
{
	struct tp_module *found;
	uint64_t vaddr;
	/* A call can be the last instruction of a function: its return address is in the next
	 * function. */
	uint64_t back = state->is_return ? 1 : 0;
	if (!tp_maps_locate(walk->maps, state->ip - back, &found, &vaddr) || !found->has_image)
		return false;
	struct tp_module_body *module = tp_module_of(found);
	*machine = module->image->machine;
	*out = *tp_unwind_rule_cache_get(&module->rules, module->image, vaddr);
	if (back > 0 && (out->cfa == TP_RULE_CFA_NONE || out->is_signal)) {
		/* A signal handler returns to the start of the signal return code, not into it. */
		const struct tp_unwind_rule *at =
			tp_unwind_rule_cache_get(&module->rules, module->image, vaddr + back);
		if (at->is_signal)
			*out = *at;
	}
	return out->cfa != TP_RULE_CFA_NONE;
}

bool tp_frame_walk_has_rule(struct tp_frame_walk *walk, const struct tp_frame_walk_state *state)
{
	struct tp_unwind_rule rule;
	uint16_t machine;
	return find_rule(walk, state, &rule, &machine);
}

static enum tp_frame_walk_result find_cfa(const struct tp_frame_walk *walk,
					  const struct tp_frame_walk_state *state,
					  const struct tp_unwind_rule *rule, uint64_t *cfa)
{
	bool from_bp = rule->cfa == TP_RULE_CFA_BP || rule->cfa == TP_RULE_CFA_BP_DEREF;
	if (from_bp && !state->knows_bp)
		return TP_FRAME_WALK_NEEDS_BP;
	*cfa = (from_bp ? state->bp : state->sp) + (uint64_t)(int64_t)rule->cfa_offset;
	bool is_deref = rule->cfa == TP_RULE_CFA_SP_DEREF || rule->cfa == TP_RULE_CFA_BP_DEREF;
	if (is_deref && !tp_frame_walk_word(walk, *cfa, cfa))
		return TP_FRAME_WALK_TRUNCATED;
	/* A signal may have been handled on another stack; all other callers are at higher
	 * addresses. */
	bool is_above = *cfa > state->sp || (*cfa == state->sp && rule->ra == TP_RULE_KEPT);
	return is_above || rule->is_signal ? TP_FRAME_WALK_DONE : TP_FRAME_WALK_BROKEN;
}

static uint64_t place_address(const struct tp_frame_walk_state *state, uint64_t cfa, uint8_t place,
			      int32_t offset)
{
	uint64_t base = cfa;
	if (place == TP_RULE_AT_SP)
		base = state->sp;
	else if (place == TP_RULE_AT_BP)
		base = state->bp;
	return base + (uint64_t)(int64_t)offset;
}

static void find_bp(const struct tp_frame_walk *walk, const struct tp_frame_walk_state *state,
		    const struct tp_unwind_rule *rule, uint64_t cfa,
		    struct tp_frame_walk_state *next)
{
	next->bp = state->bp;
	next->knows_bp = state->knows_bp;
	next->gap_low = state->gap_low;
	next->gap_high = state->gap_high;
	if (rule->bp == TP_RULE_KEPT)
		return;
	next->knows_bp = false;
	if (rule->bp == TP_RULE_LOST || (rule->bp == TP_RULE_AT_BP && !state->knows_bp))
		return;
	uint64_t at = place_address(state, cfa, rule->bp, rule->bp_offset);
	next->knows_bp = tp_frame_walk_word(walk, at, &next->bp);
}

static enum tp_frame_walk_result find_ip(const struct tp_frame_walk *walk,
					 const struct tp_frame_walk_state *state,
					 const struct tp_unwind_rule *rule, uint64_t cfa,
					 uint64_t *ip)
{
	if (rule->ra == TP_RULE_KEPT) {
		*ip = state->lr;
		return state->knows_lr ? TP_FRAME_WALK_DONE : TP_FRAME_WALK_BROKEN;
	}
	if (rule->ra == TP_RULE_AT_BP && !state->knows_bp)
		return TP_FRAME_WALK_NEEDS_BP;
	uint64_t at = place_address(state, cfa, rule->ra, rule->ra_offset);
	return tp_frame_walk_word(walk, at, ip) ? TP_FRAME_WALK_DONE : TP_FRAME_WALK_TRUNCATED;
}

enum tp_frame_walk_result tp_frame_walk_step(struct tp_frame_walk *walk,
					     const struct tp_frame_walk_state *state,
					     struct tp_frame_walk_state *next)
{
	struct tp_unwind_rule rule;
	uint16_t machine;
	uint64_t cfa;
	if (walk->steps_left == 0)
		return TP_FRAME_WALK_LIMIT;
	walk->steps_left--;
	if (!find_rule(walk, state, &rule, &machine))
		return TP_FRAME_WALK_NO_RULE;
	if (rule.cfa == TP_RULE_CFA_END)
		return TP_FRAME_WALK_ROOT;
	*next = (struct tp_frame_walk_state){.is_return = !rule.is_signal};
	enum tp_frame_walk_result result = find_cfa(walk, state, &rule, &cfa);
	if (result == TP_FRAME_WALK_DONE)
		result = find_ip(walk, state, &rule, cfa, &next->ip);
	if (result != TP_FRAME_WALK_DONE)
		return result;
	/* Signed return addresses (Arm pointer authentication) have the signature in their top
	 * bits. */
	if (machine == EM_AARCH64)
		next->ip &= (UINT64_C(1) << 48) - 1;
	next->sp = cfa;
	find_bp(walk, state, &rule, cfa, next);
	/* The interrupted function may never have saved its link register: x30 follows x29. */
	if (machine == EM_AARCH64 && rule.is_signal) {
		uint64_t at = place_address(state, cfa, rule.bp, rule.bp_offset);
		next->knows_lr = tp_frame_walk_word(walk, at + sizeof(next->lr), &next->lr);
	}
	return TP_FRAME_WALK_DONE;
}

/* Returns the cached rule for the byte before a return address, with its call site decoded. NULL if
 * there is no file to read. */
static struct tp_unwind_rule *call_rule(struct tp_frame_walk *walk, uint64_t pc,
					struct tp_module_body **module, uint64_t *vaddr)
{
	struct tp_module *found;
	if (!tp_maps_locate(walk->maps, pc - 1, &found, vaddr) || !found->has_image)
		return NULL;
	*module = tp_module_of(found);
	struct tp_elf_image *image = (*module)->image;
	struct tp_unwind_rule_cache *rules = &(*module)->rules;
	struct tp_unwind_rule *rule = tp_unwind_rule_cache_get(rules, image, *vaddr);
	if (rule->call != TP_RULE_CALL_UNCHECKED)
		return rule;
	struct tp_call_site site = tp_call_site_before(image, *vaddr + 1);
	enum tp_rule_call call = site.is_call ? TP_RULE_CALL_INDIRECT : TP_RULE_CALL_NONE;
	if (site.is_direct && tp_call_site_is_plt(image, site.target))
		call = TP_RULE_CALL_PLT;
	else if (site.is_direct &&
		 tp_unwind_rule_cache_get(rules, image, site.target)->cfa == TP_RULE_CFA_NONE)
		call = TP_RULE_CALL_BARE;
	else if (site.is_direct)
		call = TP_RULE_CALL_TABLED;
	rule = tp_unwind_rule_cache_get(rules, image, *vaddr);
	rule->call = (unsigned)call & 0xfU;
	rule->call_target = (uint32_t)(site.target - image->low_vaddr);
	return rule;
}

enum tp_rule_call tp_frame_walk_call(struct tp_frame_walk *walk, uint64_t pc)
{
	struct tp_module_body *module;
	uint64_t vaddr;
	const struct tp_unwind_rule *rule = call_rule(walk, pc, &module, &vaddr);
	return rule ? (enum tp_rule_call)rule->call : TP_RULE_CALL_NONE;
}

/* Finds the start of the function of a frame; returns false if it is not known to be in
 * `module`. */
static bool function_start(struct tp_frame_walk *walk, const struct tp_frame_walk_state *state,
			   struct tp_module_body *module, uint64_t *start)
{
	struct tp_module *found;
	uint64_t vaddr;
	uint64_t back = state->is_return ? 1 : 0;
	if (!tp_maps_locate(walk->maps, state->ip - back, &found, &vaddr) || found != &module->pub)
		return false;
	uint32_t into =
		tp_unwind_rule_cache_get(&module->rules, module->image, vaddr)->into_function;
	*start = vaddr - into;
	return into != UINT32_MAX;
}

static bool check_call(struct tp_module_body *module, const struct tp_unwind_rule *call,
		       uint64_t vaddr, uint64_t function)
{
	uint64_t start;
	uint64_t end;
	struct tp_elf_image *image = module->image;
	if (call->call == TP_RULE_CALL_INDIRECT)
		return !tp_unwind_rule_cache_bounds(&module->rules, image, vaddr, &start, &end) ||
		       !tp_call_site_calls(image, start, end, function);
	uint64_t target = call->call_target + image->low_vaddr;
	return target == function ||
	       (tp_unwind_rule_cache_bounds(&module->rules, image, target, &start, &end) &&
		tp_call_site_jumps_to(image, start, end, function));
}

bool tp_frame_walk_can_reach(struct tp_frame_walk *walk, uint64_t return_pc,
			     const struct tp_frame_walk_state *callee)
{
	struct tp_module_body *module;
	uint64_t vaddr;
	uint64_t function;
	const struct tp_unwind_rule *found = call_rule(walk, return_pc, &module, &vaddr);
	if (!found || found->call == TP_RULE_CALL_NONE || found->call == TP_RULE_CALL_PLT)
		return true;
	const struct tp_unwind_rule call = *found;
	if (!function_start(walk, callee, module, &function))
		return call.call == TP_RULE_CALL_INDIRECT;
	/* The check reads code; the same pairs of caller and callee recur again and again. */
	uint32_t asked = (uint32_t)(function - module->image->low_vaddr) + 1;
	if (call.asked == asked)
		return call.may_lead;
	bool may_lead = check_call(module, &call, vaddr, function);
	struct tp_unwind_rule *rule =
		tp_unwind_rule_cache_get(&module->rules, module->image, vaddr);
	rule->asked = asked;
	rule->may_lead = may_lead;
	return may_lead;
}

bool tp_frame_walk_has_indirect_jump(struct tp_frame_walk *walk, uint64_t return_pc)
{
	struct tp_module_body *module;
	uint64_t vaddr;
	uint64_t start;
	uint64_t end;
	const struct tp_unwind_rule *call = call_rule(walk, return_pc, &module, &vaddr);
	if (!call || call->call != TP_RULE_CALL_TABLED)
		return false;
	uint64_t target = call->call_target + module->image->low_vaddr;
	return tp_unwind_rule_cache_bounds(&module->rules, module->image, target, &start, &end) &&
	       tp_call_site_jumps_to(module->image, start, end, UINT64_MAX);
}
