/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the trainer's command line: one table row per knob. */
#include "knobs.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct knob {
	const char *name;
	size_t offset;
	int is_number;
	int smallest;
	int largest;
	const char *choices; /* " a b "; NULL = any text */
	const char *help;
};

#define NUMBER(field, option, from, to, help)                                                      \
	{                                                                                          \
		option, offsetof(struct knobs, field), 1, from, to, NULL, help                     \
	}
#define TEXT(field, option, choices, help)                                                         \
	{                                                                                          \
		option, offsetof(struct knobs, field), 0, 0, 0, choices, help                      \
	}

static const struct knob table[] = {
	TEXT(data, "--data", NULL, "directory for the generated pictures"),
	TEXT(truth, "--truth", NULL, "write the measured truth to this JSON file"),
	TEXT(log, "--log", NULL, "training log"),
	TEXT(checkpoint, "--checkpoint", NULL, "checkpoint file"),
	NUMBER(steps, "--steps", 1, 1000000, "training steps"),
	NUMBER(milliseconds, "--milliseconds", 0, 3600000, "stop after this time"),
	NUMBER(batch, "--batch", 1, 4096, "pictures per step"),
	NUMBER(seed, "--seed", 0, 1000000, "random seed"),
	NUMBER(warmup_ms, "--warmup-ms", 0, 600000, "busy time before the first step"),
	NUMBER(warmup_steps, "--warmup-steps", 0, 1000000, "first steps that compute three times"),
	NUMBER(vary, "--vary", 0, 16, "up to so many extra micro-batches in a step"),
	TEXT(marks, "--marks", " none steps phases ", "what is marked for trainprof"),
	NUMBER(pictures, "--pictures", 1, 100000, "pictures in the dataset"),
	NUMBER(side, "--side", 32, 4096, "width and height of a stored picture"),
	NUMBER(padding_kb, "--padding-kb", 0, 65536, "bytes that follow each picture in its file"),
	NUMBER(workers, "--workers", 0, 256, "loader workers; 0 = load in the trainer"),
	TEXT(worker_kind, "--worker-kind", " thread process ", "what a loader worker is"),
	NUMBER(prefetch, "--prefetch", 1, 64, "batches kept ready per worker"),
	NUMBER(decode, "--decode", 1, 1000, "times that each picture is decoded"),
	NUMBER(sample_sleep_us, "--sample-sleep-us", 0, 1000000, "pause per picture"),
	NUMBER(uncached, "--uncached", 0, 1, "drop each file from the page cache before reading"),
	NUMBER(direct, "--direct", 0, 1, "read past the page cache, 4 KiB at a time"),
	NUMBER(map, "--map", 0, 1, "map each file instead of reading it"),
	NUMBER(width, "--width", 1, 64, "channels of the network, in eights"),
	TEXT(kernel, "--kernel", " vector scalar ", "how matrices are multiplied"),
	NUMBER(threads, "--threads", 1, 512, "threads that share the matrix work"),
	TEXT(barrier, "--barrier", " block spin ", "how the team waits for its last thread"),
	NUMBER(lock, "--lock", 0, 1, "the team takes one lock for each picture"),
	NUMBER(embedding_mb, "--embedding-mb", 0, 16384, "size of an embedding table"),
	NUMBER(lookups, "--lookups", 0, 10000000, "rows of it read per picture"),
	NUMBER(churn_mb, "--churn-mb", 0, 4096, "memory mapped, touched and freed in each step"),
	NUMBER(copy_mb, "--copy-mb", 0, 4096, "memory copied in each step"),
	NUMBER(sleep_us, "--sleep-us", 0, 10000000, "pause in each step"),
	NUMBER(metrics, "--metrics", 0, 1000, "rounds of statistics computed in each step"),
	NUMBER(log_every, "--log-every", 0, 1000000, "steps between log entries; 0 = never"),
	NUMBER(log_lines, "--log-lines", 1, 1000000, "lines of an entry, each flushed"),
	NUMBER(log_sync, "--log-sync", 0, 1, "write each log entry through to the disk"),
	NUMBER(checkpoint_every, "--checkpoint-every", 0, 1000000, "steps between checkpoints"),
	NUMBER(checkpoint_mb, "--checkpoint-mb", 0, 4096, "optimizer state in a checkpoint"),
	NUMBER(eval_every, "--eval-every", 0, 1000000, "steps between evaluations"),
	NUMBER(eval_batches, "--eval-batches", 1, 10000, "batches of an evaluation"),
	NUMBER(ranks, "--ranks", 1, 8, "processes that train together"),
	TEXT(transport, "--transport", " pair tcp ", "how ranks are joined"),
	NUMBER(payload_kb, "--payload-kb", 0, 1048576, "sent in each step besides the gradients"),
	NUMBER(late_us, "--late-us", 0, 10000000, "the last rank pauses before each exchange"),
	NUMBER(crash_at, "--crash-at", 0, 1000000, "step with a write to address 0; 0 = none"),
	NUMBER(exit_at, "--exit-at", 0, 1000000, "step that exits with --exit-code"),
	NUMBER(exit_code, "--exit-code", 0, 255, "exit status of --exit-at"),
	NUMBER(signal_at, "--signal-at", 0, 1000000, "step that raises --signal"),
	NUMBER(signal, "--signal", 1, 64, "signal of --signal-at"),
};

static const struct knobs defaults = {
	.steps = 200,
	.batch = 16,
	.seed = 1,
	.marks = "none",
	.pictures = 256,
	.side = 64,
	.worker_kind = "thread",
	.prefetch = 2,
	.decode = 1,
	.width = 1,
	.kernel = "vector",
	.threads = 1,
	.barrier = "block",
	.lookups = 1000,
	.log_every = 10,
	.log_lines = 1,
	.eval_batches = 4,
	.ranks = 1,
	.transport = "pair",
	.exit_code = 3,
	.signal = 15,
};

static void print_knobs(void)
{
	printf("usage: trainer [--knob VALUE]...\n");
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const struct knob *knob = &table[i];
		const char *field = (const char *)&defaults + knob->offset;
		printf("  %-20s %s", knob->name, knob->help);
		if (knob->is_number)
			printf(" [%d]\n", *(const int *)(const void *)field);
		else
			printf("%s%s\n", knob->choices ? ":" : "",
			       knob->choices ? knob->choices : "");
	}
}

__attribute__((noreturn)) static void refuse(const char *option, const char *value)
{
	fprintf(stderr, "trainer: bad value for %s: '%s'; see --help\n", option,
		value ? value : "(none)");
	exit(2);
}

static void set_knob(struct knobs *knobs, const struct knob *knob, char *value)
{
	char *field = (char *)knobs + knob->offset;
	if (!value)
		refuse(knob->name, value);
	if (knob->is_number) {
		char *end;
		long n = strtol(value, &end, 10);
		if (end == value || *end || n < knob->smallest || n > knob->largest)
			refuse(knob->name, value);
		*(int *)(void *)field = (int)n;
		return;
	}
	if (knob->choices) {
		char word[64];
		snprintf(word, sizeof(word), " %s ", value);
		if (!strstr(knob->choices, word))
			refuse(knob->name, value);
	}
	*(const char **)(void *)field = value;
}

void knobs_read(struct knobs *knobs, int argc, char **argv)
{
	*knobs = defaults;
	for (int i = 1; i < argc; i += 2) {
		const struct knob *knob = NULL;
		if (strcmp(argv[i], "--help") == 0) {
			print_knobs();
			exit(0);
		}
		for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++) {
			if (strcmp(argv[i], table[k].name) == 0)
				knob = &table[k];
		}
		if (!knob) {
			fprintf(stderr, "trainer: unknown knob '%s'; see --help\n", argv[i]);
			exit(2);
		}
		set_knob(knobs, knob, i + 1 < argc ? argv[i + 1] : NULL);
	}
}
