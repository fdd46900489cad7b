/* SPDX-License-Identifier: Apache-2.0 */
/* The test double of NVML (tests/doubles/nvidia_ml.c), next to the test binary, and its script. */
#ifndef TRAINPROF_TESTS_COLLECT_NVMLDOUBLE_H
#define TRAINPROF_TESTS_COLLECT_NVMLDOUBLE_H

#include "collect/gpu/nvml/nvml_device.h"

#include <check.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* `age` is "whole", "old" or "broken". */
static inline const char *double_path(char *out, size_t size, const char *age)
{
	char self[512];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	ck_assert_int_gt(len, 0);
	self[len] = '\0';
	*strrchr(self, '/') = '\0';
	snprintf(out, size, "%s/doubles/%s/libnvidia-ml.so.1", self, age);
	return out;
}

/* Sets the script that the double follows from its next init on; it is read once per load. */
static inline void double_script(const char *text)
{
	static char path[] = "/tmp/trainprof-nvml-XXXXXX";
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	setenv("NVML_SCRIPT", path, 1);
}

/* Removes the script; the first call of the double has already read it. */
static inline void double_reset(void)
{
	unlink(getenv("NVML_SCRIPT"));
}

struct double_rig {
	struct tp_nvml_library library;
	struct tp_nvml_device device;
	struct tp_nvml_reading reading;
};

/* Loads and initializes the library and opens device 0. */
static inline void double_open(struct double_rig *rig, const char *age, const char *script)
{
	char path[600];
	*rig = (struct double_rig){0};
	double_script(script);
	ck_assert(!tp_nvml_library_open(&rig->library, double_path(path, sizeof(path), age), NULL));
	ck_assert_int_eq(rig->library.init(), NVML_SUCCESS);
	double_reset();
	ck_assert_int_eq(tp_nvml_device_open(&rig->device, &rig->library, 0), NVML_SUCCESS);
	for (size_t i = 0; i < TP_N_GPU_METRICS; i++)
		rig->reading.values[i] = NAN;
}

static inline void double_close(struct double_rig *rig)
{
	tp_nvml_device_close(&rig->device, &rig->library);
	tp_nvml_library_close(&rig->library);
}

/* Advances the clock of the double. */
static inline void double_advance(const char *age, double seconds)
{
	char path[600];
	void (*advance)(double);
	void *library = dlopen(double_path(path, sizeof(path), age), RTLD_NOW | RTLD_NOLOAD);
	ck_assert_ptr_nonnull(library);
	void *symbol = dlsym(library, "nvmlDoubleAdvance");
	ck_assert_ptr_nonnull(symbol);
	memcpy(&advance, &symbol, sizeof(advance));
	advance(seconds);
	dlclose(library);
}

static inline double double_value(struct double_rig *rig, enum tp_metric metric)
{
	return *tp_nvml_value(&rig->reading, metric);
}

#endif
