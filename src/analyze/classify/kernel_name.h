/* SPDX-License-Identifier: Apache-2.0 */
/* The two parts of a device kernel's name that tell what it does. */
#ifndef TRAINPROF_SRC_ANALYZE_CLASSIFY_KERNEL_NAME_H
#define TRAINPROF_SRC_ANALYZE_CLASSIFY_KERNEL_NAME_H

enum { TP_KERNEL_BASE_SIZE = 512, TP_KERNEL_HEAD_SIZE = 4096 };

/*
 * Small letters. Of "void at::native::(anonymous namespace)::fill<4, at::X<float> >(int, char*)"
 * the base is "at::native::fill" and the head "at::native::fill<4, at::x<float> >". Without the
 * type that is returned, parameters, and what stands in (), [] and {}.
 */
struct tp_kernel_name {
	char base[TP_KERNEL_BASE_SIZE];
	char head[TP_KERNEL_HEAD_SIZE];
};

/*
 * Of a mangled name ("_Z…") the base is what tp_cxx_name_demangle() makes of it and the head the
 * name as it is. Longer names are cut. Any bytes are a name; the time grows with their number.
 */
void tp_kernel_name_parse(struct tp_kernel_name *out, const char *name);

#endif
