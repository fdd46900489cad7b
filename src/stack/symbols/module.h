/* SPDX-License-Identifier: Apache-2.0 */
/* Private parts of a module: its file, its unwind rules, its names. */
#ifndef TRAINPROF_SRC_STACK_SYMBOLS_MODULE_H
#define TRAINPROF_SRC_STACK_SYMBOLS_MODULE_H

#include "ifunc.h"
#include "jit_file.h"
#include "stack/cfi/unwind_rule_cache.h"
#include "stack/elf/elf_image.h"
#include "symtab.h"

#include "trainprof/base/map.h"
#include "trainprof/base/strtab.h"
#include "trainprof/stack/modules.h"

#include <sys/types.h>

struct tp_jit_symbols;
struct tp_kernel_symbols;

struct tp_module_body {
	struct tp_module pub; /* must be first: callers outside get a pointer to this member */
	struct tp_modules *owner;
	struct tp_elf_image *image; /* NULL if pub.has_image is false */
	struct tp_unwind_rule_cache rules;
	struct tp_symtab symtab;            /* loaded at the first lookup */
	struct tp_jit_file_owner jit_owner; /* kind JIT: the process whose perf map has the names */
	struct tp_jit_symbols *jit;         /* kind JIT, NULL until read */
	uint64_t jit_next_ns;               /* earliest time to read it again */
	struct tp_kernel_symbols *kernel;   /* kind KERNEL, NULL until read */
};

struct tp_modules {
	struct tp_module_body **items;
	size_t n_items;
	size_t items_capacity;
	struct tp_elf_source_pool pool;
	struct tp_strtab texts;   /* paths and names of symbols */
	struct tp_map by_mapping; /* device, inode, path of a mapping -> id */
	struct tp_map by_file;    /* device, inode, size, time of a file -> id */
	struct tp_module *vdso;   /* that of this process: the same for every process */
	struct tp_ifuncs ifuncs;  /* of our own C library */
};

static inline struct tp_module_body *tp_module_of(struct tp_module *module)
{
	return (struct tp_module_body *)(void *)module;
}

/* Identity of a mapped file according to the mapping. */
struct tp_file_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t inode;
	uint32_t dev_major;
	uint32_t dev_minor;
	const char *path; /* owned by the strtab of modules */
};

/* Returns the module of a mapped file and opens it if it is not known yet. Never NULL. */
struct tp_module *tp_modules_open(struct tp_modules *modules, pid_t pid,
				  const struct tp_file_mapping *mapping);
/* Returns a new module for executable memory without a file. */
struct tp_module *tp_modules_add_jit(struct tp_modules *modules,
				     const struct tp_jit_file_owner *owner);

#endif
