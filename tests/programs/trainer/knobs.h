/* SPDX-License-Identifier: Apache-2.0 */
/* The command line options of the trainer. */
#ifndef TRAINER_KNOBS_H
#define TRAINER_KNOBS_H

struct knobs {
	/* files */
	const char *data;       /* directory of the generated pictures */
	const char *truth;      /* output file for the measured truth; NULL = none */
	const char *log;        /* NULL = a temporary file, removed at the end */
	const char *checkpoint; /* likewise */
	/* the run */
	int steps;
	int milliseconds; /* stop after this time; 0 = no limit */
	int batch;
	int seed;
	int warmup_ms;
	int warmup_steps;
	int vary;
	const char *marks;
	/* input */
	int pictures;
	int side;
	int padding_kb;
	int workers;
	const char *worker_kind;
	int prefetch;
	int decode;
	int sample_sleep_us;
	int uncached;
	int direct;
	int map;
	/* network */
	int width;
	const char *kernel;
	int threads;
	const char *barrier;
	int lock;
	int embedding_mb;
	int lookups;
	/* the rest of a step */
	int churn_mb;
	int copy_mb;
	int sleep_us;
	int metrics;
	int log_every;
	int log_lines;
	int log_sync;
	int checkpoint_every;
	int checkpoint_mb;
	int eval_every;
	int eval_batches;
	/* ranks */
	int ranks;
	const char *transport;
	int payload_kb;
	int late_us;
	/* the end */
	int crash_at;
	int exit_at;
	int exit_code;
	int signal_at;
	int signal;
};

/* Sets defaults, then parses the command line. On an error, and for --help, it prints the error or
 * the list of knobs and exits. */
void knobs_read(struct knobs *knobs, int argc, char **argv);

#endif
