# SPDX-License-Identifier: Apache-2.0
"""One job in the format of each maker: made_makers.py TRAINPROF FOLDER writes the files, imports each, and
compares the report with sums that are computed from the job itself, to the nanosecond.

A job is a list of operations on the streams of one GPU, with the calls that launch them, a loader and
marked steps. Four jobs differ in what their time goes to. Formats that record less have fewer answers:
without calls and loader their gaps are of unknown cause.
"""
import json
import os
import random
import subprocess
import sys

try:
    import sqlite3
except ImportError:
    sqlite3 = None

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "imports"))
from xspace import event, kind, line, message, plane, stat, stat_name  # noqa: E402

STEPS = 12
BEGIN_NS = 1736408883600000000
# Microseconds of each step: computing, communication behind it, copies, waiting for the loader.
JOBS = {"computes": (8000, 1500, 300, 200), "communicates": (2000, 7000, 300, 200), "loads": (2000, 500, 300, 7000),
        "copies": (2000, 500, 7000, 200)}
TITLES = {"computes": "COMPUTING", "communicates": "COMMUNICATION", "loads": "WAITING FOR DATA", "copies": "MOVING MEMORY"}
COPY, GEMM, REDUCE = "copy", "compute", "communication"


class Job:
    """Operations as (kind, number, stream, start, end), calls, loads and steps as (start, end); ns from 0 on. `unit` is the
    resolution of the format, `is_serial` is for a core that does one thing at a time."""

    def __init__(self, name, unit=1, is_serial=False):
        compute, communication, copy, load = JOBS[name]
        chance = random.Random(name)
        self.ops, self.calls, self.loads, self.steps = [], [], [], []
        at = 1000000

        def some(us):
            return int(us * 1000 * chance.uniform(0.9, 1.1)) // unit * unit

        for _ in range(STEPS):
            begin = at
            at += some(load)
            self.loads.append((begin, at))
            host = at
            at = self.add(COPY, 9, host, at + some(20), some(copy), unit)
            last = at
            for k in range(8):
                host += some(30)
                start = max(at, host + some(15))
                at = self.add(GEMM, 7 + k % 2 * (not is_serial), host, start, some(compute / 8), unit)
                # Two streams overlap by a fifth.
                last = max(last, at)
                at -= 0 if is_serial else some(compute / 40)
            at = last if is_serial else last - some(communication / 4)
            at = max(last, self.add(REDUCE, 20, host + some(30), at, some(communication), unit))
            # The mark ends with the step's last work.
            self.steps.append((begin, at))
            at += some(10)

    def add(self, what, stream, call, start, length, unit):
        self.calls.append((call, call + 10 * unit if unit > 1 else call + 9000))
        self.ops.append((what, len(self.ops) + 1, stream, start, start + max(length, unit)))
        return self.ops[-1][4]


# ---- answers ----

def union(ops):
    merged = []
    for start, end in sorted(map(list, ops)):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def total(pieces):
    return sum(end - start for start, end in pieces)


def without(pieces, others):
    """The length of `pieces` that lies in none of `others`."""
    return total(union(pieces + others)) - total(others)


def answers(job, lacks_copies):
    ops = {what: [(op[3], op[4]) for op in job.ops if op[0] == what] for what in (GEMM, REDUCE, COPY)}
    if lacks_copies:
        ops[COPY] = []
    every = ops[GEMM] + ops[REDUCE] + ops[COPY]
    compute = union(ops[GEMM])
    return {
        "ops": {what: len(ops[what]) for what in ops},
        "union_ns": {what: total(union(ops[what])) for what in ops},
        "busy_ns": total(union(every)),
        "span_ns": max(end for _, end in every) - min(start for start, _ in every),
        "exposed_communication_ns": without(ops[REDUCE], compute),
        "exposed_copy_ns": without(ops[COPY], union(ops[GEMM] + ops[REDUCE])),
    }


# ---- files of each maker ----

def us(ns, begin=0):
    return f"{(begin + ns) // 1000}.{(begin + ns) % 1000:03d}"


def name_of(op, names):
    return names[op[0]].replace("%", str(op[1]))


CUDA = {GEMM: "ampere_bf16_s16816gemm_%", REDUCE: "ncclDevKernel_AllReduce_Sum_f32_RING_LL", COPY: "MemcpyH2D"}
ROCM = {GEMM: "Cijk_Ailk_Bljk_BBS_BH", REDUCE: "ncclDevKernel_Generic", COPY: "MEMORY_COPY_HOST_TO_DEVICE"}
ASCEND = {GEMM: "aclnnMatmul_MatMulV2", REDUCE: "hcom_allReduce__586_%_1", COPY: "MEMCPY_ASYNC"}
TENSORFLOW = {GEMM: "MatMul", REDUCE: "NcclAllReduce", COPY: "MEMCPYHtoD"}


def pieces(ns):
    return ns * 1000


class Kinds:
    """The table of names of a plane."""

    def __init__(self):
        self.ids, self.bytes = {}, b""

    def id(self, name, stats=b""):
        if name not in self.ids:
            self.ids[name] = len(self.ids) + 1
            self.bytes += kind(self.ids[name], name, stats)
        return self.ids[name]


XSTATS = ("correlation_id", "memcpy_details", "step_num", "hlo_category", "kernel_details")
XNAMES = b"".join(stat_name(i + 1, name) for i, name in enumerate(XSTATS))


def host_plane(job, with_calls):
    kinds = Kinds()
    events = [(start, end, kinds.id("train"), stat(3, i)) for i, (start, end) in enumerate(job.steps)]
    events += [(start, end, kinds.id("next batch"), b"") for start, end in job.loads]
    if with_calls:
        events += [(start, end, kinds.id("cudaLaunchKernel"), stat(1, op[1])) for op, (start, end) in zip(job.ops, job.calls)]
    body = b"".join(event(k, pieces(s), pieces(e - s), stats) for s, e, k, stats in sorted(events, key=lambda x: (x[0], -x[1])))
    return plane(2, "/host:CPU", line(900, "python", BEGIN_NS, body), kinds.bytes, XNAMES)


def xplane_gpu(job, path):
    kinds = Kinds()
    lines = []
    for stream in sorted({op[2] for op in job.ops}):
        body = b""
        for what, number, _, start, end in (op for op in job.ops if op[2] == stream):
            stats = stat(1, number) + (stat(2, "kind:H2D size:4096 dest:0 async:1") if what == COPY else b"")
            body += event(kinds.id(CUDA[what]), pieces(start), pieces(end - start), stats)
        lines.append(line(stream, f"Stream #{stream}(Compute)", BEGIN_NS, body))
    # Lines that repeat the work, and a step as XProf groups it.
    whole = event(kinds.id("jit_step"), pieces(job.ops[0][3]), pieces(job.ops[-1][4] - job.ops[0][3]))
    lines += [line(2**64 - 559038737, title, BEGIN_NS, whole) for title in ("Steps", "XLA Modules", "XLA Ops", "Framework Ops")]
    write(path, "host.xplane.pb", plane(1, "/device:GPU:0", *lines, kinds.bytes, XNAMES) + host_plane(job, True)
          + message(4, "host"))


def xplane_tpu(job, path):
    kinds = Kinds()
    categories = {GEMM: "convolution fusion", REDUCE: "all-reduce", COPY: "copy-done"}

    def category(what):
        return message(5, stat(4, categories[what])[2:])

    body = b""
    for start, end in job.steps:
        # A loop stands around the operations of a step.
        ops = [op for op in job.ops if start <= op[3] < end]
        loop = (ops[1][3], ops[-2][4])
        rows = [(op[3], op[4], kinds.id(f"{op[0]}.{op[1]}", category(op[0]))) for op in ops]
        rows.append((*loop, kinds.id("while.1", category(GEMM))))
        body += b"".join(event(k, pieces(s), pieces(e - s)) for s, e, k in sorted(rows, key=lambda r: (r[0], -r[1])))
    module = event(kinds.id("jit_step"), 0, pieces(job.steps[-1][1]))
    write(path, "tpu.xplane.pb", plane(1, "/device:TPU:0", line(1, "XLA Modules", BEGIN_NS, module),
                                       line(2, "XLA Ops", BEGIN_NS, body), line(3, "Async XLA Ops", BEGIN_NS, module), kinds.bytes,
                                       XNAMES) + host_plane(job, False))


def named(pid, process, tid, thread):
    return [{"ph": "M", "name": "process_name", "pid": pid, "args": {"name": process}},
            {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": thread}}]


def complete(pid, tid, start, end, name, begin=0, **more):
    return {"ph": "X", "pid": pid, "tid": tid, "ts": float(us(start, begin)), "dur": float(us(end - start)), "name": name, **more}


def xprof_json(job, path):
    events = [row for stream in (7, 8, 9, 20) for row in named(1, "/device:GPU:0", stream, f"Stream #{stream}(Compute)")]
    events += named(1, "/device:GPU:0", 99, "XLA Modules") + named(701, "/host:CPU", 900, "python")
    events.append(complete(1, 99, job.ops[0][3], job.ops[-1][4], "jit_step"))
    for op, (start, end) in zip(job.ops, job.calls):
        args = {"correlation_id": str(op[1])}
        if op[0] == COPY:
            args["memcpy_details"] = "kind:H2D size:4096 dest:0 async:1"
        events.append(complete(1, op[2], op[3], op[4], CUDA[op[0]], args=args))
        events.append(complete(701, 900, start, end, "cudaLaunchKernel", args={"correlation_id": str(op[1])}))
    events += [complete(701, 900, start, end, "train", args={"step_num": str(i)}) for i, (start, end) in enumerate(job.steps)]
    events += [complete(701, 900, start, end, "next batch") for start, end in job.loads]
    write(path, "host.trace.json", json.dumps({"displayTimeUnit": "ns", "traceEvents": events}))


def kineto(job, path):
    events = []
    for op, (start, end) in zip(job.ops, job.calls):
        args = {"device": 0, "stream": op[2], "correlation": op[1]}
        cat, name, call = ("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", "cudaMemcpyAsync") if op[0] == COPY \
            else ("kernel", CUDA[op[0]], "cudaLaunchKernel")
        events.append(complete(0, op[2], op[3], op[4], name, cat=cat, args=args))
        events.append(complete(5, 5, start, end, call, cat="cuda_runtime", args={"correlation": op[1]}))
    events += [complete(5, 5, start, end, f"ProfilerStep#{i}", cat="user_annotation") for i, (start, end) in enumerate(job.steps)]
    events += [complete(5, 5, start, end, "next batch", cat="user_annotation") for start, end in job.loads]
    write(path, "rank0.json", json.dumps({"schemaVersion": 1, "traceEvents": events}))


def rocprof(job, path, host=True):
    kinds = ["NONE", "KERNEL_DISPATCH", "MEMORY_COPY", "HIP_RUNTIME_API", "MARKER_CORE_RANGE_API"]
    operations = [[], ["KERNEL_DISPATCH"], [ROCM[COPY]], ["hipLaunchKernel"], ["roctxThreadRangeA"]]
    lists = {"kernel_dispatch": [], "memory_copy": [], "hip_api": [], "marker_api": []}
    texts = {}

    def record(kind_, correlation, start, end, **more):
        return {"kind": kind_, "operation": 0, "thread_id": 5, "correlation_id": {"internal": correlation, "external": 0},
                "start_timestamp": start, "end_timestamp": end, **more}

    for op, (start, end) in zip(job.ops, job.calls):
        if op[0] == COPY:
            lists["memory_copy"].append(record(2, op[1], op[3], op[4], src_agent_id={"handle": 1}, dst_agent_id={"handle": 2}))
        else:
            info = {"agent_id": {"handle": 2}, "queue_id": {"handle": op[2]}, "kernel_id": 1 + (op[0] == REDUCE)}
            lists["kernel_dispatch"].append(record(1, op[1], op[3], op[4], dispatch_info=info))
        lists["hip_api"].append(record(3, op[1], start, end))
    marks = [(start, end, f"step {i}") for i, (start, end) in enumerate(job.steps)]
    for i, (start, end, text) in enumerate(marks + [(start, end, "next batch") for start, end in job.loads]):
        texts[str(10000 + i)] = text
        lists["marker_api"].append(record(4, 10000 + i, start, end))
    if not host:
        lists["hip_api"], lists["marker_api"] = [], []
    write(path, "5_results.json", json.dumps({"rocprofiler-sdk-tool": [{
        "metadata": {"pid": 5, "node": {"hostname": "mi300"}},
        "agents": [{"id": {"handle": 1}, "type": 1}, {"id": {"handle": 2}, "type": 2, "logical_node_type_id": 0, "name": "gfx942"}],
        "strings": {"buffer_records": [{"kind": k, "operations": o} for k, o in zip(kinds, operations)], "marker_api": texts},
        "kernel_symbols": [{"kernel_id": 1, "formatted_kernel_name": ROCM[GEMM]},
                           {"kernel_id": 2, "formatted_kernel_name": ROCM[REDUCE]}],
        "buffer_records": lists}]}))


def rocprof_without_host(job, path):
    rocprof(job, path, host=False)


def database(path, name, tables):
    """Tables by name: a list of columns, and rows."""
    os.makedirs(path)
    db = sqlite3.connect(os.path.join(path, name))
    for table, (columns, rows) in tables.items():
        db.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
        db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", rows)
    db.commit()
    db.close()


FAR_ID = 5000000000  # ids need not count up


def rocpd_tables(job, owner, values, suffix="_0f1e"):
    strings = ["HIP_RUNTIME_API", "MARKER_CORE_RANGE_API", "hipLaunchKernel", ROCM[COPY], "next batch"]
    strings += [f"step {i}" for i in range(STEPS)]
    regions = [(start, end, 3, op[1]) for op, (start, end) in zip(job.ops, job.calls)]
    marks = [(start, end, 6 + i) for i, (start, end) in enumerate(job.steps)] + [(start, end, 5) for start, end in job.loads]
    regions += [(start, end, text, 10000 + i) for i, (start, end, text) in enumerate(marks)]
    events = [(op[1], 1, op[1]) for op in job.ops] + [(10000 + i, 2, 0) for i in range(len(marks))]
    tables = {
        "rocpd_string": (["id", "string"], list(enumerate(strings, 1))),
        "rocpd_info_process": (["id", "pid"], [(42, 5)]),
        "rocpd_info_thread": (["id", "pid", "tid"], [(43, 42, 5)]),
        "rocpd_info_agent": (["id", "type", "type_index", "name"], [(1, "CPU", 0, "EPYC"), (2, "GPU", 0, "gfx942")]),
        "rocpd_info_kernel_symbol": (["id", "display_name"], [(FAR_ID, ROCM[REDUCE]), (1, ROCM[GEMM])]),
        "rocpd_event": (["id", "category_id", "stack_id"], events),
        "rocpd_kernel_dispatch": (["id", "kernel_id", "event_id", "start", '"end"', *owner],
                                  [(op[1], FAR_ID if op[0] == REDUCE else 1, op[1], op[3], op[4], *values(op))
                                   for op in job.ops if op[0] != COPY]),
        "rocpd_memory_copy": (["id", "pid", "tid", "start", '"end"', "name_id", "dst_agent_id", "src_agent_id", "stream_id", "event_id"],
                              [(op[1], 42, 43, op[3], op[4], 4, 2, 1, 0, op[1]) for op in job.ops if op[0] == COPY]),
        "rocpd_region": (["id", "start", '"end"', "name_id", "event_id", *(owner if len(owner) == 1 else ["pid", "tid"])],
                         [(i, *row, *((1,) if len(owner) == 1 else (42, 43))) for i, row in enumerate(regions)]),
    }
    return {name + suffix: table for name, table in tables.items()}


def rocpd(job, path):
    database(path, "5_results.db", rocpd_tables(job, ["pid", "tid", "agent_id", "queue_id"], lambda op: (42, 43, 2, op[2])))


def rocpd_tracks(job, path):
    tables = rocpd_tables(job, ["track_id"], lambda op: (op[2],))
    tracks = [(1, 42, 43, None, None)] + [(stream, 42, 43, 2, stream) for stream in sorted({op[2] for op in job.ops})]
    tables["rocpd_track_0f1e"] = (["id", "pid", "tid", "agent_id", "queue_id"], tracks)
    database(path, "5_results.db", tables)


def rpd(job, path):
    strings = ["", "KernelExecution", "CopyHostToDevice", "hipLaunchKernel", "UserMarker", ROCM[GEMM], ROCM[REDUCE], "next batch"]
    strings += [f"step {i}" for i in range(STEPS)]
    types = {GEMM: (6, 2), REDUCE: (7, 2), COPY: (1, 3)}
    apis = [(op[1], 5, 5, start, end, 4, 1) for op, (start, end) in zip(job.ops, job.calls)]
    marks = [(start, end, 9 + i) for i, (start, end) in enumerate(job.steps)] + [(start, end, 8) for start, end in job.loads]
    apis += [(10000 + i, 5, 5, start, end, 5, text) for i, (start, end, text) in enumerate(marks)]
    database(path, "trace.rpd", {
        "rocpd_string": (["id", "string"], list(enumerate(strings, 1))),
        "rocpd_api": (["id", "pid", "tid", "start", '"end"', "apiName_id", "args_id"], apis),
        "rocpd_op": (["id", "gpuId", "queueId", "start", '"end"', "description_id", "opType_id"],
                     [(op[1], 0, op[2], op[3], op[4], *types[op[0]]) for op in job.ops]),
        "rocpd_api_ops": (["id", "api_id", "op_id"], [(op[1], op[1], op[1]) for op in job.ops]),
        "rocpd_copyapi": (["api_ptr_id", "size"], []),
    })


def ascend_row(pid, tid, start, end, name, **more):
    return {"ph": "X", "pid": pid, "tid": tid, "ts": us(start, BEGIN_NS), "dur": (end - start) / 1000, "name": name, **more}


def ascend(job, path, types=True):
    task_types = {GEMM: "AI_CORE", REDUCE: None, COPY: "PCIE_DMA_SQE"}
    events = [ascend_row(7, 70, start, end, f"ProfilerStep#{i}", cat="cpu_op") for i, (start, end) in enumerate(job.steps)]
    events += [ascend_row(7, 70, start, end, "next batch", cat="cpu_op") for start, end in job.loads]
    for op, (start, end) in zip(job.ops, job.calls):
        events.append(ascend_row(8, 70, start, end, "Node@launch", args={"level": "node", "connection_id": op[1]}))
        name = name_of(op, ASCEND)
        if op[0] == REDUCE:
            # The collective, its pieces, and the wait on a stream of the device.
            events.append(ascend_row(10, 0, op[3], op[4], name, args={"data_type": "FP32", "count": 250, "connection_id": op[1]}))
            events.append(ascend_row(10, 1, op[3], op[4], "Reduce_Inline"))
            events.append(ascend_row(9, 30, op[3] - 50, op[4] + 50, "EVENT_WAIT", args={"Task Type": "EVENT_WAIT_SQE"}))
            continue
        is_typed = types or op[0] == COPY
        events.append(ascend_row(9, op[2], op[3], op[4], name, args={"Task Type": task_types[op[0]] if is_typed else "Other",
                                                                     "connection_id": op[1]}))
        if op[0] == GEMM:
            events.append(ascend_row(11, 0, op[3], op[4], "Computing"))
    events += named(7, "Python", 70, "Thread 70") + named(8, "CANN", 70, "Thread 70")
    events += [row for stream in (7, 8, 9, 30) for row in named(9, "Ascend Hardware", stream, f"Stream {stream}")]
    events += named(10, "HCCL", 0, "Group 0 Communication") + named(10, "HCCL", 1, "Plane 0")
    events += named(11, "Overlap Analysis", 0, "Computing")
    write(path, "trace_view.json", json.dumps(events))


def ascend_older(job, path):
    ascend(job, path, types=False)


def ascend_db(job, path):
    strings = ["AI_CORE", "MEMCPY_ASYNC", "EVENT_WAIT", ASCEND[GEMM], "group", "Node@launch", "next batch"]
    strings += [f"ProfilerStep#{i}" for i in range(STEPS)]
    first_name = len(strings)
    reduces = [op for op in job.ops if op[0] == REDUCE]
    strings += [name_of(op, ASCEND) for op in reduces]
    # A task whose type is "compute" carries the collective.
    types = {GEMM: 1, REDUCE: 1, COPY: 2}
    tasks = [(BEGIN_NS + op[3], BEGIN_NS + op[4], 0, op[1], op[1], 5, types[op[0]], op[2]) for op in job.ops]
    marks = [(start, end, 8 + i) for i, (start, end) in enumerate(job.steps)] + [(start, end, 7) for start, end in job.loads]
    thread = 5 << 32 | 5
    database(path, "ascend_pytorch_profiler_0.db", {
        "STRING_IDS": (["id INTEGER PRIMARY KEY", "value"], list(enumerate(strings, 1))),
        "COMPUTE_TASK_INFO": (["name", "globalTaskId", "taskType"], [(4, op[1], 1) for op in job.ops if op[0] == GEMM]),
        "COMMUNICATION_TASK_INFO": (["name", "globalTaskId", "opId"], [(4, op[1], 1) for op in reduces]),
        "COMMUNICATION_OP": (["opName", "startNs", "endNs", "connectionId", "groupName", "opId", "dataType", "count"],
                             [(first_name + 1 + i, BEGIN_NS + op[3], BEGIN_NS + op[4], op[1], 5, i, 4, 250)
                              for i, op in enumerate(reduces)]),
        "TASK": (["startNs", "endNs", "deviceId", "connectionId", "globalTaskId", "globalPid", "taskType", "streamId"], tasks),
        "CANN_API": (["startNs", "endNs", "type", "globalTid", "connectionId", "name"],
                     [(BEGIN_NS + start, BEGIN_NS + end, 10000, thread, op[1], 6) for op, (start, end) in zip(job.ops, job.calls)]),
        "ENUM_API_TYPE": (["id", "name"], [(50001, "op"), (50003, "trace")]),
        "PYTORCH_API": (["startNs TEXT", "endNs TEXT", "globalTid", "name", "type"],
                        [(str(BEGIN_NS + start), str(BEGIN_NS + end), thread, text, 50001) for start, end, text in marks]),
        "NPU_INFO": (["id", "name"], [(0, "Ascend910B")]),
    })


def ascend_csv(job, path):
    rows = ["Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us)"]
    rows += [f"1,{name_of(op, ASCEND)},X,AI_CORE,{us(op[3], BEGIN_NS)}\t,{us(op[4] - op[3])},0" for op in job.ops if op[0] != COPY]
    write(path, "kernel_details.csv", "\n".join(rows) + "\n")


def timeline(job, path, streams=True, sums=True):
    processes, events = {}, []

    def lane(process):
        if process not in processes:
            processes[process] = len(processes) + 1
            events.append(named(processes[process], process, 0, "")[0])
        return processes[process]

    def put(process, start, end, op):
        events.append({"ph": "X", "cat": "Op", "pid": lane(process), "tid": 0, "ts": start // 1000, "dur": (end - start) // 1000,
                       "name": op, "args": {"name": f"a/{op}", "op": op}})

    for op in job.ops:
        name = TENSORFLOW[op[0]]
        if streams:
            put(f"/device:GPU:0/stream:{op[2]} Compute", op[3], op[4], name)
        if sums:
            put(f"/device:GPU:0/{'memcpy' if op[0] == COPY else 'stream:all'} Compute", op[3], op[4], name)
        put("/job:localhost/replica:0/task:0/device:GPU:0 Compute", op[3] - 50000, op[4] + 5000000, name)
    for start, end in job.loads:
        put("/job:localhost/replica:0/task:0/device:CPU:0 Compute", start, end, "IteratorGetNext")
    write(path, "timeline.json", json.dumps({"traceEvents": events}))


def timeline_of_streams(job, path):
    timeline(job, path, sums=False)


def timeline_of_sums(job, path):
    timeline(job, path, streams=False)


def named_lanes(job, path):
    events = [row for stream in (7, 8, 9, 20) for row in named(1, "Accel 0", stream, f"queue {stream}")]
    events += named(2, "host", 3, "main")
    events += [complete(1, op[2], op[3], op[4], "Memcpy HtoD" if op[0] == COPY else CUDA[op[0]]) for op in job.ops]
    events += [complete(2, 3, start, end, "next batch") for start, end in job.loads]
    write(path, "trace.json", json.dumps({"traceEvents": events}))


def write(path, name, content):
    os.makedirs(path)
    with open(os.path.join(path, name), "wb") as out:
        out.write(content.encode() if isinstance(content, str) else content)


# Format, its writer, and what differs from a format that keeps all: unit of times (ns), a serial core, no host (so the cause of
# gaps is unknown), no marks of steps, no copies, other counts than the job's, arguments of import.
MAKERS = (
    ("kineto", kineto, {}), ("xprof", xplane_gpu, {}), ("xprof", xplane_tpu, {"is_serial": True, "counts": False}),
    ("xprof-json", xprof_json, {}), ("rocprof", rocprof, {}), ("rocprof", rocprof_without_host, {"host": False, "steps": False}),
    ("rocpd", rocpd, {}), ("rocpd", rocpd_tracks, {}), ("rpd", rpd, {}),
    ("ascend", ascend, {}), ("ascend", ascend_older, {}), ("ascend-db", ascend_db, {}),
    ("ascend-csv", ascend_csv, {"host": False, "steps": False, "copies": False}),
    ("timeline", timeline, {"unit": 1000, "steps": False, "host": False}),
    ("timeline", timeline_of_streams, {"unit": 1000, "steps": False, "host": False}),
    ("timeline", timeline_of_sums, {"unit": 1000, "steps": False, "host": False}),
    ("lanes", named_lanes, {"host": False, "steps": False, "options": ["--device-lane=Accel */queue *"]}),
)


def differences(report, job, lacks, fmt, name):
    """What of the report is not as the job has it, as texts."""
    wrong = []
    expected = answers(job, not lacks.get("copies", True))
    if len(report["devices"]) != 1:
        return [f"{len(report['devices'])} devices"]
    device = report["devices"][0]
    if not lacks.get("counts", True):
        del expected["ops"]
    if lacks.get("steps", True):
        del expected["span_ns"]
        if report["steps"]["total_count"] != STEPS:
            wrong.append(f"{report['steps']['total_count']} steps, {STEPS} expected")
    for key, value in expected.items():
        if device[key] != value:
            wrong.append(f"{key} {device[key]}, {value} expected")
    if report["run"]["sources"][0]["format"] != fmt:
        wrong.append(f"format {report['run']['sources'][0]['format']}, {fmt} expected")
    title = TITLES[name]
    if name == "loads" and not lacks.get("host", True) and fmt != "timeline":
        title = "CANNOT TELL"  # what the device did is little, and the rest is unknown
    if name == "copies" and not lacks.get("copies", True):
        title = "CANNOT TELL"
    if report["summary"]["title"] != title:
        wrong.append(f"{report['summary']['title']}, {title} expected")
    is_known = report["summary"]["metrics"].get("step.idle_ratio", {"value": None})["value"] is not None
    if is_known != lacks.get("host", True):
        wrong.append(f"idle time is {'known' if is_known else 'unknown'}")
    return wrong


DATABASES = ("rocpd", "rpd", "ascend-db")


def lacks_databases(trainprof):
    """Why databases cannot be written or read here; None if they can."""
    if not sqlite3:
        return "Python's sqlite3 module is not installed"
    version = subprocess.run([trainprof, "version", "-v"], check=True, capture_output=True, text=True).stdout
    return None if "SQLite" in version else "trainprof was built without SQLite"


def main(trainprof, folder):
    n_failed = n_skipped = n = 0
    reason = lacks_databases(trainprof)
    for fmt, make, lacks in MAKERS:
        if reason and fmt in DATABASES:
            print(f"skipped: {make.__name__.replace('_', '-')}: {reason}")
            n_skipped += len(JOBS)
            continue
        for name in JOBS:
            case = f"{make.__name__.replace('_', '-')}-{name}"
            job = Job(name, lacks.get("unit", 1), lacks.get("is_serial", False))
            files = os.path.join(folder, "files", case)
            make(job, files)
            run = subprocess.run([trainprof, "import", "-q", "-o", os.path.join(folder, case), *lacks.get("options", []),
                                  *(os.path.join(files, file) for file in os.listdir(files))], capture_output=True, text=True,
                                 check=False)
            wrong = [run.stderr.strip()]
            if not run.returncode:
                text = subprocess.run([trainprof, "report", "--format=json", os.path.join(folder, case)], capture_output=True,
                                      check=True).stdout
                wrong = differences(json.loads(text), job, lacks, fmt, name)
            for what in wrong:
                print(f"failed: {case}: {what}")
            n_failed += bool(wrong)
            n += 1
    print(f"makers: {n - n_failed} passed, {n_failed} failed, {n_skipped} skipped")
    sys.exit(n_failed > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
