#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the device sums of public captures with answers that other tools gave.

public_captures.py TRAINPROF FOLDER: the files are not part of this tree; FOLDER holds those that you
fetched, under the names below, from the repositories beside them. Each sum must be equal to the
nanosecond. Where the answers come from: the kernel tables of XProf, the makers' own summaries beside
the files, and SQL over the databases.
"""
import json
import os
import subprocess
import sys
import tempfile

# Name: (repository and path, {device: {fact: value}}, length of the whole capture or None); ns.
CAPTURES = {
    "conv.xplane.pb": (
        "AMD-AGI/TraceLens: tests/traces/mi300/jax_conv_minimal_legacy/"
        "chi-mi300x-013.ord.vultr.cpe.ice.amd.com.xplane.pb",
        {0: {"n_copies": 53, "copy": 889028, "busy": 889028, "window": 27867728},
         7: {"n_compute": 25, "compute": 3586493, "busy": 3586493, "window": 15761301}}, None),
    "multi.xplane.pb": (
        "openxla/xprof: demo/plugins/profile/GPU-multi-worker/34.83.195.179_6003.xplane.pb, blob 2737dae1",
        {1: {"n_copies": 19, "copy": 33792},
         4: {"n_compute": 665, "compute": 14825385, "n_copies": 94, "copy": 198429, "busy": 14983622,
             "window": 119308658},
         6: {"n_compute": 665, "compute": 14865363, "n_copies": 113, "copy": 239136, "busy": 15050451,
             "window": 490469870}}, None),
    "timeline_01.json": (
        "rogerluo1995/KittiBox: timeline_01.json",
        {0: {"n_compute": 4789, "compute": 1848902000, "n_copies": 21, "copy": 1286000,
             "busy": 1850188000}}, 4352571000),
    "trace_view.json": (
        "xiaobingling93-pixel/Ascend-msinsight: test/data/pytorch/text/level1/rank0_ascend_pt/"
        "ASCEND_PROFILER_OUTPUT/trace_view.json",
        {0: {"n_compute": 187, "compute": 8873700, "n_communication": 4, "communication": 105991876,
             "n_copies": 24, "copy": 878856, "exposed": 101963231, "overlap": 4028645, "busy": 111690067,
             "window": 155985800}}, None),
    "ascend_pytorch_profiler_0.db": (
        "xiaobingling93-pixel/Ascend-msinsight: test/data/pytorch/db/level1/rank0_ascend_pt/"
        "ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db",
        {0: {"n_compute": 187, "compute": 8903431, "n_communication": 4, "communication": 102108100,
             "n_copies": 24, "copy": 866699, "exposed": 98071947, "overlap": 4036153,
             "window": 151888750}}, None),
    "matmul_result.rpd": (
        "ROCm/rocmProfileData: examples/rocm-profile-data/results/matmul_result.rpd",
        {2: {"n_compute": 29, "compute": 26399795, "n_copies": 56, "copy": 157518261, "busy": 183918056,
             "window": 2964070817}}, None),
    "908_results.json.gz": (
        "AMD-AGI/TraceLens: tests/rocprof/908_results.json.gz",
        {0: {"n_compute": 36239, "compute": 258663816, "n_communication": 1310,
             "communication": 4158756678, "n_copies": 6366, "copy": 23093212, "busy": 4233112334,
             "window": 15122023494}}, None),
}


def sums(device):
    """The report's sums of a device, under the names of the table."""
    union, ops = device["union_ns"], device["ops"]
    return {"n_compute": ops["compute"], "n_communication": ops["communication"], "n_copies": ops["copy"],
            **union, "busy": device["busy_ns"], "window": device["window_ns"],
            "exposed": device["exposed_communication_ns"], "overlap": device["overlap_ns"]}


def report_of(trainprof, path):
    with tempfile.TemporaryDirectory() as folder:
        run = os.path.join(folder, "run")
        subprocess.run([trainprof, "import", "-q", "-o", run, path], check=True, stdout=subprocess.DEVNULL)
        done = subprocess.run([trainprof, "report", "--json", run], check=True, capture_output=True)
        return json.loads(done.stdout)


def compare(trainprof, path, name):
    """Returns how many sums are equal, and prints those that are not."""
    _, expected, length_ns = CAPTURES[name]
    report = report_of(trainprof, path)
    found = {device["number"]: sums(device) for device in report["devices"]}
    pairs = [(f"device {number} {fact}", value, found.get(number, {}).get(fact))
             for number, facts in expected.items() for fact, value in facts.items()]
    pairs.append(("devices", sorted(expected), sorted(found)))
    if length_ns is not None:
        pairs.append(("length", length_ns, report["run"]["duration_ns"]))
    wrong = [pair for pair in pairs if pair[1] != pair[2]]
    for what, value, got in wrong:
        print(f"FAILED {name}: {what}: {got}, expected {value}")
    return len(pairs) - len(wrong), len(wrong)


def main(trainprof, folder):
    n_passed = n_failed = n_skipped = 0
    for name, (where, _, _) in CAPTURES.items():
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            print(f"SKIPPED {name}: not in {folder}; it is {where}")
            n_skipped += 1
            continue
        passed, failed = compare(trainprof, path, name)
        n_passed += passed
        n_failed += failed
    print(f"public captures: {n_passed} passed, {n_failed} failed, {n_skipped} skipped")
    return n_failed > 0 or n_passed == 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
