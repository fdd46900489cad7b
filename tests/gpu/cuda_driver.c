/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the functions of CUDA's driver. */
#include "cuda_driver.h"

#include <dlfcn.h>
#include <string.h>

const char *cuda_driver_open(struct cuda_driver *out)
{
	static const struct {
		const char *symbol;
		size_t offset;
	} calls[] = {
#define X(member, symbol, arguments) {#symbol, offsetof(struct cuda_driver, member)},
		CUDA_DRIVER_MAP(X)
#undef X
	};
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	if (!library)
		return "libcuda.so.1";
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		void *found = dlsym(library, calls[i].symbol);
		if (!found)
			return calls[i].symbol;
		memcpy((char *)out + calls[i].offset, &found, sizeof(found));
	}
	return NULL;
}
