/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the facts of an export about machine, job and threads. */
#include "nsys_facts.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { GPUS_MAX = 256, DEVICES_MAX = 64 /* per process */, MAX_WORD = 256 };

/* ---- devices ------------------------------------------------------------------------------- */

struct export_gpu {
	int64_t id;          /* nsys's own id */
	int64_t cuda_number; /* -1 = unknown */
	char name[MAX_WORD];
	struct tp_device_info facts; /* without name */
};

/* Maps a process's CUDA device to a GPU: CUDA_VISIBLE_DEVICES renumbers the devices. */
struct device {
	int64_t pid;
	int64_t cuda_number;
	int64_t gpu_id;
	uint32_t n_processors; /* for a MIG device fewer than the GPU's */
};

struct machine {
	struct export_gpu *gpus;
	size_t n_gpus;
	size_t gpus_capacity;
	struct device *devices;
	size_t n_devices;
	size_t devices_capacity;
};

static uint32_t small_number(const struct tp_sqlite_cell *cell)
{
	return cell->number > 0 && cell->number <= INT32_MAX ? (uint32_t)cell->number : 0;
}

static void word_copy(char *out, const struct tp_sqlite_cell *cell)
{
	size_t len = cell->len < MAX_WORD - 1 ? cell->len : MAX_WORD - 1;
	if (cell->type == TP_SQLITE_TEXT)
		memcpy(out, cell->text, len);
	out[cell->type == TP_SQLITE_TEXT ? len : 0] = '\0';
}

static void gpus_load(struct machine *machine, struct tp_sqlite_db *db, const char *table)
{
	enum { ID, CUDA, NAME, PROCESSORS, MEMORY, MAJOR, MINOR, N };
	static const char *const columns[N] = {"id|deviceId",
					       "cuDevice",
					       "name",
					       "smCount|numMultiprocessors",
					       "totalMemory|globalMemorySize",
					       "computeMajor|computeCapabilityMajor|smMajor",
					       "computeMinor|computeCapabilityMinor|smMinor"};
	struct tp_sqlite_rows *rows = tp_sqlite_rows_open(db, table, columns, N);
	const struct tp_sqlite_cell *cells;
	while (rows && machine->n_gpus < GPUS_MAX && (cells = tp_sqlite_rows_next(rows))) {
		struct export_gpu gpu = {.id = cells[ID].number, .cuda_number = -1};
		if (cells[CUDA].type == TP_SQLITE_INTEGER)
			gpu.cuda_number = cells[CUDA].number;
		word_copy(gpu.name, &cells[NAME]);
		gpu.facts.n_processors = small_number(&cells[PROCESSORS]);
		gpu.facts.memory_bytes =
			cells[MEMORY].number > 0 ? (uint64_t)cells[MEMORY].number : 0;
		if (small_number(&cells[MAJOR]) < 1000 && small_number(&cells[MINOR]) < 10)
			gpu.facts.capability =
				10 * small_number(&cells[MAJOR]) + small_number(&cells[MINOR]);
		TP_ARRAY_PUSH(machine->gpus, machine->n_gpus, machine->gpus_capacity) = gpu;
	}
	tp_sqlite_rows_close(rows);
}

static void devices_load(struct machine *machine, struct tp_sqlite_db *db)
{
	static const char *const columns[] = {"pid", "cudaId", "gpuId", "numMultiprocessors"};
	struct tp_sqlite_rows *rows =
		tp_sqlite_rows_open(db, "TARGET_INFO_CUDA_DEVICE", columns, 4);
	const struct tp_sqlite_cell *cells;
	size_t most = (size_t)GPUS_MAX * TP_RANKS_MAX;
	while (rows && machine->n_devices < most && (cells = tp_sqlite_rows_next(rows))) {
		struct device device = {cells[0].number, cells[1].number, cells[2].number,
					small_number(&cells[3])};
		if (cells[1].type == TP_SQLITE_INTEGER && cells[2].type == TP_SQLITE_INTEGER)
			TP_ARRAY_PUSH(machine->devices, machine->n_devices,
				      machine->devices_capacity) = device;
	}
	tp_sqlite_rows_close(rows);
}

static const struct device *device_find(const struct machine *machine, int64_t pid, int32_t number)
{
	for (size_t i = 0; i < machine->n_devices; i++)
		if (machine->devices[i].cuda_number == number && machine->devices[i].pid == pid)
			return &machine->devices[i];
	return NULL;
}

static const struct export_gpu *gpu_find(const struct machine *machine, const struct device *device,
					 int32_t number)
{
	for (size_t i = 0; device && i < machine->n_gpus; i++)
		if (machine->gpus[i].id == device->gpu_id)
			return &machine->gpus[i];
	for (size_t i = 0; i < machine->n_gpus; i++)
		if (machine->gpus[i].cuda_number == number)
			return &machine->gpus[i];
	for (size_t i = 0; i < machine->n_gpus; i++)
		if (machine->gpus[i].cuda_number < 0 && machine->gpus[i].id == number)
			return &machine->gpus[i];
	return NULL;
}

static int by_number(const void *a, const void *b)
{
	const struct tp_device_info *x = a;
	const struct tp_device_info *y = b;
	return (x->number > y->number) - (x->number < y->number);
}

static bool has_device(const struct tp_device_info *devices, size_t n, int32_t number)
{
	for (size_t i = 0; i < n; i++)
		if (devices[i].number == number)
			return true;
	return false;
}

/* Emits the devices that the process has used, in order. */
static void devices_emit(const struct tp_nsys_process *process, const struct machine *machine)
{
	struct tp_device_info infos[DEVICES_MAX];
	size_t n = 0;
	size_t cursor = 0;
	uint64_t key;
	uint64_t track;
	while (n < DEVICES_MAX && tp_map_next(&process->tracks, &cursor, &key, &track)) {
		int32_t number = tp_nsys_track_device(key);
		if (number == TP_TRACK_THREAD || has_device(infos, n, number))
			continue;
		const struct device *device =
			device_find(machine, tp_nsys_pid(process->key), number);
		const struct export_gpu *gpu = gpu_find(machine, device, number);
		struct tp_device_info *info = &infos[n++];
		*info = gpu ? gpu->facts : (struct tp_device_info){0};
		info->number = number;
		if (gpu && gpu->name[0])
			info->name = gpu->name;
		if (device && device->n_processors)
			info->n_processors = device->n_processors;
	}
	qsort(infos, n, sizeof(*infos), by_number);
	tp_rank_writer_devices(process->writer, infos, n);
}

static void devices_read(const struct tp_nsys_processes *processes, struct tp_sqlite_db *db)
{
	struct machine machine = {0};
	gpus_load(&machine, db, "TARGET_INFO_GPU");
	if (machine.n_gpus == 0)
		gpus_load(&machine, db, "TARGET_INFO_CUDA_GPU"); /* until early 2021 */
	devices_load(&machine, db);
	for (size_t i = 0; i < processes->n; i++)
		if (processes->items[i].writer)
			devices_emit(&processes->items[i], &machine);
	free(machine.gpus);
	free(machine.devices);
}

/* ---- host and job -------------------------------------------------------------------------- */

/* Launchers that number the ranks of a job in the environment. In a batch script without srun Slurm
 * sets SLURM_PROCID too; only its steps have SLURM_STEP_NUM_TASKS (srun(1), "OUTPUT ENVIRONMENT
 * VARIABLES", read 2026-11-22), so SLURM_PROCID counts only together with that variable. */
static const struct {
	const char *number, *n_ranks;
	bool needs_both;
} job_variables[] = {
	{"RANK", "WORLD_SIZE", false},
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", false},
	{"PMI_RANK", "PMI_SIZE", false},
	{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", true},
};

struct export_job {
	struct {
		int64_t number, n_ranks; /* -1 = unknown */
	} found[TP_ARRAY_LEN(job_variables)];
};

/* Returns a number below a million, in quotes or not, that fills the text; -1 for anything else. */
static int64_t place_parse(const char *text, size_t len)
{
	int64_t number = 0;
	if (len >= 2 && text[0] == '"' && text[len - 1] == '"') {
		text++;
		len -= 2;
	}
	if (len < 1 || len > 6)
		return -1;
	for (size_t i = 0; i < len; i++) {
		if (!isdigit((unsigned char)text[i]))
			return -1;
		number = number * 10 + (text[i] - '0');
	}
	return number;
}

static bool is_variable(const char *text, size_t len, const char *name)
{
	size_t name_len = strlen(name);
	return len > name_len && text[name_len] == '=' && !memcmp(text, name, name_len);
}

/* Parses one "NAME=value". */
static void variable_read(struct export_job *job, const char *text, size_t len)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(job_variables); i++) {
		const char *names[] = {job_variables[i].number, job_variables[i].n_ranks};
		int64_t *const numbers[] = {&job->found[i].number, &job->found[i].n_ranks};
		for (size_t j = 0; j < TP_ARRAY_LEN(names); j++) {
			size_t skip = strlen(names[j]) + 1;
			if (is_variable(text, len, names[j]))
				*numbers[j] = place_parse(text + skip, len - skip);
		}
	}
}

/* Parses "A=1;B=2". */
static void environment_read(struct export_job *job, const char *text, size_t len)
{
	const char *end = text + len;
	while (text < end) {
		const char *stop = memchr(text, ';', (size_t)(end - text));
		if (!stop)
			stop = end;
		variable_read(job, text, (size_t)(stop - text));
		text = stop + 1;
	}
}

static void job_emit(const struct export_job *job, struct tp_rank_info *info)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(job_variables); i++) {
		int64_t number = job->found[i].number;
		int64_t n_ranks = job->found[i].n_ranks;
		if (number < 0 || (n_ranks >= 0 && number >= n_ranks) ||
		    (job_variables[i].needs_both && n_ranks < 0))
			continue;
		info->number = number;
		if (n_ranks > 0)
			info->n_ranks = (uint32_t)n_ranks;
		return;
	}
}

static bool is_text(const struct tp_sqlite_cell *cell, const char *text)
{
	return cell->type == TP_SQLITE_TEXT && !strcmp(cell->text, text);
}

static void system_read(struct tp_nsys_processes *processes, struct export_job *job,
			struct tp_sqlite_db *db)
{
	static const char *const columns[] = {"name", "value"};
	struct tp_sqlite_rows *rows = tp_sqlite_rows_open(db, "TARGET_INFO_SYSTEM_ENV", columns, 2);
	const struct tp_sqlite_cell *cells;
	while (rows && (cells = tp_sqlite_rows_next(rows))) {
		if (cells[1].type != TP_SQLITE_TEXT)
			continue;
		if (is_text(&cells[0], "DeviceEnvironment"))
			environment_read(job, cells[1].text, cells[1].len);
		for (size_t i = 0; is_text(&cells[0], "Hostname") && i < processes->n; i++) {
			struct tp_nsys_process *process = &processes->items[i];
			if (process->writer && cells[1].len > 0 && !process->info->host)
				process->info->host =
					tp_rank_writer_text(process->writer, cells[1].text,
							    cells[1].len < MAX_WORD ? cells[1].len
										    : MAX_WORD);
		}
	}
	tp_sqlite_rows_close(rows);
}

/* Reads "PROCESS_0:ENVIRONMENT_VARIABLE" with 'RANK="3"': the environment of the process that nsys
 * started. */
static void capture_read(struct export_job *job, struct tp_sqlite_db *db)
{
	static const char *const columns[] = {"name", "value"};
	struct tp_sqlite_rows *rows = tp_sqlite_rows_open(db, "META_DATA_CAPTURE", columns, 2);
	const struct tp_sqlite_cell *cells;
	while (rows && (cells = tp_sqlite_rows_next(rows)))
		if (cells[0].type == TP_SQLITE_TEXT && cells[1].type == TP_SQLITE_TEXT &&
		    tp_text_glob("PROCESS_*:ENVIRONMENT_VARIABLE", cells[0].text))
			variable_read(job, cells[1].text, cells[1].len);
	tp_sqlite_rows_close(rows);
}

/* Reads MPI's own rank numbers, for each process that has called MPI. */
static void mpi_ranks_read(struct tp_nsys_processes *processes, struct tp_sqlite_db *db)
{
	static const char *const columns[] = {"globalTid|globalPid", "rank"};
	struct tp_sqlite_rows *rows = tp_sqlite_rows_open(db, "MPI_RANKS", columns, 2);
	const struct tp_sqlite_cell *cells;
	while (rows && (cells = tp_sqlite_rows_next(rows))) {
		bool is_known;
		struct tp_nsys_process *process =
			tp_nsys_processes_owner(processes, &cells[0], NULL, &is_known);
		if (process && process->info->number < 0 && cells[1].type == TP_SQLITE_INTEGER &&
		    cells[1].number >= 0)
			process->info->number = cells[1].number;
	}
	tp_sqlite_rows_close(rows);
}

static void job_read(struct tp_nsys_processes *processes, struct tp_sqlite_db *db)
{
	struct export_job job;
	for (size_t i = 0; i < TP_ARRAY_LEN(job_variables); i++)
		job.found[i].number = job.found[i].n_ranks = -1;
	system_read(processes, &job, db);
	capture_read(&job, db);
	/* The process that nsys started has that environment; if there are several ranks, it
	 * belongs to none of them. */
	if (processes->n_ranks == 1)
		job_emit(&job, processes->items[processes->first_rank].info);
	mpi_ranks_read(processes, db);
}

/* ---- threads ------------------------------------------------------------------------------- */

static void threads_read(struct tp_nsys_processes *processes, const struct tp_nsys_names *names,
			 struct tp_sqlite_db *db)
{
	static const char *const columns[] = {"globalTid", "nameId|name"};
	struct tp_sqlite_rows *rows = tp_sqlite_rows_open(db, "ThreadNames", columns, 2);
	const struct tp_sqlite_cell *cells;
	while (rows && (cells = tp_sqlite_rows_next(rows))) {
		bool is_known;
		uint64_t track;
		struct tp_nsys_process *process =
			tp_nsys_processes_owner(processes, &cells[0], NULL, &is_known);
		if (!process ||
		    !tp_map_get(&process->tracks, tp_nsys_thread_key(cells[0].number), &track))
			continue;
		tp_rank_writer_name_track(process->writer, (uint16_t)track,
					  tp_nsys_names_find(names, &process->naming,
							     process->writer, TP_NSYS_KERNEL,
							     &cells[1], &is_known));
	}
	tp_sqlite_rows_close(rows);
}

void tp_nsys_facts_read(struct tp_nsys_processes *processes, const struct tp_nsys_names *names,
			struct tp_sqlite_db *db)
{
	devices_read(processes, db);
	job_read(processes, db);
	threads_read(processes, names, db);
}
