/* SPDX-License-Identifier: Apache-2.0 */
/* The test doubles of CUDA next to the test binary: finds them, scripts them and loads them. */
#ifndef TRAINPROF_TESTS_AGENT_CUDADOUBLE_H
#define TRAINPROF_TESTS_AGENT_CUDADOUBLE_H

#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CUDA_DOUBLE_PATH = 700 };

/* Path of a file next to the test binary: "doubles/whole/libcupti.so.13". */
static inline const char *beside(char out[CUDA_DOUBLE_PATH], const char *file)
{
	char self[512];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	ck_assert_int_gt(len, 0);
	self[len] = '\0';
	*strrchr(self, '/') = '\0';
	snprintf(out, CUDA_DOUBLE_PATH, "%s/%s", self, file);
	return out;
}

/* Sets the script of the CUPTI double that is loaded next, in this process or in one that it
 * starts. */
static inline void cupti_script(const char *directory, const char *text)
{
	char path[CUDA_DOUBLE_PATH];
	snprintf(path, sizeof(path), "%s/script", directory);
	FILE *file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
	setenv("CUPTI_SCRIPT", path, 1);
}

/* Loads both doubles into this process; age is "whole", "old" or "broken". The driver comes
 * first. */
static inline void *cuda_doubles_load(const char *age)
{
	char path[CUDA_DOUBLE_PATH];
	char file[64];
	void *cuda = dlopen(beside(path, "doubles/libcuda.so.1"), RTLD_NOW);
	ck_assert_msg(cuda != NULL, "%s", path);
	snprintf(file, sizeof(file), "doubles/%s/libcupti.so.13", age);
	setenv("TRAINPROF_CUPTI", beside(path, file), 1);
	return cuda;
}

#endif
