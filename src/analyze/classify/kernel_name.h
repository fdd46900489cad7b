/* SPDX-License-Identifier: Apache-2.0 */
/* The two parts of a device kernel's name that identify its operation. */
#ifndef TRAINPROF_SRC_ANALYZE_CLASSIFY_KERNEL_NAME_H
#define TRAINPROF_SRC_ANALYZE_CLASSIFY_KERNEL_NAME_H

enum { TP_KERNEL_BASE_SIZE = 512, TP_KERNEL_HEAD_SIZE = 4096 };

/* Lower case. For "void at::native::(anonymous namespace)::fill<4, at::X<float> >(int, char*)" the
 * base is "at::native::fill" and the head "at::native::fill<4, at::x<float> >": without the return
 * type, parameters, and any text in (), [] and {}. */
struct tp_kernel_name {
	char base[TP_KERNEL_BASE_SIZE];
	char head[TP_KERNEL_HEAD_SIZE];
};

/* For a mangled name ("_Z…") the base is the output of tp_cxx_name_demangle() and the head is the
 * name as given. Longer names are truncated. Any bytes are a name; the time grows with their
 * number. */
void tp_kernel_name_parse(struct tp_kernel_name *out, const char *name);

#endif
