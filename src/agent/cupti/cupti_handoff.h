/*
 * Other tools that come for CUPTI while the agent is in the program: torch.profiler, mostly. CUPTI
 * serves one, and refuses a second. So the calls by which a tool takes it go through here first, in
 * the libraries that are linked with CUPTI (got_patch.h): whoever comes while the agent has CUPTI
 * waits, for two seconds at most, until the agent has let go of it, and then is served. A tool that
 * asks the loader for CUPTI's functions by name is not seen.
 *
 * Threads: newcomers come in any; the functions here are the agent's thread's. In a forked child,
 * and where that thread has ended, calls just go through.
 */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_CUPTI_HANDOFF_H
#define TRAINPROF_SRC_AGENT_CUPTI_CUPTI_HANDOFF_H

#include <stdbool.h>

struct tp_cuptilib;
struct tp_ringwriter;

enum { TP_NEWCOMER_NAME = 64 };

enum tp_newcomer {
	TP_NEWCOMER_NONE,
	TP_NEWCOMER_SUBSCRIBES, /* as CUPTI wants it: whether it is gone shows by subscribing */
	TP_NEWCOMER_TAKES,      /* the callbacks, without subscribing: nothing tells when it goes */
};

/* Somebody is there to make way. Both are borrowed for good. */
void tp_newcomer_begin(const struct tp_cuptilib *lib, const struct tp_ringwriter *ring);
/* Nobody is any more. */
void tp_newcomer_end(void);

/* See to the libraries that have been loaded since; nearly nothing, where there are none. */
void tp_newcomer_watch(void);

/* Before the agent takes CUPTI; false: somebody else takes it at this moment. */
bool tp_newcomer_hold(void);
/* It has let go of it. */
void tp_newcomer_let_go(void);

/* Who waits for way to be made, or has begun to take what is not his: the name that it gives
 * itself, or its library's file. Where it is NONE `name` stays as it is. */
enum tp_newcomer tp_newcomer_ask(char name[TP_NEWCOMER_NAME]);
/* Way is made: those who waited when it was asked go on. */
void tp_newcomer_answer(void);

#endif
