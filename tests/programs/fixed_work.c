/* SPDX-License-Identifier: Apache-2.0 */
/* Does the same arithmetic in every run, on one CPU or in several threads: fixed_work UNITS
 * [THREADS]. A unit takes about a millisecond. Prints a checksum that never changes: a slower run
 * has done the same work. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_THREADS = 64, UNIT = 400000 };

struct share {
	int units;
	uint64_t sum;
};

__attribute__((noinline)) static uint64_t mix_unit(uint64_t x)
{
	for (int i = 0; i < UNIT; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}

static void *do_share(void *argument)
{
	struct share *share = argument;
	share->sum = 88172645463325252u;
	for (int i = 0; i < share->units; i++)
		share->sum = mix_unit(share->sum);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[MAX_THREADS];
	struct share shares[MAX_THREADS];
	int units = argc > 1 ? atoi(argv[1]) : 1000;
	int n = argc > 2 ? atoi(argv[2]) : 1;
	uint64_t sum = 0;
	if (n < 1 || n > MAX_THREADS)
		return 2;
	for (int i = 0; i < n; i++) {
		shares[i].units = units;
		if (i > 0 && pthread_create(&threads[i], NULL, do_share, &shares[i]) != 0)
			return 2;
	}
	do_share(&shares[0]);
	for (int i = 1; i < n; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < n; i++)
		sum += shares[i].sum;
	printf("%016llx\n", (unsigned long long)sum);
	return 0;
}
