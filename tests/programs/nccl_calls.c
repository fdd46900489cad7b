/* SPDX-License-Identifier: Apache-2.0 */
/* Calls functions of a real libnccl without a communicator, and therefore without a GPU: nccl_calls
 * LIBRARY. Each call fails after it has emitted its NVTX range. Exit status 3: the library cannot
 * be loaded here. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* nccl.h of 2.28 */
enum { CHAR = 0, FLOAT = 7, SUM = 0 };

typedef int all_reduce_fn(const void *, void *, size_t, int, int, void *, void *);
typedef int send_fn(const void *, size_t, int, int, void *, void *);
typedef int plain_fn(void);

static void *library;

static void find(const char *name, void *out)
{
	void *symbol = dlsym(library, name);
	memcpy(out, &symbol, sizeof(symbol));
}

int main(int argc, char **argv)
{
	all_reduce_fn *all_reduce;
	all_reduce_fn *reduce_scatter;
	send_fn *send;
	plain_fn *start;
	plain_fn *end;
	library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	if (!library) {
		fprintf(stderr, "nccl_calls: %s\n", argc > 1 ? dlerror() : "no library");
		return 3;
	}
	find("ncclAllReduce", &all_reduce);
	find("ncclReduceScatter", &reduce_scatter);
	find("ncclSend", &send);
	find("ncclGroupStart", &start);
	find("ncclGroupEnd", &end);
	if (!all_reduce || !reduce_scatter || !send || !start || !end)
		return 3;
	all_reduce(NULL, NULL, 524288, FLOAT, SUM, NULL, NULL);
	reduce_scatter(NULL, NULL, 4096, FLOAT, SUM, NULL, NULL);
	start();
	send(NULL, 777, CHAR, 1, NULL, NULL);
	end();
	return 0;
}
