/* SPDX-License-Identifier: Apache-2.0 */
/* blocker DIRECTORY: starts one thread for each reason for which a thread can wait; each waits for
 * as long as standard input stays open. Prints "NAME TID DETAIL" for each, then "ready". */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILE_BYTES = 16 << 20, BLOCK = 4096, N_BLOCKS = FILE_BYTES / BLOCK };

static char directory[1024];
static char data_path[1100];
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static sem_t never;
static int child_pid;
static atomic_uint n_said;

static void say(const char *name, const char *detail)
{
	char line[2048];
	int len = snprintf(line, sizeof(line), "%s %ld %s\n", name, syscall(SYS_gettid), detail);
	prctl(PR_SET_NAME, name);
	if (write(1, line, (size_t)len) < 0)
		_exit(1);
	n_said++;
}

static void make_pipe(int ends[2])
{
	if (pipe(ends) != 0)
		_exit(1);
}

static void *wait_pipe(void *unused)
{
	int ends[2];
	char c;
	make_pipe(ends);
	say("pipe", "");
	return read(ends[0], &c, 1) < 0 ? NULL : unused;
}

static void *wait_fifo(void *unused)
{
	char path[1100];
	char c;
	snprintf(path, sizeof(path), "%s/fifo", directory);
	unlink(path);
	if (mkfifo(path, 0600) != 0)
		_exit(1);
	int fd = open(path, O_RDWR);
	say("fifo", path);
	return read(fd, &c, 1) < 0 ? NULL : unused;
}

static void *wait_socket(void *unused)
{
	int ends[2];
	char c;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		_exit(1);
	say("socket", "");
	return recv(ends[0], &c, 1, 0) < 0 ? NULL : unused;
}

static void *wait_poll_one(void *unused)
{
	int ends[2];
	make_pipe(ends);
	struct pollfd one = {.fd = ends[0], .events = POLLIN};
	say("poll_one", "");
	return poll(&one, 1, -1) < 0 ? NULL : unused;
}

static void *wait_poll_many(void *unused)
{
	int a[2];
	int b[2];
	make_pipe(a);
	make_pipe(b);
	struct pollfd two[2] = {{.fd = a[0], .events = POLLIN}, {.fd = b[0], .events = POLLIN}};
	say("poll_many", "");
	return poll(two, 2, -1) < 0 ? NULL : unused;
}

static void *wait_poll_none(void *unused)
{
	say("poll_none", "");
	return poll(NULL, 0, -1) < 0 ? NULL : unused;
}

static void *wait_select_one(void *unused)
{
	int ends[2];
	fd_set set;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		_exit(1);
	FD_ZERO(&set);
	FD_SET(ends[0], &set);
	say("select_one", "");
	return select(ends[0] + 1, &set, NULL, NULL, NULL) < 0 ? NULL : unused;
}

static void *wait_epoll(void *unused)
{
	int ends[2];
	make_pipe(ends);
	int fd = epoll_create1(0);
	struct epoll_event event = {.events = EPOLLIN};
	epoll_ctl(fd, EPOLL_CTL_ADD, ends[0], &event);
	say("epoll", "");
	return epoll_wait(fd, &event, 1, -1) < 0 ? NULL : unused;
}

static void *wait_sleep(void *unused)
{
	say("sleep", "");
	for (;;)
		sleep(100);
	return unused;
}

static void *wait_mutex(void *unused)
{
	char detail[32];
	snprintf(detail, sizeof(detail), "%p", (void *)&held);
	say("mutex", detail);
	pthread_mutex_lock(&held);
	return unused;
}

static void *wait_sem(void *unused)
{
	char detail[32];
	snprintf(detail, sizeof(detail), "%p", (void *)&never);
	say("sem", detail);
	sem_wait(&never);
	return unused;
}

static void *wait_child(void *unused)
{
	say("child", "");
	waitpid(child_pid, NULL, 0);
	return unused;
}

static void *wait_terminal(void *unused)
{
	char c;
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	char name[128];
	if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0 ||
	    ptsname_r(master, name, sizeof(name)) != 0)
		_exit(1);
	int slave = open(name, O_RDWR | O_NOCTTY);
	say("terminal", name);
	return read(slave, &c, 1) < 0 ? NULL : unused;
}

static unsigned next_block(unsigned block)
{
	return (block * 1103515245u + 12345u) % N_BLOCKS;
}

/* Reads past the page cache if the file system can; otherwise drops the cache before each read. */
static void *wait_file(void *unused)
{
	void *buffer;
	int fd = open(data_path, O_RDONLY | O_DIRECT);
	if (fd < 0)
		fd = open(data_path, O_RDONLY);
	if (posix_memalign(&buffer, BLOCK, BLOCK) != 0)
		_exit(1);
	say("file", data_path);
	for (unsigned block = 1;; block = next_block(block)) {
		posix_fadvise(fd, (off_t)block * BLOCK, BLOCK, POSIX_FADV_DONTNEED);
		if (pread(fd, buffer, BLOCK, (off_t)block * BLOCK) != BLOCK)
			_exit(1);
	}
	return unused;
}

static void *wait_fault(void *unused)
{
	int fd = open(data_path, O_RDONLY);
	volatile char *map = mmap(NULL, FILE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	unsigned sum = 0;
	madvise((void *)(unsigned long)map, FILE_BYTES, MADV_RANDOM);
	say("fault", "");
	for (unsigned block = 7;; block = next_block(block)) {
		size_t at = (size_t)block * BLOCK;
		sum += (unsigned)map[at];
		madvise((void *)(unsigned long)(map + at), BLOCK, MADV_DONTNEED);
		posix_fadvise(fd, (off_t)at, BLOCK, POSIX_FADV_DONTNEED);
	}
	return sum ? unused : NULL;
}

static void *stay_busy(void *unused)
{
	volatile unsigned long n = 0;
	say("spin", "");
	for (;;)
		n++;
	return unused;
}

/* Creates a file that is on the disk and not in the page cache. */
static void make_data(void)
{
	static char block[1 << 20];
	snprintf(data_path, sizeof(data_path), "%s/data.bin", directory);
	int fd = open(data_path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (size_t done = 0; done < FILE_BYTES; done += sizeof(block)) {
		memset(block, (int)(done >> 20) + 1, sizeof(block));
		if (write(fd, block, sizeof(block)) != (ssize_t)sizeof(block)) {
			fprintf(stderr, "blocker: cannot write '%s': %s\n", data_path,
				strerror(errno));
			exit(1);
		}
	}
	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
}

int main(int argc, char **argv)
{
	static void *(*const waits[])(void *) = {
		wait_pipe,      wait_fifo,      wait_socket, wait_poll_one,
		wait_poll_many, wait_poll_none, wait_epoll,  wait_sleep,
		wait_mutex,     wait_sem,       wait_child,  wait_terminal,
		wait_file,      wait_fault,     stay_busy,   wait_select_one,
	};
	enum { N_WAITS = sizeof(waits) / sizeof(waits[0]) };
	char c;
	if (argc != 2) {
		fprintf(stderr, "usage: blocker DIRECTORY\n");
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(directory, sizeof(directory), "%s", argv[1]);
	make_data();
	child_pid = fork();
	if (child_pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	sem_init(&never, 0, 0);
	pthread_mutex_lock(&held);
	for (unsigned i = 0; i < N_WAITS; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, waits[i], NULL) != 0)
			return 1;
	}
	while (n_said < N_WAITS)
		usleep(1000);
	usleep(20000); /* time from a thread's line to its wait */
	if (write(1, "ready\n", 6) != 6)
		return 1;
	while (read(0, &c, 1) > 0)
		continue;
	kill(child_pid, SIGKILL);
	unlink(data_path);
	_exit(0);
}
