/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures a minor page fault by accessing new pages.
 *
 * If the kernel may not be sampled, this cost times the number of faults is the only way to
 * determine how much of a program's kernel time is page faults. Huge pages are disabled, because a
 * program's small blocks do not get them.
 */
#include "page_fault_cost.h"

#include <stdint.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { N_PAGES = 64, N_ROUNDS = 3 };

static double cpu_ns(void)
{
	struct timespec ts = {0};
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static double touch_once(size_t page_bytes)
{
	size_t size = N_PAGES * page_bytes;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 0;
	madvise(memory, size, MADV_NOHUGEPAGE);
	double before = cpu_ns();
	for (size_t i = 0; i < N_PAGES; i++)
		*(volatile char *)(memory + i * page_bytes) = 1;
	double cost = (cpu_ns() - before) / N_PAGES;
	munmap(memory, size);
	return cost;
}

double tp_page_fault_cost_ns(void)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	double least = 0;
	for (int i = 0; i < N_ROUNDS; i++) {
		double cost = touch_once(page_bytes);
		if (cost > 0 && (least <= 0 || cost < least))
			least = cost;
	}
	return least;
}
