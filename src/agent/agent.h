/*
 * What libtrainprof-agent.so exports: the two doors by which NVIDIA's libraries call a tool in. It
 * is loaded into somebody's training: it prints nothing, ends nothing, waits for nothing in a
 * thread that is not its own, and where anything is missing it does nothing.
 */
#ifndef TRAINPROF_SRC_AGENT_AGENT_H
#define TRAINPROF_SRC_AGENT_AGENT_H

/*
 * Called by libcuda in cuInit() where CUDA_INJECTION64_PATH names this library. Starts the agent's
 * thread, once, if TRAINPROF_GPU_RINGS names a directory and TRAINPROF_GPU is not "0". Always 1:
 * success. Any thread, any number of times.
 *
 * NVIDIA's name. NOLINTNEXTLINE(readability-identifier-naming) */
int InitializeInjection(void);

#endif
