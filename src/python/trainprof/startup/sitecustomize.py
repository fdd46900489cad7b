# SPDX-License-Identifier: Apache-2.0
"""Start of Python under ``TRAINPROF_LOADER``: change settings of PyTorch's DataLoader.

``trainprof run`` puts this folder in front of PYTHONPATH if that variable is set, and only then.
The site customization that Python would have imported instead still runs.
"""

import importlib.machinery
import importlib.util
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != _here]


def _run(spec):
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)


def _install():
    """Load the module by its place: a program may have a module "trainprof" of its own."""
    path = os.path.join(os.path.dirname(_here), "_loader.py")
    spec = importlib.util.spec_from_file_location("_trainprof_loader", path)
    _run(spec)
    sys.modules[spec.name].install()


try:
    _install()
except Exception as error:  # the program has to start as without us
    print("trainprof: loader settings are not applied: {!r}".format(error), file=sys.stderr)

_next = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
if _next is not None and _next.loader is not None:
    _run(_next)
