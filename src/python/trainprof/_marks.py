# SPDX-License-Identifier: Apache-2.0
"""The functions of the package under ``trainprof run``: they write into the ring of marks."""

import functools
import inspect
import os
import threading
from contextlib import suppress
from typing import Any, Callable, Dict, Generator, Optional

from ._ring import PHASE_BEGIN, PHASE_END, STEP, STEP_END, Ring

_NAME_BYTES = 31
_MAX_CACHED_NAMES = 1024


class _Nesting(threading.local):
    """The number of phases that are open in this thread."""

    depth = 0


_nesting = _Nesting()
_names: Dict[str, bytes] = {}
_ring = Ring(os.environ["TRAINPROF_MARKS"])


def _name_bytes(name: str) -> bytes:
    """Return the name in the form of a record: UTF-8, cut between two characters, padded."""
    known = _names.get(name)
    if known is None:
        text = name.split("\0")[0].encode("utf-8", "replace")[:_NAME_BYTES]
        known = text.decode("utf-8", "ignore").encode("utf-8").ljust(_NAME_BYTES + 1, b"\0")
        if len(_names) < _MAX_CACHED_NAMES:
            _names[name] = known
    return known


def step() -> None:
    """Mark the top of the training loop: the running step ends, the next one begins."""
    with suppress(Exception):
        _ring.write(STEP, _nesting.depth)


def step_end() -> None:
    """Mark the end of the running step, begin none: after the loop, or before an evaluation."""
    with suppress(Exception):
        _ring.write(STEP_END, _nesting.depth)


def marks_on() -> bool:
    """Return True if marks are recorded; for programs whose marks are expensive to prepare."""
    return True


def phase_begin(name: str) -> None:
    """Begin a phase inside the open phases of this thread."""
    with suppress(Exception):
        depth = _nesting.depth
        _nesting.depth = depth + 1
        _ring.write(PHASE_BEGIN, depth, _name_bytes(name))


def phase_end() -> None:
    """End the innermost phase of this thread; without one it does nothing."""
    with suppress(Exception):
        depth = _nesting.depth - 1
        if depth >= 0:
            _nesting.depth = depth
            _ring.write(PHASE_END, depth)


class _Phase:
    """A context manager for a phase, and a decorator for a function that is one."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        phase_begin(self._name)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        phase_end()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return _wrap(function, self._name)


def _slices(steps: Generator[Any, Any, Any], name: str) -> Generator[Any, Any, Any]:
    """Run a generator or coroutine with the phase open only while its own code runs."""
    resume: Callable[[], Any] = functools.partial(next, steps)
    try:
        while True:
            phase_begin(name)
            try:
                value = resume()
            except StopIteration as stop:
                return stop.value
            finally:
                phase_end()
            try:
                resume = functools.partial(steps.send, (yield value))
            except GeneratorExit:
                raise
            except BaseException as error:
                resume = functools.partial(steps.throw, error)
    finally:
        steps.close()


class _Awaited:
    """Awaits a coroutine in slices."""

    def __init__(self, coroutine: Any, name: str) -> None:
        self._coroutine = coroutine
        self._name = name

    def __await__(self) -> Generator[Any, Any, Any]:
        return _slices(self._coroutine.__await__(), self._name)


def _wrap(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    if not callable(function) or inspect.isasyncgenfunction(function) or inspect.isclass(function):
        return function
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def of_coroutine(*args: Any, **kwargs: Any) -> Any:
            return await _Awaited(function(*args, **kwargs), name)

        return of_coroutine
    if inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def of_generator(*args: Any, **kwargs: Any) -> Any:
            return (yield from _slices(function(*args, **kwargs), name))

        return of_generator

    @functools.wraps(function)
    def of_function(*args: Any, **kwargs: Any) -> Any:
        phase_begin(name)
        try:
            return function(*args, **kwargs)
        finally:
            phase_end()

    return of_function


def phase(what: Any, name: Optional[str] = None) -> Any:
    """Return a context manager and decorator for the phase named `what`, or decorate a function.

    For coroutines and generators only the time in which their own code runs belongs to the phase.
    """
    if callable(what):
        return _wrap(what, name or getattr(what, "__name__", "phase"))
    return _Phase(what if isinstance(what, str) else str(what))
