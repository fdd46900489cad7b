/* SPDX-License-Identifier: Apache-2.0 */
/* Executes itself again N times, each time after some work, then exits with 5: exec_chain N */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static double work(void)
{
	double x = 1;
	for (int i = 0; i < 2000000; i++)
		x = x * 1.0000001 + 1e-9;
	return x;
}

int main(int argc, char **argv)
{
	int left = argc > 1 ? atoi(argv[1]) : 3;
	char text[16];
	double x = work();
	if (left <= 0) {
		printf("end of the chain in %d (%.3f)\n", (int)getpid(), x);
		return 5;
	}
	snprintf(text, sizeof(text), "%d", left - 1);
	execv("/proc/self/exe", (char *[]){argv[0], text, NULL});
	return 99;
}
