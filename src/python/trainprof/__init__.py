# SPDX-License-Identifier: Apache-2.0
"""Marks the steps and phases of a training program for ``trainprof run``.

::

    import trainprof

    for x, y in loader:
        trainprof.step()                    # one step ends here, the next begins
        with trainprof.phase("forward"):
            ...
    trainprof.step_end()                    # optional: the last step ends here


    @trainprof.phase                        # a phase named after the function
    def evaluate(): ...

Outside ``trainprof run`` every call does nothing and costs less than 0.1 us. No call raises, prints
or blocks; any error turns marks off. Phases nest, and each thread has its own nesting.
These names have a meaning for trainprof: dataloader, forward, backward, optimizer, communication,
checkpoint, logging, evaluation. Names longer than 31 bytes are truncated.

Callbacks: ``trainprof.lightning.Callback()``, ``trainprof.transformers.Callback()`` and
``trainprof.keras.Callback()``; each imports its framework only when it is used.
"""

import importlib
import os
from typing import Any

if os.path.exists(os.environ.get("TRAINPROF_MARKS") or ""):
    from ._marks import marks_on, phase, phase_begin, phase_end, step, step_end
else:
    from ._off import marks_on, phase, phase_begin, phase_end, step, step_end

__all__ = ["marks_on", "phase", "phase_begin", "phase_end", "step", "step_end"]


def __getattr__(name: str) -> Any:
    """Import a module of callbacks at its first use."""
    if name in ("keras", "lightning", "transformers"):
        return importlib.import_module("." + name, __name__)
    raise AttributeError("module {!r} has no attribute {!r}".format(__name__, name))
