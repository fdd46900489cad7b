/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executable part of one process's address space, kept up to date from MMAP2 records, forks and
 * execs; translates an address to a module and an address within that module.
 *
 * Adding a mapping opens nothing; a file is opened when an address in it is first requested.
 */
#ifndef TRAINPROF_STACK_MAPS_H
#define TRAINPROF_STACK_MAPS_H

#include "trainprof/base/proc_maps.h"
#include "trainprof/base/status.h"
#include "trainprof/model/frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tp_module;
struct tp_modules;
struct tp_maps;

/*
 * In addition to TP_FRAME_GUESSED: the address is a return address; names are looked up at address
 * - 1.
 */
enum { TP_FRAME_RETURN = 2 };

/* One level of a stack. Equal code gives equal (module, address) in every process. */
struct tp_stack_frame {
	struct tp_module *module; /* NULL = outside every known executable mapping */
	uint64_t address; /* as in the ELF file's program headers; see tp_module.has_image */
	uint32_t flags;   /* TP_FRAME_GUESSED, TP_FRAME_RETURN */
};

/* An empty address space of process `pid` (our pid namespace). */
struct tp_maps *tp_maps_new(struct tp_modules *modules, pid_t pid);
/* The same mappings for a forked child; shared until one of them changes. */
struct tp_maps *tp_maps_fork(const struct tp_maps *parent, pid_t child);
void tp_maps_free(struct tp_maps *maps);

/* Removes all mappings, because the process called exec. */
void tp_maps_clear(struct tp_maps *maps);
/* Adds a mapping; overlapping ones are trimmed or replaced. A mapping that is not executable only
 * removes others. Its path is copied. Order of calls = order of time. */
void tp_maps_add(struct tp_maps *maps, const struct tp_mapping *mapping);
/* Adds the current contents of /proc/PID/maps. Errors  TP_ABSENT (gone), TP_DENIED, TP_IO. */
TP_MUST_CHECK enum tp_status tp_maps_read(struct tp_maps *maps, struct tp_error *err);

/* Finds the module and address of `pc` (an address of a call chain). flags: as in struct
 * tp_stack_frame. */
void tp_maps_find(struct tp_maps *maps, uint64_t pc, uint32_t flags, struct tp_stack_frame *out);

/* The reverse: where `address` of the file `path` is mapped, for mappings in which addresses were
 * looked up before. False if it is not mapped. */
bool tp_maps_address(const struct tp_maps *maps, const char *path, uint64_t address, uint64_t *pc);

/* Adds a module by hand: `bias` is where its ELF address 0 lies (the load bias). For memory
 * images. */
void tp_maps_add_module(struct tp_maps *maps, uint64_t bias, struct tp_module *module);

#endif
