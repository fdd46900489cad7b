/* SPDX-License-Identifier: Apache-2.0 */
/* Finds names of frames: in symbol tables, perf maps, kallsyms, and otherwise in unwind tables. */
#include "trainprof/stack/symbol.h"

#include "ifunc.h"
#include "jit_symbols.h"
#include "kernel_symbol_cache.h"
#include "module.h"

#include "trainprof/base/clock.h"

static bool find_native(struct tp_module_body *module, uint64_t address, struct tp_symbol *out)
{
	if (!module->image)
		return false;
	if (tp_symtab_find(&module->symtab, module->image, &module->owner->texts, address,
			   &out->name, &out->start, &out->end))
		return true;
	if (!tp_unwind_rule_cache_bounds(&module->rules, module->image, address, &out->start,
					 &out->end))
		return false;
	const char *chosen =
		tp_ifunc_name(&module->owner->ifuncs, module->pub.build_id, out->start);
	if (chosen)
		out->name = chosen;
	return true;
}

static bool find_kernel(struct tp_module_body *module, uint64_t address, struct tp_symbol *out)
{
	if (!module->kernel)
		module->kernel = tp_kernel_symbol_cache_load();
	return tp_kernel_symbols_find(module->kernel, address, &out->name, &out->start, &out->end);
}

/* The file grows while its process compiles: read it again, but for at most 2 % of the time. */
static bool jit_update(struct tp_module_body *module)
{
	enum { MIN_PAUSE_MS = 100, PAUSE_PER_COST = 50 };
	uint64_t begin_ns = tp_clock_now_ns();
	if (begin_ns < module->jit_next_ns)
		return false;
	struct tp_buf text = {0};
	bool is_read = tp_jit_file_read(&text, &module->jit_owner, NULL) == TP_OK;
	if (is_read) {
		tp_jit_symbols_free(module->jit);
		module->jit = tp_jit_symbols_parse(tp_buf_text(&text), text.len);
	}
	tp_buf_release(&text);
	uint64_t end_ns = tp_clock_now_ns();
	uint64_t pause_ns = (end_ns - begin_ns) * PAUSE_PER_COST;
	if (pause_ns < MIN_PAUSE_MS * TP_NS_PER_MS)
		pause_ns = MIN_PAUSE_MS * TP_NS_PER_MS;
	module->jit_next_ns = end_ns + pause_ns;
	return is_read;
}

static bool find_jit(struct tp_module_body *module, uint64_t address, struct tp_symbol *out)
{
	const char *name;
	bool is_found = module->jit &&
			tp_jit_symbols_find(module->jit, address, &name, &out->start, &out->end);
	if (!is_found && jit_update(module))
		is_found = tp_jit_symbols_find(module->jit, address, &name, &out->start, &out->end);
	if (!is_found)
		return false;
	/* Copy the name, because the next reading of the file frees it. */
	struct tp_strtab *texts = &module->owner->texts;
	out->name = tp_strtab_text(texts, tp_strtab_intern(texts, name));
	return true;
}

void tp_symbol_find(const struct tp_stack_frame *frame, struct tp_symbol *out)
{
	/* A call can be the last instruction of a function that never returns. */
	bool is_behind = (frame->flags & TP_FRAME_RETURN) && frame->address > 0;
	uint64_t address = frame->address - (is_behind ? 1 : 0);
	*out = (struct tp_symbol){.name = "", .start = frame->address, .end = frame->address};
	if (!frame->module)
		return;
	struct tp_module_body *module = tp_module_of(frame->module);
	switch (frame->module->kind) {
	case TP_FRAME_NATIVE:
		find_native(module, address, out);
		break;
	case TP_FRAME_KERNEL:
		find_kernel(module, address, out);
		break;
	case TP_FRAME_JIT:
		find_jit(module, address, out);
		break;
	default:
		break;
	}
}
