/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads pass a turn to each other: ping_pong pipe|futex ROUNDS [pinned|free] [WORK]. Each
 * round is two context switches if both share a CPU ("pinned"), and two wake-ups in any case; each
 * turn does WORK rounds of arithmetic, 0 by default, so that the rate can be chosen. Prints the
 * switches per second that the kernel counted for both. */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct {
	int is_futex;
	long rounds;
	long work;
	int to_pong[2];
	int to_ping[2];
	atomic_int turn; /* 0 ping, 1 pong */
} game;

static void hand_over(int to)
{
	char byte = 1;
	if (game.is_futex) {
		atomic_store(&game.turn, to);
		syscall(SYS_futex, &game.turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	} else if (write(to ? game.to_pong[1] : game.to_ping[1], &byte, 1) != 1) {
		exit(2);
	}
}

__attribute__((noinline)) static double take_turn(void)
{
	volatile double x = 1;
	for (long i = 0; i < game.work; i++)
		x = x * 1.0000001 + 1e-9;
	return x;
}

static void await(int me)
{
	char byte;
	if (!game.is_futex) {
		if (read(me ? game.to_pong[0] : game.to_ping[0], &byte, 1) != 1)
			exit(2);
		return;
	}
	while (atomic_load(&game.turn) != me)
		syscall(SYS_futex, &game.turn, FUTEX_WAIT_PRIVATE, 1 - me, NULL, NULL, 0);
}

static void *pong(void *argument)
{
	for (long i = 0; i < game.rounds; i++) {
		await(1);
		take_turn();
		hand_over(0);
	}
	(void)argument;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t other;
	struct timespec begin;
	struct timespec end;
	struct rusage usage;
	game.is_futex = argc > 1 && strcmp(argv[1], "futex") == 0;
	game.rounds = argc > 2 ? atol(argv[2]) : 100000;
	game.work = argc > 4 ? atol(argv[4]) : 0;
	if (argc > 3 && strcmp(argv[3], "pinned") == 0) {
		cpu_set_t one;
		CPU_ZERO(&one);
		CPU_SET(sched_getcpu(), &one);
		sched_setaffinity(0, sizeof(one), &one);
	}
	if (pipe(game.to_pong) != 0 || pipe(game.to_ping) != 0)
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	if (pthread_create(&other, NULL, pong, NULL) != 0)
		return 2;
	for (long i = 0; i < game.rounds; i++) {
		hand_over(1);
		await(0);
		take_turn();
	}
	pthread_join(other, NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	getrusage(RUSAGE_SELF, &usage);
	double seconds =
		(double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
	printf("rounds %ld seconds %.3f switches_per_s %.0f\n", game.rounds, seconds,
	       (double)(usage.ru_nvcsw + usage.ru_nivcsw) / seconds);
	return 0;
}
