/* SPDX-License-Identifier: Apache-2.0 */
/* Maps an address of a process to a module, for the other folders of src/stack. */
#ifndef TRAINPROF_SRC_STACK_SYMBOLS_LOCATE_H
#define TRAINPROF_SRC_STACK_SYMBOLS_LOCATE_H

#include "trainprof/stack/maps.h"

/* Returns false (module NULL, address = pc) outside every executable mapping. */
bool tp_maps_locate(struct tp_maps *maps, uint64_t pc, struct tp_module **module,
		    uint64_t *address);

#endif
