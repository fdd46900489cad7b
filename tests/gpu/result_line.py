# SPDX-License-Identifier: Apache-2.0
"""Writes the line of a phase: result_line.py NAME EXPERIMENTS SECONDS BEGUN STATUS TOLD LOG

TOLD has the output of the phase: the last complete line of JSON is used. A phase that failed, ran
out of time or printed nothing gets a line that says so, with its results until then.
"""
import json
import sys
import time

SCHEMA = "trainprof-gpu-results/1"
LOG_CHARACTERS = 600
OUT_OF_TIME = 124
KILLED = 137  # by timeout, if it has to; or by another process


def last_told(path):
    told = {}
    with open(path, errors="replace") as file:
        for line in file:
            try:
                row = json.loads(line)
            except ValueError:
                continue
            told = row if isinstance(row, dict) and "status" in row else told
    return told


def log_end(path):
    with open(path, errors="replace") as file:
        return file.read()[-LOG_CHARACTERS:].strip()


def outcome(status, took_s, seconds, told, log):
    """Returns status and reason of the line."""
    if status == OUT_OF_TIME or (status == KILLED and took_s >= seconds):
        return "timeout", f"not done after {seconds} s"
    if status != 0:
        return "failed", f"status {status}: {log_end(log)}"
    if not told:
        return "failed", f"it told nothing: {log_end(log)}"
    return told["status"], told.get("reason")


def main():
    name, experiments, seconds, begun, status, told_path, log = sys.argv[1:]
    told = last_told(told_path)
    took_s = time.time() - float(begun)
    state, reason = outcome(int(status), took_s, int(seconds), told, log)
    line = {"schema": SCHEMA, "phase": name, "experiments": [] if experiments == "-" else experiments.split(","),
            "status": state, "began": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(float(begun))),
            "took_s": round(took_s, 3), "budget_s": int(seconds)}
    if reason:
        line["reason"] = reason
    for part in ("figures", "claims", "notes"):
        line[part] = told.get(part, [])
    print(json.dumps(line, sort_keys=False))


main()
