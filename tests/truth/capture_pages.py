# SPDX-License-Identifier: Apache-2.0
"""Check the first page of each made-up capture: capture_pages.py TRAINPROF FOLDER. A row of the table has
the trace of made_captures.py, a text that its page has, and one that it does not have."""
import subprocess
import sys

PAGES = (
    ("healthy", "COMPUTING  88 % of each step", "What to change"),
    ("cold-start", "CANNOT TELL  Only 9 operations", "What to change"),
    ("cold-first-step", "4 steps: 3 steady, 1 warm-up", "START-UP"),
    ("compiles-in-the-first-step", "5 steps: 4 steady, 1 warm-up", "START-UP"),
    ("launches-without-kernels", "200 kernels were", "compute"),
    ("silent-gpus", "GPUs are listed", "compute"),
    ("ranges-only", "CANNOT TELL  The trace holds named ranges only", "What to change"),
    ("cut-file", "A file ends in the middle", "What to change"),
    ("profiler-only", "CANNOT TELL  Only 1 operation in 3.0 ms: capture", "compute"),
    ("repeats-without-optimizer", "launches repeat after 1 piece of device work", "steady"),
    ("zero-grad-only", "9 steps", "30 steps"),
    ("small-copies", "10 steps", "20 steps"),
    ("inference", "no steps", "steady"),
    ("one-operation", "CANNOT TELL  Only 1 operation in", "compute"),
    ("one-step", "CANNOT TELL  Only 9 operations in", "compute"),
    ("cpu-only", "No device was busy", "GPU IDLE"),
    ("one-of-two-idle", "Use one process for each GPU                        up to 1.77×", "Divide the work"),
    ("communication-only", "COMMUNICATION  95 % of each step", "fastest link"),
    ("checkpoint-in-the-middle", "One of 10 steps has a checkpoint of 199.0 ms: not judged", "Save checkpoints"),
    ("checkpoint-between-marks", "10 steps: 9 steady, 1 with a checkpoint", "heckpoints"),
    ("checkpoints-twice", "Writing checkpoints takes 29 % of the training loop", "Save checkpoints"),
    ("checkpoint-of-two-steps", "2 steps: 1 steady, 1 with a checkpoint", "Save checkpoints"),
    ("checkpoint-in-the-only-step", "Only 9 operations", "Save checkpoints"),
    ("checkpoint-in-each-step", "Saving state takes 50 % of each step", "with a checkpoint"),
    ("evaluation-loops", "10 steps: 9 steady, 1 with an evaluation", "20 steps"),
    ("gradient-accumulation", "37 launches per step", "32 steps"),
    ("loader-starves", "WAITING FOR DATA  60 % of each step", "COMPUTING"),
    ("graphs", "40 launches per step", "CUDA graph"),
    ("short-kernels", "Replay the step as a CUDA graph", "COMPUTING"),
    ("operators-without-categories", "COMPUTING  86 % of the measured time", "CPU OVERHEAD"),
    ("nothing-to-hide-behind", "compute 3.0 %", "Overlap"),
    ("reads-results-by-copies", "Read results every 50 steps", "idle: CPU side"),
    ("reads-results-by-item", "Read results every 50 steps", "idle: CPU side"),
    ("copies-to-the-host-behind", "COMPUTING  88 % of each step", "Read results"),
    ("slow-first-of-three", "CANNOT TELL  Only 18 operations", "GPU IDLE"),
    ("logs-in-one-step", "8 steps: 7 steady, 1 slow", "Log every"),
    ("collects-garbage-in-each-step", "Python's garbage collection takes 50 % of each step", "slow"),
    ("one-large-batch", "Pin the batches and copy without blocking", "Shard"),
    ("one-rank-idles", "Divide the work evenly among the GPUs", "Use one process"),
    ("first-rank-saves", "10 steps: 9 steady, 1 with a checkpoint", "aiting for other"),
    ("late-50-steps-8-ranks", "Rank 7 computes 1.3 times as long as its 7 peers", "Read results"),
    ("waits-for-the-gpu-only", "Read results every 50 steps, not in every step      up to 1.94×", "data loading"),
)


def main(trainprof, folder):
    n_failed = 0
    for name, wanted, unwanted in PAGES:
        page = subprocess.run([trainprof, "report", f"{folder}/{name}"], capture_output=True, check=True, text=True,
                              env={"COLUMNS": "80", "LC_ALL": "C.UTF-8"}).stdout
        wrong = [f"no '{wanted}'"] * (wanted not in page) + [f"'{unwanted}'"] * (unwanted in page)
        for what in wrong:
            print(f"failed: {name}: {what} on its page:\n{page}")
        n_failed += bool(wrong)
    print(f"captures: {len(PAGES) - n_failed} passed, {n_failed} failed, 0 skipped")
    sys.exit(n_failed > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
