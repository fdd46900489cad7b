/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executable part of one process's address space, kept up to date from MMAP2 records, forks and
 * execs, and the way from an address in it to a module and an address within that module.
 *
 * Adding a mapping opens nothing; a file is opened when the first address in it is asked for.
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

/* Beside TP_FRAME_GUESSED: address is behind a call, names are looked up at address - 1. */
enum { TP_FRAME_RETURN = 2 };

/* One level of a stack. Equal code gives equal (module, address) in every process. */
struct tp_stack_frame {
	struct tp_module *module; /* NULL: outside every known executable mapping */
	uint64_t address; /* as in the ELF file's program headers; see tp_module.has_image */
	uint32_t flags;   /* TP_FRAME_GUESSED, TP_FRAME_RETURN */
};

/* An empty address space of process `pid` (our pid namespace). */
struct tp_maps *tp_maps_new(struct tp_modules *modules, pid_t pid);
/* The same mappings for a forked child; shared until one of them changes. */
struct tp_maps *tp_maps_fork(const struct tp_maps *parent, pid_t child);
void tp_maps_free(struct tp_maps *maps);

/* Forget everything: the process called exec. */
void tp_maps_clear(struct tp_maps *maps);
/* Put a mapping in; what it overlaps is cut or replaced, and one that is not executable does no
 * more. Its path is copied. Order of calls = order of time. */
void tp_maps_add(struct tp_maps *maps, const struct tp_mapping *mapping);
/* Add what /proc/PID/maps says now. Errors  TP_ABSENT (gone), TP_DENIED, TP_IO. */
TP_MUST_CHECK enum tp_status tp_maps_read(struct tp_maps *maps, struct tp_error *err);

/* Name the place of `pc` (an address of a call chain). flags: as in struct tp_stack_frame. */
void tp_maps_find(struct tp_maps *maps, uint64_t pc, uint32_t flags, struct tp_stack_frame *out);

/* The way back: where `address` of the file `path` is mapped, as far as addresses in that mapping
 * were named before. False when it is nowhere. */
bool tp_maps_address(const struct tp_maps *maps, const char *path, uint64_t address, uint64_t *pc);

/* Map a module by hand: `start` is where its ELF address 0 lies (the load bias). For memory images.
 */
void tp_maps_add_module(struct tp_maps *maps, uint64_t bias, struct tp_module *module);

#endif
