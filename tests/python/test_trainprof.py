# SPDX-License-Identifier: Apache-2.0
"""Claims about the module "trainprof": test_trainprof.py MARK_LIST MODULE_DIR

Each claim runs a small program under MARK_LIST, which lists the marks that trainprof would read.
No claim depends on how long something takes. Prints "FAIL what" for each that fails, at the end
"python-module: N passed, N failed, N skipped".
"""

import collections
import os
import subprocess
import sys
import tempfile

MARK_LIST, MODULE_DIR = sys.argv[1:3]
STEP, STEP_END, BEGIN, END = 1, 2, 3, 4
Mark = collections.namedtuple("Mark", "pid tid kind depth time_ns name")
results = collections.Counter()


def claim(is_true, what):
    results["passed" if is_true else "failed"] += 1
    if not is_true:
        print("FAIL", what)


def environment(**more):
    env = dict(os.environ, PYTHONPATH=MODULE_DIR, **more)
    env.pop("TRAINPROF_MARKS", None)
    return env


def marks_of(program, *command):
    """Run a program text under MARK_LIST: its marks, its counts, its own output and status."""
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "program.py")
        with open(script, "w") as f:
            f.write(program)
        ring = os.path.join(folder, "marks.ring")
        said = os.path.join(folder, "said")
        run = subprocess.run(
            [MARK_LIST, ring, *(command or (sys.executable,)), script, said],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
        )
        lines = run.stdout.splitlines()
        marks = []
        counts = {}
        for line in lines:
            if line.startswith("taken "):
                words = line.split()
                counts = dict(zip(words[::2], map(int, words[1::2])))
            else:
                words = line.split(" ", 5)
                marks.append(Mark(*map(int, words[:5]), words[5]))
        text = ""
        if os.path.exists(said):
            with open(said) as f:
                text = f.read()
        left = sorted(os.listdir(folder))
        claim(left == sorted(["program.py"] + ["said"] * bool(text)), "files stay: %s" % left)
    return marks, counts, text, run


def short(marks):
    return [(m.kind, m.depth, m.name) for m in marks]


def claim_order_and_names():
    marks, counts, _, run = marks_of(
        """
import os, sys, time, threading
import trainprof
before = time.monotonic_ns()
trainprof.step()
with trainprof.phase("forward"):
    with trainprof.phase("a name that is longer than what fits into a record"):
        pass
trainprof.phase_end()  # one too many: nothing
@trainprof.phase
def evaluate(a, *, b):
    "text"
    return a + b
@trainprof.phase("checkpoint")
def save():
    return 7
assert evaluate(1, b=2) == 3 and evaluate.__name__ == "evaluate" and evaluate.__doc__ == "text"
assert save() == 7
with trainprof.phase("\\u00e9" * 31): pass
with trainprof.phase("a\\0b"): pass
trainprof.step_end()
assert trainprof.marks_on()
open(sys.argv[1], "w").write("%d %d %d %d" % (os.getpid(), threading.get_native_id(), before, time.monotonic_ns()))
"""
    )
    claim(run.returncode == 0 and not run.stderr, "the program runs: " + run.stderr)
    expected = [
        (STEP, 0, ""),
        (BEGIN, 0, "forward"),
        (BEGIN, 1, "a name that is longer than what"),
        (END, 1, ""),
        (END, 0, ""),
        (BEGIN, 0, "evaluate"),
        (END, 0, ""),
        (BEGIN, 0, "checkpoint"),
        (END, 0, ""),
        (BEGIN, 0, "\u00e9" * 15),
        (END, 0, ""),
        (BEGIN, 0, "a"),
        (END, 0, ""),
        (STEP_END, 0, ""),
    ]
    claim(short(marks) == expected, "marks in order: %s" % short(marks))
    claim(counts == {"taken": 14, "lost": 0, "refused": 0}, "counts: %s" % counts)
    return marks


def claim_ids_and_times():
    marks, _, said, _ = marks_of(
        """
import os, sys, threading, time
import trainprof
before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
trainprof.step()
trainprof.step_end()
after = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
open(sys.argv[1], "w").write("%d %d %d %d" % (os.getpid(), threading.get_native_id(), before, after))
"""
    )
    pid, tid, before, after = map(int, said.split())
    claim(all((m.pid, m.tid) == (pid, tid) for m in marks), "ids")
    times = [before] + [m.time_ns for m in marks] + [after]
    claim(
        len(times) == 4 and times == sorted(times), "times are those of CLOCK_MONOTONIC: %s" % times
    )


def claim_threads_and_processes():
    """Threads, forked children and their children all mark at once: nothing is lost or mixed."""
    marks, counts, said, run = marks_of(
        """
import os, sys, threading
import trainprof
N, PAUSE = 200, threading.Event()
def mark():
    tid = threading.get_native_id()
    for i in range(N):
        trainprof.step()
        with trainprof.phase("%d-%d" % (tid, i)):
            if i % 20 == 0:
                PAUSE.wait(0.004)
def crowd():
    threads = [threading.Thread(target=mark) for _ in range(3)]
    for t in threads: t.start()
    for t in threads: t.join()
trainprof.phase_begin("outer")
children = []
for _ in range(2):
    pid = os.fork()
    if pid == 0:
        trainprof.step_end()   # at the depth of the parent's open phase
        crowd()
        grandchild = os.fork()
        if grandchild == 0:
            crowd()
            os._exit(0)
        os.waitpid(grandchild, 0)
        os._exit(0)
    children.append(pid)
crowd()
for pid in children: os.waitpid(pid, 0)
trainprof.phase_end()
open(sys.argv[1], "w").write("%d" % os.getpid())
"""
    )
    claim(run.returncode == 0, "crowd runs: " + run.stderr)
    claim(counts == {"taken": 5 * 3 * 200 * 3 + 4, "lost": 0, "refused": 0}, "crowd: %s" % counts)
    of_thread = collections.defaultdict(list)
    for m in marks:
        of_thread[m.tid].append(m)
    claim(len({m.pid for m in marks}) == 5, "five processes")
    claim(len(of_thread) >= 15, "fifteen threads and more: %d" % len(of_thread))
    crowded = [list_ for tid, list_ in of_thread.items() if len(list_) == 600]
    claim(len(crowded) == 15, "each thread has its 600 marks: %d" % len(crowded))
    is_right = all(
        short(list_[i * 3 : i * 3 + 3])
        == [(STEP, 0, ""), (BEGIN, 0, "%d-%d" % (list_[0].tid, i)), (END, 0, "")]
        and list_[i * 3].time_ns <= list_[i * 3 + 1].time_ns <= list_[i * 3 + 2].time_ns
        for list_ in crowded
        for i in range(200)
    )
    claim(is_right, "each thread's marks are its own, in order")
    ends = [m for m in marks if m.kind == STEP_END]
    claim(
        len(ends) == 2 and all(m.depth == 1 for m in ends),
        "a child keeps the nesting of its parent",
    )


def claim_c_and_python(compiler):
    """A C library and Python mark in the same thread and in others."""
    include = os.path.join(os.path.dirname(MODULE_DIR), "..", "include")
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "m.c")
        library = os.path.join(folder, "m.so")
        with open(source, "w") as f:
            f.write(
                "#include <trainprof/mark.h>\n"
                'void mark(int n) { for (int i = 0; i < n; i++) { trainprof_phase_begin("C"); trainprof_phase_end(); } }\n'
            )
        built = subprocess.run(
            [compiler, "-shared", "-fPIC", "-I" + include, "-o", library, source]
        )
        if built.returncode:
            results["skipped"] += 1
            return
        marks, counts, _, run = marks_of(
            """
import ctypes, threading, time
import trainprof
c = ctypes.CDLL(%r)
def mark():
    for i in range(300):
        with trainprof.phase("Python"):
            c.mark(3)
        if i %% 30 == 0: time.sleep(0.004)
threads = [threading.Thread(target=mark) for _ in range(3)]
for t in threads: t.start()
mark()
for t in threads: t.join()
"""
            % library
        )
    claim(run.returncode == 0, "C and Python run: " + run.stderr)
    claim(counts == {"taken": 4 * 300 * 8, "lost": 0, "refused": 0}, "C and Python: %s" % counts)
    for tid in {m.tid for m in marks}:
        # The rings are drained one after the other: in one thread, times give the order.
        mine = [m for m in marks if m.tid == tid]
        c = [m for m in mine if m.name == "C"]
        python = [m for m in mine if m.name == "Python"]
        claim(len(c) == 900 and len(python) == 300, "marks of C and Python in a thread")
        begins = sorted(m.time_ns for m in python)
        times = sorted(m.time_ns for m in c)
        is_right = all(begins[i] <= times[3 * i] for i in range(300)) and all(
            times[3 * i + 2] <= begins[i + 1] for i in range(299)
        )
        claim(is_right, "C's marks lie inside those of Python")


def claim_overrun():
    """More marks than the ring can hold, between two readings or not: each is read or counted as lost."""
    marks, counts, _, run = marks_of(
        """
import trainprof
for i in range(20000):
    trainprof.phase_begin("p%d" % i)
    trainprof.phase_end()
"""
    )
    claim(run.returncode == 0, "overrun runs")
    claim(counts["taken"] + counts["lost"] == 40000, "each of 40,000 is taken or lost: %s" % counts)
    claim(all(m.name.startswith("p") == (m.kind == BEGIN) for m in marks), "no record is torn")
    numbers = [int(m.name[1:]) for m in marks if m.kind == BEGIN]
    claim(numbers == sorted(set(numbers)), "and none comes twice or late")


def claim_reentered():
    """A signal handler and a finalizer mark while the main thread marks."""
    marks, counts, said, run = marks_of(
        """
import itertools, signal, sys, threading
import trainprof
n = itertools.count()
def handler(*_):
    next(n)
    with trainprof.phase("signal"): pass
signal.signal(signal.SIGALRM, handler)
class Last:
    def __init__(self): self.me = self
    def __del__(self):
        next(n)
        with trainprof.phase("finalizer"): pass
trainprof.step_end()
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
pause = threading.Event()
for i in range(3000):
    trainprof.step()
    if i % 10 == 0: Last()
    if i % 100 == 0: pause.wait(0.003)
signal.setitimer(signal.ITIMER_REAL, 0, 0)
import gc
gc.collect()
open(sys.argv[1], "w").write(str(next(n)))
"""
    )
    claim(run.returncode == 0, "signals: " + run.stderr)
    wanted = 3001 + 2 * int(said or 0)
    claim(counts["taken"] + counts["lost"] == wanted, "%s of %d" % (counts, wanted))
    claim(int(said or 0) >= 300, "the finalizers ran")
    claim(all(m.name in ("", "signal", "finalizer") for m in marks), "names")


def claim_generators():
    marks, _, said, run = marks_of(
        """
import asyncio, inspect, sys
import trainprof
@trainprof.phase("loader")
def batches(n):
    got = []
    try:
        for i in range(n):
            try:
                got.append((yield i))
            except KeyError as error:
                got.append(repr(error))
    finally:
        got.append("closed")
        open(sys.argv[1], "a").write(repr(got))
    return "done"
assert inspect.isgeneratorfunction(batches)
g = batches(3)
assert next(g) == 0
trainprof.step()
assert g.send("x") == 1 and g.throw(KeyError("k")) == 2
try:
    next(g)
except StopIteration as stop:
    assert stop.value == "done"
else:
    raise AssertionError
g = batches(3)
next(g)
g.close()
@trainprof.phase("fetch")
async def fetch(t):
    await asyncio.sleep(t)
    return t
assert inspect.iscoroutinefunction(fetch)
async def both():
    return await asyncio.gather(fetch(0.002), fetch(0.001))
assert asyncio.run(both()) == [0.002, 0.001]
async def cancelled():
    task = asyncio.ensure_future(fetch(10))
    await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        return "cancelled"
assert asyncio.run(cancelled()) == "cancelled"
@trainprof.phase
async def ticks():
    yield 1
async def collect():
    return [x async for x in ticks()]
assert asyncio.run(collect()) == [1]
trainprof.step_end()
"""
    )
    claim(run.returncode == 0, "generators: " + run.stderr)
    claim(
        said == "['x', \"KeyError('k')\", None, 'closed']['closed']",
        "a generator is as without: " + said,
    )
    step = [m for m in marks if m.kind in (STEP, STEP_END)]
    claim([m.depth for m in step] == [0, 0], "no phase stays open between two values")
    loader = [m for m in marks if m.name == "loader"]
    claim(len(loader) >= 5, "slices of the loader: %d" % len(loader))
    claim(len([m for m in marks if m.name == "fetch"]) >= 5, "slices of the coroutine")
    depth = 0
    for m in marks:
        depth -= m.kind == END
        claim(m.depth == depth, "depth of %s" % (m,))
        depth += m.kind == BEGIN


def claim_exceptions():
    marks, _, _, run = marks_of(
        """
import trainprof
@trainprof.phase
def fails(): raise ValueError("own")
try:
    with trainprof.phase("a"):
        fails()
except ValueError as error:
    assert str(error) == "own"
trainprof.step()
for odd in (None, 3, b"x", object(), "\\ud800"):
    with trainprof.phase(odd): pass
trainprof.phase_begin(None)
trainprof.phase_end()
"""
    )
    claim(run.returncode == 0 and not run.stderr, "odd names do no harm: " + run.stderr)
    claim([m.depth for m in marks if m.kind == STEP] == [0], "an exception ends its phases")


def run_plain(program, **env):
    return subprocess.run(
        [sys.executable, "-c", program],
        env=environment(**env),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )


def claim_nobody_listens():
    program = """
import os
import sys
if len(sys.argv) > 1: os.environ["TRAINPROF_MARKS"] = sys.argv[1]
import trainprof
trainprof.step()
with trainprof.phase("x"): pass
def f(): return 3
assert trainprof.phase(f) is f and trainprof.phase("x")(f) is f
trainprof.step_end(); trainprof.phase_begin("x"); trainprof.phase_end()
assert not trainprof.marks_on()
print(sorted(n for n in ("ctypes", "mmap", "struct", "inspect") if n in sys.modules))
"""
    run = run_plain(program)
    claim(run.returncode == 0 and not run.stderr, "without a ring: " + run.stderr)
    claim("mmap" not in run.stdout, "nothing is imported for nothing: " + run.stdout)
    for path in ("", "/nonexistent/ring", "relative"):
        run = subprocess.run(
            [sys.executable, "-c", program, path],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
        )
        claim(run.returncode == 0 and not run.stderr, "with ring %r: %s" % (path, run.stderr))


def claim_refused_directory():
    """The ring's directory disappears, or is a file system in which no file can be created."""
    marks, _, _, run = marks_of(
        """
import os, sys
os.environ["TRAINPROF_MARKS"] = "/proc/self/status"
import trainprof
for _ in range(3):
    trainprof.step()
    with trainprof.phase("x"): pass
"""
    )
    claim(
        run.returncode == 0 and not run.stderr and not marks, "a ring that cannot be: " + run.stderr
    )
    marks, _, _, run = marks_of(
        """
import os, sys, trainprof
os.unlink(os.environ["TRAINPROF_MARKS"])   # as when trainprof has ended
for _ in range(3): trainprof.step()
"""
    )
    claim(run.returncode == 0 and not run.stderr and not marks, "trainprof ended: " + run.stderr)


def claim_closed_descriptors():
    """A program that closes all descriptors, as daemons do, keeps its marks and its files."""
    marks, counts, said, run = marks_of(
        """
import os, sys, trainprof
trainprof.step()
os.closerange(3, 64)
files = [open(sys.argv[1] if not i else os.devnull, "w") for i in range(20)]
trainprof.step()
files[0].write("kept")
trainprof.step_end()
"""
    )
    claim(run.returncode == 0 and not run.stderr, "closed descriptors: " + run.stderr)
    claim(said == "kept" and counts.get("taken") == 3, "%s %s" % (said, counts))


def claim_pool():
    """multiprocessing in each of its ways of starting."""
    for method in ("fork", "spawn", "forkserver"):
        marks, counts, _, run = marks_of(
            """
import multiprocessing, os
import trainprof
def work(i):
    with trainprof.phase("worker"):
        return i
if __name__ == "__main__":
    trainprof.step()
    with multiprocessing.get_context(%r).Pool(2) as pool:
        assert pool.map(work, range(20)) == list(range(20))
    trainprof.step_end()
"""
            % method
        )
        claim(run.returncode == 0, "%s: %s" % (method, run.stderr))
        claim(counts == {"taken": 42, "lost": 0, "refused": 0}, "%s: %s" % (method, counts))


FAKE = {
    "lightning": """
import trainprof
c = trainprof.lightning.Callback()
for epoch in range(2):
    for batch in range(5):
        c.on_train_batch_start(None, None, None, batch)
        c.on_before_backward(None, None, None); c.on_after_backward(None, None)
    c.on_validation_start(None, None); c.on_validation_end(None, None)
    c.on_train_epoch_end(None, None)
""",
    "transformers": """
import trainprof
c = trainprof.transformers.Callback()
for epoch in range(2):
    for batch in range(5):
        c.on_step_begin(None, None, None)
    for batch in range(3):
        c.on_prediction_step(None, None, None)
    c.on_evaluate(None, None, None, metrics={})
    c.on_epoch_end(None, None, None)
c.on_train_end(None, None, None)
""",
    "keras": """
import trainprof
c = trainprof.keras.Callback()
for epoch in range(2):
    for batch in range(5):
        c.on_train_batch_begin(batch, {})
    c.on_test_begin({}); c.on_test_end({})
    c.on_epoch_end(epoch, {})
c.on_train_end({})
""",
}


def steps_of(marks):
    n = is_open = 0
    for m in marks:
        if m.kind in (STEP, STEP_END):
            n += is_open
            is_open = m.kind == STEP
    return n


def claim_callbacks():
    """The callbacks without their frameworks (-S: no installed packages), called in their order."""
    for name, program in FAKE.items():
        marks, _, _, run = marks_of(program, sys.executable, "-S")
        claim(run.returncode == 0 and not run.stderr, name + ": " + run.stderr)
        claim(steps_of(marks) == 10, "%s: %d steps" % (name, steps_of(marks)))
        claim([m.name for m in marks if m.name == "evaluation"] == ["evaluation"] * 2, name)
        claim(all(m.depth == 0 for m in marks if m.kind == STEP), name + ": nesting")


claim_order_and_names()
claim_ids_and_times()
claim_threads_and_processes()
claim_c_and_python(os.environ.get("CC", "cc").split()[-1])
claim_overrun()
claim_reentered()
claim_generators()
claim_exceptions()
claim_nobody_listens()
claim_refused_directory()
claim_closed_descriptors()
claim_pool()
claim_callbacks()
print(
    "python-module: %d passed, %d failed, %d skipped"
    % (results["passed"], results["failed"], results["skipped"])
)
sys.exit(results["failed"] > 0)
