# SPDX-License-Identifier: Apache-2.0
"""Write small traces of torch.profiler, each of a capture that shows less than steady training, or other
than training: made_captures.py FOLDER. The function's first line says what the trace holds."""
import functools
import json
import os
import sys

GEMM = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_tn"
ADAM = "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor>()"
REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
TRACES = {}


class Trace:
    def __init__(self, **members):
        self.events, self.links = [], 0
        self.members = {"schemaVersion": 1, **members}

    def add(self, cat, name, at, length, **more):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": at, "dur": length, **more})

    def op(self, name, at, length):
        self.add("cpu_op", name, at, length)

    def call(self, name, at, length):
        self.add("cuda_runtime", name, at, length)

    def mark(self, step, at, length):
        self.add("user_annotation", f"ProfilerStep#{step}", at, length)

    def kernel(self, name, at, length, launch=None, device=0, stream=7, cat="kernel", call="cudaLaunchKernel", **more):
        self.links += 1
        start = at - 10 if launch is None else launch
        self.add("cuda_runtime", call, start, 5, args={"correlation": self.links})
        self.add(cat, name, at, length, pid=device, tid=stream,
                 args={"device": device, "stream": stream, "correlation": self.links, **more})

    def copy(self, name, at, length, size, launch=None):
        self.kernel(name, at, length, launch, cat="gpu_memcpy", call="cudaMemcpyAsync", bytes=size)

    def text(self):
        return json.dumps({**self.members, "traceEvents": self.events})


def trace(function):
    TRACES[function.__name__.replace("_", "-")] = function
    return function


def steps(t, n, work, length=10000, first=0, marked=True):
    for i in range(n):
        at = first + 1000 + i * length
        if marked:
            t.mark(i, at, length - 10)
        work(t, at, i)


def busy(t, at, _=0, n=9, each=1000):
    for k in range(n):
        t.kernel(GEMM, at + 50 + k * each, each - 20)


@trace
def healthy():
    """Ten steps of which the GPU computes 88 %."""
    t = Trace()
    steps(t, 10, busy)
    return t


@trace
def cold_start():
    """One step: modules are loaded and a library is initialized for 2 s, kernels take 10 ms."""
    t = Trace()
    t.mark(0, 0, 2100000)
    t.op("aten::cudnn_convolution", 1000, 1500000)
    t.call("cuModuleLoadData", 1100, 1400000)
    t.call("cudaMalloc", 1600000, 300000)
    busy(t, 2000000)
    return t


@trace
def cold_first_step():
    """Four marked steps; the first has 1 s of module loading."""
    t = Trace()
    t.mark(0, 1000, 1000000)
    t.call("cuModuleLoadData", 1100, 980000)
    busy(t, 985000)
    steps(t, 3, busy, first=1001000)
    return t


@trace
def launches_without_kernels():
    """200 launches, not one kernel."""
    t = Trace()
    steps(t, 5, lambda t, at, i: [t.call("cudaLaunchKernel", at + k * 200, 20) for k in range(40)])
    return t


@trace
def silent_gpus():
    """GPUs are listed, and none of their work."""
    t = Trace(deviceProperties=[{"id": 0, "name": "NVIDIA A100", "computeMajor": 8, "computeMinor": 0, "numSms": 108}])
    steps(t, 5, lambda t, at, i: [t.op("aten::linear", at + k * 800, 700) for k in range(12)])
    return t


@trace
def ranges_only():
    """Named ranges and nothing else."""
    t = Trace()
    steps(t, 10, lambda t, at, i: [t.add("user_annotation", w, at + k * 3000, 2900) for k, w in enumerate(("forward", "backward", "optimizer"))])
    return t


@trace
def cut_file():
    """A healthy trace whose file ends in the middle."""
    t = Trace()
    steps(t, 10, busy)
    return t.text()[: len(t.text()) * 6 // 10]


@trace
def profiler_only():
    """The profiler's own work."""
    t = Trace()
    t.add("Trace", "PyTorch Profiler (0)", 0, 50000)
    t.add("overhead", "Activity Buffer Request", 100, 4000)
    t.call("cudaDeviceSynchronize", 45000, 3000)
    return t


@trace
def repeats_without_optimizer():
    """Thirty equal forward passes, unmarked."""
    t = Trace()
    steps(t, 30, lambda t, at, i: ([t.op(w, at + k * 900, 850) for k, w in enumerate(("aten::linear", "aten::relu", "aten::softmax") * 3)], busy(t, at)), marked=False)
    return t


@trace
def zero_grad_only():
    """Ten steps, each clears gradients three times; unmarked."""
    t = Trace()

    def work(t, at, i):
        for k in range(3):
            t.add("user_annotation", "Optimizer.zero_grad#SGD.zero_grad", at + 20 + 100 * k, 50)
        busy(t, at)
        t.add("user_annotation", "Optimizer.step#SGD.step", at + 9200, 500)
        t.kernel(ADAM, at + 9300, 300)
    steps(t, 10, work, marked=False)
    return t


@trace
def small_copies():
    """Each step copies 8 bytes 20 times."""
    t = Trace()

    def work(t, at, i):
        for k in range(20):
            t.kernel(GEMM, at + 50 + 450 * k, 400)
            t.copy("Memcpy HtoD (Pageable -> Device)", at + 460 + 450 * k, 2, 8)
    steps(t, 10, work)
    return t


@trace
def inference():
    """Fifty forward passes with marks of their own."""
    t = Trace()
    steps(t, 50, lambda t, at, i: (t.add("user_annotation", "predict", at, 4800), busy(t, at, n=4)), length=5000, marked=False)
    return t


@trace
def one_operation():
    """One kernel."""
    t = Trace()
    t.kernel(GEMM, 100, 50)
    return t


@trace
def one_step():
    """One marked step."""
    t = Trace()
    steps(t, 1, busy)
    return t


@trace
def cpu_only():
    """Operators of a CPU, no GPU."""
    t = Trace()
    steps(t, 10, lambda t, at, i: [t.op("aten::mm", at + k * 1000, 950) for k in range(9)])
    return t


@trace
def one_of_two_idle():
    """Two GPUs, of which the second copies once per step."""
    t = Trace()

    def work(t, at, i):
        busy(t, at)
        t.kernel("Memcpy DtoD (Device -> Device)", at + 400, 100, device=1, cat="gpu_memcpy", bytes=1000000)
    steps(t, 10, work)
    return t


@trace
def communication_only():
    """Nothing but collectives, of one rank of eight."""
    t = Trace(distributedInfo={"rank": 0, "world_size": 8})
    steps(t, 10, lambda t, at, i: t.kernel(REDUCE, at + 100, 9500, stream=20, **{"Collective name": "allreduce", "Group size": 8}))
    return t


@trace
def checkpoint_in_the_middle():
    """The fifth of ten steps saves a checkpoint for 200 ms."""
    t = Trace()
    at = 1000
    for i in range(10):
        length = 210000 if i == 4 else 10000
        t.mark(i, at, length - 10)
        busy(t, at)
        if i == 4:
            t.add("python_function", "torch/serialization.py(900): save", at + 9500, 199000)
        at += length
    return t


def with_checkpoints(n, at_steps, save=200000, between=False, what="save_checkpoint", **members):
    """Steps of 10 ms; those of the numbers `at_steps` save a checkpoint, within the mark or behind it. `what` is
    the name of another activity, or None."""
    t, at = Trace(**members), 1000
    for i in range(n):
        more = save if i in at_steps else 0
        t.mark(i, at, 9990 + (0 if between else more))
        busy(t, at)
        if more and what:
            t.add("user_annotation", what, at + 9995, more)
        at += 10000 + more
    return t


@trace
def checkpoint_between_marks():
    """A checkpoint of 200 ms lies between the marks of two of ten steps."""
    return with_checkpoints(10, {4}, between=True)


@trace
def checkpoints_twice():
    """A checkpoint of 20 ms follows every fifth step: 28.6 % of the time."""
    return with_checkpoints(10, {2, 7}, save=20000)


@trace
def checkpoint_of_two_steps():
    """Two steps; one saves a checkpoint for 200 ms."""
    return with_checkpoints(2, {1})


@trace
def checkpoint_in_the_only_step():
    """One step, which saves a checkpoint for 200 ms."""
    return with_checkpoints(1, {0})


@trace
def checkpoint_in_each_step():
    """Each of ten steps saves a checkpoint for 10 ms: half of it."""
    return with_checkpoints(10, range(10), save=10000)


@trace
def evaluation_loops():
    """Five steps, twenty forward passes of a validation, five steps."""
    t = Trace()
    steps(t, 5, busy)
    for k in range(20):
        t.add("user_annotation", "validation_step", 52000 + k * 4000, 3900)
        busy(t, 52000 + k * 4000, n=3)
    for i in range(5):
        at = 140321 + i * 10000
        t.mark(5 + i, at, 9990)
        busy(t, at)
    return t


@trace
def gradient_accumulation():
    """Eight steps of four micro-batches, unmarked."""
    t = Trace()

    def work(t, at, i):
        busy(t, at)
        if i % 4 == 3:
            t.add("user_annotation", "Optimizer.step#Adam.step", at + 9200, 600)
            t.kernel(ADAM, at + 9300, 400)
    steps(t, 32, work, marked=False)
    return t


@trace
def loader_starves():
    """The GPU waits 60 % of each step for the next batch."""
    t = Trace()

    def work(t, at, i):
        t.add("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at + 10, 6000)
        busy(t, at + 6100, n=3)
    steps(t, 10, work)
    return t


@trace
def graphs():
    """One launch of a CUDA graph runs 40 kernels."""
    t = Trace()

    def work(t, at, i):
        t.links += 1
        t.add("cuda_runtime", "cudaGraphLaunch", at + 10, 30, args={"correlation": t.links})
        for k in range(40):
            t.add("kernel", GEMM, at + 60 + k * 240, 235, pid=0, tid=7, args={"device": 0, "stream": 7, "correlation": t.links})
    steps(t, 10, work)
    return t


@trace
def short_kernels():
    """400 kernels of 2 us, one every 24 us."""
    t = Trace()
    steps(t, 10, lambda t, at, i: [t.kernel("void at::native::vectorized_elementwise_kernel<4>()", at + 60 + k * 24, 2, at + 40 + k * 24) for k in range(400)])
    return t


@trace
def operators_without_categories():
    """CPU operators of torch 1.13's export: no category on any event."""
    t = Trace()

    def work(t, at, i):
        for k, w in enumerate(("aten::conv2d", "aten::batch_norm", "aten::relu") * 3):
            t.events.append({"ph": "X", "name": w, "pid": "CPU functions", "tid": 1, "ts": at + k * 1000, "dur": 950, "args": {}})
    steps(t, 10, work, marked=False)
    return json.dumps(t.events)


@trace
def nothing_to_hide_behind():
    """Collectives take 40 % of each step, and the GPU computes 3 %."""
    t = Trace(distributedInfo={"rank": 0, "world_size": 8})

    def work(t, at, i):
        t.kernel(GEMM, at + 50, 300)
        t.kernel(REDUCE, at + 400, 4000, stream=20, **{"Collective name": "allreduce", "Group size": 8, "In msg nelems": 1000000, "dtype": "Float"})
    steps(t, 10, work)
    return t


@trace
def waits_for_the_gpu_only():
    """A step synchronises after each of five kernels."""
    t = Trace()

    def work(t, at, i):
        for k in range(5):
            t.kernel(GEMM, at + 100 + k * 1900, 1000)
            t.call("cudaStreamSynchronize", at + 110 + k * 1900, 1000)
    steps(t, 10, work)
    return t


@trace
def reads_results_by_copies():
    """A step copies a result to the host five times, and the call returns after the copy."""
    t = Trace()

    def work(t, at, i):
        for k in range(5):
            t.kernel(GEMM, at + 100 + k * 1900, 1000)
            t.links += 1
            t.add("cuda_runtime", "cudaMemcpyAsync", at + 120 + k * 1900, 1000, args={"correlation": t.links})
            t.add("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", at + 1101 + k * 1900, 4, pid=0, tid=7,
                  args={"device": 0, "stream": 7, "correlation": t.links, "bytes": 4})
    steps(t, 10, work)
    return t


@trace
def reads_results_by_item():
    """The same by .item(): an operator, a copy and a wait for its stream."""
    t = Trace()

    def work(t, at, i):
        for k in range(5):
            start = at + 120 + k * 1900
            t.kernel(GEMM, at + 100 + k * 1900, 1000)
            t.op("aten::item", start, 1000)
            t.op("aten::_local_scalar_dense", start + 2, 990)
            t.copy("Memcpy DtoH (Device -> Pageable)", at + 1101 + k * 1900, 4, 4, launch=start + 10)
            t.call("cudaStreamSynchronize", start + 30, 960)
    steps(t, 10, work)
    return t


@trace
def copies_to_the_host_behind():
    """Each step copies a result to the host without a wait: no synchronisation."""
    t = Trace()

    def work(t, at, i):
        busy(t, at)
        t.copy("Memcpy DtoH (Device -> Pinned)", at + 9040, 50, 4000000, launch=at + 8000)
    steps(t, 10, work)
    return t


@trace
def compiles_in_the_first_step():
    """Five steps; torch.compile takes 5 s in the first."""
    t = Trace()
    t.mark(0, 1000, 5010000)
    t.add("python_function", "torch/_dynamo/convert_frame.py(500): _compile", 1100, 4999000)
    t.op("TorchDynamo Cache Lookup", 1050, 20)
    busy(t, 5001000)
    steps(t, 4, busy, first=5011000)
    return t


@trace
def slow_first_of_three():
    """Three steps; the first takes 100 ms more."""
    t = Trace()
    t.mark(0, 1000, 109990)
    busy(t, 101000)
    steps(t, 2, busy, first=110000)
    return t


@trace
def logs_in_one_step():
    """One of eight steps logs for 50 ms."""
    return with_checkpoints(8, {3}, save=50000, what="wandb.log")


@trace
def collects_garbage_in_each_step():
    """Each of eight steps collects garbage for 10 ms."""
    return with_checkpoints(8, range(8), save=10000, what="gc.collect")


@trace
def one_large_batch():
    """One copy of a batch takes half of the step."""
    t = Trace()
    steps(t, 10, lambda t, at, i: (t.copy("Memcpy HtoD (Pageable -> Device)", at + 100, 5000, 40000000), busy(t, at + 5100, n=4)))
    return t


# ---- jobs of several ranks ----


def rank(number, n_ranks):
    return Trace(**({"distributedInfo": {"rank": number, "world_size": n_ranks}} if n_ranks > 1 else {}))


def reduce(t, at, length, n_ranks):
    t.kernel(REDUCE, at, length, stream=20, **{"Collective name": "allreduce", "Group size": n_ranks, "In msg nelems": 1000000,
                                               "dtype": "Float", "Process Group Name": "0"})


@trace
def one_rank_idles():
    """Four ranks that exchange nothing; the third computes a ninth of what the others do."""
    ranks = [rank(r, 4) for r in range(4)]
    for r, t in enumerate(ranks):
        steps(t, 10, lambda t, at, i, r=r: busy(t, at, n=1 if r == 2 else 9))
    return ranks


@trace
def first_rank_saves():
    """Four ranks; the first saves a checkpoint for 200 ms after the fifth of ten steps, the others wait."""
    return [with_checkpoints(10, {4}, what="save_checkpoint" if r == 0 else None, distributedInfo={"rank": r, "world_size": 4})
            for r in range(4)]


def of_size(kind, n_steps, n_ranks):
    """Steps of 10 ms of which each rank computes 6 ms, the last one of "late" 8 ms."""
    ranks = [rank(r, n_ranks) for r in range(n_ranks)]
    for r, t in enumerate(ranks):
        def work(t, at, i, r=r):
            is_late = kind == "late" and r == n_ranks - 1
            busy(t, at, n=8 if is_late else 6)
            if kind == "waits":
                t.call("cudaDeviceSynchronize", at + 100, 5930)
            if n_ranks > 1 and kind != "waits":
                reduce(t, at + (8100 if is_late else 6100), 1000 if is_late or kind == "even" else 3000, n_ranks)
        steps(t, n_steps, work)
    return ranks


KINDS = ("even", "waits", "late")
for at, (n_steps, n_ranks) in enumerate((s, r) for s in (1, 2, 5, 50) for r in (1, 2, 8)):
    name = f"{KINDS[(at + at // 3) % 3]}-{n_steps}-steps-{n_ranks}-ranks"
    TRACES[name] = functools.partial(of_size, name.partition("-")[0], n_steps, n_ranks)


def main(folder):
    for name, make in TRACES.items():
        made = make()
        os.makedirs(os.path.join(folder, name))
        for number, text in enumerate(made if isinstance(made, list) else [made]):
            with open(os.path.join(folder, name, f"{number}.json"), "w", encoding="utf-8") as out:
                out.write(text if isinstance(text, str) else text.text())


if __name__ == "__main__":
    main(*sys.argv[1:])
