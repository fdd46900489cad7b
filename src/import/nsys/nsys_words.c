/* SPDX-License-Identifier: Apache-2.0 */
/* Translates names and numbers of nsys into the terms of PyTorch's profiler. */
#include "nsys_words.h"

#include "trainprof/base/memory.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Numbers: ENUM_CUDA_MEMCPY_OPER and ENUM_CUDA_MEM_KIND of exports of 2026.1 and 2026.2, and the
 * same in the schema reference of 2021.5 (docs.nvidia.com/nsight-systems, read 2026-11-22). They
 * differ from those of CUPTI. Words: memcpyKindString() and memoryKindString() of
 * pytorch/kineto. */
static const char *const copy_kinds[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD",
					 "DtoA",    "DtoD", "HtoH", "PtoP", "HtoD", "DtoH", "DtoD"};
static const char *const memory_kinds[] = {"Pageable",       "Pinned",  "Device",
					   "Array",          "Managed", "Device Static",
					   "Managed Static", "Unknown"};

enum { COPY_UNIFIED = 11 /* and above: automatic migration of pages */, MEMORY_MANAGED = 4 };

static const char *memory_word(int64_t kind)
{
	return kind >= 0 && kind < (int64_t)TP_ARRAY_LEN(memory_kinds) ? memory_kinds[kind]
								       : "Unknown";
}

void tp_nsys_copy_name(char *out, size_t size, int64_t kind, int64_t source, int64_t target)
{
	if (kind < 0 || kind >= (int64_t)TP_ARRAY_LEN(copy_kinds))
		kind = 0;
	if (kind >= COPY_UNIFIED)
		source = target = MEMORY_MANAGED;
	snprintf(out, size, "Memcpy %s (%s -> %s)", copy_kinds[kind], memory_word(source),
		 memory_word(target));
}

void tp_nsys_set_name(char *out, size_t size, int64_t memory)
{
	snprintf(out, size, "Memset (%s)", memory_word(memory));
}

/* Returns the length without "_v7000". */
static size_t before_version(const char *name, size_t len)
{
	size_t digits = len;
	while (digits > 0 && isdigit((unsigned char)name[digits - 1]))
		digits--;
	if (digits == len || digits < 3 || memcmp(name + digits - 2, "_v", 2) != 0)
		return len;
	return digits - 2;
}

/* Returns the length without the suffix of a default stream per thread. */
static size_t before_stream(const char *name, size_t len)
{
	if (len <= 5 ||
	    (memcmp(name + len - 5, "_ptsz", 5) != 0 && memcmp(name + len - 5, "_ptds", 5) != 0))
		return len;
	return len - 5;
}

size_t tp_nsys_call_len(const char *name, size_t len)
{
	return before_stream(name, before_version(name, before_stream(name, len)));
}
