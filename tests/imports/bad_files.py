#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes traces that are damaged, incomplete or not what they seem: bad_files.py FOLDER.

Each function is a file, whose name is the function's, with the ending as its argument. The good part
of each file has a known answer: kernels of 100 us on a device, every 200 us.
"""
import json
import os
import sqlite3
import sys

from xspace import event, kind, line, message, number, plane, stat, stat_name

FILES = []
N = 60  # kernels
START_NS = 1700000000000000000


def file(name):
    def add(function):
        FILES.append((name, function))
        return function
    return add


# ---- XSpaces ----

KINDS = kind(1, "gemm") + kind(2, "copy")
NAMES = stat_name(1, "correlation_id") + stat_name(2, "memcpy_details")


def kernels(n=N, kind_=1):
    return b"".join(event(kind_, i * 200000000, 100000000, stat(1, i + 1)) for i in range(n))


def stream(events, name="Stream #7(Compute)"):
    return line(7, name, START_NS, events)


def gpu(*parts):
    return plane(1, "/device:GPU:0", *parts)


@file("xplane-whole.xplane.pb")
def _():
    return gpu(stream(kernels()), KINDS, NAMES)


@file("xplane-tables-first.xplane.pb")
def _():
    return gpu(KINDS, NAMES, stream(kernels()))


@file("xplane-tables-missing.xplane.pb")
def _():
    return gpu(stream(kernels()))


@file("xplane-length-beyond-line.xplane.pb")
def _():
    return gpu(stream(kernels() + b"\x22\xff\x7f\x08\x01"), KINDS, NAMES)


@file("xplane-length-beyond-file.xplane.pb")
def _():
    return gpu(stream(kernels()), KINDS, NAMES) + b"\x0a\xff\xff\xff\xff\x0f\x08\x01"


@file("xplane-varint-of-11-bytes.xplane.pb")
def _():
    return gpu(stream(kernels() + message(4, number(1, 1) + b"\x10" + b"\xff" * 10 + b"\x01")), KINDS, NAMES)


@file("xplane-group.xplane.pb")
def _():
    return gpu(stream(kernels()), KINDS, NAMES, b"\x33\x08\x01\x34")


@file("xplane-group-at-top.xplane.pb")
def _():
    return gpu(stream(kernels()), KINDS, NAMES) + b"\x0b\x08\x01\x0c"


@file("xplane-many-planes.xplane.pb")
def _():
    return plane(1, "/device:TPU:0 SparseCore 1") * 1000000 + gpu(stream(kernels()), KINDS, NAMES)


@file("xplane-many-devices.xplane.pb")
def _():
    return b"".join(plane(i, f"/device:GPU:{i}") for i in range(5000)) + gpu(stream(kernels()), KINDS, NAMES)


@file("xplane-cut.xplane.pb")
def _():
    whole = gpu(stream(kernels()), KINDS, NAMES)
    return whole[:len(whole) * 2 // 3]


@file("xplane-copied-as-text.xplane.pb")
def _():
    whole = gpu(stream(kernels()), KINDS, NAMES)
    return whole.decode("utf-8", errors="replace").encode()


@file("xplane-times-beyond.xplane.pb")
def _():
    odd = event(1, 2**63, 1) + event(1, 5, 2**64 - 1) + message(4, number(1, 1) + number(5, 12))
    return gpu(stream(kernels() + odd), KINDS, NAMES)


@file("xplane-profiler-lost.xplane.pb")
def _():
    return gpu(stream(kernels()), KINDS, NAMES) + message(2, "dropped 12 activity buffers")


@file("xplane-empty.xplane.pb")
def _():
    return plane(1, "/host:CPU") + message(4, "host")


@file("pprof.pb")
def _():
    return message(1, number(1, 1) + number(2, 2)) + message(2, number(1, 1) + number(2, 200)) * 40


@file("perfetto.bin")
def _():
    return message(1, number(8, 12345) + number(10, 3) + message(60, number(1, 9))) * 40


@file("other-message.bin")
def _():
    return message(1, number(1, 2) + message(2, "layer/weights:0") + b"\x80\x01\x05") * 10


@file("cprofile.prof")
def _():
    return b"{(\xda\x01~\xe9\x00\x00\x00\x00"


@file("pointer.json")
def _():
    return "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 2218825\n"


# ---- databases ----

ROCPD = """
CREATE TABLE rocpd_metadata_1(id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
INSERT INTO rocpd_metadata_1 VALUES (1, 'schema_version', '{schema}');
CREATE TABLE rocpd_info_agent_1(id INTEGER, type TEXT, type_index INTEGER, name TEXT);
INSERT INTO rocpd_info_agent_1 VALUES (5, 'GPU', 0, 'gfx942');
CREATE TABLE rocpd_info_process_1(id INTEGER, pid INTEGER);
INSERT INTO rocpd_info_process_1 VALUES (42, 42);
CREATE TABLE rocpd_info_kernel_symbol_1(id INTEGER, display_name TEXT);
INSERT INTO rocpd_info_kernel_symbol_1 VALUES (1, 'gemm');
CREATE TABLE {dispatches}(id INTEGER, {owner}, kernel_id INTEGER, start, {end});
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 59)
INSERT INTO {dispatches} SELECT i, {values}, 1, 1000000 + i * 200000, {last} FROM n;
"""
OWNER = {"owner": "pid INTEGER, agent_id INTEGER, queue_id INTEGER", "values": "42, 5, 2"}


def database(script, after=None):
    """The bytes of a database, as it is or as it lies on the disk while a transaction is open."""
    path = os.path.join(sys.argv[1], "scratch.db")
    db = sqlite3.connect(path, isolation_level=None)
    db.executescript(script)
    parts = {}
    if after:
        db.execute("PRAGMA cache_size = 1")
        for statement in after:
            db.execute(statement)
    for end in ("", "-journal", "-wal"):
        if os.path.exists(path + end):
            with open(path + end, "rb") as bytes_:
                parts[end] = bytes_.read()
    db.close()
    for end in ("", "-journal", "-wal", "-shm"):
        if os.path.exists(path + end):
            os.unlink(path + end)
    return parts


def rocpd(schema="3.0.2", dispatches="rocpd_kernel_dispatch_1", end='"end"', last="1100000 + i * 200000", more="", after=None,
          **owner):
    return database(ROCPD.format(schema=schema, dispatches=dispatches, end=end, last=last, **(owner or OWNER)) + more, after)


@file("rocpd-whole.db")
def _():
    return rocpd()


@file("rocpd-views-for-tables.db")
def _():
    return rocpd(dispatches="hidden", more='CREATE VIEW rocpd_kernel_dispatch_1 AS SELECT * FROM hidden;')


@file("rocpd-column-missing.db")
def _():
    return rocpd(end="finish")


@file("rocpd-text-for-numbers.db")
def _():
    return rocpd(more="""INSERT INTO rocpd_kernel_dispatch_1 VALUES (90, 42, 5, 2, 1, 'soon', 'later');
                 UPDATE rocpd_kernel_dispatch_1 SET start = CAST(start AS TEXT) WHERE id < 10;""")


@file("rocpd-ends-before-begins.db")
def _():
    return rocpd(more="INSERT INTO rocpd_kernel_dispatch_1 VALUES (90, 42, 5, 2, 1, 9000000, 8000000), (91, 42, 5, 2, 1, 0, 5);")


@file("rocpd-unknown-agent.db")
def _():
    return rocpd(more="INSERT INTO rocpd_kernel_dispatch_1 VALUES (90, 42, 77, 2, 1, 9000000, 9100000);")


@file("rocpd-schema-9.db")
def _():
    return rocpd(schema="9.0.0", owner="place_id INTEGER", values="7")


@file("rocpd-journal-open.db")
def _():
    return rocpd(after=["BEGIN", "INSERT INTO rocpd_kernel_dispatch_1 SELECT id + 100, pid, agent_id, queue_id, kernel_id, start + "
                        "20000000, \"end\" + 20000000 FROM rocpd_kernel_dispatch_1",
                        "UPDATE rocpd_kernel_dispatch_1 SET start = start + 1"])


@file("rocpd-log-open.db")
def _():
    return rocpd(more="PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;",
                 after=["DELETE FROM rocpd_kernel_dispatch_1 WHERE id > 40"])


@file("nvprof.db")
def _():
    return database("CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(start INTEGER, end INTEGER);"
                    "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (1, 2)")


@file("other.db")
def _():
    return database("CREATE TABLE runs(id INTEGER, loss REAL); INSERT INTO runs VALUES (1, 0.5)")


@file("ascend-times-as-text.db")
def _():
    return database("""
CREATE TABLE STRING_IDS(id INTEGER, value TEXT); INSERT INTO STRING_IDS VALUES (1, 'MatMul'), (2, 'AI_CORE');
CREATE TABLE COMPUTE_TASK_INFO(name INTEGER, globalTaskId INTEGER, taskType INTEGER);
CREATE TABLE TASK(startNs TEXT, endNs TEXT, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER, globalPid INTEGER,
  taskType INTEGER, streamId INTEGER);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 59)
INSERT INTO TASK SELECT 1000000 + i * 200000, 1100000 + i * 200000, 0, i, i, 9, 2, 4 FROM n;
INSERT INTO COMPUTE_TASK_INFO SELECT 1, globalTaskId, 2 FROM TASK;
INSERT INTO TASK VALUES ('x', 'y', 0, 1, 1, 9, 2, 4);""")


# ---- JSON ----

def chrome(events, **members):
    return json.dumps({**members, "traceEvents": events})


def complete(pid, tid, i, name="gemm", **more):
    return {"ph": "X", "pid": pid, "tid": tid, "ts": 1000 + 200 * i, "dur": 100, "name": name, **more}


def named(pid, process, tid, thread):
    return [{"ph": "M", "name": "process_name", "pid": pid, "args": {"name": process}},
            {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": thread}}]


def xprof_events():
    return [complete(1, 7, i) for i in range(N)]


def kineto_events(**more):
    return [complete(0, 7, i, cat="kernel", args={"device": 0, "stream": 7, "correlation": i + 1}, **more) for i in range(N)]


@file("json-names-behind-events.json")
def _():
    return chrome(xprof_events() * 3 + named(1, "/device:GPU:0", 7, "Stream #7(Compute)"))


@file("json-names-first.json")
def _():
    return chrome(named(1, "/device:GPU:0", 7, "Stream #7(Compute)") + xprof_events())


@file("json-times-as-text.json")
def _():
    texts = [{**event_, "ts": f"{event_['ts']}.000", "dur": str(event_["dur"])} for event_ in kineto_events()]
    return chrome(texts, schemaVersion=1)


@file("json-two-makers.json")
def _():
    return chrome(kineto_events() + named(1, "/device:GPU:0", 7, "Stream #7(Compute)") + xprof_events(), schemaVersion=1)


@file("json-two-makers-ascend.json")
def _():
    return json.dumps(named(9, "Ascend Hardware", 2, "Stream 2") + named(1, "/device:GPU:0", 7, "Stream #7(Compute)")
                      + [complete(9, 2, i, args={"Task Type": "AI_CORE"}) for i in range(N)] + xprof_events())


@file("json-cut.json")
def _():
    whole = chrome(named(1, "/device:GPU:0", 7, "Stream #7(Compute)") + xprof_events())
    return whole[:-40]


@file("horovod-comma-and-no-bracket.json")
def _():
    rows = ["["]
    for i in range(N):
        at = i * 300000
        rows += [f'{{"ph":"B","name":"NEGOTIATE_ALLREDUCE","ts":{at},"pid":1}},', f'{{"ph":"X","name":"0","ts":{at},"pid":1,"dur":0}},',
                 f'{{"ph":"X","name":"1","ts":{at + 200000},"pid":1,"dur":0}},', f'{{"ph":"E","ts":{at + 200000},"pid":1}},']
    return "\n".join(rows) + "\n"


@file("rocprof-names-behind-records.json")
def _():
    records = [{"size": 1, "kind": 1, "operation": 0, "thread_id": 9, "correlation_id": {"internal": i + 1},
                "start_timestamp": 1000000 + 200000 * i, "end_timestamp": 1100000 + 200000 * i,
                "dispatch_info": {"agent_id": {"handle": 5}, "queue_id": {"handle": 1}, "kernel_id": 1}} for i in range(N)]
    return json.dumps({"rocprofiler-sdk-tool": [{
        "metadata": {"pid": 42}, "buffer_records": {"kernel_dispatch": records},
        "kernel_symbols": [{"kernel_id": 1, "kernel_name": "gemm"}], "agents": [{"id": {"handle": 5}, "type": 2}]}]})


# ---- the form of the file ----

@file("json-with-mark.json")
def _():
    return b"\xef\xbb\xbf" + chrome(kineto_events(), schemaVersion=1).encode()


@file("json-utf-16.json")
def _():
    return chrome(kineto_events(), schemaVersion=1).encode("utf-16")


@file("json-windows-lines.json")
def _():
    return json.dumps({"schemaVersion": 1, "traceEvents": kineto_events()}, indent=1).replace("\n", "\r\n")


@file("json-zeros-at-the-end.json")
def _():
    return chrome(kineto_events(), schemaVersion=1).encode() + bytes(4096)


@file("json-list-is-null.json")
def _():
    return '{"schemaVersion": 1, "traceEvents": null}'


@file("json-deep.json")
def _():
    return chrome(kineto_events(), schemaVersion=1)[:-2] + ', {"ph": "X", "args": ' + "[" * 100000 + "]" * 100000 + "}]}"


@file("json-odd-numbers.json")
def _():
    odd = [complete(0, 7, 0, cat="kernel") | {"ts": ts, "dur": dur} for ts, dur in
           ((-5, 3), (1, -3), (1e300, 1), (2**70, 1), ("NaN", 1), (None, 1), ([], {}))]
    return chrome(kineto_events() + odd, schemaVersion=1)


@file("json-numbers-with-exponent.json")
def _():
    return chrome(kineto_events(), schemaVersion=1).replace('"dur": 100', '"dur": 1.0e2')


@file("kernel-details-windows.csv")
def _():
    rows = ["\ufeffStep Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us)"]
    rows += [f'1,"MatMul_{i}, first",MatMulV2,AI_CORE,"{1000 + 200 * i}.000\t",100.0,0' for i in range(N)]
    return "\r\n".join(rows + ["1,MatMul,MatMulV2,AI_CORE,soon,100,0", "1,MatMul"]) + "\r\n"


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for name, make in FILES:
        parts = make()
        parts = parts if isinstance(parts, dict) else {"": parts}
        for end, content in parts.items():
            with open(os.path.join(folder, name + end), "wb") as out:
                out.write(content.encode() if isinstance(content, str) else content)


main()
