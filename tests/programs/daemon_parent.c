/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a daemon and exits with 4: daemon_parent SECONDS PIDFILE [closed]. The daemon has its own
 * session, outlives its parent, and keeps stdout open unless "closed" is given. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void live(unsigned seconds, const char *path)
{
	FILE *file = path ? fopen(path, "w") : NULL;
	if (file) {
		fprintf(file, "%d\n", (int)getpid());
		fclose(file);
	}
	sleep(seconds);
	_exit(0);
}

int main(int argc, char **argv)
{
	int gate[2];
	char byte = 0;
	if (pipe(gate) != 0)
		return 99;
	if (fork() == 0) {
		setsid();
		if (fork() != 0)
			_exit(0);
		if (argc > 3 && strcmp(argv[3], "closed") == 0) {
			for (int fd = 0; fd < 3; fd++)
				close(fd);
		}
		close(gate[0]);
		if (write(gate[1], &byte, 1) != 1)
			_exit(1);
		close(gate[1]);
		live(argc > 1 ? (unsigned)atoi(argv[1]) : 1, argc > 2 ? argv[2] : NULL);
	}
	close(gate[1]);
	if (read(gate[0], &byte, 1) != 1)
		return 98;
	printf("left a daemon\n");
	return 4;
}
