/* SPDX-License-Identifier: Apache-2.0 */
/* What nsys writes, in the words that traces of PyTorch's profiler use for the same things. */
#ifndef TRAINPROF_SRC_IMPORT_NSYS_NSYS_WORDS_H
#define TRAINPROF_SRC_IMPORT_NSYS_NSYS_WORDS_H

#include <stddef.h>
#include <stdint.h>

enum { TP_NSYS_WORDS_MAX = 96 };

/* Length of a call's name without the version of its interface: "cudaLaunchKernel" of
 * "cudaLaunchKernel_ptsz_v7000". */
size_t tp_nsys_call_len(const char *name, size_t len);

/* "Memcpy HtoD (Pinned -> Device)", "Memset (Device)", of nsys's numbers of kinds; a number that is
 * none counts as unknown. */
void tp_nsys_copy_name(char *out, size_t size, int64_t kind, int64_t source, int64_t target);
void tp_nsys_set_name(char *out, size_t size, int64_t memory);

#endif
