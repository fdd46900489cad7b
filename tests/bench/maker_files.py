#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes large traces of other makers than Kineto, for measuring how fast they are imported.

usage: maker_files.py FOLDER EVENTS [FORMAT...]

Each file has about EVENTS events, in the layout and with the members that its maker writes, so that
bytes per event are those of real files: an XSpace of a GPU has 130 bytes and 4.3 statistics per
event, one of a CPU 30 bytes, a record of rocprofv3 420 bytes.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "imports"))
from xspace import event, kind, message, number, stat, stat_name, varint  # noqa: E402

BLOCK = 2000  # events that are written once and repeated at later times


# ---- XSpaces ----

STATS = ("", "correlation_id", "kernel_details", "hlo_op", "hlo_module", "program_id", "_c")


def reference(name, value):
    return message(4, number(1, name) + number(7, value))


def gpu_event(i):
    details = f"regs:38 static_shared:0 dynamic_shared:0 grid:{160 + i % 40},1,1 block:256,1,1 occ_pct:100"
    return event(1 + i % 400, i * 5000000, 3000000 + i, stat(1, 100000 + i) + stat(2, details) + reference(3, 4) + stat(5, 7)
                 + stat(4, f"jit_step_{i % 50}"))


def launch_event(i):
    return event(500 + i % 2, i * 5000000, 2000000, stat(1, 100000 + i) + stat(6, i) + stat(5, 7)
                 + stat(2, f"device_id:0 stream_id:17 context_id:1 annotation:{i % 1000:06d} jit_step/dot_general"))


def cpu_event(i):
    if i % 3:
        return event(600 + i % 60, i * 5000000, 3000000 + i, stat(6, i % 100) + stat(5, 7))
    return event(700, i * 5000000, 0, stat(6, i % 100))


def plane(id_, name, lines, kinds):
    yield number(1, id_) + message(2, name)
    for thread, title, make, n in lines:
        events = b"".join(make(i) for i in range(min(n, BLOCK)))
        for block in range(max(n // BLOCK, 1)):
            head = number(1, thread) + message(2, title) + number(3, 1700000000000000000 + block * BLOCK * 5000)
            yield message(3, head + events)
    for key, text in kinds:
        yield kind(key, text)
    for key, text in enumerate(STATS):
        yield stat_name(key, text)


def xspace(path, planes):
    with open(path, "wb") as out:
        for p in planes:
            parts = list(plane(*p))
            out.write(varint(1 << 3 | 2) + varint(sum(map(len, parts))))
            out.writelines(parts)
        out.write(message(4, "host"))


KERNELS = [(1 + i, f"void at::native::vectorized_elementwise_kernel<(int)4, Functor{i}>(int, T2, T3)") for i in range(400)]
CALLS = [(500, "cudaLaunchKernel"), (501, "cudaLaunchKernelExC_v11060")]
RANGES = [(600 + i, f"dot.{i}") for i in range(60)] + [(700, "ThreadpoolListener::StartRegion")]


def xplane_gpu(path, n):
    xspace(path, [(1, "/device:GPU:0", [(s, f"Stream #{s}(Compute)", gpu_event, n // 8) for s in (17, 18, 19, 20)], KERNELS),
                  (2, "/host:CPU", [(900 + t, f"python/{t}", launch_event, n // 8) for t in range(4)], CALLS)])


def xplane_cpu(path, n):
    xspace(path, [(1, "/host:CPU", [(900 + t, f"tf_XLAEigen/{t}", cpu_event, n // 4) for t in range(4)], RANGES)])


# ---- JSON ----

def rows(path, head, row, n, tail):
    with open(path, "w") as out:
        out.write(head)
        for i in range(0, n, BLOCK):
            out.write(",".join([row(k) for k in range(i, min(i + BLOCK, n))]) + ("," if i + BLOCK < n else ""))
        out.write(tail)


def names(pid, process, tid, thread):
    return (f'{{"name":"process_name","pid":{pid},"tid":0,"args":{{"name":"{process}"}},"ph":"M"}},'
            f'{{"name":"thread_name","pid":{pid},"tid":{tid},"args":{{"name":"{thread}"}},"ph":"M"}}')


def ascend_row(i):
    us = f"{1736408883600000 + i * 5}.{i % 1000:03d}"
    which = i % 4
    if which == 0:
        return (f'{{"ph":"X","name":"aclnnMatmul_MatMulCommon_MatMulV2","pid":9,"tid":2,"ts":"{us}","dur":4.{i % 100000:05d},'
                f'"args":{{"Model Id":4294967295,"Task Type":"AI_CORE","Stream Id":2,"Task Id":{i},"Batch Id":0,'
                f'"Subtask Id":4294967295,"connection_id":{i}}}}}')
    if which == 1:
        return (f'{{"ph":"X","name":"AscendCL@aclnnMatmul","pid":8,"tid":70,"ts":"{us}","dur":3.5,"args":{{"Thread Id":70,'
                f'"Mode":"ACL_OP","level":"acl","id":"aclnnMatmul","item_id":"0","connection_id":{i}}}}}')
    if which == 2:
        return (f'{{"ph":"X","cat":"cpu_op","name":"aten::linear","pid":7,"tid":70,"ts":"{us}","dur":4.25,"args":{{'
                f'"Sequence number":{i},"Fwd thread id":0,"Input Dims":"32,128,768;768,768","Input type":"c10::BFloat16",'
                f'"Call stack":"train.py(30): step;\\r\\nmodel.py(12): forward"}}}}')
    return f'{{"ph":"s","bp":"e","name":"HostToDevice{i}","id":"{i}","pid":8,"tid":70,"ts":"{us}","cat":"HostToDevice"}}'


def ascend(path, n):
    tail = ",".join([names(7, "Python", 70, "Thread 70"), names(8, "CANN", 70, "Thread 70"),
                     names(9, "Ascend Hardware", 2, "Stream 2")])
    rows(path, "[", ascend_row, n, "," + tail + "]")


def timeline_row(i):
    pid = 1 + i % 3
    op = f'model/layer_{i % 100}/conv2d/Conv2D'
    return (f'{{"name":"Conv2D","args":{{"name":"{op}","op":"Conv2D","input0":"{op}/ReadVariableOp","input1":"x"}},'
            f'"ts":{1500000000000000 + i * 5},"pid":{pid},"cat":"Op","ph":"X","tid":0,"dur":4}}')


def timeline(path, n):
    heads = ["/device:GPU:0/stream:all Compute", "/device:GPU:0/stream:13 Compute",
             "/job:localhost/replica:0/task:0/device:CPU:0 Compute"]
    head = ",".join(f'{{"args":{{"name":"{name}"}},"name":"process_name","pid":{1 + i},"ph":"M"}}' for i, name in enumerate(heads))
    rows(path, '{"traceEvents":[' + head + ",", timeline_row, n, "]}")


def rocprof_row(i):
    start = 63857982592000 + i * 5000
    return (f'{{"size":184,"kind":1,"operation":0,"thread_id":908,"correlation_id":{{"internal":{i + 1},"external":0}},'
            f'"start_timestamp":{start},"end_timestamp":{start + 4000},"dispatch_info":{{"size":72,"agent_id":{{"handle":37946}},'
            f'"queue_id":{{"handle":{16 + i % 4}}},"kernel_id":{1 + i % 400},"dispatch_id":{i},"private_segment_size":0,'
            f'"group_segment_size":0,"workgroup_size":{{"x":512,"y":1,"z":1}},"grid_size":{{"x":{512 * (1 + i % 90)},"y":1,"z":1}}}},'
            f'"stream_id":{{"handle":0}}}}')


def rocprof(path, n):
    symbols = ",".join(f'{{"size":88,"kernel_id":{k},"kernel_name":"k","formatted_kernel_name":"{text}"}}' for k, text in KERNELS)
    head = ('{"rocprofiler-sdk-tool":[{"metadata":{"pid":908,"init_time":63855948165371,"fini_time":73855948165371},'
            '"agents":[{"size":312,"id":{"handle":37946},"type":2,"cu_count":256,"name":"gfx950","logical_node_type_id":0}],'
            '"strings":{"buffer_records":[{"kind":"NONE","operations":[]},{"kind":"KERNEL_DISPATCH","operations":["KERNEL_DISPATCH"]}]},'
            f'"kernel_symbols":[{symbols}],"buffer_records":{{"kernel_dispatch":[')
    rows(path, head, rocprof_row, n, '],"hip_api":[]}}]}')


def xprof_row(i):
    ts = f"{1000 + i * 5}.{i % 1000:03d}"
    if i % 2:
        return (f'{{"ph":"X","pid":1,"tid":17,"ts":{ts},"dur":4.{i % 1000:03d},"name":"loop_fusion_{i % 400}","args":{{"run_id":"1",'
                f'"correlation_id":"{i}","kernel_details":"regs:38 shm:0 grid:160,1,1 block:256,1,1","hlo_op":"loop_fusion.{i % 50}",'
                f'"hlo_module":"jit_step","program_id":"7"}}}}')
    return (f'{{"ph":"X","pid":701,"tid":900,"ts":{ts},"dur":2,"name":"cudaLaunchKernel","args":{{"correlation_id":"{i + 1}",'
            f'"device_id":"0","_c":"{i}"}}}}')


def xprof_json(path, n):
    head = names(1, "/device:GPU:0", 17, "Stream #17(Compute)") + "," + names(701, "/host:CPU", 900, "python") + ","
    rows(path, '{"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[' + head, xprof_row, n, "]}")


# ---- databases ----

COUNT = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {})"


def database(path, statements):
    import sqlite3  # which Python may lack: other formats do without
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode = OFF")
    db.execute("PRAGMA synchronous = OFF")
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()


def rocpd(path, n):
    count = COUNT.format(n // 2)
    s = "_00001f1a_61a5_7b5e_8c1d_0f3b6a7c8d9e"
    database(path, [
        f"CREATE TABLE rocpd_metadata{s}(id INTEGER PRIMARY KEY, tag TEXT, value TEXT)",
        f"INSERT INTO rocpd_metadata{s} VALUES (1,'schema_version','3.0.2')",
        f"CREATE TABLE rocpd_string{s}(id INTEGER PRIMARY KEY, guid TEXT, string TEXT)",
        f"INSERT INTO rocpd_string{s} VALUES (1,'g','HIP_RUNTIME_API'),(2,'g','hipLaunchKernel')",
        f"CREATE TABLE rocpd_info_node{s}(id INTEGER PRIMARY KEY, guid TEXT, hostname TEXT)",
        f"INSERT INTO rocpd_info_node{s} VALUES (1,'g','host')",
        f"CREATE TABLE rocpd_info_process{s}(id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER)",
        f"INSERT INTO rocpd_info_process{s} VALUES (42,'g',1,42)",
        f"CREATE TABLE rocpd_info_thread{s}(id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER)",
        f"INSERT INTO rocpd_info_thread{s} VALUES (42,'g',1,42,42)",
        f"CREATE TABLE rocpd_info_agent{s}(id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, type TEXT, "
        "absolute_index INTEGER, logical_index INTEGER, type_index INTEGER, name TEXT, product_name TEXT)",
        f"INSERT INTO rocpd_info_agent{s} VALUES (5,'g',1,42,'GPU',1,1,0,'gfx942','AMD Instinct MI300X')",
        f"CREATE TABLE rocpd_info_kernel_symbol{s}(id INTEGER PRIMARY KEY, guid TEXT, kernel_name TEXT, display_name TEXT)",
        f"INSERT INTO rocpd_info_kernel_symbol{s} {COUNT.format(400)} SELECT i, 'g', 'k', 'Cijk_Ailk_Bljk_BBS_BH_kernel_' || i FROM n",
        f"CREATE TABLE rocpd_event{s}(id INTEGER PRIMARY KEY, guid TEXT, category_id INTEGER, stack_id INTEGER, "
        "parent_stack_id INTEGER, correlation_id INTEGER, call_stack JSONB, line_info JSONB, extdata JSONB)",
        f"INSERT INTO rocpd_event{s} {count} SELECT i, 'g', 1, i, 0, 0, '{{}}', '{{}}', '{{}}' FROM n",
        f"CREATE TABLE rocpd_kernel_dispatch{s}(id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, "
        "agent_id INTEGER, kernel_id INTEGER, dispatch_id INTEGER, queue_id INTEGER, stream_id INTEGER, start BIGINT, end BIGINT, "
        "private_segment_size INTEGER, group_segment_size INTEGER, workgroup_size_x INTEGER, workgroup_size_y INTEGER, "
        "workgroup_size_z INTEGER, grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER, region_name_id INTEGER, "
        "event_id INTEGER, extdata JSONB)",
        f"INSERT INTO rocpd_kernel_dispatch{s} {count} SELECT i, '00001f1a-61a5-7b5e-8c1d-0f3b6a7c8d9e', 1, 42, 42, 5, 1 + i % 400, i, "
        "2, 9, 63857982592000 + i * 5000, 63857982596000 + i * 5000, 0, 0, 256, 1, 1, 256 * (1 + i % 90), 1, 1, 1, i, '{}' FROM n",
        f"CREATE TABLE rocpd_region{s}(id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, start BIGINT, "
        "end BIGINT, name_id INTEGER, event_id INTEGER, extdata JSONB)",
        f"INSERT INTO rocpd_region{s} {count} SELECT i, '00001f1a-61a5-7b5e-8c1d-0f3b6a7c8d9e', 1, 42, 42, 63857982590000 + i * 5000, "
        "63857982592000 + i * 5000, 2, i, '{}' FROM n",
    ])


def rpd(path, n):
    count = COUNT.format(n // 2)
    database(path, [
        "CREATE TABLE rocpd_string(id INTEGER PRIMARY KEY, string TEXT)",
        "INSERT INTO rocpd_string VALUES (1,''),(2,'KernelExecution'),(3,'hipLaunchKernel')",
        f"INSERT INTO rocpd_string {COUNT.format(400)} SELECT 9 + i, 'Cijk_Ailk_Bljk_BBS_BH_kernel_' || i FROM n",
        "CREATE TABLE rocpd_op(id INTEGER PRIMARY KEY, gpuId INTEGER, queueId INTEGER, sequenceId INTEGER, start INTEGER, "
        "end INTEGER, description_id INTEGER, opType_id INTEGER)",
        f"INSERT INTO rocpd_op {count} SELECT i, 0, i % 4, i, 63857982592000 + i * 5000, 63857982596000 + i * 5000, 10 + i % 400, 2 FROM n",
        "CREATE TABLE rocpd_api(id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start INTEGER, end INTEGER, apiName_id INTEGER, "
        "args_id INTEGER)",
        f"INSERT INTO rocpd_api {count} SELECT i, 42, 42, 63857982590000 + i * 5000, 63857982592000 + i * 5000, 3, 1 FROM n",
        "CREATE TABLE rocpd_api_ops(id INTEGER PRIMARY KEY, api_id INTEGER, op_id INTEGER)",
        f"INSERT INTO rocpd_api_ops {count} SELECT i, i, i FROM n",
        "CREATE TABLE rocpd_copyapi(api_ptr_id INTEGER, size INTEGER)",
    ])


def ascend_db(path, n):
    count = COUNT.format(n // 4)
    database(path, [
        "CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY, value TEXT)",
        "INSERT INTO STRING_IDS VALUES (1,'AI_CORE'),(2,'aclnnMatmul'),(3,'aten::linear')",
        f"INSERT INTO STRING_IDS {COUNT.format(400)} SELECT 9 + i, 'aclnnMatmul_MatMulCommon_MatMulV2_' || i FROM n",
        "CREATE TABLE COMPUTE_TASK_INFO(name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockDim INTEGER, mixBlockDim INTEGER, "
        "taskType INTEGER, opType INTEGER, inputFormats INTEGER, inputDataTypes INTEGER, inputShapes INTEGER)",
        f"INSERT INTO COMPUTE_TASK_INFO {count} SELECT 10 + i % 400, i, 20, 0, 1, 2, 2, 2, 2 FROM n",
        "CREATE TABLE TASK(startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER, "
        "globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER, modelId INTEGER)",
        f"INSERT INTO TASK {count} SELECT 1736408883600000000 + i * 5000, 1736408883600004000 + i * 5000, 0, i, i, 9, 1, 4294967295, "
        "2, i % 65536, 4294967295 FROM n",
        "CREATE TABLE CANN_API(startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER, connectionId INTEGER PRIMARY KEY, "
        "name INTEGER)",
        f"INSERT INTO CANN_API {count} SELECT 1736408883600000000 + i * 5000, 1736408883600003000 + i * 5000, 20000, 38654705673, i, 2 FROM n",
        "CREATE TABLE ENUM_API_TYPE(id INTEGER PRIMARY KEY, name TEXT)",
        "INSERT INTO ENUM_API_TYPE VALUES (50001,'op'),(50002,'queue'),(50003,'trace')",
        "CREATE TABLE PYTORCH_API(startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER, name INTEGER, "
        "sequenceNumber INTEGER, fwdThreadId INTEGER, inputDtypes INTEGER, inputShapes INTEGER, callchainId INTEGER, type INTEGER)",
        f"INSERT INTO PYTORCH_API {COUNT.format(n // 2)} SELECT 1736408883600000000 + i * 2500, 1736408883600002000 + i * 2500, "
        "38654705673, i, 3, i, 0, 2, 2, 2, 50001 FROM n",
        "CREATE TABLE NPU_INFO(id INTEGER, name TEXT)",
        "INSERT INTO NPU_INFO VALUES (0,'Ascend910B')",
    ])


FILES = {
    "xplane-gpu": (xplane_gpu, "gpu.xplane.pb"),
    "xplane-cpu": (xplane_cpu, "cpu.xplane.pb"),
    "xprof-json": (xprof_json, "host.trace.json"),
    "ascend": (ascend, "trace_view.json"),
    "timeline": (timeline, "timeline.json"),
    "rocprof": (rocprof, "908_results.json"),
    "rocpd": (rocpd, "908_results.db"),
    "rpd": (rpd, "trace.rpd"),
    "ascend-db": (ascend_db, "ascend_pytorch_profiler_0.db"),
}


def main():
    folder, n, *wanted = sys.argv[1:]
    for name in wanted or FILES:
        make, file = FILES[name]
        os.makedirs(os.path.join(folder, name), exist_ok=True)
        make(os.path.join(folder, name, file), int(n))


if __name__ == "__main__":
    main()
