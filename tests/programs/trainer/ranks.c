/* SPDX-License-Identifier: Apache-2.0 */
/* The ring of ranks: each sends to the next and receives from the previous one, n - 1 times. */
#include "ranks.h"

#include "phases.h"
#include "resident.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_RANKS = 8 };

struct head {
	uint64_t arrived_ns;
	uint64_t is_over;
};

struct ranks {
	int n;
	int index;
	int to_next;
	int from_before;
	pid_t children[MAX_RANKS];
	size_t payload_bytes;
	char *outgoing;
	char *incoming;
	size_t room;
};

__attribute__((noreturn)) static void fail(const char *what)
{
	perror(what);
	exit(2);
}

/* Creates a connected pair over the loopback device. */
static void tcp_pair(int pair[2])
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t size = sizeof(address);
	int one = 1;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int door = socket(AF_INET, SOCK_STREAM, 0);
	if (door < 0 || bind(door, (struct sockaddr *)&address, size) != 0 ||
	    listen(door, 1) != 0 || getsockname(door, (struct sockaddr *)&address, &size) != 0)
		fail("trainer: loopback");
	pair[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (pair[0] < 0 || connect(pair[0], (struct sockaddr *)&address, size) != 0)
		fail("trainer: loopback");
	pair[1] = accept(door, NULL, NULL);
	if (pair[1] < 0)
		fail("trainer: loopback");
	for (int i = 0; i < 2; i++)
		setsockopt(pair[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	close(door);
}

struct ranks *ranks_open(int n, int is_tcp, int payload_kb)
{
	struct ranks *r = calloc(1, sizeof(*r));
	int links[MAX_RANKS][2] = {{-1, -1}};
	if (!r)
		abort();
	r->n = n;
	r->payload_bytes = (size_t)payload_kb * 1024;
	if (n == 1)
		return r;
	for (int i = 0; i < n; i++) {
		if (is_tcp)
			tcp_pair(links[i]);
		else if (socketpair(AF_UNIX, SOCK_STREAM, 0, links[i]) != 0)
			fail("trainer: socketpair");
	}
	for (int i = 1; i < n && r->index == 0; i++) {
		fflush(NULL);
		r->children[i] = fork();
		if (r->children[i] < 0)
			fail("trainer: fork");
		if (r->children[i] == 0)
			r->index = i;
	}
	/* Link i connects rank i with rank i + 1. */
	r->to_next = links[r->index][0];
	r->from_before = links[(r->index + n - 1) % n][1];
	for (int i = 0; i < n; i++) {
		for (int end = 0; end < 2; end++) {
			int fd = links[i][end];
			if (fd != r->to_next && fd != r->from_before)
				close(fd);
		}
	}
	fcntl(r->to_next, F_SETFL, O_NONBLOCK);
	fcntl(r->from_before, F_SETFL, O_NONBLOCK);
	return r;
}

int ranks_close(struct ranks *r)
{
	int failure = 0;
	if (r->n > 1) {
		close(r->to_next);
		close(r->from_before);
	}
	for (int i = 1; i < r->n && r->index == 0; i++) {
		int status;
		if (waitpid(r->children[i], &status, 0) < 0 || status != 0)
			failure = 1;
	}
	free(r->outgoing);
	free(r->incoming);
	free(r);
	return failure;
}

int ranks_index(const struct ranks *r)
{
	return r->index;
}

/* Sends and receives `size` bytes at the same time, so that two full buffers cannot deadlock. */
__attribute__((noinline)) static void exchange(struct ranks *r, size_t size)
{
	size_t sent = 0;
	size_t received = 0;
	while (sent < size || received < size) {
		struct pollfd wait[2] = {
			{.fd = sent < size ? r->to_next : -1, .events = POLLOUT},
			{.fd = received < size ? r->from_before : -1, .events = POLLIN},
		};
		if (poll(wait, 2, -1) < 0)
			continue;
		if (wait[0].revents) {
			ssize_t k = send(r->to_next, r->outgoing + sent, size - sent, MSG_NOSIGNAL);
			sent += k > 0 ? (size_t)k : 0;
		}
		if (wait[1].revents) {
			ssize_t k =
				recv(r->from_before, r->incoming + received, size - received, 0);
			received += k > 0 ? (size_t)k : 0;
			if (k == 0) {
				fprintf(stderr, "trainer: the rank before is gone\n");
				exit(2);
			}
		}
	}
}

static void make_room(struct ranks *r, size_t size)
{
	if (size <= r->room)
		return;
	free(r->outgoing);
	free(r->incoming);
	r->room = size;
	r->outgoing = resident_alloc(size);
	r->incoming = resident_alloc(size);
}

/* A message is its head, the values and the payload, and goes round the ring unchanged. The heads
 * hold the arrival times of the other ranks, from which waiting is computed. */
uint64_t ranks_sum(struct ranks *r, float *values, size_t n, int *is_over)
{
	struct head own = {.arrived_ns = clock_ns(), .is_over = *is_over};
	uint64_t last_ns = own.arrived_ns;
	size_t bytes = n * sizeof(float);
	size_t size = sizeof(own) + bytes + r->payload_bytes;
	if (r->n == 1)
		return 0;
	make_room(r, size);
	memcpy(r->outgoing, &own, sizeof(own));
	memcpy(r->outgoing + sizeof(own), values, bytes);
	for (int round = 1; round < r->n; round++) {
		struct head other;
		exchange(r, size);
		memcpy(&other, r->incoming, sizeof(other));
		*is_over |= (int)other.is_over;
		if (other.arrived_ns > last_ns)
			last_ns = other.arrived_ns;
		for (size_t i = 0; i < n; i++) {
			float value;
			memcpy(&value, r->incoming + sizeof(own) + i * sizeof(float),
			       sizeof(value));
			values[i] += value;
		}
		char *swap = r->outgoing;
		r->outgoing = r->incoming;
		r->incoming = swap;
	}
	return last_ns - own.arrived_ns;
}
