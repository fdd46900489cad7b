/* SPDX-License-Identifier: Apache-2.0 */
/* The version of trainprof and its build options. */
#ifndef TRAINPROF_BASE_VERSION_H
#define TRAINPROF_BASE_VERSION_H

const char *tp_version(void); /* "0.1.0" */
const char *tp_commit(void);  /* "0f3c2e1", or "unknown" */
/* Compiler and optional libraries, NULL-terminated: "libpfm4". */
const char *const *tp_build_info(void);

#endif
