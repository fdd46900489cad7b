# SPDX-License-Identifier: Apache-2.0
"""Do the counters agree with work of known operations and bytes, who may read them, and do they lock
the clocks (V11, V12, V13, V14)?"""
import ctypes
import json
import os
import subprocess
import time

from gpu_phase import (Line, Program, SMALL, TRAINPROF, WORK, bench_command, has_option, measured, metric, report_of,
                       torch_missing, training_command)

# CUdevice_attribute of cuda.h (CUDA 12.6), read 2026-11-26
MEMORY_CLOCK_RATE = 36
GLOBAL_MEMORY_BUS_WIDTH = 37
SECONDS = 1 if SMALL else 4
SAMPLED_S = 1 if SMALL else 6  # the first window begins 2 s after the first reading and lasts 1 s
AROUND_S = 1 if SMALL else 3  # the work has to last longer than the sampling
MOST_PIECES = 1000000
SIDE = 8192
OFF_RATIO = 0.05
# Dense bf16 of a multiprocessor of Hopper in a cycle: 989.4 TFLOP/s of 132 of them at 1.83 GHz by NVIDIA's
# H100 datasheet (SXM), read 2026-11-22.
TENSOR_FLOPS_A_CYCLE = 4096
MULTIPROCESSORS = 132


def device_figure(report, name):
    gpus = report.get("gpus") or []
    return (gpus[0].get(name) or {}).get("value") if gpus else None


def missing_reason(report, name):
    gpus = report.get("gpus") or []
    return (gpus[0].get(name) or {}).get("missing", "not told") if gpus else "no GPU is told"


def compare(line, what, found, known, reason):
    line.figure(f"{what}.told", found, "ratio")
    line.figure(f"{what}.known", known, "ratio")
    if found is None or known is None or SMALL:
        line.claim(f"{what}: within 5 % of what is known", None, reason if found is None else "not on a double")
    else:
        line.claim(f"{what}: within 5 % of what is known", abs(found / known - 1) <= OFF_RATIO,
                   f"{found:.4f}, known {known:.4f}")


def rate_and_report(recording, program, command, per_piece):
    """Measures a program that does only one kind of work: returns how much of it was done per second, and
    the report. per_piece(answer) is the amount of one answer."""
    once = program.ask(f"{command} 2")
    n = max(1, int(2 * (SECONDS + AROUND_S) / max(once["s"], 1e-3)))
    program.begin(f"{command} {min(n, MOST_PIECES)}")
    time.sleep(AROUND_S / 2)
    attached = subprocess.run([TRAINPROF, "attach", "-q", "--summary=none", "--force", "-d", f"{SECONDS}s", "-o",
                               os.path.join(WORK, recording), str(program.process.pid)],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    answer = program.read()
    program.end()
    if attached.returncode:
        raise RuntimeError(f"attach: status {attached.returncode}: {attached.stdout[-300:]}")
    return per_piece(answer), report_of(recording)


def memory(line, bytes_a_s_of_device):
    rate, report = rate_and_report("counter-copy", Program(bench_command()), "copy",
                                   lambda answer: answer["bytes"] / max(answer["device_s"], 1e-9))
    line.figure("copy_bytes_per_s", rate, "bytes/s")
    known = rate / bytes_a_s_of_device if bytes_a_s_of_device else None
    compare(line, "dram_active", device_figure(report, "dram_active_ratio"), known,
            missing_reason(report, "dram_active_ratio"))


def peak_memory_rate():
    """From the memory's clock and bus width as the driver reports them, twice per cycle; None = unknown."""
    clock_khz, bus_bits = (device_attribute(number) for number in (MEMORY_CLOCK_RATE, GLOBAL_MEMORY_BUS_WIDTH))
    return clock_khz * 1e3 * 2 * bus_bits / 8 if clock_khz and bus_bits else None


def device_attribute(number):
    """Attribute of the first device, by cuDeviceGetAttribute(); None = unknown."""
    value = ctypes.c_int()
    device = ctypes.c_int()
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        calls = (lambda: driver.cuInit(0), lambda: driver.cuDeviceGet(ctypes.byref(device), 0),
                 lambda: driver.cuDeviceGetAttribute(ctypes.byref(value), number, device))
        return value.value if not any(call() for call in calls) else None
    except (OSError, AttributeError):
        return None


def tensor(line):
    """Products of bf16 matrices, with a known number of operations."""
    missing = torch_missing()
    if missing:
        line.claim("tensor_active: within 5 % of what is known", None, missing)
        return
    # Four layers; each one product forward and two backward, except that the first has no gradient
    # of its input.
    flops = (4 * 3 - 1) * 2 * SIDE ** 3
    program = Program(training_command("half", "--turns", "--size", str(SIDE)))
    rate, report = rate_and_report("counter-half", program, "steps", lambda answer: flops * answer["n"] / answer["s"])
    clock_hz = device_figure(report, "sm_clock_hz")
    known = rate / (TENSOR_FLOPS_A_CYCLE * MULTIPROCESSORS * clock_hz) if clock_hz else None
    line.figure("tensor_flops_per_s", rate, "flop/s")
    compare(line, "tensor_active", device_figure(report, "tensor_active_ratio"), known,
            missing_reason(report, "tensor_active_ratio"))


def as_nobody(line):
    if os.geteuid() != 0:
        line.note("as another user: not tried, this is not root")
        return
    command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", TRAINPROF, "doctor", "--for=gpu",
               "--ascii", "--width=100"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    line.note("doctor as nobody: " + done.stdout[-3000:])


def sampled_memory(line):
    """PM sampling during copies: bytes read and written, in the seconds that were sampled."""
    program = Program(measured("counters-copy", ["--counters"], bench_command()))
    n = max(1, int(2 * SAMPLED_S / max(program.ask("copy 2")["device_s"], 1e-3)))
    answer = program.ask(f"copy {min(n, MOST_PIECES)}")
    program.end()
    report = report_of("counters-copy")
    known = answer["bytes"] / max(answer["device_s"], 1e-9)
    moved = [metric(report, f"gpu.counters.dram_{what}_bytes_per_s") for what in ("read", "written")]
    told = None if None in moved else sum(moved)
    line.figure("sampled_bytes_per_s.told", told, "bytes/s")
    line.figure("sampled_bytes_per_s.known", known, "bytes/s")
    if told is None or SMALL:
        line.claim("PM sampling: bytes of copies within 5 % of what is known", None,
                   "not told: " + sampling_says(report) if told is None else "not on a double")
    else:
        line.claim("PM sampling: bytes of copies within 5 % of what is known", abs(told / known - 1) <= OFF_RATIO,
                   f"{told:.4g}, known {known:.4g} bytes/s")


def sampling_says(report):
    sources = report["collection"].get("sources", [])
    return next((json.dumps(source)[:300] for source in sources if source.get("id") == "gpupmu"), "no such source")


def sampling(line):
    """Counters that lock the clocks: fma of known length with and without them, in turns."""
    for name, options in (("counters-off", []), ("counters-on", ["--counters"])):
        program = Program(measured(name, options, bench_command()))
        n = max(1, int(20 * SECONDS / max(program.ask("fma 20")["device_s"], 1e-3)))
        answer = program.ask(f"fma {min(n, MOST_PIECES)}")
        line.figure(f"fma_flops_per_s.{name}", answer["flops"] / max(answer["device_s"], 1e-9), "flop/s")
        program.end()
        report = report_of(name)
        line.figure(f"sm_clock_hz.{name}", device_figure(report, "sm_clock_hz"), "Hz")
        told = {key: value["value"] for key, value in report["summary"]["metrics"].items()
                if key.startswith("gpu.") and value.get("value") is not None}
        line.note(f"{name}: {json.dumps(told)[:1500]}")


def main():
    line = Line()
    memory(line, peak_memory_rate())
    line.tell()
    tensor(line)
    line.tell()
    as_nobody(line)
    if not has_option("run", "--counters"):
        line.claim("PM sampling agrees with known work, and says what it does to clocks", None,
                   "this trainprof has no --counters")
    else:
        sampled_memory(line)
        line.tell()
        sampling(line)
    line.tell()


main()
