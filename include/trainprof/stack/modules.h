/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ELF files that targets run, each opened once, no matter how many processes map it.
 *
 * Files are read with pread, never mapped: if a file is truncated meanwhile, reads become short
 * instead of raising SIGBUS. Everything read from them is untrusted: counts, sizes, depth and loops
 * are bounded, and an invalid file is a module without image, not an error. Only regular files are
 * opened.
 */
#ifndef TRAINPROF_STACK_MODULES_H
#define TRAINPROF_STACK_MODULES_H

#include "trainprof/base/status.h"
#include "trainprof/model/frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Borrowed until tp_modules_free(): a module outlives the processes that mapped it. */
struct tp_module {
	const char *
		path; /* "/usr/lib/libc.so.6" without " (deleted)", "[vdso]", "[kernel]", "[jit]" */
	const char *name;        /* its last component */
	uint32_t id;             /* dense, in order of discovery */
	enum tp_frame_kind kind; /* JIT: executable memory without a file, one module per process */
	char build_id[41];       /* lower-case hex, "" if the file has none */
	/* False: no file, or not readable. Addresses are then file offsets (native) or absolute. */
	bool has_image;
};

struct tp_modules;

struct tp_modules *tp_modules_new(void);
void tp_modules_free(struct tp_modules *modules);

/* The module of all kernel addresses, "[kernel]". */
struct tp_module *tp_modules_kernel(struct tp_modules *modules);

/* A module from bytes that are in memory already (borrowed: they must outlive the cache). Errors
 * TP_PARSE if it is not a 64-bit little-endian ELF file with loadable segments. */
TP_MUST_CHECK enum tp_status tp_modules_add_image(struct tp_module **out,
						  struct tp_modules *modules, const char *name,
						  const void *bytes, size_t size,
						  struct tp_error *err);

#endif
