# SPDX-License-Identifier: Apache-2.0
"""A callback for PyTorch Lightning: each training batch is a step, validation a phase."""

import sys
from typing import Any

from . import phase_begin, phase_end, step, step_end


def _base() -> type:
    """Return the base class of callbacks of the program's own Lightning."""
    for name in ("lightning.pytorch", "pytorch_lightning"):
        if name in sys.modules:
            return getattr(sys.modules[name], "Callback", object)
    try:
        from lightning.pytorch import Callback as base
    except ImportError:
        try:
            from pytorch_lightning import Callback as base
        except ImportError:
            return object
    return base


class Callback(_base()):  # type: ignore[misc]
    """Pass it to the trainer: ``Trainer(callbacks=[trainprof.lightning.Callback()])``."""

    def on_train_batch_start(self, *args: Any, **kwargs: Any) -> None:
        step()

    def on_train_epoch_end(self, *args: Any, **kwargs: Any) -> None:
        step_end()

    def on_exception(self, *args: Any, **kwargs: Any) -> None:
        step_end()

    def on_before_backward(self, *args: Any, **kwargs: Any) -> None:
        phase_begin("backward")

    def on_after_backward(self, *args: Any, **kwargs: Any) -> None:
        phase_end()

    def on_validation_start(self, *args: Any, **kwargs: Any) -> None:
        step_end()
        phase_begin("evaluation")

    def on_validation_end(self, *args: Any, **kwargs: Any) -> None:
        phase_end()
