# SPDX-License-Identifier: Apache-2.0
"""Write traces of torch.profiler of a job in pipeline stages, and print its true answers.

made_pipeline.py FOLDER [key=value ...]: stages, replicas, batches (micro-batches of a step), steps,
slow_rank=RANK:TIMES, slow_stage=STAGE:TIMES, uneven=SPREAD (of the work of micro-batches). The job is
played by its dependencies (1F1B), so what a cure gains is known: it is played again without the fault."""
import json
import os
import random
import sys

FORWARD, BACKWARD, SEND, SUM = 4000.0, 8000.0, 20.0, 400.0  # us
GEMM = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_tn"
EXCHANGE = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"
REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


def order_of(stage, stages, batches):
    """Passes of one stage in the order of 1F1B."""
    ahead = min(stages - stage - 1, batches)
    passes = [("F", i) for i in range(ahead)]
    for i in range(batches - ahead):
        passes += [("F", ahead + i), ("B", i)]
    return passes + [("B", i) for i in range(batches - ahead, batches)]


class Job:
    def __init__(self, **options):
        self.stages, self.replicas = int(options.get("stages", 4)), int(options.get("replicas", 2))
        self.batches, self.steps = int(options.get("batches", 8)), int(options.get("steps", 4))
        self.slow_rank = options.get("slow_rank", "-1:1").split(":")
        self.slow_stage = options.get("slow_stage", "-1:1").split(":")
        self.uneven = float(options.get("uneven", 0))

    def length(self, step, replica, stage, kind, batch):
        base = FORWARD if kind == "F" else BACKWARD
        if stage == int(self.slow_stage[0]):
            base *= float(self.slow_stage[1])
        if stage * self.replicas + replica == int(self.slow_rank[0]):
            base *= float(self.slow_rank[1])
        rng = random.Random(f"{step} {replica} {batch}")
        return base * (1 + self.uneven * (2 * rng.random() - 1))

    def play_step(self, step, start, emit):
        """Plays one step from a common start, and returns its end."""
        ends, free, done = {}, {}, {}
        ranks = [(r, s) for r in range(self.replicas) for s in range(self.stages)]
        queues = {key: order_of(key[1], self.stages, self.batches) for key in ranks}
        for key in ranks:
            free[key] = start
        progress = True
        while progress:
            progress = False
            for replica, stage in ranks:
                key = (replica, stage)
                while queues[key]:
                    kind, batch = queues[key][0]
                    before = stage - 1 if kind == "F" else stage + 1
                    has_input = 0 <= before < self.stages
                    if has_input and (replica, before, kind, batch) not in ends:
                        break
                    queues[key].pop(0)
                    progress = True
                    begin = free[key]
                    if has_input:
                        sent = ends[(replica, before, kind, batch)]
                        arrived = max(begin, sent) + SEND
                        emit(key, "recv", begin, arrived, (replica, before))
                        emit((replica, before), "send", sent, arrived, key)
                        begin = arrived
                    end = begin + self.length(step, replica, stage, kind, batch)
                    emit(key, "compute", begin, end, None)
                    free[key], ends[(replica, stage, kind, batch)] = end, end
        for stage in range(self.stages):
            last = max(free[(r, stage)] for r in range(self.replicas))
            for replica in range(self.replicas):
                emit((replica, stage), "sum", free[(replica, stage)], last + SUM, stage)
                done[(replica, stage)] = last + SUM
        end = max(done.values()) + SEND
        for key in ranks:  # the length of the gradient, over all ranks
            emit(key, "sum", done[key], end, None)
        return end

    def play(self, emit=lambda *_: None):
        at, marks = 1000.0, []
        for step in range(self.steps):
            end = self.play_step(step, at, emit)
            marks.append((at, end))
            at = end
        return at - 1000.0, marks


def write(job, folder):
    events = {}

    def number(key):
        return key[1] * job.replicas + key[0]

    def emit(key, kind, begin, end, other):
        rows = events.setdefault(number(key), [])
        link = len(rows) + 1
        args = {"device": 0, "stream": 7, "correlation": link}
        name = GEMM
        if kind in ("send", "recv"):
            args.update({"stream": 20 + (kind == "send"), "Collective name": kind, "Group size": job.stages,
                         "Process Group Name": "pipeline"})
            args["Dst Rank" if kind == "send" else "Src Rank"] = number(other)
            name = EXCHANGE
        elif kind == "sum":
            args.update({"stream": 22, "Collective name": "allreduce", "Process Group Name": "all" if other is None else f"replicas of stage {other}",
                         "Group size": job.replicas * (job.stages if other is None else 1), "dtype": "Float",
                         "In msg nelems": 1 if other is None else 1000000})
            name = REDUCE
        rows.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": args["stream"], "ts": begin,
                     "dur": end - begin, "args": args})
        rows.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": begin - 9,
                     "dur": 5, "args": {"correlation": link}})

    whole, marks = job.play(emit)
    for rank, rows in events.items():
        rows += [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{i}", "pid": 1, "tid": 1, "ts": begin - 10,
                  "dur": end - begin} for i, (begin, end) in enumerate(marks)]
        document = {"schemaVersion": 1, "distributedInfo": {"rank": rank, "world_size": len(events)}, "traceEvents": rows}
        with open(os.path.join(folder, f"rank{rank}.json"), "w", encoding="utf-8") as out:
            json.dump(document, out)
    return whole


def main(folder, *words):
    options = dict(word.split("=") for word in words)
    os.makedirs(folder, exist_ok=True)
    whole = write(Job(**options), folder)
    cured = {key: value for key, value in options.items() if key not in ("slow_rank", "slow_stage", "uneven")}
    if "slow_stage" in options:  # the same layers, divided evenly
        stages, times = int(options.get("stages", 4)), float(options["slow_stage"].split(":")[1])
        job = Job(**cured)
        mean = (stages - 1 + times) / stages
        even = job.length
        job.length = lambda *args: mean * even(*args)
        print(f"{whole / job.play()[0]:.4f}")
        return
    job, uneven = Job(**cured), Job(**options)
    if uneven.uneven:  # the same work, divided evenly
        keys = [(step, r, s, kind, b) for step in range(job.steps) for r in range(job.replicas)
                for s in range(job.stages) for kind in "FB" for b in range(job.batches)]
        mean = sum(uneven.length(*key) for key in keys) / sum(job.length(*key) for key in keys)
        even = job.length
        job.length = lambda *args: mean * even(*args)
    print(f"{whole / job.play()[0]:.4f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
