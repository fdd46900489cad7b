/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with one or two profilers of the user's (tests/agent/cupti_peer_tool.c): cupti_peers
 * ACTION... does these in order and prints a line for each that has a result:
 *
 *   cuda          starts CUDA, which loads the tool that $CUDA_INJECTION64_PATH names
 *   wait:FILE     prints "wait:FILE" and waits until that file exists, 30 s at most
 *   load:a        loads $CUPTI_PEER_A; b: $CUPTI_PEER_B
 *   begin:a:HOW   begins a profile; HOW is that of peer_begin()
 *   marks         100 NVTX marks by the NVTX of $CUPTI_PEER_LIBRARY
 *   end:a         ends the profile
 *   count:a       number of marks that it received
 *   finalize      calls cuptiFinalize() of $CUPTI_PEER_LIBRARY
 *
 * Its exit status is 7.
 */
#include "../doubles/nvtx_client.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { STATUS = 7, N_MARKS = 100, WAIT_MS = 30000 };

struct tool {
	const char *variable;
	int (*begin)(const char *how);
	int (*end)(void);
	unsigned (*count)(void);
};

static void find(void *library, const char *name, void *out)
{
	void *found = library ? dlsym(library, name) : NULL;
	memcpy(out, &found, sizeof(found));
}

static void *open_named(const char *variable)
{
	const char *path = getenv(variable);
	return path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;
}

static void load(struct tool *tool)
{
	void *library = open_named(tool->variable);
	if (!library)
		puts(dlerror());
	find(library, "peer_begin", &tool->begin);
	find(library, "peer_end", &tool->end);
	find(library, "peer_count", &tool->count);
}

static void start_cuda(void)
{
	int (*init)(unsigned) = NULL;
	find(dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL), "cuInit", &init);
	if (init)
		init(0);
}

static void wait_for_file(const char *file)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	for (int i = 0; i < WAIT_MS && access(file, F_OK) != 0; i++)
		nanosleep(&nap, NULL);
}

static void make_marks(void)
{
	const char *library = getenv("CUPTI_PEER_LIBRARY");
	setenv("NVTX_INJECTION64_PATH", library ? library : "", 1);
	for (int i = 0; i < N_MARKS; i++)
		nvtx_mark("mark");
}

static void finalize(void)
{
	int (*function)(void) = NULL;
	find(open_named("CUPTI_PEER_LIBRARY"), "cuptiFinalize", &function);
	printf("finalize=%d\n", function ? function() : -1);
}

static void act(char *action)
{
	static struct tool tools[2] = {{.variable = "CUPTI_PEER_A"}, {.variable = "CUPTI_PEER_B"}};
	char *rest = strchr(action, ':');
	struct tool *tool = &tools[rest && rest[1] == 'b'];
#define IS(text) (strncmp(action, text, strlen(text)) == 0)
	if (IS("wait")) {
		puts(action);
		fflush(stdout);
		wait_for_file(rest ? rest + 1 : "");
	} else if (IS("cuda")) {
		start_cuda();
	} else if (IS("load")) {
		load(tool);
	} else if (IS("begin") && tool->begin) {
		printf("%s=%d\n", action, tool->begin(rest + 3));
	} else if (IS("end") && tool->end) {
		printf("%s=%d\n", action, tool->end());
	} else if (IS("count") && tool->count) {
		printf("%s=%u\n", action, tool->count());
	} else if (IS("marks")) {
		make_marks();
	} else if (IS("finalize")) {
		finalize();
	} else {
		printf("%s?\n", action);
	}
	fflush(stdout);
}

int main(int n, char **arguments)
{
	for (int i = 1; i < n; i++)
		act(arguments[i]);
	return STATUS;
}
