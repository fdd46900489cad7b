# SPDX-License-Identifier: Apache-2.0
"""What the clocks of ranks say: which rank entered the exchange last in a step, and by how much."""

STEPS_MIN = 5  # the spread of fewer steps shows nothing


def is_in(time_ms, spans_ns):
    return any(begin <= time_ms * 1e6 < end for begin, end in spans_ns)


class ClockTruth:
    """The steps of a job that a report judged.

    late: the rank that enters exchanges last on average
    after: how long after the next one, in ms; low: at least that, with a certainty of 95 %
    n_last: steps in which it is last of all
    gap: how much longer than the next one it works, in ms; not the same where ranks leave an
        exchange one after the other
    step: mean length in ms
    """

    def __init__(self, said, spans_ns=None, n_last_steps=0):
        """said: (begin, entered, end) of each step of each rank, in ms. The steps are those in the
        spans, by when their last rank entered, or the last ones."""
        steps = list(zip(*(said[rank] for rank in sorted(said))))
        self.steps = steps[-n_last_steps:] if spans_ns is None else [
            step for step in steps if is_in(max(entered for _, entered, _ in step), spans_ns)]
        n = len(self.steps)
        self.late, self.n_last = -1, 0
        self.step = self.after = self.low = self.gap = 0
        if not n:
            return
        lengths = [end - begin for step in self.steps for begin, _, end in step]
        self.step = sum(lengths) / len(lengths)
        mean = [sum(step[rank][1] for step in self.steps) / n for rank in range(len(said))]
        self.late, following = sorted(range(len(said)), key=lambda rank: -mean[rank])[:2]
        gaps = [step[self.late][1] - step[following][1] for step in self.steps]
        self.after = sum(gaps) / n
        self.low = self.after - 2 * deviation_of_mean(gaps)
        work = [sum(step[rank][1] - step[rank][0] for step in self.steps) / n
                for rank in range(len(said))]
        self.gap = work[self.late] - max(work[:self.late] + work[self.late + 1:])
        self.n_last = sum(max(step, key=lambda one: one[1]) == step[self.late]
                          for step in self.steps)

    def is_clear(self):
        """Whether one rank is late: surely, by 2 % of a step, and in most of several steps."""
        return len(self.steps) >= STEPS_MIN and self.low > 0 and self.after >= 0.02 * self.step and 2 * self.n_last > len(self.steps)


def deviation_of_mean(values):
    """Of batches of neighbouring values, because these are alike."""
    size = max(1, len(values) // 20)
    batches = [sum(values[i:i + size]) / size for i in range(0, len(values) - size + 1, size)]
    mean = sum(batches) / len(batches)
    squares = sum((batch - mean) ** 2 for batch in batches)
    return (squares / max(1, len(batches) - 1) / len(batches)) ** 0.5
