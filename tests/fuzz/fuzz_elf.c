/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the readers of the target's files: ELF headers, unwind tables, symbols, machine code, perf
 * maps. The input is an ELF file; its last bytes are used as the stack that is unwound with it. */
#include "stack/symbols/jit_symbols.h"
#include "trainprof/base/proc_maps.h"
#include "trainprof/stack/symbol.h"
#include "trainprof/stack/unwind.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STACK_WORDS = 64 };

static const uint64_t bias = 0x10000;

/* Half of the words point somewhere near the start of the image, like return addresses. */
static size_t make_stack(uint64_t *stack, const uint8_t *data, size_t size)
{
	size_t n = size / 8 < STACK_WORDS ? size / 8 : STACK_WORDS;
	memcpy(stack, data + size - n * 8, n * 8);
	for (size_t i = 0; i < n; i += 2)
		stack[i] = bias + (stack[i] & 0x3fff);
	return n * 8;
}

static void walk(struct tp_maps *maps, const uint8_t *data, size_t size)
{
	uint64_t stack[STACK_WORDS];
	struct tp_stack_frame frames[TP_STACK_MAX_FRAMES];
	struct tp_unwind_result result;
	struct tp_symbol symbol;
	size_t stack_size = make_stack(stack, data, size);
	for (uint64_t i = 0; i < 16; i++) {
		struct tp_unwind_regs regs = {
			.ip = bias + i * 0x111,
			.sp = 0x7fff0000,
			.bp = 0x7fff0000 + i * 16,
			.lr = bias + i * 0x77,
		};
		tp_unwind(maps, &regs, stack, stack_size, frames, TP_STACK_MAX_FRAMES, &result);
		if (result.n_frames == 0 || result.n_frames > TP_STACK_MAX_FRAMES)
			abort();
		for (size_t at = 0; at < result.n_frames && at < 8; at++) {
			tp_symbol_find(&frames[at], &symbol);
			if (symbol.end < symbol.start)
				abort();
		}
	}
}

static void read_image(const uint8_t *data, size_t size)
{
	struct tp_modules *modules = tp_modules_new();
	struct tp_module *module;
	if (tp_modules_add_image(&module, modules, "fuzz", data, size, NULL) == TP_OK) {
		struct tp_maps *maps = tp_maps_new(modules, 0);
		tp_maps_add_module(maps, bias, module);
		walk(maps, data, size);
		tp_maps_free(maps);
	}
	tp_modules_free(modules);
}

static void read_text(const uint8_t *data, size_t size)
{
	struct tp_jit_symbols *names = tp_jit_symbols_parse((const char *)data, size);
	const char *name;
	uint64_t start;
	uint64_t end;
	for (uint64_t address = 0; address < 1 << 16; address += 0x111) {
		if (tp_jit_symbols_find(names, address, &name, &start, &end) &&
		    (address < start || address >= end || strlen(name) > size))
			abort();
	}
	tp_jit_symbols_free(names);
	char line[300];
	struct tp_mapping mapping;
	size_t len = size < sizeof(line) - 1 ? size : sizeof(line) - 1;
	memcpy(line, data, len);
	line[len] = '\0';
	for (char *at = line; tp_proc_maps_next(&at, &mapping);)
		if (mapping.size == 0 || mapping.path < line || mapping.path > line + len)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_image(data, size);
	read_text(data, size);
	return 0;
}
