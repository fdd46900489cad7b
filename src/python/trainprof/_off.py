# SPDX-License-Identifier: Apache-2.0
"""The functions of the package while no ``trainprof run`` listens: they do nothing."""

from typing import Any, Callable, Optional


def step() -> None:
    """Do nothing: nobody listens."""


def step_end() -> None:
    """Do nothing: nobody listens."""


def marks_on() -> bool:
    """Return whether somebody listens; for programs whose marks are costly to prepare."""
    return False


def phase_begin(name: str) -> None:
    """Do nothing: nobody listens."""


def phase_end() -> None:
    """Do nothing: nobody listens."""


class _Phase:
    """What ``phase(name)`` returns: one object for all, a context manager and a decorator."""

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
