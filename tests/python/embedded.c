/* SPDX-License-Identifier: Apache-2.0 */
/* A C program with an embedded interpreter: embedded LIBPYTHON runs Python in a thread created by
 * C. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void (*initialize)(int);
static int (*run)(const char *);

static void *begin(void *unused)
{
	(void)unused;
	printf("%d %ld inside_c\n", (int)getpid(), syscall(SYS_gettid));
	fflush(stdout);
	initialize(0);
	run("import time\ndef inside_c():\n    time.sleep(1000)\ninside_c()\n");
	return NULL;
}

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
	void *symbols[2] = {NULL, NULL};
	pthread_t thread;
	if (!library) {
		fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "embedded LIBPYTHON");
		return 2;
	}
	symbols[0] = dlsym(library, "Py_InitializeEx");
	symbols[1] = dlsym(library, "PyRun_SimpleString");
	memcpy(&initialize, &symbols[0], sizeof(initialize));
	memcpy(&run, &symbols[1], sizeof(run));
	pthread_create(&thread, NULL, begin, NULL);
	pthread_join(thread, NULL);
	return 0;
}
