/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the words for verdicts. */
#include "trainprof/model/verdict_words.h"

#include "trainprof/base/memory.h"

#include <string.h>

static const struct tp_verdict_words rows[] = {
	{"waiting_for_data", "dataloader_bound", "WAITING FOR DATA"},
	{"computing", "compute_bound", "COMPUTING"},
	{"not_enough_cpu", "idle_bound", "NOT ENOUGH CPU"},
	{"waiting_for_ranks", "communication_bound", "WAITING FOR OTHER RANKS"},
	{"uneven_ranks", "compute_bound", "WAITING FOR OTHER RANKS"},
	{"communicating", "communication_bound", "COMMUNICATION"},
	{"moving_memory", "memory_bound", "MOVING MEMORY"},
	{"python_overhead", "host_bound", "PYTHON OVERHEAD"},
	{"cpu_overhead", "host_bound", "CPU OVERHEAD"},
	{"gpu_waits_for_cpu", "host_bound", "GPU WAITS FOR THE CPU"},
	{"checkpoints", "host_bound", "SAVING CHECKPOINTS"},
	{"logging", "host_bound", "WRITING LOGS"},
	{"sleeping", "idle_bound", "SLEEPING"},
	{"waiting_for_files", "idle_bound", "WAITING FOR FILES"},
	{"waiting_for_lock", "idle_bound", "WAITING FOR A LOCK"},
	{"blocked", "blocked", "BLOCKED"},
	{"waiting", "idle_bound", "WAITING"},
	{"gpu_idle", "idle_bound", "GPU IDLE"},
	{"no_single_bottleneck", "balanced", "NO SINGLE BOTTLENECK"},
	{"nothing_to_gain", "nothing_material", "NOTHING TO GAIN"},
	{"start_up_only", "warm_up_only", "START-UP ONLY"},
	{"too_short", "too_short", "TOO SHORT TO JUDGE"},
	{"cannot_tell", "cannot_tell", "CANNOT TELL"},
	{"mostly_unknown", "cannot_tell", "CANNOT TELL"},
	{"capture_lacks", "capture_lacks", "CANNOT TELL"},
	{"cold_start", "startup_only", "START-UP ONLY"},
	{"records_lost", "records_lost", "RECORDS LOST"},
	{"trace_damaged", "records_lost", "TRACE DAMAGED"},
	{"not_reliable", "own_overhead", "NOT RELIABLE"},
};

const struct tp_verdict_words *tp_verdict_words_find(const char *cause)
{
	for (size_t i = 0; cause && i < TP_ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].cause, cause) == 0)
			return &rows[i];
	return NULL;
}

const struct tp_verdict_words *tp_verdict_words_of_part(enum tp_part part, bool of_devices)
{
	static const char *const causes[TP_N_PARTS][2] = {
		[TP_PART_COMPUTE] = {"computing", "computing"},
		[TP_PART_COMMUNICATION] = {"communicating", "communicating"},
		[TP_PART_MEMORY] = {"moving_memory", "moving_memory"},
		[TP_PART_DATALOADER] = {"waiting_for_data", "waiting_for_data"},
		[TP_PART_HOST] = {"cpu_overhead", "gpu_waits_for_cpu"},
		[TP_PART_IDLE] = {"waiting", "gpu_idle"},
	};
	return tp_verdict_words_find(causes[part][of_devices]);
}

const char *tp_verdict_words_limit(enum tp_part part)
{
	static const char *const words[TP_N_PARTS] = {
		[TP_PART_COMPUTE] = "compute",      [TP_PART_COMMUNICATION] = "communication",
		[TP_PART_MEMORY] = "moving memory", [TP_PART_DATALOADER] = "data loading",
		[TP_PART_HOST] = "CPU overhead",    [TP_PART_IDLE] = "waiting",
	};
	return words[part];
}
