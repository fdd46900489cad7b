/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that detect side effects of another process on them: steadfast THREADS, in addition to
 * the first. They read, sleep, poll and wait in turn, take signals, allocate, load libraries and
 * create children, and count what should not have happened: an EINTR without a signal, a signal
 * without an EINTR, a register that changed. It runs until the end of its input, or for an hour,
 * and ends with 7, or with 1 and a line for each kind of trouble. It prints to stderr how many
 * signals arrived before a call was restarted: after any stop the kernel restarts the call, and a
 * signal that arrives before that does not interrupt it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { MOST_THREADS = 400, KINDS = 11, STACK = 128 << 10 };

static struct {
	int is_over;
	unsigned n_troubles[KINDS];
	int last_errno[KINDS];
} all;

static struct peer {
	pthread_t thread;
	int kind;
	int ends[2];
	sem_t turn;
	int tid;
	unsigned n_handled;
	unsigned n_broken;
	unsigned n_early; /* handled ones that arrived before the call, not in it */
} peers[MOST_THREADS];

static __thread struct peer *self;

static int is_over(void)
{
	return __atomic_load_n(&all.is_over, __ATOMIC_RELAXED);
}

static void trouble(int kind)
{
	__atomic_fetch_add(&all.n_troubles[kind], 1, __ATOMIC_RELAXED);
	all.last_errno[kind] = errno;
}

static void nap(long us)
{
	const struct timespec time = {.tv_nsec = us * 1000};
	nanosleep(&time, NULL);
}

static double clock_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- what threads do ------------------------------------------------------------------------ */

static void turn_read(struct peer *peer)
{
	char byte;
	if (read(peer->ends[0], &byte, 1) != 1)
		trouble(peer->kind);
}

/* The sleep is not shorter than requested, and a stop does not restart it in full. */
static void turn_sleep(struct peer *peer)
{
	const struct timespec time = {.tv_nsec = 2000000};
	double begun_s = clock_s();
	errno = 0;
	if (nanosleep(&time, NULL) != 0 || clock_s() - begun_s < 0.002)
		trouble(peer->kind);
}

static void turn_poll(struct peer *peer)
{
	errno = 0;
	if (poll(NULL, 0, 3) != 0)
		trouble(peer->kind);
}

static void turn_wait(struct peer *peer)
{
	if (sem_wait(&peer->turn) != 0)
		trouble(peer->kind);
}

static void turn_epoll(struct peer *peer)
{
	struct epoll_event event = {.events = EPOLLIN};
	int fd = epoll_create1(EPOLL_CLOEXEC);
	char byte;
	epoll_ctl(fd, EPOLL_CTL_ADD, peer->ends[0], &event);
	if (epoll_wait(fd, &event, 1, -1) != 1 || read(peer->ends[0], &byte, 1) != 1)
		trouble(peer->kind);
	close(fd);
}

static void turn_memory(struct peer *peer)
{
	for (size_t size = 100; size < 400000; size *= 3) {
		char *heap = malloc(size);
		void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				   -1, 0);
		if (!heap || pages == MAP_FAILED)
			trouble(peer->kind);
		memset(heap, 1, size);
		munmap(pages, size);
		free(heap);
	}
	nap(500);
}

static void turn_load(struct peer *peer)
{
	void *library = dlopen("libanl.so.1", RTLD_NOW);
	if (!library)
		library = dlopen("libm.so.6", RTLD_NOW);
	if (!library || dlclose(library) != 0)
		trouble(peer->kind);
	nap(2000);
}

static void turn_child(struct peer *peer)
{
	int status = -1;
	pid_t pid = vfork();
	if (pid == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	if (waitpid(pid, &status, 0) != pid || status != 0)
		trouble(peer->kind);
	nap(50000);
}

/* True at the instruction that makes the call, not after it with an EINTR. */
static int is_before_read(const ucontext_t *context)
{
#ifdef __x86_64__
	const greg_t *registers = context->uc_mcontext.gregs;
	const unsigned char *code = (const unsigned char *)registers[REG_RIP];
	return code[0] == 0x0f && code[1] == 0x05 && registers[REG_RAX] == SYS_read;
#else
	(void)context;
	return 0;
#endif
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	if (!self)
		return;
	if (is_before_read(context))
		__atomic_fetch_add(&self->n_early, 1, __ATOMIC_RELEASE);
	__atomic_fetch_add(&self->n_handled, 1, __ATOMIC_RELEASE);
}

/* Each signal that arrives during the read has to end the read. */
static void turn_signal(struct peer *peer)
{
	char byte;
	if (read(peer->ends[0], &byte, 1) >= 0 || errno != EINTR)
		trouble(peer->kind);
	__atomic_fetch_add(&peer->n_broken, 1, __ATOMIC_RELEASE);
}

/* A handler that itself waits, possibly inside malloc(). */
static void on_alarm(int signal)
{
	int saved = errno;
	(void)signal;
	nap(300);
	errno = saved;
}

static void turn_handle(struct peer *peer)
{
	(void)peer;
	for (int i = 0; i < 2000; i++)
		free(malloc((size_t)(i * 37 % 5000)));
}

/* All registers that a system call preserves. */
static void turn_registers(struct peer *peer)
{
#ifdef __x86_64__
	static const double in[4] __attribute__((aligned(32))) = {1.5, -2.25, 3e300, 4e-300};
	double out[4] __attribute__((aligned(32))) = {0};
	const struct timespec time = {.tv_nsec = 1000000};
	long result = SYS_nanosleep;
	uint64_t others[4] = {0};
	__asm__ volatile("vmovapd %[in], %%ymm7\n\t"
			 "mov $0x1111, %%r8\n\t"
			 "mov $0x2222, %%r9\n\t"
			 "mov $0x3333, %%r10\n\t"
			 "mov $0x4444, %%r12\n\t"
			 "stc\n\t"
			 "syscall\n\t"
			 "vmovapd %%ymm7, %[out]\n\t"
			 "mov %%r8, %[r8]\n\t"
			 "mov %%r9, %[r9]\n\t"
			 "mov %%r10, %[r10]\n\t"
			 "mov %%r12, %[r12]\n\t"
			 "vzeroupper"
			 : "+a"(result), [out] "=m"(out), [r8] "=m"(others[0]),
			   [r9] "=m"(others[1]), [r10] "=m"(others[2]), [r12] "=m"(others[3])
			 : [in] "m"(in), "D"(&time), "S"(0L), "d"(0L)
			 : "rcx", "r8", "r9", "r10", "r11", "r12", "xmm7", "memory", "cc");
	if (result != 0 || memcmp(in, out, sizeof(in)) != 0 || others[0] != 0x1111 ||
	    others[1] != 0x2222 || others[2] != 0x3333 || others[3] != 0x4444)
		trouble(peer->kind);
#else
	(void)peer;
	nap(1000);
#endif
}

static const struct {
	const char *name;
	void (*turn)(struct peer *peer);
	int is_one; /* only one of them, for any number of threads */
} kinds[KINDS] = {
	{"read", turn_read, 0},     {"sleep", turn_sleep, 0},   {"poll", turn_poll, 0},
	{"wait", turn_wait, 0},     {"epoll", turn_epoll, 0},   {"registers", turn_registers, 0},
	{"memory", turn_memory, 1}, {"load", turn_load, 1},     {"child", turn_child, 1},
	{"signal", turn_signal, 0}, {"handle", turn_handle, 1},
};
enum { SIGNAL_KIND = 9, HANDLE_KIND = 10 };

static void *run(void *context)
{
	struct peer *peer = context;
	self = peer;
	__atomic_store_n(&peer->tid, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	while (!is_over())
		kinds[peer->kind].turn(peer);
	return NULL;
}

/* ---- the first thread ----------------------------------------------------------------------- */

static int says(const struct peer *peer, const char *name, char out[256])
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", peer->tid, name);
	FILE *file = fopen(path, "r");
	int is_said = file && fgets(out, 256, file);
	if (file)
		fclose(file);
	return is_said;
}

/* True if the thread sleeps in the call. If it was stopped before the call began, a signal need not
 * end the call. */
static int is_reading(const struct peer *peer)
{
	char text[256];
	const char *state = NULL;
	if (says(peer, "stat", text))
		state = strrchr(text, ')');
	return state && state[2] == 'S' && says(peer, "syscall", text) && text[0] != 'r' &&
	       atoi(text) == SYS_read;
}

static unsigned n_answered(const struct peer *peer)
{
	return __atomic_load_n(&peer->n_broken, __ATOMIC_ACQUIRE) +
	       __atomic_load_n(&peer->n_early, __ATOMIC_ACQUIRE);
}

/* Sends one signal, as soon as the previous one was handled. */
static void send_signal(struct peer *peer)
{
	unsigned n_sent = __atomic_load_n(&peer->n_handled, __ATOMIC_ACQUIRE);
	if (n_answered(peer) == n_sent && is_reading(peer)) {
		pthread_kill(peer->thread, SIGUSR1);
		for (int i = 0; i < 60000; i++) { /* other programs may have the CPUs */
			if (n_answered(peer) > n_sent)
				return;
			nap(1000);
		}
		trouble(peer->kind);
	}
}

static void poke(struct peer *peer)
{
	if (peer->kind == SIGNAL_KIND)
		send_signal(peer);
	else if (peer->kind == HANDLE_KIND)
		pthread_kill(peer->thread, SIGALRM);
	else if (write(peer->ends[1], "", 1) != 1 || sem_post(&peer->turn) != 0)
		trouble(peer->kind);
}

static int start(int n)
{
	const struct sigaction user = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
	const struct sigaction alarm = {.sa_handler = on_alarm};
	pthread_attr_t attributes;
	sigaction(SIGUSR1, &user, NULL);
	sigaction(SIGALRM, &alarm, NULL);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	for (int i = 0; i < n; i++) {
		peers[i].kind = i % KINDS;
		if (i >= KINDS && kinds[peers[i].kind].is_one)
			peers[i].kind = i % 6;
		sem_init(&peers[i].turn, 0, 0);
		if (pipe(peers[i].ends) != 0 ||
		    pthread_create(&peers[i].thread, &attributes, run, &peers[i]) != 0)
			return 0;
	}
	return 1;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 5;
	struct pollfd input = {.fd = 0, .events = POLLIN};
	char text[64];
	n = n < MOST_THREADS ? n : MOST_THREADS;
	if (!start(n))
		return 2;
	printf("ready\n");
	fflush(stdout);
	double until_s = clock_s() + 3600;
	int n_turns = 0;
	while (clock_s() < until_s && (poll(&input, 1, 1) <= 0 || read(0, text, sizeof(text)) > 0))
		/* With many threads each turn signals only some, or they would do nothing else. */
		for (int i = n_turns++ % (1 + n / 20); i < n; i += 1 + n / 20)
			poke(&peers[i]);
	__atomic_store_n(&all.is_over, 1, __ATOMIC_RELAXED);
	int status = 7;
	for (int i = 0; i < n; i++)
		if (peers[i].n_early)
			fprintf(stderr, "steadfast: %u of %u signals came before the call\n",
				peers[i].n_early, peers[i].n_handled);
	for (int kind = 0; kind < KINDS; kind++) {
		if (!all.n_troubles[kind])
			continue;
		printf("%s: %u (%s)\n", kinds[kind].name, all.n_troubles[kind],
		       strerror(all.last_errno[kind]));
		status = 1;
	}
	fflush(stdout);
	_exit(status);
}
