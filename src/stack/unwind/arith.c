/* SPDX-License-Identifier: Apache-2.0 */
/* Classifies the instruction at an address. */
#include "trainprof/stack/arith.h"

#include "opcode.h"
#include "stack/symbols/module.h"

enum tp_arith tp_arith_at(const struct tp_stack_frame *frame)
{
	uint8_t code[TP_OPCODE_MAX];
	if (!frame->module || frame->module->kind != TP_FRAME_NATIVE || !frame->module->has_image)
		return TP_ARITH_NONE;
	struct tp_elf_image *image = tp_module_of(frame->module)->image;
	size_t n = tp_elf_image_read_some(image, frame->address, code, sizeof(code));
	return tp_opcode_arith(image->machine, code, n);
}
