# SPDX-License-Identifier: Apache-2.0
"""A callback for Keras: each training batch is a step, the evaluations of fit() are a phase."""

import sys
from typing import Any

from . import phase_begin, phase_end, step, step_end


def _base() -> type:
    """Return the base class of callbacks of the program's own Keras."""
    for name in ("keras", "tensorflow.keras", "tf_keras"):
        callbacks = getattr(sys.modules.get(name), "callbacks", None)
        if callbacks is not None:
            return getattr(callbacks, "Callback", object)
    try:
        from keras.callbacks import Callback as base
    except ImportError:
        return object
    return base


class Callback(_base()):  # type: ignore[misc]
    """Pass it to fit: ``model.fit(..., callbacks=[trainprof.keras.Callback()])``.

    With ``steps_per_execution`` Keras calls it once per that many batches.
    """

    def on_train_batch_begin(self, batch: Any, logs: Any = None) -> None:
        step()

    def on_epoch_end(self, epoch: Any, logs: Any = None) -> None:
        step_end()

    def on_test_begin(self, logs: Any = None) -> None:
        step_end()
        phase_begin("evaluation")

    def on_test_end(self, logs: Any = None) -> None:
        phase_end()

    def on_train_end(self, logs: Any = None) -> None:
        step_end()
