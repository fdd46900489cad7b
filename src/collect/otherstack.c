/* Finds the thread's own stack by a word of the other one. */
#include "otherstack.h"

#include "remote.h"

#include "trainprof/base/memory.h"
#include "trainprof/stack/modules.h"

#include <stdlib.h>
#include <string.h>

/*
 * Seen of oneDNN's sgemm kernels in TensorFlow 2.21 and JAX 0.10.2 (2026-11): the old stack pointer
 * is word 15. It points to the registers that a function has to keep (System V ABI, x86-64: rbx,
 * rbp and r12 to r15), and the return address is behind them.
 */
enum {
	LOWEST_WORDS = 32,
	SAVED_WORDS = 6,
	OWN_WORDS = 2048, /* of the thread's own stack; deeper callers are not found */
	LEAST_ADDRESS = 1 << 16,
	MOST_CHAINS = 1024,
	MOST_FRAMES = 64, /* of a chain that is remembered */
};

static const uint64_t highest_address = UINT64_C(1) << 47;

struct own_stack {
	uint64_t sp;
	uint64_t words[OWN_WORDS];
	size_t n;
};

struct tp_otherchain {
	struct tp_stack_frame frames[MOST_FRAMES];
	size_t n;
	bool varies;
};

void tp_otherstacks_release(struct tp_otherstacks *known)
{
	free(known->chains);
	tp_map_release(&known->by_place);
}

/* ---- reading ---- */

/* May it be a stack pointer, of another stack than what was copied? */
static bool is_elsewhere(uint64_t word, const struct tp_perf_sample *sample)
{
	return word % sizeof(word) == 0 && word >= LEAST_ADDRESS && word < highest_address &&
	       word - sample->regs.sp >= sample->stack_bytes;
}

/* From the call that the code returns to, as if that ran; by tables alone. Of the registers that
 * are saved below the return address any may be the caller's base pointer. */
static bool unwind_from(const struct tp_tree_task *task, const struct own_stack *own, uint64_t bp,
			struct tp_stack_frame *frames, size_t max, struct tp_unwind_result *result)
{
	const uint64_t *above = own->words + SAVED_WORDS + 1;
	const struct tp_unwind_regs regs = {.ip = own->words[SAVED_WORDS] - 1,
					    .sp = own->sp + sizeof(*above) * (SAVED_WORDS + 1),
					    .bp = bp};
	tp_unwind(task->maps, &regs, above, (own->n - SAVED_WORDS - 1) * sizeof(*above), frames,
		  max, result);
	if (result->end != TP_UNWIND_COMPLETE || result->n_guessed > 0)
		return false;
	frames[0].address++;
	frames[0].flags |= TP_FRAME_RETURN;
	return true;
}

static bool unwind_own(const struct tp_tree_task *task, const struct own_stack *own,
		       struct tp_stack_frame *frames, size_t max, struct tp_unwind_result *result)
{
	if (own->n <= SAVED_WORDS ||
	    !tp_unwind_is_pointer_call(task->maps, own->words[SAVED_WORDS]))
		return false;
	for (size_t i = 0; i < SAVED_WORDS; i++)
		if (unwind_from(task, own, own->words[i], frames, max, result))
			return true;
	return false;
}

/* ---- remembering ---- */

static uint64_t place_of(const struct tp_tree_task *task, uint64_t own_sp)
{
	return tp_hash_mix(task->info.id, own_sp);
}

static struct tp_otherchain *find_chain(const struct tp_otherstacks *known, uint64_t place)
{
	uint64_t at;
	return tp_map_get(&known->by_place, place, &at) ? &known->chains[at] : NULL;
}

static bool is_same(const struct tp_otherchain *chain, const struct tp_stack_frame *frames,
		    size_t n)
{
	if (chain->n != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (chain->frames[i].module != frames[i].module ||
		    chain->frames[i].address != frames[i].address)
			return false;
	return true;
}

static void learn(struct tp_otherstacks *known, uint64_t place, const struct tp_stack_frame *frames,
		  size_t n)
{
	struct tp_otherchain *chain = find_chain(known, place);
	if (chain) {
		chain->varies = chain->varies || !is_same(chain, frames, n);
		return;
	}
	if (n > MOST_FRAMES || known->n == MOST_CHAINS)
		return;
	tp_map_set(&known->by_place, place, known->n);
	chain = &TP_ARRAY_PUSH(known->chains, known->n, known->capacity);
	*chain = (struct tp_otherchain){.n = n};
	memcpy(chain->frames, frames, n * sizeof(*frames));
}

static bool recall(const struct tp_otherstacks *known, uint64_t place,
		   struct tp_stack_frame *frames, size_t max, struct tp_unwind_result *result)
{
	const struct tp_otherchain *chain = find_chain(known, place);
	if (!chain || chain->varies || chain->n > max)
		return false;
	memcpy(frames, chain->frames, chain->n * sizeof(*frames));
	*result = (struct tp_unwind_result){.end = TP_UNWIND_COMPLETE, .n_frames = chain->n};
	return true;
}

/* ---- both ---- */

static bool find_callers(struct tp_otherstacks *known, const struct tp_tree_task *task,
			 uint64_t own_sp, struct tp_stack_frame *frames, size_t max,
			 struct tp_unwind_result *result)
{
	struct own_stack own; /* large: not cleared */
	uint64_t place = place_of(task, own_sp);
	own.sp = own_sp;
	own.n = tp_remote_read(task->info.pid, own_sp, own.words, sizeof(own.words)) /
		sizeof(own.words[0]);
	if (!unwind_own(task, &own, frames, max, result))
		return recall(known, place, frames, max, result);
	learn(known, place, frames, result->n_frames);
	return true;
}

bool tp_otherstacks_unwind(struct tp_otherstacks *known, const struct tp_tree_task *task,
			   const struct tp_perf_sample *sample, struct tp_stack_frame *frames,
			   size_t max, struct tp_unwind_result *result)
{
	uint64_t lowest[LOWEST_WORDS];
	bool is_found = false;
	if (!sample->stack || sample->stack_bytes < sizeof(lowest))
		return false;
	memcpy(lowest, sample->stack, sizeof(lowest));
	for (size_t i = 0; i < LOWEST_WORDS && !is_found; i++)
		is_found = is_elsewhere(lowest[i], sample) &&
			   find_callers(known, task, lowest[i], frames + 1, max - 1, result);
	if (!is_found)
		return false;
	result->n_guessed = result->n_frames++;
	for (size_t i = 1; i < result->n_frames; i++)
		frames[i].flags |= TP_FRAME_GUESSED;
	return true;
}
