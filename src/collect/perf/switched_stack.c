/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the thread's own stack from a word of the other stack. */
#include "switched_stack.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/process_memory.h"
#include "trainprof/stack/modules.h"

#include <stdlib.h>
#include <string.h>

/* Observed in oneDNN's sgemm kernels in TensorFlow 2.21 and JAX 0.10.2 (2026-11): the old stack
 * pointer is word 15. It points to the callee-saved registers (System V ABI, x86-64: rbx, rbp and
 * r12 to r15), followed by the return address. */
enum {
	LOWEST_WORDS = 32,
	SAVED_WORDS = 6,
	OWN_WORDS = 2048, /* of the thread's own stack; deeper callers are not found */
	ADDRESS_MIN = 1 << 16,
	CHAINS_MAX = 1024,
	FRAMES_MAX = 64, /* of a remembered chain */
	/* A read may come too late and find what ran next; callers that really change occur far
	 * more often than that. */
	SAME_PER_OTHER = 32,
};

static const uint64_t address_max = UINT64_C(1) << 47;

struct own_stack {
	uint64_t sp;
	uint64_t words[OWN_WORDS];
	size_t n;
};

/* The callers of a place. If they vary in the middle, that part is left out: frames[0 .. n_inner)
 * are always the innermost ones, and the rest are always the outermost. */
struct tp_switched_stack_chain {
	struct tp_stack_frame frames[FRAMES_MAX];
	size_t n;
	size_t n_inner;   /* equal to n: nothing is left out */
	unsigned n_same;  /* reads that found these callers, */
	unsigned n_other; /* and reads that found others */
};

void tp_switched_stack_release(struct tp_switched_stack *known)
{
	free(known->chains);
	tp_map_release(&known->by_place);
}

/* ---- reading ---- */

/* True if the word may be a stack pointer into another stack than the copied one. */
static bool is_outside_copy(uint64_t word, const struct tp_perf_sample *sample)
{
	return word % sizeof(word) == 0 && word >= ADDRESS_MIN && word < address_max &&
	       word - sample->regs.sp >= sample->stack_bytes;
}

/* Unwinds from the call that the code returns to as if it were running, with unwind tables only.
 * Any of the registers that are saved below the return address may be the caller's base pointer. */
static bool unwind_from(const struct tp_task_tree_task *task, const struct own_stack *own,
			uint64_t bp, struct tp_stack_frame *frames, size_t max,
			struct tp_unwind_result *result)
{
	const uint64_t *above = own->words + SAVED_WORDS + 1;
	const struct tp_unwind_regs regs = {.ip = own->words[SAVED_WORDS] - 1,
					    .sp = own->sp + sizeof(*above) * (SAVED_WORDS + 1),
					    .bp = bp};
	tp_unwind(task->maps, &regs, above, (own->n - SAVED_WORDS - 1) * sizeof(*above), frames,
		  max, result);
	if (!result->is_root_known || result->n_guessed > 0)
		return false;
	frames[0].address++;
	frames[0].flags |= TP_FRAME_RETURN;
	return true;
}

static bool unwind_own(const struct tp_task_tree_task *task, const struct own_stack *own,
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

static uint64_t place_of(const struct tp_task_tree_task *task, uint64_t own_sp)
{
	return tp_hash_mix(task->info.id, own_sp);
}

static struct tp_switched_stack_chain *find_chain(const struct tp_switched_stack *known,
						  uint64_t place)
{
	uint64_t at;
	return tp_map_get(&known->by_place, place, &at) ? &known->chains[at] : NULL;
}

static bool is_same(const struct tp_stack_frame *a, const struct tp_stack_frame *b)
{
	return a->module == b->module && a->address == b->address;
}

/* Keeps what both have in common, from the kernel outwards and from the thread's first frame
 * inwards. Returns false and leaves `chain` unchanged if not even the kernel's caller is the
 * same. */
static bool intersect(struct tp_switched_stack_chain *chain, const struct tp_stack_frame *frames,
		      size_t n)
{
	const struct tp_stack_frame *mine = chain->frames;
	bool is_cut = chain->n_inner < chain->n;
	size_t inner = 0;
	size_t outer = 0;
	while (inner < chain->n_inner && inner < n && is_same(&mine[inner], &frames[inner]))
		inner++;
	size_t most = chain->n - (is_cut ? chain->n_inner : inner);
	while (outer < most && outer < n - inner &&
	       is_same(&mine[chain->n - 1 - outer], &frames[n - 1 - outer]))
		outer++;
	bool is_whole = !is_cut && inner == n && inner == chain->n;
	if (inner == 0 || (outer == 0 && !is_whole))
		return false;
	if (is_whole)
		return true;
	memmove(&chain->frames[inner], &chain->frames[chain->n - outer], outer * sizeof(*frames));
	chain->n_inner = inner;
	chain->n = inner + outer;
	return true;
}

static void chain_set(struct tp_switched_stack_chain *chain, const struct tp_stack_frame *frames,
		      size_t n)
{
	memcpy(chain->frames, frames, n * sizeof(*frames));
	chain->n = chain->n_inner = n;
}

/* Callers that are found more often replace those that were found first. */
static void count_reading(struct tp_switched_stack_chain *chain,
			  const struct tp_stack_frame *frames, size_t n)
{
	if (intersect(chain, frames, n)) {
		chain->n_same++;
		return;
	}
	if (++chain->n_other <= chain->n_same)
		return;
	chain_set(chain, frames, n);
	unsigned n_before = chain->n_same;
	chain->n_same = chain->n_other;
	chain->n_other = n_before;
}

static void remember(struct tp_switched_stack *known, uint64_t place,
		     const struct tp_stack_frame *frames, size_t n)
{
	struct tp_switched_stack_chain *chain = find_chain(known, place);
	if (n > FRAMES_MAX || (!chain && known->n == CHAINS_MAX))
		return;
	if (chain) {
		count_reading(chain, frames, n);
		return;
	}
	tp_map_set(&known->by_place, place, known->n);
	chain = &TP_ARRAY_PUSH(known->chains, known->n, known->capacity);
	*chain = (struct tp_switched_stack_chain){.n_same = 1};
	chain_set(chain, frames, n);
	known->n_news++;
}

static bool use_known(const struct tp_switched_stack *known, uint64_t place,
		      struct tp_stack_frame *frames, size_t max, struct tp_unwind_result *result)
{
	const struct tp_switched_stack_chain *chain = find_chain(known, place);
	if (!chain || chain->n_other * SAME_PER_OTHER > chain->n_same || chain->n >= max)
		return false;
	size_t n_outer = chain->n - chain->n_inner;
	size_t gap = n_outer > 0;
	memcpy(frames, chain->frames, chain->n_inner * sizeof(*frames));
	frames[chain->n_inner] = (struct tp_stack_frame){0}; /* no address: unknown frames */
	memcpy(&frames[chain->n_inner + gap], &chain->frames[chain->n_inner],
	       n_outer * sizeof(*frames));
	*result = (struct tp_unwind_result){.end = TP_UNWIND_COMPLETE, .n_frames = chain->n + gap};
	return true;
}

/* ---- both ---- */

/* Most words of matrices that look like addresses point to other matrices, so the few decisive
 * bytes are read before the rest. */
static bool can_be_own(const struct tp_task_tree_task *task, uint64_t own_sp)
{
	uint64_t words[SAVED_WORDS + 1];
	return tp_process_memory_read(task->info.pid, own_sp, words, sizeof(words)) &&
	       tp_unwind_is_pointer_call(task->maps, words[SAVED_WORDS]);
}

/* Reads from the current memory of the process. */
static bool read_callers(struct tp_switched_stack *known, const struct tp_task_tree_task *task,
			 uint64_t own_sp, struct tp_stack_frame *frames, size_t max,
			 struct tp_unwind_result *result)
{
	struct own_stack own; /* large: not zeroed */
	if (!can_be_own(task, own_sp))
		return false;
	own.sp = own_sp;
	own.n = tp_process_memory_read_some(task->info.pid, own_sp, own.words, sizeof(own.words)) /
		sizeof(own.words[0]);
	if (!unwind_own(task, &own, frames, max, result))
		return false;
	remember(known, place_of(task, own_sp), frames, result->n_frames);
	return true;
}

static bool find_callers(struct tp_switched_stack *known, const struct tp_task_tree_task *task,
			 const struct tp_perf_sample *sample, bool is_fresh,
			 struct tp_stack_frame *frames, size_t max, struct tp_unwind_result *result)
{
	uint64_t lowest[LOWEST_WORDS];
	memcpy(lowest, sample->stack, sizeof(lowest));
	for (size_t i = 0; i < LOWEST_WORDS; i++)
		if (is_outside_copy(lowest[i], sample) &&
		    ((is_fresh && read_callers(known, task, lowest[i], frames, max, result)) ||
		     use_known(known, place_of(task, lowest[i]), frames, max, result)))
			return true;
	return false;
}

static void request_watch(struct tp_switched_stack *known, pid_t tid)
{
	for (size_t i = 0; i < known->n_wanted; i++)
		if (known->wanted[i] == tid)
			return;
	if (known->n_wanted < TP_SWITCHED_STACK_REQUESTS)
		known->wanted[known->n_wanted++] = tid;
}

bool tp_switched_stack_unwind(struct tp_switched_stack *known, const struct tp_task_tree_task *task,
			      const struct tp_perf_sample *sample, bool is_fresh,
			      struct tp_stack_frame *frames, size_t max,
			      struct tp_unwind_result *result)
{
	if (!sample->stack || sample->stack_bytes < LOWEST_WORDS * sizeof(uint64_t))
		return false;
	if (!find_callers(known, task, sample, is_fresh, frames + 1, max - 1, result)) {
		if (!is_fresh)
			request_watch(known, task->info.tid);
		return false;
	}
	result->n_guessed = result->n_frames++;
	for (size_t i = 1; i < result->n_frames; i++)
		frames[i].flags |= TP_FRAME_GUESSED;
	return true;
}
