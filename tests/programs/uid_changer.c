/* SPDX-License-Identifier: Apache-2.0 */
/* Gives up root and then works as another user, whose /proc files a profiler without root cannot
 * read: uid_changer UID MILLISECONDS. Without root it prints that and exits with 77. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	unsigned id = argc > 1 ? (unsigned)atoi(argv[1]) : 65534;
	clock_t until = clock() + (argc > 2 ? atol(argv[2]) : 200) * CLOCKS_PER_SEC / 1000;
	double x = 1;
	if (geteuid() != 0) {
		fprintf(stderr, "uid_changer: not root\n");
		return 77;
	}
	if (setgid(id) != 0 || setuid(id) != 0) {
		perror("uid_changer");
		return 1;
	}
	while (clock() < until) {
		for (int i = 0; i < 10000; i++)
			x = x * 1.0000001 + 1e-9;
	}
	printf("uid %d %.3f\n", (int)getuid(), x);
	return 6;
}
