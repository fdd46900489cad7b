/* SPDX-License-Identifier: Apache-2.0 */
/* Names of kernel functions, if the kernel shows addresses (kernel.kptr_restrict). */
#ifndef TRAINPROF_SRC_STACK_SYMBOLS_KERNEL_SYMBOLS_H
#define TRAINPROF_SRC_STACK_SYMBOLS_KERNEL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_kernel_symbols;

/* Reads `path`, /proc/kallsyms or a copy. Never NULL; empty if all addresses are hidden (zero) or
 * the file cannot be read. */
struct tp_kernel_symbols *tp_kernel_symbols_load(const char *path);

/* The conditions under which names are valid: this boot of the machine and the loaded modules. */
struct tp_kernel_epoch {
	char boot_id[40];
	uint64_t modules_hash;
};

/* save: keeps names for later runs in a file that only we can read; the kernel takes 25 ms to print
 * them. Failures to write are not reported. restore: returns NULL if the file is missing,
 * accessible to other users, of another epoch or incomplete. The file stays open and is read where
 * a name is looked up; a file that is damaged meanwhile has no names. */
void tp_kernel_symbols_save(const struct tp_kernel_symbols *names,
			    const struct tp_kernel_epoch *epoch, const char *file);
struct tp_kernel_symbols *tp_kernel_symbols_restore(const struct tp_kernel_epoch *epoch,
						    const char *file);
bool tp_kernel_symbols_is_empty(const struct tp_kernel_symbols *names);
void tp_kernel_symbols_free(struct tp_kernel_symbols *names);
/* The name of a module's function ends in " [module]"; it lives as long as `names`. */
bool tp_kernel_symbols_find(struct tp_kernel_symbols *names, uint64_t address, const char **name,
			    uint64_t *start, uint64_t *end);

#endif
