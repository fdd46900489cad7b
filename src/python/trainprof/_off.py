# SPDX-License-Identifier: Apache-2.0
"""The functions of the package outside ``trainprof run``: they do nothing."""

from typing import Any, Callable, Optional


def step() -> None:
    """Do nothing: marks are not recorded."""


def step_end() -> None:
    """Do nothing: marks are not recorded."""


def marks_on() -> bool:
    """Return True if marks are recorded; for programs whose marks are expensive to prepare."""
    return False


def phase_begin(name: str) -> None:
    """Do nothing: marks are not recorded."""


def phase_end() -> None:
    """Do nothing: marks are not recorded."""


class _Phase:
    """The result of ``phase(name)``: one object for all, a context manager and a decorator."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        pass

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function


_phase = _Phase()


def phase(what: Any, name: Optional[str] = None) -> Any:
    """Return a context manager and decorator that does nothing, or the function itself."""
    return what if callable(what) else _phase
