/* SPDX-License-Identifier: Apache-2.0 */
/* Imports SQLite exports of Nsight Systems: one rank per process that works on a device. */
#include "import/reader/importer.h"
#include "import/reader/text_pattern.h"
#include "import/sqlite/sqlite_db.h"
#include "nsys_facts.h"
#include "nsys_names.h"
#include "nsys_process.h"
#include "nsys_tables.h"
#include "nsys_threads.h"

#include "trainprof/base/memory.h"

#include <string.h>

struct nsys_reading {
	struct tp_sqlite_db *db;
	struct tp_nsys_processes processes;
	struct tp_nsys_names names;
};

/* Databases other than those that can be read, by tables that only they have (text_pattern.h). */
static const struct {
	const char *table;
	const char *what;
	const char *remedy;
} foreign[] = {
	{"CommAnalyzerTime", "a summary of Ascend's profiler",
	 "trainprof import ascend_pytorch_profiler_RANK.db   (beside it)"},
	{"StepTraceTime", "a summary of Ascend's profiler",
	 "trainprof import ascend_pytorch_profiler_RANK.db   (beside it)"},
	{"ClusterCommAnalyzerTime", "a summary of Ascend's profiler over ranks",
	 "trainprof import FOLDER   (with the *_ascend_pt folders of the ranks)"},
	{"rocpd_*_lz4*", "a database of rocpd with packed tables",
	 "rocprofv3 --hip-trace --kernel-trace --memory-copy-trace -- CMD"},
	{"rocpd_metadata*", "a database of rocpd without dispatches",
	 "rocprofv3 --hip-trace --kernel-trace --memory-copy-trace -- CMD"},
	{"dlprof*", "a database of DLProf", "trainprof import nsys_profile.sqlite   (beside it)"},
	/* Only those that are not nsys's get here. */
	{"CUPTI_ACTIVITY_KIND_*", "a trace of nvprof", "nsys profile --trace=cuda,nvtx,osrt CMD"},
};

static bool has_table(const struct tp_sqlite_db *db, const char *pattern)
{
	const char *name;
	for (size_t i = 0; (name = tp_sqlite_db_table_at(db, i)); i++)
		if (tp_text_pattern_match(pattern, name, strlen(name), NULL))
			return true;
	return false;
}

/* nvprof names tables as nsys does, writes no processes, and keeps the texts of names elsewhere. */
static bool is_foreign_kernel_table(struct tp_sqlite_db *db)
{
	static const char kernels[] = "CUPTI_ACTIVITY_KIND_KERNEL";
	static const char *const own_column = "globalPid|demangledName|shortName";
	static const char *const name_column = "name";
	const struct tp_sqlite_cell *cells;
	if (has_table(db, "StringIds"))
		return false;
	if (has_table(db, "StringTable"))
		return true;
	struct tp_sqlite_rows *rows = tp_sqlite_rows_open(db, kernels, &own_column, 1);
	bool is_own = rows != NULL;
	tp_sqlite_rows_close(rows);
	if (is_own)
		return false;
	rows = tp_sqlite_rows_open(db, kernels, &name_column, 1);
	bool is_number =
		rows && (cells = tp_sqlite_rows_next(rows)) && cells[0].type == TP_SQLITE_INTEGER;
	tp_sqlite_rows_close(rows);
	return is_number;
}

static enum tp_status fail_unknown(const struct nsys_reading *reading, const char *path,
				   struct tp_error *err)
{
	size_t n = tp_sqlite_db_n_tables(reading->db);
	const char *first = tp_sqlite_db_table_at(reading->db, 0);
	(void)tp_fail(
		err, TP_PARSE,
		"'%s' is an SQLite database of no profiler that trainprof knows: %zu table%s, "
		"%s%.40s",
		path, n, n == 1 ? "" : "s", n ? "the first is " : "", n ? first : "");
	tp_error_next(err, "trainprof import --list");
	return TP_PARSE;
}

static enum tp_status fail_foreign(const struct nsys_reading *reading, const char *path,
				   struct tp_error *err)
{
	const char *damage = tp_sqlite_db_error(reading->db);
	enum tp_status status;
	for (size_t i = 0; i < TP_ARRAY_LEN(foreign); i++) {
		if (!has_table(reading->db, foreign[i].table))
			continue;
		(void)tp_fail(err, TP_PARSE, "'%s' is %s, which is not read", path,
			      foreign[i].what);
		tp_error_next(err, "%s", foreign[i].remedy);
		return TP_PARSE;
	}
	if (damage)
		status = tp_fail(err, TP_PARSE, "%s: no table of nsys's can be read: %s", path,
				 damage);
	else if (has_table(reading->db, "StringIds"))
		status = tp_fail(err, TP_PARSE,
				 "'%s' is an export of nsys without work: among its %zu tables is "
				 "neither CUPTI_ACTIVITY_KIND_KERNEL nor NVTX_EVENTS",
				 path, tp_sqlite_db_n_tables(reading->db));
	else
		return fail_unknown(reading, path, err);
	tp_error_next(err, "nsys export --type sqlite --output OUT.sqlite REPORT.nsys-rep");
	return status;
}

static enum tp_status fail_no_work(const struct nsys_reading *reading, const char *path,
				   struct tp_error *err)
{
	const char *damage = tp_sqlite_db_error(reading->db);
	enum tp_status status;
	if (damage) {
		status = tp_fail(err, TP_PARSE, "%s: no event can be read: %s", path, damage);
		tp_error_next(err, "nsys export --type sqlite --output OUT.sqlite REPORT.nsys-rep");
		return status;
	}
	status = tp_fail(err, TP_ABSENT,
			 "%s: no process has device work, CUDA calls or NVTX ranges in it", path);
	tp_error_next(err, "nsys profile --trace=cuda,nvtx,osrt PROGRAM");
	return status;
}

static uint64_t n_kept(const struct tp_nsys_processes *processes)
{
	uint64_t n = 0;
	for (size_t i = 0; i < processes->n; i++)
		if (processes->items[i].writer)
			n += processes->items[i].info->n_kept;
	return n;
}

/* `stays`: also keeps ranks without spans. */
static void ranks_end(struct nsys_reading *reading, bool stays)
{
	const char *damage = tp_sqlite_db_error(reading->db);
	for (size_t i = 0; i < reading->processes.n; i++) {
		struct tp_nsys_process *process = &reading->processes.items[i];
		if (!process->writer)
			continue;
		if (damage) {
			process->info->is_cut = true;
			tp_rank_writer_skip(process->writer, damage);
		}
		tp_rank_writer_end(process->writer, stays);
	}
}

static enum tp_status nsys_read(struct tp_import_reader *import,
				const struct tp_import_source *source, struct tp_error *err)
{
	struct nsys_reading reading = {0};
	enum tp_status status = tp_sqlite_db_open(&reading.db, source->path, err);
	if (status)
		return status;
	if (!tp_nsys_tables_any(reading.db) || is_foreign_kernel_table(reading.db)) {
		status = fail_foreign(&reading, source->path, err);
		goto out;
	}
	tp_nsys_processes_scan(&reading.processes, reading.db, import);
	if (reading.processes.n_ranks > 0) {
		tp_nsys_names_load(&reading.names, reading.db);
		tp_nsys_tables_read(&reading.processes, &reading.names, reading.db);
		tp_nsys_facts_read(&reading.processes, &reading.names, reading.db);
	}
	if (n_kept(&reading.processes) == 0)
		status = fail_no_work(&reading, source->path, err);
	else
		tp_nsys_threads_read(&reading.processes, &reading.names, reading.db, import);
	ranks_end(&reading, !status);
out:
	tp_nsys_processes_release(&reading.processes);
	tp_nsys_names_release(&reading.names);
	tp_sqlite_db_close(reading.db);
	return status;
}

static bool nsys_confirms(const char *path)
{
	struct tp_sqlite_db *db;
	if (tp_sqlite_db_open(&db, path, NULL))
		return false;
	bool is_own = tp_nsys_tables_any(db) && !is_foreign_kernel_table(db);
	tp_sqlite_db_close(db);
	return is_own;
}

const struct tp_importer tp_importer_nsys = {
	.info = {.name = "nsys",
		 .summary = "SQLite export of NVIDIA Nsight Systems (nsys export --type sqlite)",
		 .keeps = "kernels, copies, fills, CUDA graphs launched as one, CUDA calls, waits "
			  "for "
			  "the device, NVTX ranges, MPI, calls of the operating system, samples of "
			  "stacks, switches of threads; of each process with device work",
		 .loses = "Python stacks, stacks of calls, counters, library calls (cuDNN, cuBLAS, "
			  "UCX, OpenGL), marks; without MPI which rank of the job a process is, "
			  "when one export holds several",
		 .threads = "samples of stacks and switches of threads"},
	.wants_file = true,
	.recognises = tp_sqlite_head,
	.confirms = nsys_confirms,
	.read = nsys_read,
};
