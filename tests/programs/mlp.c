/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second training program with known parts, different from the first one in every respect: one
 * file, a table read from CSV text, a perceptron with tanh, OpenMP if the compiler has it.
 *
 * 	mlp [-n steps] [-r rows] [-w hidden] [-c parse_times] [-b] [-p pause_us] [-m megabytes]
 * 	    [-s save_every] [-v report_lines] [-o truth.json]
 *
 * -b reads ahead in a separate thread; -c parses each row that many times (slow input); -m maps and
 * fills memory in each step; -s saves the model with fsync; -v prints that many lines per step to
 * /dev/null, unbuffered. The truth has the layout of the first program's, without single steps.
 */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { FEATURES = 64, TABLE_ROWS = 2000, LINE_BYTES = FEATURES * 12 + 16 };

enum bucket { COMPUTE, COMMUNICATION, MEMORY, DATALOADER, HOST, IDLE, N_BUCKETS };

struct reading {
	int64_t at_ns;
	int64_t cpu_ns;
	int64_t delay_ns; /* time on a run queue */
};

/* lap() charges the time since the previous lap to a bucket. */
static struct {
	struct reading begin;
	struct reading last;
	int64_t bucket_ns[N_BUCKETS];
	int64_t delay_ns[N_BUCKETS];
} stopwatch;

struct table {
	FILE *csv;
	int parse_times;
	char line[LINE_BYTES];
};

struct rows {
	int n;
	float *x; /* n x FEATURES */
	float *y;
};

struct mlp {
	int hidden;
	float *w1; /* hidden x FEATURES */
	float *w2;
	float *activity; /* rows x hidden */
	float *output;
};

/* The reader thread fills `next` while the trainer uses the other. */
struct reader {
	struct table *table;
	struct rows next;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	int is_full;
	int is_over;
};

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t queue_delay_ns(void)
{
	long long ran = 0;
	long long waited = 0;
	FILE *file = fopen("/proc/thread-self/schedstat", "r");
	if (!file || fscanf(file, "%lld %lld", &ran, &waited) != 2)
		waited = 0;
	if (file)
		fclose(file);
	return waited;
}

/* Reads all clocks at one moment: reads again if the thread lost its CPU in between. */
static struct reading read_clocks(void)
{
	struct reading now;
	int n = 0;
	do {
		now.at_ns = now_ns();
		now.cpu_ns = cpu_ns();
		now.delay_ns = queue_delay_ns();
	} while (now_ns() - now.at_ns > 100000 && ++n < 100);
	return now;
}

static void lap(enum bucket bucket)
{
	struct reading now = read_clocks();
	stopwatch.bucket_ns[bucket] += now.at_ns - stopwatch.last.at_ns;
	stopwatch.delay_ns[bucket] += now.delay_ns - stopwatch.last.delay_ns;
	stopwatch.last = now;
}

static float uniform(void)
{
	static uint32_t state = 2463534242u;
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return (float)(state >> 8) / 8388608.0F - 1.0F;
}

static void *zeros(size_t n, size_t size)
{
	void *memory = malloc(n * size);
	if (!memory)
		abort();
	memset(memory, 1, n * size);
	for (volatile char *p = memory; p < (char *)memory + n * size; p++)
		*p = 0;
	return memory;
}

/* y depends on a few columns and one product, which a perceptron can learn. */
static void write_table(FILE *csv)
{
	for (int r = 0; r < TABLE_ROWS; r++) {
		float x[FEATURES];
		for (int f = 0; f < FEATURES; f++)
			x[f] = uniform();
		fprintf(csv, "%.6f", (double)(0.8F * x[0] - 0.5F * x[3] + x[5] * x[7]));
		for (int f = 0; f < FEATURES; f++)
			fprintf(csv, ",%.6f", (double)x[f]);
		fputc('\n', csv);
	}
}

static float parse_line(const char *line, float *x)
{
	char *end;
	float y = strtof(line, &end);
	for (int f = 0; f < FEATURES && *end == ','; f++)
		x[f] = strtof(end + 1, &end);
	return y;
}

__attribute__((noinline)) static void fetch_rows(struct table *table, struct rows *rows)
{
	for (int r = 0; r < rows->n; r++) {
		if (!fgets(table->line, sizeof(table->line), table->csv)) {
			rewind(table->csv);
			if (!fgets(table->line, sizeof(table->line), table->csv))
				abort();
		}
		for (int i = 0; i < table->parse_times; i++)
			rows->y[r] = parse_line(table->line, rows->x + (ptrdiff_t)r * FEATURES);
	}
}

static void *read_ahead(void *argument)
{
	struct reader *reader = argument;
	for (;;) {
		pthread_mutex_lock(&reader->mutex);
		while (reader->is_full && !reader->is_over)
			pthread_cond_wait(&reader->changed, &reader->mutex);
		int is_over = reader->is_over;
		pthread_mutex_unlock(&reader->mutex);
		if (is_over)
			return NULL;
		fetch_rows(reader->table, &reader->next);
		pthread_mutex_lock(&reader->mutex);
		reader->is_full = 1;
		pthread_cond_broadcast(&reader->changed);
		pthread_mutex_unlock(&reader->mutex);
	}
}

/* Called before main() returns: the thread's data is on main's stack. */
static void stop_reading(struct reader *reader)
{
	pthread_mutex_lock(&reader->mutex);
	reader->is_over = 1;
	pthread_cond_broadcast(&reader->changed);
	pthread_mutex_unlock(&reader->mutex);
	pthread_join(reader->thread, NULL);
}

static void swap_rows(struct reader *reader, struct rows *rows)
{
	struct rows used = *rows;
	pthread_mutex_lock(&reader->mutex);
	while (!reader->is_full)
		pthread_cond_wait(&reader->changed, &reader->mutex);
	*rows = reader->next;
	reader->next = used;
	reader->is_full = 0;
	pthread_cond_broadcast(&reader->changed);
	pthread_mutex_unlock(&reader->mutex);
}

__attribute__((noinline)) static double mlp_predict(struct mlp *m, const struct rows *rows)
{
	double error = 0;
#pragma omp parallel for reduction(+ : error)
	for (int r = 0; r < rows->n; r++) {
		const float *x = rows->x + (ptrdiff_t)r * FEATURES;
		float *a = m->activity + (ptrdiff_t)r * m->hidden;
		float out = 0;
		for (int h = 0; h < m->hidden; h++) {
			const float *w = m->w1 + (ptrdiff_t)h * FEATURES;
			float sum = 0;
			for (int f = 0; f < FEATURES; f++)
				sum += w[f] * x[f];
			a[h] = tanhf(sum);
			out += a[h] * m->w2[h];
		}
		m->output[r] = out;
		error += (double)((out - rows->y[r]) * (out - rows->y[r]));
	}
	return error / rows->n;
}

__attribute__((noinline)) static void mlp_learn(struct mlp *m, const struct rows *rows, float rate)
{
#pragma omp parallel for
	for (int h = 0; h < m->hidden; h++) {
		float *w = m->w1 + (ptrdiff_t)h * FEATURES;
		float d_out = 0;
		for (int r = 0; r < rows->n; r++) {
			float a = m->activity[(ptrdiff_t)r * m->hidden + h];
			float d = m->output[r] - rows->y[r];
			float slope = d * m->w2[h] * (1 - a * a) * rate / (float)rows->n;
			const float *x = rows->x + (ptrdiff_t)r * FEATURES;
			d_out += d * a;
			for (int f = 0; f < FEATURES; f++)
				w[f] -= slope * x[f];
		}
		m->w2[h] -= rate * d_out / (float)rows->n;
	}
}

__attribute__((noinline)) static void refill_history(int megabytes)
{
	size_t size = (size_t)megabytes << 20;
	char *history = malloc(size);
	if (!history)
		abort();
	memset(history, 1, size);
	__asm__ volatile("" : : "r"(history) : "memory");
	free(history);
}

__attribute__((noinline)) static void store_model(const struct mlp *m, const char *path)
{
	FILE *out = fopen(path, "w");
	if (!out)
		return;
	for (int i = 0; i < m->hidden * FEATURES; i++)
		fprintf(out, "%g\n", (double)m->w1[i]);
	fflush(out);
	fsync(fileno(out));
	fclose(out);
}

__attribute__((noinline)) static void report_progress(FILE *out, int step, double error, int lines)
{
	for (int i = 0; i < lines; i++)
		fprintf(out, "step=%d part=%d error=%.9f\n", step, i, error);
}

static int team_size(void)
{
#ifdef _OPENMP
	return omp_get_max_threads();
#else
	return 1;
#endif
}

static void write_truth(const char *path, int steps, double first, double last)
{
	static const char *const names[N_BUCKETS] = {"compute",    "communication", "memory",
						     "dataloader", "host",          "idle"};
	FILE *out = fopen(path, "w");
	if (!out)
		exit(2);
	fprintf(out, "{\"schema\": \"trainer-truth/1\", \"pid\": %d, \"rank\": 0, \"ranks\": 1,\n",
		(int)getpid());
	fprintf(out, " \"threads\": %d, \"steps\": %d,\n", team_size(), steps);
	fprintf(out, " \"window\": {\"start_ns\": %lld, \"end_ns\": %lld},\n",
		(long long)stopwatch.begin.at_ns, (long long)stopwatch.last.at_ns);
	fprintf(out, " \"cpu_ns\": %lld,\n",
		(long long)(stopwatch.last.cpu_ns - stopwatch.begin.cpu_ns));
	fprintf(out, " \"loss\": {\"first\": %.6f, \"last\": %.6f},\n \"parts_ns\": {", first,
		last);
	for (int i = 0; i < N_BUCKETS; i++)
		fprintf(out, "%s\"%s\": %lld", i ? ", " : "", names[i],
			(long long)stopwatch.bucket_ns[i]);
	fprintf(out, "},\n \"runnable_ns\": {");
	for (int i = 0; i < N_BUCKETS; i++)
		fprintf(out, "%s\"%s\": %lld", i ? ", " : "", names[i],
			(long long)stopwatch.delay_ns[i]);
	fprintf(out, "}\n}\n");
	fclose(out);
}

struct options {
	int steps;
	int rows;
	int hidden;
	int parse_times;
	int is_ahead;
	int pause_us;
	int megabytes;
	int save_every;
	int lines;
	const char *truth;
};

static int read_options(struct options *o, int argc, char **argv)
{
	int c;
	while ((c = getopt(argc, argv, "n:r:w:c:bp:m:s:v:o:")) != -1) {
		int n = optarg ? atoi(optarg) : 1;
		switch (c) {
		case 'n':
			o->steps = n;
			break;
		case 'r':
			o->rows = n;
			break;
		case 'w':
			o->hidden = n;
			break;
		case 'c':
			o->parse_times = n;
			break;
		case 'b':
			o->is_ahead = 1;
			break;
		case 'p':
			o->pause_us = n;
			break;
		case 'm':
			o->megabytes = n;
			break;
		case 's':
			o->save_every = n;
			break;
		case 'v':
			o->lines = n;
			break;
		case 'o':
			o->truth = optarg;
			break;
		default:
			return 0;
		}
	}
	return o->steps > 0 && o->rows > 0 && o->hidden > 0;
}

static struct rows rows_new(int n)
{
	return (struct rows){n, zeros((size_t)n * FEATURES, sizeof(float)),
			     zeros((size_t)n, sizeof(float))};
}

static struct mlp mlp_new(int hidden, int rows)
{
	size_t cells = (size_t)rows * (size_t)hidden;
	struct mlp m = {.hidden = hidden};
	m.w1 = zeros((size_t)hidden * FEATURES, sizeof(float));
	m.w2 = zeros((size_t)hidden, sizeof(float));
	m.activity = zeros(cells, sizeof(float));
	m.output = zeros((size_t)rows, sizeof(float));
	for (int i = 0; i < hidden * FEATURES; i++)
		m.w1[i] = uniform() * 0.2F;
	for (int i = 0; i < hidden; i++)
		m.w2[i] = uniform() * 0.2F;
	return m;
}

static double run_step(const struct options *o, int step, struct mlp *m, struct rows *rows,
		       struct reader *reader, FILE *sink, const char *model_path)
{
	if (o->is_ahead)
		swap_rows(reader, rows);
	else
		fetch_rows(reader->table, rows);
	lap(DATALOADER);
	double error = mlp_predict(m, rows);
	mlp_learn(m, rows, 0.1F);
	lap(COMPUTE);
	if (o->megabytes) {
		refill_history(o->megabytes);
		lap(MEMORY);
	}
	if (o->lines)
		report_progress(sink, step, error, o->lines);
	if (o->save_every && step % o->save_every == 0)
		store_model(m, model_path);
	lap(HOST);
	if (o->pause_us) {
		struct timespec t = {o->pause_us / 1000000, o->pause_us % 1000000 * 1000L};
		nanosleep(&t, NULL);
		lap(IDLE);
	}
	return error;
}

int main(int argc, char **argv)
{
	struct options o = {.steps = 200, .rows = 256, .hidden = 64, .parse_times = 1};
	char model_path[64];
	if (!read_options(&o, argc, argv))
		return 2;
	struct table table = {.csv = tmpfile(), .parse_times = o.parse_times};
	FILE *sink = fopen("/dev/null", "w");
	if (!table.csv || !sink)
		return 2;
	setvbuf(sink, NULL, _IONBF, 0);
	snprintf(model_path, sizeof(model_path), "/tmp/mlp-%d.txt", (int)getpid());
	write_table(table.csv);
	rewind(table.csv);
	struct rows rows = rows_new(o.rows);
	struct mlp m = mlp_new(o.hidden, o.rows);
	struct reader reader = {.table = &table, .next = rows_new(o.rows)};
	pthread_mutex_init(&reader.mutex, NULL);
	pthread_cond_init(&reader.changed, NULL);
	if (o.is_ahead && pthread_create(&reader.thread, NULL, read_ahead, &reader) != 0)
		return 2;
	double first = 0;
	double last = 0;
	stopwatch.begin = stopwatch.last = read_clocks();
	for (int step = 1; step <= o.steps; step++) {
		last = run_step(&o, step, &m, &rows, &reader, sink, model_path);
		if (step == 1)
			first = last;
	}
	if (o.is_ahead)
		stop_reading(&reader);
	printf("error %.4f -> %.4f\n", first, last);
	if (o.truth)
		write_truth(o.truth, o.steps, first, last);
	if (o.save_every)
		unlink(model_path);
	return 0;
}
