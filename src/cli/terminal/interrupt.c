/* SPDX-License-Identifier: Apache-2.0 */
/* Cleans up when a command is interrupted, and then ends by the signal. */
#include "interrupt.h"

#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

/* Ends with the default action of the signal, so that the parent process sees the signal that it
 * sent. */
static void end_by(int number)
{
	struct sigaction action = {.sa_handler = SIG_DFL};
	sigset_t set;
	sigaction(number, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, number);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	kill(getpid(), number);
	_exit(128 + number);
}

static void *watch(void *argument)
{
	struct tp_interrupt *interrupt = argument;
	int number = 0;
	while (sigwait(&interrupt->awaited, &number) != 0)
		continue;
	if (atomic_exchange(&interrupt->is_over, true))
		return NULL;
	/* Messages start on an empty line: erases the terminal's echo (^C) and anything drawn
	 * there. */
	static const char clear[] = "\r\033[K";
	if (isatty(STDERR_FILENO))
		(void)!write(STDERR_FILENO, clear, sizeof(clear) - 1);
	interrupt->tidy(interrupt->context);
	end_by(number);
	return NULL;
}

/* Ignored signals (nohup, a background job of a script) stay ignored: if they were blocked,
 * sigwait() would return them. */
static void choose(struct tp_interrupt *interrupt)
{
	struct sigaction now;
	sigemptyset(&interrupt->awaited);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (sigaction(numbers[i], NULL, &now) != 0 || now.sa_handler == SIG_IGN)
			continue;
		sigaddset(&interrupt->awaited, numbers[i]);
		interrupt->wake = numbers[i];
	}
}

void tp_interrupt_start(struct tp_interrupt *interrupt, void (*tidy)(void *context), void *context)
{
	*interrupt = (struct tp_interrupt){.tidy = tidy, .context = context};
	choose(interrupt);
	if (!interrupt->wake)
		return;
	pthread_sigmask(SIG_BLOCK, &interrupt->awaited, &interrupt->before);
	interrupt->is_watched = pthread_create(&interrupt->thread, NULL, watch, interrupt) == 0;
	if (!interrupt->is_watched)
		pthread_sigmask(SIG_SETMASK, &interrupt->before, NULL);
}

void tp_interrupt_stop(struct tp_interrupt *interrupt)
{
	if (!interrupt->is_watched)
		return;
	interrupt->is_watched = false;
	/* The first one wins: a cleanup that has begun ends the program, and this function does not
	 * return. The thread is woken rather than cancelled, which would leave its frames on the
	 * shadow stack of AddressSanitizer. */
	if (!atomic_exchange(&interrupt->is_over, true))
		pthread_kill(interrupt->thread, interrupt->wake);
	pthread_join(interrupt->thread, NULL);
	pthread_sigmask(SIG_SETMASK, &interrupt->before, NULL);
}
