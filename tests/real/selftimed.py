# SPDX-License-Identifier: Apache-2.0
"""A training loop's own clock, for the programs of this folder: the reference for a report."""
import json
import os
import time

# With MARK_STEPS each step is also marked for trainprof, whose module `trainprof run` puts on the path.
if os.environ.get("MARK_STEPS"):
    from trainprof import step as mark
else:
    def mark():
        pass


def lines(path):
    """Numbers of the file's named lines: those whose comment begins with "line:"."""
    with open(path) as file:
        return {text.split("# line:")[1].split()[0]: number
                for number, text in enumerate(file, 1) if "# line:" in text and "split" not in text}


class Clock:
    """Sums wall time by part; the first tenth of the steps is warm-up."""

    def __init__(self, steps):
        self.steps = steps
        self.parts = {}
        self.starts = []
        self.at = 0.0

    def step(self):
        mark()
        self.at = time.monotonic()
        self.starts.append(self.at)

    def part(self, name):
        now = time.monotonic()
        if len(self.starts) > self.steps // 10:
            self.parts[name] = self.parts.get(name, 0.0) + now - self.at
        self.at = now

    def end(self):
        """Ends the last step: what follows, such as closing a loader, does not belong to it."""
        self.starts.append(time.monotonic())

    def write(self, truth, program, **more):
        """Ends the last step, if it is still open; `program` is the file whose lines have names,
        `more` is added to the result."""
        if len(self.starts) == self.steps:
            self.end()
        first = self.steps // 10
        total = self.starts[-1] - self.starts[first]
        with open(truth, "w") as out:
            json.dump({"steps": self.steps, "step_s": total / (self.steps - first),
                       "data_ratio": self.parts.get("data", 0.0) / total,
                       "ratios": {name: part / total for name, part in self.parts.items()},
                       "starts_s": self.starts, "program": program,
                       "lines": lines(program), **more}, out)
