# SPDX-License-Identifier: Apache-2.0
"""Check the advice about a made-up pipeline: pipeline_gain.py TRAINPROF RUN WORDS GAIN. WORDS are in the
first advice's sentence, whose gain encloses GAIN; without WORDS there is no such advice."""
import json
import subprocess
import sys

RULES = ("communication/slow-rank", "communication/slow-stage", "communication/ranks-in-turn")


def main(trainprof, run, words, gain):
    page = subprocess.run([trainprof, "report", "--format=json", run], capture_output=True, check=True, text=True)
    fired = [f for f in json.loads(page.stdout)["findings"] if f["state"] == "fired" and f["rule"] in RULES]
    if not words:
        return f"{run}: {fired[0]['because']}" if fired else None
    if not fired or words not in fired[0]["because"]:
        return f"{run}: no '{words}' in {[f['because'] for f in fired]}"
    low, high = fired[0]["gain"]["bracket"]
    return None if low <= float(gain) <= high else f"{run}: the cure gains {gain}, not {low} to {high}"


if __name__ == "__main__":
    problem = main(*sys.argv[1:])
    if problem:
        sys.exit("failed: " + problem)
