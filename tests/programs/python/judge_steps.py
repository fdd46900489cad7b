# SPDX-License-Identifier: Apache-2.0
"""One line of the table of check_loops.sh: judge_steps.py SHAPE MILLISECONDS OUTPUT REPORT.json."""
import json
import re
import sys


def main():
    shape, length, output, report = sys.argv[1:]
    match = re.search(r"^steps (\d+)", open(output).read(), re.M)
    n = int(match.group(1)) if match else 0
    try:
        steps = json.load(open(report))["steps"]
    except ValueError:
        steps = {}
    found = steps.get("total_count") or 0
    is_exact = steps.get("count_is") == "exact"
    off = abs(found - n)
    if found == 0:
        word = "none"
    elif off > 0 and is_exact:
        word = "false"
    elif off <= max(1, 0.01 * n):
        word = "right"
    else:
        word = "wrong"
    about = "" if is_exact or found == 0 else "about"
    by = steps.get("found_by", "?")
    print(f"{shape:<26} {length:>4} ms {n:>5} steps {about:>5} {found:>5} by {by:<8} {word}")


main()
