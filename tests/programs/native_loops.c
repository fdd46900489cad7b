/* SPDX-License-Identifier: Apache-2.0 */
/* Training loops of native programs, each with a known number of steps: native_loops SHAPE STEPS MS
 * runs one and prints "steps N"; native_loops --list names all. A step does a fixed amount of work
 * that takes MS on an idle machine. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __clang__
#define NOT_INLINE __attribute__((noinline))
#else
#define NOT_INLINE __attribute__((noinline, noclone, no_icf))
#endif

enum { LAYERS = 5, EPOCHS = 4, MICRO_BATCHES = 4 };

static volatile double result;
static volatile long n_calibration = 2000000;
static double turns_per_ms;
static double step_ms;

static double now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static inline void turn(long n)
{
	double x = 0.5;
	for (long i = 0; i < n; i++)
		x = x * 0.9999999 + 1e-7;
	result = x;
}

/* The fastest of a few tries: others may have been interrupted. */
static void calibrate(void)
{
	for (int i = 0; i < 10; i++) {
		double start_ms = now_ms();
		turn(n_calibration);
		double rate = (double)n_calibration / (now_ms() - start_ms);
		turns_per_ms = rate > turns_per_ms ? rate : turns_per_ms;
	}
}

/* Works for this share of a step. */
static inline void work(double share)
{
	turn((long)(share * step_ms * turns_per_ms));
}

NOT_INLINE static void load_batch(void)
{
	work(0.1);
}

NOT_INLINE static void forward(void)
{
	for (int i = 0; i < LAYERS; i++)
		work(0.4 / LAYERS);
}

NOT_INLINE static void backward(void)
{
	for (int i = 0; i < LAYERS; i++)
		work(0.4 / LAYERS);
}

NOT_INLINE static void update(void)
{
	work(0.1);
}

NOT_INLINE static void train_step(void)
{
	load_batch();
	forward();
	backward();
	update();
}

static int phases_in_main(int n)
{
	for (int i = 0; i < n; i++) {
		load_batch();
		forward();
		backward();
		update();
	}
	return n;
}

static int one_function(int n)
{
	for (int i = 0; i < n; i++)
		train_step();
	return n;
}

/* Each epoch has an evaluation of five batches at its end. */
static int epochs(int n)
{
	for (int epoch = 0; epoch < EPOCHS; epoch++) {
		for (int i = 0; i < n / EPOCHS; i++)
			train_step();
		for (int i = 0; i < 5; i++)
			forward();
	}
	return n / EPOCHS * EPOCHS;
}

/* One update for four batches. */
static int accumulate(int n)
{
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < MICRO_BATCHES; k++) {
			forward();
			work(0.1);
			backward();
		}
		for (int k = 0; k < MICRO_BATCHES; k++)
			update();
	}
	return n;
}

/* No function is called. */
static int written_out(int n)
{
	for (int i = 0; i < n; i++)
		work(1);
	return n;
}

struct layer {
	void (*forward)(struct layer *);
	void (*backward)(struct layer *);
	double weight;
};

NOT_INLINE static void dense_forward(struct layer *self)
{
	work(0.5 / LAYERS);
	self->weight += result;
}

NOT_INLINE static void dense_backward(struct layer *self)
{
	work(0.5 / LAYERS);
	self->weight -= result;
}

NOT_INLINE static void train_batch(struct layer *layers)
{
	for (int i = 0; i < LAYERS; i++)
		layers[i].forward(&layers[i]);
	for (int i = LAYERS; i > 0; i--)
		layers[i - 1].backward(&layers[i - 1]);
}

/* As methods of a class are: called by pointers. */
static int methods(int n)
{
	struct layer layers[LAYERS];
	for (int i = 0; i < LAYERS; i++)
		layers[i] = (struct layer){dense_forward, dense_backward, 0};
	for (int i = 0; i < n; i++)
		train_batch(layers);
	return n;
}

/* Two threads, each with half of the work. */
NOT_INLINE static void layer_of_team(void)
{
#pragma omp parallel for num_threads(2)
	for (int i = 0; i < 2; i++)
		work(1.0 / LAYERS);
}

NOT_INLINE static void step_of_team(void)
{
	for (int i = 0; i < LAYERS; i++)
		layer_of_team();
}

static int team(int n)
{
	for (int i = 0; i < n; i++)
		step_of_team();
	return n;
}

static const struct {
	const char *name;
	int (*run)(int n);
} shapes[] = {
	{"native_phases", phases_in_main},   {"native_function", one_function},
	{"native_epochs", epochs},           {"native_accumulate", accumulate},
	{"native_methods", methods},         {"native_team", team},
	{"native_written_out", written_out},
};

int main(int argc, char **argv)
{
	calibrate();
	step_ms = argc > 3 ? atof(argv[3]) : 0;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		if (argc == 2)
			puts(shapes[i].name);
		else if (argc > 3 && strcmp(argv[1], shapes[i].name) == 0)
			printf("steps %d\n", shapes[i].run(atoi(argv[2])));
	}
	return 0;
}
