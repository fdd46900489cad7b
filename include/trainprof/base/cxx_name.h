/* SPDX-License-Identifier: Apache-2.0 */
/* Names of C++ functions without the types in them. */
#ifndef TRAINPROF_BASE_CXX_NAME_H
#define TRAINPROF_BASE_CXX_NAME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * "_ZN10DataLoader4nextEv" gives "DataLoader::next". Arguments of functions and templates are left
 * out, because a function that receives a DataLoader is not one. Code in a function ("_ZZ",
 * lambdas) has the function's name.
 *
 * out     NUL-terminated, truncated if too long; unchanged if the result is false. Errors  false
 * for names that are not mangled, special ones (vtables, thunks), damaged ones. Source  Itanium C++
 * ABI, 5.1 "External Names", read 2026-11-22.
 */
bool tp_cxx_name_demangle(char *out, size_t size, const char *symbol);

#endif
