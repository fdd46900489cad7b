/* SPDX-License-Identifier: Apache-2.0 */
/* A double of libcuda.so.1: it has no GPU, but cuInit() calls the injected tool as the real one
 * does, and work that a program requests is reported to the function in cuda_double_hook (set by
 * the double of CUPTI). $CUDA_DOUBLE_VERSION is the result of cuDriverGetVersion(), 13000 unless
 * set. */
#include "cuda_double.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

cuda_double_hook_fn *cuda_double_hook;
int cuda_double_is_heard;

static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *tool = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	void *symbol = tool ? dlsym(tool, "InitializeInjection") : NULL;
	int (*begin)(void) = NULL;
	memcpy(&begin, &symbol, sizeof(begin));
	if (begin)
		begin();
}

int cuInit(unsigned flags)
{
	static bool is_done;
	(void)flags;
	if (!__atomic_exchange_n(&is_done, true, __ATOMIC_ACQ_REL))
		inject();
	return 0;
}

int cuDriverGetVersion(int *out)
{
	const char *version = getenv("CUDA_DOUBLE_VERSION");
	*out = version ? atoi(version) : 13000;
	return 0;
}

void cuda_double_work(const struct cuda_double_work *work)
{
	cuda_double_hook_fn *hook = __atomic_load_n(&cuda_double_hook, __ATOMIC_ACQUIRE);
	if (hook)
		hook(work);
}
