/* SPDX-License-Identifier: Apache-2.0 */
/* Prints "ready", waits for INT or TERM, waits a little for a second delivery, then prints how
 * often each arrived and exits with 7 after INT, 8 after TERM, 9 if none came in time: signal_trap
 * SECONDS */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile sig_atomic_t n_int;
static volatile sig_atomic_t n_term;

static void count(int number)
{
	if (number == SIGINT)
		n_int++;
	else
		n_term++;
}

static void rest_ms(long milliseconds)
{
	struct timespec t = {milliseconds / 1000, milliseconds % 1000 * 1000000};
	nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
	int limit_ms = (argc > 1 ? atoi(argv[1]) : 10) * 1000;
	struct sigaction action = {.sa_handler = count};
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	printf("ready\n");
	fflush(stdout);
	for (int waited_ms = 0; waited_ms < limit_ms && !n_int && !n_term; waited_ms += 10)
		rest_ms(10);
	for (int i = 0; i < 20; i++)
		rest_ms(10);
	printf("int %d term %d\n", (int)n_int, (int)n_term);
	if (n_int)
		return 7;
	return n_term ? 8 : 9;
}
