/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A training loop that marks its steps and phases with NVTX and calls NCCL, on the doubles of CUDA:
 * nvtx_steps STEPS BYTES. Each step computes for 4 ms, reduces BYTES over 8 ranks for 2 ms with the
 * ranges that NCCL 2.28 emits (a communicator is created first), as much again in a group of two
 * calls for 2 ms, and waits. With ODD=1 it also emits range names of arbitrary bytes and ends more
 * ranges than it began.
 */
#include "../doubles/cuda_double.h"
#include "../doubles/nvtx_client.h"

#include <stdio.h>
#include <time.h>

enum { STATIC_IDS = 1 << 24, COMM_INIT = 0, ALL_REDUCE = 5 };

#define HASH UINT64_C(0x5eed)

static void (*work)(const struct cuda_double_work *);
static void *nccl;

static void nap_us(long us)
{
	nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

static int load(void)
{
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
	void *init = cuda ? dlsym(cuda, "cuInit") : NULL;
	void *symbol = cuda ? dlsym(cuda, "cuda_double_work") : NULL;
	void *is_heard = cuda ? dlsym(cuda, "cuda_double_is_heard") : NULL;
	int (*begin)(unsigned);
	memcpy(&begin, &init, sizeof(begin));
	memcpy(&work, &symbol, sizeof(work));
	if (!init || !symbol || !is_heard || begin(0) != 0)
		return 0;
	for (int i = 0; i < 500 && !__atomic_load_n((int *)is_heard, __ATOMIC_ACQUIRE); i++)
		nap_us(10000);
	return 1;
}

static void launch(const char *name, long us)
{
	work(&(struct cuda_double_work){.what = CUDA_DOUBLE_LAUNCH,
					.name = name,
					.took_ns = (uint64_t)us * 1000,
					.stream = 7});
	nap_us(us);
}

static void wait_for_device(void)
{
	work(&(struct cuda_double_work){.what = CUDA_DOUBLE_SYNC, .took_ns = 1000, .stream = 7});
}

static void *text_of(const char *name)
{
	return nvtx_register(nccl, name);
}

static void make_communicator(void)
{
	const uint64_t made[3] = {HASH, 8 | UINT64_C(3) << 32, 0};
	nvtx_push_payload(nccl, text_of("ncclCommInitRank"), 0, NULL, 0);
	nvtx_pop_payload(nccl, STATIC_IDS + COMM_INIT, made, sizeof(made));
}

static void push_all_reduce(uint64_t bytes)
{
	const uint64_t asked[3] = {HASH, bytes, 0};
	nvtx_push_payload(nccl, text_of("ncclAllReduce"), STATIC_IDS + ALL_REDUCE, asked,
			  sizeof(asked));
}

static void reduce(uint64_t bytes)
{
	push_all_reduce(bytes);
	launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 2000);
	nvtx_domain_pop(nccl);
}

static void reduce_group(uint64_t bytes)
{
	nvtx_push_payload(nccl, text_of("ncclGroupStart"), 0, NULL, 0);
	nvtx_domain_pop(nccl);
	for (int i = 0; i < 2; i++) {
		push_all_reduce(bytes / 2);
		nvtx_domain_pop(nccl);
	}
	nvtx_push_payload(nccl, text_of("ncclGroupEnd"), 0, NULL, 0);
	launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 2000);
	nvtx_domain_pop(nccl);
}

static void name_oddly(void)
{
	char name[700];
	for (int c = 1; c < 256; c++) {
		memset(name, c, sizeof(name) - 1);
		name[sizeof(name) - 1] = '\0';
		nvtx_push(name);
		nvtx_pop();
	}
	nvtx_pop();
	nvtx_pop();
}

static void step(long number, uint64_t bytes)
{
	char name[32];
	snprintf(name, sizeof(name), "step %ld", number);
	nvtx_push(name);
	nvtx_push("forward");
	launch("ampere_sgemm_128x64_tn", 4000);
	nvtx_pop();
	reduce(bytes);
	reduce_group(bytes);
	wait_for_device();
	nvtx_pop();
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	nccl = nvtx_domain("NCCL");
	if (!load()) {
		fprintf(stderr, "nvtx_steps: no double of libcuda\n");
		return 2;
	}
	if (getenv("ODD"))
		name_oddly();
	make_communicator();
	for (long i = 0; i < strtol(argv[1], NULL, 10); i++)
		step(i, strtoull(argv[2], NULL, 10));
	return 0;
}
