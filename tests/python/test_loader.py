# SPDX-License-Identifier: Apache-2.0
"""Claims about TRAINPROF_LOADER: test_loader.py MODULE_DIR

Each claim runs a small program with the startup folder of the module in PYTHONPATH, as `trainprof
run` puts it there, and with the constructor of a stand-in for PyTorch. Prints "FAIL what" for each
that fails, at the end "python-module: N passed, N failed, N skipped".
"""

import collections
import os
import subprocess
import sys
import tempfile

MODULE_DIR = os.path.abspath(sys.argv[1])
DOUBLES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "doubles")
results = collections.Counter()


def claim(is_true, what):
    results["passed" if is_true else "failed"] += 1
    if not is_true:
        print("FAIL", what)


def started(program, settings, customize=None):
    """Run a program text with these settings: its output, errors, status, and the lines of the log."""
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "program.py")
        log = os.path.join(folder, "log")
        with open(script, "w") as f:
            f.write(program)
        paths = [os.path.join(MODULE_DIR, "trainprof", "startup")] if settings else []
        if customize:
            paths.append(folder)
            with open(os.path.join(folder, "sitecustomize.py"), "w") as f:
                f.write(customize)
        env = dict(os.environ, PYTHONPATH=os.pathsep.join(paths + [DOUBLES]))
        env["TRAINPROF_LOADER_LOG"] = log
        env["TRAINPROF_LOADER"] = settings or ""
        run = subprocess.run(
            [sys.executable, script],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
        )
        lines = []
        if os.path.exists(log):
            with open(log) as f:
                lines = [line.rstrip("\n").replace(folder + "/", "").split("\t") for line in f]
        return run, lines


def made(construction, settings, before=""):
    """Construct a loader; the arguments that it was given, and the log."""
    run, lines = started(
        "from torch.utils.data import DataLoader, Dataset, IterableDataset\n%s\n"
        "it = %s\n"
        "print(it.num_workers, it.prefetch_factor, it.pin_memory, it.persistent_workers)\n"
        % (before, construction),
        settings,
    )
    return run.stdout.strip() or run.stderr.strip().splitlines()[-1], lines


def claim_settings():
    """Arguments by place, by name and by default are replaced; others stay."""
    for construction, settings, expected, said in (
        ("DataLoader([1])", "num_workers=3", "3 2 False False", "num_workers=0->3"),
        ("DataLoader([1], 8, None, None, None, 1)", "num_workers=3", "3 2 False False", "num_workers=1->3"),
        ("DataLoader([1], num_workers=4)", "num_workers=1", "1 2 False False", "num_workers=4->1"),
        ("DataLoader([1])", "pin_memory=1", "0 None True False", "pin_memory=False->True"),
        (
            "DataLoader([1])",
            "num_workers=2,persistent_workers=1,prefetch_factor=4",
            "2 4 False True",
            "num_workers=0->2 persistent_workers=False->True prefetch_factor=None->4",
        ),
        (
            "DataLoader([1], num_workers=2, persistent_workers=True, prefetch_factor=4)",
            "num_workers=0",
            "0 None False False",
            "num_workers=2->0",
        ),
    ):
        given, lines = made(construction, settings)
        claim(given == expected, "%s with %s: %s" % (construction, settings, given))
        claim(lines == [["changed", "program.py:3", said]], "%s: %s" % (construction, lines))


def claim_kept():
    """What PyTorch would refuse, what is so already and what would change the training is kept."""
    stream = "class Stream(IterableDataset): pass"
    for construction, settings, expected, why in (
        ("DataLoader([1], num_workers=2)", "num_workers=2", "2 2 False False", "it has these settings already"),
        (
            "DataLoader([1])",
            "persistent_workers=1",
            "0 None False False",
            "a loader without workers cannot have these settings",
        ),
        (
            "DataLoader(Stream(), num_workers=1)",
            "num_workers=2",
            "1 2 False False",
            "each worker would yield all samples of an iterable dataset",
        ),
    ):
        given, lines = made(construction, settings, stream)
        claim(given == expected, "%s with %s: %s" % (construction, settings, given))
        claim(lines == [["kept", "program.py:3", why]], "%s: %s" % (construction, lines))
    # One worker yields each sample once, and a program with two divides them.
    for n in (0, 2):
        given, lines = made("DataLoader(Stream(), num_workers=%d)" % n, "num_workers=%d" % (1 + n), stream)
        claim(given.startswith("%d " % (1 + n)) and lines[0][0] == "changed", "stream: %s" % lines)


def claim_program_is_as_before():
    """Errors of PyTorch, subclasses, the search path and other customizations stay."""
    given, _ = made("DataLoader()", "num_workers=2")
    claim("TypeError" in given and "dataset" in given, "a missing argument: " + given)
    given, lines = made(
        "Mine([1])", "num_workers=2", "class Mine(DataLoader):\n    def __init__(self, d): super().__init__(d, 4)"
    )
    claim(given.startswith("2 ") and lines[0][1] == "program.py:3", "a subclass: %s %s" % (given, lines))
    run, _ = started("import sys; print(any('startup' in p for p in sys.path), 'torch' in sys.modules)", "num_workers=2")
    claim(run.stdout == "False False\n" and not run.stderr, "the path: " + run.stdout + run.stderr)
    run, _ = started("import sys; print(sys.customized)", "num_workers=2", "import sys; sys.customized = 7")
    claim(run.stdout == "7\n", "another sitecustomize.py runs: " + run.stdout + run.stderr)
    run, _ = started("print(1)", "batch_size=2")
    claim(run.stdout == "1\n" and "no setting of a loader" in run.stderr, "a wrong setting: " + run.stderr)
    given, lines = made("DataLoader([1])", None)
    claim(given == "0 None False False" and not lines, "without the variable: " + given)


claim_settings()
claim_kept()
claim_program_is_as_before()
print(
    "python-module: %d passed, %d failed, %d skipped"
    % (results["passed"], results["failed"], results["skipped"])
)
sys.exit(results["failed"] > 0)
