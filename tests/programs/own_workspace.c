/* SPDX-License-Identifier: Apache-2.0 */
/* own_workspace ROUNDS: runs kernels that are generated at run time and move the stack pointer to a
 * workspace on the heap, as those of oneDNN do. In each round multiply() calls the kernel for some
 * 0.3 ms, once for forward() and once for backward(); in between other calls overwrite the stack
 * there. x86-64 only; elsewhere it does nothing. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define KEEP __attribute__((noinline))
/* Keeps a call from being the last action of a function, which would turn it into a jump. */
#define AFTER_CALL() __asm__ volatile("" ::: "memory")

enum { WORKSPACE_WORDS = 8192, KERNEL_ROUNDS = 1000000 };

static const uint8_t code[] = {
	0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57, /* push rbx, rbp, r12 to r15 */
	0x48, 0x89, 0xe5,                                           /* mov %rsp, %rbp */
	0x48, 0x89, 0xfc,                                           /* mov %rdi, %rsp */
	0x48, 0x89, 0x6c, 0x24, 0x78,                               /* mov %rbp, 120(%rsp) */
	0x48, 0xff, 0xce, 0x75, 0xfb,                               /* dec %rsi; jnz -5 */
	0x48, 0x8b, 0x64, 0x24, 0x78,                               /* mov 120(%rsp), %rsp */
	0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b, /* pop */
	0xc3,
};

static void (*volatile kernel)(void *workspace, uint64_t rounds);
static uint64_t workspace[WORKSPACE_WORDS] __attribute__((aligned(64)));

KEEP static void multiply(void)
{
	kernel(workspace, KERNEL_ROUNDS);
	AFTER_CALL();
}

KEEP static void forward(void)
{
	multiply();
	AFTER_CALL();
}

KEEP static void backward(void)
{
	multiply();
	AFTER_CALL();
}

KEEP static void overwrite(int byte)
{
	volatile char room[4096];
	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = (char)byte;
	AFTER_CALL();
}

/* One call site for both, so that they are the only difference. */
KEEP static void step(void (*volatile part)(void))
{
	part();
	AFTER_CALL();
}

static bool make_kernel(void)
{
	uint8_t *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return false;
	memcpy(at, code, sizeof(code));
	void (*function)(void *, uint64_t);
	memcpy(&function, &at, sizeof(at)); /* no cast from data to code is allowed */
	kernel = function;
	return true;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100;
#if !defined(__x86_64__)
	rounds = 0;
#endif
	if (!make_kernel()) {
		perror("own_workspace");
		return 1;
	}
	for (int i = 0; i < 2 * rounds; i++) {
		step(i % 2 ? backward : forward);
		overwrite(i);
	}
	return 0;
}
