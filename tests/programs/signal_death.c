/* SPDX-License-Identifier: Apache-2.0 */
/* Dies of the signal given, by default action: signal_death NUMBER */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int number = argc > 1 ? atoi(argv[1]) : SIGTERM;
	const struct rlimit no_core = {0, 0};
	sigset_t one;
	setrlimit(RLIMIT_CORE, &no_core);
	signal(number, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, number);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	printf("dying of %d\n", number);
	fflush(stdout);
	kill(getpid(), number);
	return 99;
}
