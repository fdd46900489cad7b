/* Names unwound frames and interns them as stacks. */
#include "stackput.h"

#include "trainprof/stack/arith.h"
#include "trainprof/stack/modules.h"
#include "trainprof/stack/symbol.h"

#include <string.h>

void tp_stackput_init(struct tp_stackput *put, struct tp_sink *sink)
{
	memset(put, 0, sizeof(*put));
	put->sink = sink;
}

void tp_stackput_release(struct tp_stackput *put)
{
	tp_map_release(&put->ids);
}

static uint32_t arith_flag(const struct tp_stack_frame *frame)
{
	static const uint32_t flags[] = {
		[TP_ARITH_SCALAR] = TP_FRAME_SCALAR, [TP_ARITH_VECTOR] = TP_FRAME_VECTOR};
	return frame->flags & TP_FRAME_RETURN ? 0 : flags[tp_arith_at(frame)];
}

/* The slow half: a look into the module's tables. */
static uint32_t define_frame(struct tp_stackput *put, const struct tp_stack_frame *from)
{
	struct tp_frame frame = {.kind = TP_FRAME_NATIVE,
				 .flags = (from->flags & TP_FRAME_GUESSED) | arith_flag(from),
				 .address = from->address};
	if (from->module) {
		struct tp_symbol symbol;
		tp_symbol_find(from, &symbol);
		frame.kind = from->module->kind;
		frame.module = tp_sink_string(put->sink, from->module->path);
		frame.symbol = tp_sink_string(put->sink, symbol.name);
		frame.function_start = symbol.end > symbol.start ? symbol.start : 0;
	}
	return tp_sink_frame(put->sink, &frame);
}

static uint32_t frame_id(struct tp_stackput *put, const struct tp_stack_frame *frame)
{
	/* Module pointers last as long as the tree, so they tell modules apart; 64 hashed bits do
	 * not meet by chance among the some ten thousand places of a run. */
	uint64_t key = tp_hash_mix(tp_hash_mix((uint64_t)(uintptr_t)frame->module, frame->address),
				   frame->flags);
	uint64_t id;
	if (!tp_map_get(&put->ids, key, &id)) {
		id = define_frame(put, frame);
		tp_map_set(&put->ids, key, id);
	}
	return (uint32_t)id;
}

uint32_t tp_stackput_stack(struct tp_stackput *put, const struct tp_stack_frame *frames, size_t n,
			   uint32_t flags)
{
	uint32_t ids[TP_STACK_MAX_FRAMES];
	if (n > TP_STACK_MAX_FRAMES) {
		n = TP_STACK_MAX_FRAMES;
		flags |= TP_STACK_TRUNCATED;
	}
	for (size_t i = 0; i < n; i++)
		ids[i] = frame_id(put, &frames[i]);
	return n ? tp_sink_stack(put->sink, ids, n, flags) : 0;
}
