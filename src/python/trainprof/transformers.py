# SPDX-License-Identifier: Apache-2.0
"""A callback for Hugging Face's Trainer: each update of the weights is a step."""

from typing import Any

from . import phase_begin, phase_end, step, step_end


def _base() -> type:
    try:
        from transformers import TrainerCallback as base
    except ImportError:
        return object
    return base


class Callback(_base()):  # type: ignore[misc]
    """Pass it to the trainer: ``Trainer(callbacks=[trainprof.transformers.Callback()])``."""

    def __init__(self) -> None:
        self._is_evaluating = False

    def on_step_begin(self, *args: Any, **kwargs: Any) -> None:
        step()

    def on_prediction_step(self, *args: Any, **kwargs: Any) -> None:
        # The trainer calls nothing before the first batch of an evaluation.
        if not self._is_evaluating:
            self._is_evaluating = True
            step_end()
            phase_begin("evaluation")

    def _evaluated(self) -> None:
        if self._is_evaluating:
            self._is_evaluating = False
            phase_end()

    def on_evaluate(self, *args: Any, **kwargs: Any) -> None:
        self._evaluated()

    def on_predict(self, *args: Any, **kwargs: Any) -> None:
        self._evaluated()

    def on_epoch_end(self, *args: Any, **kwargs: Any) -> None:
        step_end()

    def on_train_end(self, *args: Any, **kwargs: Any) -> None:
        step_end()
