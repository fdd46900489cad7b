#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads exported files with independent readers and compares the time of each part with report.json.

read_back.py REPORT_JSON FOLDER: FOLDER/FORMAT contains the output of `trainprof export --to=FORMAT`.
Prints a line for each format; the status is 1 if one of them differs.
"""
import csv
import gzip
import json
import os
import struct
import sys

ONE_DEVICE = [True]  # otherwise steps are those of the first device only
PARTS = ["compute", "communication", "memory", "dataloader", "host", "idle"]


def none():
    return dict.fromkeys(PARTS, 0)


def add_frames(sums, frames, time_ns):
    """The frame of a part comes before the stack: "[dataloader.prep]"."""
    for frame in frames[:3]:
        part = frame.strip("[]").split(".")[0]
        if frame.startswith("[") and part in sums:
            sums[part] += time_ns
            return


def collapsed(path):
    sums = none()
    for line in open(path, encoding="utf-8"):
        stack, time_ns = line.rstrip("\n").rsplit(" ", 1)
        assert int(time_ns) > 0, line
        add_frames(sums, stack.split(";"), int(time_ns))
    return sums


def speedscope(path):
    sums = none()
    document = json.load(open(path, encoding="utf-8"))
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = document["shared"]["frames"]
    for profile in document["profiles"]:
        assert profile["type"] == "sampled" and profile["unit"] == "nanoseconds"
        assert len(profile["samples"]) == len(profile["weights"])
        assert sum(profile["weights"]) == profile["endValue"] - profile["startValue"]
        for sample, weight in zip(profile["samples"], profile["weights"]):
            add_frames(sums, [frames[i]["name"] for i in sample], weight)
    if document["profiles"]:
        assert 0 <= document["activeProfileIndex"] < len(document["profiles"])
    else:
        assert "activeProfileIndex" not in document
    return sums


def firefox(path):
    """Follows each sample from its innermost entry to the part, through the tables of its thread."""
    sums = none()
    document = json.load(open(path, encoding="utf-8"))
    assert document["meta"]["preprocessedProfileVersion"] == 48
    n_categories = len(document["meta"]["categories"])
    for thread in document["threads"]:
        for name in ("samples", "stackTable", "frameTable", "funcTable"):
            columns = {k: v for k, v in thread[name].items() if isinstance(v, list)}
            assert all(len(column) == thread[name]["length"] for column in columns.values()), name
        stacks, frames, functions = thread["stackTable"], thread["frameTable"], thread["funcTable"]
        assert all(category < n_categories for category in stacks["category"])
        assert thread["samples"]["weightType"] == "tracing-ms"
        for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"]):
            names = []
            while stack is not None:
                names.insert(0, thread["stringArray"][functions["name"][frames["func"][stacks["frame"][stack]]]])
                assert stacks["prefix"][stack] is None or stacks["prefix"][stack] < stack
                stack = stacks["prefix"][stack]
            add_frames(sums, names, round(weight * 1e6))
    return sums


# ---- Protocol Buffers ----------------------------------------------------------------------


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(number, value) of each field: an integer, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            value, at = data[at : at + size], at + size
        else:
            assert kind == 2, "wire type %d" % kind
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
            assert len(value) == size, "cut"
        yield key >> 3, value


def packed(data):
    at = 0
    while at < len(data):
        value, at = varint(data, at)
        yield value


def many(message, number):
    return [value for n, value in fields(message) if n == number]


def one(message, number, otherwise=0):
    found = many(message, number)
    return found[-1] if found else otherwise


def pprof(path):
    sums = none()
    profile = gzip.open(path).read()
    strings = [text.decode() for text in many(profile, 6)]
    assert strings[0] == ""
    functions = {one(f, 1) for f in many(profile, 5)}
    locations = {one(l, 1): l for l in many(profile, 4)}
    assert 0 not in functions and 0 not in locations
    for location in locations.values():
        for line in many(location, 4):
            assert one(line, 1) in functions
    types = [strings[one(t, 1)] for t in many(profile, 1)]
    for sample in many(profile, 2):
        assert all(i in locations for i in packed(one(sample, 1)))
        values = dict(zip(types, packed(one(sample, 2))))
        labels = {strings[one(l, 1)]: strings[one(l, 2)] for l in many(sample, 3)}
        if "part" in labels:
            sums[labels["part"]] += values["on_cpu"] + values["off_cpu"] + values["device"]
    return sums


def otlp(path):
    sums = none()
    document = json.load(open(path, encoding="utf-8"))
    tables = document["dictionary"]
    strings, attributes = tables["stringTable"], tables["attributeTable"]
    assert strings[0] == "" and attributes[0] == {} and tables["stackTable"][0] == {}
    for stack in tables["stackTable"][1:]:
        assert all(0 < i < len(tables["locationTable"]) for i in stack["locationIndices"])
    for profile in document["resourceProfiles"][0]["scopeProfiles"][0]["profiles"]:
        assert strings[profile["sampleType"]["unitStrindex"]] == "nanoseconds"
        for sample in profile["samples"]:
            assert 0 < sample["stackIndex"] < len(tables["stackTable"])
            pairs = [attributes[i] for i in sample["attributeIndices"]]
            notes = {strings[a["keyStrindex"]]: a["value"]["stringValue"] for a in pairs}
            if "part" in notes:
                sums[notes["part"]] += int(sample["values"][0])
    return sums


# ---- over time -----------------------------------------------------------------------------


def add_slice(sums, steps, slice_args, category, length_ns):
    if category == "part" and slice_args.get("judged"):
        sums[slice_args["part"]] += length_ns
    if category == "step" and slice_args["kind"] == "steady":
        for part in PARTS:
            steps[part] += slice_args[part + "_ns"]


def check_steps(sums, steps):
    """Checks that the slices of steps add up to the arguments of steps, if there are any."""
    if any(steps.values()) and ONE_DEVICE[0]:
        assert sums == steps, (sums, steps)


def check_nesting(slices):
    """Checks the order of a track's slices: each begins at or after the previous one, and lies
    inside the open one or begins after its end."""
    ends = []
    begin = 0
    for start, end in slices:
        assert start >= begin, "not in order"
        begin = start
        while ends and ends[-1] <= start:
            ends.pop()
        assert not ends or end <= ends[-1], "laps over an end"
        ends.append(end)


def chrome(path):
    sums, steps, tracks = none(), none(), {}
    document = json.load(open(path, encoding="utf-8"), parse_float=str)
    for event in document["traceEvents"]:
        if event["ph"] != "X":
            continue
        start, length = (round(float(event[key]) * 1000) for key in ("ts", "dur"))
        tracks.setdefault((event["pid"], event["tid"]), []).append((start, start + length))
        add_slice(sums, steps, event.get("args", {}), event["cat"], length)
    for slices in tracks.values():
        check_nesting(slices)
    check_steps(sums, steps)
    return sums


def perfetto(path):
    sums, steps, names, open_slices = none(), none(), {}, {}
    for packet in many(open(path, "rb").read(), 1):
        interned = one(packet, 12, b"")
        for table in (1, 2, 3, 29):
            for entry in many(interned, table):
                names[table, one(entry, 1)] = one(entry, 2, b"").decode()
        event = one(packet, 11, None)
        if event is None:
            continue
        time, track = one(packet, 8), one(event, 11)
        if one(event, 9) == 1:
            args = {}
            for note in many(event, 4):
                number = one(note, 3, None)
                text = names.get((29, one(note, 17)))
                args[names[3, one(note, 1)]] = text if number is None else number
            assert (2, one(event, 10)) in names
            open_slices.setdefault(track, []).append((names[1, one(event, 3)], args, time))
        else:
            category, args, begin = open_slices[track].pop()
            add_slice(sums, steps, args, category, time - begin)
    assert not any(open_slices.values()), "slices without an end"
    check_steps(sums, steps)
    return sums


# ---- tables and figures --------------------------------------------------------------------


def rows(path):
    data = open(path, newline="", encoding="utf-8").read()
    assert "\n" not in data.replace("\r\n", ""), "RFC 4180 ends lines with CR and LF"
    table = list(csv.reader(data.splitlines()))
    assert len({len(row) for row in table}) == 1, "rows of different length"
    return [dict(zip(table[0], row)) for row in table[1:]]


def csv_parts(path):
    return none() | {row["part"]: int(row["time_ns"]) for row in rows(path)}


def csv_stacks(path):
    sums = none()
    for row in rows(path):
        if row["part"]:
            sums[row["part"]] += int(row["time_ns"])
    return sums


def csv_steps(path):
    sums = none()
    for row in rows(path):
        if row["kind"] == "steady":
            for part in PARTS:
                sums[part] += int(row[part + "_ns"])
    return sums


def openmetrics(path):
    sums = none()
    lines = open(path, encoding="utf-8").read().split("\n")
    assert lines[-2:] == ["# EOF", ""]
    for line in lines:
        if line.startswith("trainprof_part_seconds{"):
            name, seconds = line.split(" ")
            sums[name.split('"')[1]] = round(float(seconds) * 1e9)
    return sums


def tensorboard(path):
    data, at, seconds = open(path, "rb").read(), 0, {}
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        event = data[at + 12 : at + 12 + size]
        at += size + 16
        for summary in many(event, 5):
            for value in many(summary, 1):
                tag = one(value, 1).decode()
                number = struct.unpack("<f", one(value, 2))[0]
                seconds.setdefault(one(event, 2), {})[tag] = number
    return seconds


def mlflow(path):
    seconds = {}
    for request in json.load(open(path)):
        assert 0 < len(request["metrics"]) <= 1000
        for metric in request["metrics"]:
            assert isinstance(metric["timestamp"], int)
            if metric["step"]:
                seconds.setdefault(metric["step"], {})[metric["key"]] = metric["value"]
    return seconds


def wandb(path):
    return {row.pop("_step"): row for row in json.load(open(path))["history"]}


def of_steady(seconds, report_steps):
    """Sums over the steps that the table of steps calls steady, in ns."""
    sums = none()
    for number, kind in report_steps.items():
        for part in PARTS:
            if kind == "steady":
                sums[part] += seconds[number]["trainprof/%s_seconds" % part] * 1e9
    return sums


# ---- the whole -----------------------------------------------------------------------------

# The runs for which a format is read, and the tolerance: 0 = exact to the ns.
READERS = {
    "collapsed": (collapsed, 0),
    "speedscope": (speedscope, 0),
    "firefox": (firefox, 0),
    "pprof": (pprof, 0),
    "otlp": (otlp, 0),
    "chrome": (chrome, 0),
    "perfetto": (perfetto, 0),
    "csv": (csv_parts, 0),
    "csv-stacks": (csv_stacks, 0),
    "csv-steps": (csv_steps, 0),
    "openmetrics": (openmetrics, 0),
    "tensorboard": (tensorboard, 2e-7),
    "mlflow": (mlflow, 1e-11),
    "wandb": (wandb, 1e-11),
}
OF_STEPS = ("csv-steps", "tensorboard", "mlflow", "wandb")


def main():
    report = json.load(open(sys.argv[1], encoding="utf-8"))
    folder = sys.argv[2]
    parts = none() | {part["id"]: part["time_ns"] for part in report["partition"]["parts"]}
    kinds = {int(r["step"]): r["kind"] for r in rows(os.path.join(folder, "csv-steps"))}
    devices = report.get("devices", [])
    ONE_DEVICE[0] = len(devices) <= 1
    own = none()
    for device in devices:
        for part in PARTS:
            own[part] += device["own_ns"].get(part, 0)
    bad = 0
    for name, (reader, tolerance) in READERS.items():
        path = os.path.join(folder, name)
        if name in OF_STEPS and ("steady" not in kinds.values() or not ONE_DEVICE[0]):
            continue
        # Pieces in time are those before waits for late ranks are reassigned.
        wanted = own if devices and name in ("chrome", "perfetto") else parts
        sums = reader(path)
        if name in ("tensorboard", "mlflow", "wandb"):
            sums = of_steady(sums, kinds)
        total = sum(parts.values())
        wrong = {p: (sums[p], wanted[p]) for p in PARTS if abs(sums[p] - wanted[p]) > tolerance * total}
        bad += bool(wrong)
        print("%s: %s" % (name, wrong or "the parts add up"))
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
