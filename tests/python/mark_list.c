/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program and lists its marks: mark_list RINGFILE PROGRAM ARGUMENT... Prints a line for
 * each, "pid tid kind depth time_ns name", then "taken N lost N refused N". Drains while the
 * program runs. */
#include "trainprof/wire/mark_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void list(void *context, const struct tp_mark_record *mark)
{
	fprintf(context, "%u %u %u %u %llu %s\n", mark->pid, mark->tid, mark->kind, mark->depth,
		(unsigned long long)mark->time_ns, mark->name);
}

int main(int argc, char **argv)
{
	struct tp_mark_ring ring;
	struct tp_mark_folder folder;
	int status = 0;
	if (argc < 3 || tp_mark_ring_create(&ring, argv[1], TP_MARK_RING_RECORDS) != 0 ||
	    tp_mark_folder_open(&folder, argv[1]) != 0) {
		fprintf(stderr, "usage: mark_list NEWFILE PROGRAM ARGUMENT...\n");
		return 2;
	}
	setenv(TP_MARK_RING_ENV, argv[1], 1);
	pid_t pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	struct timespec pause = {.tv_nsec = 2000000};
	while (waitpid(pid, &status, WNOHANG) == 0) {
		tp_mark_ring_drain(&ring, false, list, stdout);
		tp_mark_folder_drain(&folder, false, list, stdout);
		nanosleep(&pause, NULL);
	}
	tp_mark_ring_drain(&ring, true, list, stdout);
	tp_mark_folder_drain(&folder, true, list, stdout);
	printf("taken %llu lost %llu refused %llu\n",
	       (unsigned long long)(ring.n_taken + folder.n_taken),
	       (unsigned long long)(ring.n_lost + folder.n_lost),
	       (unsigned long long)folder.n_refused);
	tp_mark_ring_close(&ring);
	tp_mark_folder_close(&folder);
	unlink(argv[1]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}
