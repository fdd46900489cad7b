/* SPDX-License-Identifier: Apache-2.0 */
/* Converts names and kinds of nsys to the terms that traces of PyTorch's profiler use. */
#ifndef TRAINPROF_SRC_IMPORT_NSYS_NSYS_WORDS_H
#define TRAINPROF_SRC_IMPORT_NSYS_NSYS_WORDS_H

#include <stddef.h>
#include <stdint.h>

enum { TP_NSYS_WORDS_MAX = 96 };

/* Returns the length of a call's name without the version of its interface: "cudaLaunchKernel" for
 * "cudaLaunchKernel_ptsz_v7000". */
size_t tp_nsys_call_len(const char *name, size_t len);

/* Writes "Memcpy HtoD (Pinned -> Device)" or "Memset (Device)" for nsys's numbers of kinds; an
 * invalid number counts as unknown. */
void tp_nsys_copy_name(char *out, size_t size, int64_t kind, int64_t source, int64_t target);
void tp_nsys_set_name(char *out, size_t size, int64_t memory);

#endif
