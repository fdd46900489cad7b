/* SPDX-License-Identifier: Apache-2.0 */
/* Loads CUDA's driver and initialises it. */
#include "cuda_init.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

int tp_cuda_init(void)
{
	int (*init)(unsigned) = NULL;
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
	void *symbol = driver ? dlsym(driver, "cuInit") : NULL;
	/* ISO C has no cast from an object's address to a function's. */
	memcpy(&init, &symbol, sizeof(init));
	return init ? init(0) : TP_CUDA_NO_DRIVER;
}
